//! The packets that a client sends, read just as far as their topic: CONNECT for the client id and
//! the topic of the last will, PUBLISH for its own. Everything else passes. Where the gate has a
//! login, a CONNECT leaves with it in place of the client's.
//!
//! Nothing of a packet is handed on before its topic is checked. What has to be kept for that is
//! bounded: the head of a PUBLISH, or a CONNECT of [`MAX_CONNECT`].

use std::io;

/// Longest CONNECT. Its will is a gateway's status of some hundred bytes; 64 KiB holds a name, a
/// password and a will of any kind.
const MAX_CONNECT: usize = 64 * 1024;
/// Protocol level of MQTT 5, whose packets carry properties.
const MQTT_5: u8 = 5;

/// Flag of a CONNECT of MQTT 3.1.1 whose session ends with its connection.
const CLEAN_SESSION: u8 = 0b10;
/// The property of a CONNECT of MQTT 5 that says for how many seconds its session outlives the
/// connection.
const SESSION_EXPIRY: u8 = 0x11;

/// Flag of a PUBLISH whose message the broker retains.
const RETAIN: u8 = 0b1;
/// Flag of a CONNECT whose last will the broker retains.
const WILL_RETAIN: u8 = 0b10_0000;

/// Flags of a CONNECT that say that a user name and a password end it.
const WITH_LOGIN: u8 = 0b1100_0000;

/// The state of a stream of packets.
#[derive(Debug)]
pub(super) struct Packets {
    /// User name and password that end a CONNECT, as they stand in the packet; `None`: it passes as
    /// it is.
    login: Option<Vec<u8>>,
    /// Bytes that are not checked yet.
    held: Vec<u8>,
    /// Bytes of the present packet that may pass.
    passing: usize,
}

/// A claim of a packet, which the name of the client must allow.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Claim<'a> {
    /// The claim to be the client of this id.
    ClientId(&'a str),
    /// The claim that the broker keeps a session under this id while the client is away.
    Session(&'a str),
    /// The claim to publish on this topic.
    Topic(&'a str),
    /// The claim that the broker retains this many bytes on this topic. Where it is refused the
    /// message passes and is not retained.
    Retained(&'a str, usize),
}

/// How a packet begins.
enum Start {
    /// More bytes are needed.
    Unknown,
    /// A CONNECT of this many bytes.
    Connect { length: usize, connect: Connect },
    /// Another packet of this many bytes, which publishes on this topic or on none, to be retained
    /// or not.
    Packet { length: usize, topic: Option<String>, is_retained: bool },
}

/// The content of a CONNECT.
#[derive(Debug)]
struct Connect {
    client_id: String,
    /// The session outlives the connection.
    keeps_session: bool,
    /// The topic of the last will.
    will: Option<String>,
    /// The bytes of a last will that is to be retained.
    retained_will: Option<usize>,
    /// Place of the flags, in bytes of the packet's body.
    flags_at: usize,
    /// The body without its login.
    body: Vec<u8>,
}

fn malformed() -> io::Error {
    io::Error::from(io::ErrorKind::InvalidData)
}

impl Packets {
    /// Creates the state before the first packet. Each CONNECT gets this user name and password,
    /// with their lengths before them, if there are some.
    pub(super) const fn with_login(login: Option<Vec<u8>>) -> Self {
        Self { login, held: Vec::new(), passing: 0 }
    }

    /// Takes bytes of the client and appends those that may pass to `checked`; `may` decides on
    /// each claim.
    ///
    /// # Errors
    /// The packets are malformed, or a claim is refused ([`io::ErrorKind::PermissionDenied`]).
    pub(super) fn take(
        &mut self,
        bytes: &[u8],
        checked: &mut Vec<u8>,
        may: impl Fn(Claim<'_>) -> bool,
    ) -> io::Result<()> {
        self.held.extend_from_slice(bytes);
        loop {
            let passing = self.passing.min(self.held.len());
            checked.extend(self.held.drain(..passing));
            self.passing -= passing;
            if self.held.is_empty() {
                return Ok(());
            }
            match start(&self.held)? {
                Start::Unknown => return Ok(()),
                Start::Connect { length, connect } => {
                    if !may(Claim::ClientId(&connect.client_id)) {
                        let told = format!("client id {}, which is another's", connect.client_id);
                        return Err(io::Error::new(io::ErrorKind::PermissionDenied, told));
                    }
                    if connect.keeps_session && !may(Claim::Session(&connect.client_id)) {
                        let told = format!(
                            "another session, as {}: this certificate has its most",
                            connect.client_id
                        );
                        return Err(io::Error::new(io::ErrorKind::PermissionDenied, told));
                    }
                    may_topic(connect.will.as_deref(), &may)?;
                    self.pass_connect(length, connect, checked, &may);
                }
                Start::Packet { length, topic, is_retained } => {
                    may_topic(topic.as_deref(), &may)?;
                    // a topic that an alias stands for was allowed, not what is retained on it
                    let is_kept = || may(Claim::Retained(topic.as_deref().unwrap_or(""), length));
                    if is_retained
                        && !is_kept()
                        && let Some(first) = self.held.first_mut()
                    {
                        *first &= !RETAIN;
                    }
                    self.passing = length;
                }
            }
        }
    }

    /// Hands a CONNECT on, with the gate's login and without a will to be retained that may not be.
    fn pass_connect(
        &mut self,
        length: usize,
        mut connect: Connect,
        checked: &mut Vec<u8>,
        may: &impl Fn(Claim<'_>) -> bool,
    ) {
        let own = self.held.drain(..length);
        let Some(login) = &self.login else {
            checked.extend(own);
            return;
        };
        drop(own);
        if let (Some(topic), Some(bytes)) = (&connect.will, connect.retained_will)
            && !may(Claim::Retained(topic, bytes))
            && let Some(flags) = connect.body.get_mut(connect.flags_at)
        {
            *flags &= !WILL_RETAIN;
        }
        checked.extend(connect.with_login(login));
    }
}

fn may_topic(topic: Option<&str>, may: &impl Fn(Claim<'_>) -> bool) -> io::Result<()> {
    match topic {
        Some(topic) if !may(Claim::Topic(topic)) => {
            Err(io::Error::new(io::ErrorKind::PermissionDenied, topic))
        }
        _ => Ok(()),
    }
}

impl Connect {
    /// The whole packet, with this login in place of its own.
    fn with_login(mut self, login: &[u8]) -> Vec<u8> {
        if let Some(flags) = self.body.get_mut(self.flags_at) {
            *flags |= WITH_LOGIN;
        }
        self.body.extend(login);
        let mut packet = vec![0x10];
        packet.extend(variable_length(self.body.len()));
        packet.extend(self.body);
        packet
    }
}

/// A length in seven bits a byte, the lowest first.
fn variable_length(mut length: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = u8::try_from(length % 128).unwrap_or_default();
        length /= 128;
        bytes.push(if length > 0 { low | 0x80 } else { low });
        if length == 0 {
            return bytes;
        }
    }
}

fn start(bytes: &[u8]) -> io::Result<Start> {
    let Some((body, length)) = remaining_length(&bytes[1..])? else { return Ok(Start::Unknown) };
    let head = 1 + body;
    let total = head + length;
    let rest = &bytes[head..];
    match bytes[0] >> 4 {
        1 if length > MAX_CONNECT => Err(malformed()),
        1 if rest.len() < length => Ok(Start::Unknown),
        1 => Ok(Start::Connect { length: total, connect: connect(&rest[..length])? }),
        3 => {
            let Some((topic, _)) = text(rest) else {
                return if rest.len() < length { Ok(Start::Unknown) } else { Err(malformed()) };
            };
            if topic.len() + 2 > length {
                return Err(malformed());
            }
            // an empty topic stands for one that was checked when its alias was made
            let topic = (!topic.is_empty()).then(|| String::from_utf8_lossy(topic).into_owned());
            let is_retained = bytes[0] & RETAIN != 0;
            Ok(Start::Packet { length: total, topic, is_retained })
        }
        _ => Ok(Start::Packet { length: total, topic: None, is_retained: false }),
    }
}

/// Returns the bytes of a variable length and its value; `None` if it is not whole yet.
fn remaining_length(bytes: &[u8]) -> io::Result<Option<(usize, usize)>> {
    let mut value = 0;
    for (at, byte) in bytes.iter().take(4).enumerate() {
        value |= usize::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Ok(Some((at + 1, value)));
        }
    }
    if bytes.len() < 4 { Ok(None) } else { Err(malformed()) }
}

/// A text with its length before it, and what follows.
fn text(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<2>()?;
    rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))
}

/// Reads the body of a CONNECT.
fn connect(body: &[u8]) -> io::Result<Connect> {
    let parsed = || {
        let (_protocol, rest) = text(body)?;
        let flags_at = body.len() - rest.len() + 1;
        let (&[level, flags, _, _], rest) = rest.split_first_chunk::<4>()?;
        let (keeps_session, rest) = if level == MQTT_5 {
            (outlives_connection(rest), after_properties(rest)?)
        } else {
            (flags & CLEAN_SESSION == 0, rest)
        };
        let (client_id, mut rest) = text(rest)?;
        let client_id = String::from_utf8_lossy(client_id).into_owned();
        let (mut will, mut retained_will) = (None, None);
        if flags & 0b100 != 0 {
            let after = if level == MQTT_5 { after_properties(rest)? } else { rest };
            let (topic, after) = text(after)?;
            will = Some(String::from_utf8_lossy(topic).into_owned());
            let payload;
            (payload, rest) = text(after)?;
            retained_will = (flags & WILL_RETAIN != 0).then_some(payload.len());
        }
        let own = body.len() - rest.len();
        let body = body[..own].to_vec();
        Some(Connect { client_id, keeps_session, will, retained_will, flags_at, body })
    };
    parsed().ok_or_else(malformed)
}

/// Whether the properties of a CONNECT ask for a session that outlives its connection. Properties
/// that cannot be read count as asking for one: the broker decides on them.
fn outlives_connection(bytes: &[u8]) -> bool {
    let expiry = || {
        let (own, length) = remaining_length(bytes).ok()??;
        let mut rest = bytes.get(own..own + length)?;
        let mut expiry_s = 0;
        while let Some((&kind, after)) = rest.split_first() {
            let (number, texts) = match kind {
                0x17 | 0x19 => (1, 0),
                0x21 | 0x22 => (2, 0),
                SESSION_EXPIRY | 0x27 => (4, 0),
                0x15 | 0x16 => (0, 1),
                0x26 => (0, 2),
                _ => return None,
            };
            let (value, mut after) = after.split_at_checked(number)?;
            if kind == SESSION_EXPIRY {
                expiry_s = u32::from_be_bytes(value.try_into().ok()?);
            }
            for _ in 0..texts {
                (_, after) = text(after)?;
            }
            rest = after;
        }
        Some(expiry_s)
    };
    expiry() != Some(0)
}

fn after_properties(bytes: &[u8]) -> Option<&[u8]> {
    let (own, length) = remaining_length(bytes).ok()??;
    bytes.get(own + length..)
}

#[cfg(test)]
mod tests;
