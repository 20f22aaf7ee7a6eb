//! Receives events, statuses and acknowledgements; hands each to the intake together with the
//! connection on which it is acknowledged.
//!
//! Between the two stands one line for each sender ([`super::queue`]): an event above its sender's
//! share is acknowledged and not stored, so that a flood leaves the broker's queue as fast as it
//! can be read.
//!
//! The session is persistent and the receive maximum bounds the messages in flight, so the broker
//! keeps what the agent has not stored. A message is acknowledged on the connection that it came
//! on; if that connection is lost, the acknowledgement is dropped and the broker redelivers. The
//! intake never waits for the connection when it acknowledges: the connection may be waiting for
//! the intake to take the next message, because brokers send more than the receive maximum
//! (Mosquitto does to a session that it kept messages for: `tests/backlog.rs`), and the two would
//! wait for each other.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pdm_service::error_chain::error_chain;
use pdm_shared::topic::{BearingTopic, GatewayTopic, Topic};
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::{Filter, Packet, Publish};
use rumqttc::v5::{AsyncClient, ConnectionError, Event, EventLoop, MqttOptions};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::absence::{Away, Listening};
use super::queue::{Inlet, Limits, Offered};
use super::sender::{self, Sender};
use super::{PutOff, Reconnection, Thrown, log, version};
use crate::progress::{BrokerLack, Reporter};
use crate::settings::BrokerSettings;

/// Messages that wait for the intake or are being stored, KiB: 16 MiB. The receive maximum bounds
/// their number, this bounds their bytes, because 1,024 messages of the largest size have a
/// gigabyte. Chosen: 1,024 usual events have 3 MB, 512 with spectra 15 MB.
const IN_HAND_KIB: u32 = 16 * 1024;
/// Messages of one batch, KiB: a quarter of all, so that a sender of large messages leaves room for
/// others.
pub(crate) const BATCH_KIB: usize = IN_HAND_KIB as usize / 4;

/// Returns the limits of what waits for the intake. Shares are held to from half of the room on, so
/// that a message that is put off is acknowledged at once while the broker may still send, and a
/// backlog of usual size is not put off.
pub(crate) fn limits(receive_maximum: u16) -> Limits {
    let messages = usize::from(receive_maximum);
    let crowded_kib = IN_HAND_KIB as usize / 2;
    Limits { messages, crowded: (messages / 2).max(1), crowded_kib }
}

/// A message that is not acknowledged yet. If it is dropped, the broker keeps the message.
#[derive(Debug)]
#[must_use = "a message that is not acknowledged is delivered again"]
pub(crate) struct Delivery {
    publish: Publish,
    sender: Sender,
    /// Its place among the messages of its connection.
    place: Option<u64>,
    acks: Arc<Acks>,
    /// Returns the message's share of [`IN_HAND_KIB`] when it is acknowledged or dropped.
    _room: OwnedSemaphorePermit,
}

impl Delivery {
    pub(crate) fn topic(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.publish.topic)
    }

    /// Whether the broker kept the message from before the subscription.
    pub(crate) fn is_retained(&self) -> bool {
        self.publish.retain
    }

    pub(crate) fn payload(&self) -> &[u8] {
        &self.publish.payload
    }

    /// Returns the sender of the message.
    pub(crate) const fn sender(&self) -> &Sender {
        &self.sender
    }

    /// Acknowledges the message on the connection that it came on.
    pub(crate) fn acknowledge(self) {
        if let Some(place) = self.place {
            self.acks.owe(place);
        }
    }
}

/// Messages of one connection that are not acknowledged yet, by packet identifier. Acknowledgements
/// leave in the order in which the messages came (MQTT-4.6.0-2), whatever order they are stored in.
/// The connection reads many messages for each acknowledgement that it writes, so a broker that
/// ignores the receive maximum leaves hundreds of thousands of them in a flood; at four bytes each
/// that stays below some megabytes.
#[derive(Debug)]
struct Acks {
    client: AsyncClient,
    open: Mutex<Open>,
}

/// Messages in the order in which they came, and whether each is done with.
#[derive(Debug, Default)]
struct Open {
    messages: VecDeque<(u16, bool)>,
    /// The place of the first of them.
    first: u64,
}

impl Open {
    /// Notes a message; tells its place.
    fn came(&mut self, packet: u16) -> u64 {
        self.messages.push_back((packet, false));
        self.first + self.messages.len() as u64 - 1
    }

    fn is_done(&mut self, place: u64) {
        let at = place.checked_sub(self.first).and_then(|at| usize::try_from(at).ok());
        if let Some((_, is_done)) = at.and_then(|at| self.messages.get_mut(at)) {
            *is_done = true;
        }
    }

    /// The packet that is acknowledged next, if it is done with.
    fn next(&self) -> Option<u16> {
        self.messages.front().filter(|(_, is_done)| *is_done).map(|(packet, _)| *packet)
    }

    fn left(&mut self) {
        self.messages.pop_front();
        self.first += 1;
    }
}

impl Acks {
    fn of(client: AsyncClient) -> Self {
        Self { client, open: Mutex::default() }
    }

    /// Notes a message that came; its place, unless nobody waits for an acknowledgement.
    fn came(&self, publish: &Publish) -> Option<u64> {
        (publish.qos != QoS::AtMostOnce).then(|| self.open().came(publish.pkid))
    }

    fn owe(&self, place: u64) {
        let mut open = self.open();
        open.is_done(place);
        self.hand_on(&mut open);
    }

    /// Queues as many as fit. The event loop calls this again after each of its steps, and while
    /// the queue is full it has such steps to do.
    fn pay(&self) {
        self.hand_on(&mut self.open());
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hand_on(&self, open: &mut Open) {
        while let Some(pkid) = open.next() {
            // the subscriptions are of QoS 1, so no message comes at QoS 2
            let taken = Publish { pkid, qos: QoS::AtLeastOnce, ..Publish::default() };
            if self.client.try_ack(&taken).is_err() {
                return;
            }
            open.left();
        }
    }
}

/// Why a connection ended.
#[derive(Debug)]
struct Loss {
    told: String,
    /// The broker had not taken it, and may not speak MQTT 5.
    may_be_version: bool,
}

impl Loss {
    fn of(error: &ConnectionError, is_taken: bool) -> Self {
        let may_be_version = !is_taken && version::may_be_version(error);
        Self { told: error.to_string(), may_be_version }
    }
}

impl From<String> for Loss {
    fn from(told: String) -> Self {
        Self { told, may_be_version: false }
    }
}

/// The receiving side.
#[derive(Debug)]
pub(crate) struct Receiver {
    settings: BrokerSettings,
    reporter: Reporter,
    /// Kibibytes that may still wait for the intake.
    room: Arc<Semaphore>,
    thrown: Thrown,
    put_off: PutOff,
}

impl Receiver {
    pub(crate) fn new(
        settings: BrokerSettings,
        thrown: Thrown,
        put_off: PutOff,
    ) -> Result<Self, super::BrokerError> {
        let room = Arc::new(Semaphore::new(IN_HAND_KIB as usize));
        let reporter = thrown.reporter.clone();
        let receiver = Self { settings, reporter, room, thrown, put_off };
        // files and secrets that the settings name must be readable at the start
        receiver.options(0)?;
        Ok(receiver)
    }

    fn options(&self, attempt: usize) -> Result<MqttOptions, super::BrokerError> {
        let mut options = super::options(&self.settings, &self.settings.client_id, attempt)?;
        options.set_clean_start(false);
        options.set_session_expiry_interval(Some(self.settings.session_expiry_s));
        options.set_receive_maximum(Some(self.settings.receive_maximum));
        options.set_manual_acks(true);
        // this connection publishes nothing, and the client would reserve a place for each of
        // 65,535 publications
        options.set_outgoing_inflight_upper_limit(1);
        Ok(options)
    }

    /// Receives until `stop`, then closes the queue, which ends the intake once it has stored the
    /// rest. The connection stays until `drained`, so that the acknowledgements of that rest still
    /// leave; without them the broker would deliver those messages again at the next start.
    pub(crate) async fn run(
        self,
        queue: Inlet<Delivery>,
        stop: CancellationToken,
        drained: CancellationToken,
    ) {
        let mut queue = Some(queue);
        let mut reconnection = Reconnection::default();
        let mut away = Away::default();
        loop {
            let ended = match self.options(reconnection.attempt()) {
                Ok(options) => {
                    let capacity = usize::from(self.settings.receive_maximum) * 2;
                    let (client, events) = AsyncClient::new(options, capacity);
                    let acks = Arc::new(Acks::of(client));
                    self.connection(&acks, events, &mut queue, &mut reconnection, &stop, &drained)
                        .await
                }
                Err(error) => Err(Loss::from(error_chain(&error))),
            };
            let lacks = match &ended {
                Err(loss) if loss.may_be_version => {
                    let is_so =
                        version::speaks_311_alone(&self.settings, reconnection.attempt()).await;
                    is_so.then_some(BrokerLack::Version5)
                }
                Ok(()) | Err(_) => None,
            };
            let stood = self.reporter.progress().borrow().subscribed;
            self.reporter.update(|progress| {
                progress.subscribed = false;
                progress.broker_away_since.get_or_insert_with(Instant::now);
                progress.broker_lacks = lacks;
            });
            let Err(Loss { told: error, .. }) = ended else { return };
            let error = lacks.map_or(error, |lack| lack.told().to_owned());
            if let Some(lack) = lacks {
                self.thrown.lacks(&self.settings.client_id, lack);
            } else if away.is_due(stood) {
                self.thrown.away(&self.settings.client_id, &error);
            }
            let pause = reconnection.after("intake", &error);
            if reconnection.is_thrown_out() {
                self.thrown.out("intake", &self.settings.client_id, &error);
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = stop.cancelled() => { return }
            }
        }
    }

    /// One connection to its end: `Ok` if asked to stop, else why it ended.
    async fn connection(
        &self,
        acks: &Arc<Acks>,
        mut events: EventLoop,
        queue: &mut Option<Inlet<Delivery>>,
        reconnection: &mut Reconnection,
        stop: &CancellationToken,
        drained: &CancellationToken,
    ) -> Result<(), Loss> {
        let client = &acks.client;
        let mut is_taken = false;
        let mut listening = Listening::default();
        loop {
            acks.pay();
            let event = tokio::select! {
                () = listening.is_deaf() => { self.hears_nothing(); continue }
                event = events.poll() => event.map_err(|error| Loss::of(&error, is_taken))?,
                () = stop.cancelled(), if queue.is_some() => { *queue = None; continue }
                () = drained.cancelled() => { leave(client, &mut events).await; return Ok(()) }
            };
            match event {
                Event::Incoming(Packet::ConnAck(ack)) => {
                    log::connected_for_intake(ack.session_present);
                    is_taken = true;
                    let lacks = version::lack_of(&ack);
                    self.reporter.update(|progress| progress.broker_lacks = lacks);
                    if let Some(lack) = lacks {
                        self.thrown.lacks(&self.settings.client_id, lack);
                    }
                    // also for a session that was kept: its filters may be those of an older
                    // version
                    let asked = client.try_subscribe_many(self.filters());
                    asked.map_err(|error| error.to_string())?;
                }
                Event::Incoming(Packet::SubAck(ack)) => {
                    if let Some(code) = refused(&ack.return_codes) {
                        let told = format!("the broker refuses a subscription: {code}");
                        return Err(told.into());
                    }
                    reconnection.stands();
                    listening = Listening::begun();
                    self.reporter.update(|progress| {
                        progress.subscribed = true;
                        progress.broker_away_since = None;
                    });
                }
                Event::Incoming(Packet::Publish(publish)) => {
                    if listening.hears() {
                        self.reporter.update(|progress| {
                            progress.broker_lacks.take_if(|lack| *lack == BrokerLack::Rights);
                        });
                    }
                    if let Some(queue) = &queue {
                        tokio::select! {
                            taken = self.hand_on(publish, acks, queue) => {
                                if !taken { return Ok(()) }
                            }
                            () = stop.cancelled() => {}
                        }
                    }
                }
                Event::Incoming(_) | Event::Outgoing(_) => {}
            }
        }
    }

    /// Tells that the broker delivers nothing, where gateways are known whose status it should
    /// retain.
    fn hears_nothing(&self) {
        if self.reporter.progress().borrow().gateways > 0 {
            self.reporter.update(|progress| progress.broker_lacks = Some(BrokerLack::Rights));
            self.thrown.lacks(&self.settings.client_id, BrokerLack::Rights);
        }
    }

    /// Hands a message to the intake as soon as there is room for it, or puts it off where its
    /// sender has more waiting than its share; false if the intake has ended.
    async fn hand_on(&self, publish: Publish, acks: &Arc<Acks>, queue: &Inlet<Delivery>) -> bool {
        let topic = String::from_utf8_lossy(&publish.topic);
        let (sender, urgency) =
            sender::sender_and_urgency(&self.settings.prefix, &topic, &publish.payload);
        let sender = queue.line_of(sender);
        let place = acks.came(&publish);
        let kib = publish.payload.len() / 1024 + 1;
        if queue.puts_off(&sender, urgency) {
            self.put_off(&sender, place, acks);
            return true;
        }
        // a status stands behind the events that came before it under topics that name no gateway
        let claimed = sender.gateway().cloned().map(Sender::Claimed);
        let behind =
            claimed.filter(|line| urgency != sender::Urgency::Repeated && queue.has_waiting(line));
        let line = behind.unwrap_or_else(|| sender.clone());
        let wanted = u32::try_from(kib).unwrap_or(u32::MAX).min(IN_HAND_KIB);
        let room = Arc::clone(&self.room).acquire_many_owned(wanted).await;
        // the semaphore is never closed
        let Ok(room) = room else { return false };
        let acks_of = Arc::clone(acks);
        let mut delivery = Delivery { publish, sender, place, acks: acks_of, _room: room };
        loop {
            match queue.offer(&line, kib, delivery) {
                Offered::Queued => return true,
                Offered::Full(same) => delivery = same,
                Offered::Closed => return false,
            }
            queue.room().await;
        }
    }

    /// Acknowledges an event without storing it: its gateway sends it again when it is asked.
    fn put_off(&self, sender: &Sender, place: Option<u64>, acks: &Acks) {
        self.put_off.note(sender);
        if let Some(place) = place {
            acks.owe(place);
        }
    }

    fn filters(&self) -> Vec<Filter> {
        let prefix = &self.settings.prefix;
        let shared = |filter: String| match &self.settings.shared_group {
            Some(group) => format!("$share/{group}/{filter}"),
            None => filter,
        };
        [
            shared(Topic::bearing_filter(prefix, BearingTopic::Event)),
            shared(Topic::gateway_event_filter(prefix)),
            Topic::bearing_filter(prefix, BearingTopic::Ack),
            shared(Topic::bearing_filter(prefix, BearingTopic::FollowUp)),
            shared(Topic::bearing_filter(prefix, BearingTopic::Shelve)),
            Topic::gateway_filter(prefix, GatewayTopic::Status),
        ]
        .into_iter()
        .map(|filter| Filter::new(filter, QoS::AtLeastOnce))
        .collect()
    }
}

fn refused(codes: &[rumqttc::v5::mqttbytes::v5::SubscribeReasonCode]) -> Option<String> {
    use rumqttc::v5::mqttbytes::v5::SubscribeReasonCode::Success;
    codes.iter().find(|code| !matches!(code, Success(_))).map(|code| format!("{code:?}"))
}

/// Closes the connection without ending the session, so that the broker keeps messages for the
/// agent. Waits up to a second for the broker to close its side: acknowledgements may still be on
/// their way.
async fn leave(client: &AsyncClient, events: &mut EventLoop) {
    if client.try_disconnect().is_ok() {
        let goodbye = async { while events.poll().await.is_ok() {} };
        let _in_time = tokio::time::timeout(std::time::Duration::from_secs(1), goodbye).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// MQTT-4.6.0-2; rumqttd ends a connection whose acknowledgements come in another order.
    #[test]
    fn acknowledgements_leave_in_the_order_in_which_the_messages_came() {
        let mut open = Open::default();
        let places: Vec<u64> = [7, 8, 9].map(|packet| open.came(packet)).to_vec();
        open.is_done(places[2]);
        open.is_done(places[1]);
        assert_eq!(open.next(), None, "the first is not stored yet");
        open.is_done(places[0]);
        let mut left = Vec::new();
        while let Some(packet) = open.next() {
            left.push(packet);
            open.left();
        }
        assert_eq!(left, [7, 8, 9]);
        assert_eq!(open.came(7), 3, "places go on");
    }

    #[test]
    fn shares_are_held_to_from_half_of_the_room_on() {
        assert_eq!(limits(4096).crowded, 2048);
        assert_eq!(limits(64).crowded, 32);
        assert_eq!(limits(1).crowded, 1);
    }
}
