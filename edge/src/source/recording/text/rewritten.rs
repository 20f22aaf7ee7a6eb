//! Texts of other forms, which become a usual table before the layout is looked for.
//!
//! Invariant: a form is known by most of its lines; what fits none is left as it is.

use std::borrow::Cow;
use std::path::Path;

use super::{cell_units, keyed_head, labelled, open_text, pairs, stamped, zero_bytes};
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

/// Reads a text, which becomes a usual table before where it is of another form.
pub(super) fn open_rewritten(
    path: &Path,
    text: &str,
    options: &RecordingOptions,
) -> Result<RawRecording, SourceError> {
    let malformed = |what: String| SourceError::malformed(path, what);
    let rewritten = if let Some(found) = labelled::as_table(text).map_err(malformed)? {
        Some(("names and values", found))
    } else if let Some(found) = stamped::as_table(text) {
        Some(("lines of a serial monitor", found))
    } else if let Some(found) = pairs::as_table(text) {
        Some(("columns of text", found))
    } else if let Some(found) = keyed_head::as_table(text).map_err(malformed)? {
        Some(("columns of text", found))
    } else {
        cell_units::as_table(text).map_err(malformed)?.map(|found| ("columns of text", found))
    };
    let Some((format, (table, notes))) = rewritten else {
        return open_text(path, "columns of text", text, options);
    };
    let mut recording = open_text(path, format, &table, options)?;
    recording.notes.extend(notes);
    Ok(recording)
}
