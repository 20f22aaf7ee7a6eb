//! `--sort`: reads all events and puts each bearing's in order, within a bound of memory.
//!
//! Invariant: an event is left out only where another one has the same identity, and how many were
//! left out is said.

use std::collections::{BTreeMap, BTreeSet};

use pdm_service::exit::{Exit, Failure};
use pdm_shared::event::Event;
use pdm_shared::id::{BearingKey, Epoch, GatewayId};
use pdm_shared::time::Timestamp;

use super::{EventLines, Line, SliceEnd, line};

/// Events of one count of one bearing, by number and time.
type OfCount = Vec<Event>;

/// Events in order, and how many lines repeated one.
pub(in crate::cli) struct Sorted {
    pub(in crate::cli) events: Vec<Event>,
    pub(in crate::cli) repeated: u64,
}

/// Reads everything that is left and sorts it: by bearing, then by the start of each count, then by
/// sequence number; without an identity of the count by time, then by number.
///
/// # Errors
/// A [`Failure`] (65) where a line is no event, or with more than `most_bytes` of lines.
pub(in crate::cli) fn sorted(lines: &mut EventLines, most_bytes: u64) -> Result<Sorted, Failure> {
    let mut seen = BTreeSet::new();
    let mut bearings: BTreeMap<BearingKey, BTreeMap<(GatewayId, Option<Epoch>), OfCount>> =
        BTreeMap::new();
    let (mut bytes, mut repeated, mut events) = (0, 0, 0);
    let mut end: Option<SliceEnd> = None;
    while let Some(text) = lines.next_text()? {
        bytes += text.len() as u64;
        if bytes > most_bytes {
            let told = format!(
                "more than {} MiB of events: sort them before, by site, machine, bearing and \
                 sequence, or raise --sort-memory",
                most_bytes >> 20
            );
            return Err(Failure::new(Exit::BadInput, anyhow::anyhow!(told)));
        }
        match line(&text).map_err(|told| lines.wrong(&told))? {
            Line::Event(event) => {
                events += 1;
                if !seen.insert(event.event_id) {
                    repeated += 1;
                    continue;
                }
                let count = (event.gateway_id.clone(), event.epoch);
                bearings.entry(event.key()).or_default().entry(count).or_default().push(*event);
            }
            Line::End(read) => end = Some(read),
        }
    }
    check_end(lines, end.as_ref(), events, bearings.len() as u64)?;
    let events = bearings.into_values().flat_map(in_order).collect();
    Ok(Sorted { events, repeated })
}

/// A last record counts lines, wherever it stands.
fn check_end(
    lines: &EventLines,
    end: Option<&SliceEnd>,
    events: u64,
    bearings: u64,
) -> Result<(), Failure> {
    match end {
        Some(end) if (end.events, end.bearings) != (events, bearings) => {
            Err(lines.wrong(&format!(
                "the slice's last record counts {} events of {} bearings, read were {events} of \
                 {bearings}",
                end.events, end.bearings
            )))
        }
        None if lines.needs_end => Err(lines.wrong("the slice has no last record: it was cut")),
        _ => Ok(()),
    }
}

/// The counts of one bearing, one after the other.
fn in_order(counts: BTreeMap<(GatewayId, Option<Epoch>), OfCount>) -> Vec<Event> {
    let mut runs: Vec<(Timestamp, OfCount)> = Vec::new();
    for ((_, epoch), mut events) in counts {
        if epoch.is_some() {
            events.sort_by_key(|event| event.sequence);
        } else {
            events.sort_by_key(|event| (event.measured_at, event.sequence));
        }
        let began = events.iter().map(|event| event.measured_at).min();
        runs.extend(began.map(|began| (began, events)));
    }
    runs.sort_by_key(|(began, _)| *began);
    runs.into_iter().flat_map(|(_, events)| events).collect()
}
