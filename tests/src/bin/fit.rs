//! `fit`: the constants of the naming rule, from recordings whose truth is known.
//!
//! `cargo run --release -p pdm-tests --bin fit -- --data DIR --data DIR` prints what stands in
//! `edge/dsp/src/diagnose/fitted.rs`. The figures of the fold stand in `docs/benchmark.md`.

use std::io::Write;
use std::path::PathBuf;

use clap::Parser;
use pdm_tests::benchmark::fit::{Sample, constants, fit};
use pdm_tests::benchmark::folds;

/// Fit the naming rule on recordings, with simulated and adversary records beside them
#[derive(Debug, Parser)]
struct Args {
    /// Folder with manifest.json and the recordings; may be given more than once
    #[arg(long, required = true)]
    data: Vec<PathBuf>,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let measured = folds::measured(&args.data)?;
    let generated = folds::generated()?;
    let samples: Vec<&Sample> = measured.iter().map(|one| &one.sample).chain(&generated).collect();
    let rule = fit(&samples);
    let mut out = std::io::stdout().lock();
    writeln!(out, "// {} recordings, {} generated records", measured.len(), generated.len())?;
    Ok(write!(out, "{}", constants(&rule))?)
}
