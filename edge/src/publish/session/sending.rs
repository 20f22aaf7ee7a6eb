//! The outgoing side of a connection: events, states of bearings, the gateway's own documents.

use std::borrow::Cow;
use std::time::Duration;

use bytes::Bytes;
use pdm_shared::bounds::MAX_EVENT_BYTES;
use pdm_shared::delivery::Presence;
use pdm_shared::event::Event;
use pdm_shared::topic::{BearingTopic, GatewayTopic, Topic};
use tokio::time::Instant;

use super::super::documents::Said;
use super::super::lanes::Lanes;
use super::super::link::{Down, Happening, Link};
use super::super::{Publisher, documents, log};
use super::ahead::FoundRows;
use super::{Publication, Session, SessionEnd};
use crate::progress::{Progress, TooLarge};
use crate::spool::{Row, SpoolError, labelled};

/// Shortest time between two publications of the states of bearings while events wait: a person who
/// watches a state sees a change of a second ago.
const STATE_DELAY: Duration = Duration::from_secs(1);

/// Shortest time between two publications of the status when the count of losses changes it.
const STATUS_DELAY: Duration = Duration::from_secs(10);

/// Shortest time between two publications of the status while receipts name another count of
/// sequence numbers. Chosen: the agent follows a new count after minutes, and an agent that takes a
/// status costs a write.
const STATUS_AGAIN: Duration = Duration::from_secs(30);

/// Most rows read ahead: the default flight, so that a whole flight is ready when PUBACKs arrive.
const READ_AHEAD: usize = 256;

/// Bytes of a PUBLISH in addition to topic and payload: header and remaining length (5), length of
/// the topic (2), packet id (2), properties (1), and some reserve.
const PACKET_OVERHEAD: usize = 16;

impl Session<'_> {
    /// Number of further requests: a flight is on the way, and a quarter of one waits inside
    /// rumqttc, so that the next event leaves at a PUBACK without waiting for the session.
    pub(super) fn room(&self) -> usize {
        let flight = usize::from(self.publisher.settings.broker.max_in_flight);
        (flight + flight.div_ceil(4)).saturating_sub(self.in_flight.len())
    }

    /// Fills the flight with rows that were read ahead, and starts to read more; true if no event
    /// waits any more.
    pub(super) async fn send_what_may_be_sent(
        &mut self,
        link: &Link,
        lanes: &mut Lanes,
    ) -> Result<bool, SendError> {
        if self.pause_until.is_some_and(|until| until > Instant::now()) {
            return Ok(false);
        }
        self.pause_until = None;
        if self.told_numbering != Some(self.publisher.spool.numbering()) {
            // the file was replaced: the agent must know the new count before its events
            self.tell_status(link, Presence::Online)?;
        }
        let now_ms = self.publisher.clock.now().unix_ms();
        let mut sent = 0;
        while self.room() > 0
            && let Some(row) = self.ahead.next()
        {
            sent += u64::from(self.send(link, row, now_ms).await?);
        }
        if sent > 0 {
            log::events_sent(sent);
            self.publisher.progress.send_modify(|progress| progress.published += sent);
        }
        let tally = *self.publisher.spool.watch().borrow();
        let window = usize::from(self.publisher.settings.broker.max_in_flight).min(READ_AHEAD);
        let at_once = self.ahead.at_once(window);
        if self.ahead.wants_more(window.div_ceil(2))
            && let Some(next) = lanes.next(tally.last_sequence, at_once, Instant::now())
        {
            self.ahead.ask(&self.publisher.spool, lanes, next, tally.last_sequence);
        }
        let idle = self.ahead.is_empty() && lanes.are_empty(tally.last_sequence);
        let due = self.states_at.is_none_or(|at| at.elapsed() >= STATE_DELAY);
        if idle || due {
            self.send_states(link).await?;
        }
        let Progress { spool_trouble, too_large, broker_trouble, .. } =
            *self.publisher.progress.borrow();
        let is_news = tally.dropped != self.told_dropped
            || spool_trouble != self.told_trouble
            || too_large != self.told_large
            || broker_trouble != self.told_broker
            || self.said() != self.told;
        // somebody waits at a page for the answer to a demand
        let has_answer = self.publisher.answers.newest() != self.told.answers
            || self.publisher.relearning.answers() != self.told.relearnt;
        let delay = if has_answer { STATE_DELAY } else { STATUS_DELAY };
        let is_due = is_news && self.status_at.elapsed() >= delay;
        // the agent may follow a count that another client has named
        let is_unheard = self.is_not_followed && self.status_at.elapsed() >= STATUS_AGAIN;
        if is_due || is_unheard {
            self.tell_status(link, Presence::Online)?;
        }
        Ok(idle)
    }

    /// Holds the rows of a query until there is room in the flight.
    pub(super) async fn read(
        &mut self,
        found: FoundRows,
        lanes: &mut Lanes,
    ) -> Result<(), SpoolError> {
        match found.take(lanes) {
            Ok(rows) => {
                for row in rows {
                    // a row that is in flight already is not sent twice
                    if self.busy.insert(row.sequence) {
                        self.ahead.hold(row);
                    }
                }
                Ok(())
            }
            Err(error) => self.recover(error).await,
        }
    }

    /// Requests the publication of one event; false if the event is too large for a packet or for
    /// the contract.
    async fn send(&mut self, link: &Link, row: Row, now_ms: i64) -> Result<bool, SendError> {
        let settings = &self.publisher.settings;
        let (sequence, topic) = (row.sequence, self.topic(&row.topic).under(&settings.prefix));
        let epoch = self.publisher.spool.numbering().epoch;
        let mut payload = labelled(row.payload_at(now_ms, settings.broker.late_after_s), epoch);
        let size = |payload: &[u8]| topic.len() + payload.len() + PACKET_OVERHEAD;
        let fits = |payload: &[u8], most: usize| {
            size(payload) <= most.min(self.max_packet) && payload.len() <= MAX_EVENT_BYTES
        };
        let (most, whole, is_slim) = {
            let limit = self.publisher.limit();
            (limit.most(), limit.most_with_spectra(), limit.is_slim(sequence))
        };
        if is_slim || !fits(&payload, whole) {
            let slim = without_spectra(&payload);
            let is_shorter = slim.is_some();
            payload = slim.map_or(payload, Bytes::from);
            let is_sent = fits(&payload, most);
            if is_shorter || !is_sent {
                self.tell_too_large(sequence, most.min(self.max_packet), is_sent);
            }
            if !is_sent {
                self.publisher.spool.park(sequence).await?;
                self.busy.remove(&sequence);
                return Ok(false);
            }
        }
        let bytes = size(&payload);
        if self.in_flight.len() == 0 {
            self.answered_at = Instant::now();
        }
        link.publish(topic, false, payload)?;
        self.in_flight.push(Publication::Event { sequence, bytes });
        Ok(true)
    }

    /// Keeps for health and status that the broker does not take an event whole.
    fn tell_too_large(&mut self, sequence: u64, limit: usize, is_sent: bool) {
        log::event_too_large(sequence, limit, is_sent);
        let limit_bytes = (limit < usize::MAX).then_some(limit as u64);
        self.publisher.progress.send_modify(|progress| {
            let none = TooLarge { without_spectra: 0, parked: 0, limit_bytes };
            let told = progress.too_large.get_or_insert(none);
            told.without_spectra += u64::from(is_sent);
            told.parked += u64::from(!is_sent);
            told.limit_bytes = limit_bytes;
        });
    }

    /// The topic that an event is sent under.
    fn topic<'t>(&self, of_row: &'t Topic) -> Cow<'t, Topic> {
        let Publisher { settings, spool, .. } = self.publisher;
        if let Topic::Bearing { key, what: BearingTopic::Event } = of_row
            && settings.broker.gateway_in_topic
        {
            let gateway = spool.gateway().clone();
            return Cow::Owned(Topic::GatewayEvent { key: key.clone(), gateway });
        }
        Cow::Borrowed(of_row)
    }

    /// Publishes the states that are newer than those published last.
    async fn send_states(&mut self, link: &Link) -> Result<(), SendError> {
        if self.room() == 0 || !self.publisher.publishes_states() {
            return Ok(());
        }
        let last = self.publisher.spool.watch().borrow().last_sequence;
        if self.next_state > last {
            return Ok(());
        }
        let states = match self.publisher.spool.states_from(self.next_state).await {
            Ok(states) => states,
            Err(error) => return self.recover(error).await.map_err(SendError::from),
        };
        let room = self.room();
        for state in states.into_iter().take(room) {
            let topic = state.topic.under(&self.publisher.settings.prefix);
            let bytes = topic.len() + state.payload.len() + PACKET_OVERHEAD;
            if bytes > self.publisher.limit().most().min(self.max_packet) {
                log::state_too_large(&topic, bytes);
            } else {
                link.publish(topic, true, state.payload)?;
                self.in_flight.push(Publication::State { bytes });
            }
            self.next_state = state.sequence + 1;
        }
        self.states_at = Some(Instant::now());
        Ok(())
    }

    /// Returns the statements of the status besides the progress.
    fn said(&self) -> Said {
        Said {
            troubles: self.publisher.remarks.troubles(),
            gone: self.gone.clone(),
            answers: self.publisher.answers.newest(),
            relearnt: self.publisher.relearning.answers(),
        }
    }

    /// Publishes the gateway's status.
    pub(super) fn tell_status(&mut self, link: &Link, presence: Presence) -> Result<(), Down> {
        let Publisher { settings, spool, clock, .. } = self.publisher;
        let tally = *spool.watch().borrow();
        self.told_numbering = Some(spool.numbering());
        self.is_not_followed = false;
        let progress = *self.publisher.progress.borrow();
        let said = self.said();
        let document = documents::status(settings, spool, presence, &progress, &said, clock.now());
        let topic = documents::topic(settings, spool.gateway(), GatewayTopic::Status);
        link.publish(topic, true, document)?;
        self.in_flight.push(Publication::Status);
        self.status_at = Instant::now();
        self.told_dropped = tally.dropped;
        self.told_trouble = progress.spool_trouble;
        self.told_large = progress.too_large;
        self.told_broker = progress.broker_trouble;
        self.told = said;
        Ok(())
    }

    /// Waits up to 2 s until the broker has acknowledged the status `offline`.
    pub(super) async fn await_goodbye(&mut self, link: &mut Link) -> SessionEnd {
        let taken = async {
            while self.in_flight.len() > 0 {
                match link.happening().await {
                    Some(Happening::Sent(id)) => self.in_flight.sent(id),
                    Some(Happening::Taken(id) | Happening::Declined(id, _)) => {
                        self.in_flight.answered(id);
                    }
                    Some(Happening::Down(_)) | None => return,
                    Some(_) => {}
                }
            }
        };
        // without the PUBACK the status is right nevertheless: the last will is `offline` too
        let _in_time = tokio::time::timeout(Duration::from_secs(2), taken).await;
        SessionEnd::Closed
    }
}

/// The reason why sending ended.
#[derive(Debug)]
pub(super) enum SendError {
    Down(Down),
    Spool(SpoolError),
}

impl From<Down> for SendError {
    fn from(down: Down) -> Self {
        Self::Down(down)
    }
}

impl From<SpoolError> for SendError {
    fn from(error: SpoolError) -> Self {
        Self::Spool(error)
    }
}

/// The event without its spectra; `None` if it has none. The agent judges an event without them.
fn without_spectra(payload: &[u8]) -> Option<Vec<u8>> {
    let mut event: Event = serde_json::from_slice(payload).ok()?;
    event.spectra.take()?;
    serde_json::to_vec(&event).ok()
}
