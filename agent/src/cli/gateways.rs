//! `pdm-agent gateways`: lists the gateways and their bearings and what is refused of them, releases one that
//! has moved, replaces one, and takes one out.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};
use pdm_service::clock::{Clock, SystemClock};
use pdm_service::exit::{Exit, Failure};
use pdm_shared::delivery::Presence;
use pdm_shared::id::{BearingKey, GatewayKey};

use super::failure;
use crate::service::connect_store;
use crate::settings::AgentSettings;
use crate::store::{GatewayState, RefusedEvents, Removal, Store, TakenOut};

/// Arguments of `gateways`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  pdm-agent gateways list --config /etc/pdm/agent.toml
  pdm-agent gateways release ulsan-1/P-101/DE --config /etc/pdm/agent.toml
  pdm-agent gateways release ulsan-1/gw-01 --config /etc/pdm/agent.toml
  pdm-agent gateways replace ulsan-1/gw-01 ulsan-1/gw-02 --by kim --reason 'board broken' --dry-run
  pdm-agent gateways forget ulsan-1/gw-01 --by kim --reason 'line closed'

Exit codes: 0 listed, released, replaced or taken out, 64 wrong arguments, 66 no such bearing or gateway, 69 store
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
    /// Let another gateway of the site measure all bearings of one that is gone
    Replace {
        /// SITE/GATEWAY that is gone
        old: GatewayKey,
        /// SITE/GATEWAY that measures its bearings now
        new: GatewayKey,
        #[command(flatten)]
        how: Asking,
    },
    /// Take out a gateway that is gone: its alarms end, its bearings belong to the gateway of their next event
    Forget {
        /// SITE/GATEWAY
        gateway: GatewayKey,
        #[command(flatten)]
        how: Asking,
    },
}

/// Who takes a gateway out, and why.
#[derive(Debug, ClapArgs)]
struct Asking {
    /// Person who asks; it stands in the record of acts
    #[arg(long)]
    by: String,
    /// Why; it stands in the record of acts
    #[arg(long)]
    reason: String,
    /// Say what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
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
            Command::Replace { old, new, how } => {
                replace(store.as_ref(), &settings, (old, new), how).await
            }
            Command::Forget { gateway, how } => {
                forget(store.as_ref(), &settings, gateway, how).await
            }
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
    let refused = store.refused().await.map_err(failure::store)?;
    let mut lines = Vec::new();
    for state in gateways {
        lines.push(line(&state));
        let own = owners.iter().filter(|(_, gateway)| *gateway == state.gateway);
        lines.extend(own.map(|(bearing, _)| format!("    {bearing}")));
    }
    lines.extend(refused.iter().map(|one| {
        let RefusedEvents { gateway, bearing, count, first_at, reason, .. } = one;
        format!("{gateway}  {count} events of {bearing} refused since {first_at}: {reason}")
    }));
    Ok(lines)
}

impl Asking {
    fn removal(&self, settings: &AgentSettings) -> Removal {
        Removal {
            prefix: settings.broker.prefix.clone(),
            by: self.by.clone(),
            via: "cli".to_owned(),
            reason: self.reason.clone(),
            now: SystemClock.now(),
            is_dry: self.dry_run,
        }
    }
}

async fn replace(
    store: &dyn Store,
    settings: &AgentSettings,
    (old, new): (&GatewayKey, &GatewayKey),
    how: &Asking,
) -> Result<Vec<String>, Failure> {
    if old.site != new.site || old == new {
        let told = anyhow::anyhow!("{old} and {new}: allowed are two gateways of one site");
        return Err(Failure::new(Exit::Usage, told));
    }
    is_known(store, old).await?;
    let bearings = bearings_of(store, old).await?;
    let removal = how.removal(settings);
    let out = store.replace_gateway(old, new, &removal).await.map_err(failure::store)?;
    let mut lines: Vec<String> =
        bearings.iter().map(|bearing| format!("{bearing} belongs to {new}")).collect();
    lines.extend(said(old, &out, how, settings));
    Ok(lines)
}

async fn forget(
    store: &dyn Store,
    settings: &AgentSettings,
    gateway: &GatewayKey,
    how: &Asking,
) -> Result<Vec<String>, Failure> {
    is_known(store, gateway).await?;
    let bearings = bearings_of(store, gateway).await?;
    let removal = how.removal(settings);
    let out = store.forget_gateway(gateway, &removal).await.map_err(failure::store)?;
    let mut lines: Vec<String> =
        bearings.iter().map(|bearing| format!("{bearing}: its next event decides")).collect();
    lines.extend(said(gateway, &out, how, settings));
    Ok(lines)
}

async fn is_known(store: &dyn Store, gateway: &GatewayKey) -> Result<(), Failure> {
    let gateways = store.gateways().await.map_err(failure::store)?;
    if gateways.iter().any(|state| state.gateway == *gateway) {
        return Ok(());
    }
    let told = anyhow::anyhow!("{gateway} is not known; `pdm-agent gateways list` shows what is");
    Err(Failure::new(Exit::NoInput, told))
}

async fn bearings_of(store: &dyn Store, gateway: &GatewayKey) -> Result<Vec<BearingKey>, Failure> {
    let owners = store.bearing_owners().await.map_err(failure::store)?;
    let own = owners.into_iter().filter(|(_, owner)| owner == gateway);
    Ok(own.map(|(bearing, _)| bearing).collect())
}

/// What became of a gateway that was taken out.
fn said(
    gateway: &GatewayKey,
    out: &TakenOut,
    how: &Asking,
    settings: &AgentSettings,
) -> Vec<String> {
    let verb = if how.dry_run { "would be taken out" } else { "is taken out" };
    let mut lines = vec![format!(
        "gateway {gateway} {verb}: {} alarms closed, {} retained topics cleared",
        out.episodes, out.topics
    )];
    if settings.gateways.names(gateway) {
        lines.push(format!(
            "[[gateways]] in agent.toml still names {gateway}: change it, and start the agent again"
        ));
    }
    if how.dry_run {
        lines.push("nothing was changed (--dry-run)".to_owned());
    }
    lines
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
