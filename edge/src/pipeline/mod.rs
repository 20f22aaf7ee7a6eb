//! The edge as a service inside a process: start it, watch it, stop it.
//!
//! `pdm-edge run`, `pdm demo`, `pdm up` and the tests start the same service.

pub mod progress;
pub mod service;

pub use progress::Progress;
pub use service::{Edge, Handle, ServiceError, StartError};
