//! The two connections to the broker: [`receiver`] (persistent session, manual acknowledgement) and
//! [`publisher`] (confirmed by PUBACK).
//!
//! Each connection lives in an event loop of its own: after a loss a new client is made. So no
//! packet identifier of an old connection is ever acknowledged on a new one, and nothing that was in
//! flight is resent behind the caller's back: the broker redelivers, the outbox sends again.

use std::time::Duration;

use rand::RngExt as _;
use rumqttc::v5::MqttOptions;
use rumqttc::{TlsConfiguration, Transport};

use crate::settings::BrokerSettings;

pub(crate) mod publisher;
pub(crate) mod receiver;

/// The settings name a file or a secret that cannot be read. The caller ends with a bad
/// configuration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BrokerError {
    /// A certificate or key file.
    #[error("{key}: cannot read {}", path.display())]
    File {
        /// Its key in the configuration.
        key: &'static str,
        /// Which file.
        path: std::path::PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The password.
    #[error("broker.login.password")]
    Password(#[source] pdm_shared::secret::SecretError),
    /// One of certificate and key is missing.
    #[error("broker.tls: cert_file and key_file belong together")]
    HalfPair,
}

/// First pause after a lost connection.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// Longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Options of one of the two connections.
pub(crate) fn options(
    settings: &BrokerSettings,
    client_id: &str,
) -> Result<MqttOptions, BrokerError> {
    let mut options = MqttOptions::new(client_id, settings.host.as_str(), settings.port);
    options.set_keep_alive(Duration::from_secs(settings.keep_alive_s.into()));
    options.set_connection_timeout(10);
    options.set_max_packet_size(Some(settings.max_packet_bytes));
    if let Some(login) = &settings.login {
        let password = login.password.fetch().map_err(BrokerError::Password)?;
        options.set_credentials(login.user.as_str(), password.expose());
    }
    if let Some(tls) = &settings.tls {
        let read = |key: &'static str, path: &std::path::Path| {
            std::fs::read(path).map_err(|source| BrokerError::File {
                key,
                path: path.to_owned(),
                source,
            })
        };
        let ca = read("broker.tls.ca_file", &tls.ca_file)?;
        let client_auth = match (&tls.cert_file, &tls.key_file) {
            (None, None) => None,
            (Some(cert), Some(key)) => {
                Some((read("broker.tls.cert_file", cert)?, read("broker.tls.key_file", key)?))
            }
            (Some(_), None) | (None, Some(_)) => return Err(BrokerError::HalfPair),
        };
        options.set_transport(Transport::Tls(TlsConfiguration::Simple {
            ca,
            alpn: None,
            client_auth,
        }));
    }
    Ok(options)
}

/// Pauses between tries to connect: doubling, with jitter so that replicas do not march in step.
#[derive(Debug)]
pub(crate) struct Pauses {
    next: Duration,
    last_error: Option<String>,
}

impl Default for Pauses {
    fn default() -> Self {
        Self { next: FIRST_PAUSE, last_error: None }
    }
}

impl Pauses {
    /// The connection stands: start from the first pause.
    pub(crate) fn reset(&mut self) {
        *self = Self::default();
    }

    /// The connection failed: logs the reason once, gives the pause.
    pub(crate) fn after(&mut self, side: &'static str, error: &str) -> Duration {
        if self.last_error.as_deref() == Some(error) {
            tracing::debug!(side, error, "the broker is still away");
        } else {
            tracing::warn!(side, error, "no connection to the broker, trying on");
            self.last_error = Some(error.to_owned());
        }
        metrics::counter!("pdm_agent_broker_errors_total", "side" => side).increment(1);
        let pause = self.next.mul_f64(rand::rng().random_range(0.8..1.2));
        self.next = (self.next * 2).min(LONGEST_PAUSE);
        pause
    }
}
