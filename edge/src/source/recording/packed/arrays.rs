//! NumPy's archives of arrays (`.npz`): each array is a leaf of a tree.
//!
//! Arrays of `datetime64` and `timedelta64` are times: beside others they are their times, and a
//! single one is the start where its name says so.

use std::io::Cursor;
use std::path::Path;

use super::{Archive, entry};
use crate::source::recording::leaves::{Leaf, LeafContent, stated_start, variables_of};
use crate::source::recording::npy::{self, ArrayTimes};
use crate::source::recording::variables::{Variable, recording_of_variables};
use crate::source::recording::{RawRecording, SourceError, StatedChannel, StatedStart};

/// The arrays of an `.npz` file.
pub(super) fn open_npz(
    path: &Path,
    archive: &mut Archive<'_>,
    names: &[(usize, String)],
    variable: Option<&str>,
) -> Result<RawRecording, SourceError> {
    let (mut leaves, mut times) = (Vec::new(), Vec::new());
    for (index, name) in names {
        let content = entry(path, archive, *index)?;
        let name = name.strip_suffix(".npy").unwrap_or(name).to_owned();
        let read = match npy::times_of(path, &content) {
            Ok(Some(read)) if read.seconds.len() > 1 => {
                times.push(variable_of_times(name, read));
                continue;
            }
            Ok(Some(read)) => Ok(single(&read)),
            Ok(None) => npy::array_of(path, Cursor::new(content)),
            Err(error) => Err(error),
        };
        let content = match read {
            Ok(content) => content,
            Err(error @ SourceError::Io { .. }) => return Err(error),
            Err(error) => {
                let told = error.to_string();
                let shown = told.strip_prefix(&format!("{}: ", path.display())).unwrap_or(&told);
                LeafContent::Other(shown.to_owned())
            }
        };
        leaves.push(Leaf { path: name, content });
    }
    let start = stated_start(&leaves);
    let (mut variables, mut others) = variables_of(leaves);
    for own in times {
        let length = own.numbers.len();
        if variables.iter().any(|other| other.numbers.len() == length) {
            variables.push(own);
        } else {
            others.push(format!("{} (times)", own.path));
        }
    }
    let mut recording =
        recording_of_variables(path, "NumPy archive", variables, &others, variable)?;
    recording.start_at(start);
    Ok(recording)
}

/// A time alone as the text that a document would have.
fn single(times: &ArrayTimes) -> LeafContent {
    match times.first {
        // without the mark of UTC: an array states no zone
        Some(at) => LeafContent::Text(vec![at.to_string().trim_end_matches('Z').to_owned()]),
        None => LeafContent::Other("a time".to_owned()),
    }
}

fn variable_of_times(path: String, times: ArrayTimes) -> Variable {
    let started_at = times.first.map(|at| StatedStart {
        at,
        is_local: true,
        origin: format!("the times of {path}"),
    });
    let stated = StatedChannel { unit: Some("s".to_owned()), ..StatedChannel::default() };
    Variable { path, stated, started_at, numbers: times.seconds, ..Variable::default() }
}
