//! `[broker]`: the broker that events come from and judgements go to.

use std::path::Path;

pub use pdm_service::broker::{BrokerAddress, Login, TlsFiles};
use pdm_service::broker::{Reach, ReachFile};
use pdm_service::config::{ConfigError, above_zero};
use pdm_service::secret::SecretSource;
use pdm_shared::topic::Prefix;
use serde::Deserialize;

/// `[broker]` as it is typed.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct BrokerFile {
    addresses: Option<Vec<String>>,
    user: Option<String>,
    password: Option<SecretSource>,
    tls: Option<TlsFiles>,
    prefix: Option<Prefix>,
    client_id: Option<String>,
    shared_group: Option<String>,
    session_expiry_s: Option<u32>,
    keep_alive_s: Option<u16>,
    receive_maximum: Option<u16>,
    max_packet_bytes: Option<u32>,
}

/// `[broker]` as it is meant.
#[derive(Debug, Clone, PartialEq)]
pub struct BrokerSettings {
    /// The addresses, tried in turn until one answers.
    pub addresses: Vec<BrokerAddress>,
    /// User and password; `None` is anonymous.
    pub login: Option<Login>,
    /// TLS; `None` is plain TCP.
    pub tls: Option<TlsFiles>,
    /// First levels of every topic.
    pub prefix: Prefix,
    /// The name of the persistent session; each replica needs its own.
    pub client_id: String,
    /// Replicas of one group share the events.
    pub shared_group: Option<String>,
    /// How long the broker keeps events for an agent that is not connected, s.
    pub session_expiry_s: u32,
    /// The MQTT keep-alive interval, s.
    pub keep_alive_s: u16,
    /// Events in flight that are not acknowledged yet.
    pub receive_maximum: u16,
    /// Largest message accepted, bytes.
    pub max_packet_bytes: u32,
}

impl Default for BrokerSettings {
    fn default() -> Self {
        Self {
            addresses: vec![BrokerAddress { host: "127.0.0.1".to_owned(), port: 1883 }],
            login: None,
            tls: None,
            prefix: Prefix::default(),
            client_id: "pdm-agent".to_owned(),
            shared_group: None,
            session_expiry_s: 7 * 24 * 3600,
            keep_alive_s: 30,
            receive_maximum: 4096,
            max_packet_bytes: 1024 * 1024,
        }
    }
}

impl BrokerFile {
    pub(super) fn meant(self, path: &Path) -> Result<BrokerSettings, ConfigError> {
        let reach = ReachFile {
            addresses: self.addresses,
            user: self.user,
            password: self.password,
            tls: self.tls,
        };
        let folder = path.parent().unwrap_or(Path::new(""));
        let refuse =
            |key: &str, value: &str, allowed: &str| ConfigError::value(path, key, value, allowed);
        let Reach { addresses, login, tls } = reach.meant(folder, refuse)?;
        let default = BrokerSettings::default();
        let settings = BrokerSettings {
            addresses,
            login,
            tls,
            prefix: self.prefix.unwrap_or(default.prefix),
            client_id: self.client_id.unwrap_or(default.client_id),
            shared_group: self.shared_group,
            session_expiry_s: self.session_expiry_s.unwrap_or(default.session_expiry_s),
            keep_alive_s: self.keep_alive_s.unwrap_or(default.keep_alive_s),
            receive_maximum: self.receive_maximum.unwrap_or(default.receive_maximum),
            max_packet_bytes: self.max_packet_bytes.unwrap_or(default.max_packet_bytes),
        };
        settings.check(path)?;
        Ok(settings)
    }
}

impl BrokerSettings {
    fn check(&self, path: &Path) -> Result<(), ConfigError> {
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
}
