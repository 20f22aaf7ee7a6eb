//! One connection to one broker: rumqttc behind the few words that the session needs.
//!
//! A task of its own does nothing but poll and pass on what happened; the session hands requests
//! over with `try_…` calls that cannot find the channel full: it holds two flights and
//! [`CHANNEL_SLACK`].

use std::collections::VecDeque;
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use pdm_service::error_chain::error_chain;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::{v5, v311};
use crate::settings::{BrokerAddress, BrokerSettings, Protocol};

/// Requests beside the events in flight: status, states, subscription, disconnection.
pub(super) const CHANNEL_SLACK: usize = 64;

/// Groups of happenings that may wait for the session.
const GROUPS: usize = 16;

/// Seconds that connecting may take.
pub(super) const CONNECT_TIMEOUT_S: u64 = 10;

/// Why there is no connection. Try again: soon if it was lost, later if it was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Down {
    /// The network or the broker went away, or never was there.
    #[error("{0}")]
    Lost(String),
    /// The broker or TLS said no: somebody must change something first.
    #[error("refused: {0}")]
    Refused(String),
}

/// What happened on a connection.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Happening {
    /// The broker took the connection.
    Up {
        /// Largest packet it takes, bytes.
        max_packet_bytes: Option<u32>,
    },
    /// The next request left with this packet id.
    Sent(u16),
    /// The next request waits for this packet id.
    Held(u16),
    /// PUBACK.
    Taken(u16),
    /// PUBACK that says no.
    Declined(u16, String),
    /// SUBACK that says no.
    NotSubscribed(String),
    /// A message of a topic that was subscribed.
    Message {
        /// Where.
        topic: String,
        /// What.
        payload: Vec<u8>,
    },
    /// The end.
    Down(Down),
}

/// The last will.
#[derive(Debug, Clone)]
pub(super) struct Will {
    pub(super) topic: String,
    pub(super) payload: Vec<u8>,
}

/// Everything that makes a connection, with secrets fetched and certificates read.
pub(super) struct Options {
    pub(super) client_id: String,
    pub(super) address: BrokerAddress,
    pub(super) login: Option<(String, String)>,
    pub(super) transport: rumqttc::Transport,
    pub(super) keep_alive: Duration,
    pub(super) session_expiry_s: u32,
    pub(super) max_packet_bytes: u32,
    pub(super) max_in_flight: u16,
    pub(super) will: Option<Will>,
    /// Leave nothing behind at the broker.
    pub(super) passing: bool,
}

impl Options {
    /// Reads secrets and certificates.
    pub(super) fn prepare(
        broker: &BrokerSettings,
        address: &BrokerAddress,
        client_id: String,
        will: Option<Will>,
    ) -> Result<Self, Down> {
        let login = match &broker.login {
            None => None,
            Some(login) => {
                let password =
                    login.password.fetch().map_err(|error| Down::Refused(error_chain(&error)))?;
                Some((login.user.clone(), password.expose().to_owned()))
            }
        };
        let transport = match &broker.tls {
            None => rumqttc::Transport::Tcp,
            Some(tls) => {
                let config =
                    tls.client_config().map_err(|error| Down::Refused(error_chain(&error)))?;
                rumqttc::Transport::tls_with_config(rumqttc::TlsConfiguration::Rustls(
                    std::sync::Arc::new(config),
                ))
            }
        };
        Ok(Self {
            client_id,
            address: address.clone(),
            login,
            transport,
            keep_alive: broker.keep_alive.max(Duration::from_secs(5)),
            session_expiry_s: u32::try_from(broker.session_expiry.as_secs()).unwrap_or(u32::MAX),
            max_packet_bytes: broker.max_packet_bytes,
            max_in_flight: broker.max_in_flight.max(1),
            will,
            passing: false,
        })
    }
}

/// A client's event loop, whichever version of MQTT it speaks.
pub(super) trait Polled: Send {
    /// What happens next; `None` is nothing of interest.
    fn next(&mut self) -> impl Future<Output = Option<Happening>> + Send;
}

/// Happenings that are passed on together, at most. Chosen: a wake-up for each cost more than the
/// sending; a quarter of the default flight keeps it filled.
const GROUP: usize = 64;

/// Polls until the connection ends or nobody listens. What happens at once is passed on at once;
/// nothing is held back.
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

/// Hands requests over.
#[derive(Debug)]
enum Client {
    V5(rumqttc::v5::AsyncClient),
    V311(rumqttc::AsyncClient),
}

/// A connection.
#[derive(Debug)]
pub(super) struct Link {
    client: Client,
    groups: mpsc::Receiver<Vec<Happening>>,
    /// Of the last group, what was not taken yet.
    happened: VecDeque<Happening>,
    poller: JoinHandle<()>,
}

impl Drop for Link {
    fn drop(&mut self) {
        self.poller.abort();
    }
}

impl Link {
    /// Begins to connect.
    pub(super) fn open(protocol: Protocol, options: Options) -> Self {
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

    /// Waits for what happens next; `None` if the poller is gone. Nothing is lost when the wait is
    /// given up.
    pub(super) async fn happening(&mut self) -> Option<Happening> {
        if self.happened.is_empty() {
            self.happened = self.groups.recv().await?.into();
        }
        self.happened.pop_front()
    }

    /// What has happened already, if anything.
    pub(super) fn happened(&mut self) -> Option<Happening> {
        if self.happened.is_empty() {
            self.happened = self.groups.try_recv().ok()?.into();
        }
        self.happened.pop_front()
    }

    /// Hands a publication with QoS 1 over.
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

    /// Hands a subscription with QoS 1 over.
    ///
    /// # Errors
    /// [`Down`] if the poller has ended.
    pub(super) fn subscribe(&self, topic: String) -> Result<(), Down> {
        let handed_over = match &self.client {
            Client::V5(client) => client
                .try_subscribe(topic, rumqttc::v5::mqttbytes::QoS::AtLeastOnce)
                .map_err(|e| e.to_string()),
            Client::V311(client) => {
                client.try_subscribe(topic, rumqttc::QoS::AtLeastOnce).map_err(|e| e.to_string())
            }
        };
        handed_over.map_err(Down::Lost)
    }

    /// Says goodbye and waits a little until it has left.
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
            // a broker that does not close its side is left without an answer
            let _in_time = tokio::time::timeout(Duration::from_secs(1), gone).await;
        }
    }
}

/// True if this I/O error is TLS saying no: a certificate that is not trusted, expired, for another
/// name, or ours refused by the broker.
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
