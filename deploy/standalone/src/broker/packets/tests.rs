//! Tests of the packets that the broker reads.

use super::*;

fn publish(topic: &str, payload: &[u8]) -> Vec<u8> {
    let mut body = u16::try_from(topic.len()).expect("short").to_be_bytes().to_vec();
    body.extend(topic.as_bytes());
    body.extend(payload);
    let mut packet = vec![0x30];
    packet.extend(variable_length(body.len()));
    packet.extend(body);
    packet
}

const LOGIN: &[u8] = b"\0\x04gate\0\x04pass";

fn packets() -> Packets {
    Packets::with_login(Some(LOGIN.to_vec()))
}

fn owns(claim: Claim<'_>) -> bool {
    matches!(claim, Claim::Topic("own") | Claim::ClientId("id") | Claim::Session("id"))
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

#[test]
fn a_message_that_may_not_be_retained_loses_the_flag_and_nothing_else() {
    let (mut packet, plain) = (publish("own", b"{}"), publish("own", b"{}"));
    packet[0] |= RETAIN;
    let pass = |may_retain: bool| {
        let (mut stream, mut checked) = (packets(), Vec::new());
        let may = |claim: Claim<'_>| match claim {
            Claim::Retained(topic, _) => may_retain && topic == "own",
            other @ (Claim::ClientId(_) | Claim::Session(_) | Claim::Topic(_)) => owns(other),
        };
        let mut will = connecting(5, Some("own"));
        will[9] |= WILL_RETAIN;
        stream.take(&[will, packet.clone()].concat(), &mut checked, may).expect("taken");
        (checked[9] & WILL_RETAIN != 0, checked[checked.len() - packet.len()..].to_vec())
    };
    assert_eq!(pass(true), (true, packet.clone()));
    assert_eq!(pass(false), (false, plain));
}

/// However the bytes are cut, they pass unchanged up to the packet that is refused.
#[test]
fn what_is_allowed_passes_unchanged_and_what_is_refused_does_not_begin_to() {
    let after =
        [publish("own", &[7; 300]), vec![0xc0, 0], publish("", b"alias"), publish("own", b"")]
            .concat();
    let good = [connecting(4, Some("own")), after.clone()].concat();
    let expected = [logged_in(connecting(4, Some("own"))), after].concat();
    let refused = publish("other", b"x");
    for piece in [1, 2, 3, 7, 100, 10_000] {
        let mut stream = packets();
        let (mut checked, mut ended) = (Vec::new(), None);
        for bytes in [good.as_slice(), &refused].concat().chunks(piece) {
            if let Err(error) = stream.take(bytes, &mut checked, owns) {
                ended = Some(error.kind());
                break;
            }
        }
        assert_eq!(ended, Some(io::ErrorKind::PermissionDenied), "{piece}");
        assert!(checked == expected, "{piece}: {} bytes of {}", checked.len(), good.len());
    }
}

/// A CONNECT of less than 128 bytes as it leaves the gate.
fn logged_in(mut packet: Vec<u8>) -> Vec<u8> {
    packet[9] |= WITH_LOGIN;
    packet.extend(LOGIN);
    packet[1] = u8::try_from(packet.len() - 2).expect("short");
    packet
}

/// The certificate was the client's proof: what it sends as a login never reaches the broker.
#[test]
fn a_login_of_the_client_is_replaced_by_that_of_the_gate() {
    for level in [4, MQTT_5] {
        for will in [None, Some("own")] {
            let mut own = connecting(level, will);
            own[9] |= WITH_LOGIN;
            own.extend(b"\0\x03eve\0\x05guess");
            own[1] = u8::try_from(own.len() - 2).expect("short");
            let mut checked = Vec::new();
            packets().take(&own, &mut checked, owns).expect("allowed");
            assert_eq!(checked, logged_in(connecting(level, will)), "{level} {will:?}");
        }
    }
}

/// On loopback without certificates nothing of a CONNECT changes, and its client id is still
/// held to the rules.
#[test]
fn without_a_login_of_the_gate_a_connect_passes_as_it_is() {
    for level in [4, MQTT_5] {
        let mut own = connecting(level, Some("own"));
        own[9] |= WITH_LOGIN;
        own.extend(b"\0\x03eve\0\x05guess");
        own[1] = u8::try_from(own.len() - 2).expect("short");
        let mut checked = Vec::new();
        Packets::with_login(None).take(&own, &mut checked, owns).expect("allowed");
        assert_eq!(checked, own, "{level}");
        let refused = Packets::with_login(None).take(&own, &mut Vec::new(), |_| false);
        assert_eq!(refused.map_err(|error| error.kind()), Err(io::ErrorKind::PermissionDenied));
    }
}

#[test]
fn the_topic_of_a_last_will_is_checked_in_both_versions() {
    for level in [4, MQTT_5] {
        let asked = |packet: Vec<u8>| packets().take(&packet, &mut Vec::new(), owns).is_ok();
        assert!(asked(connecting(level, None)) && asked(connecting(level, Some("own"))), "{level}");
        assert!(!asked(connecting(level, Some("other"))), "{level}");
    }
}

#[test]
fn a_client_id_of_another_is_refused_in_both_versions() {
    for level in [4, MQTT_5] {
        let asked = |own: &str| {
            let may =
                |claim: Claim<'_>| claim == Claim::ClientId(own) || claim == Claim::Session(own);
            packets().take(&connecting(level, None), &mut Vec::new(), may).is_ok()
        };
        assert!(asked("id") && !asked("another"), "{level}");
    }
}

/// R-DEPLOY: 400 sessions of one certificate took 1 GiB by ten messages of another.
#[test]
fn a_session_that_outlives_its_connection_is_asked_for_in_both_versions() {
    let with = |properties: &[u8]| {
        let mut body = b"\0\x04MQTT".to_vec();
        body.extend([MQTT_5, 0b10, 0, 60, u8::try_from(properties.len()).expect("short")]);
        body.extend(properties);
        body.extend(b"\0\x02id");
        [vec![0x10, u8::try_from(body.len()).expect("short")], body].concat()
    };
    let mut kept = connecting(4, None);
    kept[9] = 0;
    let texts = b"\x26\0\x01a\0\x01b\x21\0\x09\x11\0\0\0\x01";
    let is_asked = |packet: &[u8]| {
        let may = |claim: Claim<'_>| !matches!(claim, Claim::Session(_));
        packets().take(packet, &mut Vec::new(), may).is_err()
    };
    assert!(is_asked(&kept) && !is_asked(&connecting(4, None)), "3.1.1");
    assert!(is_asked(&with(&[0x11, 0, 0, 0, 9])) && is_asked(&with(texts)));
    assert!(!is_asked(&with(&[])) && !is_asked(&with(&[0x11, 0, 0, 0, 0])));
    assert!(is_asked(&with(&[0x7f])), "what cannot be read");
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
        let done = packets().take(bytes, &mut Vec::new(), |_| true);
        assert!(done.is_err(), "{bytes:?}");
    }
}
