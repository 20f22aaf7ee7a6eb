//! The parts that all HTTP servers of the project share: the guard and the metrics text.

pub mod guard;
pub mod recorder;
