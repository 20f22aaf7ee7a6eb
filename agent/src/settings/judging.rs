//! `[judging]`: who judges, and how long a judgement waits for a language model.

use std::path::Path;

use pdm_reasoner::settings::ReasonerSettings;
use pdm_reasoner::verdict::VerdictPlace;
use pdm_service::config::{ConfigError, within};
use pdm_shared::diagnosis::Reasoner;
use pdm_shared::risk::RiskLevel;
use serde::Deserialize;

/// Longest wait that may be set, s.
const LONGEST_WAIT_S: f64 = 3600.0;

/// `[judging]`
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JudgingSettings {
    /// Who judges: the rules alone (`expert`), or the rules with a language model whose verdict is
    /// part of the judgement (`llm`).
    pub reasoner: Reasoner,
    /// Longest wait of a judgement for the model, s.
    pub wait_s: f64,
    /// Judgements by rules of this risk or above are told at once; the model's words follow.
    pub at_once_from: RiskLevel,
}

impl Default for JudgingSettings {
    /// Chosen. Two minutes: ten calls of tools take eleven turns, at eight seconds each (assumed,
    /// not measured) one and a half. A Watch asks for closer measuring and a Warning for a
    /// replacement that is planned over the lead time of parts (168 h by default), so two minutes
    /// cost them nothing. A Critical asks to stop the machine: it waits for nobody.
    fn default() -> Self {
        Self { reasoner: Reasoner::Expert, wait_s: 120.0, at_once_from: RiskLevel::Critical }
    }
}

impl JudgingSettings {
    pub(super) fn check(
        &self,
        path: &Path,
        model: Option<&ReasonerSettings>,
    ) -> Result<(), ConfigError> {
        within(path, "judging.wait_s", self.wait_s, LONGEST_WAIT_S, "seconds")?;
        if !self.has_model() {
            return Ok(());
        }
        let refused =
            |allowed: &str| Err(ConfigError::value(path, "judging.reasoner", "llm", allowed));
        match model {
            None => refused("\"expert\", or \"llm\" with a model in [reasoner]"),
            Some(model) if !model.opinion.enabled => {
                refused("\"expert\", or \"llm\" with enabled = true in [reasoner.opinion]")
            }
            Some(_) => Ok(()),
        }
    }

    /// The place of the model's verdicts.
    pub const fn place(&self) -> VerdictPlace {
        if self.has_model() { VerdictPlace::InTheLoop } else { VerdictPlace::Beside }
    }

    /// Whether a language model is part of judgements.
    pub const fn has_model(&self) -> bool {
        matches!(self.reasoner, Reasoner::Llm)
    }
}
