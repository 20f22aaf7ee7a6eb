//! Parts: what one slice has played, one machine a line, as a file.
//!
//! ```text
//! part-2-of-7.jsonl   {"record":"head",…}      input, configurations, slice
//!                     {"record":"machine",…}   one line for each machine that was played to its end
//!                     {"record":"end",…}       counts; a part without it is not finished
//! ```
//!
//! A run that was killed goes on with its part: machines in it are not played again, a line that
//! was cut is played again. Invariant: parts of different inputs or configurations are never put
//! together, and a missing part is an error with its name.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};

use pdm_shared::slice::MachineSlice;
use serde::{Deserialize, Serialize};

use super::Terms;
use super::names::MachineKey;
use super::played::MachinePlayed;

/// The form of a part.
const SCHEMA: &str = "pdm.backtest-part/1";

/// The input and the configurations that a part was played from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Head {
    schema: String,
    slice: MachineSlice,
    input: String,
    sides: Vec<SideName>,
    acknowledged_after_s: Option<f64>,
}

/// A configuration by its name and a digest of its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SideName {
    pub(crate) name: String,
    digest: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
enum Line {
    Head(Head),
    Machine(Box<MachinePlayed>),
    End(End),
}

/// The last record: what a reader must have seen before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct End {
    machines: u64,
    /// Remarks on the input that are no errors, for the report.
    pub(crate) remarks: Vec<String>,
}

/// Why a part cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum PartError {
    /// A file or folder cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// A line is no record of a part.
    #[error("{}, line {line}: not a part of a back-test: {reason}", path.display())]
    Content { path: PathBuf, line: usize, reason: String },
    /// Another input or configuration.
    #[error(
        "{}: was played from another {what}; remove it, or name another folder with --parts",
        path.display()
    )]
    Foreign { path: PathBuf, what: &'static str },
    /// A part that is not there or not finished.
    #[error("{}: {what}", path.display())]
    Missing { path: PathBuf, what: String },
}

impl Head {
    /// The head of a slice of this input.
    pub(crate) fn new(slice: MachineSlice, input: String, terms: &Terms) -> Self {
        let name = |side: &super::Side| SideName { name: side.name.clone(), digest: side.digest() };
        Self {
            schema: SCHEMA.to_owned(),
            slice,
            input,
            sides: terms.sides.iter().map(name).collect(),
            acknowledged_after_s: terms.acknowledged_after_s,
        }
    }

    /// The names of the configurations.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.sides.iter().map(|side| side.name.as_str())
    }

    /// Hours after which somebody is assumed to acknowledge.
    pub(crate) fn acknowledged_after_h(&self) -> Option<f64> {
        self.acknowledged_after_s.map(|seconds| seconds / 3600.0)
    }

    /// Returns the first thing in which two heads differ besides the slice; `None` if nothing
    /// differs.
    fn differs(&self, other: &Self) -> Option<&'static str> {
        if self.schema != other.schema {
            Some("version of this program")
        } else if self.input != other.input {
            Some("input")
        } else if self.sides != other.sides
            || self.acknowledged_after_s != other.acknowledged_after_s
        {
            Some("configuration")
        } else {
            None
        }
    }
}

/// A part that is being written.
#[derive(Debug)]
pub(crate) struct Part {
    path: PathBuf,
    file: File,
    machines: u64,
}

/// A part as it stands in its file.
#[derive(Debug)]
pub(crate) struct ReadPart {
    pub(crate) head: Head,
    pub(crate) machines: Vec<MachinePlayed>,
    pub(crate) end: Option<End>,
    /// Bytes of whole lines.
    whole: u64,
}

fn path_of(folder: &Path, slice: MachineSlice) -> PathBuf {
    folder.join(format!("part-{}-of-{}.jsonl", slice.number, slice.of))
}

impl Part {
    /// Begins the part of a slice in this folder, or goes on with it. Says which machines are
    /// played.
    ///
    /// # Errors
    /// [`PartError`]
    pub(crate) fn open(
        folder: &Path,
        head: &Head,
    ) -> Result<(Self, BTreeSet<MachineKey>), PartError> {
        let path = path_of(folder, head.slice);
        let io = |source| PartError::Io { path: path.clone(), source };
        std::fs::create_dir_all(folder).map_err(io)?;
        let before = if path.exists() { read(&path)? } else { None };
        let mut file = OpenOptions::new().create(true).append(true).open(&path).map_err(io)?;
        let Some(before) = before else {
            file.set_len(0).map_err(io)?;
            let mut part = Self { path, file, machines: 0 };
            part.write(&Line::Head(head.clone()))?;
            return Ok((part, BTreeSet::new()));
        };
        if let Some(what) = before.head.differs(head) {
            return Err(PartError::Foreign { path, what });
        }
        // a line that was cut by a kill is written again
        file.set_len(before.whole).map_err(io)?;
        let done: BTreeSet<MachineKey> =
            before.machines.into_iter().map(|one| one.machine).collect();
        file.flush().map_err(io)?;
        Ok((Self { path, file, machines: done.len() as u64 }, done))
    }

    /// Adds a machine that was played.
    ///
    /// # Errors
    /// [`PartError::Io`]
    pub(crate) fn add(&mut self, machine: &MachinePlayed) -> Result<(), PartError> {
        self.machines += 1;
        self.write(&Line::Machine(Box::new(machine.clone())))
    }

    /// Ends the part and brings it to the disk.
    ///
    /// # Errors
    /// [`PartError::Io`]
    pub(crate) fn end(mut self, remarks: Vec<String>) -> Result<(), PartError> {
        let machines = self.machines;
        self.write(&Line::End(End { machines, remarks }))?;
        self.file.sync_all().map_err(|source| PartError::Io { path: self.path, source })
    }

    fn write(&mut self, line: &Line) -> Result<(), PartError> {
        let io = |source| PartError::Io { path: self.path.clone(), source };
        let mut text = serde_json::to_vec(line).map_err(|error| io(error.into()))?;
        text.push(b'\n');
        self.file.write_all(&text).map_err(io)
    }
}

/// Reads a part; `None` if the file is empty or its writer was killed in the first line.
fn read(path: &Path) -> Result<Option<ReadPart>, PartError> {
    let io = |source| PartError::Io { path: path.to_owned(), source };
    let mut reader = BufReader::new(File::open(path).map_err(io)?);
    let mut part: Option<ReadPart> = None;
    let (mut whole, mut number) = (0, 0);
    loop {
        let mut text = Vec::new();
        let length = reader.read_until(b'\n', &mut text).map_err(io)?;
        if length == 0 || !text.ends_with(b"\n") {
            break;
        }
        number += 1;
        let wrong =
            |reason: String| PartError::Content { path: path.to_owned(), line: number, reason };
        let line = serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
        match (line, &mut part) {
            (Line::Head(head), None) if head.schema == SCHEMA => {
                part = Some(ReadPart { head, machines: Vec::new(), end: None, whole: 0 });
            }
            (Line::Head(head), None) => {
                return Err(wrong(format!("schema {:?}, not {SCHEMA:?}", head.schema)));
            }
            (Line::Machine(machine), Some(part)) if part.end.is_none() => {
                part.machines.push(*machine);
            }
            (Line::End(end), Some(part)) if part.end.is_none() => {
                if end.machines != part.machines.len() as u64 {
                    return Err(wrong(format!(
                        "counts {} machines, before it stand {}",
                        end.machines,
                        part.machines.len()
                    )));
                }
                part.end = Some(end);
                // the end is written anew by whoever goes on
                continue;
            }
            (Line::Head(_) | Line::Machine(_) | Line::End(_), _) => {
                return Err(wrong("a record in the wrong place".to_owned()));
            }
        }
        whole += length as u64;
    }
    Ok(part.map(|part| ReadPart { whole, ..part }))
}

fn is_lines(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "jsonl")
}

/// All parts of a folder, whole and of one input and one pair of configurations.
///
/// # Errors
/// [`PartError`] with the part that is missing, not finished or foreign.
pub(crate) fn all(folder: &Path) -> Result<Vec<ReadPart>, PartError> {
    let io = |source| PartError::Io { path: folder.to_owned(), source };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(io)? {
        let path = entry.map_err(io)?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        if name.is_some_and(|name| name.starts_with("part-") && is_lines(&path)) {
            paths.push(path);
        }
    }
    paths.sort();
    let missing = |path: PathBuf, what: &str| PartError::Missing { path, what: what.to_owned() };
    let mut parts: Vec<ReadPart> = Vec::new();
    for path in paths {
        let unfinished =
            "the part is not finished: run its slice again, which goes on where it ended";
        let part = read(&path)?.filter(|part| part.end.is_some());
        let part = part.ok_or_else(|| missing(path.clone(), unfinished))?;
        if path != path_of(folder, part.head.slice) {
            return Err(PartError::Foreign { path, what: "file name" });
        }
        if let Some(first) = parts.first() {
            let is_other = first.head.slice.of != part.head.slice.of;
            let what = first.head.differs(&part.head).or(is_other.then_some("number of slices"));
            if let Some(what) = what {
                return Err(PartError::Foreign { path, what });
            }
        }
        parts.push(part);
    }
    let Some(of) = parts.first().map(|part| part.head.slice.of) else {
        return Err(missing(folder.to_owned(), "no part of a back-test in it"));
    };
    for number in 1..=of {
        if !parts.iter().any(|part| part.head.slice.number == number) {
            let path = path_of(folder, MachineSlice { number, of });
            return Err(missing(path, "the part is missing: run its slice"));
        }
    }
    parts.sort_by_key(|part| part.head.slice.number);
    Ok(parts)
}
