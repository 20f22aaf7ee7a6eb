//! Universal files (UFF, UNV): dataset 58, a function at a node, in ASCII and in binary (58b).
//!
//! A dataset stands between two lines of `-1`; its number is on the line below the first. 58 has
//! eleven lines of header (five of text, then function, form of the data, and four axes with label
//! and unit) and its numbers: six or four to a line, or one binary block whose byte order and
//! length the first line states. Source: SDRC, *Universal Dataset Number 58*. All time responses
//! become variables with their labels and units; spectra, frequency responses and complex numbers
//! are named as what they are; other datasets are left out, except for the units of dataset 164.
//!
//! Files of the field end the lines of a binary block in several ways: the end of a block is found
//! by the line of `-1` behind it, with stray line ends and filling bytes before it.

use std::io::Read;
use std::path::Path;

use super::bounds::{check_samples, whole};
use super::variables::{Variable, recording_of_variables};
use super::{RawRecording, SourceError};
use function::FunctionHead;

mod created;
mod function;
mod numbers;

/// Most datasets of a file.
const MAX_DATASETS: usize = 100_000;

/// Whether the file begins with the line of `-1` and a dataset's number.
pub(super) fn is_universal(start: &[u8]) -> bool {
    let mut lines = Lines { content: start, at: 0 };
    let first = std::iter::from_fn(|| lines.next_line()).find(|line| !line.trim_ascii().is_empty());
    first.is_some_and(is_delimiter) && lines.next_line().and_then(dataset_number).is_some()
}

/// Reads the whole file.
pub(super) fn open(
    path: &Path,
    file: impl Read,
    variable: Option<&str>,
) -> Result<RawRecording, SourceError> {
    let content = whole(path, file)?;
    let datasets = parse(&content).map_err(|what| SourceError::malformed(path, what))?;
    drop(content);
    let count = datasets.variables.iter().map(|v| v.numbers.len()).sum();
    check_samples(path, count)?;
    let (variables, others) = (datasets.variables, datasets.others);
    recording_of_variables(path, "universal file", variables, &others, variable)
}

/// The time responses of a file, and what else it holds.
#[derive(Default)]
struct Datasets {
    variables: Vec<Variable>,
    others: Vec<String>,
    /// The code of dataset 164: 1 metre, 5 and 9 millimetre.
    unit_code: Option<i64>,
}

fn parse(content: &[u8]) -> Result<Datasets, String> {
    let mut lines = Lines { content, at: 0 };
    let mut datasets = Datasets::default();
    for _ in 0..MAX_DATASETS {
        loop {
            match lines.next_line() {
                Some(line) if is_delimiter(line) => break,
                Some(_) => {}
                None => return Ok(datasets),
            }
        }
        let Some(head) = lines.next_line() else { return Ok(datasets) };
        match dataset_number(head) {
            Some((58, is_binary)) => datasets.add_function(&mut lines, head, is_binary)?,
            Some((164, _)) => datasets.add_units(&mut lines),
            // a delimiter twice: the second one opens the next dataset
            None if is_delimiter(head) => lines.at -= head.len(),
            _ => lines.skip_dataset(),
        }
    }
    Err(format!("more than {MAX_DATASETS} datasets, the most that is read"))
}

impl Datasets {
    fn add_function(
        &mut self,
        lines: &mut Lines<'_>,
        first: &[u8],
        is_binary: bool,
    ) -> Result<(), String> {
        let index = self.variables.len() + self.others.len();
        let within = |what: String| format!("dataset 58 number {index} (from 0): {what}");
        let head = FunctionHead::parse(lines, self.unit_code).map_err(within)?;
        let numbers = if is_binary {
            numbers::binary(lines, first, &head)
        } else {
            numbers::ascii(lines, &head)
        };
        let numbers = numbers.map_err(within)?;
        let path = format!("dataset{index}");
        match head.refusal() {
            Some(kind) => self.others.push(format!("{path} ({kind})")),
            None => self.variables.push(head.variable(path, numbers)),
        }
        Ok(())
    }

    fn add_units(&mut self, lines: &mut Lines<'_>) {
        let line = lines.next_line().unwrap_or(b"");
        let code = String::from_utf8_lossy(line);
        self.unit_code = code.get(..10).unwrap_or(&code).trim().parse().ok();
        lines.skip_dataset();
    }
}

/// Lines of a file, with their ends.
struct Lines<'a> {
    content: &'a [u8],
    at: usize,
}

impl<'a> Lines<'a> {
    fn rest(&self) -> &'a [u8] {
        self.content.get(self.at..).unwrap_or(&[])
    }

    /// The next line with its end: LF, CR LF, or CR alone.
    fn next_line(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest();
        if rest.is_empty() {
            return None;
        }
        let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let length = end.map_or(rest.len(), |end| match rest.get(end..end + 2) {
            Some(b"\r\n") => end + 2,
            _ => end + 1,
        });
        self.at += length;
        rest.get(..length)
    }

    /// Leaves out the lines up to the end of the dataset.
    fn skip_dataset(&mut self) {
        while let Some(line) = self.next_line() {
            if is_delimiter(line) {
                return;
            }
        }
    }
}

fn is_delimiter(line: &[u8]) -> bool {
    line.trim_ascii() == b"-1"
}

/// The number of a dataset, and whether it is binary: `58`, `58b …`.
fn dataset_number(line: &[u8]) -> Option<(u32, bool)> {
    let text = std::str::from_utf8(line.trim_ascii()).ok()?;
    let first = text.split_whitespace().next()?;
    let digits = first.trim_end_matches(['b', 'B']);
    let number = digits.parse().ok().filter(|_| digits.len() <= 4 && !digits.starts_with('+'))?;
    Some((number, digits.len() < first.len()))
}

#[cfg(test)]
mod tests;
