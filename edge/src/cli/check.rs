//! `pdm-edge check`: checks the configuration, the sources, the spool, the secrets and the brokers.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pdm_service::clock::{SharedClock, SystemClock};
use pdm_service::error_chain::error_chain;
use pdm_service::exit::Exit;
use pdm_service::files::writable_folder;

use super::Failure;
use super::run::{runtime, spool_exit};
use crate::capture::{CaptureSettings, UploadError, UploadRefused};
use crate::catalogue::Estimate;
use crate::publish;
use crate::settings::{self, EdgeSettings, Pace, PointSettings, SourceSettings};
use crate::source::{Source, SourceHost, SourceInput};
use crate::spool::{Spool, SpoolError};
use live::LiveLook;
use tag::TagLook;

mod live;
mod secrets;
mod tag;

/// Arguments of `check`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 0 no failure, 78 configuration, 69 broker unreachable or refusing, \
                        66/65/74 source or spool.

All live sources together are given --wait seconds for their first block. What fails says why: an \
address that does not answer, a connection over which nothing comes, a listener whose sender is \
away (69), or data that comes and is refused, with the reason (65). For a sensor that sends every \
ten minutes: --wait 700. A source that listens is 'in use' while the service runs: stop the \
service to check it.

Examples:
  pdm-edge check --config config/edge.toml
  pdm-edge check --config config/edge.toml --wait 700"
)]
pub struct Args {
    /// Configuration file
    #[arg(long, value_name = "FILE", env = "PDM_EDGE_CONFIG")]
    pub config: PathBuf,
    /// Longest time until the first block of a live source: longer than the pause of a sensor that
    /// sends rarely
    #[arg(long, value_name = "SECONDS", default_value_t = 5,
          value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub wait: u64,
}

/// One line of the table.
#[derive(Debug)]
struct Finding {
    what: String,
    outcome: Result<String, (Exit, String)>,
}

impl Finding {
    fn good(what: impl Into<String>, text: impl Into<String>) -> Self {
        Self { what: what.into(), outcome: Ok(text.into()) }
    }

    fn bad(what: impl Into<String>, exit: Exit, error: &(dyn std::error::Error + 'static)) -> Self {
        Self { what: what.into(), outcome: Err((exit, error_chain(error))) }
    }
}

/// Runs the command. Everything is checked; the first failure gives the exit code.
///
/// # Errors
/// A [`Failure`] with 78 if the configuration cannot be read.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let (settings, _log) =
        settings::read_settings(&args.config).map_err(|error| Failure::new(Exit::Config, error))?;
    let mut findings = vec![Finding::good("configuration", args.config.display().to_string())];
    findings.extend(sources(&settings, Duration::from_secs(args.wait)));
    let runtime = runtime()?;
    findings.push(runtime.block_on(spool(&settings)));
    findings.extend(settings.capture.as_ref().map(|capture| captures(capture, &settings)));
    findings.extend(runtime.block_on(upload(&settings)));
    findings.extend(secrets::findings(&settings));
    findings.extend(runtime.block_on(brokers(&settings)));
    print(&findings)?;
    Ok(findings.iter().find_map(|finding| finding.outcome.as_ref().err()).map_or(Exit::Ok, |e| e.0))
}

fn print(findings: &[Finding]) -> std::io::Result<()> {
    let width = findings.iter().map(|finding| finding.what.chars().count()).max().unwrap_or(0);
    let mut out = pdm_service::command_line::stdout();
    for Finding { what, outcome } in findings {
        let (mark, text) = match outcome {
            Ok(text) => ("ok  ", text),
            Err((_, text)) => ("FAIL", text),
        };
        writeln!(out, "{mark}  {what:width$}  {text}")?;
    }
    out.flush()
}

/// A source that is looked at: its finding, or what its first block has still to tell.
enum SourceLook<'a> {
    Known(Finding),
    Live(Box<LiveLook<'a>>),
    Tag(TagLook),
}

/// Looks at all sources. The live ones are awaited together, so that `wait` passes once.
fn sources(settings: &EdgeSettings, wait: Duration) -> Vec<Finding> {
    let clock: SharedClock = Arc::new(SystemClock);
    if settings.sources.is_empty() {
        return vec![Finding::good("sources", "none: only what waits in the spool is sent")];
    }
    let mut looks = Vec::new();
    for source in &settings.sources {
        let what = format!("source {}", source.name);
        let estimates = source.points.iter().filter_map(|point| estimated(&what, point));
        looks.extend(estimates.map(SourceLook::Known));
        looks.push(source_look(what, source, &clock, wait));
        let tag = source.speed_tag.as_ref();
        looks.extend(tag.map(|tag| SourceLook::Tag(TagLook::begin(&source.name, tag, wait))));
    }
    let finding = |look| match look {
        SourceLook::Known(finding) => finding,
        SourceLook::Live(look) => look.finding(),
        SourceLook::Tag(look) => look.finding(),
    };
    looks.into_iter().map(finding).collect()
}

/// Opens a source.
fn source_look<'a>(
    what: String,
    source: &'a SourceSettings,
    clock: &SharedClock,
    wait: Duration,
) -> SourceLook<'a> {
    if let Some(text) = empty_folders(&source.input) {
        return SourceLook::Known(Finding::good(what, text));
    }
    let host = SourceHost::alone(SharedClock::clone(clock), source.name.clone());
    let opened = match source.input.for_a_look(wait).open_at(&host) {
        Ok(opened) => opened,
        Err(error) => {
            let exit = if error.exit() == Exit::Usage { Exit::Config } else { error.exit() };
            return SourceLook::Known(Finding::bad(what, exit, &error));
        }
    };
    if source.pace == Pace::Live {
        return SourceLook::Live(Box::new(LiveLook::begin(what, opened, source, host, wait)));
    }
    SourceLook::Known(recorded(what, opened.as_ref(), source))
}

/// Returns the finding on a recording.
fn recorded(what: String, opened: &dyn Source, source: &SourceSettings) -> Finding {
    let format = opened.format();
    let wanted = source.points.iter().map(|point| point.channel).max().unwrap_or(0);
    if wanted >= format.channels {
        let text = format!("channel {wanted} is measured, but the source has {}", format.channels);
        return Finding { what, outcome: Err((Exit::Config, text)) };
    }
    let blocks = opened.expected_blocks().map_or_else(String::new, |b| format!(", {b} blocks"));
    let read = opened.interpretation().map_or_else(
        || {
            let noun = if format.channels == 1 { "channel" } else { "channels" };
            format!("{} {noun} at {}", format.channels, format.sample_rate)
        },
        ToString::to_string,
    );
    Finding::good(what, format!("{read}{blocks}"))
}

/// Returns the finding on a bearing whose defect orders are an estimate.
fn estimated(source: &str, point: &PointSettings) -> Option<Finding> {
    let Estimate { bearing, order_tolerance } = point.estimate.as_ref()?;
    let text = format!(
        "the defect orders of {bearing} are estimated from its boundary dimensions, to {:.0} %: \
         names of its parts are rarer and never surer than 0.8; `orders` of the maker's calculator \
         are better",
        100.0 * order_tolerance
    );
    Some(Finding::good(format!("{source}, bearing {}", point.bearing), text))
}

/// Returns the text on watched folders that are there and hold nothing yet.
fn empty_folders(input: &SourceInput) -> Option<String> {
    let SourceInput::Watched { files, .. } = input else { return None };
    let is_empty =
        |path: &PathBuf| std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
    let text = "watched: no file yet; every file that comes is measured once";
    files.iter().all(is_empty).then(|| text.to_owned())
}

async fn spool(settings: &EdgeSettings) -> Finding {
    let path = &settings.spool.path;
    if !path.exists() {
        return match writable_folder(path, "pdm-edge") {
            Ok(folder) => Finding::good("spool", format!("will be made in {}", folder.display())),
            Err((folder, error)) => {
                let text = format!("cannot write in {}: {error}", folder.display());
                Finding { what: "spool".to_owned(), outcome: Err((Exit::Io, text)) }
            }
        };
    }
    let opened =
        Spool::open(settings.spool.clone(), settings.gateway.clone(), Arc::new(SystemClock)).await;
    match opened {
        Ok(spool) => {
            let tally = *spool.watch().borrow();
            spool.close().await;
            Finding::good(
                "spool",
                format!("{}: {} waiting, {} lost", path.display(), tally.waiting, tally.dropped),
            )
        }
        Err(SpoolError::Locked { .. }) => {
            Finding::good("spool", format!("{} is in use: the service runs", path.display()))
        }
        Err(error) => Finding::bad("spool", spool_exit(&error), &error),
    }
}

/// Reports how long the rings are, and whether the files can be written.
fn captures(capture: &CaptureSettings, settings: &EdgeSettings) -> Finding {
    let clock: SharedClock = Arc::new(SystemClock);
    let rate = |source: &SourceSettings| {
        let opened = source.input.open(&clock).ok()?;
        Some(opened.format().sample_rate.get() * source.points.len() as f64)
    };
    let with_samples = settings.sources.iter().filter(|source| source.input.has_samples());
    let rates: Vec<Option<f64>> = with_samples.map(rate).collect();
    let samples_per_s: f64 = rates.iter().flatten().sum();
    let what = "captures";
    if let Err((folder, error)) = writable_folder(&capture.folder.join("captures"), "pdm-edge") {
        let text = format!("cannot write in {}: {error}", folder.display());
        return Finding { what: what.to_owned(), outcome: Err((Exit::Io, text)) };
    }
    let folder = capture.folder.display();
    let budget_mb = capture.budget_bytes as f64 / 1e6;
    if samples_per_s <= 0.0 {
        return Finding::good(
            what,
            format!("{budget_mb} MB; no source with samples yet; {folder}"),
        );
    }
    let length_s = capture.length_s(samples_per_s);
    let wanted_s = capture.before_s + capture.after_s;
    let unknown = rates.iter().filter(|rate| rate.is_none()).count();
    let mut parts = vec![format!(
        "{budget_mb} MB hold the last {length_s:.1} s of each point (at 2.8 bytes a sample); \
         {folder}"
    )];
    if unknown > 0 {
        parts.push(format!("without {unknown} sources that cannot be opened"));
    }
    if length_s < wanted_s {
        parts.push(format!(
            "shorter than before_s + after_s ({wanted_s} s): captures are cut at their beginning"
        ));
    }
    Finding::good(what, parts.join("; "))
}

/// Whether the agent takes captures of this gateway.
async fn upload(settings: &EdgeSettings) -> Option<Finding> {
    let upload = settings.capture.as_ref()?.upload.as_ref()?;
    let what = format!("captures to {}", upload.url);
    Some(match upload.try_out().await {
        Ok(()) => Finding::good(what, "the agent takes the token"),
        Err(UploadRefused::NoAnswer(error @ (UploadError::Token(_) | UploadError::Tls(_)))) => {
            Finding::bad(what, Exit::Config, &error)
        }
        Err(error) => Finding::bad(what, Exit::Unavailable, &error),
    })
}

async fn brokers(settings: &EdgeSettings) -> Vec<Finding> {
    let broker = &settings.broker;
    let client_id =
        broker.client_id.clone().unwrap_or_else(|| settings.gateway.as_str().to_owned());
    let mut findings = Vec::new();
    for address in &broker.addresses {
        let what = format!("broker {address}");
        findings.push(match publish::probe(broker, address, &client_id).await {
            Ok(()) => {
                let tls = if broker.tls.is_some() { "with TLS" } else { "without TLS" };
                Finding::good(what, format!("takes the connection, {tls}"))
            }
            Err(down) => Finding::bad(what, Exit::Unavailable, &down),
        });
    }
    findings
}
