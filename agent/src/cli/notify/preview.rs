//! `pdm-agent notify preview`: what staff would be told of recorded or stored events, and by which
//! way.

use std::io::Write;
use std::path::PathBuf;

use pdm_expert::rules::Rules;
use pdm_service::clock::{Clock as _, SystemClock};
use pdm_service::exit::{Exit, Failure};
use pdm_shared::event::Event;
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use pdm_store::Store;

use crate::cli::bearing_name::bearing;
use crate::cli::event_lines::{Demands, EventLines, Turns};
use crate::cli::with_store::with_store;
use crate::cli::{Lang, failure};
use crate::preview::{Preview, Way};
use crate::settings::{AgentSettings, NotifySettings};

/// A wait of this length is told, s (chosen): notifications of one machine usually wait a few
/// seconds.
const A_WHILE_S: f64 = 60.0;

/// Most stored events of one preview: about half a gigabyte of memory.
const MOST: usize = 200_000;

/// The events of a plant come in turn, in the order of time.
const IN_TURN: Demands = Demands { turns: Turns::Interleaved, end_record: false, can_sort: false };

/// Arguments of `notify preview`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pdm-edge replay run.npy.gz … --jsonl | pdm-agent notify preview - --config /etc/pdm/agent.toml
  pdm-agent notify preview --stored 500 --config /etc/pdm/agent.toml

The events are judged by the rules and told by the policy and the routes of the configuration, \
each at the time of its measurement, and nobody acknowledges. No tool is \
asked. What falls between two windows (steps of a route, repetitions, the end of quiet hours) is \
shown at the next window; `pdm-agent backtest` plays it at its own time.

Exit codes: 0 done, 64 wrong arguments, 65 not an event, or an event in the wrong place, 66 \
missing file, 69 store unavailable, 78 bad configuration")]
pub(super) struct PreviewArgs {
    /// Events in the order of time, one a line; - for standard input
    #[arg(value_name = "FILE", required_unless_present = "stored", conflicts_with = "stored")]
    file: Option<PathBuf>,
    /// The last so many windows of each bearing in the store
    #[arg(long, value_name = "WINDOWS", requires = "config",
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    stored: Option<u32>,
    /// Of this bearing alone, with --stored
    #[arg(long, value_name = "SITE/EQUIPMENT/BEARING", value_parser = bearing, requires = "stored")]
    bearing: Option<BearingKey>,
    /// The configuration; without it the defaults
    #[arg(long, value_name = "FILE", env = "PDM_AGENT_CONFIG")]
    config: Option<PathBuf>,
    /// Language of the titles
    #[arg(long, value_enum, default_value = "en")]
    lang: Lang,
    /// One notification (pdm.notification/1) a line
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &PreviewArgs) -> anyhow::Result<Exit> {
    let settings = args.config.as_deref().map(AgentSettings::read).transpose();
    let settings = settings.map_err(failure::config)?;
    let (notify, rules) = match &settings {
        Some(settings) => (settings.notify.clone(), settings.rules.clone()),
        None => (NotifySettings::default(), Rules::default()),
    };
    let mut play = Play::new(args, Preview::new(notify, rules));
    match (&settings, args.stored, &args.file) {
        (Some(settings), Some(windows), _) => {
            for event in stored(settings, windows, args.bearing.as_ref())? {
                play.event(&event)?;
            }
        }
        (_, _, Some(file)) => {
            let mut lines = EventLines::open(file, IN_TURN)?;
            while let Some(event) = lines.next_event()? {
                for remark in lines.take_remarks() {
                    writeln!(std::io::stderr(), "{remark}")?;
                }
                play.event(&event)?;
            }
        }
        (_, _, None) => {}
    }
    play.end()
}

/// Says which channels hear, and when, if that is later than a group waits.
fn leaving(way: &Way, now: Timestamp) -> String {
    if way.lanes.is_empty() {
        return "  -> broker alone".to_owned();
    }
    let later = way.leaves_at.filter(|at| at.seconds_since(now) > A_WHILE_S);
    let at = later.map_or(String::new(), |at| format!(" at {at}"));
    format!("  -> {}{at}", way.lanes.join(", "))
}

/// Events on their way through the preview, and what is printed of them.
struct Play<'a> {
    args: &'a PreviewArgs,
    preview: Preview,
    events: u64,
    worst: RiskLevel,
    told: usize,
    out: Box<dyn Write>,
}

impl<'a> Play<'a> {
    fn new(args: &'a PreviewArgs, preview: Preview) -> Self {
        let out = Box::new(pdm_service::command_line::stdout());
        Self { args, preview, events: 0, worst: RiskLevel::Normal, told: 0, out }
    }

    fn event(&mut self, event: &Event) -> anyhow::Result<()> {
        self.worst = self.worst.max(self.preview.play(event));
        self.events += 1;
        for (place, notification) in self.preview.told().iter().enumerate().skip(self.told) {
            if self.args.json {
                writeln!(self.out, "{}", serde_json::to_string(notification)?)?;
                continue;
            }
            let title = notification.title.in_language(self.args.lang.into());
            let to = match (&self.args.config, self.preview.way(place)) {
                (None, _) => String::new(),
                (Some(_), way) => leaving(&way, event.measured_at),
            };
            writeln!(self.out, "{}  {title}{to}", event.measured_at)?;
        }
        self.told = self.preview.told().len();
        Ok(())
    }

    fn end(mut self) -> anyhow::Result<Exit> {
        if !self.args.json {
            let (events, worst, told) = (self.events, self.worst, self.told);
            let episodes = self.preview.episodes();
            writeln!(
                self.out,
                "{events} events, at worst {worst}: {episodes} episodes, {told} messages"
            )?;
        }
        Ok(Exit::Ok)
    }
}

/// The last windows of each bearing, in the order of time.
fn stored(
    settings: &AgentSettings,
    windows: u32,
    only: Option<&BearingKey>,
) -> anyhow::Result<Vec<Event>> {
    with_store(&settings.store, async |store| windows_of(store, windows, only).await)
}

async fn windows_of(
    store: &Store,
    windows: u32,
    only: Option<&BearingKey>,
) -> Result<Vec<Event>, Failure> {
    let now = SystemClock.now();
    let fleet = store.pages().fleet().await.map_err(failure::store)?;
    let keys = fleet.into_iter().map(|row| row.key).filter(|key| only.is_none_or(|one| one == key));
    let mut events = Vec::new();
    for key in keys {
        let past = store.history().history(&key, now, windows).await.map_err(failure::store)?;
        events.extend(past.into_iter().map(|past| past.event));
        if events.len() > MOST {
            let told =
                format!("more than {MOST} events: take fewer with --stored, or one --bearing");
            return Err(Failure::new(Exit::Usage, anyhow::anyhow!(told)));
        }
    }
    events.sort_by_key(|event| event.measured_at);
    Ok(events)
}
