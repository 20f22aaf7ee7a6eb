//! The clauses of a message: the sentences that ask, parted where one thing ends and another
//! begins.

use super::Part;
use crate::chat::intent::{self, Lookup};

/// The length in characters above which a message tells a story before it asks.
const LONG: usize = 240;
/// Words between the clauses of a question, beside `?`, `;`, the comma and the end of a line.
const BETWEEN: [&str; 5] = ["그리고 ", "또한 ", " and then ", " and also ", " and what "];

/// The question for the limits of a class of machines, whose commas part no clauses, and the rest
/// of a message.
pub(super) fn without_class(message: &str) -> (Option<Part>, String) {
    let is_of_class = |text: &str| intent::asks_zone_limits(&text.to_lowercase());
    let (of_class, rest): (Vec<&str>, Vec<&str>) =
        message.split_inclusive(['?', '\n']).partition(|sentence| is_of_class(sentence));
    let part = |clause: String| Part { about: None, lookup: Lookup::ZoneLimits, clause };
    match (of_class.is_empty(), is_of_class(message)) {
        (false, _) => (Some(part(of_class.concat())), rest.concat()),
        (true, true) => (Some(part(message.to_owned())), String::new()),
        (true, false) => (None, message.to_owned()),
    }
}

/// The sentences of a long message that ask, else its last one; the whole message where it is
/// short.
pub(in crate::chat) fn asking(message: &str) -> String {
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

/// The sentences of a message whose commas part no clauses: `it shows 6.2 mm/s, may it run? and the
/// spares?`; the whole message where no sentence of it says this by itself.
pub(super) fn sentences(message: &str) -> Vec<String> {
    let all: Vec<&str> = message
        .split_inclusive(['?', ';', '\n'])
        .map(str::trim)
        .filter(|one| !one.is_empty())
        .collect();
    if all.iter().any(|one| intent::is_of_one_piece(one)) {
        all.into_iter().flat_map(of_one_sentence).collect()
    } else {
        vec![message.to_owned()]
    }
}

/// A sentence that is one piece, or the clauses of another one.
fn of_one_sentence(sentence: &str) -> Vec<String> {
    let plain = sentence.trim_end_matches(['?', ';']).trim();
    if intent::is_of_one_piece(plain) { vec![plain.to_owned()] } else { clauses(sentence) }
}

pub(super) fn clauses(message: &str) -> Vec<String> {
    let mut text = message.to_owned();
    for word in BETWEEN {
        text = text.replace(word, &format!("\n{}", word.trim_start_matches(" and ").trim_start()));
    }
    for word in ["그리고 ", "또한 ", "then ", "also "] {
        text = text.replace(&format!("\n{word}"), "\n");
    }
    let all =
        text.split(['?', ';', ',', '\n']).flat_map(of_each_topic).map(|one| one.trim().to_owned());
    all.filter(|clause| !clause.is_empty()).collect()
}

/// A clause that asks for values of several topics, one for each: `M12 torque and heater limit`.
fn of_each_topic(clause: &str) -> Vec<String> {
    const AND: [&str; 6] = [" and ", "이랑 ", "랑 ", "하고 ", "과 ", "와 "];
    let pieces = AND.iter().find_map(|word| {
        let pieces: Vec<String> = clause.split(word).map(str::to_owned).collect();
        let topics: Vec<Option<intent::Topic>> =
            pieces.iter().map(|piece| intent::topic(piece)).collect();
        let is_apart = pieces.len() > 1
            && topics.iter().all(Option::is_some)
            && topics.windows(2).all(|pair| pair[0] != pair[1]);
        is_apart.then_some(pieces)
    });
    pieces.unwrap_or_else(|| vec![clause.to_owned()])
}
