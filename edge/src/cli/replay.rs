//! `pdm-edge replay`: runs snapshots through the whole stateful pipeline and writes the events to
//! standard output or to the broker of a configuration.

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pdm_service::clock::{Clock as _, SystemClock};
use pdm_service::exit::{Exit, Failure};
use pdm_service::telemetry::LogFormat;
use pdm_service::{shutdown, telemetry};
use pdm_shared::event::Event;
use pdm_shared::id::{BearingId, EquipmentId, MeasuringPoint};
use pdm_shared::time::Timestamp;

use super::captured::has_captures;
use super::recording_options::{Machine, MachineArgs, RecordingArgs, usage};
use super::run::{runtime, started};
use crate::pipeline::{Edge, OfflineError, measure_all};
use crate::settings::{self, EdgeSettings, Pace, PointSettings, SourceSettings, Timing};
use crate::source::{Interpretation, RecordingOptions, SourceInput, open_sequence};

mod captures;
mod summary;

use summary::Summary;

/// Arguments of `replay`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Recordings in the order of time, or folders of snapshots, sorted by name; or captures and
    /// folders of captures, whose documents state time, rate, unit, speed and bearing
    #[arg(value_name = "FILE|DIR", required = true)]
    files: Vec<PathBuf>,
    /// Seconds from the beginning of one snapshot to that of the next; not of captures, which state
    /// their times
    #[arg(long, value_name = "S")]
    period: Option<f64>,
    /// max, or a multiple of the speed of recording such as 1x or 60x
    #[arg(long, value_name = "max|1x|60x", default_value = "max", value_parser = pace)]
    speed: Pace,
    /// When the first snapshot was taken, RFC 3339 [default: so that the last one is taken now]
    #[arg(long, value_name = "TIME", value_parser = time)]
    start: Option<Timestamp>,
    /// Print one event a line
    #[arg(long)]
    jsonl: bool,
    /// Publish as this configuration says (broker, spool, gateway, site) instead of printing
    #[arg(long, value_name = "FILE", conflicts_with = "jsonl")]
    config: Option<PathBuf>,
    /// Machine that the events name
    #[arg(long, value_name = "NAME", default_value = "replay")]
    equipment: EquipmentId,
    /// Bearing that the events name
    #[arg(long, value_name = "NAME", default_value = "bearing")]
    bearing_name: BearingId,
    #[command(flatten)]
    recording: RecordingArgs,
    #[command(flatten)]
    machine: MachineArgs,
}

const AFTER_HELP: &str = "\
Every snapshot gives one event for each channel, unless --channel picks one.

Examples:
  pdm-edge replay run.npy.gz --period 10 --scale 0.001 --rate 25600 --rpm 1800 \\
      --orders 5.611,7.389,3.589,0.4316 --jsonl > events.jsonl
  pdm-edge replay snapshots/ --period 600 --rate 20000 --rpm 2000 --bearing ZA-2115
  pdm-edge replay run.npy.gz --period 10 --speed 60x … --config config/edge.toml
  pdm-edge replay captures/ --jsonl > events.jsonl

Exit codes: 0 done, 64 wrong option, 65 damaged file, 66 missing file, 74 reading or writing failed,
78 configuration.";

fn pace(text: &str) -> Result<Pace, String> {
    if text == "max" {
        return Ok(Pace::AsFastAsItGoes);
    }
    match text.strip_suffix('x').unwrap_or(text).parse::<f64>() {
        Ok(times) if times.is_finite() && times > 0.0 => Ok(Pace::Times(times)),
        _ => Err("allowed are max or a factor above 0 such as 1x or 60x".to_owned()),
    }
}

fn time(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text).map_err(|error| error.to_string())
}

/// Runs the command.
///
/// # Errors
/// A [`Failure`] with the exit code of what went wrong.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    if has_captures(&args.files) {
        telemetry::start(LogFormat::Text, "warn");
        return captures::replay(args);
    }
    let source = source(args)?;
    match &args.config {
        None => {
            // what is set aside is said on the error output
            telemetry::start(LogFormat::Text, "warn");
            print_events(args, source)
        }
        Some(config) => {
            let (mut settings, log) = settings::read_settings(config)
                .map_err(|error| Failure::new(Exit::Config, error))?;
            telemetry::start(log.format, &log.filter);
            settings.sources = vec![source];
            settings.admin = None;
            runtime()?.block_on(publish(settings))
        }
    }
}

/// The recording as a source with one point a channel.
fn source(args: &Args) -> anyhow::Result<SourceSettings> {
    let period = args.period.ok_or_else(|| {
        usage(
            "--period is missing: the seconds from one snapshot to the next (captures alone \
            state their times)",
        )
    })?;
    if !(period.is_finite() && period > 0.0) {
        return Err(usage(format!("--period is {period}, allowed is above 0 s")));
    }
    let machine = args.machine.machine()?;
    let options = RecordingOptions {
        started_at: args.start,
        period_s: Some(period),
        ..args.recording.options()?
    };
    // opened once here to learn the number of channels; the pipeline opens it again
    let opened =
        open_sequence(&args.files, &options).map_err(|error| Failure::new(error.exit(), error))?;
    let channels = opened.format().channels;
    if let Some(input) = opened.interpretation() {
        // the events are dated by --period, whatever the files state
        let mut input = Interpretation::clone(input);
        input.notes.retain(|note| !note.starts_with("dated by "));
        super::note(&input.to_string());
    }
    let expected = opened.expected_blocks().filter(|_| args.speed == Pace::AsFastAsItGoes);
    drop(opened);
    // the last snapshot is taken now
    let start = args.start.or_else(|| {
        let before = expected?.saturating_sub(1) as f64;
        Some(SystemClock.now().plus_seconds(-period * before))
    });
    let options = RecordingOptions { started_at: start, ..options };
    let points = (0..channels)
        .map(|row| point(args, &machine, row))
        .collect::<Result<_, pdm_shared::id::NameError>>()
        .map_err(usage)?;
    // a new name for each replay, so that no position of an earlier one is continued
    let name = format!("replay-{}", SystemClock.now().unix_ms());
    let timing = Timing { started_at: start, period_s: Some(period) };
    Ok(SourceSettings {
        name,
        input: SourceInput::Recording { files: args.files.clone(), options: Box::new(options) },
        pace: args.speed,
        timing,
        points,
        window: None,
        every: None,
        tachometer: None,
        speed_tag: None,
    })
}

fn point(
    args: &Args,
    machine: &Machine,
    row: usize,
) -> Result<PointSettings, pdm_shared::id::NameError> {
    // a channel that was selected is the only row of the source
    let channel = args.recording.channel.unwrap_or(row);
    let place = MeasuringPoint::new(format!("channel-{channel}"))?;
    let bearing = (args.equipment.clone(), args.bearing_name.clone(), Some(place));
    Ok(PointSettings { channel: row, ..PointSettings::of_machine(machine, bearing) })
}

fn bar(hidden: bool) -> ProgressBar {
    let target = if hidden { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(None, target);
    // the template is a constant that indicatif accepts
    if let Ok(style) =
        ProgressStyle::with_template("{bar:40} {pos}/{len} events, {per_sec}, {eta} left")
    {
        bar.set_style(style);
    }
    bar
}

/// Measures without broker and spool: prints one event a line, or a summary.
fn print_events(args: &Args, source: SourceSettings) -> anyhow::Result<Exit> {
    let points = source.points.len() as u64;
    let place = ["replay".parse()?, "local".parse()?].map(|name: MeasuringPoint| name.to_string());
    let [gateway, site] = place;
    let settings = EdgeSettings::embedded(gateway.parse()?, site.parse()?, "", 0, "", vec![source]);
    let bar = bar(args.jsonl && std::io::stdout().is_terminal());
    let mut summary = Summary::default();
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut each = |event: &Event, expected_blocks: Option<u64>| -> std::io::Result<()> {
        if let Some(blocks) = expected_blocks {
            bar.set_length(blocks * points);
        }
        bar.inc(1);
        summary.take(event);
        if args.jsonl {
            serde_json::to_writer(&mut out, event)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    };
    let outcome = measure_all(&settings, Arc::new(SystemClock), &mut each);
    bar.finish_and_clear();
    match outcome.and_then(|()| out.flush().map_err(OfflineError::Output)) {
        Ok(()) => {}
        // the reader of the pipe has closed it
        Err(OfflineError::Output(e)) if e.kind() == std::io::ErrorKind::BrokenPipe => {}
        Err(OfflineError::Start(error)) => return Err(started(error).into()),
        Err(OfflineError::Source(error)) => {
            return Err(Failure::new(error.exit(), error).into());
        }
        Err(error @ (OfflineError::Output(_) | OfflineError::Thread(_))) => {
            return Err(Failure::new(Exit::Io, error).into());
        }
    }
    drop(out);
    if !args.jsonl {
        super::print(&summary.to_string())?;
    }
    Ok(Exit::Ok)
}

/// Measures and publishes as the service does, until the broker has every event or a signal comes.
async fn publish(settings: EdgeSettings) -> anyhow::Result<Exit> {
    let points: u64 = settings.sources.iter().map(|source| source.points.len() as u64).sum();
    let stop = shutdown::on_signal()?;
    let edge = Edge::start(settings, Arc::new(SystemClock)).await.map_err(started)?;
    let bar = bar(false);
    let mut progress = edge.progress();
    let show = async {
        while progress.changed().await.is_ok() {
            let now = *progress.borrow_and_update();
            if let Some(blocks) = now.expected_blocks {
                bar.set_length(blocks * points);
            }
            bar.set_position(now.acknowledged);
        }
    };
    tokio::select! {
        () = stop.cancelled() => {}
        () = edge.drained() => {}
        () = show => {}
    }
    let done = edge.stop().await.map_err(|error| Failure::new(Exit::Software, error))?;
    bar.finish_and_clear();
    super::print(&format!(
        "events: {} measured, {} spooled, {} acknowledged, {} waiting\n",
        done.measured, done.spooled, done.acknowledged, done.waiting
    ))?;
    Ok(Exit::Ok)
}
