//! The shaft frequency by the envelope's own lines: whatever turns with the shaft modulates the
//! vibration.
//!
//! They are read in the mean of all spectra of the clipped record. Another speed than the stated
//! one is looked for before a past is taken off, because lines of the shaft stand in a sound
//! record, too; the stated one is confirmed by what is left: with the lines of before, one window
//! of a sound pump whose shaft turns 3 % off is named. Invariant: where one of the first two stands
//! alone it is a line of something else and gives no speed.

use super::mean;
use super::sources::Taken;
use crate::diagnose::comb::CAP_DB;
use crate::diagnose::spectra::LogSpectrum;
use crate::diagnose::speed::{SpeedFit, Tried};
use crate::diagnose::{DEFAULT_SPEED_TOLERANCE, Request};

/// Mean level of the envelope's first two shaft harmonics from which they confirm a speed, dB: the
/// levels are means of some thirty spectra, whose noise stays below 3. The third harmonic is not
/// used: the outer race of a 6203 stands at 3.05 orders and would pose as it.
const STANDS_DB: f64 = 5.0;
/// The first of the two has to stand itself, dB. Paderborn's inverter has a line at 52.5 Hz, which
/// is twice a speed stated 5 % high and leaves the first 0 to 3.8 dB; the shafts of that rig have
/// 4.8 and more.
const FIRST_DB: f64 = 4.3;
/// How far they are searched to either side of the speed that is tried, as a ratio, and the steps.
const REACH: f64 = 0.02;
const STEPS: i32 = 80;
/// Level that each of the two needs to give another speed than the stated one, dB. Of the 66
/// recordings at hand whose acceleration shows no speed (data, data-b and data-c without the
/// snapshots of IMS) the strongest place off the shaft has 7.2 in both (Paderborn KA16), one that
/// declares its speed uncertain 7.9; the shafts of MFPT's inner races have 9.7 to 15.9.
const OTHER_DB: f64 = 8.0;
/// How much higher than around the stated speed they have to stand there, dB, as in the
/// acceleration.
const OTHER_LEAD_DB: f64 = 3.0;
/// How near to the stated speed they are the stated speed's, as a ratio.
const NEAR: f64 = 0.005;
/// Step of the search for another speed, as a ratio.
const STEP: f64 = 0.001;

/// The mean of all spectra of the clipped record.
pub(super) struct ShaftLines(LogSpectrum);

impl ShaftLines {
    /// Averages the spectra; `None` where there are none.
    pub(super) fn new(taken: &Taken) -> Option<Self> {
        let whole = taken.clipped.first()?.band;
        Some(Self(LogSpectrum::pooled(&taken.clipped, whole, taken.stated, CAP_DB)))
    }

    fn first_two_db(&self, hz: f64) -> [f64; 2] {
        [1.0, 2.0].map(|k| self.0.level_at(k * hz, CAP_DB))
    }

    /// The shaft frequency beside one that is tried, Hz, where its lines stand.
    pub(super) fn beside_hz(&self, tried_hz: f64) -> Option<f64> {
        let step = REACH / f64::from(STEPS);
        let curve: Vec<(f64, f64)> = (-STEPS..=STEPS)
            .map(|i| tried_hz * (1.0 + step * f64::from(i)))
            .map(|hz| (hz, mean(self.first_two_db(hz).into_iter())))
            .collect();
        let top = curve.iter().map(|point| point.1).fold(0.0, f64::max);
        let held = curve.iter().filter(|point| point.1 >= top - 0.2).map(|point| point.0);
        let hz = mean(held);
        let [first_db, _] = self.first_two_db(hz);
        (top >= STANDS_DB && first_db >= FIRST_DB).then_some(hz)
    }

    /// Returns the speeds to try, with the one that the envelope shows in place of a stated one of
    /// which the acceleration shows nothing; a request that declares its speed uncertain, or none,
    /// keeps its own.
    pub(super) fn tried(&self, tried: Tried, request: &Request) -> Tried {
        let tolerance = request.speed_tolerance;
        let is_asked =
            tried.fit == SpeedFit::Open && tolerance > NEAR && tolerance <= DEFAULT_SPEED_TOLERANCE;
        let other = is_asked.then(|| self.other_hz(request.speed.shaft_hz(), tolerance)).flatten();
        other.map_or(tried, Tried::other)
    }

    /// The shaft frequency within the tolerance (ratio) of a stated one at which both lines stand
    /// plainly and higher than around the stated one, Hz.
    fn other_hz(&self, stated_hz: f64, tolerance: f64) -> Option<f64> {
        let steps = (tolerance / STEP).round() as i32;
        let curve: Vec<(f64, f64)> = (-steps..=steps)
            .map(|i| 1.0 + STEP * f64::from(i))
            .map(|ratio| {
                let [first_db, second_db] = self.first_two_db(ratio * stated_hz);
                (ratio, first_db.min(second_db))
            })
            .collect();
        let top = curve.iter().map(|point| point.1).fold(0.0, f64::max);
        let held: Vec<f64> =
            curve.iter().filter(|point| point.1 >= top - 0.2).map(|point| point.0).collect();
        let (first, last) = (*held.first()?, *held.last()?);
        let stated = curve.iter().filter(|point| (point.0 - 1.0).abs() <= NEAR);
        let stated_db = stated.map(|point| point.1).fold(0.0, f64::max);
        // a slope at the end of what is searched has its top beyond
        let is_inside = first > 1.0 - tolerance + 0.5 * STEP && last < 1.0 + tolerance - 0.5 * STEP;
        let is_one_peak = last - first <= 2.0 * NEAR;
        let ratio = mean(held.iter().copied());
        let is_other = top >= OTHER_DB.max(stated_db + OTHER_LEAD_DB) && (ratio - 1.0).abs() > NEAR;
        (is_other && is_inside && is_one_peak).then_some(ratio * stated_hz)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bearing::DefectOrders;
    use crate::diagnose::spectra::Slot;
    use pdm_shared::units::{Band, Rpm, SampleRate};

    /// Returns the mean of all spectra with these levels at these multiples of 25 Hz.
    fn shown(lines: &[(f64, f64)]) -> ShaftLines {
        let df_hz = 0.125;
        let mut levels = vec![0.0; 4000];
        for (order, level) in lines {
            let at = (order * 25.0 / df_hz).round() as usize;
            levels[at - 1..=at + 1].fill(*level);
        }
        ShaftLines(LogSpectrum {
            slot: Slot { division: 0, index: 0, is_fine: true },
            band: Band::new(0.0, 10_000.0).expect("a band"),
            is_whole: false,
            is_fine: true,
            block_turns: 100.0,
            df_hz,
            levels,
        })
    }

    /// Paderborn's inverter: a line of 52.5 Hz is twice a speed stated 5 % high, and no shaft.
    #[test]
    fn the_second_multiple_alone_shows_no_shaft() {
        assert_eq!(shown(&[(2.0, 14.0)]).beside_hz(25.0), None);
        let found = shown(&[(1.0, 6.0), (2.0, 8.0)]).beside_hz(25.0).expect("both stand");
        assert!((found - 25.0).abs() < 0.1, "{found}");
        assert_eq!(shown(&[(2.1, 20.0)]).other_hz(25.0, 0.05), None);
    }

    /// A synchronous speed typed in where the shaft turns 3 % slower.
    #[test]
    fn both_lines_give_the_speed_that_was_not_stated() {
        let found = shown(&[(0.97, 12.0), (1.94, 10.0)]).other_hz(25.0, 0.05).expect("both stand");
        assert!((found / 25.0 - 0.97).abs() < 0.004, "{found}");
        let none = [
            vec![(0.97, 12.0), (1.94, 7.0)],
            // beside a shaft that stands where it was stated
            vec![(0.97, 12.0), (1.94, 10.0), (1.0, 9.0), (2.0, 9.0)],
            vec![(1.0, 12.0), (2.0, 12.0)],
            // beyond the tolerance
            vec![(0.94, 12.0), (1.88, 12.0)],
        ];
        for lines in none {
            assert_eq!(shown(&lines).other_hz(25.0, 0.05), None, "{lines:?}");
        }
    }

    #[test]
    fn a_speed_that_the_acceleration_shows_or_that_is_declared_uncertain_is_kept() {
        let orders = DefectOrders::new(3.0543, 4.9457, 1.9966, 0.3818).expect("valid");
        let (rate, speed) = (SampleRate::new(6400.0), Rpm::new(1500.0));
        let request = Request::new(rate.expect("valid"), speed.expect("valid"), orders);
        let lines = shown(&[(0.97, 12.0), (1.94, 10.0)]);
        let open = Tried { fit: SpeedFit::Open, ..Tried::other(25.0) };
        assert_eq!(lines.tried(open.clone(), &request).fit, SpeedFit::Other);
        let confirmed = Tried { fit: SpeedFit::Confirmed, ..open.clone() };
        assert_eq!(lines.tried(confirmed.clone(), &request), confirmed);
        for speed_tolerance in [0.0, 0.07] {
            let request = Request { speed_tolerance, ..request };
            assert_eq!(lines.tried(open.clone(), &request), open);
        }
    }
}
