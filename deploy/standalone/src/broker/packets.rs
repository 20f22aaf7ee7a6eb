//! The packets that a client sends, read just as far as their topic: CONNECT for the client id and the
//! topic of the last will, PUBLISH for its own. Everything else passes.
//!
//! Nothing of a packet is handed on before its topic is checked. What has to be kept for that is
//! bounded: the head of a PUBLISH, or a CONNECT of [`MAX_CONNECT`].

use std::io;

/// Longest CONNECT. Its will is a gateway's status of some hundred bytes; 64 KiB holds a name, a
/// password and a will of any kind.
const MAX_CONNECT: usize = 64 * 1024;
/// Protocol level of MQTT 5, whose packets carry properties.
const MQTT_5: u8 = 5;

/// What is known of a stream of packets.
#[derive(Debug, Default)]
pub(super) struct Packets {
    /// Bytes that are not checked yet.
    held: Vec<u8>,
    /// Bytes of the present packet that may pass.
    passing: usize,
}

/// What a packet claims, which the name of the client must allow.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Claim<'a> {
    /// To be the client of this id.
    ClientId(&'a str),
    /// To publish on this topic.
    Topic(&'a str),
}

/// How a packet begins.
enum Start {
    /// More bytes are needed.
    Unknown,
    /// A packet of so many bytes that is a CONNECT of this client id or not, and publishes on this topic or
    /// on none.
    Packet { length: usize, client_id: Option<String>, topic: Option<String> },
}

fn malformed() -> io::Error {
    io::Error::from(io::ErrorKind::InvalidData)
}

impl Packets {
    /// Takes bytes of the client and appends those that may pass to `checked`; `may` decides on each
    /// claim.
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
                Start::Packet { client_id: Some(id), .. } if !may(Claim::ClientId(&id)) => {
                    let told = format!("client id {id}, which is another's");
                    return Err(io::Error::new(io::ErrorKind::PermissionDenied, told));
                }
                Start::Packet { topic: Some(topic), .. } if !may(Claim::Topic(&topic)) => {
                    return Err(io::Error::new(io::ErrorKind::PermissionDenied, topic));
                }
                Start::Packet { length, .. } => self.passing = length,
            }
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
        1 => {
            let (client_id, topic) = connect(&rest[..length])?;
            Ok(Start::Packet { length: total, client_id: Some(client_id), topic })
        }
        3 => {
            let Some((topic, _)) = text(rest) else {
                return if rest.len() < length { Ok(Start::Unknown) } else { Err(malformed()) };
            };
            if topic.len() + 2 > length {
                return Err(malformed());
            }
            // an empty topic stands for one that was checked when its alias was made
            let topic = (!topic.is_empty()).then(|| String::from_utf8_lossy(topic).into_owned());
            Ok(Start::Packet { length: total, client_id: None, topic })
        }
        _ => Ok(Start::Packet { length: total, client_id: None, topic: None }),
    }
}

/// The bytes of a variable length and its value; none if it is not whole yet.
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

/// The client id and the topic of the last will in the body of a CONNECT.
fn connect(body: &[u8]) -> io::Result<(String, Option<String>)> {
    let parsed = || {
        let (_protocol, rest) = text(body)?;
        let (&[level, flags, _, _], rest) = rest.split_first_chunk::<4>()?;
        let rest = if level == MQTT_5 { after_properties(rest)? } else { rest };
        let (client_id, rest) = text(rest)?;
        let client_id = String::from_utf8_lossy(client_id).into_owned();
        if flags & 0b100 == 0 {
            return Some((client_id, None));
        }
        let rest = if level == MQTT_5 { after_properties(rest)? } else { rest };
        let (topic, _) = text(rest)?;
        Some((client_id, Some(String::from_utf8_lossy(topic).into_owned())))
    };
    parsed().ok_or_else(malformed)
}

fn after_properties(bytes: &[u8]) -> Option<&[u8]> {
    let (own, length) = remaining_length(bytes).ok()??;
    bytes.get(own + length..)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn publish(topic: &str, payload: &[u8]) -> Vec<u8> {
        let mut body = u16::try_from(topic.len()).expect("short").to_be_bytes().to_vec();
        body.extend(topic.as_bytes());
        body.extend(payload);
        let mut packet = vec![0x30];
        let mut length = body.len();
        loop {
            let byte = u8::try_from(length % 128).expect("seven bits");
            length /= 128;
            packet.push(if length > 0 { byte | 0x80 } else { byte });
            if length == 0 {
                break;
            }
        }
        packet.extend(body);
        packet
    }

    fn owns(claim: Claim<'_>) -> bool {
        matches!(claim, Claim::Topic("own") | Claim::ClientId("id"))
    }

    fn connecting(level: u8, will: Option<&str>) -> Vec<u8> {
        let mut body = b"\0\x04MQTT".to_vec();
        body.extend([level, if will.is_some() { 0b110 } else { 0b10 }, 0, 60]);
        let properties = |body: &mut Vec<u8>| {
            if level == MQTT_5 {
                body.extend([5, 0x11, 0, 0, 0, 9]);
            }
        };
        properties(&mut body);
        body.extend(b"\0\x02id");
        if let Some(topic) = will {
            properties(&mut body);
            body.extend(u16::try_from(topic.len()).expect("short").to_be_bytes());
            body.extend(topic.as_bytes());
            body.extend(b"\0\x01x");
        }
        let mut packet = vec![0x10, u8::try_from(body.len()).expect("short")];
        packet.extend(body);
        packet
    }

    /// However the bytes are cut, they pass unchanged up to the packet that is refused.
    #[test]
    fn what_is_allowed_passes_unchanged_and_what_is_refused_does_not_begin_to() {
        let good = [
            connecting(4, Some("own")),
            publish("own", &[7; 300]),
            vec![0xc0, 0],
            publish("", b"alias"),
            publish("own", b""),
        ]
        .concat();
        let refused = publish("other", b"x");
        for piece in [1, 2, 3, 7, 100, 10_000] {
            let mut packets = Packets::default();
            let (mut checked, mut ended) = (Vec::new(), None);
            for bytes in [good.as_slice(), &refused].concat().chunks(piece) {
                if let Err(error) = packets.take(bytes, &mut checked, owns) {
                    ended = Some(error.kind());
                    break;
                }
            }
            assert_eq!(ended, Some(io::ErrorKind::PermissionDenied), "{piece}");
            assert!(checked == good, "{piece}: {} bytes of {}", checked.len(), good.len());
        }
    }

    #[test]
    fn the_topic_of_a_last_will_is_checked_in_both_versions() {
        for level in [4, MQTT_5] {
            let asked =
                |packet: Vec<u8>| Packets::default().take(&packet, &mut Vec::new(), owns).is_ok();
            assert!(
                asked(connecting(level, None)) && asked(connecting(level, Some("own"))),
                "{level}"
            );
            assert!(!asked(connecting(level, Some("other"))), "{level}");
        }
    }

    #[test]
    fn a_client_id_of_another_is_refused_in_both_versions() {
        for level in [4, MQTT_5] {
            let asked = |own: &str| {
                let may = |claim: Claim<'_>| claim == Claim::ClientId(own);
                Packets::default().take(&connecting(level, None), &mut Vec::new(), may).is_ok()
            };
            assert!(asked("id") && !asked("another"), "{level}");
        }
    }

    #[test]
    fn malformed_packets_are_refused() {
        let broken: [&[u8]; 4] = [
            &[0x30, 0xff, 0xff, 0xff, 0xff, 1],
            &[0x30, 3, 0, 9, b'x'],
            &[0x10, 2, 0, 9],
            &[0x10, 0xff, 0xff, 0x7f],
        ];
        for bytes in broken {
            let done = Packets::default().take(bytes, &mut Vec::new(), |_| true);
            assert!(done.is_err(), "{bytes:?}");
        }
    }
}
