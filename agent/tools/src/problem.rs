//! An error in a tool's file: file, line, column, field, and the allowed values.

use std::fmt;
use std::path::PathBuf;

use super::yaml::Position;

/// One error in one file. The tool is refused, and the error is shown to the author of the file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The file.
    pub file: PathBuf,
    /// Position in the file.
    pub at: Position,
    /// The field, dotted (`input_schema.properties.query`); empty for the file as a whole.
    pub field: String,
    /// The error and the allowed values.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: ", self.file.display(), self.at.line, self.at.column)?;
        if !self.field.is_empty() {
            write!(f, "{}: ", self.field)?;
        }
        f.write_str(&self.message)
    }
}

/// A JSON pointer as a dotted field: `/config/steps/0/tool` is `config.steps.0.tool`.
pub(super) fn dotted(pointer: &str) -> String {
    pointer.trim_start_matches('/').replace('/', ".").replace("~1", "/").replace("~0", "~")
}
