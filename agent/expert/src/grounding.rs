//! The agent never computes: every figure in its words must stand in its sources (R-AGENT-2).
//!
//! A figure is grounded if some source number, rounded to the figure's decimals, gives it: as it
//! is, as hours told in days (÷ 24, rounded down), or as a share told in percent (× 100). Names with
//! digits (`P-101`, `2×BSF`, `20816-1`) and words such as "P-F" are no figures.

use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::event::Event;
use pdm_shared::text::Text;
use serde_json::Value;

use crate::case::Memory;

/// Numbers that words may quote.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    numbers: Vec<f64>,
}

impl Sources {
    /// The numbers of a JSON value, at any depth.
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

    /// The sources of a diagnosis: the evidence it quotes, its own stage, and the ages and counts of
    /// what it remembers.
    pub fn of(diagnosis: &Diagnosis, memory: &Memory) -> Self {
        let mut sources = Self::default();
        for evidence in diagnosis.thoughts.iter().flat_map(|thought| &thought.evidence) {
            sources.add(&evidence.value);
        }
        sources.add_number(f64::from(diagnosis.fault_stage));
        for count in 1..=memory.recent.len() {
            sources.add_number(count as f64);
        }
        for remembered in &memory.recent {
            let seconds = diagnosis.judged_at.seconds_since(remembered.measured_at);
            for unit in [60.0, 3600.0, 86_400.0] {
                sources.add_number((seconds / unit).floor());
            }
        }
        sources
    }

    /// The figures of `text` that stand in none of the sources.
    pub fn ungrounded<'t>(&self, text: &'t str) -> Vec<&'t str> {
        figures(text).into_iter().filter(|figure| !self.holds(figure)).collect()
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

/// The figures of a text: digits that do not belong to a name.
fn figures(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = 0;
    while let Some(start) = text[rest..].find(|c: char| c.is_ascii_digit()).map(|at| rest + at) {
        let end = text[start..]
            .find(|c: char| !(c.is_ascii_digit() || c == '.'))
            .map_or(text.len(), |at| start + at);
        let figure = text[start..end].trim_end_matches('.');
        let before = text[..start].chars().next_back();
        let after = text[end..].chars().next();
        let in_name = before.is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
            || after.is_some_and(|c| matches!(c, '×' | '-' | '_' | 'X'));
        if !in_name {
            found.push(figure);
        }
        rest = end;
    }
    found
}

/// Every text of a diagnosis.
fn texts(diagnosis: &Diagnosis) -> impl Iterator<Item = &Text> {
    diagnosis
        .thoughts
        .iter()
        .map(|thought| &thought.conclusion)
        .chain([&diagnosis.recommendation, &diagnosis.memory.summary])
        .chain(&diagnosis.uncertainty.causes)
}

/// The figures of a diagnosis that stand nowhere in its sources; empty when all is well.
pub fn ungrounded(diagnosis: &Diagnosis, event: &Event, memory: &Memory) -> Vec<String> {
    let mut sources = Sources::of(diagnosis, memory);
    // what the edge calls a feature may hold digits; it is quoted as a name
    let feature = event.trend.feature.as_str();
    sources.add_number(event.anomaly.baseline.windows as f64);
    texts(diagnosis)
        .flat_map(|text| [&text.ko, &text.en])
        .flat_map(|text| {
            let bare = if feature.is_empty() { text.clone() } else { text.replace(feature, "") };
            sources.ungrounded(&bare).into_iter().map(str::to_owned).collect::<Vec<_>>()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_told_from_names() {
        assert_eq!(figures("P-101 2×BSF 18.2 dB, ISO 20816-1, 7일. 3.5"), ["18.2", "7", "3.5"]);
    }

    #[test]
    fn rounding_days_and_percent_are_the_allowed_conversions() {
        let mut sources = Sources::default();
        sources.add(&serde_json::json!({"a": [18.23, {"b": 170.0}], "c": 0.95}));
        assert!(sources.ungrounded("18.2 dB, 7 days, 95 percent, 170 h").is_empty());
        assert_eq!(sources.ungrounded("18.3 dB, 8 days"), ["18.3", "8"]);
    }
}
