//! `pdm-agent gateways`: lists the gateways and their bearings and what is refused of them,
//! releases one that has moved, replaces one, and takes one out.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};
use pdm_service::exit::{Exit, Failure};
use pdm_shared::delivery::Presence;
use pdm_shared::id::{BearingKey, GatewayKey, NameError};
use pdm_store::{BearingOwners, GatewayState, RefusedEvents, Store};
use pdm_web::plant::{PlantChange, TakenOut};

use super::failure;
use super::forget::{change_request, count_in_words, done};
use super::with_store::with_store;
use crate::settings::AgentSettings;

/// Arguments of `gateways`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  pdm-agent gateways list --config /etc/pdm/agent.toml
  pdm-agent gateways release ulsan-1/P-101/DE --config /etc/pdm/agent.toml
  pdm-agent gateways release ulsan-1/gw-01 --config /etc/pdm/agent.toml
  pdm-agent gateways replace ulsan-1/gw-01 ulsan-1/gw-02 --by kim --reason 'board broken' --dry-run
  pdm-agent gateways forget ulsan-1/gw-01 --by kim --reason 'line closed'

Exit codes: 0 listed, released, replaced or taken out, 64 wrong arguments, 66 no such bearing or \
gateway, 69 store unavailable, 78 bad configuration")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
    /// The configuration
    #[arg(long, value_name = "FILE", env = "PDM_AGENT_CONFIG", global = true)]
    config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List every gateway with its bearings: those that its first events brought, and those that
    /// [[gateways]] of agent.toml gives to it
    List,
    /// Let the next event decide: which gateway a bearing belongs to, or how a gateway proves
    /// itself
    Release {
        /// SITE/EQUIPMENT/BEARING of a bearing that another gateway measures now, or SITE/GATEWAY
        /// of a gateway that was replaced or set back to an earlier version
        name: String,
        /// Person who asks; it stands in the record of acts
        #[arg(long, default_value = "cli")]
        by: String,
        /// Why; it stands in the record of acts
        #[arg(long, default_value = "no reason was given")]
        reason: String,
        /// Say what would change, and change nothing
        #[arg(long)]
        dry_run: bool,
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
    /// Take out a gateway that is gone: its alarms end, its bearings belong to the gateway of their
    /// next event
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

/// Parses the name to release: a bearing by its three names, or a gateway by its two.
fn released(name: &str) -> Result<PlantChange, Failure> {
    let wrong = |error: NameError| Failure::new(Exit::Usage, error);
    match name.split('/').collect::<Vec<_>>()[..] {
        [site, equipment, bearing] => {
            let bearing = BearingKey::parse(site, equipment, bearing).map_err(wrong)?;
            Ok(PlantChange::ReleaseBearing(bearing))
        }
        _ => Ok(PlantChange::ReleaseGateway(name.parse().map_err(wrong)?)),
    }
}

/// Runs the command.
///
/// # Errors
/// A [`Failure`] with its exit code.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let Some(config) = &args.config else {
        let error = anyhow::anyhow!("--config FILE is missing (or PDM_AGENT_CONFIG)");
        return Err(Failure::new(Exit::Usage, error).into());
    };
    let (change, by, reason, is_dry) = match &args.command {
        Command::List => (None, "", "", false),
        Command::Release { name, by, reason, dry_run } => {
            (Some(released(name)?), by.as_str(), reason.as_str(), *dry_run)
        }
        Command::Replace { old, new, how } => {
            let change = PlantChange::ReplaceGateway { old: old.clone(), new: new.clone() };
            (Some(change), how.by.as_str(), how.reason.as_str(), how.dry_run)
        }
        Command::Forget { gateway, how } => {
            let change = PlantChange::ForgetGateway(gateway.clone());
            (Some(change), how.by.as_str(), how.reason.as_str(), how.dry_run)
        }
    };
    let settings = AgentSettings::read(config).map_err(failure::config)?;
    let lines = match change {
        None => listed(&settings)?,
        Some(change) => {
            let request = change_request(change, by, reason, is_dry);
            let out = done(&settings, &request)?;
            said(&request.change, &out, is_dry)
        }
    };
    let mut out = pdm_service::command_line::stdout();
    for line in lines {
        writeln!(out, "{line}")?;
    }
    Ok(Exit::Ok)
}

fn listed(settings: &AgentSettings) -> anyhow::Result<Vec<String>> {
    let lines = with_store(&settings.store, async |store| list(store, &settings.gateways).await)?;
    Ok(lines)
}

async fn list(store: &Store, configured: &BearingOwners) -> Result<Vec<String>, Failure> {
    let gateways = store.gateways().gateways().await.map_err(failure::store)?;
    let brought = store.gateways().bearing_owners().await.map_err(failure::store)?;
    let known = store.gateways().known_bearings().await.map_err(failure::store)?;
    let refused = store.gateways().refused().await.map_err(failure::store)?;
    let mut lines = Vec::new();
    for state in &gateways {
        lines.push(line(state));
        lines.extend(bearings_of(&state.gateway, &known, &brought, configured));
    }
    let unheard = configured.gateways().filter(|named| {
        // two entries may give bearings to one gateway
        !gateways.iter().any(|state| state.gateway == *named)
    });
    let unheard: BTreeSet<GatewayKey> = unheard.collect();
    lines.extend(
        unheard
            .iter()
            .map(|named| format!("{named}  named by [[gateways]], nothing has come of it")),
    );
    lines.extend(refused.iter().map(|one| {
        let RefusedEvents { gateway, bearing, count, first_at, reason, .. } = one;
        format!("{gateway}  {count} events of {bearing} refused since {first_at}: {reason}")
    }));
    Ok(lines)
}

/// The bearings of a gateway, a line each: those that the configuration gives to it, and those that
/// its events brought and the configuration gives to nobody.
fn bearings_of(
    gateway: &GatewayKey,
    known: &[BearingKey],
    brought: &[(BearingKey, GatewayKey)],
    configured: &BearingOwners,
) -> Vec<String> {
    let of = |bearing: &BearingKey| {
        if let Some(owner) = configured.of(bearing) {
            return (owner == *gateway).then(|| format!("    {bearing}  by [[gateways]]"));
        }
        let is_own = brought.iter().any(|(one, owner)| one == bearing && owner == gateway);
        is_own.then(|| format!("    {bearing}"))
    };
    known.iter().filter_map(of).collect()
}

/// Returns the lines that tell the result of a change.
fn said(change: &PlantChange, out: &TakenOut, is_dry: bool) -> Vec<String> {
    let becomes = |bearing: &BearingKey| {
        if let PlantChange::ReplaceGateway { new, .. } = change {
            return format!("{bearing} belongs to {new}");
        }
        format!("{bearing} is released: its next event decides")
    };
    let mut lines: Vec<String> = out.released.iter().map(becomes).collect();
    if let PlantChange::ReleaseGateway(gateway) = change {
        lines.push(format!("{gateway} is released: its next event decides"));
    } else {
        let verb = if is_dry { "would be taken out" } else { "is taken out" };
        lines.extend(out.gateways.iter().map(|gateway| {
            let alarms = count_in_words(out.episodes, "alarm");
            let topics = count_in_words(out.topics, "retained topic");
            format!("gateway {gateway} {verb}: {alarms} closed, {topics} cleared")
        }));
    }
    if out.is_configured {
        let told = "[[gateways]] in agent.toml still names it, and decides: change it there, and \
                    start the agent again";
        lines.push(told.to_owned());
    }
    if is_dry {
        lines.push("nothing was changed (--dry-run)".to_owned());
    }
    lines
}

/// A gateway on one line: name, presence, highest number, how it proves itself, losses.
pub(super) fn line(state: &GatewayState) -> String {
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Bearings that `[[gateways]]` names were listed under no gateway.
    #[test]
    fn bearings_of_the_configuration_stand_below_their_gateway() {
        let entries = "[[gateways]]\nsite = \"ulsan-1\"\ngateway = \"gw-01\"\n\
                       bearings = [\"P-101/DE\", \"P-205/*\"]\n";
        let mut read: toml::Table = entries.parse().expect("TOML");
        let entries = read.remove("gateways").expect("entries").try_into().expect("gateways");
        let owners = BearingOwners::of_settings(Path::new("agent.toml"), entries).expect("apart");
        let key = |name: &str| BearingKey::parse("ulsan-1", name, "DE").expect("a name");
        let known: Vec<BearingKey> = ["P-101", "P-205", "P-301", "P-302"].map(key).into();
        let gateway = |name: &str| -> GatewayKey { name.parse().expect("a name") };
        // the configuration decides also where an event of another gateway came first
        let brought = [
            (key("P-301"), gateway("ulsan-1/gw-01")),
            (key("P-205"), gateway("ulsan-1/gw-02")),
            (key("P-302"), gateway("ulsan-1/gw-02")),
        ];
        let of = |name: &str| bearings_of(&gateway(name), &known, &brought, &owners);
        assert_eq!(
            of("ulsan-1/gw-01"),
            [
                "    ulsan-1/P-101/DE  by [[gateways]]",
                "    ulsan-1/P-205/DE  by [[gateways]]",
                "    ulsan-1/P-301/DE"
            ]
        );
        assert_eq!(of("ulsan-1/gw-02"), ["    ulsan-1/P-302/DE"]);
    }
}
