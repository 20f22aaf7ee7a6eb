//! One connection from CONNACK to its end: sending, acknowledging, receiving.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use pdm_shared::delivery::Presence;
use pdm_shared::topic::{BearingTopic, GatewayTopic, Topic};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::asked::AskedEvents;
use super::documents::Said;
use super::in_flight::InFlight;
use super::lanes::Lanes;
use super::link::{Down, Happening, Link};
use super::options::{ConnectOptions, Will};
use super::unsteady::SOUND;
use super::{Publisher, STEADY, documents, log};
use crate::progress::{BrokerTrouble, SpoolTrouble, TooLarge};
use crate::settings::BrokerAddress;
use crate::spool::{self, Disposition, Numbering, SpoolError, Tally};

mod acknowledging;
mod ahead;
mod relearning;
mod sending;
mod tail;
mod taking;

use acknowledging::{Writing, written};
use ahead::Ahead;
use sending::SendError;
use tail::Tail;

/// Time without any PUBACK after which the connection is closed: three keep-alive intervals of the
/// default 20 s.
pub(super) const ACK_PATIENCE: Duration = Duration::from_mins(1);

/// Time in which a receipt covers nothing although the broker has acknowledged events, after which
/// the health says so. An agent that is updated is back within a minute, one with a backlog
/// advances.
const RECEIPT_PATIENCE: Duration = Duration::from_mins(5);

/// Time in which the broker refuses events and takes none, after which health and status say so.
/// Chosen: access rules that are being changed are whole within it.
const REFUSAL_PATIENCE: Duration = Duration::from_secs(30);

/// PUBACKs are written to the spool in groups: two default flights of 256, or those of 50 ms. Each
/// group is one `fsync`, so at most 20 a second are for PUBACKs.
const ACK_GROUP: usize = 512;
const ACK_DELAY: Duration = Duration::from_millis(50);

/// The end of a connection.
#[derive(Debug)]
pub(super) enum SessionEnd {
    /// Every event was sent, and the status is `offline`.
    Closed,
    /// The connection was lost, or could not be made.
    Down(Down),
}

/// A publication that is not acknowledged.
#[derive(Debug)]
enum Publication {
    Event { sequence: u64, bytes: usize },
    State { bytes: usize },
    Status,
}

impl Publication {
    /// The size of the packet, and the event's number.
    const fn size(&self) -> (usize, Option<u64>) {
        match self {
            Self::Event { sequence, bytes } => (*bytes, Some(*sequence)),
            Self::State { bytes } => (*bytes, None),
            Self::Status => (0, None),
        }
    }
}

/// What a connection subscribes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subscription {
    Receipts,
    Relearning,
    Captures,
}

/// A connection and its state.
#[derive(Debug)]
pub(super) struct Session<'a> {
    publisher: &'a Publisher,
    address: &'a BrokerAddress,
    in_flight: InFlight<Publication>,
    /// Numbers that are read ahead, in flight, or acknowledged but not written. They are not read
    /// again.
    busy: HashSet<u64>,
    ahead: Ahead,
    taken: Vec<u64>,
    writing: Option<Writing>,
    taken_since: Option<Instant>,
    next_state: u64,
    states_at: Option<Instant>,
    status_at: Instant,
    told_dropped: u64,
    told_trouble: Option<SpoolTrouble>,
    told_large: Option<TooLarge>,
    told_broker: Option<BrokerTrouble>,
    told: Said,
    /// Numbers that the last receipt asks for and the spool no longer has.
    gone: Vec<[u64; 2]>,
    told_numbering: Option<Numbering>,
    /// A receipt named another count since the status was told last.
    is_not_followed: bool,
    max_packet: usize,
    answered_at: Instant,
    declined: u32,
    /// The time since which the broker has taken no event and refused some.
    refused_since: Option<Instant>,
    pause_until: Option<Instant>,
    tail: Tail,
    asked: AskedEvents,
    opened: Instant,
    /// When a receipt last covered something, or nothing was to be covered.
    covered_at: Instant,
    /// The subscriptions that the broker has not answered, in their order.
    owed_answers: VecDeque<Subscription>,
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
            told_trouble: None,
            told_large: None,
            told_broker: None,
            told: Said::default(),
            gone: Vec::new(),
            told_numbering: None,
            is_not_followed: false,
            max_packet: 0,
            answered_at: now,
            declined: 0,
            refused_since: None,
            pause_until: None,
            tail: Tail::new(0, now, None),
            asked: AskedEvents::new(now),
            opened: now,
            covered_at: now,
            owed_answers: VecDeque::new(),
        }
    }

    /// Connects, and serves the connection until its end.
    pub(super) async fn run(
        mut self,
        closing: &CancellationToken,
    ) -> Result<SessionEnd, SpoolError> {
        let options = match self.options() {
            Ok(options) => options,
            Err(down) => return Ok(SessionEnd::Down(down)),
        };
        let mut link = Link::open(self.publisher.settings.broker.protocol, options);
        let end = match self.greet(&mut link).await {
            Err(down) => SessionEnd::Down(down),
            Ok(known) => self.serve(&mut link, known, closing).await?,
        };
        let end = self.learnt(end);
        if matches!(end, SessionEnd::Closed) {
            link.disconnect().await;
        }
        Ok(end)
    }

    /// Learns the broker's limit from the end of a connection. A refusal that teaches nothing new
    /// is a loss as any other, after which the next attempt waits.
    fn learnt(&self, end: SessionEnd) -> SessionEnd {
        let SessionEnd::Down(down) = end else { return end };
        let largest = self.in_flight.all().map(Publication::size).max();
        let is_young = self.opened.elapsed() < STEADY;
        let has_state = |one: &Publication| matches!(one, Publication::State { .. });
        if matches!(down, Down::Lost(_)) && is_young && self.in_flight.all().any(has_state) {
            // a broker may answer what it refuses by the end of the connection
            self.publisher.state_answered(false);
        }
        let owes_relearning = self.owed_answers.contains(&Subscription::Relearning);
        if matches!(down, Down::Lost(_)) && is_young && owes_relearning {
            self.publisher.relearning_answered(false);
        }
        let mut limit = self.publisher.limit();
        let down = match (down, largest) {
            (Down::TooLarge(_), Some((bytes, _))) if bytes > 0 && limit.refuses(bytes) => {
                log::limit_learnt(limit.most());
                Down::TooLarge(format!("at least one of at most {bytes} bytes"))
            }
            (Down::TooLarge(text), _) => Down::Lost(text),
            (Down::Lost(text), Some((_, Some(sequence)))) if self.opened.elapsed() < STEADY => {
                limit.ended_with(sequence);
                Down::Lost(text)
            }
            (down, _) => down,
        };
        SessionEnd::Down(down)
    }

    fn options(&self) -> Result<ConnectOptions, Down> {
        let Publisher { settings, spool, clock, .. } = self.publisher;
        let gateway = spool.gateway();
        let progress = *self.publisher.progress.borrow();
        let client_id =
            settings.broker.client_id.clone().unwrap_or_else(|| gateway.as_str().to_owned());
        let offline = documents::status(
            settings,
            spool,
            Presence::Offline,
            &progress,
            &Said::default(),
            clock.now(),
        );
        let will = Will {
            topic: documents::topic(settings, gateway, GatewayTopic::Status),
            payload: offline,
        };
        ConnectOptions::prepare(&settings.broker, self.address, client_id, Some(will))
    }

    /// Waits for the CONNACK, subscribes to receipts and publishes the birth document. Returns the
    /// tally before anything is sent: events committed after it are live, those before are backlog.
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
        log::connected(self.address);
        self.publisher.progress.send_modify(|progress| progress.connected = true);
        self.owed_answers.push_back(Subscription::Receipts);
        link.subscribe(documents::topic(settings, spool.gateway(), GatewayTopic::Receipt))?;
        let (prefix, site) = (&settings.prefix, &settings.site);
        if self.publisher.subscribes_relearning() {
            self.owed_answers.push_back(Subscription::Relearning);
            link.subscribe(Topic::bearing_filter_of(prefix, site, BearingTopic::Relearn))?;
        }
        if self.publisher.capturing.is_some() {
            self.owed_answers.push_back(Subscription::Captures);
            link.subscribe(Topic::bearing_filter_of(prefix, site, BearingTopic::Capture))?;
        }
        self.tell_status(link, Presence::Online)?;
        Ok(known)
    }

    async fn serve(
        &mut self,
        link: &mut Link,
        known: Tally,
        closing: &CancellationToken,
    ) -> Result<SessionEnd, SpoolError> {
        let broker = &self.publisher.settings.broker;
        let mut level = self.publisher.spool.watch();
        let last = known.last_sequence;
        self.tail.stored_through = known.stored_through;
        let mut lanes = Lanes::new(broker.drain_order, broker.drain_per_s, last, Instant::now());
        loop {
            let idle = match self.send_what_may_be_sent(link, &mut lanes).await {
                Ok(idle) => idle,
                Err(SendError::Down(down)) => return Ok(SessionEnd::Down(down)),
                Err(SendError::Spool(error)) => return Err(error),
            };
            if closing.is_cancelled() && idle && self.in_flight.len() == 0 {
                // PUBACKs first: a row whose PUBACK is not on disk is sent again at the next start
                self.write_taken().await?;
                return Ok(match self.tell_status(link, Presence::Offline) {
                    Ok(()) => self.await_goodbye(link).await,
                    Err(down) => SessionEnd::Down(down),
                });
            }
            self.send_tail_again(&mut lanes).await?;
            let wake = self.next_wake(&lanes, idle);
            tokio::select! {
                happening = link.happening() => {
                    if let Some(down) = self.take_all(link, happening, &mut lanes).await? {
                        self.write_taken().await?;
                        return Ok(SessionEnd::Down(down));
                    }
                }
                found = self.ahead.found() => self.read(found, &mut lanes).await?,
                outcome = written(&mut self.writing) => self.end_writing(outcome).await?,
                // new events in the spool
                _ = level.changed() => {}
                () = tokio::time::sleep_until(wake) => {}
                () = closing.cancelled(), if !closing.is_cancelled() => {}
            }
            self.begin_writing_taken();
            self.note_standing();
            if self.in_flight.len() > 0 && self.answered_at.elapsed() > ACK_PATIENCE {
                let text = format!("no acknowledgement for {} s", ACK_PATIENCE.as_secs());
                return Ok(SessionEnd::Down(Down::Lost(text)));
            }
        }
    }

    /// Keeps for the health whether the connection is sound, and whether what it takes arrives.
    fn note_standing(&mut self) {
        if self.publisher.spool.watch().borrow().acknowledged == 0 {
            self.covered_at = Instant::now();
        }
        let trouble = if self.refused_since.is_some_and(|at| at.elapsed() >= REFUSAL_PATIENCE) {
            Some(BrokerTrouble::Declined)
        } else {
            (self.covered_at.elapsed() >= RECEIPT_PATIENCE).then_some(BrokerTrouble::NoReceipts)
        };
        if self.opened.elapsed() < SOUND && trouble.is_none() {
            return;
        }
        let is_new = self.publisher.progress.send_if_modified(|progress| {
            std::mem::replace(&mut progress.broker_trouble, trouble) != trouble
        });
        if let Some(trouble) = trouble.filter(|_| is_new) {
            log::no_receipts(trouble);
        }
    }

    /// Handles `first` and all events that are ready with it; returns the reason if the connection
    /// ended. Nothing is sent between them, so that one pass refills the flight for many PUBACKs.
    async fn take_all(
        &mut self,
        link: &mut Link,
        first: Option<Happening>,
        lanes: &mut Lanes,
    ) -> Result<Option<Down>, SpoolError> {
        let now = Instant::now();
        let ended = || Happening::Down(Down::Lost("the connection's task ended".to_owned()));
        let mut next = Some(first.unwrap_or_else(ended));
        while let Some(happening) = next {
            if let Some(down) = self.take(happening, lanes, now).await? {
                return Ok(Some(down));
            }
            next = link.happened();
        }
        Ok(None)
    }

    /// The time of the next pass if no event wakes the session before.
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

    /// Handles an error of the spool. After `Ok` the caller repeats the operation later.
    async fn recover(&self, error: SpoolError) -> Result<(), SpoolError> {
        spool::log::failed(&error);
        match error.disposition() {
            Disposition::Fatal => Err(error),
            Disposition::Repair if self.publisher.spool.repair(&error).await? => Ok(()),
            Disposition::Repair | Disposition::Retry => {
                tokio::time::sleep(Duration::from_millis(500)).await;
                Ok(())
            }
        }
    }
}
