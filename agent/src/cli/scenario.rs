//! `pdm-agent scenario run`: plays sequences of events through the real workflow and prints the
//! results.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use pdm_expert::rules::Rules;
use pdm_reasoner::settings::ReasonerSettings;
use pdm_service::config::ConfigError;
use pdm_service::exit::{Exit, Failure};
use pdm_service::telemetry::{self, LogFormat};
use serde_json::json;

use super::failure;
use super::scratch::Scratch;
use crate::scenario::kpi::Kpis;
use crate::scenario::play::{Cast, Played, PlayedEvent, play};
use crate::scenario::{self, Scenario, ScenarioError};
use crate::service::install_cryptography;
use crate::settings::{AgentSettings, JudgingSettings, rules};

/// Default folder of the scenarios.
const DEFAULT_FOLDER: &str = "config/scenarios";

/// Arguments of `scenario`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pdm-agent scenario run
  pdm-agent scenario run config/scenarios/outer_race_accelerating.toml
  pdm-agent scenario run --documents papers
  pdm-agent scenario run --json | jq .kpis
  pdm-agent scenario run --reasoner /etc/pdm/agent.toml

Exit codes: 0 everything is as expected, 65 not a scenario, 66 no such folder, 69 cannot be \
played, 70 something is not as expected, 78 bad rules")]
pub struct Args {
    /// Action on scenarios
    #[command(subcommand)]
    action: ScenarioAction,
}

/// The actions on scenarios.
#[derive(Debug, Subcommand)]
enum ScenarioAction {
    /// Play every scenario of a folder (or one file) and print the agent's figures
    Run {
        /// Folder or file; the default is that of the source tree, which an installed program lacks
        #[arg(default_value = DEFAULT_FOLDER)]
        place: PathBuf,
        /// Thresholds instead of the built-in ones
        #[arg(long, value_name = "FILE")]
        rules: Option<PathBuf>,
        /// Keep reports and work orders in this folder, a folder for each scenario
        #[arg(long, value_name = "DIR")]
        documents: Option<PathBuf>,
        /// Ask the language model of this configuration ([reasoner]) for opinions, beside the rules
        /// or in the loop as its [judging] says
        #[arg(long, value_name = "FILE")]
        reasoner: Option<PathBuf>,
        /// Print every judgement and the figures as JSON
        #[arg(long)]
        json: bool,
    },
}

/// Runs the command.
///
/// # Errors
/// A [`Failure`] with its exit code.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let ScenarioAction::Run { place, rules: rules_file, documents, reasoner, json } = &args.action;
    telemetry::start(LogFormat::Text, "error");
    let rules = match rules_file {
        Some(path) => rules::read_rules(path).map_err(failure::config)?,
        None => Rules::default(),
    };
    let scenarios = scenario::read_scenarios(place).map_err(unreadable)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(failure::runtime)?;
    let (judging, model) = reasoner.as_deref().map(model_of).transpose()?.unzip();
    let cast =
        Cast { rules, documents: documents.clone(), model, judging: judging.unwrap_or_default() };
    let played = runtime.block_on(play_all(&scenarios, &cast))?;
    let kpis = Kpis::of(&played);
    let mut out = pdm_service::command_line::stdout();
    if *json {
        serde_json::to_writer_pretty(&mut out, &json!({ "kpis": kpis, "scenarios": played }))
            .map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        tell(&played, &kpis, &mut out)?;
    }
    if kpis.is_right() {
        return Ok(Exit::Ok);
    }
    let wrong = kpis.scenarios - kpis.right;
    let told = anyhow::anyhow!("{wrong} of {} scenarios are not as expected", kpis.scenarios);
    Err(Failure::new(Exit::Software, told).into())
}

/// `[judging]` and `[reasoner]` of a configuration.
fn model_of(path: &Path) -> Result<(JudgingSettings, ReasonerSettings), Failure> {
    let settings = AgentSettings::read(path).map_err(failure::config)?;
    install_cryptography();
    let model = settings.reasoner.ok_or_else(|| {
        let told = anyhow::anyhow!("{}: no [reasoner] in it", path.display());
        Failure::new(Exit::Config, told)
    })?;
    Ok((settings.judging, model))
}

fn unreadable(error: ScenarioError) -> Failure {
    let exit = match &error {
        ScenarioError::Unreadable { .. }
        | ScenarioError::Empty { .. }
        | ScenarioError::Config(ConfigError::Unreadable { .. }) => Exit::NoInput,
        ScenarioError::Config(_) | ScenarioError::Event { .. } => Exit::BadInput,
    };
    Failure::new(exit, error)
}

/// Plays each scenario in its own temporary folder.
async fn play_all(scenarios: &[Scenario], cast: &Cast) -> Result<Vec<Played>, Failure> {
    let mut all = Vec::with_capacity(scenarios.len());
    for scenario in scenarios {
        let folder = Scratch::new().map_err(|error| Failure::new(Exit::Io, error))?;
        let played = Box::pin(play(scenario, cast, folder.path())).await;
        let cannot = |error| anyhow::Error::new(error).context(scenario.name.clone());
        all.push(played.map_err(|error| Failure::new(Exit::Unavailable, cannot(error)))?);
    }
    Ok(all)
}

fn tell(played: &[Played], kpis: &Kpis, out: &mut impl Write) -> std::io::Result<()> {
    let width = played.iter().map(|one| one.name.len()).max().unwrap_or(0);
    for one in played {
        let right = if one.wrong.is_empty() { "as expected" } else { "NOT as expected" };
        let calls: usize = one.events.iter().map(PlayedEvent::look_ups).sum();
        let last = one.events.last().map(|event| &event.diagnosis);
        let ends = last.map_or_else(String::new, |last| {
            format!("{} stage {}", last.risk_level, last.fault_stage)
        });
        let count = one.events.len();
        let name = &one.name;
        writeln!(out, "{name:width$}  {count:4} events  {calls:3} look-ups  {ends:17} {right}")?;
        for wrong in &one.wrong {
            writeln!(out, "    {wrong}")?;
        }
        for event in &one.events {
            if let Some(told) = &event.diagnosis.disagreement {
                writeln!(out, "    {:.0} h: {}", event.at_h, told.en)?;
            }
        }
    }
    writeln!(out)?;
    for (what, figure) in figures(kpis) {
        writeln!(out, "{what:32} {figure}")?;
    }
    Ok(())
}

/// The key figures, each with its name.
fn figures(kpis: &Kpis) -> Vec<(&'static str, String)> {
    let lead = kpis.shortest_lead_time_h.map_or_else(|| "–".to_owned(), |h| format!("{h:.0} h"));
    let rounds = kpis.fewest_rounds.map_or_else(|| "–".to_owned(), |rounds| rounds.to_string());
    vec![
        ("sequences as expected", format!("{}/{}", kpis.right, kpis.scenarios)),
        ("right risk", kpis.right_risk.to_string()),
        ("right stage", kpis.right_stage.to_string()),
        (
            "look-ups per event",
            format!("{:.2} over {} events", kpis.tool_calls_per_event, kpis.events),
        ),
        ("normal events with a tool", kpis.normal_events_with_tools.to_string()),
        ("deep research where due", format!("{}, at least {rounds} rounds", kpis.deep_research)),
        (
            "different research questions",
            format!(
                "{} over {} accelerating sequences",
                kpis.distinct_questions, kpis.accelerating_sequences
            ),
        ),
        (
            "judgements that research changed",
            format!(
                "{}, {} as nothing like it is known",
                kpis.research_changed, kpis.nothing_known
            ),
        ),
        (
            "documents where due",
            format!("{}, {} where none were due", kpis.documents, kpis.undue_documents),
        ),
        ("figures without a source", kpis.ungrounded_figures.to_string()),
        (
            "agreement of the language model",
            kpis.agreement.map_or_else(
                || "– (no opinion)".to_owned(),
                |share| format!("{share}, {} without an opinion", kpis.opinions_failed),
            ),
        ),
        (
            "lower by the model's own words",
            kpis.lowered.map_or_else(|| "–".to_owned(), |share| share.to_string()),
        ),
        ("shortest lead time", lead),
        ("stored to judged, p95", format!("{:.1} ms", kpis.judged_p95_ms)),
        ("with research, p95", format!("{:.1} ms", kpis.researched_p95_ms)),
        ("with documents, p95", format!("{:.1} ms", kpis.documented_p95_ms)),
    ]
}
