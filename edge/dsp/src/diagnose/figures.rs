//! Computes a few figures for each part from the spectra of logarithmic envelopes.
//!
//! The comb level of each defect order is compared with that of unrelated orders of the same
//! spectrum, in fixed units: a foreign comb that lifts some unrelated orders cannot change the
//! unit. Every figure is taken twice, of the record as it is and of the record with its steady
//! lines clipped, and the smaller counts: tones that beat show in the first alone. Only where
//! steady lines stand at a dozen multiples in a row of a defect frequency, as impacts without slip
//! make them, the record as it is decides. Other explanations of the lines take their share away: a
//! slower comb whose tooth they are, and a whole multiple of the shaft that the speed is not known
//! well enough to exclude ([`Figures::share`]). [`super::rule`] weighs what is left. Invariant: a
//! higher figure always speaks more for the part, so no weight of the rule is negative.

use pdm_shared::units::Band;

use super::Request;
use super::cage_comb::CageComb;
use super::comb::{CAP_DB, CombCurve, line_level};
use super::past::Past;
use super::slow_comb;
use super::spectra::LogSpectrum;
use super::speed::{SpeedFit, Tried};
use crate::part::{Part, PerPart};
use crate::robust::median;
use crate::transform::Transforms;

mod pooled;
mod shaft_lines;
mod sources;
mod stranger;
mod whole_numbers;

use pooled::Random;
use shaft_lines::ShaftLines;
use sources::Taken;
use whole_numbers::WholeNumbers;

pub use sources::{Against, Sources};
pub use stranger::Stranger;

/// Unit of the excess over unrelated orders, dB. In units of their spread instead, three fewer of
/// 98 real faults are named leave-one-rig-out: one inverter's comb widens the spread.
const UNIT_DB: f64 = 2.0;
/// Ratios of a defect order that are related to it: their levels are no chance levels.
const RELATED: [f64; 6] = [0.5, 1.0, 2.0, 1.0 / 3.0, 2.0 / 3.0, 1.5];
/// How near to a related order an unrelated one may not be, as a ratio: twice the usual tolerance.
const APART: f64 = 0.033;
/// Orders among which the unrelated ones are, with the ratio of two neighbours, which is also the
/// width of the search at each.
const LOWEST_UNRELATED: f64 = 1.6;
const HIGHEST_UNRELATED: f64 = 9.5;
const UNRELATED_TOLERANCE: f64 = 0.015;
/// A name needs its lines within this share of the request's order tolerance: 1.5 % of the usual 2
/// %. At 2 % the steady 71.9 Hz comb of HIT-SM's sound self-built rig, 1.7 % off twice BSF, counts
/// as a line of the ball; Randall & Antoni 2011, section 2, give 1 to 2 % for slip.
pub(super) const NAMING_SHARE: f64 = 0.75;
/// Lead over rivals that counts, units.
const MOST_LEAD: f64 = 3.0;
/// Lead where every rival is the candidate's own sideband, units.
const LEAD_WITHOUT_RIVAL: f64 = 1.5;
/// Two orders are sidebands of each other if their distance is one within this.
const SIDEBAND_REACH: f64 = 0.03;
/// Spectra whose lines are averaged for the height of a family: those that show it best.
const BEST_SPECTRA: usize = 5;
/// A first harmonic so far above the usual tooth of a slower comb is no tooth of it, dB. Of the
/// recordings' families those named by their own part have 2.9 and more, belts and neighbours in
/// the generated records 1.2 and less; with 2 dB the folds name the same.
const OWN_ENOUGH_DB: f64 = 3.0;
/// The number of multiples in a row of a defect frequency that have to be steady for steady lines
/// to be kept: impacts that hardly slip. Families of drives and gears have seven in a row.
const LEAST_TEETH: usize = 12;
/// Highest multiple of something slower that is looked for: higher ones have faded.
const SLOWEST_COMB: u32 = 12;
/// How far a line is off a whole multiple of the shaft before it is surely none, as a ratio: where
/// the record confirms the speed (wander within a record, Randall & Antoni 2011) …
const WHOLE_CONFIRMED: f64 = 0.003;
/// … where only the stated speed is known (chosen: half of the slip that is usual) …
const WHOLE_STATED: f64 = 0.01;
/// … and where the record itself gave another speed than the stated one: what turns with a pump's
/// flow stands 1 % off four times its shaft, beside twice the spin of a 6203.
const WHOLE_OTHER: f64 = 0.015;

/// Number of figures.
pub const COUNT: usize = 4;
/// The names of the figures, in the order of [`Figures::values`].
pub const NAMES: [&str; COUNT] = [
    "excess, all bands (2 dB)",
    "excess, whole band (2 dB)",
    "height of two harmonics (dB)",
    "lead over the other parts (2 dB)",
];

/// The figures of one record for one part; a larger value of each speaks for the part.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Figures {
    /// Comb level above the median of unrelated orders, mean of all spectra, in units of 2 dB.
    pub excess: f64,
    /// The excess of the whole band's spectra alone, at the speed that suits it best.
    pub excess_whole: f64,
    /// Mean level of the best two of harmonics 1 to 3 in the five best spectra, dB.
    pub height_db: f64,
    /// Excess, as far as it is the part's own, over that of the strongest other part that is no
    /// sideband of this one, at most 3 units.
    pub lead: f64,
    /// First harmonic over the usual tooth of the strongest slower comb it could belong to, in the
    /// mean of all spectra, dB.
    pub own_db: f64,
    /// How surely the lines are off a whole multiple of the shaft speed, 0 to 1.
    pub off_whole: f64,
    /// The order at which the lines stand best.
    pub order: f64,
    /// The shaft frequency at which they do, Hz.
    pub shaft_hz: f64,
    /// The band whose finely resolved spectrum shows them best.
    pub band: Option<Band>,
}

impl Figures {
    /// The share of the evidence that no slower comb and no shaft multiple explains, 0 to 1.
    pub fn share(&self) -> f64 {
        (self.own_db / OWN_ENOUGH_DB).clamp(0.0, 1.0) * self.off_whole
    }

    /// The smaller of each figure of one source.
    fn least(self, other: &Self) -> Self {
        Self {
            excess: self.excess.min(other.excess),
            excess_whole: self.excess_whole.min(other.excess_whole),
            height_db: self.height_db.min(other.height_db),
            ..self
        }
    }

    /// The figures as the rule weighs them.
    pub fn values(&self) -> [f64; COUNT] {
        let share = self.share();
        [
            part_of(self.excess, share),
            part_of(self.excess_whole, share),
            self.height_db * share,
            self.lead,
        ]
    }
}

/// Returns the part's share of a value. A value in favour of the part counts by the share that is
/// its own; a value against it counts in full.
fn part_of(value: f64, share: f64) -> f64 {
    if value > 0.0 { value * share } else { value }
}

/// Everything the rule weighs of one record.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Evidence {
    /// The figures of each part.
    pub parts: PerPart<Figures>,
    /// The comb of the cage.
    pub cage: CageComb,
    /// The strongest family at an order that no part has.
    pub stranger: Stranger,
    /// How the stated speed fits the record.
    pub speed: SpeedFit,
    /// How far the comb of the cage stands in the mean of all bands, dB; `None` where the record
    /// holds too few turns of the shaft.
    pub slow_db: Option<f64>,
    /// How much of that is new since the baseline, dB; `None` without a past.
    pub new_slow_db: Option<f64>,
}

impl Evidence {
    /// Whether the stated speed does not fit; nothing is named then.
    pub const fn is_misfit(&self) -> bool {
        matches!(self.speed, SpeedFit::Misfit(_) | SpeedFit::MayMisfit(_))
    }

    /// The figures of a part beside one that is named already: its lead is that over the third.
    pub fn beside(&self, part: Part, named: Part) -> Figures {
        let figures = self.parts[part];
        let share = |part: Part| {
            let figures = &self.parts[part];
            part_of(figures.excess, figures.share())
        };
        let third = Part::ALL.into_iter().find(|other| *other != part && *other != named);
        let lead = third.map_or(LEAD_WITHOUT_RIVAL, |third| share(part) - share(third));
        Figures { lead: lead.min(MOST_LEAD), ..figures }
    }
}

/// Measures the figures of one record.
///
/// **Input** the record's sources; the shaft frequencies to try by its acceleration; what the
/// record is held against. **Output** what the rule weighs, for [`Against::Learning`] what stands
/// in the record, and the shaft frequencies that were tried with what its envelope shows.
pub fn measure(
    sources: Sources<'_>,
    tried: Tried,
    (request, against): (&Request, Against<'_>),
    transforms: &mut Transforms,
) -> ((Evidence, Option<Past>), Tried) {
    let orders = PerPart::from_fn(|part| request.orders.of(part.fault()).get());
    let search = Search::new(&orders, NAMING_SHARE * request.order_tolerance);
    let mut taken = Taken::new(sources, &tried, (request, &search), transforms);
    let Some(shaft) = ShaftLines::new(&taken) else {
        return ((Evidence::default(), None), tried);
    };
    let tried = shaft.tried(tried, request);
    taken.read_at(&tried);
    let slow_db = slow_comb::level_db(taken.both(), (&tried.hz, taken.stated.1), request);
    let mut new_slow_db = None;
    let mut shown = shaft.beside_hz(taken.stated.0);
    if let Against::Past(past) = against {
        taken.take_off(past);
        new_slow_db = slow_db.map(|db| db - past.cage_db());
        shown = ShaftLines::new(&taken).and_then(|left| left.beside_hz(taken.stated.0));
    }
    let Taken { as_it_is, clipped, stated } = taken;
    let readings =
        (Reading::new(as_it_is, &tried.hz, &search), Reading::new(clipped, &tried.hz, &search));
    let evidence = weighed(&readings, (&tried, shown), (request, &search), stated);
    let look = matches!(against, Against::Learning).then(|| {
        let own = |part: Part| {
            let figures = &evidence.parts[part];
            UNIT_DB * part_of(figures.excess, figures.share())
        };
        let both = (readings.0.spectra.as_slice(), readings.1.spectra.as_slice());
        Past::of_look(both, stated, (PerPart::from_fn(own), slow_db))
    });
    ((Evidence { slow_db, new_slow_db, ..evidence }, look), tried)
}

/// The figures by the readings of the record as it is and with its steady lines clipped.
fn weighed(
    (as_it_is, clipped): &(Reading, Reading),
    (tried, by_envelope): (&Tried, Option<f64>),
    (request, search): (&Request, &Search),
    (stated_hz, turns): (f64, f64),
) -> Evidence {
    let Some(whole) = clipped.spectra.first().map(|spectrum| spectrum.band) else {
        return Evidence::default();
    };
    let random = Random::new(clipped, (whole, turns), search);
    let whole_numbers = WholeNumbers::new(tried, by_envelope, (stated_hz, turns));
    let parts = PerPart::from_fn(|part| {
        let at = random.of(part, clipped);
        Figures {
            own_db: at.own_db(part, request),
            off_whole: whole_numbers
                .off(at.order * at.shaft_hz)
                .min(whole_numbers.apart(search.orders[part])),
            order: at.order,
            shaft_hz: at.shaft_hz,
            band: clipped.best_band(part),
            ..as_it_is.figures(part).least(&clipped.figures(part))
        }
    });
    let shares = PerPart::from_fn(|part| parts[part].share());
    let parts = PerPart::from_fn(|part| {
        let lead = as_it_is.lead(part, &shares).min(clipped.lead(part, &shares));
        Figures { lead, ..parts[part] }
    });
    let cage = CageComb::of((&as_it_is.spectra, &clipped.spectra), stated_hz, request);
    let stranger = stranger::find((as_it_is, clipped), &random, request, |order, shaft_hz| {
        whole_numbers.off(order * shaft_hz)
    });
    let own = parts.iter().map(|(_, figures)| part_of(figures.excess, figures.share()));
    let stranger = stranger.leading_over(own.fold(0.0, f64::max));
    let speed = whole_numbers.fit(tried.fit);
    Evidence { parts, cage, stranger, speed, ..Evidence::default() }
}

/// Returns how surely a line is no whole multiple of a shaft frequency that is known within a
/// ratio, 0 to 1.
fn off_whole(hz: f64, shaft_hz: f64, ratio: f64, turns: f64) -> f64 {
    let order = hz / shaft_hz;
    let half_a_line = 0.5 / turns.min(super::spectra::BLOCK_TURNS[0]);
    ((order - order.round()).abs() / (ratio * order + half_a_line)).min(1.0)
}

/// The orders that are searched for in each spectrum.
struct Search {
    orders: PerPart<f64>,
    /// The highest of them.
    most: f64,
    tolerance: f64,
    highest: f64,
    unrelated: Vec<f64>,
}

impl Search {
    fn new(orders: &PerPart<f64>, tolerance: f64) -> Self {
        let most = orders.iter().map(|(_, order)| *order).fold(0.0, f64::max);
        let highest = HIGHEST_UNRELATED.max(1.35 * most);
        let is_apart = |order: f64| {
            orders.iter().all(|(_, own)| {
                RELATED.iter().all(|ratio| (order / (own * ratio) - 1.0).abs() >= APART)
            })
        };
        let next = |order: &f64| Some(order * (1.0 + UNRELATED_TOLERANCE));
        let unrelated = std::iter::successors(Some(LOWEST_UNRELATED), next)
            .take_while(|order| *order < highest)
            .filter(|order| is_apart(*order))
            .collect();
        Self { orders: *orders, most, tolerance, highest, unrelated }
    }

    /// Excess and place of each part's order and of the unrelated ones in one spectrum.
    fn found_in(&self, spectrum: &LogSpectrum, shaft_hz: f64) -> InSpectrum {
        let curve = CombCurve::new(spectrum, shaft_hz, 1.03 * self.highest);
        let one = |order: &f64| curve.largest(*order, UNRELATED_TOLERANCE);
        let chance: Vec<(f64, f64)> = self.unrelated.iter().map(one).collect();
        let levels: Vec<f64> = chance.iter().map(|(level, _)| *level).collect();
        let usual = median(&levels).unwrap_or(0.0);
        let parts = PerPart::from_fn(|part| {
            let (level, order) = curve.largest(self.orders[part], self.tolerance);
            Found { excess: (level - usual) / UNIT_DB, order }
        });
        let unrelated = chance.iter().map(|(level, order)| ((level - usual) / UNIT_DB, *order));
        InSpectrum { parts, unrelated: unrelated.collect() }
    }
}

/// The findings in one spectrum.
struct InSpectrum {
    parts: PerPart<Found>,
    /// Excess and place of each unrelated order.
    unrelated: Vec<(f64, f64)>,
}

/// One part in one spectrum.
#[derive(Debug, Clone, Copy)]
struct Found {
    excess: f64,
    order: f64,
}

/// All spectra of one source, read at each speed.
struct Reading {
    spectra: Vec<LogSpectrum>,
    speeds: Vec<AtSpeed>,
}

/// All spectra read at one speed.
struct AtSpeed {
    shaft_hz: f64,
    found: Vec<InSpectrum>,
}

impl AtSpeed {
    fn mean_excess(&self, part: Part, is_wanted: impl Fn(usize) -> bool) -> f64 {
        let excess = |i: usize| self.found[i].parts[part].excess;
        mean((0..self.found.len()).filter(|i| is_wanted(*i)).map(excess))
    }

    /// Indices of the spectra, those that show the part best first.
    fn ranked(&self, part: Part) -> Vec<usize> {
        let mut rank: Vec<usize> = (0..self.found.len()).collect();
        let excess = |i: usize| self.found[i].parts[part].excess;
        rank.sort_by(|&a, &b| excess(b).total_cmp(&excess(a)));
        rank
    }
}

impl Reading {
    fn new(spectra: Vec<LogSpectrum>, tried_hz: &[f64], search: &Search) -> Self {
        let at = |shaft_hz: f64| AtSpeed {
            shaft_hz,
            found: spectra.iter().map(|s| search.found_in(s, shaft_hz)).collect(),
        };
        let speeds = tried_hz.iter().map(|hz| at(*hz)).collect();
        Self { spectra, speeds }
    }

    /// Index of the speed at which a part's lines stand best.
    fn best_speed(&self, part: Part) -> usize {
        let excess = |i: &usize| self.speeds[*i].mean_excess(part, |_| true);
        let all = 0..self.speeds.len();
        all.max_by(|a, b| excess(a).total_cmp(&excess(b))).unwrap_or(0)
    }

    fn figures(&self, part: Part) -> Figures {
        let Some(at) = self.speeds.get(self.best_speed(part)) else { return Figures::default() };
        let rank = at.ranked(part);
        let height =
            |i: &usize| height_db(&self.spectra[*i], at.shaft_hz, at.found[*i].parts[part].order);
        let whole = |at: &AtSpeed| at.mean_excess(part, |i| self.spectra[i].is_whole);
        Figures {
            excess: at.mean_excess(part, |_| true),
            excess_whole: self.speeds.iter().map(whole).fold(f64::NEG_INFINITY, f64::max),
            height_db: mean(rank.iter().take(BEST_SPECTRA).map(height)),
            ..Figures::default()
        }
    }

    /// Excess of a part at its best speed, and its order in the spectrum that shows it best.
    fn stands(&self, part: Part, share: f64) -> Found {
        let Some(at) = self.speeds.get(self.best_speed(part)) else {
            return Found { excess: 0.0, order: 0.0 };
        };
        let order = at.ranked(part).first().map_or(0.0, |i| at.found[*i].parts[part].order);
        Found { excess: part_of(at.mean_excess(part, |_| true), share), order }
    }

    fn lead(&self, part: Part, shares: &PerPart<f64>) -> f64 {
        let own = self.stands(part, shares[part]);
        let rival = Part::ALL
            .into_iter()
            .filter(|other| *other != part)
            .map(|other| self.stands(other, shares[other]))
            .filter(|other| ((other.order - own.order).abs() - 1.0).abs() > SIDEBAND_REACH)
            .map(|other| other.excess)
            .reduce(f64::max);
        rival.map_or(LEAD_WITHOUT_RIVAL, |rival| (own.excess - rival).min(MOST_LEAD))
    }

    /// The band whose finely resolved spectrum shows a part best.
    fn best_band(&self, part: Part) -> Option<Band> {
        let rank = self.speeds.get(self.best_speed(part))?.ranked(part);
        rank.into_iter().map(|i| &self.spectra[i]).find(|s| s.is_fine).map(|s| s.band)
    }
}

/// Mean of the best two of harmonics 1 to 3, dB.
fn height_db(spectrum: &LogSpectrum, shaft_hz: f64, order: f64) -> f64 {
    let mut levels: Vec<f64> = (1..=3)
        .filter_map(|k| line_level(spectrum, shaft_hz, f64::from(k) * order))
        .map(|level| level.clamp(0.0, CAP_DB))
        .collect();
    levels.sort_by(|a, b| b.total_cmp(a));
    mean(levels.into_iter().take(2))
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / f64::max(count, 1.0)
}
