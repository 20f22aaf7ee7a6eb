//! `[broker]`: where events come from and judgements go.

use std::path::{Path, PathBuf};

use pdm_shared::config::ConfigError;
use pdm_shared::secret::SecretSource;
use pdm_shared::topic::Prefix;
use serde::Deserialize;

use super::above_zero;

/// `[broker]`
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BrokerSettings {
    /// Name or address.
    pub host: String,
    /// Port: 1883 plain, 8883 with TLS.
    pub port: u16,
    /// First levels of every topic.
    pub prefix: Prefix,
    /// The persistent session's name; one for each replica.
    pub client_id: String,
    /// Replicas of one group share the events.
    pub shared_group: Option<String>,
    /// How long the broker keeps events for an agent that is away, s.
    pub session_expiry_s: u32,
    /// Seconds between signs of life.
    pub keep_alive_s: u16,
    /// Events in flight that are not acknowledged yet.
    pub receive_maximum: u16,
    /// Largest message accepted, bytes.
    pub max_packet_bytes: u32,
    /// User and password.
    pub login: Option<Login>,
    /// TLS; absent is plain TCP.
    pub tls: Option<Tls>,
}

impl Default for BrokerSettings {
    fn default() -> Self {
        Self {
            host: "127.0.0.1".to_owned(),
            port: 1883,
            prefix: Prefix::default(),
            client_id: "pdm-agent".to_owned(),
            shared_group: None,
            session_expiry_s: 7 * 24 * 3600,
            keep_alive_s: 30,
            receive_maximum: 1024,
            max_packet_bytes: 1024 * 1024,
            login: None,
            tls: None,
        }
    }
}

impl BrokerSettings {
    pub(super) fn check(&self, path: &Path) -> Result<(), ConfigError> {
        if self.client_id.is_empty() || self.client_id.len() > 64 {
            return Err(ConfigError::value(
                path,
                "broker.client_id",
                &self.client_id,
                "1 to 64 bytes",
            ));
        }
        if let Some(group) = &self.shared_group
            && (group.is_empty() || group.contains(['/', '+', '#']))
        {
            let allowed = "a name without '/', '+', '#'";
            return Err(ConfigError::value(path, "broker.shared_group", group, allowed));
        }
        if self.keep_alive_s < 5 {
            return Err(ConfigError::value(
                path,
                "broker.keep_alive_s",
                self.keep_alive_s,
                "5 or more",
            ));
        }
        above_zero(path, "broker.receive_maximum", self.receive_maximum.into())?;
        if self.max_packet_bytes < 16 * 1024 {
            let allowed = "16384 or more: an event with spectra needs it";
            return Err(ConfigError::value(
                path,
                "broker.max_packet_bytes",
                self.max_packet_bytes,
                allowed,
            ));
        }
        Ok(())
    }

    pub(super) fn rooted(mut self, folder: &Path) -> Self {
        if let Some(tls) = &mut self.tls {
            for file in [Some(&mut tls.ca_file), tls.cert_file.as_mut(), tls.key_file.as_mut()]
                .into_iter()
                .flatten()
            {
                *file = folder.join(&file);
            }
        }
        self
    }
}

/// `[broker.login]`
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Login {
    /// User.
    pub user: String,
    /// Where the password stands.
    pub password: SecretSource,
}

/// `[broker.tls]`
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// Who signed the broker's certificate, PEM.
    pub ca_file: PathBuf,
    /// Own certificate for mutual TLS, PEM.
    pub cert_file: Option<PathBuf>,
    /// Its key, PEM.
    pub key_file: Option<PathBuf>,
}
