//! Sets a document on A4 pages; each page becomes a drawing.
//!
//! Invariants: no text is lost, whatever its length (a block that does not fit continues on the
//! next page, a word wider than its column is broken); a heading is never the last line of a page.

mod blocks;
mod sheet;
mod wrap;

use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Language;

use super::document::{Document, colour, sign};
use super::drawing::{Anchor, Colour, Drawing, Label};
use sheet::{BODY, LEFT, Sheet, WIDTH};

/// The pages of a document.
pub(crate) fn pages(document: &Document) -> Vec<Drawing> {
    let mut sheet = Sheet::new();
    head(&mut sheet, document);
    for (at, block) in document.blocks.iter().enumerate() {
        blocks::set(&mut sheet, block, document.blocks.get(at + 1));
    }
    let foot = format!("{} · {}", document.kind, document.number);
    sheet.finish(&foot)
}

/// Sets kind, title, risk, finding, and the facts of the head.
fn head(sheet: &mut Sheet, document: &Document) {
    let beside = document.risk.map_or(WIDTH, |risk| badge(sheet, risk, document.language));
    sheet.paragraph(&document.kind, 9.5, false, Colour::Muted, [0.0, beside]);
    sheet.paragraph(&document.title, 18.0, true, Colour::Ink, [0.0, beside]);
    sheet.paragraph(&document.subtitle, 11.0, false, Colour::Ink, [0.0, WIDTH]);
    sheet.space(4.0);
    let at = sheet.y();
    sheet.page().line(
        [LEFT, at],
        [LEFT + WIDTH, at],
        document.risk.map_or(Colour::Muted, colour),
        1.6,
    );
    sheet.space(8.0);
    blocks::pairs(sheet, &document.head, BODY - 0.5);
    sheet.space(6.0);
}

/// Sets the badge of a risk at the right; returns the width that is left beside it.
fn badge(sheet: &mut Sheet, risk: RiskLevel, language: Language) -> f32 {
    let word = format!("{} {}", sign(risk), risk.label().in_language(language));
    let badge_width = super::font::width(&word, 13.0) + 24.0;
    let top = sheet.y();
    let badge_at = [LEFT + WIDTH - badge_width, top];
    sheet.page().rectangle(badge_at, [badge_width, 26.0], colour(risk), 1.0);
    sheet.page().text(Label {
        x: LEFT + WIDTH - badge_width / 2.0,
        y: top + 17.5,
        size: 13.0,
        anchor: Anchor::Middle,
        bold: true,
        colour: Colour::Paper,
        text: word,
    });
    WIDTH - badge_width - 12.0
}

#[cfg(test)]
mod tests {
    use pdm_shared::risk::RiskLevel;
    use pdm_shared::text::Language;
    use pdm_shared::time::Timestamp;
    use proptest::prelude::*;

    use super::*;
    use crate::document::{Block, DocumentTable, Mark};
    use crate::drawing::Shape;

    fn document(blocks: Vec<Block>) -> Document {
        Document {
            language: Language::Ko,
            kind: "분석 리포트".to_owned(),
            title: "P-101 DE".to_owned(),
            subtitle: String::new(),
            number: "1".to_owned(),
            written_at: Timestamp::from_unix_ms(0).expect("in range"),
            risk: Some(RiskLevel::Warning),
            head: Vec::new(),
            blocks,
        }
    }

    fn letters(pages: &[Drawing]) -> String {
        pages
            .iter()
            .flat_map(|page| &page.shapes)
            .filter_map(|shape| match shape {
                Shape::Text(label) => Some(label.text.as_str()),
                Shape::Area { .. } | Shape::Line { .. } => None,
            })
            .flat_map(str::chars)
            .filter(|letter| !letter.is_whitespace())
            .collect()
    }

    fn bare(text: &str) -> String {
        text.chars().filter(|letter| !letter.is_whitespace() && !letter.is_control()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn no_letter_is_lost_and_none_leaves_the_page(text in "[가-힣a-z0-9 ]{0,3000}",
            long in "[a-z]{0,400}") {
            let items = vec![text.clone(), long.clone()];
            let row = vec![text.clone(), long.clone()];
            let table = DocumentTable { head: vec![String::new(); 2], shares: vec![0.8, 0.2],
                rows: vec![row] };
            let all = document(vec![
                Block::Text(text.clone()),
                Block::Items { mark: Mark::Step, items },
                Block::Table(table),
            ]);
            let pages = pages(&all);
            let set = letters(&pages);
            // a text may continue over several pages, with page footers between its parts
            let of = |letter: char, text: &str| text.chars().filter(|&c| c == letter).count();
            let (text, long) = (bare(&text), bare(&long));
            for letter in text.chars().chain(long.chars()) {
                let given = 3 * of(letter, &text) + 2 * of(letter, &long);
                prop_assert!(of(letter, &set) >= given, "{letter} is lost");
            }
            for page in &pages {
                for shape in &page.shapes {
                    if let Shape::Text(label) = shape {
                        prop_assert!(label.y > 0.0 && label.y < page.height, "{label:?}");
                        let end = label.x + crate::font::width(&label.text, label.size);
                        prop_assert!(label.anchor != Anchor::Start || end < page.width,
                            "{label:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_heading_never_ends_a_page() {
        for lines in 1..80 {
            let blocks = (0..lines)
                .map(|_| Block::Text("글".to_owned()))
                .chain([Block::Section("머리".to_owned()), Block::Text("꼬리".to_owned())]);
            let pages = pages(&document(blocks.collect()));
            let of = |word: &str| {
                pages.iter().position(|page| letters(std::slice::from_ref(page)).contains(word))
            };
            assert_eq!(of("머리"), of("꼬리"), "{lines} lines");
        }
    }
}
