//! Why a call of a tool failed, in words that the caller (a model, the expert, another program) can
//! act on.

/// A call that failed. None of these stops a workflow: it goes on without the answer and says so.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ToolError {
    /// No such tool: choose one that is there.
    #[error("there is no tool {tool}; there are: {known}")]
    Unknown {
        /// What was asked for.
        tool: String,
        /// What there is.
        known: String,
    },
    /// Arguments that the input schema does not allow: correct them and call again.
    #[error("{tool}: wrong arguments: {}", complaints.join("; "))]
    Arguments {
        /// The tool.
        tool: String,
        /// What is wrong, each with the argument it is about.
        complaints: Vec<String>,
    },
    /// The tool will not do this, however often it is asked.
    #[error("{tool}: {reason}")]
    Refused {
        /// The tool.
        tool: String,
        /// Why.
        reason: String,
    },
    /// All attempts failed: what the tool needs is away. Later it may answer.
    #[error("{tool}: failed {attempts} times, at last: {reason}")]
    Unavailable {
        /// The tool.
        tool: String,
        /// Attempts made.
        attempts: u32,
        /// Why the last one failed.
        reason: String,
    },
    /// It answered, but not what its output schema promises.
    #[error("{tool}: malformed answer: {}", complaints.join("; "))]
    Malformed {
        /// The tool.
        tool: String,
        /// What is wrong with the answer.
        complaints: Vec<String>,
    },
}

impl ToolError {
    /// One word, for metrics and traces.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "unknown",
            Self::Arguments { .. } => "arguments",
            Self::Refused { .. } => "refused",
            Self::Unavailable { .. } => "unavailable",
            Self::Malformed { .. } => "malformed",
        }
    }
}
