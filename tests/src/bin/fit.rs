//! `fit`: constants from recordings whose truth is known, and their results on a run left out.
//!
//! `cargo run --release -p pdm-tests --bin fit -- names --data DIR --data DIR` prints what stands
//! in `edge/dsp/src/diagnose/fitted.rs`; `alarms` chooses the alarms' constants, `life` those of
//! the remaining life. The figures of the folds stand in `docs/benchmark.md`.

use std::io::Write;
use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use pdm_tests::benchmark::fit::{Sample, constants, fit};
use pdm_tests::benchmark::folds::Measured;
use pdm_tests::benchmark::{alarms, folds, life};

/// Fit constants on recordings, with simulated records beside them
#[derive(Debug, Parser)]
struct Args {
    /// Which constants
    #[arg(value_enum, default_value_t = What::Names)]
    what: What,
    /// Folder with manifest.json and the recordings; may be given more than once
    #[arg(long, required = true)]
    data: Vec<PathBuf>,
}

/// The model that is fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// The naming rule, with simulated and adversary records beside the recordings.
    Names,
    /// The alarms' thresholds and holds, on runs to failure.
    Alarms,
    /// The model of the remaining life, on runs to failure and simulated lives.
    Life,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let text = match args.what {
        What::Names => names(&args.data)?,
        What::Alarms => alarms::report(&args.data)?,
        What::Life => life::report(&args.data)?,
    };
    Ok(write!(std::io::stdout().lock(), "{text}")?)
}

/// The constants of the naming rule, for whole recordings and for windows of a second.
fn names(data: &[PathBuf]) -> anyhow::Result<String> {
    let long = fitted("recordings", &folds::measured(data)?, &folds::generated()?);
    let short = fitted("windows", &folds::windows::measured(data)?, &folds::windows::generated()?);
    Ok(long + &short)
}

fn fitted(what: &str, measured: &[Measured], generated: &[Sample]) -> String {
    let samples: Vec<&Sample> = measured.iter().map(|one| &one.sample).chain(generated).collect();
    let head = format!("// {} {what}, {} generated records\n", measured.len(), generated.len());
    head + &constants(&fit(&samples))
}
