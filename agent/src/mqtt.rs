//! The two connections to the broker: [`receiver`] (persistent session, manual acknowledgement) and
//! [`publisher`] (confirmed by PUBACK).
//!
//! Each connection lives in an event loop of its own: after a loss a new client is made. So no
//! packet identifier of an old connection is ever acknowledged on a new one, and nothing that was in
//! flight is resent behind the caller's back: the broker redelivers, the outbox sends again.

use std::sync::Arc;
use std::time::Duration;

use pdm_shared::broker::TlsError;
use rand::RngExt as _;
use rumqttc::v5::MqttOptions;
use rumqttc::{TlsConfiguration, Transport};

use crate::settings::BrokerSettings;

pub(crate) mod publisher;
pub(crate) mod receiver;

/// The settings name a file or a secret that cannot be used. At the start it is a bad configuration;
/// while running it is tried again, as somebody may be renewing it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BrokerError {
    /// Certificates.
    #[error("broker.tls")]
    Tls(#[from] TlsError),
    /// The password.
    #[error("broker.password")]
    Password(#[source] pdm_shared::secret::SecretError),
}

/// First pause after a lost connection.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// Longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Options of one connection. Secrets and certificates are read anew for each, so that what was
/// renewed is used without a restart; `attempt` goes through the addresses in turn.
pub(crate) fn options(
    settings: &BrokerSettings,
    client_id: &str,
    attempt: usize,
) -> Result<MqttOptions, BrokerError> {
    let (host, port) = match settings.addresses.get(attempt % settings.addresses.len().max(1)) {
        Some(address) => (address.host.as_str(), address.port),
        // the settings hold one at least
        None => ("127.0.0.1", 1883),
    };
    let mut options = MqttOptions::new(client_id, host, port);
    options.set_keep_alive(Duration::from_secs(settings.keep_alive_s.into()));
    options.set_connection_timeout(10);
    options.set_max_packet_size(Some(settings.max_packet_bytes));
    if let Some(login) = &settings.login {
        let password = login.password.fetch().map_err(BrokerError::Password)?;
        options.set_credentials(login.user.as_str(), password.expose());
    }
    if let Some(tls) = &settings.tls {
        let config = Arc::new(tls.client_config()?);
        options.set_transport(Transport::tls_with_config(TlsConfiguration::Rustls(config)));
    }
    Ok(options)
}

/// An error with what caused it, in one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

/// Pauses between tries to connect: doubling, with jitter so that replicas do not march in step.
#[derive(Debug)]
pub(crate) struct Pauses {
    next: Duration,
    last_error: Option<String>,
    /// The last connection stood before it was lost.
    stood: bool,
    attempt: usize,
}

impl Default for Pauses {
    fn default() -> Self {
        Self { next: FIRST_PAUSE, last_error: None, stood: false, attempt: 0 }
    }
}

impl Pauses {
    /// The connection stands: start from the first pause.
    pub(crate) fn reset(&mut self) {
        *self = Self { stood: true, attempt: self.attempt, ..Self::default() };
    }

    /// Which attempt the next one is; it stays the same after a connection that stood, so that the
    /// broker that holds the session is asked first.
    pub(crate) const fn attempt(&self) -> usize {
        self.attempt
    }

    /// The connection failed: logs the reason once, gives the pause.
    pub(crate) fn after(&mut self, side: &'static str, error: &str) -> Duration {
        if !self.stood {
            self.attempt += 1;
        }
        self.stood = false;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_broker_that_stood_last_is_asked_first_and_then_the_others_in_turn() {
        let mut pauses = Pauses::default();
        pauses.after("test", "away");
        assert_eq!(pauses.attempt(), 1, "the second address");
        pauses.reset();
        pauses.after("test", "lost");
        assert_eq!(pauses.attempt(), 1, "the same again");
        pauses.after("test", "away");
        assert_eq!(pauses.attempt(), 2, "the next");
    }
}
