//! Columns of text whose words are times, in formats that keep their columns apart (Parquet, JSON).
//!
//! Beside the table of text, which reads such columns by its layout. Invariant: dates with two
//! readings date nothing.

use pdm_shared::time::Timestamp;

use super::leaves::in_zone;
use super::meaning::since_1970;
use crate::tabular::calendar::decided_order;
use crate::tabular::zone::zone_of_name;
use crate::tabular::{DateOrder, Stamp};

/// Times of a column of text.
pub(super) struct TextTimes {
    /// Seconds since the first one.
    pub(super) seconds: Vec<f64>,
    /// The first one, and whether its zone is stated nowhere.
    pub(super) start: Option<(Timestamp, bool)>,
    pub(super) note: Option<String>,
}

/// Returns the times of the words of a column, whose name may state their zone; `None` if one of
/// them is no time, or the dates have no reading.
pub(super) fn times_of_words<'a>(
    name: &str,
    words: impl Iterator<Item = &'a str>,
) -> Option<TextTimes> {
    let stamps: Vec<Stamp> = words.map(Stamp::parse).collect::<Option<_>>()?;
    let first = stamps.first()?;
    if !stamps.iter().all(Stamp::has_clock) {
        return None;
    }
    let has_date = stamps.iter().all(Stamp::has_date);
    let is_one_day = || stamps.iter().all(|stamp| stamp.date_only() == first.date_only());
    let (order, is_open) = match decided_order(&stamps, None) {
        Ok(order) => (order, false),
        Err(_) if is_one_day() => (DateOrder::DayFirst, true),
        Err(_) => return None,
    };
    let ns: Vec<i64> = stamps.iter().map(|stamp| stamp.folded_ns(order)).collect::<Option<_>>()?;
    let foreign = stamps.iter().find_map(|stamp| stamp.foreign_year(order));
    let start = *ns.first()?;
    let is_local = !stamps.iter().any(Stamp::has_offset);
    let dated = (has_date && !is_open && foreign.is_none())
        .then(|| since_1970(start as f64 / 1e9))
        .flatten();
    let of_year = foreign.map(|year| {
        format!(
            "the dates have the year {year:04}, which is none of this calendar: the recording \
            is not dated by them"
        )
    });
    let note = is_open.then(|| {
        "the day or the month may come first in the dates, so the recording is not dated by them; \
         write them as YYYY-MM-DD"
            .to_owned()
    });
    Some(TextTimes {
        seconds: ns.iter().map(|ns| (ns - start) as f64 / 1e9).collect(),
        start: dated.map(|at| match zone_of_name(name).filter(|_| is_local) {
            Some(zone) => (in_zone(at, zone), false),
            None => (at, is_local),
        }),
        note: note.or(of_year),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_times_are_seconds_and_a_start() {
        let words: Vec<String> =
            (0..20).map(|n| format!("2026-05-14T06:07:08.{:03}Z", n * 5)).collect();
        let times = times_of_words("time", words.iter().map(String::as_str)).expect("times");
        assert!((times.seconds[19] - 0.095).abs() < 1e-9);
        assert!(times.start.is_some_and(
            |(at, is_local)| !is_local && at.to_string().starts_with("2026-05-14T06:07:08")
        ));
        let open: Vec<String> =
            words.iter().map(|word| word.replace("2026-05-14T", "05/04/2026 ")).collect();
        let times =
            times_of_words("time", open.iter().map(String::as_str)).expect("times of one day");
        assert!(times.start.is_none() && times.note.is_some());
        assert!(times_of_words("time", ["fast", "slow"].into_iter()).is_none());
    }
}
