//! Events of a file or of standard input, dispatched by machine.

use std::collections::BTreeSet;
use std::path::Path;

use pdm_service::exit::Failure;
use pdm_shared::event::Event;

use super::progress::Progress;
use super::workers::{BATCH, Choice, Crew, Desk, EventReading, Work};
use super::{InputArgs, Played};
use crate::cli::event_lines::{self, Demands, Dispatched, EventLines, Turns};

/// Plays the lines of a file.
///
/// # Errors
/// A [`Failure`] (65) with line and event, or one of the part.
pub(super) fn play(
    args: &InputArgs,
    path: &Path,
    crew: Crew<'_>,
    choice: &Choice,
) -> anyhow::Result<Played> {
    let turns = if args.interleaved { Turns::Interleaved } else { Turns::OneRun };
    let demands = Demands { turns, end_record: args.whole, can_sort: true };
    let mut lines = EventLines::open(path, demands)?;
    let name = lines.name().to_owned();
    let reading = EventReading { name: &name, demands };
    let mut progress = Progress::new(std::fs::metadata(path).ok().map(|file| file.len()));
    let mut repeated = 0;
    let mut played = crew.play(reading, |desk| {
        if args.sort {
            let sorted = event_lines::sorted(&mut lines, args.sort_memory << 20)?;
            repeated = sorted.repeated;
            hand_out_sorted(sorted.events, desk, choice);
            return Ok(());
        }
        let mut dispatch = Dispatch { turns, choice, desk, current: None, ended: BTreeSet::new() };
        while let Some(line) = lines.next_dispatched()? {
            progress.at(line.text.len() as u64, dispatch.desk.events);
            if !dispatch.line(line, &lines)? {
                return Ok(());
            }
        }
        dispatch.flush(true);
        Ok(())
    })?;
    progress.end();
    if repeated > 0 {
        played.remarks.push(format!("{repeated} repeated events were left out"));
    }
    Ok(played)
}

/// Sorted events stand bearing by bearing, so machine by machine.
fn hand_out_sorted(events: Vec<Event>, desk: &mut Desk<'_>, choice: &Choice) {
    let mut machine: Vec<Event> = Vec::new();
    let mut put = |events: Vec<Event>| {
        let Some(first) = events.first() else { return true };
        let (site, equipment) = (first.site.as_str(), first.equipment_id.as_str());
        let name = format!("{site}/{equipment}");
        if !choice.takes(site, equipment) {
            return true;
        }
        let events = super::workers::in_time(events).collect();
        desk.put(Work::Events(name.clone(), events)) && desk.put(Work::End(name))
    };
    for event in events {
        let is_other = machine.last().is_some_and(|last| {
            (&last.site, &last.equipment_id) != (&event.site, &event.equipment_id)
        });
        if is_other && !put(std::mem::take(&mut machine)) {
            return;
        }
        machine.push(event);
    }
    put(machine);
}

/// Lines on their way to the threads.
struct Dispatch<'a, 'b> {
    turns: Turns,
    choice: &'a Choice,
    desk: &'a mut Desk<'b>,
    current: Option<Batch>,
    /// Machines whose events have ended, where bearings come one after the other.
    ended: BTreeSet<String>,
}

/// Lines of one machine that were not handed out.
struct Batch {
    site: String,
    equipment: String,
    is_taken: bool,
    lines: Vec<(u64, String)>,
}

impl Batch {
    fn name(&self) -> String {
        format!("{}/{}", self.site, self.equipment)
    }
}

impl Dispatch<'_, '_> {
    /// Takes a line; false if nothing more is wanted.
    fn line(&mut self, line: Dispatched, lines: &EventLines) -> Result<bool, Failure> {
        let is_same = |batch: &Batch| batch.site == line.site && batch.equipment == line.equipment;
        if !self.current.as_ref().is_some_and(is_same) {
            if !self.flush(self.turns == Turns::OneRun) {
                return Ok(false);
            }
            let Dispatched { site, equipment, .. } = &line;
            if self.turns == Turns::OneRun && self.ended.contains(&format!("{site}/{equipment}")) {
                return Err(lines.wrong(&format!(
                    "the events of machine {site}/{equipment} go on behind those of another \
                     machine: --interleaved takes bearings in turn, --sort puts the events in order"
                )));
            }
            let is_taken = self.choice.takes(site, equipment);
            let (site, equipment) = (site.clone(), equipment.clone());
            self.current = Some(Batch { site, equipment, is_taken, lines: Vec::new() });
        }
        let Some(batch) = &mut self.current else { return Ok(true) };
        if batch.is_taken {
            batch.lines.push((line.number, line.text));
        }
        Ok(batch.lines.len() < BATCH || self.flush(false))
    }

    /// Hands out what waits; with `is_end` no more of its machine comes.
    fn flush(&mut self, is_end: bool) -> bool {
        let Some(batch) = &mut self.current else { return true };
        let (lines, is_taken) = (std::mem::take(&mut batch.lines), batch.is_taken);
        let name = batch.name();
        let mut goes_on = lines.is_empty() || self.desk.put(Work::Lines(name.clone(), lines));
        if is_end && self.turns == Turns::OneRun {
            goes_on = goes_on && (!is_taken || self.desk.put(Work::End(name.clone())));
            self.ended.insert(name);
            self.current = None;
        }
        goes_on
    }
}
