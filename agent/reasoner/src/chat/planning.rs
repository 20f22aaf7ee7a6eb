//! The plan of a question without a model (R-CHAT-5): its clauses, the bearings that each names,
//! and what each asks for. The look-ups of a plan do not depend on each other, so they run side by
//! side.
//!
//! A look-up of a bearing has one: the one that is named, the one of the page or of the
//! conversation; else the only one that stands above Normal. Where several stand, the answer asks
//! which is meant.

use pdm_shared::id::BearingKey;

use super::desk::CoreFields;
use super::entities::{self, Meant};
use super::intent::{self, Lookup};
use super::passage::own::Stated;
use super::{Question, Speaker, dates, meanings, sites, values};
pub(super) use clauses::asking;
use clauses::{clauses, sentences, without_class};
use looked_up::add;

mod clauses;
mod looked_up;

/// Most look-ups of an answer: two bearings with four questions each.
const MAX_PARTS: usize = 8;
/// Most clauses that are told to be not understood.
const MAX_NOT_READ: usize = 2;
/// Most bearings whose records a listing reads.
const MAX_READ: usize = 50;
/// Longest question that says nothing by itself and goes on with the one before, characters.
const SHORT: usize = 24;

/// One look-up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    /// The bearing that it is about.
    pub(super) about: Option<BearingKey>,
    /// The look-up.
    pub(super) lookup: Lookup,
    /// The clause, as searches are asked.
    pub(super) clause: String,
}

/// Whether a text names a bearing or machine of the plant itself.
pub(super) fn names_bearing(text: &str, fleet: &[CoreFields]) -> bool {
    !entities::named_in(&asking(text), fleet).keys.is_empty()
}

/// Whether the answer of a plan speaks of this bearing.
pub(super) fn is_used(plan: &[Part], key: &BearingKey) -> bool {
    plan.iter().any(|part| part.about.as_ref() == Some(key) || part.lookup == Lookup::Compare)
}

/// The bearings whose records a plan reads: those that it is about, and those that a listing of
/// zones needs.
pub(super) fn bearings_read(
    plan: &[Part],
    about: &[BearingKey],
    fleet: &[CoreFields],
) -> Vec<BearingKey> {
    let mut read = about.to_vec();
    if plan.iter().any(needs_every_record) {
        let others = fleet.iter().map(|core| &core.key).filter(|key| !about.contains(key));
        read.extend(others.take(MAX_READ).cloned());
    }
    read
}

/// Whether a look-up reads the records of every bearing.
const fn needs_every_record(part: &Part) -> bool {
    matches!(
        part.lookup,
        Lookup::Zones
            | Lookup::WorkOfAll
            | Lookup::Overdue
            | Lookup::DueNext
            | Lookup::Person
            | Lookup::NotesOfAll
    ) || matches!(part.lookup, Lookup::LeadTime) && part.about.is_none()
}

/// The look-ups of a question, in the order of its clauses. While the records are away, only those
/// that need none.
pub(super) fn plan(
    question: &Question,
    fleet: &[CoreFields],
    meant: &Meant,
    is_away: bool,
) -> Vec<Part> {
    if sites::compares(&question.message, fleet) && meant.keys.is_empty() {
        let clause = question.message.clone();
        return vec![Part { about: None, lookup: Lookup::Sites, clause }];
    }
    if hands_over(&question.message, fleet) {
        // the name of a shift (야간조) is no period of the past
        let of = |lookup| Part { about: None, lookup, clause: String::new() };
        let asked = intent::handed_over(&question.message.to_lowercase());
        return asked.into_iter().map(of).collect();
    }
    if let Some(parts) = same_of_another(question, fleet, meant) {
        return parts;
    }
    let named = entities::named_in(&asking(&question.message), fleet).keys;
    let is_named = !meant.keys.is_empty() && meant.keys.iter().all(|key| named.contains(key));
    let (of_class, rest) = without_class(&asking(&question.message));
    let mut draft = Draft { parts: of_class.into_iter().collect(), ..Draft::of(meant) };
    // a condition and what is asked under it stand in two sentences
    let clauses = match () {
        () if intent::asks_under_condition(&rest) => vec![rest.clone()],
        () if intent::is_of_one_piece(&rest) => sentences(&rest),
        () => clauses(&rest),
    };
    for clause in clauses {
        draft.read(&clause, question, (fleet, meant));
    }
    let Draft { mut parts, silent, not_read, .. } = draft;
    in_parts_of_handover(&mut parts);
    leave_vague(&mut parts);
    add_unasked(&mut parts, silent, question, (&named, meant));
    if parts.is_empty() {
        otherwise(&mut parts, question, is_named, fleet, meant);
    }
    if !meant.unknown_sites.is_empty() && meant.keys.is_empty() {
        // no other site answers in the place of one that nobody knows
        parts.retain(|part| part.lookup.is_of_documents() || part.lookup == Lookup::Duty);
    }
    if is_away {
        parts.retain(|part| part.lookup.is_of_documents());
    }
    parts.truncate(MAX_PARTS);
    let is_answered = parts.iter().any(|part| !is_vague(part));
    let not_read = not_read.into_iter().filter(|_| is_answered).take(MAX_NOT_READ);
    parts.extend(not_read.map(|clause| Part { about: None, lookup: Lookup::NotRead, clause }));
    parts
}

/// A plan whose clauses are being read.
#[derive(Debug, Default)]
struct Draft {
    parts: Vec<Part>,
    /// The bearings that are spoken of.
    before: Vec<BearingKey>,
    /// The look-ups that the clause before asks for.
    asked_before: Vec<Lookup>,
    /// Questions none of whose words was understood.
    not_read: Vec<String>,
    /// Bearings of clauses that do not say what is asked of them.
    silent: Vec<BearingKey>,
}

impl Draft {
    fn of(meant: &Meant) -> Self {
        Self { before: meant.keys.clone(), ..Self::default() }
    }

    /// Adds what a clause asks for.
    fn read(&mut self, clause: &str, question: &Question, (fleet, meant): (&[CoreFields], &Meant)) {
        let mut named = entities::named_in(clause, fleet);
        if named.is_ambiguous || named.keys.iter().any(|key| meant.keys.contains(key)) {
            named.keys.retain(|key| meant.keys.contains(key));
        }
        let mut named = named.keys;
        if named.is_empty() {
            named = ends_named(clause, &self.before, fleet, meant);
        }
        if !named.is_empty() {
            self.before.clone_from(&named);
        }
        let asked = self.asked(clause, &named);
        // "was it a false alarm" is asked of the bearing that is spoken of
        let is_of_one = asked.contains(&Lookup::Doubts);
        for lookup in asked {
            // of all, where the clause speaks of several and names none
            let is_plural = named.is_empty()
                && intent::has(&clause.to_lowercase(), &intent::QUESTION_WORDS.plural);
            let of_all = matches!(lookup, Lookup::Heard | Lookup::Gateways) && is_plural
                || lookup == Lookup::Verdicts && named.is_empty() && !is_of_one;
            // work is that of all bearings that the question asks about
            let of_asked = matches!(lookup, Lookup::Work | Lookup::Assigned | Lookup::Stock)
                && named.is_empty()
                && self.before.iter().all(|key| meant.keys.contains(key));
            let keys: &[BearingKey] = match () {
                () if of_all => &[],
                () if of_asked => &meant.keys,
                () => &self.before,
            };
            let is_sized = lookup == Lookup::Value && values::states_size(&question.message);
            // "who is on at Pohang, and at Daesan" asks for both
            let of_sites = lookup == Lookup::Duty
                && sites::named_in(&question.message, fleet).known.len() > 1
                && sites::named_in(clause, fleet).known.len() < 2;
            let of_delivery =
                lookup == Lookup::Search && self.asked_before.contains(&Lookup::LeadTime);
            let whole = format!("{} 납기 (delivery time)", question.message);
            let clause = match () {
                () if of_delivery => whole.as_str(),
                () if is_sized || of_sites => question.message.as_str(),
                () => clause,
            };
            add(&mut self.parts, lookup, clause, keys, (fleet, meant));
        }
    }

    /// Returns the look-ups that a clause asks for, by its own words or, without any, as the clause
    /// before it.
    fn asked(&mut self, clause: &str, named: &[BearingKey]) -> Vec<Lookup> {
        let mut asked = intent::asked_for(clause, !named.is_empty(), !self.before.is_empty());
        if asked.is_empty() && clause.chars().count() <= SHORT {
            // "M12 볼트 토크는? 로크너트는?" asks the same of the second thing
            asked.extend(self.asked_before.iter().filter(|one| goes_on(**one, clause, named)));
        }
        if self.asked_before.contains(&Lookup::Duty) && asks_of_another_time(clause, named) {
            asked = vec![Lookup::Duty];
        }
        if asked.is_empty() && asks_of_now(clause) {
            asked.extend(self.asked_before.iter().filter(|one| one.is_of_bearing()));
        }
        if asked.is_empty() && self.asked_before.contains(&Lookup::Stock) && asks_arrival(clause) {
            asked = vec![Lookup::Stock];
        }
        if self.asked_before.contains(&Lookup::Stock) && asks_delivery(clause) {
            // "how many in stock? else how long does it take": the plant may have written how long
            asked = vec![Lookup::LeadTime, Lookup::Search];
        }
        if asked.is_empty() && named.is_empty() && asks(clause) {
            self.not_read.push(clause.to_owned());
        }
        if asked.is_empty() {
            self.silent.extend(named.iter().cloned());
        }
        self.asked_before.clone_from(&asked);
        asked
    }
}

/// Returns the plan of a short question about another machine, where the question before asked for
/// a statement of the plant's documents: `그럼 WP-16은?` behind a question for the grease of WP-61.
fn same_of_another(question: &Question, fleet: &[CoreFields], meant: &Meant) -> Option<Vec<Part>> {
    let message = &question.message;
    let is_short = message.chars().count() <= SHORT && !intent::has_words(message);
    // thanks behind an answer ask nothing
    let of_part = entities::asks_machine_part(message);
    let is_short = is_short && (meant.is_in_short || of_part || names_bearing(message, fleet));
    let said = question.history.iter().rev().find(|said| said.role == Speaker::User)?;
    let goes_on = is_short && !meant.keys.is_empty() && Stated::asked_by(message).is_empty();
    (goes_on && !Stated::asked_by(&said.content).is_empty()).then(|| {
        let clause = format!("{} {message}", said.content);
        let lookup = if intent::topic(&clause).is_some() { Lookup::Value } else { Lookup::Manual };
        vec![Part { about: None, lookup, clause }]
    })
}

/// A handover as the look-ups that it is made of.
fn in_parts_of_handover(parts: &mut Vec<Part>) {
    let Some(at) = parts.iter().position(|part| part.lookup == Lookup::Handover) else { return };
    let clause = parts.remove(at).clause;
    let asked = intent::handed_over(&clause.to_lowercase());
    let of = |lookup| Part { about: None, lookup, clause: String::new() };
    parts.splice(at..at, asked.into_iter().map(of));
}

/// Whether a message is of a shift that is taken over, and names no machine to ask about: a long
/// one tells of machines.
fn hands_over(message: &str, fleet: &[CoreFields]) -> bool {
    let is_story = asking(message) != message;
    let lower = message.to_lowercase();
    // "who is on for the night shift" asks for people
    let asks_who =
        ["who ", "who's", "누가", "누구", "당직"].iter().any(|word| lower.contains(word));
    intent::has(&lower, &intent::PLAIN_WORDS.handover)
        && (is_story || !asks_who)
        && (is_story || !names_bearing(message, fleet))
}

/// Whether a look-up answers nothing where another one does: a question which bearing is meant, a
/// greeting.
const fn is_vague(part: &Part) -> bool {
    matches!(part.lookup, Lookup::Which | Lookup::Help)
}

/// Leaves out what other parts of a plan answer.
fn leave_vague(parts: &mut Vec<Part>) {
    let has = |parts: &[Part], lookup: Lookup| parts.iter().any(|part| part.lookup == lookup);
    let has_meaning = has(parts, Lookup::Meaning);
    parts.retain(|part| {
        !has_meaning || part.lookup != Lookup::Sound || !intent::asks_value(&part.clause)
    });
    // "have we had this? what happened?" asks for the case that was found
    let has_case = has(parts, Lookup::Cases);
    parts.retain(|part| {
        !has_case || part.lookup != Lookup::ToldOfAll || dates::names_day(&part.clause)
    });
    // a question that is answered needs no bearing; a greeting before it is none
    if parts.iter().any(|part| !is_vague(part)) {
        parts.retain(|part| !is_vague(part));
    }
}

/// Adds the state of bearings that a question names and that nothing else is looked up of: those of
/// clauses that do not say what is asked of them, and those of a question that is answered about
/// another bearing that it names.
fn add_unasked(
    parts: &mut Vec<Part>,
    silent: Vec<BearingKey>,
    question: &Question,
    (named, meant): (&[BearingKey], &Meant),
) {
    let compares = parts.iter().any(|part| part.lookup == Lookup::Compare);
    let has_other = parts.iter().any(|part| part.about.is_some()) && !compares;
    let beside = meant.keys.iter().filter(|key| has_other && named.contains(key)).cloned();
    for key in silent.into_iter().chain(beside) {
        if !parts.is_empty() && parts.iter().all(|part| part.about.as_ref() != Some(&key)) {
            let clause = question.message.clone();
            parts.insert(0, Part { about: Some(key), lookup: Lookup::State, clause });
        }
    }
}

/// The bearings of the machine that is spoken of whose ends a clause names, among those that the
/// question asks about: `or is it just the DE` behind a clause about the NDE.
fn ends_named(
    clause: &str,
    before: &[BearingKey],
    fleet: &[CoreFields],
    meant: &Meant,
) -> Vec<BearingKey> {
    let is_beside = |core: &&CoreFields| {
        meant.keys.contains(&core.key)
            && before
                .iter()
                .any(|key| key.site == core.key.site && key.equipment == core.key.equipment)
            && entities::names_bearing(clause, core)
    };
    fleet.iter().filter(is_beside).map(|core| core.key.clone()).collect()
}

/// Whether a short clause names another time and nothing else: `내일 밤은?` behind a question who is on
/// duty.
fn asks_of_another_time(clause: &str, named: &[BearingKey]) -> bool {
    named.is_empty()
        && clause.chars().count() <= SHORT
        && names_day_ahead(clause)
        && !intent::has_words(clause)
}

/// Whether a short clause asks the same of now: `지금은 얼마고`.
fn asks_of_now(clause: &str) -> bool {
    let lower = clause.to_lowercase();
    clause.chars().count() <= SHORT
        && ["지금", "현재", "now", "and now", "currently"]
            .iter()
            .any(|word| lower.starts_with(word))
}

/// Whether a clause behind one for stock asks how long parts take.
fn asks_delivery(clause: &str) -> bool {
    let lower = clause.to_lowercase();
    [
        "며칠 걸",
        "얼마나 걸",
        "몇 일 걸",
        "며칠이나",
        "납기",
        "how long",
        "how many days",
        "lead time",
        "delivery",
    ]
    .iter()
    .any(|word| lower.contains(word))
}

/// Whether a clause asks when parts come.
fn asks_arrival(clause: &str) -> bool {
    let lower = clause.to_lowercase();
    ["들어오", "언제 와", "언제 오", "입고", "arrive", "come in", "get here", "deliver"]
        .iter()
        .any(|word| lower.contains(word))
}

/// Whether a clause is a question by its own words, and not a part of a story or a greeting.
fn asks(clause: &str) -> bool {
    const ASKS: [&str; 27] = [
        "who ",
        "who's",
        "what ",
        "what's",
        "which ",
        "when ",
        "where ",
        "why ",
        "how ",
        "whose ",
        "누가",
        "누구",
        "뭐",
        "뭘",
        "무엇",
        "언제",
        "어디",
        "왜",
        "어떻게",
        "얼마",
        "몇 ",
        "어느",
        "어떤",
        "인가",
        "나요",
        "습니까",
        "까요",
    ];
    let lower = clause.to_lowercase();
    let words = lower.trim_start_matches("and ").trim_start_matches("or ");
    let is_question = ASKS
        .iter()
        .any(|word| if word.is_ascii() { words.starts_with(word) } else { words.contains(word) });
    is_question && clause.split_whitespace().count() > 1
}

/// Whether a clause that says nothing by itself asks again what the clause before it has asked.
fn goes_on(lookup: Lookup, clause: &str, named: &[BearingKey]) -> bool {
    if lookup == Lookup::Value {
        return intent::topic(clause).is_some();
    }
    lookup.is_of_bearing() && !named.is_empty()
}

/// Handles a question none of whose words says what is asked for: it goes on with the one before,
/// asks for the state of a thing that it names, or for something that documents may answer.
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
    let before = again.map(|said| intent::asked_for(&said.content, true, true));
    // documents are asked with the words of both: "그럼 WP-16은?" behind a question for grease
    let both = again.map(|said| format!("{} {message}", said.content));
    for lookup in before.unwrap_or_default() {
        let message = match &both {
            Some(both) if lookup.is_of_documents() => both,
            Some(_) | None => message,
        };
        // a machine that is named is not answered with the list that was asked for before
        if is_named && !meant.keys.is_empty() && matches!(lookup, Lookup::Fleet | Lookup::Sound) {
            continue;
        }
        add(parts, lookup, message, &meant.keys, (fleet, meant));
    }
    if parts.is_empty() {
        let is_word = !is_named && meanings::named_in(&message.to_lowercase()).is_some();
        let lookup = match (is_named || meant.is_in_short && is_short, is_word) {
            (true, _) => Lookup::State,
            (false, true) => Lookup::Meaning,
            (false, false) => Lookup::Search,
        };
        // a name that nobody knows is all that is asked about
        if meant.unknown.is_empty() && meant.unknown_sites.is_empty() || is_named {
            add(parts, lookup, message, &meant.keys, (fleet, meant));
        }
    }
}

fn names_day_ahead(message: &str) -> bool {
    chrono::NaiveDate::from_ymd_opt(2026, 12, 31)
        .is_some_and(|any| dates::day_ahead_in(message, any).is_some())
}
