//! The cases that research compared with the present one, and the changes that it made in the
//! judgement.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fault::Fault;
use crate::text::Text;

/// The result of the research of a judgement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResearchSummary {
    /// Rounds of questions.
    pub rounds: u32,
    /// Questions that were asked.
    pub questions: u32,
    /// Past cases that were compared with this one, most alike first.
    pub compared: Vec<ComparedCase>,
    /// What the research changed in the judgement, or added to it.
    pub changes: Vec<ResearchChange>,
    /// What was left open.
    pub open: Vec<Text>,
    /// Why no more was asked.
    pub ended: ResearchEnd,
}

/// A past case, compared sign by sign.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedCase {
    /// The document of the case.
    pub document: String,
    /// The element that was damaged in that case, if one was.
    pub element: Option<Fault>,
    /// The signs that both cases have a figure or word for.
    pub signs: Vec<Sign>,
    /// The place of this case on the course of that one: hours before its end.
    pub hours_before_end: Option<f64>,
    /// How long that case took for the stage of this one, or for the one before, h: the time that
    /// is told beside this bearing's own.
    pub stage_took_h: Option<f64>,
    /// The passage of that place, in the document's own words.
    pub passage: Option<String>,
    /// What was done in that case, in the document's own words.
    pub action: Option<String>,
    /// Whether that case speaks against this judgement.
    pub against: bool,
}

/// One sign in both cases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sign {
    /// The sign: `line_snr_db`, `harmonics`, `sidebands`, `level_ratio`, `kurtosis`,
    /// `velocity_mm_s`, `stage`, `acceleration`.
    pub name: String,
    /// The value here.
    pub here: f64,
    /// The value in the past case.
    pub there: f64,
    /// Whether the two agree.
    pub side: SignSide,
}

/// Whether a sign is alike in two cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SignSide {
    /// Alike.
    Agrees,
    /// This case is further on.
    Further,
    /// This case is less far.
    LessFar,
}

/// One thing that research changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResearchChange {
    /// What was changed.
    pub effect: ResearchEffect,
    /// The change in words.
    pub text: Text,
    /// The document that it rests on, if one.
    pub document: Option<String>,
}

/// What research can change.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ResearchEffect {
    /// Cases of the same stage show the same signs.
    StageConfirmed,
    /// Cases with these signs were at another stage.
    StageDoubted,
    /// Cases of this kind went as fast.
    SpeedConfirmed,
    /// Cases of this kind went faster or slower.
    SpeedDoubted,
    /// Similar cases lived as long as the model says.
    LifeConfirmed,
    /// A similar case ended before the model's lower bound.
    LifeDoubted,
    /// A case with these signs ended otherwise.
    Contradiction,
    /// Nothing like this case is known.
    NothingKnown,
}

/// Why research ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResearchEnd {
    /// Nothing was left open.
    Answered,
    /// The last round brought nothing new.
    NothingNew,
    /// The budget of rounds or calls was used.
    Budget,
}
