//! The case file of a stored event, for writing its documents again.

use pdm_expert::rules::LeadTime;
use pdm_knowledge::{Knowledge, KnowledgeError};
use pdm_report::settings::ReportSettings;
use pdm_report::{CaseFile, LOOK_BACK, english, findings, gather, grounds};
use pdm_shared::id::EventId;
use pdm_store::{Store, StoreError};

use crate::assets::machines::designation_in_graph;

/// The case of an event cannot be gathered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GatherError {
    /// The store failed. The caller tries again.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The knowledge base failed. The caller tries again, or writes without passages.
    #[error(transparent)]
    Knowledge(#[from] KnowledgeError),
    /// The event does not exist or is not judged yet.
    #[error("the store has no judgement of event {0}")]
    Unknown(EventId),
}

/// The case of a stored event.
///
/// # Errors
/// [`GatherError`].
pub async fn stored(
    store: &Store,
    knowledge: Option<&Knowledge>,
    settings: &ReportSettings,
    lead_time: &LeadTime,
    event_id: EventId,
) -> Result<CaseFile, GatherError> {
    let event = store.history().event(event_id).await?.ok_or(GatherError::Unknown(event_id))?;
    let diagnosis =
        store.history().diagnosis(event_id).await?.ok_or(GatherError::Unknown(event_id))?;
    let key = event.key();
    let past = store.history().history(&key, event.measured_at, LOOK_BACK).await?;
    let mut case = gather::fresh(event, diagnosis, &past, settings, lead_time);
    add_designation(store, &mut case).await?;
    let trace = store.history().trace(event_id).await?;
    (case.research, case.steps) = findings::of_trace(&trace);
    if let Some(memory) = findings::memory_of_trace(&trace) {
        (case.memory, case.work) = memory;
    }
    if let Some(knowledge) = knowledge {
        case.grounds = grounds::look_up(knowledge, case.diagnosis.fault_type).await?;
        case.english = english::look_up(knowledge, &case.research, &case.diagnosis).await?;
    }
    Ok(case)
}

/// The designation of the asset graph, where the configuration has none.
pub(super) async fn add_designation(store: &Store, case: &mut CaseFile) -> Result<(), StoreError> {
    if case.asset.designation.is_none() {
        case.asset.designation = designation_in_graph(store, &case.event.key()).await?;
    }
    Ok(())
}
