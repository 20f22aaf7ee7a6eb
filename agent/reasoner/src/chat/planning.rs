//! The plan of a question without a model (R-CHAT-5): its clauses, the bearings that each names, and what each
//! asks for. The look-ups of a plan do not depend on each other, so they run side by side.
//!
//! A look-up of a bearing has one: the one that is named, the one of the page or of the conversation; else the only
//! one that stands above Normal. Where several stand, the answer asks which is meant.

use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;

use super::desk::CoreFields;
use super::entities::{self, Meant};
use super::intent::{self, Lookup};
use super::{Question, Speaker, dates, meanings};

/// Most look-ups of an answer: two bearings with four questions each.
const MAX_PARTS: usize = 8;
/// A message longer than so many characters tells a story before it asks.
const LONG: usize = 240;
/// Most bearings whose records a listing reads.
const MAX_READ: usize = 50;
/// Longest question that says nothing by itself and goes on with the one before, characters.
const SHORT: usize = 24;

/// Words between the clauses of a question, beside `?`, `;`, the comma and the end of a line.
const BETWEEN: [&str; 5] = ["그리고 ", "또한 ", " and then ", " and also ", " and what "];

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

/// Whether the answer of a plan speaks of this bearing.
pub(super) fn is_used(plan: &[Part], key: &BearingKey) -> bool {
    plan.iter().any(|part| part.about.as_ref() == Some(key) || part.lookup == Lookup::Compare)
}

/// The bearings whose records a plan reads: those that it is about, and those that a listing of zones needs.
pub(super) fn bearings_read(
    plan: &[Part],
    about: &[BearingKey],
    fleet: &[CoreFields],
) -> Vec<BearingKey> {
    let mut read = about.to_vec();
    if plan
        .iter()
        .any(|part| matches!(part.lookup, Lookup::Zones | Lookup::WorkOfAll | Lookup::Overdue))
    {
        let others = fleet.iter().map(|core| &core.key).filter(|key| !about.contains(key));
        read.extend(others.take(MAX_READ).cloned());
    }
    read
}

/// The look-ups of a question, in the order of its clauses. While the records are away, only those that need none.
pub(super) fn plan(
    question: &Question,
    fleet: &[CoreFields],
    meant: &Meant,
    is_away: bool,
) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut before = meant.keys.clone();
    let is_named =
        entities::named_in(&asking(&question.message), fleet).keys == before && !before.is_empty();
    for clause in clauses(asking(&question.message).as_str()) {
        let mut named = entities::named_in(&clause, fleet);
        if named.is_ambiguous {
            named.keys.retain(|key| meant.keys.contains(key));
        }
        let named = named.keys;
        if !named.is_empty() {
            before.clone_from(&named);
        }
        for lookup in intent::asked_for(&clause, !named.is_empty(), !before.is_empty()) {
            // of all, where the clause speaks of several and names none
            let is_plural = named.is_empty()
                && intent::has(&clause.to_lowercase(), &intent::QUESTION_WORDS.plural);
            let of_all = matches!(lookup, Lookup::Heard | Lookup::Gateways) && is_plural;
            let keys: &[BearingKey] = if of_all { &[] } else { &before };
            add(&mut parts, lookup, &clause, keys, (fleet, meant));
        }
    }
    if parts.is_empty() {
        otherwise(&mut parts, question, is_named, fleet, meant);
    }
    if is_away {
        parts.retain(|part| part.lookup.is_of_documents());
    }
    parts.truncate(MAX_PARTS);
    parts
}

/// A question none of whose words says what is asked for: it goes on with the one before, asks for the state of
/// what it names, or for something that documents may answer.
fn otherwise(
    parts: &mut Vec<Part>,
    question: &Question,
    is_named: bool,
    fleet: &[CoreFields],
    meant: &Meant,
) {
    let message = &question.message;
    let is_short = message.chars().count() <= SHORT;
    let said = question.history.iter().rev().find(|said| said.role == Speaker::User);
    let goes_on =
        is_named || !meant.keys.is_empty() || dates::names_day(message) || names_day_ahead(message);
    let again = said.filter(|_| is_short && goes_on);
    for lookup in again.map(|said| intent::asked_for(&said.content, true, true)).unwrap_or_default()
    {
        add(parts, lookup, message, &meant.keys, (fleet, meant));
    }
    if parts.is_empty() {
        let is_word = !is_named && meanings::named_in(&message.to_lowercase()).is_some();
        let lookup = match (is_named, is_word) {
            (true, _) => Lookup::State,
            (false, true) => Lookup::Meaning,
            (false, false) => Lookup::Manual,
        };
        // a name that nobody knows is all that is asked about
        if meant.unknown.is_empty() || is_named {
            add(parts, lookup, message, &meant.keys, (fleet, meant));
        }
    }
}

fn names_day_ahead(message: &str) -> bool {
    chrono::NaiveDate::from_ymd_opt(2026, 12, 31)
        .is_some_and(|any| dates::day_ahead_in(message, any).is_some())
}

fn add(
    parts: &mut Vec<Part>,
    lookup: Lookup,
    clause: &str,
    keys: &[BearingKey],
    (fleet, meant): (&[CoreFields], &Meant),
) {
    let clause =
        if lookup == Lookup::Cases { with_fault(clause, keys, fleet) } else { clause.to_owned() };
    let new = |lookup, about| Part { about, lookup, clause: clause.clone() };
    let of_each = |lookup| keys.iter().map(|key| new(lookup, Some(key.clone()))).collect();
    let found: Vec<Part> = if lookup == Lookup::Compare && keys.len() < 2 {
        of_each(Lookup::State)
    } else if matches!(lookup, Lookup::Heard | Lookup::Gateways | Lookup::Shelf | Lookup::Sensors)
        && !keys.is_empty()
    {
        of_each(lookup)
    } else if lookup == Lookup::Told && keys.is_empty() && meant.unknown.is_empty() {
        vec![new(Lookup::ToldOfAll, None)]
    } else if lookup == Lookup::Work && keys.is_empty() && meant.unknown.is_empty() {
        vec![new(Lookup::WorkOfAll, None)]
    } else if lookup == Lookup::Past && keys.is_empty() && meant.unknown.is_empty() {
        vec![new(Lookup::Cases, None)]
    } else if !lookup.is_of_bearing() {
        vec![new(lookup, None)]
    } else if !keys.is_empty() {
        of_each(lookup)
    } else if meant.unknown.is_empty() {
        let mut standing = fleet.iter().filter(|core| core.risk > RiskLevel::Normal);
        match (standing.next(), standing.next()) {
            // "why" goes on with something that was said: it is no question about whatever stands
            (Some(_), None) if matches!(lookup, Lookup::Why | Lookup::Doubts | Lookup::Past) => {
                vec![new(Lookup::Which, None)]
            }
            (Some(one), None) => vec![new(lookup, Some(one.key.clone()))],
            (Some(_), Some(_)) if lookup != Lookup::State => vec![new(Lookup::Which, None)],
            (Some(_), Some(_)) | (None, _) => vec![new(Lookup::Fleet, None)],
        }
    } else {
        Vec::new()
    };
    for part in found {
        // one search for each clause, everything else once
        let is_search = matches!(part.lookup, Lookup::Manual | Lookup::Cases | Lookup::Value);
        let is_there = |one: &Part| {
            let is_same = one.lookup == part.lookup && one.about == part.about;
            is_same && (!is_search || one.clause == part.clause)
        };
        if !parts.iter().any(is_there) {
            parts.push(part);
        }
    }
}

/// A question for past cases, with the element of the bearing that is meant: cases are filed by it.
fn with_fault(clause: &str, keys: &[BearingKey], fleet: &[CoreFields]) -> String {
    let of = keys.first().and_then(|key| fleet.iter().find(|core| core.key == *key));
    match of.and_then(|core| core.fault) {
        Some(fault) => {
            let name = pdm_expert::wording::element(fault);
            format!("{} 결함 ({} fault): {clause}", name.ko, name.en)
        }
        None => clause.to_owned(),
    }
}

/// The sentences of a long message that ask, else its last one; the whole message where it is short.
pub(super) fn asking(message: &str) -> String {
    if message.chars().count() <= LONG {
        return message.to_owned();
    }
    let mut sentences: Vec<String> = vec![String::new()];
    for c in message.chars() {
        if let Some(last) = sentences.last_mut() {
            last.push(c);
        }
        if matches!(c, '.' | '?' | '!' | '\n') {
            sentences.push(String::new());
        }
    }
    sentences.retain(|sentence| sentence.chars().any(char::is_alphanumeric));
    let asks = |sentence: &&String| sentence.trim_end().ends_with('?');
    let requests =
        |sentence: &&String| intent::has(&sentence.to_lowercase(), &intent::QUESTION_WORDS.request);
    let asking: Vec<&String> = sentences.iter().filter(asks).collect();
    let asking =
        if asking.is_empty() { sentences.iter().filter(requests).collect() } else { asking };
    let asking = if asking.is_empty() { sentences.last().into_iter().collect() } else { asking };
    asking.into_iter().map(String::as_str).collect::<Vec<_>>().join(" ")
}

fn clauses(message: &str) -> Vec<String> {
    let mut text = message.to_owned();
    for word in BETWEEN {
        text = text.replace(word, &format!("\n{}", word.trim_start_matches(" and ").trim_start()));
    }
    for word in ["그리고 ", "또한 ", "then ", "also "] {
        text = text.replace(&format!("\n{word}"), "\n");
    }
    let all = text.split(['?', ';', ',', '\n']).map(str::trim);
    all.filter(|clause| !clause.is_empty()).map(str::to_owned).collect()
}
