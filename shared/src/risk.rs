//! The four risk levels of a judgement.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::Text;

/// Risk of a bearing, ordered: `Normal < Watch < Warning < Critical`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub enum RiskLevel {
    /// No action needed.
    Normal,
    /// Observe more often.
    Watch,
    /// Plan the replacement.
    Warning,
    /// Act now.
    Critical,
}

impl RiskLevel {
    /// All four, lowest first.
    pub const ALL: [Self; 4] = [Self::Normal, Self::Watch, Self::Warning, Self::Critical];

    /// The word on the wire, which is also the English label.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "Normal",
            Self::Watch => "Watch",
            Self::Warning => "Warning",
            Self::Critical => "Critical",
        }
    }

    /// The label for people: 정상 / 주의 / 경고 / 위험.
    pub fn label(self) -> Text {
        let ko = match self {
            Self::Normal => "정상",
            Self::Watch => "주의",
            Self::Warning => "경고",
            Self::Critical => "위험",
        };
        Text::new(ko, self.as_str())
    }

    /// The next higher level; `Critical` stays.
    #[must_use]
    pub const fn raised(self) -> Self {
        match self {
            Self::Normal => Self::Watch,
            Self::Watch => Self::Warning,
            Self::Warning | Self::Critical => Self::Critical,
        }
    }
}

impl fmt::Display for RiskLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::str::FromStr for RiskLevel {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|level| level.as_str() == word)
            .ok_or_else(|| format!("{word:?} is no risk level: Normal, Watch, Warning or Critical"))
    }
}
