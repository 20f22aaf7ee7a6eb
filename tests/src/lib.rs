//! The harness of the end-to-end suites: real servers, real programs, real recordings.

pub mod benchmark;
pub mod faults;
pub mod judgements;
pub mod retrieval;
