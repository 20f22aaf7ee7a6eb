//! Publishing: from the spool to the broker, until the agent has it (R-EDGE-10).
//!
//! Last stage of the flow. It reads rows that wait in the [`crate::spool`], sends them with QoS 1,
//! marks them at their PUBACK, and applies the agent's receipts. Nothing that is to be sent exists
//! only here: a publisher that is killed costs repetitions, never events.
//!
//! **One client a connection.** rumqttc is built anew for every connection and thrown away with it,
//! and everything without a PUBACK is sent again out of the spool. So what rumqttc does with the
//! packets of a lost connection (cleared when the broker has no session, reordered after the packet
//! ids wrap, stuck in a collision) cannot matter. Within a connection:
//! - one task only polls ([`link`]); requests go through a channel that cannot be full, because no
//!   more is in flight than fits into it, so neither side ever waits for the other;
//! - packet ids are learnt from the order in which requests leave ([`in_flight`]);
//! - the receipt topic is subscribed on every connection; the receipt is retained;
//! - a broker that stops acknowledging is left after [`session::ACK_PATIENCE`];
//! - packets above the broker's limit lose their spectra, else are parked, and do not stop the rest.
//!
//! **Invariants.** A row is acknowledged only for a PUBACK with success. The retained state of a
//! bearing is that of an event at least as new as any sent before. After a clean stop the status
//! says `offline`; after an unclean one the last will does.

use std::time::Duration;

use pdm_service::clock::SharedClock;
use pdm_shared::id::SiteId;
use pdm_shared::topic::Prefix;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use pdm_service::backoff::{Backoff, Jitter, Pauses};

use crate::event_log;
use crate::pipeline::Progress;
use crate::settings::BrokerSettings;
use crate::spool::{Spool, SpoolError};

mod asked;
mod documents;
mod in_flight;
mod lanes;
mod link;
mod probe;
mod session;
mod v311;
mod v5;

pub use link::Down;
pub use probe::probe;

use session::{End, Session};

/// What a publisher needs.
#[derive(Debug, Clone)]
pub struct PublisherSettings {
    /// How the broker is reached.
    pub broker: BrokerSettings,
    /// First levels of every topic.
    pub prefix: Prefix,
    /// Site of the gateway.
    pub site: SiteId,
    /// What the gateway measures, as `equipment/bearing`, for its birth document.
    pub bearings: Vec<String>,
}

/// Sends what waits in a spool.
#[derive(Debug)]
pub struct Publisher {
    settings: PublisherSettings,
    spool: Spool,
    clock: SharedClock,
    progress: watch::Sender<Progress>,
}

/// A connection that lasted this long makes the next wait a short one again.
const STEADY: Duration = Duration::from_secs(10);

/// Shortest wait after a broker said no: credentials, certificate, client identity. People must act
/// before another try can succeed. Chosen.
const REFUSED_WAIT: Duration = Duration::from_secs(30);

impl Publisher {
    /// A publisher that is not running yet.
    pub fn new(
        settings: PublisherSettings,
        spool: Spool,
        clock: SharedClock,
        progress: watch::Sender<Progress>,
    ) -> Self {
        Self { settings, spool, clock, progress }
    }

    /// Sends until `closing` is cancelled and then until the spool is empty, or until `abandon` is
    /// cancelled. A broker that cannot be reached while closing ends it at once.
    ///
    /// # Errors
    /// [`SpoolError`] that no repetition can help.
    pub async fn run(
        self,
        closing: CancellationToken,
        abandon: CancellationToken,
    ) -> Result<(), SpoolError> {
        let addresses = self.settings.broker.addresses.clone();
        let (shortest, longest) = self.settings.broker.reconnect;
        // gateways that lost the same broker must not return in step
        let mut backoff =
            Backoff::new(Pauses::new(shortest, longest).with_jitter(Jitter::UpperHalf));
        let mut tried = 0;
        loop {
            let address = &addresses[tried % addresses.len()];
            let begun = tokio::time::Instant::now();
            let session = Session::new(&self, address);
            let end = tokio::select! {
                end = session.run(&closing) => end?,
                () = abandon.cancelled() => End::Closed,
            };
            self.progress.send_if_modified(|p| std::mem::replace(&mut p.connected, false));
            let down = match end {
                End::Closed => return Ok(()),
                End::Down(down) => down,
            };
            event_log::broker_lost(address, &down);
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
                // the other addresses are tried at once
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
}
