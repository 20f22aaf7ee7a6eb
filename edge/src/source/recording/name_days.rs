//! The days in the names of files that write the year last: `DE_23-02-2026.csv`. By their digits
//! March would come before February.

use std::path::{Path, PathBuf};

use chrono::NaiveDate;

/// Three numbers of a name, the last one a year.
type Parts = (u32, u32, i32);

/// The beginnings of months by word: English, German.
const MONTHS: [&[&str]; 12] = [
    &["jan", "januar", "january"],
    &["feb", "februar", "february"],
    &["mar", "mär", "mrz", "märz", "march"],
    &["apr", "april"],
    &["may", "mai"],
    &["jun", "juni", "june"],
    &["jul", "juli", "july"],
    &["aug", "august"],
    &["sep", "sept", "september"],
    &["oct", "okt", "oktober", "october"],
    &["nov", "november"],
    &["dec", "dez", "dezember", "december"],
];

/// The month of a word, from 1.
pub(super) fn month_of(word: &str) -> Option<u32> {
    let lower = word.to_lowercase();
    let place = MONTHS.iter().position(|words| words.contains(&lower.as_str()))?;
    u32::try_from(place + 1).ok()
}

/// The day of a name with a month by word and a year of four digits beside it: `vib_Jan_2026`,
/// `02-Mar-2026`.
fn day_by_word(path: &Path) -> Option<NaiveDate> {
    let name = path.file_stem()?.to_string_lossy().into_owned();
    let words: Vec<&str> = name.split(['-', '.', '_', ' ']).collect();
    let number = |at: Option<usize>, most: i32| -> Option<i32> {
        let word = words.get(at?)?;
        word.parse().ok().filter(|number| *number >= 1 && *number <= most)
    };
    let at = words.iter().position(|word| month_of(word).is_some())?;
    let (before, behind) = (at.checked_sub(1), Some(at + 1));
    let is_year = |year: &i32| (1980..=2099).contains(year);
    let (year, day) = match number(behind, 2099).filter(is_year) {
        Some(year) => (year, number(before, 31)),
        None => (number(before, 2099).filter(is_year)?, number(behind, 31)),
    };
    let day = u32::try_from(day.unwrap_or(1)).ok()?;
    NaiveDate::from_ymd_opt(year, month_of(words.get(at)?)?, day)
}

/// The day of each file, where all names have one and say whether the day or the month comes first.
pub(super) fn days_of_names(files: &[PathBuf]) -> Option<Vec<NaiveDate>> {
    let by_word: Option<Vec<NaiveDate>> = files.iter().map(|path| day_by_word(path)).collect();
    if let Some(days) = by_word.filter(|days| !days.is_empty()) {
        return Some(days);
    }
    let parts: Vec<Parts> = files.iter().map(|path| parts_of(path)).collect::<Option<_>>()?;
    let is_day_first = parts.iter().any(|(first, _, _)| *first > 12);
    let is_month_first = parts.iter().any(|(_, second, _)| *second > 12);
    if is_day_first == is_month_first {
        return None;
    }
    let day = |(first, second, year): &Parts| {
        let (day, month) = if is_day_first { (*first, *second) } else { (*second, *first) };
        NaiveDate::from_ymd_opt(*year, month, day)
    };
    parts.iter().map(day).collect()
}

/// The first two numbers of one or two digits with a year of four behind them, one separator
/// between.
fn parts_of(path: &Path) -> Option<Parts> {
    let name = path.file_name()?.to_string_lossy();
    let words: Vec<&str> = name.split(['-', '.', '_', ' ']).collect();
    words.windows(3).find_map(|words| {
        let number = |word: &str, digits: std::ops::RangeInclusive<usize>| {
            let is_number =
                digits.contains(&word.len()) && word.bytes().all(|b| b.is_ascii_digit());
            is_number.then(|| word.parse::<u32>().ok()).flatten()
        };
        let (first, second) = (number(words[0], 1..=2)?, number(words[1], 1..=2)?);
        let year = i32::try_from(number(words[2], 4..=4)?).ok()?;
        (1980..=2099).contains(&year).then_some((first, second, year))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(names: &[&str]) -> Option<Vec<String>> {
        let files: Vec<PathBuf> = names.iter().map(PathBuf::from).collect();
        days_of_names(&files).map(|days| days.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn months_by_word_are_in_their_order() {
        let wanted = ["2026-04-01", "2026-02-01"].map(str::to_owned).to_vec();
        assert_eq!(days(&["p_Apr_2026.csv", "p_Feb_2026.csv"]), Some(wanted));
        let wanted = ["2026-03-02", "2025-12-30"].map(str::to_owned).to_vec();
        assert_eq!(days(&["02-Mrz-2026.wav", "30-Dez-2025.wav"]), Some(wanted));
        assert_eq!(days(&["may_1.csv", "june_2.csv"]), None, "no year");
    }

    #[test]
    fn names_with_the_year_last_have_days_where_one_of_them_decides_the_order() {
        let wanted = ["2026-03-06", "2026-02-23"].map(str::to_owned).to_vec();
        assert_eq!(days(&["DE_06-03-2026.csv", "DE_23-02-2026.csv"]), Some(wanted.clone()));
        assert_eq!(days(&["03.06.2026.csv", "02.23.2026.csv"]), Some(wanted));
        for names in [
            &["06-03-2026.csv", "07-02-2026.csv"][..],
            &["23-02-2026.csv", "2.csv"],
            &["23-02-2026.csv", "02-23-2026.csv"],
            &["1.csv", "2.csv"],
            &["2026-02-23.csv"],
            &[],
        ] {
            assert_eq!(days(names), None, "{names:?}");
        }
    }
}
