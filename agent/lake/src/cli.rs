//! The command line: one file a command.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Parser, Subcommand};
use pdm_service::clock::{SharedClock, SystemClock};
use pdm_service::exit::{Exit, Failure};
use pdm_service::telemetry::{self, LogFormat};

use crate::error::LakeError;
use crate::place::Place;
use crate::source::Source;

mod columns;
mod export;
mod files;
mod import;
mod run;
mod slice;
mod status;
mod vacuum;
mod verify;

/// The archive of PdM: events, judgements, episodes and follow-ups as Delta tables
#[derive(Debug, Parser)]
#[command(
    version,
    about,
    after_help = "\
Examples:
  pdm-lake export --store sqlite://agent.db --lake /archive/pdm
  pdm-lake run --store postgres://pdm@db/pdm --password-file db.password --lake s3://plant/pdm
  pdm-lake status --lake /archive/pdm --store agent.db
  pdm-lake verify --lake /archive/pdm
  pdm-lake slice --lake /archive/pdm --slice 1/4 | pdm backtest --from - --whole --config agent.toml
  pdm-edge replay run.npy … --jsonl | pdm-lake import - --lake /archive/pdm

An archive on S3 takes key, region and server from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, \
        AWS_REGION,
AWS_ENDPOINT_URL and AWS_ALLOW_HTTP. Guide: docs/archive.md

Exit codes: 0 done, 64 wrong arguments, 65 the archive or the input is not what it should be, 66 \
        no archive or no \
input, 69 not reachable or another archiver at work, 74 denied, no space left, or a failed read or \
        write, \
78 a wrong key, no bucket, another store's archive, or an archive of another version"
)]
pub struct Cli {
    /// Logs for people or, a JSON object a line, for collectors
    #[arg(long, value_enum, default_value = "text", global = true)]
    log: LogAs,
    #[command(subcommand)]
    command: Command,
}

/// The form of logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum LogAs {
    Text,
    Json,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Archive the closed days of a store, and end
    Export(export::Options),
    /// Archive closed days as they come, until it is stopped
    Run(run::Options),
    /// Say what the archive holds: rows, bytes a row, days, who archives
    Status(status::Options),
    /// Read everything and hold it against the log and the marks
    Verify(verify::Options),
    /// Print the files of a table, for readers without Delta Lake
    Files(files::Options),
    /// Print the columns of a table, and where each stands in the event
    Columns(columns::Options),
    /// Remove what kills left behind and no reader sees
    Vacuum(vacuum::Options),
    /// Print events as pdm.slice/1: whole bearings, in order
    Slice(slice::Options),
    /// Archive events that come as JSON lines
    Import(import::Options),
}

/// Where the archive lies.
#[derive(Debug, Clone, Args)]
struct LakeArgs {
    /// A folder, or s3://BUCKET/PREFIX
    #[arg(long, value_name = "FOLDER", env = "PDM_LAKE")]
    lake: String,
}

impl LakeArgs {
    fn open(&self) -> Result<Place, LakeError> {
        Place::open(&self.lake, false)
    }

    fn make(&self) -> Result<Place, LakeError> {
        Place::open(&self.lake, true)
    }
}

/// The agent's store.
#[derive(Debug, Clone, Args)]
struct StoreArgs {
    /// sqlite://FILE, a file, or postgres://USER@HOST/DATABASE; it is only read
    #[arg(long, value_name = "STORE", env = "PDM_LAKE_STORE")]
    store: String,
    /// The file that holds the password of the server's user
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
}

impl StoreArgs {
    async fn open(&self) -> Result<Source, LakeError> {
        Source::open(&self.store, self.password_file.as_deref()).await
    }
}

/// How an archiver behaves beside others.
#[derive(Debug, Clone, Copy, Args)]
struct ArchiverArgs {
    /// Take the place of an archiver that is at work; it ends before its next commit
    #[arg(long)]
    take_over: bool,
    /// Archive rows of this store beside those of others
    #[arg(long)]
    adopt: bool,
    /// Write beside rows that another program wrote
    #[arg(long)]
    accept_foreign: bool,
}

/// Runs the command.
///
/// # Errors
/// A [`Failure`] with its exit code.
pub fn dispatch(cli: Cli) -> anyhow::Result<Exit> {
    let format = match cli.log {
        LogAs::Text => LogFormat::Text,
        LogAs::Json => LogFormat::Json,
    };
    // the library tells every file that it reads
    telemetry::start(format, "info,deltalake_core=error,buoyant_kernel=error,delta_kernel=error");
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| Failure::new(Exit::Software, error))?;
    let done = runtime.block_on(async {
        match &cli.command {
            Command::Export(options) => export::run(options).await,
            Command::Run(options) => run::run(options).await,
            Command::Status(options) => status::run(options).await,
            Command::Verify(options) => verify::run(options).await,
            Command::Files(options) => files::run(options).await,
            Command::Columns(options) => columns::run(options),
            Command::Vacuum(options) => vacuum::run(options).await,
            Command::Slice(options) => slice::run(options).await,
            Command::Import(options) => import::run(options).await,
        }
    });
    // a server that hangs must not keep the program
    runtime.shutdown_timeout(std::time::Duration::from_secs(2));
    done.map_err(|error| match error.downcast::<LakeError>() {
        Ok(known) => Failure::from(known).into(),
        Err(other) => other,
    })
}

fn clock() -> SharedClock {
    Arc::new(SystemClock)
}

/// Bytes for people.
fn bytes_for_people(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} B"),
        10_000..10_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        10_000_000..10_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}
