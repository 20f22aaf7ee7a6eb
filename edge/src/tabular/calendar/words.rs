//! The words of a calendar time: months, halves of the day, marks of UTC, days of the week.

/// The statements of a field's words.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FieldWords {
    pub(super) month: Option<u16>,
    pub(super) is_afternoon: Option<bool>,
    /// Offset from UTC that a word states, minutes.
    pub(super) offset_min: Option<i16>,
}

/// First letters of the months, English and German.
const MONTHS: [(&str, u16); 16] = [
    ("jan", 1),
    ("feb", 2),
    ("mar", 3),
    ("mär", 3),
    ("mrz", 3),
    ("apr", 4),
    ("may", 5),
    ("mai", 5),
    ("jun", 6),
    ("jul", 7),
    ("aug", 8),
    ("sep", 9),
    ("oct", 10),
    ("okt", 10),
    ("nov", 11),
    ("dec", 12),
];
const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// Reads the words; `None` if one of them belongs to no time.
pub(super) fn of_field(field: &str) -> Option<FieldWords> {
    let mut words = FieldWords::default();
    for word in field.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()) {
        let word = word.to_lowercase();
        let begins = |part: &str| word.starts_with(part);
        match word.as_str() {
            "am" | "a" | "오전" | "vorm" | "上午" | "午前" | "凌晨" | "早上" => {
                words.is_afternoon = Some(false);
            }
            "pm" | "p" | "오후" | "nachm" | "下午" | "午後" | "午后" | "晚上" => {
                words.is_afternoon = Some(true);
            }
            "z" | "utc" | "gmt" => words.offset_min = Some(0),
            "kst" | "jst" => words.offset_min = Some(9 * 60),
            "t" | "m" | "년" | "월" | "일" | "시" | "분" | "초" | "uhr" | "年" | "月" | "日"
            | "時" | "时" | "分" | "秒" | "号" => {}
            "dez" => words.month = Some(12),
            _ if word.chars().count() <= 9 && MONTHS.iter().any(|(month, _)| begins(month)) => {
                words.month = MONTHS.iter().find(|(month, _)| begins(month)).map(|(_, n)| *n);
            }
            _ if DAYS.iter().any(|day| begins(day)) => {}
            _ => return None,
        }
    }
    Some(words)
}

/// A time without the name of its zone in brackets, where its offset stands before it
/// (`2026-06-22 00:56:03.711+0100 [Europe/London]`, as Java writes it).
pub(super) fn without_zone_name(field: &str) -> &str {
    let named = field.strip_suffix(']').and_then(|rest| rest.rsplit_once('['));
    match named {
        Some((time, zone)) if zone.contains('/') && !zone.contains(' ') => time.trim_end(),
        _ => field,
    }
}

/// `Sat Mar 21 08:05:09 2026`, as C and Unix write it, with the year before the time of day.
pub(super) fn year_before_clock(field: &str) -> Option<String> {
    let words: Vec<&str> = field.split_whitespace().collect();
    let (month, day, clock, rest) = match words.as_slice() {
        [_, month, day, clock, rest @ ..] if clock.contains(':') => (month, day, clock, rest),
        [month, day, clock, rest @ ..] if clock.contains(':') => (month, day, clock, rest),
        _ => return None,
    };
    let (zone, year) = match rest {
        [year] => ("", year),
        [zone, year] => (*zone, year),
        _ => return None,
    };
    let is_year = year.len() == 4 && year.bytes().all(|byte| byte.is_ascii_digit());
    let is_date = month.chars().all(char::is_alphabetic) && day.bytes().all(|b| b.is_ascii_digit());
    (is_year && is_date).then(|| format!("{day} {month} {year} {clock} {zone}"))
}
