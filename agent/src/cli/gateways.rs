//! `pdm-agent gateways`: lists the gateways and their bearings, and releases one that has moved.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};
use pdm_service::exit::{Exit, Failure};
use pdm_shared::delivery::Presence;
use pdm_shared::id::{BearingKey, GatewayKey};

use super::failure;
use crate::service::connect_store;
use crate::settings::AgentSettings;
use crate::store::{GatewayState, Store};

/// Arguments of `gateways`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  pdm-agent gateways list --config /etc/pdm/agent.toml
  pdm-agent gateways release ulsan-1/P-101/DE --config /etc/pdm/agent.toml
  pdm-agent gateways release ulsan-1/gw-01 --config /etc/pdm/agent.toml

Exit codes: 0 listed or released, 64 wrong arguments, 66 no such bearing or gateway, 69 store
unavailable, 78 bad configuration")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
    /// The configuration
    #[arg(long, value_name = "FILE", env = "PDM_AGENT_CONFIG", global = true)]
    config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List every gateway with its bearings
    List,
    /// Let the next event decide: which gateway a bearing belongs to, or how a gateway proves itself
    Release {
        /// SITE/EQUIPMENT/BEARING of a bearing that another gateway measures now, or SITE/GATEWAY of
        /// a gateway that was replaced or set back to an earlier version
        name: String,
    },
}

/// What is released.
enum Released {
    Bearing(BearingKey),
    Gateway(GatewayKey),
}

impl Released {
    fn read(name: &str) -> Result<Self, Failure> {
        let wrong = |error: pdm_shared::id::NameError| Failure::new(Exit::Usage, error);
        match name.split('/').collect::<Vec<_>>()[..] {
            [site, equipment, bearing] => {
                Ok(Self::Bearing(BearingKey::parse(site, equipment, bearing).map_err(wrong)?))
            }
            _ => Ok(Self::Gateway(name.parse().map_err(wrong)?)),
        }
    }
}

/// Runs the command.
///
/// # Errors
/// A [`Failure`] with its exit code.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let Some(config) = &args.config else {
        let error = anyhow::anyhow!("--config FILE is missing");
        return Err(Failure::new(Exit::Usage, error).into());
    };
    let settings = AgentSettings::read(config).map_err(failure::config)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(failure::runtime)?;
    let lines = runtime.block_on(async {
        let store = connect_store(&settings.store).await.map_err(failure::store)?;
        let lines = match &args.command {
            Command::List => list(store.as_ref()).await,
            Command::Release { name } => release(store.as_ref(), name).await,
        };
        store.close().await;
        lines
    })?;
    let mut out = pdm_service::command_line::stdout();
    for line in lines {
        writeln!(out, "{line}")?;
    }
    Ok(Exit::Ok)
}

async fn list(store: &dyn Store) -> Result<Vec<String>, Failure> {
    let gateways = store.gateways().await.map_err(failure::store)?;
    let owners = store.bearing_owners().await.map_err(failure::store)?;
    let mut lines = Vec::new();
    for state in gateways {
        lines.push(line(&state));
        let own = owners.iter().filter(|(_, gateway)| *gateway == state.gateway);
        lines.extend(own.map(|(bearing, _)| format!("    {bearing}")));
    }
    Ok(lines)
}

async fn release(store: &dyn Store, name: &str) -> Result<Vec<String>, Failure> {
    let done = match Released::read(name)? {
        Released::Bearing(bearing) => store.release_bearing(&bearing).await,
        Released::Gateway(gateway) => store.release_gateway(&gateway).await,
    };
    if done.map_err(failure::store)? {
        return Ok(vec![format!("{name} is released: its next event decides")]);
    }
    let error = anyhow::anyhow!("{name} is not known; `pdm-agent gateways list` shows what is");
    Err(Failure::new(Exit::NoInput, error))
}

/// A gateway on one line: name, presence, highest number, how it proves itself, losses.
fn line(state: &GatewayState) -> String {
    let presence = match state.presence {
        Some((Presence::Online, at)) => format!("online since {at}"),
        Some((Presence::Offline, at)) => format!("offline since {at}"),
        None => "no status yet".to_owned(),
    };
    let proof = if state.proven { "named by its topic" } else { "not named by its topic" };
    format!(
        "{}  {presence}  stored up to {}  lost {}  {proof}",
        state.gateway, state.highest_sequence, state.lost_events
    )
}
