//! `pdm-lake columns`: the columns of a table, for programs that put events together by themselves.

use std::io::Write as _;

use pdm_service::exit::{Exit, Failure};

use crate::table::{RowSource, TABLES, table};

/// Arguments of `columns`.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// events, spectra, judgements, episodes or follow_ups
    #[arg(long, default_value = "events")]
    table: String,
}

/// A line a column: its name, a tab, its path in the event; nothing behind the tab where there is
/// none.
pub(super) fn run(options: &Options) -> anyhow::Result<Exit> {
    let names: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
    let spec = table(&options.table).ok_or_else(|| {
        let told = anyhow::anyhow!("--table {}: one of {}", options.table, names.join(", "));
        Failure::new(Exit::Usage, told)
    })?;
    let mut out = pdm_service::command_line::stdout();
    for column in spec.columns {
        let path = if spec.source == RowSource::Columns { "" } else { column.from };
        writeln!(out, "{}\t{path}", column.name)?;
    }
    Ok(Exit::Ok)
}
