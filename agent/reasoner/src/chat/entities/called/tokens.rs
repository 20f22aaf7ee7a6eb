//! The words and numbers of a text in which machines are looked for.

use super::is_particle;
use crate::chat::intent::QUESTION_WORDS;
use crate::chat::stated;

/// A run of letters or of digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    /// Its place in the text, bytes.
    pub(super) at: usize,
    /// The text in lower case; of `2호기` the number alone.
    pub(super) text: String,
    pub(super) is_number: bool,
    /// A hyphen stands before it: a part of a code such as `P-101`.
    pub(super) is_of_code: bool,
}

/// Returns the words and numbers of a text. Of `2호기` and `3번` the number stays; a number with a
/// unit (`3대`, `5시`) is no number of a machine and is left out.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let lower = text.to_lowercase();
    // lower case may change the length of a text: places are those of the text that is searched
    let text = if lower.len() == text.len() { lower.as_str() } else { text };
    let mut runs: Vec<Token> = Vec::new();
    let mut last: Option<(usize, bool)> = None;
    let mut ends: Vec<usize> = Vec::new();
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        let kind = c.is_alphanumeric().then(|| c.is_ascii_digit());
        if let Some((begin, is_number)) = last
            && kind != Some(is_number)
        {
            runs.push(Token {
                at: begin,
                text: text[begin..at].to_owned(),
                is_number,
                is_of_code: text[..begin].ends_with('-')
                    || is_number && is_behind_code(&text[..begin]),
            });
            ends.push(at);
            last = None;
        }
        if let (Some(is_number), None) = (kind, last) {
            last = Some((at, is_number));
        }
    }
    let mut kept: Vec<Token> = Vec::new();
    let mut at = 0;
    while at < runs.len() {
        let next = runs.get(at + 1).filter(|next| !next.is_number);
        let attached = next.filter(|next| next.at == ends[at]).map(|next| next.text.clone());
        let (is_number, token, end) = (runs[at].is_number, runs[at].clone(), ends[at]);
        at += 1;
        if is_number && !token.is_of_code && stated::is_reading_at(text, token.at, end) {
            // `6.2` and `90 °C` are read on an instrument
            continue;
        }
        match attached.filter(|word| is_number && !word.is_ascii()) {
            Some(word)
                if word.starts_with(['호', '번'])
                    || is_particle(&word.chars().collect::<Vec<char>>()) =>
            {
                kept.push(token);
                // `2호기급수펌프` is a number and a name
                if let Some(next) = runs.get(at) {
                    kept.extend(behind_number(next));
                }
                at += 1;
            }
            Some(_) => at += 1,
            None if ["no", "number"].contains(&token.text.as_str()) => {}
            None => kept.push(token),
        }
    }
    kept
}

/// Whether the letters before a number are those of a code (`ct` of `ct3`) and not a word
/// (`pump2`).
fn is_behind_code(before: &str) -> bool {
    let letters = before.len() - before.trim_end_matches(|c: char| c.is_ascii_alphabetic()).len();
    let word = &before[before.len() - letters..];
    (1..4).contains(&letters) && !QUESTION_WORDS.machine_kinds.iter().any(|kind| kind == word)
}

/// The name that is written together with its number: `급수펌프` of `호기급수펌프`.
fn behind_number(token: &Token) -> Option<Token> {
    let rest = ["호기", "호", "번"].iter().find_map(|word| token.text.strip_prefix(word))?;
    let is_name = rest.chars().count() > 1 && !is_particle(&rest.chars().collect::<Vec<char>>());
    is_name.then(|| Token {
        at: token.at + token.text.len() - rest.len(),
        text: rest.to_owned(),
        is_number: false,
        is_of_code: false,
    })
}
