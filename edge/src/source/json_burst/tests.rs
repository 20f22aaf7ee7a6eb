//! Messages in the forms of public sensors and gateways, and messages of other forms.

use std::sync::Arc;

use pdm_service::clock::{Clock as _, SystemClock};
use pdm_shared::units::{M_S2_PER_G, SampleRate};
use proptest::prelude::*;
use serde_json::json;

use crate::source::BlockRate;

use super::*;

/// A decoder whose configuration states g where the messages state nothing.
fn decoder(channels: usize, form: JsonForm) -> BurstDecoder {
    let is_stated = form.unit.is_some() || form.scale.is_some();
    let mut decoder = unstated(channels, form);
    if !is_stated {
        let g = Calibration::new(AccelUnit::G, 1.0, 0.0).expect("valid");
        decoder.format.calibrations = vec![g];
    }
    decoder
}

/// A decoder whose configuration states no unit.
fn unstated(channels: usize, form: JsonForm) -> BurstDecoder {
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
    decoder.push("t", message.to_string().as_bytes()).expect("of the form");
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
    let at = Timestamp::parse("2026-03-04T05:06:07Z").expect("valid");
    for ts in [json!("2026-03-04T05:06:07Z"), json!(at.unix_ms()), json!(at.unix_ms() / 1000)] {
        // one that says the same time again would be a clock that stands still
        let mut decoder = decoder(1, form.clone());
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
        let error = decoder.push("t", message.to_string().as_bytes()).expect_err("of another form");
        assert!(error.contains(expected), "{error}");
    }
    decoder.format.calibrations = vec![Calibration::stated(None, Some(0.001), 0.0).expect("valid")];
    let error =
        decoder.push("t", br#"{"v": [1, 2], "lsb": 0.5, "u": "g"}"#).expect_err("two scales");
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
        decoder.push("t", message.to_string().as_bytes()).expect("of the form");
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
        (r#"{"x":[1.5,2],"y":[1]}"#, "channels of 2 and 1 samples"),
        (r#"{"x":[],"y":[]}"#, "0 samples in a burst"),
    ] {
        let error = decoder.push("t", message.as_bytes()).expect_err(message);
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
        let message = json!({"id": id, "n": 0, "of": 2, "v": [1.5]});
        decoder.push("t", message.to_string().as_bytes()).expect("of the form");
    }
    assert_eq!(decoder.open.waiting(), parts::MOST_OPEN);
}

/// The burst that the messages make whole, in g, and what was refused.
fn taken(decoder: &mut BurstDecoder, messages: &[Value]) -> (Vec<Vec<Vec<f64>>>, Vec<String>) {
    let (mut bursts, mut refused) = (Vec::new(), Vec::new());
    for message in messages {
        refused.extend(decoder.push("t", message.to_string().as_bytes()).err());
        bursts.extend(std::iter::from_fn(|| decoder.block()).map(|block| in_g(&block)));
    }
    (bursts, refused)
}

fn by_axis() -> JsonForm {
    JsonForm {
        channel: Some(("/axis".to_owned(), vec!["X".to_owned(), "Y".to_owned()])),
        time: Some("/ts".to_owned()),
        unit: Some("/u".to_owned()),
        rate: Some("/odr".to_owned()),
        ..samples(&["/v"])
    }
}

/// A sensor states the unit with each axis, and one axis in another.
#[test]
fn each_message_of_a_burst_is_converted_by_its_own_unit() {
    let now = SystemClock.now().unix_ms();
    let message = |axis: &str, unit: &str, v: [f64; 2], odr: f64| json!({"axis": axis, "u": unit, "v": v, "odr": odr, "ts": now});
    for (first, second) in [("g", "mg"), ("mg", "g"), ("mg", "mm/s2"), ("m/s2", "g")] {
        let in_unit = |unit: &str, g: f64| match unit {
            "mg" => g * 1000.0,
            "m/s2" => g * M_S2_PER_G,
            "mm/s2" => g * M_S2_PER_G * 1000.0,
            _ => g,
        };
        let of = |axis, unit| message(axis, unit, [0.4, -0.2].map(|g| in_unit(unit, g)), 1000.0);
        let got = taken(&mut decoder(2, by_axis()), &[of("X", first), of("Y", second)]);
        assert_eq!(got, (vec![vec![vec![0.4, -0.2]; 2]], vec![]), "{first} {second}");
    }
    let different = [message("X", "g", [0.1, 0.2], 1000.0), message("Y", "g", [0.1, 0.2], 1055.0)];
    let (bursts, refused) = taken(&mut decoder(2, by_axis()), &different);
    let told = refused.join("");
    assert!(bursts.is_empty() && told.contains("1000") && told.contains("1055"), "{told}");
}

/// An identity that never changes, or begins anew: a lost part costs its burst and no other.
#[test]
fn parts_of_two_bursts_are_never_joined() {
    let base = SystemClock.now().unix_ms() - 10_000;
    let part = |burst: i64, n: i64, is_own: bool| {
        // 2 samples at 1 kHz a part, 4 parts, a burst a second
        let ts = base + burst * 1000 + if is_own { 2 * n } else { 0 };
        let first = (burst * 100 + n * 2) as f64 + 0.5;
        json!({"id": 0, "n": n, "of": 4, "ts": ts, "v": [first, first + 1.0]})
    };
    for (lost, is_own, has_time) in [0, 1, 3]
        .into_iter()
        .flat_map(|lost| [(lost, false, true), (lost, true, true), (lost, false, false)])
    {
        if lost == 0 && !has_time {
            // the second burst's first part would be taken for it: nothing but the order tells
            continue;
        }
        let form = JsonForm {
            burst: Some("/id".to_owned()),
            part: Some(("/n".to_owned(), "/of".to_owned())),
            time: has_time.then(|| "/ts".to_owned()),
            ..samples(&["/v"])
        };
        let mut decoder = decoder(1, form);
        let messages: Vec<Value> = (0..5)
            .flat_map(|burst| (0..4).map(move |n| (burst, n)))
            .filter(|(burst, n)| !(*burst == 2 && *n == lost))
            .map(|(burst, n)| part(burst, n, is_own))
            .collect();
        let (bursts, refused) = taken(&mut decoder, &messages);
        let firsts: Vec<f64> = bursts.iter().map(|burst| burst[0][0]).collect();
        let case = format!("lost {lost}, own times {is_own}, times {has_time}");
        assert_eq!(firsts, [0.5, 100.5, 300.5, 400.5], "{case}: {refused:?}");
        for burst in &bursts {
            let whole: Vec<f64> = (0..8).map(|n| burst[0][0] + f64::from(n)).collect();
            assert_eq!(burst[0], whole, "{case}");
        }
        let told = decoder.host.remarks.lines().join("");
        assert!(told.contains("given up"), "{case}: {told}");
    }
}

/// A wildcard that catches two sensors, and a gateway that publishes two on one topic.
#[test]
fn two_devices_that_take_turns_are_told() {
    let told = |topics: [&str; 4], ids: [&str; 4]| {
        let mut decoder = decoder(1, samples(&["/v"]));
        for (topic, id) in topics.into_iter().zip(ids) {
            let message = json!({"v": [0.5, 1.5], "devEUI": id}).to_string();
            decoder.push(topic, message.as_bytes()).expect("of the form");
        }
        decoder.host.remarks.lines().join("")
    };
    let turns = told(["p/a", "p/b", "p/a", "p/b"], ["1"; 4]);
    assert!(turns.contains("p/a") && turns.contains("p/b"), "{turns}");
    let turns = told(["p"; 4], ["a7", "b9", "a7", "b9"]);
    assert!(turns.contains("a7") && turns.contains("b9"), "{turns}");
    assert_eq!(told(["p"; 4], ["a7", "a7", "b9", "b9"]), "", "a sensor that was replaced");
}

#[test]
fn a_message_that_is_delivered_again_is_taken_once() {
    let form = JsonForm { time: Some("/ts".to_owned()), ..samples(&["/v"]) };
    let mut decoder = decoder(1, form);
    let now = SystemClock.now().unix_ms() - 20_000;
    let message = |burst: i64| json!({"v": [0.1, 0.2, burst as f64], "ts": now + 1000 * burst});
    let order = [0, 0, 1, 1, 0, 2, 1, 2].map(message);
    let (bursts, refused) = taken(&mut decoder, &order);
    assert_eq!(bursts.iter().map(|burst| burst[0][2]).collect::<Vec<_>>(), [0.0, 1.0, 2.0]);
    assert!(refused.is_empty(), "{refused:?}");
}

/// Short messages one after the other are a stream, where their times say so.
#[test]
fn messages_follow_on_where_their_times_leave_no_gap() {
    let form = JsonForm { time: Some("/ts".to_owned()), ..samples(&["/v"]) };
    let mut decoder = decoder(1, form);
    let now = SystemClock.now().unix_ms() - 20_000;
    let mut sent = 0.0;
    let mut follow = |at_ms: i64| {
        sent += 1.0;
        let v: Vec<f64> = (0..100).map(|n| (f64::from(n) * 0.1 + sent).sin()).collect();
        one(&mut decoder, &json!({"v": v, "ts": now + at_ms})).follows_on
    };
    assert_eq!([0, 100, 201, 301].map(&mut follow), [false, true, true, true]);
    assert_eq!([501, 601].map(&mut follow), [false, true], "one was lost");
    assert_eq!([601, 400].map(&mut follow), [false, false], "a clock that stands or steps back");
}

#[test]
fn integers_without_a_unit_are_refused_and_words_name_what_else_came() {
    let counts = json!({"v": [1000, -20, 3]}).to_string();
    let error = unstated(1, samples(&["/v"])).push("t", counts.as_bytes()).expect_err("counts");
    assert!(error.contains("integers") && error.contains("json.unit"), "{error}");
    let mut told = unstated(1, samples(&["/v"]));
    told.format.calibrations = vec![Calibration::stated(None, Some(0.001), 0.0).expect("valid")];
    assert!(told.push("t", counts.as_bytes()).is_ok(), "the configuration states the scale");
    // a dead channel is judged as a flat line, and texts are numbers where they are
    for plain in [json!({"v": [0, 0, 0]}), json!({"v": ["0.5", " -1.25", "2e-1"]})] {
        assert!(
            decoder(1, samples(&["/v"])).push("t", plain.to_string().as_bytes()).is_ok(),
            "{plain}"
        );
    }
    let with_mark = [b"\xef\xbb\xbf".as_slice(), br#"{"v": [0.5, 1]}"#].concat();
    assert!(decoder(1, samples(&["/v"])).push("t", &with_mark).is_ok());
    for (packed, name) in [(&[0x1f, 0x8b, 8, 0][..], "gzip"), (b"PK\x03\x04", "zip")] {
        let error = decoder(1, samples(&["/v"])).push("t", packed).expect_err("packed");
        assert!(error.contains(name), "{error}");
    }
    let encoding = Some(Encoding::F32);
    let mut lines = decoder(1, JsonForm { encoding, ..samples(&["/b"]) });
    let raw: Vec<u8> = (0..40).flat_map(|n| (n as f32 * 0.3).to_le_bytes()).collect();
    let text = base64::engine::general_purpose::STANDARD.encode(raw);
    let wrapped = format!("{}\r\n{}\r\n", &text[..76], &text[76..]);
    assert_eq!(in_g(&one(&mut lines, &json!({ "b": wrapped })))[0].len(), 40);
    let form = JsonForm { unit: Some("/u".to_owned()), ..samples(&["/v"]) };
    let wrong = json!({"v": [1.5], "u": "G"}).to_string();
    let error = decoder(1, form).push("t", wrong.as_bytes()).expect_err("no unit");
    assert!(["mg", "mm/s2", "G"].iter().all(|unit| error.contains(unit)), "{error}");
}

/// Floats, bytes and zeros without a unit are no g: one rule for whatever a message holds.
#[test]
fn numbers_without_any_unit_are_refused_with_the_keys_that_decide() {
    let encoding = Some(Encoding::F32);
    let text = base64::engine::general_purpose::STANDARD.encode(0.25f32.to_le_bytes());
    for (form, message) in [
        (samples(&["/v"]), json!({"v": [0.5, -0.25, 0.125]})),
        (samples(&["/v"]), json!({"v": [0, 0, 0]})),
        (JsonForm { encoding, ..samples(&["/v"]) }, json!({ "v": text })),
    ] {
        let error =
            unstated(1, form).push("t", message.to_string().as_bytes()).expect_err("no unit");
        assert!(error.contains("json.unit") && error.contains("of the source"), "{error}");
    }
}

/// Three axes in one array, as small boards print them.
#[test]
fn an_array_of_several_channels_is_read_as_its_layout_says_or_refused_with_both() {
    let message = json!({"v": [0.5, -1, 1.5, -2, 2.5, -3]});
    let error = decoder(2, samples(&["/v"]))
        .push("t", message.to_string().as_bytes())
        .expect_err("no layout");
    assert!(error.contains("\"frames\"") && error.contains("\"channels\""), "{error}");
    for (layout, expected) in [
        (JsonLayout::Frames, [[0.5, 1.5, 2.5], [-1.0, -2.0, -3.0]]),
        (JsonLayout::Channels, [[0.5, -1.0, 1.5], [-2.0, 2.5, -3.0]]),
    ] {
        let form = JsonForm { layout: Some(layout), ..samples(&["/v"]) };
        let mut decoder = decoder(2, form);
        assert_eq!(in_g(&one(&mut decoder, &message)), expected, "{layout:?}");
        let odd = json!({"v": [0.5, -1, 1.5]}).to_string();
        let error = decoder.push("t", odd.as_bytes()).expect_err("half a frame");
        assert!(error.contains("3 numbers are no whole samples"), "{error}");
        // as many frames as channels
        let square = json!({"v": [[1.5, 2.5], [3.5, 4.5]]});
        let first = in_g(&one(&mut decoder, &square))[0].clone();
        let frames = layout == JsonLayout::Frames;
        assert_eq!(first, if frames { [1.5, 3.5] } else { [1.5, 2.5] });
    }
}

/// One channel is configured, and the board sends three.
#[test]
fn three_axes_that_come_as_one_channel_are_refused_unless_the_layout_says_one() {
    let v: Vec<f64> = (0..2400)
        .map(|n| (f64::from(n) * 0.37).sin() * 0.2 + if n % 3 == 2 { 1.0 } else { 0.0 })
        .collect();
    let message = json!({ "v": v }).to_string();
    let error = decoder(1, samples(&["/v"])).push("t", message.as_bytes()).expect_err("three axes");
    assert!(error.contains("3 axes") && error.contains("json.layout"), "{error}");
    let form = JsonForm { layout: Some(JsonLayout::Channels), ..samples(&["/v"]) };
    assert!(decoder(1, form).push("t", message.as_bytes()).is_ok());
}

/// A board that sends its local time, in a plant of its own zone.
#[test]
fn a_time_without_a_zone_is_read_in_that_of_the_source() {
    let now = SystemClock.now().plus_seconds(-3.0);
    let local = now.date_time() + chrono::Duration::hours(9);
    let zone = "Asia/Seoul".parse().expect("a zone");
    for form in ["%Y-%m-%dT%H:%M:%S%.3f", "%Y-%m-%d %H:%M:%S%.3f"] {
        let own = JsonForm { time: Some("/ts".to_owned()), zone, ..samples(&["/v"]) };
        let mut decoder = decoder(1, own);
        let message = json!({"v": [0.5, 1.5], "ts": local.format(form).to_string()});
        assert_eq!(one(&mut decoder, &message).started_at, Some(now), "{form}");
        assert!(decoder.host.remarks.lines().is_empty());
    }
}

/// Marks of the sensor or of the bridge before it.
#[test]
fn a_mark_for_no_value_in_a_message_is_no_sample() {
    let mut decoder = decoder(1, samples(&["/v"]));
    let v: Vec<f64> =
        (0..100).map(|n| if n % 50 == 7 { -9999.0 } else { (f64::from(n) * 0.7).sin() }).collect();
    let block = one(&mut decoder, &json!({ "v": v }));
    let missing = block.accel_m_s2.iter().filter(|a| a.is_nan()).count();
    assert_eq!(missing, 2);
    let told = decoder.host.remarks.lines().join("");
    assert!(told.contains("-9999 stands 2 times"), "{told}");
}

proptest! {
    #[test]
    fn no_payload_makes_it_panic(payload in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut decoder = decoder(1, samples(&[""]));
        let _outcome = decoder.push("t", &payload);
    }
}
