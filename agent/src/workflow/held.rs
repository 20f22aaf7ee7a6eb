//! A language model in the loop (`[judging] reasoner = "llm"`): which judgements are held for it,
//! and how its answer becomes part of them.
//!
//! The expert's judgement is the floor. Between `reasoning` and `parse_diagnosis` the run is held:
//! the judging task puts it aside, asks the model elsewhere, and hands the answer back in
//! [`State::held_answer`]. Risk is the higher of both; fault, stage, remaining life and conclusions
//! stay the expert's, and the model's words stand beside them by thought.

use pdm_expert::Judgement;
use pdm_expert::case::Memory;
use pdm_reasoner::opinion::disagreement;
use pdm_shared::diagnosis::{OpinionStance, Reasoner};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;

use super::Workflow;
use super::node::Node;
use super::run::Run;
use super::state::State;

/// Which judgements are held for a model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HoldTerms {
    /// The lowest risk whose news are held.
    pub(crate) from: RiskLevel,
    /// The lowest risk that is told at once.
    pub(crate) at_once_from: RiskLevel,
}

/// Whether a model is asked about a judgement: news of this risk or above, in the order of their
/// time.
pub(crate) fn is_asked_about(judgement: &Judgement, memory: &Memory, from: RiskLevel) -> bool {
    judgement.diagnosis.risk_level >= from
        && !judgement.late
        && !judgement.ahead
        && pdm_expert::research::is_news(&judgement.diagnosis, &memory.recent)
}

impl Run {
    /// Whether the judgement has to be held for a model before the run goes on.
    pub(super) fn is_to_be_held(&self, workflow: &Workflow) -> bool {
        let Some(terms) = &workflow.holds else { return false };
        let state = &self.state;
        self.node == Node::ParseDiagnosis
            && !state.held
            && state.diagnosis_result.as_ref().is_some_and(|judgement| {
                judgement.diagnosis.risk_level < terms.at_once_from
                    && is_asked_about(judgement, &state.memory_context, terms.from)
            })
    }

    /// Whether the judgement was held, and its answer has not been handed back.
    pub(super) fn has_returned(&self) -> bool {
        self.node == Node::ParseDiagnosis && self.state.held && self.state.held_answer.is_none()
    }
}

impl Workflow {
    /// Returns the judgement with the model's answer in it; without an answer the expert's as it
    /// stands, which says why.
    pub(super) fn with_held_answer(
        &self,
        state: &mut State,
        floor: Box<Judgement>,
    ) -> Box<Judgement> {
        let Some(opinion) = state.held_answer.take() else { return floor };
        let judged = floor.diagnosis.risk_level;
        let mut judgement = match opinion.stance {
            Some(OpinionStance::Raises) => {
                let asked = opinion.risk_level.unwrap_or(judged);
                Box::new(self.expert.judgement_raised(state, asked))
            }
            Some(OpinionStance::Agrees | OpinionStance::Lowers) | None => floor,
        };
        let diagnosis = &mut judgement.diagnosis;
        match &opinion.failure {
            None => diagnosis.reasoner = Reasoner::Llm,
            Some(why) => diagnosis.uncertainty.causes.push(Text::new(
                format!("언어 모델 없이 규칙만으로 판정함: {}", why.ko),
                format!("Judged by rules alone, without the language model: {}", why.en),
            )),
        }
        let difference = disagreement(judged, &opinion);
        diagnosis.take_opinion(opinion, difference);
        judgement
    }
}
