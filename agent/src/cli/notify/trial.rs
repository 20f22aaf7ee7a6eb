//! `pdm-agent notify test`: a message of trial through the real channels, past the outbox.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use pdm_service::clock::{Clock as _, SharedClock, SystemClock};
use pdm_service::exit::{Exit, Failure};
use pdm_shared::time::Timestamp;

use crate::cli::failure;
use crate::notify::lanes::Channel;
use crate::notify::policy::Policy;
use crate::service::channels::channels;
use crate::service::install_cryptography;
use crate::settings::AgentSettings;

/// Arguments of `notify test`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pdm-agent notify test --config /etc/pdm/agent.toml
  pdm-agent notify test --route pumps --config /etc/pdm/agent.toml
  pdm-agent notify test --recipient kim --config /etc/pdm/agent.toml

Without a name every channel and every person gets the message. The message names no machine and \
asks for nothing. It leaves at once: neither quiet hours nor ceilings hold it back.

Exit codes: 0 every receiver has taken it, 64 nothing has this name, 69 a receiver has not taken \
it, 78 bad configuration")]
pub(super) struct TrialArgs {
    /// The configuration
    #[arg(long, value_name = "FILE", env = "PDM_AGENT_CONFIG")]
    config: PathBuf,
    /// Whoever is behind the steps of this route now
    #[arg(long, value_name = "NAME", conflicts_with = "recipient")]
    route: Option<String>,
    /// A person, a group, a rota or a channel
    #[arg(long, value_name = "NAME")]
    recipient: Option<String>,
}

pub(super) fn run(args: &TrialArgs) -> anyhow::Result<Exit> {
    install_cryptography();
    let settings = AgentSettings::read(&args.config).map_err(failure::config)?;
    let clock: SharedClock = Arc::new(SystemClock);
    let channels = channels(&settings.notify, &settings.reports, &clock).map_err(failure::start)?;
    let policy = Policy::new(settings.notify.clone(), settings.broker.prefix.clone());
    let now = SystemClock.now();
    let lanes = lanes(args, &settings, &policy, now)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let told = runtime.map_err(failure::runtime)?.block_on(send(&lanes, &channels, now));
    let mut out = pdm_service::command_line::stdout();
    let mut failed = 0;
    for (lane, said) in &told {
        match said {
            Ok(said) => writeln!(out, "ok    {lane}: {said}")?,
            Err(error) => {
                failed += 1;
                writeln!(out, "FAIL  {lane}: {error}")?;
            }
        }
    }
    if failed == 0 {
        return Ok(Exit::Ok);
    }
    let error = anyhow::anyhow!("{failed} of {} have not taken it", told.len());
    Err(Failure::new(Exit::Unavailable, error).into())
}

/// The lanes that are tried.
fn lanes(
    args: &TrialArgs,
    settings: &AgentSettings,
    policy: &Policy,
    now: Timestamp,
) -> Result<Vec<String>, Failure> {
    let notify = &settings.notify;
    let known: Vec<&str> = notify.route.iter().map(|route| route.name.as_str()).collect();
    if let Some(route) = args.route.as_deref().filter(|route| !known.contains(route)) {
        let told = format!("there is no route {route}; there are: {}", known.join(", "));
        return Err(Failure::new(Exit::Usage, anyhow::anyhow!(told)));
    }
    let name = args.route.as_deref().or(args.recipient.as_deref());
    let lanes = policy.lanes_of(name, now);
    if lanes.is_empty() {
        let told = name.map_or_else(
            || "[notify] has neither e-mail nor a web hook".to_owned(),
            |name| format!("nobody is behind {name} now"),
        );
        return Err(Failure::new(Exit::Usage, anyhow::anyhow!(told)));
    }
    Ok(lanes)
}

/// Sends the message by each lane's channel, one after the other, and returns their answers.
async fn send(
    lanes: &[String],
    channels: &[Arc<dyn Channel>],
    now: Timestamp,
) -> Vec<(String, Result<String, String>)> {
    let mut told = Vec::new();
    for lane in lanes {
        let said = match channels.iter().find(|channel| channel.lane() == lane) {
            Some(channel) => try_out(channel.as_ref(), now).await,
            None => Err("no channel of the configuration serves it".to_owned()),
        };
        told.push((lane.clone(), said));
    }
    told
}

async fn try_out(channel: &dyn Channel, now: Timestamp) -> Result<String, String> {
    let trial = Policy::trial(now);
    let said = channel.try_out(trial.notification_id, &trial).await;
    said.map_err(|error| error.to_string())
}
