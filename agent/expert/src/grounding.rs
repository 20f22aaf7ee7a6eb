//! The agent never computes: every figure in its words must stand in its sources (R-AGENT-2).
//!
//! Sources are the evidence that the words quote, what is remembered of the bearing, and what tools
//! found. Evidence is held to its own source first ([`evidence`]): a path of the event, of the rules
//! (`config.…`), of the memory (`memory.…`) and of the research (`tools.…`) must hold the value that is
//! quoted, a quote from a document must stand in what a tool returned.
//!
//! A figure is grounded if a source has its value, its quantity and its subject: 33 h is no 0.33 g, and
//! no 33 h of another field ([`meaning`]). The value is compared after rounding to the figure's decimals.
//! Units change only where they fit: hours told in days or weeks (rounded down), shares in percent,
//! kHz and Hz. Ages are told in whole units, rounded down. A figure of a document grounds a figure only in a
//! sentence that names the document, so it is never taken for the case's own. A name with digits
//! (`P-101`, `2×BSF`) must be a name that the case knows, that of a document (`MH-05`) one that the evidence
//! quotes, a date a time that the case knows.
//!
//! What the memory's summary says is held to the telling of the memory itself, because its figures
//! belong together (so many judgements of a risk, from then to then).
//!
//! A figure without a source is withheld: [`withhold`] puts a mark in its place and leaves the rest
//! of the sentence, as the advice around it may be needed. The caller counts and logs it.

use pdm_shared::bounds::{MAX_WORD, shown};
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::event::Event;
use pdm_shared::text::Text;

use crate::case::Memory;
use crate::memory;
use crate::research::Inquiry;
use crate::rules::Rules;

mod evidence;
mod figures;
mod meaning;
mod sources;

use evidence::Truth;
pub use sources::Sources;

/// The mark in place of a figure without a source.
pub const WITHHELD: (&str, &str) = ("[근거 미확인]", "[unverified]");

/// The grounds of a judgement.
#[derive(Debug, Clone, Copy)]
pub struct Grounds<'a> {
    /// The event.
    pub event: &'a Event,
    /// The memory of the event's bearing.
    pub memory: &'a Memory,
    /// The findings of the tools.
    pub inquiry: &'a Inquiry,
}

impl Sources {
    /// The sources of a diagnosis: the evidence it quotes, its own stage, the ages of what is
    /// remembered, and the names and times of the case. [`withhold`] has taken out evidence that does
    /// not hold what it says.
    pub fn of(diagnosis: &Diagnosis, grounds: &Grounds<'_>) -> Self {
        let (event, mut sources) = (grounds.event, Self::default());
        sources.set_slope_unit(&shown(&event.trend.slope_unit, MAX_WORD));
        for evidence in diagnosis.thoughts.iter().flat_map(|thought| &thought.evidence) {
            match (&evidence.source, evidence.value.as_str()) {
                (Some(_), quote) => {
                    let document = evidence::document_of(&evidence.path).unwrap_or_default();
                    let number = evidence.value.as_number().map(ToString::to_string);
                    let quote = quote.map(str::to_owned).or(number).unwrap_or_default();
                    sources.add_quote(document, &quote);
                }
                (None, _) => sources.add(&evidence.path, &evidence.value),
            }
        }
        sources.add_stage(diagnosis.fault_stage);
        for remembered in &grounds.memory.recent {
            let seconds = diagnosis.judged_at.seconds_since(remembered.measured_at);
            sources.add_age(seconds, remembered.risk);
            sources.add_time(remembered.measured_at);
        }
        sources.add_time(event.measured_at);
        sources.add_time(diagnosis.judged_at);
        let windows = serde_json::json!(event.anomaly.baseline.windows);
        sources.add("anomaly.baseline.windows", &windows);
        sources.add_names(diagnosis, grounds);
        sources
    }

    fn add_names(&mut self, diagnosis: &Diagnosis, grounds: &Grounds<'_>) {
        let event = grounds.event;
        for name in [
            event.site.as_str(),
            event.equipment_id.as_str(),
            event.bearing_id.as_str(),
            event.measuring_point.as_ref().map_or("", |point| point.as_str()),
            &shown(&event.trend.feature, MAX_WORD),
        ] {
            self.add_name(name);
        }
        for evidence in diagnosis.thoughts.iter().flat_map(|thought| &thought.evidence) {
            if let Some(name) = evidence::document_of(&evidence.path) {
                self.add_document(name);
            }
        }
    }

    /// Withholds from a summary of the memory the figures that the telling of the memory has not.
    fn withhold_memory(
        &self,
        told: &mut Text,
        grounds: &Grounds<'_>,
        at: &Diagnosis,
    ) -> Vec<String> {
        let truth = memory::tell(&grounds.memory.recent, at.judged_at).summary;
        if *told == truth {
            return Vec::new();
        }
        let units = [self.slope_unit().to_owned()];
        let hold =
            |told: &str, truth: &str, mark: &str| figures::differing(told, truth, &units, mark);
        let (ko, mut missing) = hold(&told.ko, &truth.ko, WITHHELD.0);
        let (en, more) = hold(&told.en, &truth.en, WITHHELD.1);
        missing.extend(more);
        if !missing.is_empty() {
            *told = Text { ko, en };
        }
        missing
    }
}

/// The texts of a diagnosis but the summary of its memory.
fn texts(diagnosis: &mut Diagnosis) -> impl Iterator<Item = &mut Text> {
    diagnosis
        .thoughts
        .iter_mut()
        .map(|thought| &mut thought.conclusion)
        .chain([&mut diagnosis.recommendation])
        .chain(&mut diagnosis.uncertainty.causes)
        .chain(&mut diagnosis.disagreement)
}

/// Withholds from a diagnosis what has no source: evidence that does not hold what it says, and figures
/// in its texts. Tells what was withheld; empty when all is well.
pub fn withhold(diagnosis: &mut Diagnosis, grounds: &Grounds<'_>, rules: &Rules) -> Vec<String> {
    let truth = Truth::of(grounds, rules);
    let mut missing = Vec::new();
    for thought in &mut diagnosis.thoughts {
        thought.evidence.retain(|evidence| {
            let stands = truth.holds(evidence);
            if !stands {
                missing.push(format!("{} = {}", evidence.path, evidence.value));
            }
            stands
        });
    }
    let sources = Sources::of(diagnosis, grounds);
    missing.extend(texts(diagnosis).flat_map(|text| sources.withhold(text)));
    let mut summary = diagnosis.memory.summary.clone();
    missing.extend(sources.withhold_memory(&mut summary, grounds, diagnosis));
    diagnosis.memory.summary = summary;
    missing
}

#[cfg(test)]
mod tests;
