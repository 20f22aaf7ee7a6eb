//! LabVIEW's measurement file (LVM): text with a header for the file and one for each segment.
//!
//! The header states separator, decimal mark, the columns of X (none, one, one a channel), and for
//! each channel its unit (`Y_Unit_Label`) and step (`Delta_X`); the line below has the names; a
//! last column holds comments. Source: National Instruments, *Specification for the LabVIEW
//! Measurement File* (LVM). A channel whose `Samples` are 0 is empty and left out. The step is that
//! of the X column, where there is one that rises evenly, else `Delta_X`. Several segments of one
//! form are snapshots. `Date` and `Time` of a segment are its start, by the clock of its computer;
//! a channel that holds fewer samples than its header announces is told.

use std::io::Read;
use std::path::Path;

use pdm_shared::time::Timestamp;

use super::bounds::{check_samples, whole};
use super::variables::{Variable, even_step, recording_of_variables};
use super::{RawRecording, RecordingOptions, SourceError, snapshots_of, text};
use segment::{Layout, SegmentHead};

mod segment;

/// First bytes of the format.
pub(super) const MAGIC: &[u8] = b"LabVIEW Measurement";

/// The line that ends a header.
const END_OF_HEADER: &str = "***End_of_Header***";

/// Reads the whole file.
pub(super) fn open(
    path: &Path,
    file: impl Read,
    options: &RecordingOptions,
) -> Result<RawRecording, SourceError> {
    let variable = options.variable.as_deref();
    let content = whole(path, file)?;
    let text = match String::from_utf8(content) {
        Ok(text) => text,
        // units such as °C and m/s² are written in the system's code page
        Err(error) => error.as_bytes().iter().map(|&byte| char::from(byte)).collect(),
    };
    if let Some(table) = table_below(&text) {
        // some programs write the header of the file alone, with the names of the columns below
        return text::open_text(path, "LVM file", table, options);
    }
    let segments = parse(&text).map_err(|what| SourceError::malformed(path, what))?;
    drop(text);
    let mut snapshots = Vec::new();
    let mut numbers = 0usize;
    for Segment { variables, others, is_uneven, notes, start } in segments {
        numbers += variables.iter().map(|v| v.numbers.len()).sum::<usize>();
        check_samples(path, numbers)?;
        let mut snapshot = recording_of_variables(path, "LVM file", variables, &others, variable)?;
        if is_uneven {
            let note = "the column of X does not rise evenly, so it gives no rate";
            snapshot.notes.push(note.to_owned());
        }
        snapshot.notes.extend(notes);
        if let (Some(start), None) = (start, snapshot.stated_start) {
            (snapshot.stated_start, snapshot.is_start_local) = (Some(start), true);
            snapshot.start_origin = Some("date and time of the header".to_owned());
        }
        snapshots.push(snapshot);
    }
    snapshots_of(path, snapshots, "segment")
}

/// The lines below the only header of a file whose channels have none.
fn table_below(text: &str) -> Option<&str> {
    let (_, below) = text.split_once(END_OF_HEADER)?;
    let below = below.split_once('\n')?.1;
    let first = below.lines().find(|line| !line.trim().is_empty())?;
    let is_table = first.contains(['\t', ',', ';']) && !first.starts_with("Channels");
    (is_table && !below.contains(END_OF_HEADER)).then_some(below)
}

/// The data under one header.
struct Segment {
    variables: Vec<Variable>,
    /// Channels that are over a frequency.
    others: Vec<String>,
    /// A column of X has times without an even step.
    is_uneven: bool,
    /// Notes for the person.
    notes: Vec<String>,
    /// When it begins, by the clock of its computer.
    start: Option<Timestamp>,
}

fn parse(text: &str) -> Result<Vec<Segment>, String> {
    let mut lines = text.lines().enumerate().peekable();
    let layout = Layout::parse(&mut lines)?;
    let mut segments = Vec::new();
    loop {
        while lines.next_if(|(_, line)| line.trim().is_empty()).is_some() {}
        if lines.peek().is_none() {
            break;
        }
        let head = SegmentHead::parse(layout, &mut lines)?;
        segments.push(segment(&head, &mut lines)?);
    }
    if segments.is_empty() {
        return Err("this LVM file has a header and no channels".to_owned());
    }
    Ok(segments)
}

/// The rows of a segment, up to an empty line or the next header.
fn segment<'a>(
    head: &SegmentHead,
    lines: &mut std::iter::Peekable<impl Iterator<Item = (usize, &'a str)>>,
) -> Result<Segment, String> {
    let count = head.channels.len();
    let mut values: Vec<Vec<f64>> = vec![Vec::new(); count];
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); count];
    let mut shift = None;
    while let Some((index, line)) = lines.next_if(|(_, line)| {
        !line.trim().is_empty() && !line.starts_with("Channels") && !line.starts_with("***")
    }) {
        let fields = head.layout.fields(line);
        // a file without X column has an empty first field, from some programs none
        let shift = *shift.get_or_insert_with(|| head.missing_fields(&fields));
        for channel in 0..count {
            let column = head.layout.value_column(channel) - shift;
            let number = head.layout.number(&fields, column, index)?;
            values[channel].push(number);
            if let Some(column) = head.layout.time_column(channel) {
                times[channel].push(head.layout.number(&fields, column, index)?);
            }
        }
    }
    let (mut variables, mut others, mut is_uneven) = (Vec::new(), Vec::new(), false);
    let mut notes = Vec::new();
    for (channel, stated) in head.channels.iter().enumerate() {
        let mut numbers = std::mem::take(&mut values[channel]);
        while numbers.last().is_some_and(|number| number.is_nan()) {
            numbers.pop(); // a shorter channel has empty fields below its last sample
        }
        if numbers.is_empty() {
            continue;
        }
        let path = stated.stated.name.clone().unwrap_or_else(|| format!("channel {channel}"));
        if let Some(announced) = stated.samples.filter(|announced| *announced > numbers.len()) {
            let (there, missing) = (numbers.len(), announced - numbers.len());
            notes.push(format!(
                "{path:?}: the header announces {announced} samples, {there} are there: the file \
                 is cut short, {missing} values missing"
            ));
        }
        if stated.is_over_frequency {
            others.push(format!("{path} (a spectrum: its X_Dimension is a frequency)"));
            continue;
        }
        let time = times[channel].get(..numbers.len()).unwrap_or(&[]);
        let rate_hz = match even_step(time) {
            Some(step) => Some(1.0 / step),
            // too few rows to see a step, or no column of times
            None if time.len() < 8 => stated.delta_x.map(|step| 1.0 / step),
            None => {
                is_uneven = true;
                None
            }
        };
        variables.push(Variable {
            path,
            stated: stated.stated.clone(),
            rate_hz,
            started_at: None,
            time_note: None,
            numbers,
        });
    }
    // one note for channels of one length
    notes.truncate(1);
    Ok(Segment { variables, others, is_uneven, notes, start: head.start() })
}

#[cfg(test)]
mod tests;
