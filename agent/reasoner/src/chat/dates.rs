//! The day or the days that a clause names: a date, `yesterday`, `3 days ago`, `this week`, `지난
//! 30일`.

use chrono::{Datelike, Days, NaiveDate, NaiveDateTime};
use pdm_shared::text::Language;

use super::intent::{PLAIN_WORDS, has};

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

/// The time of the day that a clause writes in figures, hours and minutes: `오후 2시 30분`, `14:20`, `3
/// am`.
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

/// Returns the number of hours where a clause says how many hours ago: `2시간 전`, `3 hours ago`.
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

/// The hours of a night or of an early morning that a clause names, by the plant's clock: of `어제 밤`
/// those from 18:00 to 08:00, of `새벽` those from 00:00 to 06:00.
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
        "야간에",
        "야간 근무",
        "야간조",
        "on nights",
        "on the night shift",
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

/// Returns the days that a clause names, relative to `today`; `None` if it names no day. A day
/// without a year is taken as the most recent one that has passed.
pub(super) fn span_in(clause: &str, today: NaiveDate) -> Option<Span> {
    let lower = clause.to_lowercase();
    let is_since = ["부터", "이후", "since", "after "].iter().any(|word| lower.contains(word));
    let found = date_in(&lower, today).map(Span::day).or_else(|| relative_in(&lower, today));
    let found = found.or_else(|| weekday_in(&lower, today).map(Span::day));
    // what is compared with a time has changed since it
    let is_compared = COMPARED.iter().any(|word| lower.contains(word));
    found.map(|span| {
        let is_open = is_since || is_compared;
        if is_open && span.from <= today { Span { to: today, ..span } } else { span }
    })
}

/// Words by which a clause compares with a day.
const COMPARED: [&str; 9] =
    ["비교", "대비", "보다", "견주", "compared", "compare ", "versus", " vs", "than "];

/// Says that a clause names a period that was not read, where `read` is none: all times are
/// answered for then.
pub(super) fn unread(clause: &str, read: Option<Span>, language: Language) -> Option<String> {
    let lower = clause.to_lowercase();
    let words = PLAIN_WORDS.unread_periods.iter();
    let mut named = words.filter(|word| has(&lower, std::slice::from_ref(*word)));
    let word = named.next().filter(|_| read.is_none())?;
    Some(match language {
        Language::Ko => format!(
            "기간 \"{word}\": 어느 날짜인지 알 수 없어 기간을 가리지 않고 답합니다. 날짜로 물으면 그 기간만 답합니다."
        ),
        Language::En => format!(
            "The period \"{word}\" was not understood, so this is of all times. Ask with dates for \
             that period alone."
        ),
    })
}

/// The weekend that a clause names and that has been, or is: the last Saturday and Sunday, of which
/// today may be one; the one before it where it is called the last one. Nothing where the clause
/// looks ahead to it.
fn weekend_in(lower: &str, today: NaiveDate) -> Option<Span> {
    const AHEAD: [&str; 11] = [
        "까지",
        "버틸",
        "버텨",
        "until",
        "till",
        "through",
        "thru",
        "by the",
        "before the",
        "next",
        "다음",
    ];
    if !names_weekend(lower) || AHEAD.iter().any(|word| lower.contains(word)) {
        return None;
    }
    let weekday = u64::from(today.weekday().num_days_from_monday());
    let is_now = weekday >= 5;
    let is_last = ["지난 주말", "지난주말", "저번 주말", "저번주말", "last weekend"]
        .iter()
        .any(|word| lower.contains(word));
    let to_saturday = if is_now { weekday - 5 } else { weekday + 2 };
    let back = if is_now && is_last { to_saturday + 7 } else { to_saturday };
    let from = today.checked_sub_days(Days::new(back))?;
    let to = from.succ_opt()?.min(today);
    Some(Span { from, to })
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

/// Whether a text in lower case names a day of the week.
pub(super) fn names_weekday(lower: &str) -> bool {
    WEEKDAYS.iter().flat_map(|names| names.iter()).any(|name| lower.contains(name))
}

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
        let is_today = u64::from(today.weekday().num_days_from_monday());
        let days = (at + 7 - is_today) % 7;
        // a day of the next week, which is not over when its name comes first
        let is_of_this = is_today + days < 7;
        let is_next = has(&["다음 주", "다음주", "next week"]) && is_of_this;
        return ahead(if is_next { days + 7 } else { days });
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

/// A stretch in figures: `3일 전`, `last 2 weeks`, `지난 30일`.
fn stretch_in(lower: &str, today: NaiveDate) -> Option<Span> {
    let back = |days: u64| today.checked_sub_days(Days::new(days)).map(Span::day);
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
        let is_over = is_stretch
            || ["동안", "간"].iter().any(|word| {
                let unit = after.strip_prefix('주').or_else(|| after.strip_prefix("개월"));
                unit.is_some_and(|rest| rest.trim_start().starts_with(word))
            });
        if is_over && (after.starts_with('주') || after.starts_with("week")) {
            return Span::until(today, u64::from(value) * 7);
        }
        if is_over && (after.starts_with("개월") || after.starts_with("month")) {
            let from = today.checked_sub_months(chrono::Months::new(value))?;
            return Some(Span { from, to: today });
        }
        if is_stretch && (after.starts_with("시간") || after.starts_with("hour")) {
            return Span::until(today, u64::from(value).div_ceil(24));
        }
    }
    None
}

fn relative_in(lower: &str, today: NaiveDate) -> Option<Span> {
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let back = |days: u64| today.checked_sub_days(Days::new(days)).map(Span::day);
    let weekday = u64::from(today.weekday().num_days_from_monday());
    if names_weekend(lower) {
        // "이번 주말" is no whole week, and one ahead no time that has been
        return weekend_in(lower, today);
    }
    if let Some(span) = stretch_in(lower, today) {
        return Some(span);
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
        () if has(&["이번 달", "이번달", "이달", "금월", "this month"]) => {
            Span::until(today, u64::from(today.day0()))
        }
        () if has(&["지난 달", "지난달", "저번 달", "last month"]) => {
            let to = today.checked_sub_days(Days::new(u64::from(today.day())))?;
            Some(Span { from: to.with_day(1)?, to })
        }
        () if has(&["올해", "금년", "this year"]) => {
            Span::until(today, u64::from(today.ordinal0()))
        }
        () if has(&["작년", "지난해", "지난 해", "last year"]) => {
            let year = today.year() - 1;
            let (from, to) =
                (NaiveDate::from_ymd_opt(year, 1, 1)?, NaiveDate::from_ymd_opt(year, 12, 31)?);
            Some(Span { from, to })
        }
        () => None,
    }
}

#[cfg(test)]
mod tests;
