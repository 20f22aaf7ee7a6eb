//! Fifth thought: the risk, from stage, trend, remaining life and zone, with its hysteresis.
//!
//! Rules: RISK-0 a window that cannot be judged keeps the risk; RISK-1 the matrix of stage and
//! trend; RISK-2 a flagged anomaly is Watch at least; RISK-3 an anomaly in zone D is Warning at
//! least; RISK-4 a lower bound within the configured lead times is Warning at least; RISK-5 a life
//! shorter than the lead time is Critical; RISK-6 a critical asset is one level higher; RISK-7 a
//! level falls only after enough better judgements in a row; RISK-8 the bearing stands as its worst
//! measuring point; RISK-9 a late event never lowers; RISK-10 what the flag of a ready baseline
//! does not carry is Watch at most by the matrix: signs come first, the level follows; RISK-11 a
//! level far above its baseline is Warning at least, and Critical where the RMS itself stands there
//! or the life is short by a forecast that can be trusted; RISK-12 an element that is not
//! named is no worse than its level, unless velocity or drowned lines say more; RISK-13 a language
//! model in the loop may ask for more, never for less; RISK-14 an element that was damaged while
//! the baseline was learnt is not quiet because that baseline raises no flag, and stands as long as
//! it is named; RISK-15 a level below the ratio that asks for Warning, outside the bad zones and
//! before the lines drown, stops no machine (Randall: a change below 6 dB is not significant), and
//! above it only a level at which bearings end, or a short life that can be trusted, does;
//! RISK-16 spikes that are too short for an impact are of the cable, and ask for Watch; RISK-17 one
//! recording with heavy impacts and a velocity in a bad zone is Warning; RISK-18 a level that has
//! been as usual for days, without lines or impacts, stands no higher than Watch; RISK-19 a certain
//! name in a window whose level has leapt is Warning before a flag can rise.
//!
//! A machine is stopped by zone D, by drowned lines, by a level at which bearings end, or by a life
//! that is shorter than the lead time by its median, with growth that is significant and an
//! interval that is narrow enough. A lower bound by itself asks for Warning and
//! for dates. Missing data caps certainty, never risk.

use pdm_shared::diagnosis::Evidence;
use pdm_shared::event::BaselineState;
use pdm_shared::risk::RiskLevel;

use crate::case::{Case, PointState, UsualAgain};
use crate::degradation::TrendClass;
use crate::rul::{Remaining, Urgency};
use crate::rules::Rules;
use crate::screening::{Finding, Screening, is_severe};
use crate::unsettled::OpenReason;
use crate::wording::fact;

/// Path of the risk that a language model sees.
pub(crate) const ASKED_BY_MODEL: &str = "second_opinion.risk_level";
/// The rule by which that risk counts.
const RAISED_BY_MODEL: &str = "RISK-13";

/// The rule by which a ready baseline without a flag holds the risk down.
const QUIET: &str = "RISK-10";

/// The risk that one event asks for, before memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// The level.
    pub risk: RiskLevel,
    /// The rules behind it.
    pub evidence: Vec<Evidence>,
}

/// The risk that the event by itself asks for.
pub fn propose(
    case: &Case<'_>,
    screening: &Screening,
    stage: u8,
    class: TrendClass,
    remaining: &Remaining,
    rules: &Rules,
) -> Proposal {
    if !screening.is_anomaly() {
        return Proposal { risk: RiskLevel::Normal, evidence: Vec::new() };
    }
    let mut proposal = by_matrix(case, screening, stage, class, rules);
    let anomaly = case.event.anomaly_detected;
    proposal.at_least(RiskLevel::Watch, || fact("anomaly_detected", anomaly, "RISK-2"));
    let in_damage_zone = case.zone().is_some_and(|zone| zone >= rules.stage.damage_zone);
    // one recording of a named element in that zone is no stop yet, and no case for waiting
    let is_named_once = screening.finding == Finding::Single && screening.fault.is_some();
    if in_damage_zone && (anomaly || is_named_once) {
        proposal.at_least(RiskLevel::Warning, || case.zone_fact("RISK-3"));
    }
    if screening.is_of_machine && is_severe(case, rules) {
        proposal.at_least(RiskLevel::Warning, || case.zone_fact("RISK-17"));
    }
    let lead_h = rules.lead_time.total_h();
    let stood = screening.fault.is_some() || remaining.short_life >= rules.screening.confirm_after;
    match remaining.urgency {
        Urgency::Act if stood => {
            proposal.at_least(RiskLevel::Critical, || fact("config.lead_time_h", lead_h, "RISK-5"));
        }
        Urgency::Act | Urgency::Plan => {
            proposal.at_least(RiskLevel::Warning, || fact("config.lead_time_h", lead_h, "RISK-4"));
        }
        Urgency::None => {}
    }
    let ahead = (stage, remaining.urgency);
    proposal.weigh_level(case, screening, ahead, rules);
    proposal.hold_without_ground(case, screening, ahead, rules);
    if rules.risk.critical_asset {
        let raised = proposal.risk.raised();
        proposal.at_least(raised, || fact("config.risk.critical_asset", true, "RISK-6"));
    }
    proposal
}

/// The matrix of stage and trend, held down while a ready baseline is quiet.
fn by_matrix(
    case: &Case<'_>,
    screening: &Screening,
    stage: u8,
    class: TrendClass,
    rules: &Rules,
) -> Proposal {
    let (row, name) = match class {
        TrendClass::Stable => (&rules.risk.stable, "stable"),
        TrendClass::Rising => (&rules.risk.rising, "rising"),
        TrendClass::Accelerating => (&rules.risk.accelerating, "accelerating"),
    };
    let matrix = row[usize::from(stage.min(4))];
    let mut proposal = Proposal {
        risk: matrix,
        evidence: vec![fact(format!("config.risk.{name}[{stage}]"), matrix, "RISK-1")],
    };
    let anomaly = case.event.anomaly_detected;
    // while the baseline is learnt no flag can rise: that is missing data, not a quiet baseline
    let quiet = !anomaly && case.event.anomaly.baseline.state == BaselineState::Ready;
    if let (true, Some(fault)) = (quiet, screening.damaged_from_the_start(case)) {
        let path = format!("memory.points.{}.damaged_when_learnt", case.point());
        proposal.evidence.push(fact(path, fault, "RISK-14"));
    } else if quiet && screening.has_leapt {
        proposal.risk = RiskLevel::Warning;
        proposal.evidence.push(fact("time_domain.rms_g", case.event.time_domain.rms_g, "RISK-19"));
    } else if quiet && matrix > RiskLevel::Watch {
        proposal.risk = RiskLevel::Watch;
        proposal.evidence.push(fact("anomaly_detected", anomaly, QUIET));
    }
    proposal
}

impl Proposal {
    /// Holds the risk to how far the level stands above its baseline, where that is told.
    fn weigh_level(
        &mut self,
        case: &Case<'_>,
        screening: &Screening,
        (stage, urgency): (u8, Urgency),
        rules: &Rules,
    ) {
        if case.is_usual_again(rules) {
            // the ratio is a median of windows before this one
            return;
        }
        let anomaly = &case.event.anomaly;
        let Some(ratio) = anomaly.level_ratio.filter(|_| case.event.anomaly_detected) else {
            return;
        };
        let critical = rules.risk.critical_level_ratio;
        let stops = has_risen(case, rules) || urgency == Urgency::Act;
        let asked = if ratio >= critical && stops {
            RiskLevel::Critical
        } else if ratio >= rules.risk.warning_level_ratio {
            RiskLevel::Warning
        } else {
            RiskLevel::Watch
        };
        self.at_least(asked, || fact("anomaly.level_ratio", ratio, "RISK-11"));
        let in_damage_zone = case.zone().is_some_and(|zone| zone >= rules.stage.damage_zone);
        let speaks_for_itself = screening.fault.is_some() || in_damage_zone || stage >= 4;
        if self.risk > asked && !speaks_for_itself {
            self.risk = asked;
            self.evidence.push(fact("anomaly.level_ratio", ratio, "RISK-12"));
        }
    }

    /// Stops no machine while its level is about the usual one, or below that at which bearings
    /// end with a life that no forecast bounds: lines and growth alone ask for a plan. Spikes of a
    /// bad cable ask for a check of the sensor.
    fn hold_without_ground(
        &mut self,
        case: &Case<'_>,
        screening: &Screening,
        (stage, urgency): (u8, Urgency),
        rules: &Rules,
    ) {
        if screening.fault.is_none() && case.has_spikes_of_cable() && self.risk > RiskLevel::Watch {
            self.risk = RiskLevel::Watch;
            self.evidence.push(fact(
                "time_domain.kurtosis",
                case.event.time_domain.kurtosis,
                "RISK-16",
            ));
        }
        let Some(ratio) = case.event.anomaly.level_ratio else { return };
        let zone = case.zone();
        let critical = rules.risk.critical_level_ratio;
        let is_ground = ratio >= critical && has_risen(case, rules)
            || ratio >= rules.risk.warning_level_ratio && urgency == Urgency::Act
            || stage >= 4
            || zone.is_some_and(|zone| zone >= rules.stage.damage_zone)
            || screening.fault.is_some()
                && zone.is_some_and(|zone| zone >= rules.stage.limited_zone);
        if self.risk > RiskLevel::Warning && !is_ground {
            self.risk = RiskLevel::Warning;
            self.evidence.push(fact("anomaly.level_ratio", ratio, "RISK-15"));
        }
    }

    /// Asks for the risk that a language model sees, if it is higher.
    pub(crate) fn raise(&mut self, asked: RiskLevel) {
        self.at_least(asked, || fact(ASKED_BY_MODEL, asked, RAISED_BY_MODEL));
    }

    /// Whether a language model asked for more than the rules.
    pub(crate) fn is_raised(&self) -> bool {
        self.evidence.iter().any(|fact| fact.rule.as_deref() == Some(RAISED_BY_MODEL))
    }

    /// Whether a quiet baseline holds the matrix' level down.
    pub(crate) fn is_held_to_watch(&self) -> bool {
        self.risk == RiskLevel::Watch
            && self.evidence.iter().any(|fact| fact.rule.as_deref() == Some(QUIET))
    }

    fn at_least(&mut self, level: RiskLevel, because: impl FnOnce() -> Evidence) {
        if level > self.risk {
            self.risk = level;
            self.evidence.push(because());
        }
    }
}

/// Whether the RMS of this window itself stands at the level at which bearings end, against the
/// last normal one, where both are known. The ratio that the edge tells is that of its highest
/// level, which is the envelope in an early damage; the level at which bearings end was read from
/// the RMS. What stands at Critical stays there while the RMS is up at all: single windows waver.
fn has_risen(case: &Case<'_>, rules: &Rules) -> bool {
    let stands = case.before().is_some_and(|before| before.risk == RiskLevel::Critical);
    let ratios = &rules.risk;
    let times = if stands { ratios.warning_level_ratio } else { ratios.critical_level_ratio };
    let normal = case.before().and_then(|before| before.normal_rms_g);
    let levels = normal.zip(case.event.time_domain.rms_g);
    levels.is_none_or(|(normal, now)| now >= times * normal)
}

/// The state of the measuring point after this event.
pub fn latch(
    case: &Case<'_>,
    screening: &Screening,
    own_stage: u8,
    proposed: RiskLevel,
    rules: &Rules,
) -> PointState {
    let mut state = case.before().cloned().unwrap_or_default();
    if case.is_late() {
        state.risk = state.risk.max(proposed);
        state.stage = state.stage.max(own_stage);
        return state;
    }
    state.measured_at = case.event.measured_at;
    if screening.finding == Finding::CannotJudge {
        return state;
    }
    state.unflagged = screening.unflagged;
    if screening.unflagged == 0 {
        state.unflagged_rms_g = None;
    } else if case.before().is_none_or(|before| before.unflagged < screening.unflagged) {
        state.unflagged_rms_g = case.event.time_domain.rms_g;
    }
    if screening.fault.is_some() && screening.is_anomaly() {
        state.fault = screening.fault;
    }
    let comparable = case.event.anomaly.baseline.state == BaselineState::Ready
        && screening.damaged_from_the_start(case).is_none();
    count_calm(&mut state, proposed, own_stage, comparable);
    if proposed >= state.risk {
        state.risk = proposed;
    } else if comparable {
        state.risk = state.risk.min(calm_risk(&state, rules));
    }
    if own_stage >= state.stage {
        state.stage = own_stage;
    } else if comparable {
        state.stage = state.stage.min(calm_stage(&state, rules));
    }
    fall_to_usual(case, rules, own_stage, &mut state);
    remember_start(case, screening, rules, &mut state);
    remember_extremes(case, screening, &mut state);
    state
}

/// Windows in a row, and the hours over which they must have come, that are as usual before a risk
/// falls to Watch. Chosen: the six windows of the edge's shortest rule, and three days; a damage
/// whose level falls back keeps its lines (IMS test 2 stays named through its false recovery).
const USUAL: (u32, f64) = (6, 72.0);

/// Lets a risk fall to Watch once the windows have been as usual for days: a bearing that was
/// replaced or greased without a word is not stopped for weeks.
fn fall_to_usual(case: &Case<'_>, rules: &Rules, own_stage: u8, state: &mut PointState) {
    if state.risk <= RiskLevel::Watch || !case.is_usual_again(rules) {
        state.usual = None;
        return;
    }
    let at = case.event.measured_at;
    let mut usual = state.usual.unwrap_or(UsualAgain { since: at, windows: 0 });
    usual.windows = usual.windows.saturating_add(1);
    state.usual = Some(usual);
    let hours = at.seconds_since(usual.since) / 3600.0;
    if usual.windows >= USUAL.0 && hours >= USUAL.1 {
        (state.risk, state.stage, state.usual) = (RiskLevel::Watch, own_stage, None);
    }
}

/// Remembers the element that is damaged while the baseline is learnt.
fn remember_start(case: &Case<'_>, screening: &Screening, rules: &Rules, state: &mut PointState) {
    let is_learning = case.event.anomaly.baseline.state == BaselineState::Learning;
    let is_certain = case.event.frequency_domain.confidence >= rules.screening.sure_confidence;
    if state.risk == RiskLevel::Normal {
        state.damaged_when_learnt = None;
    } else if is_learning && is_certain && screening.is_anomaly() && screening.fault.is_some() {
        state.damaged_when_learnt = screening.fault;
    }
}

/// Counts the judgements in a row that asked for no more than each level and stage. A baseline that
/// is still being learnt, or that was learnt with the damage, cannot say that things got better: it
/// adds nothing.
fn count_calm(state: &mut PointState, proposed: RiskLevel, own_stage: u8, comparable: bool) {
    let step = u32::from(comparable);
    for (count, level) in state.calm.iter_mut().zip(RiskLevel::ALL) {
        *count = if proposed <= level { count.saturating_add(step) } else { 0 };
    }
    for (count, stage) in state.calm_stages.iter_mut().zip(0_u8..) {
        *count = if own_stage <= stage { count.saturating_add(step) } else { 0 };
    }
}

/// The worst level that the last judgements asked for, as many as have to be better before a level
/// falls.
fn calm_risk(state: &PointState, rules: &Rules) -> RiskLevel {
    let mut levels = state.calm.iter().zip(RiskLevel::ALL);
    let calm = levels.find(|(count, _)| **count >= rules.risk.downgrade_after);
    calm.map_or(RiskLevel::Critical, |(_, level)| level)
}

/// Returns the worst stage that the last judgements asked for, as many as have to be better before
/// a stage falls.
fn calm_stage(state: &PointState, rules: &Rules) -> u8 {
    let mut stages = state.calm_stages.iter().zip(0_u8..);
    let calm = stages.find(|(count, _)| **count >= rules.risk.downgrade_after);
    calm.map_or(4, |(_, stage)| stage)
}

/// The ratio to its baseline up to which a level is remembered as the normal one: a level that
/// creeps up without a flag is no measure of what comes after it. Half of the least ratio that
/// counts at the edge (1.3), in decibels.
const MOST_NORMAL: f64 = 1.14;

fn remember_extremes(case: &Case<'_>, screening: &Screening, state: &mut PointState) {
    state.highest_rms_g = match state.risk {
        RiskLevel::Normal => None,
        RiskLevel::Watch | RiskLevel::Warning | RiskLevel::Critical => {
            state.highest_rms_g.into_iter().chain(case.event.time_domain.rms_g).reduce(f64::max)
        }
    };
    if state.risk == RiskLevel::Normal {
        state.highest_kurtosis = None;
        if state.stage == 0 {
            state.fault = None;
        }
        if matches!(screening.finding, Finding::Normal | Finding::Open)
            && screening.reason != Some(OpenReason::LevelMoved)
        {
            let event = case.event;
            state.normal_floor_g = event.frequency_domain.noise_floor_g.or(state.normal_floor_g);
            if event.anomaly.level_ratio.is_none_or(|ratio| ratio <= MOST_NORMAL) {
                state.normal_rms_g = event.time_domain.rms_g.or(state.normal_rms_g);
                let is_ready = event.anomaly.baseline.state == BaselineState::Ready;
                let highest = state.most_normal_rms_g.filter(|_| is_ready);
                state.most_normal_rms_g =
                    highest.into_iter().chain(event.time_domain.rms_g).reduce(f64::max);
                let envelope = event.time_domain.envelope_rms_g;
                state.normal_envelope_g = envelope.or(state.normal_envelope_g);
            }
        }
    } else if let Some(kurtosis) = case.event.time_domain.kurtosis
        && !case.has_spikes_of_cable()
    {
        let highest = state.highest_kurtosis.unwrap_or(kurtosis);
        state.highest_kurtosis = Some(highest.max(kurtosis));
    }
}
