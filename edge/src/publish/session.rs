//! One connection from CONNACK to its end: what is sent, what is acknowledged, what is received.

use std::collections::HashSet;
use std::time::Duration;

use pdm_service::backoff::{Backoff, Pauses};
use pdm_shared::delivery::Presence;
use pdm_shared::topic::GatewayTopic;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::asked::Asked;
use super::in_flight::InFlight;
use super::lanes::Lanes;
use super::link::{Down, Happening, Link, Options, Will};
use super::{Publisher, documents};
use crate::event_log;
use crate::settings::BrokerAddress;
use crate::spool::{Disposition, SpoolError, Tally};

mod acknowledging;
mod ahead;
mod sending;
mod taking;

use acknowledging::{Writing, written};
use ahead::Ahead;
use sending::Stop;

/// How long a broker may take events without acknowledging any. Chosen: three probes of the
/// default keep-alive.
pub(super) const ACK_PATIENCE: Duration = Duration::from_mins(1);

/// PUBACKs are written to the spool in groups: this many, or after this long.
const ACK_GROUP: usize = 512;
const ACK_DELAY: Duration = Duration::from_millis(50);

/// How long receipts may stand still, with rows acknowledged, before the last row is sent again:
/// soon after connecting, since the broker may have lost its memory; doubling while nothing moves.
const TAIL_AT_FIRST: Duration = Duration::from_secs(1);
const TAIL_PAUSES: Pauses = Pauses::new(Duration::from_secs(5), Duration::from_mins(5));

/// How a connection ended.
#[derive(Debug)]
pub(super) enum End {
    /// Everything was sent and the broker was told goodbye.
    Closed,
    /// The connection went, or never came.
    Down(Down),
}

/// What is on the way.
#[derive(Debug)]
enum Item {
    Event(u64),
    State,
    Status,
}

/// A connection and what is known of it.
#[derive(Debug)]
pub(super) struct Session<'a> {
    publisher: &'a Publisher,
    address: &'a BrokerAddress,
    in_flight: InFlight<Item>,
    /// Numbers read ahead, in flight, or acknowledged and not written yet: not to be read again.
    busy: HashSet<u64>,
    ahead: Ahead,
    taken: Vec<u64>,
    writing: Option<Writing>,
    taken_since: Option<Instant>,
    next_state: u64,
    states_at: Option<Instant>,
    status_at: Instant,
    told_dropped: u64,
    max_packet: usize,
    answered_at: Instant,
    declined: u32,
    pause_until: Option<Instant>,
    tail: Tail,
    asked: Asked,
}

/// When the end of the sequence is sent again.
#[derive(Debug)]
struct Tail {
    stored_through: u64,
    due: Instant,
    pauses: Backoff,
}

impl Tail {
    /// The end of the sequence is due at `due`, or a pause from `now` if that is later.
    fn new(stored_through: u64, now: Instant, due: Option<Instant>) -> Self {
        let mut pauses = Backoff::new(TAIL_PAUSES);
        let paused = now + pauses.next_pause();
        let due = due.map_or(now + TAIL_AT_FIRST, |due| due.max(paused));
        Self { stored_through, due, pauses }
    }
}

impl<'a> Session<'a> {
    pub(super) fn new(publisher: &'a Publisher, address: &'a BrokerAddress) -> Self {
        let now = Instant::now();
        Self {
            publisher,
            address,
            in_flight: InFlight::default(),
            busy: HashSet::new(),
            ahead: Ahead::default(),
            taken: Vec::new(),
            writing: None,
            taken_since: None,
            next_state: 0,
            states_at: None,
            status_at: now,
            told_dropped: 0,
            max_packet: 0,
            answered_at: now,
            declined: 0,
            pause_until: None,
            tail: Tail::new(0, now, None),
            asked: Asked::new(now),
        }
    }

    /// Connects and serves until the end.
    pub(super) async fn run(mut self, closing: &CancellationToken) -> Result<End, SpoolError> {
        let options = match self.options() {
            Ok(options) => options,
            Err(down) => return Ok(End::Down(down)),
        };
        let mut link = Link::open(self.publisher.settings.broker.protocol, options);
        let end = match self.greet(&mut link).await {
            Err(down) => End::Down(down),
            Ok(known) => self.serve(&mut link, known, closing).await?,
        };
        if matches!(end, End::Closed) {
            link.disconnect().await;
        }
        Ok(end)
    }

    fn options(&self) -> Result<Options, Down> {
        let Publisher { settings, spool, clock, .. } = self.publisher;
        let gateway = spool.gateway();
        let client_id =
            settings.broker.client_id.clone().unwrap_or_else(|| gateway.as_str().to_owned());
        let tally = *spool.watch().borrow();
        let offline = documents::status(settings, gateway, Presence::Offline, &tally, clock.now());
        let will = Will {
            topic: documents::topic(settings, gateway, GatewayTopic::Status),
            payload: offline,
        };
        Options::prepare(&settings.broker, self.address, client_id, Some(will))
    }

    /// Waits for the CONNACK, subscribes to receipts and publishes the birth document. Tells what the
    /// spool held before anybody could know of the connection: what comes from then on is the present.
    async fn greet(&mut self, link: &mut Link) -> Result<Tally, Down> {
        let configured = self.publisher.settings.broker.max_packet_bytes;
        match link.happening().await {
            Some(Happening::Up { max_packet_bytes }) => {
                let limit = max_packet_bytes.unwrap_or(u32::MAX).min(configured);
                self.max_packet = usize::try_from(limit).unwrap_or(usize::MAX);
            }
            Some(Happening::Down(down)) => return Err(down),
            other => return Err(Down::Lost(format!("no CONNACK but {other:?}"))),
        }
        let Publisher { settings, spool, .. } = self.publisher;
        let known = *spool.watch().borrow();
        event_log::broker_connected(self.address);
        self.publisher.progress.send_modify(|progress| progress.connected = true);
        link.subscribe(documents::topic(settings, spool.gateway(), GatewayTopic::Receipt))?;
        self.tell_status(link, Presence::Online)?;
        Ok(known)
    }

    async fn serve(
        &mut self,
        link: &mut Link,
        known: Tally,
        closing: &CancellationToken,
    ) -> Result<End, SpoolError> {
        let broker = &self.publisher.settings.broker;
        let mut level = self.publisher.spool.watch();
        let last = known.last_sequence;
        self.tail.stored_through = known.stored_through;
        let mut lanes = Lanes::new(broker.drain_order, broker.drain_per_s, last, Instant::now());
        loop {
            let idle = match self.send_what_may_be_sent(link, &mut lanes).await {
                Ok(idle) => idle,
                Err(Stop::Down(down)) => return Ok(End::Down(down)),
                Err(Stop::Spool(error)) => return Err(error),
            };
            if closing.is_cancelled() && idle && self.in_flight.len() == 0 {
                self.write_taken().await?;
                return Ok(match self.tell_status(link, Presence::Offline) {
                    Ok(()) => self.await_goodbye(link).await,
                    Err(down) => End::Down(down),
                });
            }
            self.send_tail_again(&mut lanes).await?;
            let wake = self.next_wake(&lanes, idle);
            tokio::select! {
                happening = link.happening() => {
                    let now = Instant::now();
                    let mut next = happening;
                    loop {
                        let happening = next.unwrap_or_else(|| {
                            Happening::Down(Down::Lost("the connection's task ended".to_owned()))
                        });
                        if let Some(down) = self.take(happening, &mut lanes, now).await? {
                            self.write_taken().await?;
                            return Ok(End::Down(down));
                        }
                        match link.happened() {
                            Some(more) => next = Some(more),
                            None => break,
                        }
                    }
                }
                found = self.ahead.found() => self.read(found, &mut lanes).await?,
                outcome = written(&mut self.writing) => self.end_writing(outcome).await?,
                _ = level.changed() => {}
                () = tokio::time::sleep_until(wake) => {}
                () = closing.cancelled(), if !closing.is_cancelled() => {}
            }
            self.begin_writing_taken();
            if self.in_flight.len() > 0 && self.answered_at.elapsed() > ACK_PATIENCE {
                let text = format!("no acknowledgement for {} s", ACK_PATIENCE.as_secs());
                return Ok(End::Down(Down::Lost(text)));
            }
        }
    }

    /// Where receipts stand still, calls the last acknowledged row back.
    async fn send_tail_again(&mut self, lanes: &mut Lanes) -> Result<(), SpoolError> {
        let tally = *self.publisher.spool.watch().borrow();
        let now = Instant::now();
        if tally.acknowledged == 0 || tally.stored_through != self.tail.stored_through {
            self.tail = Tail::new(tally.stored_through, now, Some(self.tail.due));
            return Ok(());
        }
        if now < self.tail.due {
            return Ok(());
        }
        self.tail.due = now + self.tail.pauses.next_pause();
        match self.publisher.spool.call_back_last().await {
            Ok(Some(sequence)) => {
                event_log::tail_sent_again(sequence, tally.stored_through);
                lanes.call_back(sequence);
                Ok(())
            }
            Ok(None) => Ok(()),
            Err(error) => self.recover(error).await,
        }
    }

    /// When something must be done although nothing happens.
    fn next_wake(&self, lanes: &Lanes, idle: bool) -> Instant {
        let now = Instant::now();
        let mut wake = now + Duration::from_secs(1);
        if let Some(since) = self.taken_since {
            wake = wake.min(since + ACK_DELAY);
        }
        if lanes.is_throttled() && !idle {
            wake = wake.min(now + Duration::from_millis(20));
        }
        if let Some(until) = self.pause_until {
            wake = wake.min(until);
        }
        wake
    }

    /// Does what an error of the spool asks for; the caller tries again later.
    async fn recover(&self, error: SpoolError) -> Result<(), SpoolError> {
        event_log::spool_failed(&error);
        match error.disposition() {
            Disposition::Fatal => Err(error),
            Disposition::Repair => self.publisher.spool.repair(&error).await,
            Disposition::Retry => {
                tokio::time::sleep(Duration::from_millis(500)).await;
                Ok(())
            }
        }
    }
}
