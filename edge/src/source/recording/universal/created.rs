//! Reads when a function was created: the third of the five lines of text of its header.
//!
//! The format has `DD-MMM-YY HH:MM:SS` there; programs write other spellings, and some another
//! line. A date that has several readings, or no time of day, is told and not taken. Nothing states
//! a zone.

use pdm_shared::time::Timestamp;

use crate::source::recording::StatedStart;
use crate::source::recording::meaning::since_1970;
use crate::tabular::Stamp;
use crate::tabular::calendar::decided_order;

/// The lines in the order in which they are believed: the third is the format's.
const LINES: [usize; 5] = [2, 3, 4, 1, 0];

/// Columns of the format's date and time (`9A1, 1X, 8A1`).
const COLUMNS: usize = 18;

/// An abscissa that begins further from 0 than this is no part of the recording that begins then,
/// s.
const FAR_S: f64 = 86_400.0;

/// Seconds since 1970 of 2001 to 2096: an abscissa that begins there is a time itself.
const SINCE_1970_S: std::ops::Range<f64> = 1e9..4e9;

/// The statement of the lines of text on the time.
#[derive(Debug, Clone, Default)]
pub(super) struct StatedCreation {
    /// The time, with the number of its line from 1.
    at: Option<(Timestamp, bool, usize)>,
    /// Why a line that is a date gives no time.
    pub(super) note: Option<String>,
}

impl StatedCreation {
    /// The time of the first sample, whose abscissa begins at `least_s`.
    pub(super) fn start(&self, least_s: f64) -> Option<StatedStart> {
        if SINCE_1970_S.contains(&least_s) {
            let origin = "the start of its abscissa".to_owned();
            return since_1970(least_s).map(|at| StatedStart { at, is_local: false, origin });
        }
        let (at, is_local, line) = self.at?;
        let is_near = least_s.is_finite() && least_s.abs() < FAR_S;
        let at = if is_near { at.plus_seconds(least_s) } else { at };
        Some(StatedStart { at, is_local, origin: format!("line {line} of its header") })
    }
}

/// Reads the statement of the five lines of text on the time.
pub(super) fn creation_of(lines: &[String]) -> StatedCreation {
    let mut creation = StatedCreation::default();
    for place in LINES {
        let Some(line) = lines.get(place).map(|line| line.trim()) else { continue };
        match stamp_of(line) {
            Some(Ok((at, is_local))) => {
                creation.at = Some((at, is_local, place + 1));
                creation.note = None;
                return creation;
            }
            Some(Err(why)) if creation.note.is_none() => {
                let number = place + 1;
                creation.note = Some(format!(
                    "line {number} of its header ({line:?}) {why}: no time is taken from it"
                ));
            }
            Some(Err(_)) | None => {}
        }
    }
    creation
}

/// The time in a line and whether nothing states its zone; `None` if it is no date.
///
/// # Errors
/// Why a date gives no time.
fn stamp_of(line: &str) -> Option<Result<(Timestamp, bool), &'static str>> {
    let digit = line.find(|c: char| c.is_ascii_digit())?;
    let columns: String = line.chars().take(COLUMNS).collect();
    let spellings = [line, line.get(digit..)?, columns.as_str()];
    let dated = |text: &&str| Stamp::parse(text).filter(Stamp::has_date);
    let mut stamps = spellings.iter().filter_map(dated);
    let first = stamps.next()?;
    let stamp =
        if first.has_clock() { first } else { stamps.find(Stamp::has_clock).unwrap_or(first) };
    if !stamp.has_clock() {
        return Some(Err("has no time of day"));
    }
    let Ok(order) = decided_order(&[stamp], None) else {
        return Some(Err("has several readings as a date"));
    };
    let at = since_1970(stamp.unix_ns(order)? as f64 / 1e9)?;
    Some(Ok((at, !stamp.has_offset())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(line: &str) -> Option<String> {
        let lines = ["pump DE", "NONE", line, "NONE", "NONE"].map(str::to_owned);
        creation_of(&lines).start(0.0).map(|start| start.at.to_string())
    }

    /// Spellings of the format and of programs; the year of two digits is that of POSIX.
    #[test]
    fn the_third_line_is_a_time_in_the_spellings_of_the_field() {
        for line in [
            "25-Nov-26 10:00:00",
            "25-NOV-26 10:00:00        0    0",
            "25-Nov-2026 10:00:00",
            "2026-11-25 10:00:00",
            "2026-11-25T10:00:00",
            "25.11.2026 10:00:00",
            "11/25/2026 10:00:00",
            "Wed Nov 25 10:00:00 2026",
            "Created: 25-Nov-26 10:00:00",
        ] {
            let at = started(line).unwrap_or_default();
            assert!(at.starts_with("2026-11-25T10:00:00"), "{line}: {at}");
        }
        let old = started("12-Feb-98 14:32:00").unwrap_or_default();
        assert!(old.starts_with("1998-02-12T14:32:00"), "{old}");
        for line in ["NONE", "", "run 12", "1", "3.5 mm", "P-101"] {
            assert_eq!(started(line), None, "{line}");
        }
    }

    #[test]
    fn a_date_with_two_readings_or_without_a_time_of_day_is_told_and_not_taken() {
        for (line, word) in
            [("06-05-2026 10:00:00", "several readings"), ("25-Nov-26", "time of day")]
        {
            let lines = ["x", "NONE", line, "NONE", "NONE"].map(str::to_owned);
            let creation = creation_of(&lines);
            assert_eq!(creation.start(0.0), None, "{line}");
            let note = creation.note.unwrap_or_default();
            assert!(note.contains(word) && note.contains(line), "{note}");
        }
    }

    #[test]
    fn an_abscissa_that_begins_later_begins_the_samples_later() {
        let lines = ["x", "NONE", "25-Nov-26 10:00:00", "NONE", "NONE"].map(str::to_owned);
        let creation = creation_of(&lines);
        let start = creation.start(2.5).expect("a start");
        assert!(start.is_local && start.at.to_string().starts_with("2026-11-25T10:00:02.5"));
        let since_1970 = creation.start(1_772_344_800.0).expect("a start");
        assert!(!since_1970.is_local && since_1970.at.unix_ms() == 1_772_344_800_000);
    }
}
