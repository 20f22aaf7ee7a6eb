//! The table itself: a CSV with a header, a column that tells the time, columns of values.
//!
//! Rows stay in their order, which must be that of time. Decimal commas are read where the fields
//! are not separated by commas.

use std::io::Read;

use chrono::{NaiveDate, NaiveDateTime};
use pdm_shared::time::Timestamp;

/// The columns to read of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The column that tells the time.
    pub time: String,
    /// The columns to judge.
    pub values: Vec<String>,
    /// Seconds from row to row, for a time column that only counts.
    pub period_s: f64,
}

/// A table of values over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Names of the columns asked for.
    pub columns: Vec<String>,
    /// The rows, in the order of time.
    pub rows: Vec<Row>,
}

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// When.
    pub at: Timestamp,
    /// One value a column asked for; `None` where the table has none.
    pub values: Vec<Option<f64>>,
}

/// A table that cannot be read. The caller shows it: the input has to be corrected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SeriesError {
    /// The period is not usable.
    #[error("the period is {got} s, allowed is a finite number above 0")]
    Period {
        /// The value that was given.
        got: f64,
    },
    /// A column that is not there.
    #[error("there is no column {wanted:?}; there are: {}", there.join(", "))]
    NoColumn {
        /// The column that was asked for.
        wanted: String,
        /// The header.
        there: Vec<String>,
    },
    /// A header without rows, or nothing at all.
    #[error("there are no rows below the header")]
    Empty,
    /// A row of another length, or not text.
    #[error("line {line}: {reason}")]
    Row {
        /// Line of the file, from 1.
        line: u64,
        /// The fault.
        reason: String,
    },
    /// A field that is no number.
    #[error("line {line}, column {column:?}: {got:?} is not a number (empty or NaN is allowed)")]
    Value {
        /// Line of the file, from 1.
        line: u64,
        /// The column.
        column: String,
        /// The field.
        got: String,
    },
    /// A field that is no time.
    #[error(
        "line {line}, column {column:?}: {got:?} is not a time; allowed are RFC 3339, \
         YYYY-MM-DD HH:MM:SS, YYYY.MM.DD.HH.MM.SS, seconds, or a count of rows"
    )]
    Time {
        /// Line of the file, from 1.
        line: u64,
        /// The column.
        column: String,
        /// The field.
        got: String,
    },
    /// Rows out of order.
    #[error("line {line}: {time} is earlier than the row before it ({before}); sort by time")]
    Order {
        /// Line of the file, from 1.
        line: u64,
        /// The time in the row.
        time: Timestamp,
        /// The time before.
        before: Timestamp,
    },
}

/// Reads a table.
///
/// # Errors
/// The first [`SeriesError`] found.
pub fn read(mut input: impl Read, request: &Request) -> Result<Table, SeriesError> {
    if !(request.period_s.is_finite() && request.period_s > 0.0) {
        return Err(SeriesError::Period { got: request.period_s });
    }
    let mut bytes = Vec::new();
    let broken =
        |line, reason: &dyn ToString| SeriesError::Row { line, reason: reason.to_string() };
    input.read_to_end(&mut bytes).map_err(|error| broken(1, &error))?;
    let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
    let separator = separator(text);
    let mut reader =
        csv::ReaderBuilder::new().delimiter(separator).trim(csv::Trim::All).from_reader(text);
    let header: Vec<String> =
        reader.headers().map_err(|e| row_error(&e))?.iter().map(str::to_owned).collect();
    let find = |wanted: &String| {
        let place = header.iter().position(|name| name == wanted);
        place.ok_or_else(|| SeriesError::NoColumn { wanted: wanted.clone(), there: header.clone() })
    };
    let time = find(&request.time)?;
    let columns = request.values.iter().map(find).collect::<Result<Vec<_>, _>>()?;
    let mut times = Vec::new();
    let mut values = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|e| row_error(&e))?;
        let line = record.position().map_or(0, csv::Position::line);
        let field = |place: usize| record.get(place).unwrap_or_default();
        times.push(Moment { line, text: field(time).to_owned() });
        let value = |(place, column): (&usize, &String)| {
            number(field(*place), separator).ok_or_else(|| SeriesError::Value {
                line,
                column: column.clone(),
                got: field(*place).to_owned(),
            })
        };
        values.push(columns.iter().zip(&request.values).map(value).collect::<Result<Vec<_>, _>>()?);
    }
    let at = instants(&times, request, separator)?;
    let rows = at.into_iter().zip(values).map(|(at, values)| Row { at, values }).collect();
    Ok(Table { columns: request.values.clone(), rows })
}

fn row_error(error: &csv::Error) -> SeriesError {
    let line = error.position().map_or(1, csv::Position::line);
    let reason = if let csv::ErrorKind::UnequalLengths { expected_len, len, .. } = error.kind() {
        format!("{len} fields where the header has {expected_len}")
    } else {
        error.to_string()
    };
    SeriesError::Row { line, reason }
}

/// The separator that the header has most of.
fn separator(text: &[u8]) -> u8 {
    let header = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let count = |wanted: u8| header.split(|byte| *byte == wanted).count();
    [b';', b'\t', b','].into_iter().max_by_key(|byte| count(*byte)).unwrap_or(b',')
}

/// A number, or a word for none; `None` if it is neither.
#[expect(clippy::option_option, reason = "no field, a field without a value, a value")]
fn number(field: &str, separator: u8) -> Option<Option<f64>> {
    let missing = ["", "nan", "na", "n/a", "null", "none", "-"];
    if missing.contains(&field.to_ascii_lowercase().as_str()) {
        return Some(None);
    }
    let parsed = match separator {
        b',' => field.parse::<f64>(),
        _ => field.replace(',', ".").parse::<f64>(),
    };
    Some(parsed.ok()?).map(|value| Some(value).filter(|value| value.is_finite()))
}

/// A field of the time column.
struct Moment {
    line: u64,
    text: String,
}

/// Reads the time column: by the calendar, or as numbers.
fn instants(
    times: &[Moment],
    request: &Request,
    separator: u8,
) -> Result<Vec<Timestamp>, SeriesError> {
    let Some(first) = times.first() else { return Err(SeriesError::Empty) };
    let wrong = |moment: &Moment| SeriesError::Time {
        line: moment.line,
        column: request.time.clone(),
        got: moment.text.clone(),
    };
    let numeric = |moment: &Moment| number(&moment.text, separator).flatten();
    let at: Vec<Timestamp> = if calendar(&first.text).is_some() {
        let read = |moment: &Moment| calendar(&moment.text).ok_or_else(|| wrong(moment));
        times.iter().map(read).collect::<Result<_, _>>()?
    } else {
        let read = |moment: &Moment| numeric(moment).ok_or_else(|| wrong(moment));
        let numbers = times.iter().map(read).collect::<Result<Vec<f64>, _>>()?;
        let unit = seconds_per_step(&numbers, request.period_s);
        let instant = |(moment, number): (&Moment, f64)| {
            Timestamp::from_unix_ms((number * unit * 1000.0).round() as i64)
                .ok_or_else(|| wrong(moment))
        };
        times.iter().zip(numbers).map(instant).collect::<Result<_, _>>()?
    };
    let backwards = at.windows(2).position(|pair| pair[1] < pair[0]);
    backwards.map_or(Ok(()), |place| {
        let (line, time, before) = (times[place + 1].line, at[place + 1], at[place]);
        Err(SeriesError::Order { line, time, before })
    })?;
    Ok(at)
}

/// How many seconds one unit of a numeric time column stands for: the period if it counts rows,
/// a thousandth if it counts milliseconds since 1970, else 1.
fn seconds_per_step(numbers: &[f64], period_s: f64) -> f64 {
    /// Milliseconds of 1973 are seconds of the year 5138: nobody means the latter.
    const MILLISECONDS_FROM: f64 = 1e11;
    if numbers.iter().all(|number| number.abs() >= MILLISECONDS_FROM) {
        return 0.001;
    }
    let steps = numbers.windows(2).map(|pair| pair[1] - pair[0]);
    let ones = steps.filter(|step| (step - 1.0).abs() < 1e-9).count();
    let counts = numbers.iter().all(|number| number.fract().abs() < 1e-9);
    if counts && 2 * ones + 1 >= numbers.len() { period_s } else { 1.0 }
}

/// A calendar time; without an offset it is UTC.
fn calendar(text: &str) -> Option<Timestamp> {
    const FORMS: [&str; 8] = [
        "%Y-%m-%d %H:%M:%S%.f",
        "%Y-%m-%dT%H:%M:%S%.f",
        "%Y/%m/%d %H:%M:%S%.f",
        "%Y.%m.%d.%H.%M.%S",
        "%Y.%m.%d %H:%M:%S%.f",
        "%Y-%m-%d %H:%M",
        "%Y-%m-%dT%H:%M",
        "%Y/%m/%d %H:%M",
    ];
    if let Ok(at) = Timestamp::parse(text) {
        return Some(at);
    }
    let spaced = text.replacen(' ', "T", 1);
    if let Ok(at) = Timestamp::parse(&spaced) {
        return Some(at);
    }
    let day = || NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?.and_hms_opt(0, 0, 0);
    let time = FORMS.iter().find_map(|form| NaiveDateTime::parse_from_str(text, form).ok());
    Timestamp::of(time.or_else(day)?.and_utc())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Request {
        Request { time: "t".into(), values: vec!["a".into()], period_s: 600.0 }
    }

    fn table(text: &str) -> Result<Table, SeriesError> {
        read(text.as_bytes(), &request())
    }

    fn first_step(text: &str) -> f64 {
        let rows = table(text).expect("reads").rows;
        rows[1].at.seconds_since(rows[0].at)
    }

    #[test]
    fn every_form_of_time_is_read() {
        assert!(
            (first_step("t,a\n2026-01-01T00:00:00Z,1\n2026-01-01T09:10:00+09:00,1") - 600.0).abs()
                < 1e-6
        );
        assert!(
            (first_step("t,a\n2004-02-12 10:32:39,1\n2004-02-12 10:42:39,1") - 600.0).abs() < 1e-6
        );
        assert!(
            (first_step("t,a\n2004.02.12.10.32.39,1\n2004.02.12.10.42.39,1") - 600.0).abs() < 1e-6
        );
        assert!((first_step("t,a\n0,1\n1,1\n2,1") - 600.0).abs() < 1e-6);
        assert!((first_step("t,a\n0.0,1\n10.0,1") - 10.0).abs() < 1e-6);
        assert!((first_step("t,a\n1700000000000,1\n1700000000500,1") - 0.5).abs() < 1e-6);
    }

    #[test]
    fn missing_values_are_rows_without_a_value() {
        let rows = table("t,a\n0,\n1,NaN\n2,inf\n3,0.5").expect("reads").rows;
        let values: Vec<Option<f64>> = rows.iter().map(|row| row.values[0]).collect();
        assert_eq!(values, [None, None, None, Some(0.5)]);
    }

    #[test]
    fn semicolons_bring_decimal_commas() {
        assert_eq!(table("t;a\n0;0,5").expect("reads").rows[0].values, [Some(0.5)]);
    }

    #[test]
    fn errors_name_the_line_and_what_is_there() {
        let text = |input: &str| table(input).expect_err("refused").to_string();
        assert_eq!(text("t,b\n0,1"), "there is no column \"a\"; there are: t, b");
        assert!(text("t,a\n0,1\n1,x").starts_with("line 3, column \"a\": \"x\" is not a number"));
        assert!(text("t,a\n2026-01-01 00:00:00,1\nsoon,1").starts_with("line 3, column \"t\""));
        assert_eq!(text("t,a\n0,1\n1"), "line 3: 1 fields where the header has 2");
        assert!(text("t,a\n5,1\n4,1").contains("line 3"));
        assert_eq!(text("t,a\n"), "there are no rows below the header");
        assert_eq!(text(""), "there is no column \"t\"; there are: ");
    }

    #[test]
    fn a_period_of_zero_is_refused() {
        let request = Request { period_s: 0.0, ..request() };
        assert!(matches!(read("t,a\n0,1".as_bytes(), &request), Err(SeriesError::Period { .. })));
    }
}
