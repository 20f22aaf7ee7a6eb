//! `pdm-agent export`: describes the plant's bearings to other programs.

use std::io::Write as _;
use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};
use pdm_service::clock::{Clock as _, SystemClock};
use pdm_service::exit::{Exit, Failure};
use pdm_shared::id::{BearingKey, EventId, GatewayKey};
use pdm_shared::time::Timestamp;
use pdm_store::{MQTT_LANE, Outgoing, Payload, PlantPart, Store};

use super::with_store::with_store;
use super::{Lang, failure};
use crate::home_assistant::{DISCOVERY, Device, Discovery, DiscoveryMessage};
use crate::settings::AgentSettings;

/// Arguments of `export`.
#[derive(Debug, ClapArgs)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Describe the bearings to Home Assistant (MQTT discovery)
    HomeAssistant(HomeAssistant),
}

/// Arguments of `export home-assistant`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  pdm-agent export home-assistant --config /etc/pdm/agent.toml
  pdm-agent export home-assistant --publish --config /etc/pdm/agent.toml
  pdm-agent export home-assistant ulsan-1/P-101 --language en --publish
  pdm-agent export home-assistant ulsan-1/P-101/DE --remove --publish

Prints one line a message: topic, tab, JSON. With --publish the agent's store takes them, and the \
running agent sends them retained; its right to write homeassistant/# at the broker is needed \
(deploy/mosquitto/acl). After new bearings or other names: once more.

Exit codes: 0 printed or handed to the agent, 64 wrong arguments, 66 no bearing of that name, 69 \
store unavailable, 78 bad configuration")]
struct HomeAssistant {
    /// SITE, SITE/EQUIPMENT or SITE/EQUIPMENT/BEARING [default: every bearing]
    parts: Vec<PlantPart>,
    /// Let the running agent send the messages, retained
    #[arg(long)]
    publish: bool,
    /// Take the entities out again; a bearing that is gone is named in full
    #[arg(long)]
    remove: bool,
    /// First level of the topics that Home Assistant reads
    #[arg(long, value_name = "PREFIX", default_value = DISCOVERY)]
    discovery_prefix: String,
    /// Language of the entities' names
    #[arg(long, value_enum, default_value = "ko")]
    language: Lang,
    /// The configuration
    #[arg(long, value_name = "FILE", env = "PDM_AGENT_CONFIG")]
    config: PathBuf,
}

/// Runs the command.
///
/// # Errors
/// A [`Failure`] with its exit code.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let Command::HomeAssistant(args) = &args.command;
    let settings = AgentSettings::read(&args.config).map_err(failure::config)?;
    let discovery = Discovery {
        prefix: settings.broker.prefix.clone(),
        discovery: discovery_level(&args.discovery_prefix)?,
        language: args.language.into(),
    };
    let messages =
        with_store(&settings.store, async |store| told(store, &settings, &discovery, args).await)?;
    let mut out = pdm_service::command_line::stdout();
    if args.publish {
        let count = messages.len();
        writeln!(out, "{count} messages are in the outbox; the running agent sends them")?;
        return Ok(Exit::Ok);
    }
    for DiscoveryMessage { topic, payload } in &messages {
        writeln!(out, "{topic}\t{payload}")?;
    }
    Ok(Exit::Ok)
}

/// Checks the first level of the discovery's topics.
fn discovery_level(prefix: &str) -> Result<String, Failure> {
    let is_level = !prefix.is_empty()
        && prefix.len() <= 64
        && !prefix.starts_with('$')
        && !prefix.chars().any(|c| matches!(c, '+' | '#') || c.is_whitespace() || c.is_control());
    if is_level {
        return Ok(prefix.trim_matches('/').to_owned());
    }
    let told = anyhow::anyhow!(
        "--discovery-prefix is {prefix:?}, allowed are at most 64 letters without +, # and spaces"
    );
    Err(Failure::new(Exit::Usage, told))
}

/// The messages of the bearings that are asked for; with `--publish` they are in the outbox then.
async fn told(
    store: &Store,
    settings: &AgentSettings,
    discovery: &Discovery,
    args: &HomeAssistant,
) -> Result<Vec<DiscoveryMessage>, Failure> {
    let keys = chosen(store, args).await?;
    let owners = store.gateways().bearing_owners().await.map_err(failure::store)?;
    let mut messages = Vec::new();
    for key in &keys {
        if args.remove {
            messages.extend(discovery.removal(key));
            continue;
        }
        let by_event = owners.iter().find(|(bearing, _)| bearing == key).map(|(_, owner)| owner);
        let named = settings.gateways.of(key);
        messages.extend(discovery.messages(&device(settings, key, named.as_ref().or(by_event))));
    }
    if args.publish {
        let now = SystemClock.now();
        let rows: Vec<Outgoing> = messages.iter().map(|message| row(message, now)).collect();
        store.outbox().put(&rows, now).await.map_err(failure::store)?;
    }
    Ok(messages)
}

/// The bearings that are asked for, each once.
async fn chosen(store: &Store, args: &HomeAssistant) -> Result<Vec<BearingKey>, Failure> {
    let known = store.gateways().known_bearings().await.map_err(failure::store)?;
    let mut keys: Vec<BearingKey> = Vec::new();
    for part in &args.parts {
        let of_part: Vec<&BearingKey> = known.iter().filter(|key| is_within(part, key)).collect();
        // what is gone from the store may still stand at the broker
        let named = bearing_of(part).filter(|_| args.remove);
        if of_part.is_empty() && named.is_none() {
            let told = anyhow::anyhow!("no bearing is known under {part}");
            return Err(Failure::new(Exit::NoInput, told));
        }
        keys.extend(of_part.into_iter().cloned().chain(named));
    }
    if args.parts.is_empty() {
        keys = known;
    }
    keys.sort();
    keys.dedup();
    Ok(keys)
}

fn is_within(part: &PlantPart, key: &BearingKey) -> bool {
    part.site == key.site
        && part.equipment.as_ref().is_none_or(|equipment| *equipment == key.equipment)
        && part.bearing.as_ref().is_none_or(|bearing| *bearing == key.bearing)
}

/// The bearing that a part names; `None` where it is a machine or a site.
fn bearing_of(part: &PlantPart) -> Option<BearingKey> {
    Some(BearingKey {
        site: part.site.clone(),
        equipment: part.equipment.clone()?,
        bearing: part.bearing.clone()?,
    })
}

/// A bearing with what the configuration says of it.
fn device<'a>(
    settings: &AgentSettings,
    key: &'a BearingKey,
    gateway: Option<&'a GatewayKey>,
) -> Device<'a> {
    let asset = settings.reports.asset_of_bearing(key);
    let page = settings.page_address();
    let page = page
        .map(|address| format!("{}{}", address.trim_end_matches('/'), pdm_web::bearing_path(key)));
    Device { key, gateway, machine: asset.equipment, designation: asset.designation, page }
}

fn row(message: &DiscoveryMessage, now: Timestamp) -> Outgoing {
    Outgoing {
        key: EventId::at(now.unix_ms()).0,
        lane: MQTT_LANE.to_owned(),
        topic: Some(message.topic.clone()),
        retain: true,
        notification_id: None,
        group: None,
        payload: Payload::Text(message.payload.clone()),
        due_at: now,
    }
}
