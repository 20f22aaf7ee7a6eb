//! Periods that name what was read (`return_1m`, `period: "1y"`): they pass where a text uses them
//! as a label (`1개월 수익률`, "the 12-month return") and nowhere else.

use std::collections::BTreeSet;

use super::super::figures::{Figure, Unit};

/// Letters of a period and its length, h.
const LENGTHS: [(char, f64); 5] =
    [('h', 1.0), ('d', 24.0), ('w', 168.0), ('m', 730.0), ('y', 8766.0)];
/// Words that a period stands before as a label.
const BEFORE: [&str; 34] = [
    "수익",
    "등락",
    "변동",
    "변화",
    "가격",
    "추이",
    "추세",
    "평균",
    "이동평균",
    "이력",
    "기록",
    "자료",
    "데이터",
    "동안",
    "기준",
    "간",
    "최고",
    "최저",
    "거래",
    "대비",
    "전 대비",
    "return",
    "average",
    "mean",
    "moving",
    "change",
    "price",
    "trend",
    "history",
    "window",
    "period",
    "high",
    "low",
    "data",
];
/// Words that a period stands behind as a label.
const BEHIND: [&str; 6] = ["최근", "지난", "과거", "last", "past", "over the"];

/// The periods that were read, in whole hours.
#[derive(Debug, Clone, Default)]
pub(super) struct Labels(BTreeSet<u32>);

impl Labels {
    /// Takes the periods of a name or of a short value: words of digits with the letter of a
    /// period.
    pub(super) fn add(&mut self, text: &str) {
        if text.len() > 64 {
            return;
        }
        for word in text.split(|c: char| !c.is_ascii_alphanumeric()) {
            let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
            let letter = &word[digits.len()..];
            let length =
                LENGTHS.iter().find(|(sign, _)| letter.eq_ignore_ascii_case(&sign.to_string()));
            if let (Some((_, hours)), Ok(count)) = (length, digits.parse::<u16>()) {
                self.0.insert(whole_hours(f64::from(count) * hours));
            }
        }
    }

    /// Whether a figure is such a period, as a label.
    pub(super) fn holds(&self, text: &str, figure: &Figure) -> bool {
        let Unit::Measure(base, size) = &figure.unit else { return false };
        if base != "h" || figure.decimals > 0 || !is_label(text, figure) {
            return false;
        }
        let told = figure.value * size;
        // a year has 12 months of 730 h and some
        self.0.iter().any(|read| (f64::from(*read) - told).abs() <= told * 0.01)
    }
}

fn is_label(text: &str, figure: &Figure) -> bool {
    let after = text[figure.end..].trim_start_matches([' ', '-', '(']).to_lowercase();
    let before = text[..figure.at.start].trim_end().to_lowercase();
    let cell = |c: char| matches!(c, '|' | '*') || c.is_whitespace();
    let is_cell = before.ends_with('|') && after.trim_start_matches(cell).len() < after.len();
    is_cell
        || BEFORE.iter().any(|word| after.starts_with(word))
        || BEHIND.iter().any(|word| before.ends_with(word))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "periods of at most 65,535 years"
)]
fn whole_hours(hours: f64) -> u32 {
    hours.round() as u32
}
