//! Finds the speeds at which defect orders are tried: the stated one, another that the record
//! shows, or none.
//!
//! The comb of shaft lines on the acceleration spectrum decides, before any defect line is looked
//! for. Invariant: a comb that a part's own line makes is never taken for a shaft's.

use super::{CAP_DB, LEAST_COMB_DB, LEAST_LEAD_DB, TEETH, Teeth, comb, teeth, widened};
use crate::diagnose::levels::log_levels;
use crate::diagnose::{DEFAULT_SPEED_TOLERANCE, Request};
use crate::part::Part;
use crate::spectrum::Spectrum;

/// How far the stated speed is sharpened on the comb of shaft lines, as a ratio.
const SHARPENED: f64 = 0.003;
/// How much higher the comb of another speed must stand to be taken in place of the stated one, dB.
const OTHER_LEAD_DB: f64 = 3.0;
/// How far from the stated speed a comb is looked for that says that the speed does not fit, as a
/// ratio: the slip of small motors, belts and a wrong entry of a table are within it.
const MISFIT_REACH: f64 = 0.15;
/// How much higher than the comb of the stated speed, where that stands, one beyond the tolerance
/// must stand to say that the stated speed does not fit, dB (chosen: twice the lead within the
/// tolerance).
const MISFIT_LEAD_DB: f64 = 6.0;
/// Level from which such a comb says so to a person, dB. Of 334 sound channels of the folders at
/// hand three reach 11.3, 12.4 and 15.4 dB at their true speed (two snapshots of a second of
/// NASA/IMS, HIT-SM's self-built rig); with the speed stated 10 % high or low nine of ten combs of
/// 508 that do not fit have 16 and more.
const PLAIN_MISFIT_DB: f64 = 17.0;
/// A comb is a shaft's if the teeth at multiples of a part's line stand no more than this above the
/// others, dB, and the others at least at the second figure. A third of an outer race's line, which
/// poses as a shaft in Paderborn's KA04 and KA16, has 17 and more; the shaft of the pump that turns
/// 3 % off its stated speed 9 and less at the third, and others of 15 dB and more.
const POSED_LEAD_DB: f64 = 16.0;
const PLAIN_DB: f64 = 8.0;

/// How the stated speed fits what the record shows.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum SpeedFit {
    /// The record shows neither the stated speed nor another.
    #[default]
    Open,
    /// A comb of shaft lines stands at the stated speed, or a tachometer gave it.
    Confirmed,
    /// It stands at another speed within the tolerance, and the stated one is not used.
    Other,
    /// It stands at this frequency, Hz, beyond the tolerance: defect orders cannot be placed.
    Misfit(f64),
    /// A comb stands at this frequency, Hz, beyond the tolerance, but sound records of a short
    /// snapshot show such a comb by chance: nothing is named, and that the speed does not fit is
    /// said only where it holds a name back.
    MayMisfit(f64),
}

/// The speeds at which defect orders are tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Tried {
    /// Shaft frequencies, Hz: one, or two where the request declares the speed uncertain.
    pub hz: Vec<f64>,
    /// The first of them where its comb of shaft lines stands, Hz.
    pub confirmed_hz: Option<f64>,
    /// How the stated speed fits.
    pub fit: SpeedFit,
    /// A comb within the tolerance that a part's line makes in place of a shaft, Hz, and the
    /// multiple at which that line is: at other multiples of it nothing is evidence.
    pub posed: Option<(f64, u32)>,
}

impl Tried {
    /// One speed that nothing confirms.
    fn open(shaft_hz: f64) -> Self {
        Self { hz: vec![shaft_hz], confirmed_hz: None, fit: SpeedFit::Open, posed: None }
    }

    /// Another speed than the stated one, which the record shows.
    pub(in crate::diagnose) fn other(shaft_hz: f64) -> Self {
        Self { confirmed_hz: Some(shaft_hz), fit: SpeedFit::Other, ..Self::open(shaft_hz) }
    }
}

/// The speeds at which defect orders are tried.
///
/// The stated one is sharpened within 0.3 % where its comb stands. Another within the tolerance
/// takes its place where a comb stands 3 dB higher there: the comb of a fault, which can pose as a
/// shaft's, does not. Where the highest comb is a shaft's and stands beyond the tolerance, the
/// stated speed does not fit. Where the request declares the speed uncertain, by a tolerance beyond
/// the usual one, the stated speed and the other are both tried.
pub fn tried(acceleration: &Spectrum, request: &Request) -> Tried {
    let (shaft_hz, df) = (request.speed.shaft_hz(), acceleration.df_hz);
    if df <= 0.0 {
        return Tried::open(shaft_hz);
    }
    if request.speed_tolerance <= 0.0 {
        return Tried { fit: SpeedFit::Confirmed, ..Tried::open(shaft_hz) };
    }
    let seen = ShaftCombs::new(acceleration, request);
    let confirmed_hz = seen.confirmed_hz();
    let first = Tried { confirmed_hz, ..Tried::open(confirmed_hz.unwrap_or(shaft_hz)) };
    let fit = if confirmed_hz.is_some() { SpeedFit::Confirmed } else { SpeedFit::Open };
    let inside = seen.other(seen.tolerance_hz);
    if request.speed_tolerance > DEFAULT_SPEED_TOLERANCE {
        let hz = first.hz.iter().copied().chain(inside.map(|(hz, _)| hz)).collect();
        return Tried { hz, fit, ..first };
    }
    if let Some(misfit) = seen.misfit() {
        return Tried { fit: misfit, ..first };
    }
    let Some((hz, _)) = inside else { return Tried { fit, ..first } };
    match seen.posed(hz) {
        None => Tried::other(hz),
        Some(multiple) => Tried { fit, posed: Some((hz, multiple)), ..first },
    }
}

/// The combs of shaft lines around the stated speed.
struct ShaftCombs<'a> {
    request: &'a Request,
    tolerance_hz: f64,
    df_hz: f64,
    levels: Vec<f64>,
    /// Shaft frequency, Hz, and level of its comb, dB.
    curve: Vec<(f64, f64)>,
    /// Level from which a comb stands, dB.
    clear_db: f64,
    /// The comb at the stated speed.
    stated: (f64, f64),
    /// How near to the stated speed a comb is the stated speed's, Hz.
    near_hz: f64,
}

impl<'a> ShaftCombs<'a> {
    fn new(acceleration: &Spectrum, request: &'a Request) -> Self {
        let (shaft_hz, df_hz) = (request.speed.shaft_hz(), acceleration.df_hz);
        let limit_hz = (TEETH.len() as f64 + 2.0) * (1.0 + MISFIT_REACH) * shaft_hz;
        let levels = widened(&log_levels(&acceleration.up_to(limit_hz), shaft_hz), CAP_DB);
        let tolerance_hz = request.speed_tolerance * shaft_hz;
        let (step, reach) = (df_hz / 9.0, tolerance_hz.max(MISFIT_REACH * shaft_hz));
        let curve: Vec<(f64, f64)> = (0..=(2.0 * reach / step) as usize)
            .map(|i| shaft_hz - reach + step * i as f64)
            .map(|hz| (hz, comb(&levels, hz / df_hz)))
            .collect();
        let is_within = |point: &&(f64, f64)| (point.0 - shaft_hz).abs() <= tolerance_hz;
        let values: Vec<f64> = curve.iter().filter(is_within).map(|point| point.1).collect();
        let usual = crate::robust::median(&values).unwrap_or(0.0);
        let clear_db = LEAST_COMB_DB.max(usual + LEAST_LEAD_DB);
        let near_hz = SHARPENED * shaft_hz + df_hz / 6.0;
        let stated = top_within(&curve, shaft_hz, near_hz, df_hz).unwrap_or((shaft_hz, 0.0));
        Self { request, tolerance_hz, df_hz, levels, curve, clear_db, stated, near_hz }
    }

    fn confirmed_hz(&self) -> Option<f64> {
        (self.stated.1 >= self.clear_db).then_some(self.stated.0)
    }

    /// The highest comb within `reach_hz` of the stated speed, if it is another's and stands
    /// higher.
    fn other(&self, reach_hz: f64) -> Option<(f64, f64)> {
        let stated_hz = self.request.speed.shaft_hz();
        let top = top_within(&self.curve, stated_hz, reach_hz, self.df_hz)?;
        let least = self.clear_db.max(self.stated.1 + OTHER_LEAD_DB);
        (top.1 >= least && (top.0 - stated_hz).abs() > self.near_hz).then_some(top)
    }

    /// The multiple at which a part's line makes the comb at this frequency, if one does.
    fn posed(&self, hz: f64) -> Option<u32> {
        posed_as(&teeth(&self.levels, hz / self.df_hz), self.request)
    }

    /// Returns how the speed in the record departs from the stated one, where it does not fit.
    fn misfit(&self) -> Option<SpeedFit> {
        let (hz, level) = self.other(f64::INFINITY)?;
        let is_beyond = (hz - self.request.speed.shaft_hz()).abs() > self.tolerance_hz;
        let is_open = self.stated.1 < self.clear_db || level >= self.stated.1 + MISFIT_LEAD_DB;
        let is_other = is_beyond && is_open && self.posed(hz).is_none();
        let is_plain = level >= PLAIN_MISFIT_DB;
        is_other.then_some(if is_plain { SpeedFit::Misfit(hz) } else { SpeedFit::MayMisfit(hz) })
    }
}

/// The multiple at which a part's line makes a comb with these teeth, if one does.
pub(super) fn posed_as(teeth: &Teeth, request: &Request) -> Option<u32> {
    let beside = |part| beside_multiples(teeth, part, request);
    Part::ALL
        .into_iter()
        .filter_map(beside)
        .find(|beside| beside.lead_db >= POSED_LEAD_DB || beside.others_db < PLAIN_DB)
        .map(|beside| beside.multiple)
}

/// Whether the teeth at a part's multiples stand so far above the others that the part made them.
pub(super) fn leads_as_part(teeth: &Teeth, request: &Request) -> bool {
    let mut leads = Part::ALL.into_iter().filter_map(|part| beside_multiples(teeth, part, request));
    leads.any(|beside| beside.lead_db >= POSED_LEAD_DB)
}

/// A comb's teeth by a part whose order is about a whole number.
struct Beside {
    /// The whole number.
    multiple: u32,
    /// How far the teeth at its multiples stand above the others, dB.
    lead_db: f64,
    /// Mean level of the others, dB.
    others_db: f64,
}

/// A comb's teeth at the multiples of a part's line beside the others, if the part's order is about
/// a whole number of teeth.
fn beside_multiples(teeth: &Teeth, part: Part, request: &Request) -> Option<Beside> {
    let order = request.orders.of(part.fault()).get();
    let whole = order.round();
    let reach = request.speed_tolerance + request.order_tolerance;
    let is_tooth = (2.0..=TEETH.len() as f64).contains(&whole);
    if !is_tooth || (order / whole - 1.0).abs() > reach {
        return None;
    }
    let is_own = |(k, _): &(u32, &f64)| f64::from(*k) % whole < 0.5;
    let (own, others): (Vec<_>, Vec<_>) = (1..).zip(teeth).partition(is_own);
    let mean =
        |of: &[(u32, &f64)]| of.iter().map(|(_, level)| *level).sum::<f64>() / of.len() as f64;
    let others_db = mean(&others);
    Some(Beside { multiple: whole as u32, lead_db: mean(&own) - others_db, others_db })
}

/// Middle and value of the top of a curve within `reach` of a frequency.
fn top_within(curve: &[(f64, f64)], hz: f64, reach: f64, df: f64) -> Option<(f64, f64)> {
    let inside = curve.iter().filter(|point| (point.0 - hz).abs() <= reach);
    let top = inside.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let is_top = |point: &&(f64, f64)| point.1 >= top.1 - 0.3 && (point.0 - top.0).abs() < df / 3.0;
    let held: Vec<f64> = curve.iter().filter(is_top).map(|point| point.0).collect();
    Some((held.iter().sum::<f64>() / held.len() as f64, top.1))
}
