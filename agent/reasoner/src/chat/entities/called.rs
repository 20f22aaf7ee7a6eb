//! Machines by what people call them: the words of a name in any order with its number (`1호 크러셔`,
//! `팬3`, `feed pump 2`), a part of the name where that is enough, one with a slip; and numbers that
//! no machine of the kind has.

use super::UnknownName;
use super::naming::{PROPOSED, squeezed};
use crate::chat::desk::CoreFields;
use crate::chat::intent::QUESTION_WORDS;
use tokens::{Token, tokens};
pub(super) use whole_names::called_by_part;

mod tokens;
mod whole_names;

/// Longest question in which a name with a slip is looked for, letters and digits.
const LONGEST: usize = 240;
/// Words of a text that are taken together as one name.
const MOST_WORDS: usize = 4;
/// Longest particle behind a Korean name, letters: `에서는`.
const PARTICLE: usize = 3;

/// Words of English sentences that are words of names, too.
const COMMON_WORDS: [&str; 62] = [
    "can", "will", "may", "might", "must", "do", "does", "did", "be", "is", "are", "was", "were",
    "has", "have", "had", "go", "run", "set", "use", "all", "any", "one", "two", "out", "in", "on",
    "up", "off", "end", "no", "or", "and", "the", "it", "its", "you", "me", "my", "we", "us",
    "our", "he", "she", "they", "what", "when", "who", "how", "why", "where", "which", "to", "of",
    "for", "at", "by", "back", "line", "top", "main", "new",
];
/// Words with which a name in the singular is said of several machines.
const SEVERAL: [&str; 14] = [
    "which ", "either ", "둘 중", " two ", "대 ", "대를", "대 중", "모두", "전부", "비교", " all ",
    "both", "each ", "compare",
];

/// Words right before a name in the singular that is said of several machines.
const BEFORE_SEVERAL: [&str; 8] = ["which", "two", "both", "either", "두", "양쪽", "둘", "두대"];

/// A name in words and label: `Boiler feed pump 2`, `컨베이어 A`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Name {
    words: Vec<String>,
    /// The number, or the single letter behind the words.
    label: Option<String>,
    /// Words and number in the order of the name.
    all: Vec<String>,
    /// Whether the name is as configured, and not with its kind in the other language.
    is_own: bool,
}

impl Name {
    /// Whether it is more than a code such as `P-101`, which is known by its form.
    fn has_word(&self) -> bool {
        self.words.iter().any(|word| word.chars().count() > 1)
    }
}

/// A machine by its site and its name: machines of one name at two sites may be called differently.
pub(super) type Machine<'a> = (&'a str, &'a str);

/// The machines that a text names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Called<'a> {
    /// Machines by site and name, with their places in the text.
    pub(super) machines: Vec<(usize, Machine<'a>)>,
    /// Numbers that no machine of the kind has.
    pub(super) unknown: Vec<UnknownName>,
    /// Words in the singular fit several machines: `the pump`.
    pub(super) is_ambiguous: bool,
}

/// How a name fits words of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// The words fit, the number is another one.
    OtherLabel,
    /// This many letters of the name match, without a number.
    Words(usize),
    /// This many letters of the name match, and its number.
    Labelled(usize),
}

/// The machines that a text calls by their names.
pub(super) fn machines_called<'a>(text: &str, fleet: &'a [CoreFields]) -> Called<'a> {
    let tokens = tokens(text);
    let mut named: Vec<(Machine<'_>, Vec<Name>)> = Vec::new();
    for core in fleet {
        let id = core.key.equipment.as_str();
        let machine = (core.key.site.as_str(), id);
        if named.iter().any(|(known, _)| *known == machine) {
            continue;
        }
        let names = core.machine_name.iter().flat_map(|name| [name.ko.as_str(), name.en.as_str()]);
        let of_id = std::iter::once(id);
        let names = names.chain(of_id).map(parsed).filter(Name::has_word).flat_map(with_kinds);
        named.push((machine, names.collect()));
    }
    let mut called = Called::default();
    let mut at = 0;
    while at < tokens.len() {
        let whole = add_whole(&mut called, &tokens, at, &named);
        let count = if whole > 0 { whole } else { add_run(&mut called, text, &tokens, at, &named) };
        at += count.max(1);
    }
    for unknown in &mut called.unknown {
        if unknown.near.is_empty() {
            unknown.near = near_kind(&unknown.name, &named);
        }
    }
    called
}

/// Adds the machine whose name stands word for word from a token on, its number where the name has
/// it (`냉각탑 3호 팬`); how many tokens it is, zero if none.
fn add_whole<'a>(
    called: &mut Called<'a>,
    tokens: &[Token],
    from: usize,
    named: &[(Machine<'a>, Vec<Name>)],
) -> usize {
    let stands = |name: &Name| {
        name.all.len() > 1
            && name.all.iter().enumerate().all(|(at, word)| {
                tokens.get(from + at).is_some_and(|token| is_word(&token.text, word))
            })
    };
    let fits = named.iter().filter_map(|(machine, names)| {
        let longest = names.iter().filter(|name| stands(name)).map(|name| name.all.len()).max();
        Some((longest?, *machine))
    });
    let fits: Vec<(usize, Machine<'_>)> = fits.collect();
    let Some(count) = fits.iter().map(|(count, _)| *count).max() else { return 0 };
    let longest = fits.into_iter().filter(|(own, _)| *own == count);
    called.machines.extend(longest.map(|(_, machine)| (tokens[from].at, machine)));
    count
}

/// The machines of the kind that an unknown name is of, then those whose names are nearest.
fn near_kind(unknown: &str, named: &[(Machine<'_>, Vec<Name>)]) -> Vec<String> {
    let words = tokens(unknown);
    let is_kind = |name: &Name| {
        name.words.last().is_some_and(|kind| words.iter().any(|token| is_word(&token.text, kind)))
    };
    let of_kind = |names: &[Name]| usize::from(!names.iter().any(is_kind));
    let mut order: Vec<(usize, usize, &str)> = named
        .iter()
        .map(|((_, machine), names)| {
            let far = strsim::damerau_levenshtein(&squeezed(machine), &squeezed(unknown));
            (of_kind(names), far, *machine)
        })
        .collect();
    order.sort_unstable();
    order.dedup_by_key(|(_, _, machine)| *machine);
    order.into_iter().take(PROPOSED).map(|(_, _, machine)| machine.to_owned()).collect()
}

/// A name, and the same with its kind in the other language: `컨베이어 3` is `conveyor 3`.
fn with_kinds(name: Name) -> Vec<Name> {
    let groups = &QUESTION_WORDS.same_kinds;
    let others = groups.iter().filter_map(|group| {
        let at = name.words.iter().rposition(|word| group.contains(word))?;
        let other = |kind: &String| {
            let swapped =
                |word: &String| if *word == name.words[at] { kind.clone() } else { word.clone() };
            Name {
                words: name.words.iter().map(swapped).collect(),
                label: name.label.clone(),
                all: name.all.iter().map(swapped).collect(),
                is_own: false,
            }
        };
        let kinds = group.iter().filter(|kind| **kind != name.words[at]);
        Some(kinds.map(other).collect::<Vec<Name>>())
    });
    let mut all: Vec<Name> = others.flatten().collect();
    all.push(name);
    all
}

/// Adds what the words from a token on call; how many tokens they are, zero if they call nothing.
fn add_run<'a>(
    called: &mut Called<'a>,
    text: &str,
    tokens: &[Token],
    from: usize,
    named: &[(Machine<'a>, Vec<Name>)],
) -> usize {
    // a single letter is a label or an article
    let is_part =
        |token: &&Token| !token.is_number && (token.text.len() > 1 || !token.text.is_ascii());
    let words = tokens[from..].iter().take(MOST_WORDS).take_while(is_part).count();
    let least = if is_qualified_kind(tokens, from) { words + 1 } else { 1 };
    for count in (least..=words).rev() {
        let run = &tokens[from..from + count];
        if is_before_code(tokens, from + count) {
            // of "pump P-777" the code says which one
            return count;
        }
        let fits = named.iter().filter_map(|(machine, names)| {
            let best = names.iter().filter_map(|name| fit(name, tokens, from, count)).max()?;
            Some((*machine, best))
        });
        let fits: Vec<(Machine<'_>, Fit)> = fits.collect();
        let Some(best) = fits.iter().map(|(_, fit)| *fit).max() else { continue };
        if best == Fit::OtherLabel {
            let mut near: Vec<String> =
                fits.iter().map(|((_, name), _)| (*name).to_owned()).collect();
            near.dedup();
            near.truncate(PROPOSED);
            called.unknown.push(UnknownName { name: labelled(text, tokens, from, count), near });
            return count;
        }
        let mut found: Vec<Machine<'_>> =
            fits.into_iter().filter(|(_, fit)| *fit == best).map(|(machine, _)| machine).collect();
        leave_called_otherwise(&mut found, tokens, (from, count), named);
        let is_plural = run[count - 1].text.ends_with(['s', '들'])
            || SEVERAL.iter().any(|word| text.to_lowercase().contains(word));
        if !is_plural {
            whole_names::keep_exact(&mut found, tokens, (from, count), named);
        }
        let word_before = from.checked_sub(1).map(|at| tokens[at].text.as_str());
        let is_of_several = run[count - 1].text.ends_with(['s', '들'])
            || word_before.is_some_and(|word| BEFORE_SEVERAL.contains(&word));
        if is_of_several && found.len() == 1 {
            found.extend(of_same_code(found[0], named));
        }
        let is_of_many = found.iter().any(|(_, name)| *name != found[0].1);
        called.is_ambiguous |= is_of_many && !is_plural;
        called.machines.extend(found.into_iter().map(|machine| (run[0].at, machine)));
        return count;
    }
    add_unknown(called, text, tokens, from)
}

/// Adds the machine that a token names by its kind and that the plant does not have; how many
/// tokens it is.
fn add_unknown(called: &mut Called<'_>, text: &str, tokens: &[Token], from: usize) -> usize {
    let is_kind = QUESTION_WORDS.machine_kinds.iter().any(|kind| is_word(&tokens[from].text, kind));
    let name = if is_kind && is_qualified_kind(tokens, from) {
        let (first, last) = (&tokens[from - 1], &tokens[from]);
        text.get(first.at..last.at + last.text.len()).unwrap_or_default().to_owned()
    } else if let Some(name) = compound_of_kind(&tokens[from].text) {
        name
    } else {
        let is_kind = is_kind || whole_names::is_other_kind(text, tokens, from);
        let label = label_beside(tokens, from, 1).filter(|label| is_numeric(label));
        if !is_kind || label.is_none() {
            return 0;
        }
        labelled(text, tokens, from, 1)
    };
    called.unknown.push(UnknownName { name, near: Vec::new() });
    1
}

/// The other machines of a site whose ids have the same letters: `BLW-1` beside `BLW-2` of "the two
/// blowers".
fn of_same_code<'a>(machine: Machine<'a>, named: &[(Machine<'a>, Vec<Name>)]) -> Vec<Machine<'a>> {
    let letters = |id: &str| id.chars().take_while(|c| c.is_alphabetic()).collect::<String>();
    let own = letters(machine.1);
    let is_same = |other: &&Machine<'a>| {
        other.0 == machine.0 && other.1 != machine.1 && letters(other.1) == own && own.len() > 1
    };
    named.iter().map(|(other, _)| other).filter(is_same).copied().collect()
}

/// Leaves out machines that words fit by the other language alone, and that are called otherwise in
/// the words' own one, where they fit another machine's own name: `fan` is the ID fan, and not the
/// blower whose Korean name is 송풍기.
fn leave_called_otherwise(
    found: &mut Vec<Machine<'_>>,
    tokens: &[Token],
    (from, count): (usize, usize),
    named: &[(Machine<'_>, Vec<Name>)],
) {
    let is_latin = tokens[from].text.is_ascii();
    let is_otherwise = |machine: &Machine<'_>| {
        let names = named.iter().find(|(known, _)| known == machine).map(|(_, names)| names);
        let own = || names.into_iter().flatten().filter(|name| name.is_own);
        let in_language = |name: &Name| name.words.iter().all(|word| word.is_ascii()) == is_latin;
        own().all(|name| fit(name, tokens, from, count).is_none()) && own().any(in_language)
    };
    if !found.iter().all(is_otherwise) {
        found.retain(|machine| !is_otherwise(machine));
    }
}

/// Whether a code such as `P-777` begins at a token: letters, and digits that are joined to them.
fn is_before_code(tokens: &[Token], at: usize) -> bool {
    let is_joined = tokens.get(at + 1).is_some_and(|next| next.is_number && next.is_of_code);
    let is_letters = |token: &Token| {
        !token.is_number
            && token.text.len() < 4
            && token.text.chars().all(|c| c.is_ascii_alphabetic())
    };
    is_joined && tokens.get(at).is_some_and(is_letters)
}

/// Whether a kind of machine stands behind a word that makes it another one than those of the
/// plant: `condensate pump`, where the words together are no name. Words of questions and of every
/// sentence make no name.
fn is_qualified_kind(tokens: &[Token], from: usize) -> bool {
    let Some(before) = from.checked_sub(1).map(|at| &tokens[at]) else { return false };
    let kind = &tokens[from].text;
    let is_kind = kind.is_ascii()
        && QUESTION_WORDS.machine_kinds.iter().any(|word| word.is_ascii() && is_word(kind, word));
    let is_adjacent = tokens[from].at == before.at + before.text.len() + 1;
    is_kind
        && is_adjacent
        && !before.is_number
        && before.text.is_ascii()
        && before.text.len() > 2
        && QUESTION_WORDS.qualifiers.contains(&before.text)
}

/// The name of a machine whose kind is the end of a Korean word: `냉각수펌프` of `냉각수펌프는`, where no
/// machine of the plant is called so.
fn compound_of_kind(word: &str) -> Option<String> {
    let letters: Vec<char> = word.chars().collect();
    let kinds = QUESTION_WORDS.machine_kinds.iter().filter(|kind| !kind.is_ascii());
    let kinds: Vec<&String> = kinds.filter(|kind| kind.chars().count() > 1).collect();
    (0..=PARTICLE).find_map(|particle| {
        let (stem, rest) = letters.split_at(letters.len().checked_sub(particle)?);
        let stem: String = stem.iter().collect();
        let kind = kinds.iter().find(|kind| stem.ends_with(kind.as_str()))?;
        let qualifier = stem.strip_suffix(kind.as_str())?;
        let is_name = qualifier.chars().count() > 1
            && !QUESTION_WORDS.no_qualifiers.iter().any(|word| qualifier.ends_with(word));
        (is_name && (particle == 0 || is_particle(rest))).then_some(stem)
    })
}

/// Returns how a name fits `count` words from a token on.
fn fit(name: &Name, tokens: &[Token], from: usize, count: usize) -> Option<Fit> {
    let run: Vec<&str> =
        tokens[from..from + count].iter().map(|token| token.text.as_str()).collect();
    if run.len() == 1 && COMMON_WORDS.contains(&run[0]) && name.words.len() > 1 {
        // "can" is a word of every question, and no machine `Dryer can 7`
        let label = label_beside(tokens, from, count);
        if label.is_none() || label != name.label {
            return None;
        }
    }
    let letters = letters_in_common(&name.words, &run)?;
    if let Some(number) = whole_names::number_of_code(tokens, from + count) {
        // of `MM-7` the letters name no machine `MM-1`
        return (name.label.as_deref() == Some(number)).then_some(Fit::Labelled(letters));
    }
    let beside = label_beside(tokens, from, count);
    let beside = beside.filter(|_| !whole_names::joins(run.last(), &name.words));
    Some(match (&name.label, beside) {
        (Some(own), Some(beside)) if *own == beside => Fit::Labelled(letters),
        (_, None) => Fit::Words(letters),
        // a letter behind a word is a word of the sentence unless it is the name's
        (None, Some(beside)) if !is_numeric(&beside) => Fit::Words(letters),
        (_, Some(_)) => Fit::OtherLabel,
    })
}

/// Returns how many letters of a name words of a text have, where they are the end of the name:
/// `feed pump` of `Boiler feed pump`, `급수 펌프가` of `급수펌프`.
fn letters_in_common(name: &[String], run: &[&str]) -> Option<usize> {
    let (whole, said) = (name.concat(), run.concat());
    // a name of both scripts is compared word by word: `and` is no end of `냉각탑 fan`
    if name.last()?.is_ascii() {
        // some words of the name in their order, its last one among them
        let mut rest = name.iter().rev();
        let is_last = is_word(run.last()?, rest.next()?);
        let mut others = run.iter().rev().skip(1);
        let is_same = others.all(|said| rest.any(|word| is_word(said, word)));
        return (is_last && is_same).then_some(said.len());
    }
    let known = whole.chars().count();
    let said: Vec<char> = said.chars().collect();
    (0..=PARTICLE).find_map(|particle| {
        let stem: String = said.get(..said.len().checked_sub(particle)?)?.iter().collect();
        let length = stem.chars().count();
        let is_end = whole == stem || length > 1 && whole.ends_with(&stem);
        // a short name with letters behind it is another word: `팬티`
        (is_end && (particle == 0 || length > 1 || is_particle(&said[length..])))
            .then_some(length.min(known))
    })
}

fn is_particle(letters: &[char]) -> bool {
    let particle: String = letters.iter().collect();
    [
        "은", "는", "이", "가", "을", "를", "의", "도", "만", "에", "과", "와", "랑", "이랑", "들",
        "부터",
    ]
    .contains(&particle.as_str())
}

/// Whether two words are the same, in the plural too.
fn is_word(said: &str, word: &str) -> bool {
    said == word
        || is_numeric(word) && said.trim_start_matches('0') == word
        || word.is_ascii() && said.strip_suffix('s') == Some(word)
        || !word.is_ascii()
            && said.strip_prefix(word).is_some_and(|rest| {
                rest.is_empty() || is_particle(&rest.chars().collect::<Vec<char>>())
            })
}

fn is_numeric(label: &str) -> bool {
    !label.is_empty() && label.chars().all(|c| c.is_ascii_digit())
}

/// The number beside words, or the single letter behind them.
fn label_beside(tokens: &[Token], from: usize, count: usize) -> Option<String> {
    let behind = tokens.get(from + count).filter(|token| !token.is_of_code);
    let is_label = |token: &&Token| {
        token.is_number
            || token.text.len() == 1 && token.text.chars().all(|c| c.is_ascii_alphabetic())
    };
    let before = from.checked_sub(1).and_then(|at| tokens.get(at));
    let before = before.filter(|token| token.is_number && !token.is_of_code);
    behind.filter(is_label).or(before).map(|token| token.text.trim_start_matches('0').to_owned())
}

/// The words and the number of an unknown name as they are written.
fn labelled(text: &str, tokens: &[Token], from: usize, count: usize) -> String {
    let is_number = |at: usize| tokens.get(at).is_some_and(|token| token.is_number);
    let has_behind = is_number(from + count);
    let first = if !has_behind && from > 0 && is_number(from - 1) { from - 1 } else { from };
    let last = if has_behind { from + count } else { from + count - 1 };
    let end = tokens[last].at + tokens[last].text.len();
    text.get(tokens[first].at..end.min(text.len())).unwrap_or_default().trim().to_owned()
}

fn parsed(name: &str) -> Name {
    let tokens = tokens(name);
    let (mut words, mut label) = (Vec::new(), None);
    let all: Vec<String> = tokens
        .iter()
        .map(|token| {
            if token.is_number { token.text.trim_start_matches('0') } else { &token.text }
                .to_owned()
        })
        .collect();
    for (at, token) in tokens.iter().enumerate() {
        let is_letter = at > 0 && token.text.len() == 1 && token.text.is_ascii();
        if token.is_number || is_letter {
            label = Some(token.text.trim_start_matches('0').to_owned());
        } else {
            words.push(token.text.clone());
        }
    }
    Name { words, label, all, is_own: true }
}

/// Returns where a text names a machine with a slip of the finger, where nothing in it is a name as
/// it is written.
pub(super) fn place_of_slip(text: &str, core: &CoreFields) -> Option<usize> {
    let names = core.machine_name.iter().flat_map(|name| [name.ko.as_str(), name.en.as_str()]);
    let (lower, squeezed_text) = (text.to_lowercase(), squeezed(text));
    names.chain([core.key.equipment.as_str()]).find_map(|name| {
        let last = name.rsplit(' ').next().unwrap_or_default().to_lowercase();
        is_nearly_in(&squeezed(name), &squeezed_text).then(|| lower.find(&last).unwrap_or_default())
    })
}

/// Whether a text has a name with a slip: one letter of four or more in Hangul, two of eight or
/// more in Latin.
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
    // a letter more or less makes the window longer or shorter
    let other_length = usize::from(!name.is_ascii() && name_chars.len() > 4);
    let shorter = name_chars.len() - other_length;
    let longer = name_chars.len() + other_length;
    (shorter..=longer).any(|length| {
        text_chars.windows(length).any(|window| {
            let window: String = window.iter().collect();
            digits(&window) == digits(name) && strsim::damerau_levenshtein(&window, name) <= slips
        })
    })
}

#[cfg(test)]
mod tests;
