//! `faults`: the fault suite with any seed, and its long form.
//!
//! `cargo run -p pdm-tests --bin faults -- --seed 7`; `--long` for the soak.

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use pdm_tests::faults::plan::{FaultStep, StoreKind};
use pdm_tests::faults::plant::Plant;
use pdm_tests::faults::{self, Options, Watcher};

/// Kill, cut, freeze and fill everything at random, and check that nothing was lost
#[derive(Debug, Parser)]
struct Args {
    /// Seed of the schedule; drawn and printed if left out
    #[arg(long)]
    seed: Option<u64>,
    /// At least 200 kills and 100,000 events instead of the short form
    #[arg(long)]
    long: bool,
    /// Processes to kill
    #[arg(long)]
    kills: Option<usize>,
    /// Events to make
    #[arg(long)]
    events: Option<u64>,
    /// Store of the agent
    #[arg(long, value_enum, default_value_t = StoreKind::Sqlite)]
    store: StoreKind,
}

/// Exit code of an interrupted run: that of shells for SIGINT.
const INTERRUPTED: u8 = 130;

/// A progress bar with the current step.
struct Bar(ProgressBar);

impl Watcher for Bar {
    fn step(&mut self, number: usize, of: usize, step: &FaultStep, plant: &Plant) {
        self.0.set_length(of as u64);
        self.0.set_position(number as u64);
        let text = format!("{}/{} events, {step}", plant.seen(), plant.expected());
        self.tell(&text);
    }

    fn healing(&mut self, left: &str) {
        self.0.set_position(self.0.length().unwrap_or(0));
        self.tell(&format!("healing: {left}"));
    }
}

impl Bar {
    fn tell(&self, text: &str) {
        if self.0.is_hidden() {
            line(text);
        } else {
            self.0.set_message(text.to_owned());
        }
    }
}

/// Prints a line for each step, where there is no terminal.
fn line(text: &str) {
    // a closed pipe does not stop the run
    let _gone = writeln!(std::io::stderr().lock(), "{text}");
}

/// SIGINT and SIGTERM end the run at the next check; processes, disks and files are removed.
fn stop_on_signal(stop: Arc<AtomicBool>) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let guard = runtime.enter();
    let signalled = pdm_service::shutdown::on_signal()?;
    drop(guard);
    std::thread::spawn(move || {
        runtime.block_on(signalled.cancelled());
        stop.store(true, Ordering::Release);
    });
    Ok(())
}

fn main() -> anyhow::Result<ExitCode> {
    let args = Args::parse();
    let seed = args.seed.unwrap_or_else(|| rand::random_range(0..1_000_000));
    let mut options =
        if args.long { Options::long(seed, args.store) } else { Options::short(seed, args.store) };
    options.kills = args.kills.unwrap_or(options.kills);
    options.events = args.events.unwrap_or(options.events);
    let stop = Arc::clone(&options.stop);
    stop_on_signal(Arc::clone(&stop))?;
    let bar = ProgressBar::new(1);
    bar.set_style(ProgressStyle::with_template("{elapsed} {wide_bar} {pos}/{len}\n{wide_msg}")?);
    let report = faults::run("faults", &options, &mut Bar(bar.clone()));
    bar.finish_and_clear();
    if stop.load(Ordering::Acquire) {
        line("interrupted: nothing was judged");
        return Ok(ExitCode::from(INTERRUPTED));
    }
    let report = report?;
    let Some(report) = report else { return Ok(ExitCode::from(69)) };
    writeln!(std::io::stdout().lock(), "{report}")?;
    Ok(if report.verdict().is_well() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
