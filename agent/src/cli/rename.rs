//! `pdm-agent rename`: what was measured under one name goes on under another.

use pdm_service::exit::{Exit, Failure};

use super::failure;
use super::forget::{How, print};
use crate::service::connect_store;
use crate::settings::AgentSettings;
use crate::store::PlantPart;

/// Arguments of `rename`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  pdm-agent rename ulsan-1/P-101 ulsan-1/P-201 --by kim --reason 'tag corrected' --dry-run
  pdm-agent rename ulsan-1/P-101/DE ulsan-1/P-101/NDE --with-history --by kim --reason 'sides swapped'

Change the name in edge.toml first: what still sends under the former name comes back under it. Alarms and
work of the former name end; what stands under the new one is told anew.

Exit codes: 0 renamed, 64 wrong arguments, 66 nothing of that name, 69 store unavailable,
78 bad configuration")]
pub struct Args {
    /// SITE, SITE/EQUIPMENT or SITE/EQUIPMENT/BEARING as it was called
    from: PlantPart,
    /// The same as it is called now
    to: PlantPart,
    /// Events, judgements and the bearing's memory go on under the new name
    #[arg(long)]
    with_history: bool,
    #[command(flatten)]
    how: How,
}

/// Runs the command.
///
/// # Errors
/// A [`Failure`] with its exit code.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let (from, to) = (&args.from, &args.to);
    let is_level = from.equipment.is_some() == to.equipment.is_some()
        && from.bearing.is_some() == to.bearing.is_some();
    if !is_level || from == to {
        let told = anyhow::anyhow!(
            "{from} and {to}: allowed are two different names of one level, such as SITE/EQUIPMENT twice"
        );
        return Err(Failure::new(Exit::Usage, told).into());
    }
    let settings = AgentSettings::read(&args.how.config).map_err(failure::config)?;
    let how = args.how.removal(&settings);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let out = runtime.map_err(failure::runtime)?.block_on(async {
        let store = connect_store(&settings.store).await.map_err(failure::store)?;
        let out = store.rename(from, to, args.with_history, &how).await.map_err(failure::store);
        store.close().await;
        out
    })?;
    if out.bearings.is_empty() {
        let told = anyhow::anyhow!("nothing is known of {from}");
        return Err(Failure::new(Exit::NoInput, told).into());
    }
    print(&out, args.how.dry_run)?;
    Ok(Exit::Ok)
}
