//! Live sources as `edge.toml` names them, right and wrong.

use std::sync::Arc;

use pdm_service::clock::{SharedClock, SystemClock};

use super::*;

fn config(source: &str) -> Result<super::super::EdgeSettings, ConfigError> {
    let text = format!(
        "gateway_id = \"g\"\nsite = \"s\"\n[spool]\npath = \"x.db\"\n[[source]]\nname = \"n\"\n\
         {source}\n[[source.channel]]\nequipment = \"P\"\nbearing = \"DE\"\nrpm = 1500.0\n\
         bearing_type = \"6205\"\nunit = \"g\"\n"
    );
    super::super::parse(std::path::Path::new("edge.toml"), &text).map(|(settings, _)| settings)
}

#[test]
fn a_live_source_is_live_and_opens_without_its_sender() {
    for from in ["stdin", "tcp://127.0.0.1:9", "mqtt://127.0.0.1/plant/raw", "mqtt://a:1884/raw"] {
        let stream = format!("[source.stream]\nfrom = \"{from}\"\nencoding = \"i24\"");
        let settings = config(&format!("kind = \"stream\"\nrate_hz = 8000.0\n{stream}"));
        let source = &settings.expect(from).sources[0];
        assert_eq!(source.pace, super::super::Pace::Live, "{from}");
        let clock: SharedClock = Arc::new(SystemClock);
        let opened = source.input.open(&clock).expect(from);
        assert_eq!(opened.format().block_samples, Some(8000), "{from}");
    }
}

#[test]
fn a_topic_that_cannot_be_reached_as_written_is_refused_with_its_key() {
    for (keys, expected) in [
        ("from = \"mqtt://broker\"", "stream.from"),
        ("from = \"mqtt://broker:x/raw\"", "stream.from"),
        ("from = \"mqtt:///raw\"", "stream.from"),
        ("from = \"mqtt://broker/\"", "stream.from"),
        ("from = \"mqtts://broker/raw\"", "[source.stream.tls] with ca"),
        ("from = \"mqtt://broker/raw\"\ntls = { ca = \"ca.pem\" }", "only with mqtts://"),
        ("from = \"mqtt://broker/raw\"\nuser = \"a\"", "a user with source[0].stream.password"),
        (
            "from = \"mqtts://broker/raw\"\ntls = { ca = \"ca.pem\", key = \"x\" }",
            "certificate and key together",
        ),
    ] {
        let stream = format!("[source.stream]\n{keys}\nencoding = \"i16\"");
        let error = config(&format!("kind = \"stream\"\nrate_hz = 8000.0\n{stream}"));
        let text = error.expect_err(keys).to_string();
        assert!(text.contains(expected), "{keys}: {text}");
    }
}

#[test]
fn a_live_source_that_cannot_be_is_refused_with_its_key() {
    let stream = "[source.stream]\nfrom = \"tcp://a:1\"\nencoding = \"i16\"";
    for (source, expected) in [
        (format!("kind = \"stream\"\n{stream}"), "rate_hz"),
        (format!("kind = \"stream\"\nrate_hz = 8000.0\npace = 2.0\n{stream}"), "pace"),
        ("kind = \"stream\"\nrate_hz = 8000.0".to_owned(), "a table [source.stream]"),
        ("kind = \"iio\"".to_owned(), "a table [source.iio]"),
        ("kind = \"iio\"\n[source.iio]\ndevice = \"../etc\"".to_owned(), "iio:device0"),
        (
            "kind = \"iio\"\n[source.iio]\ndevice = \"a\"\nblock_samples = 1000000000".to_owned(),
            "allowed is 1 to 1048576",
        ),
        (format!("kind = \"stream\"\nrate_hz = 8000.0\n{}", stream.replace("i16", "i8")), "f32"),
        (
            format!("kind = \"stream\"\nrate_hz = 8000.0\n{}", stream.replace("tcp", "http")),
            "tcp://",
        ),
    ] {
        let error = config(&source).expect_err(&source).to_string();
        assert!(error.contains(expected), "{error}");
    }
}

/// A unit comes from the input or from the configuration. Raw frames have no header that could
/// state one.
#[test]
fn raw_frames_without_any_unit_are_refused_with_the_key_that_decides() {
    let text = |source: &str, channel: &str| {
        format!(
            "gateway_id = \"g\"\nsite = \"s\"\n[spool]\npath = \"x.db\"\n[[source]]\nname = \"n\"\n\
             kind = \"stream\"\nrate_hz = 8000.0\n{source}\n[[source.channel]]\nequipment = \"P\"\n\
             bearing = \"DE\"\nrpm = 1500.0\nbearing_type = \"6205\"\n{channel}\n"
        )
    };
    let parsed =
        |text: &str| super::super::parse(std::path::Path::new("edge.toml"), text).map(|_| ());
    let from = "[source.stream]\nfrom = \"tcp://a:1\"";
    for encoding in ["f32", "i16"] {
        let raw = format!("{from}\nencoding = \"{encoding}\"");
        let error = parsed(&text(&raw, "")).expect_err(encoding).to_string();
        assert!(error.contains("source[0].channel[0].unit") && error.contains("m/s2"), "{error}");
        for stated in ["unit = \"g\"", "scale = 0.001", "sensitivity_mv_per_g = 100.0"] {
            parsed(&text(&raw, stated)).expect(stated);
        }
        parsed(&text(&format!("unit = \"m/s2\"\n{raw}"), "")).expect("of the source");
    }
    parsed(&text(&format!("{from}\nformat = \"pdm.frames/1\""), "")).expect("blocks state it");
}

#[test]
fn a_zone_is_for_times_that_may_state_none() {
    let zoned = |kind: &str| config(&format!("zone = \"Asia/Seoul\"\n{kind}"));
    zoned("kind = \"recording\"\nfiles = [\"a\"]").expect("a recording");
    let json = "kind = \"stream\"\nrate_hz = 8000.0\n[source.stream]\nfrom = \"mqtt://a/b\"\n\
                json = { samples = \"/v\" }";
    zoned(json).expect("messages of JSON");
    let raw = "kind = \"stream\"\nrate_hz = 8000.0\n[source.stream]\nfrom = \"tcp://a:1\"\n\
               encoding = \"i16\"";
    let error = zoned(raw).expect_err("no times").to_string();
    assert!(error.contains("source[0].zone") && error.contains("JSON"), "{error}");
    let wrong = config("zone = \"Seoul\"\nkind = \"recording\"\nfiles = [\"a\"]");
    let error = wrong.expect_err("no zone").to_string();
    assert!(error.contains("Asia/Seoul"), "{error}");
}
