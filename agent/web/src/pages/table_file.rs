//! A list as a file for spreadsheets: CSV as RFC 4180 has it, in UTF-8 with the mark that
//! spreadsheets look for, or a workbook of Excel (`workbook`).
//!
//! CSV is for programs: its heads and words are those of the API, times are instants in UTC, and
//! each column of times has one of the same name with `_local` at the end of the row: the plant's
//! clock, in the form that spreadsheets take for a time, as the pages show it. A workbook is for
//! people: heads and words are in the reader's language, numbers and dates are such, and dates
//! stand on the plant's clock.
//!
//! A cell that begins as a formula is text: names and notes are people's own, and a spreadsheet
//! would run them.

use std::fmt::Write as _;

use axum::http::{HeaderValue, Uri, header};
use axum::response::{IntoResponse, Response};
use pdm_routes::Zone;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Language;
use pdm_shared::time::Timestamp;

use super::Reader;
use crate::access::encoded;
use crate::problem::Problem;
use crate::workbook::{self, SheetCell};
use crate::{language, times};

/// The kinds of file that a list is taken along as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    /// CSV.
    Csv,
    /// A workbook of Excel.
    Workbook,
}

impl FileKind {
    /// The kind that an address ends with.
    pub(super) fn of_address(uri: &Uri) -> Self {
        let ending = std::path::Path::new(uri.path()).extension();
        if ending.is_some_and(|ending| ending == "xlsx") { Self::Workbook } else { Self::Csv }
    }

    const fn ending(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Workbook => "xlsx",
        }
    }
}

/// The address of the workbook of a list whose CSV stands at an address.
pub(super) fn workbook_address(csv: &str) -> String {
    csv.replacen(".csv", ".xlsx", 1)
}

/// A list under its name: heads, and rows of cells as CSV has them.
pub(super) struct ListFile<'a, R> {
    /// The list, which is the file's name where it has none of its own; both without the ending.
    pub(super) name: &'a str,
    pub(super) file: Option<String>,
    pub(super) head: &'a [&'a str],
    pub(super) rows: R,
}

impl<R: Iterator<Item = Vec<String>>> ListFile<'_, R> {
    /// Answers with the file of a kind.
    pub(super) fn answer(self, kind: FileKind, reader: &Reader) -> Result<Response, Problem> {
        let plain = format!("{}.{}", self.name, kind.ending());
        let own = self.file.as_ref().map(|name| format!("{name}.{}", kind.ending()));
        let (content, media) = match kind {
            FileKind::Csv => (self.csv().into_bytes(), "text/csv; charset=utf-8"),
            FileKind::Workbook => (self.workbook(reader.language)?, workbook::MEDIA_TYPE),
        };
        let mut answer = content.into_response();
        answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
        let mut shown = format!("attachment; filename=\"{plain}\"");
        if let Some(own) = own {
            let own = encoded(&own).replace('/', "%2F");
            let _written = write!(shown, "; filename*=UTF-8''{own}");
        }
        let shown = HeaderValue::try_from(shown).ok();
        answer.headers_mut().extend(shown.map(|shown| (header::CONTENT_DISPOSITION, shown)));
        Ok(answer)
    }

    pub(super) fn csv(self) -> String {
        // the file of one bearing never had the mark, and programs look for its first column
        let mut text = String::from(if self.file.is_none() { "\u{feff}" } else { "" });
        let times: Vec<usize> = places_of(self.head, is_dated);
        let zone = times::plant_zone();
        let local_name = |at: &usize| Some(format!("{}_local", self.head.get(*at)?));
        let local_head = times.iter().filter_map(local_name).chain(["zone".to_owned()]);
        let all: Vec<String> =
            self.head.iter().map(|cell| (*cell).to_owned()).chain(local_head).collect();
        let rows = self.rows.map(|row| {
            let local = |at: &usize| {
                let at = row.get(*at).and_then(|text| Timestamp::parse(text).ok());
                at.map(|at| times::second_of(at, zone)).unwrap_or_default()
            };
            let local: Vec<String> = times.iter().map(local).collect();
            row.into_iter().chain(local).chain([zone.name().to_owned()]).collect()
        });
        for row in std::iter::once(all).chain(rows) {
            let cells: Vec<String> = row.iter().map(|text| cell(text)).collect();
            text.push_str(&cells.join(","));
            text.push_str("\r\n");
        }
        text
    }

    fn workbook(self, language: Language) -> Result<Vec<u8>, Problem> {
        let words = language::words(language);
        let zone = times::plant_zone();
        let named = |name: &str| {
            let word = words.get(format!("column_{name}").as_str()).copied();
            let word = word.unwrap_or(name);
            // whose clock it is stands in the head: a date of a sheet has no zone
            if is_time(name) { format!("{word} ({})", zone.name()) } else { word.to_owned() }
        };
        let head: Vec<String> = self.head.iter().map(|name| named(name)).collect();
        let rows = self.rows.map(|row| {
            let cells = row.into_iter().zip(self.head);
            cells.map(|(text, name)| sheet_cell(name, text, zone, language)).collect()
        });
        let title = words.get(format!("list_{}", self.name).as_str()).copied().unwrap_or(self.name);
        workbook::written(title, &head, rows).map_err(|error| {
            tracing::error!(%error, "a workbook could not be written");
            Problem::new(
                axum::http::StatusCode::INTERNAL_SERVER_ERROR,
                "the workbook could not be written; the log tells why",
            )
        })
    }
}

fn places_of(head: &[&str], is_wanted: fn(&str) -> bool) -> Vec<usize> {
    head.iter().enumerate().filter(|(_, name)| is_wanted(name)).map(|(at, _)| at).collect()
}

/// Whether a column of CSV has one of the plant's clock beside it.
fn is_dated(name: &str) -> bool {
    name.ends_with("_at") || name == "alarm_since" || name == "act_by"
}

/// Whether a column holds times.
fn is_time(name: &str) -> bool {
    is_dated(name) || name == "at"
}

/// Whether a column holds numbers. Names that look like numbers (a machine 0450, a bearing 6205)
/// stay texts.
fn is_number(name: &str) -> bool {
    const NAMES: [&str; 10] = [
        "stage",
        "fault_stage",
        "number",
        "repeats",
        "rul_hours",
        "kurtosis",
        "anomaly_score",
        "velocity_rms_mm_s",
        "baseline_level",
        "baseline_limit",
    ];
    NAMES.contains(&name) || name.ends_with("_g") || name.ends_with("_h")
}

/// A cell of a workbook from that of CSV, by its column.
fn sheet_cell(name: &str, text: String, zone: Zone, language: Language) -> SheetCell {
    if text.is_empty() {
        return SheetCell::Empty;
    }
    if is_time(name)
        && let Ok(at) = Timestamp::parse(&text)
    {
        return SheetCell::LocalTime(zone.local_as_utc(at).unix_ms());
    }
    if is_number(name)
        && let Ok(number) = text.parse()
    {
        return SheetCell::Number(number);
    }
    SheetCell::Text(in_words(name, &text, language).unwrap_or(text))
}

/// A word of the API as the pages say it; `None` for a name or a text of people.
fn in_words(name: &str, text: &str, language: Language) -> Option<String> {
    let key = match name {
        "risk" | "risk_level" => {
            let level = RiskLevel::ALL.into_iter().find(|level| level.as_str() == text)?;
            return Some(level.label().in_language(language).to_owned());
        }
        "element" | "fault_type" => format!("fault_{text}"),
        "blind" | "suppression" => format!("{name}_{text}"),
        "is_late" | "running" | "valid" => format!("column_{text}"),
        "state" => {
            return ["state", "work"].iter().find_map(|of| word(&format!("{of}_{text}"), language));
        }
        _ => return None,
    };
    word(&key, language)
}

fn word(key: &str, language: Language) -> Option<String> {
    language::words(language).get(key).map(|word| (*word).to_owned())
}

/// A value, or an empty cell.
pub(super) fn or_empty(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A cell as it is written.
pub(super) fn cell(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let is_number = text.parse::<f64>().is_ok();
    let text = if is_formula && !is_number { format!("'{text}") } else { text.to_owned() };
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_no_formula_runs() {
        for (text, written) in [
            ("P-101", "P-101"),
            ("-1.5", "-1.5"),
            ("=HYPERLINK(\"x\")", "\"'=HYPERLINK(\"\"x\"\")\""),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("a,b\nc", "\"a,b\nc\""),
            ("냉각수 펌프", "냉각수 펌프"),
        ] {
            assert_eq!(cell(text), written);
        }
    }
}
