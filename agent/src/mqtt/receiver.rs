//! Receives events, statuses and acknowledgements; hands each to the intake together with the
//! connection on which it is acknowledged.
//!
//! The session is persistent and the receive maximum bounds the messages in flight, so the broker keeps
//! what the agent has not stored. A message is acknowledged on the connection that it came on; if that
//! connection is lost, the acknowledgement is dropped and the broker redelivers. The intake never waits
//! for the connection when it acknowledges: the connection may be waiting for the intake to take the next
//! message, because brokers send more than the receive maximum (Mosquitto does to a session that it kept
//! messages for: `tests/backlog.rs`), and the two would wait for each other.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pdm_service::error_chain::error_chain;
use pdm_shared::topic::{BearingTopic, GatewayTopic, Topic};
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::{Filter, Packet, Publish};
use rumqttc::v5::{AsyncClient, Event, EventLoop, MqttOptions};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Reconnection, Thrown, log};
use crate::progress::Reporter;
use crate::settings::BrokerSettings;

/// Messages that wait for the intake together, KiB: 16 MiB. The receive maximum bounds their number,
/// this bounds their bytes, because 1,024 messages of the largest size have a gigabyte. Chosen: 1,024
/// usual events have 3 MB, 512 with spectra 15 MB.
const IN_HAND_KIB: u32 = 16 * 1024;

/// A message that is not acknowledged yet. If it is dropped, the broker keeps the message.
#[derive(Debug)]
#[must_use = "a message that is not acknowledged is delivered again"]
pub(crate) struct Delivery {
    publish: Publish,
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

    /// Acknowledges the message on the connection that it came on.
    pub(crate) fn acknowledge(self) {
        self.acks.owe(self.publish);
    }
}

/// Acknowledgements of one connection that do not fit into its queue yet, by packet identifier, in
/// their order. The connection reads many messages for each acknowledgement that it writes, so a broker
/// that ignores the receive maximum leaves hundreds of thousands of them in a flood; at two bytes each
/// that stays below a megabyte.
#[derive(Debug)]
struct Acks {
    client: AsyncClient,
    owed: Mutex<VecDeque<u16>>,
}

impl Acks {
    fn owe(&self, publish: Publish) {
        if publish.qos == QoS::AtMostOnce {
            return;
        }
        let mut owed = self.owed.lock().unwrap_or_else(PoisonError::into_inner);
        owed.push_back(publish.pkid);
        self.hand_on(&mut owed);
    }

    /// Queues as many as fit. The event loop calls this again after each of its steps, and while the queue
    /// is full it has such steps to do.
    fn pay(&self) {
        self.hand_on(&mut self.owed.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn hand_on(&self, owed: &mut VecDeque<u16>) {
        while let Some(&pkid) = owed.front() {
            // the subscriptions are of QoS 1, so no message comes at QoS 2
            let taken = Publish { pkid, qos: QoS::AtLeastOnce, ..Publish::default() };
            if self.client.try_ack(&taken).is_err() {
                return;
            }
            owed.pop_front();
        }
    }
}

/// How long the broker may be away before staff is told. Chosen: a broker's host is restarted within it.
const AWAY: Duration = Duration::from_mins(5);

/// How long attempts at a connection have failed.
#[derive(Debug, Default)]
struct Away {
    since: Option<Instant>,
    is_told: bool,
}

impl Away {
    /// An attempt has failed, or a connection has ended that `stood`; whether it is to be told now.
    fn is_due(&mut self, stood: bool) -> bool {
        if stood {
            *self = Self::default();
        }
        let lasted = self.since.get_or_insert_with(Instant::now).elapsed();
        let is_due = lasted >= AWAY && !self.is_told;
        self.is_told |= is_due;
        is_due
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
}

impl Receiver {
    pub(crate) fn new(
        settings: BrokerSettings,
        thrown: Thrown,
    ) -> Result<Self, super::BrokerError> {
        let room = Arc::new(Semaphore::new(IN_HAND_KIB as usize));
        let reporter = thrown.reporter.clone();
        let receiver = Self { settings, reporter, room, thrown };
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
        // this connection publishes nothing, and the client would reserve a place for each of 65,535
        // publications
        options.set_outgoing_inflight_upper_limit(1);
        Ok(options)
    }

    /// Receives until `stop`, then closes the queue, which ends the intake once it has stored the rest.
    /// The connection stays until `drained`, so that the acknowledgements of that rest still leave;
    /// without them the broker would deliver those messages again at the next start.
    pub(crate) async fn run(
        self,
        queue: mpsc::Sender<Delivery>,
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
                    let acks = Arc::new(Acks { client, owed: Mutex::default() });
                    self.connection(&acks, events, &mut queue, &mut reconnection, &stop, &drained)
                        .await
                }
                Err(error) => Err(error_chain(&error)),
            };
            let stood = self.reporter.progress().borrow().subscribed;
            self.reporter.update(|progress| {
                progress.subscribed = false;
                progress.broker_away_since.get_or_insert_with(Instant::now);
            });
            let Err(error) = ended else { return };
            if away.is_due(stood) {
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
        queue: &mut Option<mpsc::Sender<Delivery>>,
        reconnection: &mut Reconnection,
        stop: &CancellationToken,
        drained: &CancellationToken,
    ) -> Result<(), String> {
        let client = &acks.client;
        loop {
            acks.pay();
            let event = tokio::select! {
                event = events.poll() => event.map_err(|error| error.to_string())?,
                () = stop.cancelled(), if queue.is_some() => { *queue = None; continue }
                () = drained.cancelled() => { leave(client, &mut events).await; return Ok(()) }
            };
            match event {
                Event::Incoming(Packet::ConnAck(ack)) => {
                    log::connected_for_intake(ack.session_present);
                    // also for a session that was kept: its filters may be those of an older version
                    client.try_subscribe_many(self.filters()).map_err(|error| error.to_string())?;
                }
                Event::Incoming(Packet::SubAck(ack)) => {
                    if let Some(code) = refused(&ack.return_codes) {
                        return Err(format!("the broker refuses a subscription: {code}"));
                    }
                    reconnection.stands();
                    self.reporter.update(|progress| {
                        progress.subscribed = true;
                        progress.broker_away_since = None;
                    });
                }
                Event::Incoming(Packet::Publish(publish)) => {
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

    /// Hands a message to the intake as soon as there is room for it; false if the intake has ended.
    async fn hand_on(
        &self,
        publish: Publish,
        acks: &Arc<Acks>,
        queue: &mpsc::Sender<Delivery>,
    ) -> bool {
        let kib = u32::try_from(publish.payload.len() / 1024 + 1).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.room).acquire_many_owned(kib.min(IN_HAND_KIB)).await;
        // the semaphore is never closed
        let Ok(room) = room else { return false };
        queue.send(Delivery { publish, acks: Arc::clone(acks), _room: room }).await.is_ok()
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

/// Closes the connection without ending the session, so that the broker keeps messages for the agent.
/// Waits up to a second for the broker to close its side: acknowledgements may still be on their way.
async fn leave(client: &AsyncClient, events: &mut EventLoop) {
    if client.try_disconnect().is_ok() {
        let goodbye = async { while events.poll().await.is_ok() {} };
        let _in_time = tokio::time::timeout(std::time::Duration::from_secs(1), goodbye).await;
    }
}
