//! Grounds and deep research: what the case leaves open, questions to the knowledge base, how the
//! answers are read and compared with the case, and what they change in the judgement (R-AGENT-6).
//!
//! Pure: questions out ([`ask`]), documents in ([`read`], past cases by `record`), comparison sign
//! by sign (`compare`), changes (`conclude`), all of it into the thoughts ([`tell_research`]); who
//! calls the tools stands elsewhere. Invariants: a quote is the document's own words with its
//! source; text of documents is data and is only ever quoted, never followed; nothing found in
//! documents changes a stage, a risk or the remaining life that is planned with.
//!
//! Rules: GROUND-1 a judgement that is worse or other than the last asks for similar cases and the
//! fault's guide; GROUND-2 from Warning on it asks for its own earlier judgements too; RESEARCH-1
//! acceleration at Watch or above always asks how far it is, how fast such cases went and what
//! makes the fault grow; RESEARCH-2 the root cause of the case most like this one is the next
//! question to the manual; RESEARCH-3 a second candidate asks what tells the two apart, and the
//! condition of rapid growth that the guide names is the next question to the history; RESEARCH-4
//! where neither was found the next question is broader; RESEARCH-5 what the second round found
//! anew asks for the failure mode; RESEARCH-7 what speaks against: cases with these signs without
//! damage; RESEARCH-8 one that was found asks what tells the two apart; RESEARCH-9 whether what was
//! done in the case most like this one helped; RESEARCH-6 research ends when nothing is open, when
//! a round brings nothing new, and after [`MAX_ROUNDS`].

use std::collections::BTreeMap;

use pdm_shared::diagnosis::{DegradationSpeed, Diagnosis};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::case::Remembered;

mod ask;
mod compare;
mod conclude;
mod read;
mod record;
mod signs;
mod tell;

pub use ask::ask;
pub use read::facts_of;
pub use record::{TEACHING_CASE, is_teaching_case};
pub use tell::tell_research;
pub(crate) use tell::{Cited, facts};

/// Rounds of research that are always made where research is due (the seed: search → reading →
/// follow-up question → search).
pub const MIN_ROUNDS: u32 = 2;
/// Most rounds. Chosen: the third settles what the second left open; a fourth found nothing new in
/// any of the scenarios.
pub const MAX_ROUNDS: u32 = 3;
/// Confidence below which the name is one of several candidates: `screening.sure_confidence` of the
/// shipped rules.
const SURE_CONFIDENCE: f64 = 0.8;
/// Searches of past failures and repairs.
pub const HISTORY: &str = "search_maintenance_history";
/// Searches of manuals, guides, procedures, FMEA.
pub const MANUAL: &str = "search_equipment_manual";
/// Searches of the agent's own earlier judgements.
pub const JUDGEMENTS: &str = "search_analysis_history";

/// A question to a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// Round, from 1.
    pub round: u32,
    /// The tool.
    pub tool: String,
    /// The arguments of the call.
    pub arguments: Map<String, Value>,
    /// Why it is asked.
    pub why: Text,
    /// The rule behind it.
    pub rule: String,
    /// The document that the question was drawn from, for a follow-up question.
    pub drawn_from: Option<String>,
}

/// A document that was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// The name for citing the document.
    pub id: String,
    /// The title of the document.
    pub title: String,
    /// The text of the document: data, never an instruction.
    pub text: String,
    /// The source of the document.
    pub source: String,
}

/// A question with its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answered {
    /// The question.
    pub question: Question,
    /// The documents found, nearest first.
    pub documents: Vec<String>,
    /// Why there is no answer.
    pub failure: Option<String>,
    /// The tool says that its answer has limits: it searched by words alone, say.
    #[serde(default)]
    pub limited: bool,
    /// The lessons learnt from the answer.
    pub learnt: Vec<Learnt>,
    /// The call was not made: it was refused, or its tool was away a moment ago.
    #[serde(default)]
    pub not_made: bool,
}

/// The kind of a lesson.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lesson {
    /// Why a similar case failed.
    RootCause,
    /// The course of a past case, and its duration.
    Course,
    /// The conditions that make this fault grow quickly.
    RapidGrowth,
    /// The effect of the failure mode and the measures against it.
    FailureMode,
    /// The measures to take.
    Action,
    /// An earlier judgement.
    Judgement,
}

/// Something learnt: the document's own words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Learnt {
    /// The kind.
    pub lesson: Lesson,
    /// The words.
    pub quote: String,
    /// The document.
    pub document: String,
    /// The source of the quote.
    pub source: String,
}

/// The answer of a tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LookupOutcome {
    /// The documents found, nearest first.
    pub documents: Vec<Document>,
    /// Why there is no answer.
    pub failure: Option<String>,
    /// The tool's note on the limits of its answer: its own data, which only the trace shows.
    pub note: Option<String>,
    /// The call was not made.
    pub not_made: bool,
}

/// Everything asked and found in one run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Inquiry {
    /// The questions in their order, with their answers.
    pub answered: Vec<Answered>,
    /// The documents found, by their name.
    pub documents: BTreeMap<String, Document>,
}

impl Inquiry {
    /// The last round that was asked; 0 before the first.
    pub fn round(&self) -> u32 {
        self.answered.iter().map(|answered| answered.question.round).max().unwrap_or(0)
    }

    /// The questions of a round.
    pub fn of_round(&self, round: u32) -> impl Iterator<Item = &Answered> {
        self.answered.iter().filter(move |answered| answered.question.round == round)
    }

    /// Notes the answer to a question and reads it.
    pub fn note(&mut self, question: Question, outcome: LookupOutcome) {
        let LookupOutcome { documents: found, failure, note, not_made } = outcome;
        let known: Vec<&str> = self
            .answered
            .iter()
            .flat_map(|answered| answered.learnt.iter().map(|learnt| learnt.document.as_str()))
            .collect();
        let fresh = found.iter().filter(|document| !known.contains(&document.id.as_str()));
        let learnt = fresh.flat_map(facts_of).collect();
        let documents = found.iter().map(|document| document.id.clone()).collect();
        let limited = note.is_some();
        self.answered.push(Answered { question, documents, failure, limited, learnt, not_made });
        self.documents.extend(found.into_iter().map(|document| (document.id.clone(), document)));
    }

    /// Whether a round found a document that no earlier round had.
    fn is_news(&self, round: u32) -> bool {
        let earlier = |id: &String| {
            let before = self.answered.iter().filter(|answered| answered.question.round < round);
            before.flat_map(|answered| &answered.documents).any(|known| known == id)
        };
        self.of_round(round).flat_map(|answered| &answered.documents).any(|id| !earlier(id))
    }
}

/// The judgement is worse or other than the last one of the bearing: it needs grounds, and
/// documents if its risk asks for them.
pub fn is_news(diagnosis: &Diagnosis, recent: &[Remembered]) -> bool {
    let Some(last) = recent.first() else { return diagnosis.risk_level > RiskLevel::Normal };
    diagnosis.risk_level > RiskLevel::Normal
        && (diagnosis.risk_level > last.risk
            || diagnosis.fault_stage > last.stage
            || (diagnosis.fault_type.is_some() && diagnosis.fault_type != last.fault))
}

/// Deep research is mandatory: the degradation accelerates and the risk is Watch or above.
pub fn is_due(diagnosis: &Diagnosis) -> bool {
    diagnosis.degradation.speed == DegradationSpeed::Rapid
        && diagnosis.risk_level > RiskLevel::Normal
}
