//! Samples from an MQTT topic: a sensor node that publishes samples instead of features.
//!
//! The payload of a message is one or more raw frames ([`super::frames`]), blocks with a header
//! ([`super::framed`]), or a burst in JSON ([`super::json_burst`]). A gap is a lost connection, a
//! message of another form, or a retained message, which is old. A message of another form is
//! counted, logged once and shown in `/healthz`, and does not count as heard. MQTT 3.1.1 with a clean session: the broker shall
//! not queue samples for an absent gateway, since a live source drops them anyway.
//!
//! Only [`Source::next_block`] drives the connection. So the method must be called on a thread
//! outside of any async runtime, and without pauses longer than the keep-alive.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pdm_service::broker::{BrokerAddress, Login, TlsFiles};
use rumqttc::{Client, Connection, Event, MqttOptions, Packet, QoS, TlsConfiguration, Transport};

use super::decoder::{StreamDecoder, StreamForm, StreamFormat};
use super::json_burst::{BurstDecoder, JsonForm};
use super::{Block, Source, SourceError, SourceFormat, SourceHost};

mod log;

/// Largest message, bytes: ten seconds of eight channels of 32-bit floats at 51.2 kHz.
const MAX_MESSAGE_BYTES: usize = 16 * 1024 * 1024;

/// Largest packet that is sent, bytes. Only the subscription is sent, whose topic MQTT limits to
/// this length.
const MAX_COMMAND_BYTES: usize = 64 * 1024;

/// Most requests that wait for the connection. There is one, the subscription; the rest is room for
/// a reconnect.
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
}

/// What the messages of a topic hold.
enum TopicDecoder {
    Frames(StreamDecoder, usize),
    Json(BurstDecoder),
}

/// Frames from a topic. The connection is made at the first [`Source::next_block`].
///
/// # Errors
/// [`SourceError::Options`] if format or topic is not valid, or password or certificates cannot be
/// read.
pub fn open_topic(
    settings: &TopicSettings,
    format: &StreamFormat,
    json: Option<&JsonForm>,
    host: &SourceHost,
) -> Result<Box<dyn Source>, SourceError> {
    let name = format!("mqtt://{}/{}", settings.address, settings.topic);
    let refused = |why: String| SourceError::options(Path::new(&name), why);
    format.frames.check().map_err(|e| refused(e.to_string()))?;
    let (client, connection) = connect(settings)?;
    let frames = &format.frames;
    let decoder = if let Some(form) = json {
        let (tolerance, host) = (format.rate_tolerance, host.clone());
        TopicDecoder::Json(BurstDecoder::new(form.clone(), frames.clone(), tolerance, host))
    } else {
        let whole = if format.form == StreamForm::Raw { frames.frame_bytes() } else { 1 };
        TopicDecoder::Frames(StreamDecoder::new(format, host.clone()), whole)
    };
    let block_samples = frames.source_format().block_samples.filter(|_| json.is_none());
    Ok(Box::new(Topic {
        name: PathBuf::from(name),
        settings: settings.clone(),
        client,
        connection,
        decoder,
        format: SourceFormat { block_samples, ..frames.source_format() },
        host: host.clone(),
        is_refusing: false,
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
            let decoded = match &mut self.decoder {
                TopicDecoder::Frames(decoder, _) => decoder.block(),
                TopicDecoder::Json(decoder) => Ok(decoder.block()),
            };
            match decoded {
                Ok(Some(block)) => return Ok(Some(block)),
                Ok(None) => {}
                Err(why) => {
                    self.decoder.gap();
                    self.refuse(&why);
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
                    self.decoder.gap();
                    let asked = self.client.try_subscribe(&self.settings.topic, QoS::AtMostOnce);
                    asked.map_err(|e| self.lost(io::Error::other(e)))?;
                }
                Ok(Ok(Event::Incoming(Packet::Publish(message)))) => {
                    // a message of another form is no life of the sensor
                    if self.take(&message.payload, message.retain) {
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

impl TopicDecoder {
    fn gap(&mut self) {
        if let Self::Frames(decoder, _) = self {
            decoder.gap();
        }
    }
}

impl Topic {
    /// Takes a message; false if it is not of the configured form.
    fn take(&mut self, payload: &[u8], is_retained: bool) -> bool {
        if is_retained {
            // old: it was kept by the broker
            self.decoder.gap();
            return false;
        }
        let taken = match &mut self.decoder {
            TopicDecoder::Frames(decoder, whole) => {
                frames_in(payload, *whole).and_then(|()| decoder.push(payload))
            }
            TopicDecoder::Json(decoder) => decoder.push(payload),
        };
        match taken {
            Ok(()) => {
                if std::mem::take(&mut self.is_refusing) {
                    self.host.remarks.withdraw(&self.host.name, "messages");
                }
                true
            }
            Err(why) => {
                self.decoder.gap();
                self.refuse(&why);
                false
            }
        }
    }

    /// Counts a message that is refused, and tells the first one of a row.
    fn refuse(&mut self, why: &str) {
        log::message_refused(&self.host.name, why, self.is_refusing);
        self.is_refusing = true;
        let text = format!("messages of {} are refused: {why}", self.name.display());
        self.host.remarks.set(&self.host.name, "messages", text);
    }

    fn lost(&self, source: io::Error) -> SourceError {
        SourceError::Io { path: self.name.clone(), source }
    }
}

/// Checks that a message holds whole frames, and is not a text that happens to be as long.
fn frames_in(payload: &[u8], whole: usize) -> Result<(), String> {
    let is_json = matches!(payload.first(), Some(b'{' | b'['))
        && serde_json::from_slice::<serde::de::IgnoredAny>(payload).is_ok();
    if is_json {
        return Err(
            "JSON, but frames are configured; a table [source.stream.json] reads it".to_owned()
        );
    }
    if payload.is_empty() || !payload.len().is_multiple_of(whole) {
        let length = payload.len();
        return Err(format!("{length} bytes are no whole number of frames of {whole} bytes"));
    }
    Ok(())
}
