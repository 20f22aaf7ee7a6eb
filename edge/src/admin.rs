//! Metrics and health over HTTP, on loopback unless told otherwise.
