//! Machines and bearings that a text names, however it writes them, and names that nobody here
//! knows.

use pdm_shared::id::BearingKey;

use super::called::{Called, machines_called, place_of_slip};
use super::{Meant, UnknownName};
use crate::chat::desk::CoreFields;
use crate::chat::intent::{self, PLAIN_WORDS};

/// Names that are proposed for one that nobody knows.
pub(super) const PROPOSED: usize = 3;
/// Letters before the digits of names that are no machines: documents, standards, work orders,
/// gateways, bearings.
const OTHERS: [&str; 19] = [
    "em", "mh", "wo", "iso", "iec", "ks", "din", "api", "vdi", "rs", "ip", "pt", "nlgi", "gw",
    "nu", "er", "uer", "za", "fmea",
];
/// Letters before one digit that are no machines: greases, oils, gases, substances, classes.
const NO_TAGS: [&str; 20] = [
    "lgep", "lgmt", "lghp", "lgwa", "shc", "vg", "ep", "co", "no", "so", "usb", "rj", "cat", "ral",
    "tls", "http", "top", "gl", "sd", "pf",
];
/// Words of English sentences that bearings have as names.
const COMMON_WORDS: [&str; 14] =
    ["in", "out", "on", "off", "at", "a", "i", "to", "it", "is", "no", "up", "top", "back"];
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

/// Whether a text names this bearing of its machine, and not the machine alone.
pub(in crate::chat) fn names_bearing(text: &str, core: &CoreFields) -> bool {
    is_named(text, &words(text), core.key.bearing.as_str())
        || is_located(text, core, &[core])
        || is_placed(text, core)
}

/// Finds the bearings and machines that a text names. A machine named without a bearing stands for
/// its worst bearing.
pub(in crate::chat) fn named_in(text: &str, fleet: &[CoreFields]) -> Meant {
    let words = words(text);
    let mut found: Vec<(usize, BearingKey)> = Vec::new();
    let mut meant = Meant::default();
    let mut machines: Vec<(&str, &str)> = Vec::new();
    let mut missing: Vec<UnknownName> = Vec::new();
    // a question for the limits of a class is about no machine of the plant that has its kind's
    // name
    let is_of_class = intent::asks_zone_limits(&text.to_lowercase());
    let called = if is_of_class { Called::default() } else { machines_called(text, fleet) };
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
            let named = (core.key.site.as_str(), machine);
            let known = called.machines.iter().find(|(_, one)| *one == named).map(|(at, _)| *at);
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
            || all.len() > 1 && is_placed(text, one)
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

/// Whether a text names the place where a bearing sits on its machine (`고속축`), and not a longer one
/// that has its letters (`비부하측` has those of `부하측`).
pub(super) fn is_located(text: &str, core: &CoreFields, of_machine: &[&CoreFields]) -> bool {
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

/// Whether a text names the place of a bearing by another word than its name has: `아래쪽` of `BOT`.
fn is_placed(text: &str, core: &CoreFields) -> bool {
    let lower = text.to_lowercase();
    let bearing = core.key.bearing.as_str().to_lowercase();
    let said: Vec<&str> = lower.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').collect();
    let stands = |word: &String| {
        if word.is_ascii() && !word.contains(' ') {
            word.len() > 2 && word != "back" && said.contains(&word.as_str())
        } else {
            lower.contains(word.as_str())
        }
    };
    PLAIN_WORDS.places.iter().any(|group| group.contains(&bearing) && group.iter().any(stands))
}

/// The words of a text in Latin letters and digits, with their places.
pub(super) fn words(text: &str) -> Vec<(usize, &str)> {
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
pub(super) fn squeezed(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns where a text names a machine by the code in its name alone: `K-7` of `K-7 blower`, where
/// no other machine has it.
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

/// Returns where a text names a machine, however it writes it: `P-101`, `p101`, `P 101`.
fn place_of(text: &str, words: &[(usize, &str)], name: &str) -> Option<usize> {
    let wanted = squeezed(name);
    let is_latin = name.is_ascii();
    let is_it = |word: &str| squeezed(word) == wanted && !is_size(word, text);
    let whole = words.iter().find(|(_, word)| is_it(word));
    let pair = words.windows(2).find(|pair| {
        let is_apart = pair[1].0 == pair[0].0 + pair[0].1.len() + 1;
        // `MM 1.2` is a reading of a machine and not the MM-12
        let is_decimal = pair[1].1.contains('.');
        is_apart
            && !is_decimal
            && format!("{}{}", squeezed(pair[0].1), squeezed(pair[1].1)) == wanted
    });
    let pair = pair.and_then(|pair| pair.first());
    let found = whole.or(pair).map(|(at, _)| *at);
    found.or_else(|| if is_latin { None } else { text.to_lowercase().find(&name.to_lowercase()) })
}

/// Whether a word is the size of a bolt or a class of clearance and no machine: `M12` where bolts
/// are spoken of. A machine is written with its hyphen there (`M-12`).
fn is_size(word: &str, text: &str) -> bool {
    const OF_BOLTS: [&str; 9] =
        ["볼트", "너트", "나사", "토크", "조여", "bolt", "nut", "screw", "torque"];
    const OF_CLEARANCE: [&str; 5] = ["틈새", "유격", "간극", "clearance", "클리어런스"];
    let lower = text.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let digits = word.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let is_plain = (1..=2).contains(&digits.len()) && digits.chars().all(|c| c.is_ascii_digit());
    match &word[..word.len() - digits.len()] {
        "M" | "m" => is_plain && has(&OF_BOLTS),
        "C" | "c" => is_plain && has(&OF_CLEARANCE),
        _ => false,
    }
}

pub(super) fn is_named(text: &str, words: &[(usize, &str)], bearing: &str) -> bool {
    // a name that is a word of sentences is written in its own letters: the bearing `IN`
    let is_common = COMMON_WORDS.contains(&bearing.to_lowercase().as_str());
    let is_word = words.iter().any(|(_, word)| {
        *word == bearing
            || !is_common && word.eq_ignore_ascii_case(bearing)
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

/// Returns which end of a machine a text names.
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
    // `JC-7`, or in small letters that make no word: `pz-4`, but not `step-2`
    let is_tag = (2..=4).contains(&letters)
        && tail.is_empty()
        && !NO_TAGS.contains(&lower.as_str())
        && (prefix.chars().all(|c| c.is_ascii_uppercase())
            || !lower.contains(['a', 'e', 'i', 'o', 'u', 'y']));
    (is_joined && (has_many || is_tag)) || ((is_joined || has_many) && fleet.iter().any(of_plant))
}

/// The machines whose names are nearest to this one.
pub(super) fn near(word: &str, fleet: &[CoreFields]) -> Vec<String> {
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
