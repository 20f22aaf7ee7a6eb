//! Claims about JSON documents in the forms that sensors publish (issue 32, points 3 and 8).

use proptest::prelude::*;

use super::*;

fn opened(text: &str, variable: Option<&str>) -> Result<RawRecording, SourceError> {
    open(Path::new("t.json"), documents(text.as_bytes()).expect("JSON"), variable)
}

fn data(text: &str, variable: Option<&str>) -> ndarray::Array2<f64> {
    let mut recording = opened(text, variable).expect("valid");
    recording.reader.next_snapshot().expect("readable").expect("one")
}

#[test]
fn a_message_with_an_array_states_rate_unit_and_name() {
    let text = r#"{"device": "n7", "battery": 3.1, "payload":
        {"axis": "radial", "sample_rate": "2.56 kHz", "unit": "g", "samples": [0.5, -0.25, null, 1]}}"#;
    let recording = opened(text, None).expect("valid");
    assert_eq!(recording.stated_rate_hz, Some(2560.0));
    assert_eq!(recording.channels[0].unit.as_deref(), Some("g"));
    assert_eq!(recording.channels[0].name.as_deref(), Some("radial"));
    for name in ["/payload/samples", "payload.samples", "samples"] {
        let data = data(text, Some(name));
        assert!(data[[0, 2]].is_nan() && data[[0, 1]] < 0.0, "{name}");
    }
}

/// Counts with their scale beside them; messages whose rates or scales differ are no one recording.
#[test]
fn a_scale_beside_counts_is_taken_with_them() {
    let text = r#"{"fs": 1000, "scale": 0.000488, "unit": "g", "samples": [2049, -2049, 3, 1]}"#;
    let recording = opened(text, None).expect("valid");
    assert_eq!(recording.channels[0].scale, Some(0.000_488));
    let own = r#"{"fs": 1000, "x": [2049, -7], "y": [5, 6], "x_scale": 0.5, "y_scale": 0.25}"#;
    let scales: Vec<_> =
        opened(own, None).expect("valid").channels.iter().map(|c| c.scale).collect();
    assert_eq!(scales, [Some(0.5), Some(0.25)]);
    for other in [text.replace("1000", "2000"), text.replace("0.000488", "0.000976")] {
        let error = opened(&format!("{text}\n{other}"), None).err().expect("two forms").to_string();
        let is_told =
            error.contains("has 2000 Hz, the first has 1000 Hz") || error.contains("another scale");
        assert!(is_told, "{error}");
    }
}

#[test]
fn axes_of_one_object_are_channels_with_their_keys() {
    let text = r#"{"fs": 1000, "accel": {"x": [0.1, 0.2], "y": [0.3, 0.4], "z": [0.9, 1.1]}}"#;
    let recording = opened(text, None).expect("valid");
    let names: Vec<_> = recording.channels.iter().filter_map(|c| c.name.as_deref()).collect();
    assert_eq!(
        (names, recording.stated_rate_hz),
        (vec!["accel.x", "accel.y", "accel.z"], Some(1000.0))
    );
}

#[test]
fn rows_are_read_as_arrays_as_objects_and_as_lines() {
    let expected = ndarray::arr2(&[[0.5, 0.25, 0.75], [1.5, 1.25, 1.75]]);
    let objects = r#"{"a": 0.5, "b": 1.5} {"a": 0.25, "b": 1.25} {"a": 0.75, "b": 1.75}"#;
    assert_eq!(data("[[0.5, 1.5], [0.25, 1.25], [0.75, 1.75]]", None), expected);
    assert_eq!(data(&objects.replace("} {", "}\n{"), None), expected);
    assert_eq!(data(&format!("[{}]", objects.replace("} {", "},{")), None), expected);
}

#[test]
fn messages_one_a_line_are_snapshots() {
    let line = |first: f64| format!(r#"{{"rate_hz": 100, "data": [{first}, 0.5, 0.75]}}"#);
    let mut recording = opened(&format!("{}\n{}\n", line(0.1), line(0.2)), None).expect("valid");
    assert_eq!(recording.snapshots, 2);
    assert!(recording.reader.skip_snapshot().expect("readable"));
    let second = recording.reader.next_snapshot().expect("readable").expect("second");
    assert!((second[[0, 0]] - 0.2).abs() < 1e-12);
}

#[test]
fn whole_numbers_are_counts() {
    let encoding = |text: &str| opened(text, None).expect("valid").channels[0].encoding;
    assert_eq!(encoding("[332, -1855, 7]"), NumberEncoding::Counts { bits: 16 });
    assert_eq!(encoding("[332, -1855.5, 7]"), NumberEncoding::Real);
}

#[test]
fn a_document_without_an_array_is_told() {
    let error = opened(r#"{"rms": 0.5}"#, None).err().expect("refused").to_string();
    assert!(error.contains("no vector of numbers"), "{error}");
    assert!(documents(b"[Header]\nrate=5\n1 2\n").is_none());
    assert!(documents(b"{\"a\": [1, 2").is_none());
}

proptest! {
    #[test]
    fn any_document_is_read_or_refused(at in 0usize..90, byte in any::<u8>()) {
        let text =
            r#"{"fs":100,"u":[[1,2],[3,null]],"v":[{"a":1,"b":[2]},{"a":2}],"w":["g"],"x":[]}"#;
        let mut bytes = text.as_bytes().to_vec();
        if let Some(old) = bytes.get_mut(at) {
            *old = byte;
        }
        if let Some(documents) = documents(&bytes) {
            let _ = open(Path::new("t.json"), documents, None);
        }
    }
}

#[test]
fn rows_of_several_channels_are_refused_with_the_key_and_its_values() {
    let lines = |key: &str, values: [&str; 2]| -> String {
        let line = |n: usize| {
            format!("{{\"t\": {}, {key}: {}, \"acc\": {}.5}}\n", n / 2, values[n % 2], n % 7)
        };
        (0..64).map(line).collect()
    };
    for (key, values) in [("\"axis\"", ["\"x\"", "\"y\""]), ("\"node_id\"", ["17", "23"])] {
        let text = lines(key, values);
        let array = format!("[{}]", text.trim().replace('\n', ","));
        for text in [text, array] {
            let error = opened(&text, None).err().expect("two channels").to_string();
            let value = values[1].trim_matches('"');
            assert!(error.contains(key.trim_matches('"')) && error.contains(value), "{error}");
        }
    }
    let constant = lines("\"state\"", ["\"ok\"", "\"ok\""]);
    assert!(opened(&constant, None).is_ok());
}

/// R-EDGE-4: pandas' `to_json` with its default and by index, its series, and its index of times.
#[test]
fn a_data_frame_of_pandas_is_a_table() {
    let column = |scale: f64| -> String {
        let cells: Vec<String> =
            (0..64).map(|n| format!("\"{n}\":{}", scale * (f64::from(n) * 0.3).sin())).collect();
        format!("{{{}}}", cells.join(","))
    };
    let cells = |value: &dyn Fn(u32) -> String| -> String {
        let cells: Vec<String> = (0..64).map(|n| format!("\"{n}\":{}", value(n))).collect();
        format!("{{{}}}", cells.join(","))
    };
    let times = cells(&|n| format!("{}", f64::from(n) / 2000.0));
    let rows = cells(&|n| {
        format!("{{\"time\":{},\"acc_g\":{}}}", f64::from(n) / 2000.0, (f64::from(n) * 0.3).sin())
    });
    for text in [format!("{{\"time\":{times},\"acc_g\":{}}}", column(1.0)), rows] {
        let recording = opened(&text, None).expect("a table");
        assert_eq!((recording.channels.len(), recording.samples), (1, 64), "{text:.60}");
        let rate = recording.stated_rate_hz.expect("a rate");
        assert!((rate / 2000.0 - 1.0).abs() < 1e-6, "{rate}");
    }
    let series = data(&column(1.0), None);
    assert!((series[[0, 10]] - 3f64.sin()).abs() < 1e-9, "in the order of the index");
    let dated: Vec<String> =
        (0..64).map(|n| format!("\"{}\":{}.5", 1_772_359_200_000u64 + 2 * n, n % 7)).collect();
    let recording = opened(&format!("{{\"acc_g\":{{{}}}}}", dated.join(",")), None).expect("dated");
    assert_eq!(recording.stated_rate_hz, Some(500.0));
    assert!(recording.stated_start.is_some_and(|at| at.to_string().starts_with("2026-03-01")));
}

/// R-EDGE-4: a rate in the metadata, a time of the document, and Python's words for no number.
#[test]
fn metadata_aside_of_the_samples_state_rate_and_start() {
    let text = r#"{"setup": {"daq": {"sampling_rate": 2560}}, "start_time": "2026-02-03T04:05:06Z",
        "axes": [{"name": "x", "unit": "g", "data": [0.5, NaN, -0.25, -Infinity, 1]}]}"#;
    let recording = opened(text, None).expect("valid");
    assert_eq!(recording.stated_rate_hz, Some(2560.0));
    assert!(
        recording.stated_start.is_some_and(|at| at.to_string().starts_with("2026-02-03T04:05:06"))
    );
    let data = data(text, None);
    assert!(data[[0, 1]].is_nan() && data[[0, 3]].is_nan() && data[[0, 4]] > 0.9);
    assert!(documents(br#"{"a": "NaN", "b": NaN}"#).is_some_and(|all| all[0]["a"] == "NaN"));
    let told = fault(b"{\"fs\": 1000, \"x\": [1, 2,}");
    assert!(told.contains("no JSON") && told.contains("line 1"), "{told}");
}

fn rows(line: impl Fn(usize) -> String) -> String {
    format!("[{}]", (0..64).map(line).collect::<Vec<_>>().join(","))
}

/// R-EDGE-4: a time among rows whose document has a unit is a time all the same.
#[test]
fn a_unit_of_the_document_is_none_of_its_times() {
    let samples = rows(|n| format!(r#"{{"t": {}, "x": 0.{n}}}"#, n as f64 * 0.5));
    let recording = opened(&format!(r#"{{"units": "g", "fs": 2000, "samples": {samples}}}"#), None);
    let names: Vec<_> =
        recording.expect("valid").channels.iter().filter_map(|one| one.name.clone()).collect();
    assert_eq!(names, ["samples.x"]);
}

/// R-EDGE-4: numbers and times that are written as text, rows of both, structs within rows.
#[test]
fn numbers_and_times_as_text_and_structs_within_rows_are_columns() {
    for text in [
        format!(
            r#"{{"acc": {}}}"#,
            rows(|n| format!(
                r#"{{"ts": {}, "value": "0.{n}"}}"#,
                1_780_000_000_640u64 - 10 * n as u64
            ))
        ),
        rows(|n| {
            format!(
                r#"{{"time": "2026-05-04T06:07:08.{n:02}Z", "acc": {{"value": 0.{n}, "unit": "g"}}}}"#
            )
        }),
        format!(
            r#"{{"values": {}}}"#,
            rows(|n| format!(r#"["2026-05-04T06:07:08.{n:02}Z", 0.{n}]"#))
        ),
        format!(
            r#"{{"values": {}}}"#,
            rows(|n| format!(r#"[{}, "0.{n}"]"#, 1_780_000_000.0 + n as f64 / 100.0))
        ),
    ] {
        let recording = opened(&text, None).expect(&text);
        assert_eq!(recording.channels.len(), 1, "{text}");
        assert!(
            recording.stated_rate_hz.is_some_and(|hz| (hz / 100.0 - 1.0).abs() < 1e-3),
            "{text}"
        );
        assert!(recording.stated_start.is_some(), "{text}");
    }
    let reversed = rows(|n| format!(r#"{{"ts": {}, "value": {}}}"#, 90_000 - n, n));
    assert!((data(&reversed, None)[[0, 0]] - 63.0).abs() < 1e-9, "the oldest comes first");
    let units = rows(|n| {
        format!(
            r#"{{"t": {n}, "a": {{"value": 0.5, "unit": "{}"}}}}"#,
            if n < 9 { "g" } else { "mg" }
        )
    });
    let error = opened(&units, None).err().expect("two units").to_string();
    assert!(error.contains("a channel has one unit"), "{error}");
}

/// R-EDGE-4: payloads within messages, records of SenML, keys with a unit of the rate.
#[test]
fn payloads_as_text_senml_and_rates_with_a_unit_in_their_key_are_read() {
    let payload = r#"{\"odr_khz\": 2.56, \"unit\": \"g\", \"x\": [0.5, 0.25, 0.125]}"#;
    let wrapped = format!(
        r#"[{{"topic": "a/b", "payload": "{payload}"}}, {{"topic": "a/b", "payload": "{payload}"}}]"#
    );
    let recording = opened(&wrapped, None).expect("messages");
    assert_eq!((recording.snapshots, recording.stated_rate_hz), (2, Some(2560.0)));
    let records = rows(|n| match n {
        0 => r#"{"bn": "p/", "bt": 1780000000, "bu": "m/s2", "n": "x", "v": 0.5}"#.to_owned(),
        n => format!(r#"{{"n": "x", "t": {}, "v": 0.{n}}}"#, n as f64 / 1000.0),
    });
    let recording = opened(&records, None).expect("SenML");
    assert_eq!(recording.channels[0].unit.as_deref(), Some("m/s2"));
    assert!(recording.stated_rate_hz.is_some_and(|hz| (hz / 1000.0 - 1.0).abs() < 1e-3));
    assert!(recording.stated_start.is_some());
    let packed = format!(r#"{{"fs": 500, "samples": "{}"}}"#, "aB3+".repeat(32));
    let error = opened(&packed, None).err().expect("base64").to_string();
    assert!(error.contains("samples") && error.contains("base64"), "{error}");
    let step = r#"{"dt_us": 500, "x": [0.5, 0.25]}"#;
    assert_eq!(opened(step, None).expect("a step").stated_rate_hz, Some(2000.0));
}

/// R-EDGE-4: objects of several stations are no one recording.
#[test]
fn objects_of_several_stations_are_refused() {
    let text = rows(|n| {
        format!(r#"{{"t": {n}, "station": "{}", "acc": 0.5}}"#, if n < 30 { "DE" } else { "NDE" })
    });
    let error = opened(&text, None).err().expect("two stations").to_string();
    assert!(error.contains("several measuring points"), "{error}");
}
