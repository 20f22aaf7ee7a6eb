//! `pdm-agent migrate`: creates or updates the store's schema.

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use pdm_service::exit::Exit;
use pdm_store::{Store, StoreError, StoreTrouble};

use super::failure;
use crate::service::open_store;
use crate::settings::{AgentSettings, StoreSettings};

/// Arguments of `migrate`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  pdm-agent migrate --config /etc/pdm/agent.toml

`run` does the same when it starts. Exit codes: 0 done, 69 store unavailable, 74 the store is of \
a newer version, 78 bad configuration, or a database that is not UTF8 or behind a pooler in \
transaction mode")]
pub struct Args {
    /// The configuration
    #[arg(long, value_name = "FILE", env = "PDM_AGENT_CONFIG")]
    config: PathBuf,
}

/// How long a server that is starting is waited for, as one that is started together with this
/// program.
const WAIT: Duration = Duration::from_secs(30);

/// Opens the store; a server that does not answer yet is asked again.
async fn opened(settings: &StoreSettings) -> Result<Store, StoreError> {
    let began = Instant::now();
    loop {
        let error = match open_store(settings).await {
            Ok(store) => return Ok(store),
            Err(error) => error,
        };
        let is_starting =
            matches!(StoreTrouble::from(&error), StoreTrouble::Away | StoreTrouble::Starting);
        if !is_starting || began.elapsed() >= WAIT {
            return Err(error);
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// Runs the command.
///
/// # Errors
/// A [`pdm_service::exit::Failure`] with its exit code.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let settings = AgentSettings::read(&args.config).map_err(failure::config)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(failure::runtime)?;
    runtime.block_on(async {
        let store = opened(&settings.store).await.map_err(failure::store)?;
        store.close().await;
        anyhow::Ok(())
    })?;
    writeln!(pdm_service::command_line::stdout(), "the store's schema is up to date")?;
    Ok(Exit::Ok)
}
