//! `pdm-edge series`: runs a table of features through baseline, anomaly, trend and remaining life.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use anyhow::Context;
use pdm_service::exit::{Exit, Failure};

use crate::series::{Request, SeriesError, SeriesLine, SeriesTable, judge, read_table};
use crate::tabular::{DateOrder, Decimal, LocalZone};

mod summary;

/// Arguments of `series`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  pdm-edge series features.csv --time timestamp --value bearing1_rms,bearing2_rms --period 600
  pdm-edge series features.csv --time index --value rms --period 10 --jsonl | jq .rul

The time column holds dates with a time of day in the usual forms (without an offset: in --zone), \
    a \
date beside a column with the time of day, 20260301T080000, spreadsheet day numbers, times since \
1970, times in the unit that the header names, or a count of rows, which --period turns into \
time. What was read is printed in one line to standard error; a --period that contradicts the \
column is told or refused.

Exit codes: 0 done, 64 wrong option, 65 damaged table, 66 missing file, 74 writing failed.")]
pub struct Args {
    /// CSV with a header, one row a snapshot
    file: PathBuf,
    /// Column of the time
    #[arg(long, value_name = "COL")]
    time: String,
    /// Columns to judge, each as a measuring point of its own
    #[arg(long, value_name = "COL", value_delimiter = ',', required = true)]
    value: Vec<String>,
    /// Seconds from row to row
    #[arg(long, value_name = "S")]
    period: f64,
    /// What comes first in dates with two readings
    #[arg(long, value_name = "day-first|month-first|year-first")]
    date_order: Option<DateOrder>,
    /// Decimal sign of the values where they do not tell (1,234)
    #[arg(long, value_name = "comma|point")]
    decimal: Option<Decimal>,
    /// Zone of times that state none, such as Asia/Seoul or +09:00 [default: that of this machine]
    #[arg(long, value_name = "ZONE", allow_hyphen_values = true)]
    zone: Option<LocalZone>,
    /// Judge the rows alone that have this value in this column, where the table holds several
    /// sensors
    #[arg(long, value_name = "COL=VALUE", value_parser = column_and_value)]
    only: Vec<(String, String)>,
    /// Level of a column at which the machine has failed, where it is known
    #[arg(long, value_name = "COL=LEVEL", value_parser = failure_level)]
    failure: Vec<(String, f64)>,
    /// One JSON object a row and column instead of a summary
    #[arg(long)]
    jsonl: bool,
}

fn column_and_value(text: &str) -> Result<(String, String), String> {
    let (column, value) = text.split_once('=').ok_or("expected COLUMN=VALUE")?;
    Ok((column.to_owned(), value.to_owned()))
}

fn failure_level(text: &str) -> Result<(String, f64), String> {
    let (column, level) = text.rsplit_once('=').ok_or("expected COLUMN=LEVEL")?;
    let level: f64 = level.trim().parse().map_err(|_| format!("{level:?} is not a number"))?;
    level.is_finite().then(|| (column.to_owned(), level)).ok_or("the level is not finite".into())
}

/// Runs the command.
///
/// # Errors
/// A missing file (66), a file that is not a table (65), an output that fails (74).
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let table = open(args)?;
    let levels: BTreeMap<String, f64> = args.failure.iter().cloned().collect();
    if let Some(stray) = levels.keys().find(|column| !args.value.contains(column)) {
        let reason = anyhow::anyhow!("--failure {stray}: the column is not among --value");
        return Err(Failure::new(Exit::Usage, reason).into());
    }
    let mut out = BufWriter::new(io::stdout().lock());
    let written = if args.jsonl {
        judge(&table, &levels, |line| write_line(&mut out, &line)).and_then(|()| out.flush())
    } else {
        summary::write(&mut out, &table, &levels).and_then(|()| out.flush())
    };
    match written {
        // the reader of the pipe has closed it
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Ok),
        Err(error) => Err(Failure::new(Exit::Io, error).into()),
        Ok(()) => Ok(Exit::Ok),
    }
}

fn open(args: &Args) -> anyhow::Result<SeriesTable> {
    let name = args.file.display();
    let file = File::open(&args.file)
        .with_context(|| format!("{name}"))
        .map_err(|error| Failure::new(Exit::NoInput, error))?;
    let request = Request {
        time: args.time.clone(),
        values: args.value.clone(),
        period_s: args.period,
        date_order: args.date_order,
        decimal: args.decimal,
        zone: args.zone.unwrap_or_default(),
        only: args.only.clone(),
    };
    let table = read_table(file, &request).map_err(|error| {
        let asked = matches!(error, SeriesError::Period { .. } | SeriesError::NoColumn { .. });
        let exit = if asked { Exit::Usage } else { Exit::BadInput };
        Failure::new(exit, anyhow::Error::from(error).context(format!("{name}")))
    })?;
    let span_h = match (table.rows.first(), table.rows.last()) {
        (Some(first), Some(last)) => last.at.seconds_since(first.at) / 3600.0,
        _ => 0.0,
    };
    let mut notes = String::new();
    for note in &table.notes {
        notes.push_str("; ");
        notes.push_str(note);
    }
    super::note(&format!(
        "{name}: columns of text: {} rows over {span_h:.1} h by {:?}, values {}{notes}",
        table.rows.len(),
        args.time,
        args.value.join(", ")
    ));
    Ok(table)
}

fn write_line(out: &mut impl Write, line: &SeriesLine<'_>) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}
