//! The scorer, the only code that knows the time of failure.

use std::collections::BTreeMap;

use pdm_edge::condition::Judgement;
use pdm_shared::event::Rul;
use serde::Serialize;

/// The known facts of a run, for the scorer alone.
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
    /// Number of windows after which the remaining life is requested, as in a challenge.
    pub asked_at: Option<usize>,
    /// Whether the bearing failed at the end; if not, only alarms count, as false ones.
    pub fails: bool,
    /// The first window with damage in the signal, if it is known.
    pub damaged_from: Option<usize>,
}

/// The score of one requested remaining life.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RulScore {
    /// True hours left.
    pub left_h: f64,
    /// The stated hours; `null` for unknown.
    pub told_h: Option<f64>,
    /// Lower bound of the stated interval.
    pub low_h: Option<f64>,
    /// PHM 2012 score of the stated hours; 0 for unknown.
    pub score: f64,
    /// PHM 2012 score of "0.2 × age".
    pub naive: f64,
    /// Whether damage had begun at the request; unknown for real runs.
    pub damaged: bool,
}

/// A told remaining life and the true one, hours.
#[expect(clippy::struct_field_names, reason = "units are told in every name")]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ToldLife {
    /// The remaining life.
    pub left_h: f64,
    /// How old the bearing was.
    pub age_h: f64,
    /// Lower bound, told value and upper bound.
    pub told_h: [f64; 3],
}

/// The results of one run.
#[derive(Debug, Clone, Serialize)]
pub struct RunOutcome {
    /// Name of the run and measuring point.
    pub name: String,
    /// Name of the bearing that the measuring point belongs to.
    pub bearing: String,
    /// Windows of the run.
    pub windows: usize,
    /// Whether the bearing failed at the end.
    pub fails: bool,
    /// First and last window of each alarm.
    pub alarms: Vec<(usize, usize)>,
    /// Hours between the last alarm and the end, if that alarm persisted until the end.
    pub lead_h: Option<f64>,
    /// `lead_h` as a share of the life.
    pub lead_share: Option<f64>,
    /// Number of alarms that began before there was damage.
    pub false_alarms: usize,
    /// Number of windows with a remaining life.
    pub told: usize,
    /// Number of these windows whose interval held the truth.
    pub covered: usize,
    /// How far the truth lay from the middle of each told interval, in half widths of it; both in
    /// the logarithm.
    #[serde(skip)]
    pub strays: Vec<f64>,
    /// Each told remaining life with the true one.
    #[serde(skip)]
    pub lives: Vec<ToldLife>,
    /// The score of the requested remaining life.
    pub rul: Option<RulScore>,
}

impl RunOutcome {
    /// Number of alarms that cleared before the end.
    pub fn cleared(&self) -> usize {
        self.alarms.iter().filter(|(_, last)| last + 1 < self.windows).count()
    }

    /// Whether the run counts as a failure of the edge.
    pub fn failed(&self) -> bool {
        let missed = self.fails && self.lead_h.is_none();
        missed || self.cleared() > 0 || self.false_alarms > 0
    }
}

/// Scores the judgements of a run, one for each window.
pub(super) fn score(life: &Life, judgements: impl Iterator<Item = Judgement>) -> RunOutcome {
    let mut alarms: Vec<(usize, usize)> = Vec::new();
    let (mut told, mut covered, mut rul) = (0, 0, None);
    let (mut strays, mut lives) = (Vec::new(), Vec::new());
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
            strays.push(stray(left_h.max(0.5 * life.period_h), low, high));
            let age_h = (window + 1) as f64 * life.period_h;
            let told_h = [low, judgement.rul.hours.unwrap_or(low), high];
            lives.push(ToldLife { left_h, age_h, told_h });
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
        strays,
        lives,
        rul,
    }
}

/// Distance of the truth from the middle of an interval in half widths, in the logarithm.
pub(crate) fn stray(left: f64, low: f64, high: f64) -> f64 {
    let (low, high) = (low.max(f64::MIN_POSITIVE).ln(), high.max(f64::MIN_POSITIVE).ln());
    let half = (0.5 * (high - low)).max(f64::EPSILON);
    (left.ln() - f64::midpoint(low, high)).abs() / half
}

/// The score of each bearing's requested remaining life; the challenge counts bearings.
///
/// A bearing has failed when its first part has failed. So of the points with a stated life the one
/// with the earliest lower bound counts for the bearing: a planner must act by it. A point without
/// a stated life has no influence on the others.
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

/// Score of one remaining life, 0…1; a late forecast scores lower than an early one.
///
/// **Source** IEEE PHM 2012 Prognostic Challenge, outline, section 4: `Er = 100·(true −
/// told)/true`, `exp(−ln(0.5)·Er/5)` where `Er ≤ 0` (late), `exp(ln(0.5)·Er/20)` where `Er > 0`
/// (early).
pub fn phm_2012(left: f64, told: f64) -> f64 {
    if left <= 0.0 {
        return f64::from(u8::from(told <= 0.0));
    }
    let error = 100.0 * (left - told) / left;
    if error <= 0.0 { 0.5_f64.powf(-error / 5.0) } else { 0.5_f64.powf(error / 20.0) }
}
