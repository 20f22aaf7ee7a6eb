//! The language of an answer: that of the question, whatever the names in it are written in.

use pdm_shared::text::Language;

use super::planning::Part;
use super::{CoreFields, Question};
use crate::guard::{TextLanguage, language_of};

/// The question, answered in the language in which it is asked; in the page's where its words do
/// not tell.
pub(super) fn in_own_language(question: &Question, fleet: &[CoreFields]) -> Question {
    let message = without_names(&question.message, fleet);
    // a word of a sentence, and no part of a code or of a mark-up
    let is_english = |word: &&str| {
        let word = word.trim_matches(|c: char| c.is_ascii_punctuation() && c != '<' && c != '>');
        let is_plain = |c: char| c.is_ascii_alphabetic() || c == '\'' || c == '-';
        word.len() > 1 && word.chars().all(is_plain) && word.chars().any(|c| c.is_ascii_lowercase())
    };
    let is_hangul = |c: char| ('가'..='힣').contains(&c);
    let hangul = message.split_whitespace().filter(|word| word.contains(is_hangul)).count();
    let english = message.split_whitespace().filter(is_english).count();
    // a machine's Korean name in an English question
    let has_hangul = hangul > 0 && !(english > 2 && english > hangul);
    let language = match (has_hangul, english) {
        (true, _) => Language::Ko,
        (false, 0) => question.language,
        (false, _) if language_of(&message) == TextLanguage::Other && !message.is_ascii() => {
            question.language
        }
        (false, _) => Language::En,
    };
    Question { language, ..question.clone() }
}

/// A message without the names of machines and bearings: they are written alike in both languages.
fn without_names(message: &str, fleet: &[CoreFields]) -> String {
    let mut names: Vec<String> = Vec::new();
    for core in fleet {
        let own = [
            core.key.equipment.to_string(),
            core.key.bearing.to_string(),
            core.key.site.to_string(),
        ];
        names.extend(own);
        names.extend(core.machine_name.iter().map(|name| name.ko.clone()));
    }
    names.retain(|name| name.chars().count() > 1);
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    names.iter().fold(message.to_owned(), |rest, name| rest.replace(name.as_str(), " "))
}

/// Returns the answer to a question in a language other than Korean and English: that it cannot be
/// read, and how to ask. Its words could be mistaken for other words.
pub(super) fn in_other_words(
    plan: &[Part],
    fleet: &[CoreFields],
    language: Language,
) -> Option<String> {
    const KO: &str = "한국어와 영어로 된 질문만 읽을 수 있습니다. 예: \"지금 제일 위험한 설비는?\"";
    const EN: &str =
        "I read questions in Korean and English alone, such as \"which machine is worst now?\"";
    let message = plan.iter().map(|part| part.clause.as_str()).max_by_key(|clause| clause.len())?;
    let is_foreign = is_of_other_language(&without_names(message, fleet));
    is_foreign.then(|| match language {
        Language::Ko => format!("{KO}\n{EN}"),
        Language::En => format!("{EN}\n{KO}"),
    })
}

/// Whether a text is in another language: most of its letters are of other scripts, or it has marks
/// and letters that neither Korean nor English has.
fn is_of_other_language(text: &str) -> bool {
    let is_hangul = |c: char| ('가'..='힣').contains(&c) || ('ㄱ'..='ㅣ').contains(&c);
    let letters = text.chars().filter(|c| c.is_alphabetic());
    let (mut others, mut all) = (0_usize, 0_usize);
    for c in letters {
        all += 1;
        // Greek letters are figures of the field
        let is_greek = ('Α'..='ω').contains(&c);
        others += usize::from(!c.is_ascii() && !is_hangul(c) && !is_greek && c != 'µ');
    }
    let has_hangul = text.chars().any(is_hangul);
    text.contains(['¿', '¡']) || !has_hangul && others >= 2 || has_hangul && others * 2 > all
}
