//! `pdm-edge analyze`: analyses recordings without state, one event for each recording.
//!
//! Arguments → jobs (a file with its options) → `measure` → one line of JSON, or a table and a
//! spectrum for a person. The error of a file is printed to standard error with its name, and the
//! other files are analysed; the exit code is that of the first error.

use std::path::PathBuf;

use pdm_service::exit::{Exit, Failure, exit_of};

use super::recording_options::{MachineArgs, RecordingArgs, usage};
use crate::plot;

mod list;
mod measure;
mod table;

use measure::Analysis;

/// Arguments of `analyze`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Recordings: WAV, CSV and other tables, Excel (.xlsx), NumPy, MATLAB, HDF5, Parquet, LabVIEW
    /// LVM and TDMS, universal files, JSON, IMS ASCII; also in gzip or zip; or a folder of
    /// captures, oldest first
    #[arg(value_name = "FILE|DIR", required_unless_present = "list")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    recording: RecordingArgs,
    /// Snapshot of a 3-D array, counted from 0 [default: the first]
    #[arg(long, value_name = "N", help_heading = "Recording")]
    snapshot: Option<u64>,
    #[command(flatten)]
    machine: MachineArgs,
    /// A sound recording of the same measuring point, read with the options of the recording: what
    /// stood in it is taken off, so that the verdict rests on what is new, and the speed that its
    /// shaft lines show is used where the recording shows none
    #[arg(long, value_name = "FILE", help_heading = "Recording")]
    baseline: Option<PathBuf>,
    /// Sampling rate of the baseline in Hz, where its file does not state it [default: --rate]
    #[arg(long, value_name = "HZ", requires = "baseline", help_heading = "Recording")]
    baseline_rate: Option<f64>,
    /// A table of recordings: a header with `file` and the names of these options (rate, rpm,
    /// bearing, orders, …), one row a recording; what a row leaves out comes from the command line
    #[arg(long, value_name = "CSV")]
    list: Option<PathBuf>,
    /// Print one event a line instead of a table
    #[arg(long)]
    json: bool,
    /// Write waveform, spectrum and envelope spectrum as PNG (one recording only)
    #[arg(long, value_name = "OUT.png")]
    plot: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Channels, snapshots and columns are counted from 0. A 2-D array is channel × sample, a 3-D array
snapshot × channel × sample. What was read is printed to standard error, and what is missing after \
it, so
`analyze FILE` alone says what a file holds. Counts of an
integer format (most .wav files) are no g: --scale says what one count is.

Examples:
  pdm-edge analyze motor.wav --scale 0.000305 --rpm 1480 --bearing 6205   (16 bits, full scale 10 g)
  pdm-edge analyze run.npy.gz --snapshot 700 --channel 1 --scale 0.001 --rate 25600 --rpm 1650 \\
      --orders 5.611,7.389,3.589,0.4316
  pdm-edge analyze InnerRaceFault.mat --variable bearing.gs --rpm 1500 --bearing NICE --plot out.png
  pdm-edge analyze today.wav --baseline new.wav --scale 0.000305 --rpm 1480 --bearing 6205
  pdm-edge analyze --list recordings.csv --json > events.jsonl
  pdm-edge analyze captures/ --json > events.jsonl

Exit codes: 0 done, 64 wrong option, 65 damaged file, 66 missing file, 74 reading failed.";

/// A recording and its options.
#[derive(Debug, Clone)]
struct Job {
    path: PathBuf,
    recording: RecordingArgs,
    snapshot: Option<u64>,
    machine: MachineArgs,
    baseline: Option<PathBuf>,
    baseline_rate: Option<f64>,
}

/// Runs the command.
///
/// # Errors
/// A wrong option or list. Errors of single files are printed and give the exit code.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let jobs = jobs(args)?;
    if args.plot.is_some() && jobs.len() > 1 {
        return Err(usage(format!("--plot takes one recording, got {}", jobs.len())));
    }
    let mut exit = Exit::Ok;
    for (index, job) in jobs.iter().enumerate() {
        if let Err(error) = one(args, job, index > 0) {
            if jobs.len() == 1 {
                return Err(error);
            }
            super::report(&error);
            if exit == Exit::Ok {
                exit = exit_of(&error);
            }
        }
    }
    Ok(exit)
}

fn one(args: &Args, job: &Job, is_later: bool) -> anyhow::Result<()> {
    let analysis = measure::measure(job)?;
    if let Some(input) = &analysis.input {
        measure::print_reading(&job.path, input);
    }
    for note in &analysis.notes {
        super::note(note);
    }
    let text = if args.json {
        serde_json::to_string(&analysis.event)? + "\n"
    } else {
        let gap = if is_later { "\n" } else { "" };
        format!("{gap}{}{}", table::table(&analysis), terminal_spectrum(&analysis))
    };
    super::print(&text)?;
    if let (Some(path), Some(picture)) = (&args.plot, analysis.picture()) {
        plot::write_png(path, &picture).map_err(|e| {
            let is_name = matches!(e, plot::PlotError::NotPng { .. });
            Failure::new(if is_name { Exit::Usage } else { Exit::Io }, e)
        })?;
    }
    Ok(())
}

fn terminal_spectrum(analysis: &Analysis) -> String {
    // 100 columns for a file or a pipe, which has no width
    let columns = console::Term::stdout().size_checked().map_or(100, |(_, width)| width.into());
    analysis.picture().map_or_else(String::new, |picture| {
        format!("\n{}", plot::terminal_spectrum(&picture, columns))
    })
}

fn jobs(args: &Args) -> anyhow::Result<Vec<Job>> {
    let given = |path: PathBuf| Job {
        path,
        recording: args.recording.clone(),
        snapshot: args.snapshot,
        machine: args.machine.clone(),
        baseline: args.baseline.clone(),
        baseline_rate: args.baseline_rate,
    };
    let mut jobs = Vec::new();
    for path in &args.files {
        if path.is_dir() {
            let captures = super::captured::captures(std::slice::from_ref(path))?;
            jobs.extend(captures.into_iter().map(|capture| given(capture.path)));
        } else {
            jobs.push(given(path.clone()));
        }
    }
    if let Some(path) = &args.list {
        jobs.extend(list::read_jobs(path, &given(PathBuf::new()))?);
    }
    Ok(jobs)
}
