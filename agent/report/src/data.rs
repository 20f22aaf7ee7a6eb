//! The report as data (`pdm.report/1`): the content of the pages in both languages, for programs.
//!
//! The names of quantities contain their unit; a value of the event has its JSON path beside it.

use std::collections::BTreeMap;

use pdm_expert::case::Remembered;
use pdm_shared::diagnosis::{Evidence, Reasoner, RulAssessment, ToolUse, Uncertainty};
use pdm_shared::fault::Fault;
use pdm_shared::id::{BearingId, EquipmentId, EventId, SiteId};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::case_file::ResearchRound;
use super::findings::{BETWEEN_QUOTES, quotes};
use super::waveform::Waveform;

/// The value of `schema` in a report.
pub const REPORT_SCHEMA: &str = "pdm.report/1";

/// A judgement, presented for a person who has to decide.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// Always [`REPORT_SCHEMA`].
    pub schema: String,
    /// The event that was judged.
    pub event_id: EventId,
    /// The bearing.
    pub subject: Subject,
    /// Start of the window.
    pub measured_at: Timestamp,
    /// Time of the judgement.
    pub judged_at: Timestamp,
    /// The reasoner that judged.
    pub reasoner: Reasoner,
    /// The risk level.
    pub risk_level: RiskLevel,
    /// The faulty element; `null` if none is named.
    pub fault_type: Option<Fault>,
    /// Stage on the P–F curve, 1–4; 0 without a sign of damage.
    pub fault_stage: u8,
    /// The remaining life to plan with.
    pub rul_assessment: RulAssessment,
    /// The most important statements, in the order of their importance.
    pub summary: Vec<SummaryLine>,
    /// The recommended action.
    pub recommendation: Text,
    /// The most important measured values.
    pub figures: Vec<Figure>,
    /// The five thoughts: screening, P–F stage, degradation, remaining life, overall risk.
    pub thoughts: Vec<Thinking>,
    /// The bearing's earlier judgements.
    pub memory: Past,
    /// Rounds of deep research.
    pub research: Vec<ResearchRound>,
    /// English of the Korean texts that the research quotes, by the Korean text; only where
    /// documents have it.
    #[serde(default)]
    pub english: BTreeMap<String, String>,
    /// The calls of tools.
    pub tools: Vec<ToolUse>,
    /// The uncertainty of the judgement, with its causes.
    pub uncertainty: Uncertainty,
    /// Observations that would change the judgement.
    pub would_change: Vec<Text>,
    /// The quality of the data, in statements.
    pub data_quality: Vec<Text>,
    /// The difference between two reasoners, where there is one.
    pub disagreement: Option<Text>,
    /// Passages of the knowledge base about the fault.
    pub knowledge: Vec<Passage>,
    /// The data of the plots.
    pub plots: Plots,
    /// The waveform; absent where the agent takes no captures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waveform: Option<Waveform>,
}

impl Report {
    /// Whether this is the full report; below Warning it is a short status.
    pub fn is_full(&self) -> bool {
        self.risk_level >= RiskLevel::Warning
    }

    /// The English of a title, a quote, or several joined quotes, if every part has one.
    pub fn in_english(&self, quoted: &str) -> Option<String> {
        let told = quotes(quoted).map(|quote| self.english.get(quote).map(String::as_str));
        Some(told.collect::<Option<Vec<&str>>>()?.join(BETWEEN_QUOTES))
    }
}

/// The bearing, with the plant's names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Subject {
    /// The site.
    pub site: SiteId,
    /// The machine.
    pub equipment_id: EquipmentId,
    /// The bearing.
    pub bearing_id: BearingId,
    /// Name of the measuring point, if it has one.
    pub measuring_point: Option<String>,
    /// The plant's name.
    pub site_name: Option<Text>,
    /// The machine's name.
    pub equipment_name: Option<Text>,
    /// Location of the bearing on the machine.
    pub location: Option<Text>,
    /// The bearing's designation.
    pub designation: Option<String>,
    /// The zone of the plant's clock, by which the document tells times, by its name in the IANA
    /// database; UTC without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
}

/// A statement under its heading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Line")]
pub struct SummaryLine {
    /// The heading, which names the question of the statement.
    pub label: Text,
    /// The statement.
    pub text: Text,
}

/// A measured value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// Name of the value.
    pub label: Text,
    /// The value.
    pub value: f64,
    /// Unit of the value; empty for a ratio.
    pub unit: String,
    /// JSON path of the value in the event.
    pub path: String,
}

/// One of the five thoughts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Thinking {
    /// The title.
    pub title: Text,
    /// The conclusion.
    pub conclusion: Text,
    /// What a language model in the loop says of it; absent where it said nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_words: Option<Text>,
    /// The evidence for the conclusion.
    pub evidence: Vec<Evidence>,
}

/// The bearing's earlier judgements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Past {
    /// Summary of the earlier judgements, in a sentence.
    pub summary: Text,
    /// The last judgements, newest first.
    pub judgements: Vec<PastJudgement>,
}

/// One earlier judgement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PastJudgement {
    /// Start of the judged window.
    pub measured_at: Timestamp,
    /// The risk level.
    pub risk_level: RiskLevel,
    /// The stage on the P–F curve.
    pub fault_stage: u8,
    /// The faulty element; `null` if none was named.
    pub fault_type: Option<Fault>,
    /// Start of the first window that was judged so, if there were several within a day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Number of windows that were judged so.
    #[serde(default)]
    pub windows: u32,
    /// Remaining life that was planned with then, h.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rul_hours: Option<f64>,
    /// The recommendation then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recommendation: Option<Text>,
    /// The documents that were found then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub documents: Vec<String>,
}

impl From<&Remembered> for PastJudgement {
    fn from(remembered: &Remembered) -> Self {
        Self {
            measured_at: remembered.measured_at,
            risk_level: remembered.risk,
            fault_stage: remembered.stage,
            fault_type: remembered.fault,
            since: remembered.since,
            windows: remembered.windows,
            rul_hours: remembered.rul_hours,
            recommendation: remembered.advice.clone(),
            documents: remembered.documents.clone(),
        }
    }
}

/// A passage of the knowledge base, unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Passage {
    /// The passage's heading.
    pub title: Text,
    /// The passage, item by item.
    pub items: Vec<Text>,
    /// Document and section of the passage.
    pub source: String,
}

/// The data of the plots.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plots {
    /// The leading feature over time.
    pub trend: Option<TrendPlot>,
    /// The spectrum on which the verdict rests.
    pub envelope: Option<EnvelopePlot>,
    /// The risk over time.
    pub risk: Option<RiskPlot>,
}

/// The leading feature over time, and its expected end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrendPlot {
    /// The feature's key in the event.
    pub feature: String,
    /// The feature's unit.
    pub unit: String,
    /// The feature's values, oldest first.
    pub points: Vec<TrendPoint>,
    /// The remaining life as times.
    pub end: Option<EndOfLife>,
    /// Level of the feature in health, in the feature's unit.
    #[serde(default)]
    pub baseline_level: Option<f64>,
    /// Limit above which a window counts against the baseline, in the feature's unit.
    #[serde(default)]
    pub baseline_limit: Option<f64>,
}

/// One value of the feature.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrendPoint {
    /// Time of the value.
    pub at: Timestamp,
    /// The value.
    pub value: f64,
    /// Whether the edge's anomaly flag was set.
    pub anomaly: bool,
}

/// The expected end of life: the window's time plus the hours of `rul`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EndOfLife {
    /// Lower bound of the end of life.
    pub low_at: Timestamp,
    /// Median of the end of life.
    pub median_at: Timestamp,
    /// Upper bound of the end of life.
    pub high_at: Timestamp,
}

/// The envelope spectrum with the defect frequencies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EnvelopePlot {
    /// Distance between neighbouring lines.
    pub df_hz: f64,
    /// Unit of the amplitudes.
    pub unit: String,
    /// Amplitudes at 0, df, 2 df, …
    pub amplitude: Vec<f64>,
    /// The defect frequencies and their multiples.
    pub marks: Vec<SpectrumMark>,
}

/// A frequency at which a defect would be visible.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpectrumMark {
    /// `BPFO`, `2×BPFO`, …
    pub label: String,
    /// The fault of this frequency.
    pub fault: Fault,
    /// The frequency.
    pub frequency_hz: f64,
    /// Level above the floor.
    pub snr_db: Option<f64>,
    /// Whether the frequency belongs to the named fault.
    pub named: bool,
}

/// The risk over time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RiskPlot {
    /// Judgements, oldest first.
    pub points: Vec<RiskPoint>,
}

/// One judgement of the risk plot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RiskPoint {
    /// Start of the judged window.
    pub at: Timestamp,
    /// The risk level.
    pub risk_level: RiskLevel,
    /// The stage on the P–F curve.
    pub fault_stage: u8,
}
