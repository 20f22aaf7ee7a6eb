//! `[telemetry]`: the export of traces of judgements.

use std::path::Path;

use pdm_service::config::ConfigError;
use serde::Deserialize;

/// `[telemetry]`
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TelemetrySettings {
    /// An OpenTelemetry collector's HTTP address, such as `http://127.0.0.1:4318`; absent sends
    /// nothing.
    pub otlp_endpoint: Option<String>,
    /// The share of judgements that are traced, above 0 to 1.
    pub sample_ratio: f64,
}

impl Default for TelemetrySettings {
    fn default() -> Self {
        Self { otlp_endpoint: None, sample_ratio: 1.0 }
    }
}

impl TelemetrySettings {
    pub(super) fn check(&self, path: &Path) -> Result<(), ConfigError> {
        let is_http = |text: &str| {
            reqwest::Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
        };
        if let Some(endpoint) = self.otlp_endpoint.as_deref().filter(|text| !is_http(text)) {
            let allowed = "an http or https address";
            return Err(ConfigError::value(path, "telemetry.otlp_endpoint", endpoint, allowed));
        }
        if !(self.sample_ratio > 0.0 && self.sample_ratio <= 1.0) {
            let (ratio, allowed) = (self.sample_ratio, "more than 0 and at most 1");
            return Err(ConfigError::value(path, "telemetry.sample_ratio", ratio, allowed));
        }
        Ok(())
    }

    /// The address that spans are posted to: the collector's, with its path for traces.
    pub(crate) fn traces_url(&self) -> Option<String> {
        let endpoint = self.otlp_endpoint.as_deref()?.trim_end_matches('/');
        let has_path = endpoint.ends_with("/v1/traces");
        Some(if has_path { endpoint.to_owned() } else { format!("{endpoint}/v1/traces") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<TelemetrySettings, ConfigError> {
        let settings: TelemetrySettings =
            pdm_service::config::parse(Path::new("agent.toml"), text)?;
        settings.check(Path::new("agent.toml"))?;
        Ok(settings)
    }

    #[test]
    fn the_path_for_traces_is_added_once() {
        for typed in ["http://a:4318", "http://a:4318/", "http://a:4318/v1/traces"] {
            let settings = read(&format!("otlp_endpoint = {typed:?}")).expect("read");
            assert_eq!(settings.traces_url().as_deref(), Some("http://a:4318/v1/traces"));
        }
        assert_eq!(read("").expect("read").traces_url(), None);
    }

    #[test]
    fn what_is_no_address_or_share_is_refused_with_what_is_allowed() {
        let error = read("otlp_endpoint = \"127.0.0.1:4317\"").expect_err("no scheme").to_string();
        assert!(error.contains("telemetry.otlp_endpoint") && error.contains("http"), "{error}");
        for ratio in ["0.0", "1.5", "nan"] {
            let error = read(&format!("sample_ratio = {ratio}")).expect_err("no share").to_string();
            assert!(error.contains("more than 0 and at most 1"), "{error}");
        }
    }
}
