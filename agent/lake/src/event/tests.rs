//! An event is put together as it was taken apart, whatever a newer gateway adds.

use pdm_shared::event::Event;
use serde_json::json;

use super::*;
use crate::table::{EVENT_COLUMNS, SPECTRA_COLUMNS};

/// Events of a simulated run, an outer race and a healthy bearing, with and without spectra.
const EVENTS: &str = include_str!("../../tests/data/events.jsonl");

fn without_nothing(mut json: Json) -> Json {
    clean(&mut json);
    json
}

#[test]
fn each_event_is_put_together_as_it_was_taken_apart() {
    for line in EVENTS.lines() {
        let mut event: Json = serde_json::from_str(line).expect("JSON");
        let typed: Event = serde_json::from_str(line).expect("an event");
        let spectra = event.get_mut("spectra").map(Json::take);
        let apart = cells(EVENT_COLUMNS, event.clone());
        let mut together = event_of(EVENT_COLUMNS, &apart).expect("readable");
        assert_eq!(without_nothing(together.clone()), without_nothing(event));
        together["spectra"] = spectra.unwrap_or_default();
        let again: Event = serde_json::from_value(together).expect("an event");
        assert_eq!(again, typed);
    }
}

#[test]
fn spectra_have_columns_of_their_own() {
    let line = EVENTS.lines().find(|line| line.contains("\"df_hz\"")).expect("one with spectra");
    let event: Json = serde_json::from_str(line).expect("JSON");
    let only =
        json!({"site": event["site"], "event_id": event["event_id"], "spectra": event["spectra"]});
    let apart = cells(SPECTRA_COLUMNS, only.clone());
    assert_eq!(event_of(SPECTRA_COLUMNS, &apart).expect("readable"), only);
    assert_eq!(apart.last(), Some(&Value::Null), "nothing is left for rest");
}

/// Fields of a newer gateway, values of another type and an instant finer than the column.
#[test]
fn what_fits_no_column_stays_in_rest() {
    let line = EVENTS.lines().next().expect("one");
    let mut event: Json = serde_json::from_str(line).expect("JSON");
    event["humidity_percent"] = json!(41.5);
    event["time_domain"]["octave_bands_g"] = json!([0.1, null, 0.3]);
    event["frequency_domain"]["bpfo"]["harmonics"] = json!([{"n": 1, "frequency_hz": 87.5, "snr_db": 9.25, "phase_deg": 12.0},
            {"n": 2, "frequency_hz": 175.0}]);
    event["measured_at"] = json!("2026-01-01T00:00:00.123456789Z");
    event["sequence"] = json!(18_446_744_073_709_551_615_u64);
    event["rul"] = json!("none");
    let apart = cells(EVENT_COLUMNS, event.clone());
    let together = event_of(EVENT_COLUMNS, &apart).expect("readable");
    assert_eq!(without_nothing(together), without_nothing(event));
    let Some(Value::Text(rest)) = apart.last() else { panic!("something is left") };
    for left in
        ["humidity_percent", "octave_bands_g", "phase_deg", "123456789", "18446744073709551615"]
    {
        assert!(rest.contains(left), "{left}: {rest}");
    }
}
