//! Lines that stand at a defect frequency without a defect: mains, fixed tones beside it, shaft harmonics.
//!
//! Runs on the leading candidate only, before it is named. A coincidence cannot be told from a
//! fault by one record, so the answer is "not sure" with the cause, never "healthy".

use super::ForeignCause;
use super::score::log_levels;
use crate::spectrum::Spectrum;

/// Mains frequencies, Hz (IEC 60038: 50 and 60 Hz systems).
const MAINS_HZ: [f64; 2] = [50.0, 60.0];
/// How far the mains frequency may be off, as a ratio (EN 50160: ± 1 % for 99.5 % of a year; large
/// grids stay within 0.05 %, chosen).
const MAINS_DRIFT: f64 = 0.0006;
/// Multiples of the mains frequency that machines show on their own: magnetic pull and rectifiers.
const MAINS_MULTIPLES: [f64; 6] = [1.0, 2.0, 3.0, 4.0, 6.0, 12.0];
/// How well a peak is placed, in lines (chosen: parabolic interpolation under a Hann taper).
const PEAK_LINES: f64 = 0.25;
/// A mains multiple beside the candidate counts from this level, dB over the floor (chosen).
const MAINS_LEVEL_DB: f64 = 15.0;
/// A shaft comb through the candidate counts from this median level, dB (chosen; noise gives 6).
const COMB_LEVEL_DB: f64 = 12.0;

/// A line this much above the comb's other teeth is more than a tooth, dB (chosen).
const TOOTH_LEAD_DB: f64 = 8.0;
/// How far the speed may wander within a record, as a ratio (chosen).
const WANDER: f64 = 0.0025;
/// Level from which a first or second harmonic stands, dB (chosen; the largest of three lines of
/// noise exceeds it once in 100).
const BASE_LEVEL_DB: f64 = 8.5;

/// One envelope spectrum at whole-record resolution with its levels.
#[derive(Debug)]
pub struct Scene<'a> {
    spectrum: &'a Spectrum,
    levels: Vec<f64>,
    shaft_hz: f64,
}

impl<'a> Scene<'a> {
    /// Prepares a spectrum.
    pub fn new(spectrum: &'a Spectrum, shaft_hz: f64) -> Self {
        Self { levels: log_levels(spectrum, shaft_hz), spectrum, shaft_hz }
    }

    /// The strongest line within ± `reach` lines of a frequency: its index and level.
    fn strongest(&self, hz: f64, reach: f64) -> Option<(usize, f64)> {
        let at = hz / self.spectrum.df_hz;
        let low = (at - reach).round().max(1.0) as usize;
        let high = ((at + reach).round().max(0.0) as usize + 1).min(self.levels.len());
        (low..high)
            .max_by(|&a, &b| self.levels[a].total_cmp(&self.levels[b]))
            .map(|i| (i, self.levels[i]))
    }

    /// Where the peak near a frequency stands, Hz, by a parabola through its three lines.
    fn peak_hz(&self, hz: f64) -> f64 {
        let Some((i, _)) = self.strongest(hz, 2.0) else { return hz };
        let around = (self.levels.get(i.wrapping_sub(1)), self.levels.get(i + 1));
        let (Some(&left), Some(&right)) = around else { return hz };
        let bend = left - 2.0 * self.levels[i] + right;
        let shift = if bend < 0.0 { 0.5 * (left - right) / bend } else { 0.0 };
        (i as f64 + shift.clamp(-0.5, 0.5)) * self.spectrum.df_hz
    }

    /// What else explains a family at this order, if anything.
    ///
    /// **Input** the order found; how far the shaft speed itself may be off (ratio); for the outer
    /// race the number of rolling elements.
    pub fn cause(
        &self,
        order: f64,
        speed_tolerance: f64,
        elements: Option<f64>,
    ) -> Option<ForeignCause> {
        if self.spectrum.df_hz <= 0.0 || self.levels.len() < 32 {
            return None;
        }
        let hz = self.peak_hz(order * self.shaft_hz);
        if !self.has_base(hz) {
            return Some(ForeignCause::HigherHarmonicsOnly);
        }
        self.mains(hz)
            .or_else(|| self.beside_mains(hz))
            .or_else(|| self.shaft_harmonic(hz, speed_tolerance))
            .or_else(|| self.cage_harmonic(hz, elements?))
    }

    /// Do all harmonics of the candidate that stand out sit on multiples of a mains line?
    fn mains(&self, hz: f64) -> Option<ForeignCause> {
        let df = self.spectrum.df_hz;
        MAINS_HZ
            .iter()
            .map(|base| (*base, (hz / base).round().max(1.0)))
            .find(|&(base, m)| {
                let multiple = base * m;
                let on_grid = (1..=4).map(f64::from).all(|k| {
                    let close = PEAK_LINES * df + MAINS_DRIFT * k * multiple;
                    let stands = self.level(k * hz) >= MAINS_LEVEL_DB;
                    !(k < 2.0 || stands) || (self.peak_hz(k * hz) - k * multiple).abs() <= close
                });
                let usual = MAINS_MULTIPLES.iter().any(|u| (u - m).abs() < 0.5);
                let comb = [-1.0, 1.0]
                    .iter()
                    .all(|side| self.level(multiple + side * base) >= MAINS_LEVEL_DB);
                on_grid && (usual || comb)
            })
            .map(|(base, m)| ForeignCause::Mains(base * m))
    }

    fn level(&self, hz: f64) -> f64 {
        self.strongest(hz, 1.0).map_or(0.0, |l| l.1)
    }

    /// A mains line or its double, no shaft harmonic itself, that stands higher than the candidate
    /// less than a third of a shaft order away (no bearing sideband is that close): the candidate is
    /// more likely one of its slip sidebands.
    fn beside_mains(&self, hz: f64) -> Option<ForeignCause> {
        let own = self.amplitude(hz)?;
        let df = self.spectrum.df_hz;
        MAINS_HZ
            .iter()
            .flat_map(|base| [*base, 2.0 * base])
            .filter(|line| (line - hz).abs() < self.shaft_hz / 3.0 && (line - hz).abs() > 3.0 * df)
            .filter(|line| {
                let from_shaft = line - (line / self.shaft_hz).round() * self.shaft_hz;
                from_shaft.abs() > 3.0 * df + 0.002 * line
            })
            .find(|&line| {
                self.level(line) >= MAINS_LEVEL_DB && self.amplitude(line).is_some_and(|a| a > own)
            })
            .map(ForeignCause::Mains)
    }

    fn amplitude(&self, hz: f64) -> Option<f64> {
        self.strongest(hz, 1.0).map(|(i, _)| self.spectrum.amplitude[i])
    }

    /// Is the candidate one tooth of a shaft comb? Far from a multiple of the shaft speed, as far as
    /// that is known, it is not; near one it is unless it stands clearly above the other teeth.
    fn shaft_harmonic(&self, hz: f64, speed_tolerance: f64) -> Option<ForeignCause> {
        let n = (hz / self.shaft_hz).round();
        let off = (hz - n * self.shaft_hz).abs();
        let near = (speed_tolerance * hz).max(self.spectrum.df_hz + WANDER * hz);
        if n < 2.0 || off > near {
            return None;
        }
        self.is_tooth(hz, hz / n, n).then_some(ForeignCause::ShaftHarmonic(n as u32))
    }

    /// BPFO is `elements` times FTF: a defect of the cage puts a line there, too.
    fn cage_harmonic(&self, hz: f64, elements: f64) -> Option<ForeignCause> {
        let spacing = hz / elements;
        (elements >= 3.0
            && spacing > 3.0 * self.spectrum.df_hz
            && self.is_tooth(hz, spacing, elements))
        .then_some(ForeignCause::CageHarmonic(elements as u32))
    }

    /// Do the low teeth of a comb stand about as high as its `n`-th?
    fn is_tooth(&self, hz: f64, spacing: f64, n: f64) -> bool {
        let teeth: Vec<f64> = (1..=5)
            .map(f64::from)
            .filter(|m| (*m < n || n < 3.0) && (m - n).abs() > 0.5)
            .map(|m| self.level(m * spacing).max(0.0))
            .collect();
        let usual = crate::robust::median(&teeth).unwrap_or(0.0);
        usual >= COMB_LEVEL_DB && self.level(hz) - usual < TOOTH_LEAD_DB
    }

    /// Does the first or the second harmonic stand at all? A family without both belongs to a line
    /// at one of its multiples.
    fn has_base(&self, hz: f64) -> bool {
        self.level(hz) >= BASE_LEVEL_DB || self.level(2.0 * hz) >= BASE_LEVEL_DB
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene(lines: &[(usize, f64)]) -> Spectrum {
        let mut amplitude: Vec<f64> = (0..2000).map(|i| 1.0 + 0.2 * f64::from(i % 7)).collect();
        for &(at, size) in lines {
            amplitude[at] = size;
            amplitude[at - 1] = size / 2.0;
            amplitude[at + 1] = size / 2.0;
        }
        Spectrum { df_hz: 0.2, amplitude }
    }

    #[test]
    fn a_family_of_the_mains_is_told() {
        let spectrum = scene(&[(500, 50.0), (1000, 30.0)]);
        let cause = Scene::new(&spectrum, 25.3).cause(100.0 / 25.3, 0.02, None);
        assert_eq!(cause, Some(ForeignCause::Mains(100.0)));
    }

    #[test]
    fn a_tooth_of_the_shaft_comb_is_told_even_at_a_wrong_speed() {
        // Shaft at 25.2 Hz, believed 25.0: the fifth tooth looks like order 5.04.
        let teeth: Vec<(usize, f64)> = (1..12).map(|m| (126 * m, 40.0)).collect();
        let spectrum = scene(&teeth);
        let cause = Scene::new(&spectrum, 25.0).cause(5.04, 0.02, None);
        assert_eq!(cause, Some(ForeignCause::ShaftHarmonic(5)));
    }

    #[test]
    fn a_line_of_its_own_has_no_other_cause() {
        let spectrum = scene(&[(539, 50.0), (1078, 30.0), (150, 40.0)]);
        assert_eq!(Scene::new(&spectrum, 30.0).cause(107.8 / 30.0, 0.0, Some(9.0)), None);
    }
}
