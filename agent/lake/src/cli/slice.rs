//! `pdm-lake slice`: events as `pdm.slice/1` on standard output, for the back-test and for engines.

use std::io::{BufWriter, Write as _};

use pdm_service::exit::Exit;
use pdm_shared::slice::MachineSlice;

use super::LakeArgs;
use crate::day::Day;
use crate::lake::Table;
use crate::slice::{Choice, holes, write_slice};
use crate::table::table;

/// Arguments of `slice`.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    #[command(flatten)]
    lake: LakeArgs,
    /// The K-th of N slices of the machines: those of `pdm backtest --slice`
    #[arg(long, value_name = "K/N", default_value = "1/1")]
    slice: MachineSlice,
    /// The first day (UTC)
    #[arg(long, value_name = "DAY")]
    from: Option<Day>,
    /// The last day (UTC)
    #[arg(long, value_name = "DAY")]
    to: Option<Day>,
}

pub(super) async fn run(options: &Options) -> anyhow::Result<Exit> {
    let place = options.lake.open()?;
    let Some(spec) = table("events") else { return Ok(Exit::Software) };
    let events = Table::existing(&place, spec).await?;
    let within = |day: &Day| {
        options.from.is_none_or(|from| *day >= from) && options.to.is_none_or(|to| *day <= to)
    };
    let holes: Vec<String> =
        holes(&events)?.iter().filter(|day| within(day)).map(ToString::to_string).collect();
    if !holes.is_empty() {
        tracing::warn!(
            days = holes.join(", "),
            "the archive has a hole: no event of these days is played"
        );
    }
    let choice = Choice { slice: options.slice, from: options.from, to: options.to };
    let mut out = BufWriter::with_capacity(1 << 20, std::io::stdout().lock());
    let end = write_slice(&events, &choice, &mut out).await?;
    out.flush()?;
    tracing::info!(events = end.events, bearings = end.bearings, slice = %options.slice, "written");
    Ok(Exit::Ok)
}
