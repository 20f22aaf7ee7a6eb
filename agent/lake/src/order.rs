//! Whether lines of events are what `pdm.slice/1` (docs/slice.md) promises, and events in the order
//! that it asks for.
//!
//! The rules are those of the readers of `pdm-agent`: the gateway's count decides within one count,
//! the time between counts and where a count has no identity.

use std::collections::{BTreeMap, HashMap, HashSet};

use pdm_shared::event::Event;
use pdm_shared::id::{BearingKey, Epoch, EventId, GatewayId, MeasuringPoint};
use pdm_shared::time::Timestamp;
use serde::{Deserialize, Serialize};

/// The value of `schema` of the last record of a slice.
pub const SLICE_END_SCHEMA: &str = "pdm.slice-end/1";

/// The last record of a slice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SliceEnd {
    /// Always [`SLICE_END_SCHEMA`].
    pub schema: String,
    /// Events before this record.
    pub events: u64,
    /// Bearings of these events.
    pub bearings: u64,
}

impl SliceEnd {
    /// The last record behind so many events.
    pub fn new(events: u64, bearings: u64) -> Self {
        Self { schema: SLICE_END_SCHEMA.to_owned(), events, bearings }
    }
}

/// A count of sequence numbers.
type Count = (GatewayId, Option<Epoch>);

#[derive(Debug)]
struct Last {
    count: Count,
    sequence: u64,
    at: BTreeMap<Option<MeasuringPoint>, Timestamp>,
    line: u64,
    ended: HashSet<Count>,
}

/// What was read so far.
#[derive(Debug, Default)]
pub struct Order {
    interleaved: bool,
    bearings: HashMap<BearingKey, Last>,
    current: Option<BearingKey>,
    seen: HashMap<EventId, u64>,
    /// Number of events.
    pub events: u64,
}

impl Order {
    /// Lines of which bearings may come in turn, or not.
    pub fn new(interleaved: bool) -> Self {
        Self { interleaved, ..Self::default() }
    }

    /// Number of bearings.
    pub fn bearings(&self) -> u64 {
        self.bearings.len() as u64
    }

    /// Takes the event of a line.
    ///
    /// # Errors
    /// What is wrong with its place.
    pub fn take(&mut self, event: &Event, line: u64) -> Result<(), String> {
        let key = event.key();
        if let Some(first) = self.seen.insert(event.event_id, line) {
            return Err(format!("{} of {key} repeats line {first}", name(event)));
        }
        if !self.interleaved
            && self.current.as_ref() != Some(&key)
            && let Some(last) = self.bearings.get(&key)
        {
            return Err(format!(
                "{} of {key} comes after events of other bearings (its last one is on line {}), \
                 and each bearing must come in one run; --interleaved takes bearings in turn",
                name(event),
                last.line
            ));
        }
        if let Some(last) = self.bearings.get(&key) {
            follows(last, event)?;
        }
        self.note(key, event, line);
        Ok(())
    }

    fn note(&mut self, key: BearingKey, event: &Event, line: u64) {
        self.events += 1;
        let count = (event.gateway_id.clone(), event.epoch);
        let last = self.bearings.entry(key.clone()).or_insert_with(|| Last {
            count: count.clone(),
            sequence: event.sequence,
            at: BTreeMap::new(),
            line,
            ended: HashSet::new(),
        });
        if last.count != count {
            let before = std::mem::replace(&mut last.count, count);
            last.ended.insert(before);
            last.at.clear();
        }
        (last.sequence, last.line) = (event.sequence, line);
        last.at.insert(event.measuring_point.clone(), event.measured_at);
        self.current = Some(key);
    }
}

fn follows(last: &Last, event: &Event) -> Result<(), String> {
    let count = (event.gateway_id.clone(), event.epoch);
    let before = last.at.get(&event.measuring_point);
    let is_later = before.is_none_or(|before| event.measured_at > *before);
    let is_right = if last.count == count {
        event.sequence > last.sequence || event.epoch.is_none() && is_later
    } else {
        !last.ended.contains(&count) && before.is_none_or(|before| event.measured_at >= *before)
    };
    if is_right {
        return Ok(());
    }
    Err(format!(
        "{} of {} steps back behind the last one (line {}: sequence {})",
        name(event),
        event.key(),
        last.line,
        last.sequence
    ))
}

fn name(event: &Event) -> String {
    format!(
        "event {} (sequence {}, measured {})",
        event.event_id, event.sequence, event.measured_at
    )
}

/// An event of which only the place in the order is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// Gateway and count.
    pub count: (String, Option<String>),
    /// Number in the count.
    pub sequence: i64,
    /// Microseconds since 1970.
    pub at: i64,
    /// The event.
    pub text: String,
}

/// The events of one bearing in the order of `pdm.slice/1`: count by count as they began; within a
/// count by number, without an identity of the count by time, then by number.
pub fn in_order(events: Vec<Placed>) -> Vec<Placed> {
    let mut counts: BTreeMap<(String, Option<String>), Vec<Placed>> = BTreeMap::new();
    for event in events {
        counts.entry(event.count.clone()).or_default().push(event);
    }
    let mut runs: Vec<(i64, Vec<Placed>)> = Vec::new();
    for ((_, epoch), mut events) in counts {
        if epoch.is_some() {
            events.sort_by_key(|event| event.sequence);
        } else {
            events.sort_by_key(|event| (event.at, event.sequence));
        }
        let began = events.iter().map(|event| event.at).min();
        runs.extend(began.map(|began| (began, events)));
    }
    runs.sort_by_key(|(began, _)| *began);
    runs.into_iter().flat_map(|(_, events)| events).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events() -> Vec<Event> {
        let lines = include_str!("../tests/data/events.jsonl").lines();
        lines.map(|line| serde_json::from_str(line).expect("an event")).collect()
    }

    fn read(events: &[Event], interleaved: bool) -> Result<(u64, u64), String> {
        let mut order = Order::new(interleaved);
        for (line, event) in (1..).zip(events) {
            order.take(event, line)?;
        }
        Ok((order.events, order.bearings()))
    }

    #[test]
    fn an_event_in_the_wrong_place_is_named() {
        let right = events();
        assert_eq!(read(&right, false), Ok((right.len() as u64, 2)));
        let reversed: Vec<Event> = right.iter().rev().cloned().collect();
        assert!(read(&reversed, false).expect_err("refused").contains("steps back"));
        let mut doubled = right.clone();
        doubled.insert(2, right[1].clone());
        let told = read(&doubled, false).expect_err("refused");
        assert!(told.contains(&right[1].event_id.to_string()) && told.contains("repeats line 2"));
        let half = right.len() / 2;
        let mut turns = Vec::new();
        for place in 0..half {
            turns.extend([right[place].clone(), right[half + place].clone()]);
        }
        assert!(read(&turns, false).expect_err("refused").contains("--interleaved"));
        assert_eq!(read(&turns, true), Ok((right.len() as u64, 2)));
    }

    #[test]
    fn a_clock_that_was_set_back_does_not_change_the_order_of_a_count() {
        let placed = |epoch: Option<&str>, sequence, at| Placed {
            count: ("g".to_owned(), epoch.map(str::to_owned)),
            sequence,
            at,
            text: String::new(),
        };
        let order = |events: Vec<Placed>| -> Vec<i64> {
            in_order(events).iter().map(|event| event.sequence).collect()
        };
        let set_back =
            vec![placed(Some("a"), 3, 50), placed(Some("a"), 1, 10), placed(Some("a"), 2, 60)];
        assert_eq!(order(set_back), [1, 2, 3]);
        let by_time = vec![placed(None, 1, 60), placed(None, 2, 10)];
        assert_eq!(order(by_time), [2, 1], "a count without identity goes by time");
        let anew =
            vec![placed(Some("b"), 1, 100), placed(Some("a"), 9, 20), placed(Some("a"), 8, 10)];
        assert_eq!(order(anew), [8, 9, 1]);
    }
}
