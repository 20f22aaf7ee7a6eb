//! One connection to one broker: rumqttc reduced to the requests and events that a session needs.
//!
//! A task of its own only polls the client and passes events on. The session makes requests with
//! `try_…` calls. The channel of requests holds two flights and [`CHANNEL_SLACK`], more than a
//! session ever makes without an answer, so it is never full.

use std::collections::VecDeque;
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::options::ConnectOptions;
use super::{v5, v311};
use crate::settings::Protocol;

/// Room in the channel of requests for requests other than events: status, states, subscription,
/// disconnection.
pub(super) const CHANNEL_SLACK: usize = 64;

/// Groups of events of the connection that may wait for the session. A full channel makes the
/// poller wait, and the operating system then slows the broker down.
const GROUPS: usize = 16;

/// Longest time of connecting, s, TLS included.
pub(super) const CONNECT_TIMEOUT_S: u64 = 10;

/// The reason why there is no connection. The caller tries again: soon after a loss, later after a
/// refusal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Down {
    /// The network or the broker is not reachable.
    #[error("{0}")]
    Lost(String),
    /// The broker refuses a publication because of its size (reason 149). The next connection does
    /// not send it again.
    #[error("the broker refuses a publication as too large: {0}")]
    TooLarge(String),
    /// The broker or TLS refused the connection. An attempt succeeds only after somebody changes
    /// the configuration, a credential or a certificate.
    #[error("refused: {0}")]
    Refused(String),
}

/// An event of a connection.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Happening {
    /// The broker took the connection.
    Up {
        /// Largest packet that the broker takes, bytes.
        max_packet_bytes: Option<u32>,
    },
    /// The next request was sent with this packet id.
    Sent(u16),
    /// The next request waits for this packet id.
    Held(u16),
    /// PUBACK with success for this packet id.
    Taken(u16),
    /// PUBACK with an error for this packet id.
    Declined(u16, String),
    /// SUBACK, in the order of the requests; the reason if the broker refuses.
    Subscribed(Result<(), String>),
    /// A message of a subscribed topic.
    Message {
        /// Topic of the message.
        topic: String,
        /// Payload of the message.
        payload: Vec<u8>,
        /// The broker kept it from before the subscription.
        is_retained: bool,
    },
    /// The connection ended.
    Down(Down),
}

/// The event loop of a client, for either version of MQTT.
pub(super) trait Polled: Send {
    /// Waits for the next event of the client; `None` for one that a session does not need.
    fn next(&mut self) -> impl Future<Output = Option<Happening>> + Send;
}

/// Most events that are passed on together. With a wake-up for each PUBACK the session spent more
/// time on waking than on sending (`cargo bench -p pdm-edge --bench delivery`); a quarter of the
/// default flight of 256 keeps the flight filled.
const GROUP: usize = 64;

/// Polls until the connection ends or the session is gone.
///
/// Events that are ready at the same time are passed on as one group. As soon as no further event
/// is ready, the group is passed on: the second branch of the `select!` is always ready, and
/// `biased` tries it only after the client. A pending poll is kept across that branch, because
/// dropping it could lose a packet that is half read.
async fn pump(mut polled: impl Polled, tell: mpsc::Sender<Vec<Happening>>) {
    let mut group = Vec::new();
    loop {
        let mut next = pin!(polled.next());
        let happening = loop {
            tokio::select! {
                biased;
                happening = &mut next => break happening,
                () = std::future::ready(()), if !group.is_empty() => {
                    if tell.send(std::mem::take(&mut group)).await.is_err() {
                        return;
                    }
                }
            }
        };
        let Some(happening) = happening else { continue };
        let is_end = matches!(happening, Happening::Down(_));
        group.push(happening);
        if is_end || group.len() >= GROUP {
            let is_heard = tell.send(std::mem::take(&mut group)).await.is_ok();
            if is_end || !is_heard {
                return;
            }
        }
    }
}

/// The client of either version of MQTT.
#[derive(Debug)]
enum Client {
    V5(rumqttc::v5::AsyncClient),
    V311(rumqttc::AsyncClient),
}

/// A connection, closed when the value is dropped.
#[derive(Debug)]
pub(super) struct Link {
    client: Client,
    groups: mpsc::Receiver<Vec<Happening>>,
    /// Events of the last group that the session has not taken.
    happened: VecDeque<Happening>,
    poller: JoinHandle<()>,
}

impl Drop for Link {
    fn drop(&mut self) {
        self.poller.abort();
    }
}

impl Link {
    /// Starts to connect. The first event is [`Happening::Up`] or [`Happening::Down`].
    pub(super) fn open(protocol: Protocol, options: ConnectOptions) -> Self {
        let capacity = usize::from(options.max_in_flight) * 2 + CHANNEL_SLACK;
        let (tell, groups) = mpsc::channel(GROUPS);
        match protocol {
            Protocol::V5 => {
                let (client, event_loop) =
                    rumqttc::v5::AsyncClient::new(v5::options(options), capacity);
                let poller = tokio::spawn(pump(event_loop, tell));
                Self { client: Client::V5(client), groups, happened: VecDeque::new(), poller }
            }
            Protocol::V311 => {
                let (client, mut event_loop) =
                    rumqttc::AsyncClient::new(v311::options(options), capacity);
                event_loop.network_options.set_connection_timeout(CONNECT_TIMEOUT_S);
                let poller = tokio::spawn(pump(event_loop, tell));
                Self { client: Client::V311(client), groups, happened: VecDeque::new(), poller }
            }
        }
    }

    /// Waits for the next event; `None` if the poller has ended. No event is lost if the wait is
    /// given up, so the call can stand in a `select!`.
    pub(super) async fn happening(&mut self) -> Option<Happening> {
        if self.happened.is_empty() {
            self.happened = self.groups.recv().await?.into();
        }
        self.happened.pop_front()
    }

    /// The next event that has happened already, if there is one.
    pub(super) fn happened(&mut self) -> Option<Happening> {
        if self.happened.is_empty() {
            self.happened = self.groups.try_recv().ok()?.into();
        }
        self.happened.pop_front()
    }

    /// Requests a publication with QoS 1.
    ///
    /// # Errors
    /// [`Down`] if the poller has ended.
    pub(super) fn publish(
        &self,
        topic: String,
        retain: bool,
        payload: impl Into<Bytes>,
    ) -> Result<(), Down> {
        let payload = payload.into();
        let handed_over = match &self.client {
            Client::V5(client) => {
                let qos = rumqttc::v5::mqttbytes::QoS::AtLeastOnce;
                client.try_publish(topic, qos, retain, payload).map_err(|e| e.to_string())
            }
            Client::V311(client) => {
                let qos = rumqttc::QoS::AtLeastOnce;
                client.try_publish(topic, qos, retain, payload).map_err(|e| e.to_string())
            }
        };
        handed_over.map_err(Down::Lost)
    }

    /// Requests a subscription with QoS 1. With MQTT 5 messages keep their retain flag, so that one
    /// that its publisher wants kept is known by it also at once; a broker of 3.1.1 clears it.
    ///
    /// # Errors
    /// [`Down`] if the poller has ended.
    pub(super) fn subscribe(&self, topic: String) -> Result<(), Down> {
        let handed_over = match &self.client {
            Client::V5(client) => {
                let qos = rumqttc::v5::mqttbytes::QoS::AtLeastOnce;
                let mut filter = rumqttc::v5::mqttbytes::v5::Filter::new(topic, qos);
                filter.preserve_retain = true;
                client.try_subscribe_many([filter]).map_err(|e| e.to_string())
            }
            Client::V311(client) => {
                client.try_subscribe(topic, rumqttc::QoS::AtLeastOnce).map_err(|e| e.to_string())
            }
        };
        handed_over.map_err(Down::Lost)
    }

    /// Sends DISCONNECT, so that the broker does not publish the last will, and waits up to a
    /// second until it is sent.
    pub(super) async fn disconnect(mut self) {
        let handed_over = match &self.client {
            Client::V5(client) => client.try_disconnect().is_ok(),
            Client::V311(client) => client.try_disconnect().is_ok(),
        };
        if handed_over {
            let gone = async {
                while let Some(happening) = self.happening().await {
                    if matches!(happening, Happening::Down(_)) {
                        break;
                    }
                }
            };
            // the broker closes the connection after DISCONNECT; one that does not is not waited
            // for
            let _in_time = tokio::time::timeout(Duration::from_secs(1), gone).await;
        }
    }
}

/// Whether this I/O error is a refusal by TLS: the broker's certificate is not trusted, expired or
/// for another name, or the broker refused the gateway's certificate.
pub(super) fn is_tls_refusal(error: &std::io::Error) -> bool {
    error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()).is_some_and(|error| {
        matches!(
            error,
            rustls::Error::InvalidCertificate(_)
                | rustls::Error::NoCertificatesPresented
                | rustls::Error::AlertReceived(_)
                | rustls::Error::PeerIncompatible(_)
        )
    })
}
