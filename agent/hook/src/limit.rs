//! The length of a text as its receiver counts it: an SMS has 90 bytes of EUC-KR.
//!
//! Invariants: a text that is cut ends at a character and has at most the allowed bytes; a
//! character that the encoding lacks becomes `?`, because the receivers refuse the whole message
//! otherwise.

use encoding_rs::EUC_KR;
use serde::Deserialize;

/// The mark at the end of a text that was cut.
const MARK: &str = "..";

/// The most bytes of a text in an encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Limit {
    bytes: usize,
    #[serde(default)]
    encoding: Encoding,
}

/// How a receiver counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Encoding {
    #[default]
    Utf8,
    /// Two bytes a unit, as receivers count whose limit is a number of characters.
    Utf16,
    /// KS X 1001 as the carriers extend it (CP949): two bytes a syllable.
    EucKr,
}

impl Encoding {
    /// Returns the bytes of a character; `None` if the encoding lacks it.
    fn bytes(self, c: char) -> Option<usize> {
        match self {
            Self::Utf8 => Some(c.len_utf8()),
            Self::Utf16 => Some(2 * c.len_utf16()),
            Self::EucKr => {
                let mut text = [0; 4];
                let (bytes, _, is_lacking) = EUC_KR.encode(c.encode_utf8(&mut text));
                (!is_lacking).then_some(bytes.len())
            }
        }
    }
}

impl Limit {
    /// The text, cut to the limit.
    pub(crate) fn cut(self, text: &str) -> String {
        let known = |c: char| if self.encoding.bytes(c).is_some() { c } else { '?' };
        let width = |c: char| self.encoding.bytes(c).unwrap_or(1);
        let text: String = text.chars().map(known).collect();
        if text.chars().map(width).sum::<usize>() <= self.bytes {
            return text;
        }
        let mark = if MARK.chars().map(width).sum::<usize>() <= self.bytes { MARK } else { "" };
        let mut left = self.bytes - mark.chars().map(width).sum::<usize>();
        let mut kept = String::new();
        for c in text.chars() {
            let Some(rest) = left.checked_sub(width(c)) else { break };
            left = rest;
            kept.push(c);
        }
        kept + mark
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SMS: Limit = Limit { bytes: 90, encoding: Encoding::EucKr };

    #[test]
    fn an_sms_has_forty_five_syllables_and_is_cut_at_one() {
        let fits = "가".repeat(45);
        assert_eq!(SMS.cut(&fits), fits);
        assert_eq!(SMS.cut(&"가".repeat(46)), format!("{}..", "가".repeat(44)));
        assert_eq!(SMS.cut(&format!("a{}", "가".repeat(45))), format!("a{}..", "가".repeat(43)));
    }

    #[test]
    fn a_character_that_the_encoding_lacks_is_a_question_mark() {
        assert_eq!(SMS.cut("경고 \u{1f525} BPFO"), "경고 ? BPFO");
    }

    proptest! {
        #[test]
        fn no_text_is_longer_than_its_limit(text in "\\PC*", bytes in 0_usize..200, which in 0..3) {
            let encoding = [Encoding::Utf8, Encoding::Utf16, Encoding::EucKr][which as usize];
            let cut = Limit { bytes, encoding }.cut(&text);
            let width: usize = cut.chars().filter_map(|c| encoding.bytes(c)).sum();
            prop_assert!(width <= bytes, "{width} of {bytes}");
        }
    }
}
