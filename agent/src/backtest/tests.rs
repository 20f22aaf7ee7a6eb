//! Claims about the back-test: live and back-test agree, slices add up, what cannot be known is
//! said.

use pdm_expert::rules::Rules;
use pdm_shared::event::Event;
use pdm_shared::id::EventId;
use pdm_shared::risk::RiskLevel;
use pdm_shared::slice::MachineSlice;
use pdm_shared::text::Language;
use uuid::Uuid;

use super::summary::Making;
use super::truth::Truth;
use super::*;

mod live;

const HEALTHY: &str = include_str!("../../../config/examples/event-healthy.json");

/// Returns the n-th hourly window of a bearing whose level is `ratio` times its baseline.
fn window(machine: &str, bearing: &str, number: u64, ratio: f64) -> Event {
    let mut event: Event = serde_json::from_str(HEALTHY).expect("event");
    event.equipment_id = machine.parse().expect("a name");
    event.bearing_id = bearing.parse().expect("a name");
    event.sequence = number;
    event.measured_at = event.measured_at.plus_seconds(3600.0 * number as f64);
    let salt =
        format!("{machine}/{bearing}").bytes().fold(7_u128, |sum, one| sum * 31 + u128::from(one));
    event.event_id = EventId(Uuid::from_u128((salt << 32) + u128::from(number)));
    event.anomaly_detected = ratio >= 1.3;
    event.anomaly.level_ratio = Some(ratio);
    event.time_domain.rms_g = Some(0.1 * ratio);
    event
}

/// A bearing that is healthy, then rises, and ends so.
pub(super) fn run_to_failure(machine: &str, bearing: &str) -> Vec<Event> {
    let ratio = |number: u64| if number < 100 { 1.0 } else { 1.0 + (number - 100) as f64 * 0.04 };
    (1..=200).map(|number| window(machine, bearing, number, ratio(number))).collect()
}

/// A bearing that is a little up for two days.
pub(super) fn hump(machine: &str, bearing: &str) -> Vec<Event> {
    let ratio = |number: u64| if (50..98).contains(&number) { 1.6 } else { 1.0 };
    (1..=200).map(|number| window(machine, bearing, number, ratio(number))).collect()
}

fn shipped() -> Terms {
    Terms { sides: vec![Side::shipped(None)], acknowledged_after_s: None }
}

/// Shipped against a configuration that tells of Warning and above alone.
fn against_warning() -> Terms {
    let mut other = Side::shipped(None);
    other.name = "warning.toml".to_owned();
    other.notify.from = RiskLevel::Warning;
    Terms { sides: vec![Side::shipped(None), other], acknowledged_after_s: None }
}

pub(super) fn play(terms: &Terms, events: &[Event]) -> MachinePlayed {
    let mut play = MachinePlay::new(terms, MachineKey::of(&events[0]), Vec::new());
    for event in events {
        play.event(event);
    }
    play.end()
}

fn summary(terms: &Terms, machines: &mut [MachinePlayed], truth: &Truth) -> Summary {
    let making = Making {
        sides: terms.sides.iter().map(|side| side.name.clone()).collect(),
        truth,
        horizon_days: 90.0,
        acknowledged_after_h: None,
        page_url: Some("https://pdm.example".to_owned()),
        remarks: Vec::new(),
    };
    Summary::of(machines, &making)
}

pub(super) fn truth(rows: &str) -> Truth {
    let text = format!("site,equipment,bearing,failed_at\n{rows}");
    Truth::parse(std::path::Path::new("truth.csv"), text.as_bytes()).expect("read")
}

#[test]
fn without_truth_the_report_says_that_it_cannot_say_and_never_zero() {
    let terms = shipped();
    let mut machines = [play(&terms, &hump("P-1", "DE"))];
    let summary = summary(&terms, &mut machines, &Truth::default());
    assert_eq!(summary.sides[0].episodes_told, 1);
    assert_eq!(summary.sides[0].truth, None);
    let json = summary.with_messages(&machines).expect("json");
    assert!(json["sides"][0]["truth"].is_null());
    let page = report::page(&summary, &machines, Language::En).expect("a page");
    assert!(page.contains("cannot say") && page.contains("lead times cannot be said"), "{page}");
}

#[test]
fn a_false_episode_and_a_lead_time_are_counted_where_the_truth_is_known() {
    let terms = shipped();
    let failing = run_to_failure("P-1", "DE");
    let failed_at = failing.last().expect("one").measured_at;
    let mut machines = [
        play(&terms, &failing),
        play(&terms, &hump("P-2", "DE")),
        play(&terms, &hump("P-3", "DE")),
    ];
    let truth = truth(&format!("ulsan-1,P-1,DE,{failed_at}\nulsan-1,P-2,DE,\n"));
    let summary = summary(&terms, &mut machines, &truth);
    let known = summary.sides[0].truth.as_ref().expect("two bearings are known");
    // that of P-3 is known to nobody
    assert_eq!((known.bearings, known.false_episodes), (2, 1));
    assert_eq!((known.failures, known.failures_not_told), (1, 0));
    let per_year = known.false_per_bearing_year.expect("a rate");
    assert!((per_year * known.bearing_years - 1.0).abs() < 1e-9, "{per_year}");
    let lead_h = summary.failures[0].lead_h[0].expect("told before");
    assert!((50.0..100.0).contains(&lead_h), "{lead_h}");
    let warned_h = summary.failures[0].lead_warning_h[0].expect("a Warning before");
    assert!(warned_h < lead_h, "{warned_h} {lead_h}");
}

#[test]
fn episodes_that_one_configuration_tells_alone_are_shown_with_plot_and_page() {
    let terms = against_warning();
    let mut machines =
        [play(&terms, &hump("P-2", "DE")), play(&terms, &run_to_failure("P-1", "DE"))];
    let summary = summary(&terms, &mut machines, &Truth::default());
    let kinds: Vec<_> =
        summary.differences.iter().map(|one| (one.bearing.to_string(), one.kind)).collect();
    let expected = [
        ("ulsan-1/P-1/DE".to_owned(), compare::DifferenceKind::ToldAt),
        ("ulsan-1/P-2/DE".to_owned(), compare::DifferenceKind::OnlyA),
    ];
    assert_eq!(kinds, expected);
    for language in [Language::Ko, Language::En] {
        let page = report::page(&summary, &machines, language).expect("a page");
        assert_eq!(page.matches("<svg").count(), 2);
        assert!(page.contains("pdm.example&#x2f;bearings&#x2f;ulsan-1"), "{page}");
        // a page of its own: nothing is loaded
        assert!(!page.contains("<script") && !page.contains("src="), "{page}");
    }
}

#[test]
fn equal_configurations_differ_in_nothing() {
    let terms = Terms { sides: vec![Side::shipped(None); 2], acknowledged_after_s: None };
    let mut machines = [play(&terms, &run_to_failure("P-1", "DE"))];
    let summary = summary(&terms, &mut machines, &Truth::default());
    assert_eq!(summary.differences, vec![]);
    assert_eq!(summary.sides[0].messages, summary.sides[1].messages);
}

#[test]
fn a_hole_in_the_events_is_said_and_is_no_time_of_the_bearing() {
    let terms = shipped();
    let events: Vec<Event> = hump("P-1", "DE")
        .into_iter()
        .filter(|event| !(120..180).contains(&event.sequence))
        .collect();
    let mut machines = [play(&terms, &events)];
    let summary = summary(&terms, &mut machines, &Truth::default());
    assert_eq!(summary.holes.len(), 1);
    let hours = summary.bearing_years * 365.25 * 24.0;
    assert!((hours - (199.0 - 61.0)).abs() < 1e-6, "{hours}");
    let page = report::page(&summary, &machines, Language::Ko).expect("a page");
    assert!(page.contains("빈 시간"), "{page}");
}

#[test]
fn a_bearing_that_moved_between_gateways_is_one_bearing_and_is_said() {
    let terms = shipped();
    let mut events = run_to_failure("P-1", "DE");
    let whole = play(&terms, &events);
    for (number, event) in events.iter_mut().enumerate().skip(150) {
        event.gateway_id = "gw-02".parse().expect("a name");
        event.sequence = number as u64 - 149;
    }
    let mut machines = [play(&terms, &events)];
    assert_eq!(machines[0].bearings[0].sides, whole.bearings[0].sides);
    let summary = summary(&terms, &mut machines, &Truth::default());
    let gateways: Vec<_> =
        summary.moved[0].gateways.iter().map(|(name, _)| name.to_string()).collect();
    assert_eq!(gateways, ["gw-01", "gw-02"]);
}

#[test]
fn nobody_acknowledges_unless_it_is_assumed() {
    let alone = shipped();
    let seen = Terms { acknowledged_after_s: Some(3600.0), ..shipped() };
    let repeats = |terms: &Terms| {
        let played = play(terms, &run_to_failure("P-1", "DE"));
        let messages = played.bearings[0].sides[0].messages.iter();
        messages
            .filter(|one| one.reason == pdm_shared::delivery::NotificationReason::Repeated)
            .count()
    };
    assert!(repeats(&alone) > 3, "{}", repeats(&alone));
    assert_eq!(repeats(&seen), 0);
}

#[test]
fn a_repair_that_staff_reported_ends_the_episode_as_in_service() {
    let terms = shipped();
    let mut events = run_to_failure("P-1", "DE");
    for (number, event) in events.iter_mut().enumerate().skip(170) {
        event.anomaly.baseline.state = pdm_shared::event::BaselineState::Learning;
        event.anomaly.baseline.windows = number as u64 - 170;
        (event.anomaly_detected, event.anomaly.level_ratio) = (false, None);
    }
    let closed = |reported: Vec<Reported>| {
        let mut play = MachinePlay::new(&terms, MachineKey::of(&events[0]), reported);
        for event in &events {
            play.event(event);
        }
        let played = play.end();
        let first = played.bearings[0].sides[0].episodes.first().cloned().expect("an episode");
        first.closed_at.is_some()
    };
    let repair = Reported {
        bearing: events[0].key(),
        at: events[168].measured_at,
        verdict: None,
        repaired: true,
    };
    assert!(!closed(Vec::new()), "a baseline that is learnt anew alone ends nothing");
    assert!(closed(vec![repair]));
}

#[test]
fn no_event_at_all_is_said() {
    let terms = shipped();
    let summary = summary(&terms, &mut [], &Truth::default());
    assert_eq!((summary.windows, summary.first), (0, None));
    let page = report::page(&summary, &[], Language::En).expect("a page");
    assert!(page.contains("No events"), "{page}");
}

#[test]
fn a_part_of_another_configuration_is_refused_and_a_cut_line_is_played_again() {
    let folder = tempfile::tempdir().expect("folder");
    let terms = shipped();
    let head = parts::Head::new(MachineSlice::WHOLE, "events.jsonl, 9 bytes".to_owned(), &terms);
    let (mut part, done) = parts::Part::open(folder.path(), &head).expect("a part");
    assert!(done.is_empty());
    part.add(&play(&terms, &hump("P-1", "DE"))).expect("added");
    part.add(&play(&terms, &hump("P-2", "DE"))).expect("added");
    drop(part);
    let path = folder.path().join("part-1-of-1.jsonl");
    let text = std::fs::read(&path).expect("read");
    std::fs::write(&path, &text[..text.len() - 100]).expect("cut");
    assert!(
        parts::all(folder.path()).expect_err("not finished").to_string().contains("not finished")
    );
    let (mut part, done) = parts::Part::open(folder.path(), &head).expect("goes on");
    let names: Vec<_> = done.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["ulsan-1/P-1"]);
    part.add(&play(&terms, &hump("P-2", "DE"))).expect("added");
    part.end(Vec::new()).expect("ended");
    assert_eq!(parts::all(folder.path()).expect("whole")[0].machines.len(), 2);
    let other = parts::Head::new(
        MachineSlice::WHOLE,
        "events.jsonl, 9 bytes".to_owned(),
        &against_warning(),
    );
    let told = parts::Part::open(folder.path(), &other).expect_err("foreign").to_string();
    assert!(told.contains("another configuration"), "{told}");
}

#[test]
fn rules_that_are_equal_are_judged_once_and_others_by_themselves() {
    let mut other = Side::shipped(None);
    let mut rules = Rules::default();
    rules.risk.downgrade_after += 3;
    other.rules = rules;
    let terms =
        Terms { sides: vec![Side::shipped(None), other.clone()], acknowledged_after_s: None };
    let both = play(&terms, &hump("P-1", "DE"));
    for (place, side) in [Side::shipped(None), other].into_iter().enumerate() {
        let alone = Terms { sides: vec![side], acknowledged_after_s: None };
        let alone = play(&alone, &hump("P-1", "DE"));
        assert_eq!(both.bearings[0].sides[place], alone.bearings[0].sides[0]);
    }
}
