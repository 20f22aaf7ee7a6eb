//! `pdm-lake files`: the files of a table, for readers without Delta Lake.

use std::io::Write as _;

use pdm_service::exit::{Exit, Failure};

use super::LakeArgs;
use crate::day::Day;
use crate::lake::Table;
use crate::table::{TABLES, table};

/// Arguments of `files`.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    #[command(flatten)]
    lake: LakeArgs,
    /// events, spectra, judgements, episodes or follow_ups
    #[arg(long, default_value = "events")]
    table: String,
    /// This day alone (UTC)
    #[arg(long)]
    day: Option<Day>,
}

pub(super) async fn run(options: &Options) -> anyhow::Result<Exit> {
    let names: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
    let spec = table(&options.table).ok_or_else(|| {
        let told = anyhow::anyhow!("--table {}: one of {}", options.table, names.join(", "));
        Failure::new(Exit::Usage, told)
    })?;
    let place = options.lake.open()?;
    let opened = Table::existing(&place, spec).await?;
    let base = match &place.folder {
        Some(folder) => folder.join(spec.name).display().to_string(),
        None => format!("{}/{}", place.name, spec.name),
    };
    let mut out = pdm_service::command_line::stdout();
    for (day, files) in opened.listing()?.days {
        if options.day.is_some_and(|only| only != day) {
            continue;
        }
        for file in files {
            writeln!(out, "{base}/{}", file.path)?;
        }
    }
    Ok(Exit::Ok)
}
