//! The errors of a tool call, in texts that the caller (a model, the expert, another program) can
//! act on.

/// A call that failed. No variant stops a workflow, which continues without the answer and says so.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ToolError {
    /// No such tool. The caller chooses one that exists.
    #[error("there is no tool {tool}; there are: {known}")]
    Unknown {
        /// The name that was given.
        tool: String,
        /// The existing tools.
        known: String,
    },
    /// Arguments that the input schema does not allow. The caller corrects them and calls again.
    #[error("{tool}: wrong arguments: {}", complaints.join("; "))]
    Arguments {
        /// The tool.
        tool: String,
        /// The errors, each with its argument.
        complaints: Vec<String>,
    },
    /// The tool refuses, and will refuse the same call again.
    #[error("{tool}: {reason}")]
    Refused {
        /// The tool.
        tool: String,
        /// The reason.
        reason: String,
    },
    /// All attempts failed because a service that the tool needs is away. A later call may succeed.
    #[error("{tool}: failed {attempts} times, at last: {reason}")]
    Unavailable {
        /// The tool.
        tool: String,
        /// Attempts made.
        attempts: u32,
        /// The reason of the last failure.
        reason: String,
    },
    /// The tool answered, but not as its output schema requires.
    #[error("{tool}: malformed answer: {}", complaints.join("; "))]
    Malformed {
        /// The tool.
        tool: String,
        /// The errors of the answer.
        complaints: Vec<String>,
    },
}

impl ToolError {
    /// One word for the variant, for metrics and traces.
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
