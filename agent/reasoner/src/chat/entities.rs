//! Which bearings a question is about: those that it names, the one of the page, or those that the conversation
//! named last; and which machines it names that nobody here knows.
//!
//! A machine that does not exist is never answered with another one: it is told, with the names nearest to it.

use pdm_shared::id::BearingKey;

use super::desk::CoreFields;
use super::intent::{QUESTION_WORDS, has};
use super::{Question, Said, Speaker, planning, sites};
use called::{machines_called, place_of_slip};

mod called;

/// Most bearings of an answer.
const MAX_BEARINGS: usize = 4;
/// Names that are proposed for one that nobody knows.
const PROPOSED: usize = 3;
/// Letters before the digits of names that are no machines: documents, standards, work orders, gateways, bearings.
const OTHERS: [&str; 19] = [
    "em", "mh", "wo", "iso", "iec", "ks", "din", "api", "vdi", "rs", "ip", "pt", "nlgi", "gw",
    "nu", "er", "uer", "za", "fmea",
];
/// What stands behind a number that is no machine's.
const UNITS: [&str; 15] = [
    "시", "일", "분", "주", "개", "년", "월", "%", "rpm", "mm", "h", "day", "week", "month", "min",
];
/// Words for the ends of a machine, with the name that bearings there have.
const ENDS: [(&str, &str); 15] = [
    ("비부하", "NDE"),
    ("반부하", "NDE"),
    ("부하측", "DE"),
    ("부하단", "DE"),
    ("free end", "NDE"),
    ("반구동", "NDE"),
    ("비구동", "NDE"),
    ("non-drive", "NDE"),
    ("non drive", "NDE"),
    ("구동측", "DE"),
    ("구동단", "DE"),
    ("구동부", "DE"),
    ("드라이브 엔드", "DE"),
    ("drive end", "DE"),
    ("drive-end", "DE"),
];

/// A machine or bearing that is named and does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UnknownName {
    /// As it is written.
    pub(super) name: String,
    /// Names that exist and are near.
    pub(super) near: Vec<String>,
}

/// What a text or a question is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Meant {
    /// The bearings.
    pub(super) keys: Vec<BearingKey>,
    /// Names that nobody knows.
    pub(super) unknown: Vec<UnknownName>,
    /// A name in the singular fits several machines, all of which are among the bearings.
    pub(super) is_ambiguous: bool,
    /// The question names them by what was said before: the other end, the same machine at another site.
    pub(super) is_in_short: bool,
    /// The question names a site.
    pub(super) names_site: bool,
    /// Sites that nobody knows.
    pub(super) unknown_sites: Vec<String>,
}

/// The bearings of a question: those of the sites that it names, or of the page's site where it names a machine
/// that stands there.
pub(super) fn meant(question: &Question, all: &[CoreFields]) -> Meant {
    let named = sites::named_in(&question.message, all);
    let fleet = &sites::in_scope(&question.message, all)[..];
    let unknown_sites = named.unknown;
    if !unknown_sites.is_empty() && named.known.is_empty() {
        // a machine of a site that nobody knows is none of another one
        return Meant { unknown_sites, ..Meant::default() };
    }
    let mut meant = meant_at(question, fleet);
    meant.unknown_sites = unknown_sites;
    meant.names_site = !named.known.is_empty();
    if named.known.is_empty() {
        prefer_site(&mut meant.keys, question.about.as_ref());
    } else if !meant.keys.is_empty() && named_in(&question.message, fleet).keys.is_empty() {
        meant.is_in_short = true;
    }
    meant
}

/// Of machines of one name those at the site of the page, where one stands there.
fn prefer_site(keys: &mut Vec<BearingKey>, about: Option<&BearingKey>) {
    let Some(about) = about else { return };
    let at_site: Vec<BearingKey> =
        keys.iter().filter(|key| key.site == about.site).cloned().collect();
    keys.retain(|key| {
        key.site == about.site || at_site.iter().all(|one| one.equipment != key.equipment)
    });
}

fn meant_at(question: &Question, fleet: &[CoreFields]) -> Meant {
    let asking = planning::asking(&question.message);
    let mut meant = named_in(&asking, fleet);
    if meant.keys.is_empty() && meant.unknown.is_empty() && asking != question.message {
        meant.keys.extend(named_in(&question.message, fleet).keys.pop());
    }
    let is_going_on = !question.history.is_empty() || question.about.is_some();
    if meant.keys.is_empty() && meant.unknown.is_empty() && is_going_on {
        meant.keys.extend(named_in_short(question, fleet));
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
    let is_there = |key: &BearingKey| fleet.iter().any(|core| core.key == *key);
    match &question.about {
        Some(key) if is_there(key) => meant.keys.push(key.clone()),
        Some(key) if question.history.is_empty() && !fleet.is_empty() => {
            // the page's bearing was never judged, or is at a site that the question does not ask about
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

/// The bearings that the conversation or the page is about.
fn spoken_of(question: &Question, fleet: &[CoreFields]) -> Vec<BearingKey> {
    let before = of_history(&question.history, fleet);
    if before.is_empty() { question.about.iter().cloned().collect() } else { before }
}

/// Whether a question asks for the bearing beside the one that is spoken of.
pub(super) fn asks_for_neighbour(message: &str) -> bool {
    has(&message.to_lowercase(), &QUESTION_WORDS.neighbour)
}

/// The other bearing of the machine that is spoken of: `그 옆에 건?`, `반대쪽은?`, `and the other side?`
fn neighbour(question: &Question, fleet: &[CoreFields]) -> Option<BearingKey> {
    if !asks_for_neighbour(&question.message) {
        return None;
    }
    let before = spoken_of(question, fleet);
    let first = before.first()?;
    let is_beside = |core: &&CoreFields| {
        let key = &core.key;
        key.site == first.site && key.equipment == first.equipment && !before.contains(key)
    };
    fleet.iter().find(is_beside).map(|core| core.key.clone())
}

/// What a question in a conversation names in short: the number of one machine alone (`그럼 102는?`), or the other
/// one of a kind (`and the other pump?`).
fn named_in_short(question: &Question, fleet: &[CoreFields]) -> Option<BearingKey> {
    let lower = question.message.to_lowercase();
    let only = |found: Vec<&CoreFields>| {
        let first = found.first()?.key.clone();
        found.iter().all(|core| core.key.equipment == first.equipment).then_some(first)
    };
    let digits_of = |name: &str| name.chars().filter(char::is_ascii_digit).collect::<String>();
    if let Some(key) = other_end(question, fleet).or_else(|| neighbour(question, fleet)) {
        return Some(key);
    }
    if question.history.is_empty() {
        return None;
    }
    for (at, number) in numbers_of(&lower) {
        let after = lower[at + number.len()..].trim_start();
        if number.len() < 2 || UNITS.iter().any(|unit| after.starts_with(unit)) {
            continue;
        }
        let is_it = |core: &&CoreFields| digits_of(core.key.equipment.as_str()) == number;
        if let Some(key) = only(fleet.iter().filter(is_it).collect()) {
            return Some(key);
        }
    }
    if !["other", "다른", "나머지", "딴"].iter().any(|word| lower.contains(word)) {
        return None;
    }
    let before = of_history(&question.history, fleet);
    let is_other = |core: &&CoreFields| {
        let kind = |name: &String| name.rsplit(' ').next().unwrap_or_default().to_lowercase();
        let names = core.machine_name.as_ref();
        before.iter().all(|key| key.equipment != core.key.equipment)
            && names.is_some_and(|name| {
                [&name.ko, &name.en].iter().any(|name| lower.contains(&kind(name)))
            })
    };
    only(fleet.iter().filter(is_other).collect())
}

/// The bearing of the machine that the conversation spoke of last, where a question names its end or place alone:
/// `비부하측은?`, `and the NDE?`
fn other_end(question: &Question, fleet: &[CoreFields]) -> Option<BearingKey> {
    let before = spoken_of(question, fleet);
    let first = before.first()?;
    let is_of_machine =
        |core: &&CoreFields| core.key.site == first.site && core.key.equipment == first.equipment;
    let of_machine: Vec<&CoreFields> = fleet.iter().filter(is_of_machine).collect();
    let (text, words) = (&question.message, words(&question.message));
    let is_it = |core: &&&CoreFields| {
        is_named(text, &words, core.key.bearing.as_str()) || is_located(text, core, &of_machine)
    };
    of_machine.iter().find(is_it).map(|core| core.key.clone())
}

/// Runs of digits of a text, with their places.
fn numbers_of(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut from = 0;
    for run in text.split(|c: char| !c.is_ascii_digit()) {
        let at = from + text[from..].find(run).unwrap_or_default();
        if !run.is_empty() {
            found.push((at, run));
        }
        from = at + run.len();
    }
    found
}

/// Whether a text names this bearing of its machine, and not the machine alone.
pub(super) fn names_bearing(text: &str, core: &CoreFields) -> bool {
    is_named(text, &words(text), core.key.bearing.as_str()) || is_located(text, core, &[core])
}

/// The bearings that the conversation named last: of a turn those of the question, else the first of its answer.
fn of_history(history: &[Said], fleet: &[CoreFields]) -> Vec<BearingKey> {
    let mut answered: Option<BearingKey> = None;
    for said in history.iter().rev() {
        let named = named_in(&said.content, &sites::in_scope(&said.content, fleet));
        match said.role {
            Speaker::Assistant => {
                let first = first_told(&said.content, fleet);
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

/// The bearing that an answer tells first, by the name that answers give it.
fn first_told(content: &str, fleet: &[CoreFields]) -> Option<BearingKey> {
    let told = fleet.iter().filter_map(|core| Some((content.find(&core.name())?, core)));
    told.min_by_key(|(at, _)| *at).map(|(_, core)| core.key.clone())
}

/// What a text names: machine and bearing, or machines alone, whose worst bearings are meant.
pub(super) fn named_in(text: &str, fleet: &[CoreFields]) -> Meant {
    let words = words(text);
    let mut found: Vec<(usize, BearingKey)> = Vec::new();
    let mut meant = Meant::default();
    let mut machines: Vec<(&str, &str)> = Vec::new();
    let mut missing: Vec<UnknownName> = Vec::new();
    let called = machines_called(text, fleet);
    let place = |core: &CoreFields| {
        let machine = core.key.equipment.as_str();
        let joined = || words.iter().find(|(_, word)| is_joined(word, core)).map(|(at, _)| *at);
        let code = || place_of_code(text, &words, machine, fleet);
        place_of(text, &words, machine).or_else(code).or_else(joined)
    };
    let by_code = fleet.iter().any(|core| place(core).is_some());
    let is_none_called = called.machines.is_empty() && called.unknown.is_empty() && !by_code;
    for core in fleet {
        let machine = core.key.equipment.as_str();
        if machines.contains(&(core.key.site.as_str(), machine)) {
            continue;
        }
        let by_name = || {
            let known =
                called.machines.iter().find(|(_, name)| *name == machine).map(|(at, _)| *at);
            known.or_else(|| place_of_slip(text, core).filter(|_| is_none_called))
        };
        let Some(at) = place(core).or_else(by_name) else { continue };
        machines.push((core.key.site.as_str(), machine));
        match on_machine(text, &words, core, fleet) {
            Ok(chosen) => found.extend(chosen.into_iter().map(|key| (at, key))),
            Err(other) => missing.push(other),
        }
    }
    // an end that a machine of the name has at another site is not missing
    let is_missing = |one: &UnknownName| {
        found.iter().all(|(_, key)| format!("{} {}", key.equipment, key.bearing) != one.name)
    };
    meant.unknown.extend(missing.into_iter().filter(is_missing));
    found.sort_by_key(|(at, _)| *at);
    meant.keys = found.into_iter().map(|(_, key)| key).collect();
    meant.unknown.extend(unknown_in(&words, fleet));
    meant.unknown.extend(called.unknown);
    meant.is_ambiguous = called.is_ambiguous;
    meant
}

/// The bearings of a machine that a text means: those that it names, else the worst one.
///
/// # Errors
/// The name of an end that the machine does not have.
fn on_machine(
    text: &str,
    words: &[(usize, &str)],
    core: &CoreFields,
    fleet: &[CoreFields],
) -> Result<Vec<BearingKey>, UnknownName> {
    let is_on = |one: &&CoreFields| {
        one.key.equipment == core.key.equipment && one.key.site == core.key.site
    };
    let all: Vec<&CoreFields> = fleet.iter().filter(is_on).collect();
    let is_exact = |one: &&&CoreFields| {
        is_named(text, words, one.key.bearing.as_str())
            || is_located(text, one, &all)
            || words.iter().any(|(_, word)| is_joined(word, one))
    };
    let exact: Vec<BearingKey> = all.iter().filter(is_exact).map(|one| one.key.clone()).collect();
    if !exact.is_empty() {
        return Ok(exact);
    }
    if let Some(end) = end_of(text, words)
        && all.iter().any(|one| ["DE", "NDE"].contains(&one.key.bearing.as_str()))
    {
        let near = all.iter().map(|one| one.name()).collect();
        return Err(UnknownName { name: format!("{} {end}", core.key.equipment), near });
    }
    Ok(all.into_iter().take(1).map(|one| one.key.clone()).collect())
}

/// Whether a text names the place where a bearing sits on its machine (`고속축`), and not a longer one that has
/// its letters (`비부하측` has those of `부하측`).
fn is_located(text: &str, core: &CoreFields, of_machine: &[&CoreFields]) -> bool {
    let Some(place) = &core.location else { return false };
    let lower = text.to_lowercase();
    [(&place.ko, true), (&place.en, false)].into_iter().any(|(place, is_korean)| {
        let place = place.to_lowercase();
        let others = of_machine.iter().filter_map(|other| other.location.as_ref());
        let longer = others
            .map(|other| if is_korean { other.ko.to_lowercase() } else { other.en.to_lowercase() });
        let rest = longer
            .filter(|other| other.len() > place.len() && other.contains(&place))
            .fold(lower.clone(), |rest, other| rest.replace(&other, " "));
        place.chars().count() > 1 && rest.contains(&place)
    })
}

/// The words of a text in Latin letters and digits, with their places.
fn words(text: &str) -> Vec<(usize, &str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '–' | '.');
    let (mut words, mut from) = (Vec::new(), None);
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (is_part(c), from) {
            (true, None) => from = Some(at),
            (false, Some(begin)) => {
                let word = text[begin..at].trim_matches(['-', '_', '.', '–']);
                words.push((begin, word));
                from = None;
            }
            _ => {}
        }
    }
    words.retain(|(_, word)| !word.is_empty());
    words
}

/// Letters and digits alone, in lower case.
fn squeezed(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Where a text names a machine by the code in its name alone: `K-7` of `K-7 blower`, where no other machine has it.
fn place_of_code(
    text: &str,
    words: &[(usize, &str)],
    name: &str,
    fleet: &[CoreFields],
) -> Option<usize> {
    let code = code_of(name).filter(|code| code.len() < name.len())?;
    let is_only = fleet.iter().all(|core| {
        let other = core.key.equipment.as_str();
        other == name || code_of(other) != Some(code)
    });
    // `C3` and `M8` are a clearance and a bolt, `C-3` is a machine
    let is_class = squeezed(code).len() < 4 && code.starts_with(['C', 'c', 'M', 'm', 'H', 'h']);
    let is_joined = text.to_lowercase().contains(&code.to_lowercase());
    if !is_only || is_class && !is_joined { None } else { place_of(text, words, code) }
}

/// Whether a word is the code of a machine with its bearing: `p-101de`.
fn is_joined(word: &str, core: &CoreFields) -> bool {
    let machine = core.key.equipment.as_str();
    let code = squeezed(code_of(machine).unwrap_or(machine));
    let end = squeezed(core.key.bearing.as_str());
    !end.is_empty() && squeezed(word) == format!("{code}{end}")
}

/// The word of letters and digits in a machine's name.
fn code_of(name: &str) -> Option<&str> {
    name.split_whitespace().find(|word| {
        word.is_ascii()
            && word.chars().any(|c| c.is_ascii_digit())
            && word.starts_with(|c: char| c.is_ascii_alphabetic())
    })
}

/// Where a text names a machine, however it writes it: `P-101`, `p101`, `P 101`.
fn place_of(text: &str, words: &[(usize, &str)], name: &str) -> Option<usize> {
    let wanted = squeezed(name);
    let is_latin = name.is_ascii();
    let whole = words.iter().find(|(_, word)| squeezed(word) == wanted);
    let pair = words.windows(2).find(|pair| {
        let is_apart = pair[1].0 == pair[0].0 + pair[0].1.len() + 1;
        is_apart && format!("{}{}", squeezed(pair[0].1), squeezed(pair[1].1)) == wanted
    });
    let pair = pair.and_then(|pair| pair.first());
    let found = whole.or(pair).map(|(at, _)| *at);
    found.or_else(|| if is_latin { None } else { text.to_lowercase().find(&name.to_lowercase()) })
}

fn is_named(text: &str, words: &[(usize, &str)], bearing: &str) -> bool {
    let is_word = words.iter().any(|(_, word)| {
        word.eq_ignore_ascii_case(bearing)
            || word.rsplit(['-', '_', '/']).next().is_some_and(|end| {
                end.eq_ignore_ascii_case(bearing)
                    && word.len() > end.len()
                    && !bearing.is_empty()
                    && bearing.chars().all(|c| c.is_ascii_alphabetic())
            })
    });
    is_word
        || (!bearing.is_ascii() && text.to_lowercase().contains(&bearing.to_lowercase()))
        || end_of(text, words).is_some_and(|end| end == bearing)
}

/// Which end of a machine a text names.
fn end_of(text: &str, words: &[(usize, &str)]) -> Option<&'static str> {
    let lower = text.to_lowercase();
    let by_word = ENDS.iter().find(|(word, _)| lower.contains(word)).map(|(_, end)| *end);
    // capitals alone: "de" is a word of other languages
    let by_name = ["NDE", "DE"].into_iter().find(|end| words.iter().any(|(_, word)| word == end));
    by_name.or(by_word)
}

/// Names of machines that nobody here knows: letters and digits as machines have them.
fn unknown_in(words: &[(usize, &str)], fleet: &[CoreFields]) -> Vec<UnknownName> {
    let mut unknown: Vec<UnknownName> = Vec::new();
    for (_, word) in words {
        let known = |core: &CoreFields| {
            let (machine, bearing) = (&core.key.equipment, &core.key.bearing);
            let whole = squeezed(&format!("{machine}{bearing}"));
            let code = code_of(machine.as_str()).map(squeezed).unwrap_or_default();
            let with_end = format!("{code}{}", squeezed(bearing.as_str()));
            [squeezed(machine.as_str()), squeezed(bearing.as_str()), whole, code, with_end]
                .contains(&squeezed(word))
                || squeezed(core.key.site.as_str()) == squeezed(word)
        };
        if fleet.iter().any(known) || !is_machine(word, fleet) {
            continue;
        }
        if unknown.iter().all(|one| !one.name.eq_ignore_ascii_case(word)) {
            unknown.push(UnknownName { name: (*word).to_owned(), near: near(word, fleet) });
        }
    }
    unknown
}

fn is_machine(word: &str, fleet: &[CoreFields]) -> bool {
    let letters = word.len() - word.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
    let (prefix, rest) = word.split_at(letters);
    let (lower, digits) = (prefix.to_lowercase(), rest.trim_start_matches(['-', '_', '–']));
    let count = digits.len() - digits.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let tail = &digits[count..];
    let has_form = (1..=6).contains(&letters)
        && (1..=5).contains(&count)
        && tail.len() <= 2
        && tail.chars().all(|c| c.is_ascii_alphabetic());
    // bolts, classes of clearance and fit: M12, C3, k5
    let is_class = letters == 1 && count <= 2 && digits.len() == rest.len();
    if !has_form || is_class || OTHERS.contains(&lower.as_str()) {
        return false;
    }
    let is_joined = digits.len() < rest.len();
    let of_plant = |core: &CoreFields| {
        let machine = core.key.equipment.as_str().to_lowercase();
        machine.trim_end_matches(|c: char| !c.is_ascii_alphabetic()) == lower
    };
    let has_many = count >= 2;
    (is_joined && has_many) || ((is_joined || has_many) && fleet.iter().any(of_plant))
}

/// The machines whose names are nearest to this one.
fn near(word: &str, fleet: &[CoreFields]) -> Vec<String> {
    let mut machines: Vec<(usize, &str)> = Vec::new();
    for core in fleet {
        let name = core.key.equipment.as_str();
        if machines.iter().all(|(_, known)| *known != name) {
            machines.push((strsim::damerau_levenshtein(&squeezed(name), &squeezed(word)), name));
        }
    }
    machines.sort_by_key(|(distance, _)| *distance);
    machines.into_iter().take(PROPOSED).map(|(_, name)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests;
