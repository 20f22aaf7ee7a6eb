//! Publishes messages and tells the caller of each when the broker has confirmed it (PUBACK).
//!
//! One task owns the connection. rumqttc gives out packet identifiers in the order in which
//! messages were queued, so the first waiting caller belongs to the next identifier. When the
//! connection is lost, every waiting caller gets an error; this module resends nothing.

use std::collections::{HashMap, VecDeque};

use pdm_service::error_chain::error_chain;
use rumqttc::Outgoing;
use rumqttc::v5::mqttbytes::v5::{DisconnectReasonCode, Packet, PubAckReason, PublishProperties};
use rumqttc::v5::mqttbytes::{Error as MqttError, QoS};
use rumqttc::v5::{AsyncClient, ConnectionError, Event, EventLoop, MqttOptions, StateError};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::absence::Away;
use super::{Reconnection, Thrown, log};
use crate::settings::BrokerSettings;

/// Messages that wait for their PUBACK; further callers wait. With a round trip of 50 ms that is
/// 5,000 messages a second.
const IN_FLIGHT: usize = 256;

/// The broker has not confirmed the message. The caller tries again later.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PublishError {
    #[error("the connection to the broker was lost")]
    Disconnected,
    #[error("the broker refused it: {0}")]
    Refused(String),
    /// Trying again cannot help.
    #[error("the message has {bytes} bytes, the broker takes at most {most}")]
    TooLarge { bytes: usize, most: usize },
}

/// Bytes of a PUBLISH beside topic and payload: header and remaining length (5), length of the
/// topic (2), packet identifier (2), properties (1, with an end 6), and some reserve.
const PACKET_OVERHEAD: usize = 24;

/// The broker's acknowledgement of a message that it has taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Confirmed {
    /// It does not say who receives it.
    Taken,
    /// Nobody subscribes to the topic at present (reason 16).
    NoSubscriber,
}

type Waiting = oneshot::Sender<Result<Confirmed, PublishError>>;

/// One message.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) topic: String,
    pub(crate) payload: Vec<u8>,
    pub(crate) retain: bool,
    /// How long the broker keeps it for a receiver that is away, s; without an end where there is
    /// none.
    pub(crate) expires_s: Option<u32>,
}

impl Message {
    fn bytes(&self) -> usize {
        self.topic.len() + self.payload.len() + PACKET_OVERHEAD
    }

    /// Whether the broker takes a packet of this size. The client would end the connection over a
    /// larger one, and every later attempt as well.
    fn fits(&self, most: usize) -> Result<(), PublishError> {
        let bytes = self.bytes();
        if bytes > most { Err(PublishError::TooLarge { bytes, most }) } else { Ok(()) }
    }
}

/// Hands messages to the connection.
#[derive(Debug, Clone)]
pub(crate) struct Publisher {
    messages: mpsc::Sender<(Message, Waiting)>,
}

impl Publisher {
    /// Queues a message; the receiver resolves when the broker has confirmed or refused the
    /// message, or the connection is lost.
    pub(crate) async fn queue(
        &self,
        message: Message,
    ) -> oneshot::Receiver<Result<Confirmed, PublishError>> {
        let (waiting, confirmed) = oneshot::channel();
        if let Err(mpsc::error::SendError((_, waiting))) =
            self.messages.send((message, waiting)).await
        {
            let _gone = waiting.send(Err(PublishError::Disconnected));
        }
        confirmed
    }

    /// Publishes one message and waits for its PUBACK.
    pub(crate) async fn publish(&self, message: Message) -> Result<Confirmed, PublishError> {
        self.queue(message).await.await.unwrap_or(Err(PublishError::Disconnected))
    }
}

/// The task that owns the connection.
#[derive(Debug)]
pub(crate) struct Connection {
    settings: BrokerSettings,
    messages: mpsc::Receiver<(Message, Waiting)>,
    connected: tokio::sync::watch::Sender<u64>,
    thrown: Thrown,
    /// The smallest publication that the broker is known to refuse, or one larger than that.
    refused: Option<usize>,
}

/// Makes the caller's end and the task's end, and a counter that changes at every connection.
pub(crate) fn publisher(
    settings: &BrokerSettings,
    thrown: Thrown,
) -> Result<(Publisher, Connection, tokio::sync::watch::Receiver<u64>), super::BrokerError> {
    // files and secrets that the settings name must be readable at the start
    options(settings, 0)?;
    let (sender, messages) = mpsc::channel(IN_FLIGHT);
    let (connected, counter) = tokio::sync::watch::channel(0);
    Ok((
        Publisher { messages: sender },
        Connection { settings: settings.clone(), messages, connected, thrown, refused: None },
        counter,
    ))
}

fn options(settings: &BrokerSettings, attempt: usize) -> Result<MqttOptions, super::BrokerError> {
    let mut options = super::options(settings, &super::outgoing_id(&settings.client_id), attempt)?;
    options.set_clean_start(true);
    Ok(options)
}

/// Reason 149, "packet too large", which the client does not know for a publication.
const TOO_LARGE: u8 = 149;

/// Whether a connection ended over the size of a publication.
fn is_too_large(error: &ConnectionError) -> bool {
    let ConnectionError::MqttState(error) = error else { return false };
    matches!(
        error,
        StateError::Deserialization(MqttError::InvalidConnectReturnCode(TOO_LARGE))
            | StateError::ServerDisconnect {
                reason_code: DisconnectReasonCode::PacketTooLarge,
                ..
            }
    )
}

/// Callers between queue and PUBACK.
#[derive(Debug, Default)]
struct InFlight {
    queued: VecDeque<(Waiting, usize)>,
    numbered: HashMap<u16, (Waiting, usize)>,
}

impl InFlight {
    fn len(&self) -> usize {
        self.queued.len() + self.numbered.len()
    }

    /// The size of the largest publication that is not confirmed.
    fn largest(&self) -> Option<usize> {
        self.queued.iter().chain(self.numbered.values()).map(|(_, bytes)| *bytes).max()
    }

    fn number(&mut self, packet: u16) {
        if let Some(waiting) = self.queued.pop_front() {
            self.numbered.insert(packet, waiting);
        }
    }

    fn confirm(&mut self, packet: u16, outcome: Result<Confirmed, PublishError>) {
        if let Some((waiting, _bytes)) = self.numbered.remove(&packet) {
            let _gone = waiting.send(outcome);
        }
    }

    fn fail(&mut self) {
        let queued = self.queued.drain(..);
        for (waiting, _bytes) in queued.chain(self.numbered.drain().map(|(_, item)| item)) {
            let _gone = waiting.send(Err(PublishError::Disconnected));
        }
    }
}

impl Connection {
    /// Publishes until `stop`.
    pub(crate) async fn run(mut self, stop: CancellationToken) {
        let mut reconnection = Reconnection::default();
        let mut away = Away::default();
        loop {
            let connections = *self.connected.borrow();
            let ended = match options(&self.settings, reconnection.attempt()) {
                Ok(options) => {
                    let (client, events) = AsyncClient::new(options, IN_FLIGHT * 2);
                    let mut in_flight = InFlight::default();
                    let ended = self
                        .connection(&client, events, &mut in_flight, &mut reconnection, &stop)
                        .await;
                    in_flight.fail();
                    ended
                }
                Err(error) => Err(error_chain(&error)),
            };
            let Err(error) = ended else { return };
            self.thrown.publishes(false);
            let client_id = super::outgoing_id(&self.settings.client_id);
            if away.is_due(*self.connected.borrow() != connections) {
                self.thrown.mute(&client_id, &error);
            }
            let pause = reconnection.after("outbox", &error);
            if reconnection.is_thrown_out() {
                self.thrown.out("outbox", &client_id, &error);
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = stop.cancelled() => return,
            }
        }
    }

    /// Returns why a connection ended. A publication that is too large ends it without being named:
    /// the largest in flight is at least as large, and larger ones are not sent again.
    fn ended(&mut self, error: &ConnectionError, in_flight: &InFlight) -> String {
        if let (true, Some(bytes)) = (is_too_large(error), in_flight.largest())
            && self.refused.is_none_or(|refused| bytes < refused)
        {
            self.refused = Some(bytes);
            log::limit_learnt(bytes.saturating_sub(1));
        }
        error.to_string()
    }

    /// Returns the largest publication: by the settings, by the broker's statement, and by its
    /// refusals.
    fn most(&self, told: Option<u32>) -> usize {
        let bytes = self.settings.max_packet_bytes.min(told.unwrap_or(u32::MAX));
        let learnt = self.refused.map_or(usize::MAX, |refused| refused.saturating_sub(1));
        usize::try_from(bytes).unwrap_or(usize::MAX).min(learnt)
    }

    async fn connection(
        &mut self,
        client: &AsyncClient,
        mut events: EventLoop,
        in_flight: &mut InFlight,
        reconnection: &mut Reconnection,
        stop: &CancellationToken,
    ) -> Result<(), String> {
        let mut stands = false;
        let mut most = self.most(None);
        loop {
            tokio::select! {
                event = events.poll() =>
                    match event.map_err(|error| self.ended(&error, in_flight))? {
                    Event::Incoming(Packet::ConnAck(ack)) => {
                        most = self.most(ack.properties.and_then(|told| told.max_packet_size));
                        reconnection.stands();
                        stands = true;
                        log::connected_for_publishing();
                        self.connected.send_modify(|count| *count += 1);
                        self.thrown.publishes(true);
                    }
                    Event::Outgoing(Outgoing::Publish(packet)) => in_flight.number(packet),
                    Event::Incoming(Packet::PubAck(ack)) => {
                        in_flight.confirm(ack.pkid, outcome_of(ack.reason));
                    }
                    Event::Incoming(_) | Event::Outgoing(_) => {}
                },
                message = self.messages.recv(), if stands && in_flight.len() < IN_FLIGHT => {
                    let Some((message, waiting)) = message else { return Ok(()) };
                    if let Err(error) = message.fits(most) {
                        let _gone = waiting.send(Err(error));
                        continue;
                    }
                    let bytes = message.bytes();
                    let properties = PublishProperties {
                        message_expiry_interval: message.expires_s,
                        ..PublishProperties::default()
                    };
                    let sent = client.try_publish_with_properties(
                        message.topic, QoS::AtLeastOnce, message.retain, message.payload,
                        properties,
                    );
                    match sent {
                        Ok(()) => in_flight.queued.push_back((waiting, bytes)),
                        Err(error) => {
                            let _gone = waiting.send(Err(PublishError::Refused(error.to_string())));
                        }
                    }
                }
                () = stop.cancelled() => {
                    let _closing = client.try_disconnect();
                    let goodbye = async { while events.poll().await.is_ok() {} };
                    let wait = std::time::Duration::from_secs(1);
                    let _in_time = tokio::time::timeout(wait, goodbye).await;
                    return Ok(());
                }
            }
        }
    }
}

/// Returns the meaning of the broker's answer to a message.
fn outcome_of(reason: PubAckReason) -> Result<Confirmed, PublishError> {
    match reason {
        PubAckReason::Success => Ok(Confirmed::Taken),
        PubAckReason::NoMatchingSubscribers => Ok(Confirmed::NoSubscriber),
        PubAckReason::UnspecifiedError
        | PubAckReason::ImplementationSpecificError
        | PubAckReason::NotAuthorized
        | PubAckReason::TopicNameInvalid
        | PubAckReason::PacketIdentifierInUse
        | PubAckReason::QuotaExceeded
        | PubAckReason::PayloadFormatInvalid => Err(PublishError::Refused(format!("{reason:?}"))),
    }
}
