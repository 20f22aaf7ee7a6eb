//! The scorer: it alone knows when a run failed.

use std::collections::BTreeMap;

use pdm_edge::condition::Judgement;
use pdm_shared::event::Rul;
use serde::Serialize;

/// What is known of a run beforehand, for the scorer alone.
#[derive(Debug, Clone)]
pub struct Life {
    /// Name of the run and measuring point.
    pub name: String,
    /// Name of the bearing that the measuring point belongs to.
    pub bearing: String,
    /// Hours from window to window.
    pub period_h: f64,
    /// Windows of the run.
    pub windows: usize,
    /// Windows after which the remaining life is asked for, as in a challenge.
    pub asked_at: Option<usize>,
    /// The bearing failed at the end; else only alarms count, as false ones.
    pub fails: bool,
    /// The window from which damage is in the signal, where it is known.
    pub damaged_from: Option<usize>,
}

/// The score of one remaining life asked for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RulScore {
    /// True hours left.
    pub left_h: f64,
    /// What was told; `null` for unknown.
    pub told_h: Option<f64>,
    /// Lower bound of what was told.
    pub low_h: Option<f64>,
    /// PHM 2012 score of it; 0 for unknown.
    pub score: f64,
    /// Score of "0.2 × age".
    pub naive: f64,
    /// Asked after damage had begun; real runs do not tell.
    pub damaged: bool,
}

/// How one run went.
#[derive(Debug, Clone, Serialize)]
pub struct RunOutcome {
    /// Name of the run and measuring point.
    pub name: String,
    /// Name of the bearing that the measuring point belongs to.
    pub bearing: String,
    /// Windows of the run.
    pub windows: usize,
    /// The bearing failed at the end.
    pub fails: bool,
    /// First and last window of each alarm.
    pub alarms: Vec<(usize, usize)>,
    /// Hours that the last alarm, if it stood at the end, came before it.
    pub lead_h: Option<f64>,
    /// The same as a share of the life.
    pub lead_share: Option<f64>,
    /// Alarms that began before there was damage.
    pub false_alarms: usize,
    /// Windows with a remaining life.
    pub told: usize,
    /// Of these, windows whose interval held the truth.
    pub covered: usize,
    /// The remaining life asked for.
    pub rul: Option<RulScore>,
}

impl RunOutcome {
    /// Alarms that cleared before the end.
    pub fn cleared(&self) -> usize {
        self.alarms.iter().filter(|(_, last)| last + 1 < self.windows).count()
    }

    /// Something that should not have happened.
    pub fn failed(&self) -> bool {
        let missed = self.fails && self.lead_h.is_none();
        missed || self.cleared() > 0 || self.false_alarms > 0
    }
}

/// Scores the judgements of a run, one a window.
pub(super) fn score(life: &Life, judgements: impl Iterator<Item = Judgement>) -> RunOutcome {
    let mut alarms: Vec<(usize, usize)> = Vec::new();
    let (mut told, mut covered, mut rul) = (0, 0, None);
    for (window, judgement) in judgements.enumerate() {
        if judgement.anomaly_detected {
            match alarms.last_mut() {
                Some((_, last)) if *last + 1 == window => *last = window,
                _ => alarms.push((window, window)),
            }
        }
        let left_h = (life.windows - 1).saturating_sub(window) as f64 * life.period_h;
        let bounds = judgement.rul.ci_low_hours.zip(judgement.rul.ci_high_hours);
        if let Some((low, high)) = bounds.filter(|_| life.fails) {
            told += 1;
            covered += usize::from((low..=high).contains(&left_h));
        }
        if life.asked_at == Some(window + 1) {
            let age_h = (window + 1) as f64 * life.period_h;
            let damaged = life.damaged_from.is_none_or(|from| window >= from);
            rul = Some(rul_score(left_h, &judgement.rul, age_h, damaged));
        }
    }
    let standing = alarms.last().filter(|(_, last)| last + 1 == life.windows && life.fails);
    let lead = standing.map(|(first, _)| life.windows - 1 - first);
    let early = |first: usize| !life.fails || life.damaged_from.is_some_and(|from| first < from);
    RunOutcome {
        name: life.name.clone(),
        bearing: life.bearing.clone(),
        windows: life.windows,
        fails: life.fails,
        lead_h: lead.map(|windows| windows as f64 * life.period_h),
        lead_share: lead.map(|windows| windows as f64 / life.windows as f64),
        false_alarms: alarms.iter().filter(|(first, _)| early(*first)).count(),
        alarms,
        told,
        covered,
        rul,
    }
}

/// The remaining life asked for of each bearing, which is the unit of the challenge.
///
/// A bearing has failed when its first part has, so of the points that tell, the one with the
/// earliest lower bound speaks for it: a planner must act by that, whatever the others say. A point
/// that tells nothing takes nothing from one that does.
pub(super) fn by_bearing(outcomes: &[RunOutcome]) -> BTreeMap<&str, RulScore> {
    let bound = |rul: &RulScore| rul.low_h.unwrap_or(f64::INFINITY);
    let mut bearings: BTreeMap<&str, RulScore> = BTreeMap::new();
    for outcome in outcomes {
        let Some(rul) = outcome.rul else { continue };
        let kept = bearings.entry(outcome.bearing.as_str()).or_insert(rul);
        if bound(&rul) < bound(kept) {
            *kept = rul;
        }
    }
    bearings
}

fn rul_score(left_h: f64, told: &Rul, age_h: f64, damaged: bool) -> RulScore {
    let told_h = told.hours;
    RulScore {
        left_h,
        told_h,
        low_h: told.ci_low_hours.filter(|_| told_h.is_some()),
        score: told_h.map_or(0.0, |told| phm_2012(left_h, told)),
        naive: phm_2012(left_h, 0.2 * age_h),
        damaged,
    }
}

/// Score of one remaining life, 0…1, late worse than early.
///
/// **Source** IEEE PHM 2012 Prognostic Challenge, outline, section 4: `Er = 100·(true − told)/true`,
/// `exp(−ln(0.5)·Er/5)` where `Er ≤ 0` (late), `exp(ln(0.5)·Er/20)` where `Er > 0` (early).
pub fn phm_2012(left: f64, told: f64) -> f64 {
    if left <= 0.0 {
        return f64::from(u8::from(told <= 0.0));
    }
    let error = 100.0 * (left - told) / left;
    if error <= 0.0 { 0.5_f64.powf(-error / 5.0) } else { 0.5_f64.powf(error / 20.0) }
}
