//! Tables whose shape is another than one row a sample: lists in cells, rows that are channels,
//! recordings that blank lines divide, numbers of a head among the samples.
//!
//! Between the layout and the rows. Invariant: what has another shape is refused with what it is,
//! or its parts are told; no number of a head becomes a sample.

use super::layout::{ColumnKind, Layout, Line};
use super::metadata::Metadata;
use super::rows::TextColumns;
use super::{column_name, is_comment};
use crate::source::Preferred;
use crate::source::recording::RecordingOptions;
use crate::tabular::fields::numbered_lines;

/// Fewest fields of a row that may be a channel, and how many times more of them there are than
/// rows. Chosen: a rack has some dozens of channels, and a recording far more samples.
const LEAST_FIELDS: usize = 256;
const MORE_FIELDS: usize = 4;

/// Most fields of a line: the columns of a spreadsheet's sheet (ECMA-376), sixteen times as many as
/// a recording has channels. Every field is looked at for names, units and times, so a wider table
/// would take minutes of a gateway's processor before it is refused for its shape.
const MOST_FIELDS: usize = 16_384;

/// Refuses lines that have more fields than any table, before they are looked at for the layout.
/// Separators within quotes and brackets are none.
pub(super) fn check_width(lines: &[Line<'_>]) -> Result<(), String> {
    match lines.iter().find(|(_, line)| has_more_fields(line, MOST_FIELDS)) {
        None => Ok(()),
        Some((number, _)) => Err(format!(
            "line {number} has more than {MOST_FIELDS} fields, which is the most that is read: if \
             each row is a channel or a recording of its own, turn the table round (rows into \
             columns); else keep the columns that are meant"
        )),
    }
}

/// Whether a line has more than so many fields by one of the separators.
fn has_more_fields(line: &str, most: usize) -> bool {
    if line.len() <= most {
        return false;
    }
    let (mut is_quoted, mut depth, mut is_blank) = (false, 0_usize, true);
    let [mut commas, mut semicolons, mut tabs, mut words] = [0_usize; 4];
    for byte in line.bytes() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            b'[' | b'(' | b'{' => depth += 1,
            b']' | b')' | b'}' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            b',' => commas += 1,
            b';' => semicolons += 1,
            b'\t' => tabs += 1,
            _ => {}
        }
        let was_blank = std::mem::replace(&mut is_blank, byte == b' ');
        words += usize::from(was_blank && !is_blank && !is_quoted && depth == 0);
        // one separator less than fields
        if commas >= most || semicolons >= most || tabs >= most || words > most {
            return true;
        }
    }
    false
}

/// Refuses rows that are channels or recordings of their own.
pub(super) fn check_rows_are_samples(columns: &TextColumns, layout: &Layout) -> Result<(), String> {
    let (rows, width) = (columns.rows(), layout.kinds.len());
    if width < LEAST_FIELDS || rows * MORE_FIELDS > width {
        return Ok(());
    }
    let row = if rows == 1 { "1 row" } else { &format!("{rows} rows") };
    Err(format!(
        "the table has {row} of {width} fields: each row seems to be a channel or a recording of \
         its own, and a table is read with one row a sample; turn it round (rows into columns), \
         and save recordings that follow each other in a file each"
    ))
}

/// Refuses cells that hold lists of numbers, where no other column holds samples or a person names
/// such a column.
pub(super) fn check_lists(
    columns: &TextColumns,
    layout: &Layout,
    named: Option<&str>,
) -> Result<(), String> {
    let is_list = |word: &String| {
        let inner = word.trim().strip_prefix(['[', '(', '{']);
        let is_part = |c: char| c.is_ascii_digit() || "-+.eE,; ])}".contains(c);
        inner.is_some_and(|inner| inner.contains([',', ' ', ';']) && inner.chars().all(is_part))
    };
    let lists = columns.words().iter().filter(|(_, own)| own.words.iter().any(is_list));
    let lists: Vec<String> =
        lists.map(|(column, _)| format!("{:?}", column_name(layout, *column))).collect();
    let is_other = |names: &str| !lists.iter().any(|list| list.trim_matches('"') == names.trim());
    if lists.is_empty() || named.is_some_and(is_other) {
        return Ok(());
    }
    Err(format!(
        "the samples stand in lists, one in each cell of column {}, which is not read: write the \
         numbers of each list into rows of a file of its own, or name another column \
         (--variable)",
        lists.join(", ")
    ))
}

/// Fewest rows of a part that may be a recording.
const LEAST_PART: usize = 16;

/// Returns the note, in words, that blank lines among the rows divide recordings.
pub(super) fn divided_by_blank_lines(text: &str, layout: &Layout) -> Option<String> {
    let (mut parts, mut own, mut blank, mut most_blank) = (Vec::new(), 0usize, 0usize, 0usize);
    let mut first_line = None;
    for (number, line) in numbered_lines(text).filter(|(number, _)| *number >= layout.first_row) {
        let plain = line.trim();
        if plain.is_empty() {
            blank += 1;
        } else if !is_comment(plain) {
            if blank > 0 && own > 0 {
                parts.push(std::mem::take(&mut own));
                first_line.get_or_insert(number);
                most_blank = most_blank.max(blank);
            }
            blank = 0;
            own += 1;
        }
    }
    parts.push(own);
    let are_parts = parts.len() > 1 && parts.iter().all(|rows| *rows >= LEAST_PART);
    let are_equal = parts.iter().all(|rows| *rows == parts[0]);
    // a single blank line among rows of different numbers may be one that a logger lost
    if !are_parts || !(are_equal || most_blank > 1) {
        return None;
    }
    Some(format!(
        "blank lines divide the rows into {} parts (the second begins in line {}): several \
         recordings seem to stand one below the other",
        parts.len(),
        first_line.unwrap_or_default()
    ))
}

/// Numbers of a head that stand among the first samples of a table of one column.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct HeadNumbers {
    /// Rows that they take.
    pub(super) rows: usize,
    /// The number of points.
    pub(super) points: f64,
    /// Seconds from sample to sample.
    pub(super) step_s: Option<f64>,
}

/// Rows from which on a first one of another form is one of a head.
const LEAST_SAMPLES: usize = 64;

/// The numbers of a head above the samples: their number, or a whole number above decimals, and the
/// step behind it.
pub(super) fn numbers_of_head(
    text: &str,
    layout: &Layout,
    columns: &TextColumns,
) -> Option<HeadNumbers> {
    if layout.kinds.as_slice() != [ColumnKind::Number] || columns.rows() < LEAST_SAMPLES {
        return None;
    }
    let rows = columns.rows();
    let mut lines = numbered_lines(text)
        .filter(|(number, line)| *number >= layout.first_row && !is_comment(line.trim()))
        .map(|(_, line)| line.trim())
        .filter(|line| !line.is_empty());
    let (first, second) = (lines.next()?, lines.next()?);
    let is_whole = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let points: f64 = Some(first).filter(|first| is_whole(first))?.parse().ok()?;
    let is_count = |rows: usize| (points - rows as f64).abs() < 0.5;
    let step_s = layout.form.number(second).filter(|step| (1e-7..1.0).contains(step));
    if is_count(rows - 2) && step_s.is_some() {
        return Some(HeadNumbers { rows: 2, points, step_s });
    }
    let rest_is_decimal = || lines.take(1000).chain([second]).all(|line| line.contains(['.', ',']));
    let is_head = is_count(rows - 1) || (points >= LEAST_SAMPLES as f64 && rest_is_decimal());
    is_head.then_some(HeadNumbers { rows: 1, points, step_s: None })
}

impl HeadNumbers {
    /// Returns the note on them for the person.
    pub(super) fn note(&self) -> String {
        let step = self.step_s.map_or_else(String::new, |step| format!(" and {step}"));
        format!(
            "the first numbers ({}{step}) are those of a head and no samples: left out",
            self.points
        )
    }
}

/// The last line with anything but separators: a spreadsheet leaves rows of them at the end.
pub(super) fn last_filled(text: &str) -> usize {
    let is_filled = |(_, line): &(usize, &str)| line.contains(|c: char| !" ,;\t\"".contains(c));
    numbered_lines(text).filter(is_filled).last().map_or(0, |(at, _)| at)
}

/// Refuses another rate in a comment among the rows: a second recording begins there.
pub(super) fn check_rates_below(
    text: &str,
    layout: &Layout,
    options: &RecordingOptions,
) -> Result<(), String> {
    let is_decided = options.sample_rate.is_some() && options.prefer == Some(Preferred::Option);
    let Some(above) = layout.metadata.rate_hz.filter(|_| !is_decided) else { return Ok(()) };
    let comments = numbered_lines(text).filter(|(number, _)| *number > layout.first_row);
    let comments = comments.map(|(number, line)| (number, line.trim_matches([' ', '\u{feff}'])));
    for (number, line) in comments.filter(|(_, line)| is_comment(line)) {
        let below = Metadata::of_lines(std::iter::once(line)).rate_hz;
        if let Some(below) = below.filter(|below| (below / above - 1.0).abs() > 0.01) {
            return Err(format!(
                "line {number} states {below} Hz, the lines above the first row {above} Hz: \
                 several recordings stand one below the other; save each in a file of its own"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::source::recording::{RecordingOptions, open_content};
    use pdm_shared::units::SampleRate;

    fn said(text: &str, rate_hz: Option<f64>) -> Result<String, String> {
        let sample_rate = rate_hz.map(|hz| SampleRate::new(hz).expect("a rate"));
        let options = RecordingOptions { sample_rate, ..RecordingOptions::default() };
        let source = open_content(Path::new("t.csv"), text.as_bytes().to_vec(), &options);
        source
            .map(|source| source.interpretation().expect("a file").to_string())
            .map_err(|error| error.to_string())
    }

    fn wave(n: usize) -> String {
        format!("{:.5}", (n as f64 * 0.7).sin() + 0.01 * (n as f64 * 0.31).cos())
    }

    fn column(rows: usize) -> String {
        (0..rows).map(|n| wave(n) + "\n").collect()
    }

    /// R-EDGE-4: two recordings that blank lines divide were read as one.
    #[test]
    fn blank_lines_that_divide_recordings_are_refused_and_single_ones_are_not() {
        for gap in ["\n\n", "\n"] {
            let text = format!("acc (g)\n{}{gap}{}", column(400), column(400));
            let error = said(&text, Some(2560.0)).expect_err("two recordings");
            assert!(error.contains("2 parts") && error.contains("--prefer option"), "{error}");
        }
        let odd = format!("acc (g)\n{}\n{}", column(400), column(320));
        assert!(said(&odd, Some(2560.0)).is_ok(), "one lost line");
        let timed = (0..200)
            .map(|n| format!("{},{}\n", n as f64 / 1e3, wave(n)))
            .collect::<Vec<String>>()
            .concat();
        let (head, tail) = timed.split_at(timed.match_indices('\n').nth(99).expect("a line").0 + 1);
        assert!(said(&format!("t,acc (g)\n{head}\n\n{tail}"), None).is_ok(), "times go on");
        let doubled = column(100).replace('\n', "\n\n");
        assert!(said(&format!("acc (g)\n{doubled}"), Some(2560.0)).is_ok(), "every line apart");
    }

    /// R-EDGE-4: the number of points and the step became samples.
    #[test]
    fn numbers_of_a_head_are_no_samples() {
        let text = format!("500\n0.000390625\n{}", column(500));
        let told = said(&text, None).expect("reads");
        assert!(told.contains("2560 Hz (from the file)") && told.contains("no samples"), "{told}");
        let counted = said(&format!("500\n{}", column(500)), Some(2560.0)).expect("reads");
        assert!(counted.contains("(500) are those of a head"), "{counted}");
        let other = said(&format!("1024\n{}", column(500)), Some(2560.0)).expect("reads");
        assert!(other.contains("(1024) are those of a head"), "{other}");
        let plain = said(&column(500), Some(2560.0)).expect("reads");
        assert!(!plain.contains("head"), "{plain}");
    }

    /// R-EDGE-4: three samples of 12,800 channels, without a word on what the rows are.
    #[test]
    fn rows_that_are_channels_and_lists_in_cells_are_refused_by_what_they_are() {
        let row = (0..600).map(wave).collect::<Vec<String>>().join(",");
        for text in
            [format!("{row}\n"), format!("{row}\n{row}\n"), format!("X (g),{row}\nY (g),{row}\n")]
        {
            let error = said(&text, Some(2560.0)).expect_err("rows are channels");
            assert!(error.contains("a channel or a recording of its own"), "{error}");
        }
        let list = (0..40).map(wave).collect::<Vec<String>>().join(", ");
        let rows = (0..20)
            .map(|n| format!("2026-05-04T06:07:{n:02}Z,2560,\"[{list}]\"\n"))
            .collect::<Vec<String>>()
            .concat();
        let error = said(&format!("ts,fs,acc_g\n{rows}"), None).expect_err("lists");
        assert!(error.contains("lists") && error.contains("\"acc_g\""), "{error}");
    }

    /// R-EDGE-4: 400,000 columns took more than 15 s of a processor.
    #[test]
    fn a_table_wider_than_any_spreadsheet_is_refused_before_its_cells_are_looked_at() {
        let wide = |separator: &str| {
            let names: Vec<String> = (0..400_000).map(|n| format!("c{n}")).collect();
            let row = vec!["1"; 400_000].join(separator);
            format!("{}\n{}", names.join(separator), format!("{row}\n").repeat(12))
        };
        for separator in [",", ";", "\t", " "] {
            let error = said(&wide(separator), Some(2560.0)).expect_err("no table");
            assert!(error.contains("line 1 has more than 16384 fields"), "{error}");
            assert!(error.contains("turn the table round"), "{error}");
        }
        let list = format!("time;acc\n{}", "0;\"[1, 2]\"\n".repeat(300));
        let list = list.replace("[1, 2]", &format!("[{}]", vec!["1"; 20_000].join(", ")));
        let error = said(&list, Some(2560.0)).expect_err("lists in cells");
        assert!(!error.contains("fields"), "the separators of a list are none: {error}");
    }
}
