//! `pdm-agent migrate`: creates or updates the store's schema.

use std::io::Write;
use std::path::PathBuf;

use pdm_service::exit::Exit;

use super::failure;
use crate::service::open_store;
use crate::settings::AgentSettings;

/// Arguments of `migrate`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  pdm-agent migrate --config /etc/pdm/agent.toml

`run` does the same when it starts. Exit codes: 0 done, 69 store unavailable, 78 bad configuration")]
pub struct Args {
    /// The configuration
    #[arg(long, value_name = "FILE", env = "PDM_AGENT_CONFIG")]
    config: PathBuf,
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
        let store = open_store(&settings.store).await.map_err(failure::store)?;
        store.close().await;
        anyhow::Ok(())
    })?;
    writeln!(pdm_service::command_line::stdout(), "the store's schema is up to date")?;
    Ok(Exit::Ok)
}
