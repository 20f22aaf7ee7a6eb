//! `pdm-agent store`: looks through the store's file for damage, and makes a new one of what can be
//! read.

use std::io::Write;
use std::path::PathBuf;

use pdm_service::clock::{Clock as _, SystemClock};
use pdm_service::exit::{Exit, Failure};
use pdm_store::recover;

use super::failure;
use crate::service::connect_store;
use crate::settings::{AgentSettings, StorePlace};

/// Arguments of `store`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Look through the store for damage, and write a row
    #[command(after_help = "\
Example:
  pdm-agent store verify --config /etc/pdm/agent.toml

An agent may run meanwhile. Exit codes: 0 sound, 65 damaged, 69 store unavailable, 78 bad \
configuration")]
    Verify {
        /// The configuration
        #[arg(long, value_name = "FILE", env = "PDM_AGENT_CONFIG")]
        config: PathBuf,
    },
    /// Copy what can be read of a damaged SQLite file into a new one; the damaged one stays beside
    /// it
    #[command(after_help = "\
Example:
  systemctl stop pdm-agent && pdm-agent store recover --config /etc/pdm/agent.toml

Restore a backup instead if there is one. The agent must not run on the file meanwhile. Exit \
codes: 0 done, 64 the store is a server, 69 nothing can be read, 78 bad configuration")]
    Recover {
        /// The configuration
        #[arg(long, value_name = "FILE", env = "PDM_AGENT_CONFIG")]
        config: PathBuf,
        /// Make an empty store if nothing can be read
        #[arg(long)]
        even_empty: bool,
    },
}

/// Runs the command.
///
/// # Errors
/// A [`Failure`] with its exit code.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(failure::runtime)?;
    match &args.command {
        Command::Verify { config } => {
            let settings = AgentSettings::read(config).map_err(failure::config)?;
            runtime.block_on(verify(&settings))
        }
        Command::Recover { config, even_empty } => {
            let settings = AgentSettings::read(config).map_err(failure::config)?;
            runtime.block_on(recovered(&settings, *even_empty))
        }
    }
}

async fn verify(settings: &AgentSettings) -> anyhow::Result<Exit> {
    let mut out = pdm_service::command_line::stdout();
    let store = connect_store(&settings.store).await.map_err(failure::store)?;
    let damage = store.damage().await.map_err(failure::store)?;
    if !damage.is_empty() {
        store.close().await;
        for line in &damage {
            writeln!(out, "{line}")?;
        }
        let error = anyhow::anyhow!(
            "the store {} is damaged: stop the agent, then restore a backup or run `pdm-agent \
             store recover`",
            settings.store
        );
        return Err(Failure::new(Exit::BadInput, error).into());
    }
    let written = store.beat(SystemClock.now()).await;
    store.close().await;
    written.map_err(failure::store)?;
    match settings.store.place {
        StorePlace::Sqlite(_) => writeln!(out, "the store is sound and takes rows")?,
        StorePlace::Postgres(_) => writeln!(
            out,
            "the store takes rows; a server's own tool looks for damage: pg_amcheck --all"
        )?,
    }
    Ok(Exit::Ok)
}

async fn recovered(settings: &AgentSettings, even_empty: bool) -> anyhow::Result<Exit> {
    let StorePlace::Sqlite(path) = &settings.store.place else {
        let error = anyhow::anyhow!(
            "the store is a PostgreSQL server: restore its backup (pg_restore), or see pg_amcheck"
        );
        return Err(Failure::new(Exit::Usage, error).into());
    };
    let recovery = recover(path, even_empty, SystemClock.now()).await.map_err(failure::store)?;
    let mut out = pdm_service::command_line::stdout();
    for table in &recovery.tables {
        let lost = match table.unreadable {
            0 => String::new(),
            unreadable => format!(", {unreadable} could not be read"),
        };
        writeln!(out, "{}: {} rows{lost}", table.name, table.rows)?;
    }
    writeln!(
        out,
        "{} rows copied; the damaged file is {}",
        recovery.rows(),
        recovery.aside.display()
    )?;
    Ok(Exit::Ok)
}
