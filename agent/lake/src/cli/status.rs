//! `pdm-lake status`: what the archive holds.

use std::io::Write as _;

use pdm_service::exit::Exit;
use serde::Serialize;

use super::{LakeArgs, bytes_for_people, clock};
use crate::archive::{is_closed, is_due, seen_days};
use crate::error::LakeError;
use crate::lake::Table;
use crate::record::{archive, marks};
use crate::source::Source;
use crate::table::TABLES;
use crate::turn::{self, LastTurn};

/// Arguments of `status`.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    #[command(flatten)]
    lake: LakeArgs,
    /// The store, to say which of its days are not archived
    #[arg(long, value_name = "STORE")]
    store: Option<String>,
    /// The file that holds the password of the server's user
    #[arg(long, value_name = "FILE", requires = "store")]
    password_file: Option<std::path::PathBuf>,
    /// A day of the store is closed so many seconds after its end
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    settle_s: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A table for people and programs.
#[derive(Debug, Serialize)]
struct TableStatus {
    name: &'static str,
    version: u64,
    files: usize,
    rows: u64,
    bytes: u64,
    bytes_per_row: Option<f64>,
    first_day: Option<String>,
    last_day: Option<String>,
}

#[derive(Debug, Serialize)]
struct Status {
    lake: String,
    stores: Vec<String>,
    tables: Vec<TableStatus>,
    /// Bytes of events and spectra over the number of events.
    bytes_per_event: Option<f64>,
    marked_days: usize,
    last_marked: Option<String>,
    archiver: Option<LastTurn>,
    /// Closed days of the store with rows that the archive does not have.
    days_due: Option<Vec<String>>,
}

pub(super) async fn run(options: &Options) -> anyhow::Result<Exit> {
    let place = options.lake.open()?;
    let missing = || LakeError::NoArchive { place: place.name.clone() };
    let record = archive(&place).await?.ok_or_else(missing)?;
    let mut tables = Vec::new();
    for spec in TABLES {
        let Some(table) = Table::open(&place, spec).await? else { continue };
        let listing = table.listing()?;
        let (rows, bytes) = (listing.rows(), listing.bytes());
        tables.push(TableStatus {
            name: spec.name,
            version: table.version(),
            files: listing.files(),
            rows,
            bytes,
            bytes_per_row: (rows > 0).then(|| bytes as f64 / rows as f64),
            first_day: listing.days.keys().next().map(ToString::to_string),
            last_day: listing.days.keys().next_back().map(ToString::to_string),
        });
    }
    let of = |name: &str| tables.iter().find(|table| table.name == name);
    let events = of("events").map_or(0, |table| table.rows);
    let both =
        of("events").map_or(0, |table| table.bytes) + of("spectra").map_or(0, |table| table.bytes);
    let marks = marks(&place).await?;
    let days_due = match &options.store {
        None => None,
        Some(store) => {
            let source = Source::open(store, options.password_file.as_deref()).await?;
            let app_id = format!("pdm-lake/{}", source.identity().await?);
            let now_ms = clock().now().unix_ms();
            let due = seen_days(&source).await?.into_iter().filter(|(day, seen)| {
                is_closed(*day, now_ms, options.settle_s) && is_due(marks.get(day), &app_id, seen)
            });
            Some(due.map(|(day, _)| day.to_string()).collect())
        }
    };
    let status = Status {
        lake: place.name.clone(),
        stores: record.stores,
        bytes_per_event: (events > 0).then(|| both as f64 / events as f64),
        marked_days: marks.len(),
        last_marked: marks.keys().next_back().map(ToString::to_string),
        archiver: turn::last(&place).await?,
        days_due,
        tables,
    };
    print(options.json, &status)?;
    Ok(Exit::Ok)
}

fn print(json: bool, status: &Status) -> std::io::Result<()> {
    let mut out = pdm_service::command_line::stdout();
    if json {
        serde_json::to_writer(&mut out, status)?;
        return writeln!(out);
    }
    writeln!(out, "{}", status.lake)?;
    for table in &status.tables {
        let days = match (&table.first_day, &table.last_day) {
            (Some(first), Some(last)) => format!("{first} to {last}"),
            _ => "no day".to_owned(),
        };
        let per_row =
            table.bytes_per_row.map_or_else(String::new, |bytes| format!(", {bytes:.0} B a row"));
        writeln!(
            out,
            "  {:<11} {:>12} rows, {} files, {}{per_row}, {days}",
            table.name,
            table.rows,
            table.files,
            bytes_for_people(table.bytes)
        )?;
    }
    if let Some(bytes) = status.bytes_per_event {
        writeln!(out, "  {bytes:.0} B an event with its spectra")?;
    }
    let last = status.last_marked.as_deref().unwrap_or("none");
    writeln!(out, "days marked as archived: {} (last {last})", status.marked_days)?;
    if let Some(turn) = &status.archiver {
        let state = if turn.ended { "ended" } else { "last heard of" };
        writeln!(out, "archiver: {} (turn {}), {state} {}", turn.who, turn.number, turn.beat_at)?;
    }
    match status.days_due.as_deref() {
        None => Ok(()),
        Some([]) => writeln!(out, "every closed day of the store is archived"),
        Some(due) => {
            writeln!(out, "closed days of the store that are not archived: {}", due.join(", "))
        }
    }
}
