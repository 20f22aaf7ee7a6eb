//! `pdm-agent rename`: what was measured under one name goes on under another.

use std::io::Write as _;

use pdm_service::exit::Exit;
use pdm_store::PlantPart;
use pdm_web::plant::PlantChange;

use super::failure;
use super::forget::{How, change_request, done, print};
use crate::settings::AgentSettings;

/// Arguments of `rename`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pdm-agent rename ulsan-1/P-101 ulsan-1/P-201 --by kim --reason 'tag corrected' --dry-run
  pdm-agent rename ulsan-1/P-101/DE ulsan-1/P-101/NDE --with-history --by kim --reason 'sides \
    swapped'

Change the name in edge.toml first: what still sends under the former name comes back under it. \
Alarms and work of the former name end; what stands under the new one is told anew. Where the \
new name has been measured already, --with-history wants --join.

Without PDM_AGENT_CONFIG in the environment each wants --config FILE.

Exit codes: 0 renamed, 64 wrong arguments, 66 nothing of that name, 69 store unavailable, 78 bad \
configuration")]
pub struct Args {
    /// SITE, SITE/EQUIPMENT or SITE/EQUIPMENT/BEARING as it was called
    from: PlantPart,
    /// The same as it is called now
    to: PlantPart,
    /// Events, judgements and the bearing's memory go on under the new name
    #[arg(long)]
    with_history: bool,
    /// The new name may be known already: the history of both stands under it, which cannot be
    /// undone
    #[arg(long, requires = "with_history")]
    join: bool,
    #[command(flatten)]
    how: How,
}

/// Runs the command.
///
/// # Errors
/// A [`Failure`] with its exit code.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let How { by, reason, dry_run, config } = &args.how;
    let settings = AgentSettings::read(config).map_err(failure::config)?;
    let rename = PlantChange::Rename {
        from: args.from.clone(),
        to: args.to.clone(),
        with_history: args.with_history,
        may_join: args.join,
    };
    let out = done(&settings, &change_request(rename, by, reason, *dry_run))?;
    let history = if args.with_history {
        "events, judgements and the bearings' memory go on under the new name"
    } else {
        "events, judgements and memory stay under the former name (--with-history moves them)"
    };
    writeln!(pdm_service::command_line::stdout(), "{} becomes {}: {history}", args.from, args.to)?;
    print(&out, *dry_run)?;
    Ok(Exit::Ok)
}
