//! Text files of GNU Octave (`save -text`): variables with name, type and size.
//!
//! `# name: acc`, `# type: matrix`, `# rows: 12800`, `# columns: 1`, then the numbers. The
//! variables are chosen as those of a MAT-file. Invariant: a variable whose numbers are fewer than
//! its head states is an error with its name.

use crate::source::recording::NumberEncoding;
use crate::source::recording::leaves::{Leaf, LeafContent};
use crate::tabular::fields::numbered_lines;

/// Lines at the beginning by which such a text is known.
const FIRST_LINES: usize = 8;

/// The variables of a text; `None` if it is of another form.
///
/// # Errors
/// A variable is cut; in words.
pub(super) fn leaves(text: &str) -> Result<Option<Vec<Leaf>>, String> {
    let lines = || numbered_lines(text).map(|(_, line)| line.trim());
    let mut first = lines().filter(|line| !line.is_empty()).take(FIRST_LINES);
    let has_name = first.by_ref().any(|line| line.starts_with("# name:"));
    if !has_name || !first.any(|line| line.starts_with("# type:")) {
        return Ok(None);
    }
    let mut all = Vec::new();
    let mut open: Option<OpenVariable> = None;
    for line in lines().filter(|line| !line.is_empty()) {
        if let Some(name) = line.strip_prefix("# name:") {
            all.extend(open.take().map(OpenVariable::leaf).transpose()?);
            open = Some(OpenVariable { name: name.trim().to_owned(), ..OpenVariable::default() });
        } else if let Some(own) = &mut open {
            own.take(line);
        }
    }
    all.extend(open.map(OpenVariable::leaf).transpose()?);
    Ok(Some(all))
}

/// A variable whose lines are read.
#[derive(Default)]
struct OpenVariable {
    name: String,
    kind: String,
    rows: usize,
    columns: usize,
    /// The line behind the head of an array of integers holds its size.
    has_size_line: bool,
    numbers: Vec<f64>,
    texts: Vec<String>,
    is_other: bool,
}

impl OpenVariable {
    fn take(&mut self, line: &str) {
        if let Some(head) = line.strip_prefix('#') {
            let Some((key, value)) = head.split_once(':') else { return };
            let (key, value) = (key.trim(), value.trim());
            let number = || value.parse().unwrap_or(0);
            match key {
                "type" => value.clone_into(&mut self.kind),
                "rows" => self.rows = number(),
                "columns" => self.columns = number(),
                "ndims" => self.has_size_line = true,
                _ => {}
            }
        } else if self.kind.contains("string") {
            self.texts.push(line.to_owned());
        } else if std::mem::take(&mut self.has_size_line) {
            let size: Vec<usize> = line.split_whitespace().filter_map(|n| n.parse().ok()).collect();
            (self.rows, self.columns) = match size.as_slice() {
                [rows, columns] => (*rows, *columns),
                _ => (0, 0),
            };
        } else {
            let own: Option<Vec<f64>> = line.split_whitespace().map(number).collect();
            self.is_other |= own.is_none();
            self.numbers.extend(own.unwrap_or_default());
        }
    }

    fn leaf(self) -> Result<Leaf, String> {
        let is_real =
            self.kind.ends_with("matrix") || self.kind.ends_with("scalar") || self.kind == "bool";
        let content = if self.kind.contains("string") {
            LeafContent::Text(self.texts)
        } else if !is_real || self.kind.contains("complex") || self.is_other {
            LeafContent::Other(self.kind)
        } else {
            let is_scalar = !self.kind.ends_with("matrix");
            let (rows, columns) = if is_scalar { (1, 1) } else { (self.rows, self.columns) };
            if rows.checked_mul(columns) != Some(self.numbers.len()) {
                return Err(format!(
                    "the variable {:?} states {rows} × {columns} numbers and holds {}; is the file \
                     truncated?",
                    self.name,
                    self.numbers.len()
                ));
            }
            // integers stand column by column already, one a line
            let is_integer = self.kind.contains("int");
            let numbers =
                if is_integer { self.numbers } else { by_columns(&self.numbers, rows, columns) };
            let bits = self.kind.trim_start_matches('u').trim_start_matches("int");
            let bits: String = bits.chars().take_while(char::is_ascii_digit).collect();
            let bits = bits.parse().unwrap_or(0);
            let encoding =
                if is_integer { NumberEncoding::Counts { bits } } else { NumberEncoding::Real };
            LeafContent::Numbers { rows, columns, numbers, encoding }
        };
        Ok(Leaf { path: self.name, content })
    }
}

fn number(word: &str) -> Option<f64> {
    match word {
        "NA" | "NaN" => Some(f64::NAN),
        "Inf" => Some(f64::INFINITY),
        "-Inf" => Some(f64::NEG_INFINITY),
        other => other.parse().ok(),
    }
}

/// Numbers that stand row by row, column by column.
fn by_columns(numbers: &[f64], rows: usize, columns: usize) -> Vec<f64> {
    let column = |at: usize| numbers.iter().skip(at).step_by(columns.max(1)).take(rows).copied();
    (0..columns).flat_map(column).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::source::recording::{RecordingOptions, open_content};

    fn said(text: &str) -> Result<String, String> {
        let options = RecordingOptions::default();
        let source = open_content(Path::new("t.txt"), text.as_bytes().to_vec(), &options);
        source
            .map(|source| source.interpretation().expect("a file").to_string())
            .map_err(|error| error.to_string())
    }

    fn matrix(name: &str, rows: usize) -> String {
        let numbers = (0..rows)
            .map(|n| format!(" {:.5}\n", (n as f64 * 0.7).sin()))
            .collect::<Vec<String>>()
            .concat();
        format!("# name: {name}\n# type: matrix\n# rows: {rows}\n# columns: 1\n{numbers}\n\n")
    }

    /// R-EDGE-4: the variable `fs` became a sample, and two vectors one recording.
    #[test]
    fn variables_of_octave_are_those_of_a_file_of_variables() {
        let head = "# Created by Octave 9.1.0, Mon May 04 06:07:08 2026 UTC <a@b>\n";
        let fs = "# name: fs\n# type: scalar\n2560\n\n\n";
        let unit = "# name: unit\n# type: string\n# elements: 1\n# length: 4\nm/s2\n\n\n";
        for text in [
            format!("{head}{}{fs}{unit}", matrix("acc", 400)),
            format!("{head}{unit}{fs}{}", matrix("acc", 400)),
        ] {
            let told = said(&text).expect("reads");
            assert!(
                told.contains("acc in m/s2 (from the file); 2560 Hz (from the file)"),
                "{told}"
            );
        }
        let two = format!("{head}{}{}{fs}", matrix("de", 400), matrix("nde", 400));
        let told = said(&two).expect("two channels of one length");
        assert!(told.contains("2 channels de, nde"), "{told}");
        let cut = format!("{head}{fs}{}", matrix("acc", 400).replace("# rows: 400", "# rows: 500"));
        let error = said(&cut).expect_err("cut");
        assert!(error.contains("500 × 1") && error.contains("holds 400"), "{error}");
    }
}
