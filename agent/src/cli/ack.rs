//! `pdm-agent ack`: somebody has seen the standing alarm of a bearing or gateway.

use std::io::Write;
use std::path::PathBuf;

use pdm_service::clock::{Clock, SystemClock};
use pdm_service::exit::{Exit, Failure};
use pdm_shared::delivery::{ACK_SCHEMA, Acknowledgement};
use pdm_shared::episode::AcknowledgementState;
use pdm_shared::id::BearingKey;
use pdm_shared::topic::{Prefix, Topic};
use pdm_store::{EpisodeRecord, Incoming, Store};

use super::bearing_name::bearing;
use super::failure;
use super::with_store::with_store;
use crate::intake::parse::episode_topic;
use crate::settings::AgentSettings;

/// Arguments of `ack`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pdm-agent ack ulsan-1/P-101/DE --by kim --note '현장 확인 중'
  pdm-agent ack ulsan-1/gateway/gw-01 --by kim

Without PDM_AGENT_CONFIG in the environment each wants --config FILE.

Exit codes: 0 acknowledged, 64 wrong arguments, 66 nothing to acknowledge, 69 store unavailable, \
78 bad configuration")]
pub struct Args {
    /// SITE/EQUIPMENT/BEARING, or SITE/gateway/GATEWAY
    #[arg(value_parser = bearing)]
    bearing: BearingKey,
    /// Person who has seen it
    #[arg(long)]
    by: String,
    /// Remark of that person
    #[arg(long)]
    note: Option<String>,
    /// The configuration
    #[arg(long, value_name = "FILE", env = "PDM_AGENT_CONFIG")]
    config: PathBuf,
}

/// Runs the command.
///
/// # Errors
/// A [`Failure`] with its exit code.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let settings = AgentSettings::read(&args.config).map_err(failure::config)?;
    let record = with_store(&settings.store, async |store| {
        take(store, args, &settings.broker.prefix).await
    })?;
    let AcknowledgementState::Acknowledged { level, by, .. } = &record.episode.acknowledgement
    else {
        let told = anyhow::anyhow!("{} stands above what was told: end its shelf", args.bearing);
        return Err(Failure::new(Exit::NoInput, told).into());
    };
    let mut out = pdm_service::command_line::stdout();
    writeln!(out, "{}: {level} acknowledged by {by}", args.bearing)?;
    Ok(Exit::Ok)
}

async fn take(store: &Store, args: &Args, prefix: &Prefix) -> Result<EpisodeRecord, Failure> {
    let key = &args.bearing;
    let nothing = || {
        let told = anyhow::anyhow!("nothing was told of {key} that could be acknowledged");
        Failure::new(Exit::NoInput, told)
    };
    let record = store.episodes().episode(key).await.map_err(failure::store)?;
    let record = record.filter(EpisodeRecord::is_open).ok_or_else(nothing)?;
    let alarm = record.alarm.as_ref().ok_or_else(nothing)?;
    let now = SystemClock.now();
    let ack = Acknowledgement {
        schema: ACK_SCHEMA.to_owned(),
        notification_id: Some(alarm.notification.notification_id),
        by: args.by.clone(),
        at: now,
        note: args.note.clone(),
        episode_id: Some(record.episode.id),
        via: Some("cli".to_owned()),
    };
    ack.check().map_err(|error| Failure::new(Exit::Usage, error))?;
    let topic = episode_topic(prefix, key);
    let batch = [Incoming::Ack { key: key.clone(), ack, topic }];
    let letters = Topic::DeadLetter.under(prefix);
    store.intake().store(&batch, now, &letters).await.map_err(failure::store)?;
    store.episodes().episode(key).await.map_err(failure::store)?.ok_or_else(nothing)
}
