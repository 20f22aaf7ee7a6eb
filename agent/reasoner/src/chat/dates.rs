//! The day or the days that a clause names: a date, `yesterday`, `3 days ago`, `this week`, `지난 30일`.

use chrono::{Datelike, Days, NaiveDate, NaiveDateTime};

/// Days, the first and the last included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) from: NaiveDate,
    pub(super) to: NaiveDate,
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

impl Span {
    fn day(day: NaiveDate) -> Self {
        Self { from: day, to: day }
    }

    fn until(today: NaiveDate, days: u64) -> Option<Self> {
        Some(Self { from: today.checked_sub_days(Days::new(days))?, to: today })
    }

    /// Whether a day is among them.
    pub(super) fn holds(self, day: NaiveDate) -> bool {
        (self.from..=self.to).contains(&day)
    }

    /// Whether it is one day.
    pub(super) fn is_day(self) -> bool {
        self.from == self.to
    }

    /// `2026-11-20`, or the first and the last day.
    pub(super) fn in_words(self) -> String {
        if self.is_day() { self.from.to_string() } else { format!("{} – {}", self.from, self.to) }
    }
}

/// The hour of the day that a clause names: `새벽 3시`, `3 am`, `at 22:00`, `tonight`.
pub(super) fn hour_in(clause: &str) -> Option<u32> {
    let lower = clause.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if let Some((hour, _)) = clock_in(clause) {
        return Some(hour);
    }
    has(&["tonight", "오늘 밤", "오늘밤", "한밤", "야간", "midnight", "자정"]).then_some(0)
}

/// The time of the day that a clause writes in figures, hours and minutes: `오후 2시 30분`, `14:20`, `3 am`.
pub(super) fn clock_in(clause: &str) -> Option<(u32, u32)> {
    let lower = clause.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    for (_, to, hour) in numbers(&lower) {
        let after = lower[to..].trim_start();
        let is_pm = after.starts_with("pm") || after.starts_with("p.m");
        let is_am = after.starts_with("am") || after.starts_with("a.m");
        let is_korean = after.starts_with('시') && !after.starts_with("시간");
        let minute = minute_in(after);
        let behind =
            after.trim_start_matches(|c: char| c == ':' || c.is_ascii_digit()).trim_start();
        let is_pm = is_pm || after.starts_with(':') && behind.starts_with("pm");
        let is_clock = after.starts_with(':') && minute.is_some();
        let minute = minute.unwrap_or_default();
        if hour > 24 || !(is_pm || is_am || is_korean || is_clock) {
            continue;
        }
        let is_midnight =
            hour == 12 && (is_am || is_korean && has(&["밤", "새벽", "오전", "자정", "midnight"]));
        if is_midnight {
            return Some((0, minute));
        }
        let is_evening = is_korean
            && (has(&["오후", "저녁"]) || has(&["밤"]) && hour > 5 || has(&["낮"]) && hour < 7);
        let hour = if (is_pm || is_evening) && hour < 12 { hour + 12 } else { hour % 24 };
        return Some((hour, minute));
    }
    None
}

/// The minutes behind an hour: `:20`, `시 30분`, `시 반`.
fn minute_in(after: &str) -> Option<u32> {
    let rest = after.strip_prefix(':').or_else(|| after.strip_prefix('시'))?.trim_start();
    if rest.starts_with('반') {
        return Some(30);
    }
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let is_written = after.starts_with(':') && digits.len() == 2
        || rest[digits.len()..].trim_start().starts_with('분');
    digits.parse().ok().filter(|minute| *minute < 60 && is_written)
}

/// So many hours ago, where a clause says so: `2시간 전`, `3 hours ago`.
pub(super) fn hours_ago_in(clause: &str) -> Option<u32> {
    let lower = clause.to_lowercase();
    numbers(&lower).into_iter().find_map(|(_, to, hours)| {
        let after = lower[to..].trim_start();
        let rest = after
            .strip_prefix("시간")
            .or_else(|| after.strip_prefix("hours"))
            .or_else(|| after.strip_prefix("hour"))?;
        let rest = rest.trim_start();
        (rest.starts_with('전') || rest.starts_with("ago")).then_some(hours)
    })
}

/// The hours of a night or of an early morning that a clause names, by the plant's clock: of `어제 밤` those from 18:00
/// to 08:00, of `새벽` those from 00:00 to 06:00.
pub(super) fn hours_in(clause: &str, today: NaiveDate) -> Option<(NaiveDateTime, NaiveDateTime)> {
    let lower = clause.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let at = |day: NaiveDate, hour: u32| day.and_hms_opt(hour, 0, 0);
    let night = [
        "어제 밤",
        "어젯밤",
        "어제밤",
        "간밤",
        "지난밤",
        "지난 밤",
        "밤사이",
        "밤 사이",
        "밤새",
        "last night",
        "overnight",
        "yesterday night",
        "during the night",
    ];
    match () {
        () if clock_in(clause).is_some() => None,
        () if has(&night) => Some((at(today.pred_opt()?, 18)?, at(today, 8)?)),
        () if has(&["새벽", "small hours", "early this morning"]) => {
            Some((at(today, 0)?, at(today, 6)?))
        }
        () => None,
    }
}

/// Whether a clause names a day or days.
pub(super) fn names_day(clause: &str) -> bool {
    NaiveDate::from_ymd_opt(2026, 12, 31).is_some_and(|any| span_in(clause, any).is_some())
}

/// The days that a clause names, seen from `today`; none if it names none. A day without a year is the last one
/// that has been.
pub(super) fn span_in(clause: &str, today: NaiveDate) -> Option<Span> {
    let lower = clause.to_lowercase();
    let is_since = ["부터", "이후", "since", "after "].iter().any(|word| lower.contains(word));
    let found = date_in(&lower, today).map(Span::day).or_else(|| relative_in(&lower, today));
    let found = found.or_else(|| weekday_in(&lower, today).map(Span::day));
    found.map(|span| if is_since && span.from <= today { Span { to: today, ..span } } else { span })
}

/// The last such day of the week that has been, today among them: `월요일부터`, `since Monday`.
fn weekday_in(lower: &str, today: NaiveDate) -> Option<NaiveDate> {
    let at = WEEKDAYS.iter().position(|names| names.iter().any(|name| lower.contains(name)))?;
    let back =
        (u64::from(today.weekday().num_days_from_monday()) + 7 - u64::try_from(at).ok()?) % 7;
    today.checked_sub_days(Days::new(back))
}

const WEEKDAYS: [[&str; 2]; 7] = [
    ["월요일", "monday"],
    ["화요일", "tuesday"],
    ["수요일", "wednesday"],
    ["목요일", "thursday"],
    ["금요일", "friday"],
    ["토요일", "saturday"],
    ["일요일", "sunday"],
];

/// Whether a clause names the weekend.
pub(super) fn names_weekend(clause: &str) -> bool {
    let lower = clause.to_lowercase();
    ["주말", "weekend"].iter().any(|word| lower.contains(word))
}

/// The day ahead that a clause names, today among them: `내일`, `tomorrow`, `토요일`, `next Monday`.
pub(super) fn day_ahead_in(clause: &str, today: NaiveDate) -> Option<NaiveDate> {
    let lower = clause.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let ahead = |days: u64| today.checked_add_days(Days::new(days));
    match () {
        () if has(&["모레", "day after tomorrow"]) => return ahead(2),
        () if has(&["내일", "낼 ", "tomorrow", "tmrw", "tmw", "2moro"]) => return ahead(1),
        () if has(&["오늘", "today", "tonight"]) => return ahead(0),
        () if names_weekend(&lower) => {
            let to_saturday = (12 - u64::from(today.weekday().num_days_from_monday())) % 7;
            return ahead(to_saturday);
        }
        () => {}
    }
    if let Some(at) =
        WEEKDAYS.iter().position(|names| names.iter().any(|name| lower.contains(name)))
    {
        let at = u64::try_from(at).ok()?;
        return ahead((at + 7 - u64::from(today.weekday().num_days_from_monday())) % 7);
    }
    date_in(&lower, today).map(|day| {
        // a date without a year that has been is the next one
        let next = day.checked_add_months(chrono::Months::new(12)).unwrap_or(day);
        if day < today && !lower.contains(&day.year().to_string()) { next } else { day }
    })
}

fn date_in(lower: &str, today: NaiveDate) -> Option<NaiveDate> {
    let runs = numbers(lower);
    let joint = |at: usize| lower[runs[at].1..runs[at + 1].0].trim();
    for at in 0..runs.len() {
        let value = |at: usize| runs.get(at).map(|run| run.2);
        // 2026-11-20, 2026.11.20, 2026년 11월 20일
        if at + 2 < runs.len()
            && (1970..10_000).contains(&runs[at].2)
            && ["-", ".", "/", "년"].contains(&joint(at))
            && ["-", ".", "/", "월"].contains(&joint(at + 1))
        {
            let year = i32::try_from(runs[at].2).ok()?;
            return NaiveDate::from_ymd_opt(year, value(at + 1)?, value(at + 2)?);
        }
        // 11월 20일, 11/20, but not 1.5/2.5
        let is_decimal = lower[..runs[at].0].ends_with('.')
            || runs.get(at + 1).is_some_and(|(_, end, _)| lower[*end..].starts_with('.'));
        let is_pair = at + 1 < runs.len()
            && !is_decimal
            && (joint(at) == "월"
                || joint(at) == "/" && at.checked_sub(1).is_none_or(|before| joint(before) != "/"));
        if is_pair && let Some(day) = without_year(value(at)?, value(at + 1)?, today) {
            return Some(day);
        }
    }
    english_date(lower, today).or_else(|| day_of_month(lower, today))
}

/// The last such day of a month that has been: `23일날`, `23일에`.
fn day_of_month(lower: &str, today: NaiveDate) -> Option<NaiveDate> {
    numbers(lower).into_iter().find_map(|(from, to, day)| {
        let after = lower[to..].trim_start().strip_prefix('일')?.trim_start();
        let is_length = ["간", "전", "동안", "이내", "안에", "후", "뒤", "째", "치"]
            .iter()
            .any(|word| after.starts_with(word))
            || ["지난", "최근", "약"].iter().any(|word| lower[..from].trim_end().ends_with(word));
        if is_length {
            return None;
        }
        let this = today.with_day(day)?;
        if this <= today { Some(this) } else { this.checked_sub_months(chrono::Months::new(1)) }
    })
}

/// `20 November`, `November 20th`, `20th of Nov`
fn english_date(lower: &str, today: NaiveDate) -> Option<NaiveDate> {
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let number = |word: &&str| {
        let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let ending = &word[digits.len()..];
        ["", "st", "nd", "rd", "th"].contains(&ending).then(|| digits.parse::<u32>().ok()).flatten()
    };
    let (at, month) = words.iter().enumerate().find_map(|(at, word)| {
        let known = MONTHS.iter().position(|month| word.starts_with(month))?;
        let is_word = word.len() == 3 || FULL_MONTHS.contains(word) || *word == "sept";
        is_word.then_some((at, u32::try_from(known).ok()? + 1))
    })?;
    let before = at.checked_sub(1).and_then(|one| match words[one] {
        "of" => one.checked_sub(1).and_then(|two| number(&words[two])),
        word => number(&word),
    });
    let after = || words.get(at + 1).and_then(number);
    let year = words
        .iter()
        .filter_map(|word| word.parse::<i32>().ok())
        .find(|year| (1970..2200).contains(year));
    let day = before.or_else(after)?;
    match year {
        Some(year) => NaiveDate::from_ymd_opt(year, month, day),
        None => without_year(month, day, today),
    }
}

const FULL_MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The last such day that has been.
fn without_year(month: u32, day: u32, today: NaiveDate) -> Option<NaiveDate> {
    let this = NaiveDate::from_ymd_opt(today.year(), month, day)?;
    if this <= today { Some(this) } else { NaiveDate::from_ymd_opt(today.year() - 1, month, day) }
}

/// Numbers of a text: where each begins and ends, and its value.
fn numbers(text: &str) -> Vec<(usize, usize, u32)> {
    let (mut found, mut from) = (Vec::new(), None);
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (c.is_ascii_digit(), from) {
            (true, None) => from = Some(at),
            (false, Some(begin)) => {
                found.extend(text[begin..at].parse().ok().map(|value| (begin, at, value)));
                from = None;
            }
            _ => {}
        }
    }
    found
}

fn relative_in(lower: &str, today: NaiveDate) -> Option<Span> {
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let back = |days: u64| today.checked_sub_days(Days::new(days)).map(Span::day);
    let weekday = u64::from(today.weekday().num_days_from_monday());
    for (from, to, value) in numbers(lower) {
        let (before, after) = (lower[..from].trim_end(), lower[to..].trim_start());
        let is_ago =
            after.starts_with("일 전") || after.starts_with("일전") || after.contains("days ago");
        let is_stretch = ["지난", "최근", "last", "past"].iter().any(|word| before.ends_with(word))
            || ["일간", "일 동안"].iter().any(|word| after.starts_with(word));
        let is_days = after.starts_with('일') || after.starts_with("day");
        if is_ago && is_days {
            return back(u64::from(value));
        }
        if is_stretch && is_days {
            return Span::until(today, u64::from(value));
        }
        if is_stretch && (after.starts_with("시간") || after.starts_with("hour")) {
            return Span::until(today, u64::from(value).div_ceil(24));
        }
    }
    match () {
        () if has(&["그저께", "그제", "day before yesterday"]) => back(2),
        () if has(&["간밤", "밤사이", "밤새", "지난밤", "어젯밤", "overnight", "last night"]) => {
            Span::until(today, 1)
        }
        () if has(&["어제", "yesterday"]) => back(1),
        () if has(&["오늘 아침", "아침에", "this morning"]) => back(0),
        () if has(&["오늘", "today"]) => back(0),
        () if has(&["이번 주", "이번주", "금주", "this week"]) => {
            Span::until(today, weekday)
        }
        () if has(&["지난 주", "지난주", "저번 주", "저번주", "last week"]) => {
            let to = today.checked_sub_days(Days::new(weekday + 1))?;
            Some(Span { from: to.checked_sub_days(Days::new(6))?, to })
        }
        () if has(&["이번 달", "이번달", "this month"]) => {
            Span::until(today, u64::from(today.day0()))
        }
        () if has(&["지난 달", "지난달", "저번 달", "last month"]) => {
            let to = today.checked_sub_days(Days::new(u64::from(today.day())))?;
            Some(Span { from: to.with_day(1)?, to })
        }
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(clause: &str) -> Option<String> {
        // a Thursday
        let today = NaiveDate::from_ymd_opt(2026, 11, 26)?;
        span_in(clause, today).map(Span::in_words)
    }

    #[test]
    fn days_are_read_as_people_name_them() {
        for (clause, days) in [
            ("P-101의 11월 20일 RMS", "2026-11-20"),
            ("2026-11-20 값", "2026-11-20"),
            ("2026년 11월 20일에", "2026-11-20"),
            ("12월 3일", "2025-12-03"),
            ("23일날 첨도", "2026-11-23"),
            ("on 20 November", "2026-11-20"),
            ("on November 20th", "2026-11-20"),
            ("the 20th of Nov", "2026-11-20"),
            ("Nov 20, 2025", "2025-11-20"),
            ("어제", "2026-11-25"),
            ("3일 전", "2026-11-23"),
            ("3 days ago", "2026-11-23"),
            ("이번 주에", "2026-11-23 – 2026-11-26"),
            ("last week", "2026-11-16 – 2026-11-22"),
            ("지난달", "2026-10-01 – 2026-10-31"),
            ("지난 30일", "2026-10-27 – 2026-11-26"),
            ("in the last 24 hours", "2026-11-25 – 2026-11-26"),
            ("11/20", "2026-11-20"),
            ("anything new since Monday?", "2026-11-23 – 2026-11-26"),
            ("월요일부터", "2026-11-23 – 2026-11-26"),
            ("since 20 November", "2026-11-20 – 2026-11-26"),
            ("what happened overnight", "2026-11-25 – 2026-11-26"),
            ("on Friday", "2026-11-20"),
        ] {
            assert_eq!(told(clause).as_deref(), Some(days), "{clause}");
        }
    }

    #[test]
    fn hours_are_read_as_people_name_them() {
        for (clause, hour) in [
            ("새벽 3시에 누구한테", Some(3)),
            ("밤 11시", Some(23)),
            ("밤 12시 당직", Some(0)),
            ("at 12 am", Some(0)),
            ("who is on at 3 am", Some(3)),
            ("at 10 pm", Some(22)),
            ("at 22:00", Some(22)),
            ("tonight", Some(0)),
            ("3시간 뒤", None),
            ("P-101", None),
        ] {
            assert_eq!(hour_in(clause), hour, "{clause}");
        }
    }

    #[test]
    fn days_ahead_are_read_as_people_name_them() {
        let today = NaiveDate::from_ymd_opt(2026, 11, 26).expect("a Thursday");
        for (clause, day) in [
            ("and tomorrow?", Some("2026-11-27")),
            ("모레 당직", Some("2026-11-28")),
            ("토요일 당직 누구", Some("2026-11-28")),
            ("who is on call this weekend", Some("2026-11-28")),
            ("on Thursday", Some("2026-11-26")),
            ("12월 3일 당직", Some("2026-12-03")),
            ("P-101", None),
        ] {
            let told = day_ahead_in(clause, today).map(|day| day.to_string());
            assert_eq!(told.as_deref(), day, "{clause}");
        }
    }

    #[test]
    fn what_is_no_day_is_none() {
        for clause in [
            "P-101 상태",
            "6205 베어링",
            "M12 85 N·m",
            "may it run?",
            "2월 31일",
            "stage 3",
            "1.5/2.5 mm",
            "gw-03",
            "7일 이내",
        ] {
            assert_eq!(told(clause), None, "{clause}");
        }
    }
}
