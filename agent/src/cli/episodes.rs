//! `pdm-agent episodes`: lists the episodes that stand and those that are over, and shows one
//! whole.

use std::io::Write;
use std::path::PathBuf;

use pdm_service::clock::{Clock, SystemClock};
use pdm_service::exit::{Exit, Failure};
use pdm_shared::episode::{AcknowledgementState, Suppression};
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_store::{EpisodeRecord, Store};

use super::bearing_name::bearing;
use super::failure;
use super::with_store::with_store;
use crate::settings::AgentSettings;

/// Arguments of `episodes`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pdm-agent episodes list --config /etc/pdm/agent.toml
  pdm-agent episodes list --all --limit 200
  pdm-agent episodes show ulsan-1/P-101/DE --json

Without PDM_AGENT_CONFIG in the environment each wants --config FILE.

Exit codes: 0 listed, 64 wrong arguments, 66 no such episode, 69 store unavailable, 78 bad \
configuration")]
pub struct Args {
    #[command(subcommand)]
    what: What,
    /// The configuration
    #[arg(long, value_name = "FILE", env = "PDM_AGENT_CONFIG", global = true)]
    config: Option<PathBuf>,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// List episodes, the one that changed last first
    List {
        /// The closed ones too
        #[arg(long)]
        all: bool,
        /// Most episodes
        #[arg(long, default_value_t = 50,
            value_parser = clap::value_parser!(u32).range(1..=10_000))]
        limit: u32,
        /// One document (pdm.episode/1) a line
        #[arg(long)]
        json: bool,
    },
    /// Show the last episode of a bearing
    Show {
        /// SITE/EQUIPMENT/BEARING
        #[arg(value_parser = bearing)]
        bearing: BearingKey,
        /// The document (pdm.episode/1)
        #[arg(long)]
        json: bool,
    },
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
    let settings = AgentSettings::read(config).map_err(failure::config)?;
    let lines = with_store(&settings.store, async |store| lines(&args.what, store).await)?;
    let mut out = pdm_service::command_line::stdout();
    for line in lines {
        writeln!(out, "{line}")?;
    }
    Ok(Exit::Ok)
}

async fn lines(what: &What, store: &Store) -> Result<Vec<String>, Failure> {
    match what {
        What::List { all, limit, json } => {
            // changes of a clock that was ahead are listed too
            let end = SystemClock.now().ten_years_on();
            let episodes =
                store.episodes().episodes(end, !all, *limit).await.map_err(failure::store)?;
            let line = |(key, record): &(BearingKey, EpisodeRecord)| {
                if *json { document(key, record, false) } else { short(key, record) }
            };
            Ok(episodes.iter().map(line).collect())
        }
        What::Show { bearing, json } => {
            let record = store.episodes().episode(bearing).await.map_err(failure::store)?;
            let missing = || anyhow::anyhow!("{bearing} has no episode");
            let record = record.ok_or_else(|| Failure::new(Exit::NoInput, missing()))?;
            if *json {
                return Ok(vec![document(bearing, &record, true)]);
            }
            Ok(long(bearing, &record))
        }
    }
}

fn document(key: &BearingKey, record: &EpisodeRecord, is_pretty: bool) -> String {
    let document = record.episode.document(key);
    let text = if is_pretty {
        serde_json::to_string_pretty(&document)
    } else {
        serde_json::to_string(&document)
    };
    text.unwrap_or_default()
}

/// Returns an episode on one line: state, level, bearing, since when, who has seen it, the level
/// told.
fn short(key: &BearingKey, record: &EpisodeRecord) -> String {
    let EpisodeRecord { episode, alarm, .. } = record;
    let level = episode.course.told.unwrap_or(RiskLevel::Normal);
    let title = alarm.as_ref().map_or_else(String::new, |alarm| {
        let title = &alarm.notification.title;
        format!("  {} / {}", title.ko, title.en)
    });
    let state = episode.state().as_str();
    format!("{state:<21} {level:<8} {key}  {}{title}", episode.opened_at)
}

fn long(key: &BearingKey, record: &EpisodeRecord) -> Vec<String> {
    let EpisodeRecord { episode, alarm, .. } = record;
    let course = &episode.course;
    let mut lines = vec![
        format!("bearing          {key}"),
        format!("episode          {} (change {})", episode.id, episode.sequence),
        format!("state            {}", episode.state().as_str()),
        format!("condition        {} {}", course.condition.as_str(), course.condition.level()),
        format!("last change      {} at {}", episode.transition.as_str(), episode.changed_at),
        format!("opened           {}", episode.opened_at),
    ];
    lines.extend(episode.closed_at.map(|at| format!("closed           {at}")));
    lines.push(match &episode.acknowledgement {
        AcknowledgementState::Unacknowledged => "acknowledged     no".to_owned(),
        AcknowledgementState::Acknowledged { level, by, at, via } => {
            let via = via.as_deref().unwrap_or("-");
            format!("acknowledged     {level} by {by} at {at} ({via})")
        }
    });
    lines.push(match &episode.suppression {
        Suppression::None => "suppressed       no".to_owned(),
        Suppression::ByDesign { reason } => format!("suppressed       by design: {reason}"),
        Suppression::Shelved { until, by, reason } => {
            format!("suppressed       shelved until {until} by {by}: {reason}")
        }
        Suppression::OutOfService { until, by, reason, work_order } => {
            let order = work_order.as_deref().unwrap_or("-");
            format!("suppressed       out of service until {until} by {by}, {order}: {reason}")
        }
    });
    for (level, one) in &course.levels {
        let below = one.below_since.map_or("now".to_owned(), |at| format!("until {at}"));
        let told = one.tellings.last().map_or("not told".to_owned(), |at| format!("told {at}"));
        lines.push(format!("{level:<16} {below}, {} returns, {told}", one.returns));
    }
    if let Some(alarm) = alarm {
        let told = &alarm.notification;
        lines.push(format!("told             {} / {}", told.title.ko, told.title.en));
        lines.push(format!("repeated         {} times", alarm.repeats));
        lines.extend(alarm.repeat_at.map(|at| format!("next repetition  {at}")));
    }
    lines
}
