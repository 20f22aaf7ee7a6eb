//! The plan of a compound question without a model (R-CHAT-5): its clauses, the bearings that each names, and
//! what each asks for. The look-ups of a plan do not depend on each other, so they run side by side.

use pdm_shared::id::BearingKey;

use super::desk::CoreFields;
use super::extract::{self, Lookup};
use super::{Question, mention};

/// Most look-ups of an answer: two bearings with four questions each.
const MAX_PARTS: usize = 8;
/// Most bearings of an answer.
const MAX_BEARINGS: usize = 4;

/// Words between the clauses of a question, beside `?`, `;`, the comma and the end of a line.
const BETWEEN: [&str; 4] = ["그리고 ", "또한 ", " and then ", " and also "];

/// One look-up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    /// The bearing that it is about.
    pub(super) about: Option<BearingKey>,
    /// What is looked up.
    pub(super) lookup: Lookup,
    /// The clause, as searches are asked.
    pub(super) clause: String,
}

/// The bearings of a question: those that it names, else the one of the page or of the conversation.
pub(super) fn bearings(question: &Question, fleet: &[CoreFields]) -> Vec<BearingKey> {
    let mut named = mention::all(&question.message, fleet);
    named.truncate(MAX_BEARINGS);
    if named.is_empty() {
        named.extend(mention::bearing(question, fleet));
    }
    named
}

/// The look-ups of a question, in the order of its clauses.
pub(super) fn plan(
    question: &Question,
    fleet: &[CoreFields],
    bearings: &[BearingKey],
) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut before = bearings.to_vec();
    for clause in clauses(&question.message) {
        let named = mention::all(&clause, fleet);
        if !named.is_empty() {
            before = named;
        }
        for lookup in extract::asked_for(&clause, !before.is_empty()) {
            let of_each: Vec<Option<BearingKey>> = if lookup.is_of_bearing() {
                before.iter().cloned().map(Some).collect()
            } else {
                vec![None]
            };
            for about in of_each {
                let is_there =
                    parts.iter().any(|part| part.lookup == lookup && part.about == about);
                if !is_there {
                    parts.push(Part { about, lookup, clause: clause.clone() });
                }
            }
        }
    }
    if parts.is_empty() {
        let lookup = extract::otherwise(&question.message, !bearings.is_empty());
        let about = bearings.iter().cloned().map(Some).chain([None]);
        let about: Vec<_> = about.take(bearings.len().max(1)).collect();
        parts.extend(about.into_iter().map(|about| Part {
            about,
            lookup,
            clause: question.message.clone(),
        }));
    }
    parts.truncate(MAX_PARTS);
    parts
}

fn clauses(message: &str) -> Vec<String> {
    let mut text = message.to_owned();
    for word in BETWEEN {
        text = text.replace(word, "\n");
    }
    let all = text.split(['?', ';', ',', '\n']).map(str::trim);
    all.filter(|clause| !clause.is_empty()).map(str::to_owned).collect()
}
