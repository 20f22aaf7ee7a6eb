//! Builds the stored result of an ended run: the opinion, and its difference from the expert's
//! judgement in words.

use pdm_expert::wording::element;
use pdm_shared::diagnosis::SecondOpinion;
use pdm_shared::id::EventId;
use pdm_shared::particle::{Particle, with_particle};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;

use super::{OpinionFailure, OpinionRun};
use crate::verdict::Verdict;

/// The document of an ended run.
pub fn document(
    run: &OpinionRun,
    model: &str,
    given_at: Timestamp,
    ended: Result<Verdict, OpinionFailure>,
) -> SecondOpinion {
    let (verdict, failure) = match ended {
        Ok(verdict) => (Some(verdict), None),
        Err(failure) => (None, Some(failure.told())),
    };
    let verdict = verdict.as_ref();
    SecondOpinion {
        model: model.to_owned(),
        given_at,
        stance: verdict.map(|verdict| verdict.stance),
        failure,
        risk_level: verdict.map(|verdict| verdict.risk_level),
        fault_type: verdict.and_then(|verdict| verdict.fault_type),
        fault_stage: verdict.map(|verdict| verdict.fault_stage),
        degradation: verdict.map(|verdict| verdict.degradation),
        uncertainty: verdict.map(|verdict| verdict.uncertainty),
        reason: verdict.map(|verdict| verdict.reason.clone()),
        recommendation: verdict.map(|verdict| verdict.recommendation.clone()),
        evidence: verdict.map(|verdict| verdict.evidence.clone()).unwrap_or_default(),
        thoughts: verdict.map(|verdict| verdict.thoughts.clone()).unwrap_or_default(),
        tools: run.uses.clone(),
        calls: run.spent.calls,
        repairs: run.repairs,
        prompt_tokens: run.spent.prompt_tokens,
        completion_tokens: run.spent.completion_tokens,
        cost_usd: run.spent.usd,
    }
}

/// The risk that staff may be told of: never below the expert's.
pub fn held_risk(judged: RiskLevel, opinion: &SecondOpinion) -> RiskLevel {
    opinion.risk_level.map_or(judged, |risk| risk.max(judged))
}

/// The document of an event about which the model gave nothing.
pub fn no_document(
    event_id: EventId,
    model: &str,
    at: Timestamp,
    failure: OpinionFailure,
) -> SecondOpinion {
    document(&OpinionRun::unbegun(event_id), model, at, Err(failure))
}

/// Returns the diagnosis's text on a difference between expert and model; `None` where they agree.
pub fn disagreement(judged: RiskLevel, opinion: &SecondOpinion) -> Option<Text> {
    let risk = opinion.risk_level.filter(|risk| *risk != judged)?;
    let (expert, model) = (judged.label(), risk.label());
    let fault = opinion.fault_type.map(element);
    let ko = fault.as_ref().map(|fault| format!("({})", fault.ko)).unwrap_or_default();
    let en = fault.as_ref().map(|fault| format!(" ({})", fault.en)).unwrap_or_default();
    Some(if risk < judged {
        Text::new(
            format!(
                "언어 모델은 {} 더 낮게 봄: 규칙의 판정 {} 유지됨",
                with_particle(&format!("{}{ko}", model.ko), Particle::Towards),
                with_particle(&expert.ko, Particle::Subject)
            ),
            format!(
                "The language model sees {}{en}, which is lower: the rules' {} stands",
                model.en, expert.en
            ),
        )
    } else {
        Text::new(
            format!(
                "언어 모델은 {} 더 높게 봄: 규칙의 판정은 {}",
                with_particle(&format!("{}{ko}", model.ko), Particle::Towards),
                expert.ko
            ),
            format!(
                "The language model sees {}{en}, which is higher: the rules judge {}",
                model.en, expert.en
            ),
        )
    })
}
