//! `pdm-agent forget`: takes out what is gone from the plant.

use std::io::Write;
use std::path::PathBuf;

use pdm_service::clock::{Clock, SystemClock};
use pdm_service::exit::{Exit, Failure};

use super::failure;
use crate::service::connect_store;
use crate::settings::AgentSettings;
use crate::store::{PlantPart, Removal, TakenOut};

/// Arguments of `forget`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pdm-agent forget ulsan-1/P-101/DE --by kim --reason 'sensor removed' --dry-run
  pdm-agent forget ulsan-1/P-101 --by kim --reason 'pump scrapped'
  pdm-agent forget ulsan-1 --by kim --reason 'site closed'

Alarms and work end, the state and the owner are forgotten, and the broker is told to forget the retained
topics. Events, judgements and messages stay for as long as they are kept. What still sends comes back.

Exit codes: 0 taken out, 64 wrong arguments, 66 nothing of that name, 69 store unavailable,
78 bad configuration")]
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
    by: String,
    /// Why; it stands in the record of acts and in the work that is closed
    #[arg(long)]
    reason: String,
    /// Say what would change, and change nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// The configuration
    #[arg(long, value_name = "FILE", env = "PDM_AGENT_CONFIG")]
    pub(super) config: PathBuf,
}

impl How {
    /// The same for the store.
    pub(super) fn removal(&self, settings: &AgentSettings) -> Removal {
        Removal {
            prefix: settings.broker.prefix.clone(),
            by: self.by.clone(),
            via: "cli".to_owned(),
            reason: self.reason.clone(),
            now: SystemClock.now(),
            is_dry: self.dry_run,
        }
    }
}

/// Runs the command.
///
/// # Errors
/// A [`Failure`] with its exit code.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let settings = AgentSettings::read(&args.how.config).map_err(failure::config)?;
    let how = args.how.removal(&settings);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let out = runtime.map_err(failure::runtime)?.block_on(async {
        let store = connect_store(&settings.store).await.map_err(failure::store)?;
        let out = store.take_out(&args.part, &how).await.map_err(failure::store);
        store.close().await;
        out
    })?;
    if !out.is_something() {
        let told = anyhow::anyhow!("nothing is known of {}", args.part);
        return Err(Failure::new(Exit::NoInput, told).into());
    }
    print(&out, args.how.dry_run)?;
    Ok(Exit::Ok)
}

/// Says what was taken out, or would be.
pub(super) fn print(out: &TakenOut, is_dry: bool) -> std::io::Result<()> {
    let mut lines = pdm_service::command_line::stdout();
    let verb = if is_dry { "would be taken out" } else { "taken out" };
    for bearing in &out.bearings {
        writeln!(lines, "{bearing} {verb}")?;
    }
    for gateway in &out.gateways {
        writeln!(lines, "gateway {gateway} {verb}")?;
    }
    writeln!(
        lines,
        "{} alarms closed, {} actions dropped, {} events left without a judgement, {} retained topics cleared",
        out.episodes, out.work, out.waiting, out.topics
    )?;
    if is_dry {
        writeln!(lines, "nothing was changed (--dry-run)")?;
    }
    Ok(())
}
