//! Lines that stand at a defect frequency without a defect: mains, fixed tones beside it, shaft
//! harmonics.
//!
//! Runs on a leading candidate that has no name by its figures, or by the spin alone, and says what
//! else may have made its lines; of one that has a name it asks whether the lines are locked to the
//! mains. The answer is "not sure" with the cause, never "healthy".

use pdm_shared::fault::Fault;

use super::ForeignCause;
use super::levels::log_levels;
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
/// Highest multiple of a slower machine part that is looked for (chosen: higher ones have faded).
const SLOWEST_COMB: u32 = 12;
/// How well the record gives its shaft speed, in lines: a sixth, by the last of six teeth.
const SPEED_LINES: f64 = 1.0 / 6.0;
/// How far the mean speed of a band's envelope may be off the record's, as a ratio (chosen).
const STEADY: f64 = 0.0005;
/// How far a candidate may be off a shaft multiple and still be compared with the comb, as a ratio:
/// a quarter of a percent, eight times [`super::levels`]' wander, so that a speed that drifts
/// between the band's impacts and the shaft's line is covered.
const NEAR_MULTIPLE: f64 = 0.0025;
/// Shaft turns in a block of the spectra that may have found a candidate.
const COARSE_TURNS: f64 = 50.0;
/// Level from which a first or second harmonic stands, dB (chosen; the largest of three lines of
/// noise exceeds it once in 100).
const BASE_LEVEL_DB: f64 = 8.5;

/// The shaft speed and how well it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KnownSpeed {
    /// The speed, Hz.
    pub shaft_hz: f64,
    /// How far it may be off if the record did not give it, as a ratio.
    pub tolerance: f64,
    /// The record gave it.
    pub by_record: bool,
    /// The shaft frequency by the peaks of its lines, Hz, see [`super::speed::FoundSpeed`].
    pub fine_hz: f64,
}

/// One envelope spectrum at whole-record resolution with its levels.
#[derive(Debug)]
pub struct Scene<'a> {
    spectrum: &'a Spectrum,
    levels: Vec<f64>,
    speed: KnownSpeed,
    shaft_hz: f64,
}

impl<'a> Scene<'a> {
    /// Prepares a spectrum.
    pub fn new(spectrum: &'a Spectrum, speed: KnownSpeed) -> Self {
        let shaft_hz = speed.shaft_hz;
        Self { levels: log_levels(spectrum, shaft_hz), spectrum, speed, shaft_hz }
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

    /// Returns where the peak near a frequency stands, Hz.
    fn peak_hz(&self, hz: f64) -> f64 {
        self.peak_within(hz, 2.0)
    }

    /// Returns where the strongest line within ± `reach` lines peaks, Hz.
    fn peak_within(&self, hz: f64, reach: f64) -> f64 {
        self.spectrum.peak_at(&self.levels, hz, reach).map_or(hz, |peak| peak.0)
    }

    /// The other cause that explains a family at this order, if there is one.
    ///
    /// **Input** the order found; the part that it would name with the number of rolling elements.
    pub fn cause(&self, order: f64, (part, elements): (Fault, f64)) -> Option<ForeignCause> {
        if self.spectrum.df_hz <= 0.0 || self.levels.len() < 32 {
            return None;
        }
        // the look that found it may have been an averaged one: its lines are coarser than these
        let coarse = 1.5 * self.shaft_hz / COARSE_TURNS / self.spectrum.df_hz;
        let hz = self.peak_within(order * self.shaft_hz, coarse.max(2.0));
        if !self.has_base(hz) {
            return Some(ForeignCause::HigherHarmonicsOnly);
        }
        self.mains(hz)
            .or_else(|| self.beside_mains(hz))
            .or_else(|| self.shaft_harmonic(hz))
            .or_else(|| self.cage_harmonic(hz, elements).filter(|_| part == Fault::OuterRace))
            .or_else(|| self.slower_comb(hz, if part == Fault::Ball { 3 } else { 2 }))
    }

    /// Mains, if a named family is locked to it: the first two multiples stand, and each of the
    /// first four that stands is on the grid of a mains multiple to a quarter of a line.
    ///
    /// Rolling elements slip by 1 to 2 % (Randall & Antoni 2011), and what a rectifier or a
    /// thyristor drive fires does not. That a bearing's line lies there by chance is a matter of
    /// 0.1 % around each multiple.
    pub fn locked_to_mains(&self, order: f64) -> Option<ForeignCause> {
        if self.spectrum.df_hz <= 0.0 || self.levels.len() < 32 {
            return None;
        }
        let hz = self.peak_hz(order * self.shaft_hz);
        let stands = |k: f64| self.level(k * hz) >= MAINS_LEVEL_DB;
        self.mains(hz).filter(|_| stands(1.0) && stands(2.0))
    }

    /// Returns mains as the cause if all harmonics of the candidate that stand out sit on multiples
    /// of a mains line.
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
    /// less than a third of a shaft order away (no bearing sideband is that close): the candidate
    /// is more likely one of its slip sidebands.
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

    /// Returns the shaft as the cause if the candidate is one tooth of a shaft comb. Far from a
    /// multiple of the shaft speed, as far as that is known, it is not; near one it is unless it
    /// stands clearly above the other teeth. On a multiple it is in any case, where the record
    /// itself gives the speed: vanes, gear teeth and poles are whole numbers a turn, the passing
    /// frequency of a bearing part is not. Where nothing in the record gives the speed, an order
    /// near a whole number is believed: not to believe it would keep three of 1444 sound machines
    /// with vanes, and nine of 110 simulated faults, from a name.
    fn shaft_harmonic(&self, hz: f64) -> Option<ForeignCause> {
        let n = (hz / self.shaft_hz).round();
        let off = (hz - n * self.shaft_hz).abs();
        let tolerance = if self.speed.by_record { 0.0 } else { self.speed.tolerance };
        let near = (tolerance * hz).max(self.spectrum.df_hz + NEAR_MULTIPLE * hz);
        let is_whole = self.is_whole(hz);
        let is_tooth = || off <= near && self.is_tooth(hz, hz / n, n);
        (n >= 2.0 && (is_whole || is_tooth())).then_some(ForeignCause::ShaftHarmonic(n as u32))
    }

    /// Whether the candidate stands on a whole multiple of the shaft speed, as the record or the
    /// envelope's own line at the shaft speed gives it.
    fn is_whole(&self, hz: f64) -> bool {
        let df = self.spectrum.df_hz;
        let own = self.own_shaft_hz().map(|shaft_hz| (shaft_hz, PEAK_LINES));
        let by_record = self.speed.by_record.then_some((self.speed.fine_hz, SPEED_LINES));
        by_record.into_iter().chain(own).any(|(shaft_hz, lines)| {
            let n = (hz / shaft_hz).round();
            n >= 2.0 && (hz - n * shaft_hz).abs() <= (0.5 + n * lines) * df + STEADY * hz
        })
    }

    /// The envelope's own line at the shaft speed, if it stands.
    fn own_shaft_hz(&self) -> Option<f64> {
        let reach = self.speed.tolerance * self.shaft_hz / self.spectrum.df_hz;
        self.strongest(self.shaft_hz, reach)
            .filter(|line| line.1 >= COMB_LEVEL_DB)
            .map(|_| self.peak_within(self.shaft_hz, reach))
    }

    /// BPFO is `elements` times FTF: a defect of the cage puts a line there, too.
    fn cage_harmonic(&self, hz: f64, elements: f64) -> Option<ForeignCause> {
        let spacing = hz / elements;
        (elements >= 3.0
            && spacing > 3.0 * self.spectrum.df_hz
            && self.is_tooth(hz, spacing, elements))
        .then_some(ForeignCause::CageHarmonic(elements as u32))
    }

    /// Finds a slower comb: something strikes once a turn of its own (a belt, a geared shaft), and
    /// one of its multiples falls here. A rolling element's spin is half of its line, hence `least`
    /// 3 for it.
    fn slower_comb(&self, hz: f64, least: u32) -> Option<ForeignCause> {
        (least..=SLOWEST_COMB)
            .map(|n| (n, hz / f64::from(n)))
            .filter(|(_, spacing)| *spacing > 5.0 * self.spectrum.df_hz)
            .find(|&(n, spacing)| self.is_tooth(hz, spacing, f64::from(n)))
            .map(|(_, spacing)| ForeignCause::Comb(spacing))
    }

    /// Whether the low teeth of a comb stand about as high as its `n`-th.
    fn is_tooth(&self, hz: f64, spacing: f64, n: f64) -> bool {
        let teeth: Vec<f64> = (1..=5)
            .map(f64::from)
            .filter(|m| (*m < n || n < 3.0) && (m - n).abs() > 0.5)
            .map(|m| self.level(m * spacing).max(0.0))
            .collect();
        let usual = crate::robust::median(&teeth).unwrap_or(0.0);
        usual >= COMB_LEVEL_DB && self.level(hz) - usual < TOOTH_LEAD_DB
    }

    /// Whether the first harmonic stands or, if it drowns, the second and the third. A family
    /// without these belongs to a line at one of its multiples: one of even multiples alone to the
    /// second.
    fn has_base(&self, hz: f64) -> bool {
        let stands = |k: f64| self.level(k * hz) >= BASE_LEVEL_DB;
        stands(1.0) || (stands(2.0) && stands(3.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTER: (Fault, f64) = (Fault::OuterRace, 9.0);

    /// A speed off by the tolerance, or given by the record if that is 0.
    fn speed(shaft_hz: f64, tolerance: f64) -> KnownSpeed {
        KnownSpeed { shaft_hz, tolerance, by_record: tolerance <= 0.0, fine_hz: shaft_hz }
    }

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
        let cause = Scene::new(&spectrum, speed(25.3, 0.02)).cause(100.0 / 25.3, OUTER);
        assert_eq!(cause, Some(ForeignCause::Mains(100.0)));
    }

    /// Pulses of a thyristor drive at 120 Hz were an outer race at 99 %, 1.3 % off its order.
    #[test]
    fn a_family_without_slip_on_the_mains_is_locked_to_it_and_one_beside_it_is_not() {
        let family = |at: usize| scene(&[(at, 60.0), (2 * at, 50.0), (3 * at, 40.0)]);
        let (pulses, bearing) = (family(600), family(594));
        let locked = |spectrum: &Spectrum, hz: f64| {
            Scene::new(spectrum, speed(33.0, 0.02)).locked_to_mains(hz / 33.0)
        };
        assert_eq!(locked(&pulses, 120.0), Some(ForeignCause::Mains(120.0)));
        assert_eq!(locked(&bearing, 118.8), None);
        // a single tone is no family
        assert_eq!(locked(&scene(&[(600, 60.0)]), 120.0), None);
    }

    #[test]
    fn a_tooth_of_the_shaft_comb_is_told_even_at_a_wrong_speed() {
        // Shaft at 25.2 Hz, believed 25.0: the fifth tooth looks like order 5.04.
        let teeth: Vec<(usize, f64)> = (1..12).map(|m| (126 * m, 40.0)).collect();
        let spectrum = scene(&teeth);
        let cause = Scene::new(&spectrum, speed(25.0, 0.02)).cause(5.04, OUTER);
        assert_eq!(cause, Some(ForeignCause::ShaftHarmonic(5)));
    }

    #[test]
    fn a_line_of_its_own_has_no_other_cause() {
        let spectrum = scene(&[(539, 50.0), (1078, 30.0), (150, 40.0)]);
        assert_eq!(Scene::new(&spectrum, speed(30.0, 0.0)).cause(107.8 / 30.0, OUTER), None);
    }

    #[test]
    fn a_multiple_of_something_slower_is_told() {
        // A belt at 21.4 Hz; its fifth multiple falls on order 3.57 of a shaft at 30 Hz.
        let teeth: Vec<(usize, f64)> = (1..16).map(|m| (107 * m, 40.0)).collect();
        let spectrum = scene(&teeth);
        let cause = Scene::new(&spectrum, speed(30.0, 0.0)).cause(107.0 / 30.0, OUTER);
        assert!(
            matches!(cause, Some(ForeignCause::Comb(hz)) if (hz - 21.4).abs() < 0.1),
            "{cause:?}"
        );
    }

    /// Seven vanes look like 3.5 times the speed with its odd multiples missing.
    #[test]
    fn a_family_of_even_multiples_belongs_to_the_second() {
        let spectrum = scene(&[(1050, 50.0)]);
        let cause = Scene::new(&spectrum, speed(30.0, 0.02)).cause(3.5, OUTER);
        assert_eq!(cause, Some(ForeignCause::HigherHarmonicsOnly));
    }

    #[test]
    fn a_whole_multiple_of_a_known_speed_is_no_bearing() {
        // Five vanes at 31 Hz, no other tooth; a bearing's line 1 % beside it is one.
        let vanes = scene(&[(775, 50.0), (1550, 30.0)]);
        let cause = Scene::new(&vanes, speed(31.0, 0.0)).cause(5.0, (Fault::InnerRace, 8.0));
        assert_eq!(cause, Some(ForeignCause::ShaftHarmonic(5)));
        let bearing = scene(&[(767, 50.0), (1534, 30.0)]);
        let cause =
            Scene::new(&bearing, speed(31.0, 0.0)).cause(767.0 / 155.0, (Fault::InnerRace, 8.0));
        assert_eq!(cause, None);
    }
}
