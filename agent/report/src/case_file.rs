//! The case file: everything a report and a work order are written from, as pure data.
//!
//! Whoever runs the judgement fills it (the workflow's nodes, or `pdm-agent report` from the
//! store); the documents are functions of it alone, so the same file gives the same documents.
//! Invariant: every figure of a document stands in here (R-AGENT-2).

use std::collections::BTreeMap;

use pdm_expert::case::{PastEvent, Remembered};
use pdm_expert::rules::LeadTime;
use pdm_knowledge::Chunk;
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::event::{Event, Rul, TimeDomain};
use pdm_shared::fault::Fault;
use pdm_shared::id::EventId;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Windows of a bearing's past that a report looks back on. Chosen: a point a millimetre in a plot
/// across an A4 page.
pub const LOOK_BACK: u32 = 180;

/// Everything about one judged event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseFile {
    /// The event.
    pub event: Event,
    /// Its judgement.
    pub diagnosis: Diagnosis,
    /// The bearing's last judgements before this one, newest first.
    pub memory: Vec<Remembered>,
    /// The bearing's windows up to this one, oldest first, at most [`LOOK_BACK`].
    pub history: Vec<HistoryPoint>,
    /// Rounds of deep research, in their order; empty if there was none.
    pub research: Vec<ResearchRound>,
    /// What the reasoner did, in its order.
    pub steps: Vec<ReasoningStep>,
    /// What was looked up for the documents: the procedure, the fault's guide, its failure mode.
    pub grounds: Vec<Chunk>,
    /// English of what the research quotes in Korean, by its own words.
    pub english: BTreeMap<String, String>,
    /// What the plant says of the machine.
    pub asset: Asset,
    /// What the plant says of planning.
    pub planning: Planning,
}

/// One window of the past.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HistoryPoint {
    /// The event.
    pub event_id: EventId,
    /// When it was measured.
    pub measured_at: Timestamp,
    /// The measuring point, where it has a name.
    pub measuring_point: Option<String>,
    /// The signal could be judged.
    pub valid: bool,
    /// The edge's flag.
    pub anomaly_detected: bool,
    /// Features by their key in the event (`rms_g`, `kurtosis`, `bpfo.snr_db`, …).
    pub features: BTreeMap<String, f64>,
    /// Remaining life as it was told then.
    pub rul: Rul,
    /// The judgement's risk, if it was judged.
    pub risk: Option<RiskLevel>,
    /// The judgement's stage, if it was judged.
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
            risk: past.judged.map(|judged| judged.risk),
            stage: past.judged.map(|judged| judged.stage),
        }
    }
}

/// The event's measured features by the keys that `trend.feature` uses.
pub fn features(event: &Event) -> BTreeMap<String, f64> {
    let mut features = of_waveform(&event.time_domain);
    for fault in Fault::ALL {
        let line = event.frequency_domain.line(fault);
        let key = fault.frequency_key();
        for (name, value) in [
            ("snr_db", line.snr_db),
            ("envelope_amplitude", line.envelope_amplitude),
            ("amplitude_g", line.amplitude_g),
        ] {
            features.extend(value.map(|value| (format!("{key}.{name}"), value)));
        }
    }
    features.extend(
        event.frequency_domain.noise_floor_g.map(|floor| ("noise_floor_g".to_owned(), floor)),
    );
    features
}

fn of_waveform(time_domain: &TimeDomain) -> BTreeMap<String, f64> {
    let value = serde_json::to_value(time_domain).unwrap_or_default();
    let fields = value.as_object().into_iter().flatten();
    fields.filter_map(|(key, value)| Some((key.clone(), value.as_f64()?))).collect()
}

/// One round of deep research: a question, what was found, what it taught.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResearchRound {
    /// From 1.
    pub round: u32,
    /// The tool that was asked.
    pub tool: String,
    /// What was asked.
    pub question: String,
    /// Why it was asked: the acceleration, or what the round before found.
    pub why: Text,
    /// What was found, best first.
    pub hits: Vec<ResearchHit>,
    /// What was learnt.
    pub learnt: Text,
}

/// One hit of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResearchHit {
    /// The chunk, such as `MH-03`.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Where it stands.
    pub source: String,
    /// The passage that was used, as it stands there.
    pub quote: String,
}

/// One step of the reasoner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReasoningStep {
    /// From 1.
    pub number: u32,
    /// The node of the workflow, such as `reasoning` or `tool_executor`.
    pub node: String,
    /// When.
    pub at: Timestamp,
    /// What was done, in words.
    pub what: Text,
}

/// What the plant says of the machine; names are shown beside the identities.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Asset {
    /// The plant's name.
    pub site: Option<Text>,
    /// The machine's name.
    pub equipment: Option<Text>,
    /// Where on the machine the bearing sits.
    pub location: Option<Text>,
    /// The bearing's designation with its suffixes, such as `6205-2RS/C3`.
    pub designation: Option<String>,
}

/// What the plant says of planning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Planning {
    /// How long a replacement takes to arrange.
    pub lead_time: LeadTime,
    /// People for a replacement.
    pub people: Option<u32>,
    /// Hours of work for a replacement.
    pub work_hours: Option<f64>,
    /// Who plans.
    pub planner: Option<String>,
}
