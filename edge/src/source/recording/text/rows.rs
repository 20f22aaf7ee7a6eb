//! The rows of a text by its layout: numbers column by column, calendar times as seconds.
//!
//! Second stage of the text reader. Invariants: every column has one value a row; a row of another
//! width or with a word in a column of numbers is an error with its line, except in a footer at the
//! end.

use ndarray::Array2;

use super::layout::{ColumnKind, Layout};
use crate::source::recording::repeats::WordColumn;
use crate::tabular::calendar::decided_order;
use crate::tabular::zone::{in_utc_ns, zone_of_name};
use crate::tabular::{LocalZone, Stamp};

/// Most lines of a footer.
const MAX_FOOTER_LINES: usize = 20;

/// The columns of a text.
pub(super) struct TextColumns {
    width: usize,
    /// Row by row; NaN in columns of times, which stand in `stamps`.
    numbers: Vec<f64>,
    /// Stamps of each calendar column by row, and the column.
    stamps: Vec<(usize, Vec<Stamp>)>,
    /// Seconds of each calendar column.
    seconds: Vec<(usize, Vec<f64>)>,
    /// Columns of words whose first rows are empty: labels of a part of the rows.
    labels: Vec<usize>,
    /// The columns of words, each with its place.
    words: Vec<(usize, WordColumn)>,
    /// Columns of which a row has held a number.
    has_number: Vec<bool>,
    /// Columns that became a part of another one.
    joined: Vec<usize>,
    /// The start of each column that has dates.
    starts: Vec<ColumnStart>,
    /// Lines of words behind the last row.
    pub(super) footer: Vec<String>,
    pub(super) notes: Vec<String>,
}

/// When the first row of a column of dates was.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ColumnStart {
    pub(super) column: usize,
    /// Seconds since 1970.
    pub(super) s: f64,
    /// The zone of this start is stated nowhere.
    pub(super) is_local: bool,
}

impl TextColumns {
    /// Reads all rows.
    ///
    /// # Errors
    /// The line and the field that do not fit, in words.
    pub(super) fn read<'a>(
        rows: impl Iterator<Item = (usize, &'a str)>,
        layout: &Layout,
    ) -> Result<Self, String> {
        let mut all = Self::without_rows(layout);
        let mut fault: Option<String> = None;
        let (mut footer, mut repeated, mut empty) = (0, 0, 0);
        let mut last_lines = Vec::new();
        let mut rows = rows;
        while let Some((number, line)) = rows.next() {
            if all.is_header(line, layout) {
                repeated += 1;
                continue;
            }
            // without a time such a row has no place; without times its samples are missing
            if !all.stamps.is_empty() && is_empty_row(line, layout) {
                empty += 1;
                continue;
            }
            match all.row(number, line, layout) {
                Ok(()) if fault.is_none() => {}
                // a row behind a line that is none: the line is a fault, not a footer
                Ok(()) => return Err(going_on(&fault.unwrap_or_default(), number)),
                Err(error) => {
                    footer += 1;
                    let may_be_footer = all.rows() > 0 && is_words(line, layout);
                    if !may_be_footer || footer > MAX_FOOTER_LINES {
                        let fault = fault.unwrap_or(error);
                        return Err(all.going_on_below(fault, &mut rows, layout));
                    }
                    last_lines.push(line.trim().to_owned());
                    fault.get_or_insert(error);
                }
            }
        }
        all.footer = last_lines;
        if footer > 0 {
            let lines = if footer == 1 {
                "1 line at the end was"
            } else {
                &format!("{footer} lines at the end were")
            };
            all.notes.push(format!("{lines} left out"));
        }
        if empty > 0 {
            all.notes.push(format!("{} left out", counted_were(empty, "empty row")));
        }
        if !all.labels.is_empty() {
            let place = |column: &usize| (column + 1).to_string();
            let columns: Vec<String> = all.labels.iter().map(place).collect();
            all.notes.push(format!("columns of words were left out: {}", columns.join(", ")));
        }
        if repeated > 0 {
            all.notes
                .push(format!("the header is repeated ({repeated} ×): the logger was restarted"));
        }
        all.resolve(layout)?;
        Ok(all)
    }

    fn without_rows(layout: &Layout) -> Self {
        let width = layout.kinds.len();
        let calendar = |(column, kind): (usize, &ColumnKind)| {
            (*kind == ColumnKind::Calendar).then(|| (column, Vec::new()))
        };
        let of_words = |(column, kind): (usize, &ColumnKind)| {
            (*kind == ColumnKind::Words).then(|| (column, WordColumn::default()))
        };
        Self {
            width,
            numbers: Vec::new(),
            stamps: layout.kinds.iter().enumerate().filter_map(calendar).collect(),
            seconds: Vec::new(),
            labels: Vec::new(),
            words: layout.kinds.iter().enumerate().filter_map(of_words).collect(),
            has_number: vec![false; width],
            joined: Vec::new(),
            starts: Vec::new(),
            footer: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// A fault of a line with words, and rows of the same form further down.
    fn going_on_below<'a>(
        &mut self,
        fault: String,
        rows: &mut impl Iterator<Item = (usize, &'a str)>,
        layout: &Layout,
    ) -> String {
        let below = rows.take(MAX_FOOTER_LINES).skip_while(|(_, line)| !has_words(line));
        let mut row = below.filter(|(number, line)| self.row(*number, line, layout).is_ok());
        match (row.next(), row.next()) {
            (Some((number, _)), Some(_)) if !fault.contains(" is no ") => going_on(&fault, number),
            _ => fault,
        }
    }

    fn is_header(&self, line: &str, layout: &Layout) -> bool {
        !self.numbers.is_empty()
            && layout
                .header
                .as_ref()
                .is_some_and(|header| header.len() > 1 && layout.separator.fields(line) == *header)
    }

    /// Adds one row.
    fn row(&mut self, number: usize, line: &str, layout: &Layout) -> Result<(), String> {
        let mut fields = layout.separator.fields(line);
        if fields.len() + 1 == self.width && layout.separator.closes(line) {
            fields.push(""); // an empty last field
        }
        if fields.len() != self.width {
            return Err(format!(
                "line {number} has {}, the rows before have {}; is the file truncated?",
                counted(fields.len(), "field"),
                self.width
            ));
        }
        let before = self.numbers.len();
        let mut times: Vec<Stamp> = Vec::new();
        for (column, field) in fields.iter().copied().enumerate() {
            let value = match layout.kinds[column] {
                ColumnKind::Words => Some(f64::NAN),
                ColumnKind::Number if self.labels.contains(&column) => Some(f64::NAN),
                ColumnKind::Number => layout.form.number(field).or_else(|| {
                    let is_label = !self.has_number[column] && is_label(field) && self.rows() > 0;
                    is_label.then(|| {
                        self.labels.push(column);
                        f64::NAN
                    })
                }),
                ColumnKind::Calendar => Stamp::parse(field).map(|stamp| {
                    times.push(stamp);
                    f64::NAN
                }),
            };
            let Some(value) = value else {
                self.numbers.truncate(before);
                let shown: String = field.chars().take(40).collect();
                let what =
                    if layout.kinds[column] == ColumnKind::Calendar { "time" } else { "number" };
                return Err(format!(
                    "line {number}, column {}: {shown:?} is no {what}",
                    column + 1
                ));
            };
            self.has_number[column] |= !value.is_nan();
            self.numbers.push(value);
        }
        for ((_, stamps), stamp) in self.stamps.iter_mut().zip(times) {
            stamps.push(stamp);
        }
        for (column, words) in &mut self.words {
            words.take(fields[*column]);
        }
        Ok(())
    }

    /// Turns stamps into seconds since the first row's day; joins a date and a clock in two
    /// columns.
    fn resolve(&mut self, layout: &Layout) -> Result<(), String> {
        let mut stamps = std::mem::take(&mut self.stamps);
        self.joined.extend(joined_clock(&mut stamps));
        let zones = stated_zones(&stamps, &self.joined, layout);
        for (column, all) in stamps {
            // the order changes the day, and a recording of one day has the same times within it
            let mut is_day_open = false;
            let order = decided_order(&all, None).or_else(|error| {
                let first = all.first().map(Stamp::date_only);
                let is_one_day = all.iter().all(|stamp| Some(stamp.date_only()) == first);
                is_day_open = true;
                if is_one_day { Ok(crate::tabular::DateOrder::DayFirst) } else { Err(error) }
            })?;
            let foreign = all.iter().find_map(|stamp| stamp.foreign_year(order));
            let ns: Vec<i64> =
                all.iter().map(|stamp| stamp.folded_ns(order).unwrap_or(0)).collect();
            let has_date = all.iter().all(Stamp::has_date);
            let is_local = !all.iter().any(Stamp::has_offset);
            let stated = zones.iter().find(|(own, _)| *own == column).and_then(|(_, zone)| *zone);
            let is_zoned = has_date && is_local && foreign.is_none() && !is_day_open;
            let zone = stated.unwrap_or(layout.zone);
            let mut ns = over_midnight(ns, &all);
            if is_zoned {
                ns = with_clock_changes(zone, ns);
            }
            let start = ns.iter().copied().min().unwrap_or(0);
            // nanoseconds since 1970 have more digits than a floating-point number
            let ns = ns.into_iter().map(|at| at - start).collect();
            let seconds = self.with_fractions(ns, layout);
            if let Some(year) = foreign {
                self.notes.push(format!(
                    "the dates have the year {year:04}, which is none of this calendar: the \
                     recording is not dated by them; write them as YYYY-MM-DD of the Gregorian \
                     calendar"
                ));
            } else if is_day_open {
                self.notes.push(
                    "the day or the month may come first in the dates, so the recording is not \
                     dated by them; write them as YYYY-MM-DD"
                        .to_owned(),
                );
            } else if has_date {
                let offset_s = stated.map_or(0, |zone| zone.offsets_at(start as f64 / 1e9).first_s);
                if let Some(zone) = stated.filter(|_| is_local) {
                    self.notes
                        .push(format!("times in {}, as the file states", zone.words(offset_s)));
                }
                let is_converted = is_local && stated.is_some();
                let s = start as f64 / 1e9 - if is_converted { f64::from(offset_s) } else { 0.0 };
                self.starts.push(ColumnStart { column, s, is_local: is_local && !is_converted });
            }
            self.seconds.push((column, seconds));
        }
        Ok(())
    }

    /// A clock of whole seconds beside a column of microseconds or milliseconds that begins anew
    /// with each second: both together are the time.
    fn with_fractions(&mut self, ns: Vec<i64>, layout: &Layout) -> Vec<f64> {
        let plain = |ns: &[i64]| ns.iter().map(|ns| *ns as f64 / 1e9).collect();
        if ns.iter().any(|ns| ns % 1_000_000_000 != 0) {
            return plain(&ns);
        }
        let Some((column, unit_ns)) = layout.fraction_column() else { return plain(&ns) };
        let fractions: Vec<f64> =
            self.numbers.iter().skip(column).step_by(self.width).copied().collect();
        let most = 1e9 / unit_ns;
        let falls = fractions.windows(2).any(|pair| pair[1] < pair[0]);
        if !falls || !fractions.iter().all(|fraction| (0.0..most).contains(fraction)) {
            return plain(&ns);
        }
        self.joined.push(column);
        ns.iter().zip(fractions).map(|(ns, part)| (*ns as f64 + part * unit_ns) / 1e9).collect()
    }

    /// The times of a table whose first four columns are hour, minute, second and microsecond, as
    /// PRONOSTIA writes them, s.
    pub(super) fn clock_seconds(&self) -> Option<Vec<f64>> {
        let column = |at: usize| self.numbers.iter().skip(at).step_by(self.width).copied();
        let is_within = |at: usize, limit: f64, must_be_whole: bool| {
            column(at).all(|v| (0.0..limit).contains(&v) && (!must_be_whole || v.fract() == 0.0))
        };
        let is_clock = self.width > 4
            && self.seconds.is_empty()
            && is_within(0, 24.0, true)
            && is_within(1, 60.0, true)
            && is_within(2, 61.0, true)
            && is_within(3, 1e6, false)
            && column(3).any(|v| v >= 1.0);
        is_clock.then(|| {
            let rows = self.numbers.chunks_exact(self.width);
            rows.map(|row| row[0] * 3600.0 + row[1] * 60.0 + row[2] + row[3] * 1e-6).collect()
        })
    }

    /// The start of the recording: of the column that gives its times, else of the first one with
    /// dates.
    pub(super) fn start(&self, times_of: Option<usize>) -> Option<ColumnStart> {
        let own = self.starts.iter().find(|start| Some(start.column) == times_of);
        own.or_else(|| self.starts.first()).copied()
    }

    /// Number of rows.
    pub(super) fn rows(&self) -> usize {
        self.numbers.len().checked_div(self.width).unwrap_or(0)
    }

    /// Number of values.
    pub(super) const fn samples(&self) -> usize {
        self.numbers.len()
    }

    /// The columns of words, each with its place.
    pub(super) fn words(&self) -> &[(usize, WordColumn)] {
        &self.words
    }

    /// Leaves the first rows of a table of one column out.
    pub(super) fn leave_first_out(&mut self, rows: usize) {
        self.numbers.drain(..(rows * self.width).min(self.numbers.len()));
    }

    /// Whether each row is there `times` times, one copy behind the other.
    pub(super) fn is_copied(&self, times: usize) -> bool {
        let rows = self.rows() / times;
        let row = |at: usize| &self.numbers[at * self.width..(at + 1) * self.width];
        let is_same = |a: &[f64], b: &[f64]| {
            a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()))
        };
        rows * times == self.rows()
            && (0..rows)
                .all(|at| (1..times).all(|copy| is_same(row(at * times), row(at * times + copy))))
    }

    /// Whether a column does not stand by itself: it is a part of another one, or labels.
    pub(super) fn is_joined(&self, column: usize) -> bool {
        self.joined.contains(&column) || self.labels.contains(&column)
    }

    /// These columns as channel × sample.
    pub(super) fn table(&self, columns: &[usize]) -> Array2<f64> {
        let rows = self.rows();
        let mut data = Array2::zeros((columns.len(), rows));
        for (mut target, column) in data.outer_iter_mut().zip(columns) {
            if let Some((_, seconds)) = self.seconds.iter().find(|(own, _)| own == column) {
                target.iter_mut().zip(seconds).for_each(|(to, from)| *to = *from);
                continue;
            }
            let numbers = self.numbers.iter().skip(*column).step_by(self.width);
            target.iter_mut().zip(numbers).for_each(|(to, from)| *to = *from);
        }
        data
    }
}

/// Returns a count with its noun in the singular or plural.
fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn counted_were(count: usize, what: &str) -> String {
    format!("{} {}", counted(count, what), if count == 1 { "was" } else { "were" })
}

/// A fault of a line behind which rows go on.
fn going_on(fault: &str, number: usize) -> String {
    let fault = fault.trim_end_matches("; is the file truncated?");
    format!(
        "{fault}; rows go on in line {number}: where another recording begins there, save each in \
         a file of its own"
    )
}

/// Whether a line has a letter that is no part of a number.
fn has_words(line: &str) -> bool {
    line.contains(|c: char| c.is_alphabetic() && !matches!(c, 'e' | 'E'))
}

/// Whether a row has separators and nothing between them.
fn is_empty_row(line: &str, layout: &Layout) -> bool {
    layout.separator.fields(line).iter().all(|field| field.is_empty())
}

/// Whether a field is a word: letters, and not the digits of a number that is damaged.
fn is_label(field: &str) -> bool {
    field.starts_with(char::is_alphabetic)
}

/// Whether a line has words where the rows have values: a footer, not a row that is cut off.
fn is_words(line: &str, layout: &Layout) -> bool {
    let fields = layout.separator.fields(line);
    fields.iter().take(1).any(|field| {
        field.chars().any(char::is_alphabetic)
            && layout.form.number(field).is_none()
            && Stamp::parse(field).is_none()
    })
}

/// Joins a column of dates and one of clocks to one of both; returns the column of clocks.
fn joined_clock(stamps: &mut Vec<(usize, Vec<Stamp>)>) -> Option<usize> {
    let is_date = |all: &[Stamp]| all.iter().all(|s| s.has_date() && !s.has_clock());
    let is_clock = |all: &[Stamp]| all.iter().all(|s| s.has_clock() && !s.has_date());
    let date = stamps.iter().position(|(_, all)| is_date(all))?;
    let time = stamps.iter().position(|(_, all)| is_clock(all))?;
    let (column, clocks) = stamps[time].clone();
    for (stamp, clock) in stamps[date].1.iter_mut().zip(clocks) {
        *stamp = stamp.with_clock_of(&clock);
    }
    stamps.remove(time);
    Some(column)
}

/// The zone of each column of times: that which its name states, that of the clock joined to it,
/// else that of a line above the table.
fn stated_zones(
    stamps: &[(usize, Vec<Stamp>)],
    joined: &[usize],
    layout: &Layout,
) -> Vec<(usize, Option<LocalZone>)> {
    let name = |column: usize| layout.header.as_ref().and_then(|header| header.get(column));
    let of_name = |column: usize| name(column).and_then(|name| zone_of_name(name));
    let zone = |column: usize| {
        let of_clock = || joined.iter().find_map(|clock| of_name(*clock));
        of_name(column).or_else(of_clock).or(layout.stated_zone)
    };
    stamps.iter().map(|(column, _)| (*column, zone(*column))).collect()
}

/// Local times with the hours that a clock of this zone leaves out or repeats among them taken out,
/// counted from the first one.
fn with_clock_changes(zone: LocalZone, local: Vec<i64>) -> Vec<i64> {
    let utc = in_utc_ns(zone, &local);
    let (Some(first_local), Some(first)) = (local.first(), utc.first()) else { return local };
    let offset = first_local - first;
    utc.iter().map(|at| at + offset).collect()
}

/// Times of day alone go on over midnight.
fn over_midnight(mut ns: Vec<i64>, stamps: &[Stamp]) -> Vec<i64> {
    const HALF_A_DAY: i64 = 43_200 * 1_000_000_000;
    if stamps.iter().any(Stamp::has_date) {
        return ns;
    }
    let mut added = 0;
    let mut before = None;
    for time in &mut ns {
        if before.is_some_and(|before: i64| before - *time > HALF_A_DAY) {
            added += 2 * HALF_A_DAY;
        }
        before = Some(*time);
        *time += added;
    }
    ns
}
