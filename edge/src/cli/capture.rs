//! `pdm-edge capture`: lists, shows and exports captured waveforms; asks a running service for one.
//!
//! Captures on disk are read without the service. A demand goes over the admin listener, as
//! `relearn` does.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use pdm_service::exit::{Exit, Failure};
use pdm_service::files::open_regular;

use super::recording_options::usage;
use super::{print, relearn};
use crate::capture::{self, CaptureSettings, StoredCapture};
use crate::settings::{self, EdgeSettings};

/// Arguments of `capture`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  pdm-edge capture list --config config/edge.toml
  pdm-edge capture take P-101/DE --config config/edge.toml
  pdm-edge capture export 1f2a77e1 --to /tmp --format npy --config config/edge.toml
  pdm-edge analyze /tmp/P-101_DE_20261121T051011Z_alarm_1f2a77e1.wav

A capture is named by its identity, by its last eight digits, or by its file.

Exit codes: 0 done, 64 no such bearing or capture, 65 the file is not the one of its document, 66 \
the file is missing, 69 the service does not answer or refuses (also where the captures of the \
    hour are used \
up), 74 the disk fails, 78 the \
configuration is wrong or has no [capture]")]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the captures on disk, oldest first
    List {
        #[command(flatten)]
        config: Config,
        /// Print one document a line
        #[arg(long)]
        json: bool,
    },
    /// Print a capture's document, after its file was held against its hash
    Show {
        /// The capture
        id: String,
        #[command(flatten)]
        config: Config,
    },
    /// Copy a capture out: the WAV file with its document, or a NumPy file
    Export {
        /// The capture
        id: String,
        #[command(flatten)]
        config: Config,
        /// Folder that the files are written to, made if it is not there; existing files stay as
        /// they are
        #[arg(long, value_name = "DIR")]
        to: PathBuf,
        /// Form of the samples
        #[arg(long, value_enum, default_value = "wav")]
        format: Format,
    },
    /// Ask the running service for a capture of a bearing
    Take {
        /// The bearing
        #[arg(value_name = "EQUIPMENT/BEARING")]
        bearing: String,
        #[command(flatten)]
        config: Config,
    },
}

#[derive(Debug, clap::Args)]
struct Config {
    /// Configuration file of the service
    #[arg(long, value_name = "FILE", env = "PDM_EDGE_CONFIG")]
    config: PathBuf,
}

/// Form of exported samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// WAV, 32-bit float, m/s², with the document beside it
    Wav,
    /// NumPy, 32-bit float, m/s², with the document beside it
    Npy,
}

/// Runs the command.
///
/// # Errors
/// A [`Failure`]: 78 for a configuration that cannot be used or without captures, 64 for a bearing
/// or capture that is not there, 65 for a file that is not the one of its document, 69 for a
/// service that does not answer or refuses, 74 for a disk that fails.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.command {
        Command::List { config, json } => listed(&config.captures()?, *json),
        Command::Show { id, config } => shown(&config.captures()?, id),
        Command::Export { id, config, to, format } => {
            exported(&config.captures()?, id, (to, *format))
        }
        Command::Take { bearing, config } => taken(&config.settings()?, bearing),
    }
}

impl Config {
    fn settings(&self) -> anyhow::Result<EdgeSettings> {
        let read =
            settings::read_settings(&self.config).map_err(|e| Failure::new(Exit::Config, e))?;
        Ok(read.0)
    }

    fn captures(&self) -> anyhow::Result<CaptureSettings> {
        self.settings()?.capture.ok_or_else(|| {
            let why = anyhow::anyhow!("the configuration has no [capture]");
            Failure::new(Exit::Config, why).into()
        })
    }
}

fn all(settings: &CaptureSettings) -> anyhow::Result<Vec<StoredCapture>> {
    let (captures, unread) =
        capture::list(&settings.folder).map_err(|error| Failure::new(Exit::Io, error))?;
    for error in unread {
        super::note(&format!("left out: {error}"));
    }
    Ok(captures)
}

fn listed(settings: &CaptureSettings, json: bool) -> anyhow::Result<Exit> {
    let mut text = String::new();
    for StoredCapture { document, path } in all(settings)? {
        if json {
            text += &(serde_json::to_string(&document)? + "\n");
            continue;
        }
        let id = document.capture_id.to_string();
        let reasons: Vec<&str> = document.reasons().iter().map(|reason| reason.as_str()).collect();
        let point = document.measuring_point.as_ref().map_or("", |point| point.as_str());
        let seconds = document.samples as f64 / document.sampling_rate_hz;
        let exact = if document.steps.is_exact { "exact" } else { "rounded" };
        writeln!(
            text,
            "{}  {}  {} {point}  {seconds:.2} s at {} Hz  {exact}{}  {}{}",
            &id[id.len().saturating_sub(8)..],
            document.started_at,
            document.within_site(),
            // a measured rate has more digits than anybody measured
            (document.sampling_rate_hz * 1e3).round() / 1e3,
            document.cut.map_or_else(String::new, |cut| format!(", cut short ({})", cut.as_str())),
            reasons.join(", "),
            capture::upload_of(&path).map_or_else(String::new, |said| format!("  {said}")),
        )?;
    }
    if text.is_empty() {
        super::note(&format!("no captures in {}", settings.folder.display()));
    }
    print(&text)?;
    Ok(Exit::Ok)
}

/// The one capture that is named.
fn found(settings: &CaptureSettings, name: &str) -> anyhow::Result<StoredCapture> {
    let is_named = |capture: &StoredCapture| {
        let id = capture.document.capture_id.to_string();
        let file = &capture.document.file.name;
        id == name || (name.len() == 8 && id.ends_with(name)) || file == name
    };
    let mut named: Vec<StoredCapture> = all(settings)?.into_iter().filter(is_named).collect();
    match (named.pop(), named.is_empty()) {
        (Some(one), true) => Ok(one),
        (Some(_), false) => Err(usage(format!("several captures are called {name}"))),
        (None, _) => {
            let folder = settings.folder.display();
            Err(usage(format!("no capture {name} in {folder}; `capture list` shows them")))
        }
    }
}

/// Refuses a file that is not the one of its document.
fn whole(capture: &StoredCapture) -> anyhow::Result<()> {
    let wav = capture.wav();
    let shown = || format!("{}", wav.display());
    let hash = capture::sha256_of(&wav).with_context(shown);
    let hash = hash.map_err(|error| Failure::new(Exit::NoInput, error))?;
    if hash == capture.document.file.sha256 {
        return Ok(());
    }
    let why = anyhow::anyhow!("{} is not the file that was captured: another hash", wav.display());
    Err(Failure::new(Exit::BadInput, why).into())
}

fn shown(settings: &CaptureSettings, name: &str) -> anyhow::Result<Exit> {
    let capture = found(settings, name)?;
    whole(&capture)?;
    print(&(serde_json::to_string_pretty(&capture.document)? + "\n"))?;
    Ok(Exit::Ok)
}

fn exported(
    settings: &CaptureSettings,
    name: &str,
    (to, format): (&Path, Format),
) -> anyhow::Result<Exit> {
    let capture = found(settings, name)?;
    whole(&capture)?;
    std::fs::create_dir_all(to)
        .with_context(|| format!("{}", to.display()))
        .map_err(|error| Failure::new(Exit::Io, error))?;
    let wav = capture.wav();
    let stem = Path::new(&capture.document.file.name).with_extension("");
    let named = |ending: &str| to.join(stem.with_extension(ending));
    let copied = match format {
        Format::Wav => copy(&wav, &named("wav"), &[], 0),
        Format::Npy => {
            let head = capture::npy_head(capture.document.samples);
            let samples = capture.document.samples.saturating_mul(4);
            let skip = capture.document.file.bytes.saturating_sub(samples);
            copy(&wav, &named("npy"), &head, skip)
        }
    };
    let samples = copied.and_then(|samples| {
        match format {
            Format::Wav => drop(copy(&capture.path, &named("json"), &[], 0)?),
            Format::Npy => describe(&capture, &samples, &named("json"))?,
        }
        Ok(samples)
    });
    let samples = samples.map_err(|error| Failure::new(Exit::Io, error))?;
    print(&format!("{}\n", samples.display()))?;
    Ok(Exit::Ok)
}

/// Copies a file from the byte `skip` on, after a head; returns the new file.
fn copy(from: &Path, to: &Path, head: &[u8], skip: u64) -> anyhow::Result<PathBuf> {
    let shown = || format!("{}", to.display());
    let mut source = open_regular(from)?;
    source.seek(SeekFrom::Start(skip))?;
    let made = File::options().write(true).create_new(true).open(to).with_context(shown)?;
    let mut out = BufWriter::new(made);
    out.write_all(head)?;
    io::copy(&mut BufReader::new(source.take(u64::MAX)), &mut out).with_context(shown)?;
    out.flush().with_context(shown)?;
    Ok(to.to_owned())
}

/// Writes the document of a file of another form: its own name, length and hash; the rest as it was
/// captured.
fn describe(capture: &StoredCapture, samples: &Path, to: &Path) -> anyhow::Result<()> {
    let shown = || format!("{}", to.display());
    let mut document: serde_json::Value = serde_json::from_reader(open_regular(&capture.path)?)?;
    let name = samples.file_name().map(|name| name.to_string_lossy().into_owned());
    document["file"] = serde_json::json!({
        "name": name,
        "bytes": std::fs::metadata(samples).with_context(shown)?.len(),
        "sha256": capture::sha256_of(samples).with_context(shown)?,
    });
    let mut made = File::options().write(true).create_new(true).open(to).with_context(shown)?;
    made.write_all(serde_json::to_string_pretty(&document)?.as_bytes()).with_context(shown)?;
    Ok(())
}

fn taken(settings: &EdgeSettings, bearing: &str) -> anyhow::Result<Exit> {
    if !settings.bearings().iter().any(|known| known == bearing) {
        let known = settings.bearings().join(", ");
        return Err(usage(format!("no bearing {bearing} in the configuration; there is {known}")));
    }
    relearn::request(settings, "capture", bearing)
}
