//! A family of lines at an order that no part of the bearing has: another bearing than the
//! configured one, or another on the shaft.
//!
//! Its figures are those of a part, taken at the unrelated orders that set the zero of the parts'.
//! Invariant: sums of a few turns of shaft and cage are no strangers, since modulation makes them.

use super::pooled::{Place, Random};
use super::{BEST_SPECTRA, Figures, MOST_LEAD, Reading, height_db, mean, part_of};
use crate::diagnose::Request;
use crate::part::Part;

/// Turns of the cage and of the shaft whose sums are no strangers.
const CAGE_TURNS: i32 = 2;
const SHAFT_TURNS: i32 = 10;
/// How near to such a sum an order may not be, orders.
const NEAR: f64 = 0.03;

/// The strongest family at an order that no part has.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Stranger {
    /// Its figures, in those of a part; the order is where it stands.
    pub figures: Figures,
}

impl Stranger {
    /// Returns the stranger with its lead over the strongest part, units.
    pub(super) fn leading_over(self, own: f64) -> Self {
        let figures = self.figures;
        let lead = part_of(figures.excess, figures.share()) - own;
        Self { figures: Figures { lead: lead.min(MOST_LEAD), ..figures } }
    }
}

/// Finds it at the first of the speeds that are tried; `off_whole`: how surely an order at a shaft
/// frequency is no whole multiple.
pub(super) fn find(
    (as_it_is, clipped): (&Reading, &Reading),
    random: &Random,
    request: &Request,
    off_whole: impl Fn(f64, f64) -> f64,
) -> Stranger {
    let (Some((shaft_hz, spectrum, _)), Some(read)) =
        (random.speeds.first(), clipped.speeds.first())
    else {
        return Stranger::default();
    };
    let count = read.found.first().map_or(0, |found| found.unrelated.len());
    let excess = |reading: &Reading, i: usize, is_wanted: &dyn Fn(usize) -> bool| {
        let Some(at) = reading.speeds.first() else { return 0.0 };
        let wanted = at.found.iter().enumerate().filter(|(n, _)| is_wanted(*n));
        mean(wanted.map(|(_, found)| found.unrelated[i].0))
    };
    let least = |i: usize| excess(as_it_is, i, &|_| true).min(excess(clipped, i, &|_| true));
    let ftf = request.orders.ftf.get();
    let place = |i: usize| {
        let best = read.found.iter().map(|found| found.unrelated[i]);
        best.max_by(|a, b| a.0.total_cmp(&b.0)).map_or(0.0, |(_, order)| order)
    };
    let best = (0..count)
        .filter(|i| !is_sum(place(*i), ftf))
        .max_by(|a, b| least(*a).total_cmp(&least(*b)));
    let Some(best) = best else { return Stranger::default() };
    let order = place(best);
    let whole = |reading: &Reading| {
        excess(reading, best, &|n| reading.spectra.get(n).is_some_and(|s| s.is_whole))
    };
    let height = |reading: &Reading| {
        let Some(at) = reading.speeds.first() else { return 0.0 };
        let mut shown: Vec<(f64, f64)> = at
            .found
            .iter()
            .zip(&reading.spectra)
            .map(|(found, spectrum)| {
                let (excess, order) = found.unrelated[best];
                (excess, height_db(spectrum, *shaft_hz, order))
            })
            .collect();
        shown.sort_by(|a, b| b.0.total_cmp(&a.0));
        mean(shown.into_iter().take(BEST_SPECTRA).map(|(_, height)| height))
    };
    let at = Place { spectrum, shaft_hz: *shaft_hz, order };
    let figures = Figures {
        excess: least(best),
        excess_whole: whole(as_it_is).min(whole(clipped)),
        height_db: height(as_it_is).min(height(clipped)),
        own_db: at.own_db(Part::InnerRace, request),
        off_whole: off_whole(order, *shaft_hz),
        order,
        shaft_hz: *shaft_hz,
        ..Figures::default()
    };
    Stranger { figures }
}

/// Whether an order is a sum of whole turns of the shaft and a few of the cage.
fn is_sum(order: f64, ftf: f64) -> bool {
    (-CAGE_TURNS..=CAGE_TURNS).any(|cage| {
        let rest = order - f64::from(cage) * ftf;
        rest < f64::from(SHAFT_TURNS) && (rest - rest.round()).abs() <= NEAR
    })
}
