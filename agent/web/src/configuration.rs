//! The program's configuration as pages change it: single changes of a TOML file, which a program
//! checks as at its start and writes whole. What no change names stays byte for byte.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

/// A step on the way to a table of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ConfigStep {
    /// The table of a key.
    Key(String),
    /// One of a list of tables, from 0.
    At(usize),
}

/// One change of the file.
#[derive(Debug, Clone, PartialEq)]
pub enum ConfigChange {
    /// A key of a table gets a value; a table that is not there is made.
    Set {
        /// The table.
        table: Vec<ConfigStep>,
        /// The key.
        key: String,
        /// The value.
        value: toml::Value,
    },
    /// A key goes: its default counts.
    Unset {
        /// The table.
        table: Vec<ConfigStep>,
        /// The key.
        key: String,
    },
    /// A list of tables gets one more, at its end.
    Append {
        /// The table that has the list.
        table: Vec<ConfigStep>,
        /// The list's key.
        list: String,
        /// The keys of the new table, in their order.
        entries: Vec<(String, toml::Value)>,
    },
    /// A table of a list goes, with everything in it.
    Remove {
        /// The table; its last step is a number.
        table: Vec<ConfigStep>,
    },
}

impl ConfigChange {
    /// Returns the name of the changed value, without the value, which may be a secret address.
    pub fn subject(&self) -> String {
        match self {
            Self::Set { table, key, .. } | Self::Unset { table, key } => {
                format!("{}.{key}", dotted(table))
            }
            Self::Append { table, list, .. } => format!("{}.{list} +", dotted(table)),
            Self::Remove { table } => format!("{} -", dotted(table)),
        }
    }
}

/// A way as one word: `notify.rota.0.shift.1`.
pub fn dotted(table: &[ConfigStep]) -> String {
    let words = table.iter().map(|step| match step {
        ConfigStep::Key(key) => key.clone(),
        ConfigStep::At(number) => number.to_string(),
    });
    words.collect::<Vec<_>>().join(".")
}

/// The file as it stands.
#[derive(Debug, Clone)]
pub struct ConfigurationText {
    /// The file's path.
    pub path: String,
    /// Its values.
    pub values: toml::Table,
    /// The digest of this content: a change names the content that it is made to.
    pub digest: String,
    /// Why this program cannot write the file, if it cannot.
    pub unwritable: Option<String>,
}

/// The difference that changes would make to the file.
#[derive(Debug, Clone)]
pub struct ConfigurationProposal {
    /// The lines that change, with those around them.
    pub lines: Vec<ChangedLine>,
    /// The content that is changed.
    pub digest: String,
}

/// A line of a difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChangedLine {
    /// `+`, `-`, or a blank for a line that stays.
    pub mark: char,
    /// The line.
    pub text: String,
}

/// Why a change is not made. Nothing of it was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigurationRefusal {
    /// The file cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// The program would not start with it.
    #[error("{0}")]
    Wrong(String),
    /// The file is written in a form that a page does not change.
    #[error("{0}")]
    Form(String),
    /// The file is another one than that which the page showed.
    #[error("the file was changed meanwhile")]
    Meanwhile,
    /// The file cannot be written.
    #[error("{0}")]
    Unwritable(String),
    /// Nothing changes.
    #[error("nothing was changed")]
    Same,
}

/// The file of a running program.
#[async_trait]
pub trait ConfigurationFile: Send + Sync + std::fmt::Debug {
    /// The file as it stands.
    async fn read(&self) -> Result<ConfigurationText, ConfigurationRefusal>;

    /// Returns the difference that changes would make, checked as at a start.
    async fn propose(
        &self,
        changes: &[ConfigChange],
    ) -> Result<ConfigurationProposal, ConfigurationRefusal>;

    /// Writes the changes of the content that `digest` names, and lets the program read it again.
    async fn apply(
        &self,
        changes: &[ConfigChange],
        digest: &str,
    ) -> Result<ConfigurationProposal, ConfigurationRefusal>;
}
