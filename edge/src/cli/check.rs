//! `pdm-edge check`: checks the configuration, the sources, the spool, the secrets and the brokers.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pdm_service::clock::{SharedClock, SystemClock};
use pdm_service::error_chain::error_chain;
use pdm_service::exit::Exit;

use super::Failure;
use super::run::{runtime, spool_exit};
use crate::capture::{CaptureSettings, UploadError, UploadRefused};
use crate::catalogue::Estimate;
use crate::publish;
use crate::settings::{self, EdgeSettings, Pace, PointSettings, SourceSettings};
use crate::source::values::{PointValue, PointValues};
use crate::source::{Block, Source, SourceError, SourceInput};
use crate::spool::{Spool, SpoolError};

/// Arguments of `check`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 0 no failure, 78 configuration, 69 broker unreachable or refusing, \
                        66/65/74 source or spool.

Example:
  pdm-edge check --config config/edge.toml"
)]
pub struct Args {
    /// Configuration file
    #[arg(long, value_name = "FILE", env = "PDM_EDGE_CONFIG")]
    pub config: PathBuf,
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
    findings.extend(sources(&settings));
    let runtime = runtime()?;
    findings.push(runtime.block_on(spool(&settings)));
    findings.extend(settings.capture.as_ref().map(|capture| captures(capture, &settings)));
    findings.extend(runtime.block_on(upload(&settings)));
    findings.push(secrets(&settings));
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

fn sources(settings: &EdgeSettings) -> Vec<Finding> {
    let clock: SharedClock = Arc::new(SystemClock);
    let mut findings = Vec::new();
    if settings.sources.is_empty() {
        findings.push(Finding::good("sources", "none: only what waits in the spool is sent"));
    }
    for source in &settings.sources {
        let what = format!("source {}", source.name);
        findings.extend(source.points.iter().filter_map(|point| estimated(&what, point)));
        if let Some(text) = empty_folders(&source.input) {
            findings.push(Finding::good(what, text));
            continue;
        }
        findings.push(match source.input.for_a_look().open(&clock) {
            Err(error) => {
                let exit = if error.exit() == Exit::Usage { Exit::Config } else { error.exit() };
                Finding::bad(what, exit, &error)
            }
            Ok(opened) => {
                let format = opened.format();
                let wanted = source.points.iter().map(|point| point.channel).max().unwrap_or(0);
                if source.pace == Pace::Live {
                    first_block(what, opened, source)
                } else if wanted < format.channels {
                    let blocks = opened
                        .expected_blocks()
                        .map_or_else(String::new, |b| format!(", {b} blocks"));
                    let read = opened.interpretation().map_or_else(
                        || format!("{} channels at {}", format.channels, format.sample_rate),
                        ToString::to_string,
                    );
                    Finding::good(what, format!("{read}{blocks}"))
                } else {
                    let text = format!(
                        "channel {wanted} is measured, but the source has {}",
                        format.channels
                    );
                    Finding { what, outcome: Err((Exit::Config, text)) }
                }
            }
        });
    }
    findings
}

/// What is said of a bearing whose defect orders are an estimate.
fn estimated(source: &str, point: &PointSettings) -> Option<Finding> {
    let Estimate { bearing, order_tolerance } = point.estimate.as_ref()?;
    let text = format!(
        "the defect orders of {bearing} are estimated from its boundary dimensions, to {:.0} %: names of its \
         parts are rarer and never surer than 0.8; `orders` of the maker's calculator are better",
        100.0 * order_tolerance
    );
    Some(Finding::good(format!("{source}, bearing {}", point.bearing), text))
}

/// What is said of watched folders that are there and hold nothing yet.
fn empty_folders(input: &SourceInput) -> Option<String> {
    let SourceInput::Watched { files, .. } = input else { return None };
    let is_empty =
        |path: &PathBuf| std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
    let text = "watched: no file yet; every file that comes is measured once";
    files.iter().all(is_empty).then(|| text.to_owned())
}

/// Longest time of a live source until its first block: five blocks of the default length.
const FIRST_BLOCK: Duration = Duration::from_secs(5);

/// Waits for the first block of a live source.
fn first_block(what: String, mut opened: Box<dyn Source>, source: &SourceSettings) -> Finding {
    let rate_hz = opened.format().sample_rate.get();
    let wanted =
        source.window.map_or(0, |window| (window.as_secs_f64() * rate_hz).round() as usize);
    let (tell, told) = std::sync::mpsc::sync_channel(2);
    // the thread is not joined: a read may hang on a device, and the command ends soon
    std::thread::spawn(move || {
        let first = next_filled(&mut opened);
        let is_short = matches!(&first, Ok(Some(block)) if block.values.is_none()
            && block.accel_m_s2.ncols() < wanted);
        // an error means that the time is up and the block is not awaited any more
        let last = if is_short {
            // short ones are measured where they follow on
            let _late = tell.send(first);
            next_filled(&mut opened)
        } else {
            first
        };
        // a session at a server is closed before the command ends
        drop(opened);
        let _late = tell.send(last);
    });
    let until = Instant::now() + FIRST_BLOCK;
    match told.recv_timeout(FIRST_BLOCK) {
        Ok(Ok(Some(Block { values: Some(values), .. }))) => values_read(what, &values),
        Ok(Ok(Some(block))) => {
            let (channels, samples) = block.accel_m_s2.dim();
            let text = format!("delivers: {channels} channels, {samples} samples a block");
            if samples >= wanted {
                return Finding::good(what, text);
            }
            let next = told.recv_timeout(until.saturating_duration_since(Instant::now()));
            if matches!(next, Ok(Ok(Some(next))) if next.follows_on) {
                return Finding::good(what, format!("{text}, without gaps"));
            }
            let most_s = (samples as f64 / rate_hz * 1000.0).floor() / 1000.0;
            let text = format!(
                "{text}: a window (window_s) has {wanted}, and no block was seen that follows on, so \
                 nothing would be measured; window_s = {most_s} measures such blocks"
            );
            Finding { what, outcome: Err((Exit::Config, text)) }
        }
        Ok(Ok(None)) => Finding::good(what, "is at its end"),
        Ok(Err(error)) => Finding::bad(what, Exit::Unavailable, &error),
        // a server that is subscribed to brings an array when it changes
        Err(_silent) if matches!(source.input, SourceInput::Opcua(_)) => {
            let text = format!(
                "connected; no array has changed within {} s, so that unit and length are not known yet",
                FIRST_BLOCK.as_secs()
            );
            Finding::good(what, text)
        }
        Err(_silent) => {
            let text = format!("no block within {} s", FIRST_BLOCK.as_secs());
            Finding { what, outcome: Err((Exit::Unavailable, text)) }
        }
    }
}

/// The next block with content; a source without a sender hands out blocks without samples.
fn next_filled(opened: &mut Box<dyn Source>) -> Result<Option<Block>, SourceError> {
    loop {
        match opened.next_block()? {
            Some(block) if block.accel_m_s2.ncols() == 0 && block.values.is_none() => {}
            other => return Ok(other),
        }
    }
}

/// What a transmitter gives; a value that is missing is a failure.
fn values_read(what: String, values: &PointValues) -> Finding {
    let texts: Vec<String> = values
        .values
        .iter()
        .map(|PointValue { channel, figure, value, .. }| {
            let value = value.map_or_else(|| "no value".to_owned(), |value| format!("{value:.4}"));
            format!("channel {channel} {} {value}", figure.key())
        })
        .collect();
    let text = format!("delivers: {}", texts.join(", "));
    if values.values.iter().all(|value| value.value.is_some()) {
        return Finding::good(what, text);
    }
    Finding { what, outcome: Err((Exit::Unavailable, text)) }
}

async fn spool(settings: &EdgeSettings) -> Finding {
    let path = &settings.spool.path;
    if !path.exists() {
        return match writable(path) {
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

/// Writes a file into the folder of the spool, or into its nearest existing parent; returns the
/// folder.
fn writable(path: &Path) -> Result<PathBuf, (PathBuf, std::io::Error)> {
    let mut folder = path.to_owned();
    folder.pop();
    while !folder.as_os_str().is_empty() && !folder.exists() {
        folder.pop();
    }
    if folder.as_os_str().is_empty() {
        folder = PathBuf::from(".");
    }
    let probe = folder.join(format!(".pdm-edge-check-{}", std::process::id()));
    let tried = std::fs::write(&probe, b"check").and_then(|()| std::fs::remove_file(&probe));
    match tried {
        Ok(()) => Ok(folder),
        Err(error) => Err((folder, error)),
    }
}

/// How long the rings are, and whether the files can be written.
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
    if let Err((folder, error)) = writable(&capture.folder.join("captures")) {
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
        "{budget_mb} MB hold the last {length_s:.1} s of each point (at 2.8 bytes a sample); {folder}"
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

fn secrets(settings: &EdgeSettings) -> Finding {
    let sources =
        settings.broker.login.iter().map(|login| ("broker.password", &login.password)).chain(
            settings.admin.iter().filter_map(|admin| Some(("admin.token", admin.token.as_ref()?))),
        );
    let upload = settings.capture.iter().filter_map(|capture| capture.upload.as_ref());
    let sources = sources.chain(upload.map(|upload| ("capture.upload.token", &upload.token)));
    let mut count = 0;
    for (key, source) in sources {
        count += 1;
        if let Err(error) = source.fetch() {
            return Finding::bad(format!("secret {key}"), Exit::Config, &error);
        }
    }
    if let Some(admin) = &settings.admin
        && let Err(error) = admin.access()
    {
        return Finding::bad("admin", Exit::Config, &error);
    }
    Finding::good("secrets", format!("{count} can be read"))
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
