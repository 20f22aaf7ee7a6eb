//! Compares one column of a table with the others: is it this bearing that changes?
//!
//! A level of vibration is held to an effect that somebody would act on, since load, temperature
//! and grease move it. Two observations show that a smaller rise is a bearing's own: the defect
//! lines of the same bearing alarm in a column of their own, or the level rises at once and alone
//! among its like, where the other bearings of the machine stay. Names tell which columns belong
//! together: `Bearing1_ch1_rms` is of the place `Bearing1_ch1` and of the kind `rms`. Invariant:
//! rows are taken in the order of time, and a table of any length needs the memory of [`MOST_ROWS`]
//! rows.

use std::collections::VecDeque;

use pdm_dsp::robust::median;

use super::Row;
use crate::condition::is_column_line;

/// Other bearings that a level is compared with, at least.
const LEAST_LIKE: usize = 2;
/// Rows whose median is the present level, and the rows, by their age in hours, whose median is the
/// level before; fewer tell nothing.
const NOW_ROWS: usize = 6;
const BEFORE_H: (f64, f64) = (3.0, 12.0);
const LEAST_BEFORE: usize = 12;
/// Rows that are remembered: more in twelve hours are taken as the latest of them.
const MOST_ROWS: usize = 512;
/// The ratio by which a level must rise above the median of its like to rise alone. On NASA/IMS
/// tests 1 and 2 the sound bearings' levels rise alone by up to 1.039 until two days before the
/// end, and the bearing of test 2 that fails by 1.13.
const ALONE: f64 = 1.06;
/// The ratio down to which that rise still stands: half of the rise.
const STILL: f64 = 1.03;

/// The columns of a table beside each other.
pub(super) struct Beside {
    columns: Vec<Column>,
    rows: VecDeque<Row>,
    alarmed: Vec<bool>,
    /// The level from which each column rose alone.
    rose_from: Vec<Option<f64>>,
}

/// The columns with which one is compared, by their places in the table.
struct Column {
    /// Defect lines of the same bearing.
    lines: Vec<usize>,
    /// The columns with the same figure of other places.
    like: Vec<usize>,
}

impl Beside {
    pub(super) fn new(names: &[String]) -> Self {
        let columns = names.iter().map(|name| Column::new(name, names)).collect();
        let (alarmed, rose_from) = (vec![false; names.len()], vec![None; names.len()]);
        Self { columns, rows: VecDeque::new(), alarmed, rose_from }
    }

    /// Takes the next row.
    pub(super) fn take(&mut self, row: &Row) {
        if self.columns.iter().all(|column| column.like.len() < LEAST_LIKE) {
            return;
        }
        self.rows.push_back(row.clone());
        let is_old = |old: &Row| row.at.seconds_since(old.at) / 3600.0 > BEFORE_H.1;
        while self.rows.len() > MOST_ROWS || self.rows.front().is_some_and(is_old) {
            self.rows.pop_front();
        }
        let rises: Vec<Option<(f64, f64)>> =
            (0..self.columns.len()).map(|at| self.now_and_before(at)).collect();
        for at in 0..self.columns.len() {
            self.follow(at, &rises);
        }
    }

    /// Whether the other columns say that it is this one's bearing that changes.
    pub(super) fn singles_out(&self, column: usize) -> bool {
        let lines = &self.columns[column].lines;
        self.rose_from[column].is_some() || lines.iter().any(|line| self.alarmed[*line])
    }

    /// Notes whether a column is alarmed in the present row.
    pub(super) fn note_alarm(&mut self, column: usize, is_alarmed: bool) {
        self.alarmed[column] = is_alarmed;
    }

    /// The present level of a column and the one before.
    fn now_and_before(&self, column: usize) -> Option<(f64, f64)> {
        let value = |row: &Row| row.values.get(column).copied().flatten().filter(|v| *v > 0.0);
        let last = self.rows.back()?.at;
        let now: Vec<f64> = self.rows.iter().rev().take(NOW_ROWS).filter_map(value).collect();
        let is_before =
            |row: &&Row| (BEFORE_H.0..=BEFORE_H.1).contains(&(last.seconds_since(row.at) / 3600.0));
        let before: Vec<f64> = self.rows.iter().filter(is_before).filter_map(value).collect();
        if before.len() < LEAST_BEFORE {
            return None;
        }
        median(&now).zip(median(&before))
    }

    fn follow(&mut self, column: usize, rises: &[Option<(f64, f64)>]) {
        let Some((now, before)) = rises[column] else { return };
        if let Some(from) = self.rose_from[column] {
            self.rose_from[column] = Some(from).filter(|from| now >= STILL * from);
            return;
        }
        let like = &self.columns[column].like;
        let others: Vec<f64> =
            like.iter().filter_map(|at| rises[*at]).map(|(now, before)| now / before).collect();
        let alone = (others.len() >= LEAST_LIKE)
            .then(|| median(&others))
            .flatten()
            .is_some_and(|usual| now / before >= ALONE * usual.max(1.0));
        self.rose_from[column] = alone.then_some(before);
    }
}

impl Column {
    fn new(name: &str, names: &[String]) -> Self {
        let own = words(name);
        let (Some((kind, place)), false) = (own.split_last(), is_column_line(name)) else {
            return Self { lines: Vec::new(), like: Vec::new() };
        };
        let of = |is_wanted: &dyn Fn(&str, &[String]) -> bool| -> Vec<usize> {
            let named = names.iter().enumerate().map(|(at, other)| (at, other, words(other)));
            named.filter(|(_, other, words)| is_wanted(other, words)).map(|(at, ..)| at).collect()
        };
        let lines = of(&|other, words| {
            !place.is_empty() && is_column_line(other) && words.starts_with(place)
        });
        let like = of(&|other, words| {
            let is_same_length = words.len() == own.len() && !place.is_empty();
            other != name && is_same_length && words.last() == Some(kind) && !is_column_line(other)
        });
        Self { lines, like }
    }
}

/// The words of a column's name.
fn words(name: &str) -> Vec<String> {
    name.split(['_', '.', ' ', '/', '-']).map(str::to_ascii_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use pdm_shared::time::Timestamp;

    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn names_tell_the_lines_of_the_same_bearing_and_its_like() {
        let all =
            names(&["B1_ch1_rms", "B2_ch1_rms", "B1_ch1_env_bpfo_energy", "B1_ch1_kurt", "load"]);
        let of = |at: usize| Column::new(&all[at], &all);
        assert_eq!((of(0).lines, of(0).like), (vec![2], vec![1]));
        assert_eq!((of(1).lines, of(1).like), (vec![], vec![0]));
        assert!(of(2).lines.is_empty() && of(2).like.is_empty(), "a line speaks for itself");
        assert!(of(4).lines.is_empty() && of(4).like.is_empty(), "a name of one word has no place");
    }

    /// Levels of four bearings every ten minutes, by the row from which they step up.
    fn singled_out(steps: [Option<i64>; 4]) -> Vec<bool> {
        let columns = names(&["B1_rms", "B2_rms", "B3_rms", "B4_rms"]);
        let mut beside = Beside::new(&columns);
        for n in 0..200 {
            let level =
                |step: Option<i64>| Some(if step.is_some_and(|s| n >= s) { 1.1 } else { 1.0 });
            let at = Timestamp::from_unix_ms(n * 600_000).expect("in range");
            beside.take(&Row { at, values: steps.map(level).to_vec() });
        }
        (0..4).map(|at| beside.singles_out(at)).collect()
    }

    /// NASA/IMS test 2: one bearing of four rises by a tenth within hours, and stays up.
    #[test]
    fn a_bearing_that_rises_alone_is_singled_out_and_a_load_that_moves_all_is_not() {
        assert_eq!(singled_out([Some(120), None, None, None]), [true, false, false, false]);
        assert_eq!(singled_out([Some(120); 4]), [false; 4]);
        assert_eq!(singled_out([None; 4]), [false; 4]);
    }

    #[test]
    fn the_lines_of_a_bearing_that_alarm_single_it_out() {
        let mut beside = Beside::new(&names(&["B1_rms", "B1_bpfo_energy", "B2_rms"]));
        assert!(!beside.singles_out(0));
        beside.note_alarm(1, true);
        assert!(beside.singles_out(0) && !beside.singles_out(2));
    }
}
