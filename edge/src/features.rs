//! Computes the time and frequency domain of a window: the bridge to `pdm-dsp`.
//!
//! Stands between the quality check and the condition of the bearing. Here, and only here, m/s²
//! become g (R-EDGE-2, R-EDGE-4); squared envelopes become g². Invariants: no figure is NaN; a
//! spectrum has at most [`MAX_SPECTRUM_LINES`] lines.

use pdm_dsp::diagnose::{ElementLine, Findings};
use pdm_dsp::fast::{FastFindings, FastLine};
use pdm_dsp::{DefectOrders, Spectrum, time_domain};
use pdm_shared::event::{
    DefectLine, FrequencyDomain, Harmonic, IsoZone, MAX_SPECTRUM_LINES, Method, OpenDamage,
    SecondFault, Sidebands, Spectra, SpectrumLines, StoodLine, TimeDomain,
};
use pdm_shared::fault::Fault;
use pdm_shared::units::{M_S2_PER_G, Rpm, SampleRate};

use crate::catalogue::{self, Estimate};

/// m/s² to g.
pub fn to_g(m_s2: f64) -> f64 {
    m_s2 / M_S2_PER_G
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// The event's time domain from the waveform's statistics.
///
/// **Input** statistics in m/s²; velocity in mm/s; the RMS of the envelope's variation in m/s²; the
/// zone of the configured table.
pub fn time_block(
    time: &time_domain::TimeDomain,
    velocity_rms_mm_s: Option<f64>,
    envelope_rms_m_s2: Option<f64>,
    iso_zone: Option<IsoZone>,
) -> TimeDomain {
    TimeDomain {
        rms_g: finite(to_g(time.rms)),
        peak_g: finite(to_g(time.peak)),
        peak_to_peak_g: finite(to_g(time.peak_to_peak)),
        crest_factor: time.crest_factor,
        kurtosis: time.kurtosis,
        skewness: time.skewness,
        shape_factor: time.shape_factor,
        impulse_factor: time.impulse_factor,
        clearance_factor: time.clearance_factor,
        envelope_rms_g: envelope_rms_m_s2.and_then(|e| finite(to_g(e))),
        velocity_rms_mm_s,
        low_band_rms_g: None,
        iso_zone,
    }
}

/// The event's time domain of samples that no path has measured: statistics and velocity.
///
/// `None` for fewer than two samples or one that is not finite.
pub fn time_of(accel_m_s2: &[f64], rate: SampleRate) -> Option<TimeDomain> {
    let time = time_domain::time_domain(accel_m_s2)?;
    let mut transforms = pdm_dsp::transform::Transforms::new();
    let velocity = pdm_dsp::integrate::velocity_rms_mm_s(accel_m_s2, rate, &mut transforms);
    Some(time_block(&time, velocity, None, None))
}

/// The event's frequency domain from the thorough path.
pub fn thorough_block(findings: &Findings) -> FrequencyDomain {
    let line = |fault: Fault| defect_line(findings.line(fault));
    FrequencyDomain {
        method: Method::Thorough,
        envelope_band_hz: findings.band.map(|b| [b.low_hz(), b.high_hz()]),
        noise_floor_g: finite(to_g(findings.noise_floor_m_s2)),
        bpfo: line(Fault::OuterRace),
        bpfi: line(Fault::InnerRace),
        bsf: line(Fault::Ball),
        ftf: line(Fault::Cage),
        dominant_fault: findings.dominant,
        confidence: findings.confidence.clamp(0.0, 1.0),
        second_fault: findings.second.map(|(fault, confidence)| SecondFault {
            fault,
            confidence: confidence.clamp(0.0, 1.0),
        }),
        new_comb_db: findings.new_comb_db.and_then(finite),
        bearing_estimate: None,
        damaged: findings.damaged.map(|(most_likely, or_else)| OpenDamage { most_likely, or_else }),
        since_commissioning: findings
            .stood
            .iter()
            .filter(|(_, level_db)| level_db.is_finite())
            .map(|(fault, level_db)| StoodLine { fault: *fault, level_db: *level_db })
            .collect(),
        undetermined: findings
            .stranger
            .and_then(wrong_bearing)
            .or_else(|| findings.undetermined.as_ref().map(ToString::to_string)),
    }
}

/// [`thorough_block`] of a bearing whose orders may be an estimate: then it says so, and a name
/// that the estimate's tolerance makes ambiguous is withdrawn.
pub fn judged_block(
    findings: &Findings,
    orders: &DefectOrders,
    estimate: Option<&Estimate>,
) -> FrequencyDomain {
    let block = thorough_block(findings);
    match estimate {
        Some(estimate) => estimate.applied(block, orders),
        None => block,
    }
}

/// Most races that are told with lines of another bearing: those of the first that a line of text
/// holds.
const MOST_RACES: usize = 6;

/// A hint where lines stand at an order that no part of the bearing has, but one of the catalogue
/// has.
fn wrong_bearing(order: f64) -> Option<String> {
    // the order is that of a bearing that slips, so the nearest entry need not be the one built in
    let (fitting, more) = catalogue::races_at(order, MOST_RACES);
    let others = if more == 0 { String::new() } else { format!(" or {more} more") };
    (!fitting.is_empty()).then(|| {
        format!(
            "lines at {order:.3} times the shaft speed fit no part of the configured bearing: is \
             another one built in? They would be of {}{others}",
            fitting.join(", ")
        )
    })
}

fn defect_line(line: &ElementLine) -> DefectLine {
    DefectLine {
        frequency_hz: finite(line.frequency_hz),
        order: Some(line.order.get()),
        amplitude_g: finite(to_g(line.amplitude_m_s2)),
        envelope_amplitude: finite(to_g(line.envelope_amplitude_m_s2)),
        snr_db: finite(line.snr_db),
        harmonics: line
            .harmonics
            .iter()
            .map(|h| Harmonic { n: h.n, frequency_hz: h.frequency_hz, snr_db: h.snr_db })
            .collect(),
        sidebands: Sidebands {
            spacing_hz: line.sidebands.spacing_hz,
            count: line.sidebands.count,
            snr_db: line.sidebands.snr_db,
        },
        score: finite(line.score.clamp(0.0, 1.0)),
    }
}

/// The event's frequency domain from the fast path: levels only, no verdict.
pub fn fast_block(findings: &FastFindings, speed: Rpm) -> FrequencyDomain {
    let line = |fault: Fault| {
        let found = findings.lines.iter().find(|l| l.fault == fault);
        found.map_or_else(DefectLine::default, |l| fast_line(l, speed))
    };
    FrequencyDomain {
        method: Method::Fast,
        envelope_band_hz: Some([findings.band.low_hz(), findings.band.high_hz()]),
        noise_floor_g: finite(to_g(findings.noise_floor_m_s2)),
        bpfo: line(Fault::OuterRace),
        bpfi: line(Fault::InnerRace),
        bsf: line(Fault::Ball),
        ftf: line(Fault::Cage),
        dominant_fault: None,
        confidence: 0.0,
        second_fault: None,
        new_comb_db: None,
        bearing_estimate: None,
        damaged: None,
        since_commissioning: Vec::new(),
        undetermined: None,
    }
}

fn fast_line(line: &FastLine, speed: Rpm) -> DefectLine {
    DefectLine {
        frequency_hz: finite(line.frequency_hz),
        order: finite(line.frequency_hz / speed.shaft_hz()),
        amplitude_g: finite(to_g(line.amplitude_m_s2)),
        envelope_amplitude: finite(to_g(line.envelope_amplitude_m_s2)),
        snr_db: finite(line.snr_db),
        ..DefectLine::default()
    }
}

/// The event's spectra: what the thorough verdict saw, in g² (squared envelope) and g.
pub fn spectra(findings: &Findings) -> Spectra {
    Spectra {
        envelope: joined(&findings.envelope_spectrum, 1.0 / (M_S2_PER_G * M_S2_PER_G), "g²"),
        acceleration: joined(&findings.acceleration_spectrum, 1.0 / M_S2_PER_G, "g"),
    }
}

/// Joins neighbouring lines until at most [`MAX_SPECTRUM_LINES`] are left; the largest is kept.
fn joined(spectrum: &Spectrum, scale: f64, unit: &str) -> SpectrumLines {
    let together = spectrum.amplitude.len().div_ceil(MAX_SPECTRUM_LINES).max(1);
    let amplitude = spectrum
        .amplitude
        .chunks(together)
        .map(|lines| lines.iter().copied().fold(0.0, f64::max) * scale)
        .map(|a| if a.is_finite() { four_digits(a) } else { 0.0 })
        .collect();
    SpectrumLines { df_hz: spectrum.df_hz * together as f64, unit: unit.to_owned(), amplitude }
}

/// To four significant digits, which is 0.05 %: a hundredth of what an accelerometer promises, and
/// half of an event's bytes on disk and on the way.
fn four_digits(amplitude: f64) -> f64 {
    format!("{amplitude:.3e}").parse().unwrap_or(amplitude)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A wrong bearing in the configuration: the order of a 6203's outer race is told with its
    /// name.
    #[test]
    fn lines_of_another_bearing_are_told_with_those_that_have_them() {
        let words = wrong_bearing(3.0543).expect("a 6203's");
        assert!(words.contains("3.054") && words.contains("6203 outer race"), "{words}");
        assert!(words.chars().count() <= pdm_shared::bounds::MAX_LINE, "{words}");
        assert_eq!(wrong_bearing(1.31), None);
    }

    #[test]
    fn an_amplitude_keeps_four_digits_whatever_its_size() {
        for amplitude in [0.0, 1.0e-300, 0.000_317_275_734_563_019_8, 9.999_61, 123_456.789] {
            let short = four_digits(amplitude);
            assert!((short - amplitude).abs() <= 5e-4 * amplitude, "{amplitude} became {short}");
            assert!(serde_json::to_string(&short).expect("a number").len() <= 10, "{short}");
        }
    }

    #[test]
    fn a_long_spectrum_is_joined_to_the_contracts_length_and_keeps_its_peaks() {
        let mut amplitude = vec![0.1; 5000];
        amplitude[1234] = M_S2_PER_G;
        let lines = joined(&Spectrum { df_hz: 0.1, amplitude }, 1.0 / M_S2_PER_G, "g");
        assert!(lines.amplitude.len() <= MAX_SPECTRUM_LINES);
        let at = (1234.0 * 0.1 / lines.df_hz) as usize;
        assert!((lines.amplitude[at] - 1.0).abs() < 1e-12);
    }

    #[test]
    fn levels_become_g_and_ratios_stay() {
        let samples: Vec<f64> =
            (0..4096).map(|i| M_S2_PER_G * if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let rate = SampleRate::new(4096.0).expect("valid");
        let block = time_of(&samples, rate).expect("finite");
        assert!((block.rms_g.expect("measured") - 1.0).abs() < 1e-12);
        assert!((block.crest_factor.expect("moves") - 1.0).abs() < 1e-12);
    }
}
