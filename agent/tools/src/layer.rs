//! The six layers of the tool specification (section 3) and their order.

use std::fmt;

/// The step of a plan in which a tool runs. The order of the variants is the order of execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// Gathers data.
    Collection,
    /// Analyses data.
    Analysis,
    /// Draws conclusions.
    Insight,
    /// Writes content.
    Content,
    /// Writes reports.
    Report,
    /// Acts: notifies, orders, operates.
    Ops,
}

impl Layer {
    /// All layers, in the order of execution.
    pub const ALL: [Self; 6] =
        [Self::Collection, Self::Analysis, Self::Insight, Self::Content, Self::Report, Self::Ops];

    /// The layer's name in a tool's file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Collection => "collection",
            Self::Analysis => "analysis",
            Self::Insight => "insight",
            Self::Content => "content",
            Self::Report => "report",
            Self::Ops => "ops",
        }
    }

    /// Name of the layer's executor (specification, section 3.2), which traces and metrics use for
    /// this step of a plan. The field `executor` of a tool is a different setting.
    pub const fn executor(self) -> &'static str {
        match self {
            Self::Collection => "collection_executor",
            Self::Analysis => "analysis_executor",
            Self::Insight => "insight_executor",
            Self::Content => "content_executor",
            Self::Report => "report_executor",
            Self::Ops => "ops_executor",
        }
    }

    /// The layer with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|layer| layer.name() == name)
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
