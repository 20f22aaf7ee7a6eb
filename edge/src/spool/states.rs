//! The retained state of each bearing: that of the measuring point that is worst.
//!
//! A bearing with sensors in several directions has an event of each in every window. The state of
//! the one measured last says nothing of the one that shows the fault. So the last state of every
//! point is remembered, and the worst of them is written. Invariant: a point that is no longer
//! measured leaves the choice after a while ([`STALE_EVENTS`] and [`STALE_S`]).

use std::cmp::Ordering;
use std::collections::BTreeMap;

use pdm_shared::delivery::State;
use pdm_shared::event::Event;
use serde::{Deserialize, Serialize};
use sqlx::{Sqlite, Transaction};

/// A point is no longer measured if, since the point's last event, the bearing had this many events
/// for each of its points, and [`STALE_S`] has passed. No data chose them: eight misses are no
/// accident, and a point that is measured once a day still counts.
const STALE_EVENTS: u64 = 8;
const STALE_S: f64 = 25.0 * 3600.0;

/// The last state of a measuring point.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct PointState {
    state: State,
    /// Events of the bearing since the point's last one.
    #[serde(default)]
    events_since: u64,
}

/// Takes the events into the states of their bearings.
pub(super) async fn remember(
    tx: &mut Transaction<'_, Sqlite>,
    events: &[Event],
) -> Result<(), sqlx::Error> {
    let mut of_bearing: BTreeMap<_, Vec<&Event>> = BTreeMap::new();
    for event in events {
        let key = (&event.site, &event.equipment_id, &event.bearing_id);
        of_bearing.entry(key).or_default().push(event);
    }
    for ((site, equipment, bearing), events) in of_bearing {
        let key = format!("state/{}/{}/{}", site.as_str(), equipment.as_str(), bearing.as_str());
        let remembered: Option<Vec<u8>> =
            sqlx::query_scalar("SELECT value FROM memory WHERE key = ?")
                .bind(&key)
                .fetch_optional(&mut **tx)
                .await?;
        // points whose states cannot be decoded begin anew with their next event
        let mut points: Vec<PointState> =
            remembered.and_then(|json| serde_json::from_slice(&json).ok()).unwrap_or_default();
        for event in &events {
            follow(&mut points, event);
        }
        let Some(worst) = points.iter().map(|point| &point.state).max_by(|a, b| badness(a, b))
        else {
            continue;
        };
        let sequence = events.iter().map(|event| event.sequence).max().unwrap_or(0);
        let encode = |error| sqlx::Error::Encode(Box::new(error));
        sqlx::query(
            "INSERT OR REPLACE INTO bearing_state (site, equipment, bearing, sequence, payload)
             VALUES (?, ?, ?, ?, ?)",
        )
        .bind(site.as_str())
        .bind(equipment.as_str())
        .bind(bearing.as_str())
        .bind(sequence.cast_signed())
        .bind(serde_json::to_vec(worst).map_err(encode)?)
        .execute(&mut **tx)
        .await?;
        // the only point of a bearing needs no name, and no memory
        if points.iter().any(|point| point.state.measuring_point.is_some()) {
            sqlx::query("INSERT OR REPLACE INTO memory (key, value) VALUES (?, ?)")
                .bind(&key)
                .bind(serde_json::to_vec(&points).map_err(encode)?)
                .execute(&mut **tx)
                .await?;
        }
    }
    Ok(())
}

/// Takes an event into the states of its bearing's points.
fn follow(points: &mut Vec<PointState>, event: &Event) {
    for point in points.iter_mut() {
        point.events_since += 1;
    }
    points.retain(|point| point.state.measuring_point != event.measuring_point);
    points.push(PointState { state: State::from(event), events_since: 0 });
    let most = STALE_EVENTS * points.len() as u64;
    points.retain(|point| {
        let age_s = event.measured_at.seconds_since(point.state.measured_at);
        point.events_since <= most || age_s.abs() <= STALE_S
    });
}

/// Compares two states of a bearing by how bad they are. A point that can be judged comes before
/// one that cannot; of equally bad ones the later counts.
fn badness(a: &State, b: &State) -> Ordering {
    let number = |value: Option<f64>| value.unwrap_or(f64::NEG_INFINITY);
    let judged = |state: &State| state.signal_valid && state.running;
    judged(a)
        .cmp(&judged(b))
        .then_with(|| a.anomaly_detected.cmp(&b.anomaly_detected))
        .then_with(|| a.iso_zone.cmp(&b.iso_zone))
        .then_with(|| a.dominant_fault.is_some().cmp(&b.dominant_fault.is_some()))
        .then_with(|| a.confidence.total_cmp(&b.confidence))
        .then_with(|| number(a.anomaly_score).total_cmp(&number(b.anomaly_score)))
        .then_with(|| number(a.rms_g).total_cmp(&number(b.rms_g)))
        .then_with(|| a.sequence.cmp(&b.sequence))
}

#[cfg(test)]
mod tests {
    use pdm_shared::fault::Fault;

    use super::*;

    fn event(point: &str, sequence: u64) -> Event {
        let text = include_str!("../../../config/examples/event-healthy.json");
        let mut event: Event = serde_json::from_str(text).expect("the example");
        event.measuring_point = Some(point.parse().expect("a name"));
        event.sequence = sequence;
        event
    }

    fn worst(points: &[PointState]) -> &State {
        points.iter().map(|point| &point.state).max_by(|a, b| badness(a, b)).expect("a point")
    }

    /// Of three axes one shows the fault; the one measured last does not hide it.
    #[test]
    fn the_state_is_that_of_the_axis_with_the_fault() {
        let mut points = Vec::new();
        for window in 0..3 {
            for (axis, name) in ["DE-X", "DE-Y", "DE-Z"].into_iter().enumerate() {
                let mut event = event(name, window * 3 + axis as u64 + 1);
                if name == "DE-X" {
                    event.frequency_domain.dominant_fault = Some(Fault::OuterRace);
                    event.frequency_domain.confidence = 0.99;
                }
                follow(&mut points, &event);
            }
        }
        assert_eq!(points.len(), 3);
        let worst = worst(&points);
        assert_eq!(worst.dominant_fault, Some(Fault::OuterRace));
        assert_eq!(
            worst.measuring_point.as_ref().map(ToString::to_string).as_deref(),
            Some("DE-X")
        );
        assert_eq!(worst.sequence, 7, "its last window");
    }

    #[test]
    fn a_point_that_is_no_longer_measured_leaves_the_choice() {
        let mut points = Vec::new();
        let mut bad = event("DE-X", 1);
        bad.anomaly_detected = true;
        follow(&mut points, &bad);
        for sequence in 2..40 {
            let mut event = event("DE-Y", sequence);
            event.measured_at = event.measured_at.plus_seconds(3600.0 * sequence as f64);
            follow(&mut points, &event);
        }
        assert_eq!(points.len(), 1);
        assert!(!worst(&points).anomaly_detected);
    }

    #[test]
    fn a_failed_sensor_does_not_stand_for_the_bearing_while_another_can_be_judged() {
        let mut points = Vec::new();
        follow(&mut points, &event("DE-X", 1));
        let mut failed = event("DE-Y", 2);
        failed.signal_quality.valid = false;
        failed.time_domain.rms_g = Some(50.0);
        follow(&mut points, &failed);
        assert!(worst(&points).signal_valid);
    }
}
