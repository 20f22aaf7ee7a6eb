//! The lines of each part in the mean of all spectra of a record, which random vibration leaves low.

use pdm_shared::units::Band;

use super::{
    AtSpeed, Found, Reading, SHAFT_FIRST_DB, SHAFT_REACH, SHAFT_STANDS_DB, SHAFT_STEPS,
    SLOWEST_COMB, Search, mean,
};
use crate::diagnose::Request;
use crate::diagnose::comb::{CAP_DB, tooth_level};
use crate::diagnose::spectra::LogSpectrum;
use crate::part::{Part, PerPart};
use crate::robust::median;

/// The mean of all spectra of the clipped record, at each speed.
pub(super) struct Random {
    pub(super) speeds: Vec<(f64, LogSpectrum, PerPart<Found>)>,
}

/// A part's line in the mean of all spectra.
pub(super) struct Place<'a> {
    pub(super) spectrum: &'a LogSpectrum,
    pub(super) shaft_hz: f64,
    pub(super) order: f64,
}

impl Random {
    pub(super) fn new(clipped: &Reading, (whole, turns): (Band, f64), search: &Search) -> Self {
        let pooled = |at: &AtSpeed| {
            let spectrum =
                LogSpectrum::pooled(&clipped.spectra, whole, (at.shaft_hz, turns), CAP_DB);
            let found = search.found_in(&spectrum, at.shaft_hz).parts;
            (at.shaft_hz, spectrum, found)
        };
        Self { speeds: clipped.speeds.iter().map(pooled).collect() }
    }

    pub(super) fn of(&self, part: Part, clipped: &Reading) -> Place<'_> {
        let (shaft_hz, spectrum, found) = &self.speeds[clipped.best_speed(part)];
        Place { spectrum, shaft_hz: *shaft_hz, order: found[part].order }
    }

    /// The shaft frequency by the envelope's own lines, Hz, where they stand.
    pub(super) fn shaft_hz(&self, stated_hz: f64) -> Option<f64> {
        let (_, spectrum, _) = self.speeds.first()?;
        let step = SHAFT_REACH / f64::from(SHAFT_STEPS);
        let curve: Vec<(f64, f64)> = (-SHAFT_STEPS..=SHAFT_STEPS)
            .map(|i| stated_hz * (1.0 + step * f64::from(i)))
            .map(|hz| (hz, mean((1..=2).map(|k| spectrum.level_at(f64::from(k) * hz, CAP_DB)))))
            .collect();
        let top = curve.iter().map(|point| point.1).fold(0.0, f64::max);
        let held = curve.iter().filter(|point| point.1 >= top - 0.2).map(|point| point.0);
        let hz = mean(held);
        let first_db = spectrum.level_at(hz, CAP_DB);
        (top >= SHAFT_STANDS_DB && first_db >= SHAFT_FIRST_DB).then_some(hz)
    }
}

impl Place<'_> {
    /// The first harmonic over the usual tooth of the strongest comb of which it may be a multiple,
    /// dB.
    ///
    /// An outer-race line is as many times the cage's as there are elements, and the line of a
    /// rolling element twice its spin: those two combs are the bearing's own.
    pub(super) fn own_db(&self, part: Part, request: &Request) -> f64 {
        let tooth = |order: f64| tooth_level(self.spectrum, self.shaft_hz, order);
        let elements = (request.orders.bpfo.get() + request.orders.bpfi.get()).round() as u32;
        let least = if part == Part::Ball { 3 } else { 2 };
        let slower = (least..=SLOWEST_COMB)
            .filter(|n| part != Part::OuterRace || *n != elements)
            .map(|n| {
                let teeth: Vec<f64> = (1..=2 * n.min(6))
                    .filter(|m| m % n != 0)
                    .map(|m| tooth(self.order * f64::from(m) / f64::from(n)))
                    .collect();
                median(&teeth).unwrap_or(0.0)
            })
            .fold(0.0, f64::max);
        tooth(self.order) - slower
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::spectra::Slot;

    /// Returns the mean of all spectra with these levels at these multiples of 25 Hz.
    fn random(lines: &[(f64, f64)]) -> Random {
        let df_hz = 0.125;
        let mut levels = vec![0.0; 4000];
        for (order, level) in lines {
            levels[(order * 25.0 / df_hz).round() as usize] = *level;
        }
        let spectrum = LogSpectrum {
            slot: Slot { division: 0, index: 0, is_fine: true },
            band: Band::new(0.0, 10_000.0).expect("a band"),
            is_whole: false,
            is_fine: true,
            block_turns: 100.0,
            df_hz,
            levels,
        };
        let found = PerPart::from_fn(|_| Found { excess: 0.0, order: 0.0 });
        Random { speeds: vec![(25.0, spectrum, found)] }
    }

    /// Paderborn's inverter: a line of 52.5 Hz is twice a speed stated 5 % high, and no shaft.
    #[test]
    fn the_second_multiple_alone_shows_no_shaft() {
        assert_eq!(random(&[(2.0, 14.0)]).shaft_hz(25.0), None);
        let shown = random(&[(1.0, 6.0), (2.0, 8.0)]).shaft_hz(25.0).expect("both stand");
        assert!((shown - 25.0).abs() < 0.1, "{shown}");
    }
}
