//! The course of a bearing as its memory holds it, told in the second, third and fifth thought: how
//! long it has stood at its stage, how its remaining life moved, what was asked for and done.
//!
//! Rules: MEM-2 how long at this stage and how long the one before took; MEM-3 whether the
//! remaining life falls faster than time passes, and whether the stages follow each other faster;
//! MEM-5 how long at this risk, what work is open, what was found; MEM-6 whether a life that was
//! told has been outlived. Times are told only from an hour on. Nothing here changes a stage or a
//! risk.

use std::collections::BTreeMap;

use pdm_shared::diagnosis::{DegradationSpeed, Diagnosis, Evidence, Thought, ThoughtTitle};
use pdm_shared::follow_up::{FollowUpState, Verdict};
use pdm_shared::particle::{Particle, with_particle};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;

use crate::case::{BearingState, Case, Remembered};
use crate::wording::{element, fact, hours, joined, life};

/// The shortest time that is told, h.
const WORTH_TELLING_H: f64 = 1.0;
/// The ratio from which remaining life falls faster than time passes: the life lost to the time
/// that has passed. Chosen: an interval's bound moves by a third between two windows of a steady
/// course.
const FASTER_RATIO: f64 = 1.5;

/// The multiple of its hours after which a told life is outlived. Chosen: a lower bound is exceeded
/// as a rule, twice it is not meant to be.
const OUTLIVED_RATIO: f64 = 2.0;

/// A sentence with its evidence.
type Note = (Text, Vec<Evidence>);

/// Adds what the memory says to the thoughts of a diagnosis; `state` is the bearing's after it.
pub(crate) fn tell_course(diagnosis: &mut Diagnosis, case: &Case<'_>, state: &BearingState) {
    for (title, (text, evidence)) in notes(diagnosis, case, state) {
        let thought = diagnosis.thoughts.iter_mut().find(|thought| thought.title == title);
        let Some(thought): Option<&mut Thought> = thought else { continue };
        thought.conclusion = joined(&[thought.conclusion.clone(), text]);
        thought.evidence.extend(evidence);
    }
}

/// Returns the memory's evidence for this diagnosis: the values that its texts may quote under
/// `memory.…`, read from the memory anew.
pub(crate) fn facts(diagnosis: &Diagnosis, case: &Case<'_>) -> Vec<Evidence> {
    let (mut state, at) = (case.memory.state.clone(), case.event.measured_at);
    if !case.is_late() {
        let before = state.risk();
        state.standing.take(at, before, diagnosis.risk_level);
        state.reach_stage(diagnosis.fault_stage, at);
    }
    let notes = notes(diagnosis, case, &state);
    notes.into_iter().flat_map(|(_, (_, evidence))| evidence).collect()
}

fn notes(
    diagnosis: &Diagnosis,
    case: &Case<'_>,
    state: &BearingState,
) -> Vec<(ThoughtTitle, Note)> {
    let at = case.event.measured_at;
    let stage = diagnosis.fault_stage;
    // a stage that a second measurement confirmed has not grown from one to the other
    let grows = diagnosis.degradation.speed != DegradationSpeed::None;
    let all = [
        (ThoughtTitle::PfStage, stage_note(&state.reached, stage, (at, grows))),
        (ThoughtTitle::Degradation, life_note(diagnosis, case)),
        (ThoughtTitle::Rul, outlived_note(diagnosis, case)),
        (ThoughtTitle::Degradation, pace_note(&state.reached, stage).filter(|_| grows)),
        (ThoughtTitle::OverallRisk, standing_note(diagnosis.risk_level, state, at)),
        (ThoughtTitle::OverallRisk, work_note(case)),
        (ThoughtTitle::OverallRisk, found_note(case)),
    ];
    all.into_iter().filter_map(|(title, note)| Some((title, note?))).collect()
}

/// Hours from one time to another, if they are worth telling.
fn span_h(from: Timestamp, to: Timestamp) -> Option<f64> {
    let span = to.seconds_since(from) / 3600.0;
    (span >= WORTH_TELLING_H).then_some(span)
}

/// Returns how long a stage took until the next was reached, h.
pub(crate) fn took_h(reached: &BTreeMap<u8, Timestamp>, stage: u8) -> Option<f64> {
    span_h(*reached.get(&stage)?, *reached.get(&(stage + 1))?)
}

/// Returns how long the bearing has stood at this stage, h.
pub(crate) fn standing_h(
    reached: &BTreeMap<u8, Timestamp>,
    stage: u8,
    at: Timestamp,
) -> Option<f64> {
    span_h(*reached.get(&stage)?, at)
}

fn stage_note(
    reached: &BTreeMap<u8, Timestamp>,
    stage: u8,
    (at, grows): (Timestamp, bool),
) -> Option<Note> {
    if stage == 0 {
        return None;
    }
    if let Some(standing) = standing_h(reached, stage, at) {
        let told = hours(standing);
        let or_above = or_above(reached.keys().any(|other| *other > stage));
        let text = Text::new(
            format!("· {stage}단계{}에 이른 지 {}", or_above.ko, told.ko),
            format!("· at stage {stage}{} for {}", or_above.en, told.en),
        );
        return Some((text, vec![fact("memory.stage_for_h", standing, "MEM-2")]));
    }
    let before = stage.checked_sub(1).filter(|before| grows && *before > 0)?;
    let took = took_h(reached, before)?;
    let told = hours(took);
    let text = Text::new(
        format!("· {before}단계에서 {stage}단계까지 {}", told.ko),
        format!("· from stage {before} to {stage} in {}", told.en),
    );
    let stages = fact("memory.stage_before", before, "MEM-2");
    Some((text, vec![stages, fact("memory.stage_before_took_h", took, "MEM-2")]))
}

/// A time at a level that counts from when the level or a worse one was reached.
fn or_above(was_worse: bool) -> Text {
    if was_worse { Text::new(" 이상", " or above") } else { Text::new("", "") }
}

/// Whether the stages follow each other faster.
fn pace_note(reached: &BTreeMap<u8, Timestamp>, stage: u8) -> Option<Note> {
    let (last, before) = (stage.checked_sub(1)?, stage.checked_sub(2).filter(|one| *one > 0)?);
    let (last_h, before_h) = (took_h(reached, last)?, took_h(reached, before)?);
    if last_h >= before_h {
        return None;
    }
    let (quick, slow) = (hours(last_h), hours(before_h));
    let text = Text::new(
        format!("· 단계 진행이 빨라짐({} → {})", slow.ko, quick.ko),
        format!("· the stages follow faster ({}, then {})", slow.en, quick.en),
    );
    let evidence = vec![
        fact("memory.stage_took_h", before_h, "MEM-3"),
        fact("memory.next_stage_took_h", last_h, "MEM-3"),
    ];
    Some((text, evidence))
}

/// Whether the remaining life falls faster than time passes, since the oldest entry that has one by
/// the same figure: a median is not compared with a lower bound.
fn life_note(diagnosis: &Diagnosis, case: &Case<'_>) -> Option<Note> {
    let now_h = diagnosis.rul_assessment.hours?;
    let since = case.memory.state.since?;
    let mut within = case.memory.recent.iter().filter(|one| one.begun() >= since);
    let is_bound = diagnosis.rul_assessment.conservative;
    let then =
        within.rfind(|one| one.rul_hours.is_some() && one.rul_is_lower_bound == Some(is_bound))?;
    let then_h = then.rul_hours?;
    let passed = span_h(then.measured_at, case.event.measured_at)?;
    if then_h - now_h <= FASTER_RATIO * passed {
        return None;
    }
    let (earlier, told, later) = (life(then_h), hours(passed), life(now_h));
    let (ko_figure, en_figure) = if is_bound {
        ("하한", "the lower bound of the remaining life")
    } else {
        ("중앙값", "the median of the remaining life")
    };
    let text = Text::new(
        format!(
            "· {ko_figure} 기준 잔여수명 판단이 {} 사이 {}에서 {}: 경과보다 빨리 줄어듦",
            told.ko,
            earlier.ko,
            with_particle(&later.ko, Particle::Towards)
        ),
        format!(
            "· {en_figure} went from {} to {} in {}: faster than time passes",
            earlier.en, later.en, told.en
        ),
    );
    let evidence = vec![
        fact("memory.rul_then_h", then_h, "MEM-3"),
        fact("memory.rul_then_before_h", passed, "MEM-3"),
        fact("memory.rul_now_h", now_h, "MEM-3"),
    ];
    Some((text, evidence))
}

/// Returns the note that a remaining life which was told in this episode has been outlived, and by
/// how much it was too short.
fn outlived_note(diagnosis: &Diagnosis, case: &Case<'_>) -> Option<Note> {
    diagnosis.rul_assessment.hours?;
    let since = case.memory.state.since?;
    let is_outlived = |one: &&Remembered| {
        let passed = case.event.measured_at.seconds_since(one.measured_at) / 3600.0;
        one.begun() >= since && one.rul_hours.is_some_and(|told| passed > OUTLIVED_RATIO * told)
    };
    case.memory.recent.iter().find(is_outlived)?;
    let text = Text::new(
        "· 이전에 알린 잔여수명이 이미 지나 추정이 너무 짧았음: 참고로만 사용",
        "· the bearing has run longer than an earlier estimate said: that one was too short, take \
         this one as a guide",
    );
    Some((text, vec![fact("memory.rul_is_outlived", true, "MEM-6")]))
}

fn standing_note(risk: RiskLevel, state: &BearingState, at: Timestamp) -> Option<Note> {
    let stand = state.standing.levels.get(&risk).filter(|_| risk > RiskLevel::Normal)?;
    let standing = span_h(stand.since, at)?;
    let told = hours(standing);
    let higher = state.standing.levels.iter().filter(|(level, _)| **level > risk);
    let or_above = or_above(higher.into_iter().any(|(_, higher)| higher.until >= stand.since));
    let text = Text::new(
        format!("· {}{} 상태가 {}째 이어짐", risk.label().ko, or_above.ko, told.ko),
        format!("· {risk}{} for {}", or_above.en, told.en),
    );
    Some((text, vec![fact("memory.risk_for_h", standing, "MEM-5")]))
}

/// The work that waits, and how much of it is late.
fn work_note(case: &Case<'_>) -> Option<Note> {
    let open = || case.memory.work.iter().filter(|work| work.state == FollowUpState::Open);
    let count = open().count();
    if count == 0 {
        return None;
    }
    let late = open().filter(|work| work.is_overdue(case.now)).count();
    let mut evidence = vec![fact("memory.work.open", count, "MEM-5")];
    let text = if late == 0 {
        Text::new(
            format!("· 요청한 조치 {count}건 미완료"),
            format!("· {count} of the actions asked for are open"),
        )
    } else {
        evidence.push(fact("memory.work.overdue", late, "MEM-5"));
        Text::new(
            format!("· 요청한 조치 {count}건 미완료(기한 지남 {late}건)"),
            format!("· {count} of the actions asked for are open, {late} overdue"),
        )
    };
    Some((text, evidence))
}

/// Returns the note on the last finding of staff.
fn found_note(case: &Case<'_>) -> Option<Note> {
    let last = case.memory.work.iter().filter(|work| work.found.is_some());
    let found = last.max_by_key(|work| work.at)?.found.as_ref()?;
    let (ko, en) = match found.verdict {
        Verdict::Right => ("판정이 맞았음", "the judgement was right"),
        Verdict::Wrong => ("이상이 없었음", "nothing was wrong"),
        Verdict::OtherCause => ("다른 원인이었음", "it was another cause"),
    };
    let part = found.element.map_or_else(
        || Text::new("", ""),
        |fault| {
            let name = element(fault);
            Text::new(format!("({})", name.ko), format!(" ({})", name.en))
        },
    );
    let text = Text::new(
        format!("· 지난 점검 결과 {ko}{}", part.ko),
        format!("· the last inspection: {en}{}", part.en),
    );
    Some((text, vec![fact("memory.work.found.verdict", found.verdict, "MEM-5")]))
}
