//! Publishes messages and tells the caller of each when the broker has confirmed it (PUBACK).
//!
//! One task owns the connection. rumqttc gives out packet identifiers in the order in which messages
//! were queued, so the first waiting caller belongs to the next identifier. When the connection is lost,
//! every waiting caller gets an error; this module resends nothing.

use std::collections::{HashMap, VecDeque};

use pdm_service::error_chain::error_chain;
use rumqttc::Outgoing;
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::{Packet, PubAckReason};
use rumqttc::v5::{AsyncClient, Event, EventLoop, MqttOptions};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::{Reconnection, log};
use crate::settings::BrokerSettings;

/// Messages that wait for their PUBACK; further callers wait. With a round trip of 50 ms that is 5,000
/// messages a second.
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

/// Bytes of a PUBLISH beside topic and payload: header and remaining length (5), length of the topic
/// (2), packet identifier (2), properties (1), and some reserve.
const PACKET_OVERHEAD: usize = 16;

type Waiting = oneshot::Sender<Result<(), PublishError>>;

/// One message.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) topic: String,
    pub(crate) payload: Vec<u8>,
    pub(crate) retain: bool,
}

impl Message {
    /// Whether the broker takes a packet of this size. The client would end the connection over a
    /// larger one, and every later attempt as well.
    fn fits(&self, most: usize) -> Result<(), PublishError> {
        let bytes = self.topic.len() + self.payload.len() + PACKET_OVERHEAD;
        if bytes > most { Err(PublishError::TooLarge { bytes, most }) } else { Ok(()) }
    }
}

/// Hands messages to the connection.
#[derive(Debug, Clone)]
pub(crate) struct Publisher {
    messages: mpsc::Sender<(Message, Waiting)>,
}

impl Publisher {
    /// Queues a message; the receiver resolves when the broker has confirmed or refused the message, or
    /// the connection is lost.
    pub(crate) async fn queue(
        &self,
        message: Message,
    ) -> oneshot::Receiver<Result<(), PublishError>> {
        let (waiting, confirmed) = oneshot::channel();
        if let Err(mpsc::error::SendError((_, waiting))) =
            self.messages.send((message, waiting)).await
        {
            let _gone = waiting.send(Err(PublishError::Disconnected));
        }
        confirmed
    }

    /// Publishes one message and waits for its PUBACK.
    pub(crate) async fn publish(&self, message: Message) -> Result<(), PublishError> {
        self.queue(message).await.await.unwrap_or(Err(PublishError::Disconnected))
    }
}

/// The task that owns the connection.
#[derive(Debug)]
pub(crate) struct Connection {
    settings: BrokerSettings,
    messages: mpsc::Receiver<(Message, Waiting)>,
    connected: tokio::sync::watch::Sender<u64>,
}

/// Makes the caller's end and the task's end, and a counter that changes at every connection.
pub(crate) fn publisher(
    settings: &BrokerSettings,
) -> Result<(Publisher, Connection, tokio::sync::watch::Receiver<u64>), super::BrokerError> {
    // files and secrets that the settings name must be readable at the start
    options(settings, 0)?;
    let (sender, messages) = mpsc::channel(IN_FLIGHT);
    let (connected, counter) = tokio::sync::watch::channel(0);
    Ok((
        Publisher { messages: sender },
        Connection { settings: settings.clone(), messages, connected },
        counter,
    ))
}

fn options(settings: &BrokerSettings, attempt: usize) -> Result<MqttOptions, super::BrokerError> {
    let mut options = super::options(settings, &format!("{}-out", settings.client_id), attempt)?;
    options.set_clean_start(true);
    Ok(options)
}

/// Callers between queue and PUBACK.
#[derive(Debug, Default)]
struct InFlight {
    queued: VecDeque<Waiting>,
    numbered: HashMap<u16, Waiting>,
}

impl InFlight {
    fn len(&self) -> usize {
        self.queued.len() + self.numbered.len()
    }

    fn number(&mut self, packet: u16) {
        if let Some(waiting) = self.queued.pop_front() {
            self.numbered.insert(packet, waiting);
        }
    }

    fn confirm(&mut self, packet: u16, outcome: Result<(), PublishError>) {
        if let Some(waiting) = self.numbered.remove(&packet) {
            let _gone = waiting.send(outcome);
        }
    }

    fn fail(&mut self) {
        let queued = self.queued.drain(..);
        for waiting in queued.chain(self.numbered.drain().map(|(_, waiting)| waiting)) {
            let _gone = waiting.send(Err(PublishError::Disconnected));
        }
    }
}

impl Connection {
    /// Publishes until `stop`.
    pub(crate) async fn run(mut self, stop: CancellationToken) {
        let mut reconnection = Reconnection::default();
        loop {
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
            let pause = reconnection.after("outbox", &error);
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = stop.cancelled() => return,
            }
        }
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
        let own = usize::try_from(self.settings.max_packet_bytes).unwrap_or(usize::MAX);
        let mut most = own;
        loop {
            tokio::select! {
                event = events.poll() => match event.map_err(|error| error.to_string())? {
                    Event::Incoming(Packet::ConnAck(ack)) => {
                        let told = ack.properties.and_then(|told| told.max_packet_size);
                        let told = told.and_then(|bytes| usize::try_from(bytes).ok());
                        most = own.min(told.unwrap_or(usize::MAX));
                        reconnection.stands();
                        stands = true;
                        log::connected_for_publishing();
                        self.connected.send_modify(|count| *count += 1);
                    }
                    Event::Outgoing(Outgoing::Publish(packet)) => in_flight.number(packet),
                    Event::Incoming(Packet::PubAck(ack)) => {
                        let outcome = match ack.reason {
                            PubAckReason::Success | PubAckReason::NoMatchingSubscribers => Ok(()),
                            PubAckReason::UnspecifiedError
                            | PubAckReason::ImplementationSpecificError
                            | PubAckReason::NotAuthorized
                            | PubAckReason::TopicNameInvalid
                            | PubAckReason::PacketIdentifierInUse
                            | PubAckReason::QuotaExceeded
                            | PubAckReason::PayloadFormatInvalid => {
                                Err(PublishError::Refused(format!("{:?}", ack.reason)))
                            }
                        };
                        in_flight.confirm(ack.pkid, outcome);
                    }
                    Event::Incoming(_) | Event::Outgoing(_) => {}
                },
                message = self.messages.recv(), if stands && in_flight.len() < IN_FLIGHT => {
                    let Some((message, waiting)) = message else { return Ok(()) };
                    if let Err(error) = message.fits(most) {
                        let _gone = waiting.send(Err(error));
                        continue;
                    }
                    let sent = client.try_publish(
                        message.topic, QoS::AtLeastOnce, message.retain, message.payload,
                    );
                    match sent {
                        Ok(()) => in_flight.queued.push_back(waiting),
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
