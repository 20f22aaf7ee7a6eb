//! The layout of a text: separator, header, row of units, first row of numbers, statements in the
//! lines above.
//!
//! First stage of the text reader. It looks at the first lines only; the second stage reads all
//! rows by it. Invariant: a layout that has two readings is refused with both.

use super::head_units::HeadUnits;
use super::heads::{TableHead, comments_above, contradictions, head_of};
use super::metadata::{Metadata, rate_doubt, rate_hints};
use super::surroundings::{check_rates_of_columns, fraction_of, statements_beside, words_left_out};
use crate::source::interpretation::{StatedUnit, UnitKind};
use crate::tabular::fields::Separator;
use crate::tabular::number::{DecimalEvidence, is_missing};
use crate::tabular::zone::zone_of_line;
use crate::tabular::{Decimal, LocalZone, NumberForm, Stamp};

/// Most lines before the numbers. Exports of data loggers have up to some dozens; 200 are several
/// times that.
pub(super) const MAX_PREAMBLE_LINES: usize = 200;

/// Lines behind the preamble by which the layout is told.
pub(super) const SAMPLE_LINES: usize = 200;

/// The contents of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnKind {
    Number,
    /// A date, a time of day or both.
    Calendar,
    /// Words: no channel.
    Words,
}

/// The layout of a text.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) separator: Separator,
    pub(super) form: NumberForm,
    pub(super) kinds: Vec<ColumnKind>,
    pub(super) header: Option<Vec<String>>,
    pub(super) units: Vec<Option<String>>,
    /// Lines of the text before the first row of numbers.
    pub(super) first_row: usize,
    pub(super) metadata: Metadata,
    /// Units that the lines above state in words.
    pub(super) head_units: HeadUnits,
    /// Lines above that may speak of a rate, where none is understood.
    rate_hints: Vec<String>,
    /// A line by which the stated rate may be that of other samples than the rows.
    rate_doubt: Option<String>,
    /// A column without a name that holds the part of a second behind a clock (`06:07:08,123`), and
    /// nanoseconds of its unit.
    fraction: Option<(usize, f64)>,
    /// Columns whose header states another unit than the row of units: column, unit of each.
    pub(super) contradictions: Vec<(usize, StatedUnit, StatedUnit)>,
    /// The first two rows state start and rate.
    pub(super) start_and_rate: Option<(f64, f64)>,
    /// Names that are more or fewer than the columns, and have no one reading.
    pub(super) unfitting: Option<Vec<String>>,
    /// The zone of times that state none.
    pub(super) zone: LocalZone,
    /// The zone that a line above states.
    pub(super) stated_zone: Option<LocalZone>,
    pub(super) notes: Vec<String>,
}

/// A line of the text that is not empty and no comment.
pub(super) type Line<'a> = (usize, &'a str);

/// Finds the layout. `lines`: the lines that are neither empty nor comments, of which the first
/// [`MAX_PREAMBLE_LINES`] and some more are looked at.
pub(super) fn layout_of(
    lines: &[Line<'_>],
    comments: &[Line<'_>],
    decimal: Option<Decimal>,
) -> Result<Layout, String> {
    let (separator, sample) = separator_of(lines)?;
    let mut notes = Vec::new();
    let first = sample.first_row;
    let form = form_of(&lines[first..], separator, decimal)?;
    let separator =
        one_column(&lines[first..], lines.get(first.wrapping_sub(1)), separator, decimal)?;
    let is_comma = separator == Separator::Spaces && sample.separator == Separator::Char(',');
    let form = if is_comma { NumberForm { decimal: Decimal::Comma } } else { form };
    let width = if separator == sample.separator {
        sample.width
    } else {
        row_width(separator, lines[first].1).unwrap_or(1)
    };
    let head = head_of(lines, comments, (first, width), separator);
    let TableHead { heads, mut first_row, words, unfitting, statements, notes: told } = head;
    notes.extend(told);
    let kinds = kinds_of(&lines[first_row..], separator, form, width);
    if kinds.iter().all(|kind| *kind == ColumnKind::Words) {
        return Err("no row of numbers in this text".to_owned());
    }
    let cells = lines.get(first_row).map_or(Vec::new(), |(_, line)| separator.fields(line));
    notes.extend(words_left_out(&kinds, heads.names.as_deref(), &cells));
    let beside = statements_beside(&lines[first_row..], separator, &kinds);
    let beside = || beside.iter().map(String::as_str);
    let above =
        || comments_above(lines, comments, first_row).chain(lines[..first].iter().map(|l| l.1));
    check_rates_of_columns(above())?;
    let all = above().chain(statements.iter().map(String::as_str));
    let metadata = Metadata::of_form(form.decimal, all.chain(beside()));
    let rate_hints = if metadata.rate_hz.is_none() { rate_hints(above()) } else { Vec::new() };
    let rate_doubt = rate_doubt(above()).filter(|_| metadata.rate_hz.is_some()).map(str::to_owned);
    let stated_zone = above().find_map(zone_of_line);
    let head_units = HeadUnits::of_lines(words.into_iter().chain(beside()));
    let start_and_rate = start_and_rate(&lines[first_row..], separator, form);
    if start_and_rate.is_some() {
        first_row += 2;
    }
    let data = first_row.min(lines.len());
    let first_row = lines.get(first_row).map_or(usize::MAX, |(number, _)| *number);
    Ok(Layout {
        separator,
        form,
        fraction: fraction_of(&lines[data..], separator, &kinds),
        kinds,
        contradictions: contradictions(&heads),
        header: heads.names,
        units: heads.units,
        first_row,
        metadata,
        head_units,
        rate_hints,
        rate_doubt,
        start_and_rate,
        unfitting,
        zone: LocalZone::default(),
        stated_zone,
        notes,
    })
}

/// How well a separator fits.
struct SeparatorFit {
    separator: Separator,
    /// Index of the first row of values.
    first_row: usize,
    rows: usize,
    width: usize,
}

/// The separator with which most lines are rows of values of one width. Where none is, rows may
/// hold more words than values, as those of a historian do.
fn separator_of(lines: &[Line<'_>]) -> Result<(Separator, SeparatorFit), String> {
    let best = best_fit(lines, row_width).or_else(|| {
        best_fit(lines, row_among_words).filter(|fit| {
            let rest = lines.len().min(MAX_PREAMBLE_LINES + SAMPLE_LINES) - fit.first_row;
            fit.width > 2 && 10 * fit.rows >= 9 * rest.min(SAMPLE_LINES)
        })
    });
    match best {
        Some(fit) => Ok((fit.separator, fit)),
        None => Err(no_row(lines)),
    }
}

fn best_fit(lines: &[Line<'_>], width_of: RowWidth) -> Option<SeparatorFit> {
    let mut best: Option<SeparatorFit> = None;
    for separator in Separator::ALL {
        let Some(fit) = fit_of(lines, separator, width_of) else { continue };
        let is_better = best.as_ref().is_none_or(|before| {
            (fit.rows > before.rows && !(before.width > 1 && fit.width == 1))
                || (fit.width > 1 && before.width == 1 && 10 * fit.rows >= 9 * before.rows)
        });
        if is_better {
            best = Some(fit);
        }
    }
    best
}

/// Returns why a text has no rows, with a line of it.
fn no_row(lines: &[Line<'_>]) -> String {
    let what = if lines.len() > MAX_PREAMBLE_LINES {
        format!("no row of numbers in the first {MAX_PREAMBLE_LINES} lines")
    } else {
        "no row of numbers in this text".to_owned()
    };
    // a line from the middle of what was looked at is none of a head
    let place = lines.len().min(MAX_PREAMBLE_LINES).saturating_sub(1);
    match lines.get(place) {
        Some((number, line)) => {
            let shown: String = line.trim().chars().take(60).collect();
            format!("{what}; line {number} is {shown:?}")
        }
        None => what,
    }
}

/// How many fields a line has that is a row; `None` for another line.
type RowWidth = fn(Separator, &str) -> Option<usize>;

fn fit_of(lines: &[Line<'_>], separator: Separator, width_of: RowWidth) -> Option<SeparatorFit> {
    let sample = &lines[..lines.len().min(MAX_PREAMBLE_LINES + SAMPLE_LINES)];
    let mut widths: Vec<Option<usize>> =
        sample.iter().map(|(_, line)| width_of(separator, line)).collect();
    open_last_fields(sample, separator, &mut widths);
    // the width of the last rows: a preamble stands above them
    let width = widths.iter().rev().flatten().take(SAMPLE_LINES).fold(
        std::collections::BTreeMap::new(),
        |mut counts: std::collections::BTreeMap<usize, usize>, width| {
            *counts.entry(*width).or_default() += 1;
            counts
        },
    );
    let (&width, &rows) = width.iter().max_by_key(|(_, count)| **count)?;
    let first_row = first_row_of(sample, &widths, separator, width)?;
    (first_row <= MAX_PREAMBLE_LINES).then_some(SeparatorFit { separator, first_row, rows, width })
}

/// Number of fields of a row that may hold more words than values: a time or a number at its
/// beginning or behind words, and a number behind it.
fn row_among_words(separator: Separator, line: &str) -> Option<usize> {
    if separator == Separator::Spaces {
        return None; // a sentence
    }
    let fields = separator.fields(line);
    let is_number = |field: &&str| {
        let number = |decimal| NumberForm { decimal }.number(field).is_some_and(f64::is_finite);
        number(Decimal::Point) || number(Decimal::Comma)
    };
    let numbers = fields.iter().copied().filter(|field| is_number(field)).count();
    let times = fields
        .iter()
        .filter(|field| Stamp::parse(field).is_some_and(|stamp| stamp.has_clock()))
        .count();
    (numbers > 0 && numbers + times > 1).then_some(fields.len())
}

/// Gives the rows before a trigger their last field, which is empty, as oscilloscopes write them: a
/// separator at the end of a row opens a field where other rows, or the line of names above, have
/// one more.
fn open_last_fields(lines: &[Line<'_>], separator: Separator, widths: &mut [Option<usize>]) {
    let fields = |row: usize| separator.fields(lines[row].1).len();
    let is_open = |row: &usize| !separator.closes(lines[*row].1);
    let first = widths.iter().position(Option::is_some).unwrap_or(0);
    let names = first.checked_sub(1).into_iter();
    let rows = (0..lines.len()).filter(|row| widths[*row].is_some());
    let full: std::collections::BTreeSet<usize> =
        rows.chain(names).filter(is_open).map(fields).collect();
    for (row, own) in widths.iter_mut().enumerate() {
        let opened = fields(row) + 1;
        if own.is_some() && !is_open(&row) && full.contains(&opened) {
            *own = Some(opened);
        }
    }
}

/// The first row of this width that is not a line such as `x-axis,1,2` or `start times:` beside
/// times, which is a row of values by its form: it begins with a word, the rows below do not, and a
/// line that is no row stands between. Without such a line the first samples have a statement
/// beside them.
fn first_row_of(
    lines: &[Line<'_>],
    widths: &[Option<usize>],
    separator: Separator,
    width: usize,
) -> Option<usize> {
    let begins_with_word = |row: usize| {
        let first = separator.fields(lines[row].1).first().copied().unwrap_or("");
        loose_value(first).is_none()
    };
    let of_width = || (0..lines.len()).filter(|row| widths[*row] == Some(width));
    let all = of_width().count();
    let usual = of_width().filter(|row| begins_with_word(*row)).count();
    if 2 * usual > all {
        return of_width().next();
    }
    let (first, plain) = (of_width().next()?, of_width().find(|row| !begins_with_word(*row))?);
    Some(if widths[first..plain].contains(&None) { plain } else { first })
}

/// Returns the number of fields of a row of values; `None` for another line. A row has a number or
/// a time, and at most half of its fields are words.
fn row_width(separator: Separator, line: &str) -> Option<usize> {
    let mut fields = separator.fields(line);
    let mut words = 0;
    let mut has_value = false;
    for field in &fields {
        match loose_value(field) {
            Some(is_present) => has_value |= is_present,
            None => words += 1,
        }
    }
    if separator.closes(line) && fields.len() == 1 {
        fields.push("");
    }
    (has_value && 2 * words < fields.len().max(1)).then_some(fields.len())
}

/// Whether a field is a value, and whether that is present; `None` for words.
pub(super) fn loose_value(field: &str) -> Option<bool> {
    if is_missing(field) {
        return Some(false);
    }
    let is_number = [Decimal::Point, Decimal::Comma]
        .into_iter()
        .any(|decimal| NumberForm { decimal }.number(field).is_some());
    (is_number || Stamp::parse(field).is_some()).then_some(true)
}

fn form_of(
    rows: &[Line<'_>],
    separator: Separator,
    decimal: Option<Decimal>,
) -> Result<NumberForm, String> {
    if let Some(decimal) = decimal {
        return Ok(NumberForm { decimal });
    }
    let mut evidence = DecimalEvidence::default();
    let mut example = "";
    for (_, line) in rows.iter().take(4 * SAMPLE_LINES) {
        for field in separator.fields(line) {
            evidence.take(field);
            if example.is_empty() && field.contains(',') {
                example = field;
            }
        }
    }
    let decimal = evidence.decided().ok_or_else(|| {
        format!(
            "{example:?} may be a decimal comma or a comma between thousands; decide with \
             --decimal comma or --decimal point"
        )
    })?;
    Ok(NumberForm { decimal })
}

/// Lines such as `0,1014` are one column with a decimal comma, or two columns of whole numbers.
fn one_column(
    rows: &[Line<'_>],
    header: Option<&Line<'_>>,
    separator: Separator,
    decimal: Option<Decimal>,
) -> Result<Separator, String> {
    if separator != Separator::Char(',') || decimal == Some(Decimal::Point) {
        return Ok(separator);
    }
    let sample = || rows.iter().take(4 * SAMPLE_LINES).map(|(_, line)| line.trim());
    let halves = |line: &str| -> Option<(String, String)> {
        let (whole, fraction) = line.split_once(',')?;
        let is_whole = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let fits = is_whole(whole.trim_start_matches(['-', '+'])) && is_whole(fraction);
        fits.then(|| (whole.to_owned(), fraction.to_owned()))
    };
    let pairs: Vec<(String, String)> = sample().filter_map(halves).collect();
    // a last line may be a footer
    if pairs.is_empty() || 10 * pairs.len() < 9 * sample().count() {
        return more_columns(rows, separator, decimal);
    }
    let names = header.map_or(0, |(_, line)| separator.fields(line).len());
    let has_zero = pairs.iter().any(|(whole, fraction)| {
        whole == "-0" || (fraction.len() > 1 && fraction.starts_with('0'))
    });
    match (decimal, has_zero, names) {
        (Some(Decimal::Comma), ..) | (_, true, _) | (_, _, 1) => Ok(Separator::Spaces),
        (_, false, 2) => Ok(separator),
        _ => Err(format!(
            "{:?} may be one number with a decimal comma or two columns; decide with --decimal \
             comma or --decimal point",
            rows.first().map_or("", |(_, line)| line)
        )),
    }
}

/// Several numbers with decimal commas cannot be told apart where commas also separate them.
fn more_columns(
    rows: &[Line<'_>],
    separator: Separator,
    decimal: Option<Decimal>,
) -> Result<Separator, String> {
    let is_split = |line: &str| {
        let fields = separator.fields(line);
        let is_whole = |field: &str| {
            let digits = field.trim_start_matches(['-', '+']);
            !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
        };
        let has_zero = fields.iter().skip(1).step_by(2).any(|f| f.len() > 2 && f.starts_with('0'));
        fields.len() > 2
            && fields.len().is_multiple_of(2)
            && fields.iter().all(|f| is_whole(f))
            && has_zero
    };
    let is_quoted = |line: &str| line.contains('"');
    let sample = || rows.iter().take(SAMPLE_LINES).map(|(_, line)| *line);
    let count = sample().count();
    let all_split = 10 * sample().filter(|line| is_split(line) && !is_quoted(line)).count() > count;
    if all_split && decimal.is_none() {
        return Err(format!(
            "{:?}: commas seem to be decimal signs and separators at once; save the file with \
             another separator, or decide with --decimal point",
            rows.first().map_or("", |(_, line)| line)
        ));
    }
    Ok(separator)
}

/// Returns the contents of each column, by the first rows.
fn kinds_of(
    rows: &[Line<'_>],
    separator: Separator,
    form: NumberForm,
    width: usize,
) -> Vec<ColumnKind> {
    let mut numbers = vec![0usize; width];
    let mut times = vec![0usize; width];
    let mut words = vec![0usize; width];
    let mut empty = vec![0usize; width];
    for (_, line) in rows.iter().take(SAMPLE_LINES) {
        let mut fields = separator.fields(line);
        if fields.len() + 1 == width && separator.closes(line) {
            fields.push("");
        }
        if fields.len() != width {
            continue;
        }
        for (column, field) in fields.iter().enumerate() {
            match form.number(field) {
                Some(number) if number.is_nan() => empty[column] += 1,
                Some(_) => numbers[column] += 1,
                None if Stamp::parse(field).is_some() => times[column] += 1,
                None => words[column] += 1,
            }
        }
    }
    (0..width)
        .map(|column| {
            let (number, time, word) = (numbers[column], times[column], words[column]);
            // one odd field is an error of its line, not another kind of column
            if time > number && time >= word {
                ColumnKind::Calendar
            } else if (word > number && word > 1)
                || (word > 2 && empty[column] > 4 * (word + number))
            {
                // words in a few of the first rows are statements beside the samples
                ColumnKind::Words
            } else {
                ColumnKind::Number
            }
        })
        .collect()
}

/// Start and rate in the first two rows, as wearable sensors write them: all columns repeat one
/// number, first a time since 1970, then a rate.
fn start_and_rate(rows: &[Line<'_>], separator: Separator, form: NumberForm) -> Option<(f64, f64)> {
    let one = |row: usize| -> Option<f64> {
        let (_, line) = rows.get(row)?;
        let all: Option<Vec<f64>> =
            separator.fields(line).into_iter().map(|field| form.number(field)).collect();
        let all = all?;
        let first = *all.first()?;
        all.iter().all(|number| (number - first).abs() < 1e-9).then_some(first)
    };
    let (start, rate) = (one(0)?, one(1)?);
    let is_rest_small = || {
        rows.iter().skip(2).take(SAMPLE_LINES).all(|(_, line)| {
            let numbers = separator.fields(line).into_iter().filter_map(|f| form.number(f));
            numbers.filter(|number| number.is_finite()).all(|number| number.abs() < 1e6)
        })
    };
    let fits = (1e9..4e9).contains(&start) && (1.0..1e6).contains(&rate);
    (fits && rows.len() > 3 && is_rest_small()).then_some((start, rate))
}

impl Layout {
    /// Returns why the stated rate may not be that of the rows, in words.
    pub(super) fn rate_doubt(&self) -> Option<String> {
        if let (Some(rate), Some(other)) = (self.metadata.rate_hz, self.metadata.other_rate_hz) {
            return Some(format!(
                "the lines above the numbers state {rate} Hz and {other} Hz: which rate the rows \
                 have is open; give it in Hz (--rate with --prefer option)"
            ));
        }
        let (line, rate) = (self.rate_doubt.as_ref()?, self.metadata.rate_hz?);
        Some(format!(
            "the lines above the numbers state {rate} Hz, and {line:?}: which rate the rows have \
             is open; give it in Hz (--rate with --prefer option)"
        ))
    }

    /// Notes on lines that may state the rate and are not understood.
    pub(super) fn rate_hints(&self) -> impl Iterator<Item = String> {
        self.rate_hints
            .iter()
            .map(|line| format!("the line {line:?} gives no rate that is understood"))
    }

    /// The rate that the text states.
    pub(super) fn rate_hz(&self) -> Option<f64> {
        self.start_and_rate.map(|(_, rate)| rate).or(self.metadata.rate_hz)
    }

    /// The column that counts parts of a second by its name, and nanoseconds of its unit.
    pub(super) fn fraction_column(&self) -> Option<(usize, f64)> {
        let Some(header) = &self.header else { return self.fraction };
        header.iter().enumerate().find_map(|(column, name)| {
            let unit = StatedUnit::parse(name).or_else(|| StatedUnit::in_header(name))?;
            let UnitKind::Time(seconds) = unit.kind else { return None };
            let is_part = seconds < 0.5 && self.kinds[column] == ColumnKind::Number;
            is_part.then_some((column, seconds * 1e9))
        })
    }
}
