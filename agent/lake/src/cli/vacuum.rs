//! `pdm-lake vacuum`: removes what kills left behind.

use std::io::Write as _;

use pdm_service::exit::Exit;

use super::{LakeArgs, bytes_for_people, clock};
use crate::turn::Turn;
use crate::verify::vacuum;

/// Arguments of `vacuum`.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    #[command(flatten)]
    lake: LakeArgs,
    /// Say what would be removed
    #[arg(long)]
    dry_run: bool,
    /// Leave files that are younger, or that a commit of so many hours took out: a reader may be at
    /// them
    #[arg(long, value_name = "HOURS", default_value_t = 168)]
    older_than_h: u64,
    /// Take the place of an archiver that is at work
    #[arg(long)]
    take_over: bool,
}

pub(super) async fn run(options: &Options) -> anyhow::Result<Exit> {
    let place = options.lake.open()?;
    let now_ms = clock().now().unix_ms();
    // a file that is being written stands in no log yet
    let turn = if options.dry_run {
        None
    } else {
        Some(Turn::take(&place, clock(), options.take_over).await?)
    };
    let removed = vacuum(&place, options.older_than_h, now_ms, options.dry_run).await;
    if let Some(turn) = turn {
        turn.end().await?;
    }
    let removed = removed?;
    let mut out = pdm_service::command_line::stdout();
    for (path, _) in &removed {
        writeln!(out, "{path}")?;
    }
    let bytes: u64 = removed.iter().map(|(_, bytes)| bytes).sum();
    let done = if options.dry_run { "would be removed" } else { "removed" };
    writeln!(out, "{} files, {} {done}", removed.len(), bytes_for_people(bytes))?;
    Ok(Exit::Ok)
}
