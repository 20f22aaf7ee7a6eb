//! The reading of a recording or table, in the event of each of its windows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::EventError;
use super::check::{bounded, line, not_negative};
use crate::bounds::{self, MAX_LINE, MAX_WORD, in_one_line};

/// How the samples of a window were read. Present where the source is a file, which has many
/// possible readings; absent in events of streams and devices, whose form is configured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InputDescription {
    /// Format of the file, as a person calls it.
    #[schemars(length(max = MAX_WORD))]
    pub format: String,
    /// Name of the channel in the file; absent where the file names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = MAX_WORD))]
    pub channel: Option<String>,
    /// Unit of the numbers.
    #[schemars(length(max = MAX_WORD))]
    pub unit: String,
    /// Where the unit comes from.
    pub unit_source: StatementSource,
    /// Where the sampling rate comes from.
    pub rate_source: StatementSource,
    /// Standard deviation of the time from sample to sample over its mean, by the time column;
    /// absent without a time column, and where its digits are too few to tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter_ratio: Option<f64>,
    /// Values of the file that are missing.
    #[serde(default)]
    pub missing_values: u64,
    /// Gaps in the time column.
    #[serde(default)]
    pub gaps: u64,
    /// Samples that the gaps would hold.
    #[serde(default)]
    pub lost_samples: u64,
    /// What else a person should know of the reading, in English.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = MAX_LINE))]
    pub note: Option<String>,
}

/// Where a statement on an input comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StatementSource {
    /// The file states it: header, unit row, comment or metadata.
    File,
    /// It was measured from the time column.
    TimeColumn,
    /// An option of the command or a key of the configuration states it.
    Option,
    /// Nothing states it.
    Assumed,
}

impl InputDescription {
    /// A description within its bounds: texts are cut, and letters that a line must not hold become
    /// spaces.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        let cut = |text: &str, most: usize| {
            let is_shown = |c: char| bounds::line(c.encode_utf8(&mut [0; 4]), MAX_LINE).is_ok();
            let plain: String = text.chars().map(|c| if is_shown(c) { c } else { ' ' }).collect();
            in_one_line(&plain, most).into_owned()
        };
        self.format = cut(&self.format, MAX_WORD);
        self.unit = cut(&self.unit, MAX_WORD);
        self.channel = self.channel.map(|name| cut(&name, MAX_WORD));
        self.note = self.note.map(|note| cut(&note, MAX_LINE));
        self
    }

    /// Checks the bounds.
    pub(super) fn check(&self) -> Result<(), EventError> {
        bounded("input.format", bounds::line(&self.format, MAX_WORD))?;
        bounded("input.unit", bounds::line(&self.unit, MAX_WORD))?;
        if let Some(name) = &self.channel {
            bounded("input.channel", bounds::line(name, MAX_WORD))?;
        }
        line("input.note", self.note.as_ref())?;
        not_negative("input.jitter_ratio", self.jitter_ratio)
    }
}
