//! `pdm-agent forget`: takes out what is gone from the plant.

use std::io::Write;
use std::path::PathBuf;

use pdm_service::clock::{Clock, SystemClock};
use pdm_service::exit::{Exit, Failure};
use pdm_store::PlantPart;
use pdm_web::plant::{ChangeRequest, Changed, PlantChange, TakenOut};

use super::failure;
use super::with_store::with_store;
use crate::removal::{self, Ground};
use crate::settings::AgentSettings;

/// Arguments of `forget`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pdm-agent forget ulsan-1/P-101/DE --by kim --reason 'sensor removed' --dry-run
  pdm-agent forget ulsan-1/P-101 --by kim --reason 'pump scrapped'
  pdm-agent forget ulsan-1 --by kim --reason 'site closed'

Alarms and work end, the state and the owner are forgotten, and the broker is told to forget the \
retained topics. Events, judgements and messages stay for as long as they are kept. What still \
sends comes back.

Without PDM_AGENT_CONFIG in the environment each wants --config FILE.

Exit codes: 0 taken out, 64 wrong arguments, 66 nothing of that name, 69 store unavailable, 78 \
bad configuration")]
pub struct Args {
    /// SITE, SITE/EQUIPMENT or SITE/EQUIPMENT/BEARING
    part: PlantPart,
    #[command(flatten)]
    how: How,
}

/// Who takes something out, and why.
#[derive(Debug, clap::Args)]
pub(super) struct How {
    /// Person who asks; it stands in the record of acts
    #[arg(long)]
    pub(super) by: String,
    /// Why; it stands in the record of acts and in the work that is closed
    #[arg(long)]
    pub(super) reason: String,
    /// Say what would change, and change nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// The configuration
    #[arg(long, value_name = "FILE", env = "PDM_AGENT_CONFIG")]
    pub(super) config: PathBuf,
}

/// Runs the command.
///
/// # Errors
/// A [`Failure`] with its exit code.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let How { by, reason, dry_run, config } = &args.how;
    let settings = AgentSettings::read(config).map_err(failure::config)?;
    let request = change_request(PlantChange::Forget(args.part.clone()), by, reason, *dry_run);
    print(&done(&settings, &request)?, *dry_run)?;
    Ok(Exit::Ok)
}

/// A change that the command line asks for.
pub(super) fn change_request(
    change: PlantChange,
    by: &str,
    reason: &str,
    is_dry: bool,
) -> ChangeRequest {
    let (who, by, reason) = (by.to_owned(), by.to_owned(), reason.to_owned());
    ChangeRequest { change, who, by, via: "cli", peer: None, reason, is_dry }
}

/// Makes a change; what is not made is an error with its exit code.
pub(super) fn done(settings: &AgentSettings, request: &ChangeRequest) -> anyhow::Result<TakenOut> {
    let changed = with_store(&settings.store, async |store| {
        let (ground, now) = (Ground::of(settings), SystemClock.now());
        removal::change(store, &ground, request, now).await.map_err(failure::store)
    })?;
    let failed = |exit, told: String| Err(Failure::new(exit, anyhow::anyhow!(told)).into());
    match changed {
        Changed::Done(out) => Ok(out),
        Changed::Unfit(told) => failed(Exit::Usage, told),
        Changed::Unknown(name) => failed(Exit::NoInput, format!("nothing is known of {name}")),
        Changed::Joins(names) => {
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            let told = format!(
                "{} is known already: with --join the history of both stands under it, which \
                 cannot be undone",
                names.join(", ")
            );
            failed(Exit::Usage, told)
        }
    }
}

/// Says what was taken out, or would be.
pub(super) fn print(out: &TakenOut, is_dry: bool) -> std::io::Result<()> {
    let mut lines = pdm_service::command_line::stdout();
    let verb = if is_dry { "would be taken out" } else { "taken out" };
    for bearing in &out.bearings {
        writeln!(lines, "{bearing} {verb}")?;
    }
    for bearing in &out.joined {
        writeln!(lines, "{bearing} was known already: the history of both stands under it")?;
    }
    for gateway in &out.gateways {
        writeln!(lines, "gateway {gateway} {verb}")?;
    }
    writeln!(
        lines,
        "{} closed{}, {} dropped, {} left without a judgement, {} cleared",
        count_in_words(out.episodes, "alarm"),
        if out.episodes > 0 && !out.bearings.is_empty() { ", of which staff is told" } else { "" },
        count_in_words(out.work, "action"),
        count_in_words(out.waiting, "event"),
        count_in_words(out.topics, "retained topic"),
    )?;
    if is_dry {
        writeln!(lines, "nothing was changed (--dry-run)")?;
    }
    Ok(())
}

/// A count with its noun, such as `1 alarm` and `2 alarms`.
pub(super) fn count_in_words(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
