//! `pdm-lake export`: the closed days of a store, once.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::time::Instant;

use pdm_service::exit::Exit;
use pdm_service::shutdown;
use tokio_util::sync::CancellationToken;

use super::{ArchiverArgs, LakeArgs, StoreArgs, bytes_for_people, clock};
use crate::archive::{Archiver, DayDone, Input, SeenDays, is_closed, is_due, seen_days};
use crate::day::Day;
use crate::error::LakeError;
use crate::place::Place;
use crate::record::{self, marks};
use crate::source::Source;
use crate::turn::Turn;

/// Arguments of `export`.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    lake: LakeArgs,
    #[command(flatten)]
    archiver: ArchiverArgs,
    /// This day alone (UTC), such as 2026-03-04
    #[arg(long)]
    day: Option<Day>,
    /// A day is closed so many seconds after its end: what a spool sends within comes into the
    /// day's one file
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    settle_s: u64,
    /// Print one JSON object a day
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(options: &Options) -> anyhow::Result<Exit> {
    let stop = shutdown::on_signal()?;
    let source = options.store.open().await?;
    let place = options.lake.make()?;
    let archiver = begin(&place, &source, options.archiver, stop).await?;
    let done = all_days(&archiver, source, options.day, options.settle_s, |done, seconds| {
        tell(options.json, done, seconds)
    })
    .await;
    let ended = archiver.turn.end().await;
    done?;
    ended?;
    Ok(Exit::Ok)
}

/// Begins to archive a store: the archive takes its rows, and the turn is this archiver's.
pub(super) async fn begin(
    place: &Place,
    source: &Source,
    args: ArchiverArgs,
    stop: CancellationToken,
) -> Result<Archiver, LakeError> {
    let identity = source.identity().await?;
    begin_as(place, &identity, args, stop).await
}

/// As [`begin`], for rows that come from elsewhere.
pub(super) async fn begin_as(
    place: &Place,
    identity: &str,
    args: ArchiverArgs,
    stop: CancellationToken,
) -> Result<Archiver, LakeError> {
    record::begin(place, identity, args.adopt).await?;
    let turn = Turn::take(place, clock(), args.take_over).await?;
    Ok(Archiver {
        place: place.clone(),
        clock: clock(),
        turn,
        app_id: format!("pdm-lake/{identity}"),
        accept_foreign: args.accept_foreign,
        looked: std::sync::Mutex::new(BTreeMap::new()),
        stop,
    })
}

/// Archives each closed day that has rows which its mark does not know.
pub(super) async fn all_days(
    archiver: &Archiver,
    source: Source,
    only: Option<Day>,
    settle_s: u64,
    mut tell: impl FnMut(&DayDone, f64) -> std::io::Result<()>,
) -> anyhow::Result<u64> {
    let days = seen_days(&source).await?;
    let input = Input::Store(source);
    let marks = marks(&archiver.place).await?;
    let now_ms = archiver.clock.now().unix_ms();
    warn_of_open_days(&days, only, now_ms, settle_s);
    let mut archived = 0;
    for (day, seen) in &days {
        let is_asked = only.is_none_or(|only| only == *day);
        let due = is_due(marks.get(day), &archiver.app_id, seen);
        if !is_asked || !due || !is_closed(*day, now_ms, settle_s) {
            continue;
        }
        let began = Instant::now();
        let done = archiver.archive_day(&input, *day, seen).await?;
        tell(&done, began.elapsed().as_secs_f64())?;
        if !done.marked {
            tracing::info!(%day, "asked to end; the day goes on with the next run");
            break;
        }
        archived += 1;
    }
    Ok(archived)
}

/// Rows of days that have not ended wait; those of days ahead are a gateway's clock.
fn warn_of_open_days(days: &SeenDays, only: Option<Day>, now_ms: i64, settle_s: u64) {
    let Some(today) = Day::of_ms(now_ms) else { return };
    let rows = |day: &Day| {
        let seen = days.get(day).and_then(|seen| seen.get("events"));
        seen.map_or(0, |seen| seen.rows)
    };
    for (day, _) in days.range(today.next()..) {
        tracing::warn!(%day, events = rows(day), "events of a day ahead: a gateway's clock is set \
            wrong; they wait until the day has ended");
    }
    if let Some(only) = only
        && !is_closed(only, now_ms, settle_s)
    {
        tracing::warn!(day = %only, settle_s, "the day is not closed, nothing of it is archived");
    }
}

/// A line for each day.
fn tell(json: bool, done: &DayDone, seconds: f64) -> std::io::Result<()> {
    let mut out = pdm_service::command_line::stdout();
    if json {
        let line = serde_json::json!({
            "day": done.day, "rows": done.rows, "bytes": done.bytes, "seconds": seconds,
            "marked": done.marked,
        });
        return writeln!(out, "{line}");
    }
    let rows: Vec<String> =
        done.rows.iter().map(|(table, rows)| format!("{rows} {table}")).collect();
    let rows = if rows.is_empty() { "nothing new".to_owned() } else { rows.join(", ") };
    let marked = if done.marked { "" } else { ", not marked yet" };
    writeln!(out, "{}: {rows}, {}, {seconds:.1} s{marked}", done.day, bytes_for_people(done.bytes))
}
