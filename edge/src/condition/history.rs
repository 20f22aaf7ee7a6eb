//! The course of the leading features in bounded memory: fine where it is young, coarse where old.
//!
//! Tier 0 holds single windows; when it is full its eight oldest become one cell of tier 1 (median
//! of each feature, mean of the times), and so on. Five tiers of at most 56 cells reach back
//! 200,000 windows: 23 days of windows every ten seconds, four years of windows every ten minutes.

use std::collections::BTreeMap;

use pdm_dsp::robust::median;
use pdm_shared::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::packed::Packed;

/// Cells that become one of the next tier.
const JOINED: usize = 8;
/// Cells that stay in a tier.
const KEPT: usize = 48;
const TIERS: usize = 5;
/// Most features remembered: a bound on the state's size.
const MOST_FEATURES: usize = 8;

/// Values of the features that can lead, over time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct History {
    start: Option<Timestamp>,
    tiers: Vec<Tier>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Tier {
    hours: Packed,
    columns: BTreeMap<String, Packed>,
}

impl History {
    /// Appends a window. One that is not younger than the last is left out.
    pub(super) fn push(&mut self, at: Timestamp, values: &BTreeMap<String, f64>) {
        let hours = self.hours(at);
        if self.last_hours().is_some_and(|last| hours <= last) {
            return;
        }
        if self.tiers.is_empty() {
            self.tiers.push(Tier::default());
        }
        let tier = &mut self.tiers[0];
        for key in values.keys() {
            if tier.columns.len() < MOST_FEATURES && !tier.columns.contains_key(key) {
                let mut column = Packed::default();
                column.0.resize(tier.hours.0.len(), f32::NAN);
                tier.columns.insert(key.clone(), column);
            }
        }
        tier.hours.0.push(hours as f32);
        for (key, column) in &mut tier.columns {
            column.0.push(values.get(key).map_or(f32::NAN, |value| *value as f32));
        }
        self.compact();
    }

    /// Forgets what a clock that was ahead dated after `at`.
    pub(super) fn forget_after(&mut self, at: Timestamp) {
        let now = self.hours(at);
        for tier in &mut self.tiers {
            let kept = tier.hours.0.partition_point(|hours| f64::from(*hours) < now);
            tier.hours.0.truncate(kept);
            for column in tier.columns.values_mut() {
                column.0.truncate(kept);
            }
        }
        if self.tiers.iter().all(|tier| tier.hours.0.is_empty()) {
            *self = Self::default();
        }
    }

    /// Hours since the first window.
    pub(super) fn hours(&mut self, at: Timestamp) -> f64 {
        at.seconds_since(*self.start.get_or_insert(at)) / 3600.0
    }

    /// Time of the youngest cell, hours since the first window.
    pub(super) fn last_hours(&self) -> Option<f64> {
        self.tiers.first()?.hours.0.last().map(|hours| f64::from(*hours))
    }

    /// Time of the window `windows` before the youngest, or of the oldest single one.
    pub(super) fn hours_back(&self, windows: usize) -> Option<f64> {
        let hours = &self.tiers.first()?.hours.0;
        hours.get(hours.len().saturating_sub(windows + 1)).map(|hours| f64::from(*hours))
    }

    /// Returns when the window `windows` before the youngest was measured, or the oldest single
    /// one.
    pub(super) fn at_back(&self, windows: usize) -> Option<Timestamp> {
        Some(self.start?.plus_seconds(3600.0 * self.hours_back(windows)?))
    }

    /// Features remembered.
    pub(super) fn keys(&self) -> impl Iterator<Item = &String> {
        self.tiers.first().into_iter().flat_map(|tier| tier.columns.keys())
    }

    /// Median of the latest `windows` values of a feature.
    pub(super) fn level(&self, key: &str, windows: usize) -> Option<f64> {
        let column = &self.tiers.first()?.columns.get(key)?.0;
        let latest = &column[column.len().saturating_sub(windows)..];
        median(&latest.iter().map(|value| f64::from(*value)).collect::<Vec<_>>())
    }

    /// The feature since `from` (hours since the first window) in at most `bins` medians over equal
    /// stretches of time, oldest first: hours and value.
    pub(super) fn course(&self, key: &str, from: f64, bins: usize) -> Vec<(f64, f64)> {
        let mut cells = Vec::new();
        for tier in self.tiers.iter().rev() {
            let Some(column) = tier.columns.get(key) else { continue };
            let pairs = tier.hours.0.iter().zip(&column.0);
            cells.extend(
                pairs
                    .map(|(hours, value)| (f64::from(*hours), f64::from(*value)))
                    .filter(|(hours, value)| *hours >= from && value.is_finite()),
            );
        }
        if cells.len() <= bins {
            return cells;
        }
        let (Some(first), Some(last)) = (cells.first(), cells.last()) else { return cells };
        let (start, width) = (first.0, (last.0 - first.0) / bins as f64);
        let bin = |cell: &(f64, f64)| (((cell.0 - start) / width) as usize).min(bins - 1);
        cells
            .chunk_by(|a, b| bin(a) == bin(b))
            .filter_map(|group| {
                let values: Vec<f64> = group.iter().map(|cell| cell.1).collect();
                let time = group.iter().map(|cell| cell.0).sum::<f64>() / group.len() as f64;
                Some((time, median(&values)?))
            })
            .collect()
    }

    fn compact(&mut self) {
        for index in 0..TIERS {
            let Some(tier) = self.tiers.get_mut(index) else { return };
            if tier.hours.0.len() < KEPT + JOINED {
                return;
            }
            let (hours, values) = tier.join_oldest();
            if index + 1 == TIERS {
                return;
            }
            if self.tiers.len() == index + 1 {
                self.tiers.push(Tier::default());
            }
            self.tiers[index + 1].append(hours, &values);
        }
    }
}

impl Tier {
    fn join_oldest(&mut self) -> (f32, BTreeMap<String, f32>) {
        let hours: Vec<f32> = self.hours.0.drain(..JOINED).collect();
        let values = self.columns.iter_mut().map(|(key, column)| {
            let old: Vec<f64> = column.0.drain(..JOINED).map(f64::from).collect();
            (key.clone(), median(&old).map_or(f32::NAN, |value| value as f32))
        });
        (hours.iter().sum::<f32>() / JOINED as f32, values.collect())
    }

    fn append(&mut self, hours: f32, values: &BTreeMap<String, f32>) {
        for key in values.keys() {
            let known = self.hours.0.len();
            let column = self.columns.entry(key.clone()).or_default();
            column.0.resize(known, f32::NAN);
        }
        self.hours.0.push(hours);
        for (key, column) in &mut self.columns {
            column.0.push(values.get(key).copied().unwrap_or(f32::NAN));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(windows: i64) -> History {
        let mut history = History::default();
        for n in 0..windows {
            let at = Timestamp::from_unix_ms(n * 10_000).expect("in range");
            history.push(at, &BTreeMap::from([("rms_g".to_owned(), n as f64)]));
        }
        history
    }

    #[test]
    fn a_straight_line_stays_straight_through_every_tier() {
        let history = filled(50_000);
        let course = history.course("rms_g", 0.0, 60);
        assert!(course.len() > 30, "{}", course.len());
        for (hours, value) in course {
            assert!((value / 360.0 - hours).abs() < 0.02 * hours + 0.1, "{value} at {hours} h");
        }
    }

    #[test]
    fn memory_is_bounded() {
        let size = serde_json::to_string(&filled(300_000)).expect("writes").len();
        assert!(size < 5 * 2 * 56 * 6 + 500, "{size} bytes");
    }
}
