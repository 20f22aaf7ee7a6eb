//! What every program needs beside the words of `pdm-shared`: configuration, secrets, the way to a
//! broker and its TLS, time, logs and metrics, the guard of HTTP, shutdown and exit codes.
//!
//! Nothing here knows a bearing; both programs and the wings of the agent stand on it.

pub mod backoff;
pub mod broker;
pub mod clock;
pub mod command_line;
pub mod config;
pub mod error_chain;
pub mod exit;
pub mod http;
#[cfg(feature = "postgres")]
pub mod postgres;
pub mod secret;
pub mod shutdown;
pub mod telemetry;
