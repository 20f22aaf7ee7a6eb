//! What is wrong with a tool's file: file, line, column, field, and what is allowed instead.

use std::fmt;
use std::path::PathBuf;

use super::yaml::Position;

/// One thing that is wrong with one file. The tool is refused; the person who wrote it is told.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Which file.
    pub file: PathBuf,
    /// Where in it.
    pub at: Position,
    /// Which field, dotted (`input_schema.properties.query`); empty for the file as a whole.
    pub field: String,
    /// What is wrong and what is allowed.
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

/// A JSON pointer as people write a field: `/config/steps/0/tool` is `config.steps.0.tool`.
pub(super) fn dotted(pointer: &str) -> String {
    pointer.trim_start_matches('/').replace('/', ".").replace("~1", "/").replace("~0", "~")
}
