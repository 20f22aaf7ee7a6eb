//! The case file: all data from which a report and a work order are written.
//!
//! The caller that runs the judgement fills the case file (the workflow's nodes, or `pdm-agent
//! report` from the store). The documents are functions of the case file alone, so the same file
//! gives the same documents. Invariant: every figure of a document is part of this file
//! (R-AGENT-2).

use std::collections::BTreeMap;

use pdm_expert::case::{PastEvent, Remembered, Work};
use pdm_expert::rules::LeadTime;
use pdm_knowledge::Chunk;
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::event::{Event, Rul};
use pdm_shared::fault::Fault;
use pdm_shared::feature::{Feature, LineFigure};
use pdm_shared::id::EventId;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::waveform::Waveform;

/// Number of a bearing's past windows in a report: one point for each millimetre of a plot on an A4
/// page.
pub const LOOK_BACK: u32 = 180;

/// The data of one judged event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseFile {
    /// The event.
    pub event: Event,
    /// The event's judgement.
    pub diagnosis: Diagnosis,
    /// The bearing's last judgements before this one, newest first.
    pub memory: Vec<Remembered>,
    /// The work that earlier judgements asked for, newest first.
    #[serde(default)]
    pub work: Vec<Work>,
    /// The bearing's windows up to this one, oldest first, at most [`LOOK_BACK`].
    pub history: Vec<HistoryPoint>,
    /// Rounds of deep research, in order; empty if there was none.
    pub research: Vec<ResearchRound>,
    /// Steps of the reasoner, in order.
    pub steps: Vec<ReasoningStep>,
    /// Chunks that the documents quote: the procedure, the guide of the fault, its failure mode.
    pub grounds: Vec<Chunk>,
    /// English of the Korean texts that the research quotes, by the Korean text.
    pub english: BTreeMap<String, String>,
    /// The plant's names of the machine.
    pub asset: Asset,
    /// The plant's data for planning.
    pub planning: Planning,
    /// The waveform; `None` if the agent takes no captures.
    #[serde(default)]
    pub waveform: Option<Waveform>,
}

/// One earlier window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HistoryPoint {
    /// The event.
    pub event_id: EventId,
    /// Start of the window.
    pub measured_at: Timestamp,
    /// The measuring point, where it has a name.
    pub measuring_point: Option<String>,
    /// Whether the signal could be judged.
    pub valid: bool,
    /// The edge's anomaly flag.
    pub anomaly_detected: bool,
    /// Features by their key in the event (`rms_g`, `kurtosis`, `bpfo.snr_db`, …).
    pub features: BTreeMap<String, f64>,
    /// Remaining life as the edge stated it at that time.
    pub rul: Rul,
    /// Risk level of the judgement; `None` if the window was not judged.
    pub risk: Option<RiskLevel>,
    /// Stage of the judgement; `None` if the window was not judged.
    pub stage: Option<u8>,
}

impl HistoryPoint {
    /// The point of a stored window.
    pub fn of(past: &PastEvent) -> Self {
        let event = &past.event;
        Self {
            event_id: event.event_id,
            measured_at: event.measured_at,
            measuring_point: event.measuring_point.as_ref().map(ToString::to_string),
            valid: event.signal_quality.valid,
            anomaly_detected: event.anomaly_detected,
            features: features(event),
            rul: event.rul.clone(),
            risk: past.judged.as_ref().map(|judged| judged.risk),
            stage: past.judged.as_ref().map(|judged| judged.stage),
        }
    }
}

/// The event's measured features by the keys that `trend.feature` uses.
pub fn features(event: &Event) -> BTreeMap<String, f64> {
    let levels = [LineFigure::Level, LineFigure::EnvelopeAmplitude, LineFigure::Amplitude];
    let lines = Fault::ALL
        .into_iter()
        .flat_map(|fault| levels.map(|figure| Feature::Line(Some(fault), figure)));
    let measured = Feature::OF_WAVEFORM.into_iter().chain(lines);
    measured.filter_map(|one| Some((one.key().into_owned(), event.figure(&one)?))).collect()
}

/// One round of deep research: a question, its hits and the lesson.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResearchRound {
    /// Number of the round, from 1.
    pub round: u32,
    /// The tool of the round.
    pub tool: String,
    /// The question.
    pub question: String,
    /// The reason for the question: the acceleration, or a result of the round before.
    pub why: Text,
    /// The hits, best first.
    pub hits: Vec<ResearchHit>,
    /// The lesson from the hits.
    pub learnt: Text,
}

/// One hit of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResearchHit {
    /// The chunk, such as `MH-03`.
    pub id: String,
    /// The document's title.
    pub title: String,
    /// Source of the chunk.
    pub source: String,
    /// The quoted passage, unchanged.
    pub quote: String,
}

/// One step of the reasoner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReasoningStep {
    /// Number of the step, from 1.
    pub number: u32,
    /// The node of the workflow, such as `reasoning` or `tool_executor`.
    pub node: String,
    /// Time of the step.
    pub at: Timestamp,
    /// Description of the step.
    pub what: Text,
}

/// The plant's names of the machine, shown beside the identities.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Asset {
    /// The plant's name.
    pub site: Option<Text>,
    /// The machine's name.
    pub equipment: Option<Text>,
    /// Location of the bearing on the machine.
    pub location: Option<Text>,
    /// The bearing's designation with its suffixes, such as `6205-2RS/C3`.
    pub designation: Option<String>,
    /// The zone of the plant's clock, such as `Asia/Seoul`.
    pub zone: Option<String>,
}

/// The plant's data for planning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Planning {
    /// Time that a replacement takes to arrange.
    pub lead_time: LeadTime,
    /// Number of people for a replacement.
    pub people: Option<u32>,
    /// Hours of work for a replacement.
    pub work_hours: Option<f64>,
    /// Name of the planner.
    pub planner: Option<String>,
}
