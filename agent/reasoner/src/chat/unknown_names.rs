//! Names of a question that no judged bearing has: a document, a machine that nobody measures, or
//! nothing that is known.

use serde_json::{Map, Value};

use super::entities::UnknownName;
use super::passage;
use super::plant_records;
use super::reader::Reader;
use crate::toolbox::{self, Toolbox};

/// Answers about a name that no judged bearing has: with the document of that number, with the
/// machine that the register has and that is not judged, or that the name is unknown.
pub(super) async fn told_of(tools: &dyn Toolbox, name: &UnknownName, reader: Reader) -> String {
    if is_document_number(&name.name)
        && let Some(told) = passage::named(tools, &name.name, reader.language).await
        && told.to_lowercase().starts_with(&format!("[{}", name.name.to_lowercase()))
    {
        return told;
    }
    let registered = registered(tools, &name.name).await;
    let name = registered.clone().map_or_else(
        || name.clone(),
        |called| UnknownName { name: called, near: name.near.clone() },
    );
    plant_records::unknown(&name, registered.is_some(), reader.language)
}

/// Returns the id and name of the register's machine that has this name; `None` if there is no such
/// machine.
async fn registered(tools: &dyn Toolbox, name: &str) -> Option<String> {
    let arguments = Map::from_iter([("query".to_owned(), name.into())]);
    let answer = toolbox::traced(tools, "extraction", "search_equipment", arguments).await;
    let rows = answer.data.as_array().filter(|_| !answer.is_error)?;
    let lower = name.to_lowercase();
    let is_it = |text: &str| {
        let mut words = text.split(['/', '(', ')', ',']).map(|word| word.trim().to_lowercase());
        // a half of a name of two words, too: `pasteuriser` of `Pasteuriser belt`
        words.any(|word| {
            let is_half = word.split_whitespace().any(|one| one == lower);
            word == lower || is_half || word.ends_with(&format!(" {lower}"))
        })
    };
    rows.iter().find_map(|row| {
        let text = |field: &str| row.get(field).and_then(Value::as_str).unwrap_or_default();
        let (id, called) = (text("equipment_id"), text("name"));
        let told = if called.is_empty() { id.to_owned() } else { format!("{id} ({called})") };
        (is_it(id) || is_it(called)).then_some(told)
    })
}

/// Whether a name is written as documents are numbered: `JM-03`.
fn is_document_number(name: &str) -> bool {
    name.split_once('-').is_some_and(|(letters, digits)| {
        (2..=5).contains(&letters.len())
            && letters.chars().all(|c| c.is_ascii_alphabetic())
            && !digits.is_empty()
            && digits.chars().all(|c| c.is_ascii_digit())
    })
}
