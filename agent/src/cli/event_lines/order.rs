//! Checks whether the events of each bearing come in their order, each once.
//!
//! The gateway's count decides, not the clock: a sequence number that rises while the time steps
//! back is a clock that was set, a number that steps back is disorder. Times are compared at one
//! measuring point, since the windows of two points of a bearing may begin in either order.

use std::collections::{BTreeMap, BTreeSet};

use pdm_shared::event::Event;
use pdm_shared::id::{BearingKey, Epoch, EventId, GatewayId, MeasuringPoint};
use pdm_shared::time::Timestamp;

/// Whether the events of several bearings may come in turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Turns {
    /// Each bearing comes in one run (`pdm.slice/1`).
    OneRun,
    /// A gateway's log: bearings in turn.
    Interleaved,
}

/// The order that a reader requires of its lines.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) struct Demands {
    /// Whether bearings may come in turn.
    pub(in crate::cli) turns: Turns,
    /// Whether the last record of a slice must be there.
    pub(in crate::cli) end_record: bool,
    /// Whether the command has `--sort`, which an error then names.
    pub(in crate::cli) can_sort: bool,
}

/// How an event follows the one before.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Run {
    GoesOn,
    /// The gateway's clock was set back between the two; what to say of it.
    ClockSetBack(String),
}

/// A count of sequence numbers: a gateway's, from one start of the count to the next.
type Count = (GatewayId, Option<Epoch>);

/// The last event of a bearing.
#[derive(Debug)]
struct Last {
    event_id: EventId,
    count: Count,
    sequence: u64,
    /// The last time of each measuring point; within a count without identity the latest.
    measured_at: BTreeMap<Option<MeasuringPoint>, Timestamp>,
    line: u64,
    /// Counts that ended before this one.
    ended: Vec<Count>,
}

/// The last events that were read of each bearing.
#[derive(Debug)]
pub(super) struct Order {
    demands: Demands,
    bearings: BTreeMap<BearingKey, Last>,
    current: Option<BearingKey>,
    events: u64,
    /// Bearings of lines that are read elsewhere.
    counted: BTreeSet<(String, String, String)>,
    last_counted: Option<(String, String, String)>,
}

impl Order {
    pub(super) const fn new(demands: Demands) -> Self {
        Self {
            demands,
            bearings: BTreeMap::new(),
            current: None,
            events: 0,
            counted: BTreeSet::new(),
            last_counted: None,
        }
    }

    pub(super) const fn events(&self) -> u64 {
        self.events
    }

    pub(super) fn bearings(&self) -> u64 {
        (self.bearings.len() + self.counted.len()) as u64
    }

    /// Counts a line that is read elsewhere.
    pub(super) fn count(&mut self, site: &str, equipment: &str, bearing: &str) {
        self.events += 1;
        let is_last = self.counted_last(site, equipment, bearing);
        if !is_last {
            let name = (site.to_owned(), equipment.to_owned(), bearing.to_owned());
            self.last_counted = Some(name.clone());
            self.counted.insert(name);
        }
    }

    fn counted_last(&self, site: &str, equipment: &str, bearing: &str) -> bool {
        let last = self.last_counted.as_ref();
        last.is_some_and(|(s, e, b)| s == site && e == equipment && b == bearing)
    }

    /// Takes the event of a line.
    ///
    /// # Errors
    /// A description of the wrong place, and of the option that decides.
    pub(super) fn take(&mut self, event: &Event, line: u64) -> Result<Run, String> {
        let key = event.key();
        let sort = if self.demands.can_sort { "; --sort puts the events in order" } else { "" };
        let run = match self.bearings.get(&key) {
            Some(last) => follows(last, event, sort)?,
            None => Run::GoesOn,
        };
        let is_new_run = self.current.as_ref() != Some(&key);
        if is_new_run
            && self.demands.turns == Turns::OneRun
            && let Some(last) = self.bearings.get(&key)
        {
            return Err(format!(
                "{} of {key} comes after events of other bearings (its last one is on line {}), \
                 and each bearing must come in one run; --interleaved takes bearings in \
                 turn{sort}",
                name(event),
                last.line
            ));
        }
        self.note(key, event, line);
        Ok(run)
    }

    fn note(&mut self, key: BearingKey, event: &Event, line: u64) {
        self.events += 1;
        let count = (event.gateway_id.clone(), event.epoch);
        let (mut ended, mut measured_at) = (Vec::new(), BTreeMap::new());
        let mut at = event.measured_at;
        if let Some(last) = self.bearings.remove(&key) {
            (ended, measured_at) = (last.ended, last.measured_at);
            if last.count != count {
                ended.push(last.count);
            } else if event.epoch.is_none() {
                // without an identity of the count the time decides: the latest is kept
                at = measured_at
                    .get(&event.measuring_point)
                    .copied()
                    .map_or(at, |last| at.max(last));
            }
        }
        measured_at.insert(event.measuring_point.clone(), at);
        let (event_id, sequence) = (event.event_id, event.sequence);
        let last = Last { event_id, count, sequence, measured_at, line, ended };
        self.bearings.insert(key.clone(), last);
        self.current = Some(key);
    }
}

/// Returns how an event follows its bearing's last one.
fn follows(last: &Last, event: &Event, sort: &str) -> Result<Run, String> {
    let count = (event.gateway_id.clone(), event.epoch);
    let is_same_count = last.count == count;
    let before = last.measured_at.get(&event.measuring_point).copied();
    let is_earlier = before.is_some_and(|before| event.measured_at < before);
    let back = |what: &str| {
        Err(format!(
            "{} of {} {what} (line {}: sequence {}){sort}",
            name(event),
            event.key(),
            last.line,
            last.sequence
        ))
    };
    let is_same_number = is_same_count && event.sequence == last.sequence;
    let may_begin_anew =
        event.epoch.is_none() && before.is_none_or(|before| event.measured_at > before);
    if event.event_id == last.event_id || is_same_number && !may_begin_anew {
        return Err(format!("{} of {} repeats line {}", name(event), event.key(), last.line));
    }
    if !is_same_count {
        return if last.ended.contains(&count) {
            back("goes on with a count that another one had ended")
        } else if is_earlier {
            back("was measured before the last one of another count")
        } else {
            Ok(Run::GoesOn)
        };
    }
    if event.sequence > last.sequence {
        let Some(before) = before.filter(|_| is_earlier) else { return Ok(Run::GoesOn) };
        return Ok(Run::ClockSetBack(format!(
            "{} of {} was measured {:.3} s before the last one of its measuring point, which has a \
             lower number: the gateway's clock was set back; the events stay in the order of their \
             numbers",
            name(event),
            event.key(),
            before.seconds_since(event.measured_at)
        )));
    }
    // a recording measured by itself, or a gateway of an earlier version that began its count anew
    if may_begin_anew {
        return Ok(Run::GoesOn);
    }
    back("steps back behind the last one")
}

fn name(event: &Event) -> String {
    format!(
        "event {} (sequence {}, measured {})",
        event.event_id, event.sequence, event.measured_at
    )
}
