//! Evidence held to its own source: a path must hold the value that is quoted.

use pdm_shared::diagnosis::{Diagnosis, Evidence};
use serde_json::{Value, json};

use super::Grounds;
use super::figures::{Unit, figures};
use super::meaning;
use crate::case::Case;
use crate::risk::ASKED_BY_MODEL;
use crate::rules::Rules;
use crate::wording::fact;
use crate::{course, repair, research};

/// The values that the paths of evidence refer to.
pub(super) struct Truth<'a> {
    grounds: &'a Grounds<'a>,
    event: Value,
    config: Value,
    memory: Value,
    tools: Value,
    /// Times and counts that rules read from the memory and from past cases.
    derived: Vec<Evidence>,
}

impl<'a> Truth<'a> {
    pub(super) fn of(diagnosis: &Diagnosis, grounds: &'a Grounds<'a>, rules: &Rules) -> Self {
        let of = |value: Result<Value, serde_json::Error>| value.unwrap_or(Value::Null);
        let mut config = of(serde_json::to_value(rules));
        let lead_h = rules.lead_time.total_h();
        config["lead_time_h"] = json!(lead_h);
        config["slow_from_h"] = json!(rules.degradation.slow_from_lead_times * lead_h);
        let case = Case { event: grounds.event, memory: grounds.memory, now: diagnosis.judged_at };
        // a repair that ends an episode ends its memory too
        let closing = repair::closing(&case, rules);
        let case = Case { memory: closing.as_ref().map_or(case.memory, |c| &c.memory), ..case };
        let mut derived = course::facts(diagnosis, &case);
        derived.extend(research::facts(diagnosis, &case, grounds.inquiry));
        let opinion = diagnosis.second_opinion.as_ref();
        let asked = opinion.and_then(|opinion| opinion.risk_level);
        derived.extend(asked.map(|risk| fact(ASKED_BY_MODEL, risk, "")));
        let state = &case.memory.state;
        let mut memory = of(serde_json::to_value(state));
        memory["risk"] = json!(state.risk());
        memory["stage"] = json!(state.stage());
        memory["recent"] = of(serde_json::to_value(&case.memory.recent));
        let tools = json!({
            "rounds": grounds.inquiry.round(),
            "calls": grounds.inquiry.answered.len(),
            "documents": grounds.inquiry.documents.len(),
        });
        let event = of(serde_json::to_value(grounds.event));
        Self { grounds, event, config, memory, tools, derived }
    }

    /// The evidence holds what its path or its document holds.
    pub(super) fn holds(&self, evidence: &Evidence) -> bool {
        if evidence.source.is_some() {
            return self.is_quoted(evidence);
        }
        let path = evidence.path.as_str();
        if self.derived.iter().any(|fact| fact.path == path && fact.value == evidence.value) {
            return true;
        }
        let is = match path.split_once('.') {
            Some(("config", rest)) => value(&self.config, rest),
            Some(("memory", rest)) => value(&self.memory, rest),
            Some(("tools", rest)) => value(&self.tools, rest),
            _ => value(&self.event, path),
        };
        match is {
            Some(is) => is == evidence.value || same_number(&is, &evidence.value),
            None => evidence.value.is_null(),
        }
    }

    /// `tools[2].MH-05`: the second call found the document, and the document says it.
    fn is_quoted(&self, evidence: &Evidence) -> bool {
        let inquiry = self.grounds.inquiry;
        let (Some(call), Some(name)) = (call_of(&evidence.path), document_of(&evidence.path))
        else {
            return false;
        };
        let found = inquiry.answered.get(call);
        if !found.is_some_and(|answered| answered.documents.iter().any(|id| id == name)) {
            return false;
        }
        let Some(document) = inquiry.documents.get(name) else { return false };
        if let Some(quote) = evidence.value.as_str() {
            return !quote.is_empty() && document.text.contains(quote);
        }
        let number = evidence.value.as_f64();
        number.is_some_and(|number| says(&document.text, &evidence.path, number))
    }
}

/// Whether a document's text has this number in the unit of the path.
fn says(text: &str, path: &str, number: f64) -> bool {
    let unit = meaning::unit(path, "");
    figures(text, &[]).iter().any(|figure| match (&figure.unit, &unit) {
        (Unit::Measure(told, size), Unit::Measure(asked, asked_size)) => {
            told == asked && close(figure.value * size, number * asked_size)
        }
        (told, asked) => told == asked && close(figure.value, number),
    })
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

fn same_number(a: &Value, b: &Value) -> bool {
    matches!((a.as_f64(), b.as_f64()), (Some(a), Some(b)) if close(a, b))
}

fn call_of(path: &str) -> Option<usize> {
    path.strip_prefix("tools[")?.split_once(']')?.0.parse().ok()
}

/// The document of `tools[2].MH-05` and of `tools[2].MH-05.time_to_failure_h`.
pub(super) fn document_of(path: &str) -> Option<&str> {
    let rest = path.strip_prefix("tools[")?.split_once("].")?.1;
    let field = rest.rsplit_once('.').filter(|(_, field)| field.contains('_'));
    Some(field.map_or(rest, |(name, _)| name))
}

/// The value at a path; a key may have dots in it (`memory.points.DE.1.stage`).
fn value(root: &Value, path: &str) -> Option<Value> {
    if path.is_empty() {
        return Some(root.clone());
    }
    if let (Value::Array(items), "length") = (root, path) {
        return Some(json!(items.len()));
    }
    if let Some(rest) = path.strip_prefix('[') {
        let (index, rest) = rest.split_once(']')?;
        let item = root.as_array()?.get(index.parse::<usize>().ok()?)?;
        return value(item, rest.strip_prefix('.').unwrap_or(rest));
    }
    root.as_object()?.iter().find_map(|(key, field)| {
        let rest = path.strip_prefix(key.as_str())?;
        match rest.strip_prefix('.') {
            Some(rest) => value(field, rest),
            None if rest.is_empty() || rest.starts_with('[') => value(field, rest),
            None => None,
        }
    })
}
