//! Whose turn it is to archive: one archiver at a time.
//!
//! Each turn is an object `_pdm/turns/NUMBER.json` that is created only if there is none. The
//! highest number has the turn until it is ended or its heartbeat is older than [`STALE_S`]; who
//! creates the next number takes over. The turn keeps two archivers from doing the same work. That
//! no row comes twice does not rest on it: an archiver that was stopped between this look and its
//! commit fails at the commit ([`crate::lake`]).

use std::sync::Arc;
use std::time::Duration;

use pdm_service::clock::SharedClock;
use pdm_shared::time::Timestamp;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::error::LakeError;
use crate::place::Place;

/// Age of a heartbeat at which its archiver counts as gone, s. Chosen: six heartbeats.
pub const STALE_S: f64 = 60.0;
/// Time between two heartbeats.
const BEAT: Duration = Duration::from_secs(10);
const TURNS: &str = "_pdm/turns";
/// Turns of before that are kept for a look.
const KEPT: u64 = 20;

/// The record of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct TurnRecord {
    schema: String,
    /// Told apart from every other one.
    archiver: Uuid,
    /// Machine and process.
    who: String,
    began_at: Timestamp,
    beat_at: Timestamp,
    ended: bool,
}

const TURN_SCHEMA: &str = "pdm.archiver-turn/1";

/// The right to archive; its heartbeat goes on until it is ended or dropped.
#[derive(Debug)]
pub struct Turn {
    place: Place,
    clock: SharedClock,
    record: TurnRecord,
    /// The number.
    pub number: u64,
    stop: CancellationToken,
}

/// What is known of the last turn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LastTurn {
    /// Its number.
    pub number: u64,
    /// Machine and process.
    pub who: String,
    /// When it began.
    pub began_at: Timestamp,
    /// Its last heartbeat.
    pub beat_at: Timestamp,
    /// Whether it ended by itself.
    pub ended: bool,
}

fn path(number: u64) -> String {
    format!("{TURNS}/{number:012}.json")
}

async fn numbers(place: &Place) -> Result<Vec<u64>, LakeError> {
    let listed = place.list(TURNS).await?;
    let number = |name: &str| name.strip_suffix(".json")?.parse().ok();
    Ok(listed.iter().filter_map(|object| number(object.location.filename()?)).collect())
}

/// The last turn, if there was one.
///
/// # Errors
/// [`LakeError`] if it cannot be read.
pub async fn last(place: &Place) -> Result<Option<LastTurn>, LakeError> {
    let Some(number) = numbers(place).await?.last().copied() else { return Ok(None) };
    let Some(bytes) = place.read(&path(number)).await? else { return Ok(None) };
    let record: TurnRecord = serde_json::from_slice(&bytes).map_err(|error| {
        let told = format!("the record of turn {number} cannot be read: {error}");
        LakeError::Content { place: format!("{}/{TURNS}", place.name), told }
    })?;
    let TurnRecord { who, began_at, beat_at, ended, .. } = record;
    Ok(Some(LastTurn { number, who, began_at, beat_at, ended }))
}

impl Turn {
    /// Takes the next turn.
    ///
    /// # Errors
    /// [`LakeError::Owned`] while another archiver has it, unless `take_over` is set.
    pub async fn take(
        place: &Place,
        clock: SharedClock,
        take_over: bool,
    ) -> Result<Self, LakeError> {
        let now = clock.now();
        let before = last(place).await?;
        if let Some(last) = &before {
            let age_s = now.seconds_since(last.beat_at);
            if !last.ended && age_s < STALE_S && !take_over && !is_gone(&last.who) {
                let told = format!(
                    "{} archives here (turn {}, since {}, last heard of {age_s:.0} s ago); its \
                     turn ends with it, or {STALE_S:.0} s after its last heartbeat; --take-over \
                     takes its place now",
                    last.who, last.number, last.began_at
                );
                return Err(LakeError::Owned { place: place.name.clone(), told });
            }
        }
        let number = before.map_or(1, |last| last.number + 1);
        let record = TurnRecord {
            schema: TURN_SCHEMA.to_owned(),
            archiver: Uuid::now_v7(),
            who: who(),
            began_at: now,
            beat_at: now,
            ended: false,
        };
        if !place.create(&path(number), bytes(&record)).await? {
            let told = format!("another archiver took turn {number} at the same moment; try again");
            return Err(LakeError::Owned { place: place.name.clone(), told });
        }
        let stop = CancellationToken::new();
        let turn = Self { place: place.clone(), clock, record, number, stop };
        turn.clean_up().await?;
        tokio::spawn(beat(
            turn.place.clone(),
            Arc::clone(&turn.clock),
            turn.record.clone(),
            number,
            turn.stop.clone(),
        ));
        Ok(turn)
    }

    /// Looks whether the turn is still this archiver's; asked before each commit.
    ///
    /// # Errors
    /// [`LakeError::Owned`] if another one has taken over.
    pub async fn check(&self) -> Result<(), LakeError> {
        match numbers(&self.place).await?.last() {
            Some(last) if *last > self.number => {
                let told = format!(
                    "turn {last} has taken over from turn {}; this archiver ends",
                    self.number
                );
                Err(LakeError::Owned { place: self.place.name.clone(), told })
            }
            _ => Ok(()),
        }
    }

    /// Ends the turn, so that the next archiver need not wait.
    ///
    /// # Errors
    /// [`LakeError`] if the record cannot be written.
    pub async fn end(self) -> Result<(), LakeError> {
        self.stop.cancel();
        let record = TurnRecord { beat_at: self.clock.now(), ended: true, ..self.record.clone() };
        self.place.write(&path(self.number), bytes(&record)).await
    }

    async fn clean_up(&self) -> Result<(), LakeError> {
        for number in numbers(&self.place).await? {
            if number + KEPT < self.number {
                self.place.remove(&path(number)).await?;
            }
        }
        Ok(())
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Writes the heartbeat until it is stopped. One that cannot be written is told; the commit
/// decides.
async fn beat(
    place: Place,
    clock: SharedClock,
    record: TurnRecord,
    number: u64,
    stop: CancellationToken,
) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(BEAT) => {}
        }
        let now = TurnRecord { beat_at: clock.now(), ..record.clone() };
        if let Err(error) = place.write(&path(number), bytes(&now)).await {
            tracing::warn!(%error, "the heartbeat of this archiver cannot be written");
        }
    }
}

fn bytes(record: &TurnRecord) -> Vec<u8> {
    serde_json::to_vec(record).unwrap_or_default()
}

fn who() -> String {
    format!("{}, process {}", machine(), std::process::id())
}

fn machine() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "this machine".to_owned() } else { name.to_owned() }
}

/// Whether an archiver of this machine has ended without a word: its process is not there any more.
fn is_gone(who: &str) -> bool {
    let Some((machine_of, process)) = who.rsplit_once(", process ") else { return false };
    let is_number = process.parse::<u32>().is_ok();
    machine_of == machine() && is_number && !std::path::Path::new("/proc").join(process).exists()
}
