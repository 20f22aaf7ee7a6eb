//! Finds out whether the last windows of bearings can be judged, and reads windows and grounds of
//! an earlier time, for the chat.

use pdm_reasoner::chat::{EarlierGrounds, MeasuredWindow, Watch};
use pdm_shared::episode::Condition;
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use pdm_store::{EpisodeRecord, Store, StoreError};
use pdm_web::plant::WindowRow;

/// Windows that are read back to the begin of a standstill or of a dead sensor. Chosen: two weeks
/// of one an hour.
const BACK: u32 = 336;
/// Windows in which an earlier judgement is looked for. Chosen: six weeks of one an hour.
const EARLIER: u32 = 1000;

/// Returns whether the last windows of a bearing can be judged.
pub(super) async fn watch_of(
    store: &Store,
    key: &BearingKey,
    now: Timestamp,
) -> Result<Watch, StoreError> {
    let until = now.ten_years_on();
    let last = store.pages().windows(key, until, 1).await?;
    let Some(last) = last.last().filter(|last| !is_judgeable(last)) else {
        return Ok(Watch::Judged);
    };
    let rows = store.pages().windows(key, until, BACK).await?;
    let is_of_run = |row: &&WindowRow| !is_judgeable(row) && row.running == last.running;
    let run: Vec<&WindowRow> = rows.iter().rev().take_while(is_of_run).collect();
    let since = run.last().map_or(last.measured_at, |row| row.measured_at);
    let is_longer = run.len() == BACK as usize;
    if !last.running {
        return Ok(Watch::Standing { since, is_longer });
    }
    let event = store.history().event(last.event_id).await?;
    let flags = event.map(|event| event.signal_quality.flags).unwrap_or_default();
    Ok(Watch::Invalid { since, is_longer, flags })
}

/// Whether a window says how the bearing stands.
const fn is_judgeable(row: &WindowRow) -> bool {
    row.running && row.valid
}

/// A window as a question for a day is answered.
pub(super) const fn window_of(row: &WindowRow) -> MeasuredWindow {
    MeasuredWindow {
        at: row.measured_at,
        is_running: row.running,
        is_valid: row.valid,
        velocity_rms_mm_s: row.velocity_rms_mm_s,
        rms_g: row.rms_g,
        kurtosis: row.kurtosis,
    }
}

/// The grounds of the last judgement of this risk or a higher one.
pub(super) async fn earlier_grounds(
    store: &Store,
    key: &BearingKey,
    least: RiskLevel,
    now: Timestamp,
) -> Result<Option<EarlierGrounds>, StoreError> {
    let rows = store.pages().windows(key, now.ten_years_on(), EARLIER).await?;
    let of_level = |row: &&WindowRow| row.risk_level.is_some_and(|risk| risk >= least);
    // a window that could not be judged keeps the risk of before, and has no grounds of its own
    let judged = rows.iter().rev().filter(|row| is_judgeable(row)).find(of_level);
    let Some(row) = judged.or_else(|| rows.iter().rev().find(of_level)) else { return Ok(None) };
    let Some(diagnosis) = store.history().diagnosis(row.event_id).await? else { return Ok(None) };
    Ok(Some(EarlierGrounds {
        at: row.measured_at,
        risk: row.risk_level.unwrap_or(least),
        grounds: diagnosis.thoughts.into_iter().map(|thought| thought.conclusion).collect(),
    }))
}

/// Returns the time since which a bearing is abnormal by its measurements; an episode beside
/// another's alarm opens when that alarm is told.
pub(super) fn began_at(record: &EpisodeRecord) -> Timestamp {
    let opened_at = record.episode.opened_at;
    match record.episode.course.condition {
        Condition::Active { since, .. } => since.min(opened_at),
        Condition::Normal { .. } | Condition::Frozen { .. } => opened_at,
    }
}

/// The levels that an episode has reached, each with the window with which staff was first told of
/// it; lowest first. A level of a bearing that is told with another's alarm has none.
pub(super) fn levels_reached(record: &EpisodeRecord) -> Vec<(RiskLevel, Timestamp)> {
    let levels = record.episode.course.levels.iter();
    levels.filter_map(|(level, of)| Some((*level, *of.tellings.first()?))).collect()
}
