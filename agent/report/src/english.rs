//! English of the quoted texts. The research quotes documents in their own language, which is
//! Korean in those that come with the program; English readers get the document's English where it
//! exists item for item.

use std::collections::BTreeMap;

use pdm_knowledge::section::items::items;
use pdm_knowledge::{Chunk, Knowledge, KnowledgeError};
use pdm_shared::diagnosis::Diagnosis;

use super::case_file::{ResearchHit, ResearchRound};
use super::findings::quotes;

/// English of the passages and titles that these rounds and this judgement quote, by the quoted
/// text.
///
/// # Errors
/// [`KnowledgeError`] if the knowledge base cannot be asked. A document that no longer exists is
/// not an error.
pub async fn look_up(
    knowledge: &Knowledge,
    research: &[ResearchRound],
    diagnosis: &Diagnosis,
) -> Result<BTreeMap<String, String>, KnowledgeError> {
    // a document found in many rounds is looked up once
    let mut quoted: BTreeMap<&str, Vec<&ResearchHit>> = BTreeMap::new();
    for hit in research.iter().flat_map(|round| &round.hits) {
        quoted.entry(document_of(&hit.id)).or_default().push(hit);
    }
    let evidence: Vec<(&str, &str)> = evidence(diagnosis).collect();
    for (document, _) in &evidence {
        quoted.entry(document).or_default();
    }
    let mut english = BTreeMap::new();
    for (document, hits) in quoted {
        for chunk in knowledge.chunks(document).await? {
            for hit in hits.iter().filter(|hit| hit.id == chunk.id) {
                english.extend(of_chunk(&chunk, quotes(&hit.quote)));
            }
            let of_it = evidence.iter().filter(|(from, _)| *from == document);
            for quote in of_it.map(|(_, quote)| *quote) {
                english.extend(of_quote(&chunk, quote).map(|told| (quote.to_owned(), told)));
            }
        }
    }
    Ok(english)
}

/// Documents and what the judgement quotes of them: `tools[0].MH-05` is the path of such evidence.
fn evidence(diagnosis: &Diagnosis) -> impl Iterator<Item = (&str, &str)> {
    let all = diagnosis.thoughts.iter().flat_map(|thought| &thought.evidence);
    all.filter(|fact| fact.source.is_some()).filter_map(|fact| {
        let (_, document) = fact.path.rsplit_once("].")?;
        Some((document_of(document), fact.value.as_str()?))
    })
}

/// `EM-07` of the chunk `EM-07#2`.
fn document_of(chunk: &str) -> &str {
    chunk.rsplit_once('#').map_or(chunk, |(document, _)| document)
}

/// English of the title, and of the quotes that have one.
fn of_chunk<'q>(chunk: &Chunk, quotes: impl Iterator<Item = &'q str>) -> BTreeMap<String, String> {
    let title = &chunk.about.title;
    let told = quotes.filter_map(|quote| Some((quote.to_owned(), of_quote(chunk, quote)?)));
    told.chain([(title.ko.clone(), title.en.clone())]).filter(|(ko, en)| ko != en).collect()
}

/// English of an item; of the sentences that are quoted if both languages have the same number of
/// them.
fn of_quote(chunk: &Chunk, quote: &str) -> Option<String> {
    let all = chunk.sections.iter().filter(|section| !section.english.is_empty()).flat_map(items);
    let item = all.into_iter().find(|item| !quote.is_empty() && item.ko.contains(quote))?;
    let pairs = sentences(&item.ko).zip(sentences(&item.en));
    let is_paired = sentences(&item.ko).count() == sentences(&item.en).count();
    let told: String =
        pairs.filter(|(ko, _)| quote.contains(ko.trim_end())).map(|(_, en)| en).collect();
    let whole = item.ko == quote || !is_paired || told.is_empty();
    Some(if whole { item.en.clone() } else { told.trim_end().to_owned() })
}

/// The sentences of a text. A full stop between digits does not end one.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(". ")
}

#[cfg(test)]
mod tests {
    use pdm_knowledge::{KnowledgeSettings, chunk, shipped};
    use pdm_shared::text::Text;

    use super::super::findings::BETWEEN_QUOTES;
    use super::*;

    #[test]
    fn a_quote_is_told_in_english_sentence_for_sentence() {
        let documents = shipped::documents().expect("documents");
        let report = documents.iter().find(|document| document.id == "MH-03").expect("there");
        let report = chunk::cut(report).remove(0);
        let english =
            of_chunk(&report, ["정상: 0.077 g / 3.4.", "어디에도 없는 말", ""].into_iter());
        assert_eq!(english["정상: 0.077 g / 3.4."], "Normal: 0.077 g / 3.4.");
        assert_eq!(english[&report.about.title.ko], report.about.title.en);
        assert_eq!(english.len(), 2, "{english:?}");
    }

    #[tokio::test]
    async fn rounds_are_looked_up_and_what_is_not_there_is_left_out() {
        let folder = tempfile::tempdir().expect("folder");
        let settings = KnowledgeSettings::embedded(folder.path().join("knowledge.db"));
        let knowledge = Knowledge::open(&settings).await.expect("opens");
        for document in shipped::documents().expect("documents") {
            knowledge.ingest_document(&document).await.expect("added");
        }
        let mode = "원인: 과부하, 오염, 하우징 맞춤 불량, 축정렬 불량.";
        let round = |id: &str, quote: &str| ResearchRound {
            round: 1,
            tool: String::new(),
            question: String::new(),
            why: Text::new("", ""),
            hits: vec![ResearchHit {
                id: id.to_owned(),
                title: id.to_owned(),
                source: String::new(),
                quote: quote.to_owned(),
            }],
            learnt: Text::new("", ""),
        };
        let research = [
            round("EM-07#2", &[mode, "검출: BPFO 포락선."].join(BETWEEN_QUOTES)),
            round("MH-99", mode),
        ];
        let mut diagnosis: Diagnosis =
            serde_json::from_str(include_str!("../../../config/examples/diagnosis.json"))
                .expect("a diagnosis");
        diagnosis.thoughts.clear();
        let english = look_up(&knowledge, &research, &diagnosis).await.expect("looked up");
        let cause = "Cause: overload, contamination, poor housing fit, misalignment.";
        assert_eq!(english[mode], cause);
        assert_eq!(english["검출: BPFO 포락선."], "Detection: BPFO in the envelope.");
        assert_eq!(english.len(), 3, "and the title: {english:?}");
    }
}
