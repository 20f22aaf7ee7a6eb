//! Samples from an MQTT topic: a sensor node that publishes samples instead of features.
//!
//! The payload of a message is one or more raw frames ([`super::frames`]), blocks with a header
//! ([`super::framed`]), a burst in JSON ([`super::json_burst`]), or metrics of Sparkplug B
//! ([`super::sparkplug`]). A gap is a lost connection, a message of another form, or a retained
//! message, which is old. A message of another form is counted, logged once and shown in `/healthz`,
//! and does not count as heard. MQTT 3.1.1 with a clean session: the broker shall not queue samples
//! for an absent gateway, since a live source drops them anyway.
//!
//! Only [`Source::next_block`] drives the connection. So the method must be called on a thread
//! outside of any async runtime, and without pauses longer than the keep-alive.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pdm_service::broker::{BrokerAddress, Login, TlsFiles};
use rumqttc::{
    Client, Connection, Event, MqttOptions, Packet, Publish, QoS, TlsConfiguration, Transport,
};

use super::decoder::StreamFormat;
use super::sparkplug::{Received, Refusal};
use super::{Block, Source, SourceError, SourceFormat, SourceHost};

mod log;
mod messages;

pub use messages::MessageForm;
use messages::TopicDecoder;

/// Largest message, bytes: ten seconds of eight channels of 32-bit floats at 51.2 kHz.
const MAX_MESSAGE_BYTES: usize = 16 * 1024 * 1024;

/// Largest packet that is sent, bytes: the subscription, whose topic MQTT limits to this length, and
/// a command of some bytes.
const MAX_COMMAND_BYTES: usize = 64 * 1024;

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
    /// Time without a message after which the source fails, so that it is opened again.
    pub silence: Duration,
}

struct Topic {
    name: PathBuf,
    settings: TopicSettings,
    client: Client,
    connection: Connection,
    decoder: TopicDecoder,
    format: SourceFormat,
    host: SourceHost,
    /// The last message was refused, and the log says so.
    is_refusing: bool,
    /// No message has been taken yet.
    is_new: bool,
}

/// Frames from a topic. The connection is made at the first [`Source::next_block`].
///
/// # Errors
/// [`SourceError::Options`] if format or topic is not valid, or password or certificates cannot be
/// read.
pub fn open_topic(
    settings: &TopicSettings,
    format: &StreamFormat,
    messages: &MessageForm,
    host: &SourceHost,
) -> Result<Box<dyn Source>, SourceError> {
    let name = format!("mqtt://{}/{}", settings.address, settings.topic);
    let refused = |why: String| SourceError::options(Path::new(&name), why);
    format.frames.check().map_err(|e| refused(e.to_string()))?;
    let (client, connection) = connect(settings)?;
    let frames = &format.frames;
    let decoder = TopicDecoder::new(messages, format, host);
    let is_framed = *messages == MessageForm::Frames;
    let block_samples = frames.source_format().block_samples.filter(|_| is_framed);
    Ok(Box::new(Topic {
        name: PathBuf::from(name),
        settings: settings.clone(),
        client,
        connection,
        decoder,
        format: SourceFormat { block_samples, ..frames.source_format() },
        host: host.clone(),
        is_refusing: false,
        is_new: true,
    }))
}

/// A connection for a topic, which is made when it is first read.
///
/// # Errors
/// As [`open_topic`].
pub(super) fn connect(settings: &TopicSettings) -> Result<(Client, Connection), SourceError> {
    if !rumqttc::valid_filter(&settings.topic) || settings.client_id.is_empty() {
        let name = format!("mqtt://{}/{}", settings.address, settings.topic);
        let why = "no topic, or no client name".to_owned();
        return Err(SourceError::options(Path::new(&name), why));
    }
    Ok(Client::new(options(settings)?, QUEUE))
}

/// Reads password and certificates, at every opening, so that both can be renewed.
fn options(settings: &TopicSettings) -> Result<MqttOptions, SourceError> {
    let BrokerAddress { host, port } = &settings.address;
    let mut options = MqttOptions::new(&settings.client_id, host, *port);
    options.set_clean_session(true).set_max_packet_size(MAX_MESSAGE_BYTES, MAX_COMMAND_BYTES);
    if let Some(login) = &settings.login {
        let password = login.password.fetch().map_err(|error| {
            SourceError::options("password of the stream".as_ref(), error.to_string())
        })?;
        options.set_credentials(&login.user, password.expose());
    }
    if let Some(files) = &settings.tls {
        let config = files.client_config().map_err(|error| {
            SourceError::options("certificates of the stream".as_ref(), error.to_string())
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
        let mut heard = Instant::now();
        loop {
            match self.decoder.block() {
                Ok(Some(block)) => return Ok(Some(block)),
                Ok(None) => {}
                Err(why) => {
                    self.decoder.gap();
                    self.refuse(&why.into());
                }
            }
            let Some(left) = self.settings.silence.checked_sub(heard.elapsed()) else {
                let kind = io::ErrorKind::TimedOut;
                return Err(self.lost(io::Error::new(kind, "the topic is silent")));
            };
            match self.connection.recv_timeout(left) {
                // the time is up; the loop returns the error above
                Err(_no_event) => {}
                Ok(Err(e)) => return Err(self.lost(io::Error::other(e))),
                Ok(Ok(Event::Incoming(Packet::ConnAck(_)))) => {
                    self.decoder.begin_anew();
                    let asked = self.client.try_subscribe(&self.settings.topic, QoS::AtMostOnce);
                    asked.map_err(|e| self.lost(io::Error::other(e)))?;
                }
                Ok(Ok(Event::Incoming(Packet::Publish(message)))) => {
                    // a message of another form is no life of the sensor
                    if self.take(&message)? {
                        heard = Instant::now();
                    }
                }
                Ok(Ok(Event::Incoming(Packet::SubAck(answer)))) => {
                    if answer.return_codes.contains(&rumqttc::SubscribeReasonCode::Failure) {
                        let kind = io::ErrorKind::PermissionDenied;
                        let why = "the broker refuses the subscription";
                        return Err(self.lost(io::Error::new(kind, why)));
                    }
                }
                Ok(Ok(Event::Incoming(_) | Event::Outgoing(_))) => {}
            }
        }
    }

    fn expected_blocks(&self) -> Option<u64> {
        None
    }
}

impl Topic {
    /// Takes a message; false if it holds no samples of the configured form.
    fn take(&mut self, message: &Publish) -> Result<bool, SourceError> {
        if message.retain {
            // old: it was kept by the broker
            self.decoder.gap();
            return Ok(false);
        }
        let received = self.decoder.push(&message.topic, &message.payload);
        self.request_rebirth();
        match received {
            Ok(Received::Samples) => {
                // a remark of the connection before does not hold any more either
                if std::mem::take(&mut self.is_refusing) || std::mem::take(&mut self.is_new) {
                    self.host.remarks.withdraw(&self.host.name, "messages");
                }
                Ok(true)
            }
            Ok(Received::Nothing) => Ok(false),
            Ok(Received::Gone(why)) => {
                Err(self.lost(io::Error::new(io::ErrorKind::ConnectionReset, why)))
            }
            Err(refusal) => {
                if !matches!(self.decoder, TopicDecoder::Sparkplug(_)) {
                    self.decoder.gap();
                }
                self.refuse(&refusal);
                Ok(false)
            }
        }
    }

    /// Asks a Sparkplug node for its births, if that is due.
    fn request_rebirth(&mut self) {
        let TopicDecoder::Sparkplug(decoder) = &mut self.decoder else { return };
        let Some((topic, command)) = decoder.rebirth_request() else { return };
        if let Err(error) = self.client.try_publish(topic, QoS::AtMostOnce, false, command) {
            tracing::warn!(source = self.host.name, %error, "the request for births is not sent");
        }
    }

    /// Counts a message that is refused, and tells the first one of a row.
    fn refuse(&mut self, refusal: &Refusal) {
        log::message_refused(&self.host.name, refusal, self.is_refusing);
        self.is_refusing = true;
        let why = &refusal.why;
        let text = format!("messages of {} are refused: {why}", self.name.display());
        self.host.remarks.set(&self.host.name, "messages", text);
    }

    fn lost(&self, source: io::Error) -> SourceError {
        SourceError::Io { path: self.name.clone(), source }
    }
}
