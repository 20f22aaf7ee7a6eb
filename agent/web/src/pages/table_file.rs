//! A list as a file for spreadsheets: CSV as RFC 4180 has it, in UTF-8 with the mark that
//! spreadsheets look for.
//!
//! Times are instants in UTC, as the API tells them. Each column of times has one of the same name
//! with `_local` at the end of the row: the plant's clock, in the form that spreadsheets take for a
//! time, as the pages show it.
//!
//! A cell that begins as a formula is text: names and notes are people's own, and a spreadsheet
//! would run them.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use pdm_shared::time::Timestamp;

use crate::times;

/// A file of rows under their head.
pub(super) fn csv(name: &str, head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> Response {
    let mut text = String::from("\u{feff}");
    let is_time = |name: &str| name.ends_with("_at") || name == "alarm_since" || name == "act_by";
    let times: Vec<usize> =
        head.iter().enumerate().filter(|(_, name)| is_time(name)).map(|(at, _)| at).collect();
    let zone = times::plant_zone();
    let local_name = |at: &usize| Some(format!("{}_local", head.get(*at)?));
    let local_head = times.iter().filter_map(local_name).chain(["zone".to_owned()]);
    let all: Vec<String> = head.iter().map(|cell| (*cell).to_owned()).chain(local_head).collect();
    let rows = rows.map(|row| {
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
    let mut answer = text.into_response();
    let kind = HeaderValue::from_static("text/csv; charset=utf-8");
    answer.headers_mut().insert(header::CONTENT_TYPE, kind);
    let shown = HeaderValue::try_from(format!("attachment; filename=\"{name}\"")).ok();
    answer.headers_mut().extend(shown.map(|shown| (header::CONTENT_DISPOSITION, shown)));
    answer
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
