//! `pdm demo`: the whole chain on a simulated run to failure, or on a recording.
//!
//! Databases are in a temporary folder, which is deleted afterwards unless `--keep` names a folder;
//! the reports and work orders stay, and the last lines say where. The broker listens on a free
//! port.

mod machine;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use pdm_agent::cli::Lang;
use pdm_agent::settings::{AgentSettings, DocumentFormat};
use pdm_edge::settings::EdgeSettings;
use pdm_service::exit::{Exit, Failure};
use pdm_shared::text::Language;

use crate::broker::BrokerSettings;
use crate::chain::{Chain, ChainSettings};
use crate::view::View;

/// Arguments of `pdm demo`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pdm demo --exit                        a simulated outer-race failure over 38 days
  pdm demo --fault inner --seed 7 --exit another one
  pdm demo --exit --recording run.npy.gz --scale 0.001 --unit g --rate 25600 --period 10 \\
           --rpm 1800 --orders 5.611,7.389,3.589,0.4316
  pdm demo --speed 3600x                 an hour a second, then goes on until Ctrl-C

Exit codes: 0 done, 64 wrong arguments, 65 the recording is damaged, 66 it is missing, 69 the \
port is taken, 74 a folder cannot be written")]
pub(crate) struct Args {
    /// The machine: a simulation unless --recording is given
    #[command(flatten)]
    machine: machine::Choice,
    /// End after the recording with a summary, instead of waiting for Ctrl-C
    #[arg(long)]
    exit: bool,
    /// Language of notifications on the screen
    #[arg(long, value_enum, default_value = "ko")]
    lang: Lang,
    /// Address of the embedded broker (default: a free port on loopback)
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Address of the pages, on loopback: `127.0.0.1:PORT` (default: a free port; none with --exit)
    #[arg(long, value_name = "ADDRESS")]
    pages: Option<SocketAddr>,
    /// Keep databases and broker state in this folder
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// Runs the demonstration.
///
/// # Errors
/// The error of the part that did not start or failed, with its exit code.
pub(crate) async fn run(args: &Args) -> anyhow::Result<Exit> {
    if let Some(pages) = args.pages.filter(|pages| !pages.ip().is_loopback()) {
        let why = anyhow::anyhow!(
            "--pages is {pages}, allowed is an address of loopback: 127.0.0.1:PORT"
        );
        return Err(Failure::new(Exit::Usage, why).into());
    }
    let scratch;
    let folder = if let Some(kept) = &args.keep {
        std::fs::create_dir_all(kept).map_err(|error| {
            Failure::new(Exit::Io, anyhow::anyhow!("{}: {error}", kept.display()))
        })?;
        kept.as_path()
    } else {
        scratch = tempfile::tempdir().map_err(|error| Failure::new(Exit::Io, error))?;
        scratch.path()
    };
    let machine = args.machine.machine()?;
    let reports = reports_folder(args)?;
    let mut view = View::new(args.lang.into(), machine.events);
    view.say(&machine.title);
    let stop = pdm_service::shutdown::on_signal()?;
    let chain = Chain::start(settings(args, &machine, folder, &reports)).await?;
    if let Some(address) = chain.pages() {
        view.say(&format!("pages: http://{address}/"));
    }
    chain.watch(&mut view, &stop, args.exit).await;
    let summary = chain.stop().await?;
    view.finish();
    crate::print(&summary.to_string());
    let language: Language = args.lang.into();
    for (what, kind) in [("report", "report"), ("work order", "work-order")] {
        if let Some(path) = last_document(&reports, kind, language) {
            crate::print(&format!("last {what}: {}", path.display()));
        }
    }
    Ok(Exit::Ok)
}

/// The folder of the documents, which outlives the demonstration: below the one that is kept, else
/// one of its own in the system's folder for temporary files.
fn reports_folder(args: &Args) -> anyhow::Result<PathBuf> {
    if let Some(kept) = &args.keep {
        return Ok(kept.join("reports"));
    }
    let folder = tempfile::Builder::new().prefix("pdm-demo-reports-").tempdir();
    Ok(folder.map_err(|error| Failure::new(Exit::Io, error))?.keep())
}

/// The newest document of this kind, as a page if there is one.
fn last_document(folder: &Path, kind: &str, language: Language) -> Option<PathBuf> {
    let end = format!("-{kind}.{}.html", language.code());
    let files = std::fs::read_dir(folder).ok()?.flatten();
    let documents = files.filter(|file| file.file_name().to_string_lossy().ends_with(&end));
    documents
        .max_by_key(|file| file.metadata().and_then(|about| about.modified()).ok())
        .map(|file| file.path())
}

fn settings(
    args: &Args,
    machine: &machine::Machine,
    folder: &Path,
    reports: &Path,
) -> ChainSettings {
    let listen = args.listen.unwrap_or_else(|| (Ipv4Addr::LOCALHOST, 0).into());
    let mut edge = EdgeSettings::embedded(
        machine.gateway.clone(),
        machine.site.clone(),
        listen.ip().to_string(),
        listen.port(),
        folder.join("edge.db"),
        vec![machine.source.clone()],
    );
    edge.shutdown_grace = Duration::from_secs(10);
    let mut agent =
        AgentSettings::embedded(listen.ip().to_string(), listen.port(), folder.join("agent.db"));
    let free: SocketAddr = (Ipv4Addr::LOCALHOST, 0).into();
    agent.http.listen = args.pages.or((!args.exit).then_some(free));
    agent.reports.folder = Some(reports.to_owned());
    agent.reports.languages = vec![args.lang.into()];
    agent.reports.formats = vec![DocumentFormat::Html, DocumentFormat::Pdf];
    let broker = BrokerSettings {
        listen,
        folder: args.keep.as_ref().map(|_| folder.join("broker")),
        tls: None,
        own_client_ids: Vec::new(),
    };
    ChainSettings { broker, agent, edge, file: None }
}
