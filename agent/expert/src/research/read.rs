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

/// The lessons of a document in the order of the sections, one quote for each kind.
pub fn read(document: &Document) -> Vec<Learnt> {
    let mut learnt: Vec<Learnt> = Vec::new();
    let mut heading = None;
    for line in document.text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if is_heading(line) {
            heading = HEADINGS.iter().find(|(word, _)| line.contains(word)).map(|(_, kind)| *kind);
        } else if let Some(lesson) = heading.take()
            && learnt.iter().all(|known| known.lesson != lesson)
        {
            learnt.push(Learnt {
                lesson,
                quote: sentence(line).to_owned(),
                document: document.id.clone(),
                source: document.source.clone(),
            });
        }
    }
    learnt
}

/// `4. 근본 원인 (Root cause)`, `4 근본 원인 …`: a number, then words.
fn is_heading(line: &str) -> bool {
    let rest = line.trim_start_matches('#').trim_start();
    let words = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    rest.len() > words.len() && words.starts_with(' ') && rest.chars().count() < 80
}

/// The line's first sentence without its bullet.
fn sentence(line: &str) -> &str {
    let line = line.trim_start_matches(['-', '*', ' ']);
    // a full stop between digits ends no sentence
    let end = line.match_indices(". ").map(|(at, _)| at + 1).next().unwrap_or(line.len());
    let end = line.char_indices().nth(QUOTE_CHARS).map_or(end, |(cut, _)| end.min(cut));
    &line[..end]
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
        let learnt = read(&document(text));
        assert_eq!(learnt.len(), 1);
        assert_eq!(learnt[0].lesson, Lesson::RootCause);
        assert_eq!(learnt[0].quote, "커플링 평행 편심 0.18 mm.");
    }

    proptest! {
        #[test]
        fn whatever_a_document_says_it_is_quoted_word_for_word(text in "(\\PC|\n|4 근본 원인|- ){0,40}") {
            let document = document(&text);
            for learnt in read(&document) {
                prop_assert!(document.text.contains(&learnt.quote));
                prop_assert!(learnt.quote.chars().count() <= QUOTE_CHARS);
            }
        }
    }
}
