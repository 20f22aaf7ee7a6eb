//! The days in the names of files that write the year last: `DE_23-02-2026.csv`. By their digits March would
//! come before February.

use std::path::{Path, PathBuf};

use chrono::NaiveDate;

/// Three numbers of a name, the last one a year.
type Parts = (u32, u32, i32);

/// The day of each file, where all names have one and say whether the day or the month comes first.
pub(super) fn days_of_names(files: &[PathBuf]) -> Option<Vec<NaiveDate>> {
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

/// The first two numbers of one or two digits with a year of four behind them, one separator between.
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
