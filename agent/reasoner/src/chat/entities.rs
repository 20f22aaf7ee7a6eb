//! Which bearings a question is about: those that it names, the one of the page, or those that the conversation
//! named last; and which machines it names that nobody here knows.
//!
//! A machine that does not exist is never answered with another one: it is told, with the names nearest to it.

use pdm_shared::id::BearingKey;

use super::desk::CoreFields;
use super::{Question, Said, Speaker, planning};

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
/// Longest question in which a name with a slip is looked for, letters and digits.
const LONGEST: usize = 240;
/// Words for the ends of a machine, with the name that bearings there have.
const ENDS: [(&str, &str); 10] = [
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
}

/// The bearings of a question.
pub(super) fn meant(question: &Question, fleet: &[CoreFields]) -> Meant {
    let asking = planning::asking(&question.message);
    let mut meant = named_in(&asking, fleet);
    if meant.keys.is_empty() && meant.unknown.is_empty() && asking != question.message {
        meant.keys.extend(named_in(&question.message, fleet).keys.pop());
    }
    if meant.keys.is_empty() && meant.unknown.is_empty() && !question.history.is_empty() {
        meant.keys.extend(named_in_short(question, fleet));
    }
    meant.keys.truncate(MAX_BEARINGS);
    if !meant.keys.is_empty() || !meant.unknown.is_empty() {
        return meant;
    }
    let of_page = question.about.iter().filter(|key| fleet.iter().any(|core| core.key == **key));
    meant.keys.extend(of_page.cloned());
    if meant.keys.is_empty() {
        meant.keys = of_history(&question.history, fleet);
    }
    meant
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

/// The bearings that the conversation named last: of a turn those of the question, else the first of its answer.
fn of_history(history: &[Said], fleet: &[CoreFields]) -> Vec<BearingKey> {
    let mut answered: Option<BearingKey> = None;
    for said in history.iter().rev() {
        let named = named_in(&said.content, fleet);
        match said.role {
            Speaker::Assistant => answered = named.keys.into_iter().next().or(answered),
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

/// What a text names: machine and bearing, or machines alone, whose worst bearings are meant.
pub(super) fn named_in(text: &str, fleet: &[CoreFields]) -> Meant {
    let words = words(text);
    let mut found: Vec<(usize, BearingKey)> = Vec::new();
    let mut meant = Meant::default();
    let mut machines: Vec<&str> = Vec::new();
    let squeezed_text = squeezed(text);
    let mut names = fleet.iter().filter_map(|core| core.machine_name.as_ref());
    let is_one_whole = names.any(|name| {
        is_wholly_in(&name.ko, &squeezed_text) || is_wholly_in(&name.en, &squeezed_text)
    });
    for core in fleet {
        let machine = core.key.equipment.as_str();
        if machines.contains(&machine) {
            continue;
        }
        let by_name = || place_of_name(text, core, fleet, is_one_whole);
        let Some(at) = place_of(text, &words, machine).or_else(by_name) else { continue };
        machines.push(machine);
        let on_machine = || fleet.iter().filter(|core| core.key.equipment.as_str() == machine);
        let has = |core: &&CoreFields| is_named(text, &words, core.key.bearing.as_str());
        let exact: Vec<&CoreFields> = on_machine().filter(has).collect();
        if exact.is_empty()
            && let Some(end) = end_of(text, &words)
            && !on_machine().any(|core| core.key.bearing.as_str() == end)
            && on_machine().any(|core| ["DE", "NDE"].contains(&core.key.bearing.as_str()))
        {
            let near = on_machine().map(CoreFields::name).collect();
            meant.unknown.push(UnknownName { name: format!("{machine} {end}"), near });
            continue;
        }
        let chosen = if exact.is_empty() { on_machine().take(1).collect() } else { exact };
        found.extend(chosen.into_iter().map(|core| (at, core.key.clone())));
    }
    found.sort_by_key(|(at, _)| *at);
    meant.keys = found.into_iter().map(|(_, key)| key).collect();
    meant.unknown.extend(unknown_in(&words, fleet));
    meant
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

/// Where a text names a machine as people call it (`냉각수 펌프`, `the cooling water pump`), or by the last word of
/// that name where no other machine has it (`the compressor`).
///
/// `is_one_whole`: the text has the whole name of a machine, so that a slip of another name is none.
fn place_of_name(
    text: &str,
    core: &CoreFields,
    fleet: &[CoreFields],
    is_one_whole: bool,
) -> Option<usize> {
    let names = core.machine_name.as_ref()?;
    let (lower, squeezed_text) = (text.to_lowercase(), squeezed(text));
    let is_only = |last: &str| {
        fleet.iter().all(|other| {
            let others = other.machine_name.as_ref();
            other.key.equipment == core.key.equipment
                || others.is_none_or(|other| {
                    ![&other.ko, &other.en].iter().any(|name| ends_in(name, last))
                })
        })
    };
    let is_whole = |name: &String| is_wholly_in(name, &squeezed_text);
    [&names.ko, &names.en].into_iter().find_map(|name| {
        let last = name.rsplit(' ').next().unwrap_or_default().to_lowercase();
        let whole = squeezed(name);
        if is_whole(name)
            || !is_one_whole
                && (is_nearly_in(&whole, &squeezed_text) || is_shortened_in(name, &lower))
        {
            return Some(lower.find(&last).unwrap_or_default());
        }
        let is_word = |at: usize| {
            let before = lower[..at].chars().next_back();
            !before.is_some_and(char::is_alphanumeric)
        };
        let at = lower.match_indices(&last).map(|(at, _)| at).find(|at| is_word(*at))?;
        (last.chars().count() > 1 && is_only(&last)).then_some(at)
    })
}

/// Whether a text of letters and digits has a name, and not the begin of one with a longer number.
fn is_wholly_in(name: &str, squeezed_text: &str) -> bool {
    let whole = squeezed(name);
    let is_cut = |end: usize| {
        whole.ends_with(|c: char| c.is_numeric())
            && squeezed_text[end..].starts_with(|c: char| c.is_numeric())
    };
    whole.chars().count() > 2
        && squeezed_text.match_indices(&whole).any(|(at, _)| !is_cut(at + whole.len()))
}

/// Whether a text has a name with a slip: one letter of four or more in Hangul, two of eight or more in Latin.
fn is_nearly_in(name: &str, text: &str) -> bool {
    let (name_chars, text_chars): (Vec<char>, Vec<char>) =
        (name.chars().collect(), text.chars().collect());
    let slips = match (name.is_ascii(), name_chars.len()) {
        (false, 4..) => 1,
        (true, 8..) => 2,
        _ => return false,
    };
    // longer texts are answers and stories, in which names stand as they are written
    if text_chars.len() > LONGEST {
        return false;
    }
    // a number tells machines of one kind apart: it is never a slip
    let digits = |text: &str| text.chars().filter(|c| c.is_numeric()).collect::<String>();
    text_chars.windows(name_chars.len()).any(|window| {
        let window: String = window.iter().collect();
        digits(&window) == digits(name) && strsim::damerau_levenshtein(&window, name) <= slips
    })
}

/// Whether a text has the first and the last word of a name of three: `feed pump` for `Feed water pump`.
fn is_shortened_in(name: &str, lower: &str) -> bool {
    let words: Vec<&str> = name.split(' ').collect();
    match words[..] {
        [first, _, last] => lower.contains(&format!("{first} {last}").to_lowercase()),
        _ => false,
    }
}

fn ends_in(name: &str, last: &str) -> bool {
    name.to_lowercase().ends_with(last)
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
            [squeezed(machine.as_str()), squeezed(bearing.as_str()), whole]
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
mod tests {
    use pdm_shared::risk::RiskLevel;
    use pdm_shared::text::Language;

    use super::*;

    fn fleet() -> Vec<CoreFields> {
        let names = [
            ("P-101", "DE"),
            ("P-102", "DE"),
            ("P-102", "NDE"),
            ("F-301", "DE"),
            ("보일러팬", "1"),
        ];
        let core = |(machine, bearing): (&str, &str)| CoreFields {
            key: BearingKey::parse("ulsan-1", machine, bearing).expect("names"),
            risk: RiskLevel::Normal,
            stage: 0,
            fault: None,
            rul_hours: None,
            event_id: None,
            measured_at: None,
            alarm: None,
            machine_name: None,
        };
        names.into_iter().filter(|(machine, _)| machine.is_ascii()).map(core).collect()
    }

    fn told(text: &str) -> (Vec<String>, Vec<String>) {
        let meant = named_in(text, &fleet());
        let keys = meant.keys.iter().map(|key| format!("{} {}", key.equipment, key.bearing));
        (keys.collect(), meant.unknown.into_iter().map(|one| one.name).collect())
    }

    #[test]
    fn a_machine_is_named_however_it_is_written() {
        for text in ["P-101 상태", "p101 어때", "P 101?", "how is p-101", "P-101이랑", "P_101의"]
        {
            assert_eq!(told(text), (vec!["P-101 DE".to_owned()], vec![]), "{text}");
        }
        assert_eq!(told("P-102 반구동측").0, ["P-102 NDE"]);
        assert_eq!(told("P-102 NDE는?").0, ["P-102 NDE"]);
        assert_eq!(told("F-301하고 P-101").0, ["F-301 DE", "P-101 DE"]);
    }

    #[test]
    fn a_machine_is_named_by_what_people_call_it() {
        let mut fleet = fleet();
        for (machine, ko, en) in [
            ("P-101", "냉각수 펌프", "Cooling water pump"),
            ("P-102", "급수 펌프", "Feed water pump"),
            ("F-301", "배기 팬", "Exhaust fan"),
        ] {
            let of = fleet.iter_mut().filter(|core| core.key.equipment.as_str() == machine);
            of.for_each(|core| core.machine_name = Some(pdm_shared::text::Text::new(ko, en)));
        }
        let told = |text: &str| {
            let keys = named_in(text, &fleet).keys;
            keys.iter().map(|key| key.equipment.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(told("냉각수펌프 어때"), ["P-101"]);
        assert_eq!(told("how is the feed water pump doing"), ["P-102"]);
        assert_eq!(told("배기팬 괜찮아?"), ["F-301"]);
        assert_eq!(told("is the fan ok"), ["F-301"]);
        assert_eq!(told("급수펌푸 어떻슴까"), ["P-102"]);
        assert_eq!(told("feedwater pmup health check"), ["P-102"]);
        assert_eq!(told("will the feed pump make it"), ["P-102"]);
        assert_eq!(told("the pump sounds odd"), Vec::<String>::new(), "there are two");
    }

    #[test]
    fn a_machine_that_does_not_exist_is_no_other_one() {
        for (text, name) in [
            ("P-999 상태", "P-999"),
            ("p103?", "p103"),
            ("MTR-12 어때", "MTR-12"),
            ("P-101 NDE는?", "P-101 NDE"),
            ("P-1012", "P-1012"),
        ] {
            assert_eq!(told(text), (vec![], vec![name.to_owned()]), "{text}");
        }
        for text in [
            "M12 볼트",
            "C3 틈새",
            "EM-06 5절",
            "ISO 20816-1",
            "6205 베어링",
            "H7 공차",
            "WO-20261121-1A",
            "gw-01",
            "NU205",
        ] {
            assert_eq!(told(text), (vec![], vec![]), "{text}");
        }
        let near = named_in("P-103", &fleet()).unknown.remove(0).near;
        assert_eq!(near[..2], ["P-101", "P-102"]);
    }

    #[test]
    fn a_follow_up_is_about_what_the_conversation_named_last() {
        let said = |role, text: &str| Said { role, content: text.to_owned() };
        let ask = |history: Vec<Said>| {
            let message = "왜 그래?".to_owned();
            let question = Question { message, history, about: None, language: Language::Ko };
            let keys = meant(&question, &fleet()).keys;
            keys.iter().map(|key| key.equipment.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(
            ask(vec![
                said(Speaker::User, "P-102 어때?"),
                said(Speaker::Assistant, "P-102는 P-101보다 낫습니다")
            ]),
            ["P-102"]
        );
        assert_eq!(
            ask(vec![
                said(Speaker::User, "제일 위험한 건?"),
                said(Speaker::Assistant, "F-301 · DE: 위험")
            ]),
            ["F-301"]
        );
        let unknown = vec![
            said(Speaker::User, "P-999 어때?"),
            said(Speaker::Assistant, "P-999는 없습니다. P-101을 찾으십니까?"),
        ];
        assert_eq!(ask(unknown), Vec::<String>::new());
        assert_eq!(ask(Vec::new()), Vec::<String>::new());
    }
}
