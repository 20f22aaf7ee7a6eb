//! `pdm-agent report`: writes the documents of a stored judgement again.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use pdm_knowledge::Knowledge;
use pdm_report::files::{self, Format, Written};
use pdm_service::clock::{SharedClock, SystemClock};
use pdm_service::exit::{Exit, Failure};
use pdm_shared::id::EventId;

use super::{Lang, failure};
use crate::captures::Captures;
use crate::documents::{self, GatherError};
use crate::service::open_store;
use crate::settings::AgentSettings;

/// Arguments of `report`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pdm-agent report 01936f3e-7c1a-7b52-9a6e-2f0d5c8e4b11 --config agent.toml --out reports
  pdm-agent report 01936f3e-7c1a-7b52-9a6e-2f0d5c8e4b11 --config agent.toml --out . --lang en \
    --format pdf

A risk below Warning has a short status and no work order. Exit codes: 0 written, 66 no such \
judgement, 69 store or knowledge base unavailable, 74 cannot write, 78 bad configuration")]
pub struct Args {
    /// The event's id, from a notification or a diagnosis
    event_id: EventId,
    /// The configuration
    #[arg(long, value_name = "FILE", env = "PDM_AGENT_CONFIG")]
    config: PathBuf,
    /// Folder for the files; without it the configured folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Language of the documents; without it the configured ones
    #[arg(long, value_enum)]
    lang: Option<Lang>,
    /// Formats of the documents; without it the configured ones
    #[arg(long, value_parser = formats(), value_delimiter = ',')]
    format: Vec<Format>,
}

/// The values of `--format`.
fn formats() -> impl TypedValueParser<Value = Format> {
    let told = [
        (Format::Html, "A page for a browser, and to print"),
        (Format::Pdf, "A page to print and to keep"),
        (Format::Json, "Data for other programs"),
    ];
    let words = told.map(|(format, help)| PossibleValue::new(format.as_str()).help(help));
    PossibleValuesParser::new(words).try_map(|word| word.parse::<Format>())
}

/// Runs the command.
///
/// # Errors
/// A [`Failure`] with its exit code.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let settings = AgentSettings::read(&args.config).map_err(failure::config)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(failure::runtime)?;
    let written = runtime.block_on(write(args, &settings))?;
    tell(&written)?;
    Ok(Exit::Ok)
}

async fn write(args: &Args, settings: &AgentSettings) -> Result<Written, Failure> {
    let reports = &settings.reports;
    let folder = args.out.as_ref().or(reports.folder.as_ref()).ok_or_else(|| {
        let missing = anyhow::anyhow!("no --out, and no reports.folder in the configuration");
        Failure::new(Exit::Usage, missing)
    })?;
    let store = open_store(&settings.store).await.map_err(failure::store)?;
    let knowledge = Knowledge::open(&settings.knowledge).await.map_err(failure::knowledge)?;
    let lead_time = &settings.rules.lead_time;
    let mut case = documents::stored(&store, Some(&knowledge), reports, lead_time, args.event_id)
        .await
        .map_err(not_gathered)?;
    let clock: SharedClock = Arc::new(SystemClock);
    if let Some(captures) = Captures::of_settings(settings, &store, &clock) {
        let (named, address) = (case.diagnosis.fault_type, settings.page_address());
        match captures.waveform(&case.event, named, address.as_deref()).await {
            Ok(waveform) => case.waveform = Some(waveform),
            Err(error) => tracing::warn!(%error, "the documents have no waveform"),
        }
    }
    store.close().await;
    let languages = args.lang.map_or_else(|| reports.languages.clone(), |lang| vec![lang.into()]);
    let formats = if args.format.is_empty() { &reports.formats } else { &args.format };
    files::write(&case, folder, &languages, formats).map_err(|error| Failure::new(Exit::Io, error))
}

fn not_gathered(error: GatherError) -> Failure {
    match error {
        GatherError::Store(error) => failure::store(error),
        GatherError::Knowledge(error) => failure::knowledge(error),
        GatherError::Unknown(_) => Failure::new(Exit::NoInput, error),
    }
}

/// Prints the files, one a line, and a warning for figures without a source.
fn tell(written: &Written) -> anyhow::Result<()> {
    let mut out = pdm_service::command_line::stdout();
    for file in &written.files {
        writeln!(out, "{}", file.display())?;
    }
    if !written.ungrounded.is_empty() {
        tracing::warn!(figures = ?written.ungrounded, "figures without a source in the documents");
    }
    Ok(())
}
