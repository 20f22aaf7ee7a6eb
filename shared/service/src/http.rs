//! The parts that all HTTP servers of the project share: the server with its limits, the guard, the
//! metrics text.

pub mod guard;
mod peers;
pub mod recorder;
pub mod server;
