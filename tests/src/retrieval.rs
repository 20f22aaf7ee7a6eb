//! Quality of the knowledge base on labelled questions: recall@3 and nDCG@3, by words alone, by
//! meaning alone, and fused.
//!
//! Eight sets of questions (`tests/data`): `retrieval.toml`, half of which (`choose`) may be used
//! to choose the search's weights, the other half (`hold`) not; `retrieval-dev.toml`,
//! `retrieval-floor.toml`, `retrieval-more.toml`, `retrieval-former-blind.toml`,
//! `retrieval-second-blind.toml` and `retrieval-third-blind.toml`, for fitting the relevance, with
//! questions that no document answers; `retrieval-blind.toml`, which nobody who works on the search
//! has read.
//!
//! A question without an answer does not count in recall and nDCG; it counts as refused rightly
//! where nothing is found. One with an answer that gets nothing is refused wrongly, and has a
//! recall of 0.

use std::path::Path;

pub mod fit;

use pdm_knowledge::{Collection, Filter, Knowledge, KnowledgeSettings, Mode, shipped};
use serde::Deserialize;

/// Number of hits that count.
pub const DEPTH: usize = 3;

/// Whether a question may be used to choose weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Split {
    /// The question may be used to choose weights.
    Choose,
    /// The question may not be used to choose weights.
    Hold,
}

/// A question and the chunks that answer it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// Whether it may be used to choose weights.
    pub split: Split,
    /// The collection to search.
    pub collection: Collection,
    /// The question.
    pub text: String,
    /// Ids of the chunks that answer it; empty if no document does.
    pub relevant: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    question: Vec<Question>,
}

/// Quality of a search over some questions, 0…1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Quality {
    /// Mean share of the relevant chunks among the first three.
    pub recall: f64,
    /// Mean normalised discounted cumulative gain of the first three (Järvelin & Kekäläinen 2002,
    /// doi:10.1145/582415.582418, with gains 0 and 1).
    pub ndcg: f64,
    /// Number of questions with an answer.
    pub questions: usize,
    /// Questions with an answer for which nothing was found.
    pub refused_wrongly: usize,
    /// Number of questions without an answer.
    pub without_answer: usize,
    /// Questions without an answer for which nothing was found.
    pub refused_rightly: usize,
}

/// The result of one question.
#[derive(Debug, Clone)]
pub struct RetrievalAnswer {
    /// The question.
    pub question: Question,
    /// Ids of the first hits.
    pub found: Vec<String>,
}

/// The sets that the relevance may be fitted to.
pub const FITTED_TO: [Set; 7] = [
    Set::Main,
    Set::Dev,
    Set::Floor,
    Set::More,
    Set::FormerBlind,
    Set::SecondBlind,
    Set::ThirdBlind,
];

/// The sets of questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Set {
    /// The first set.
    Main,
    /// The first set for fitting the relevance.
    Dev,
    /// Questions in the words of a factory floor, for fitting the relevance.
    Floor,
    /// Many questions without an answer beside others, for fitting the relevance.
    More,
    /// The first blind set, for fitting the relevance since it has been asked.
    FormerBlind,
    /// The second blind set, for fitting the relevance since it has been asked.
    SecondBlind,
    /// The third blind set, for fitting the relevance since it has been asked.
    ThirdBlind,
    /// The set that nobody who works on the search has read.
    Blind,
}

/// Reads the questions of a set.
///
/// # Errors
/// The file cannot be read.
pub fn questions(set: Set) -> anyhow::Result<Vec<Question>> {
    let name = match set {
        Set::Main => "retrieval",
        Set::Dev => "retrieval-dev",
        Set::Floor => "retrieval-floor",
        Set::More => "retrieval-more",
        Set::FormerBlind => "retrieval-former-blind",
        Set::SecondBlind => "retrieval-second-blind",
        Set::ThirdBlind => "retrieval-third-blind",
        Set::Blind => "retrieval-blind",
    };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("data/{name}.toml"));
    let file: File = pdm_service::config::read_config(&path)?;
    Ok(file.question)
}

/// A knowledge base in `folder` filled with the documents that come with the program.
///
/// # Errors
/// A document is refused.
pub async fn filled(folder: &Path) -> anyhow::Result<Knowledge> {
    filled_by(KnowledgeSettings::embedded(folder.join("knowledge.db")), AskedLines::All).await
}

/// Which documents keep the questions that they say they answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskedLines {
    /// All.
    All,
    /// Every second one.
    EverySecond,
    /// None.
    None,
}

impl AskedLines {
    fn is_kept(self, at: usize) -> bool {
        match self {
            Self::All => true,
            Self::EverySecond => at.is_multiple_of(2),
            Self::None => false,
        }
    }
}

/// A knowledge base of these settings filled with the documents that come with the program.
///
/// # Errors
/// A document is refused.
pub async fn filled_by(
    settings: KnowledgeSettings,
    asked: AskedLines,
) -> anyhow::Result<Knowledge> {
    let knowledge = Knowledge::open(&settings).await?;
    for (at, mut document) in shipped::documents()?.into_iter().enumerate() {
        if !asked.is_kept(at) {
            document.about.asked.clear();
            document.modes.iter_mut().for_each(|mode| mode.asked.clear());
        }
        knowledge.ingest_document(&document).await?;
    }
    knowledge.learn_questions().await?;
    Ok(knowledge)
}

/// Asks every question in one mode.
///
/// # Errors
/// The search fails.
pub async fn ask(
    knowledge: &Knowledge,
    mode: Mode,
    questions: &[Question],
) -> anyhow::Result<Vec<RetrievalAnswer>> {
    let mut answers = Vec::with_capacity(questions.len());
    for question in questions {
        let (at, everything) = (question.collection, Filter::default());
        let hits = knowledge.search_by(mode, at, &question.text, &everything, DEPTH).await?;
        let found = hits.into_iter().map(|hit| hit.chunk.id).collect();
        answers.push(RetrievalAnswer { question: question.clone(), found });
    }
    Ok(answers)
}

/// Asks every question in all collections at once.
///
/// # Errors
/// The search fails.
pub async fn ask_everywhere(
    knowledge: &Knowledge,
    questions: &[Question],
) -> anyhow::Result<Vec<RetrievalAnswer>> {
    let mut answers = Vec::with_capacity(questions.len());
    for question in questions {
        let hits = knowledge.search_all(&question.text, &Filter::default(), DEPTH).await?;
        let found = hits.into_iter().map(|hit| hit.chunk.id).collect();
        answers.push(RetrievalAnswer { question: question.clone(), found });
    }
    Ok(answers)
}

impl RetrievalAnswer {
    /// Share of the relevant chunks among the hits.
    pub fn recall(&self) -> f64 {
        let relevant = &self.question.relevant;
        let found = self.found.iter().filter(|id| relevant.contains(id)).count();
        found as f64 / relevant.len().clamp(1, DEPTH) as f64
    }

    /// Normalised discounted cumulative gain.
    pub fn ndcg(&self) -> f64 {
        let discount = |rank: usize| 1.0 / (rank as f64 + 2.0).log2();
        let ideal: f64 = (0..self.question.relevant.len().clamp(1, DEPTH)).map(discount).sum();
        let ranks = self.found.iter().enumerate();
        let gain: f64 = ranks
            .filter(|(_, id)| self.question.relevant.contains(id))
            .map(|(rank, _)| discount(rank))
            .sum();
        gain / ideal
    }
}

impl Quality {
    /// Means over the answers whose question `counts` accepts.
    pub fn of(answers: &[RetrievalAnswer], counts: impl Fn(&Question) -> bool) -> Self {
        let (taken, without): (Vec<&RetrievalAnswer>, Vec<&RetrievalAnswer>) = answers
            .iter()
            .filter(|answer| counts(&answer.question))
            .partition(|answer| !answer.question.relevant.is_empty());
        let mean = |value: fn(&RetrievalAnswer) -> f64| {
            taken.iter().map(|answer| value(answer)).sum::<f64>() / taken.len().max(1) as f64
        };
        let refused =
            |of: &[&RetrievalAnswer]| of.iter().filter(|answer| answer.found.is_empty()).count();
        Self {
            recall: mean(RetrievalAnswer::recall),
            ndcg: mean(RetrievalAnswer::ndcg),
            questions: taken.len(),
            refused_wrongly: refused(&taken),
            without_answer: without.len(),
            refused_rightly: refused(&without),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(found: &[&str], relevant: &[&str]) -> RetrievalAnswer {
        let all = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
        let question = Question {
            split: Split::Hold,
            collection: Collection::EquipmentManual,
            text: String::new(),
            relevant: all(relevant),
        };
        RetrievalAnswer { question, found: all(found) }
    }

    #[test]
    fn the_first_place_is_worth_one_and_the_second_less() {
        let first = answer(&["a", "b", "c"], &["a"]);
        let second = answer(&["b", "a", "c"], &["a"]);
        assert!((first.ndcg() - 1.0).abs() < 1e-12);
        // 1 / log2(3)
        assert!((second.ndcg() - 0.630_929_753_571_457_4).abs() < 1e-12);
        assert!((second.recall() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn half_of_two_is_half_a_recall() {
        assert!((answer(&["a", "x", "y"], &["a", "b"]).recall() - 0.5).abs() < 1e-12);
    }
}
