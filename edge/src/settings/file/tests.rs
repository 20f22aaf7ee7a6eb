//! Claims about `edge.toml`: the example is valid; errors name file, line, key, value, allowed
//! values.

use std::sync::Arc;

use pdm_service::clock::{SharedClock, SystemClock};

use super::*;
use crate::settings::{Pace, SourceSettings};
use crate::source::Source;

const EXAMPLE: &str = include_str!("../../../../config/edge.toml");

fn opened(source: &SourceSettings) -> Box<dyn Source> {
    let clock: SharedClock = Arc::new(SystemClock);
    source.input.open(&clock).expect("opens")
}

fn error(text: &str) -> String {
    parse(Path::new("edge.toml"), text).expect_err("wrong").to_string()
}

fn changed(from: &str, to: &str) -> String {
    assert!(EXAMPLE.contains(from), "the example has no {from}");
    EXAMPLE.replacen(from, to, 1)
}

#[test]
fn the_example_is_valid_and_its_sources_open() {
    let (settings, _log) = parse(Path::new("edge.toml"), EXAMPLE).expect("valid");
    assert_eq!(settings.sources.len(), 1);
    assert_eq!(settings.sources[0].pace, Pace::Times(60.0));
    let source = opened(&settings.sources[0]);
    assert_eq!(source.format().channels, settings.sources[0].points.len());
}

#[test]
fn every_wrong_value_is_told_with_line_key_value_and_what_is_allowed() {
    let line = |text: &str, needle: &str| {
        text.lines().position(|line| line.starts_with(needle)).expect("there") + 1
    };
    let text = changed("rpm = 1797.0", "rpm = 0.0");
    let expected = format!(
        "edge.toml: source[0].channel[0].rpm (line {}) is 0, allowed is finite and above 0",
        line(&text, "rpm =")
    );
    assert_eq!(error(&text), expected);

    let text = changed("bearing_type = \"6205\"", "bearing_type = \"9999\"");
    let message = error(&text);
    assert!(message.contains("bearing_type (line "), "{message}");
    assert!(message.contains("9999") && message.contains("near are "), "{message}");

    let text = changed("pace = 60.0", "pace = \"fast\"");
    assert!(error(&text).contains("allowed is \"max\", or a factor"), "{}", error(&text));
    let text = changed("[broker]", "[broker]\nuser = \"gw\"");
    assert!(error(&text).contains("a user with broker.password"), "{}", error(&text));
    let text = changed("listen = \"127.0.0.1:9101\"", "listen = \"0.0.0.0:9101\"");
    assert!(error(&text).contains("admin.token"), "{}", error(&text));
}

/// R-EDGE-2: the machine's zones judge its velocity together with other keys of the condition.
#[test]
fn a_machines_zones_hold_beside_other_keys_of_its_condition() {
    let monitor = |condition: &str| {
        let text = format!("{EXAMPLE}\n[source.channel.condition]\n{condition}\n");
        let (settings, _log) = parse(Path::new("edge.toml"), &text).expect("valid");
        settings.sources[0].points[0].monitor.clone()
    };
    // the example's machine is of group 2 on a rigid support
    let limits = [Some(2.8), Some(4.5)];
    for condition in ["", "baseline_windows = 30", "failure_thresholds = { rms_g = 9.0 }"] {
        let monitor = monitor(condition);
        let failure = monitor.failure_thresholds.get("velocity_rms_mm_s").copied();
        assert_eq!([monitor.velocity_zone_bc_mm_s, failure], limits, "{condition}");
    }
    let own = monitor("velocity_zone_bc_mm_s = 3.5");
    assert_eq!(own.velocity_zone_bc_mm_s, Some(3.5));
}

#[test]
fn an_unknown_key_is_an_error_at_every_depth() {
    for (from, to) in [
        ("[broker]", "[broker]\nadress = 1"),
        ("[spool]", "[spool]\nsize = 1"),
        ("kind = \"simulator\"", "kind = \"simulator\"\nspeed = 2"),
        ("rpm = 1797.0", "rpm = 1797.0\nrpn = 2"),
    ] {
        let message = error(&changed(from, to));
        assert!(message.contains("unknown field"), "{message}");
    }
}

#[test]
fn a_tachometer_and_the_speeds_that_part_operating_states_are_read_and_checked() {
    let with = |bins: &str, pulses: u32| {
        let text = changed("rpm = 1797.0", &format!("rpm = 1797.0\nspeed_bins_rpm = {bins}"));
        let table = format!(
            "\n[source.tachometer]\nchannel = 1\npulses_per_turn = {pulses}\n\n[[source.channel]]"
        );
        // the section itself: a comment above may name it, too
        text.replacen("\n[[source.channel]]", &table, 1)
    };
    let text = with("[600, 1200.5]", 2);
    let (settings, _log) = parse(Path::new("edge.toml"), &text).expect("valid");
    let source = &settings.sources[0];
    assert_eq!(source.tachometer.map(|t| (t.channel, t.pulses_per_turn)), Some((1, 2)));
    assert_eq!(source.points[0].speed_bins.len(), 2);
    assert_eq!(opened(source).format().channels, 2);
    assert!(error(&with("[1200, 600]", 1)).contains("rising speeds"));
    assert!(error(&with("[-1]", 1)).contains("speed_bins_rpm (line "));
    assert!(error(&with("[600]", 0)).contains("pulses_per_turn"));
}

#[test]
fn a_missing_file_is_named() {
    let message = read_settings(Path::new("/nowhere/edge.toml")).expect_err("missing").to_string();
    assert!(message.contains("/nowhere/edge.toml"), "{message}");
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,200}") {
        let _outcome = parse(Path::new("edge.toml"), &text);
    }
}

/// Two sources that name one measuring point would write one history.
#[test]
fn a_measuring_point_that_two_channels_name_is_refused_with_both_lines() {
    let channel = "[[source.channel]]\nequipment = \"P\"\nbearing = \"DE\"\nrpm = 1500.0\n\
                   bearing_type = \"6205\"\nmeasuring_point = \"DE-X\"\n";
    let source = |name: &str| {
        format!(
            "[[source]]\nname = \"{name}\"\nkind = \"iio\"\n[source.iio]\ndevice = \
             \"{name}\"\n{channel}"
        )
    };
    let head = "gateway_id = \"g\"\nsite = \"s\"\n[spool]\npath = \"x.db\"\n";
    let text = format!("{head}{}{}", source("a"), source("b"));
    let told = error(&text);
    let lines: Vec<usize> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| line.starts_with("measuring_point"))
        .map(|(at, _)| at + 1)
        .collect();
    for line in lines {
        assert!(told.contains(&format!("(line {line})")), "{line}: {told}");
    }
    assert!(told.contains("DE-X"), "{told}");
    let other = text.replacen("DE-X", "DE-Y", 1);
    assert!(parse(Path::new("edge.toml"), &other).is_ok());
}

/// The keys that say how files are read mean what the options of the command line mean.
#[test]
fn files_are_read_by_the_keys_of_a_source_as_by_the_options_of_the_command_line() {
    let folder = tempfile::tempdir().expect("folder");
    let text = |keys: &str| {
        format!(
            "gateway_id = \"gw\"\nsite = \"s\"\n[spool]\npath = \"spool.db\"\n[[source]]\n\
             name = \"a\"\nkind = \"recording\"\nfiles = [\"a.csv\"]\nwatch = false\n{keys}\n\
             [[source.channel]]\nchannel = 0\nequipment = \"P\"\nbearing = \"DE\"\n\
             bearing_type = \"6205\"\nrpm = 1500.0\n"
        )
    };
    let path = folder.path().join("edge.toml");
    let samples = |keys: &str, content: &str| {
        std::fs::write(folder.path().join("a.csv"), content).expect("written");
        let (settings, _log) = parse(&path, &text(keys)).expect("valid keys");
        let clock: SharedClock = Arc::new(SystemClock);
        let mut source = settings.sources[0].input.open(&clock).map_err(|e| e.to_string())?;
        let block = source.next_block().map_err(|e| e.to_string())?.expect("one");
        let first = block.accel_m_s2[[0, 0]] / 9.806_65;
        Ok::<_, String>((source.format().sample_rate.get(), block.accel_m_s2.ncols(), first))
    };
    let stated = format!("# rate: 1000 Hz\nax (g)\n{}", "0.5\n-0.5\n".repeat(50));
    let refused = samples("rate_hz = 2000.0", &stated).expect_err("two rates");
    assert!(refused.contains("1000 Hz") && refused.contains("2000 Hz"), "{refused}");
    let prefer = |side: &str| format!("rate_hz = 2000.0\nprefer = \"{side}\"");
    assert_eq!(samples(&prefer("file"), &stated), Ok((1000.0, 100, 0.5)));
    assert_eq!(samples(&prefer("option"), &stated), Ok((2000.0, 100, 0.5)));
    let part = samples("start_s = 0.01\nduration_s = 0.05", &stated);
    assert_eq!(part, Ok((1000.0, 50, 0.5)));
    let commas = "1,234\n2,345\n".repeat(50);
    assert!(samples("rate_hz = 1000.0", &commas).is_err());
    let comma = samples("rate_hz = 1000.0\ndecimal = \"comma\"", &commas);
    assert_eq!(comma, Ok((1000.0, 100, 1.234)));
    for (keys, expected) in [
        ("prefer = \"both\"", "source[0].prefer (line 10) is both, allowed is \"file\""),
        ("decimal = \"dot\"", "source[0].decimal (line 10) is dot, allowed is \"comma\""),
        ("duration_s = -1.0", "source[0].duration_s (line 10) is -1"),
    ] {
        let told = parse(&path, &text(keys)).expect_err(keys).to_string();
        assert!(told.contains(expected), "{told}");
    }
    let live = text("prefer = \"file\"").replace("recording", "simulator");
    assert!(parse(&path, &live).expect_err("no files").to_string().contains("only for kind"));
}

/// Without the table nothing is captured; a budget that is no number or absurd is refused with its
/// line.
#[test]
fn captures_are_off_without_their_table_and_absurd_budgets_are_refused() {
    let (settings, _log) = parse(Path::new("edge.toml"), EXAMPLE).expect("valid");
    assert!(settings.capture.is_none());
    let with = |keys: &str| format!("{EXAMPLE}\n[capture]\n{keys}\n");
    let path = Path::new("/etc/pdm/edge.toml");
    let read = |keys: &str| parse(path, &with(keys)).expect("valid").0.capture.expect("on");
    let capture = read("");
    assert_eq!((capture.budget_bytes, capture.per_hour), (16_000_000, 6));
    assert!(capture.folder.ends_with("var/edge/captures"), "{:?}", capture.folder);
    assert!((capture.length_s(8.0 * 25_600.0) - 27.9).abs() < 0.1);
    assert_eq!(read("folder = \"own\"").folder, Path::new("/etc/pdm/own"));
    for (keys, key) in [
        ("budget_mb = 0.0", "capture.budget_mb (line "),
        ("budget_mb = -1.0", "capture.budget_mb (line "),
        ("budget_mb = 1e12", "capture.budget_mb (line "),
        ("budget_mb = nan", "capture.budget_mb (line "),
        ("max_disk_mb = 0.0", "capture.max_disk_mb (line "),
        ("before_s = 61.0", "capture.before_s (line "),
        ("after_s = -1.0", "capture.after_s (line "),
        ("per_hour = 0", "capture.per_hour (line "),
        ("reference_every_h = -1.0", "capture.reference_every_h (line "),
        ("window_s = 1.0", "window_s"),
    ] {
        let told = error(&with(keys));
        assert!(told.contains(key), "{told}");
    }
}

/// Every key of the shown table is one that the program knows.
#[test]
fn the_example_shows_keys_of_captures_that_are_read() {
    let begin = EXAMPLE.find("# [capture]").expect("shown");
    let shown = EXAMPLE[begin..].lines().take_while(|line| line.starts_with('#'));
    let keys = shown.filter_map(|line| {
        let key = line.trim_start_matches("# ").split_once('#').map_or(line, |parts| parts.0);
        let key = key.trim_start_matches("# ");
        (key.starts_with('[') || key.contains(" = ")).then(|| key.to_owned())
    });
    let table: Vec<String> = keys.collect();
    assert_eq!(table.len(), 12, "{table:?}");
    let text = format!("{EXAMPLE}\n{}\n", table.join("\n"));
    assert!(parse(Path::new("edge.toml"), &text).expect("valid").0.capture.is_some());
}
