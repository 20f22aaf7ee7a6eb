//! The parts that all HTTP servers of the project share: the server with its limits, the guard with
//! the users it asks, TLS, the metrics text.

pub mod announced;
pub mod callers;
pub mod guard;
mod peers;
pub mod recorder;
pub mod server;
pub mod tls;
