//! Publishing: sending the spool's events to the broker until the agent has stored them
//! (R-EDGE-10).
//!
//! Last stage of the flow. The publisher reads waiting rows of the [`crate::spool`], sends them
//! with QoS 1, marks them at their PUBACK, and applies the agent's receipts. Every event that is to
//! be sent is on disk, so a publisher that is killed causes repetitions but loses no event.
//!
//! **One client for each connection.** The rumqttc client is dropped with its connection, and every
//! event without a PUBACK is read from the spool and sent again. So it does not matter that rumqttc
//! may clear the packets of a lost connection (when the broker has no session), reorder them (after
//! packet ids wrap) or hold them for ever (in a collision of ids). Within a connection:
//! - one task only polls (`link`). Requests go through a channel that holds more requests than may
//!   be in flight, so neither side waits for the other;
//! - packet ids are learnt from the order in which requests leave (`in_flight`);
//! - the receipt topic is subscribed on every connection; the receipt is retained;
//! - a connection whose broker stops acknowledging is closed after `session::ACK_PATIENCE`;
//! - an event above the broker's packet limit is sent without its spectra; if the event is still
//!   too large, it is parked, and the events behind it are sent. A limit that the broker does not
//!   tell is learnt (`limit`).
//!
//! **Invariants.** A row is acknowledged only by a PUBACK with success. The retained state of a
//! bearing is never replaced by the state of an older event. After a clean stop the status is
//! `offline`; after an unclean one the broker publishes the last will, which is `offline` too.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pdm_service::backoff::{Backoff, Jitter, Pauses};
use pdm_service::clock::SharedClock;
use pdm_shared::id::SiteId;
use pdm_shared::topic::Prefix;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::capture::Capturing;
use crate::progress::{BrokerTrouble, Progress};
use crate::relearning::Relearning;
use crate::remarks::Remarks;
use crate::settings::BrokerSettings;
use crate::spool::{Spool, SpoolError};

mod answers;
mod asked;
mod documents;
mod in_flight;
mod lanes;
mod limit;
mod link;
mod log;
mod options;
mod probe;
mod session;
mod unsteady;
mod v311;
mod v5;

pub use link::Down;
pub use probe::probe;

use answers::DemandAnswers;
use limit::PacketLimit;
use session::{Session, SessionEnd};
use unsteady::Unsteady;

/// The settings of a publisher.
#[derive(Debug, Clone)]
pub struct PublisherSettings {
    /// The connection to the broker.
    pub broker: BrokerSettings,
    /// First levels of every topic.
    pub prefix: Prefix,
    /// Site of the gateway.
    pub site: SiteId,
    /// The bearings that the gateway measures, as `equipment/bearing`, for its birth document.
    pub bearings: Vec<String>,
}

/// Sends the waiting events of a spool.
#[derive(Debug)]
pub struct Publisher {
    settings: PublisherSettings,
    spool: Spool,
    clock: SharedClock,
    progress: watch::Sender<Progress>,
    limit: Mutex<PacketLimit>,
    /// How often in a row the broker refused a state, or ended a young connection with one in
    /// flight.
    states_refused: AtomicU8,
    remarks: Remarks,
    /// Where demands for captures go; `None`: nothing is captured.
    capturing: Option<Capturing>,
    /// The answers to demands that came over the broker.
    answers: DemandAnswers,
    /// Where requests to learn a bearing anew go, with their answers.
    relearning: Relearning,
    /// How often in a row a young connection ended before the broker answered the subscription to
    /// these requests.
    relearn_refused: AtomicU8,
}

/// A connection that lasted this long resets the wait before the next attempt: longer than
/// connecting may take (`link::CONNECT_TIMEOUT_S`), so an attempt that timed out does not count.
const STEADY: Duration = Duration::from_secs(10);

/// How often in a row the broker refuses a state before none is published until the program's next
/// start. Chosen: once may be a quota, and nothing is judged by a state.
const STATES_REFUSED: u8 = 3;

/// Shortest wait after a broker refused credentials, certificate or client identity. Nothing
/// changes before a person acts: two attempts a minute do not flood the broker's log, and the
/// gateway is back within half a minute of the correction.
const REFUSED_WAIT: Duration = Duration::from_secs(30);

/// Of so many attempts that fail one asks whether the broker speaks another version. Chosen: the
/// first one does, and a broker that is away is not asked all the time.
const VERSION_TRIES: usize = 8;

impl Publisher {
    /// A publisher, to be run by [`Self::run`].
    pub fn new(
        settings: PublisherSettings,
        spool: Spool,
        clock: SharedClock,
        progress: watch::Sender<Progress>,
    ) -> Self {
        let (limit, remarks) = (Mutex::default(), Remarks::default());
        let (states_refused, answers) = (AtomicU8::new(0), DemandAnswers::default());
        Self {
            settings,
            spool,
            clock,
            progress,
            limit,
            states_refused,
            remarks,
            capturing: None,
            answers,
            relearning: Relearning::default(),
            relearn_refused: AtomicU8::new(0),
        }
    }

    /// The publisher whose status tells of sources that deliver nothing.
    #[must_use]
    pub fn with_remarks(self, remarks: Remarks) -> Self {
        Self { remarks, ..self }
    }

    /// The publisher that takes demands for captures over the broker.
    #[must_use]
    pub fn with_capturing(self, capturing: Option<Capturing>) -> Self {
        Self { capturing, ..self }
    }

    /// The publisher that takes requests to learn a bearing anew over the broker.
    #[must_use]
    pub fn with_relearning(self, relearning: Relearning) -> Self {
        Self { relearning, ..self }
    }

    /// Sends until `closing` is cancelled, then empties the spool. Ends at once if `abandon` is
    /// cancelled, or if the broker cannot be reached after `closing`: the rest stays in the spool,
    /// and waiting for a broker would only delay the end of the program.
    ///
    /// # Errors
    /// [`SpoolError`] with the disposition `Fatal`.
    pub async fn run(
        self,
        closing: CancellationToken,
        abandon: CancellationToken,
    ) -> Result<(), SpoolError> {
        let addresses = self.settings.broker.addresses.clone();
        let (shortest, longest) = self.settings.broker.reconnect;
        // jitter, so that gateways that lost the same broker do not all connect at the same moment
        let mut backoff =
            Backoff::new(Pauses::new(shortest, longest).with_jitter(Jitter::UpperHalf));
        let mut tried = 0;
        let mut unsteady = Unsteady::default();
        loop {
            let address = &addresses[tried % addresses.len()];
            let begun = Instant::now();
            let session = Session::new(&self, address);
            let end = tokio::select! {
                end = session.run(&closing) => end?,
                () = abandon.cancelled() => SessionEnd::Closed,
            };
            let was_up =
                self.progress.send_if_modified(|p| std::mem::replace(&mut p.connected, false));
            let down = match end {
                SessionEnd::Closed => return Ok(()),
                SessionEnd::Down(down) => down,
            };
            let is_lost = matches!(down, Down::Lost(_));
            let may_be_older = !was_up && is_lost && tried.is_multiple_of(VERSION_TRIES);
            let is_older = may_be_older
                && tokio::select! {
                    is_older = self.speaks_311_alone(address) => is_older,
                    () = closing.cancelled() => false,
                    () = abandon.cancelled() => return Ok(()),
                };
            let down = if is_older { probe::older(&down) } else { down };
            log::connection_lost(address, &down);
            let is_learning = matches!(down, Down::TooLarge(_));
            if was_up && !is_learning && unsteady.ended(begun.elapsed(), Instant::now()) {
                self.thrown_out(address, &down);
            }
            if closing.is_cancelled() {
                return Ok(());
            }
            tried += 1;
            if begun.elapsed() >= STEADY {
                backoff.reset();
                tried = 0;
            }
            let wait = match &down {
                Down::Refused(_) => backoff.next_pause().max(REFUSED_WAIT.min(longest)),
                // the next connection does not send that packet again
                Down::TooLarge(_) => {
                    tried = 0;
                    Duration::ZERO
                }
                // no wait before the other addresses are tried
                Down::Lost(_) if !tried.is_multiple_of(addresses.len()) => Duration::ZERO,
                Down::Lost(_) => backoff.next_pause(),
            };
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = closing.cancelled() => {}
                () = abandon.cancelled() => return Ok(()),
            }
        }
    }

    /// Whether a broker that did not take the connection speaks MQTT 3.1.1 alone.
    async fn speaks_311_alone(&self, address: &crate::settings::BrokerAddress) -> bool {
        let broker = &self.settings.broker;
        let own = broker.client_id.as_deref().unwrap_or_else(|| self.spool.gateway().as_str());
        probe::speaks_311_alone(broker, address, own).await
    }

    /// Locks and returns what has been learnt of the broker's limit.
    fn limit(&self) -> MutexGuard<'_, PacketLimit> {
        self.limit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the states of bearings are published: a broker whose access rules refuse them would
    /// else hold up the events behind them, or end each connection.
    fn publishes_states(&self) -> bool {
        self.states_refused.load(Ordering::Relaxed) < STATES_REFUSED
    }

    /// The broker took a state, or refused one.
    fn state_answered(&self, is_taken: bool) {
        let before = self.states_refused.load(Ordering::Relaxed);
        let now = if is_taken { 0 } else { before.saturating_add(1) };
        self.states_refused.store(now, Ordering::Relaxed);
        if now == STATES_REFUSED {
            log::states_given_up();
        }
    }

    /// The broker ends the connection again and again soon after it took it.
    fn thrown_out(&self, address: &crate::settings::BrokerAddress, down: &Down) {
        let name = self.settings.broker.client_id.clone();
        let name = name.unwrap_or_else(|| self.spool.gateway().as_str().to_owned());
        let is_new = self.progress.send_if_modified(|progress| {
            let trouble = Some(BrokerTrouble::ThrownOut);
            std::mem::replace(&mut progress.broker_trouble, trouble) != trouble
        });
        log::thrown_out(address, &name, down, is_new);
    }
}
