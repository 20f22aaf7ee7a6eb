//! The two connections to the broker: [`receiver`] (persistent session, manual acknowledgement) and
//! [`publisher`] (confirmed by PUBACK).
//!
//! Each connection has an event loop of its own, and a new client is made after a loss. So a packet
//! identifier of an old connection is never acknowledged on a new one, and the client never resends
//! by itself what was in flight: the broker redelivers, the outbox sends again.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pdm_service::backoff::{Backoff, Jitter, Pauses};
use pdm_service::broker::{CLIENT_ID, TlsError};
use rumqttc::v5::MqttOptions;
use rumqttc::{TlsConfiguration, Transport};
use tokio::sync::mpsc;

use self::sender::Sender;
use crate::progress::{BrokerLack, Reporter, SOUND};
use crate::settings::BrokerSettings;

mod absence;
mod acquaintances;
mod log;
pub(crate) mod publisher;
pub(crate) mod queue;
pub(crate) mod receiver;
pub(crate) mod sender;
pub(crate) mod version;

/// The settings name a file or a secret that cannot be used. At the start this is a bad
/// configuration; while the agent runs, the connection is tried again, because the file may just be
/// being renewed.
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

/// Pauses after a lost connection. The jitter spreads the agents that lost the same broker: a fifth
/// of 30 s is 12 s between the first and the last.
const PAUSES: Pauses = Pauses::new(Duration::from_millis(250), Duration::from_secs(30))
    .with_jitter(Jitter::Around(0.2));

/// A connection that lasted this long was sound, and the next pause is the first one again: ten
/// times what connecting and subscribing take on a slow link (1 s).
const STEADY: Duration = Duration::from_secs(10);
/// Longest pause where connections are made and do not last. A broker that restarts is found again
/// within 4 s, and a broker that closes the connection at every message it does not allow gets a
/// connection only every 4 s.
const LONGEST_UNSTEADY: Duration = Duration::from_secs(4);

/// The number of short connections within [`WINDOW`] from which they are no accident: a broker that
/// restarts costs one or two.
const OFTEN: usize = 5;
const WINDOW: Duration = Duration::from_mins(5);

/// Losses that wait to be told.
const THROWN_OUT: usize = 8;

/// A connection that the broker ends again and again.
#[derive(Debug, Clone)]
pub(crate) struct ThrownOut {
    /// Which connection, by its client id.
    pub(crate) client_id: String,
    /// The text of the last error.
    pub(crate) error: String,
    /// The kind of trouble.
    pub(crate) trouble: BrokerTrouble,
}

/// The kinds of trouble between agent and broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BrokerTrouble {
    /// Connections come about and are ended soon, again and again.
    ThrownOut,
    /// There has been no connection for long.
    Away,
    /// Events come, and there has been no connection to publish by for long.
    Mute,
    /// The broker lacks something that nothing works without.
    Lacks(BrokerLack),
}

/// Says that the broker ends connections again and again: to the health, and to staff past the
/// broker.
#[derive(Debug, Clone)]
pub(crate) struct Thrown {
    reporter: Reporter,
    told: mpsc::Sender<ThrownOut>,
}

impl Thrown {
    /// Both ends. A loss that has no room is said again at the next one.
    pub(crate) fn channel(reporter: Reporter) -> (Self, mpsc::Receiver<ThrownOut>) {
        let (told, thrown_out) = mpsc::channel(THROWN_OUT);
        (Self { reporter, told }, thrown_out)
    }

    fn out(&self, side: &'static str, client_id: &str, error: &str) {
        log::thrown_out(side, client_id, error);
        let now = tokio::time::Instant::now();
        self.reporter.update(|progress| progress.thrown_out_at = Some(now));
        self.tell(client_id, error, BrokerTrouble::ThrownOut);
    }

    /// The broker has been away for long: it is not there, bans the agent, or refuses its login.
    fn away(&self, client_id: &str, error: &str) {
        self.tell(client_id, error, BrokerTrouble::Away);
    }

    /// The connection to publish by stands, or does not.
    fn publishes(&self, stands: bool) {
        self.reporter.update(|progress| {
            if stands {
                progress.publishing_away_since = None;
            } else {
                progress.publishing_away_since.get_or_insert_with(tokio::time::Instant::now);
            }
        });
    }

    /// There has been no connection to publish by for long. Where none brings events either, that
    /// is told.
    fn mute(&self, client_id: &str, error: &str) {
        if self.reporter.progress().borrow().subscribed {
            self.tell(client_id, error, BrokerTrouble::Mute);
        }
    }

    /// The broker lacks something that nothing works without.
    fn lacks(&self, client_id: &str, lack: BrokerLack) {
        log::broker_lacks(lack);
        self.tell(client_id, lack.told(), BrokerTrouble::Lacks(lack));
    }

    fn tell(&self, client_id: &str, error: &str, trouble: BrokerTrouble) {
        let (client_id, error) = (client_id.to_owned(), error.to_owned());
        let _full_or_stopped = self.told.try_send(ThrownOut { client_id, error, trouble });
    }
}

/// Senders whose events that were put off are counted one by one until they are told; those of
/// further ones are in the metric alone.
const COUNTED: usize = 1000;

/// Events that were put off because their senders have more waiting than their share, until who
/// tells of them takes the counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct PutOff(Arc<Mutex<BTreeMap<Sender, u64>>>);

impl PutOff {
    fn note(&self, sender: &Sender) {
        log::event_put_off();
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(sender) {
            *count += 1;
        } else if counts.len() < COUNTED {
            counts.insert(sender.clone(), 1);
        }
    }

    /// The counts since they were last taken.
    pub(crate) fn take(&self) -> BTreeMap<Sender, u64> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The client id of the connection by which the agent publishes.
pub(crate) fn outgoing_id(client_id: &str) -> String {
    format!("{client_id}-out")
}

/// Options of one connection. Secrets and certificates are read anew for each, so that what was
/// renewed is used without a restart; `attempt` goes through the addresses in turn.
pub(crate) fn options(
    settings: &BrokerSettings,
    client_id: &str,
    attempt: usize,
) -> Result<MqttOptions, BrokerError> {
    options_with(settings, client_id, client_id, attempt)
}

/// Returns the same as [`options`], with the certificate and the user of another connection: for a
/// connection that has none of its own.
pub(crate) fn options_with(
    settings: &BrokerSettings,
    client_id: &str,
    identity: &str,
    attempt: usize,
) -> Result<MqttOptions, BrokerError> {
    let (host, port) = match settings.addresses.get(attempt % settings.addresses.len().max(1)) {
        Some(address) => (address.host.as_str(), address.port),
        // unreachable: the settings refuse an empty list
        None => ("127.0.0.1", 1883),
    };
    let mut options = MqttOptions::new(client_id, host, port);
    options.set_keep_alive(Duration::from_secs(settings.keep_alive_s.into()));
    options.set_connection_timeout(10);
    options.set_max_packet_size(Some(settings.max_packet_bytes));
    if let Some(login) = &settings.login {
        let password = login.password.fetch().map_err(BrokerError::Password)?;
        let user = login.user.replace(CLIENT_ID, identity);
        options.set_credentials(user, password.expose());
    }
    if let Some(tls) = &settings.tls {
        let config = Arc::new(tls.of_client(identity).client_config()?);
        options.set_transport(Transport::tls_with_config(TlsConfiguration::Rustls(config)));
    }
    Ok(options)
}

/// The attempts to connect: which broker is tried next, and after which pause.
#[derive(Debug)]
pub(crate) struct Reconnection {
    backoff: Backoff,
    last_error: Option<String>,
    /// When the present connection was made.
    stands_since: Option<Instant>,
    attempt: usize,
    /// When connections were lost that had not stood for long.
    lost: VecDeque<Instant>,
}

impl Default for Reconnection {
    fn default() -> Self {
        Self {
            backoff: Backoff::new(PAUSES),
            last_error: None,
            stands_since: None,
            attempt: 0,
            lost: VecDeque::new(),
        }
    }
}

impl Reconnection {
    /// Whether the broker has ended connections again and again soon after it took them.
    pub(crate) fn is_thrown_out(&self) -> bool {
        self.lost.len() >= OFTEN
    }

    fn note_loss(&mut self, stood: Duration) {
        if stood >= SOUND {
            self.lost.clear();
            return;
        }
        while self.lost.front().is_some_and(|at| at.elapsed() > WINDOW) {
            self.lost.pop_front();
        }
        self.lost.push_back(Instant::now());
        if self.lost.len() > OFTEN {
            self.lost.pop_front();
        }
    }

    /// Notes that a connection was made.
    pub(crate) fn stands(&mut self) {
        self.stands_since = Some(Instant::now());
    }

    /// The number of the next attempt. It stays the same after a connection that was made, so that
    /// the broker that holds the session is tried first.
    pub(crate) const fn attempt(&self) -> usize {
        self.attempt
    }

    /// Notes that the connection failed; returns the pause before the next attempt.
    pub(crate) fn after(&mut self, side: &'static str, error: &str) -> Duration {
        let stood = self.stands_since.take().map(|since| since.elapsed());
        if let Some(stood) = stood {
            self.note_loss(stood);
        }
        let pause = match stood {
            Some(stood) if stood >= STEADY => {
                let lost = std::mem::take(&mut self.lost);
                *self = Self { attempt: self.attempt, lost, ..Self::default() };
                self.backoff.next_pause()
            }
            Some(_) => self.backoff.next_pause_up_to(LONGEST_UNSTEADY),
            None => {
                self.attempt += 1;
                self.backoff.next_pause()
            }
        };
        let is_repeated = self.last_error.as_deref() == Some(error);
        log::connection_failed(side, error, is_repeated);
        self.last_error = Some(error.to_owned());
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

    /// R-AGENT-10
    #[test]
    fn short_connections_in_a_row_are_noticed_as_no_accident() {
        let mut pauses = Reconnection::default();
        for _ in 0..4 {
            pauses.stands();
            pauses.after("intake", "closed");
        }
        assert!(!pauses.is_thrown_out());
        for _ in 0..9 {
            pauses.after("intake", "away");
        }
        assert!(!pauses.is_thrown_out(), "a broker that is away throws nobody out");
        pauses.stands();
        pauses.after("intake", "closed");
        assert!(pauses.is_thrown_out());
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
