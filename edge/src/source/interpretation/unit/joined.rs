//! Units whose parts a name joins or writes as words: `acc_m_s2`, `ax_mm_per_s2`,
//! `Acceleration..m.s.2.`, `vel_mm_s`.
//!
//! Data frames keep names without brackets and slashes, so a header `Acceleration x (m/s^2)`
//! becomes `acceleration_x_m_s_2`. Invariant: a length and a time together are a unit, neither of
//! them alone.

use super::{StatedUnit, UnitKind};

/// Lengths with their metres.
const LENGTHS: [(&str, f64); 12] = [
    ("m", 1.0),
    ("meter", 1.0),
    ("meters", 1.0),
    ("metre", 1.0),
    ("metres", 1.0),
    ("mm", 1e-3),
    ("cm", 1e-2),
    ("um", 1e-6),
    ("ft", 0.3048),
    ("in", 0.0254),
    ("inch", 0.0254),
    ("inches", 0.0254),
];

/// Words for an angle.
const ANGLES: [&str; 5] = ["deg", "degree", "degrees", "rad", "mdeg"];

/// Words for a second.
const SECONDS: [&str; 5] = ["s", "sec", "secs", "second", "seconds"];

/// Words for a second squared.
const SQUARED: [&str; 9] =
    ["s2", "s^2", "sec2", "sec^2", "ss", "second2", "second^2", "seconds2", "seconds^2"];

/// Words for a power of two behind a second, or for the second second.
const POWERS: [&str; 7] = ["2", "^2", "squared", "sq", "s", "sec", "second"];

/// Words before a second squared that are no length: such a unit is stated and not known.
const NO_LENGTHS: [&str; 9] =
    ["px", "pixel", "pixels", "count", "counts", "lsb", "unit", "units", "digits"];

/// Most words of such a unit: `metres per second per second`.
const MOST_WORDS: usize = 5;

/// Endings of a unit that a slash joins.
const ENDINGS: [&str; 7] = ["/s", "/s2", "/s²", "/s^2", "/sec", "/min", "/hz"];

/// Longest unit of such an ending, in letters.
const LONGEST_UNIT: usize = 12;

const fn is_joint(letter: char) -> bool {
    matches!(letter, '_' | ' ' | '.')
}

/// The unit that joined words spell: `m_s2`, `mm per s`.
pub(super) fn kind_of_text(text: &str) -> Option<UnitKind> {
    // `meters/second²`, `METERS/SEC**2`
    let lower = text.to_lowercase().replace('/', " per ").replace("**", "^").replace('²', "2");
    let words: Vec<&str> = lower.split(is_joint).filter(|word| !word.is_empty()).collect();
    kind_of_words(&words)
}

/// The joined unit at the end of a name with more words than it, and its meaning.
pub(super) fn at_end(name: &str) -> Option<(&str, UnitKind)> {
    tails(name).find_map(|tail| kind_of_text(tail).map(|kind| (tail, kind)))
}

/// Returns the end of a name that has the form of a unit but is not known: `acc_px_s2`, `acc
/// px/s²`.
pub(super) fn unknown_at_end(name: &str) -> Option<&str> {
    let is_unknown = |tail: &&str| {
        let lower = tail.to_lowercase();
        let words: Vec<&str> = lower.split(is_joint).filter(|word| !word.is_empty()).collect();
        let is_joined = match words.as_slice() {
            [first, rest @ ..] => NO_LENGTHS.contains(first) && is_squared(rest).is_some(),
            [] => false,
        };
        let has_slash = words.len() == 1
            && lower.chars().count() <= LONGEST_UNIT
            && (ENDINGS.iter().any(|end| lower.ends_with(end)) || lower.contains(['²', '^']));
        (is_joined || has_slash) && StatedUnit::parse(tail).is_none()
    };
    tails(name).find(is_unknown)
}

/// The ends of a name behind its first word, the longest first.
fn tails(name: &str) -> impl Iterator<Item = &str> {
    let name = name.trim_end_matches(is_joint);
    let mut starts: Vec<usize> = Vec::new();
    let mut was_joint = false;
    for (at, letter) in name.char_indices().take(128) {
        if was_joint && !is_joint(letter) {
            starts.push(at);
        }
        was_joint = is_joint(letter);
    }
    let first = starts.len().saturating_sub(MOST_WORDS);
    starts.into_iter().skip(first).filter_map(move |at| name.get(at..))
}

/// Whether the words behind a length are a second squared or a second; `None` if they are neither.
fn is_squared(rest: &[&str]) -> Option<bool> {
    let rest = if rest.first() == Some(&"per") { rest.get(1..)? } else { rest };
    match rest {
        [one] if SQUARED.contains(one) => Some(true),
        [one] if SECONDS.contains(one) => Some(false),
        [second, power] if SECONDS.contains(second) && POWERS.contains(power) => Some(true),
        [second, "per", other] if SECONDS.contains(second) && SECONDS.contains(other) => Some(true),
        ["square", second] if SECONDS.contains(second) => Some(true),
        _ => None,
    }
}

fn kind_of_words(words: &[&str]) -> Option<UnitKind> {
    let (first, rest) = words.split_first()?;
    let is_squared = is_squared(rest)?;
    if ANGLES.contains(first) {
        let what = if is_squared { "angular acceleration" } else { "rate of turn" };
        return Some(UnitKind::Other(what));
    }
    // `time in s` has a word, no inch
    if *first == "in" && !is_squared && rest.first() != Some(&"per") {
        return None;
    }
    let (_, metres) = LENGTHS.into_iter().find(|(word, _)| word == first)?;
    Some(if is_squared { UnitKind::Acceleration(metres) } else { UnitKind::Other("velocity") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(header: &str) -> Option<UnitKind> {
        StatedUnit::in_header(header).map(|unit| unit.kind)
    }

    #[test]
    fn joined_words_at_the_end_of_a_name_are_its_unit() {
        for (header, expected) in [
            ("vib_de_m_s2", UnitKind::Acceleration(1.0)),
            ("acceleration_x_m_s_2", UnitKind::Acceleration(1.0)),
            ("Acceleration..m.s.2.", UnitKind::Acceleration(1.0)),
            ("pump acc m per s2", UnitKind::Acceleration(1.0)),
            ("acc_metres_per_second_squared", UnitKind::Acceleration(1.0)),
            ("az_mm_per_s2", UnitKind::Acceleration(0.001)),
            ("a_z_in_s2", UnitKind::Acceleration(0.0254)),
            ("acc_cm_s_s", UnitKind::Acceleration(0.01)),
            ("Vib (meters/second²)", UnitKind::Acceleration(1.0)),
            ("Vib [METRES/SEC**2]", UnitKind::Acceleration(1.0)),
            ("振动（ｍ／ｓ²）", UnitKind::Acceleration(1.0)),
            ("振动【mm/s²】", UnitKind::Acceleration(0.001)),
            ("bearing_vel_mm_s", UnitKind::Other("velocity")),
            ("speed_in_per_s", UnitKind::Other("velocity")),
            ("gyr_deg_s", UnitKind::Other("rate of turn")),
            ("alpha_rad_s2", UnitKind::Other("angular acceleration")),
            ("time in s", UnitKind::Time(1.0)),
            ("time_ms", UnitKind::Time(1e-3)),
        ] {
            assert_eq!(kind(header), Some(expected), "{header}");
            let own = StatedUnit::in_header(header).expect("a unit").spelling;
            let again = StatedUnit::parse(&own).map(|unit| unit.kind);
            assert_eq!(again, Some(expected), "{header}: its spelling {own:?} is read again");
        }
        for header in ["acc_s2", "vib_de_2", "m_s2", "acc_m", "x_per_s"] {
            assert!(
                !matches!(kind(header), Some(UnitKind::Acceleration(_))),
                "{header}: {:?}",
                kind(header)
            );
        }
    }

    #[test]
    fn what_has_the_form_of_a_unit_and_is_none_is_told() {
        for (name, unit) in [
            ("ball_acc_px_s2", Some("px_s2")),
            ("acc px/s²", Some("px/s²")),
            ("acc_furlong/s^2", Some("furlong/s^2")),
            ("acc_m_s2", None),
            ("acc DE/NDE", None),
            ("vib_s2", None),
            ("acc_de", None),
        ] {
            assert_eq!(unknown_at_end(name), unit, "{name}");
        }
    }
}
