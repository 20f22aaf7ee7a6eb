//! `pdm-agent stats`: the work that judgements asked for, and how often the judgements were right
//! by what staff found; and how often a language model agreed with the rules.

use std::io::Write;
use std::path::PathBuf;

use pdm_service::clock::{Clock, SystemClock};
use pdm_service::exit::Exit;
use pdm_store::OpinionCounts;

use super::failure;
use super::with_store::with_store;
use crate::settings::AgentSettings;

/// Arguments of `stats`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pdm-agent stats --config /etc/pdm/agent.toml
  pdm-agent stats --config /etc/pdm/agent.toml --json | jq .precision

Agreement is the share of second opinions of a language model with the same risk. Precision is \
the share of inspected judgements that were right; what was found is reported with pdm-agent \
follow-up --found, or on the topic {site}/{equipment}/{bearing}/follow-up.

Exit codes: 0 shown, 69 store unavailable, 78 bad configuration")]
pub struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// The configuration
    #[arg(long, value_name = "FILE", env = "PDM_AGENT_CONFIG")]
    config: PathBuf,
}

/// Runs the command.
///
/// # Errors
/// A [`pdm_service::exit::Failure`] with its exit code.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let settings = AgentSettings::read(&args.config).map_err(failure::config)?;
    let (counts, opinions) = with_store(&settings.store, async |store| {
        let counts = store.follow_ups().work_counts(SystemClock.now()).await;
        let opinions = store.opinions().opinion_counts().await;
        anyhow::Ok((counts.map_err(failure::store)?, opinions.map_err(failure::store)?))
    })?;
    let precision = counts.precision();
    let mut out = pdm_service::command_line::stdout();
    if args.json {
        let mut all = serde_json::to_value(counts)?;
        all["precision"] = serde_json::to_value(precision)?;
        all["opinions"] = serde_json::to_value(opinions)?;
        all["opinions"]["agreement"] = serde_json::to_value(opinions.agreement())?;
        serde_json::to_writer_pretty(&mut out, &all).map_err(std::io::Error::from)?;
        writeln!(out)?;
        return Ok(Exit::Ok);
    }
    writeln!(out, "actions open        {} ({} overdue)", counts.open, counts.overdue)?;
    writeln!(out, "actions done        {}", counts.done)?;
    writeln!(out, "actions dropped     {}", counts.dropped)?;
    writeln!(out, "actions superseded  {}", counts.superseded)?;
    let found = [counts.right, counts.wrong, counts.other_cause];
    let [right, wrong, other] = found;
    writeln!(out, "found               {right} right, {wrong} wrong, {other} another cause")?;
    match precision {
        Some(precision) => writeln!(out, "precision           {precision:.2}")?,
        None => writeln!(out, "precision           – (nothing was reported as found yet)")?,
    }
    write_opinions(&mut out, &opinions)?;
    Ok(Exit::Ok)
}

fn write_opinions(out: &mut impl Write, counts: &OpinionCounts) -> std::io::Result<()> {
    let OpinionCounts { waiting, agrees, raises, lowers, failed } = counts;
    let told = format!("{agrees} agree, {raises} raise, {lowers} lower");
    writeln!(out, "second opinions     {told}, {failed} failed, {waiting} waiting")?;
    match counts.agreement() {
        Some(agreement) => writeln!(out, "agreement           {agreement:.2}"),
        None => writeln!(out, "agreement           – (no language model has given an opinion yet)"),
    }
}
