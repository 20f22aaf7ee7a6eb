//! The five thoughts in their order, joined into one judgement.

use pdm_shared::diagnosis::{
    DIAGNOSIS_SCHEMA, Diagnosis, Evidence, Reasoner, Thought, ThoughtTitle, Uncertainty,
    UncertaintyLevel,
};
use pdm_shared::event::BaselineState;
use pdm_shared::fault::Fault;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;

use crate::advice::{LEAD_TIME, ShownState, recommend};
use crate::case::{BearingState, Case, Judgement, MAX_POINTS, PointState};
use crate::degradation::{Degrading, degrade};
use crate::pf_stage::{MachinePart, Staging, ToldStage, if_the_bearing, stage, tell_standing};
use crate::risk::{Proposal, latch, propose};
use crate::rul::{Remaining, Urgency, assess};
use crate::rules::Rules;
use crate::screening::{Finding, Screening, screen};
use crate::unsettled::OpenReason;
use crate::wording::{Doubt, fact, figure, joined};
use crate::{course, memory, repair};

/// Medium doubts from which the whole is highly uncertain. Chosen: three independent gaps.
const MANY_DOUBTS: usize = 3;

/// The head of a last thought that gives no verdict.
struct Head {
    ko: &'static str,
    en: &'static str,
}

const NOT_JUDGED: Head = Head { ko: "판정 보류:", en: "Not judged:" };

impl Head {
    fn text(&self) -> Text {
        Text::new(self.ko, self.en)
    }
}

/// Whether a judgement gives no verdict: its risk is Normal for want of grounds, and a headline
/// says so.
pub fn is_not_judged(diagnosis: &Diagnosis) -> bool {
    diagnosis.risk_level == RiskLevel::Normal
        && diagnosis.thoughts.iter().any(|thought| {
            thought.title == ThoughtTitle::OverallRisk
                && thought.conclusion.en.starts_with(NOT_JUDGED.en)
        })
}

/// The intermediate results of the five thoughts.
struct Thoughts {
    screening: Screening,
    staging: Staging,
    degrading: Degrading,
    remaining: Remaining,
    proposal: Proposal,
}

/// Judges one event.
pub fn judge(case: &Case<'_>, rules: &Rules) -> Judgement {
    judge_asked(case, rules, None)
}

/// Judges one event for which a language model asks for this risk (RISK-13): the judgement is no
/// lower, and never lower than [`judge`]'s. The bearing stands at the higher risk afterwards, with
/// the same hysteresis as any other.
pub fn judge_raised(case: &Case<'_>, rules: &Rules, asked: RiskLevel) -> Judgement {
    judge_asked(case, rules, Some(asked))
}

fn judge_asked(case: &Case<'_>, rules: &Rules, asked: Option<RiskLevel>) -> Judgement {
    let Some(closing) = repair::closing(case, rules) else { return judge_on(case, rules, asked) };
    let mut judgement = judge_on(&Case { memory: &closing.memory, ..*case }, rules, asked);
    repair::tell_repair(&mut judgement, &closing, case);
    judgement
}

/// Judges one event by the memory that the case has.
fn judge_on(case: &Case<'_>, rules: &Rules, asked: Option<RiskLevel>) -> Judgement {
    let mut thoughts = think(case, rules);
    if let Some(asked) = asked {
        thoughts.proposal.raise(asked);
    }
    let own_stage = thoughts.staging.stage;
    if case.is_ahead(rules) {
        return judge_ahead(case, rules, thoughts);
    }
    let mut point = latch(case, &thoughts.screening, own_stage, thoughts.proposal.risk, rules);
    let may_repropose = !case.is_late() && !case.is_usual_again(rules);
    if point.stage > own_stage && thoughts.screening.is_anomaly() && may_repropose {
        // the row of the matrix that is told is that of the stage that is told
        let (class, remaining) = (thoughts.degrading.class, &thoughts.remaining);
        thoughts.proposal =
            propose(case, &thoughts.screening, point.stage, class, remaining, rules);
        if let Some(asked) = asked {
            thoughts.proposal.raise(asked);
        }
        point.risk = point.risk.max(thoughts.proposal.risk);
    }
    // a window that cannot be judged latches nothing by itself
    point.risk = asked.map_or(point.risk, |asked| point.risk.max(asked));
    if !case.is_late() {
        point.short_life = thoughts.remaining.short_life;
        point.spreading = thoughts.staging.spreading;
        point.multiples = thoughts.staging.multiples;
        point.sensor.take(case.event.measured_at, &case.event.signal_quality);
        repair::note_baseline(&mut point, case.before(), case.event);
    }
    let state = next_state(case, point);
    let (risk, shown_stage) = (state.risk(), state.stage());
    let own_before = case.before().map_or(0, |before| before.stage);
    // a stage that has just fallen to another one stood at neither before
    let path = if own_before == shown_stage {
        Some(format!("memory.points.{}.stage", case.point()))
    } else {
        (case.memory.state.stage() == shown_stage).then(|| "memory.stage".to_owned())
    };
    let fault = shown_fault(&thoughts, &state, shown_stage);
    let told = ToldStage {
        shown: shown_stage,
        own: own_stage,
        is_if: fault.is_none() && thoughts.staging.unnamed.is_some(),
    };
    tell_standing(&mut thoughts.staging.thought, told, path.as_deref());
    let is_back = is_back(case, &thoughts, &state, rules);
    let shown = ShownState { risk, stage: shown_stage, fault, is_back };
    let mut diagnosis = assemble(case, rules, thoughts, shown);
    course::tell_course(&mut diagnosis, case, &state);
    Judgement { diagnosis, state, late: case.is_late(), ahead: false }
}

/// The judgement of an event ahead of the clock: as bad as it says or as the bearing stands,
/// whichever is worse, and the memory stays as it was.
fn judge_ahead(case: &Case<'_>, rules: &Rules, thoughts: Thoughts) -> Judgement {
    let state = case.memory.state.clone();
    let risk = state.risk().max(thoughts.proposal.risk);
    let stage = state.stage().max(thoughts.staging.stage);
    let fault = shown_fault(&thoughts, &state, stage);
    let shown = ShownState { risk, stage, fault, is_back: false };
    let mut diagnosis = assemble(case, rules, thoughts, shown);
    diagnosis.uncertainty.level = UncertaintyLevel::High;
    diagnosis.uncertainty.causes.push(Text::new(
        "측정 시각이 현재보다 앞섬: 게이트웨이 시계를 확인",
        "Measured ahead of the present: check the gateway's clock",
    ));
    Judgement { diagnosis, state, late: true, ahead: true }
}

/// The window by itself is about as usual, while a former judgement of its point holds the bearing
/// up.
fn is_back(case: &Case<'_>, thoughts: &Thoughts, state: &BearingState, rules: &Rules) -> bool {
    let own = state.points.get(case.point()).map(|point| point.risk);
    let screening = &thoughts.screening;
    let is_usual = screening.finding != Finding::CannotJudge
        && thoughts.proposal.risk <= RiskLevel::Watch
        && screening.fault.is_none()
        && screening.open.is_none();
    let ratio = case.event.anomaly.level_ratio;
    // the ratio is a median of the latest windows: a window without an anomaly is usual by itself
    let is_low = !screening.is_anomaly()
        || case.is_usual_again(rules)
        || ratio.is_none_or(|ratio| ratio < rules.risk.warning_level_ratio);
    is_usual && is_low && own == Some(state.risk()) && state.risk() > RiskLevel::Watch
}

fn think(case: &Case<'_>, rules: &Rules) -> Thoughts {
    let screening = screen(case, rules);
    let staging = stage(case, &screening, rules);
    let degrading = degrade(case, &screening, staging.stage, rules);
    let remaining = assess(case, &screening, &staging, degrading.class, rules);
    let proposal = propose(case, &screening, staging.stage, degrading.class, &remaining, rules);
    Thoughts { screening, staging, degrading, remaining, proposal }
}

fn next_state(case: &Case<'_>, point: PointState) -> BearingState {
    let mut state = case.memory.state.clone();
    state.points.insert(case.point().to_owned(), point);
    while state.points.len() > MAX_POINTS {
        let oldest = state.points.iter().min_by_key(|(_, point)| point.measured_at);
        let Some(name) = oldest.map(|(name, _)| name.clone()) else { break };
        state.points.remove(&name);
    }
    if !case.is_late() {
        let before = case.memory.state.risk();
        state.standing.take(case.event.measured_at, before, state.risk());
        state.reach(case.event.measured_at);
    }
    state.since = if state.risk() == RiskLevel::Normal {
        None
    } else {
        state.since.or(Some(case.event.measured_at))
    };
    state
}

/// The fault told: this event's, else the remembered one while the stage stands.
fn shown_fault(thoughts: &Thoughts, state: &BearingState, stage: u8) -> Option<Fault> {
    let own = thoughts.screening.fault.filter(|_| thoughts.screening.is_anomaly());
    own.or_else(|| state.fault().filter(|_| stage > 0))
}

fn assemble(case: &Case<'_>, rules: &Rules, thoughts: Thoughts, shown: ShownState) -> Diagnosis {
    let recommendation =
        recommend(shown, &thoughts.screening, &thoughts.staging, &thoughts.remaining, rules);
    let mut overall = overall(case, &thoughts, shown);
    if shown.risk == RiskLevel::Warning {
        // the recommendation names it
        overall.evidence.push(fact(LEAD_TIME, rules.lead_time.total_h(), "RISK-4"));
        overall.evidence.dedup();
    }
    let from_start = from_the_start(case, &thoughts.screening);
    let Thoughts { screening, staging, degrading, remaining, proposal: _ } = thoughts;
    let mut doubts =
        [screening.doubts, staging.doubts, degrading.doubts, remaining.doubts].concat();
    doubts.extend(from_start);
    let event = case.event;
    Diagnosis {
        schema: DIAGNOSIS_SCHEMA.to_owned(),
        event_id: event.event_id,
        site: Some(event.site.clone()),
        equipment_id: event.equipment_id.clone(),
        bearing_id: event.bearing_id.clone(),
        judged_at: case.now,
        reasoner: Reasoner::Expert,
        fault_type: shown.fault,
        fault_stage: shown.stage,
        degradation: degrading.degradation,
        rul_assessment: remaining.assessment,
        risk_level: shown.risk,
        recommendation,
        uncertainty: uncertainty(case, doubts),
        thoughts: vec![
            screening.thought,
            staging.thought,
            degrading.thought,
            remaining.thought,
            overall,
        ],
        tools: Vec::new(),
        memory: memory::memory_use(case.memory, case.now),
        disagreement: None,
        research: None,
        second_opinion: None,
        notification: None,
        found: None,
    }
}

/// Returns the doubt that the baseline was learnt on a damaged bearing, once it is complete.
fn from_the_start(case: &Case<'_>, screening: &Screening) -> Option<Doubt> {
    screening.damaged_from_the_start(case)?;
    let is_learnt = case.event.anomaly.baseline.state == BaselineState::Ready;
    is_learnt.then(|| {
        Doubt::medium(
            "기준선이 이미 손상된 베어링에서 학습되어 수준 비교로는 이 손상이 보이지 않음",
            "The baseline was learnt on a bearing that was damaged already: levels do not show it",
        )
    })
}

fn uncertainty(case: &Case<'_>, mut doubts: Vec<Doubt>) -> Uncertainty {
    if case.is_late() {
        doubts.push(Doubt::medium(
            "늦게 도착한 이전 측정이어서 위험도를 낮추는 근거로 쓰지 않음",
            "An older window that arrived late: it does not lower the risk",
        ));
    }
    let medium = doubts.iter().filter(|doubt| doubt.level == UncertaintyLevel::Medium).count();
    let worst = doubts.iter().map(|doubt| doubt.level).max().unwrap_or(UncertaintyLevel::Low);
    let level = if medium >= MANY_DOUBTS { UncertaintyLevel::High } else { worst };
    Uncertainty { level, causes: doubts.into_iter().map(|doubt| doubt.cause).collect() }
}

fn overall(case: &Case<'_>, thoughts: &Thoughts, shown: ShownState) -> Thought {
    let label = shown.risk.label();
    let head = if is_undecided(case, thoughts, shown) {
        NOT_JUDGED.text()
    } else {
        Text::new(
            format!("{}({}):", label.ko, shown.risk.as_str()),
            format!("{}:", shown.risk.as_str()),
        )
    };
    let mut evidence: Vec<Evidence> = thoughts.proposal.evidence.clone();
    let before = case.memory.state.risk();
    let mut parts = vec![head, reason(case, thoughts, shown)];
    if thoughts.proposal.is_raised() {
        parts.push(Text::new(
            "· 언어 모델이 규칙보다 높게 봄",
            "· a language model sees more than the rules",
        ));
    }
    let kept = shown.risk > thoughts.proposal.risk;
    if kept {
        evidence.push(fact("memory.risk", before, "RISK-7"));
        if let Some(note) = kept_note(case, thoughts) {
            parts.push(note);
        }
    }
    Thought {
        title: ThoughtTitle::OverallRisk,
        conclusion: joined(&parts),
        evidence,
        model_words: None,
    }
}

/// Whether the bearing was never judged, or has no level to compare with, so that Normal would say
/// too much.
fn is_undecided(case: &Case<'_>, thoughts: &Thoughts, shown: ShownState) -> bool {
    let is_learning = case.event.anomaly.baseline.state == BaselineState::Learning;
    shown.risk == RiskLevel::Normal
        && match thoughts.screening.finding {
            Finding::CannotJudge => case.before().is_none(),
            Finding::Open | Finding::Suspected => is_learning,
            Finding::Normal | Finding::Single | Finding::Confirmed | Finding::Anomalous => false,
        }
}

fn kept_note(case: &Case<'_>, thoughts: &Thoughts) -> Option<Text> {
    if thoughts.screening.finding == Finding::CannotJudge {
        return None;
    }
    let own = case.before().map_or(RiskLevel::Normal, |point| point.risk);
    Some(if own < case.memory.state.risk() {
        Text::new("· 다른 측정점의 위험도를 따름", "· as another measuring point stands")
    } else {
        Text::new(
            "· 호전이 지속적으로 확인될 때까지 이전 위험도를 유지",
            "· the former level is kept until the improvement has lasted",
        )
    })
}

/// The reason for the risk where the window shows no anomaly.
fn without_anomaly(case: &Case<'_>, thoughts: &Thoughts, risk: RiskLevel) -> Text {
    let is_suspected = thoughts.screening.finding == Finding::Suspected;
    if risk == RiskLevel::Normal && thoughts.screening.finding == Finding::Open {
        return thoughts.screening.reason.map_or_else(OpenReason::left_open, |r| r.verdict(case));
    }
    if risk > RiskLevel::Normal && is_suspected {
        Text::new("이번 측정의 징후는 확인되지 않음", "the signs of this window are not confirmed")
    } else if risk > RiskLevel::Normal {
        Text::new("이번 측정은 정상 범위", "this window is in the usual range")
    } else if is_suspected {
        Text::new(
            "확인되지 않은 징후가 있어 재측정 필요",
            "a sign that is not confirmed asks for a further measurement",
        )
    } else {
        Text::new("조치가 필요한 징후 없음", "nothing that asks for action")
    }
}

/// Says what stands in for a trend: after a step the height of the level.
fn without_trend(case: &Case<'_>, thoughts: &Thoughts) -> Text {
    let by_level = |fact: &&Evidence| fact.rule.as_deref() == Some("RISK-11");
    let is_by_level = thoughts.proposal.evidence.iter().any(|fact| by_level(&fact));
    match case.event.anomaly.level_ratio.filter(|_| is_by_level) {
        Some(ratio) => {
            let told = figure(ratio);
            Text::new(
                format!("수준이 기준 대비 {told}배"),
                format!("the level stands at {told} times its baseline"),
            )
        }
        None => Text::new("뚜렷한 상승 추세 없음", "no rising trend"),
    }
}

#[expect(clippy::too_many_lines, reason = "a list: one entry a reason")]
fn reason(case: &Case<'_>, thoughts: &Thoughts, shown: ShownState) -> Text {
    use crate::degradation::TrendClass;
    if thoughts.screening.finding == Finding::CannotJudge && case.before().is_none() {
        return Text::new(
            "판정할 수 없는 측정이며 이전 판정도 없음",
            "the window cannot be judged, and there is no earlier judgement",
        );
    }
    if thoughts.screening.finding == Finding::CannotJudge {
        return Text::new(
            "판정할 수 없는 측정이므로 이전 위험도를 유지",
            "the window cannot be judged, the former risk is kept",
        );
    }
    if !thoughts.screening.is_anomaly() {
        return without_anomaly(case, thoughts, shown.risk);
    }
    if thoughts.staging.machine == Some(MachinePart::None) {
        return Text::new("이번 측정은 평소 수준", "this window is at its usual level");
    }
    let trend = match thoughts.degrading.class {
        TrendClass::Stable => without_trend(case, thoughts),
        TrendClass::Rising => Text::new("상승 추세", "rising"),
        TrendClass::Accelerating => Text::new("상승이 가속됨", "rising ever faster"),
    };
    if thoughts.screening.is_of_machine {
        return Text::new(
            "이력 없는 한 번의 측정에서 설비 이상이 의심되어 점검과 재측정 필요",
            "one measurement without a history asks for a check of the machine and a second one",
        );
    }
    let stage = shown.stage;
    let mut parts = vec![if thoughts.screening.finding == Finding::Single {
        Text::new(
            format!("P-F {stage}단계, 이력 없는 한 번의 측정이므로 재측정으로 확인"),
            format!("P-F stage {stage} by one measurement without a history: to be confirmed"),
        )
    } else if stage == 0 {
        Text::new(format!("이상 감지, {}", trend.ko), format!("an anomaly, {}", trend.en))
    } else {
        let is_if = shown.fault.is_none() && thoughts.staging.unnamed.is_some();
        let (ko, en) = if_the_bearing(is_if);
        Text::new(
            format!("P-F {stage}단계{ko}, {}", trend.ko),
            format!("P-F stage {stage}{en}, {}", trend.en),
        )
    }];
    if thoughts.proposal.is_held_to_watch() {
        parts.push(Text::new(
            "· 자동 이상 감지가 없어 '주의'로 제한함",
            "· no more than Watch while no anomaly is detected",
        ));
    }
    match thoughts.remaining.urgency {
        Urgency::None => {}
        _ if thoughts.remaining.assessment.hours.is_none() => parts.push(Text::new(
            "· 수준의 상승이 이어지면 교체 준비 기간 안에 한계에 이를 수 있음",
            "· the level may reach its limit within the time that a replacement takes to prepare",
        )),
        Urgency::Plan => parts.push(Text::new(
            "· 잔여수명 하한이 교체 준비 기간에 비해 여유가 적음",
            "· the lower bound of the remaining life leaves little time to prepare",
        )),
        Urgency::Act => parts.push(Text::new(
            "· 잔여수명이 조달·계획 리드타임보다 짧음",
            "· the remaining life is shorter than the lead time",
        )),
    }
    if thoughts.staging.machine == Some(MachinePart::Rotor) {
        let zone = case.zone();
        if let Some(zone) = zone {
            parts.push(Text::new(
                format!("· 진동속도 {zone:?}구역"),
                format!("· velocity in zone {zone:?}"),
            ));
        }
    }
    joined(&parts)
}
