//! Letters and brackets of full width, as Chinese and Japanese input writes them: `加速度（ｍ／ｓ²）`.
//!
//! Invariant: a text without such letters is unchanged.

use std::borrow::Cow;

/// The brackets of these scripts, with those of ASCII.
const BRACKETS: [(char, char); 6] =
    [('【', '['), ('】', ']'), ('〔', '['), ('〕', ']'), ('「', '['), ('」', ']')];

/// The text with letters, digits, signs and brackets of half width.
pub fn half_width(text: &str) -> Cow<'_, str> {
    let is_wide = |c: char| {
        matches!(c, '\u{ff01}'..='\u{ff5e}' | '\u{3000}') || BRACKETS.iter().any(|b| b.0 == c)
    };
    if !text.contains(is_wide) {
        return Cow::Borrowed(text);
    }
    let narrow = |c: char| match c {
        '\u{3000}' => ' ',
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        other => BRACKETS.iter().find(|b| b.0 == other).map_or(other, |b| b.1),
    };
    Cow::Owned(text.chars().map(narrow).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_and_brackets_of_full_width_become_those_of_ascii() {
        assert_eq!(half_width("加速度（ｍ／ｓ²）"), "加速度(m/s²)");
        assert_eq!(half_width("振动【mg】"), "振动[mg]");
        assert!(matches!(half_width("가속도 (g)"), Cow::Borrowed(_)));
    }
}
