//! `pdm-agent notify preview`: what staff would be told of recorded events.

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};

use pdm_expert::rules::Rules;
use pdm_service::exit::{Exit, Failure};
use pdm_shared::bounds::MAX_EVENT_BYTES;
use pdm_shared::event::Event;
use pdm_shared::risk::RiskLevel;

use super::{Lang, failure};
use crate::preview::Preview;
use crate::settings::{AgentSettings, NotifySettings};

/// Arguments of `notify`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Say what staff would be told of events, without telling anybody
    Preview(PreviewArgs),
}

/// Arguments of `notify preview`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  pdm-edge replay run.npy.gz … --jsonl | pdm-agent notify preview - --config /etc/pdm/agent.toml

The events are judged by the rules and told by the policy of the configuration, each at the time of its
measurement, and nobody acknowledges. No tool is asked.

Exit codes: 0 done, 65 not an event, 66 missing file, 78 bad configuration")]
struct PreviewArgs {
    /// Events in the order of time, one a line; - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
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

/// Runs the command.
///
/// # Errors
/// A [`Failure`] with its exit code.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let What::Preview(args) = &args.what;
    let (notify, rules) = match &args.config {
        Some(config) => {
            let settings = AgentSettings::read(config).map_err(failure::config)?;
            (settings.notify, settings.rules)
        }
        None => (NotifySettings::default(), Rules::default()),
    };
    let mut preview = Preview::new(notify, rules);
    let mut out = pdm_service::command_line::stdout();
    let (mut events, mut worst, mut told) = (0_u64, RiskLevel::Normal, 0);
    for (number, line) in (1_u64..).zip(reader(&args.file)?.lines()) {
        let line = line.map_err(|error| Failure::new(Exit::BadInput, error))?;
        if line.trim().is_empty() {
            continue;
        }
        worst = worst.max(preview.play(&event(number, &line)?));
        events += 1;
        for notification in &preview.told()[told..] {
            if args.json {
                writeln!(out, "{}", serde_json::to_string(notification)?)?;
            } else {
                let title = notification.title.in_language(args.lang.into());
                writeln!(out, "{}  {title}", notification.created_at)?;
            }
        }
        told = preview.told().len();
    }
    let episodes = preview.episodes();
    if !args.json {
        writeln!(out, "{events} events, at worst {worst}: {episodes} episodes, {told} messages")?;
    }
    Ok(Exit::Ok)
}

fn event(number: u64, line: &str) -> Result<Event, Failure> {
    let wrong = |told: String| {
        Failure::new(Exit::BadInput, anyhow::anyhow!("line {number}: not an event: {told}"))
    };
    if line.len() > MAX_EVENT_BYTES {
        return Err(wrong(format!("{} bytes, allowed are {MAX_EVENT_BYTES}", line.len())));
    }
    let event: Event = serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
    event.check().map_err(|error| wrong(error.to_string()))?;
    Ok(event)
}

fn reader(file: &Path) -> Result<Box<dyn BufRead>, Failure> {
    if file == Path::new("-") {
        return Ok(Box::new(std::io::BufReader::new(std::io::stdin())));
    }
    let opened = std::fs::File::open(file).map_err(|error| {
        Failure::new(Exit::NoInput, anyhow::anyhow!("{}: {error}", file.display()))
    })?;
    Ok(Box::new(std::io::BufReader::new(opened)))
}
