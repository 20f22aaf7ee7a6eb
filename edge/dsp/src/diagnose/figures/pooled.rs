//! The lines of each part in the mean of all spectra of a record, which random vibration leaves
//! low.

use pdm_shared::units::Band;

use super::{AtSpeed, Found, Reading, SLOWEST_COMB, Search};
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
