//! Modbus TCP against pymodbus' server: values of a transmitter become events, and what is missing
//! is told. The faults are those of public reports about devices and gateways.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pdm_edge::pipeline::measure_all;
use pdm_edge::settings::{EdgeSettings, parse};
use pdm_edge::source::values::PointValues;
use pdm_edge::source::{SourceError, SourceHost};
use pdm_harness::{Child, PythonPackage, free_port};
use pdm_service::clock::SystemClock;
use pdm_shared::event::{Event, QualityFlag, SpeedSource};

const PACKAGE: PythonPackage<'_> =
    PythonPackage { requirement: "pymodbus>=3.11,<4", probe: "import pymodbus.server" };
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/harness/python/modbus.py");

const VELOCITY: &str = "[[source.modbus.value]]\nfeature = \"velocity_rms_mm_s\"\ninput = 0\n\
                        type = \"u16\"\nscale = 0.01\nunit = \"mm/s\"\n";
const RMS: &str = "[[source.modbus.value]]\nfeature = \"rms_g\"\ninput = 2\ntype = \"f32\"\n\
                   order = \"cdab\"\nunit = \"m/s2\"\n";

fn python(test: &str) -> Option<PathBuf> {
    PACKAGE.interpreter(test, env!("CARGO_TARGET_TMPDIR"), "modbus-venv")
}

/// Starts the device and waits until it takes connections.
fn device(python: &Path, port: u16, mode: &str) -> Child {
    let mut command = Command::new(python);
    let child = Child::start(
        command.args([SCRIPT, &port.to_string(), mode]).stdout(Stdio::null()).stderr(Stdio::null()),
    );
    let address = ("127.0.0.1", port);
    pdm_harness::until("the device", 30, || std::net::TcpStream::connect(address).ok());
    child
}

fn text(port: u16, lines: &str, values: &str) -> String {
    format!(
        "gateway_id = \"gw-01\"\nsite = \"s\"\n[spool]\npath = \"x.db\"\n[[source]]\nname = \"n\"\n\
         kind = \"modbus\"\n[source.modbus]\naddress = \"127.0.0.1:{port}\"\nunit = 7\n\
         every_s = 0.1\n{lines}\n{values}\n[[source.channel]]\nequipment = \"P\"\n\
         bearing = \"DE\"\nrpm = 1500.0\nbearing_type = \"6205\"\nmachine_group = \
         \"medium_rigid\"\n"
    )
}

fn settings(port: u16, lines: &str, values: &str) -> EdgeSettings {
    parse(Path::new("edge.toml"), &text(port, lines, values)).expect("valid").0
}

/// The next poll of a source, with what is remarked.
fn poll(settings: &EdgeSettings) -> (Result<PointValues, SourceError>, String) {
    let host = SourceHost::alone(Arc::new(SystemClock), "n");
    let mut source = settings.sources[0].input.open_at(&host).expect("valid");
    let values = loop {
        match source.next_block() {
            Ok(block) => {
                if let Some(values) = block.expect("endless").values {
                    break Ok(*values);
                }
            }
            Err(error) => break Err(error),
        }
    };
    (values, host.remarks.lines().join("; "))
}

/// Issue "strangers' inputs", point 9: values are judged, and what a waveform tells is said to be
/// missing; the device's restart is survived.
#[test]
fn values_of_a_transmitter_become_events_over_its_restart() {
    let test = "values_of_a_transmitter_become_events_over_its_restart";
    let Some(python) = python(test) else { return };
    let port = free_port();
    let settings = settings(port, "", &format!("{VELOCITY}{RMS}"));
    let mut running = Some(device(&python, port, ""));
    let mut events: Vec<Event> = Vec::new();
    let mut each = |event: &Event, _: Option<u64>| {
        event.check().expect("a valid event");
        events.push(event.clone());
        if events.len() == 3 {
            // killed before its successor takes the port
            drop(running.take());
            running = Some(device(&python, port, ""));
        }
        if events.len() == 6 { Err(io::Error::other("that is all")) } else { Ok(()) }
    };
    measure_all(&settings, Arc::new(SystemClock), &mut each).expect_err("a live source");
    for event in &events {
        assert!(event.signal_quality.valid && event.operating.running, "{event:?}");
        let time = &event.time_domain;
        assert!((time.velocity_rms_mm_s.expect("read") - 2.31).abs() < 1e-9, "{time:?}");
        assert!((time.rms_g.expect("read") - 0.5).abs() < 1e-6, "{time:?}");
        assert!(time.iso_zone.is_some() && time.kurtosis.is_none(), "{time:?}");
        assert_eq!(event.window.samples, 0);
        let why = event.frequency_domain.undetermined.as_deref().expect("no lines");
        assert!(why.contains("without a waveform"), "{why}");
    }
    assert_eq!(events.last().expect("events").anomaly.baseline.windows, 6);
}

/// Issue "strangers' inputs", point 9: a temperature and a speed beside a feature; those that no
/// bearing has are told and not used.
#[test]
fn temperature_and_speed_stand_in_the_event_where_they_are_plausible() {
    let test = "temperature_and_speed_stand_in_the_event_where_they_are_plausible";
    let Some(python) = python(test) else { return };
    let port = free_port();
    let _device = device(&python, port, "");
    let beside = |feature: &str, input: u16, scale: f64, unit: &str| {
        format!(
            "[[source.modbus.value]]\nfeature = \"{feature}\"\ninput = {input}\ntype = \"i16\"\n\
             scale = {scale}\nunit = \"{unit}\"\n"
        )
    };
    let event_of = |values: &str| {
        let mut last = None;
        let mut each = |event: &Event, _: Option<u64>| {
            last = Some(event.clone());
            Err(io::Error::other("that is all"))
        };
        let settings = settings(port, "", values);
        measure_all(&settings, Arc::new(SystemClock), &mut each).expect_err("a live source");
        last.expect("an event").operating
    };
    let (warm, turning) =
        (beside("temperature_c", 4, 0.1, "degC"), beside("shaft_speed_rpm", 6, 0.1, "Hz"));
    let operating = event_of(&format!("{VELOCITY}{warm}{turning}"));
    assert_eq!(operating.temperature_c, Some(65.5));
    assert!((operating.shaft_speed_rpm.expect("read") - 1488.0).abs() < 1e-9, "{operating:?}");
    assert_eq!(operating.speed_source, SpeedSource::Tag);
    // 3276.6 °C of a broken sensor, and Hz taken for rpm
    for (wrong, expected) in [
        (beside("temperature_c", 5, 0.1, "degC"), "3276.6000 is not plausible"),
        (beside("shaft_speed_rpm", 6, 0.1, "rpm"), "24.8000 is not plausible"),
    ] {
        let values = format!("{VELOCITY}{wrong}");
        let (read, told) = poll(&settings(port, "", &values));
        assert_eq!(read.expect("a poll").values[1].value, None);
        assert!(told.contains(expected), "{told}");
        let operating = event_of(&values);
        assert_eq!(operating.temperature_c, None);
        assert_eq!(operating.speed_source, SpeedSource::Configured);
    }
}

#[test]
fn a_value_that_is_missing_is_told_and_the_others_are_read() {
    let test = "a_value_that_is_missing_is_told_and_the_others_are_read";
    let Some(python) = python(test) else { return };
    let port = free_port();
    let _device = device(&python, port, "");
    for (address, expected) in [
        ("10", "rms_g at input register 10: the device has no value"),
        ("40101", "exception 2, illegal data address: addresses count from 0"),
    ] {
        let missing = format!(
            "[[source.modbus.value]]\nfeature = \"rms_g\"\ninput = {address}\ntype = \"u16\"\n\
             scale = 0.001\nunit = \"g\"\n"
        );
        let (values, told) = poll(&settings(port, "", &format!("{missing}{VELOCITY}")));
        let values: Vec<Option<f64>> =
            values.expect("a poll").values.iter().map(|value| value.value).collect();
        assert_eq!(values[0], None);
        assert!(values[1].is_some_and(|velocity| (velocity - 2.31).abs() < 1e-9), "{values:?}");
        assert!(told.contains(expected), "{told}");
        // no value at all is a sensor that fails
        let mut flags = Vec::new();
        let mut each = |event: &Event, _: Option<u64>| {
            flags.clone_from(&event.signal_quality.flags);
            Err(io::Error::other("that is all"))
        };
        let alone = settings(port, "", &missing);
        measure_all(&alone, Arc::new(SystemClock), &mut each).expect_err("a live source");
        assert_eq!(flags, [QualityFlag::NotFinite]);
    }
}

/// Public reports: gateways that return another transaction, answer as another unit, or not in
/// time.
#[test]
fn an_answer_that_does_not_fit_is_never_a_value() {
    let test = "an_answer_that_does_not_fit_is_never_a_value";
    let Some(python) = python(test) else { return };
    for (mode, lines, expected) in [
        ("transaction", "", "modbus.any_transaction = true"),
        ("unit", "", "unit 9 answers, unit 7 is asked"),
        ("slow", "timeout_s = 0.3", "no answer in time"),
    ] {
        let port = free_port();
        let _device = device(&python, port, mode);
        let begun = Instant::now();
        let (values, told) = poll(&settings(port, lines, VELOCITY));
        let error = values.expect_err(mode).to_string();
        assert!(error.contains(expected) && told.contains(expected), "{mode}: {error}; {told}");
        assert!(begun.elapsed() < Duration::from_secs(80), "{mode}");
        if mode == "transaction" {
            let (values, told) = poll(&settings(port, "any_transaction = true", VELOCITY));
            assert!(values.is_ok() && told.is_empty(), "{told}");
        }
    }
    let (values, told) = poll(&settings(free_port(), "timeout_s = 0.3", VELOCITY));
    let error = values.expect_err("nobody").to_string();
    assert!(error.contains("modbus://127.0.0.1") && told.contains("is not read"), "{error} {told}");
}

#[test]
fn a_table_that_leaves_a_guess_is_refused_with_its_key() {
    for (lines, values, expected) in [
        ("", String::new(), "[[source.modbus.value]]"),
        ("", RMS.replace("order = \"cdab\"\n", ""), "value[0].order"),
        ("", VELOCITY.replace("scale = 0.01\n", ""), "value[0].scale"),
        ("", VELOCITY.replace("unit = \"mm/s\"\n", ""), "value[0].unit"),
        ("", VELOCITY.replace("mm/s\"", "g\""), "mm/s, m/s, cm/s"),
        ("", VELOCITY.replace("velocity_rms_mm_s", "temperature"), "one of velocity_rms_mm_s"),
        ("", VELOCITY.replace("input = 0", "input = 0\nholding = 0"), "either holding or input"),
        ("", VELOCITY.replace("u16", "u8"), "u16, i16, u32, i32, f32"),
        ("", format!("{VELOCITY}{VELOCITY}"), "no other value of the channel"),
        ("", VELOCITY.replace("input = 0", "input = 0\nchannel = 3"), "value[0].channel"),
        ("every_s = 0.0001", VELOCITY.to_owned(), "every_s"),
    ] {
        let toml = text(502, "", &values);
        let toml = if lines.is_empty() { toml } else { toml.replace("every_s = 0.1", lines) };
        let error = parse(Path::new("edge.toml"), &toml).expect_err(expected).to_string();
        assert!(error.contains(expected), "{expected}: {error}");
    }
    let alone = VELOCITY.replace("velocity_rms_mm_s", "temperature_c").replace("mm/s", "degC");
    let error = parse(Path::new("edge.toml"), &text(502, "", &alone)).expect_err("alone");
    assert!(error.to_string().contains("one or more that is judged"), "{error}");
    let toml =
        text(502, "", VELOCITY).replace("kind = \"modbus\"", "kind = \"modbus\"\nrate_hz = 1.0");
    let error = parse(Path::new("edge.toml"), &toml).expect_err("a rate").to_string();
    assert!(error.contains("rate_hz") && error.contains("[source.modbus]"), "{error}");
}

/// `check` shows what is read, so that a wrong register or order is seen before it is judged.
#[test]
fn check_prints_the_values_that_it_reads() {
    let test = "check_prints_the_values_that_it_reads";
    let Some(python) = python(test) else { return };
    let port = free_port();
    let _device = device(&python, port, "");
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("edge.toml");
    std::fs::write(&config, text(port, "", &format!("{VELOCITY}{RMS}"))).expect("written");
    let output = Command::new(env!("CARGO_BIN_EXE_pdm-edge"))
        .args(["check", "--config"])
        .arg(&config)
        .output()
        .expect("starts");
    let printed = String::from_utf8_lossy(&output.stdout);
    let expected = "delivers: channel 0 velocity_rms_mm_s 2.3100, channel 0 rms_g 0.5000";
    assert!(printed.contains(expected), "{printed}");
}
