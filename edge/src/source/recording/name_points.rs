//! Measuring points that the names of files tell apart: `DE_20260301.csv` and `NDE_20260301.csv`,
//! `rec00_ch1` and `rec00_ch2`, `SN4711_…` and `SN4712_…`.
//!
//! Used by the sequence of files. Invariant: names that only count or date their files tell nothing
//! apart: each point has the same dates or counts, and a word or the number of a channel is what
//! differs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::name_days::month_of;

/// Words before a number that is the name of a point, in lower case.
const BEFORE_NUMBERS: [&str; 13] = [
    "ch", "channel", "kanal", "sensor", "sn", "serial", "node", "point", "mp", "axis", "bearing",
    "ai", "id",
];

/// Words that date a file.
const OF_DAY: [&str; 8] = ["am", "pm", "morning", "evening", "day", "night", "오전", "오후"];

/// Most points of a folder; more different words are names of files.
const MOST_POINTS: usize = 16;

/// The words by which the names tell several points apart; `None` if they are of one point.
pub(super) fn points_of_names(files: &[PathBuf]) -> Option<Vec<String>> {
    let names: Vec<Vec<String>> = files.iter().map(|path| parts_of(path)).collect();
    let width = names.first()?.len();
    if files.len() < 4 || names.iter().any(|parts| parts.len() != width) {
        return None;
    }
    (0..width).find_map(|place| points_at(&names, place))
}

/// The words at one place of the names, if they are those of points.
fn points_at(names: &[Vec<String>], place: usize) -> Option<Vec<String>> {
    let mut of_point: BTreeMap<&str, BTreeSet<Vec<&str>>> = BTreeMap::new();
    for parts in names {
        let rest = parts.iter().enumerate().filter(|(at, _)| *at != place);
        let rest = rest.map(|(_, part)| part.as_str()).collect();
        of_point.entry(parts[place].as_str()).or_default().insert(rest);
    }
    let words: Vec<&str> = of_point.keys().copied().collect();
    let is_number = |word: &str| word.chars().all(|c| c.is_ascii_digit());
    let before = place.checked_sub(1).and_then(|at| names[0].get(at));
    let is_named = before.is_some_and(|word| BEFORE_NUMBERS.contains(&word.as_str()));
    let may_be_points = words.iter().all(|word| {
        let is_time = month_of(word).is_some() || OF_DAY.contains(word);
        if is_number(word) { is_named } else { !is_time }
    });
    let mut rests = of_point.values();
    let first = rests.next()?;
    let is_same = first.len() >= 2 && rests.all(|rest| rest == first);
    let count = words.len();
    ((2..=MOST_POINTS).contains(&count) && may_be_points && is_same)
        .then(|| words.into_iter().map(str::to_owned).collect())
}

/// Words and numbers of a file's name in lower case, without its ending.
fn parts_of(path: &Path) -> Vec<String> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
    let mut parts: Vec<String> = Vec::new();
    let mut kind = 0;
    for letter in stem.chars() {
        let own = if letter.is_ascii_digit() { 1 } else { 2 * i32::from(letter.is_alphabetic()) };
        if own > 0 && own != kind {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut().filter(|_| own > 0) {
            part.push(letter);
        }
        kind = own;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(names: &[&str]) -> Option<String> {
        let files: Vec<PathBuf> = names.iter().map(PathBuf::from).collect();
        points_of_names(&files).map(|points| points.join(" "))
    }

    /// R-EDGE-4: two sensors in one folder became one bearing with one baseline.
    #[test]
    fn names_of_several_points_with_the_same_dates_or_counts_are_told_apart() {
        for (names, told) in [
            (
                &["IB_20260501.csv", "IB_20260502.csv", "OB_20260501.csv", "OB_20260502.csv"],
                "ib ob",
            ),
            (&["r1_ch3.csv", "r1_ch4.csv", "r2_ch3.csv", "r2_ch4.csv"], "3 4"),
            (&["FanA_1.wav", "FanA_2.wav", "FanB_1.wav", "FanB_2.wav"], "fana fanb"),
            (&["SN71_5.csv", "SN71_6.csv", "SN72_5.csv", "SN72_6.csv"], "71 72"),
        ] {
            assert_eq!(points(names).as_deref(), Some(told), "{names:?}");
        }
        for names in [
            &["20260501_0800", "20260501_1600", "20260502_0800", "20260502_1600"][..],
            &["d1_am", "d1_pm", "d2_am", "d2_pm"],
            &["a_Jan_1", "a_Jan_2", "a_Feb_1", "a_Feb_2"],
            &["healthy_1", "healthy_2", "worn_3", "worn_4"],
            &["1", "2", "3", "4"],
            &["x_1", "y_1"],
        ] {
            assert_eq!(points(names), None, "{names:?}");
        }
    }
}
