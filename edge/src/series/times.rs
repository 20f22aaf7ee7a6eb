//! The time column of a table: calendar times, times since 1970, spreadsheet day numbers, other
//! clocks, counts.
//!
//! Stands between the fields of a table and its rows. Invariants: instants do not go back; a column
//! whose unit nothing states counts only if it agrees with the period; a contradiction is refused
//! or told.

use pdm_dsp::robust::median;
use pdm_shared::time::Timestamp;

use super::table::{FieldRow, Request, SeriesError};
use crate::source::interpretation::{StatedUnit, UnitKind, time_unit_of_name};
use crate::tabular::calendar::decided_order;
use crate::tabular::{LocalZone, NumberForm, Stamp, zone};

/// Seconds of a day.
const DAY_S: f64 = 86_400.0;

/// Days from the first day of spreadsheets (1899-12-30) to 1970-01-01.
const SHEET_EPOCH_DAYS: f64 = 25_569.0;

/// Day numbers of 1954 to 2119: smaller ones are times since a start.
const SHEET_DAYS: std::ops::Range<f64> = 20_000.0..80_000.0;

/// Difference of the usual step from the period up to which both agree, ratio.
const AGREEMENT: f64 = 0.1;

/// Times before February 2000 are those of clocks that were never set: they begin in 1970, 1980 and
/// on the first day of 2000, s since 1970.
const CLOCKS_SET_FROM_S: f64 = 949_363_200.0;

/// The statements of a person and of the table on the time column.
pub(super) struct TimesAsked<'a> {
    pub(super) request: &'a Request,
    pub(super) form: NumberForm,
    /// The unit in the row below the header.
    pub(super) time_unit: Option<String>,
}

/// The instants of all rows.
pub(super) struct Instants {
    /// The instants in the order of time.
    pub(super) at: Vec<Timestamp>,
    /// The newest row comes first in the table.
    pub(super) is_reversed: bool,
    pub(super) notes: Vec<String>,
}

/// Reads the time column.
///
/// # Errors
/// The first field that is no time, or the contradiction.
pub(super) fn instants(
    rows: &[FieldRow<'_>],
    time: usize,
    header: &[String],
    asked: &TimesAsked<'_>,
) -> Result<Instants, SeriesError> {
    let Some(first) = rows.first() else { return Err(SeriesError::Empty) };
    let field = |row: &FieldRow<'_>| row.fields.get(time).copied().unwrap_or_default().to_owned();
    let fields: Vec<String> = rows.iter().map(field).collect();
    let mut notes = Vec::new();
    let mut seconds = if is_calendar(&fields) {
        calendar_seconds(rows, time, header, asked, &mut notes)?
    } else {
        number_seconds(
            rows,
            &fields,
            header.get(time).map_or("", String::as_str),
            asked,
            &mut notes,
        )?
    };
    let is_reversed = seconds.len() > 1
        && seconds.first() > seconds.last()
        && seconds.windows(2).all(|pair| pair[1] <= pair[0]);
    if is_reversed {
        seconds.reverse();
        notes.push("the newest row comes first; the rows were turned round".to_owned());
    }
    tell_gaps(&seconds, &mut notes);
    let mut at = Vec::with_capacity(seconds.len());
    for (place, second) in seconds.iter().enumerate() {
        let row = rows.get(place).unwrap_or(first);
        let instant = Timestamp::from_unix_ms((second * 1000.0).round() as i64);
        at.push(instant.ok_or_else(|| SeriesError::Time {
            line: row.line,
            column: asked.request.time.clone(),
            got: field(row),
        })?);
    }
    let backwards = at.windows(2).position(|pair| pair[1] < pair[0]);
    backwards.map_or(Ok(()), |place| {
        let (line, time, before) = (rows[place + 1].line, at[place + 1], at[place]);
        Err(SeriesError::Order { line, time, before })
    })?;
    Ok(Instants { at, is_reversed, notes })
}

/// Whether the column holds calendar times. Digits alone are one if all rows are dates in compact
/// form.
fn is_calendar(fields: &[String]) -> bool {
    let Some(first) = fields.first() else { return false };
    if Stamp::parse(first).is_none() {
        return false;
    }
    !first.bytes().all(|b| b.is_ascii_digit() || b == b'.')
        || fields.iter().all(|field| Stamp::parse(field).is_some_and(|stamp| stamp.has_date()))
}

#[expect(
    clippy::too_many_lines,
    reason = "one reading after the other of what a calendar column may hold"
)]
fn calendar_seconds(
    rows: &[FieldRow<'_>],
    time: usize,
    header: &[String],
    asked: &TimesAsked<'_>,
    notes: &mut Vec<String>,
) -> Result<Vec<f64>, SeriesError> {
    let stamps = |column: usize| -> Result<Vec<Stamp>, SeriesError> {
        let read = |row: &FieldRow<'_>| {
            let field = row.fields.get(column).copied().unwrap_or_default();
            Stamp::parse(field).ok_or_else(|| SeriesError::Time {
                line: row.line,
                column: header.get(column).cloned().unwrap_or_default(),
                got: field.to_owned(),
            })
        };
        rows.iter().map(read).collect()
    };
    let mut own = stamps(time)?;
    let is_clock = |all: &Vec<Stamp>| all.iter().all(|s| s.has_clock() && !s.has_date());
    let is_date = |all: &Vec<Stamp>| all.iter().all(|s| s.has_date() && !s.has_clock());
    let other = |is_wanted: &dyn Fn(&Vec<Stamp>) -> bool| -> Option<(usize, Vec<Stamp>)> {
        (0..header.len())
            .filter(|column| *column != time)
            .find_map(|column| stamps(column).ok().filter(is_wanted).map(|all| (column, all)))
    };
    let joined = |column: usize| {
        format!("date and time of day are joined from {:?} and {:?}", header[time], header[column])
    };
    if is_date(&own) {
        if let Some((column, clocks)) = other(&is_clock) {
            own = own.iter().zip(&clocks).map(|(date, clock)| date.with_clock_of(clock)).collect();
            notes.push(joined(column));
        } else if own.windows(2).any(|pair| pair[0] == pair[1]) {
            let line = rows.first().map_or(0, |row| row.line);
            let reason = format!(
                "the dates of column {:?} repeat and no column has the time of day; name a column \
                 with both (--time)",
                asked.request.time
            );
            return Err(SeriesError::Ambiguous { line, reason });
        }
    } else if is_clock(&own)
        && let Some((column, dates)) = other(&is_date)
    {
        own = dates.iter().zip(&own).map(|(date, clock)| date.with_clock_of(clock)).collect();
        notes.push(joined(column));
    }
    let line = rows.first().map_or(0, |row| row.line);
    let order = decided_order(&own, asked.request.date_order)
        .map_err(|reason| SeriesError::Ambiguous { line, reason })?;
    let mut seconds = Vec::with_capacity(own.len());
    for (stamp, row) in own.iter().zip(rows) {
        let ns = stamp.unix_ns(order).ok_or_else(|| SeriesError::Time {
            line: row.line,
            column: asked.request.time.clone(),
            got: row.fields.get(time).copied().unwrap_or_default().to_owned(),
        })?;
        seconds.push(ns as f64 / 1e9);
    }
    if own.iter().all(|stamp| !stamp.has_date()) {
        over_midnight(&mut seconds);
    }
    let has_date = own.iter().all(Stamp::has_date);
    let is_local = has_date && !own.iter().any(Stamp::has_offset);
    let stated = zone::zone_of_name(&header[time]).filter(|_| is_local);
    let is_repeated = repeated_hour(&mut seconds, notes);
    if is_local {
        let zone = stated.unwrap_or(asked.request.zone);
        seconds = told_in_utc(seconds, is_repeated, zone, notes);
    }
    if let Some(first) = seconds.first().filter(|first| has_date && **first < CLOCKS_SET_FROM_S) {
        let at = Timestamp::from_unix_ms((first * 1000.0).round() as i64);
        let at = at.map_or_else(String::new, |at| at.to_string());
        notes.push(format!("the times begin at {at}, where a clock stands that was never set"));
    }
    if let Some(step) = usual_step(&seconds) {
        tell_contradiction(step, asked.request.period_s, notes);
    }
    Ok(seconds)
}

/// Times of day alone go on over midnight.
fn over_midnight(seconds: &mut [f64]) {
    let (mut added, mut before) = (0.0, f64::NEG_INFINITY);
    for second in seconds {
        if before - *second > DAY_S / 2.0 {
            added += DAY_S;
        }
        before = *second;
        *second += added;
    }
}

/// Local times that go back by an hour once, between steps of the usual length: the end of summer
/// time.
fn repeated_hour(seconds: &mut [f64], notes: &mut Vec<String>) -> bool {
    const HOUR_S: f64 = 3600.0;
    let steps: Vec<f64> = seconds.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let backwards: Vec<usize> = (0..steps.len()).filter(|at| steps[*at] < 0.0).collect();
    let (&[place], Some(usual)) = (backwards.as_slice(), median(&steps)) else {
        return false;
    };
    let real = steps[place] + HOUR_S;
    let is_repeated = usual > 0.0 && usual <= HOUR_S && real >= 0.5 * usual && real <= 1.5 * usual;
    if is_repeated {
        seconds[place + 1..].iter_mut().for_each(|second| *second += HOUR_S);
        notes.push(
            "an hour is repeated (the end of summer time): the times behind it count one hour more"
                .to_owned(),
        );
    }
    is_repeated
}

/// Times without a zone in UTC, with a note on the zone. Behind an hour that was repeated they
/// count one more already, so that the offset of the first row holds for all.
fn told_in_utc(
    local: Vec<f64>,
    is_repeated: bool,
    zone: LocalZone,
    notes: &mut Vec<String>,
) -> Vec<f64> {
    let Some(&first) = local.first() else { return local };
    let offset_s = zone.offsets_at(first).first_s;
    notes.push(format!("times without a zone are read in {}", zone.words(offset_s)));
    if is_repeated {
        return local.iter().map(|second| second - f64::from(offset_s)).collect();
    }
    let (seconds, is_any_twice) = zone::in_utc(zone, &local);
    if is_any_twice {
        notes.push(
            "rows lie in an hour that is repeated (the end of summer time); their order tells \
             which of both it is"
                .to_owned(),
        );
    }
    seconds
}

fn number_seconds(
    rows: &[FieldRow<'_>],
    fields: &[String],
    name: &str,
    asked: &TimesAsked<'_>,
    notes: &mut Vec<String>,
) -> Result<Vec<f64>, SeriesError> {
    let mut numbers = Vec::with_capacity(fields.len());
    for (field, row) in fields.iter().zip(rows) {
        let number = asked.form.number(field).filter(|number| number.is_finite());
        numbers.push(number.ok_or_else(|| SeriesError::Time {
            line: row.line,
            column: asked.request.time.clone(),
            got: field.clone(),
        })?);
    }
    check_one_unit(&numbers, rows)?;
    let line = rows.first().map_or(0, |row| row.line);
    let reading = unit_of_numbers(&numbers, name, asked)
        .map_err(|reason| SeriesError::Ambiguous { line, reason })?;
    notes.extend(reading.note);
    let seconds = numbers.iter().map(|number| (number - reading.zero) * reading.unit_s).collect();
    // a spreadsheet writes the clock of its place
    let is_local = reading.zero > 0.0;
    Ok(if is_local { told_in_utc(seconds, false, asked.request.zone, notes) } else { seconds })
}

/// Refuses times since 1970 whose unit changes amid the rows.
fn check_one_unit(numbers: &[f64], rows: &[FieldRow<'_>]) -> Result<(), SeriesError> {
    const UNITS: [(f64, &str); 4] =
        [(1.0, "seconds"), (1e3, "milliseconds"), (1e6, "microseconds"), (1e9, "nanoseconds")];
    let unit =
        |number: &f64| UNITS.iter().position(|(each, _)| (1e9..4e9).contains(&(number / each)));
    let Some(units) = numbers.iter().map(unit).collect::<Option<Vec<usize>>>() else {
        return Ok(());
    };
    let Some(at) = units.windows(2).position(|two| two[0] != two[1]) else { return Ok(()) };
    let (before, own) = (UNITS[units[at]].1, UNITS[units[at + 1]].1);
    let reason = format!(
        "the times are {before} since 1970 above and {own} since 1970 from here on: bring all of \
         them into one unit"
    );
    Err(SeriesError::Ambiguous { line: rows.get(at + 1).map_or(0, |row| row.line), reason })
}

/// How a column of numbers becomes seconds since 1970.
struct NumberReading {
    zero: f64,
    unit_s: f64,
    note: Option<String>,
}

/// The units that steps of a period may be in, beside seconds.
const UNITS_OF_STEPS: [(f64, &str); 5] = [
    (60.0, "minutes"),
    (3600.0, "hours"),
    (DAY_S, "days"),
    (1e-3, "milliseconds"),
    (1e-6, "microseconds"),
];

fn unit_of_numbers(
    numbers: &[f64],
    name: &str,
    asked: &TimesAsked<'_>,
) -> Result<NumberReading, String> {
    let period_s = asked.request.period_s;
    let step = usual_step(numbers);
    let plain = |unit_s: f64| NumberReading { zero: 0.0, unit_s, note: None };
    let told = |reading: NumberReading| {
        let mut notes = Vec::new();
        if let Some(step) = step {
            tell_contradiction(step * reading.unit_s, period_s, &mut notes);
        }
        NumberReading { note: reading.note.or_else(|| notes.pop()), ..reading }
    };
    let by_row = asked.time_unit.as_deref().and_then(StatedUnit::parse);
    let by_row = by_row.and_then(|unit| match unit.kind {
        UnitKind::Time(unit_s) => Some(unit_s),
        UnitKind::Acceleration(_)
        | UnitKind::Voltage(_)
        | UnitKind::Counts
        | UnitKind::Other(_) => None,
    });
    if let Some(reading) = of_wincc(numbers, step, period_s) {
        return Ok(reading);
    }
    if let Some(unit_s) = by_row.or_else(|| time_unit_of_name(name)) {
        return Ok(told(plain(unit_s)));
    }
    let all_in = |range: std::ops::Range<f64>| numbers.iter().all(|number| range.contains(number));
    for unit_s in [1.0, 1e-3, 1e-6, 1e-9] {
        if all_in(1e9 / unit_s..4e9 / unit_s) {
            return Ok(told(plain(unit_s)));
        }
    }
    let Some(step) = step else { return Ok(plain(1.0)) };
    let agrees = |unit_s: f64| (step * unit_s / period_s - 1.0).abs() <= AGREEMENT;
    let is_whole = numbers.iter().all(|number| number.fract().abs() < 1e-9);
    if all_in(SHEET_DAYS) && (agrees(DAY_S) || !is_whole) {
        let note = Some("the times are spreadsheet day numbers".to_owned());
        return Ok(told(NumberReading { zero: SHEET_EPOCH_DAYS, unit_s: DAY_S, note }));
    }
    if is_whole && (step - 1.0).abs() < 1e-9 {
        return Ok(plain(period_s));
    }
    if agrees(1.0) {
        return Ok(plain(1.0));
    }
    if let Some((unit_s, what)) = UNITS_OF_STEPS.into_iter().find(|(unit_s, _)| agrees(*unit_s)) {
        let note = format!(
            "the time column is read as {what}: its steps of {step} {what} are the --period of \
             {period_s} s"
        );
        return Ok(NumberReading { zero: 0.0, unit_s, note: Some(note) });
    }
    Err(format!(
        "the time column {name:?} rises by {step} a row, which is not the --period of {period_s} s \
         in seconds, minutes, hours, days or milliseconds; give the --period that fits, or name \
         the unit in the header, such as {name}_s"
    ))
}

/// Day numbers times a million, whose steps are the period.
fn of_wincc(numbers: &[f64], step: Option<f64>, period_s: f64) -> Option<NumberReading> {
    let are_days = numbers.iter().all(|number| SHEET_DAYS.contains(&(number / WINCC)));
    let is_period = (step? / WINCC * DAY_S / period_s - 1.0).abs() <= AGREEMENT;
    let note = "the times are day numbers times a million, as WinCC writes them".to_owned();
    let (zero, unit_s) = (SHEET_EPOCH_DAYS * WINCC, DAY_S / WINCC);
    (are_days && is_period).then_some(NumberReading { zero, unit_s, note: Some(note) })
}

/// What WinCC multiplies the day numbers of its column `Time_ms` by.
const WINCC: f64 = 1e6;

/// The usual distance of two rows, without its sign.
fn usual_step(numbers: &[f64]) -> Option<f64> {
    let steps: Vec<f64> = numbers.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    median(&steps).filter(|step| *step > 0.0)
}

fn tell_contradiction(step_s: f64, period_s: f64, notes: &mut Vec<String>) {
    if (step_s / period_s - 1.0).abs() > AGREEMENT {
        notes.push(format!(
            "the time column has steps of {step_s:.3} s, --period says {period_s} s: the time \
             column counts"
        ));
    }
}

fn tell_gaps(seconds: &[f64], notes: &mut Vec<String>) {
    let Some(usual) = usual_step(seconds) else { return };
    let gaps = seconds.windows(2).filter(|pair| pair[1] - pair[0] > 2.5 * usual);
    let (count, longest) = gaps
        .map(|pair| pair[1] - pair[0])
        .fold((0usize, 0.0f64), |(count, longest), gap| (count + 1, longest.max(gap)));
    if count > 0 {
        notes.push(format!("{count} gaps in the times, the longest of {:.1} h", longest / 3600.0));
    }
}
