//! Which of an event's figures are judged.

use pdm_shared::event::{FrequencyDomain, TimeDomain};
use pdm_shared::fault::Fault;

use super::Features;

/// The features of a window that a [`Monitor`](super::Monitor) judges, under their keys in the
/// event. What was not measured is left out.
///
/// Levels carry trend and remaining life; shapes and the levels of the defect lines over their
/// floor show damage early. Figures that repeat others (peak-to-peak, the factors) stay out.
pub fn features_of(time: &TimeDomain, frequency: &FrequencyDomain) -> Features {
    let lines = Fault::ALL
        .map(|fault| (format!("{}.snr_db", fault.frequency_key()), frequency.line(fault).snr_db));
    [
        ("rms_g", time.rms_g),
        ("peak_g", time.peak_g),
        ("crest_factor", time.crest_factor),
        ("kurtosis", time.kurtosis),
        ("envelope_rms_g", time.envelope_rms_g),
        ("velocity_rms_mm_s", time.velocity_rms_mm_s),
    ]
    .map(|(key, value)| (key.to_owned(), value))
    .into_iter()
    .chain(lines)
    .filter_map(|(key, value)| Some((key, value.filter(|value| value.is_finite())?)))
    .collect()
}
