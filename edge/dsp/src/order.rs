//! Angular resampling: from samples equally spaced in time to samples equally spaced in shaft
//! angle, so that a bearing's lines stay sharp while the speed changes.
//!
//! The angle comes from a tachometer ([`ShaftAngle::from_pulses`]), from a speed that is known over
//! time ([`ShaftAngle::from_speed`]) or from the record itself ([`ShaftAngle::from_vibration`]).
//! The resampled record has a whole number of samples a turn: read "samples per turn" as its rate
//! and orders as its frequencies; or, by [`ShaftAngle::at_constant_speed`], it is what the sensor
//! would have seen at the mean speed. Invariants: the angle never falls; nothing is extrapolated
//! but the part of a turn at each end of a record ([`ShaftAngle::covering`]).

use crate::spectrum::amplitude_spectrum;
use crate::transform::{Complex64, Transforms};

/// The reason why no angle can be found. The caller falls back to the nominal speed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OrderError {
    /// Too few pulses.
    #[error("{found} tachometer pulses, at least 3 are needed")]
    TooFewPulses {
        /// Pulses found.
        found: usize,
    },
    /// A speed that is not a positive number.
    #[error("speed {index} is {got} Hz, it must be finite and above 0")]
    Speed {
        /// The index of the value, from 0.
        index: usize,
        /// The value.
        got: f64,
    },
    /// No shaft line to follow.
    #[error("no shaft line within {tolerance_percent:.0} % of {nominal_hz} Hz stands out")]
    NoShaftLine {
        /// Nominal shaft frequency, Hz.
        nominal_hz: f64,
        /// How far it was searched, %.
        tolerance_percent: f64,
    },
    /// Fewer than two turns, or a rate that is not a positive number.
    #[error("{turns:.2} shaft turns in the record, at least 2 are needed")]
    TooFewTurns {
        /// Turns covered.
        turns: f64,
    },
}

/// Shaft angle in turns over time, piecewise linear in speed.
#[derive(Debug, Clone, PartialEq)]
pub struct ShaftAngle {
    /// `(time s, angle in turns)`, both rising.
    points: Vec<(f64, f64)>,
}

impl ShaftAngle {
    /// Computes the track from the pulses of a tachometer channel, one (or `pulses_per_turn`) a
    /// turn.
    ///
    /// **Input** the channel's samples at `rate_hz`; pulses are rising passages of the middle
    /// between the channel's 2 % and 98 % quantiles, placed between samples by a straight line. A
    /// passage counts only after the signal fell below a quarter of the swing: ringing makes no
    /// pulses.
    ///
    /// # Errors
    /// [`OrderError::TooFewPulses`].
    ///
    /// **Source** Fyfe & Munck 1997, doi:10.1006/mssp.1996.0056 (computed order tracking).
    pub fn from_pulses(
        tachometer: &[f64],
        rate_hz: f64,
        pulses_per_turn: u32,
    ) -> Result<Self, OrderError> {
        let times = pulse_times(tachometer, rate_hz);
        if times.len() < 3 || pulses_per_turn == 0 {
            return Err(OrderError::TooFewPulses { found: times.len() });
        }
        let per_turn = f64::from(pulses_per_turn);
        let points = times.iter().enumerate().map(|(i, t)| (*t, i as f64 / per_turn)).collect();
        Ok(Self { points })
    }

    /// Computes the track from shaft frequencies (Hz) at the times `0, step_s, 2 step_s, …`,
    /// integrated by trapezoids.
    ///
    /// # Errors
    /// [`OrderError::Speed`] for one that is not a positive number, [`OrderError::TooFewTurns`].
    pub fn from_speed(shaft_hz: &[f64], step_s: f64) -> Result<Self, OrderError> {
        if let Some(index) = shaft_hz.iter().position(|hz| !(hz.is_finite() && *hz > 0.0)) {
            return Err(OrderError::Speed { index, got: shaft_hz[index] });
        }
        let mut turns = 0.0;
        let mut points = Vec::with_capacity(shaft_hz.len());
        for (i, hz) in shaft_hz.iter().enumerate() {
            if i > 0 {
                turns += f64::midpoint(shaft_hz[i - 1], *hz) * step_s;
            }
            points.push((i as f64 * step_s, turns));
        }
        if !(turns.is_finite() && turns >= 2.0) {
            return Err(OrderError::TooFewTurns { turns });
        }
        Ok(Self { points })
    }

    /// Computes the track from the record itself: the strongest line within `tolerance` of the
    /// nominal shaft frequency is followed from block to block, no faster than the tolerance
    /// allows.
    ///
    /// **Input** acceleration, nominal shaft frequency, tolerance (ratio) over the whole record.
    ///
    /// # Errors
    /// [`OrderError::NoShaftLine`] if no block shows a line, [`OrderError::TooFewTurns`].
    pub fn from_vibration(
        accel_m_s2: &[f64],
        rate_hz: f64,
        nominal_hz: f64,
        tolerance: f64,
    ) -> Result<Self, OrderError> {
        let block = ((TURNS_A_BLOCK / nominal_hz * rate_hz) as usize).max(64);
        let step = (block / 4).max(1);
        let mut transforms = Transforms::new();
        let found: Vec<Option<f64>> = (0..=accel_m_s2.len().saturating_sub(block))
            .step_by(step)
            .map(|start| {
                let part = accel_m_s2.get(start..start + block)?;
                line_near(part, rate_hz, nominal_hz, tolerance, &mut transforms)
            })
            .collect();
        let speeds = filled(&found)
            .ok_or(OrderError::NoShaftLine { nominal_hz, tolerance_percent: 100.0 * tolerance })?;
        // The first block's middle lies half a block after the record's begin.
        let step_s = step as f64 / rate_hz;
        let lead_s = block as f64 / rate_hz / 2.0;
        let angle = Self::from_speed(&speeds, step_s)?;
        let points = angle.points.iter().map(|(t, turns)| (t + lead_s, *turns)).collect();
        Ok(Self { points })
    }

    /// Turns covered.
    pub fn turns(&self) -> f64 {
        let first = self.points.first().map_or(0.0, |first| first.1);
        self.points.last().map_or(0.0, |last| last.1 - first)
    }

    /// The angle of a shaft that turns `ratio` times as fast, behind a gear or a belt.
    #[must_use]
    pub fn geared(&self, ratio: f64) -> Self {
        Self { points: self.points.iter().map(|(t, turns)| (*t, turns * ratio)).collect() }
    }

    /// The angle from time 0 to `duration_s`: before the first and after the last point the shaft
    /// is taken to turn as in the interval beside it.
    #[must_use]
    pub fn covering(&self, duration_s: f64) -> Self {
        let mut points = self.points.clone();
        if let [first, second, ..] = self.points[..]
            && first.0 > 0.0
        {
            points.insert(0, (0.0, first.1 - first.0 * speed_hz(first, second)));
        }
        if let [.., before, last] = self.points[..]
            && last.0 < duration_s
        {
            points.push((duration_s, last.1 + (duration_s - last.0) * speed_hz(before, last)));
        }
        Self { points }
    }

    /// Mean shaft frequency, Hz; 0 without two points.
    pub fn mean_hz(&self) -> f64 {
        match self.points[..] {
            [first, .., last] => speed_hz(first, last),
            _ => 0.0,
        }
    }

    /// Returns how far the shaft frequency strays over the record: (highest − lowest) / mean of the
    /// means of its eighths, so that jitter of single pulses does not count. 0 without two points.
    pub fn variation(&self) -> f64 {
        let (Some(first), Some(last)) = (self.points.first(), self.points.last()) else {
            return 0.0;
        };
        let eighth = (last.0 - first.0) / 8.0;
        let turns: Vec<f64> =
            (0..=8).map(|i| self.turns_at(first.0 + f64::from(i) * eighth)).collect();
        let steps = turns.windows(2).map(|pair| pair[1] - pair[0]);
        let low = steps.clone().fold(f64::INFINITY, f64::min);
        let high = steps.fold(0.0, f64::max);
        let mean = self.turns() / 8.0;
        if mean > 0.0 { (high - low) / mean } else { 0.0 }
    }

    /// Angle at a time within the points, turns.
    fn turns_at(&self, time_s: f64) -> f64 {
        let after = self.points.partition_point(|p| p.0 < time_s).clamp(1, self.points.len() - 1);
        let (a, b) = (self.points[after - 1], self.points[after]);
        let share = ((time_s - a.0) / (b.0 - a.0)).clamp(0.0, 1.0);
        a.1 + share * (b.1 - a.1)
    }

    /// The record as the sensor would have seen it at the mean speed: as many samples, equally
    /// spaced in angle over all that [`Self::covering`] covers. Read at the old rate, a line of
    /// order `o` stands at `o` times [`Self::mean_hz`].
    ///
    /// Between samples a cubic is taken on the record at twice its rate (band-limited), so that
    /// resonances up to Nyquist keep their height within 10 %. `None` without an angle.
    pub fn at_constant_speed(
        &self,
        samples: &[f64],
        rate_hz: f64,
        transforms: &mut Transforms,
    ) -> Option<Vec<f64>> {
        let angle = self.covering(samples.len() as f64 / rate_hz);
        let first = angle.points.first()?.1;
        let turns = angle.turns();
        if samples.len() < 8 || !(turns.is_finite() && turns > 0.0) {
            return None;
        }
        let dense = doubled(samples, transforms);
        let mut segment = 0;
        let values = (0..samples.len()).map(|i| {
            let wanted = first + turns * i as f64 / samples.len() as f64;
            while segment + 2 < angle.points.len() && angle.points[segment + 1].1 < wanted {
                segment += 1;
            }
            let (before, after) = (angle.points[segment], angle.points[segment + 1]);
            let share = (wanted - before.1) / (after.1 - before.1);
            let at = (before.0 + share * (after.0 - before.0)) * 2.0 * rate_hz;
            cubic(&dense, at.clamp(0.0, dense.len() as f64 - 1.5)).unwrap_or(0.0)
        });
        Some(values.collect())
    }

    /// The record at `samples_per_turn` equally spaced angles.
    ///
    /// **Input** samples at `rate_hz`, the first at time 0. **Output** samples in the same unit;
    /// only the angles that lie within the record. Between samples a cubic through four neighbours
    /// is taken: keep the highest order of interest below a quarter of the rate.
    ///
    /// **Source** Fyfe & Munck 1997; Catmull–Rom cubic.
    pub fn resample(&self, samples: &[f64], rate_hz: f64, samples_per_turn: u32) -> Vec<f64> {
        let count = (self.turns() * f64::from(samples_per_turn)) as usize;
        let mut segment = 0;
        (0..count)
            .map_while(|i| {
                let angle = i as f64 / f64::from(samples_per_turn);
                while self.points.get(segment + 1).is_some_and(|p| p.1 < angle) {
                    segment += 1;
                }
                let (before, after) = (self.points.get(segment)?, self.points.get(segment + 1)?);
                let share = (angle - before.1) / (after.1 - before.1);
                cubic(samples, (before.0 + share * (after.0 - before.0)) * rate_hz)
            })
            .collect()
    }
}

/// Shaft turns in one block of the speed's search (chosen: resolves 10 % of the shaft frequency).
const TURNS_A_BLOCK: f64 = 20.0;

/// Mean shaft frequency between two points, Hz.
fn speed_hz(from: (f64, f64), to: (f64, f64)) -> f64 {
    if to.0 > from.0 { (to.1 - from.1) / (to.0 - from.0) } else { 0.0 }
}

/// The record at twice its rate, by its own spectrum.
fn doubled(samples: &[f64], transforms: &mut Transforms) -> Vec<f64> {
    let n = samples.len();
    let half = transforms.forward(&mut samples.to_vec());
    let mut lines = vec![Complex64::new(0.0, 0.0); 2 * n];
    for (k, line) in half.iter().enumerate() {
        // the mean counts once, a line of its own at Nyquist half: it stands for both sides
        let sided = if k == 0 || 2 * k == n { 1.0 } else { 2.0 };
        lines[k] = *line * (sided / n as f64);
    }
    transforms.inverse(&mut lines);
    lines.iter().map(|z| z.re).collect()
}

fn pulse_times(tachometer: &[f64], rate_hz: f64) -> Vec<f64> {
    let quantile = |q| crate::robust::quantile(tachometer, q).unwrap_or(0.0);
    let (low, high) = (quantile(0.02), quantile(0.98));
    let (middle, rearm) = (f64::midpoint(low, high), low + 0.25 * (high - low));
    let mut is_armed = tachometer.first().is_some_and(|x| *x < middle);
    let mut times = Vec::new();
    for (i, pair) in tachometer.windows(2).enumerate() {
        if pair[0] < rearm {
            is_armed = true;
        }
        if is_armed && pair[0] < middle && pair[1] >= middle {
            let share = (middle - pair[0]) / (pair[1] - pair[0]);
            times.push((i as f64 + share) / rate_hz);
            is_armed = false;
        }
    }
    times
}

/// The strongest line near a frequency, placed by a parabola over the logarithms; `None` if it does
/// not stand twice above its surroundings.
fn line_near(
    part: &[f64],
    rate_hz: f64,
    nominal_hz: f64,
    tolerance: f64,
    transforms: &mut Transforms,
) -> Option<f64> {
    let spectrum = amplitude_spectrum(part, rate_hz, transforms);
    let (low, high) = (nominal_hz * (1.0 - tolerance), nominal_hz * (1.0 + tolerance));
    let first = (low / spectrum.df_hz).floor().max(1.0) as usize;
    let last = ((high / spectrum.df_hz).ceil() as usize).min(spectrum.amplitude.len() - 2);
    let peak =
        (first..=last).max_by(|&a, &b| spectrum.amplitude[a].total_cmp(&spectrum.amplitude[b]))?;
    let around =
        crate::robust::median(&spectrum.amplitude[..(3 * last).min(spectrum.amplitude.len())])?;
    if spectrum.amplitude[peak] <= 2.0 * around {
        return None;
    }
    let log = |i: usize| (spectrum.amplitude[i] + 1e-300).ln();
    let bend = log(peak - 1) - 2.0 * log(peak) + log(peak + 1);
    let shift = if bend < 0.0 { 0.5 * (log(peak - 1) - log(peak + 1)) / bend } else { 0.0 };
    Some((peak as f64 + shift.clamp(-0.5, 0.5)) * spectrum.df_hz)
}

/// Gaps filled by the last value before, those at the begin by the first one; `None` if all are
/// gaps.
fn filled(found: &[Option<f64>]) -> Option<Vec<f64>> {
    let mut last = found.iter().flatten().next().copied()?;
    Some(
        found
            .iter()
            .map(|value| {
                last = value.unwrap_or(last);
                last
            })
            .collect(),
    )
}

fn cubic(samples: &[f64], at: f64) -> Option<f64> {
    if at < 0.0 || samples.is_empty() {
        return None;
    }
    let i = at as usize;
    if i + 1 >= samples.len() {
        return None;
    }
    let t = at - i as f64;
    let get = |k: usize| samples[k.min(samples.len() - 1)];
    let (a, b, c, d) = (get(i.saturating_sub(1)), get(i), get(i + 1), get(i + 2));
    let slope = 0.5 * (c - a);
    let bend = a - 2.5 * b + 2.0 * c - 0.5 * d;
    let twist = 0.5 * (d - a) + 1.5 * (b - c);
    Some(b + t * (slope + t * (bend + t * twist)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    const RATE: f64 = 10_000.0;

    /// Turns at time t of a shaft that goes from 20 to 30 Hz in 5 s.
    fn ramp_turns(t: f64) -> f64 {
        20.0 * t + t * t
    }

    fn ramp(order: f64) -> Vec<f64> {
        (0..50_000).map(|i| (TAU * order * ramp_turns(f64::from(i) / RATE)).sin()).collect()
    }

    /// The amplitude of an order in a resampled record.
    fn amplitude_of(order: f64, resampled: &[f64]) -> f64 {
        let spectrum = amplitude_spectrum(resampled, 64.0, &mut Transforms::new());
        spectrum.peak_near(order, 0.05).expect("inside").1
    }

    #[test]
    fn a_ramp_smears_in_time_and_stands_in_angle_by_tachometer() {
        let tachometer: Vec<f64> = (0..50_000)
            .map(|i| if ramp_turns(f64::from(i) / RATE).fract() < 0.1 { 5.0 } else { 0.0 })
            .collect();
        let angle = ShaftAngle::from_pulses(&tachometer, RATE, 1).expect("pulses");
        let resampled = angle.resample(&ramp(3.585), RATE, 64);
        let in_time = amplitude_spectrum(&ramp(3.585), RATE, &mut Transforms::new());
        let smeared = in_time.amplitude.iter().copied().fold(0.0, f64::max);
        let sharp = amplitude_of(3.585, &resampled);
        // Between two lines the Hann taper loses up to 15 %.
        assert!(sharp > 0.8 && smeared < 0.4, "{sharp} {smeared}");
    }

    #[test]
    fn a_known_ramp_gives_the_same_without_a_tachometer() {
        let speeds: Vec<f64> = (0..=50).map(|i| 20.0 + 0.2 * f64::from(i)).collect();
        let angle = ShaftAngle::from_speed(&speeds, 0.1).expect("speeds");
        assert!((angle.turns() - 125.0).abs() < 1e-9);
        assert!(amplitude_of(5.415, &angle.resample(&ramp(5.415), RATE, 64)) > 0.95);
    }

    #[test]
    fn the_shaft_line_of_the_record_itself_is_followed_through_a_ramp() {
        let record: Vec<f64> = ramp(3.585)
            .iter()
            .enumerate()
            .map(|(i, x)| 0.5 * x + (TAU * ramp_turns(i as f64 / RATE)).sin())
            .collect();
        let angle = ShaftAngle::from_vibration(&record, RATE, 25.0, 0.25).expect("a line");
        assert!(amplitude_of(3.585, &angle.resample(&record, RATE, 64)) > 0.3);
    }

    #[test]
    fn a_ramp_at_constant_speed_keeps_its_samples_and_sharpens_its_lines() {
        let tachometer: Vec<f64> = (0..50_000)
            .map(|i| if ramp_turns(f64::from(i) / RATE).fract() < 0.1 { 5.0 } else { 0.0 })
            .collect();
        let angle = ShaftAngle::from_pulses(&tachometer, RATE, 1).expect("pulses").covering(5.0);
        // 125 turns in 5 s; from 20.6 to 29.4 Hz between the middles of the eighths
        assert!((angle.mean_hz() - 25.0).abs() < 0.05, "{}", angle.mean_hz());
        assert!((angle.variation() - 0.35).abs() < 0.02, "{}", angle.variation());
        for order in [3.585, 60.0] {
            let steady = angle.at_constant_speed(&ramp(order), RATE, &mut Transforms::new());
            let steady = steady.expect("an angle");
            assert_eq!(steady.len(), 50_000);
            let spectrum = amplitude_spectrum(&steady, RATE, &mut Transforms::new());
            let (at, amplitude) = spectrum.peak_near(order * 25.0, 3.0).expect("inside");
            assert!(amplitude > 0.8 && (at / angle.mean_hz() / order - 1.0).abs() < 0.003, "{at}");
        }
    }

    #[test]
    fn a_shaft_behind_a_gear_turns_by_its_ratio() {
        let angle = ShaftAngle::from_speed(&[20.0; 51], 0.1).expect("speeds");
        assert!((angle.geared(2.5).mean_hz() - 50.0).abs() < 1e-9);
        assert!(angle.geared(2.5).variation() < 1e-9);
    }

    #[test]
    fn what_gives_no_angle_is_an_error_with_the_numbers() {
        let none = ShaftAngle::from_pulses(&[0.0; 100], RATE, 1);
        assert_eq!(none, Err(OrderError::TooFewPulses { found: 0 }));
        let bad = ShaftAngle::from_speed(&[20.0, f64::NAN], 1.0);
        assert!(matches!(bad, Err(OrderError::Speed { index: 1, .. })));
        assert!(matches!(
            ShaftAngle::from_speed(&[1.0, 1.0], 0.1),
            Err(OrderError::TooFewTurns { .. })
        ));
        assert!(ShaftAngle::from_vibration(&vec![0.0; 50_000], RATE, 25.0, 0.1).is_err());
    }
}
