//! `pdm-lake verify`: the archive held against its log and its marks.

use std::io::Write as _;

use pdm_service::exit::Exit;

use super::{LakeArgs, bytes_for_people};
use crate::day::Day;
use crate::verify::verify;

/// Arguments of `verify`.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    #[command(flatten)]
    lake: LakeArgs,
    /// This day alone (UTC)
    #[arg(long)]
    day: Option<Day>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(options: &Options) -> anyhow::Result<Exit> {
    let place = options.lake.open()?;
    let verdict = verify(&place, options.day).await?;
    let mut out = pdm_service::command_line::stdout();
    let exit = if verdict.broken.is_empty() { Exit::Ok } else { Exit::BadInput };
    if options.json {
        serde_json::to_writer(&mut out, &verdict).map_err(std::io::Error::from)?;
        writeln!(out)?;
        return Ok(exit);
    }
    for broken in &verdict.broken {
        writeln!(out, "broken: {broken}")?;
    }
    for remark in &verdict.remarks {
        writeln!(out, "remark: {remark}")?;
    }
    if verdict.orphans > 0 {
        writeln!(
            out,
            "remark: {} files ({}) are in no log, left by runs that were ended; readers of Delta \
             Lake do not see them, a glob over the folder does; pdm-lake vacuum removes them",
            verdict.orphans,
            bytes_for_people(verdict.orphan_bytes)
        )?;
    }
    let is = if verdict.broken.is_empty() { "whole" } else { "broken" };
    writeln!(out, "{} files, {} rows read: the archive is {is}", verdict.files, verdict.rows)?;
    Ok(exit)
}
