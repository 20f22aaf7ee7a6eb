//! `[[notify.webhook]]`: receivers of notifications by HTTP.

use std::path::Path;

use pdm_service::broker::TlsFiles;
use pdm_service::config::ConfigError;
use pdm_service::secret::SecretSource;
use pdm_shared::risk::RiskLevel;
use serde::Deserialize;

use super::notify::{Languages, watch};

/// `[[notify.webhook]]`
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebhookSettings {
    /// The hook's name in logs and in the outbox.
    pub name: String,
    /// The address, if it is no secret.
    #[serde(default)]
    pub url: Option<String>,
    /// The source of the address, if it is a secret (Slack, Teams).
    #[serde(default)]
    pub url_secret: Option<SecretSource>,
    /// Certificates, where they are not those of the operating system: the receiver's authority, its
    /// revocation list, and this program's own for mutual TLS.
    #[serde(default)]
    pub tls: Option<TlsFiles>,
    /// The form of the message.
    #[serde(default)]
    pub format: WebhookFormat,
    /// Languages.
    #[serde(default)]
    pub language: Languages,
    /// The lowest risk that is sent to this hook.
    #[serde(default = "watch")]
    pub from: RiskLevel,
}

impl WebhookSettings {
    pub(super) fn check(&self, path: &Path) -> Result<(), ConfigError> {
        let key = format!("notify.webhook.{}", self.name);
        if self.name.is_empty() {
            return Err(ConfigError::value(path, "notify.webhook.name", "empty", "a name"));
        }
        match (&self.url, &self.url_secret) {
            (Some(url), None) => {
                if reqwest::Url::parse(url)
                    .is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
                {
                    Ok(())
                } else {
                    Err(ConfigError::value(path, key + ".url", url, "an http or https address"))
                }
            }
            (None, Some(_)) => Ok(()),
            (None, None) | (Some(_), Some(_)) => {
                let got = if self.url.is_some() { "both" } else { "neither" };
                Err(ConfigError::value(path, key, got, "either url or url_secret"))
            }
        }
    }
}

/// The form of a web hook's message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WebhookFormat {
    /// The notification's own JSON (`pdm.notification/1`).
    #[default]
    Generic,
    /// Slack's incoming web hook.
    Slack,
    /// Teams' workflow web hook (adaptive card).
    Teams,
}
