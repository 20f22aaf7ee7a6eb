//! Numbers that loggers and exports write where there is no value: -9999, 32767, 9.96921e36.
//!
//! A code is told by its form and by its place: it stands far beyond the other values of its
//! column. Invariants: a code that stands among the other values is a value; whoever leaves codes
//! out says which and how many.

use std::collections::BTreeMap;

/// The magnitude from which a number is no measured value: NetCDF fills with 9.96921e36, historians
/// with 1e30, programs with the greatest number of their type.
pub const FILL_FROM: f64 = 1e20;

/// Codes of loggers (-9999, -7999 and 6999 of Campbell, -999.25 of well logs), the ends of whole
/// numbers of 16 and 32 bits, and these with a decimal sign in them.
const CODES: [f64; 38] = [
    -9999.0,
    9999.0,
    -999.0,
    -999.25,
    -999.9,
    999.9,
    -999.99,
    999.99,
    -9999.9,
    9999.9,
    -9999.99,
    9999.99,
    -99999.0,
    99999.0,
    -999_999.0,
    999_999.0,
    -7999.0,
    7999.0,
    -6999.0,
    6999.0,
    -8888.0,
    8888.0,
    32_767.0,
    -32_768.0,
    65_535.0,
    3276.7,
    -3276.8,
    327.67,
    -327.68,
    6553.5,
    655.35,
    2_147_483_647.0,
    -2_147_483_648.0,
    4_294_967_295.0,
    -2_147_483_647.0,
    -32_767.0,
    -99_999_999.0,
    99_999_999.0,
];

/// How far beyond the other values a code stands, as a multiple of the greatest of them: chosen; a
/// bearing's level rises tenfold over weeks, not from one row to the next and back to the same
/// number.
const APART: f64 = 10.0;

/// How far beyond the other values a code that stands only once stands, as a multiple of the
/// greatest of them.
const APART_ONCE: f64 = 1000.0;

/// How far below the other values a negative number stands that no code of the list is, as a
/// multiple of their spread.
const SPREADS_APART: f64 = 5.0;

/// How far beyond the other values a number that no code of the list is stands so that it is told,
/// where it stands several times: full scale of a broken sensor, such as 850 or 1372 °C of a
/// thermocouple.
const FAR: f64 = 100.0;

/// How often such a number stands at least.
const OFTEN: usize = 3;

/// A number as people write it: with its power where it is great.
pub fn written(number: f64) -> String {
    if number.abs() >= 1e15 { format!("{number:e}") } else { number.to_string() }
}

/// A code among the values of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sentinel {
    /// The number.
    pub code: f64,
    /// How often it stands there.
    pub count: usize,
    /// Its first place.
    pub first: usize,
    /// It is no value; else it may be one, since other values come near it or it stands only once.
    pub is_no_value: bool,
}

impl Sentinel {
    /// Whether a value is this code.
    pub fn is(&self, value: f64) -> bool {
        value.total_cmp(&self.code).is_eq()
    }
}

fn is_code(value: f64) -> bool {
    value.abs() >= FILL_FROM || CODES.iter().any(|code| code.total_cmp(&value).is_eq())
}

/// The codes in a waveform.
pub fn in_samples(values: impl Iterator<Item = f64> + Clone) -> Vec<Sentinel> {
    found(values, |_, _| false)
}

/// The codes in a column of levels, of which the most are never below 0: there a negative number
/// that stands several times, far from all others, is one as well.
pub fn in_levels(values: &[f64]) -> Vec<Sentinel> {
    let mut negative: BTreeMap<u64, usize> = BTreeMap::new();
    let (mut least, mut most) = (f64::INFINITY, 0.0f64);
    for value in values.iter().copied().filter(|value| value.is_finite() && !is_code(*value)) {
        if value < 0.0 {
            *negative.entry(value.to_bits()).or_default() += 1;
        } else {
            (least, most) = (least.min(value), most.max(value));
        }
    }
    let own = negative.first_key_value().map(|(bits, count)| (f64::from_bits(*bits), *count));
    let is_far = |code: f64| {
        let distance = least - code;
        distance > SPREADS_APART * (most - least) && distance > 0.5 * least && least.is_finite()
    };
    // two different numbers below 0 are values
    let code = own.filter(|(code, count)| negative.len() == 1 && *count > 1 && is_far(*code));
    let mut all = found(values.iter().copied(), |value, _| {
        code.is_some_and(|(code, _)| code.to_bits() == value.to_bits())
    });
    all.extend(far_beyond(values, &all));
    all
}

/// The greatest number that is no code, where it stands several times far beyond all others.
fn far_beyond(values: &[f64], codes: &[Sentinel]) -> Option<Sentinel> {
    let is_value = |value: &&f64| value.is_finite() && !codes.iter().any(|own| own.is(**value));
    let own = || values.iter().filter(is_value).copied();
    let greatest = own().fold(0.0f64, f64::max);
    let next = own().filter(|value| *value < greatest).fold(0.0f64, |a, b| a.max(b.abs()));
    let count = own().filter(|value| value.total_cmp(&greatest).is_eq()).count();
    let first = values.iter().position(|value| value.total_cmp(&greatest).is_eq())?;
    let is_far = next > 0.0 && greatest >= FAR * next && count >= OFTEN;
    is_far.then_some(Sentinel { code: greatest, count, first, is_no_value: false })
}

fn found(
    values: impl Iterator<Item = f64> + Clone,
    is_other_code: impl Fn(f64, usize) -> bool,
) -> Vec<Sentinel> {
    let mut codes: Vec<Sentinel> = Vec::new();
    let (mut least, mut greatest) = (f64::INFINITY, 0.0f64);
    for (place, value) in values.enumerate().filter(|(_, value)| value.is_finite()) {
        if !is_code(value) && !is_other_code(value, place) {
            (least, greatest) = (least.min(value), greatest.max(value.abs()));
            continue;
        }
        if let Some(own) = codes.iter_mut().find(|own| own.is(value)) {
            own.count += 1;
            continue;
        }
        if codes.len() == CODES.len() {
            // so many different ones are values
            return Vec::new();
        }
        codes.push(Sentinel { code: value, count: 1, first: place, is_no_value: false });
    }
    for own in &mut codes {
        let size = own.code.abs();
        let is_below_all = own.code < 0.0 && least >= 0.0;
        own.is_no_value = size >= FILL_FROM
            || is_other_code(own.code, own.first)
            || (size >= APART * greatest && (own.count > 1 || is_below_all))
            || size >= APART_ONCE * greatest;
    }
    // a code that others surpass is one of the values
    codes.retain(|own| own.is_no_value || own.code.abs() >= greatest);
    codes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn levels() -> Vec<f64> {
        (0..60).map(|n| 2.0 + 0.001 * f64::from(n % 7)).collect()
    }

    fn with(code: f64, places: &[usize]) -> Vec<f64> {
        let mut values = levels();
        for place in places {
            values[*place] = code;
        }
        values
    }

    #[test]
    fn codes_that_stand_apart_are_no_values_and_are_counted() {
        for code in [
            -9999.0,
            -999.25,
            -7999.0,
            6999.0,
            32_767.0,
            65_535.0,
            3276.7,
            1e30,
            9.969_209_968_386_869e36,
            -1.0,
            -40.0,
        ] {
            let all = in_levels(&with(code, &[20, 21, 35]));
            let one = Sentinel { code, count: 3, first: 20, is_no_value: true };
            assert_eq!(all, [one], "{code}");
        }
        assert!(in_levels(&with(-9999.0, &[5]))[0].is_no_value, "once, below all others");
        assert!(in_levels(&with(1e30, &[5]))[0].is_no_value);
    }

    /// A zero is a machine that stands; an overload at full scale is an alarm.
    #[test]
    fn zeros_overloads_and_values_that_others_come_near_are_values() {
        for code in [0.0, 50.0, 200.0, -0.5] {
            assert!(in_levels(&with(code, &[20])).is_empty(), "{code}");
        }
        for code in [0.0, 50.0, 190.0] {
            assert!(in_levels(&with(code, &[20, 21, 35])).is_empty(), "{code}");
        }
        for code in [850.0, 1372.0] {
            let told = Sentinel { code, count: 3, first: 20, is_no_value: false };
            assert_eq!(in_levels(&with(code, &[20, 21, 35])), [told], "told, and kept");
        }
        let counts: Vec<f64> =
            (0..100).map(|n| f64::from(n) * 330.0).chain([32_767.0; 3]).collect();
        let kept = in_levels(&counts);
        assert_eq!((kept.len(), kept[0].is_no_value), (1, false), "{kept:?}");
        let frost: Vec<f64> = (0..50).map(|n| f64::from(n % 12)).chain([-1.0; 4]).collect();
        assert!(in_levels(&frost).is_empty(), "a temperature that falls below zero");
        let signed = [-1.0, 2.0, -1.0, 1.5, -2.0, 1.0];
        assert!(in_levels(&signed).is_empty());
    }

    #[test]
    fn a_waveform_goes_below_zero_and_its_codes_are_found() {
        let wave = |n: i32| (f64::from(n) * 0.7).sin();
        let values: Vec<f64> =
            (0..500).map(|n| if n % 100 == 7 { -9999.0 } else { wave(n) }).collect();
        let all = in_samples(values.iter().copied());
        assert_eq!(all, [Sentinel { code: -9999.0, count: 5, first: 7, is_no_value: true }]);
        assert!(in_samples((0..500).map(wave)).is_empty());
        let clipped = (0..500).map(|n| (40_000.0 * wave(n)).round().clamp(-32_768.0, 32_767.0));
        assert!(in_samples(clipped).iter().all(|own| !own.is_no_value), "clipping is no mark");
    }

    proptest! {
        #[test]
        fn whatever_is_left_out_is_in_the_column_as_often_as_is_said(
            mut values in prop::collection::vec(prop::num::f64::ANY, 0..60),
            code in prop::sample::select(CODES.to_vec()),
            places in prop::collection::vec(0usize..60, 0..6),
        ) {
            for place in places {
                if let Some(value) = values.get_mut(place) {
                    *value = code;
                }
            }
            for own in in_levels(&values).into_iter().chain(in_samples(values.iter().copied())) {
                prop_assert_eq!(values.iter().filter(|value| own.is(**value)).count(), own.count);
                prop_assert!(own.is(values[own.first]));
            }
        }
    }
}
