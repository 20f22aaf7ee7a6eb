//! Services of a running program beside the words of `pdm-shared`: configuration, secrets, broker
//! and TLS settings, clocks, logs and metrics, the HTTP guard, shutdown and exit codes.
//!
//! No module here knows a bearing; both programs and the crates of the agent depend on this crate.

pub mod backoff;
pub mod bounded;
pub mod broker;
pub mod clock;
pub mod command_line;
pub mod config;
pub mod confined;
pub mod document_text;
pub mod error_chain;
pub mod exit;
pub mod files;
pub mod http;
pub mod own_threads;
pub mod places;
#[cfg(feature = "postgres")]
pub mod postgres;
pub mod process_limits;
pub mod resting;
pub mod secret;
pub mod shutdown;
pub mod telemetry;
