//! Texts of other forms, which become a usual table before the layout is looked for.
//!
//! Invariant: a form is known by most of its lines; what fits none is left as it is.

use std::borrow::Cow;
use std::path::Path;

use pdm_shared::time::Timestamp;

use super::{
    bulk, cell_units, keyed_head, labelled, octave, open_text, pairs, stamped, wrapped, zero_bytes,
};
use crate::source::recording::leaves::{stated_speed, variables_of};
use crate::source::recording::variables::recording_of_variables;
use crate::source::recording::{RawRecording, RecordingOptions, SourceError};
use crate::tabular::encoding::decoded;

/// The text before the zeros at the end of a content, and how many there are.
pub(super) fn text_without_tail(content: &[u8]) -> Option<(Cow<'_, str>, usize)> {
    let (text, zeros) = zero_bytes::without_tail(content)?;
    Some((decoded(text)?, zeros))
}

pub(super) fn refusal_of_zeros(content: &[u8]) -> String {
    zero_bytes::refusal(content).unwrap_or_else(|| {
        "neither text nor a known format; allowed are WAV, CSV and other tables, Excel (.xlsx), \
         NumPy, MATLAB, HDF5, Parquet, LabVIEW LVM and TDMS, universal files and JSON"
            .to_owned()
    })
}

/// A text of another form as a usual table.
pub(super) struct Rewritten {
    pub(super) format: &'static str,
    pub(super) table: String,
    /// Notes for the person.
    pub(super) notes: Vec<String>,
    /// The time of the first sample, and whether its zone is stated nowhere.
    pub(super) start: Option<(Timestamp, bool)>,
}

/// Reads a text, which becomes a usual table before where it is of another form.
pub(super) fn open_rewritten(
    path: &Path,
    text: &str,
    options: &RecordingOptions,
) -> Result<RawRecording, SourceError> {
    let malformed = |what: String| SourceError::malformed(path, what);
    if let Some(leaves) = octave::leaves(text).map_err(malformed)? {
        let speed = stated_speed(&leaves);
        let (variables, others) = variables_of(leaves);
        let wanted = options.variable.as_deref();
        let mut recording =
            recording_of_variables(path, "Octave text", variables, &others, wanted)?;
        recording.notes.extend(speed);
        return Ok(recording);
    }
    let Some(rewritten) = as_table(text).map_err(malformed)? else {
        return open_text(path, "columns of text", text, options);
    };
    let mut recording = open_text(path, rewritten.format, &rewritten.table, options)?;
    recording.notes.extend(rewritten.notes);
    recording.start_at(rewritten.start);
    Ok(recording)
}

/// The text as a usual table; `None` if it is one already.
fn as_table(text: &str) -> Result<Option<Rewritten>, String> {
    const COLUMNS: &str = "columns of text";
    let plain = |format: &'static str, (table, notes): (String, Vec<String>)| {
        Ok(Some(Rewritten { format, table, notes, start: None }))
    };
    if let Some(found) = labelled::as_table(text)? {
        return plain("names and values", found);
    }
    if let Some(found) = stamped::as_table(text) {
        return plain("lines of a serial monitor", found);
    }
    if let Some(found) = bulk::as_table(text) {
        return plain(COLUMNS, found);
    }
    if let Some(found) = pairs::as_table(text) {
        return plain(COLUMNS, found);
    }
    if let Some(found) = keyed_head::as_table(text)? {
        return plain(COLUMNS, found);
    }
    if let Some(found) = cell_units::as_table(text)? {
        return plain(COLUMNS, found);
    }
    Ok(wrapped::as_table(text))
}
