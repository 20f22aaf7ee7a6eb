//! Claims about the order of events: what is read, what is refused with line and event, what a sort
//! mends.

use std::io::Cursor;

use pdm_shared::event::Event;
use pdm_shared::id::{Epoch, EventId};
use proptest::prelude::*;
use uuid::Uuid;

use super::{Demands, EventLines, SliceEnd, Turns, sorted};

const EXAMPLE: &str = include_str!("../../../../config/examples/event.json");
const ONE_RUN: Demands = Demands { turns: Turns::OneRun, end_record: false, can_sort: true };
const IN_TURN: Demands = Demands { turns: Turns::Interleaved, ..ONE_RUN };
const SLICE: Demands = Demands { end_record: true, ..ONE_RUN };

/// The n-th event of a bearing, ten minutes after the one before.
fn event(bearing: &str, number: u64) -> Event {
    let mut event: Event = serde_json::from_str(EXAMPLE).expect("the example");
    event.bearing_id = bearing.parse().expect("a name");
    event.sequence = number;
    event.epoch = Some(Epoch(Uuid::from_u128(1)));
    event.measured_at = event.measured_at.plus_seconds(600.0 * number as f64);
    let salt = bearing.bytes().map(u128::from).sum::<u128>() << 64;
    event.event_id = EventId(Uuid::from_u128(salt + u128::from(number)));
    event
}

fn run(bearing: &str, numbers: impl IntoIterator<Item = u64>) -> Vec<Event> {
    numbers.into_iter().map(|number| event(bearing, number)).collect()
}

fn text(events: &[Event]) -> String {
    let line = |event| serde_json::to_string(event).expect("json") + "\n";
    events.iter().map(line).collect()
}

fn lines(text: String, demands: Demands) -> EventLines {
    EventLines::new(Box::new(Cursor::new(text)), "events.jsonl".to_owned(), demands)
}

/// Returns the events that were read, with the remarks, or the error.
fn read(text: String, demands: Demands) -> Result<(Vec<Event>, Vec<String>), String> {
    let mut lines = lines(text, demands);
    let (mut events, mut remarks) = (Vec::new(), Vec::new());
    while let Some(event) = lines.next_event().map_err(|failure| failure.to_string())? {
        events.push(event);
        remarks.append(&mut lines.take_remarks());
    }
    Ok((events, remarks))
}

fn refused(events: &[Event], demands: Demands) -> String {
    read(text(events), demands).expect_err("a refusal")
}

#[test]
fn events_in_order_are_read_whole() {
    let mut events = run("DE", 1..=5);
    events.extend(run("NDE", [2, 9, 40]));
    assert_eq!(read(text(&events), ONE_RUN), Ok((events, vec![])));
}

#[test]
fn a_reversed_file_is_refused_with_line_and_event() {
    let told = refused(&run("DE", (1..=5).rev()), ONE_RUN);
    assert!(told.starts_with("events.jsonl, line 2: event "), "{told}");
    assert!(told.contains("(sequence 4, ") && told.contains("(line 1: sequence 5"), "{told}");
    assert!(
        told.contains("steps back") && told.ends_with("--sort puts the events in order"),
        "{told}"
    );
}

#[test]
fn an_event_twice_is_refused_also_under_another_identity() {
    let mut again = run("DE", [1, 2, 2]);
    assert!(refused(&again, ONE_RUN).contains("line 3: event"), "{}", refused(&again, ONE_RUN));
    assert!(refused(&again, ONE_RUN).contains("repeats line 2"));
    again[2].event_id = EventId(Uuid::from_u128(77));
    assert!(refused(&again, ONE_RUN).contains("repeats line 2"));
}

#[test]
fn bearings_in_turn_are_refused_unless_asked_for() {
    let events = [run("DE", [1]), run("NDE", [2]), run("DE", [3])].concat();
    let told = refused(&events, ONE_RUN);
    assert!(told.contains("line 3") && told.contains("--interleaved"), "{told}");
    assert_eq!(read(text(&events), IN_TURN), Ok((events, vec![])));
}

#[test]
fn a_clock_that_was_set_back_is_no_disorder_and_is_said() {
    let mut events = run("DE", 1..=4);
    events[2].measured_at = events[0].measured_at;
    let (read_back, remarks) = read(text(&events), ONE_RUN).expect("read");
    assert_eq!(read_back, events);
    assert_eq!(remarks.len(), 1, "{remarks:?}");
    assert!(remarks[0].contains("600.000 s before") && remarks[0].contains("clock was set back"));
}

/// Two sensors of a bearing: their windows begin in either order, and no clock was set.
#[test]
fn two_measuring_points_in_turn_are_no_clock_that_was_set() {
    let mut events = run("DE", 1..=6);
    for (place, event) in events.iter_mut().enumerate() {
        let point = if place % 2 == 0 { "DE-H" } else { "DE-V" };
        event.measuring_point = Some(point.parse().expect("a name"));
        if place % 2 == 1 {
            event.measured_at = event.measured_at.plus_seconds(-601.0);
        }
    }
    assert_eq!(read(text(&events), ONE_RUN), Ok((events, vec![])));
}

#[test]
fn a_count_that_began_anew_goes_on_and_one_that_had_ended_does_not() {
    let mut events = run("DE", 1..=4);
    let second = Some(Epoch(Uuid::from_u128(2)));
    events[2].epoch = second;
    events[2].sequence = 1;
    let told = refused(&events, ONE_RUN);
    assert!(told.contains("line 4") && told.contains("another one had ended"), "{told}");
    events[3].epoch = second;
    assert!(read(text(&events), ONE_RUN).is_ok());
    events[2].measured_at = events[0].measured_at;
    assert!(refused(&events, ONE_RUN).contains("measured before the last one of another count"));
}

#[test]
fn recordings_without_a_count_are_ordered_by_their_time() {
    let mut events = run("DE", 1..=3);
    for event in &mut events {
        (event.epoch, event.sequence) = (None, 1);
    }
    assert!(read(text(&events), ONE_RUN).is_ok());
    events.reverse();
    assert!(refused(&events, ONE_RUN).contains("line 2"));
}

#[test]
fn a_slice_is_whole_only_with_its_last_record() {
    let events = run("DE", 1..=3);
    let end = |events, bearings| {
        serde_json::to_string(&SliceEnd::new(events, bearings)).expect("json") + "\n"
    };
    assert!(read(text(&events) + &end(3, 1), SLICE).is_ok());
    let cut = refused(&events, SLICE);
    assert!(cut.contains("it was cut after 3 events"), "{cut}");
    let short = read(text(&events[..2]) + &end(3, 1), SLICE).expect_err("a refusal");
    assert!(short.contains("counts 3 events of 1 bearings, read were 2 of 1"), "{short}");
    let late = read(text(&events[..2]) + &end(2, 1) + &text(&events[2..]), SLICE);
    assert!(late.expect_err("a refusal").contains("the slice ended on line 3"));
}

#[test]
fn a_line_that_was_cut_or_is_too_long_is_refused_by_its_number() {
    let whole = text(&run("DE", 1..=2));
    let cut = read(whole[..whole.len() - 40].to_owned(), ONE_RUN).expect_err("a refusal");
    assert!(cut.starts_with("events.jsonl, line 2: not an event"), "{cut}");
    let long = " ".repeat(pdm_shared::bounds::MAX_EVENT_BYTES + 2);
    let long = read(whole + &long, ONE_RUN).expect_err("a refusal");
    assert!(long.starts_with("events.jsonl, line 3: more than the"), "{long}");
}

#[test]
fn a_sort_beyond_its_memory_is_refused() {
    let mut many = lines(text(&run("DE", 1..=50)), ONE_RUN);
    let told = sorted(&mut many, 4_000).err().expect("a refusal").to_string();
    assert!(told.contains("--sort-memory"), "{told}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Lines out of order are refused, and a sort restores the order.
    #[test]
    fn a_sort_mends_each_disorder(
        shuffled in Just((0_usize..24).collect::<Vec<_>>()).prop_shuffle(),
                                  twice in 0_usize..24) {
        let mut events = run("DE", 1..=12);
        events.extend(run("NDE", 13..=24));
        // the clock is set back in the middle: the numbers keep the order
        events[6].measured_at = events[1].measured_at;
        let mut mixed: Vec<Event> = shuffled.iter().map(|&place| events[place].clone()).collect();
        mixed.push(events[twice].clone());
        prop_assert!(read(text(&mixed), ONE_RUN).is_err());
        let mended = sorted(&mut lines(text(&mixed), ONE_RUN), 1 << 30).expect("sorted");
        prop_assert_eq!(mended.events, events);
        prop_assert_eq!(mended.repeated, 1);
    }
}
