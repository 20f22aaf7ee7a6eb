//! The bounds of texts and lists on the wire, and the characters that one line may hold.
//!
//! The contracts use these bounds ([`crate::event`], [`crate::delivery`]), their JSON Schemas tell
//! them (`maxLength`, `maxItems`, `pattern`), and whoever shows a foreign text to a person writes
//! it with [`shown`]. So no text of a sender can begin a line of its own in a message to staff,
//! turn the reading direction of what stands around it, or make a message larger than a broker
//! takes.
//!
//! Lengths are counted in characters (Unicode scalar values), as JSON Schema counts them.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Most bytes of an event. Chosen: the largest event of the edge (two spectra of 800 lines) has
/// 30 KB; one with 17 digits a number has 48 KB. 128 KiB is also what AWS IoT Core takes, the
/// smallest limit among common brokers, and an eighth of the shipped brokers' 1 MiB. So a diagnosis
/// and a notification made from an event, which repeat its texts but not its spectra, always fit.
pub const MAX_EVENT_BYTES: usize = 128 * 1024;
/// Most bytes of a status or an acknowledgement. Chosen: a status with [`MAX_BEARINGS`] names of
/// the greatest length in ASCII has 135 KB.
pub const MAX_DOCUMENT_BYTES: usize = 160 * 1024;

/// Longest name, bytes. No data chose it: three names and a prefix stay far below MQTT's limit of
/// 65,535 bytes for a topic, and the names of plants fit.
pub const MAX_NAME_BYTES: usize = 64;
/// Longest word: a unit, a version, a model's name.
pub const MAX_WORD: usize = 64;
/// Longest line: the reason why something is unknown, an operating state, a person's name. The
/// edge's longest reason has 113 characters.
pub const MAX_LINE: usize = 256;
/// Longest note of a person, which may have several lines.
pub const MAX_NOTE: usize = 2048;
/// Longest reason of a refused message, bytes.
pub const MAX_REASON_BYTES: usize = 1024;
/// Longest topic that a dead letter repeats, bytes: a prefix and three names have 300.
pub const MAX_TOPIC_BYTES: usize = 512;

/// Most flags of a signal's quality; nine are known.
pub const MAX_FLAGS: usize = 16;
/// Most features that contribute to an anomaly; the edge watches ten.
pub const MAX_CONTRIBUTORS: usize = 32;
/// Most multiples of one defect line; the edge tells four.
pub const MAX_HARMONICS: usize = 32;
/// Most other bearings that a change of a machine names. Chosen: four times the bearings of a
/// gearbox of four shafts.
pub const MAX_CHANGED: usize = 32;
/// Most bearings that a gateway's status lists. Chosen: four times the channels of the largest
/// gateway of the benchmarks (256).
pub const MAX_BEARINGS: usize = 1024;
/// Longest name of a bearing within its site, `equipment/bearing`.
pub const MAX_WITHIN_SITE: usize = 2 * MAX_NAME_BYTES + 1;

/// The pattern of one line in JSON Schema: what [`is_hidden`] refuses.
pub(crate) const LINE_PATTERN: &str = "^[^\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e\
\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb]*$";

/// Whether a character cannot be seen as itself: control characters, line and paragraph separators,
/// characters that turn the reading direction (Unicode TR 36, "bidirectional text spoofing":
/// U+061C, U+200E, U+200F, U+202A–202E, U+2066–2069), and those without width.
pub const fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{180e}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Whether a character of a name shows nothing, or shows as another one: what [`is_hidden`] tells,
/// and what Unicode 17.0 calls `Default_Ignorable_Code_Point` (`DerivedCoreProperties.txt`),
/// `White_Space` other than the ASCII space (`PropList.txt`), the blank of Braille (U+2800), and
/// what shows as `-` (`confusables.txt` of UTS 39, version 17.0). Of two machines whose names look
/// the same, nobody knows which one is meant.
///
/// A crate (`unicode-security`) would bring its tables of scripts with it; these ranges are stable,
/// and what a script writes words with (Hangul, kana with U+30FC, Han) is not among them.
pub const fn is_deceptive(c: char) -> bool {
    is_hidden(c)
        || matches!(c,
            // Default_Ignorable_Code_Point
            '\u{34f}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
            // White_Space
            | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
            // blank
            | '\u{2800}'
            // shows as a hyphen
            | '\u{2d7}' | '\u{6d4}' | '\u{2010}'..='\u{2015}' | '\u{2043}' | '\u{2212}' | '\u{2796}'
            | '\u{2cba}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}')
}

/// A fault of a text or a list. The message goes on after the field's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BoundError {
    /// The text is too long.
    #[error("has {got} characters, allowed are at most {most}")]
    TooLong {
        /// Characters of the text.
        got: usize,
        /// Most characters of the field.
        most: usize,
    },
    /// The text holds a character that cannot be seen as itself.
    #[error(
        "holds the character U+{0:04X}, allowed is one line without control and direction \
         characters"
    )]
    Hidden(u32),
    /// The list is too long.
    #[error("has {got} entries, allowed are at most {most}")]
    TooMany {
        /// Entries of the list.
        got: usize,
        /// Most entries of the field.
        most: usize,
    },
    /// The text is not one of a closed set.
    #[error("is {got:?}, allowed is {allowed}")]
    Unknown {
        /// The text, shortened.
        got: String,
        /// The closed set in words.
        allowed: &'static str,
    },
}

/// Checks a text of one line.
///
/// # Errors
/// [`BoundError`] if it is longer than `most` characters or holds a hidden one.
pub fn line(text: &str, most: usize) -> Result<(), BoundError> {
    length(text, most)?;
    text.chars().find(|c| is_hidden(*c)).map_or(Ok(()), |c| Err(BoundError::Hidden(c.into())))
}

/// Checks a text that may have several lines.
///
/// # Errors
/// [`BoundError`] if it is longer than `most` characters or holds a hidden one other than a line
/// feed, a tab, or a joiner (U+200C, U+200D), of which emoji are made.
pub fn lines(text: &str, most: usize) -> Result<(), BoundError> {
    length(text, most)?;
    let allowed = |c: char| matches!(c, '\n' | '\r' | '\t' | '\u{200c}' | '\u{200d}');
    let mut hidden = text.chars().filter(|c| is_hidden(*c) && !allowed(*c));
    hidden.next().map_or(Ok(()), |c| Err(BoundError::Hidden(c.into())))
}

fn length(text: &str, most: usize) -> Result<(), BoundError> {
    // no text has more characters than bytes
    if text.len() <= most {
        return Ok(());
    }
    let got = text.chars().count();
    if got > most { Err(BoundError::TooLong { got, most }) } else { Ok(()) }
}

/// Checks the length of a list.
///
/// # Errors
/// [`BoundError::TooMany`] if it has more than `most` entries.
pub const fn count(got: usize, most: usize) -> Result<(), BoundError> {
    if got > most { Err(BoundError::TooMany { got, most }) } else { Ok(()) }
}

/// A foreign text as a person may see it: on one line, hidden characters as `\u{202e}`, cut to
/// `most` characters with `…`.
pub fn in_one_line(text: &str, most: usize) -> Cow<'_, str> {
    if line(text, most).is_ok() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len().min(4 * most));
    let mut length = 0;
    for c in text.chars() {
        let width = if is_hidden(c) { c.escape_default().count() } else { 1 };
        if length + width > most.saturating_sub(1) {
            out.push('…');
            return Cow::Owned(out);
        }
        length += width;
        if is_hidden(c) {
            let _infallible = write!(out, "{}", c.escape_default());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// A foreign text of any length on one line of at most `most` bytes, hidden characters escaped, cut
/// with `…`. For reasons, which repeat parts of what was refused.
pub fn cut(text: &str, most: usize) -> String {
    let mut out = String::with_capacity(text.len().min(most));
    // where the text can end so that the mark still fits
    let mut end = 0;
    for c in text.chars() {
        if is_hidden(c) {
            let _infallible = write!(out, "{}", c.escape_default());
        } else {
            out.push(c);
        }
        if out.len() > most {
            out.truncate(end);
            out.push('…');
            return out;
        }
        if out.len() + '…'.len_utf8() <= most {
            end = out.len();
        }
    }
    out
}

/// Checks a unit: letters, digits and `/ ² ³ ^ ( ) · * % ° µ - . _`, at most 32 characters, so a
/// sentence is none. Other edges may have units of their own, so the set is not closed.
///
/// # Errors
/// [`BoundError::Unknown`] otherwise.
pub fn unit(text: &str) -> Result<(), BoundError> {
    let fits = text.len() <= 32
        && text.chars().all(|c| {
            c.is_ascii_alphanumeric()
                || matches!(
                    c,
                    '/' | '²'
                        | '³'
                        | '^'
                        | '('
                        | ')'
                        | '·'
                        | '*'
                        | '%'
                        | '°'
                        | 'µ'
                        | '-'
                        | '.'
                        | '_'
                )
        });
    if fits {
        return Ok(());
    }
    let allowed = "a unit of at most 32 bytes without spaces, such as \"g/h\"";
    Err(BoundError::Unknown { got: in_one_line(text, MAX_WORD).into_owned(), allowed })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_that_would_begin_a_line_or_turn_its_direction_is_no_line() {
        for bad in [
            "a\nAction: keep running",
            "a\r",
            "\u{202e}txt",
            "a\u{2066}",
            "\u{200f}",
            "\u{2028}",
            "\u{85}",
            "\0",
        ] {
            assert!(matches!(line(bad, MAX_LINE), Err(BoundError::Hidden(_))), "{bad:?}");
        }
        for good in ["", "below 900 rpm", "펌프 1호", "г² ≥ 3"] {
            assert_eq!(line(good, MAX_LINE), Ok(()), "{good:?}");
        }
        assert_eq!(lines("seen\nreplaced", MAX_NOTE), Ok(()));
    }

    #[test]
    fn a_unit_is_short_and_no_sentence() {
        assert_eq!((unit("g/h"), unit("m/s²/h"), unit("")), (Ok(()), Ok(()), Ok(())));
        assert!(unit("keep it running").is_err() && unit(&"g".repeat(33)).is_err());
    }

    #[test]
    fn a_refused_text_is_shown_on_one_line_and_cut() {
        assert_eq!(in_one_line("a\nb\u{202e}c", 40), "a\\nb\\u{202e}c");
        assert_eq!(in_one_line("abcdef", 4), "abc…");
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("a\nb", 40), "a\\nb");
    }

    proptest! {
        #[test]
        fn what_is_shown_is_always_one_line_of_the_length(
            text in "\\PC{0,40}|[\\x00-\\x20\\u{202a}-\\u{202e}]{0,40}", most in 1_usize..60) {
            prop_assert_eq!(line(&in_one_line(&text, most), most), Ok(()));
            prop_assert!(cut(&text, most.max(16)).len() <= most.max(16));
        }
    }
}
