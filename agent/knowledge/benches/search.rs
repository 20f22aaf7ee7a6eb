//! Measures the search time of the embedded knowledge base, from the question to hits with their
//! texts.
//!
//! `cargo bench -p pdm-knowledge --bench search [-- CHUNKS]` (default 100000) fills a store in a
//! temporary folder with chunks made of the shipped documents' sentences, asks the labelled
//! questions of `tests/data/retrieval.toml` over and over, and prints p50, p95 and the longest, ms.
//! The target is p95 ≤ 25 ms at 100,000 chunks.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use pdm_knowledge::about::About;
use pdm_knowledge::chunk::cut;
use pdm_knowledge::embed::local::LocalEmbedder;
use pdm_knowledge::embed::{Embedder, Passage};
use pdm_knowledge::section::Section;
use pdm_knowledge::store::embedded::EmbeddedStore;
use pdm_knowledge::store::{Point, VectorStore};
use pdm_knowledge::words::passage_vector;
use pdm_knowledge::{
    Chunk, Collection, DEFAULT_TOP_K, Filter, Knowledge, KnowledgeSettings, Mode, shipped,
};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

/// Rows written in one batch.
const BATCH: usize = 2000;
/// Sentences of a chunk: the length of a shipped report.
const SENTENCES: usize = 25;
/// Rounds over the questions.
const ROUNDS: usize = 4;

fn main() -> anyhow::Result<()> {
    let count = std::env::args().filter_map(|word| word.parse().ok()).next_back();
    let count: usize = count.unwrap_or(100_000);
    let folder = tempfile::tempdir()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let settings = KnowledgeSettings::embedded_in(folder.path());
        let file = folder.path().join("knowledge.db");
        let filled = Instant::now();
        fill(&EmbeddedStore::open(&file, LocalEmbedder::DIMENSIONS).await?, count).await?;
        tell(&format!("filled {count} chunks in {:.1} s", filled.elapsed().as_secs_f64()));
        let opened = Instant::now();
        let knowledge = Knowledge::open(&settings).await?;
        tell(&format!("opened in {:.1} s", opened.elapsed().as_secs_f64()));
        for mode in [Mode::Fused, Mode::Keyword, Mode::Vector] {
            let times = ask(&knowledge, mode, &Filter::default()).await?;
            report(&format!("{mode:?}"), times);
        }
        let filter = Filter { equipment: Some("P-7".to_owned()), ..Filter::default() };
        report("Fused, one machine", ask(&knowledge, Mode::Fused, &filter).await?);
        Ok(())
    })
}

async fn ask(knowledge: &Knowledge, mode: Mode, filter: &Filter) -> anyhow::Result<Vec<Duration>> {
    let questions = questions()?;
    let (mut times, mut refused) = (Vec::with_capacity(ROUNDS * questions.len()), 0);
    for question in std::iter::repeat_n(&questions, ROUNDS).flatten() {
        let asked = Instant::now();
        let hits = knowledge
            .search_by(mode, Collection::AnalysisHistory, question, filter, DEFAULT_TOP_K)
            .await?;
        times.push(asked.elapsed());
        // a search may find that nothing answers; its time counts all the same
        refused += usize::from(hits.is_empty());
        anyhow::ensure!(hits.len() <= DEFAULT_TOP_K, "{question}: {} hits", hits.len());
    }
    anyhow::ensure!(refused < times.len(), "no question is answered");
    Ok(times)
}

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: f64| {
        let index = (times.len() as f64 * share) as usize;
        times[index.min(times.len() - 1)].as_secs_f64() * 1000.0
    };
    let figures = (at(0.5), at(0.95), at(1.0));
    tell(&format!(
        "{what:20} {} searches: p50 {:.1} ms, p95 {:.1} ms, longest {:.1} ms",
        times.len(),
        figures.0,
        figures.1,
        figures.2
    ));
}

#[expect(clippy::print_stdout, reason = "the benchmark prints its result")]
fn tell(line: &str) {
    println!("{line}");
}

fn questions() -> anyhow::Result<Vec<String>> {
    let text = include_str!("../../../tests/data/retrieval.toml");
    let file: toml::Table = toml::from_str(text)?;
    let list = file.get("question").and_then(toml::Value::as_array).cloned().unwrap_or_default();
    let text_of = |question: &toml::Value| question.get("text")?.as_str().map(str::to_owned);
    Ok(list.iter().filter_map(text_of).collect())
}

/// Chunks of sentences drawn at random from the shipped documents.
async fn fill(store: &EmbeddedStore, count: usize) -> anyhow::Result<()> {
    let patterns: Vec<Chunk> = shipped::documents()?.iter().flat_map(cut).collect();
    let sentences: BTreeSet<String> = patterns
        .iter()
        .flat_map(|chunk| chunk.body().lines().map(str::to_owned).collect::<Vec<_>>())
        .filter(|line| line.chars().count() > 10)
        .collect();
    let sentences: Vec<String> = sentences.into_iter().collect();
    let mut random = StdRng::seed_from_u64(1);
    let mut batch = Vec::with_capacity(BATCH);
    for number in 0..count {
        let chunk = chunk(number, &patterns, &sentences, &mut random);
        let (head, body) = (chunk.head(), chunk.body());
        let sparse = passage_vector(&head, &body);
        let dense = LocalEmbedder.embed_passages(&[Passage { head, body }]).await?.remove(0);
        batch.push(Point { chunk, dense, sparse, embedder: LocalEmbedder.id().to_owned() });
        if batch.len() == BATCH || number + 1 == count {
            let points = std::mem::take(&mut batch);
            store.replace(Collection::AnalysisHistory, &[], points).await?;
        }
    }
    Ok(())
}

fn chunk(number: usize, patterns: &[Chunk], sentences: &[String], random: &mut StdRng) -> Chunk {
    let pattern = &patterns[random.random_range(0..patterns.len())];
    let body: Vec<&str> = (0..SENTENCES)
        .map(|_| sentences[random.random_range(0..sentences.len())].as_str())
        .collect();
    let body = body.join("\n");
    Chunk {
        id: format!("AH-{number}"),
        document: format!("AH-{number}"),
        about: About {
            collection: Collection::AnalysisHistory,
            equipment: Some(format!("P-{}", number % 100)),
            ..pattern.about.clone()
        },
        sections: vec![Section {
            number: "1".to_owned(),
            title: String::new(),
            body,
            ..Section::default()
        }],
    }
}
