//! Sparkplug B: messages that Google's protobuf makes of Eclipse's definition, and a node at a real
//! broker. The forms of the messages are those of public reports about nodes and libraries.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use pdm_edge::settings::parse;
use pdm_edge::source::mqtt::MessageForm;
use pdm_edge::source::sparkplug::{Received, SparkplugDecoder};
use pdm_edge::source::{Block, SourceHost, SourceInput};
use pdm_harness::{Child, Mosquitto, Persistence, PythonPackage};
use pdm_service::clock::SystemClock;
use pdm_shared::time::Timestamp;
use pdm_shared::units::M_S2_PER_G;

const PACKAGE: PythonPackage<'_> = PythonPackage {
    requirement: "pysparkplug>=0.6,<0.7 paho-mqtt>=1.6,<2",
    probe: "import pysparkplug._protobuf, paho.mqtt.client",
};
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/harness/python/sparkplug.py");

fn python(test: &str) -> Option<PathBuf> {
    PACKAGE.interpreter(test, env!("CARGO_TARGET_TMPDIR"), "sparkplug-venv")
}

/// A source of two metrics of a pump, with more lines in its table.
fn source(port: u16, lines: &str) -> SourceInput {
    let text = format!(
        "gateway_id = \"gw-01\"\nsite = \"s\"\n[spool]\npath = \"x.db\"\n[[source]]\nname = \"n\"\n\
         kind = \"stream\"\nrate_hz = 1000.0\n[source.stream]\nblock_s = 0.002\nsilence_s = 60.0\n\
         from = \"mqtt://127.0.0.1:{port}/spBv1.0/plant/gw-7/pump\"\n[source.stream.sparkplug]\n\
         metrics = [\"Vibration/X\", \"Vibration/Y\"]\n{lines}\n\
         [[source.channel]]\nequipment = \"P\"\nbearing = \"DE\"\nrpm = 1500.0\nbearing_type = \
         \"6205\"\n"
    );
    parse(Path::new("edge.toml"), &text).expect("valid").0.sources.remove(0).input
}

fn decoder(lines: &str) -> SparkplugDecoder {
    let SourceInput::Topic { format, messages: MessageForm::Sparkplug(form), .. } =
        source(1883, lines)
    else {
        panic!("a topic of Sparkplug");
    };
    let host = SourceHost::alone(Arc::new(SystemClock), "n");
    SparkplugDecoder::new(*form, format.frames, format.rate_tolerance, host)
}

/// Topics and payloads.
type Messages = Vec<(String, Vec<u8>)>;

/// The messages of every case: topic and payload.
fn cases(python: &Path) -> BTreeMap<String, Messages> {
    let output = Command::new(python).args([SCRIPT, "cases"]).output().expect("starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut cases: BTreeMap<String, Messages> = BTreeMap::new();
    for line in String::from_utf8(output.stdout).expect("text").lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let bytes = fields[2].as_bytes().chunks(2).map(|pair| {
            let digits = std::str::from_utf8(pair).expect("ASCII");
            u8::from_str_radix(digits, 16).expect("hexadecimal")
        });
        let message = (fields[1].to_owned(), bytes.collect());
        cases.entry(fields[0].to_owned()).or_default().push(message);
    }
    cases
}

/// The outcome of a case.
#[derive(Debug, Default)]
struct Outcome {
    /// The first frame of each block, g.
    firsts: Vec<(f64, f64)>,
    blocks: Vec<Block>,
    refused: String,
    gone: String,
    asks_rebirth: bool,
}

fn outcome(decoder: &mut SparkplugDecoder, messages: &[(String, Vec<u8>)]) -> Outcome {
    let mut outcome = Outcome::default();
    for (topic, payload) in messages {
        match decoder.push(topic, payload) {
            Ok(Received::Gone(why)) => outcome.gone = why,
            Ok(_) => {}
            Err(refusal) => outcome.refused = format!("{}: {}", refusal.cause, refusal.why),
        }
        outcome.asks_rebirth |= decoder.rebirth_request().is_some();
        while let Some(block) = decoder.block() {
            let g = |channel| (block.accel_m_s2[[channel, 0]] / M_S2_PER_G * 1e6).round() / 1e6;
            outcome.firsts.push((g(0), g(1)));
            outcome.blocks.push(block);
        }
    }
    outcome
}

/// Case, first frames of its blocks in g, a part of the refusal, and whether the births are asked
/// for.
type ExpectedCase = (&'static str, &'static [(f64, f64)], &'static str, bool);

/// Each case of the sender: what is measured, what is refused, and whether the births are asked
/// for.
const EXPECTED: &[ExpectedCase] = &[
    ("alias 0 for all", &[(1.0, -1.0)], "", false),
    ("alias only", &[(1.0, -1.0)], "", false),
    ("another type", &[], "form: metric \"Vibration/Y\" has another data type", false),
    ("bad quality", &[], "quality: metric \"Vibration/Y\" is of bad quality (0)", false),
    ("big-endian", &[], "sparkplug.byte_order = \"big\" reads them so", false),
    ("birth is not measured", &[], "", false),
    ("birth may be missing", &[(1.0, -1.0)], "unborn: data without their birth", true),
    ("birth of the node ends that of the device", &[], "unborn: data without", true),
    ("by exception", &[], "1 values of the first channel and 0 of channel 1", false),
    ("compressed", &[], "SPBV1.0_COMPRESSED", false),
    ("counts without a unit", &[], "\"Vibration/X\" holds integers", false),
    ("data before birth", &[], "unborn: data without their birth", true),
    ("death of an earlier session", &[(1.0, -1.0)], "", false),
    ("death of another device", &[(1.0, -1.0)], "", false),
    ("device data before device birth", &[], "unborn: data without their birth", true),
    ("empty", &[], "", false),
    ("empty name", &[(1.0, -1.0)], "", false),
    ("floats without a unit", &[], "\"Vibration/X\" holds numbers without a unit", false),
    ("good quality", &[(1.0, -1.0)], "", false),
    ("half a sample", &[], "5 bytes, no whole number of samples of 4", false),
    ("integers in mg", &[(1.0, -0.012)], "", false),
    ("kept values", &[(1.0, -1.0)], "comes after a later one", false),
    ("message twice", &[(1.0, -1.0), (3.0, -3.0)], "", false),
    ("metres", &[(0.101_972, -0.101_972)], "", false),
    ("name beside alias", &[(1.0, -1.0)], "", false),
    ("no numbers", &[(1.0, -1.0), (3.0, -3.0)], "", false),
    ("no such metric", &[], "no metric \"Vibration/X\"; it has \"Vib/x\"", false),
    ("no value", &[], "null: metric \"Vibration/X\" has no value", false),
    ("not protobuf", &[], "no protobuf", false),
    ("null", &[], "null: metric \"Vibration/X\" has no value (null)", false),
    ("null in the birth", &[(1.0, -1.0)], "", false),
    ("number of the birth is not 0", &[(1.0, -1.0)], "", false),
    ("numbers count every device", &[(1.0, -1.0), (3.0, -3.0)], "", false),
    ("numbers missing", &[(1.0, -1.0), (3.0, -3.0)], "", true),
    ("numbers wrap", &[(1.0, -1.0), (3.0, -3.0)], "", false),
    ("one alias for both", &[], "unborn: alias 4 stands for no one metric", true),
    ("one axis missing", &[(1.0, -1.0)], "", false),
    ("single values", &[(-0.012, 0.012)], "", false),
    ("stale", &[], "quality: metric \"Vibration/Y\" is of bad quality (500)", false),
    ("two messages", &[(1.0, -1.0)], "", false),
    ("a text", &[], "data type 12 (text)", false),
    ("unknown unit", &[], "\"furlong\", a unit that is not known", false),
    ("value missing in time", &[(0.0, 0.0), (0.002, 0.002)], "", false),
    ("velocity", &[], "mm/s (velocity), which is no acceleration", false),
    ("volts", &[], "sensitivity_mv_per_g makes it an acceleration", false),
];

/// Issue "strangers' inputs", point 8: forms of public nodes are read, or refused with a word.
#[test]
fn messages_of_public_nodes_are_read_or_refused_with_a_word() {
    let test = "messages_of_public_nodes_are_read_or_refused_with_a_word";
    let Some(python) = python(test) else { return };
    let cases = cases(&python);
    for (case, firsts, refused, asks_rebirth) in EXPECTED {
        let got = outcome(&mut decoder(""), &cases[*case]);
        assert_eq!(got.firsts, *firsts, "{case}: {got:?}");
        assert!(got.refused.contains(refused), "{case}: {got:?}");
        assert_eq!(got.refused.is_empty(), refused.is_empty(), "{case}: {got:?}");
        assert_eq!(got.asks_rebirth, *asks_rebirth, "{case}: {got:?}");
    }
    for (case, why) in [("death with a number", "NDEATH"), ("death of the device", "DDEATH")] {
        let got = outcome(&mut decoder(""), &cases[case]);
        assert!(got.gone.contains(why), "{case}: {got:?}");
    }
}

#[test]
fn the_configuration_decides_what_the_node_leaves_open() {
    let test = "the_configuration_decides_what_the_node_leaves_open";
    let Some(python) = python(test) else { return };
    let cases = cases(&python);
    let big = outcome(&mut decoder("byte_order = \"big\""), &cases["big-endian"]);
    assert_eq!(big.firsts, [(0.5, 0.5)], "{big:?}");
    let silent = outcome(&mut decoder("rebirth = false"), &cases["data before birth"]);
    assert!(!silent.asks_rebirth && silent.refused.contains("forbids"), "{silent:?}");
    // 2026-01-01 00:01:00 is the last sample of two at 1 kHz, or the first one
    let at = |lines: &str, case: &str| {
        let got = outcome(&mut decoder(lines), &cases[case]);
        got.blocks[0].started_at.map(Timestamp::unix_ms).expect("dated")
    };
    assert_eq!(at("", "kept values"), 1_767_225_659_998);
    assert_eq!(at("time = \"first\"", "kept values"), 1_767_225_660_000);
    assert_eq!(at("time = \"last\"", "alias only"), 1_767_225_599_998);
    let follows: Vec<bool> = outcome(&mut decoder(""), &cases["value missing in time"])
        .blocks
        .iter()
        .map(|block| block.follows_on)
        .collect();
    assert_eq!(follows, [false, false]);
}

#[test]
fn a_table_that_fits_no_node_is_refused_with_its_key() {
    let refused = |from: &str, table: &str| {
        let text = format!(
            "gateway_id = \"g\"\nsite = \"s\"\n[spool]\npath = \"x.db\"\n[[source]]\nname = \"n\"\n\
             kind = \"stream\"\nrate_hz = 1000.0\n[source.stream]\nfrom = \"{from}\"\n{table}\n\
             [[source.channel]]\nequipment = \"P\"\nbearing = \"DE\"\nrpm = 1500.0\n\
             bearing_type = \"6205\"\n"
        );
        parse(Path::new("edge.toml"), &text).expect_err(from).to_string()
    };
    let topic = "mqtt://b/spBv1.0/plant/gw-7/pump";
    let table = "[source.stream.sparkplug]\nmetrics = [\"X\"]\n";
    for (from, table, expected) in [
        ("mqtt://b/plant/x", table.to_owned(), "spBv1.0/GROUP/NODE/DEVICE"),
        ("mqtt://b/spBv1.0/+/NDATA/pump", table.to_owned(), "spBv1.0/GROUP/NODE"),
        ("tcp://b:1", table.to_owned(), "only with mqtt://"),
        (topic, format!("encoding = \"i16\"\n{table}"), "births of Sparkplug B state the types"),
        (topic, format!("channels = 2\n{table}"), "2 names, one for each channel"),
        (topic, table.replace("\"X\"", "\"X\", \"X\""), "each once"),
        (topic, format!("{table}time = \"middle\""), "\"first\" or \"last\""),
        (topic, format!("{table}rate = \"X\""), "another metric"),
    ] {
        let error = refused(from, &table);
        assert!(error.contains(expected), "{from}: {error}");
    }
}

/// Issue "strangers' inputs", points 8 and "must show": births on request, messages lost, aliases
/// that change, a death, and a restart of the broker; no sample ever changes its channel.
#[test]
fn a_node_at_a_real_broker_is_followed_over_losses_deaths_and_a_restart() {
    let test = "a_node_at_a_real_broker_is_followed_over_losses_deaths_and_a_restart";
    let Some(python) = python(test) else { return };
    let Some(mut broker) = Mosquitto::start(test, Persistence::Memory) else { return };
    let port = broker.port();
    let mut command = Command::new(python);
    command.args([SCRIPT, "node", &port.to_string()]);
    let _node = Child::start(&mut command);
    let host = SourceHost::alone(Arc::new(SystemClock), "n");
    let input = source(port, "rate = \"Rate\"");
    let mut source = input.open_at(&host).expect("valid");
    let (mut deaths, mut measured, mut after_restart) = (0, 0, None);
    while deaths < 2 || after_restart.is_none_or(|before| measured < before + 5) {
        match source.next_block() {
            Ok(Some(block)) if block.accel_m_s2.ncols() == 0 => {}
            Ok(Some(block)) => {
                check(&block, &host.remarks.lines());
                measured += 1;
            }
            Ok(None) => panic!("a live source has no end"),
            Err(error) => {
                let is_death = error.to_string().contains("DDEATH");
                deaths += usize::from(is_death);
                assert!(is_death || after_restart.is_some(), "{error}");
                let told = host.remarks.lines().join("");
                assert!(!is_death || told.contains("DDEATH"), "{told}");
                source = input.open_at(&host).expect("valid");
            }
        }
        if deaths == 1 && measured > 30 && after_restart.is_none() {
            broker.kill();
            broker.restart();
            after_restart = Some(measured);
        }
    }
    assert!(measured >= 36, "31 before the restart and 5 after it: {measured}");
}

/// X counts in mg, Y is the negative number in m/s².
fn check(block: &Block, told: &[String]) {
    assert_eq!(block.accel_m_s2.dim(), (2, 4));
    assert!(block.rate.own().is_some_and(|rate| (rate.get() - 1001.0).abs() < 1e-9));
    for frame in block.accel_m_s2.columns() {
        let (x, y) = (frame[0] / M_S2_PER_G * 1000.0, -frame[1]);
        assert!((x - y).abs() < 1e-6 && (x.round() - x).abs() < 1e-6, "{x} {y} {told:?}");
    }
    assert!(!told.iter().any(|line| line.contains("without their birth")), "{told:?}");
}
