//! `benchmark`: the edge's findings in recordings whose truth is known, failures first.
//!
//! `cargo run --release -p pdm-tests --bin benchmark -- --data DIR`

use std::io::Write;
use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use pdm_tests::benchmark::fit::{Sample, constants, fit};
use pdm_tests::benchmark::folds::{self, Fold};
use pdm_tests::benchmark::report::DiagnosisReport;
use pdm_tests::benchmark::{diagnosis, episodes, plant, runs, speeds, wander};

/// Run the edge over recordings and simulated records, and score it
#[derive(Debug, Parser)]
struct Args {
    /// Folder with manifest.json and the recordings; may be given more than once
    #[arg(long, env = "PDM_DATA_DIR", default_value = "../shared/data")]
    data: Vec<PathBuf>,
    /// Judge each rig or bearing by a rule fitted without it, and nothing else; may be given twice.
    /// With --only speeds: each rig
    #[arg(long, value_enum)]
    leave_out: Vec<Fold>,
    /// With --leave-out: judge windows of a second in place of whole recordings
    #[arg(long)]
    windows: bool,
    /// With --only learnt-speed: the stated speed as a multiple of the right one; may be given more
    /// than once
    #[arg(long, default_values_t = [0.95, 0.97, 1.00, 1.03, 1.05])]
    stated: Vec<f64>,
    /// Simulated records to add
    #[arg(long, default_value_t = 200)]
    simulated: u64,
    /// First seed of the simulated records
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Sound machines that look damaged to add
    #[arg(long, default_value_t = 380)]
    adversaries: u64,
    /// First seed of the sound machines that look damaged
    #[arg(long, default_value_t = 0)]
    first_seed: u64,
    /// Simulated lives to add to the runs to failure
    #[arg(long, default_value_t = 200)]
    lives: u64,
    /// Machines of the simulated plant
    #[arg(long, default_value_t = 200)]
    machines: u64,
    /// How many of them are watched: of 200 the bearings of the first 80 fail
    #[arg(long, default_value_t = u64::MAX)]
    watched: u64,
    /// First seed of the simulated plant's machines
    #[arg(long, default_value_t = 0)]
    first_machine: u64,
    /// Sound machines whose levels wander
    #[arg(long, default_value_t = 200)]
    wandering: u64,
    /// Leave the other parts out
    #[arg(long, value_enum)]
    only: Option<Part>,
    /// JSON instead of Markdown
    #[arg(long)]
    json: bool,
}

/// The parts of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Named faults in recordings.
    Diagnosis,
    /// Names where the stated speed is off, and against a sound record of the same point: by
    /// themselves alone.
    Speeds,
    /// Names where the stated speed is off and the speed is learnt from a sound record; with
    /// --leave-out rig.
    LearntSpeed,
    /// Alarms and remaining lives of runs to failure.
    Runs,
    /// Alarms of a simulated plant.
    Plant,
    /// Alarms of sound machines whose levels wander for seven weeks.
    Wander,
    /// What staff is told of recorded runs to failure; needs the program pdm-edge.
    Episodes,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    if args.only == Some(Part::Speeds) {
        return print_speeds(&args);
    }
    if args.only == Some(Part::LearntSpeed) {
        return print_learnt_speeds(&args);
    }
    if !args.leave_out.is_empty() {
        return print_folds(&args);
    }
    let wants = |part| args.only.is_none_or(|only| only == part);
    let scored = if wants(Part::Diagnosis) {
        let mut scored = Vec::new();
        for folder in &args.data {
            scored.extend(diagnosis::recordings(folder)?);
        }
        scored.extend(diagnosis::simulated(args.seed, args.simulated)?);
        scored.extend(diagnosis::adversaries(args.first_seed, args.adversaries)?);
        Some(scored)
    } else {
        None
    };
    let report = scored.as_deref().map(DiagnosisReport::new);
    let runs = wants(Part::Runs).then(|| runs::evaluate(&args.data, args.lives)).transpose()?;
    let plant = wants(Part::Plant)
        .then(|| plant::evaluate(args.first_machine, args.machines, args.watched));
    let wander = wants(Part::Wander).then(|| wander::evaluate(args.wandering));
    let told = wants(Part::Episodes).then(|| told(&args)).transpose()?;
    let mut out = std::io::stdout().lock();
    if args.json {
        let document = serde_json::json!({
            "diagnosis": report, "records": scored, "runs": runs, "plant": plant,
            "wander": wander, "episodes": told,
        });
        serde_json::to_writer_pretty(&mut out, &document)?;
        return Ok(writeln!(out)?);
    }
    writeln!(out, "# Benchmark\n")?;
    if let Some(report) = report {
        writeln!(out, "{report}")?;
    }
    if let Some(runs) = runs {
        writeln!(out, "{}", runs.markdown())?;
    }
    if let Some(plant) = plant {
        writeln!(out, "{}", plant.markdown())?;
    }
    if let Some(wander) = wander {
        writeln!(out, "{}", wander.markdown())?;
    }
    if let Some(told) = told {
        writeln!(out, "{}", episodes::markdown(&told))?;
    }
    Ok(())
}

fn print_speeds(args: &Args) -> anyhow::Result<()> {
    let tallies = match args.leave_out.as_slice() {
        [] if args.windows => anyhow::bail!("--windows needs --leave-out rig"),
        [] => speeds::evaluate(&args.data)?,
        [Fold::Rig] => folds::asked::tallies(&args.data, args.windows)?,
        _ => anyhow::bail!("--only speeds leaves out rigs alone: --leave-out rig"),
    };
    let mut out = std::io::stdout().lock();
    if args.json {
        return Ok(writeln!(out, "{}", serde_json::json!({ "speeds": tallies }))?);
    }
    Ok(writeln!(out, "# Benchmark\n\n{}", speeds::markdown(&tallies))?)
}

fn print_learnt_speeds(args: &Args) -> anyhow::Result<()> {
    if args.leave_out.as_slice() != [Fold::Rig] || args.windows {
        anyhow::bail!("--only learnt-speed judges recordings and needs --leave-out rig");
    }
    let tallies = folds::asked::learnt_speeds(&args.data, &args.stated)?;
    let mut out = std::io::stdout().lock();
    if args.json {
        return Ok(writeln!(out, "{}", serde_json::json!({ "learnt_speeds": tallies }))?);
    }
    Ok(writeln!(out, "# Benchmark\n\n{}", speeds::markdown(&tallies))?)
}

/// Returns the messages that staff gets of the recorded runs.
fn told(args: &Args) -> anyhow::Result<Vec<episodes::ToldRun>> {
    let edge = episodes::edge_beside()?;
    let folders = args.data.iter().map(|folder| folder.join("femto"));
    let runs = folders.map(|folder| episodes::femto(&folder, &edge));
    Ok(runs.collect::<anyhow::Result<Vec<_>>>()?.concat())
}

/// Names on what the rule has not seen, one report for each fold.
fn print_folds(args: &Args) -> anyhow::Result<()> {
    let (measured, generated) = if args.windows {
        (folds::windows::measured(&args.data)?, folds::windows::generated()?)
    } else {
        (folds::measured(&args.data)?, folds::generated()?)
    };
    let mut out = std::io::stdout().lock();
    for fold in &args.leave_out {
        let scored = folds::judged(&measured, &generated, *fold);
        let report = DiagnosisReport::new(&scored);
        if args.json {
            let document = serde_json::json!({ "diagnosis": report, "records": scored });
            writeln!(out, "{document}")?;
        } else {
            writeln!(out, "# Leave one {} out\n\n{report}", fold.name())?;
        }
    }
    if !args.json {
        let all: Vec<&Sample> = measured.iter().map(|one| &one.sample).chain(&generated).collect();
        writeln!(out, "# Fitted on everything\n\n{}", constants(&fit(&all)))?;
    }
    Ok(())
}
