//! Finds the bearings that a question is about: those that it names, the one of the page, or those
//! that the conversation named last; and the machines that it names and nobody here knows.
//!
//! A machine that does not exist is never answered with another one: it is told, with the names
//! nearest to it.

use pdm_shared::id::BearingKey;

use super::desk::CoreFields;
use super::intent::{PLAIN_WORDS, QUESTION_WORDS, has};
use super::{Question, Said, Speaker, planning, sites};
use called::called_by_part;
use in_short::{both_of_conversation, named_in_short};
use naming::near;
pub(super) use naming::{named_in, names_bearing};
pub(super) use strange::asks_machine_part;
use strange::{strange_in_state, strange_name};

mod called;
mod described;
mod in_short;
mod naming;
pub(super) mod nicknames;
pub(super) mod spelled;
mod strange;

/// Most bearings of an answer.
const MAX_BEARINGS: usize = 4;
/// A machine or bearing that is named and does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UnknownName {
    /// The name as it is written.
    pub(super) name: String,
    /// Names that exist and are near.
    pub(super) near: Vec<String>,
}

/// The bearings, machines and sites that a text or a question is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Meant {
    /// The bearings.
    pub(super) keys: Vec<BearingKey>,
    /// Names that nobody knows.
    pub(super) unknown: Vec<UnknownName>,
    /// A name in the singular fits several machines, all of which are among the bearings.
    pub(super) is_ambiguous: bool,
    /// The question names them by what was said before: the other end, the same machine at another
    /// site.
    pub(super) is_in_short: bool,
    /// The question names a site.
    pub(super) names_site: bool,
    /// Sites that nobody knows.
    pub(super) unknown_sites: Vec<String>,
}

/// The bearings of a question: those of the sites that it names, or of the page's site where it
/// names a machine that stands there.
pub(super) fn meant(question: &Question, all: &[CoreFields]) -> Meant {
    let named = sites::named_in(&question.message, all);
    let fleet = &sites::in_scope(&question.message, all)[..];
    let unknown_sites = named.unknown;
    if !unknown_sites.is_empty() && named.known.is_empty() {
        // a machine of a site that nobody knows is none of another one
        return Meant { unknown_sites, ..Meant::default() };
    }
    let mut meant = meant_at(question, fleet, named.known.is_empty());
    meant.unknown_sites = unknown_sites;
    meant.names_site = !named.known.is_empty();
    let is_of_both = has(&question.message.to_lowercase(), &PLAIN_WORDS.same_fault);
    if named.known.is_empty() && is_of_both {
        // "the same fault as the other P-340A": the one that is spoken of, and the one that is
        // named
    } else if named.known.is_empty() {
        prefer_site(&mut meant.keys, question.about.as_ref());
    } else if !meant.keys.is_empty() && named_in(&question.message, fleet).keys.is_empty() {
        meant.is_in_short = true;
    }
    meant
}

/// Keeps, among machines of one name, those at the site of the page, where one stands there.
fn prefer_site(keys: &mut Vec<BearingKey>, about: Option<&BearingKey>) {
    let Some(about) = about else { return };
    let at_site: Vec<BearingKey> =
        keys.iter().filter(|key| key.site == about.site).cloned().collect();
    keys.retain(|key| {
        key.site == about.site || at_site.iter().all(|one| one.equipment != key.equipment)
    });
}

/// The bearings of a question among these; `may_be_strange`: what it asks the state of may be
/// unknown here.
fn meant_at(question: &Question, fleet: &[CoreFields], may_be_strange: bool) -> Meant {
    let asking = planning::asking(&question.message);
    let mut meant = named_in(&asking, fleet);
    if meant.keys.is_empty() && meant.unknown.is_empty() && asking != question.message {
        meant.keys.extend(named_in(&question.message, fleet).keys.pop());
    }
    let is_going_on = !question.history.is_empty() || question.about.is_some();
    if meant.keys.is_empty() && meant.unknown.is_empty() && is_going_on {
        go_on(&mut meant, question, fleet);
    }
    if meant.keys.is_empty() && meant.unknown.is_empty() {
        let asked = may_be_strange.then(|| strange_in_state(&question.message, fleet)).flatten();
        let strange =
            asked.or_else(|| strange_name(&question.message, fleet).filter(|_| is_going_on));
        if let Some(strange) = strange {
            let words: Vec<&str> = strange.name.split_whitespace().collect();
            let Some(key) = called_by_part(&words, &fleet.iter().collect::<Vec<_>>()) else {
                meant.unknown.push(strange);
                return meant;
            };
            meant.keys.push(key);
        }
    }
    if meant.is_ambiguous {
        // "the pump" is the one that is spoken of, where one is
        let spoken_of = question.about.iter().cloned().chain(of_history(&question.history, fleet));
        let is_one = |key: &BearingKey| meant.keys.iter().any(|one| one.equipment == key.equipment);
        let spoken_of: Vec<BearingKey> = spoken_of.filter(is_one).take(1).collect();
        if !spoken_of.is_empty() {
            meant.keys = spoken_of;
        }
    }
    meant.keys.truncate(MAX_BEARINGS);
    if !meant.keys.is_empty() || !meant.unknown.is_empty() {
        return meant;
    }
    if let Some(key) = described::described(&question.message, fleet) {
        meant.keys.push(key);
        meant.is_in_short = true;
        return meant;
    }
    let is_there = |key: &BearingKey| fleet.iter().any(|core| core.key == *key);
    match &question.about {
        Some(key) if is_there(key) => meant.keys.push(key.clone()),
        Some(key) if question.history.is_empty() && !fleet.is_empty() => {
            // the page's bearing was never judged, or is at a site that the question does not ask
            // about
            let near = near(key.equipment.as_str(), fleet);
            meant.unknown.push(UnknownName { name: key.to_string(), near });
        }
        Some(_) | None => {}
    }
    if meant.keys.is_empty() {
        meant.keys = of_history(&question.history, fleet);
    }
    meant
}

/// Adds what a follow-up names in short: both machines that were spoken of, one of them by a part
/// of its name, its other end.
fn go_on(meant: &mut Meant, question: &Question, fleet: &[CoreFields]) {
    meant.keys.extend(both_of_conversation(question, fleet));
    if meant.keys.is_empty() {
        meant.keys.extend(named_in_short(question, fleet));
    }
    meant.is_in_short = !meant.keys.is_empty();
    if meant.keys.is_empty() && asks_for_neighbour(&question.message) {
        // the machine that was spoken of has no other bearing
        let before = spoken_of(question, fleet).into_iter().next();
        meant.unknown.extend(before.map(|key| UnknownName {
            name: format!("{} (other bearing, 다른 베어링)", key.equipment),
            near: vec![format!("{} · {}", key.equipment, key.bearing)],
        }));
    }
}

/// The bearings that the conversation or the page is about.
fn spoken_of(question: &Question, fleet: &[CoreFields]) -> Vec<BearingKey> {
    let before = of_history(&question.history, fleet);
    if before.is_empty() { question.about.iter().cloned().collect() } else { before }
}

/// Whether a question asks for the bearing beside the one that is spoken of.
pub(super) fn asks_for_neighbour(message: &str) -> bool {
    has(&message.to_lowercase(), &QUESTION_WORDS.neighbour)
}

/// The bearings that the conversation named last: of a turn those of the question, else the first
/// of its answer.
fn of_history(history: &[Said], fleet: &[CoreFields]) -> Vec<BearingKey> {
    let mut answered: Option<BearingKey> = None;
    for said in history.iter().rev() {
        let content = &without_proposals(&said.content);
        let named = named_in(content, &sites::in_scope(content, fleet));
        match said.role {
            Speaker::Assistant => {
                let first = first_told(content, fleet);
                answered = first.or_else(|| named.keys.into_iter().next()).or(answered);
            }
            Speaker::User if !named.keys.is_empty() => return named.keys,
            // the answer to it proposed other names
            Speaker::User if !named.unknown.is_empty() => return Vec::new(),
            Speaker::User => {
                if let Some(key) = answered {
                    return vec![key];
                }
            }
        }
    }
    answered.into_iter().collect()
}

/// What was said, without the names that an answer proposed for one that nobody knows: nobody spoke
/// of these.
fn without_proposals(content: &str) -> String {
    let is_proposal =
        |line: &&str| line.contains("Did you mean one of:") || line.contains("가운데 하나입니까");
    let kept: Vec<&str> = content.lines().filter(|line| !is_proposal(line)).collect();
    kept.join("\n")
}

/// The bearing that an answer tells first, by the name that answers give it.
fn first_told(content: &str, fleet: &[CoreFields]) -> Option<BearingKey> {
    let told = fleet.iter().filter_map(|core| Some((content.find(&core.name())?, core)));
    told.min_by_key(|(at, _)| *at).map(|(_, core)| core.key.clone())
}

#[cfg(test)]
mod tests;
