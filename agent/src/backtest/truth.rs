//! Reads the real failures, by bearing and time, from a CSV file.
//!
//! ```text
//! site,equipment,bearing,failed_at
//! ulsan-1,P-101,DE,2026-03-04T06:00:00Z
//! ulsan-1,P-102,DE,                        watched the whole time, and did not fail
//! ```
//!
//! Invariant: nothing is known of a bearing that the file does not name. It is counted neither as
//! healthy nor as failed.

use std::collections::BTreeMap;
use std::path::Path;

use pdm_shared::id::BearingKey;
use pdm_shared::time::Timestamp;

/// The head of the file.
const COLUMNS: [&str; 4] = ["site", "equipment", "bearing", "failed_at"];

/// Failures of the bearings whose truth is known; an empty list is a bearing that did not fail.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Truth(pub(super) BTreeMap<BearingKey, Vec<Timestamp>>);

impl Truth {
    /// Reads the file's text; `path` is for errors.
    ///
    /// # Errors
    /// A text with file, line, value and what is allowed.
    pub(crate) fn parse(path: &Path, text: &[u8]) -> Result<Self, String> {
        let mut reader =
            csv::ReaderBuilder::new().trim(csv::Trim::All).flexible(true).from_reader(text);
        let wrong = |line: u64, told: String| format!("{}, line {line}: {told}", path.display());
        let head = reader.headers().map_err(|error| wrong(1, error.to_string()))?.clone();
        let mut places = [0; COLUMNS.len()];
        for (place, column) in places.iter_mut().zip(COLUMNS) {
            let known = |name: &str| name.trim_start_matches('\u{feff}') == column;
            let found = head.iter().position(known);
            *place = found.ok_or_else(|| {
                wrong(1, format!("no column {column:?}; needed are {}", COLUMNS.join(", ")))
            })?;
        }
        let mut truth = Self::default();
        for row in reader.records() {
            let row = row.map_err(|error| wrong(place_of(&error), error.to_string()))?;
            let line = row.position().map_or(0, csv::Position::line);
            if row.len() < head.len() {
                let told = format!("{} fields, the head has {}", row.len(), head.len());
                return Err(wrong(line, told));
            }
            let [site, equipment, bearing, failed_at] =
                places.map(|place| row.get(place).unwrap_or_default());
            let key = BearingKey::parse(site, equipment, bearing)
                .map_err(|error| wrong(line, error.to_string()))?;
            let failures = truth.0.entry(key).or_default();
            if !failed_at.is_empty() {
                failures.push(time(failed_at).map_err(|told| wrong(line, told))?);
            }
        }
        for failures in truth.0.values_mut() {
            failures.sort_unstable();
            failures.dedup();
        }
        Ok(truth)
    }
}

fn place_of(error: &csv::Error) -> u64 {
    error.position().map_or(0, csv::Position::line)
}

fn time(text: &str) -> Result<Timestamp, String> {
    let day = format!("{text}T00:00:00Z");
    Timestamp::parse(text).or_else(|_| Timestamp::parse(&day)).map_err(|_| {
        format!(
            "failed_at {text:?} is no time: 2026-03-04T06:00:00Z, 2026-03-04, or nothing for a \
             bearing that did not fail"
        )
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Result<Truth, String> {
        Truth::parse(Path::new("truth.csv"), text.as_bytes())
    }

    #[test]
    fn failures_and_bearings_that_did_not_fail_are_read() {
        let truth = parse(
            "\u{feff}bearing,failed_at,site,equipment,note\nDE,2026-03-04,s,P-1,x\n\
             DE,2026-05-04T06:00:00+09:00,s,P-1,\nNDE,,s,P-1,\n",
        );
        let truth = truth.expect("read");
        let of = |bearing| truth.0.get(&BearingKey::parse("s", "P-1", bearing).expect("names"));
        assert_eq!(of("DE").map(Vec::len), Some(2));
        assert_eq!(of("NDE").map(Vec::len), Some(0));
        assert_eq!(of("X"), None);
    }

    #[test]
    fn a_wrong_row_is_named_by_file_line_and_value() {
        for (text, line, word) in [
            ("site,equipment,bearing\n", "line 1", "failed_at"),
            ("site,equipment,bearing,failed_at\ns,P-1,DE,4 March\n", "line 2", "4 March"),
            ("site,equipment,bearing,failed_at\ns,P/1,DE,\n", "line 2", "P/1"),
        ] {
            let told = parse(text).expect_err("refused");
            assert!(told.starts_with(&format!("truth.csv, {line}: ")), "{told}");
            assert!(told.contains(word), "{told}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused_in_words(bytes: Vec<u8>) {
            if let Err(told) = Truth::parse(Path::new("truth.csv"), &bytes) {
                prop_assert!(told.contains("truth.csv, line "), "{}", told);
            }
        }
    }
}
