//! `pdm-agent tune` and `pdm tune`: thresholds that would have cost less in a plant's own past.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use pdm_service::exit::{Exit, Failure};
use pdm_shared::text::{Language, Text};
use pdm_shared::time::Timestamp;

use super::backtest::{InputArgs, Played, play_all, truth, within};
use super::{Lang, failure};
use crate::backtest::tune::{
    Candidate, Change, CurvePoint, MachineCosts, Price, Tuning, candidates, page,
};
use crate::backtest::{Side, Terms};
use crate::settings::AgentSettings;

/// The rules as they are shipped, with their comments.
const SHIPPED_RULES: &str = include_str!("../../../config/diagnosis.toml");

/// Arguments of `tune`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pdm tune --from agent.db --truth failures.csv --config agent.toml
  pdm tune --from events.jsonl --truth failures.csv --out proposal
  pdm-lake slice --lake ARCHIVE | pdm tune --from - --whole --truth failures.csv

Some forty configurations are played at once by the code of the service, as `pdm backtest` plays \
one. Each machine is left out once: the others choose, and the choice is counted on it. Other \
thresholds are proposed only if that costs less, in all, than what is configured; nothing is \
proposed with known failures on fewer than three machines. Nothing is changed: --out writes \
diagnosis.toml, which [rules] file of agent.toml may name.

Exit codes: 0 done (also where nothing is proposed), 64 wrong arguments, 65 not an event, an event \
in \
the wrong place, or a wrong row of failures, 66 no such input, 69 store unavailable, 74 cannot \
write, 78 bad configuration")]
pub struct Args {
    /// JSON lines (`-` for standard input), a SQLite file of an agent, postgres://…, or `store`:
    /// that of --config
    #[arg(long, value_name = "INPUT")]
    from: String,
    /// Failures that are known: site,equipment,bearing,failed_at
    #[arg(long, value_name = "CSV")]
    truth: PathBuf,
    /// The configuration whose thresholds are tuned; the shipped one without it
    #[arg(long, value_name = "FILE", env = "PDM_AGENT_CONFIG")]
    config: Option<PathBuf>,
    #[command(flatten)]
    input: InputArgs,
    /// False episodes that weigh as much as one failure of which nobody was told
    #[arg(long, value_name = "N", default_value_t = 20.0, value_parser = miss_cost)]
    miss_cost: f64,
    /// Wanted hours from the first alarm to the failure; the lead time of the rules without it
    #[arg(long, value_name = "HOURS", value_parser = lead_h)]
    lead_h: Option<f64>,
    /// Write tune.json, tune.ko.html, tune.en.html and, if something is proposed, diagnosis.toml
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print the result (pdm.tune/1) instead of the summary
    #[arg(long)]
    json: bool,
    /// Language of the summary
    #[arg(long, value_enum, default_value = "en")]
    lang: Lang,
}

fn miss_cost(text: &str) -> Result<f64, String> {
    within(text, 0.1, 1e6, "false episodes")
}

fn lead_h(text: &str) -> Result<f64, String> {
    within(text, 1.0, 8760.0, "hours")
}

/// Runs the command.
///
/// # Errors
/// A [`Failure`] with its exit code.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let read = |path: &PathBuf| AgentSettings::read(path).map_err(failure::config);
    let settings = args.config.as_ref().map(read).transpose()?;
    let base = match (&args.config, &settings) {
        (Some(path), Some(settings)) => Side::of(path.display().to_string(), settings),
        _ => Side::shipped(None),
    };
    let truth = truth(&args.truth)?;
    let price = Price {
        miss_cost: args.miss_cost,
        lead_h: args.lead_h.unwrap_or_else(|| base.rules.lead_time.total_h()),
        horizon_days: args.input.horizon_days,
    };
    let tried = candidates(&base);
    let terms = Terms {
        sides: tried.iter().map(|one| one.side.clone()).collect(),
        acknowledged_after_s: args.input.acknowledged_after_h.map(|hours| 3600.0 * hours),
    };
    let Played { machines, mut remarks } =
        play_all(&args.from, &args.input, settings.as_ref(), &terms)?;
    let costs: Vec<MachineCosts> = machines
        .iter()
        .filter_map(|machine| MachineCosts::of(machine, tried.len(), &truth, &price))
        .collect();
    let unknown = machines.len() - costs.len();
    if unknown > 0 {
        remarks.push(format!("{unknown} machines have no bearing in --truth and are left out"));
    }
    let bearings = machines.iter().flat_map(|machine| &machine.bearings);
    let last = bearings.map(|bearing| bearing.last).max().unwrap_or(Timestamp::EPOCH);
    let tuning = Tuning::of(&tried, costs, price, remarks);
    if let Some(folder) = &args.out {
        write_all(folder, &tuning, &tried, last)?;
    }
    let mut out = pdm_service::command_line::stdout();
    if args.json {
        serde_json::to_writer(&mut out, &tuning).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        write!(out, "{}", in_words(&tuning, args.lang.into()))?;
    }
    Ok(Exit::Ok)
}

/// Writes the files of `--out`.
fn write_all(
    folder: &Path,
    tuning: &Tuning,
    tried: &[Candidate],
    last: Timestamp,
) -> anyhow::Result<()> {
    let failed = |error: anyhow::Error| Failure::new(Exit::Io, error);
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make {}", folder.display()))
        .map_err(failed)?;
    let write = |name: &str, text: String| {
        let path = folder.join(name);
        std::fs::write(&path, text)
            .with_context(|| format!("cannot write {}", path.display()))
            .map_err(failed)
    };
    write("tune.json", serde_json::to_string(tuning)? + "\n")?;
    write("tune.ko.html", page::page(tuning, last, Language::Ko)?)?;
    write("tune.en.html", page::page(tuning, last, Language::En)?)?;
    let proposal = tried.get(tuning.proposed).filter(|_| tuning.proposed > 0);
    if let Some(proposal) = proposal {
        write("diagnosis.toml", rules_of(&proposal.side)?)?;
    }
    Ok(())
}

/// The rules of a configuration as a file: the shipped file with its comments, and the values of
/// `side`.
fn rules_of(side: &Side) -> anyhow::Result<String> {
    let shipped: toml::Table = toml::from_str(SHIPPED_RULES)?;
    let values = toml::Table::try_from(&side.rules)?;
    let mut section = String::new();
    let mut lines = Vec::new();
    for line in SHIPPED_RULES.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            name.clone_into(&mut section);
        }
        let key = line.split_once(" = ").map(|(key, _)| key.trim());
        let of = |table: &toml::Table| Some(table.get(&section)?.get(key?)?.clone());
        let other = of(&values).filter(|value| of(&shipped).is_some_and(|own| own != *value));
        lines.push(match (key, other) {
            (Some(key), Some(value)) => format!("{key} = {value}"),
            _ => line.to_owned(),
        });
    }
    Ok(lines.join("\n") + "\n")
}

/// The result for a person at a terminal.
fn in_words(tuning: &Tuning, language: Language) -> String {
    let head = Text::new(
        format!(
            "설비 {}대, 고장 {}건(설비 {}대), {:.2} 베어링·년, 설정 {}개를 시도함",
            tuning.machines,
            tuning.failures,
            tuning.machines_with_failure,
            tuning.bearing_years,
            tuning.curve.len()
        ),
        format!(
            "{} machines, {} failures (on {} of them), {:.2} bearing-years, {} configurations \
             tried",
            tuning.machines,
            tuning.failures,
            tuning.machines_with_failure,
            tuning.bearing_years,
            tuning.curve.len()
        ),
    );
    let mut lines = vec![head, page::finding(tuning)];
    lines.extend(tuning.curve.first().map(|point| figures(&tuning.configuration, point)));
    if tuning.proposed > 0 {
        let name = Text::new("제안", "proposed").in_language(language).to_owned();
        lines.extend(tuning.curve.get(tuning.proposed).map(|point| figures(&name, point)));
    }
    let mut lines: Vec<String> =
        lines.iter().map(|line| line.in_language(language).to_owned()).collect();
    lines.extend(tuning.changes.iter().map(change_in_words));
    lines.extend(tuning.remarks.iter().cloned());
    lines.join("\n") + "\n"
}

/// The figures of a configuration in one line.
fn figures(name: &str, point: &CurvePoint) -> Text {
    let lead = |unknown: &str| {
        point.lead_share.map_or_else(|| unknown.to_owned(), |it| format!("{:.0} %", 100.0 * it))
    };
    Text::new(
        format!(
            "{name}: 거짓 에피소드 {}건, 못 알린 고장 {}건, 바라는 리드 타임의 {}, 메시지 {}건",
            point.false_episodes,
            point.failures_not_told,
            lead("비율은 알 수 없음"),
            point.messages
        ),
        format!(
            "{name}: {} false episodes, {} failures not told, {} of the wanted lead time, {} \
             messages",
            point.false_episodes,
            point.failures_not_told,
            lead("an unknown share"),
            point.messages
        ),
    )
}

fn change_in_words(change: &Change) -> String {
    format!("  {} = {} ({})", change.key, change.to, change.from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proposal_is_a_file_of_rules_with_its_comments_and_one_other_value() {
        let mut side = Side::shipped(None);
        side.rules.screening.confirm_after = 6;
        let text = rules_of(&side).expect("a file");
        let read = toml::from_str::<pdm_expert::rules::Rules>(&text).expect("read by the program");
        assert_eq!(read, side.rules);
        let differing: Vec<_> =
            SHIPPED_RULES.lines().zip(text.lines()).filter(|(was, is)| was != is).collect();
        assert_eq!(differing, [("confirm_after = 3", "confirm_after = 6")]);
    }
}
