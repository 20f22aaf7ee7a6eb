//! Numbers as programs and people write them: decimal commas, thousands, a space after the sign,
//! words for a missing value.

use std::borrow::Cow;
use std::str::FromStr;

/// Words for a value that is missing, in lower case.
const MISSING: [&str; 62] = [
    "",
    "nan",
    "-nan",
    "+nan",
    "na",
    "n/a",
    "#n/a",
    "#na",
    "null",
    "nil",
    "none",
    "-",
    "--",
    "---",
    "----",
    "–",
    "—",
    "?",
    "*",
    ".",
    "bad",
    "i/o timeout",
    "bad input",
    "bad output",
    "no result",
    "no sample",
    "calc failed",
    "comm fail",
    "not connect",
    "pt created",
    "scan off",
    "shutdown",
    "configure",
    "no data",
    "nodata",
    "no value",
    "error",
    "#value!",
    "#ref!",
    "invalid",
    "fehler",
    "결측",
    "scan timeout",
    "offline",
    "unavailable",
    "unknown",
    "<null>",
    "(null)",
    "n. def.",
    "n.def.",
    "n. v.",
    "undefined",
    "missing",
    "#missing",
    "#nv",
    "#num!",
    "1.#qnan",
    "-1.#qnan",
    "1.#ind",
    "-1.#ind",
    "no reading",
    "연결 끊김",
];
/// Further words for a missing number: beyond the range of a converter.
const BEYOND: [&str; 14] = [
    "1.#inf",
    "-1.#inf",
    "inf",
    "-inf",
    "+inf",
    "infinity",
    "-infinity",
    "ovr",
    "over",
    "overflow",
    "overrange",
    "overload",
    "∞",
    "-∞",
];

/// The meaning of a comma in a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decimal {
    /// The point is the decimal sign; commas group thousands.
    Point,
    /// The comma is the decimal sign; points group thousands.
    Comma,
}

impl FromStr for Decimal {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "point" | "." => Ok(Self::Point),
            "comma" | "," => Ok(Self::Comma),
            _ => Err(format!("{text:?} is no decimal sign; allowed are comma and point")),
        }
    }
}

/// How the numbers of a text are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberForm {
    /// The decimal sign.
    pub decimal: Decimal,
}

/// The evidence of commas and points in fields for the decimal sign.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DecimalEvidence {
    comma: bool,
    point: bool,
    /// Fields such as `1,234` that may be either.
    open: bool,
}

impl DecimalEvidence {
    /// Takes a field up.
    pub fn take(&mut self, field: &str) {
        let field = without_groups(without_apostrophe(field));
        let plain = unsigned(&field);
        if plain.is_empty() || !plain.chars().all(|c| c.is_ascii_digit() || ",.eEdD+-".contains(c))
        {
            return;
        }
        match (plain.rfind(','), plain.rfind('.')) {
            (Some(comma), Some(point)) => {
                self.comma |= comma > point;
                self.point |= point > comma;
            }
            (Some(at), None) => {
                let groups = plain.matches(',').count();
                let (whole, tail) = (&plain[..at], &plain[at + 1..]);
                let digits = tail.chars().take_while(char::is_ascii_digit).count();
                if groups > 1 {
                    self.point = true;
                } else if digits != 3
                    || whole.starts_with('0')
                    || whole.is_empty()
                    || whole.len() > 3
                {
                    self.comma = true;
                } else {
                    self.open = true;
                }
            }
            (None, Some(_)) => self.point = true,
            (None, None) => {}
        }
    }

    /// The decimal sign; `None` if the fields have two readings.
    pub fn decided(self) -> Option<Decimal> {
        match (self.comma, self.point, self.open) {
            (true, _, _) => Some(Decimal::Comma),
            (false, true, _) | (false, false, false) => Some(Decimal::Point),
            (false, false, true) => None,
        }
    }
}

fn unsigned(field: &str) -> &str {
    field.trim_start_matches(['+', '-', '−']).trim_start()
}

/// Signs between thousands that separate nothing else: narrow spaces and those that do not break,
/// apostrophes.
const GROUP_SIGNS: [char; 5] = ['\u{a0}', '\u{202f}', '\u{2009}', '\'', '’'];

/// A field without the signs between its thousands, where each group behind the first has three
/// digits.
fn without_groups(field: &str) -> Cow<'_, str> {
    without_signs(field, &GROUP_SIGNS)
}

/// A field without the apostrophe with which exports keep spreadsheets from reading a formula:
/// `'-2.00`.
fn without_apostrophe(field: &str) -> &str {
    let rest = field.strip_prefix('\'').filter(|rest| rest.starts_with(['-', '+', '−', '=']));
    rest.unwrap_or(field)
}

/// A field without spaces between its thousands. Only for a table whose separator is known: spaces
/// separate columns elsewhere.
pub fn without_spaces(field: &str) -> Cow<'_, str> {
    without_signs(field, &[' '])
}

fn without_signs<'a>(field: &'a str, signs: &[char]) -> Cow<'a, str> {
    if !field.contains(signs) {
        return Cow::Borrowed(field);
    }
    let plain = unsigned(field);
    let end = plain.find(['.', ',', 'e', 'E']).unwrap_or(plain.len());
    let (whole, rest) = plain.split_at(end);
    let mut groups = whole.split(signs);
    let is_digits = |group: &str| !group.is_empty() && group.bytes().all(|b| b.is_ascii_digit());
    let first = groups.next().is_some_and(|first| is_digits(first) && first.len() <= 3);
    if !first || !groups.all(|group| is_digits(group) && group.len() == 3) {
        return Cow::Borrowed(field);
    }
    let sign = &field[..field.len() - plain.len()];
    Cow::Owned(format!("{sign}{}{rest}", whole.replace(signs, "")))
}

/// A field as a number and the unit behind it (`1.88 mm/s`, `0,34g`, `12.3 %`); the unit is empty
/// where none that `is_known` stands there.
pub fn split_unit(field: &str, is_known: impl Fn(&str) -> bool) -> (&str, &str) {
    let is_number =
        |c: char| c.is_ascii_digit() || ".,+-− ".contains(c) || GROUP_SIGNS.contains(&c);
    let mut end = 0;
    for (at, letter) in field.char_indices() {
        let behind = field[at + letter.len_utf8()..].trim_start_matches(['+', '-']);
        let is_exponent = matches!(letter, 'e' | 'E')
            && end > 0
            && behind.starts_with(|c: char| c.is_ascii_digit());
        if letter.is_ascii_digit() {
            end = at + 1;
        } else if !is_number(letter) && !is_exponent {
            break;
        }
    }
    // `5.` is a number as well
    let rest = field[end..].strip_prefix('.').filter(|_| end > 0).unwrap_or(&field[end..]);
    let (number, unit) = (field[..field.len() - rest.len()].trim(), rest.trim());
    let is_unit = end > 0 && is_known(unit);
    if is_unit { (number, unit) } else { (field, "") }
}

/// Whether a field says that its value is missing.
pub fn is_missing(field: &str) -> bool {
    if field.len() > 16 {
        return false;
    }
    let word = field.to_lowercase();
    MISSING.contains(&word.as_str()) || BEYOND.contains(&word.as_str())
}

impl NumberForm {
    /// The number of a field in the form of Fortran (`1.25D-01`), of bookkeeping (`(1.25)` is
    /// below 0) or with its sign behind it (`1.25-`). Each has a decimal sign, so that a name or a
    /// date is none.
    fn of_other_form(self, field: &str) -> Option<f64> {
        let decimal = if self.decimal == Decimal::Comma { ',' } else { '.' };
        let last = field.chars().next_back()?;
        let inner = match last {
            ')' => field.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')),
            '-' | '−' => field.strip_suffix(last),
            _ => None,
        };
        if let Some(inner) = inner.filter(|inner| inner.contains(decimal)) {
            let is_plain = inner.starts_with(|c: char| c.is_ascii_digit() || c == decimal)
                && inner.ends_with(|c: char| c.is_ascii_digit());
            return self.number(inner).filter(|_| is_plain).map(|number| -number);
        }
        let (mantissa, exponent) = field.split_once(['D', 'd'])?;
        let digits = exponent.trim_start_matches(['+', '-']);
        let is_exponent = (1..=3).contains(&digits.len())
            && digits.bytes().all(|byte| byte.is_ascii_digit())
            && exponent.len() - digits.len() <= 1;
        let is_mantissa = mantissa.contains(decimal)
            && mantissa.chars().all(|c| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | ','));
        if !(is_exponent && is_mantissa) {
            return None;
        }
        let text = format!("{mantissa}e{exponent}").replace(',', ".");
        text.parse().ok()
    }

    /// The number in a field: NaN for a missing value, `None` if the field is neither.
    pub fn number(self, field: &str) -> Option<f64> {
        let field = without_apostrophe(field);
        // the usual form first: most fields of most files are plain numbers
        if let Ok(number) = field.parse::<f64>()
            && !(self.decimal == Decimal::Comma && field.contains('.') && is_grouped(field, '.'))
        {
            return Some(number);
        }
        if let Some(number) = self.of_other_form(field) {
            return Some(number);
        }
        if let Some(seconds) = duration_s(field) {
            return Some(seconds);
        }
        if is_missing(field) {
            return Some(f64::NAN);
        }
        let is_negative = field.starts_with(['-', '−']);
        let field = without_groups(field);
        let plain = unsigned(&field);
        if !plain.starts_with(|c: char| c.is_ascii_digit() || c == '.' || c == ',') {
            return None;
        }
        let (decimal, group) = if self.decimal == Decimal::Comma { (',', '.') } else { ('.', ',') };
        if plain.contains(group) && !is_grouped(plain, group) {
            return None;
        }
        let text: String = plain
            .chars()
            .filter(|c| *c != group)
            .map(|c| if c == decimal { '.' } else { c })
            .collect();
        let number = text.parse::<f64>().ok()?;
        Some(if is_negative { -number } else { number })
    }
}

/// The seconds of a duration as data frames write it: `0 days 00:00:00.001000`, `-1 days
/// +23:59:59`.
fn duration_s(field: &str) -> Option<f64> {
    let (days, clock) = field.split_once(" days ").or_else(|| field.split_once(" day "))?;
    let mut parts = clock.trim_start().trim_start_matches('+').splitn(3, ':');
    let (hours, minutes, seconds) = (parts.next()?, parts.next()?, parts.next()?);
    let seconds: f64 = seconds.parse().ok().filter(|seconds| (0.0..61.0).contains(seconds))?;
    let whole = |text: &str| text.trim().parse::<i32>().ok().map(f64::from);
    Some(whole(days)? * 86_400.0 + whole(hours)? * 3600.0 + whole(minutes)? * 60.0 + seconds)
}

/// Whether every group behind the first has three digits, as thousands have: `1,234,567`.
fn is_grouped(field: &str, group: char) -> bool {
    let whole = unsigned(field);
    let end = whole.find(if group == ',' { '.' } else { ',' }).unwrap_or(whole.len());
    let mut groups = whole[..end].split(group);
    let first = groups.next().is_some_and(|first| (1..=3).contains(&first.len()));
    let rest: Vec<&str> = groups.collect();
    first
        && !rest.is_empty()
        && rest.iter().all(|part| part.len() == 3 && part.chars().all(|c| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests;
