//! Spectra among tables and vectors: values over a frequency or an order, no samples over time.
//!
//! UFF, LVM and structs with an abscissa state their domain and are told by their readers. A table
//! has only names: a column of frequencies that rises from row to row makes its neighbours a
//! spectrum. Invariant: beside a column of time a frequency is one more quantity of the recording.

use super::StatedChannel;
use crate::source::interpretation::{ChannelRole, role};

/// Names of an abscissa where they are the whole name.
const WHOLE: [&str; 6] = ["f", "freq", "freqs", "hz", "cpm", "ff"];

/// Names of an abscissa of orders; a count of rows may be called so, too.
const ORDERS: [&str; 4] = ["order", "orders", "ordnung", "차수"];

/// Fewest rows of a spectrum that is told by its abscissa.
const LEAST_ROWS: usize = 8;

/// Whether a vector is the abscissa of a spectrum by its name, and rises from row to row.
pub(super) fn is_abscissa(stated: &StatedChannel, numbers: &[f64]) -> bool {
    named_as(stated).is_some_and(|kind| rises(numbers, kind))
}

/// The quantity in the name of an abscissa.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AbscissaName {
    Frequency,
    Order,
}

fn named_as(stated: &StatedChannel) -> Option<AbscissaName> {
    let name = stated.name.as_deref().unwrap_or_default();
    let name = name.rsplit(['.', '/']).next().unwrap_or(name);
    let plain = name.split(['(', '[']).next().unwrap_or(name).trim().to_lowercase();
    if ORDERS.contains(&plain.as_str()) {
        return Some(AbscissaName::Order);
    }
    let own = StatedChannel { name: Some(name.to_owned()), ..stated.clone() };
    let is_named = WHOLE.contains(&plain.as_str()) || role(&own) == ChannelRole::Other("frequency");
    is_named.then_some(AbscissaName::Frequency)
}

fn rises(numbers: &[f64], kind: AbscissaName) -> bool {
    let (mut rows, mut before, mut has_fraction) = (0, f64::NEG_INFINITY, false);
    for number in numbers.iter().copied().filter(|number| number.is_finite()) {
        if number <= before {
            return false;
        }
        has_fraction |= number.fract() != 0.0;
        before = number;
        rows += 1;
    }
    // a count of rows may be called an order, too
    rows >= LEAST_ROWS && (has_fraction || kind == AbscissaName::Frequency)
}

/// The abscissa of a table of these columns, unless one of them is a time; `numbers` are those of a
/// column.
pub(super) fn abscissa_of(
    channels: &[StatedChannel],
    numbers: impl Fn(usize) -> Vec<f64>,
) -> Option<String> {
    if channels.iter().any(|channel| role(channel) == ChannelRole::Time) {
        return None;
    }
    let is_found = |(place, channel): &(usize, &StatedChannel)| {
        named_as(channel).is_some_and(|kind| rises(&numbers(*place), kind))
    };
    let found = channels.iter().enumerate().find(is_found);
    found.and_then(|(_, channel)| channel.name.clone())
}

/// Returns why values over this abscissa are no recording.
pub(super) fn refusal(abscissa: &str) -> String {
    format!(
        "{abscissa:?} rises from row to row and holds frequencies or orders: this is a spectrum, \
         no samples over time; give the recording that it was computed of (if its rows are samples \
         over time all the same: --rate HZ --prefer option)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> StatedChannel {
        StatedChannel { name: Some(name.to_owned()), ..StatedChannel::default() }
    }

    /// R-EDGE-4: a spectrum is no recording.
    #[test]
    fn a_column_of_frequencies_that_rises_is_the_abscissa_of_a_spectrum() {
        let lines: Vec<f64> = (0..40).map(|n| f64::from(n) * 2.5).collect();
        for name in
            ["Frequency [Hz]", "f", "freq_hz", "/shaft/freqs", "Frequenz", "주파수", "order"]
        {
            assert!(is_abscissa(&named(name), &lines), "{name}");
        }
        for name in ["t", "acc", "force", "F_x", "x"] {
            assert!(!is_abscissa(&named(name), &lines), "{name}");
        }
        let counted: Vec<f64> = (0..40).map(f64::from).collect();
        assert!(!is_abscissa(&named("order"), &counted), "a count of rows");
        let drive: Vec<f64> = (0..40).map(|n| 50.0 + (f64::from(n) * 0.3).sin()).collect();
        assert!(!is_abscissa(&named("Frequency (Hz)"), &drive), "the frequency of a drive");
    }

    #[test]
    fn beside_a_time_a_frequency_is_a_quantity_of_the_recording() {
        let numbers = |place: usize| (0..40).map(|n| (place + 1) as f64 * f64::from(n)).collect();
        let table = |names: [&str; 3]| abscissa_of(&names.map(named), numbers);
        assert_eq!(table(["frequency", "amp", "phase"]).as_deref(), Some("frequency"));
        assert_eq!(table(["time", "frequency", "acc"]), None);
    }
}
