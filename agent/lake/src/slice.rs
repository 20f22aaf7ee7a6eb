//! Events out of the archive as `pdm.slice/1`: whole bearings, each in one run and in its order,
//! the bearings of a machine one behind the other.
//!
//! Files lie by day and are sorted by bearing within, so bearings come by a merge over the days:
//! one batch of rows of each day and the events of one bearing are in memory.

use std::collections::{BTreeMap, VecDeque};
use std::io::Write;

use futures_util::TryStreamExt as _;
use pdm_shared::slice::MachineSlice;

use crate::day::Day;
use crate::error::LakeError;
use crate::event::event_of;
use crate::file::{Batches, batches, broken_file, is_own, reader};
use crate::lake::Table;
use crate::order::{Placed, SliceEnd, in_order};
use crate::value::Value;

/// What a slice takes.
#[derive(Debug, Clone, Copy)]
pub struct Choice {
    /// Which machines.
    pub slice: MachineSlice,
    /// The first day.
    pub from: Option<Day>,
    /// The last day.
    pub to: Option<Day>,
}

impl Choice {
    fn takes(&self, day: Day) -> bool {
        self.from.is_none_or(|from| day >= from) && self.to.is_none_or(|to| day <= to)
    }
}

/// Site, machine, bearing.
type Name = (String, String, String);

/// The rows of one file, by bearing.
struct FileRows<'a> {
    table: &'a Table,
    path: String,
    batches: Batches,
    waiting: VecDeque<Vec<Value>>,
}

impl<'a> FileRows<'a> {
    /// Opens a file. One that another program wrote, such as a compaction, has no order: it is read
    /// whole.
    async fn open(table: &'a Table, path: String, slice: MachineSlice) -> Result<Self, LakeError> {
        let opened = batches(table, &path, table.spec.columns).await?;
        let is_own = is_own(table, &path).await?;
        let mut rows = Self { table, path, batches: opened, waiting: VecDeque::new() };
        if !is_own {
            while rows.read_batch(slice).await? {}
            rows.waiting.make_contiguous().sort_by_cached_key(|row| name_of(row));
        }
        Ok(rows)
    }

    /// Reads the next batch; `false` at the end.
    async fn read_batch(&mut self, slice: MachineSlice) -> Result<bool, LakeError> {
        let next = self.batches.try_next().await;
        let next = next.map_err(|error| broken_file(self.table, &self.path, &error))?;
        let Some(batch) = next else { return Ok(false) };
        let rows = reader(self.table, &self.path, self.table.spec.columns, &batch)?;
        for row in 0..rows.rows {
            let row = rows.row(row);
            let name = name_of(&row);
            if slice.holds(&name.0, &name.1) {
                self.waiting.push_back(row);
            }
        }
        Ok(true)
    }

    /// The bearing of the next row.
    async fn next_name(&mut self, slice: MachineSlice) -> Result<Option<Name>, LakeError> {
        while self.waiting.is_empty() {
            if !self.read_batch(slice).await? {
                return Ok(None);
            }
        }
        Ok(self.waiting.front().map(|row| name_of(row)))
    }
}

fn name_of(row: &[Value]) -> Name {
    let text = |place: usize| row.get(place).map_or("", Value::as_text).to_owned();
    (text(0), text(1), text(2))
}

/// Writes the chosen events, and the last record behind them.
///
/// # Errors
/// [`LakeError`]: a file that is missing, cut or of another writer; a full disk.
pub async fn write_slice(
    table: &Table,
    choice: &Choice,
    out: &mut impl Write,
) -> Result<SliceEnd, LakeError> {
    let mut files = Vec::new();
    for (day, of_day) in table.listing()?.days {
        if !choice.takes(day) {
            continue;
        }
        for file in of_day {
            files.push(FileRows::open(table, file.path, choice.slice).await?);
        }
    }
    let mut names: BTreeMap<Name, Vec<usize>> = BTreeMap::new();
    for (number, file) in files.iter_mut().enumerate() {
        if let Some(name) = file.next_name(choice.slice).await? {
            names.entry(name).or_default().push(number);
        }
    }
    let mut end = SliceEnd::new(0, 0);
    while let Some((name, holders)) = names.pop_first() {
        let events = events_of(&name, holders, &mut files, &mut names, choice.slice).await?;
        end.bearings += 1;
        end.events += events.len() as u64;
        for event in in_order(events) {
            writeln!(out, "{}", event.text).map_err(|error| not_written(&error))?;
        }
    }
    let last = serde_json::to_string(&end).unwrap_or_default();
    writeln!(out, "{last}").and_then(|()| out.flush()).map_err(|error| not_written(&error))?;
    Ok(end)
}

fn not_written(error: &std::io::Error) -> LakeError {
    LakeError::of("the output", "writing the slice", error)
}

/// The events of one bearing out of the files that hold it; each file is put to the bearing that it
/// holds next.
async fn events_of(
    name: &Name,
    holders: Vec<usize>,
    files: &mut [FileRows<'_>],
    names: &mut BTreeMap<Name, Vec<usize>>,
    slice: MachineSlice,
) -> Result<Vec<Placed>, LakeError> {
    let mut events = Vec::new();
    for number in holders {
        let Some(file) = files.get_mut(number) else { continue };
        loop {
            match file.next_name(slice).await? {
                Some(next) if next == *name => {}
                Some(next) => {
                    names.entry(next).or_default().push(number);
                    break;
                }
                None => break,
            }
            if let Some(row) = file.waiting.pop_front() {
                events.push(placed(file.table, &row)?);
            }
        }
    }
    Ok(events)
}

/// The event of a row with its place in the order.
fn placed(table: &Table, row: &[Value]) -> Result<Placed, LakeError> {
    let spec = table.spec;
    let json = event_of(spec.columns, row)
        .map_err(|told| LakeError::Content { place: table.name.clone(), told })?;
    let text = |key: &str| json.get(key).and_then(serde_json::Value::as_str).map(str::to_owned);
    let at = spec.place("measured_at").and_then(|place| row.get(place));
    let at = match at {
        Some(Value::Time(micros)) => *micros,
        _ => 0,
    };
    let sequence = json.get("sequence").and_then(serde_json::Value::as_i64).unwrap_or(0);
    Ok(Placed {
        count: (text("gateway_id").unwrap_or_default(), text("epoch")),
        sequence,
        at,
        text: with_required(json).to_string(),
    })
}

/// An empty column is a field that was `null` or absent. The contract reads both alike but for the
/// few fields that it wants spelt out.
fn with_required(mut json: serde_json::Value) -> serde_json::Value {
    if let Some(fields) = json.as_object_mut() {
        fields.entry("schema").or_insert_with(|| pdm_shared::event::EVENT_SCHEMA.into());
    }
    json
}

/// Days between the first and the last one of which the archive has no event.
pub fn holes(table: &Table) -> Result<Vec<Day>, LakeError> {
    let days = table.listing()?.days;
    let (Some(first), Some(last)) = (days.keys().next(), days.keys().next_back()) else {
        return Ok(Vec::new());
    };
    let mut holes = Vec::new();
    let mut day = *first;
    while day < *last {
        if !days.contains_key(&day) {
            holes.push(day);
        }
        day = day.next();
    }
    Ok(holes)
}
