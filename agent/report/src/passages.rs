//! Passages of the knowledge base on a page: unchanged, with their source.

use pdm_knowledge::section::items::items;
use pdm_knowledge::{Chunk, Section};
use pdm_shared::text::Text;

use super::data::Passage;
use super::words::is_korean;

/// A section of a chunk as a passage. A passage in one language only carries a note for readers of
/// the other.
pub(crate) fn passage(chunk: &Chunk, section: &Section) -> Passage {
    let mut title = heading(&section.title);
    if section.english.is_empty() {
        if is_korean(&section.body) {
            title.en.push_str(" (Korean original)");
        } else {
            title.ko.push_str(" (영어 원문)");
        }
    }
    Passage { title, items: items(section), source: source(chunk, section) }
}

/// The source: `EM-06 §1 (베어링 교체 정비 절차서 · Bearing replacement procedure)`. The chunk's id names the
/// piece if the document is cut.
fn source(chunk: &Chunk, section: &Section) -> String {
    let place =
        if section.number.is_empty() { String::new() } else { format!(" §{}", section.number) };
    let Text { ko, en } = &chunk.about.title;
    let title = if ko == en { ko.clone() } else { format!("{ko} · {en}") };
    format!("{}{place} ({title})", chunk.document)
}

/// `안전 (Safety, LOTO)` in its two languages; a title in one language serves for both.
fn heading(title: &str) -> Text {
    let pair = title.strip_suffix(')').and_then(|title| title.rsplit_once(" ("));
    match pair {
        Some((ko, en)) if en.is_ascii() => Text::new(ko.trim(), en.trim()),
        Some(_) | None => Text::new(title, title),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_in_two_languages_is_told_apart() {
        assert_eq!(heading("안전 (Safety, LOTO)"), Text::new("안전", "Safety, LOTO"));
        assert_eq!(heading("점검(매일)"), Text::new("점검(매일)", "점검(매일)"));
    }
}
