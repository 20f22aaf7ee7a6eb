//! `cargo run -p pdm-tests --bin retrieval`: quality of the search on the labelled questions, and
//! with `--chunks N` (in a release build) its speed on N generated judgements.

use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Parser;
use pdm_knowledge::embed::local::LocalEmbedder;
use pdm_knowledge::store::embedded::EmbeddedStore;
use pdm_knowledge::store::{Point, Query, VectorStore};
use pdm_knowledge::{Collection, Filter, Mode, judgement, words};
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::fault::Fault;
use pdm_tests::retrieval::{Answer, Quality, Split, ask, filled, questions};
use rand::{Rng, SeedableRng};

/// Measures the knowledge base.
#[derive(Debug, Parser)]
struct Args {
    /// Show every question whose first hit does not answer it (only those of the split for
    /// choosing)
    #[arg(long)]
    misses: bool,
    /// Measure the speed with this number of chunks instead
    #[arg(long, value_name = "N")]
    chunks: Option<usize>,
}

fn main() -> anyhow::Result<ExitCode> {
    let args = Args::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    match args.chunks {
        Some(chunks) => runtime.block_on(speed(chunks)),
        None => runtime.block_on(quality(args.misses)),
    }?;
    Ok(ExitCode::SUCCESS)
}

async fn quality(misses: bool) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let knowledge = filled(folder.path()).await?;
    let questions = questions()?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{:<9}{:<10}{:>10}{:>10}{:>11}", "", "questions", "", "recall@3", "nDCG@3")?;
    for (name, mode) in
        [("keyword", Mode::Keyword), ("vector", Mode::Vector), ("fused", Mode::Fused)]
    {
        let answers = ask(&knowledge, mode, &questions).await?;
        for (split, of) in
            [("all", None), ("choose", Some(Split::Choose)), ("hold", Some(Split::Hold))]
        {
            let quality = Quality::of(&answers, |q| of.is_none_or(|of| q.split == of));
            writeln!(
                out,
                "{name:<9}{split:<10}{:>10}{:>10.3}{:>11.3}",
                quality.questions, quality.recall, quality.ndcg
            )?;
        }
        if misses {
            show_misses(&mut out, &answers)?;
        }
    }
    Ok(())
}

fn show_misses(out: &mut impl Write, answers: &[Answer]) -> std::io::Result<()> {
    let may = answers.iter().filter(|answer| answer.question.split == Split::Choose);
    for answer in may.filter(|answer| answer.ndcg() < 0.999) {
        let (asked, found) = (&answer.question, answer.found.join(" "));
        writeln!(out, "    {:?}: {:?} found {found}", asked.text, asked.relevant)?;
    }
    Ok(())
}

/// Fills a store with generated judgements and asks it the labelled questions.
async fn speed(chunks: usize) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("knowledge.db");
    let dimensions = LocalEmbedder::DIMENSIONS;
    let store = EmbeddedStore::open(&file, dimensions).await?;
    let at = Collection::AnalysisHistory;
    let began = Instant::now();
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(1);
    let example: Diagnosis =
        serde_json::from_str(include_str!("../../../config/examples/diagnosis.json"))?;
    for from in (0..chunks).step_by(5000) {
        let points =
            (from..chunks.min(from + 5000)).map(|n| made_up(&example, n, &mut random)).collect();
        store.replace(at, &[], points).await?;
    }
    let filled = began.elapsed();
    drop(store);
    let began = Instant::now();
    let store = EmbeddedStore::open(&file, dimensions).await?;
    let opened = began.elapsed();
    let mut times = Vec::new();
    for question in questions()?.iter().cycle().take(300) {
        let query = Query {
            dense: Some(LocalEmbedder::vector(&question.text, "")),
            sparse: Some(words::query_vector(&question.text)),
            filter: Filter::default(),
            top_k: 3,
        };
        let began = Instant::now();
        let hits = store.search(at, &query).await?;
        times.push(began.elapsed());
        anyhow::ensure!(hits.len() == 3, "{} hits", hits.len());
    }
    report(chunks, filled, opened, times)
}

fn report(
    chunks: usize,
    filled: Duration,
    opened: Duration,
    mut times: Vec<Duration>,
) -> anyhow::Result<()> {
    times.sort_unstable();
    let at = |share: f64| {
        let place = ((times.len() - 1) as f64 * share).round() as usize;
        times.get(place).map(|time| time.as_secs_f64() * 1000.0).context("no time was taken")
    };
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{chunks} chunks: filled in {:.1} s, opened in {:.1} s; fused search p50 {:.1} ms, p95 \
         {:.1} ms, p99 {:.1} ms",
        filled.as_secs_f64(),
        opened.as_secs_f64(),
        at(0.5)?,
        at(0.95)?,
        at(0.99)?
    )?;
    Ok(())
}

fn made_up(example: &Diagnosis, number: usize, random: &mut impl Rng) -> Point {
    let mut diagnosis = example.clone();
    diagnosis.event_id = pdm_shared::id::EventId(uuid::Uuid::from_u128(number as u128));
    diagnosis.fault_stage = (random.next_u32() % 5) as u8;
    diagnosis.fault_type = Fault::ALL.get((random.next_u32() % 5) as usize).copied();
    diagnosis.rul_assessment.hours = Some(f64::from(random.next_u32() % 5000));
    let chunk = judgement::chunk(&diagnosis);
    let (head, body) = (chunk.head(), chunk.body());
    Point {
        dense: LocalEmbedder::vector(&head, &body),
        sparse: words::passage_vector(&head, &body),
        embedder: "local/1".to_owned(),
        chunk,
    }
}
