//! Lines that state several rates, and lines that state one without a sign between key and number.

use super::{RATE, key_and_value, leading_number, parts_of, rate_of};
use crate::source::interpretation::{ChannelRole, StatedUnit, UnitKind};
use crate::source::recording::leaves::may_be_factor;

/// The rates of a value that states several, such as `8 kS/s (nominal), 8192 S/s (actual)`: numbers
/// with a unit of their own. A band or a filter is none.
pub(super) fn rates_in(value: &str) -> Vec<f64> {
    const OTHERS: [&str; 9] =
        ["band", "filter", "cut", "lpf", "hpf", "low", "high", "range", "anti"];
    let lower = value.to_lowercase();
    if OTHERS.iter().any(|word| lower.contains(word)) {
        return Vec::new();
    }
    let words: Vec<&str> =
        value.split([' ', '(', ')', ';', '\t']).filter(|w| !w.is_empty()).collect();
    let is_bare = |text: &str| text.chars().all(|c| c.is_ascii_digit() || ".,".contains(c));
    let rate = |(at, word): (usize, &&str)| {
        let word = word.trim_end_matches(',');
        let starts = word.starts_with(|c: char| c.is_ascii_digit());
        let text = match words.get(at + 1).filter(|_| is_bare(word)) {
            Some(unit) => format!("{word} {}", unit.trim_end_matches([',', '.'])),
            None => word.to_owned(),
        };
        // a number alone is no rate
        let has_unit = text.contains(|c: char| c.is_alphabetic());
        rate_of(&text).filter(|_| starts && has_unit)
    };
    words.iter().enumerate().filter_map(rate).collect()
}

/// The rate of a line of a key and a number without a sign between: `SR 8192 SPS`, `采样率 8192`,
/// `8192 samples per second`.
pub(super) fn rate_of_words(line: &str) -> Option<f64> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let plain = |word: &str| word.to_lowercase().replace(['_', '-', '.'], "");
    if let [number, "samples" | "Samples", "per" | "/", "second" | "sec" | "s"] = words.as_slice() {
        return rate_of(number);
    }
    let at = words.iter().position(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    let key: String = words.get(..at)?.iter().map(|word| plain(word)).collect();
    let is_key = RATE.contains(&key.as_str()) || ["fs", "sr", "odr"].contains(&key.as_str());
    let rest = words.get(at..)?;
    (is_key && rest.len() <= 2).then(|| rate_of(&rest.join(" "))).flatten()
}

/// Whether the brackets of a key name a quantity that is no acceleration: `Sampling rate
/// (temperature)`.
pub(super) fn is_of_another_quantity(key: &str) -> bool {
    let inside = key.split(['(', '[']).nth(1).unwrap_or_default();
    let inside = inside.trim_end_matches([')', ']', ' ']);
    StatedUnit::parse(inside).is_none()
        && matches!(ChannelRole::by_name(inside), ChannelRole::Other(_))
}

/// The one field of the lines that may be the scale of whole numbers, with its number: `Gain:
/// 0.02`.
pub(in super::super) fn factor_of<'a>(
    mut lines: impl Iterator<Item = &'a str>,
) -> Option<(String, f64)> {
    lines.find_map(|line| {
        let plain = line.trim().trim_start_matches(['#', '%', '/', '*', ';', '!', '"', ' ']);
        parts_of(plain).find_map(|part| {
            let (key, value) = key_and_value(part)?;
            let name: String =
                key.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
            // a sensitivity is that of the sensor before the converter more often than a scale
            let is_of_sensor = ["sensitiv", "empfindlich", "감도", "calib", "slope"]
                .iter()
                .any(|w| name.contains(w));
            let is_factor = may_be_factor(&name) && !is_of_sensor
                || ["scale", "scalefactor"].contains(&name.as_str());
            let (number, _) = leading_number(value).filter(|_| is_factor)?;
            Some((key.trim().to_owned(), number))
        })
    })
}

/// The seconds of an interval, in the unit behind it, else in one of `unit_s` seconds.
pub(super) fn interval_of(value: &str, unit_s: f64) -> Option<f64> {
    let (number, rest) = leading_number(value)?;
    let word = rest.trim().split([';', ',', '\t', ' ']).next().unwrap_or("");
    // the same statement for the next channel
    let is_next = rest.starts_with('\t') && StatedUnit::parse(word).is_none();
    let is_next = is_next || word.starts_with(|c: char| c.is_ascii_digit());
    let word = if is_next { "" } else { word };
    match StatedUnit::parse(word).map(|unit| unit.kind) {
        Some(UnitKind::Time(seconds)) => Some(number * seconds),
        None if word.is_empty() => Some(number * unit_s),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Metadata;

    /// R-EDGE-4: the nominal rate counted, and the lines of the bearing were beside theirs.
    #[test]
    fn two_rates_of_a_head_are_both_seen() {
        let other = |text: &str| Metadata::of_lines(text.lines()).other_rate_hz;
        for text in [
            "Rate: 5 kS/s (nominal), 5120 S/s (actual)",
            "Sampling rate: 5000 Hz (measured: 5120 Hz)",
            "Sampling rate set: 5000 Hz\nSampling rate actual: 5120 Hz",
            "Sampling rate: 5 kHz (5120 Hz)",
        ] {
            assert_eq!(other(text), Some(5120.0), "{text}");
        }
        for text in [
            "Sampling rate: 5.12 kHz (5120 Hz)",
            "Sample rate: 2560 Hz, filter = 488 Hz",
            "Sampling rate: 2560 Hz (bandwidth 1000 Hz)",
            "rate: 2560 Hz",
            "Sampling rate (temperature): 1 Hz\nSampling rate (accelerometer): 2560 Hz",
        ] {
            assert_eq!(other(text), None, "{text}");
        }
    }

    #[test]
    fn a_rate_without_a_sign_and_one_of_several_statements_is_read() {
        for line in [
            "SR 2560 SPS",
            "2560 samples per second",
            "采样率 2560",
            "Fs=2560;N=4096",
            "XInc:,3.90625E-04",
            "SampleTime[ms]\t0.390625\tSampleTime[ms]\t0.390625",
        ] {
            let got = Metadata::of_lines(std::iter::once(line)).rate_hz.unwrap_or(f64::NAN);
            assert!((got - 2560.0).abs() < 1e-6, "{line}: {got}");
        }
    }
}
