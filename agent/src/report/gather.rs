//! Fills a case file from what is stored, for documents that are written again.

use std::collections::BTreeMap;

use pdm_expert::case::{RECALLED, Remembered};
use pdm_expert::rules::LeadTime;
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::event::Event;
use pdm_shared::id::EventId;

use super::case_file::{CaseFile, HistoryPoint, LOOK_BACK};
use super::settings::ReportSettings;
use super::{english, findings, grounds};
use crate::knowledge::{Knowledge, KnowledgeError};
use crate::store::{PastEvent, Store, StoreError};

/// The case of an event cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GatherError {
    /// Try again.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Try again, or write without grounds.
    #[error(transparent)]
    Knowledge(#[from] KnowledgeError),
    /// There is no such event, or it is not judged yet.
    #[error("the store has no judgement of event {0}")]
    Unknown(EventId),
}

/// The case of a stored event.
///
/// # Errors
/// [`GatherError`].
pub async fn stored(
    store: &dyn Store,
    knowledge: Option<&Knowledge>,
    settings: &ReportSettings,
    lead_time: &LeadTime,
    event_id: EventId,
) -> Result<CaseFile, GatherError> {
    let event = store.event(event_id).await?.ok_or(GatherError::Unknown(event_id))?;
    let diagnosis = store.diagnosis(event_id).await?.ok_or(GatherError::Unknown(event_id))?;
    let key = event.key();
    let past = store.history(&key, event.measured_at, LOOK_BACK).await?;
    let mut case = fresh(event, diagnosis, &past, settings, lead_time);
    (case.research, case.steps) = findings::of_trace(&store.trace(event_id).await?);
    if let Some(knowledge) = knowledge {
        case.grounds = grounds::look_up(knowledge, case.diagnosis.fault_type).await?;
        case.english = english::look_up(knowledge, &case.research).await?;
    }
    Ok(case)
}

/// The case of an event without research and grounds; `past` is the bearing's, oldest first.
pub fn fresh(
    event: Event,
    diagnosis: Diagnosis,
    past: &[PastEvent],
    settings: &ReportSettings,
    lead_time: &LeadTime,
) -> CaseFile {
    let before = past.iter().rev().filter(|past| past.event.event_id != event.event_id);
    let memory: Vec<Remembered> = before.filter_map(|past| past.judged).take(RECALLED).collect();
    CaseFile {
        memory,
        history: past.iter().map(HistoryPoint::of).collect(),
        research: Vec::new(),
        steps: Vec::new(),
        grounds: Vec::new(),
        english: BTreeMap::new(),
        asset: settings.asset_of(&event),
        planning: settings.planning(lead_time),
        event,
        diagnosis,
    }
}
