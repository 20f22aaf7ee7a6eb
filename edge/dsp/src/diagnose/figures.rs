//! From the spectra of logarithmic envelopes to a few figures for each part.
//!
//! The comb level of each defect order is compared with that of unrelated orders of the same
//! spectrum, in fixed units: a foreign comb that lifts some unrelated orders cannot change the unit.
//! [`super::rule`] weighs the figures. Invariant: in every figure more speaks for the part, so no
//! weight of the rule is negative.

use super::comb::{CAP_DB, CombCurve, line_level, tooth_level};
use super::foreign::{KnownSpeed, Scene};
use super::spectra::{LogSpectrum, clip_lines, log_spectra};
use super::{ForeignCause, Request, cage};
use crate::envelope::{RecordLines, envelope_spectrum, squared_envelope};
use crate::part::{Part, PerPart};
use crate::robust::median;
use crate::separate::Separated;
use crate::transform::Transforms;

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
/// A name needs its lines within this share of the request's order tolerance: 1.5 % of the usual 2 %.
/// At 2 % the steady 71.9 Hz comb of HIT-SM's sound self-built rig, 1.7 % off twice BSF, counts as a
/// line of the ball; Randall & Antoni 2011, section 2, give 1 to 2 % for slip.
const NAMING_SHARE: f64 = 0.75;
/// Lead over rivals that counts, units.
const MOST_LEAD: f64 = 3.0;
/// Lead where every rival is the candidate's own sideband, units.
const LEAD_WITHOUT_RIVAL: f64 = 1.5;
/// Two orders are sidebands of each other if their distance is one within this.
const SIDEBAND_REACH: f64 = 0.03;
/// Spectra whose lines are averaged for the height of a family: those that show it best.
const BEST_SPECTRA: usize = 5;
/// Lead of the first harmonic over a slower comb that counts, dB.
const MOST_OWN_DB: f64 = 15.0;
/// Highest multiple of something slower that is looked for: higher ones have faded.
const SLOWEST_COMB: u32 = 12;
/// Steady lines are kept, clipped, if so many multiples in a row of a defect frequency are steady:
/// impacts that hardly slip. Families of drives and gears have seven in a row.
const LEAST_TEETH: usize = 12;

/// Number of figures.
pub const COUNT: usize = 10;
/// The names of the figures, in the order of [`Figures::values`].
pub const NAMES: [&str; COUNT] = [
    "excess, all bands (2 dB)",
    "excess, whole band (2 dB)",
    "height of two harmonics (dB)",
    "lead over the other parts (2 dB)",
    "first harmonic over slower combs (dB)",
    "no mains line",
    "no shaft harmonic",
    "no cage harmonic",
    "no slower comb",
    "first or second harmonic stands",
];

/// The figures of one record for one part; a larger value of each speaks for the part.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Figures {
    /// Comb level above the median of unrelated orders, mean of all spectra, in units of 2 dB.
    pub excess: f64,
    /// The same of the whole band's spectra alone, at the speed that suits it best.
    pub excess_whole: f64,
    /// Mean level of the best two of harmonics 1 to 3 in the five best spectra, dB.
    pub height_db: f64,
    /// Excess over the strongest other part that is no sideband of this one, at most 3 units.
    pub lead: f64,
    /// First harmonic over the usual tooth of the strongest slower comb it could belong to, in the
    /// mean of all spectra, dB.
    pub own_db: f64,
    /// The other causes that explain the lines, see [`super::foreign`].
    pub cause: Option<ForeignCause>,
    /// The order at which the lines stand best.
    pub order: f64,
    /// The shaft frequency at which they do, Hz.
    pub shaft_hz: f64,
}

impl Figures {
    /// The figures as the rule weighs them; causes are 1 if absent, 0 if found.
    pub fn values(&self) -> [f64; COUNT] {
        use ForeignCause as F;
        let absent = |is_found: bool| if is_found { 0.0 } else { 1.0 };
        [
            self.excess,
            self.excess_whole,
            self.height_db,
            self.lead,
            self.own_db,
            absent(matches!(self.cause, Some(F::Mains(_)))),
            absent(matches!(self.cause, Some(F::ShaftHarmonic(_)))),
            absent(matches!(self.cause, Some(F::CageHarmonic(_)))),
            absent(matches!(self.cause, Some(F::Comb(_)))),
            absent(matches!(self.cause, Some(F::HigherHarmonicsOnly | F::DiscreteLines))),
        ]
    }
}

/// Everything the rule weighs of one record.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Evidence {
    /// Of each part.
    pub parts: PerPart<Figures>,
    /// Standard deviations by which the cage's comb stands in the whole band, see [`cage`].
    pub cage: f64,
}

/// The record as it is and without its steady lines.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    /// Transform of the record.
    pub record: &'a RecordLines,
    /// The same taken apart.
    pub separated: &'a Separated,
}

/// Measures the figures of one record.
///
/// **Input** the record's sources; the shaft frequencies to try, Hz, the stated one first.
pub fn measure(
    sources: Sources<'_>,
    speeds_hz: &[f64],
    request: &Request,
    transforms: &mut Transforms,
) -> Evidence {
    let stated_hz = request.speed.shaft_hz();
    let orders = PerPart::from_fn(|part| request.orders.of(part.fault()).get());
    let most = orders.iter().map(|(_, order)| *order).fold(0.0, f64::max);
    let fastest = speeds_hz.iter().copied().fold(stated_hz, f64::max);
    let limit_hz = (4.2 * most + 3.0) * fastest;
    let kept = has_impacts_without_slip(sources, speeds_hz, &orders, request)
        .then(|| clip_lines(sources.record));
    let source = kept.as_ref().unwrap_or(&sources.separated.random);
    let spectra = log_spectra(source, stated_hz, limit_hz, transforms);
    if spectra.is_empty() {
        return Evidence::default();
    }
    let search = Search::new(&orders, most, NAMING_SHARE * request.order_tolerance);
    let turns = source.samples as f64 / source.rate_hz * stated_hz;
    let at_speeds: Vec<AtSpeed> =
        speeds_hz.iter().map(|hz| AtSpeed::new(&spectra, *hz, turns, &search)).collect();
    let mut parts = PerPart::from_fn(|part| figures_of(part, &at_speeds, &spectra, request));
    let found = parts;
    for part in Part::ALL {
        parts[part].lead = lead(part, &found);
        let known = Candidate { order: parts[part].order, shaft_hz: parts[part].shaft_hz, part };
        let best = best_spectrum(part, &at_speeds, &spectra);
        parts[part].cause =
            best.and_then(|s| cause(source, s, known, (request, limit_hz), transforms));
    }
    Evidence { parts, cage: cage_level(&spectra, stated_hz, request) }
}

/// Do so many multiples of a defect frequency stand as steady lines that impacts made them?
fn has_impacts_without_slip(
    sources: Sources<'_>,
    speeds_hz: &[f64],
    orders: &PerPart<f64>,
    request: &Request,
) -> bool {
    let df = sources.record.df_hz();
    speeds_hz.iter().flat_map(|hz| orders.iter().map(move |(_, order)| order * hz)).any(|hz| {
        let reach = (NAMING_SHARE * request.order_tolerance * hz / df) as i32;
        (-reach..=reach)
            .map(|line| hz + f64::from(line) * df)
            .any(|hz| sources.separated.discrete_multiples(hz) >= LEAST_TEETH)
    })
}

/// The orders that are searched for in each spectrum.
struct Search {
    orders: PerPart<f64>,
    tolerance: f64,
    highest: f64,
    unrelated: Vec<f64>,
}

impl Search {
    fn new(orders: &PerPart<f64>, most: f64, tolerance: f64) -> Self {
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
        Self { orders: *orders, tolerance, highest, unrelated }
    }

    /// Excess and place of each part's order in one spectrum.
    fn found_in(&self, spectrum: &LogSpectrum, shaft_hz: f64) -> PerPart<Found> {
        let curve = CombCurve::new(spectrum, shaft_hz, 1.03 * self.highest);
        let level = |order: &f64| curve.largest(*order, UNRELATED_TOLERANCE).0;
        let chance: Vec<f64> = self.unrelated.iter().map(level).collect();
        let usual = median(&chance).unwrap_or(0.0);
        PerPart::from_fn(|part| {
            let (level, order) = curve.largest(self.orders[part], self.tolerance);
            Found { excess: (level - usual) / UNIT_DB, order }
        })
    }
}

/// One part in one spectrum.
#[derive(Debug, Clone, Copy)]
struct Found {
    excess: f64,
    order: f64,
}

/// All spectra read at one speed.
struct AtSpeed {
    shaft_hz: f64,
    found: Vec<PerPart<Found>>,
    pooled: LogSpectrum,
    pooled_order: PerPart<f64>,
}

impl AtSpeed {
    fn new(spectra: &[LogSpectrum], shaft_hz: f64, turns: f64, search: &Search) -> Self {
        let found = spectra.iter().map(|s| search.found_in(s, shaft_hz)).collect();
        let pooled = LogSpectrum::pooled(spectra, shaft_hz, turns, CAP_DB);
        let at = search.found_in(&pooled, shaft_hz);
        let pooled_order = PerPart::from_fn(|part| at[part].order);
        Self { shaft_hz, found, pooled, pooled_order }
    }

    fn mean_excess(&self, part: Part, is_wanted: impl Fn(usize) -> bool) -> f64 {
        let excess = |i: usize| self.found[i][part].excess;
        mean((0..self.found.len()).filter(|i| is_wanted(*i)).map(excess))
    }

    /// Indices of the spectra, those that show the part best first.
    fn ranked(&self, part: Part) -> Vec<usize> {
        let mut rank: Vec<usize> = (0..self.found.len()).collect();
        let excess = |i: usize| self.found[i][part].excess;
        rank.sort_by(|&a, &b| excess(b).total_cmp(&excess(a)));
        rank
    }
}

/// The speed at which a part's lines stand best.
fn best_speed(part: Part, at_speeds: &[AtSpeed]) -> Option<&AtSpeed> {
    let excess = |at: &AtSpeed| at.mean_excess(part, |_| true);
    at_speeds.iter().max_by(|a, b| excess(a).total_cmp(&excess(b)))
}

fn figures_of(
    part: Part,
    at_speeds: &[AtSpeed],
    spectra: &[LogSpectrum],
    request: &Request,
) -> Figures {
    let Some(at) = best_speed(part, at_speeds) else { return Figures::default() };
    let rank = at.ranked(part);
    let height = |i: &usize| height_db(&spectra[*i], at.shaft_hz, at.found[*i][part].order);
    let whole = |at: &AtSpeed| at.mean_excess(part, |i| spectra[i].is_whole);
    Figures {
        excess: at.mean_excess(part, |_| true),
        excess_whole: at_speeds.iter().map(whole).fold(f64::NEG_INFINITY, f64::max),
        height_db: mean(rank.iter().take(BEST_SPECTRA).map(height)),
        lead: 0.0,
        own_db: own_db(part, at, request),
        cause: None,
        order: at.pooled_order[part],
        shaft_hz: at.shaft_hz,
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

/// The first harmonic over the usual tooth of the strongest comb of which it may be a multiple, dB.
///
/// An outer-race line is as many times the cage's as there are elements, and the line of a rolling
/// element twice its spin: those two combs are the bearing's own.
fn own_db(part: Part, at: &AtSpeed, request: &Request) -> f64 {
    let tooth = |order: f64| tooth_level(&at.pooled, at.shaft_hz, order);
    let order = at.pooled_order[part];
    let elements = (request.orders.bpfo.get() + request.orders.bpfi.get()).round() as u32;
    let least = if part == Part::Ball { 3 } else { 2 };
    let slower = (least..=SLOWEST_COMB)
        .filter(|n| part != Part::OuterRace || *n != elements)
        .map(|n| {
            let teeth: Vec<f64> = (1..=2 * n.min(6))
                .filter(|m| m % n != 0)
                .map(|m| tooth(order * f64::from(m) / f64::from(n)))
                .collect();
            median(&teeth).unwrap_or(0.0)
        })
        .fold(0.0, f64::max);
    (tooth(order) - slower).min(MOST_OWN_DB)
}

fn lead(part: Part, found: &PerPart<Figures>) -> f64 {
    let own = &found[part];
    let is_sideband =
        |other: &Figures| ((other.order - own.order).abs() - 1.0).abs() <= SIDEBAND_REACH;
    let rival = found
        .iter()
        .filter(|(other, figures)| *other != part && !is_sideband(figures))
        .map(|(_, figures)| figures.excess)
        .reduce(f64::max);
    rival.map_or(LEAD_WITHOUT_RIVAL, |rival| (own.excess - rival).min(MOST_LEAD))
}

/// The finely resolved spectrum that shows a part best.
fn best_spectrum<'a>(
    part: Part,
    at_speeds: &[AtSpeed],
    spectra: &'a [LogSpectrum],
) -> Option<&'a LogSpectrum> {
    let rank = best_speed(part, at_speeds)?.ranked(part);
    rank.into_iter().map(|i| &spectra[i]).find(|spectrum| spectrum.is_fine)
}

/// A part's lines as they were found.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    order: f64,
    shaft_hz: f64,
    part: Part,
}

fn cause(
    source: &RecordLines,
    spectrum: &LogSpectrum,
    candidate: Candidate,
    (request, limit_hz): (&Request, f64),
    transforms: &mut Transforms,
) -> Option<ForeignCause> {
    let envelope = squared_envelope(source, spectrum.band, transforms);
    let fine = envelope_spectrum(&envelope, limit_hz, transforms);
    let known = KnownSpeed {
        shaft_hz: candidate.shaft_hz,
        tolerance: request.speed_tolerance,
        by_record: (candidate.shaft_hz - request.speed.shaft_hz()).abs() > 0.0,
        fine_hz: candidate.shaft_hz,
    };
    let elements = (request.orders.bpfo.get() + request.orders.bpfi.get()).round();
    Scene::new(&fine, known).cause(candidate.order, (candidate.part.fault(), elements))
}

/// The cage's comb in the whole band's finely resolved spectra.
fn cage_level(spectra: &[LogSpectrum], shaft_hz: f64, request: &Request) -> f64 {
    let whole = spectra.iter().filter(|s| s.is_whole && s.is_fine);
    mean(whole.map(|s| cage::standing_in(&s.levels, s.df_hz, shaft_hz, request).z))
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / f64::max(count, 1.0)
}
