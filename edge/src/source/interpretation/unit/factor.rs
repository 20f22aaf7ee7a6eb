//! Units with a factor before them or words around them: `x10^-1 g`, `0.1 g`, `1e-3 m/s²`, `in g`,
//! `RMS, m/s²`.
//!
//! A heading of a spreadsheet states so that the numbers are not in the unit itself. Invariants: a
//! factor is part of the unit, never dropped; a number of 1 and above may be the range of the
//! sensor (`100 g`) and is no factor, so that such a spelling is not known.

use super::{UnitKind, kind_of};

/// Words beside a unit that change nothing of it.
const HARMLESS: [&str; 31] = [
    "in",
    "unit",
    "units",
    "rms",
    "pk",
    "peak",
    "zero",
    "op",
    "pp",
    "x",
    "y",
    "z",
    "de",
    "nde",
    "acc",
    "acceleration",
    "accel",
    "vibration",
    "einheit",
    "dc",
    "ac",
    "raw",
    "abs",
    "signed",
    "axis",
    "time",
    "sensor",
    "single",
    "double",
    "unidad",
    "단위",
];

/// Longest text that is looked at, in letters.
const LONGEST: usize = 40;

/// The unit behind a factor: `x10^-1 g`, `×10⁻² m/s²`, `1e-3 g`, `0.1 ms`.
pub(super) fn kind_with_factor(text: &str) -> Option<UnitKind> {
    if text.chars().count() > LONGEST {
        return None;
    }
    let plain: String = text.chars().map(plain_letter).collect();
    let plain = plain.trim();
    // `x10^-3`, `x 0.1`, `*0.1`: the sign says that it is a factor
    let rest = plain.strip_prefix(['x', 'X', '×', '*', '·']).map(str::trim_start);
    let is_marked = rest.is_some();
    let rest = rest.unwrap_or(plain);
    let (factor, unit, is_power) = number_before(rest)?;
    // without a blank `0.5g` is a value, and `100g` the name of a range
    if !is_marked && !is_power && !unit.starts_with(' ') {
        return None;
    }
    let unit = unit.trim_start_matches([' ', '*', '·', 'x', '×']).trim();
    let kind = kind_of(unit).or_else(|| super::joined::kind_of_text(unit))?;
    let is_time = matches!(kind, UnitKind::Time(_));
    let is_factor = is_marked || is_power || factor < 1.0 || is_time;
    if !(is_factor && factor.is_finite() && factor > 0.0) {
        return None;
    }
    Some(match kind {
        UnitKind::Acceleration(own) => UnitKind::Acceleration(own * factor),
        UnitKind::Voltage(own) => UnitKind::Voltage(own * factor),
        UnitKind::Time(own) => UnitKind::Time(own * factor),
        UnitKind::Counts | UnitKind::Other(_) => kind,
    })
}

/// The unit in a text with words that change nothing of it: `in g`, `RMS, m/s²`, `g (peak)`.
pub(super) fn unit_among_words(text: &str) -> Option<&str> {
    if text.chars().count() > LONGEST {
        return None;
    }
    let is_between =
        |c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '(' | ')' | '[' | ']');
    let mut unit = None;
    for word in text.split(is_between).filter(|word| !word.is_empty()) {
        let is_harmless = HARMLESS.contains(&word.to_lowercase().as_str());
        match (is_harmless, unit) {
            (true, _) => {}
            (false, None) if kind_of(word).is_some() => unit = Some(word),
            (false, _) => return None,
        }
    }
    unit
}

/// Whether a text has a unit as its last word behind others: the words before it may change the
/// unit.
pub(super) fn ends_in_unit(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let last = words.next_back();
    words.next().is_some() && last.is_some_and(|word| kind_of(word).is_some())
}

/// Words before a unit that change it, in lower case.
const ALTERING: [&str; 16] = [
    "of",
    "to",
    "normalised",
    "normalized",
    "relative",
    "scaled",
    "times",
    "tenth",
    "tenths",
    "hundredth",
    "hundredths",
    "thousandths",
    "half",
    "quarter",
    "fs",
    "x",
];

/// The words at the end of a name without brackets that end in a unit and may change it: `% of 16
/// g`, `1/16 g`, `× 100 in g`, `tenths of g`.
pub(super) fn altered(header: &str) -> Option<&str> {
    let header = header.trim();
    let last = header.rfind(' ')?;
    let unit = header.get(last + 1..)?;
    if !matches!(kind_of(unit)?, UnitKind::Acceleration(_) | UnitKind::Voltage(_)) {
        return None;
    }
    let is_number = |word: &str| word.chars().all(|c| c.is_ascii_digit());
    let alters = |word: &str| {
        let is_fraction = word
            .split_once('/')
            .is_some_and(|(a, b)| !a.is_empty() && is_number(a) && !b.is_empty() && is_number(b));
        ALTERING.contains(&word.to_lowercase().as_str())
            || word.contains(['%', '×', '‰'])
            || is_fraction
    };
    let mut place = 0;
    // the name itself comes first: `x g` is an axis in g
    let words = header.get(..last)?.split(' ').map(|word| {
        let at = place;
        place += word.len() + 1;
        (at, word)
    });
    let first = words.skip(1).filter(|(_, word)| !word.is_empty()).find(|(_, word)| alters(word));
    // an axis (`acc x g`) is no factor, one before a number (`acc x 100 g`) is
    let (at, word) = first?;
    let behind = header.get(at + word.len()..last)?.trim_start();
    let is_axis =
        word.eq_ignore_ascii_case("x") && !behind.starts_with(|c: char| c.is_ascii_digit());
    if is_axis { None } else { header.get(at..) }
}

/// Raised digits and signs as plain ones; a raised digit stands behind a `^`, which is left out
/// here.
const fn plain_letter(letter: char) -> char {
    match letter {
        '⁻' | '−' | '–' => '-',
        '⁰' => '0',
        '¹' => '1',
        '³' => '3',
        '⁴' => '4',
        '⁵' => '5',
        '⁶' => '6',
        '⁷' => '7',
        '⁸' => '8',
        '⁹' => '9',
        other => other,
    }
}

/// Returns the number at the beginning of a text, the rest behind it, and whether it is written as
/// a power of ten.
fn number_before(text: &str) -> Option<(f64, &str, bool)> {
    if let Some(power) = text.strip_prefix("10")
        && let Some((exponent, rest)) = exponent_of(power)
    {
        return Some((10f64.powi(exponent), rest, true));
    }
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
    let end = text.find(|c: char| !is_number(c))?;
    let (digits, rest) = text.split_at(end);
    if digits.is_empty() {
        return None;
    }
    let number: f64 = digits.replace(',', ".").parse().ok()?;
    if let Some(behind) = rest.strip_prefix(['e', 'E'])
        && let Some((exponent, rest)) = signed_number(behind)
    {
        return Some((number * 10f64.powi(exponent), rest, true));
    }
    // `1/1000 g`
    if let Some(behind) = rest.strip_prefix('/') {
        let end = behind.find(|c: char| !c.is_ascii_digit())?;
        let (divisor, rest) = behind.split_at(end);
        let divisor: f64 = divisor.parse().ok().filter(|divisor| *divisor > 0.0)?;
        return Some((number / divisor, rest, true));
    }
    Some((number, rest, false))
}

/// The exponent behind the 10 of a power: `^-3`, `**-3`, `E-3`, `-3`, `²`.
fn exponent_of(text: &str) -> Option<(i32, &str)> {
    if let Some(rest) = text.strip_prefix('²') {
        return Some((2, rest));
    }
    let (is_marked, rest) = match text.strip_prefix('^').or_else(|| text.strip_prefix("**")) {
        Some(rest) => (true, rest.trim_start_matches(['(', '{'])),
        None => (false, text),
    };
    // without a mark `100` is a number, and `10-3` a power
    if !is_marked && !rest.starts_with('-') {
        return None;
    }
    // a raised two keeps its form, since it is a part of units
    if let Some(rest) = rest.strip_prefix("-²") {
        return Some((-2, rest));
    }
    let (exponent, rest) = signed_number(rest)?;
    Some((exponent, rest.trim_start_matches([')', '}'])))
}

fn signed_number(text: &str) -> Option<(i32, &str)> {
    let digits = text.trim_start_matches(['-', '+']);
    let signs = text.len() - digits.len();
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    if signs > 1 || !(1..=2).contains(&end) {
        return None;
    }
    let number: i32 = text.get(..signs + end)?.trim_start_matches('+').parse().ok()?;
    Some((number, digits.get(end..)?))
}

#[cfg(test)]
mod tests {
    use pdm_shared::units::M_S2_PER_G;

    use super::super::StatedUnit;
    use super::*;

    fn acceleration(header: &str) -> Option<f64> {
        match StatedUnit::in_header(header)?.kind {
            UnitKind::Acceleration(factor) => Some(factor),
            UnitKind::Voltage(_) | UnitKind::Counts | UnitKind::Time(_) | UnitKind::Other(_) => {
                None
            }
        }
    }

    /// R-EDGE-4: what stands before a unit was dropped, and the values were ten and a thousand
    /// times too large.
    #[test]
    fn a_factor_before_a_unit_is_part_of_it() {
        for (header, factor) in [
            ("Vib (x10^-2 g)", 0.01 * M_S2_PER_G),
            ("Vib (×10⁻² g)", 0.01 * M_S2_PER_G),
            ("Vib [1E-3 m/s²]", 1e-3),
            ("Vib (0.5 g)", 0.5 * M_S2_PER_G),
            ("Vib (0,1 m/s^2)", 0.1),
            ("Vib (x 10 m/s²)", 10.0),
            ("Vib (10^3 mm/s2)", 1.0),
            ("Vib (1/1000 g)", 1e-3 * M_S2_PER_G),
            ("Vib (milli g)", 1e-3 * M_S2_PER_G),
            ("Vib (in g)", M_S2_PER_G),
            ("Vib (RMS, m/s²)", 1.0),
            ("Vib (DE) (g)", M_S2_PER_G),
            ("Vib {unit=\"m/s2\", axis=\"x\"}", 1.0),
        ] {
            let got = acceleration(header).unwrap_or(f64::NAN);
            assert!((got / factor - 1.0).abs() < 1e-9, "{header}: {got}");
            let own = StatedUnit::in_header(header).expect("a unit").spelling;
            let again = StatedUnit::parse(&own).map(|unit| unit.kind);
            assert_eq!(again, Some(UnitKind::Acceleration(got)), "{header}: {own:?} is read again");
        }
    }

    /// R-EDGE-4: without brackets the last word was the unit, whatever stood before it.
    #[test]
    fn words_that_change_a_unit_without_brackets_are_told() {
        for (header, told) in [
            ("Vib % of 8 g", "% of 8 g"),
            ("Vib % FS 8 g", "% FS 8 g"),
            ("Vib 1/8 g", "1/8 g"),
            ("Vib normalized to 8 g", "normalized to 8 g"),
            ("Vib × 50 in g", "× 50 in g"),
            ("Vib in hundredths of g", "hundredths of g"),
            ("Vib x 50 g", "x 50 g"),
        ] {
            assert_eq!(acceleration(header), None, "{header}");
            assert_eq!(super::super::unknown_unit_of(header), Some(told), "{header}");
        }
        for header in ["Vib x g", "x g", "Sensor 2 g", "Vib DE in g", "Vib_x_g"] {
            assert_eq!(acceleration(header), Some(M_S2_PER_G), "{header}");
        }
    }

    #[test]
    fn a_range_and_a_word_that_is_not_known_before_a_unit_are_no_unit_and_are_told() {
        for (header, told) in [
            ("Vib (16 g)", "16 g"),
            ("Vib (10 m/s²)", "10 m/s²"),
            ("Vib (mili g)", "mili g"),
            ("Vib (quarter g)", "quarter g"),
            ("Vib (thousandths of m/s²)", "thousandths of m/s²"),
        ] {
            assert_eq!(acceleration(header), None, "{header}");
            assert_eq!(super::super::unknown_unit_of(header), Some(told), "{header}");
        }
        let ticks = StatedUnit::in_header("Time (0.1 ms)").map(|unit| unit.kind);
        assert!(matches!(ticks, Some(UnitKind::Time(s)) if (s - 1e-4).abs() < 1e-12), "{ticks:?}");
    }
}
