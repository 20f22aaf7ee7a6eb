//! Events of a file or of standard input, one a line, in an order that a judgement can rest on.
//!
//! Reads lines for `judge --jsonl` and `notify preview`. Invariants: each line is bounded; an error
//! names line and event; no event is handed out that steps back behind its bearing's last one or
//! repeats it, because a memory that grows in the wrong order turns alarms into "Normal" without a
//! word.

use std::io::{BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use pdm_service::exit::{Exit, Failure, exit_of_input};
use pdm_shared::bounds::MAX_EVENT_BYTES;
use pdm_shared::event::Event;
use serde::{Deserialize, Serialize};

pub(super) use of_machine::{Dispatched, MachineLines};
pub(super) use order::{Demands, Turns};
use order::{Order, Run};
pub(super) use sorting::sorted;

mod of_machine;
mod order;
mod sorting;
#[cfg(test)]
mod tests;

/// The value of `schema` of the last record of a slice.
const SLICE_END_SCHEMA: &str = "pdm.slice-end/1";

/// The last record of a slice (`pdm.slice/1`): what a reader must have seen before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SliceEnd {
    /// Always [`SLICE_END_SCHEMA`].
    pub(super) schema: String,
    /// Events before this record.
    pub(super) events: u64,
    /// Bearings of these events.
    pub(super) bearings: u64,
}

impl SliceEnd {
    pub(super) fn new(events: u64, bearings: u64) -> Self {
        Self { schema: SLICE_END_SCHEMA.to_owned(), events, bearings }
    }
}

/// The content of a line.
#[derive(Debug)]
enum Line {
    Event(Box<Event>),
    End(SliceEnd),
}

/// Events by their lines, checked for order, repetition and, for a slice, wholeness.
pub(super) struct EventLines {
    reader: Box<dyn BufRead>,
    name: String,
    number: u64,
    order: Order,
    needs_end: bool,
    end_line: Option<u64>,
    remarks: Vec<String>,
}

impl EventLines {
    /// Opens a file; `-` reads standard input.
    ///
    /// # Errors
    /// A [`Failure`] (66) if there is no such file.
    pub(super) fn open(path: &Path, demands: Demands) -> Result<Self, Failure> {
        let reader: Box<dyn BufRead> = if path == Path::new("-") {
            Box::new(BufReader::new(std::io::stdin()))
        } else {
            let opened = std::fs::File::open(path).map_err(|error| {
                let told = anyhow::anyhow!("cannot read {}: {error}", path.display());
                Failure::new(exit_of_input(&error), told)
            })?;
            Box::new(BufReader::new(opened))
        };
        let name = if path == Path::new("-") {
            "standard input".to_owned()
        } else {
            PathBuf::from(path).display().to_string()
        };
        Ok(Self::new(reader, name, demands))
    }

    fn new(reader: Box<dyn BufRead>, name: String, demands: Demands) -> Self {
        let (order, needs_end) = (Order::new(demands), demands.end_record);
        Self { reader, name, number: 0, order, needs_end, end_line: None, remarks: Vec::new() }
    }

    /// Returns the next event; `None` at the end.
    ///
    /// # Errors
    /// A [`Failure`] (65) with line and event where the line is no event or its place is wrong.
    pub(super) fn next_event(&mut self) -> Result<Option<Event>, Failure> {
        loop {
            let Some(text) = self.next_text()? else {
                self.check_end()?;
                return Ok(None);
            };
            if let Some(end) = self.end_line {
                return Err(self.wrong(&format!("the slice ended on line {end}")));
            }
            match line(&text).map_err(|told| self.wrong(&told))? {
                Line::Event(event) => {
                    let run = self.order.take(&event, self.number);
                    match run.map_err(|told| self.wrong(&told))? {
                        Run::GoesOn => {}
                        Run::ClockSetBack(remark) => {
                            self.remarks.push(format!("line {}: {remark}", self.number));
                        }
                    }
                    return Ok(Some(*event));
                }
                Line::End(end) => self.take_end(&end)?,
            }
        }
    }

    /// Takes the remarks on the lines that are no errors, for standard error.
    pub(super) fn take_remarks(&mut self) -> Vec<String> {
        std::mem::take(&mut self.remarks)
    }

    /// Returns the next line, read only as far as to know its machine: for a reader that hands the
    /// lines of each machine to [`MachineLines`]. Checks a last record here; `None` at the end.
    ///
    /// # Errors
    /// A [`Failure`] (65) with the line where it is not of a machine.
    pub(super) fn next_dispatched(&mut self) -> Result<Option<Dispatched>, Failure> {
        loop {
            let Some(text) = self.next_text()? else {
                self.check_end()?;
                return Ok(None);
            };
            if let Some(end) = self.end_line {
                return Err(self.wrong(&format!("the slice ended on line {end}")));
            }
            match Dispatched::read(self.number, text) {
                Ok(dispatched) => {
                    self.order.count(&dispatched.site, &dispatched.equipment, &dispatched.bearing);
                    return Ok(Some(dispatched));
                }
                // a last record, or a line that is no event: said as everywhere
                Err(text) => match line(&text).map_err(|told| self.wrong(&told))? {
                    Line::End(end) => self.take_end(&end)?,
                    Line::Event(_) => return Err(self.wrong("not an event of a machine")),
                },
            }
        }
    }

    /// The name of the input, for messages.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The next line that is not empty.
    fn next_text(&mut self) -> Result<Option<String>, Failure> {
        loop {
            let mut bytes = Vec::new();
            let most = MAX_EVENT_BYTES as u64 + 2;
            self.number += 1;
            let read = self.reader.by_ref().take(most).read_until(b'\n', &mut bytes);
            let read = read.map_err(|error| self.wrong(&format!("cannot be read: {error}")))?;
            if read == 0 {
                return Ok(None);
            }
            if bytes.len() > MAX_EVENT_BYTES + 1 {
                return Err(
                    self.wrong(&format!("more than the {MAX_EVENT_BYTES} bytes of an event"))
                );
            }
            let text = String::from_utf8(bytes).map_err(|_| self.wrong("not UTF-8"))?;
            if !text.trim().is_empty() {
                return Ok(Some(text));
            }
        }
    }

    fn take_end(&mut self, end: &SliceEnd) -> Result<(), Failure> {
        let own = SliceEnd::new(self.order.events(), self.order.bearings());
        if *end != own {
            return Err(self.wrong(&format!(
                "the slice's last record counts {} events of {} bearings, read were {} of {}: \
                 lines are missing or belong to another slice",
                end.events, end.bearings, own.events, own.bearings
            )));
        }
        self.end_line = Some(self.number);
        Ok(())
    }

    fn check_end(&self) -> Result<(), Failure> {
        if !self.needs_end || self.end_line.is_some() {
            return Ok(());
        }
        Err(self.wrong(&format!(
            "the slice has no last record ({{\"schema\":\"{SLICE_END_SCHEMA}\",…}}): it was cut \
             after {} events",
            self.order.events()
        )))
    }

    /// A failure at the present line.
    pub(super) fn wrong(&self, told: &str) -> Failure {
        wrong(&self.name, self.number, told)
    }
}

fn wrong(name: &str, number: u64, told: &str) -> Failure {
    Failure::new(Exit::BadInput, anyhow::anyhow!("{name}, line {number}: {told}"))
}

/// A line's event or last record.
fn line(text: &str) -> Result<Line, String> {
    #[derive(Deserialize)]
    struct Schema {
        schema: Option<String>,
    }
    // a search for the word costs a hundredth of reading the line twice
    let may_be_end = text.contains(SLICE_END_SCHEMA);
    let head = may_be_end.then(|| serde_json::from_str::<Schema>(text).ok()).flatten();
    if head.is_some_and(|head| head.schema.as_deref() == Some(SLICE_END_SCHEMA)) {
        let end = serde_json::from_str(text);
        return end.map(Line::End).map_err(|error| format!("not a last record: {error}"));
    }
    let event: Event =
        serde_json::from_str(text).map_err(|error| format!("not an event: {error}"))?;
    event.check().map_err(|error| format!("not a valid event: {error}"))?;
    Ok(Line::Event(Box::new(event)))
}
