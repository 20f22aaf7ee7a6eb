//! The curves of a capture on a page: five curves, thinned to the width of the plot, and the places
//! of the bearing's lines.
//!
//! Spectra are of one stretch of samples: the window that the gateway judged, or all that belongs
//! together around it. Invariants: a curve's lowest and highest value of each column are among its
//! points, so that thinning loses no peak; a capture that lies over another one is drawn on the
//! axes of that one.

use pdm_dsp::band::most_impulsive;
use pdm_dsp::cepstrum::real_cepstrum;
use pdm_dsp::envelope::{RecordLines, envelope_spectrum, squared_envelope};
use pdm_dsp::order::ShaftAngle;
use pdm_dsp::robust::median;
use pdm_dsp::spectrum::{Spectrum, averaged_spectrum};
use pdm_dsp::transform::{Transforms, fast_length_at_most};
use pdm_shared::capture::{CaptureDocument, CaptureStretch};
use pdm_shared::units::Band;

/// Most samples of a stretch: 20 s at 25.6 kHz. Its transforms take about 40 MB.
const MOST_SAMPLES: u64 = 1 << 19;
/// Samples of a block of the spectrum, so that long stretches are averaged: lines 0.2 Hz apart at
/// 25.6 kHz.
const BLOCK: usize = 1 << 17;
/// Turns of the shaft that the cepstrum shows: a family of lines at the shaft's spacing stands at
/// one.
const CEPSTRUM_TURNS: f64 = 3.0;
/// Highest order of the order spectrum, in multiples of the inner race's.
const ORDERS_OF_BPFI: f64 = 4.4;
/// How far from its speed the shaft's line is looked for, in multiples of it, and how far above the
/// median around it it has to stand to be followed. Chosen: noise reaches three times its median,
/// and a struck race without a shaft's line was followed 11 % off without this.
const SHAFT_REACH: f64 = 0.02;
const CLEAR_LINE: f64 = 8.0;
/// Harmonics that are marked.
const HARMONICS: u32 = 4;
/// Levels of bands that are searched for the one that rings, and the least width of one, in
/// multiples of BPFI: as wide as four harmonics.
const BAND_LEVELS: u32 = 5;
const BAND_OF_BPFI: f64 = 8.0;

/// How a capture is drawn.
#[derive(Debug, Clone, Copy)]
pub struct DrawingOptions {
    /// Columns of a plot.
    pub columns: usize,
    /// The band of the envelope; the most impulsive one where none is given.
    pub band: Option<Band>,
    /// Spectra of all that belongs together around the trigger's window, not of the window alone.
    pub is_whole: bool,
    /// The axes of another capture over which this one is drawn.
    pub ranges: Option<Ranges>,
}

/// The axes of the five curves: lowest and highest abscissa.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranges {
    /// Time from the trigger's window on, s.
    pub waveform_s: (f64, f64),
    /// Frequency of the spectrum, Hz.
    pub spectrum_hz: (f64, f64),
    /// Frequency of the envelope spectrum, Hz.
    pub envelope_hz: (f64, f64),
    /// Quefrency, s.
    pub cepstrum_s: (f64, f64),
    /// Orders.
    pub orders: (f64, f64),
}

/// A column of a curve, or a single value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    /// Abscissa.
    pub x: f64,
    /// Lowest value.
    pub low: f64,
    /// Highest value.
    pub high: f64,
}

/// A curve.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Curve {
    /// Its points, by rising abscissa.
    pub points: Vec<CurvePoint>,
}

/// A line of the bearing or the shaft.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mark {
    /// `1×`, `BPFO`, `BPFI`, `BSF` or `FTF`.
    pub name: &'static str,
    /// Its frequency in multiples of the shaft's.
    pub order: f64,
    /// Which harmonics are marked: 1 to this.
    pub harmonics: u32,
}

/// The pictures of a capture.
#[derive(Debug, Clone, PartialEq)]
pub struct Pictures {
    /// The axes.
    pub ranges: Ranges,
    /// Acceleration over time, m/s².
    pub waveform: Curve,
    /// Amplitudes of the acceleration over frequency, m/s².
    pub spectrum: Curve,
    /// Amplitudes of the squared envelope over frequency, (m/s²)².
    pub envelope: Curve,
    /// The real cepstrum over quefrency.
    pub cepstrum: Curve,
    /// Amplitudes of the acceleration over orders, m/s².
    pub orders: Curve,
    /// The band of the envelope; `None` where the stretch is too short for one.
    pub band: Option<Band>,
    /// The stretch of the spectra.
    pub stretch: CaptureStretch,
    /// Shaft frequency by which orders are marked, Hz: that of the document, or the one found in
    /// the stretch.
    pub shaft_hz: f64,
    /// The shaft was followed in the samples; else its speed is taken to be constant.
    pub is_tracked: bool,
    /// Samples of the stretch that are no numbers, taken as 0.
    pub not_finite: usize,
    /// The bearing's lines.
    pub marks: Vec<Mark>,
}

/// Computes the pictures of a capture.
///
/// **Input** the samples of the document's file, m/s², as many as it says.
pub fn draw_pictures(
    samples: &[f32],
    document: &CaptureDocument,
    asked: &DrawingOptions,
) -> Pictures {
    let rate_hz = document.sampling_rate_hz;
    let stretch = if asked.is_whole { around(document) } else { window(document) };
    let first = (stretch.first_sample as usize).min(samples.len());
    let end = first.saturating_add(stretch.samples as usize).min(samples.len());
    let part = &samples[first..end];
    let not_finite = part.iter().filter(|one| !one.is_finite()).count();
    let part: Vec<f64> =
        part.iter().map(|&one| if one.is_finite() { f64::from(one) } else { 0.0 }).collect();
    let mut transforms = Transforms::new();
    let nominal_hz = document.speed.shaft_speed_rpm / 60.0;
    let ranges = asked.ranges.unwrap_or_else(|| Ranges::of_document(document));
    let columns = asked.columns.max(1);

    let tracked = ordered(&part, document, &mut transforms);
    let is_tracked = tracked.is_some();
    let shaft_hz = tracked.as_ref().map_or(nominal_hz, |(_, hz)| *hz);
    let steady = tracked.as_ref().map_or(part.as_slice(), |(steady, _)| steady);
    let by_order = averaged(steady, rate_hz, &mut transforms);
    let record = RecordLines::of(&part, rate_hz, &mut transforms);
    let band = asked.band.or_else(|| ringing(&record, document, &mut transforms));
    let envelope = band.map(|band| {
        let envelope = squared_envelope(&record, band, &mut transforms);
        envelope_spectrum(&envelope, ranges.envelope_hz.1, &mut transforms)
    });
    let cepstrum = real_cepstrum(&record, &mut transforms);
    let spectrum = averaged(&part, rate_hz, &mut transforms);
    let lead_s = document.window.first_sample as f64 / rate_hz;
    let of_spectrum = |spectrum: &Spectrum, scale: f64, range| {
        let values = spectrum.amplitude.iter().copied();
        thinned(values, (0.0, spectrum.df_hz * scale), range, columns)
    };
    Pictures {
        waveform: thinned(
            samples.iter().map(|&one| f64::from(one)),
            (-lead_s, 1.0 / rate_hz),
            ranges.waveform_s,
            columns,
        ),
        spectrum: of_spectrum(&spectrum, 1.0, ranges.spectrum_hz),
        envelope: envelope
            .map_or_else(Curve::default, |one| of_spectrum(&one, 1.0, ranges.envelope_hz)),
        cepstrum: thinned(cepstrum.into_iter(), (0.0, 1.0 / rate_hz), ranges.cepstrum_s, columns),
        orders: of_spectrum(&by_order, 1.0 / shaft_hz, ranges.orders),
        band,
        stretch,
        shaft_hz,
        is_tracked,
        not_finite,
        marks: marks(document),
        ranges,
    }
}

impl Ranges {
    /// The axes of a capture.
    #[must_use]
    pub fn of_document(document: &CaptureDocument) -> Self {
        let (rate_hz, orders) = (document.sampling_rate_hz, &document.bearing);
        let shaft_hz = document.speed.shaft_speed_rpm / 60.0;
        let lead_s = document.window.first_sample as f64 / rate_hz;
        let nyquist_hz = rate_hz / 2.0;
        let highest = ORDERS_OF_BPFI * orders.bpfi;
        Self {
            waveform_s: (-lead_s, document.samples as f64 / rate_hz - lead_s),
            spectrum_hz: (0.0, nyquist_hz),
            envelope_hz: (0.0, (highest * shaft_hz).min(nyquist_hz)),
            // what lies below is the shape of the spectrum, not a spacing of lines
            cepstrum_s: (0.25 / (orders.bpfi * shaft_hz), CEPSTRUM_TURNS / shaft_hz),
            orders: (0.0, highest.min(nyquist_hz / shaft_hz)),
        }
    }
}

/// The window that the gateway judged, its middle where it is very long.
fn window(document: &CaptureDocument) -> CaptureStretch {
    shortened(document.window, document.window)
}

/// The samples without a gap around the trigger's window.
fn around(document: &CaptureDocument) -> CaptureStretch {
    let window = document.window;
    let gaps = || document.gaps.iter().map(|gap| gap.before_sample);
    let first_sample = gaps().filter(|&at| at <= window.first_sample).max().unwrap_or(0);
    let end = gaps().filter(|&at| at > window.first_sample).min();
    let end = end.unwrap_or(document.samples).min(document.samples);
    let all = CaptureStretch { first_sample, samples: end.saturating_sub(first_sample) };
    shortened(all, window)
}

/// At most [`MOST_SAMPLES`] of a stretch, in the middle of which a window lies as far as it can.
fn shortened(all: CaptureStretch, window: CaptureStretch) -> CaptureStretch {
    if all.samples <= MOST_SAMPLES {
        return all;
    }
    let middle = window.first_sample.saturating_add(window.samples / 2);
    let last = all.first_sample + all.samples - MOST_SAMPLES;
    let first_sample = middle.saturating_sub(MOST_SAMPLES / 2).clamp(all.first_sample, last);
    CaptureStretch { first_sample, samples: MOST_SAMPLES }
}

fn averaged(samples: &[f64], rate_hz: f64, transforms: &mut Transforms) -> Spectrum {
    let block = fast_length_at_most(samples.len().min(BLOCK));
    averaged_spectrum(samples, rate_hz, block, transforms)
}

/// Returns the stretch as the sensor would have seen it at a constant speed, and that speed, Hz;
/// `None` where the samples show no clear line of the shaft within the tolerance of its speed: a
/// wrong line would move every mark.
fn ordered(
    part: &[f64],
    document: &CaptureDocument,
    transforms: &mut Transforms,
) -> Option<(Vec<f64>, f64)> {
    let (rate_hz, nominal_hz) = (document.sampling_rate_hz, document.speed.shaft_speed_rpm / 60.0);
    let tolerance = document.speed.tolerance.clamp(0.0, 0.5);
    let angle = ShaftAngle::from_vibration(part, rate_hz, nominal_hz, tolerance).ok()?;
    let steady = angle.at_constant_speed(part, rate_hz, transforms)?;
    // the mean speed of the resampled record is that of all that the angle covers
    let mean_hz = angle.covering(part.len() as f64 / rate_hz).mean_hz();
    let is_near = (mean_hz - nominal_hz).abs() <= tolerance * nominal_hz;
    let spectrum = averaged(&steady, rate_hz, transforms);
    let line = spectrum.peak_near(mean_hz, SHAFT_REACH * mean_hz)?.1;
    let at = |hz: f64| ((hz / spectrum.df_hz) as usize).min(spectrum.amplitude.len());
    let around = spectrum.amplitude.get(at(0.5 * mean_hz)..at(1.5 * mean_hz))?;
    let is_clear = line >= CLEAR_LINE * median(around)?;
    (is_near && is_clear).then_some((steady, mean_hz))
}

/// The band that rings most.
fn ringing(
    record: &RecordLines,
    document: &CaptureDocument,
    transforms: &mut Transforms,
) -> Option<Band> {
    let least_hz = BAND_OF_BPFI * document.bearing.bpfi * document.speed.shaft_speed_rpm / 60.0;
    // a fast shaft at a low rate leaves room for no narrower one
    let least_hz = least_hz.min(record.rate_hz / 4.0);
    most_impulsive(record, BAND_LEVELS, least_hz, transforms).map(|(best, _)| best.band)
}

fn marks(document: &CaptureDocument) -> Vec<Mark> {
    let orders = &document.bearing;
    let mark = |name, order| Mark { name, order, harmonics: HARMONICS };
    vec![
        Mark { name: "1×", order: 1.0, harmonics: 1 },
        mark("BPFO", orders.bpfo),
        mark("BPFI", orders.bpfi),
        // a rolling element strikes both races in each of its turns
        mark("2×BSF", 2.0 * orders.bsf),
        Mark { name: "FTF", order: orders.ftf, harmonics: 1 },
    ]
}

/// The lowest and the highest value of each column; values as they are where there are no more than
/// columns. `axis`: abscissa of the first value, and step. Values that are no numbers are left out.
fn thinned(
    values: impl ExactSizeIterator<Item = f64>,
    (start, step): (f64, f64),
    (from, to): (f64, f64),
    columns: usize,
) -> Curve {
    let is_axis = step.is_finite() && step > 0.0 && to > from;
    if !is_axis {
        return Curve::default();
    }
    let is_sparse = (to - from) / step <= columns as f64;
    let width = (to - from) / columns as f64;
    let mut points: Vec<CurvePoint> = Vec::new();
    let mut column = usize::MAX;
    for (at, value) in values.enumerate() {
        let x = start + at as f64 * step;
        if x > to {
            break;
        }
        if x < from || !value.is_finite() {
            continue;
        }
        let here = if is_sparse { at } else { ((x - from) / width) as usize };
        match points.last_mut() {
            Some(point) if here == column => {
                (point.low, point.high) = (point.low.min(value), point.high.max(value));
            }
            Some(_) | None => points.push(CurvePoint { x, low: value, high: value }),
        }
        column = here;
    }
    Curve { points }
}

#[cfg(test)]
mod tests;
