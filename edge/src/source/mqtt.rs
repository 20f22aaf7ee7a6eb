//! Samples from an MQTT topic: a sensor node that publishes samples instead of features.
//!
//! The payload of a message is one or more raw frames ([`super::frames`]), blocks with a header
//! ([`super::framed`]), a burst in JSON ([`super::json_burst`]), or metrics of Sparkplug B
//! ([`super::sparkplug`]). A gap is a lost connection, a message of another form, or a retained
//! message, which is old. A message of another form is counted, logged once and shown in
//! `/healthz`, and does not count as samples. Without messages the source goes on ([`silence`]):
//! the connection fails by MQTT's keep-alive alone. MQTT 3.1.1. Where the messages state their
//! time, the session is kept and the subscription is of QoS 1, so that the broker keeps what it
//! gets while the gateway is away; else it is a clean session, since the samples would be dated by
//! their late arrival.
//!
//! Only [`Source::next_block`] drives the connection. So the method must be called on a thread
//! outside of any async runtime, and without pauses longer than the keep-alive. While nothing
//! comes, a block without samples says so once a second, so that the reader can end.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ndarray::Array2;
use pdm_service::broker::{BrokerAddress, Login, TlsFiles};
use pdm_service::error_chain::error_chain;
use rumqttc::{
    Client, Connection, Event, MqttOptions, Packet, Publish, QoS, TlsConfiguration, Transport,
};

use super::decoder::StreamFormat;
use super::sparkplug::{Received, Refusal};
use super::{Block, BlockRate, Source, SourceError, SourceFormat, SourceHost};

mod log;
mod messages;
mod silence;

pub use messages::MessageForm;
use messages::TopicDecoder;
use silence::SilenceWatch;

/// Largest message, bytes: ten seconds of eight channels of 32-bit floats at 51.2 kHz.
const MAX_MESSAGE_BYTES: usize = 16 * 1024 * 1024;

/// Largest packet that is sent, bytes: the subscription, whose topic MQTT limits to this length,
/// and a command of some bytes.
const MAX_COMMAND_BYTES: usize = 64 * 1024;

/// How long a read waits before it says that nothing has come.
const WAIT: Duration = Duration::from_secs(1);

/// Shortest wait for an event.
const PIECE: Duration = Duration::from_millis(1);

/// Most requests that wait for the connection. There are two, the subscription and a command; the
/// rest is room for a reconnect.
const QUEUE: usize = 4;

/// A topic and its broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicSettings {
    /// Address of the broker.
    pub address: BrokerAddress,
    /// Client name; unique at the broker.
    pub client_id: String,
    /// Topic or topic filter.
    pub topic: String,
    /// User, and the place of the password; `None`: anonymous.
    pub login: Option<Login>,
    /// Certificates; `None`: plain TCP.
    pub tls: Option<TlsFiles>,
    /// Time without samples after which the topic is told to be silent.
    pub silence: Duration,
    /// Nobody has stated that time: the pauses of the sensor show it.
    pub silence_by_pauses: bool,
    /// The broker keeps messages while the gateway is away.
    pub keeps_session: bool,
}

struct Topic {
    name: PathBuf,
    settings: TopicSettings,
    /// `None` until the first [`Source::next_block`], and as long as a secret is not there.
    link: Option<(Client, Connection)>,
    decoder: TopicDecoder,
    format: SourceFormat,
    host: SourceHost,
    /// The last message was refused, and the log says so.
    is_refusing: bool,
    /// No message has been taken yet.
    is_new: bool,
    /// The broker has taken the subscription.
    is_connected: bool,
    silence: SilenceWatch,
    next_index: u64,
}

/// Frames from a topic. Password and certificates are read, and the connection is made, at the
/// first [`Source::next_block`]: one that is not there fails that call, and the reader tries again.
///
/// # Errors
/// [`SourceError::Options`] if format or topic is not valid.
pub fn open_topic(
    settings: &TopicSettings,
    format: &StreamFormat,
    messages: &MessageForm,
    host: &SourceHost,
) -> Result<Box<dyn Source>, SourceError> {
    let name = format!("mqtt://{}/{}", settings.address, settings.topic);
    let refused = |why: String| SourceError::options(Path::new(&name), why);
    format.frames.check().map_err(|e| refused(e.to_string()))?;
    check_topic(settings)?;
    let frames = &format.frames;
    let decoder = TopicDecoder::new(messages, format, host);
    let is_framed = *messages == MessageForm::Frames;
    let block_samples = frames.source_format().block_samples.filter(|_| is_framed);
    let limit = (settings.silence, settings.silence_by_pauses);
    Ok(Box::new(Topic {
        silence: SilenceWatch::new(name.clone(), limit, host.clone()),
        name: PathBuf::from(name),
        settings: settings.clone(),
        link: None,
        decoder,
        format: SourceFormat { block_samples, ..frames.source_format() },
        host: host.clone(),
        is_refusing: false,
        is_new: true,
        is_connected: false,
        next_index: 0,
    }))
}

/// Checks topic and client name.
///
/// # Errors
/// [`SourceError::Options`] if one of them is not valid.
pub(super) fn check_topic(settings: &TopicSettings) -> Result<(), SourceError> {
    if !rumqttc::valid_filter(&settings.topic) || settings.client_id.is_empty() {
        let name = format!("mqtt://{}/{}", settings.address, settings.topic);
        let why = "no topic, or no client name".to_owned();
        return Err(SourceError::options(Path::new(&name), why));
    }
    Ok(())
}

/// A connection for a topic, which is made when it is first read. `user` is what errors call it.
///
/// # Errors
/// [`SourceError::Options`] if password or certificates cannot be read.
pub(super) fn connect(
    settings: &TopicSettings,
    user: &str,
) -> Result<(Client, Connection), SourceError> {
    Ok(Client::new(options(settings, user)?, QUEUE))
}

/// Reads password and certificates, at every opening, so that both can be renewed.
fn options(settings: &TopicSettings, user: &str) -> Result<MqttOptions, SourceError> {
    let BrokerAddress { host, port } = &settings.address;
    let mut options = MqttOptions::new(&settings.client_id, host, *port);
    options.set_clean_session(!settings.keeps_session);
    options.set_max_packet_size(MAX_MESSAGE_BYTES, MAX_COMMAND_BYTES);
    if let Some(login) = &settings.login {
        let password = login.password.fetch().map_err(|error| {
            SourceError::options(format!("password of {user}").as_ref(), error_chain(&error))
        })?;
        options.set_credentials(&login.user, password.expose());
    }
    if let Some(files) = &settings.tls {
        let config = files.client_config().map_err(|error| {
            SourceError::options(format!("certificates of {user}").as_ref(), error_chain(&error))
        })?;
        let tls = TlsConfiguration::Rustls(Arc::new(config));
        options.set_transport(Transport::tls_with_config(tls));
    }
    Ok(options)
}

impl Source for Topic {
    fn format(&self) -> &SourceFormat {
        &self.format
    }

    fn next_block(&mut self) -> Result<Option<Block>, SourceError> {
        let begun = Instant::now();
        loop {
            match self.decoder.block() {
                Ok(Some(block)) => {
                    self.silence.heard();
                    self.next_index = block.index + 1;
                    return Ok(Some(block));
                }
                Ok(None) => {}
                Err(why) => {
                    self.decoder.gap();
                    self.refuse(&why.into());
                }
            }
            let left = WAIT.saturating_sub(begun.elapsed());
            if left.is_zero() && self.is_connected {
                self.silence.look();
                return Ok(Some(self.nothing()));
            }
            let mut link = match self.link.take() {
                Some(link) => link,
                None => connect(&self.settings, "the stream")?,
            };
            let event = link.1.recv_timeout(left.max(PIECE));
            let client = self.link.insert(link).0.clone();
            match event {
                // the time is up, which the loop sees
                Err(_no_event) => {}
                Ok(Err(e)) => return Err(self.lost(io::Error::other(e))),
                Ok(Ok(Event::Incoming(packet))) => self.take_packet(&client, packet)?,
                Ok(Ok(Event::Outgoing(_))) => {}
            }
        }
    }

    fn expected_blocks(&self) -> Option<u64> {
        None
    }
}

impl Topic {
    fn take_packet(&mut self, client: &Client, packet: Packet) -> Result<(), SourceError> {
        match packet {
            Packet::ConnAck(_) => {
                self.is_connected = false;
                self.decoder.begin_anew();
                let quality =
                    if self.settings.keeps_session { QoS::AtLeastOnce } else { QoS::AtMostOnce };
                let asked = client.try_subscribe(&self.settings.topic, quality);
                asked.map_err(|e| self.lost(io::Error::other(e)))
            }
            Packet::Publish(message) => self.take(client, &message),
            Packet::SubAck(answer)
                if answer.return_codes.contains(&rumqttc::SubscribeReasonCode::Failure) =>
            {
                let kind = io::ErrorKind::PermissionDenied;
                Err(self.lost(io::Error::new(kind, "the broker refuses the subscription")))
            }
            Packet::SubAck(_) => {
                self.is_connected = true;
                Ok(())
            }
            Packet::Connect(_)
            | Packet::PubAck(_)
            | Packet::PubRec(_)
            | Packet::PubRel(_)
            | Packet::PubComp(_)
            | Packet::Subscribe(_)
            | Packet::Unsubscribe(_)
            | Packet::UnsubAck(_)
            | Packet::PingReq
            | Packet::PingResp
            | Packet::Disconnect => Ok(()),
        }
    }

    /// A block without samples.
    fn nothing(&self) -> Block {
        Block {
            index: self.next_index,
            started_at: None,
            follows_on: false,
            rate: BlockRate::Format,
            input: None,
            values: None,
            accel_m_s2: Array2::zeros((self.format.channels, 0)),
        }
    }

    /// Takes a message.
    fn take(&mut self, client: &Client, message: &Publish) -> Result<(), SourceError> {
        if message.retain {
            // old: it was kept by the broker
            self.decoder.gap();
            return Ok(());
        }
        let received = self.decoder.push(&message.topic, &message.payload);
        self.request_rebirth(client);
        match received {
            Ok(Received::Samples) => {
                // a remark of the connection before does not hold any more either
                if std::mem::take(&mut self.is_refusing) || std::mem::take(&mut self.is_new) {
                    self.host.remarks.withdraw(&self.host.name, "messages");
                }
                Ok(())
            }
            Ok(Received::Nothing) => Ok(()),
            Ok(Received::Gone(why)) => {
                Err(self.lost(io::Error::new(io::ErrorKind::ConnectionReset, why)))
            }
            Err(refusal) => {
                if !matches!(self.decoder, TopicDecoder::Sparkplug(_)) {
                    self.decoder.gap();
                }
                self.refuse(&refusal);
                Ok(())
            }
        }
    }

    /// Asks a Sparkplug node for its births, if that is due.
    fn request_rebirth(&mut self, client: &Client) {
        let TopicDecoder::Sparkplug(decoder) = &mut self.decoder else { return };
        let Some((topic, command)) = decoder.rebirth_request() else { return };
        if let Err(error) = client.try_publish(topic, QoS::AtMostOnce, false, command) {
            tracing::warn!(source = self.host.name, %error, "the request for births is not sent");
        }
    }

    /// Counts a message that is refused, and tells the first one of a row.
    fn refuse(&mut self, refusal: &Refusal) {
        log::message_refused(&self.host.name, refusal, self.is_refusing);
        self.is_refusing = true;
        let why = &refusal.why;
        self.silence.refused(why);
        let text = format!("messages of {} are refused: {why}", self.name.display());
        self.host.remarks.set(&self.host.name, "messages", text);
    }

    fn lost(&self, source: io::Error) -> SourceError {
        SourceError::Io { path: self.name.clone(), source }
    }
}
