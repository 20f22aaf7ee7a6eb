//! CSV files of series and of cases, for the store.
//!
//! ```csv
//! station_id,element,at,value
//! 101,SO2,2026-11-01 00:00:00,0.0061
//! ```
//!
//! Cases have the columns id, station_id, element, from_at, to_at, what_ko, what_en, outcome_ko,
//! outcome_en. A file is read whole or refused with the line that is wrong.

use pdm_shared::text::Text;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::series::{Case, Sample, Window, read_time};

/// Most rows of one file. No data chose it: eleven years of hours of ten series.
pub const MOST_ROWS: usize = 1_000_000;
/// Longest name of an element, and of a case.
const MAX_NAME: usize = 128;
/// Longest text of a case.
const MAX_TEXT: usize = 2000;

/// A file that is refused. The person corrects it and imports it again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct TableError {
    /// The line, from 1.
    pub line: u64,
    /// The fault.
    pub reason: String,
}

/// A value of a series.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesValue {
    /// The station.
    pub station_id: i64,
    /// The element.
    pub element: String,
    /// The value with its instant.
    pub sample: Sample,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ValueRow {
    station_id: i64,
    element: String,
    at: String,
    value: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseRow {
    id: String,
    station_id: i64,
    element: String,
    from_at: String,
    to_at: String,
    what_ko: String,
    what_en: String,
    outcome_ko: String,
    outcome_en: String,
}

/// Reads the values of a file.
///
/// # Errors
/// [`TableError`] of the first line that is wrong.
pub fn values(text: &str) -> Result<Vec<SeriesValue>, TableError> {
    rows(text, |row: ValueRow| value(row.station_id, &row.element, &row.at, row.value))
}

/// Returns one value, checked.
///
/// # Errors
/// The fault of the value.
pub fn value(
    station_id: i64,
    element: &str,
    at: &str,
    value: Option<f64>,
) -> Result<SeriesValue, String> {
    let element = name("element", element)?;
    let at_s = read_time(at).map_err(|reason| format!("at {reason}"))?;
    if let Some(wrong) = value.filter(|value| !value.is_finite()) {
        return Err(format!("value is {wrong}, expected a finite number or nothing"));
    }
    Ok(SeriesValue { station_id, element, sample: Sample { at_s, value } })
}

/// Reads the cases of a file; their samples are empty.
///
/// # Errors
/// [`TableError`] of the first line that is wrong.
pub fn cases(text: &str) -> Result<Vec<Case>, TableError> {
    rows(text, |row: CaseRow| {
        let time =
            |key: &str, text: &str| read_time(text).map_err(|reason| format!("{key} {reason}"));
        let window = Window {
            station_id: row.station_id,
            element: name("element", &row.element)?,
            from_s: time("from_at", &row.from_at)?,
            to_s: time("to_at", &row.to_at)?,
        };
        if window.to_s <= window.from_s {
            return Err("to_at is not after from_at".to_owned());
        }
        for (key, text) in [
            ("what_ko", &row.what_ko),
            ("what_en", &row.what_en),
            ("outcome_ko", &row.outcome_ko),
            ("outcome_en", &row.outcome_en),
        ] {
            if text.chars().count() > MAX_TEXT {
                return Err(format!("{key} is longer than {MAX_TEXT} characters"));
            }
        }
        Ok(Case {
            id: name("id", &row.id)?,
            window,
            what: Text { ko: row.what_ko, en: row.what_en },
            outcome: Text { ko: row.outcome_ko, en: row.outcome_en },
            samples: Vec::new(),
        })
    })
}

fn name(key: &str, text: &str) -> Result<String, String> {
    let text = text.trim();
    let length = text.chars().count();
    if length == 0 || length > MAX_NAME || text.chars().any(char::is_control) {
        return Err(format!("{key} is {text:?}, expected 1 to {MAX_NAME} characters of one line"));
    }
    Ok(text.to_owned())
}

fn rows<R: DeserializeOwned, T>(
    text: &str,
    read: impl Fn(R) -> Result<T, String>,
) -> Result<Vec<T>, TableError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let mut all = Vec::new();
    for (index, row) in reader.deserialize::<R>().enumerate() {
        let counted = index as u64 + 2;
        let row = row.map_err(|error| TableError {
            line: error.position().map_or(counted, csv::Position::line),
            reason: error.to_string(),
        })?;
        if index == MOST_ROWS {
            let reason = format!("is row {} of at most {MOST_ROWS}", MOST_ROWS + 1);
            return Err(TableError { line: counted, reason });
        }
        all.push(read(row).map_err(|reason| TableError { line: counted, reason })?);
    }
    if all.is_empty() {
        return Err(TableError { line: 1, reason: "there is no row below the header".to_owned() });
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_and_a_wrong_line_refuses_the_file() {
        let head = "station_id,element,at,value\n";
        let read = values(&format!(
            "{head}101,SO2,2026-11-01 00:00:00,0.5\n101,SO2,2026-11-01 01:00:00,\n"
        ));
        let read = read.expect("right");
        assert_eq!((read[0].sample.value, read[1].sample.value), (Some(0.5), None));
        assert_eq!(read[1].sample.at_s - read[0].sample.at_s, 3600);
        for (row, line, told) in [
            ("101,SO2,2026-11-31 00:00:00,1\n", 2, "at is \"2026-11-31 00:00:00\""),
            ("101,SO2,2026-11-01 00:00:00,1\nx,SO2,2026-11-01 00:00:00,1\n", 3, "invalid digit"),
            ("101,,2026-11-01 00:00:00,1\n", 2, "element is \"\""),
            ("101,SO2,2026-11-01 00:00:00,inf\n", 2, "value is inf"),
            ("", 1, "no row"),
        ] {
            let error = values(&format!("{head}{row}")).expect_err(row);
            assert!(error.line == line && error.reason.contains(told), "{row}: {error}");
        }
    }

    #[test]
    fn a_case_has_an_end_after_its_beginning() {
        let head = "id,station_id,element,from_at,to_at,what_ko,what_en,outcome_ko,outcome_en\n";
        let row = "c1,101,SO2,2026-01-01 00:00:00,2026-01-08 00:00:00,가,a,나,b\n";
        assert_eq!(cases(&format!("{head}{row}")).expect("right")[0].what.en, "a");
        let wrong = row.replace("2026-01-08", "2025-01-08");
        let error = cases(&format!("{head}{wrong}")).expect_err("wrong");
        assert_eq!(error.to_string(), "line 2: to_at is not after from_at");
    }
}
