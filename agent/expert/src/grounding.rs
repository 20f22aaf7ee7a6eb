//! The agent never computes: every figure in its words must stand in its sources (R-AGENT-2).
//!
//! Sources are the evidence that the words quote, what is remembered of the bearing, and what tools
//! found. Evidence is held to its own source first ([`evidence`]): a path of the event, of the
//! rules (`config.…`), of the memory (`memory.…`) and of the research (`tools.…`) must hold the
//! value that is quoted, a quote from a document must stand in what a tool returned.
//!
//! A figure is grounded if a source has its value, its quantity and its subject: 33 h is no 0.33 g,
//! and no 33 h of another field ([`meaning`]). The value is compared after rounding to the figure's
//! decimals. Units change only where they fit: hours told in days or weeks (rounded, or rounded
//! down), shares in percent, kHz and Hz. Ages are told in whole units, rounded down. A figure of a
//! document grounds a figure only in a sentence that names the document, so it is never taken for
//! the case's own. A name with digits (`P-101`, `2×BSF`) must be a name that the case knows, that
//! of a document (`MH-05`) one that the evidence quotes, a date a time that the case knows.
//!
//! The memory's summary is held to the telling of the memory itself, because its figures belong
//! together (the number of judgements of a risk, from one time to another).
//!
//! A figure without a source is withheld: [`withhold`] puts a mark in its place and leaves the rest
//! of the sentence, as the advice around it may be needed. The caller counts and logs it.

use pdm_shared::bounds::{MAX_WORD, in_one_line};
use pdm_shared::diagnosis::{ComparedCase, Diagnosis, Evidence, Reasoner};
use pdm_shared::event::Event;
use pdm_shared::feature::Feature;
use pdm_shared::text::Text;

use crate::case::Memory;
use crate::memory;
use crate::research::{Cited, Inquiry};
use crate::rules::Rules;

mod bearings;
mod citation;
mod claim;
mod evidence;
mod figures;
mod meaning;
mod readings;
mod sources;

use citation::Citation;
use evidence::Truth;
pub use readings::Readings;
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
    /// remembered, and the names and times of the case. [`withhold`] has taken out evidence that
    /// does not hold what it says.
    pub fn of(diagnosis: &Diagnosis, grounds: &Grounds<'_>) -> Self {
        let (event, mut sources) = (grounds.event, Self::default());
        sources.set_slope_unit(&in_one_line(&event.trend.slope_unit, MAX_WORD));
        for evidence in diagnosis.thoughts.iter().flat_map(|thought| &thought.evidence) {
            sources.add_evidence(evidence, diagnosis);
        }
        sources.add_stage(diagnosis.fault_stage);
        sources.add_past(grounds.memory, diagnosis);
        sources.add_time(event.measured_at);
        sources.add_time(diagnosis.judged_at);
        let windows = serde_json::json!(event.anomaly.baseline.windows);
        sources.add("anomaly.baseline.windows", &windows);
        if let Some(change) = &event.change {
            sources.add("change.level_ratio", &serde_json::json!(change.level_ratio));
            sources.add_time(change.since);
        }
        if let Some(timing) = &event.timing {
            // texts tell its size; the direction is a word
            let moved_s = timing.clock_moved_s.map(f64::abs);
            sources.add("timing.clock_moved_s", &serde_json::json!(moved_s));
            if let Some(period) = &timing.period {
                sources.add("timing.period.before_s", &serde_json::json!(period.before_s));
                sources.add("timing.period.after_s", &serde_json::json!(period.after_s));
                sources.add_time(period.since);
            }
        }
        sources.add_names(diagnosis, grounds);
        sources
    }

    fn add_evidence(&mut self, evidence: &Evidence, diagnosis: &Diagnosis) {
        let path = &evidence.path;
        if evidence.source.is_none() {
            return match compared(path, diagnosis) {
                Some(past) => self.add_of_document(&past.document, path, &evidence.value),
                None => self.add(path, &evidence.value),
            };
        }
        let document = evidence::document_of(path).unwrap_or_default();
        let number = evidence.value.as_number().map(ToString::to_string);
        let quote = evidence.value.as_str().map(str::to_owned).or(number);
        self.add_quote(document, &quote.unwrap_or_default());
    }

    /// Ages of what is remembered, and the stages at which past cases stood.
    fn add_past(&mut self, memory: &Memory, diagnosis: &Diagnosis) {
        let now = diagnosis.judged_at;
        for remembered in &memory.recent {
            self.add_age(now.seconds_since(remembered.measured_at), remembered.risk);
            self.add_time(remembered.measured_at);
        }
        for repaired in memory.work.iter().filter(|work| work.repaired).filter_map(|work| work.at) {
            self.add_repair_age(now.seconds_since(repaired));
        }
        let research = diagnosis.research.iter().flat_map(|research| &research.compared);
        for past in research {
            for sign in past.signs.iter().filter(|sign| sign.name == "stage") {
                let there = serde_json::json!(sign.there);
                self.add_of_document(&past.document, "research.compared.stage", &there);
            }
        }
    }

    fn add_names(&mut self, diagnosis: &Diagnosis, grounds: &Grounds<'_>) {
        let event = grounds.event;
        for name in [
            event.site.as_str(),
            event.gateway_id.as_str(),
            event.equipment_id.as_str(),
            event.bearing_id.as_str(),
            event.measuring_point.as_ref().map_or("", |point| point.as_str()),
            &in_one_line(&event.trend.feature, MAX_WORD),
        ] {
            self.add_name(name);
        }
        let leading = Feature::of_key(&event.trend.feature);
        for feature in event.contributing().chain([leading]) {
            let name = feature.name();
            self.add_name(&name.ko);
            self.add_name(&name.en);
        }
        if let Some(change) = &event.change {
            change.bearings.iter().for_each(|bearing| self.add_name(bearing.as_str()));
        }
        // a reasoner of another kind words its own sentences; where a model's opinion is part of
        // the judgement they are still the expert's
        let is_own = diagnosis.reasoner == Reasoner::Expert || diagnosis.second_opinion.is_some();
        if grounds.inquiry.answered.is_empty() || !is_own {
            self.add_documents_of(diagnosis);
            return;
        }
        let Cited { cases, manuals } = Cited::of_case(event, diagnosis, grounds.inquiry);
        for name in cases {
            self.add_document(name, Citation::Similar);
        }
        for name in manuals {
            self.add_document(name, Citation::Manual);
        }
        for change in diagnosis.research.iter().flat_map(|research| &research.changes) {
            if let Some(document) = &change.document {
                self.add_document(document, Citation::Compared(change.text.clone()));
            }
        }
    }

    /// The documents of a diagnosis whose findings are not at hand: each may be cited for anything.
    fn add_documents_of(&mut self, diagnosis: &Diagnosis) {
        let evidence = diagnosis.thoughts.iter().flat_map(|thought| &thought.evidence);
        let quoted = evidence.filter_map(|evidence| evidence::document_of(&evidence.path));
        let research = diagnosis.research.iter();
        let compared = research.flat_map(|research| &research.compared);
        let named = quoted.chain(compared.map(|past| past.document.as_str()));
        named.for_each(|name| self.add_document(name, Citation::Any));
    }

    /// Withholds from a summary of the memory the figures that the telling of the memory has not.
    fn withhold_memory(
        &self,
        told: &mut Text,
        grounds: &Grounds<'_>,
        at: &Diagnosis,
    ) -> Vec<String> {
        let truth = memory::memory_use(grounds.memory, at.judged_at).summary;
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

/// The past case of a path `research.compared[2].…`.
fn compared<'d>(path: &str, diagnosis: &'d Diagnosis) -> Option<&'d ComparedCase> {
    let at = path.strip_prefix("research.compared[")?.split_once(']')?.0.parse::<usize>().ok()?;
    diagnosis.research.as_ref()?.compared.get(at)
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
        .chain(
            diagnosis
                .research
                .iter_mut()
                .flat_map(|research| &mut research.changes)
                .map(|change| &mut change.text),
        )
}

/// Withholds from a diagnosis what has no source: evidence that does not hold what it says, and
/// figures in its texts. Tells what was withheld; empty when all is well.
pub fn withhold(diagnosis: &mut Diagnosis, grounds: &Grounds<'_>, rules: &Rules) -> Vec<String> {
    let truth = Truth::of(diagnosis, grounds, rules);
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
