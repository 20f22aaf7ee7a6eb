//! The figures that a question asks for, and the words before pieces that may not answer it.

use pdm_shared::text::Language;

use super::super::small_words::QUANTITY_WORDS;

/// Whether a question asks for a figure.
pub(super) fn asks_figure(clause: &str) -> bool {
    let lower = clause.to_lowercase();
    QUANTITY_WORDS.iter().any(|word| lower.contains(word.as_str()))
}

/// Whether a line has a figure that stands by itself: not in a name (`CH-1`), nor the number of a
/// step.
pub(super) fn has_free_figure(line: &str) -> bool {
    let line = line.trim_start();
    let step = line.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
    let line = if line[step..].starts_with('.') { &line[step..] } else { line };
    let is_in_name = |c: char| c.is_ascii_alphabetic() || c == '-' || c == '_';
    let mut before = ' ';
    for c in line.chars() {
        if c.is_ascii_digit() && !is_in_name(before) && !before.is_ascii_digit() {
            return true;
        }
        // the digits of a name go on: `CHP-12`
        if !(c.is_ascii_digit() && is_in_name(before)) {
            before = c;
        }
    }
    false
}

/// Says that pieces are those that come nearest, and which words of the question they lack. Whether
/// they answer, the reader sees: the same may be said in other words.
pub(super) fn nearest(words: &str, language: Language) -> String {
    match (words.is_empty(), language) {
        (true, Language::Ko) => {
            "현장 문서에서 가장 가까운 곳입니다. 답이 맞는지 읽어 보십시오:".to_owned()
        }
        (false, Language::Ko) => format!(
            "현장 문서에서 가장 가까운 곳입니다(문서에 없는 말: {words}). 답이 맞는지 읽어 보십시오:"
        ),
        (true, Language::En) => {
            "What comes nearest in the plant's documents; read whether it answers:".to_owned()
        }
        (false, Language::En) => format!(
            "What comes nearest in the plant's documents (they do not say: {words}); read whether \
             it answers:"
        ),
    }
}

/// Says that the pieces about it state no figure.
pub(super) const fn no_figure(language: Language) -> &'static str {
    match language {
        Language::Ko => "현장 문서에 그 수치는 적혀 있지 않습니다. 관련된 곳:",
        Language::En => "The plant's documents state no figure for that. What they say of it:",
    }
}
