//! Names with digits: codes, designations, standards, ids. They pass as they were read, letter by
//! letter, or as the program knows them (`config/words/names.toml`, the bearing catalogue).

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::Deserialize;

use super::super::figures::{Figure, Unit};

/// Most names that are kept of what was read.
const MOST_NAMES: usize = 100_000;
/// Highest multiple of a line that is named (`3×BPFO`).
const HIGHEST_MULTIPLE: f64 = 10.0;
/// Words beside which a bare number is the designation of a bearing.
const BEARING: [&str; 8] =
    ["베어링", "형번", "모델", "bearing", "designation", "type", "model", "number"];
/// Makers that stand before a designation.
const MAKERS: [&str; 7] = ["skf", "nsk", "ntn", "fag", "timken", "koyo", "schaeffler"];
/// The names of lines that may follow the digits of a multiple.
const LINES: [&str; 5] = ["bpfo", "bpfi", "bsf", "ftf", "rpm"];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownNames {
    standards: Vec<String>,
    terms: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct BearingFile {
    bearing: Vec<BearingName>,
}

#[derive(Debug, Deserialize)]
struct BearingName {
    id: String,
    #[serde(default)]
    also: Vec<String>,
}

/// Names that the program knows, in lower case.
struct Catalogue {
    /// The standards with their bodies, without spaces: `iso20816-1`.
    standards: BTreeSet<String>,
    terms: BTreeSet<String>,
    bearings: BTreeSet<String>,
}

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| {
    let names: KnownNames = toml::from_str(include_str!("../../../../../config/words/names.toml"))
        .expect("tests read the shipped file");
    let bearings: BearingFile = toml::from_str(include_str!("../../../../../config/bearings.toml"))
        .expect("tests read the shipped file");
    let designations =
        bearings.bearing.into_iter().flat_map(|one| one.also.into_iter().chain([one.id]));
    let words =
        designations.flat_map(|name| tokens(&name).map(str::to_lowercase).collect::<Vec<_>>());
    Catalogue {
        standards: names.standards.iter().map(|name| joined(name)).collect(),
        terms: names.terms.iter().map(|name| name.to_lowercase()).collect(),
        bearings: words.collect(),
    }
});

/// The names that were read.
#[derive(Debug, Clone, Default)]
pub(super) struct Names(BTreeSet<String>);

impl Names {
    /// Takes the names of a text: words with digits that are no plain number, with their parts.
    pub(super) fn add_text(&mut self, text: &str) {
        for token in tokens(text).filter(|token| is_name(token)) {
            if self.0.len() >= MOST_NAMES {
                return;
            }
            let token = token.to_lowercase();
            let parts = token.split(['/', ':', '#']).filter(|part| is_name(part));
            self.0.extend(parts.map(str::to_owned));
            self.0.insert(token);
        }
    }

    /// Takes the number of a name with the word before it: `KODEX 200`.
    pub(super) fn add_phrase(&mut self, text: &str, figure: &Figure) {
        if let Some(phrase) = phrase(text, figure).filter(|_| self.0.len() < MOST_NAMES) {
            self.0.insert(phrase);
        }
    }

    /// Takes a number that may be told as a code: a long whole one.
    pub(super) fn add_number(&mut self, number: &serde_json::Number) {
        let text = number.to_string();
        if text.len() >= 4
            && text.bytes().all(|byte| byte.is_ascii_digit())
            && self.0.len() < MOST_NAMES
        {
            self.0.insert(text);
        }
    }

    /// Whether a figure of a text is part of a known name.
    pub(super) fn holds(&self, text: &str, figure: &Figure) -> bool {
        let (token, from) = token_at(text, figure.at.end - 1);
        let before = &text[..from];
        // a name is told whole or not at all; what is measured is no name
        if !matches!(figure.unit, Unit::Name | Unit::None) {
            return is_multiple(figure, token);
        }
        let lower = token.to_lowercase();
        let is_read = is_name(token) && self.knows(&lower);
        let is_phrase = || phrase(text, figure).is_some_and(|phrase| self.0.contains(&phrase));
        is_read
            || is_phrase()
            || is_standard(before, &lower)
            || is_multiple(figure, token)
            || CATALOGUE.terms.contains(&lower)
            || is_designation(before, &lower, &text[from + token.len()..])
    }

    fn knows(&self, name: &str) -> bool {
        let mut parts = name.split(['/', ':', '#']).filter(|part| !part.is_empty()).peekable();
        let whole = |part: &str| self.0.contains(part) || !part.bytes().any(|b| b.is_ascii_digit());
        self.0.contains(name) || (name.contains('/') && parts.peek().is_some() && parts.all(whole))
    }
}

/// Whether a word is a name: letters beside digits, parts joined by a hyphen, or a code that is no
/// number because of its first nought.
fn is_name(token: &str) -> bool {
    let has_digit = token.bytes().any(|byte| byte.is_ascii_digit());
    let has_letter = token.bytes().any(|byte| byte.is_ascii_alphabetic());
    let is_joined = token.contains(['-', '_', '#', '/']);
    let is_code =
        token.len() > 1 && token.starts_with('0') && token.bytes().all(|b| b.is_ascii_digit());
    has_digit && (has_letter || is_joined || is_code)
}

const fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '#' | '/' | '.' | ':' | '×')
}

fn trimmed(token: &str) -> &str {
    token.trim_matches(['-', '/', '.', ':', '#', '_'])
}

fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !is_part(c)).map(trimmed).filter(|token| !token.is_empty())
}

/// The word around a place, and where it begins.
fn token_at(text: &str, at: usize) -> (&str, usize) {
    let from = text[..at].char_indices().rev().take_while(|(_, c)| is_part(*c)).last();
    let from = from.map_or(at, |(from, _)| from);
    let length = text[from..].find(|c: char| !is_part(c)).unwrap_or(text.len() - from);
    let token = &text[from..from + length];
    let front = token.len() - token.trim_start_matches(['-', '/', '.', ':', '#', '_']).len();
    (trimmed(token), from + front)
}

/// A bare number with the word before it, in lower case.
fn phrase(text: &str, figure: &Figure) -> Option<String> {
    let before = text[..figure.at.start].strip_suffix(' ')?;
    let word = before.rsplit(|c: char| !c.is_alphanumeric()).next()?;
    let has_letter = word.chars().any(char::is_alphabetic);
    has_letter.then(|| format!("{} {}", word.to_lowercase(), &text[figure.at.clone()]))
}

/// Letters and digits without spaces, in lower case.
fn joined(name: &str) -> String {
    name.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
}

/// `ISO 20816-1`, `ISO20816-1`, `KS B 2012`.
fn is_standard(before: &str, token: &str) -> bool {
    let known = |name: &str| CATALOGUE.standards.contains(name);
    // the year of an edition: ISO 20816-1:2016
    let token = token.split(':').next().unwrap_or(token);
    if known(token) {
        return true;
    }
    let is_body = |c: char| c.is_ascii_uppercase() || c == ' ' || c == '/';
    let body: String = before.chars().rev().take(8).take_while(|c| is_body(*c)).collect();
    let body: String = body.chars().rev().collect();
    let mut words: Vec<&str> = body.split([' ', '/']).filter(|word| !word.is_empty()).collect();
    while !words.is_empty() {
        if known(&joined(&format!("{}{token}", words.concat()))) {
            return true;
        }
        words.remove(0);
    }
    false
}

/// `3×BPFO`, `1X`: a multiple of a line.
fn is_multiple(figure: &Figure, token: &str) -> bool {
    if figure.value.is_nan() || figure.value > HIGHEST_MULTIPLE || figure.decimals > 0 {
        return false;
    }
    let rest = token.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == token.len() {
        return false;
    }
    let line = rest.trim_start_matches(['×', 'x', 'X', '-']).to_lowercase();
    rest == "X" || LINES.contains(&line.as_str())
}

/// Whether a token is a designation of the bearing catalogue, with its suffixes (`6205-2Z/C3`). A
/// token that could also be another word has to stand beside a word that marks a designation.
fn is_designation(before: &str, token: &str, after: &str) -> bool {
    let known = |name: &str| CATALOGUE.bearings.contains(name);
    let digits = token.len() - token.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let suffix = &token[digits..];
    let is_known = known(token) || (known(&token[..digits]) && !suffix.starts_with('.'));
    if !is_known {
        return false;
    }
    let before = before.trim_end_matches([' ', '(', ':', '\'', '"']).to_lowercase();
    let after = after.trim_start_matches([' ', ')', '번']).to_lowercase();
    let beside =
        |words: &[&str]| words.iter().any(|word| before.ends_with(word) || after.starts_with(word));
    let is_word = !suffix.is_empty() || token.starts_with(|c: char| c.is_ascii_alphabetic());
    is_word || beside(&BEARING) || beside(&MAKERS)
}
