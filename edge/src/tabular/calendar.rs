//! Calendar times as people write them, read in two stages: a field becomes a [`Stamp`], and all
//! stamps of a column together tell whether the day or the month comes first.
//!
//! Invariant: dates that have two readings are refused, never guessed.

use std::str::FromStr;

use chrono::NaiveDate;

mod words;

/// Nanoseconds of a second.
const NS: i64 = 1_000_000_000;

/// Years of this calendar that a field may have: from the first day of spreadsheets on.
const YEARS: std::ops::Range<u16> = 1899..2200;

/// Stands before a year that the field writes with three or four digits and that has fewer: `0001`,
/// `115`.
const FEW_DIGITS: u16 = 20_000;

/// The order of day, month and year where the year does not come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DateOrder {
    /// 31.12.2026
    DayFirst,
    /// 12/31/2026
    MonthFirst,
    /// 26/12/31
    YearFirst,
}

impl FromStr for DateOrder {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "day-first" => Ok(Self::DayFirst),
            "month-first" => Ok(Self::MonthFirst),
            "year-first" => Ok(Self::YearFirst),
            _ => Err(format!(
                "{text:?} is no order of a date; allowed are day-first, month-first and year-first"
            )),
        }
    }
}

/// The parts of a date in the order of the field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct DateParts {
    parts: [u16; 3],
    form: DateForm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DateForm {
    /// The order is certain.
    Certain(DateOrder),
    /// Day or month first, the year last.
    YearLast,
    /// Any order: the year has two digits.
    Any,
}

/// A field that is a date, a time of day, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    date: Option<DateParts>,
    /// Nanoseconds since midnight.
    clock_ns: Option<i64>,
    /// Offset from UTC in minutes.
    offset_min: Option<i16>,
}

/// A number of a field: its value, its digits, the character before it.
#[derive(Debug, Clone, Copy)]
struct Group<'a> {
    text: &'a str,
    value: u32,
    before: char,
}

impl Stamp {
    /// Reads a field; `None` if it is neither a date nor a time of day.
    pub fn parse(field: &str) -> Option<Self> {
        let field = words::without_zone_name(field.trim());
        if field.len() > 48 || !field.bytes().any(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let plain = without_era(field);
        let field = plain.as_deref().unwrap_or(field);
        let year_last = words::year_before_clock(field);
        Self::compact(field)
            .or_else(|| Self::spaced(field))
            .or_else(|| year_last.as_deref().and_then(Self::spaced))
    }

    /// `20260301`, `20260301T080000`, `20260301080000`, `260301080000`, with fractions and `Z`.
    fn compact(field: &str) -> Option<Self> {
        let plain = field.trim_end_matches('Z');
        let (main, fraction) = plain.split_once('.').unwrap_or((plain, ""));
        let digits: String = main.chars().filter(char::is_ascii_digit).collect();
        let others: String = main.chars().filter(|c| !c.is_ascii_digit()).collect();
        if !matches!(others.as_str(), "" | "T" | "_" | "-" | " " | "t" | "Z") {
            return None;
        }
        let has_year = matches!(digits.len(), 8 | 14) && matches!(&digits[..2], "19" | "20");
        let (year, rest) = match digits.len() {
            8 | 14 if has_year => (digits.get(..4)?.parse().ok()?, digits.get(4..)?),
            // without a mark between date and clock, six digits of date are told by their ranges
            12 if fraction.is_empty() => {
                (full_year(digits.get(..2)?.parse().ok()?), digits.get(2..)?)
            }
            _ => return None,
        };
        let two = |at: usize| rest.get(at..at + 2).and_then(|part| part.parse::<u16>().ok());
        let (month, day) = (two(0)?, two(2)?);
        NaiveDate::from_ymd_opt(i32::from(year), month.into(), day.into())?;
        let clock_ns = if rest.len() == 4 {
            None
        } else {
            Some(clock(two(4)?.into(), two(6)?.into(), two(8)?.into(), fraction)?)
        };
        let form = DateForm::Certain(DateOrder::YearFirst);
        let date = Some(DateParts { parts: [year, month, day], form });
        let offset_min = field.ends_with('Z').then_some(0);
        Some(Self { date, clock_ns, offset_min })
    }

    fn spaced(field: &str) -> Option<Self> {
        let words = words::of_field(field)?;
        let groups = groups(field)?;
        let colon = groups.iter().position(|group| group.before == ':');
        // six or seven numbers without a colon: 2004.02.12.10.32.39
        let clock_from = match colon {
            Some(at) => at.checked_sub(1)?,
            None if groups.len() >= 6 && words.month.is_none() => 3,
            // `20時00分05秒`
            None if groups.len() >= 2 && "시時时".contains(groups[1].before) => 0,
            None => groups.len(),
        };
        let (date, time) = groups.split_at_checked(clock_from)?;
        let date = match date {
            [] => None,
            date => Some(date_of(date, words.month)?),
        };
        let (clock_ns, offset_min) = match time {
            [] => (None, None),
            [minute, second, part] if is_minutes_alone(date, &[minute, second, part], words) => {
                (Some(minutes_alone(minute, second, part)?), None)
            }
            time => time_of(time, words)?,
        };
        (date.is_some() || clock_ns.is_some()).then_some(Self { date, clock_ns, offset_min })
    }

    /// Whether the field has a date.
    pub const fn has_date(&self) -> bool {
        self.date.is_some()
    }

    /// Whether the field has a time of day.
    pub const fn has_clock(&self) -> bool {
        self.clock_ns.is_some()
    }

    /// Whether the field states its offset from UTC.
    pub const fn has_offset(&self) -> bool {
        self.offset_min.is_some()
    }

    /// The parts of the date as the field has them, to compare days.
    #[must_use]
    pub const fn date_only(&self) -> Self {
        Self { date: self.date, clock_ns: None, offset_min: None }
    }

    /// The date of this stamp with the time of day of another field.
    #[must_use]
    pub const fn with_clock_of(self, other: &Self) -> Self {
        Self { date: self.date, clock_ns: other.clock_ns, offset_min: other.offset_min }
    }

    /// Nanoseconds since 1970 UTC, or in the field's own zone where it states no offset; a field
    /// without a date counts from midnight of 1970-01-01. `None` if the date does not exist in this
    /// order.
    pub fn unix_ns(&self, order: DateOrder) -> Option<i64> {
        let days = match self.date {
            None => 0,
            Some(date) => date.days(order)?,
        };
        self.with_days(days)
    }

    /// Returns the same as [`Self::unix_ns`], with a year that does not belong to this calendar
    /// folded into the years 2000 to 2399: such times have right distances within a year, and date
    /// nothing.
    pub fn folded_ns(&self, order: DateOrder) -> Option<i64> {
        let days = match self.date {
            None => 0,
            Some(date) => date.folded_days(order)?,
        };
        self.with_days(days)
    }

    /// Returns the year as the field has it, if it does not belong to this calendar: a year of a
    /// Buddhist, Persian or other one, or 0001, with which programs say that there is no time.
    pub fn foreign_year(&self, order: DateOrder) -> Option<u16> {
        let (year, ..) = self.date?.in_order(order);
        DateParts::is_foreign(year).then_some(if year >= FEW_DIGITS {
            year - FEW_DIGITS
        } else {
            year
        })
    }

    fn with_days(self, days: i64) -> Option<i64> {
        let local = days.checked_mul(86_400 * NS)?.checked_add(self.clock_ns.unwrap_or(0))?;
        local.checked_sub(i64::from(self.offset_min.unwrap_or(0)) * 60 * NS)
    }
}

impl DateParts {
    fn order(self, order: DateOrder) -> DateOrder {
        match self.form {
            DateForm::Certain(own) => own,
            DateForm::YearLast if order == DateOrder::YearFirst => DateOrder::DayFirst,
            DateForm::YearLast | DateForm::Any => order,
        }
    }

    /// Year, month and day.
    fn in_order(self, order: DateOrder) -> (u16, u16, u16) {
        let [a, b, c] = self.parts;
        match self.order(order) {
            DateOrder::YearFirst => (a, b, c),
            DateOrder::DayFirst => (c, b, a),
            DateOrder::MonthFirst => (c, a, b),
        }
    }

    /// Whether a year does not belong to this calendar.
    fn is_foreign(year: u16) -> bool {
        year >= 100 && !YEARS.contains(&year)
    }

    fn folded_days(self, order: DateOrder) -> Option<i64> {
        let (year, month, day) = self.in_order(order);
        if !Self::is_foreign(year) {
            return self.days(order);
        }
        let date = NaiveDate::from_ymd_opt(i32::from(2000 + year % 400), month.into(), day.into())?;
        Some(date.signed_duration_since(NaiveDate::default()).num_days())
    }

    fn days(self, order: DateOrder) -> Option<i64> {
        let (year, month, day) = self.in_order(order);
        if Self::is_foreign(year) {
            return None;
        }
        let year = if year < 100 { full_year(year) } else { year };
        let date = NaiveDate::from_ymd_opt(i32::from(year), month.into(), day.into())?;
        Some(date.signed_duration_since(NaiveDate::default()).num_days())
    }
}

/// The year of two digits: 1970 to 2069. POSIX divides at 69; no recording is from 1969.
const fn full_year(two_digits: u16) -> u16 {
    if two_digits < 70 { 2000 + two_digits } else { 1900 + two_digits }
}

/// The order of the dates of a column.
///
/// # Errors
/// Two orders fit; in words.
pub fn decided_order(stamps: &[Stamp], asked: Option<DateOrder>) -> Result<DateOrder, String> {
    let open =
        |stamp: &&Stamp| stamp.date.is_some_and(|date| !matches!(date.form, DateForm::Certain(_)));
    let Some(first) = stamps.iter().find(open) else { return Ok(DateOrder::DayFirst) };
    let is_any = first.date.is_some_and(|date| date.form == DateForm::Any);
    let all = [DateOrder::DayFirst, DateOrder::MonthFirst, DateOrder::YearFirst];
    let tried = &all[..if is_any { 3 } else { 2 }];
    let fits = |order: &DateOrder| stamps.iter().all(|stamp| stamp.folded_ns(*order).is_some());
    let fitting: Vec<DateOrder> = tried.iter().copied().filter(|order| fits(order)).collect();
    if let Some(asked) = asked {
        return if fitting.contains(&asked) {
            Ok(asked)
        } else {
            Err("the dates do not exist in the order of --date-order".to_owned())
        };
    }
    match fitting.as_slice() {
        [] => Err("the dates exist in no order of day, month and year".to_owned()),
        [one] => Ok(*one),
        several => by_evenness(stamps, several).ok_or_else(|| {
            "the day or the month may come first in the dates; write them as YYYY-MM-DD, or decide \
             with --date-order day-first or month-first"
                .to_owned()
        }),
    }
}

/// The one order in which the times go in one direction and evenly; `None` if that is not one.
fn by_evenness(stamps: &[Stamp], orders: &[DateOrder]) -> Option<DateOrder> {
    let is_even = |order: &DateOrder| {
        let times: Vec<i64> = stamps.iter().filter_map(|stamp| stamp.folded_ns(*order)).collect();
        let mut steps: Vec<i64> =
            times.windows(2).map(|pair| pair[1].saturating_sub(pair[0]).saturating_abs()).collect();
        steps.sort_unstable();
        let Some(&usual) = steps.get(steps.len() / 2) else { return false };
        // months differ by a tenth in their days, so steps of a day and steps of a month are told
        // apart
        let near = |step: &&i64| (**step - usual).abs() <= usual / 50;
        let even = steps.iter().filter(near).count();
        let rises = times.windows(2).all(|pair| pair[1] >= pair[0]);
        let falls = times.windows(2).all(|pair| pair[1] <= pair[0]);
        // three rows may be even by chance
        steps.len() >= 7 && (rises || falls) && 10 * even >= 9 * steps.len()
    };
    let even: Vec<DateOrder> = orders.iter().copied().filter(is_even).collect();
    // all rows on one day: every order is even, and the times within the day are the same
    match even.as_slice() {
        [one] => Some(*one),
        _ => None,
    }
}

/// A date with a year of a Japanese era (`R8.03.01`, `令和8年3月1日`), whose year becomes one of three
/// digits.
fn without_era(field: &str) -> Option<String> {
    const ERAS: [&str; 6] = ["令和", "平成", "昭和", "R", "H", "S"];
    let rest = ERAS.into_iter().find_map(|era| field.strip_prefix(era))?;
    // `S3-1-2` is a name
    if field.starts_with(|c: char| c.is_ascii()) && !field.contains(':') {
        return None;
    }
    let end = rest.find(|c: char| !c.is_ascii_digit())?;
    let year: u16 = rest.get(..end)?.parse().ok()?;
    let behind = rest.get(end..).filter(|_| (1..=2).contains(&end))?;
    behind.starts_with(['.', '/', '-', '年']).then(|| format!("{year:03}{behind}"))
}

fn clock(hour: u32, minute: u32, second: u32, fraction: &str) -> Option<i64> {
    if hour > 24 || minute > 59 || second > 60 || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let nine: String = fraction.chars().chain("000000000".chars()).take(9).collect();
    let nanos: i64 = nine.parse().ok()?;
    Some(i64::from(hour * 3600 + minute * 60 + second) * NS + nanos)
}

/// The numbers of a field with the character before each; `None` if there are too many or too long
/// ones.
fn groups(field: &str) -> Option<Vec<Group<'_>>> {
    let mut all = Vec::new();
    let (mut start, mut before) = (None, ' ');
    for (at, letter) in field.char_indices().chain([(field.len(), ' ')]) {
        match (letter.is_ascii_digit(), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                let text = &field[from..at];
                let value = text.get(..text.len().min(9))?.parse().ok()?;
                all.push(Group { text, value, before });
                (start, before) = (None, letter);
            }
            (false, None) if letter != ' ' || before == ' ' => before = letter,
            _ => {}
        }
    }
    (all.len() <= 9).then_some(all)
}

fn date_of(groups: &[Group<'_>], month: Option<u16>) -> Option<DateParts> {
    let small =
        |group: &Group<'_>| u16::try_from(group.value).ok().filter(|_| group.text.len() <= 4);
    let long = |group: &Group<'_>| {
        let value = small(group)?;
        let has_few = group.text.len() >= 3 && value < 1000;
        Some(if has_few { FEW_DIGITS + value } else { value })
    };
    if let Some(month) = month {
        let [a, b] = groups else { return None };
        let (a_value, b_value) = (long(a)?, long(b)?);
        let (parts, order) = if a.text.len() == 4 {
            ([a_value, month, b_value], DateOrder::YearFirst)
        } else {
            ([a_value, month, b_value], DateOrder::DayFirst)
        };
        return Some(DateParts { parts, form: DateForm::Certain(order) });
    }
    let [a, b, c] = groups else { return None };
    let parts = [long(a)?, long(b)?, long(c)?];
    let has_mark = |group: &Group<'_>| "-/. _년월年月".contains(group.before);
    if !(has_mark(b) && has_mark(c)) {
        return None;
    }
    // a version or an address has no month
    let is_day = || (1..=12).contains(&b.value) && (1..=31).contains(&c.value);
    if a.text.len() == 3 && !is_day() {
        return None;
    }
    let form = match (a.text.len(), c.text.len()) {
        (3 | 4, 1..=2) => DateForm::Certain(DateOrder::YearFirst),
        // points: German and its neighbours, where the day comes first
        (1..=2, 2 | 4) if b.before == '.' && c.before == '.' => {
            DateForm::Certain(DateOrder::DayFirst)
        }
        (1..=2, 4) => DateForm::YearLast,
        (2, 2) => DateForm::Any,
        _ => return None,
    };
    Some(DateParts { parts, form })
}

/// Whether three numbers are minutes, seconds and a part of a second, as a spreadsheet shows a time
/// by its form `mm:ss.0`: there is no date and no word, a colon stands between the first two alone
/// and a point behind them.
fn is_minutes_alone(
    date: Option<DateParts>,
    [minute, second, part]: &[&Group<'_>; 3],
    words: words::FieldWords,
) -> bool {
    date.is_none()
        && words.is_afternoon.is_none()
        && minute.text.len() <= 2
        && (second.before, second.text.len()) == (':', 2)
        && matches!(part.before, '.' | ',')
}

fn minutes_alone(minute: &Group<'_>, second: &Group<'_>, part: &Group<'_>) -> Option<i64> {
    clock(minute.value / 60, minute.value % 60, second.value, part.text)
}

/// Time of day and offset from the numbers behind the date.
fn time_of(groups: &[Group<'_>], words: words::FieldWords) -> Option<(Option<i64>, Option<i16>)> {
    let (hour, minute) = (groups.first()?, groups.get(1)?);
    let mut rest = groups.get(2..)?;
    let is_second = |group: &Group<'_>| {
        matches!(group.before, ':' | '.' | '-' | '_' | '분' | '分') && group.text.len() <= 2
    };
    let second = match rest.first() {
        Some(group)
            if is_second(group)
                && !(group.before == '-' && rest.len() <= 2 && hour.before != '-') =>
        {
            rest = &rest[1..];
            group.value
        }
        _ => 0,
    };
    let mut fraction = "";
    if let Some(group) = rest.first()
        && matches!(group.before, '.' | ',' | ':')
    {
        fraction = group.text;
        rest = &rest[1..];
    }
    let offset_min = match rest {
        [] => words.offset_min,
        [hours, minutes @ ..] if matches!(hours.before, '+' | '-') => {
            let sign = if hours.before == '-' { -1 } else { 1 };
            let (h, m) = match (hours.text.len(), minutes) {
                (4, []) => (hours.value / 100, hours.value % 100),
                (1..=2, []) => (hours.value, 0),
                (1..=2, [minutes]) => (hours.value, minutes.value),
                _ => return None,
            };
            (h <= 14 && m < 60).then(|| i16::try_from(h * 60 + m).ok().map(|all| sign * all))?
        }
        _ => return None,
    };
    let mut hour = hour.value;
    if let Some(is_afternoon) = words.is_afternoon {
        if !(1..=12).contains(&hour) {
            return None;
        }
        hour = hour % 12 + if is_afternoon { 12 } else { 0 };
    }
    Some((Some(clock(hour, minute.value, second, fraction)?), offset_min))
}

#[cfg(test)]
mod tests;
