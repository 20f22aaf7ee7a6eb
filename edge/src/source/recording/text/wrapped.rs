//! One channel wrapped over the columns of a table: K-NET, PEER, SLIST, rows of Fortran.
//!
//! Such a text becomes a table of one column before the layout is looked for. Invariant: a text is
//! one of these only by its own head, which states the number of samples or has the form of the
//! format; numbers of a table with named columns are never joined.

use pdm_shared::time::Timestamp;

use super::Rewritten;
use super::layout::loose_value;
use crate::source::interpretation::StatedUnit;
use crate::source::recording::meaning::since_1970;
use crate::tabular::fields::{Separator, numbered_lines};
use crate::tabular::{DateOrder, Stamp};

/// Most lines of a head.
const MOST_HEAD_LINES: usize = 64;

/// Fewest samples by which such a text is known.
const LEAST_SAMPLES: usize = 64;

/// Rows by which their width is told.
const SAMPLE_ROWS: usize = 8;

/// Returns the text as one column, and notes for the person; `None` if it is of another form.
pub(super) fn as_table(text: &str) -> Option<Rewritten> {
    let lines =
        || numbered_lines(text).map(|(_, line)| line.trim()).filter(|line| !line.is_empty());
    let sample: Vec<&str> = lines().take(MOST_HEAD_LINES + SAMPLE_ROWS).collect();
    let start = first_row(&sample)?;
    let (head, rows) = sample.split_at(start);
    let separator = separator_of(rows.first()?)?;
    let width = separator.fields(rows.first()?).len();
    if names_columns(head, separator, width) {
        return None;
    }
    let (mut samples, mut count, mut is_last) = (0, 0, false);
    for row in lines().skip(start) {
        let own = separator.fields(row);
        // the last row holds what is left
        let fits = own.len() <= width && !is_last;
        is_last = own.len() < width;
        if !fits || !own.iter().all(|field| is_number(field)) {
            return None;
        }
        samples += own.len();
        count += 1;
    }
    let form = Head::of(head, samples, count).filter(|_| samples >= LEAST_SAMPLES)?;
    let fields = lines().skip(start).flat_map(|row| separator.fields(row));
    Some(form.table(fields, samples, width))
}

/// The first line of the rows of numbers below a head.
fn first_row(lines: &[&str]) -> Option<usize> {
    let width =
        |line: &&str| separator_of(line).map_or(0, |separator| separator.fields(line).len());
    // the last row of a short text holds what is left
    let usual = width(lines.get(lines.len().checked_sub(2)?)?);
    let is_row = |line: &&str| {
        let own = separator_of(line).map(|separator| separator.fields(line));
        own.is_some_and(|own| own.len() > 1 && own.iter().all(|field| is_number(field)))
    };
    let is_start = |at: &usize| {
        let own = &lines[*at..];
        width(&own[0]) == usual && own.iter().take(SAMPLE_ROWS).all(is_row)
    };
    let start = (0..lines.len()).find(is_start)?;
    (start > 0 && usual > 1).then_some(start)
}

/// Returns how such a row is separated: by blanks or tabs, or by commas.
fn separator_of(line: &str) -> Option<Separator> {
    let separator = if line.contains(',') { Separator::Char(',') } else { Separator::Spaces };
    (!separator.fields(line).is_empty()).then_some(separator)
}

/// Whether a field is a number, whose exponent may be one of Fortran.
fn is_number(field: &str) -> bool {
    let is_part = |c: char| c.is_ascii_digit() || "+-.eEdD".contains(c);
    field.chars().all(is_part) && number_of(field).is_some()
}

fn number_of(field: &str) -> Option<f64> {
    match field.parse() {
        Ok(number) => Some(number),
        Err(_) => field.replace(['d', 'D'], "e").parse().ok(),
    }
}

/// Whether the line above the rows has a name for each column, or a row of data frames.
fn names_columns(head: &[&str], separator: Separator, width: usize) -> bool {
    head.iter().rev().take(2).any(|line| {
        let plain = line.trim_start_matches(['#', '%', ' ']);
        let own = separator.fields(plain);
        own.len() == width && own.iter().all(|field| loose_value(field) != Some(true))
    })
}

/// The statements of the head on the samples.
struct Head {
    format: &'static str,
    /// Lines above the table of one column.
    lines: Vec<String>,
    scale: Option<(f64, String)>,
    start: Option<(Timestamp, bool)>,
}

impl Head {
    fn of(head: &[&str], samples: usize, rows: usize) -> Option<Self> {
        if let Some(own) = Self::of_knet(head) {
            return Some(own);
        }
        if let Some(own) = Self::of_slist(head, samples) {
            return Some(own);
        }
        let states = |line: &&str| integers(line).any(|number| number == samples);
        // the number of rows is that of a table of several channels
        if samples == rows || !head.iter().any(states) {
            return None;
        }
        let parts = head.iter().flat_map(|line| line.split(", "));
        let lines = parts.map(|part| format!("# {part}"));
        let lines = lines.chain(step_of(head, samples)).collect();
        Some(Self { format: "one channel", lines, scale: None, start: None })
    }

    /// K-NET and KiK-net: `Scale Factor  3920(gal)/6182761`.
    fn of_knet(head: &[&str]) -> Option<Self> {
        let value = |key: &str| head.iter().find_map(|line| line.strip_prefix(key)).map(str::trim);
        let (over, under) = value("Scale Factor")?.split_once('/')?;
        let (amount, unit) = over.split_once('(')?;
        let unit = StatedUnit::parse(unit)?.spelling;
        let scale = amount.trim().parse::<f64>().ok()? / under.trim().parse::<f64>().ok()?;
        let rate = value("Sampling Freq(Hz)")?.trim_end_matches("Hz").trim();
        rate.parse::<f64>().ok()?;
        let lines = vec![format!("# rate: {rate} Hz"), format!("# unit: {unit}")];
        let told = format!("the scale factor of the head ({}) is applied", value("Scale Factor")?);
        let is_fitting = scale.is_finite() && scale > 0.0;
        is_fitting.then_some(Self {
            format: "K-NET",
            lines,
            scale: Some((scale, told)),
            start: None,
        })
    }

    /// SLIST: `TIMESERIES XX_DE__HNZ_D, 12800 samples, 12800 sps, 2026-03-01T08:00:00.000000,
    /// SLIST, FLOAT, M/S**2`.
    fn of_slist(head: &[&str], samples: usize) -> Option<Self> {
        let [line] = head else { return None };
        let rest = line.strip_prefix("TIMESERIES ")?;
        let parts: Vec<&str> = rest.split(',').map(str::trim).collect();
        let [_, count, rate, start, "SLIST", _, unit, ..] = parts.as_slice() else { return None };
        let count: usize = count.split_whitespace().next()?.parse().ok()?;
        let rate: f64 = rate.split_whitespace().next()?.parse().ok()?;
        if count != samples {
            return None;
        }
        let mut lines = vec![format!("# rate: {rate} Hz")];
        if !unit.is_empty() {
            lines.push(format!("# unit: {unit}"));
        }
        // the times of seismic stations are in UTC
        let start = Stamp::parse(start).and_then(|stamp| stamp.unix_ns(DateOrder::YearFirst));
        let start = start.and_then(|ns| since_1970(ns as f64 / 1e9)).map(|at| (at, false));
        Some(Self { format: "SLIST", lines, scale: None, start })
    }

    /// The samples below the head, one a line.
    fn table<'a>(
        self,
        fields: impl Iterator<Item = &'a str>,
        samples: usize,
        width: usize,
    ) -> Rewritten {
        let mut table = self.lines.join("\n") + "\n";
        let scale = self.scale.as_ref().map(|(scale, _)| *scale);
        for field in fields {
            match scale.zip(number_of(field)) {
                Some((scale, number)) => table.push_str(&(number * scale).to_string()),
                None => table.push_str(field),
            }
            table.push('\n');
        }
        let told = format!(
            "{}: {samples} samples stand {width} in a row, as the head states",
            self.format
        );
        let notes = std::iter::once(told).chain(self.scale.map(|(_, told)| told)).collect();
        Rewritten { format: "columns of text", table, notes, start: self.start }
    }
}

/// The whole numbers of a line, also behind a sign or a letter: `NPTS=64000,`.
fn integers(line: &str) -> impl Iterator<Item = usize> {
    let words =
        line.split(|c: char| c.is_whitespace() || matches!(c, ',' | '=' | ':' | ';' | '(' | ')'));
    words.filter_map(|word| word.parse().ok())
}

/// The step of a line that holds nothing but the number of points and the step, as old programs
/// write it.
fn step_of(head: &[&str], samples: usize) -> Option<String> {
    let numbers =
        |line: &str| -> Option<Vec<f64>> { line.split_whitespace().map(number_of).collect() };
    let of_lines = head.iter().filter_map(|line| numbers(line)).flatten().collect::<Vec<f64>>();
    let at = of_lines.iter().position(|number| (number - samples as f64).abs() < 0.5)?;
    let step = of_lines.get(at + 1).filter(|step| (1e-7..1.0).contains(*step))?;
    Some(format!("# dt: {step} s"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::source::Source;
    use crate::source::recording::{RecordingOptions, open_content};

    fn read(text: &str) -> Result<(Box<dyn Source>, String), String> {
        let options = RecordingOptions::default();
        let source = open_content(Path::new("t.txt"), text.as_bytes().to_vec(), &options);
        source.map_err(|error| error.to_string()).map(|source| {
            let said = source.interpretation().expect("a file").to_string();
            (source, said)
        })
    }

    fn wave(n: usize) -> f64 {
        (n as f64 * 0.7).sin() + 0.2 * (n as f64 * 0.31).cos()
    }

    fn rows(count: usize, width: usize, each: impl Fn(usize) -> String) -> String {
        let fields: Vec<String> = (0..count).map(each).collect();
        fields.chunks(width).map(|row| row.join(" ") + "\n").collect()
    }

    /// R-EDGE-4: every eighth sample was read at the full rate, and the unit of a factor was that
    /// of the counts.
    #[test]
    fn a_channel_wrapped_over_columns_is_one_channel_of_all_samples() {
        let e = |n: usize| format!("{:.6E}", wave(n));
        let counts = |n: usize| format!("{:.0}", 1e5 * wave(n));
        for (what, text, unit) in [
            (
                "K-NET",
                format!(
                    "Origin Time       2026/05/04 06:07:08\nSampling Freq(Hz) 200Hz\nDuration \
                     Time(s)  5\n\
                     Scale Factor      2000(gal)/1000000\nMax. Acc. (gal)   20.1\n{}",
                    rows(1000, 8, counts)
                ),
                "gal",
            ),
            (
                "PEER",
                format!(
                    "PEER NGA STRONG MOTION DATABASE RECORD\nRIG, 5/4/2026, H\n\
                     ACCELERATION TIME SERIES IN UNITS OF G\nNPTS=  1003, DT=   .005 SEC,\n{}",
                    rows(1003, 5, e)
                ),
                "G",
            ),
            (
                "SLIST",
                format!(
                    "TIMESERIES XX_DE__HNZ_D, 1001 samples, 200 sps, 2026-05-04T06:07:08.000000, \
                     SLIST, FLOAT, M/S**2\n{}",
                    rows(1001, 6, e)
                ),
                "M/S**2",
            ),
            (
                "Fortran",
                format!("Acceleration, g, 1000 points, dt=5.0E-03 s\n{}", rows(1000, 8, e)),
                "g",
            ),
            ("head of numbers", format!("# unit: g\n1000 0.005\n{}", rows(1000, 5, e)), "g"),
            (
                "exponents of Fortran",
                format!("# unit: g\n1000 0.005\n{}", rows(1000, 4, |n| e(n).replace('E', "D"))),
                "g",
            ),
        ] {
            let (source, said) = read(&text).expect(what);
            assert!(
                said.contains("1 channel") && said.contains(&format!("in {unit} (")),
                "{what}: {said}"
            );
            assert!(said.contains("200 Hz (from the file)"), "{what}: {said}");
            let samples = source.format().block_samples.expect("one block");
            assert!((1000..=1003).contains(&samples), "{what}: {samples} samples");
        }
    }

    #[test]
    fn a_table_of_several_channels_is_not_joined() {
        let three = rows(999, 3, |n| format!("{:.5}", wave(n)));
        for head in
            ["ax ay az\n", "# samples: 333, rate: 200 Hz, unit: g\n", "# samples: 999\nax ay az\n"]
        {
            let options = RecordingOptions {
                sample_rate: Some(pdm_shared::units::SampleRate::new(200.0).expect("a rate")),
                ..RecordingOptions::default()
            };
            let text = format!("{head}{three}");
            let source = open_content(Path::new("t.txt"), text.into_bytes(), &options).expect(head);
            assert_eq!(source.format().channels, 3, "{head}");
        }
    }
}
