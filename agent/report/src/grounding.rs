//! Checks the texts of the documents against their sources (R-AGENT-2).
//!
//! The check covers the texts that this program composes. Passages of the knowledge base and
//! findings of the research are quoted with their source, and tables show values with their path;
//! both are sources themselves. Sources are the event, the judgement, the memory and the plant's
//! data for planning. The history is not a source, because its thousands of values would match
//! almost any number.

use pdm_expert::case::Memory;
use pdm_expert::grounding::{Grounds, Sources};
use pdm_expert::research::Inquiry;
use pdm_shared::text::Text;
use serde_json::json;

use super::case_file::CaseFile;
use super::data::Report;
use crate::work_order::WorkOrder;

/// The figures of a report's texts that are in none of their sources; empty if all are grounded.
pub fn of_report(case: &CaseFile, report: &Report) -> Vec<String> {
    ungrounded(case, texts_of_report(report))
}

/// The figures of a work order's texts that are in none of their sources.
pub fn of_order(case: &CaseFile, order: &WorkOrder) -> Vec<String> {
    ungrounded(case, texts_of_order(order))
}

fn ungrounded<'t>(case: &CaseFile, texts: impl Iterator<Item = &'t Text>) -> Vec<String> {
    let sources = sources(case);
    texts
        .flat_map(|text| [text.ko.as_str(), text.en.as_str()])
        .flat_map(|text| sources.ungrounded(text))
        .collect()
}

fn sources(case: &CaseFile) -> Sources {
    let memory =
        Memory { recent: case.memory.clone(), work: case.work.clone(), ..Memory::default() };
    let inquiry = Inquiry::default();
    let grounds = Grounds { event: &case.event, memory: &memory, inquiry: &inquiry };
    let mut sources = Sources::of(&case.diagnosis, &grounds);
    // evidence was held to its own source when the judgement was made
    sources.add("", &json!(case.event));
    sources.add("rul_assessment", &json!(case.diagnosis.rul_assessment));
    sources.add("planning", &json!(case.planning));
    sources.add("config.lead_time_h", &json!(case.planning.lead_time.total_h()));
    let invalid = case.history.iter().filter(|point| !point.valid).count();
    for (path, count) in [("history.count", case.history.len()), ("history.invalid", invalid)] {
        sources.add_count(path, count as f64);
    }
    // held to the memory when the judgement was made
    let told = &case.diagnosis.memory.summary;
    for told in [&told.ko, &told.en] {
        sources.add_name(told);
    }
    for name in names(case) {
        sources.add_name(name);
    }
    sources
}

/// Texts whose digits are not figures: identities, designations, the feature's key, documents, and
/// the reasons that the edge gives.
fn names(case: &CaseFile) -> Vec<&str> {
    let event = &case.event;
    let names = [
        Some(event.site.as_str()),
        Some(event.equipment_id.as_str()),
        Some(event.bearing_id.as_str()),
        Some(event.trend.feature.as_str()),
        case.asset.designation.as_deref(),
        event.rul.unknown.as_deref(),
        event.frequency_domain.undetermined.as_deref(),
        event.frequency_domain.bearing_estimate.as_ref().map(|estimate| estimate.bearing.as_str()),
    ];
    let documents = case.research.iter().flat_map(|round| &round.hits).map(|hit| hit.id.as_str());
    names.into_iter().flatten().chain(documents).collect()
}

fn texts_of_report(report: &Report) -> impl Iterator<Item = &Text> {
    report
        .summary
        .iter()
        .map(|line| &line.text)
        .chain([&report.recommendation, &report.memory.summary])
        .chain(report.thoughts.iter().map(|thought| &thought.conclusion))
        .chain(&report.uncertainty.causes)
        .chain(&report.would_change)
        .chain(&report.data_quality)
        .chain(report.research.iter().map(|round| &round.why))
}

fn texts_of_order(order: &WorkOrder) -> impl Iterator<Item = &Text> {
    let worded = [&order.people, &order.hours]
        .into_iter()
        .filter(|resource| resource.amount.is_some())
        .map(|resource| &resource.text);
    [&order.title, &order.reason, &order.recommendation, &order.schedule.basis]
        .into_iter()
        .chain(order.parts.iter().map(|part| &part.note))
        .chain(worded)
}
