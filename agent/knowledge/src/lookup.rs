//! Look-up by section number and by title, for callers that name a text instead of describing it.

use super::about::Collection;
use super::chunk::Chunk;
use super::section::Section;
use super::words::{fold, words};
use super::{Filter, Knowledge, KnowledgeError};

/// Least share of the words of a title that must match. No data chose it: with half of the words
/// missing, the title is more likely another one.
const LEAST_TITLE_SCORE: f32 = 0.5;

/// A section that was found by number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundSection {
    /// The section.
    pub section: Section,
    /// The section's chunk, for the citation.
    pub chunk: Chunk,
}

/// A document that was found by title.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundTitle {
    /// The chunk with that title.
    pub chunk: Chunk,
    /// The section whose heading matches better than the document's title, if there is one.
    pub section: Option<Section>,
    /// Share of the words that match, 0…1.
    pub score: f32,
}

impl Knowledge {
    /// The chunks of a document; empty if there is no such document.
    ///
    /// # Errors
    /// [`KnowledgeError::Store`].
    pub async fn chunks(&self, document: &str) -> Result<Vec<Chunk>, KnowledgeError> {
        let mut found = Vec::new();
        for collection in Collection::ALL {
            let stored = self.store.list(collection, &Filter::document(document)).await?;
            found.extend(stored.into_iter().map(|stored| stored.chunk));
        }
        Ok(found)
    }

    /// All passages of a collection, by document and place.
    ///
    /// # Errors
    /// [`KnowledgeError::Store`].
    pub async fn documents(&self, collection: Collection) -> Result<Vec<Chunk>, KnowledgeError> {
        let stored = self.store.list(collection, &Filter::default()).await?;
        Ok(stored.into_iter().map(|stored| stored.chunk).collect())
    }

    /// Takes a document out of a collection; false if it is not there.
    ///
    /// # Errors
    /// [`KnowledgeError::Store`].
    pub async fn remove(
        &self,
        collection: Collection,
        document: &str,
    ) -> Result<bool, KnowledgeError> {
        if self.store.list(collection, &Filter::document(document)).await?.is_empty() {
            return Ok(false);
        }
        self.store.replace(collection, &[document.to_owned()], Vec::new()).await?;
        Ok(true)
    }

    /// The sections of a document with `number`, and those below them; `number` may be written `3`,
    /// `3.`, `§3`, `제3절`, `3장`. All sections for an empty number. Empty if there is no such
    /// document or section. A document's name may be written in small letters.
    ///
    /// # Errors
    /// [`KnowledgeError::Store`].
    pub async fn section(
        &self,
        document: &str,
        number: &str,
    ) -> Result<Vec<FoundSection>, KnowledgeError> {
        let whole = number.trim().is_empty();
        let number = section_number(number);
        if number.is_none() && !whole {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        let mut chunks = self.chunks(document).await?;
        if chunks.is_empty() {
            chunks = self.chunks(&document.trim().to_uppercase()).await?;
        }
        for chunk in chunks {
            let is_asked =
                |section: &&Section| number.as_ref().is_none_or(|number| section.is_within(number));
            let sections = chunk.sections.iter().filter(is_asked);
            found.extend(
                sections
                    .map(|section| FoundSection { section: section.clone(), chunk: chunk.clone() }),
            );
        }
        found.sort_by_cached_key(|found| sort_key(&found.section.number));
        Ok(found)
    }

    /// Chunks whose title, id or section heading equals or resembles `title`, best first.
    ///
    /// # Errors
    /// [`KnowledgeError::Store`].
    pub async fn title(
        &self,
        title: &str,
        top_k: usize,
    ) -> Result<Vec<FoundTitle>, KnowledgeError> {
        let asked = unique_words(title);
        let mut found = Vec::new();
        for collection in [Collection::MaintenanceHistory, Collection::EquipmentManual] {
            for stored in self.store.list(collection, &Filter::default()).await? {
                found.extend(by_title(title, &asked, stored.chunk));
            }
        }
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.chunk.id.cmp(&b.chunk.id)));
        found.truncate(top_k);
        Ok(found)
    }
}

/// `제4.2절` → `4.2`.
fn section_number(typed: &str) -> Option<String> {
    let typed = typed.trim().trim_start_matches(['§', '#', '제', ' ']);
    let end = typed.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(typed.len());
    let number = typed[..end].trim_matches('.');
    let rest = typed[end..].trim();
    let known = rest.is_empty() || ["장", "절", "항", "조", "번"].contains(&rest);
    (known && !number.is_empty()).then(|| number.to_owned())
}

fn sort_key(number: &str) -> Vec<u32> {
    number.split('.').map(|part| part.parse().unwrap_or(u32::MAX)).collect()
}

fn unique_words(text: &str) -> Vec<String> {
    let mut all = words(&fold(text));
    all.sort_unstable();
    all.dedup();
    all
}

fn by_title(typed: &str, asked: &[String], chunk: Chunk) -> Option<FoundTitle> {
    let typed = typed.trim();
    if chunk.id.eq_ignore_ascii_case(typed) || chunk.document.eq_ignore_ascii_case(typed) {
        return Some(FoundTitle { chunk, section: None, score: 1.0 });
    }
    let document =
        likeness(asked, &chunk.about.title.ko).max(likeness(asked, &chunk.about.title.en));
    let section = chunk
        .sections
        .iter()
        .map(|section| (likeness(asked, &section.title), section))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(score, _)| *score > document);
    let (score, section) = match section {
        Some((score, section)) => (score, Some(section.clone())),
        None => (document, None),
    };
    (score >= LEAST_TITLE_SCORE).then_some(FoundTitle { chunk, section, score })
}

/// Share of the words of `asked` in `title`, reduced slightly for each further word of `title`.
fn likeness(asked: &[String], title: &str) -> f32 {
    let has = unique_words(title);
    if asked.is_empty() || has.is_empty() {
        return 0.0;
    }
    let common = asked.iter().filter(|word| has.contains(word)).count() as f32;
    let recall = common / asked.len() as f32;
    let precision = common / has.len() as f32;
    0.9 * recall + 0.1 * precision
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_number_is_read_in_every_usual_form() {
        for typed in ["4.2", "4.2.", "§4.2", "제4.2절", " 제 4.2 절"] {
            assert_eq!(section_number(typed).as_deref(), Some("4.2"), "{typed}");
        }
        assert_eq!(section_number("4.2 rings"), None);
        assert_eq!(section_number(""), None);
    }
}
