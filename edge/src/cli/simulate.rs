//! `pdm-edge simulate`: writes a simulated machine as a recording.
//!
//! Samples are in g as 32-bit floats. The file is written under another name and renamed at the
//! end, so an unfinished file never has the name of the recording.

use std::path::PathBuf;

use clap::ValueEnum;
use pdm_service::exit::{Exit, Failure};
use pdm_shared::fault::Fault;
use pdm_shared::units::{Rpm, SampleRate};

use super::recording_options::{MachineArgs, usage};
use crate::source::Source;
use crate::source::simulator::{Course, Simulator, SimulatorSettings};

mod write;

/// Arguments of `simulate`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// The part that fails
    #[arg(long, value_enum, default_value_t = FaultName::Outer)]
    fault: FaultName,
    /// Bearing of the catalogue (see `pdm-edge bearings`)
    #[arg(long, value_name = "ID", conflicts_with = "orders", required_unless_present = "orders")]
    bearing: Option<String>,
    /// The four defect frequencies as multiples of the shaft speed; BSF is the spin frequency (1×)
    #[arg(long, value_name = "BPFO,BPFI,BSF,FTF")]
    orders: Option<String>,
    /// Shaft speed in revolutions per minute
    #[arg(long, value_name = "RPM")]
    rpm: f64,
    /// Sampling rate in Hz
    #[arg(long, value_name = "HZ", default_value_t = 25_600.0)]
    rate: f64,
    /// Number of snapshots
    #[arg(long, value_name = "N", default_value_t = 1)]
    snapshots: u64,
    /// Length of a snapshot in seconds
    #[arg(long, value_name = "T", default_value_t = 1.0)]
    snapshot_s: f64,
    /// Seconds from one snapshot to the next. The damage grows with the number of snapshots, not
    /// with this time; use the same figure to replay the recording
    #[arg(long, value_name = "S", default_value_t = 60.0)]
    period: f64,
    /// Number of sensors
    #[arg(long, value_name = "N", default_value_t = 1)]
    channels: usize,
    /// Seed of the random parts; the same seed gives the same samples
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Damage in every snapshot: 0 healthy … 1 about to fail
    #[arg(long, value_name = "X", default_value_t = 0.3, conflicts_with = "run_to_failure")]
    severity: f64,
    /// Healthy at first, then growing damage to the last snapshot
    #[arg(long)]
    run_to_failure: bool,
    /// A fixed electrical tone: its frequency in Hz and its RMS in g
    #[arg(long, value_name = "HZ,G")]
    tone: Option<String>,
    /// The file: .npy, .npy.gz (channel × sample, or snapshot × channel × sample), .wav or .csv
    /// (one snapshot)
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

const AFTER_HELP: &str = "\
Examples:
  pdm-edge simulate --fault inner --bearing 6205 --rpm 1797 --severity 0.2 --out inner.wav
  pdm-edge simulate --fault outer --bearing 6205 --rpm 1797 --run-to-failure --snapshots 300 \\
      --seed 7 --out run.npy
  pdm-edge replay run.npy --rate 25600 --period 60 --rpm 1797 --bearing 6205 --jsonl

Exit codes: 0 written, 64 wrong option, 74 the file cannot be written.";

/// The value of `--fault`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FaultName {
    /// Outer race
    Outer,
    /// Inner race
    Inner,
    /// Ball or roller
    Ball,
    /// Cage
    Cage,
    /// Nothing: a healthy bearing
    None,
}

impl FaultName {
    const fn fault(self) -> Option<Fault> {
        match self {
            Self::Outer => Some(Fault::OuterRace),
            Self::Inner => Some(Fault::InnerRace),
            Self::Ball => Some(Fault::Ball),
            Self::Cage => Some(Fault::Cage),
            Self::None => None,
        }
    }
}

/// Runs the command.
///
/// # Errors
/// A wrong option (64) or a file that cannot be written (74).
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let form = write::FileFormat::of(&args.out, args.snapshots).map_err(usage)?;
    let settings = settings(args)?;
    let mut source = Simulator::new(settings).map_err(usage)?;
    write::write(&args.out, form, &mut source, args.snapshots)
        .map_err(|e| Failure::new(Exit::Io, e.context(args.out.display().to_string())))?;
    let format = source.format();
    super::print(&format!(
        "{}: {} × {} × {} samples (snapshot × channel × sample) in g at {}\n",
        args.out.display(),
        args.snapshots,
        format.channels,
        format.block_samples.unwrap_or(0),
        format.sample_rate
    ))?;
    Ok(Exit::Ok)
}

fn settings(args: &Args) -> anyhow::Result<SimulatorSettings> {
    let named = |option: &str, e: &dyn std::fmt::Display| usage(format!("{option}: {e}"));
    let machine = MachineArgs {
        bearing: args.bearing.clone(),
        orders: args.orders.clone(),
        ..MachineArgs::default()
    };
    let rate = SampleRate::new(args.rate).map_err(|e| named("--rate", &e))?;
    let speed = Rpm::new(args.rpm).map_err(|e| named("--rpm", &e))?;
    let mut settings = SimulatorSettings::new(rate, speed, machine.defect_orders()?);
    settings.fault = args.fault.fault();
    settings.course = if args.run_to_failure {
        Course::run_to_failure()
    } else {
        Course::Constant { severity: args.severity }
    };
    settings.snapshots = args.snapshots;
    settings.snapshot_s = args.snapshot_s;
    settings.period_s = args.period;
    settings.channels = args.channels;
    settings.seed = args.seed;
    settings.rig.tone = args.tone.as_deref().map(tone).transpose()?;
    Ok(settings)
}

/// A tone: frequency and RMS.
fn tone(text: &str) -> anyhow::Result<(f64, f64)> {
    let numbers: Vec<f64> = text.split(',').filter_map(|part| part.trim().parse().ok()).collect();
    match *numbers.as_slice() {
        [frequency_hz, rms_g] => Ok((frequency_hz, rms_g)),
        _ => Err(usage(format!("--tone {text:?}: allowed are two numbers HZ,G"))),
    }
}
