//! The figures of a text: where they stand, their value, their unit, and whether they are names.
//!
//! A figure is a number with what is said of its kind beside it: `18.2 dB`, `33-40시간`, `5일 전`,
//! `95 %`, `2단계`, `2026-11-21 08:00`. Both ends of a range have the unit of the range. A number
//! that is part of a word (`P-101`, `2×BSF`, `20816-1` after `ISO`) is the figure of a name, which
//! is held to the names that the case knows.

use std::ops::Range;

mod dates;
mod units;

pub(super) use units::{Unit, measure};

/// One figure of a text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Figure {
    /// Where its digits stand, with their sign.
    pub at: Range<usize>,
    /// Where its unit ends; the end of the digits if it has none.
    pub end: usize,
    /// The value as it is written, with its sign.
    pub value: f64,
    /// Digits after the point.
    pub decimals: usize,
    /// The unit.
    pub unit: Unit,
}

/// The figures of a text in their order. `units` are units of this case that no list holds, such as
/// the unit of a slope.
pub(super) fn figures(text: &str, units: &[String]) -> Vec<Figure> {
    let mut found: Vec<Figure> = Vec::new();
    let mut rest = 0;
    while let Some(start) = text[rest..].find(|c: char| c.is_ascii_digit()).map(|at| rest + at) {
        let figure = dates::date(text, start).unwrap_or_else(|| number(text, start, units, &found));
        rest = figure.end.max(figure.at.end);
        found.push(figure);
    }
    share_units(text, &mut found);
    found
}

/// `told` with `mark` in place of the figures that `truth` has not in the same place, and those
/// figures. Where the two have different numbers of figures, a figure of `truth` grounds one of
/// `told`.
pub(super) fn differing(
    told: &str,
    truth: &str,
    units: &[String],
    mark: &str,
) -> (String, Vec<String>) {
    let (all, mut left) = (figures(told, units), figures(truth, units));
    let in_order = all.len() == left.len();
    let same =
        |a: &Figure, b: &Figure| a.unit == b.unit && told[a.at.clone()] == truth[b.at.clone()];
    let (mut out, mut missing, mut rest) = (String::with_capacity(told.len()), Vec::new(), 0);
    for (place, figure) in all.iter().enumerate() {
        let found = if in_order {
            left.get(place).is_some_and(|other| same(figure, other))
        } else {
            let at = left.iter().position(|other| same(figure, other));
            at.map(|at| left.remove(at)).is_some()
        };
        if !found {
            out.push_str(&told[rest..figure.at.start]);
            out.push_str(mark);
            missing.push(told[figure.at.clone()].to_owned());
            rest = figure.at.end;
        }
    }
    out.push_str(&told[rest..]);
    (out, missing)
}

fn number(text: &str, start: usize, units: &[String], before: &[Figure]) -> Figure {
    let end = end_of_digits(text, start);
    let digits = text[start..end].replace(',', "");
    let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let signed = is_signed(text, start);
    // nobody writes "07 days"
    let is_padded =
        digits.starts_with('0') && digits[1..].starts_with(|c: char| c.is_ascii_digit());
    let value = if is_padded { f64::NAN } else { digits.parse().unwrap_or(f64::NAN) };
    let value = if signed { -value } else { value };
    let at = if signed { start - sign_length(text, start)..end } else { start..end };
    let is_part = is_part_of_name(text, start, before) || is_standard(text, start);
    let (unit, after) = match units::unit(text, end, units) {
        _ if is_part => (Unit::Name, end),
        Some((unit, after)) => (unit, after),
        None if units::is_stage(text, start) => (Unit::Stage, end),
        None if begins_name(text, end) => (Unit::Name, end),
        None => (Unit::None, end),
    };
    Figure { at, end: after, value, decimals, unit }
}

/// The end of a number: digits, groups of three after a comma, one point with digits after it.
fn end_of_digits(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let (mut end, mut has_point) = (start, false);
    loop {
        if digit(end) {
            end += 1;
        } else if bytes.get(end) == Some(&b',')
            && !has_point
            && (1..=3).all(|ahead| digit(end + ahead))
            && !digit(end + 4)
        {
            end += 4;
        } else if bytes.get(end) == Some(&b'.') && !has_point && digit(end + 1) {
            has_point = true;
            end += 1;
        } else {
            return end;
        }
    }
}

fn sign_length(text: &str, start: usize) -> usize {
    text[..start].chars().next_back().map_or(0, char::len_utf8)
}

/// A minus before the number, with nothing before it that it could join.
fn is_signed(text: &str, start: usize) -> bool {
    let mut before = text[..start].chars().rev();
    let minus = before.next().is_some_and(|c| matches!(c, '-' | '−'));
    minus && before.next().is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '=' | ':'))
}

/// The number goes on a word: `P-101`, `rms2_5k`, `EM-07#2`, or the second part of `20816-1` where
/// the first part was a name.
fn is_part_of_name(text: &str, start: usize, before: &[Figure]) -> bool {
    let mut back = text[..start].chars().rev();
    match back.next() {
        Some(c) if c.is_ascii_alphanumeric() || matches!(c, '_' | '#') => true,
        Some('-' | '.' | '/') => match back.next() {
            Some(c) if c.is_alphabetic() => !text[..start].ends_with("시간-"),
            Some(c) if c.is_ascii_digit() => before
                .last()
                .is_some_and(|last| last.unit == Unit::Name && last.at.end + 1 == start),
            _ => false,
        },
        _ => false,
    }
}

/// The number of a standard: `ISO 20816`.
fn is_standard(text: &str, start: usize) -> bool {
    const BODIES: [&str; 8] = ["ISO", "IEC", "KS B", "DIN", "API", "VDI", "ANSI", "SAE"];
    let before = text[..start].trim_end();
    BODIES.iter().any(|body| before.ends_with(body))
}

/// The number begins a word: `2×BSF`, `6205-2RS`, `6205ZZ`.
fn begins_name(text: &str, end: usize) -> bool {
    let mut after = text[end..].chars();
    match after.next() {
        Some('_' | '#') => true,
        Some('×' | 'x' | 'X' | '-' | '/') => after.next().is_some_and(char::is_alphabetic),
        Some(c) => c.is_ascii_alphabetic(),
        None => false,
    }
}

/// Gives the first end of a range the unit of its second end, and the second stage of "from stage 1
/// to 2" that of the first.
fn share_units(text: &str, found: &mut [Figure]) {
    const JOINTS: [&str; 8] = ["-", "–", "—", "~", "∼", "…", "to", "에서"];
    for at in (1..found.len()).rev() {
        let (head, tail) = found.split_at_mut(at);
        let (Some(first), Some(second)) = (head.last_mut(), tail.first()) else { continue };
        let Some(between) = text.get(first.end..second.at.start) else { continue };
        let is_range = first.unit == Unit::None && JOINTS.contains(&between.trim());
        if is_range && !matches!(second.unit, Unit::Name | Unit::Instant(_)) {
            first.unit = second.unit.clone();
        }
    }
    for at in 1..found.len() {
        let (head, tail) = found.split_at_mut(at);
        let (Some(first), Some(second)) = (head.last(), tail.first_mut()) else { continue };
        let between = text.get(first.end..second.at.start).unwrap_or_default();
        let is_course = first.unit == Unit::Stage && second.unit == Unit::None;
        if is_course && JOINTS.contains(&between.trim()) {
            second.unit = Unit::Stage;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<(&str, Unit)> {
        let units = ["g/h".to_owned(), "1/h".to_owned()];
        figures(text, &units).into_iter().map(|f| (&text[f.at], f.unit)).collect()
    }

    fn time(hours: f64) -> Unit {
        Unit::Measure("h".to_owned(), hours)
    }

    #[test]
    fn figures_have_their_unit_and_names_are_told_from_them() {
        let db = Unit::Measure("db".to_owned(), 1.0);
        assert_eq!(
            told("P-101 2×BSF 18.2 dB, ISO 20816-1, 7일. 3.5"),
            [
                ("101", Unit::Name),
                ("2", Unit::Name),
                ("18.2", db),
                ("20816", Unit::Name),
                ("1", Unit::Name),
                ("7", time(24.0)),
                ("3.5", Unit::None),
            ]
        );
        assert!(told("MH-05, EM-07#2, rms2_5k").iter().all(|(_, unit)| *unit == Unit::Name));
    }

    #[test]
    fn a_range_is_checked_at_both_ends() {
        assert_eq!(told("33-40시간"), [("33", time(1.0)), ("40", time(1.0))]);
        assert_eq!(told("2–3 days"), [("2", time(24.0)), ("3", time(24.0))]);
        assert_eq!(told("33에서 40시간"), [("33", time(1.0)), ("40", time(1.0))]);
    }

    #[test]
    fn ages_counts_shares_stages_and_slopes_have_units_of_their_own() {
        assert_eq!(
            told("5일 전 4건, 95 %, P-F 3단계, stage 2, 기울기 -0.12 g/h, 2 1/h"),
            [
                ("5", Unit::Ago(24.0)),
                ("4", Unit::Count),
                ("95", Unit::Percent),
                ("3", Unit::Stage),
                ("2", Unit::Stage),
                ("-0.12", Unit::Measure("g/h".to_owned(), 1.0)),
                ("2", Unit::Measure("1/h".to_owned(), 1.0)),
            ]
        );
        assert_eq!(told("2 hours ago")[0].1, Unit::Ago(1.0));
        assert_eq!(told("1,234.5 kHz")[0], ("1,234.5", Unit::Measure("hz".to_owned(), 1000.0)));
    }

    #[test]
    fn a_date_is_one_figure() {
        for date in ["2026-11-21 08:05", "2026-11-21", "2026년 11월 21일", "11월 21일", "08:05"]
        {
            let found = told(date);
            assert!(
                matches!(found.as_slice(), [(all, Unit::Instant(_))] if *all == date),
                "{date}"
            );
        }
    }
}
