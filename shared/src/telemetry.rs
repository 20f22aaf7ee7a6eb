//! Structured logs on standard error: text for people, JSON for collectors.

use tracing_subscriber::EnvFilter;

/// The form of a log line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// One line for people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// Starts logging. `PDM_LOG` (such as `info,pdm_edge=debug`) wins over `default_filter`.
///
/// A second call changes nothing: the first subscriber stays.
pub fn start(format: LogFormat, default_filter: &str) {
    let filter = EnvFilter::try_from_env("PDM_LOG").unwrap_or_else(|_unset| default_filter.into());
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // a subscriber that is already there (tests, one process with both programs) is kept
    let _kept = match format {
        LogFormat::Text => builder.with_target(false).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
}
