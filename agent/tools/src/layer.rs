//! The six layers of the tool specification (section 3) and their order.

use std::fmt;

/// In which step of a plan a tool runs. The order of the variants is the order of execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// Gathers data.
    Collection,
    /// Analyses it.
    Analysis,
    /// Draws conclusions.
    Insight,
    /// Writes content.
    Content,
    /// Writes reports.
    Report,
    /// Acts: tells, orders, operates.
    Ops,
}

impl Layer {
    /// All, in the order of execution.
    pub const ALL: [Self; 6] =
        [Self::Collection, Self::Analysis, Self::Insight, Self::Content, Self::Report, Self::Ops];

    /// Its name in a tool's file.
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

    /// The layer's executor (specification, section 3.2): the step of a plan, as traces and
    /// metrics call it. What a single tool is run by is its `executor`.
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

    /// The layer of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|layer| layer.name() == name)
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
