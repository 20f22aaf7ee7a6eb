//! Chooses the look-ups for each thing that a clause asks for: of which bearings, of the whole
//! plant, or of documents.

use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;

use super::Part;
use crate::chat::desk::CoreFields;
use crate::chat::entities::{self, Meant};
use crate::chat::intent::{self, Lookup};
use crate::chat::meanings;

/// The text to search for where a question asks whether a bearing has healed.
const HEALS: &str = "거짓 회복 진동이 잠시 줄어든다 단계를 낮추지 않는다 (false recovery: vibration falls for a while)";

/// Look-ups of a bearing that are of the whole plant where no bearing is meant.
const OF_PLANT: [(Lookup, Lookup); 6] = [
    (Lookup::Notes, Lookup::NotesOfAll),
    (Lookup::Stock, Lookup::Stock),
    (Lookup::Changes, Lookup::ToldOfAll),
    (Lookup::Told, Lookup::ToldOfAll),
    (Lookup::Work, Lookup::WorkOfAll),
    (Lookup::Past, Lookup::Cases),
];

/// Adds what a clause asks for, each thing once.
pub(super) fn add(
    parts: &mut Vec<Part>,
    lookup: Lookup,
    clause: &str,
    keys: &[BearingKey],
    (fleet, meant): (&[CoreFields], &Meant),
) {
    if is_of_unknown(lookup, clause, keys, meant) {
        // the plant's records do not answer for a machine that is not there
        return;
    }
    let clause = searched(lookup, clause, keys, fleet);
    let keys = &of_machine(lookup, &clause, keys, fleet)[..];
    for (lookup, about) in looked_up(lookup, &clause, keys, (fleet, meant)) {
        let part = Part { about, lookup, clause: clause.clone() };
        // one search for each clause, everything else once
        let is_search =
            matches!(part.lookup, Lookup::Manual | Lookup::Cases | Lookup::Value | Lookup::Duty);
        let is_there = |one: &Part| {
            let is_same = one.lookup == part.lookup && one.about == part.about;
            is_same && (!is_search || one.clause == part.clause)
        };
        if !parts.iter().any(is_there) {
            parts.push(part);
        }
    }
}

/// Most bearings of a machine whose records are told.
const OF_MACHINE: usize = 4;

/// The bearings that a look-up of the past is about: where a clause names a machine alone and its
/// worst bearing is Normal, all bearings of the machine, because one of them speaks for no other.
fn of_machine(
    lookup: Lookup,
    clause: &str,
    keys: &[BearingKey],
    fleet: &[CoreFields],
) -> Vec<BearingKey> {
    let is_of_past = matches!(
        lookup,
        Lookup::Past | Lookup::Notes | Lookup::Onset | Lookup::Told | Lookup::Verdicts
    );
    let core = |key: &BearingKey| fleet.iter().find(|core| core.key == *key);
    let is_alone = |key: &BearingKey| {
        core(key).is_some_and(|core| {
            core.risk == RiskLevel::Normal && !entities::names_bearing(clause, core)
        })
    };
    let mut all: Vec<BearingKey> = Vec::new();
    for key in keys {
        let is_beside = |one: &&CoreFields| {
            one.key == *key
                || is_of_past
                    && is_alone(key)
                    && one.key.site == key.site
                    && one.key.equipment == key.equipment
        };
        let beside = fleet.iter().filter(is_beside).map(|one| one.key.clone());
        all.extend(beside.take(OF_MACHINE));
    }
    let mut seen: Vec<BearingKey> = Vec::new();
    all.retain(|key| {
        let is_new = !seen.contains(key);
        seen.extend(is_new.then(|| key.clone()));
        is_new
    });
    if all.is_empty() { keys.to_vec() } else { all }
}

/// Whether a clause asks for records of a machine that nobody knows.
fn is_of_unknown(lookup: Lookup, clause: &str, keys: &[BearingKey], meant: &Meant) -> bool {
    let is_of_machines = !lookup.is_of_documents()
        && !matches!(lookup, Lookup::Duty | Lookup::Gateways | Lookup::Route);
    let lower = clause.to_lowercase();
    is_of_machines
        && keys.is_empty()
        && meant.unknown.iter().any(|one| lower.contains(&one.name.to_lowercase()))
}

/// The text that is searched for, or the clause as it is.
fn searched(lookup: Lookup, clause: &str, keys: &[BearingKey], fleet: &[CoreFields]) -> String {
    let asks_of_healing = || intent::has(&clause.to_lowercase(), &intent::QUESTION_WORDS.heals);
    if lookup == Lookup::Cases {
        with_fault(clause, keys, fleet)
    } else if lookup == Lookup::Manual && asks_of_healing() {
        HEALS.to_owned()
    } else {
        clause.to_owned()
    }
}

/// Returns the look-ups to make for one look-up that a clause asks for, each with its bearing.
fn looked_up(
    lookup: Lookup,
    clause: &str,
    keys: &[BearingKey],
    (fleet, meant): (&[CoreFields], &Meant),
) -> Vec<(Lookup, Option<BearingKey>)> {
    let of_each = |lookup| keys.iter().map(|key| (lookup, Some(key.clone()))).collect();
    let is_of_each_or_all = matches!(
        lookup,
        Lookup::Heard
            | Lookup::Gateways
            | Lookup::Shelf
            | Lookup::Sensors
            | Lookup::Unmeasured
            | Lookup::LeadTime
            | Lookup::Verdicts
            | Lookup::Route
    );
    if lookup == Lookup::Compare && keys.len() < 2 {
        return of_each(Lookup::State);
    }
    if lookup == Lookup::Assigned {
        // the work of each, and once who has work
        let mut all: Vec<(Lookup, Option<BearingKey>)> = of_each(lookup);
        all.push((lookup, None));
        return all;
    }
    if is_of_each_or_all && !keys.is_empty() {
        return of_each(lookup);
    }
    if let Some(other) = of_plant(lookup, clause, keys, meant) {
        return vec![(other, None)];
    }
    if lookup == Lookup::Meaning && meanings::named_in(&clause.to_lowercase()).is_none()
        || lookup == Lookup::Value && intent::topic(clause).is_none()
    {
        return vec![(Lookup::Manual, None)];
    }
    if !lookup.is_of_bearing() {
        vec![(lookup, None)]
    } else if !keys.is_empty() {
        of_each(lookup)
    } else if meant.unknown.is_empty() {
        vec![of_unnamed(lookup, fleet, meant)]
    } else {
        Vec::new()
    }
}

/// Returns the look-up of the plant where no bearing is meant; `None` if there is none.
fn of_plant(lookup: Lookup, clause: &str, keys: &[BearingKey], meant: &Meant) -> Option<Lookup> {
    if !keys.is_empty() {
        return None;
    }
    if lookup == Lookup::Stop {
        let is_term = meanings::named_in(&clause.to_lowercase()).is_some();
        let of_any = asks_of_any(clause).then_some(Lookup::Stops);
        return if is_term { Some(Lookup::Meaning) } else { of_any };
    }
    let found = OF_PLANT.iter().find(|(asked, _)| *asked == lookup && meant.unknown.is_empty());
    found.map(|(_, of_all)| *of_all)
}

/// Returns the look-up where the clause names no bearing: of the one that stands abnormal, or the
/// list of all.
fn of_unnamed(lookup: Lookup, fleet: &[CoreFields], meant: &Meant) -> (Lookup, Option<BearingKey>) {
    let mut standing = fleet.iter().filter(|core| core.risk > RiskLevel::Normal);
    match (standing.next(), standing.next()) {
        (Some(_), None) if lookup == Lookup::State && meant.names_site => (Lookup::Fleet, None),
        // the only bearing of all is the one that is meant
        (Some(one), None) if fleet.len() == 1 => (lookup, Some(one.key.clone())),
        // "why" goes on with something that was said: it is no question about whatever stands
        (Some(_), None) if matches!(lookup, Lookup::Why | Lookup::Doubts | Lookup::Past) => {
            (Lookup::Which, None)
        }
        (Some(one), None) => (lookup, Some(one.key.clone())),
        (Some(_), Some(_)) if lookup != Lookup::State => (Lookup::Which, None),
        (Some(_), Some(_)) | (None, _) => (Lookup::Fleet, None),
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

/// Whether a clause asks for any bearing, and not for one.
fn asks_of_any(clause: &str) -> bool {
    let lower = clause.to_lowercase();
    intent::has(&lower, &intent::QUESTION_WORDS.plural)
        || intent::has(&lower, &intent::QUESTION_WORDS.any_of_all)
}
