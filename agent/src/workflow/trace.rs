//! The details of the steps in a trace, as JSON that `pdm-agent trace` and the reports read back.

use pdm_expert::research::{Answered, Inquiry, Question};
use serde_json::{Value, json};

use super::documents::DocumentOutcome;
use super::expert::{Turn, Want};
use super::state::State;

/// `load_memory`: the judgements that were recalled.
pub(super) fn recalled(state: &State) -> Value {
    let told = pdm_expert::memory::memory_use(&state.memory_context, state.now);
    json!({ "recalled": told.used, "summary": told.summary })
}

/// `reasoning`: the thought of a round and what the reasoner wants next.
pub(super) fn reasoned(state: &State, turn: &Turn) -> Value {
    let mut detail = json!({
        "round": state.rounds,
        "thought": turn.thought,
        "next_action": state.next_action,
    });
    match &turn.want {
        Want::Call(questions) => {
            detail["calls"] = questions.iter().map(asked).collect();
        }
        Want::Conclude(judgement) => {
            detail["thoughts"] = judgement
                .diagnosis
                .thoughts
                .iter()
                .map(|thought| json!({ "title": thought.title, "conclusion": thought.conclusion }))
                .collect();
        }
        Want::Continue => {}
    }
    detail
}

fn asked(question: &Question) -> Value {
    json!({
        "tool": question.tool,
        "arguments": question.arguments,
        "why": question.why,
        "rule": question.rule,
        "drawn_from": question.drawn_from,
        "research_round": question.round,
    })
}

/// `tool_executor`: the answers to the calls from number `first` on.
pub(super) fn executed(state: &State, first: usize) -> Value {
    let answers: Vec<Value> = state
        .inquiry
        .answered
        .iter()
        .skip(first)
        .map(|one| answered(one, &state.inquiry))
        .collect();
    json!({ "tool_calls_count": state.tool_calls_count, "answers": answers })
}

fn answered(answered: &Answered, inquiry: &Inquiry) -> Value {
    let mut detail = asked(&answered.question);
    let hits = answered.documents.iter().filter_map(|id| inquiry.documents.get(id));
    detail["found"] =
        hits.map(|hit| json!({ "id": hit.id, "title": hit.title, "source": hit.source })).collect();
    detail["learnt"] = json!(answered.learnt);
    if let Some(failure) = &answered.failure {
        detail["failure"] = json!(failure);
    }
    detail
}

/// `parse_diagnosis`: the judgement, and the figures that were withheld from it.
pub(super) fn parsed(state: &State, withheld: &[String], note: Option<&str>) -> Value {
    let Some(judgement) = &state.diagnosis_result else { return Value::Null };
    let diagnosis = &judgement.diagnosis;
    let mut detail = json!({
        "fault_type": diagnosis.fault_type,
        "fault_stage": diagnosis.fault_stage,
        "risk_level": diagnosis.risk_level,
        "degradation": diagnosis.degradation.speed,
        "rul_assessment": diagnosis.rul_assessment,
        "reasoner": diagnosis.reasoner,
        "ungrounded": withheld,
    });
    if let Some(research) = &diagnosis.research {
        detail["research"] = json!(research);
    }
    if let Some(opinion) = &diagnosis.second_opinion {
        detail["opinion"] = json!({
            "model": opinion.model,
            "stance": opinion.stance,
            "risk_level": opinion.risk_level,
            "failure": opinion.failure,
        });
    }
    if let Some(note) = note {
        detail["note"] = json!(note);
    }
    detail
}

/// A document that was written, with the figures in it that have no source, and the memory that it
/// tells, so that it can be written again.
pub(super) fn written(outcome: &DocumentOutcome, state: &State) -> Value {
    let memory = &state.memory_context;
    json!({
        "written": outcome.written,
        "ungrounded": outcome.ungrounded,
        "memory": memory.recent,
        "work": memory.work,
    })
}

/// A document that was not written, with the reason.
pub(super) fn not_written(reason: &str) -> Value {
    json!({ "written": [], "why_not": reason })
}
