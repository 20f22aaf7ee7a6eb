//! The sections of a document's text, and which of them fits a question best.

use super::super::intent::QUESTION_WORDS;
use super::terms::{Term, weight};

/// Longest passage, characters; a longer section is told by its lines that fit the question.
/// Chosen: the longest section of the shipped procedure has 424.
const LONGEST: usize = 700;

/// A section of a document.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Section {
    pub(super) heading: String,
    pub(super) lines: Vec<String>,
}

/// The sections of a text as the search gives it: a line that begins with a number, then its text.
pub(super) fn sections(text: &str) -> Vec<Section> {
    let mut all = vec![Section::default()];
    let mut after_blank = true;
    for line in text.lines() {
        let line = line.trim().trim_start_matches('#').trim_start();
        if line.is_empty() {
            after_blank = true;
            continue;
        }
        let is_heading = after_blank
            && line.starts_with(|c: char| c.is_ascii_digit())
            && !line.ends_with(['.', '다'])
            && line.chars().count() < 80;
        if is_heading {
            all.push(Section { heading: line.to_owned(), lines: Vec::new() });
        } else if let Some(section) = all.last_mut() {
            section.lines.push(line.to_owned());
        }
        after_blank = false;
    }
    all.retain(|section| !section.lines.is_empty());
    // the head of a document with sections is its title alone
    let is_title = |section: &Section| {
        section.heading.is_empty() && section.lines.len() == 1 && !section.is_sentence()
    };
    if all.len() > 1 && all.first().is_some_and(is_title) {
        all.remove(0);
    }
    all
}

impl Section {
    /// Whether the text is a sentence and no title.
    fn is_sentence(&self) -> bool {
        self.lines
            .iter()
            .any(|line| line.ends_with(['.', '다', '?', ':']) || line.chars().count() > 80)
    }

    pub(super) fn whole(&self) -> String {
        format!("{}\n{}", self.heading, self.lines.join("\n")).to_lowercase()
    }

    /// Whole lines up to the length of a passage: all, else those that fit the question best.
    pub(super) fn telling_lines(&self, terms: &[Term], rarity: &[f64]) -> Vec<String> {
        let length =
            |lines: &[String]| lines.iter().map(|line| line.chars().count()).sum::<usize>();
        if length(&self.lines) <= LONGEST {
            return self.lines.clone();
        }
        let pieces: Vec<String> = self.lines.iter().flat_map(|line| sentences(line)).collect();
        let mut order: Vec<usize> = (0..pieces.len()).collect();
        let fit = |at: &usize| weight(&pieces[*at].to_lowercase(), terms, rarity);
        order.sort_by(|a, b| fit(b).total_cmp(&fit(a)).then(a.cmp(b)));
        let (mut kept, mut filled) = (Vec::new(), 0);
        for at in order {
            let more = pieces[at].chars().count();
            if kept.is_empty() || filled + more <= LONGEST {
                kept.push(at);
                filled += more;
            }
        }
        kept.sort_unstable();
        kept.into_iter().map(|at| pieces[at].clone()).collect()
    }
}

/// The sentences of a line.
fn sentences(line: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for piece in line.split_inclusive(". ") {
        // "1. Identify" is one sentence with its number
        let is_number = all.last().is_some_and(|last: &String| {
            last.trim_end_matches(". ").chars().all(|c| c.is_ascii_digit() || c == ' ')
        });
        match all.last_mut().filter(|_| is_number) {
            Some(last) => last.push_str(piece),
            None => all.push(piece.to_owned()),
        }
    }
    all.into_iter().map(|piece| piece.trim().to_owned()).collect()
}

/// The section that fits best: by its heading, its best line and all of it.
pub(super) fn best<'s>(
    sections: &'s [Section],
    terms: &[Term],
    rarity: &[f64],
    is_case: bool,
) -> Option<(&'s Section, f64)> {
    // of a past case: what it was and why, whatever words it has in common with the question
    let case = &QUESTION_WORDS.passages.case;
    let fit = |section: &Section| {
        let lower = section.heading.to_lowercase();
        let place = case.iter().position(|word| is_case && lower.contains(word.as_str()));
        let told = place.map_or(0.0, |place| 100.0 - place as f64);
        let heading = told + weight(&lower, terms, rarity);
        let lines = section.lines.iter().map(|line| weight(&line.to_lowercase(), terms, rarity));
        let line = lines.fold(0.0, f64::max);
        heading + 0.5 * line + weight(&section.whole(), terms, rarity) + 1e-6
    };
    let mut found: Option<(&Section, f64)> = None;
    for section in sections {
        let fit = fit(section);
        // the first of equal ones
        if found.is_none_or(|(_, best)| fit > best) {
            found = Some((section, fit));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::terms::{rarity, terms};
    use pdm_shared::text::Language;

    use super::*;

    const PROCEDURE: &str =
        include_str!("../../../../../config/knowledge/equipment_manual/em-06.md");

    /// The procedure as a search gives it, in one language.
    fn procedure(language: Language) -> String {
        let body = PROCEDURE.split("+++").nth(2).unwrap_or_default();
        let mut out = String::new();
        let mut is_english = false;
        for line in body.lines().filter(|line| !line.starts_with("# ")) {
            if line.starts_with("##") {
                is_english = false;
                out.push('\n');
                out.push_str(&line.trim_start_matches('#').trim().replacen(". ", " ", 1));
                out.push('\n');
            } else if line == "<!-- en -->" {
                is_english = true;
            } else if !line.is_empty() && is_english == (language == Language::En) {
                out.push_str(line);
                out.push('\n');
            }
        }
        out
    }

    fn chosen(question: &str, language: Language) -> (String, String) {
        let sections = sections(&procedure(language));
        let terms = terms(question);
        let rarity = rarity(&terms, sections.iter());
        let (section, _) = best(&sections, &terms, &rarity, false).expect("a section");
        (section.heading.clone(), section.telling_lines(&terms, &rarity).join("\n"))
    }

    #[test]
    fn the_section_that_answers_is_chosen_and_not_the_head_of_the_document() {
        for (question, heading, holds) in [
            ("교체할 때 공구랑 인원은 뭐가 필요해?", "2 ", "인원 2명"),
            ("6205 C3 틈새 몇 미크론이 정상이야", "4.2 ", "C3 13–28 µm"),
            ("하우징 공차는 H7로 가공해?", "4.1 ", "H7"),
            ("길들이기 운전 순서", "9 ", "무부하"),
            ("인수 기준이 뭐야", "10 ", "첨도 약 3"),
            ("그리스 충전량", "7 ", "30–40 %"),
        ] {
            let (found, text) = chosen(question, Language::Ko);
            assert!(
                found.starts_with(heading) && text.contains(holds),
                "{question}: {found}\n{text}"
            );
        }
        for (question, heading, holds) in [
            ("What tools and crew do I need for the replacement?", "2 ", "Crew of 2"),
            ("Lockout steps before pulling the bearing?", "1 ", "Isolate"),
            ("What clearance should a C3 bearing with a 25 mm bore have?", "4.2 ", "C3 13–28 µm"),
            ("run-in after mounting", "9 ", "low speed without load"),
            ("acceptance criteria", "10 ", "kurtosis about 3"),
        ] {
            let (found, text) = chosen(question, Language::En);
            assert!(
                found.starts_with(heading) && text.contains(holds),
                "{question}: {found}\n{text}"
            );
        }
    }

    #[test]
    fn a_long_section_is_told_in_whole_sentences_that_fit() {
        let line = format!(
            "{}토크는 85 N·m로 조인다. {}",
            "다른 말이다. ".repeat(90),
            "끝이다. ".repeat(90)
        );
        let section = Section { heading: String::new(), lines: vec![line] };
        let terms = terms("체결 토크");
        let told = section.telling_lines(&terms, &[1.0; 2]).join(" ");
        assert!(
            told.contains("토크는 85 N·m로 조인다.") && told.chars().count() <= LONGEST + 200,
            "{told}"
        );
        assert!(told.ends_with('.'), "{told}");
    }
}
