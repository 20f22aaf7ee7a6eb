//! Repair of a damaged spool: the file is renamed, and its readable rows are copied into a new
//! file.
//!
//! Rows are read from both ends of their key towards the middle, so that one bad page costs the
//! rows on it and not those behind it. Numbers continue above all numbers that were read. If the
//! gateway's row cannot be read, they continue above the ledger's mark.

use std::path::{Path, PathBuf};

use pdm_service::clock::SharedClock;
use pdm_shared::event::HIGHEST_SEQUENCE;
use pdm_shared::id::{BearingId, EquipmentId, GatewayId, SiteId};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{FromRow as _, Row as _, SqlitePool};

use super::file::{Files, companion, pool};
use super::numbering::{self, Numbering};
use super::tally::{Standing, json_list};
use super::{SpoolError, log, tally};

/// Rows read at once: few, because a bad page makes all rows of its step unreadable at first.
const STEP: i64 = 16;

#[derive(Debug, Default)]
struct Salvaged {
    rows: Vec<Saved>,
    /// Rows that do not wait. If this list cannot be read, they wait and are sent again; the agent
    /// drops events that it has stored already.
    elsewhere: Vec<(i64, i64)>,
    memory: Vec<(String, Vec<u8>)>,
    next_sequence: Option<i64>,
    counters: (i64, i64, i64),
    numbering: Option<Numbering>,
}

/// A row of the table `event`.
#[derive(Debug, sqlx::FromRow)]
struct Saved {
    sequence: i64,
    event_id: Vec<u8>,
    spooled_ms: i64,
    site: String,
    equipment: String,
    bearing: String,
    payload: Vec<u8>,
}

impl Saved {
    /// False if a wrong byte has destroyed the identity, a name or the payload.
    fn is_event(&self) -> bool {
        uuid::Uuid::from_slice(&self.event_id).is_ok()
            && self.site.parse::<SiteId>().is_ok()
            && self.equipment.parse::<EquipmentId>().is_ok()
            && self.bearing.parse::<BearingId>().is_ok()
            && serde_json::from_slice::<serde::de::IgnoredAny>(&self.payload).is_ok()
    }
}

/// Renames the damaged file, creates a new one and copies the readable rows.
pub(super) async fn replace(
    path: &Path,
    gateway: &GatewayId,
    mark: u64,
    clock: &SharedClock,
    why: &SpoolError,
) -> Result<Files, SpoolError> {
    let aside = set_aside(path, clock)?;
    let mut salvaged = read(&aside).await;
    let possible = 1..=HIGHEST_SEQUENCE.cast_signed();
    salvaged.rows.retain(|row| possible.contains(&row.sequence));
    let highest = salvaged.rows.iter().map(|row| row.sequence.unsigned_abs()).max().unwrap_or(0);
    let next = match salvaged.next_sequence {
        Some(next) => next.unsigned_abs().max(highest + 1),
        None => mark.max(highest + 1),
    };
    let mut files = Files::open(path, gateway, next, clock.now().unix_ms()).await?;
    // without the identity of the count, the rows that were saved belong to the new one
    let lowest = salvaged.rows.first().map_or(next, |row| row.sequence.unsigned_abs());
    let fresh = Numbering { first: lowest, ..files.numbering };
    files.numbering = salvaged.numbering.unwrap_or(fresh);
    write(&files, &salvaged).await.map_err(|source| files.failed(source))?;
    log::salvaged(why, &aside, salvaged.rows.len(), next);
    Ok(files)
}

/// Renames the file and the two files that SQLite keeps beside it.
fn set_aside(path: &Path, clock: &SharedClock) -> Result<PathBuf, SpoolError> {
    let stamp = clock.now().date_time().format("%Y%m%dT%H%M%S%3fZ").to_string();
    let aside = companion(path, &format!(".damaged-{stamp}"));
    std::fs::rename(path, &aside)
        .map_err(|source| SpoolError::Folder { path: aside.clone(), source })?;
    for suffix in ["-wal", "-shm"] {
        let from = companion(path, suffix);
        if from.exists() {
            std::fs::rename(&from, companion(&aside, suffix))
                .map_err(|source| SpoolError::Folder { path: from, source })?;
        }
    }
    Ok(aside)
}

/// Reads the readable rows; skips the rest.
async fn read(aside: &Path) -> Salvaged {
    let mut salvaged = Salvaged::default();
    // an index may be damaged too, so every statement below reads the table itself
    let Ok(pool) = pool(SqliteConnectOptions::new().filename(aside)).await else {
        return salvaged;
    };
    if let Ok((next, dropped, unconfirmed, stored)) = sqlx::query_as::<_, (i64, i64, i64, i64)>(
        "SELECT next_sequence, dropped, unconfirmed, stored_through FROM gateway",
    )
    .fetch_one(&pool)
    .await
    {
        salvaged.next_sequence = Some(next).filter(|next| *next <= HIGHEST_SEQUENCE.cast_signed());
        salvaged.counters = (dropped, unconfirmed, stored);
    }
    // a file of an earlier format has no such columns
    if salvaged.next_sequence.is_some() {
        salvaged.numbering = sqlx::query_as("SELECT epoch, epoch_first FROM gateway")
            .fetch_one(&pool)
            .await
            .ok()
            .and_then(numbering::of_row);
    }
    salvaged.memory =
        sqlx::query_as("SELECT key, value FROM memory").fetch_all(&pool).await.unwrap_or_default();
    read_rows(&pool, &mut salvaged.rows).await;
    salvaged.elsewhere =
        sqlx::query_as("SELECT sequence, state FROM delivery NOT INDEXED WHERE state <> 0")
            .fetch_all(&pool)
            .await
            .unwrap_or_default();
    pool.close().await;
    salvaged
}

async fn read_rows(pool: &SqlitePool, rows: &mut Vec<Saved>) {
    let up = "SELECT * FROM event NOT INDEXED WHERE sequence > ? ORDER BY sequence LIMIT ?";
    let down = "SELECT * FROM event NOT INDEXED WHERE sequence < ? ORDER BY sequence DESC LIMIT ?";
    let mut low = 0;
    while let Some(last) = step(pool, up, low, rows).await {
        low = last;
    }
    let mut high = i64::MAX;
    while let Some(last) = step(pool, down, high, rows).await {
        if last <= low {
            break;
        }
        high = last;
    }
    rows.sort_by_key(|row| row.sequence);
    rows.dedup_by_key(|row| row.sequence);
}

/// Reads one step; returns the last number read, or `None` at the end or at an unreadable page.
async fn step(
    pool: &SqlitePool,
    statement: &'static str,
    from: i64,
    rows: &mut Vec<Saved>,
) -> Option<i64> {
    let mut limit = STEP;
    loop {
        let read = sqlx::query(statement).bind(from).bind(limit).fetch_all(pool).await;
        match read {
            Ok(found) => {
                let last = found.last()?.try_get::<i64, _>("sequence").ok()?;
                for row in &found {
                    if let Ok(row) = Saved::from_row(row)
                        && row.is_event()
                    {
                        rows.push(row);
                    }
                }
                return Some(last);
            }
            Err(_) if limit > 1 => limit /= 4,
            Err(_) => return None,
        }
    }
}

async fn write(files: &Files, salvaged: &Salvaged) -> Result<(), sqlx::Error> {
    let mut tx = files.writer.begin_with("BEGIN IMMEDIATE").await?;
    for row in &salvaged.rows {
        sqlx::query(
            "INSERT INTO event
                 (sequence, event_id, spooled_ms, site, equipment, bearing, payload)
             VALUES (?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(row.sequence)
        .bind(&row.event_id)
        .bind(row.spooled_ms)
        .bind(&row.site)
        .bind(&row.equipment)
        .bind(&row.bearing)
        .bind(&row.payload)
        .execute(&mut *tx)
        .await?;
    }
    for (state, standing) in [(1, Standing::Acknowledged), (2, Standing::Parked)] {
        let stand_there = salvaged.elsewhere.iter().filter(|row| row.1 == state);
        let list = json_list(&stand_there.map(|row| row.0.unsigned_abs()).collect::<Vec<_>>());
        tally::move_rows(&mut tx, &list, Standing::Waiting, standing).await?;
    }
    for (key, value) in &salvaged.memory {
        sqlx::query("INSERT INTO memory (key, value) VALUES (?, ?)")
            .bind(key)
            .bind(value)
            .execute(&mut *tx)
            .await?;
    }
    numbering::write(&mut tx, files.numbering).await?;
    let (dropped, unconfirmed, stored) = salvaged.counters;
    sqlx::query("UPDATE gateway SET dropped = ?, unconfirmed = ?, stored_through = ?")
        .bind(dropped)
        .bind(unconfirmed)
        .bind(stored)
        .execute(&mut *tx)
        .await?;
    tx.commit().await
}
