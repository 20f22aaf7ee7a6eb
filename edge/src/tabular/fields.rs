//! Lines and fields of a text.

use super::Stamp;

/// The separator of fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Separator {
    /// This character.
    Char(char),
    /// Any run of spaces.
    Spaces,
}

impl Separator {
    /// The separators that are tried, in this order.
    pub const ALL: [Self; 5] =
        [Self::Char('\t'), Self::Char(';'), Self::Char('|'), Self::Char(','), Self::Spaces];

    /// The fields of a line without quotes and spaces around them; a separator at the end of the
    /// line begins no field.
    pub fn fields(self, line: &str) -> Vec<&str> {
        match self {
            Self::Spaces if line.contains('"') => fields_between_blanks(line),
            Self::Spaces => line.split_whitespace().collect(),
            Self::Char(separator) => {
                let line = line.trim_matches(' ');
                let line = line.strip_suffix(separator).unwrap_or(line);
                if line.contains('"') {
                    return quoted_fields(line, separator);
                }
                line.split(separator).map(str::trim).collect()
            }
        }
    }

    /// The line ends in a separator.
    pub fn closes(self, line: &str) -> bool {
        matches!(self, Self::Char(separator) if line.trim_end_matches(' ').ends_with(separator))
    }
}

fn unquoted(field: &str) -> &str {
    field.trim().trim_matches('"').trim()
}

/// The fields of a line with quotes: a blank between quotes separates nothing.
fn fields_between_blanks(line: &str) -> Vec<&str> {
    let mut is_quoted = false;
    let is_between = |letter: char| {
        is_quoted ^= letter == '"';
        letter.is_whitespace() && !is_quoted
    };
    line.split(is_between).filter(|field| !field.is_empty()).map(unquoted).collect()
}

/// The fields of a line with quotes: a separator between quotes separates nothing.
fn quoted_fields(line: &str, separator: char) -> Vec<&str> {
    let (mut fields, mut start, mut is_quoted) = (Vec::new(), 0, false);
    for (at, letter) in line.char_indices() {
        if letter == '"' {
            is_quoted = !is_quoted;
        } else if letter == separator && !is_quoted {
            fields.push(unquoted(&line[start..at]));
            start = at + letter.len_utf8();
        }
    }
    fields.push(unquoted(&line[start..]));
    fields
}

/// Names of types of columns, in lower case without the text in brackets behind them.
const TYPES: [&str; 40] = [
    "float",
    "float32",
    "float64",
    "double",
    "real",
    "lreal",
    "decimal",
    "numeric",
    "number",
    "int",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "integer",
    "bigint",
    "smallint",
    "long",
    "short",
    "word",
    "dword",
    "dint",
    "string",
    "text",
    "varchar",
    "char",
    "str",
    "object",
    "bool",
    "boolean",
    "date",
    "datetime",
    "datetime64",
    "timestamp",
    "timestamptz",
    "time",
];

/// Whether all fields of a row are names of types, and not of times alone: `DateTime64(6),Float64`.
pub fn is_row_of_types(fields: &[&str]) -> bool {
    const TIMES: std::ops::Range<usize> = 34..40;
    let place = |field: &&str| {
        let lower = field.trim_matches(['"', ' ']).to_lowercase();
        let inner =
            ["nullable(", "lowcardinality("].iter().find_map(|outer| lower.strip_prefix(outer));
        let plain =
            inner.unwrap_or(&lower).split(['(', '[', ')']).next().unwrap_or_default().trim();
        TYPES.iter().position(|own| *own == plain)
    };
    let places: Option<Vec<usize>> = fields.iter().map(place).collect();
    let is_value = |places: Vec<usize>| places.iter().any(|place| !TIMES.contains(place));
    fields.len() > 1 && places.is_some_and(is_value)
}

/// Whether the first field of the rows is an index that has no name in the header, as R and data
/// frames write it: it counts the rows or names them, and the second field is a time that rises
/// evenly or a calendar time. Without the latter the count may be the time itself.
pub fn index_of_rows(rows: &[Vec<&str>]) -> bool {
    let column = |at: usize| rows.iter().filter_map(move |row| row.get(at).copied());
    let numbers =
        |at: usize| column(at).map(|field| field.parse::<f64>().ok()).collect::<Option<Vec<f64>>>();
    let steps = |all: Vec<f64>| all.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<f64>>();
    let is_word = |field: &str| {
        field.chars().any(char::is_alphabetic)
            && Stamp::parse(field).is_none()
            && field.parse::<f64>().is_err()
    };
    let counts = || match numbers(0).map(steps) {
        Some(steps) => !steps.is_empty() && steps.iter().all(|step| (step - 1.0).abs() < 1e-9),
        None => column(0).all(is_word),
    };
    let is_time = || {
        let is_even = |steps: Vec<f64>| {
            let usual = steps.iter().sum::<f64>() / steps.len().max(1) as f64;
            usual > 0.0 && steps.iter().all(|step| (step / usual - 1.0).abs() < 0.1)
        };
        column(1).all(|field| Stamp::parse(field).is_some())
            || numbers(1).map(steps).is_some_and(is_even)
    };
    rows.len() > 1 && counts() && is_time()
}

/// Whether a row below names and units says what each value is of its interval, as TOA5 has it:
/// `Smp`, `Avg`.
pub fn is_processing_row(fields: &[impl AsRef<str>]) -> bool {
    const WORDS: [&str; 12] = [
        "smp", "avg", "max", "min", "std", "tot", "med", "wvc", "rms", "samples", "sample", "mean",
    ];
    let words = || fields.iter().map(|field| field.as_ref().trim().to_lowercase());
    words().any(|word| !word.is_empty())
        && words().all(|word| word.is_empty() || WORDS.contains(&word.as_str()))
}

/// The lines of a text, numbered from 1: LF, CR LF, or CR alone as old programs write it.
pub fn numbered_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let ending = if text.contains('\n') { '\n' } else { '\r' };
    let lines = text.split(ending).map(|line| line.trim_end_matches('\r'));
    lines.enumerate().map(|(index, line)| (index + 1, line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_protect_a_separator() {
        let fields = Separator::Char(',').fields(r#""0,5","-1,25", 7,"#);
        assert_eq!(fields, ["0,5", "-1,25", "7"]);
        assert_eq!(Separator::Spaces.fields("  1   2 \"3\""), ["1", "2", "3"]);
        let stamped = "\"2026-05-04 07:06:05.001\" 0.5 \"0.25 g\"";
        assert_eq!(Separator::Spaces.fields(stamped), ["2026-05-04 07:06:05.001", "0.5", "0.25 g"]);
    }

    #[test]
    fn every_line_end_ends_a_line() {
        for text in ["a\nb", "a\r\nb", "a\rb"] {
            let lines: Vec<(usize, &str)> = numbered_lines(text).collect();
            assert_eq!(lines, [(1, "a"), (2, "b")], "{text:?}");
        }
    }
}
