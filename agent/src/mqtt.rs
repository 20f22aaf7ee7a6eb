//! The two connections to the broker: [`receiver`] (persistent session, manual acknowledgement) and
//! [`publisher`] (confirmed by PUBACK).
//!
//! Each connection lives in an event loop of its own: after a loss a new client is made. So no
//! packet identifier of an old connection is ever acknowledged on a new one, and nothing that was in
//! flight is resent behind the caller's back: the broker redelivers, the outbox sends again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pdm_service::backoff::{Backoff, Jitter, Pauses};
use pdm_service::broker::TlsError;
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
    Password(#[source] pdm_service::secret::SecretError),
}

/// Pauses after a lost connection, with jitter so that agents that lost the same broker do not come
/// back together.
const PAUSES: Pauses = Pauses::new(Duration::from_millis(250), Duration::from_secs(30))
    .with_jitter(Jitter::Around(0.2));

/// A connection that stood this long was a good one: the next pause is the first again. Chosen.
const STEADY: Duration = Duration::from_secs(10);
/// Longest pause where connections come about and do not last: a broker that is restarted is back
/// soon, one that closes the connection at every message it does not allow is not stormed. Chosen.
const LONGEST_UNSTEADY: Duration = Duration::from_secs(4);

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

/// The attempts to connect: which broker is tried next, and after which pause.
#[derive(Debug)]
pub(crate) struct Reconnection {
    backoff: Backoff,
    last_error: Option<String>,
    /// Since when the connection stands that is lost next.
    stands_since: Option<Instant>,
    attempt: usize,
}

impl Default for Reconnection {
    fn default() -> Self {
        Self { backoff: Backoff::new(PAUSES), last_error: None, stands_since: None, attempt: 0 }
    }
}

impl Reconnection {
    /// The connection stands.
    pub(crate) fn stands(&mut self) {
        self.stands_since = Some(Instant::now());
    }

    /// Which attempt the next one is; it stays the same after a connection that stood, so that the
    /// broker that holds the session is asked first.
    pub(crate) const fn attempt(&self) -> usize {
        self.attempt
    }

    /// The connection failed: logs the reason once, gives the pause.
    pub(crate) fn after(&mut self, side: &'static str, error: &str) -> Duration {
        let pause = match self.stands_since.take().map(|since| since.elapsed()) {
            Some(stood) if stood >= STEADY => {
                *self = Self { attempt: self.attempt, ..Self::default() };
                self.backoff.next_pause()
            }
            Some(_) => self.backoff.next_pause_up_to(LONGEST_UNSTEADY),
            None => {
                self.attempt += 1;
                self.backoff.next_pause()
            }
        };
        if self.last_error.as_deref() == Some(error) {
            tracing::debug!(side, error, "the broker is still away");
        } else {
            tracing::warn!(side, error, "no connection to the broker, trying on");
            self.last_error = Some(error.to_owned());
        }
        metrics::counter!("pdm_agent_broker_errors_total", "side" => side).increment(1);
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_and_stay_short_where_connections_come_about() {
        let mut pauses = Reconnection::default();
        let about = |pause: Duration, s: f64| {
            let got = pause.as_secs_f64();
            assert!((0.79 * s..=1.21 * s).contains(&got), "{got} s, about {s} s");
        };
        for s in [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0] {
            about(pauses.after("intake", "away"), s);
        }
        for _ in 0..3 {
            pauses.stands();
            about(pauses.after("intake", "closed"), 4.0);
        }
    }

    #[test]
    fn the_broker_that_stood_last_is_asked_first_and_then_the_others_in_turn() {
        let mut pauses = Reconnection::default();
        pauses.after("test", "away");
        assert_eq!(pauses.attempt(), 1, "the second address");
        pauses.stands();
        pauses.after("test", "lost");
        assert_eq!(pauses.attempt(), 1, "the same again");
        pauses.after("test", "away");
        assert_eq!(pauses.attempt(), 2, "the next");
    }
}
