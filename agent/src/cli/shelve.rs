//! `pdm-agent shelve`: staff is told nothing of a bearing for a time, or is told again.

use std::io::Write;
use std::path::PathBuf;

use pdm_service::clock::{Clock, SystemClock};
use pdm_service::exit::{Exit, Failure};
use pdm_shared::episode::{SHELVE_SCHEMA, Shelve, ShelveAction, Suppression};
use pdm_shared::id::BearingKey;
use pdm_shared::time::Timestamp;
use pdm_shared::topic::{Prefix, Topic};
use pdm_store::{EpisodeRecord, Incoming, Store};

use super::bearing_name::bearing;
use super::failure;
use super::with_store::with_store;
use crate::intake::parse::episode_topic;
use crate::settings::AgentSettings;

/// Arguments of `shelve`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pdm-agent shelve ulsan-1/P-101/DE --hours 24 --by kim --reason 'spare arrives tomorrow'
  pdm-agent shelve ulsan-1/P-101/DE --hours 8 --by kim --reason overhaul --work-order WO-2041
  pdm-agent shelve ulsan-1/P-101/DE --end --by kim

A shelf lasts a week at most. When it ends, what rose or resolved meanwhile is told once.

Without PDM_AGENT_CONFIG in the environment each wants --config FILE.

Exit codes: 0 taken, 64 wrong arguments, 66 no such bearing or nothing shelved, 69 store \
unavailable, 78 bad configuration")]
pub struct Args {
    /// SITE/EQUIPMENT/BEARING
    #[arg(value_parser = bearing)]
    bearing: BearingKey,
    /// Hours for which staff is told nothing
    #[arg(long, required_unless_present_any = ["until", "end"],
        conflicts_with_all = ["until", "end"])]
    hours: Option<f64>,
    /// Time until which staff is told nothing, RFC 3339
    #[arg(long, value_parser = time, conflicts_with = "end")]
    until: Option<Timestamp>,
    /// Tell again from now on
    #[arg(long)]
    end: bool,
    /// Person who asks
    #[arg(long)]
    by: String,
    /// Why
    #[arg(long, required_unless_present = "end")]
    reason: Option<String>,
    /// The machine is out of service for this work order
    #[arg(long, conflicts_with = "end")]
    work_order: Option<String>,
    /// The configuration
    #[arg(long, value_name = "FILE", env = "PDM_AGENT_CONFIG")]
    config: PathBuf,
}

fn time(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text).map_err(|error| error.to_string())
}

impl Args {
    fn request(&self, now: Timestamp) -> Shelve {
        let action = match (self.end, &self.work_order) {
            (true, _) => ShelveAction::End,
            (false, Some(_)) => ShelveAction::OutOfService,
            (false, None) => ShelveAction::Shelve,
        };
        let until = self.until.or_else(|| Some(now.plus_seconds(3600.0 * self.hours?)));
        Shelve {
            schema: SHELVE_SCHEMA.to_owned(),
            action,
            until: until.filter(|_| !self.end),
            by: self.by.clone(),
            reason: self.reason.clone().unwrap_or_default(),
            work_order: self.work_order.clone(),
            at: now,
        }
    }
}

/// Runs the command.
///
/// # Errors
/// A [`Failure`] with its exit code.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let settings = AgentSettings::read(&args.config).map_err(failure::config)?;
    let shelve = args.request(SystemClock.now());
    shelve.check(shelve.at).map_err(|told| Failure::new(Exit::Usage, anyhow::anyhow!(told)))?;
    let record = with_store(&settings.store, async |store| {
        take(store, &args.bearing, &shelve, &settings.broker.prefix).await
    })?;
    let mut out = pdm_service::command_line::stdout();
    match record.and_then(|record| record.episode.suppression.until()) {
        Some(until) if !args.end => {
            writeln!(out, "{}: staff is told nothing until {until}", args.bearing)?;
        }
        _ => writeln!(out, "{}: staff is told again", args.bearing)?,
    }
    Ok(Exit::Ok)
}

/// Hands the request to the store as one that came from the broker.
async fn take(
    store: &Store,
    key: &BearingKey,
    shelve: &Shelve,
    prefix: &Prefix,
) -> Result<Option<EpisodeRecord>, Failure> {
    let missing = |what: String| Failure::new(Exit::NoInput, anyhow::anyhow!(what));
    let open =
        store.episodes().episode(key).await.map_err(failure::store)?.filter(EpisodeRecord::is_open);
    let is_shelved = open.as_ref().is_some_and(|one| {
        matches!(
            one.episode.suppression,
            Suppression::Shelved { .. } | Suppression::OutOfService { .. }
        )
    });
    if shelve.action == ShelveAction::End && !is_shelved {
        return Err(missing(format!("{key} is not shelved")));
    }
    if open.is_none() && store.pages().standing(key).await.map_err(failure::store)?.is_none() {
        return Err(missing(format!("{key} was never judged")));
    }
    let topic = episode_topic(prefix, key);
    let batch = [Incoming::Shelve { key: key.clone(), shelve: shelve.clone(), topic }];
    let letters = Topic::DeadLetter.under(prefix);
    store.intake().store(&batch, shelve.at, &letters).await.map_err(failure::store)?;
    store.episodes().episode(key).await.map_err(failure::store)
}
