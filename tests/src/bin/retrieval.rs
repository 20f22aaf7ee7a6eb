//! `cargo run -p pdm-tests --bin retrieval`: quality of the search on labelled questions (`--set`),
//! with `--embed URL` by an embedding endpoint; `--fit` fits the relevance; `--chunks N` (in a
//! release build) measures the speed on N generated judgements.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Parser;
use pdm_knowledge::embed::Roles;
use pdm_knowledge::embed::local::LocalEmbedder;
use pdm_knowledge::settings::{EmbeddingChoice, OpenAiChoice};
use pdm_knowledge::store::embedded::EmbeddedStore;
use pdm_knowledge::store::{Point, Query, VectorStore};
use pdm_knowledge::{Collection, Filter, KnowledgeSettings, Mode, judgement, words};
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::fault::Fault;
use pdm_tests::retrieval::{
    AskedLines, FITTED_TO, Quality, RetrievalAnswer, Set, Split, ask, ask_everywhere, filled_by,
    fit, questions,
};
use rand::{Rng, SeedableRng};

/// Measures the knowledge base.
#[derive(Debug, Parser)]
struct Args {
    /// Show every question whose first hit does not answer it (only those of the split for
    /// choosing)
    #[arg(long)]
    misses: bool,
    /// The questions
    #[arg(long, value_enum, default_value = "main")]
    set: Set,
    /// Ask in all collections at once
    #[arg(long)]
    everywhere: bool,
    /// Embed by this endpoint (`http://…/v1`) instead of locally
    #[arg(long, value_name = "URL")]
    embed: Option<String>,
    /// The endpoint's model
    #[arg(long, default_value = "multilingual-e5-small")]
    model: String,
    /// Length of its vectors
    #[arg(long, default_value_t = 384)]
    dimensions: usize,
    /// What it wants before a question and before a passage
    #[arg(long, num_args = 2, value_names = ["QUERY", "PASSAGE"])]
    prefix: Vec<String>,
    /// What it wants as `input_type` of a question and of a passage
    #[arg(long, num_args = 2, value_names = ["QUERY", "PASSAGE"])]
    input_type: Vec<String>,
    /// Fit the models of the relevance to the questions that may be used for it, and print them
    #[arg(long)]
    fit: bool,
    /// Measure the speed with this number of chunks instead
    #[arg(long, value_name = "N")]
    chunks: Option<usize>,
}

fn main() -> anyhow::Result<ExitCode> {
    let args = Args::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    match args.chunks {
        Some(chunks) => runtime.block_on(speed(chunks)),
        None if args.fit => runtime.block_on(fitted(&args)),
        None => runtime.block_on(quality(&args)),
    }?;
    Ok(ExitCode::SUCCESS)
}

/// The knowledge base that the arguments ask for.
fn settings(args: &Args, folder: &Path, name: &str) -> KnowledgeSettings {
    let mut settings = KnowledgeSettings::embedded(folder.join(format!("{name}.db")));
    if let Some(url) = &args.embed {
        let roles = |typed: &[String]| match typed {
            [query, passage] => Roles { query: query.clone(), passage: passage.clone() },
            _ => Roles::default(),
        };
        settings.embedding = EmbeddingChoice::Openai(OpenAiChoice {
            base_url: url.clone(),
            model: args.model.clone(),
            dimensions: args.dimensions,
            prefix: roles(&args.prefix),
            input_type: roles(&args.input_type),
            ..OpenAiChoice::default()
        });
    }
    settings
}

async fn fitted(args: &Args) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let mut chosen = Vec::new();
    for set in FITTED_TO {
        let may = questions(set)?.into_iter().filter(|q| q.split == Split::Choose);
        chosen.push((set, may.collect()));
    }
    let of = |name: &str| settings(args, folder.path(), name);
    let told = fit::fit(of, &chosen, args.embed.is_some()).await?;
    write!(std::io::stdout().lock(), "{told}")?;
    Ok(())
}

async fn quality(args: &Args) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let knowledge = filled_by(settings(args, folder.path(), "knowledge"), AskedLines::All).await?;
    let questions = questions(args.set)?;
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{:<9}{:<8}{:>10}{:>10}{:>8}{:>16}{:>20}",
        "", "split", "questions", "recall@3", "nDCG@3", "refused wrongly", "refused rightly"
    )?;
    let modes = [
        ("keyword", Mode::Keyword),
        ("vector", Mode::Vector),
        ("nearest", Mode::Nearest),
        ("fused", Mode::Fused),
    ];
    for (name, mode) in modes {
        let answers = if args.everywhere {
            if mode != Mode::Fused {
                continue;
            }
            ask_everywhere(&knowledge, &questions).await?
        } else {
            ask(&knowledge, mode, &questions).await?
        };
        for (split, of) in
            [("all", None), ("choose", Some(Split::Choose)), ("hold", Some(Split::Hold))]
        {
            let q = Quality::of(&answers, |q| of.is_none_or(|of| q.split == of));
            if q.questions + q.without_answer == 0 {
                continue;
            }
            writeln!(
                out,
                "{name:<9}{split:<8}{:>10}{:>10.3}{:>8.3}{:>16}{:>14} of {:>2}",
                q.questions,
                q.recall,
                q.ndcg,
                q.refused_wrongly,
                q.refused_rightly,
                q.without_answer
            )?;
        }
        if args.misses && args.set != Set::Blind {
            show_misses(&mut out, &answers)?;
        }
    }
    Ok(())
}

fn show_misses(out: &mut impl Write, answers: &[RetrievalAnswer]) -> std::io::Result<()> {
    let may = answers.iter().filter(|answer| answer.question.split == Split::Choose);
    let is_missed = |answer: &&RetrievalAnswer| match answer.question.relevant.as_slice() {
        [] => !answer.found.is_empty(),
        _ => answer.ndcg() < 0.999,
    };
    for answer in may.filter(is_missed) {
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
    for question in questions(Set::Main)?.iter().cycle().take(300) {
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
        embedder: "local/4".to_owned(),
        chunk,
    }
}
