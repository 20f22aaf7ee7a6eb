//! The report as data (`pdm.report/1`): what the pages show, in both languages, for programs.
//!
//! Quantities carry their unit in their name; a value that stands in the event names its JSON path.

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

/// The value of `schema` in a report.
pub const REPORT_SCHEMA: &str = "pdm.report/1";

/// A judgement told to a person who has to decide.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// Always [`REPORT_SCHEMA`].
    pub schema: String,
    /// The event that was judged.
    pub event_id: EventId,
    /// Which bearing.
    pub subject: Subject,
    /// When the window was measured.
    pub measured_at: Timestamp,
    /// When it was judged.
    pub judged_at: Timestamp,
    /// Who judged.
    pub reasoner: Reasoner,
    /// The risk.
    pub risk_level: RiskLevel,
    /// The element at fault, or none.
    pub fault_type: Option<Fault>,
    /// 0 no sign of damage; 1–4 stage on the P–F curve.
    pub fault_stage: u8,
    /// Remaining life to plan with.
    pub rul_assessment: RulAssessment,
    /// What a reader has to know, in the order of need.
    pub summary: Vec<SummaryLine>,
    /// What to do.
    pub recommendation: Text,
    /// The measured values that matter.
    pub figures: Vec<Figure>,
    /// Screening, P–F stage, degradation, remaining life, overall risk.
    pub thoughts: Vec<Thinking>,
    /// What was remembered of the bearing.
    pub memory: Past,
    /// Rounds of deep research.
    pub research: Vec<ResearchRound>,
    /// English of what the research quotes in Korean, by its own words; where documents have it.
    #[serde(default)]
    pub english: BTreeMap<String, String>,
    /// Tools that were asked.
    pub tools: Vec<ToolUse>,
    /// How sure, and why not surer.
    pub uncertainty: Uncertainty,
    /// What would change the judgement.
    pub would_change: Vec<Text>,
    /// What the data are worth.
    pub data_quality: Vec<Text>,
    /// Where two reasoners differ.
    pub disagreement: Option<Text>,
    /// What the knowledge base says of this fault.
    pub knowledge: Vec<Passage>,
    /// What the plots show.
    pub plots: Plots,
}

impl Report {
    /// Whether it is the whole report; below Warning it is a short status.
    pub fn is_full(&self) -> bool {
        self.risk_level >= RiskLevel::Warning
    }

    /// The English of a title, a quote, or several in one, if all of it has one.
    pub fn in_english(&self, quoted: &str) -> Option<String> {
        let told = quotes(quoted).map(|quote| self.english.get(quote).map(String::as_str));
        Some(told.collect::<Option<Vec<&str>>>()?.join(BETWEEN_QUOTES))
    }
}

/// Which bearing, with the plant's names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Subject {
    /// Site.
    pub site: SiteId,
    /// Machine.
    pub equipment_id: EquipmentId,
    /// Bearing.
    pub bearing_id: BearingId,
    /// Where the sensor sits, where that has a name.
    pub measuring_point: Option<String>,
    /// The plant's name.
    pub site_name: Option<Text>,
    /// The machine's name.
    pub equipment_name: Option<Text>,
    /// Where on the machine the bearing sits.
    pub location: Option<Text>,
    /// The bearing's designation.
    pub designation: Option<String>,
}

/// A statement under its heading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Line")]
pub struct SummaryLine {
    /// What it answers.
    pub label: Text,
    /// The statement.
    pub text: Text,
}

/// A measured value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// What it is.
    pub label: Text,
    /// The value.
    pub value: f64,
    /// Its unit; empty for a ratio.
    pub unit: String,
    /// Where it stands in the event.
    pub path: String,
}

/// One of the five thoughts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Thinking {
    /// Its title.
    pub title: Text,
    /// What it comes to.
    pub conclusion: Text,
    /// What it rests on.
    pub evidence: Vec<Evidence>,
}

/// What was remembered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Past {
    /// Told in a sentence.
    pub summary: Text,
    /// The last judgements, newest first.
    pub judgements: Vec<PastJudgement>,
}

/// One earlier judgement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PastJudgement {
    /// When its window was measured.
    pub measured_at: Timestamp,
    /// Its risk.
    pub risk_level: RiskLevel,
    /// Its stage.
    pub fault_stage: u8,
    /// Its fault.
    pub fault_type: Option<Fault>,
}

impl From<&Remembered> for PastJudgement {
    fn from(remembered: &Remembered) -> Self {
        Self {
            measured_at: remembered.measured_at,
            risk_level: remembered.risk,
            fault_stage: remembered.stage,
            fault_type: remembered.fault,
        }
    }
}

/// A passage of the knowledge base, as it stands there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Passage {
    /// Heading.
    pub title: Text,
    /// The passage, item by item.
    pub items: Vec<Text>,
    /// Where it stands.
    pub source: String,
}

/// What the plots show.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plots {
    /// The leading feature over time.
    pub trend: Option<TrendPlot>,
    /// What the verdict saw.
    pub envelope: Option<EnvelopePlot>,
    /// How the risk came about.
    pub risk: Option<RiskPlot>,
}

/// The leading feature over time, and when its end is expected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrendPlot {
    /// The feature's key in the event.
    pub feature: String,
    /// Its unit.
    pub unit: String,
    /// Its course, oldest first.
    pub points: Vec<TrendPoint>,
    /// Remaining life told as moments.
    pub end: Option<EndOfLife>,
    /// Where the feature lies in health, in its unit.
    #[serde(default)]
    pub baseline_level: Option<f64>,
    /// Above this a window counts against the baseline, in the feature's unit.
    #[serde(default)]
    pub baseline_limit: Option<f64>,
}

/// One value of a course.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrendPoint {
    /// When.
    pub at: Timestamp,
    /// The value.
    pub value: f64,
    /// The edge's flag stood.
    pub anomaly: bool,
}

/// The window's time plus the hours of `rul`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EndOfLife {
    /// Lower bound.
    pub low_at: Timestamp,
    /// Median.
    pub median_at: Timestamp,
    /// Upper bound.
    pub high_at: Timestamp,
}

/// The envelope spectrum with the defect frequencies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EnvelopePlot {
    /// Distance of the lines.
    pub df_hz: f64,
    /// Unit of the amplitudes.
    pub unit: String,
    /// Amplitudes at 0, df, 2 df, …
    pub amplitude: Vec<f64>,
    /// Where the defect frequencies and their multiples are.
    pub marks: Vec<SpectrumMark>,
}

/// A frequency that a defect would show at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpectrumMark {
    /// `BPFO`, `2×BPFO`, …
    pub label: String,
    /// Whose.
    pub fault: Fault,
    /// Where.
    pub frequency_hz: f64,
    /// Level above the floor.
    pub snr_db: Option<f64>,
    /// It belongs to the fault that is named.
    pub named: bool,
}

/// How the risk came about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RiskPlot {
    /// Judgements, oldest first.
    pub points: Vec<RiskPoint>,
}

/// One judgement of a course.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RiskPoint {
    /// When it was measured.
    pub at: Timestamp,
    /// Its risk.
    pub risk_level: RiskLevel,
    /// Its stage.
    pub fault_stage: u8,
}
