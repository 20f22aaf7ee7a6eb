//! Units that a header states and that are not known.
//!
//! Invariant: such a unit is told, so that the numbers are refused and not taken for g.

use super::{StatedUnit, bracketed, factor, joined, last_bracketed};

/// Words in the brackets of a name that say where or along which axis was measured, or how; they
/// are no unit.
const PLACES: &[&str] = &[
    "x",
    "y",
    "z",
    "xyz",
    "de",
    "nde",
    "ba",
    "fe",
    "ds",
    "nds",
    "hor",
    "ver",
    "horizontal",
    "vertical",
    "axial",
    "radial",
    "tangential",
    "left",
    "right",
    "top",
    "bottom",
    "front",
    "rear",
    "back",
    "inner",
    "outer",
    "inboard",
    "outboard",
    "motor",
    "pump",
    "fan",
    "gear",
    "gearbox",
    "bearing",
    "spindle",
    "shaft",
    "raw",
    "filtered",
    "abs",
    "absolute",
    "sensor",
    "channel",
    "ch",
    "drive",
    "end",
    "side",
    "axis",
    "수평",
    "수직",
    "축",
    "모터",
    "펌프",
    "구동측",
    "반대측",
];

/// A unit that a header states and that is not known: in its brackets (`Flow (gpm)`), or by its
/// form at the end (`acc_px_s2`). Numbers, words for a place and words longer than a unit are no
/// unit.
pub(crate) fn unknown_unit_of(header: &str) -> Option<&str> {
    const LONGEST_UNIT: usize = 10;
    // brackets within a name are those of a function: `cos(X) of a plot`
    let is_at_end = header.trim_end().ends_with([')', ']', '}']);
    let Some(text) = bracketed(header).filter(|_| is_at_end).map(str::trim) else {
        if let Some(altered) = factor::altered(header) {
            return Some(altered);
        }
        return joined::unknown_at_end(header.trim());
    };
    let is_word = |word: &str| PLACES.contains(&word.to_lowercase().as_str());
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()).collect();
    let is_place = !words.is_empty() && words.iter().all(|word| is_word(word));
    // words before a unit may change it (`half g`), whatever their length
    let fits = text.chars().count() <= LONGEST_UNIT || factor::ends_in_unit(text);
    let may_be_unit =
        fits && text.chars().any(|c| c.is_alphabetic() || matches!(c, '°' | '%')) && !is_place;
    let is_known = StatedUnit::parse(text).is_some()
        || factor::unit_among_words(text).is_some()
        || last_bracketed(header).is_some_and(|last| StatedUnit::parse(last).is_some());
    (may_be_unit && !is_known).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::super::UnitKind;
    use super::*;

    #[test]
    fn a_unit_in_brackets_that_is_not_known_is_told_apart_from_a_unit_and_from_a_number() {
        for (header, unit) in [
            ("Flow (gpm)", Some("gpm")),
            ("Dose [nGy/h]", Some("nGy/h")),
            ("Height (m)", None),
            ("Acc X (m/s^2)", None),
            ("Channel (1)", None),
            ("cos(X) - Plot 0", None),
            ("Channel A", None),
            ("x (measured at the drive end)", None),
            ("Acceleration (DE)", None),
            ("acc [axial 2]", None),
            ("acceleration [arb]", Some("arb")),
            ("ball acc [furlong/s²]", Some("furlong/s²")),
        ] {
            assert_eq!(unknown_unit_of(header), unit, "{header}");
        }
        let magnetic = StatedUnit::in_header("X (mGa)").map(|unit| unit.kind);
        assert_eq!(magnetic, Some(UnitKind::Other("magnetic field")));
        let height = StatedUnit::in_header("Height (m)").map(|unit| unit.kind);
        assert_eq!(height, Some(UnitKind::Other("displacement")));
    }
}
