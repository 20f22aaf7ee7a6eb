//! `judgements`: reads diagnoses as a person does, prints each kind once and every contradiction.
//!
//! `pdm-agent judge run.jsonl --jsonl --json | cargo run -p pdm-tests --bin judgements -- -`. Exit
//! code 1 if a judgement contradicts itself. With `--events run.jsonl` each judgement is held
//! against its event, too.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::event::Event;
use pdm_tests::judgements::{against_the_event, contradictions};

/// Print judgements and what contradicts itself in them
#[derive(Debug, Parser)]
struct Args {
    /// Diagnoses (pdm.diagnosis/1), one a line; - for standard input
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The events (pdm.event/1) that were judged, one a line: found by their identity
    #[arg(long)]
    events: Vec<PathBuf>,
}

fn main() -> anyhow::Result<ExitCode> {
    let args = Args::parse();
    let events = events(&args.events)?;
    let mut kinds: BTreeMap<String, (u64, Diagnosis)> = BTreeMap::new();
    let (mut read, mut broken) = (0_u64, 0_u64);
    let mut out = std::io::stdout().lock();
    for path in &args.files {
        for (number, line) in (1..).zip(lines(path)?) {
            let place = format!("{}, line {number}", path.display());
            let diagnosis: Diagnosis =
                serde_json::from_str(&line?).with_context(|| format!("{place}: no diagnosis"))?;
            read += 1;
            let beside = events.get(&diagnosis.event_id.to_string());
            let beside = beside.map(|event| against_the_event(&diagnosis, event));
            for found in contradictions(&diagnosis).into_iter().chain(beside.unwrap_or_default()) {
                broken += 1;
                writeln!(out, "{place}: {}: {}", found.rule, found.text)?;
            }
            let kind = format!(
                "{} {} {:?} {}",
                diagnosis.risk_level,
                diagnosis.fault_stage,
                diagnosis.fault_type,
                diagnosis.recommendation.en
            );
            kinds.entry(kind).and_modify(|one| one.0 += 1).or_insert((1, diagnosis));
        }
    }
    for (times, diagnosis) in kinds.values() {
        print(&mut out, *times, diagnosis)?;
    }
    writeln!(out, "{read} judgements of {} kinds, {broken} contradictions", kinds.len())?;
    Ok(if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Events by their identity.
fn events(files: &[PathBuf]) -> anyhow::Result<BTreeMap<String, Event>> {
    let mut all = BTreeMap::new();
    for path in files {
        for (number, line) in (1..).zip(lines(path)?) {
            let place = format!("{}, line {number}", path.display());
            let event: Event =
                serde_json::from_str(&line?).with_context(|| format!("{place}: no event"))?;
            all.insert(event.event_id.to_string(), event);
        }
    }
    Ok(all)
}

fn lines(path: &Path) -> anyhow::Result<Box<dyn Iterator<Item = std::io::Result<String>>>> {
    if path == Path::new("-") {
        return Ok(Box::new(std::io::stdin().lines()));
    }
    let file = std::fs::File::open(path).with_context(|| path.display().to_string())?;
    Ok(Box::new(std::io::BufReader::new(file).lines()))
}

fn print(out: &mut impl Write, times: u64, diagnosis: &Diagnosis) -> std::io::Result<()> {
    writeln!(out, "\n{times} × {} stage {}", diagnosis.risk_level, diagnosis.fault_stage)?;
    for thought in &diagnosis.thoughts {
        writeln!(out, "  {}\n  {}", thought.conclusion.en, thought.conclusion.ko)?;
    }
    writeln!(out, "  → {}\n  → {}", diagnosis.recommendation.en, diagnosis.recommendation.ko)?;
    writeln!(out, "  {}\n  {}", diagnosis.memory.summary.en, diagnosis.memory.summary.ko)
}
