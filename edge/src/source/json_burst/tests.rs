//! Messages in the forms of public sensors and gateways, and messages of other forms.

use std::sync::Arc;

use pdm_service::clock::SystemClock;
use pdm_shared::units::M_S2_PER_G;
use proptest::prelude::*;
use serde_json::json;

use crate::source::BlockRate;

use super::*;

fn decoder(channels: usize, form: JsonForm) -> BurstDecoder {
    let sample_rate = SampleRate::new(1000.0).expect("valid");
    let format = FrameFormat {
        channels,
        sample_rate,
        encoding: Encoding::I16,
        block_samples: 1,
        calibrations: vec![],
    };
    BurstDecoder::new(form, format, 0.05, SourceHost::alone(Arc::new(SystemClock), "bench"))
}

fn samples(pointers: &[&str]) -> JsonForm {
    let samples = pointers.iter().map(|pointer| (*pointer).to_owned()).collect();
    JsonForm { samples, ..JsonForm::default() }
}

/// The samples of a block in g, channel by channel.
fn in_g(block: &Block) -> Vec<Vec<f64>> {
    let rows = block.accel_m_s2.rows().into_iter();
    rows.map(|row| row.iter().map(|a| (a / M_S2_PER_G * 1e6).round() / 1e6).collect()).collect()
}

fn one(decoder: &mut BurstDecoder, message: &Value) -> Block {
    decoder.push(message.to_string().as_bytes()).expect("of the form");
    decoder.block().expect("whole")
}

#[test]
fn arrays_stand_for_channels_or_frames_and_bytes_in_base64() {
    let expected = vec![vec![0.5, 1.5, 2.5], vec![-1.0, -2.0, -3.0]];
    let mut pointers = decoder(2, samples(&["/d/x", "/d/y"]));
    let block = one(&mut pointers, &json!({"d": {"x": [0.5, 1.5, 2.5], "y": [-1, -2, -3]}}));
    assert_eq!(in_g(&block), expected);
    let mut rows = decoder(2, samples(&["/data"]));
    assert_eq!(in_g(&one(&mut rows, &json!({"data": [[0.5, 1.5, 2.5], [-1, -2, -3]]}))), expected);
    let by_frame = json!({"data": [[0.5, -1], [1.5, -2], [2.5, -3]]});
    assert_eq!(in_g(&one(&mut rows, &by_frame)), expected);
    let encoding = Some(Encoding::F32);
    let mut bytes = decoder(2, JsonForm { encoding, ..samples(&["/b"]) });
    let raw: Vec<u8> =
        [0.5f32, -1.0, 1.5, -2.0, 2.5, -3.0].iter().flat_map(|v| v.to_le_bytes()).collect();
    let text = base64::engine::general_purpose::STANDARD.encode(raw);
    assert_eq!(in_g(&one(&mut bytes, &json!({ "b": text }))), expected);
}

#[test]
fn rate_time_and_unit_are_taken_from_the_message() {
    let form = JsonForm {
        rate: Some("/odr".to_owned()),
        time: Some("/ts".to_owned()),
        unit: Some("/u".to_owned()),
        ..samples(&["/v"])
    };
    let mut decoder = decoder(1, form);
    let at = Timestamp::parse("2026-03-04T05:06:07Z").expect("valid");
    for ts in [json!("2026-03-04T05:06:07Z"), json!(at.unix_ms()), json!(at.unix_ms() / 1000)] {
        let message = json!({"v": [1000, 2000], "odr": 2000.0, "ts": ts, "u": "mg"});
        let block = one(&mut decoder, &message);
        assert_eq!((block.started_at, in_g(&block)), (Some(at), vec![vec![1.0, 2.0]]));
        assert!(matches!(block.rate, BlockRate::Measured { is_off: true, .. }), "{:?}", block.rate);
    }
}

/// A sensor that changes its range states another scale in the next message.
#[test]
fn the_scale_of_a_message_is_that_of_its_counts() {
    let form = JsonForm {
        scale: Some("/lsb".to_owned()),
        unit: Some("/u".to_owned()),
        ..samples(&["/v"])
    };
    let mut decoder = decoder(1, form);
    for (scale, expected) in [(json!(0.5), [500.0, -1000.0]), (json!("0.25"), [250.0, -500.0])] {
        let message = json!({"v": [1000, -2000], "lsb": scale, "u": "g"});
        assert_eq!(in_g(&one(&mut decoder, &message)), [expected]);
    }
    for (message, expected) in [
        (json!({"v": [1, 2], "u": "g"}), "nothing stands at /lsb"),
        (json!({"v": [1, 2], "u": "g", "lsb": 0}), "0 is no scale"),
        (json!({"v": [1, 2], "u": "g", "lsb": "x"}), "no number"),
    ] {
        let error = decoder.push(message.to_string().as_bytes()).expect_err("of another form");
        assert!(error.contains(expected), "{error}");
    }
    decoder.format.calibrations = vec![Calibration::stated(None, Some(0.001), 0.0).expect("valid")];
    let error = decoder.push(br#"{"v": [1, 2], "lsb": 0.5}"#).expect_err("two scales");
    assert!(error.contains("so does the configuration"), "{error}");
}

/// Several messages a burst, in any order, of two bursts at once.
#[test]
fn a_burst_of_several_messages_is_whole_in_any_order() {
    let form = JsonForm {
        channel: Some(("/axis".to_owned(), vec!["X".to_owned(), "Y".to_owned()])),
        burst: Some("/id".to_owned()),
        part: Some(("/seq".to_owned(), "/total".to_owned())),
        ..samples(&["/v"])
    };
    let message = |id: u32, axis: &str, seq: u32| {
        let first = f64::from(id * 100 + seq * 2) + if axis == "Y" { 50.0 } else { 0.0 };
        json!({"id": id, "axis": axis, "seq": seq, "total": 2, "v": [first, first + 1.0]})
    };
    let mut decoder = decoder(2, form);
    let mut messages = Vec::new();
    for id in [1, 2] {
        for (axis, seq) in [("Y", 1), ("X", 0), ("Y", 0), ("X", 1)] {
            messages.push(message(id, axis, seq));
        }
    }
    messages.swap(3, 4);
    let mut got = Vec::new();
    for message in messages {
        decoder.push(message.to_string().as_bytes()).expect("of the form");
        got.extend(decoder.block().map(|block| in_g(&block)));
    }
    let expected = |first: f64| {
        let row = |first: f64| (0..4).map(|n| first + f64::from(n)).collect::<Vec<f64>>();
        vec![row(first), row(first + 50.0)]
    };
    assert_eq!(got, [expected(100.0), expected(200.0)]);
}

#[test]
fn a_message_of_another_form_is_refused_with_its_pointer() {
    let mut decoder = decoder(2, samples(&["/x", "/y"]));
    for (message, expected) in [
        ("not json", "no JSON"),
        (r#"{"x":[1,2]}"#, "nothing stands at /y"),
        (r#"{"x":[1,2],"y":[1,"a"]}"#, "/y: \"a\" is no number"),
        (r#"{"x":[1,2],"y":5}"#, "/y: 5 is no array of numbers"),
        (r#"{"x":[1,2],"y":[1]}"#, "channels of 2 and 1 samples"),
        (r#"{"x":[],"y":[]}"#, "0 samples in a burst"),
    ] {
        let error = decoder.push(message.as_bytes()).expect_err(message);
        assert!(error.contains(expected), "{message}: {error}");
        assert!(decoder.block().is_none());
    }
}

#[test]
fn bursts_that_never_become_whole_are_bounded() {
    let form = JsonForm {
        burst: Some("/id".to_owned()),
        part: Some(("/n".to_owned(), "/of".to_owned())),
        ..samples(&["/v"])
    };
    let mut decoder = decoder(1, form);
    for id in 0..100 {
        let message = json!({"id": id, "n": 0, "of": 2, "v": [1]});
        decoder.push(message.to_string().as_bytes()).expect("of the form");
    }
    assert_eq!(decoder.open.len(), MOST_OPEN);
}

proptest! {
    #[test]
    fn no_payload_makes_it_panic(payload in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut decoder = decoder(1, samples(&[""]));
        let _outcome = decoder.push(&payload);
    }
}
