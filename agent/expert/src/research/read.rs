//! Reading a document: from its headings to the sentences that answer, in its own words.
//!
//! Invariant: what is learnt stands in the document word for word.

use super::{Document, Learnt, Lesson};

/// Longest quote, characters. Chosen: the longest first sentence of the manuals has 130.
const QUOTE_CHARS: usize = 200;

/// Headings by a word in them, Korean or English, and what their first sentence teaches.
const HEADINGS: [(&str, Lesson); 10] = [
    ("근본 원인", Lesson::RootCause),
    ("Root cause", Lesson::RootCause),
    ("진행 경과", Lesson::Course),
    ("Course", Lesson::Course),
    ("급속 열화", Lesson::RapidGrowth),
    ("rapid growth", Lesson::RapidGrowth),
    ("고장모드", Lesson::FailureMode),
    ("Failure mode", Lesson::FailureMode),
    ("판정 (Verdict)", Lesson::Judgement),
    ("조치", Lesson::Action),
];

/// The signs for and against a sentence as the answer of a kind. A course is told by times before
/// the failure, a cause by the fault, an action by the work that was done; a sentence that
/// something is not known answers nothing.
const ANSWERS: [(Lesson, &[&str]); 3] = [
    (Lesson::Course, &["일 전", "시간 전", "주 전", "마지막", "뒤에", "만에", "before", "within"]),
    (
        Lesson::RootCause,
        &["불량", "부족", "과도", "편심", "막혀", "닳", "방전", "misalign", "starv"],
    ),
    (Lesson::Action, &["교체", "정렬", "연삭", "설치", "보강", "급유", "청소", "replace", "align"]),
];
/// Words of a sentence that answers nothing.
const NO_ANSWER: [&str; 6] =
    ["공개", "밝혀져 있지", "기록은 없다", "가상의 사례", "not known", "no record"];
/// Most sentences of a section that are weighed. Chosen: twice the longest shipped section.
const MAX_SENTENCES: usize = 40;

/// The lessons of a document in the order of the sections, one quote for each kind: the sentence
/// that answers it, the first of equal ones.
pub fn facts_of(document: &Document) -> Vec<Learnt> {
    let mut sections: Vec<(Lesson, Vec<&str>)> = Vec::new();
    // the section that the lines belong to, and the number of its heading
    let mut open: Option<(usize, &str)> = None;
    for line in document.text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if is_heading(line) {
            let number = number(line);
            let kind = HEADINGS.iter().find(|(word, _)| line.contains(word)).map(|(_, kind)| *kind);
            open = match kind {
                Some(kind) if sections.iter().all(|(known, _)| *known != kind) => {
                    sections.push((kind, Vec::new()));
                    Some((sections.len() - 1, number))
                }
                Some(_) => None,
                // 3.2 belongs to 3
                None => open.filter(|(_, parent)| is_within(number, parent)),
            };
        } else if let Some((at, _)) = open
            && let Some((_, sentences)) = sections.get_mut(at)
            && sentences.len() < MAX_SENTENCES
        {
            sentences.extend(sentences_of(line));
        }
    }
    let best = sections.into_iter().filter_map(|(lesson, sentences)| {
        let first = sentences.iter().rev().max_by_key(|sentence| worth(lesson, sentence))?;
        Some((lesson, *first))
    });
    best.map(|(lesson, quote)| Learnt {
        lesson,
        quote: quote.to_owned(),
        document: document.id.clone(),
        source: document.source.clone(),
    })
    .collect()
}

/// Returns how well a sentence answers a kind of question.
fn worth(lesson: Lesson, sentence: &str) -> i32 {
    let words =
        ANSWERS.iter().find(|(kind, _)| *kind == lesson).map_or(&[][..], |(_, words)| words);
    let answers = words.iter().any(|word| sentence.contains(word));
    let is_empty = NO_ANSWER.iter().any(|word| sentence.contains(word));
    i32::from(answers) - 2 * i32::from(is_empty)
}

/// The number of a heading: `3.2`.
fn number(line: &str) -> &str {
    let rest = line.trim_start_matches('#').trim_start();
    let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
    rest[..end].trim_end_matches('.')
}

/// Whether a heading's number lies within that of another.
fn is_within(number: &str, parent: &str) -> bool {
    number.strip_prefix(parent).is_some_and(|rest| rest.starts_with('.'))
}

/// `4. 근본 원인 (Root cause)`, `4 근본 원인 …`: a number, then words.
pub(super) fn is_heading(line: &str) -> bool {
    let rest = line.trim_start_matches('#').trim_start();
    let words = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    rest.len() > words.len() && words.starts_with(' ') && rest.chars().count() < 80
}

/// The sentences of a line without its bullet, each cut to [`QUOTE_CHARS`].
fn sentences_of(line: &str) -> Vec<&str> {
    let mut rest = line.trim_start_matches(['-', '*', ' ']);
    let mut sentences = Vec::new();
    while !rest.is_empty() {
        // a full stop between digits ends no sentence
        let end = rest.find(". ").map_or(rest.len(), |at| at + 1);
        let sentence = &rest[..end];
        let cut = sentence.char_indices().nth(QUOTE_CHARS).map_or(end, |(cut, _)| cut);
        sentences.push(&sentence[..cut]);
        rest = rest[end..].trim_start();
    }
    sentences
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn document(text: &str) -> Document {
        Document {
            id: "MH-05".to_owned(),
            title: "외륜 박리".to_owned(),
            text: text.to_owned(),
            source: "MH-05 (mh-05.md)".to_owned(),
        }
    }

    /// R-AGENT-6: a report's root cause is read from under its heading, word for word.
    #[test]
    fn the_first_sentence_under_a_heading_is_learnt() {
        let text = "1 설비 정보 (Equipment)\n- 펌프. 30 kW\n\n4 근본 원인 (Root cause)\n\
                    - 커플링 평행 편심 0.18 mm. 배관 지지대가 처짐.\n- 둘째";
        let learnt = facts_of(&document(text));
        assert_eq!(learnt.len(), 1);
        assert_eq!(learnt[0].lesson, Lesson::RootCause);
        assert_eq!(learnt[0].quote, "커플링 평행 편심 0.18 mm.");
    }

    /// R-AGENT-6: passages are chosen by what they answer, not by where they stand.
    #[test]
    fn the_passage_that_answers_is_quoted() {
        let course = |number: &str| {
            let learnt = facts_of(&crate::tests::shipped(number));
            let of = |lesson| learnt.iter().find(|one| one.lesson == lesson).cloned();
            of(Lesson::Course).map(|learnt| learnt.quote)
        };
        let told = course("03").expect("a course");
        assert!(told.contains("시간 전"), "{told}");
        assert!(!told.contains("0.077"), "{told}");
        let sudden = course("04").expect("a course");
        assert!(sudden.contains("마지막 하루"), "{sudden}");
        let learnt = facts_of(&document("4 근본 원인\n- 공개되지 않았다.\n- 급유가 부족했다.\n"));
        assert_eq!(learnt[0].quote, "급유가 부족했다.");
    }

    proptest! {
        #[test]
        fn whatever_a_document_says_it_is_quoted_word_for_word(text in "(\\PC|\n|4 근본 원인|- \
            ){0,40}") {
            let document = document(&text);
            for learnt in facts_of(&document) {
                prop_assert!(document.text.contains(&learnt.quote));
                prop_assert!(learnt.quote.chars().count() <= QUOTE_CHARS);
            }
        }
    }
}
