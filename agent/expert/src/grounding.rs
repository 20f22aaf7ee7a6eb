//! The agent never computes: every figure in its words must stand in its sources (R-AGENT-2).
//!
//! Sources are the evidence that the words quote, what is remembered of the bearing, and what tools
//! found. Evidence is held to its own source first: a path of the event must hold the value that is
//! quoted, a quote from a document must stand in what a tool returned. A figure is grounded if some
//! source number, rounded to the figure's decimals, gives it: as it is, as hours told in days (÷ 24,
//! rounded down), or as a share told in percent (× 100); times are told to the minute, ages in whole
//! minutes, hours and days, rounded down. Names with digits (`P-101`, `2×BSF`, `20816-1`) are no
//! figures.
//!
//! A figure without a source is withheld: [`withhold`] puts a mark in its place and leaves the rest
//! of the sentence, as the advice around it may be needed. The caller counts and logs it.

use pdm_shared::diagnosis::{Diagnosis, Evidence};
use pdm_shared::event::Event;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use serde_json::Value;

use crate::case::Memory;
use crate::research::Inquiry;

mod figures;

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

impl Grounds<'_> {
    fn parsed(&self) -> Value {
        serde_json::to_value(self.event).unwrap_or(Value::Null)
    }
}

/// Numbers that words may quote.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    numbers: Vec<f64>,
    names: Vec<String>,
}

impl Sources {
    /// The numbers of a JSON value, at any depth; texts are no numbers.
    pub fn add(&mut self, value: &Value) {
        match value {
            Value::Number(number) => self.numbers.extend(number.as_f64()),
            Value::Array(items) => items.iter().for_each(|item| self.add(item)),
            Value::Object(fields) => fields.values().for_each(|field| self.add(field)),
            Value::Null | Value::Bool(_) | Value::String(_) => {}
        }
    }

    /// One number.
    pub fn add_number(&mut self, number: f64) {
        self.numbers.push(number);
    }

    /// The numbers in a text of a source, such as a document.
    pub fn add_text(&mut self, text: &str) {
        self.numbers.extend(figures::numbers(text));
    }

    /// The parts of a date and time, as texts tell it.
    pub fn add_time(&mut self, at: Timestamp) {
        self.add_text(&at.date_time().format("%Y %m %d %H %M %S").to_string());
    }

    /// A name that may hold digits and is quoted as a name.
    pub fn add_name(&mut self, name: &str) {
        if !name.is_empty() {
            self.names.push(name.to_owned());
        }
    }

    /// The sources of a diagnosis: the evidence it quotes where that stands in `grounds`, its own
    /// stage, and the ages and counts of what is remembered.
    pub fn of(diagnosis: &Diagnosis, grounds: &Grounds<'_>) -> Self {
        Self::of_parsed(diagnosis, grounds, &grounds.parsed())
    }

    fn of_parsed(diagnosis: &Diagnosis, grounds: &Grounds<'_>, event: &Value) -> Self {
        let mut sources = Self::default();
        let research = researched(diagnosis);
        for evidence in diagnosis.thoughts.iter().flat_map(|thought| &thought.evidence) {
            if stands(evidence, event, &research, grounds.inquiry) {
                sources.add(&evidence.value);
                if let (Some(_), Some(quote)) = (&evidence.source, evidence.value.as_str()) {
                    sources.add_text(quote);
                }
            }
        }
        sources.add_number(f64::from(diagnosis.fault_stage));
        let memory = grounds.memory;
        for count in 1..=memory.recent.len() {
            sources.add_number(count as f64);
        }
        for figure in crate::memory::figures(memory, diagnosis.judged_at) {
            sources.add_number(figure);
        }
        if let Some(change) = &grounds.event.change {
            sources.add_number(change.level_ratio);
            sources.add_time(change.since);
            change.bearings.iter().for_each(|bearing| sources.add_name(bearing.as_str()));
        }
        sources.add_name(&grounds.event.trend.feature);
        sources.add_number(grounds.event.anomaly.baseline.windows as f64);
        sources
    }

    /// The figures of `text` that stand in none of the sources.
    pub fn ungrounded(&self, text: &str) -> Vec<String> {
        self.withheld(text, "").1
    }

    /// `text` with `mark` in place of each figure that stands in none of the sources, and those
    /// figures.
    pub fn withheld(&self, text: &str, mark: &str) -> (String, Vec<String>) {
        let names: Vec<_> = self
            .names
            .iter()
            .flat_map(|name| text.match_indices(name.as_str()))
            .map(|(at, name)| at..at + name.len())
            .collect();
        let (mut out, mut missing, mut rest) = (String::with_capacity(text.len()), Vec::new(), 0);
        for at in figures::figures(text) {
            let named = names.iter().any(|name| name.start <= at.start && at.end <= name.end);
            if named || self.holds(&text[at.clone()]) {
                continue;
            }
            out.push_str(&text[rest..at.start]);
            out.push_str(mark);
            missing.push(text[at.clone()].to_owned());
            rest = at.end;
        }
        out.push_str(&text[rest..]);
        (out, missing)
    }

    /// Withholds figures from both languages of a text; tells which.
    pub fn withhold(&self, text: &mut Text) -> Vec<String> {
        let (ko, mut missing) = self.withheld(&text.ko, WITHHELD.0);
        let (en, more) = self.withheld(&text.en, WITHHELD.1);
        missing.extend(more);
        if !missing.is_empty() {
            *text = Text { ko, en };
        }
        missing
    }

    fn holds(&self, figure: &str) -> bool {
        let Ok(told) = figure.parse::<f64>() else { return true };
        let decimals = figure.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let half = 0.5 * 10_f64.powi(-i32::try_from(decimals).unwrap_or(12)) * (1.0 + 1e-9);
        self.numbers.iter().any(|number| {
            let number = number.abs();
            let days = (number / 24.0).floor();
            [number, days, number * 100.0].iter().any(|source| (source - told).abs() <= half)
        })
    }
}

/// The evidence holds what its path or its document holds. What the configuration and the memory
/// hold (`config.…`, `memory.…`, `tools.…`) is taken from the rules' own hands.
fn stands(evidence: &Evidence, event: &Value, research: &Value, inquiry: &Inquiry) -> bool {
    let path = evidence.path.as_str();
    if evidence.source.is_some() {
        let quote = evidence.value.as_str().unwrap_or_default();
        return inquiry.documents.values().any(|document| document.text.contains(quote));
    }
    if ["config.", "memory.", "tools."].iter().any(|own| path.starts_with(own)) {
        return true;
    }
    let (path, event) = match path.strip_prefix("research.") {
        Some(path) => (path, research),
        None => (path, event),
    };
    let (path, is_length) = match path.strip_suffix(".length") {
        Some(path) => (path, true),
        None => (path, false),
    };
    let pointer = format!("/{}", path.replace(['.', '['], "/").replace(']', ""));
    match event.pointer(&pointer) {
        Some(Value::Array(items)) if is_length => evidence.value == items.len(),
        Some(value) => *value == evidence.value,
        None => evidence.value.is_null(),
    }
}

/// What the research compared, as paths of evidence that begin with `research.` find it.
fn researched(diagnosis: &Diagnosis) -> Value {
    serde_json::to_value(&diagnosis.research).unwrap_or(Value::Null)
}

/// Every text of a diagnosis.
fn texts(diagnosis: &mut Diagnosis) -> impl Iterator<Item = &mut Text> {
    diagnosis
        .thoughts
        .iter_mut()
        .map(|thought| &mut thought.conclusion)
        .chain([&mut diagnosis.recommendation, &mut diagnosis.memory.summary])
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

/// Withholds from a diagnosis what has no source: figures in its texts, evidence that does not hold
/// what it says. Tells what was withheld; empty when all is well.
pub fn withhold(diagnosis: &mut Diagnosis, grounds: &Grounds<'_>) -> Vec<String> {
    let event = grounds.parsed();
    let sources = Sources::of_parsed(diagnosis, grounds, &event);
    let mut missing: Vec<String> =
        texts(diagnosis).flat_map(|text| sources.withhold(text)).collect();
    let research = researched(diagnosis);
    for thought in &mut diagnosis.thoughts {
        thought.evidence.retain(|evidence| {
            let stands = stands(evidence, &event, &research, grounds.inquiry);
            if !stands {
                missing.push(format!("{} = {}", evidence.path, evidence.value));
            }
            stands
        });
    }
    missing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_days_and_percent_are_the_allowed_conversions() {
        let mut sources = Sources::default();
        sources.add(&serde_json::json!({"a": [18.23, {"b": 170.0}], "c": 0.95}));
        assert!(sources.ungrounded("18.2 dB, 7 days, 95 percent, 170 h").is_empty());
        assert_eq!(sources.ungrounded("18.3 dB, 8 days"), ["18.3", "8"]);
    }

    #[test]
    fn a_figure_without_a_source_is_marked_and_the_sentence_stays() {
        let mut sources = Sources::default();
        sources.add_number(7.0);
        sources.add_name("rms2_5k");
        let mut text = Text::new(
            "7일 이내 교체. 고장까지 33시간. rms2_5k 상승",
            "Replace within 7 days; 33 h left",
        );
        assert_eq!(sources.withhold(&mut text), ["33", "33"]);
        assert_eq!(text.ko, "7일 이내 교체. 고장까지 [근거 미확인]시간. rms2_5k 상승");
        assert_eq!(text.en, "Replace within 7 days; [unverified] h left");
    }
}
