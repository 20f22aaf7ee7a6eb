//! `pdm-agent backtest` and `pdm backtest`: what a configuration would have told of events that lie
//! in the past.

use std::collections::BTreeSet;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use pdm_service::exit::{Exit, Failure, exit_of_input};
use pdm_service::files::read_regular;
use pdm_shared::slice::MachineSlice;
use pdm_shared::text::Language;

use super::{Lang, failure};
use crate::backtest::parts::{self, Head, Part, PartError};
use crate::backtest::summary::Making;
use crate::backtest::truth::Truth;
use crate::backtest::{MachinePlayed, Side, Summary, Terms, report};
use crate::settings::AgentSettings;

mod lines;
mod progress;
mod stored;
mod words;
mod workers;

/// Longest file of failures, bytes: a million rows.
const MOST_TRUTH: u64 = 64 << 20;

/// How events are read and played, for all commands that play the past.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct InputArgs {
    /// A failure so many days after the end of an episode still is what it told of
    #[arg(long, value_name = "DAYS", default_value_t = 90.0, value_parser = days)]
    pub(in crate::cli) horizon_days: f64,
    /// Somebody acknowledges so many hours after each alarm; without it nobody does, and alarms are
    /// repeated
    #[arg(long, value_name = "HOURS", value_parser = hours)]
    pub(in crate::cli) acknowledged_after_h: Option<f64>,
    /// Take the events of several bearings in turn, as a gateway sends them
    #[arg(long)]
    interleaved: bool,
    /// Read everything first, put each bearing's events in order and leave repeated ones out
    #[arg(long, conflicts_with = "interleaved")]
    sort: bool,
    /// Most text that --sort keeps, MiB
    #[arg(long, value_name = "MIB", requires = "sort", default_value_t = 1024,
          value_parser = clap::value_parser!(u64).range(1..=1_048_576))]
    sort_memory: u64,
    /// Demand the last record of a slice of events (pdm.slice/1)
    #[arg(long)]
    whole: bool,
    /// Threads; all cores without it
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
}

impl InputArgs {
    fn jobs(&self) -> usize {
        let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        self.jobs.unwrap_or(cores).get()
    }
}

/// Arguments of `backtest`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pdm backtest --from events.jsonl --config agent.toml                 shipped against agent.toml
  pdm backtest --from agent.db --config agent.toml --against new.toml --out report
  pdm backtest --from store --config agent.toml --truth failures.csv   the configured store
  pdm-edge replay run.npy.gz … --jsonl | pdm backtest --from - --json
  for k in 1 2 3 4; do pdm backtest --from events.jsonl --config agent.toml --slice $k/4 --parts \
  parts & done
  wait; pdm backtest --merge --parts parts --config agent.toml --out report

The events are judged and told by the code of the service on the time of the events. Nothing is \
sent, no network but the store's and no model is asked. Events of a file come as for `judge \
--jsonl` (docs/slice.md): each bearing in one run and in order, the bearings of a machine \
together; with --interleaved as a gateway sends them.

Exit codes: 0 done, 64 wrong arguments, 65 not an event, an event in the wrong place, or a wrong \
row of failures, 66 no such input, 69 store unavailable, 74 cannot write, 78 bad configuration")]
pub struct Args {
    /// JSON lines (`-` for standard input), a SQLite file of an agent, postgres://…, or `store`:
    /// that of --config
    #[arg(long, value_name = "INPUT", required_unless_present = "merge")]
    from: Option<String>,
    /// A configuration; alone it is compared with the shipped thresholds, levels and times
    #[arg(long, value_name = "FILE", env = "PDM_AGENT_CONFIG")]
    config: Option<PathBuf>,
    /// The configuration to compare it with
    #[arg(long, value_name = "FILE", requires = "config")]
    against: Option<PathBuf>,
    /// Failures that are known: site,equipment,bearing,failed_at
    #[arg(long, value_name = "CSV")]
    truth: Option<PathBuf>,
    #[command(flatten)]
    input: InputArgs,
    /// Play the K-th of N slices of the machines, and write its part
    #[arg(long, value_name = "K/N", requires = "parts")]
    slice: Option<MachineSlice>,
    /// Folder of parts: a run that was killed goes on where its part ends
    #[arg(long, value_name = "DIR")]
    parts: Option<PathBuf>,
    /// Make the report of the parts of all slices
    #[arg(long, requires = "parts", conflicts_with_all = ["from", "slice"])]
    merge: bool,
    /// Write backtest.json, backtest.ko.html and backtest.en.html into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print the result (pdm.backtest/1) instead of the summary
    #[arg(long)]
    json: bool,
    /// Language of the summary
    #[arg(long, value_enum, default_value = "en")]
    lang: Lang,
}

fn days(text: &str) -> Result<f64, String> {
    within(text, 0.0, 3650.0, "days")
}

fn hours(text: &str) -> Result<f64, String> {
    // a minute: below it an acknowledgement is none that a person makes
    within(text, 1.0 / 60.0, 8760.0, "hours")
}

/// A number of an argument within bounds.
pub(in crate::cli) fn within(text: &str, least: f64, most: f64, unit: &str) -> Result<f64, String> {
    let value = text.parse::<f64>().ok().filter(|value| (least..=most).contains(value));
    value.ok_or_else(|| format!("{text:?} is not within {least:.2} and {most} {unit}"))
}

/// The settings of a play before it begins.
struct Plan {
    terms: Terms,
    /// The settings whose store `--from store` means.
    settings: Option<AgentSettings>,
}

/// The machines that were played, with the remarks.
pub(in crate::cli) struct Played {
    pub(in crate::cli) machines: Vec<MachinePlayed>,
    pub(in crate::cli) remarks: Vec<String>,
}

/// The machines that were played, and the names of the configurations.
struct PlayedSides {
    played: Played,
    sides: Vec<String>,
    acknowledged_after_h: Option<f64>,
}

/// Runs the command.
///
/// # Errors
/// A [`Failure`] with its exit code.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let plan = plan(args)?;
    let truth = args.truth.as_deref().map_or_else(|| Ok(Truth::default()), truth)?;
    let told = if args.merge { merged(args)? } else { played(args, &plan)? };
    if let Some(slice) = args.slice.filter(|slice| slice.of > 1) {
        let machines = told.played.machines.len();
        writeln!(
            std::io::stderr(),
            "slice {slice}: {machines} machines; merge the parts with --merge"
        )?;
        return Ok(Exit::Ok);
    }
    tell(args, &plan, &truth, told)?;
    Ok(Exit::Ok)
}

/// Reads the configurations.
fn plan(args: &Args) -> Result<Plan, Failure> {
    let read = |path: &PathBuf| -> Result<(Side, AgentSettings), Failure> {
        let settings = AgentSettings::read(path).map_err(failure::config)?;
        Ok((Side::of(path.display().to_string(), &settings), settings))
    };
    let acknowledged_after_s = args.input.acknowledged_after_h.map(|hours| 3600.0 * hours);
    let (sides, settings) = match (&args.config, &args.against) {
        (None, _) => (vec![Side::shipped(None)], None),
        (Some(config), None) => {
            let (given, settings) = read(config)?;
            (vec![Side::shipped(Some(&given)), given], Some(settings))
        }
        (Some(config), Some(against)) => {
            let (a, settings) = read(config)?;
            (vec![a, read(against)?.0], Some(settings))
        }
    };
    Ok(Plan { terms: Terms { sides, acknowledged_after_s }, settings })
}

/// Reads a file of failures.
///
/// # Errors
/// A [`Failure`]: 66 if there is no such file, 65 for a wrong row.
pub(in crate::cli) fn truth(path: &Path) -> Result<Truth, Failure> {
    let missing = |error: std::io::Error| {
        let exit = exit_of_input(&error);
        let told = anyhow::Error::new(error).context(format!("cannot read {}", path.display()));
        Failure::new(exit, told)
    };
    let wrong = |told: String| Failure::new(Exit::BadInput, anyhow::anyhow!(told));
    let bytes = read_regular(path, MOST_TRUTH).map_err(missing)?;
    let bytes = bytes.ok_or_else(|| wrong(format!("{}: longer than 64 MiB", path.display())))?;
    Truth::parse(path, &bytes).map_err(wrong)
}

/// Plays the input, or what is left of it.
fn played(args: &Args, plan: &Plan) -> anyhow::Result<PlayedSides> {
    let from = args.from.as_deref().unwrap_or("-");
    let input = stored::Input::of(from, plan.settings.as_ref())?;
    let slice = args.slice.unwrap_or(MachineSlice::WHOLE);
    let opened = match &args.parts {
        None => None,
        Some(folder) => {
            let head = Head::new(slice, input.identity(), &plan.terms);
            Some(Part::open(folder, &head).map_err(part)?)
        }
    };
    let (part_file, done) =
        opened.map_or((None, BTreeSet::default()), |(file, done)| (Some(file), done));
    if !done.is_empty() {
        writeln!(
            std::io::stderr(),
            "{} machines stand in the part and are not played again",
            done.len()
        )?;
    }
    let crew = workers::Crew { terms: &plan.terms, jobs: args.input.jobs(), part: part_file };
    let choice = workers::Choice { slice, done };
    let played = read_and_play(&args.input, &input, crew, &choice)?;
    match (&args.parts, slice.of) {
        // what an earlier run has played stands in the part alone
        (Some(_), 1) if !choice.done.is_empty() => merged(args),
        _ => Ok(PlayedSides {
            played,
            sides: plan.terms.sides.iter().map(|side| side.name.clone()).collect(),
            acknowledged_after_h: args.input.acknowledged_after_h,
        }),
    }
}

fn read_and_play(
    args: &InputArgs,
    input: &stored::Input,
    crew: workers::Crew<'_>,
    choice: &workers::Choice,
) -> anyhow::Result<Played> {
    match input {
        stored::Input::Lines(path) => lines::play(args, path, crew, choice),
        stored::Input::Store(settings) => stored::play(settings, crew, choice),
    }
}

/// Plays all machines of `--from` under some configurations.
///
/// # Errors
/// A [`Failure`] of the input, with its exit code.
pub(in crate::cli) fn play_all(
    from: &str,
    args: &InputArgs,
    settings: Option<&AgentSettings>,
    terms: &Terms,
) -> anyhow::Result<Played> {
    let input = stored::Input::of(from, settings)?;
    let crew = workers::Crew { terms, jobs: args.jobs(), part: None };
    let choice = workers::Choice { slice: MachineSlice::WHOLE, done: BTreeSet::new() };
    read_and_play(args, &input, crew, &choice)
}

/// The parts of all slices.
fn merged(args: &Args) -> anyhow::Result<PlayedSides> {
    let folder = args.parts.as_deref().unwrap_or(Path::new("."));
    let parts = parts::all(folder).map_err(part)?;
    let head = parts.first().map(|part| part.head.clone());
    let mut played = Played { machines: Vec::new(), remarks: Vec::new() };
    for part in parts {
        played.machines.extend(part.machines);
        played.remarks.extend(part.end.into_iter().flat_map(|end| end.remarks));
    }
    let sides = head.iter().flat_map(Head::names).map(str::to_owned).collect();
    let acknowledged_after_h = head.as_ref().and_then(Head::acknowledged_after_h);
    Ok(PlayedSides { played, sides, acknowledged_after_h })
}

/// The exit code of a part.
fn part(error: PartError) -> Failure {
    let exit = match &error {
        PartError::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            Exit::NoInput
        }
        PartError::Io { .. } => Exit::Io,
        PartError::Content { .. } | PartError::Missing { .. } => Exit::BadInput,
        PartError::Foreign { .. } => Exit::Usage,
    };
    Failure::new(exit, error)
}

/// Prints the summary and writes the report.
fn tell(args: &Args, plan: &Plan, truth: &Truth, told: PlayedSides) -> anyhow::Result<()> {
    let PlayedSides { played: Played { mut machines, remarks }, sides, acknowledged_after_h } =
        told;
    let making = Making {
        sides,
        truth,
        horizon_days: args.input.horizon_days,
        acknowledged_after_h,
        page_url: plan.settings.as_ref().and_then(|settings| settings.notify.page_url.clone()),
        remarks,
    };
    let summary = Summary::of(&mut machines, &making);
    let json = || summary.with_messages(&machines);
    if let Some(folder) = &args.out {
        let write = |name: &str, text: String| {
            let path = folder.join(name);
            std::fs::write(&path, text)
                .with_context(|| format!("cannot write {}", path.display()))
                .map_err(|error| Failure::new(Exit::Io, error))
        };
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make {}", folder.display()))
            .map_err(|error| Failure::new(Exit::Io, error))?;
        write("backtest.json", serde_json::to_string(&json()?)? + "\n")?;
        for (language, name) in
            [(Language::Ko, "backtest.ko.html"), (Language::En, "backtest.en.html")]
        {
            write(name, report::page(&summary, &machines, language)?)?;
        }
    }
    let mut out = pdm_service::command_line::stdout();
    if args.json {
        serde_json::to_writer(&mut out, &json()?).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        write!(out, "{}", words::summary_in_words(&summary, args.lang.into()))?;
    }
    Ok(())
}
