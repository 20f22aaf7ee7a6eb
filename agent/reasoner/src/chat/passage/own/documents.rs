//! The plant's own documents that are nearest to a question or speak of a machine.

use pdm_shared::text::Language;
use serde_json::{Map, Value};

use super::super::MANUALS;
use super::machine::Machine;
use super::units::{PlantSection, sections_of};
use crate::toolbox::{self, Toolbox};

/// Documents that a search of the plant's own gives.
const FOUND: usize = 8;
/// Documents that are read for a question. Chosen: three plants had eight to ten.
const READ: usize = 10;

/// The sections of the documents that speak of a machine, or are nearest to the question.
pub(super) async fn about(
    tools: &dyn Toolbox,
    machine: &Machine,
    clause: &str,
    language: Language,
) -> Vec<PlantSection> {
    let names = format!("{} {}", machine.id, machine.names.join(" "));
    read_documents(tools, &[format!("{names} {clause}"), names, clause.to_owned()], language).await
}

/// The sections of the documents that are nearest to some texts, the nearest of the first one
/// first.
pub(super) async fn read_documents(
    tools: &dyn Toolbox,
    queries: &[String],
    language: Language,
) -> Vec<PlantSection> {
    let mut ids: Vec<String> = Vec::new();
    for query in queries {
        for id in found(tools, query).await {
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
    }
    let mut sections = Vec::new();
    for id in ids.into_iter().take(READ) {
        let whole = Map::from_iter([("document".to_owned(), Value::from(id))]);
        let answer = toolbox::traced(tools, "extraction", "read_document_section", whole).await;
        let read = answer.data.get("documents").and_then(Value::as_array);
        sections.extend(read.into_iter().flat_map(|one| sections_of(one, language)));
    }
    sections
}

/// The ids of the documents that a search of the plant's own finds.
async fn found(tools: &dyn Toolbox, query: &str) -> Vec<String> {
    let query: String = query.chars().take(900).collect();
    let arguments = Map::from_iter([
        ("query".to_owned(), Value::from(query)),
        ("whose".to_owned(), Value::from("plant")),
        ("top_k".to_owned(), Value::from(FOUND)),
    ]);
    let answer = toolbox::traced(tools, "extraction", MANUALS, arguments).await;
    let documents = answer.data.get("documents").and_then(Value::as_array);
    let id = |one: &Value| one.get("id")?.as_str()?.split('#').next().map(str::to_owned);
    documents.into_iter().flatten().filter_map(id).collect()
}
