//! Structured logs on standard error: text for people, JSON for collectors.

use std::io::IsTerminal as _;
use std::str::FromStr as _;

use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer as _, Registry};

use lines::Lines;

mod lines;

pub use lines::finish;

/// The format of a log line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// One line of text for people.
    #[default]
    Text,
    /// One JSON object for each line.
    Json,
}

/// Starts logging. `PDM_LOG` (such as `info,pdm_edge=debug`) replaces `default_filter`; an invalid
/// `PDM_LOG` is reported in the first line of the log and the default is used.
///
/// A second call changes nothing: the first subscriber stays.
pub fn start(format: LogFormat, default_filter: &str) {
    start_with(format, default_filter, None);
}

/// Another subscriber of spans and events beside the log, such as traces for a collector.
pub type MoreTelemetry = Box<dyn tracing_subscriber::Layer<Registry> + Send + Sync>;

/// [`start`], with another subscriber beside the log.
pub fn start_with(format: LogFormat, default_filter: &str, more: Option<MoreTelemetry>) {
    let asked = std::env::var("PDM_LOG").ok();
    let filter = asked.as_deref().map(Targets::from_str);
    let targets = match &filter {
        Some(Ok(targets)) => targets.clone(),
        Some(Err(_)) | None => parsed(default_filter),
    };
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(Lines::to_stderr());
    let lines = match format {
        LogFormat::Text => lines.with_target(false).boxed(),
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
    };
    // a subscriber that is already installed (tests, one process with both programs) is kept
    let _kept =
        tracing_subscriber::registry().with(more).with(lines.with_filter(targets)).try_init();
    if let Some(Err(error)) = filter {
        tracing::warn!(value = asked, %error, default_filter, "PDM_LOG is not understood, expected \
            levels such as info,pdm_edge=debug");
    }
}

/// Before the configured filter, which may name the same target with another level: the MCP library
/// warns of every request that its caller has cancelled, as each judgement does that is done before
/// a tool is.
const QUIET: &str = "rmcp=error";

/// The parsed filter of the configuration; an invalid one becomes `info`.
fn parsed(filter: &str) -> Targets {
    format!("{QUIET},{filter}").parse().unwrap_or_else(|_not_a_filter| {
        Targets::new().with_default(tracing::level_filters::LevelFilter::INFO)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_names_levels_by_module() {
        let filter = parsed("warn,pdm_edge=debug");
        assert!(filter.would_enable("pdm_edge::spool", &tracing::Level::DEBUG));
        assert!(!filter.would_enable("rumqttc", &tracing::Level::INFO));
    }

    #[test]
    fn a_cancelled_request_is_no_warning_unless_it_is_asked_for() {
        assert!(!parsed("info").would_enable("rmcp::service", &tracing::Level::WARN));
        assert!(parsed("info,rmcp=debug").would_enable("rmcp::service", &tracing::Level::WARN));
    }

    #[test]
    fn a_filter_that_means_nothing_is_info() {
        let filter = parsed("pdm_edge=loud");
        assert!(filter.would_enable("pdm_edge", &tracing::Level::INFO));
        assert!(!filter.would_enable("pdm_edge", &tracing::Level::DEBUG));
    }
}
