//! Derives the changes that the research makes in a judgement: stage and speed confirmed or
//! doubted, the remaining life of similar cases beside the model's, a case that contradicts it, the
//! uncertainty, or that nothing like it is known.
//!
//! Rules: FIND-1 a case with the same signs was at the same stage, or at another; FIND-2 such cases
//! went as fast, faster or slower; FIND-3 how long such cases lived from here, beside the model;
//! times of test rigs are not carried over; FIND-4 a case with the same signs that ended otherwise
//! is told and raises the uncertainty; FIND-5 nothing like it is known, which raises it too. A case
//! of another machine is told for comparison: it proves nothing of this one and takes no
//! uncertainty back. Nothing here changes stage, risk or the remaining life that is planned with.

use pdm_shared::diagnosis::{
    DegradationSpeed, Diagnosis, ResearchChange, ResearchEffect, Sign, SignSide,
};
use pdm_shared::particle::{Particle, with_particle};
use pdm_shared::text::Text;

use super::compare::Comparison;
use super::signs::SignKind;
use super::{HISTORY, Inquiry};
use crate::case::Case;
use crate::course::{standing_h, took_h};
use crate::wording::{element, hours, joined};

/// Most similar cases whose remaining life is told.
const MAX_LIVES: usize = 3;

/// Share of a past case's time from the same signs to its end that this bearing may have stood at
/// its stage for the time to say anything of it. Chosen: a quarter, as steps of the shipped courses
/// lie a factor of four apart (41 and 9 days).
const MOST_OF_LIFE_STOOD: f64 = 0.25;

/// A stage or hours that a change tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToldCase {
    /// The stage whose times are compared.
    Stage,
    /// This bearing's time at that stage, h.
    OwnStage,
    /// The past case's time at that stage, h.
    StageThere,
    /// The past case's time to its end, h.
    LifeThere,
}

impl ToldCase {
    /// The path of the figure for the comparison at this place.
    pub(super) fn path(self, at: usize) -> String {
        match self {
            Self::Stage => "memory.compared_stage".to_owned(),
            Self::OwnStage => "memory.stage_here_h".to_owned(),
            Self::StageThere => format!("research.compared[{at}].stage_took_h"),
            Self::LifeThere => format!("research.compared[{at}].hours_before_end"),
        }
    }
}

/// A change, with the figures that its text tells beside those of quotes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Change {
    /// The change.
    pub(super) said: ResearchChange,
    /// The place of the comparison that it rests on.
    pub(super) at: Option<usize>,
    /// Figures that the text tells, with the name of each.
    pub(super) told: Vec<(ToldCase, f64)>,
}

impl Change {
    fn of(effect: ResearchEffect, at: usize, comparison: &Comparison, text: Text) -> Self {
        let document = Some(comparison.record.document.clone());
        let said = ResearchChange { effect, text, document };
        Self { said, at: Some(at), told: Vec::new() }
    }
}

/// Returns the changes by the research; `compared` are the past cases, most alike first.
pub(super) fn changes(
    diagnosis: &Diagnosis,
    case: &Case<'_>,
    inquiry: &Inquiry,
    compared: &[Comparison],
) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    let alike = || compared.iter().enumerate().filter(|(_, one)| one.is_for(diagnosis));
    changes.extend(alike().find_map(|(at, one)| stage(diagnosis, at, one)));
    changes.extend(alike().find_map(|(at, one)| pace(diagnosis, case, at, one)));
    changes.extend(lives(diagnosis, case, compared));
    let against =
        compared.iter().enumerate().filter(|(_, one)| one.is_against(case.event, diagnosis));
    changes.extend(against.take(2).map(|(at, one)| contradiction(at, one)));
    if changes.is_empty() && is_unknown(diagnosis, inquiry, compared) {
        changes.push(Change {
            said: ResearchChange {
                effect: ResearchEffect::NothingKnown,
                text: Text::new(
                    "정비 이력에 같은 징후의 사례가 없음",
                    "No case of the maintenance history has these signs",
                ),
                document: None,
            },
            at: None,
            told: Vec::new(),
        });
    }
    changes
}

/// Whether the history answered and none of its cases is like this one: of the same element where
/// one is named, and with the same signs.
fn is_unknown(diagnosis: &Diagnosis, inquiry: &Inquiry, compared: &[Comparison]) -> bool {
    let mut asked = inquiry.answered.iter().filter(|answered| answered.question.tool == HISTORY);
    asked.any(|answered| answered.failure.is_none())
        && !compared.iter().any(|one| one.is_for(diagnosis))
}

fn stage(diagnosis: &Diagnosis, at: usize, one: &Comparison) -> Option<Change> {
    let (_, sign) = one.signs.iter().find(|(kind, _)| *kind == SignKind::Stage)?;
    let Text { ko: document, en: case } = one.record.name();
    let signs = agreeing(one);
    let here = diagnosis.fault_stage;
    let there = sign.there;
    // one sign alone may confirm a stage, and does not cast doubt on it
    if sign.side != SignSide::Agrees && one.measured().0 < 2 {
        return None;
    }
    Some(match sign.side {
        SignSide::Agrees => Change::of(
            ResearchEffect::StageConfirmed,
            at,
            one,
            Text::new(
                format!("참고 사례 {document}: 같은 징후({})에서 {here}단계였음", signs.ko),
                format!(
                    "compare {case}, which was at stage {here} with the same signs ({})",
                    signs.en
                ),
            ),
        ),
        SignSide::Further | SignSide::LessFar => Change::of(
            ResearchEffect::StageDoubted,
            at,
            one,
            Text::new(
                format!(
                    "{document}: 같은 징후({})에서 {there:.0}단계였음: 단계 판정을 재확인",
                    signs.ko
                ),
                format!(
                    "{case} was at stage {there:.0} with the same signs ({}): confirm the stage",
                    signs.en
                ),
            ),
        ),
    })
}

/// The signs that agree, by name.
fn agreeing(one: &Comparison) -> Text {
    let agree =
        one.signs.iter().filter(|(kind, sign)| kind.is_measured() && sign.side == SignSide::Agrees);
    let words: Vec<Text> = agree.map(|(kind, _)| kind.word()).collect();
    let list = |pick: fn(&Text) -> &str| words.iter().map(pick).collect::<Vec<_>>().join("·");
    Text::new(list(|word| &word.ko), list(|word| &word.en))
}

/// This bearing's pace beside that of a past case: by the time at the same stage, else by
/// acceleration.
fn pace(diagnosis: &Diagnosis, case: &Case<'_>, at: usize, one: &Comparison) -> Option<Change> {
    by_stage(diagnosis, case, at, one).or_else(|| by_acceleration(diagnosis, at, one))
}

fn by_stage(diagnosis: &Diagnosis, case: &Case<'_>, at: usize, one: &Comparison) -> Option<Change> {
    if one.record.is_rig || diagnosis.degradation.speed == DegradationSpeed::None {
        return None;
    }
    let reached = &case.memory.state.reached;
    let stage = diagnosis.fault_stage;
    // the stage before, once it is over; else the time so far at this one
    let ended = stage.checked_sub(1).and_then(|before| {
        let here = took_h(reached, before).or_else(|| {
            // the step to this stage is this window's
            let is_new = !reached.contains_key(&stage);
            standing_h(reached, before, case.event.measured_at).filter(|_| is_new)
        })?;
        Some((before, here, true))
    });
    let so_far =
        standing_h(reached, stage, case.event.measured_at).map(|here| (stage, here, false));
    let found = [ended, so_far].into_iter().flatten().find_map(|(stage, here, is_over)| {
        Some((stage, here, is_over, one.record.stage_took_h(stage)?))
    });
    let (stage, here, is_over, there) = found?;
    let (now, then) = (hours(here), hours(there));
    let document = one.record.name_with(&then.ko, &then.en);
    let than = &document.ko;
    let (effect, ko, en) = if is_over && here < there {
        (ResearchEffect::SpeedDoubted, format!("{than}보다 빠름"), "faster than")
    } else if here > there {
        (ResearchEffect::SpeedDoubted, format!("{than}보다 느림"), "slower than")
    } else if is_over {
        let than = with_particle(than, Particle::And);
        (ResearchEffect::SpeedConfirmed, format!("{than} 같음"), "as fast as")
    } else {
        return None;
    };
    let text = Text::new(
        format!("{stage}단계 {}, {ko}", now.ko),
        format!("Stage {stage} for {}, {en} {}", now.en, document.en),
    );
    let mut change = Change::of(effect, at, one, text);
    change.told = vec![
        (ToldCase::Stage, f64::from(stage)),
        (ToldCase::OwnStage, here),
        (ToldCase::StageThere, there),
    ];
    Some(change)
}

fn by_acceleration(diagnosis: &Diagnosis, at: usize, one: &Comparison) -> Option<Change> {
    if diagnosis.degradation.speed != DegradationSpeed::Rapid {
        return None;
    }
    let Text { ko: document, en: case } = one.record.name();
    let (effect, text) = if one.record.accelerated? {
        let ko = format!("참고 사례 {document}: 같은 양상으로 가속하였음");
        let en = format!("compare {case}, which accelerated too");
        (ResearchEffect::SpeedConfirmed, Text::new(ko, en))
    } else {
        let ko = format!("{document}: 기록에는 추세가 안정적이었다고 하나 이번은 가속됨");
        let en = format!("{case} tells of a steady trend, while this one accelerates");
        (ResearchEffect::SpeedDoubted, Text::new(ko, en))
    };
    Some(Change::of(effect, at, one, text))
}

/// Returns the changes by the lives of similar cases from here, beside the model's remaining life.
fn lives(diagnosis: &Diagnosis, case: &Case<'_>, compared: &[Comparison]) -> Vec<Change> {
    let Some(taken) = diagnosis.rul_assessment.hours else { return Vec::new() };
    let high = case.event.rul.ci_high_hours.unwrap_or(taken);
    let alike =
        compared.iter().enumerate().filter(|(_, one)| one.is_for(diagnosis) && !one.record.is_rig);
    let reached = &case.memory.state.reached;
    let stood_h = standing_h(reached, diagnosis.fault_stage, case.event.measured_at).unwrap_or(0.0);
    let lived = alike.filter_map(|(at, one)| {
        let lived = one.step.as_ref()?.before_h.filter(|lived| *lived > 0.0)?;
        // a bearing that has stood at its stage for long is no longer where the case was
        let lived = (stood_h < MOST_OF_LIFE_STOOD * lived).then_some(lived)?;
        Some((at, one, lived))
    });
    let changes = lived.take(MAX_LIVES).filter_map(|(at, one, lived)| {
        let told = hours(lived);
        let Text { ko: document, en: case } = one.record.name();
        let head = Text::new(
            format!("참고 사례 {document}: 비슷한 징후에서 {} 뒤 고장·교체,", told.ko),
            format!("compare {case}, which was replaced or failed {} after like signs:", told.en),
        );
        let (effect, tail) = if lived < taken {
            let ko = "모델의 잔여수명보다 짧으므로 더 이르게 계획";
            (
                ResearchEffect::LifeDoubted,
                Text::new(ko, "shorter than the model says, plan earlier"),
            )
        } else if lived <= high {
            let ko = "추정 구간 안에 있음";
            (ResearchEffect::LifeConfirmed, Text::new(ko, "within the model's interval"))
        } else {
            return None;
        };
        let mut change = Change::of(effect, at, one, joined(&[head, tail]));
        change.told = vec![(ToldCase::LifeThere, lived)];
        Some(change)
    });
    changes.collect()
}

fn contradiction(at: usize, one: &Comparison) -> Change {
    let Text { ko: document, en: case } = one.record.name();
    let signs = agreeing(one);
    let end = if one.record.is_benign {
        Text::new("베어링 손상이 아니었음", "the bearing was not damaged")
    } else {
        let name =
            one.record.element.map_or_else(|| Text::new("다른 부위", "another element"), element);
        Text::new(format!("{} 결함이었음", name.ko), format!("it was the {}", name.en))
    };
    let text = Text::new(
        format!("반대 사례 {document}: 같은 징후({})였으나 {}", signs.ko, end.ko),
        format!("{case} is a case to the contrary: with the same signs ({}) {}", signs.en, end.en),
    );
    Change::of(ResearchEffect::Contradiction, at, one, text)
}

/// The signs of a comparison as the diagnosis tells them.
pub(super) fn told_signs(one: &Comparison) -> Vec<Sign> {
    one.signs.iter().map(|(_, sign)| sign.clone()).collect()
}
