//! The slope of the leading feature and the remaining life.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bounds::{LINE_PATTERN, MAX_LINE, MAX_WORD};

/// Slope of the leading feature over hours and days.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trend {
    /// The leading feature, by its key in this event.
    #[schemars(length(max = MAX_WORD), regex(pattern = LINE_PATTERN))]
    pub feature: String,
    /// Theil–Sen slope of the feature.
    pub slope: Option<f64>,
    /// Unit of the slope, such as `g/h`.
    #[schemars(length(max = 32), regex(pattern = LINE_PATTERN))]
    pub slope_unit: String,
    /// 95 % confidence interval of the slope.
    pub slope_ci: Option<[f64; 2]>,
    /// The direction that the confidence interval supports.
    pub trend_direction: TrendDirection,
    /// Whether the later half rises significantly faster than the earlier.
    pub acceleration_detected: bool,
    /// Hours of history in the trend.
    pub span_h: Option<f64>,
    /// Level of the feature in health, in this window's operating state and the feature's own unit;
    /// absent until it is learnt, and in events from before this field existed.
    #[serde(default)]
    pub baseline_level: Option<f64>,
    /// Limit above which a window counts against the baseline (`anomaly.persistence` counts such
    /// windows), in the feature's own unit.
    #[serde(default)]
    pub baseline_limit: Option<f64>,
}

/// Direction of a trend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrendDirection {
    /// The slope's interval lies above 0.
    Rising,
    /// The slope's interval lies below 0.
    Falling,
    /// The interval includes 0, or the change is too small to matter.
    Stable,
    /// Too little data for a direction.
    Unknown,
}

/// Remaining useful life: either the hours with their interval, or the reason why it is unknown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rul {
    /// Best estimate, a little below the middle of the interval, because a late forecast costs more
    /// than an early one.
    pub hours: Option<f64>,
    /// Lower bound of the interval.
    pub ci_low_hours: Option<f64>,
    /// Upper bound of the interval.
    pub ci_high_hours: Option<f64>,
    /// Coverage of the interval, such as 0.8.
    pub confidence: Option<f64>,
    /// The model: `bayesian_exponential` follows this bearing's growth. Earlier edges also told
    /// `population`, the usual course of damaged bearings, which says nothing of this bearing.
    #[schemars(length(max = MAX_WORD), regex(pattern = LINE_PATTERN))]
    pub model: Option<String>,
    /// The reason why there is no figure.
    #[schemars(length(max = MAX_LINE), regex(pattern = LINE_PATTERN))]
    pub unknown: Option<String>,
}

impl Rul {
    /// A remaining life without a figure, for `reason`.
    pub fn unknown(reason: impl Into<String>) -> Self {
        Self { unknown: Some(reason.into()), ..Self::default() }
    }
}
