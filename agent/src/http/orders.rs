//! The work order of a judgement for its page: what the written document says, or, where none was
//! written, what it would say. Both come from `pdm-report`, so a page tells nothing by itself.

use std::path::PathBuf;

use pdm_expert::rules::LeadTime;
use pdm_knowledge::Knowledge;
use pdm_report::settings::ReportSettings;
use pdm_report::work_order::work_order;
use pdm_shared::id::EventId;
use pdm_shared::time::Timestamp;
use pdm_store::{Store, StoreError};
use pdm_web::plant::{PlantError, WorkFigures, WorkSheet};

use super::documents;
use crate::documents::{GatherError, stored};

/// The settings and sources from which work orders are built.
#[derive(Debug)]
pub(crate) struct Orders {
    pub(crate) settings: ReportSettings,
    pub(crate) lead_time: LeadTime,
    pub(crate) knowledge: Knowledge,
    /// Where documents are written, if they are.
    pub(crate) folder: Option<PathBuf>,
}

impl Orders {
    /// The order of a judgement; `None` where it asks for none, or where its event is no longer
    /// kept.
    pub(super) async fn sheet(
        &self,
        store: &Store,
        event_id: EventId,
    ) -> Result<Option<WorkSheet>, PlantError> {
        if let Some(folder) = &self.folder {
            let written = documents::order_of_event(store, folder, event_id).await?;
            // one that was written while the knowledge base did not answer quotes nothing
            if let Some(written) = written.filter(|one| !one.safety.is_empty()) {
                return Ok(Some(written));
            }
        }
        let case = match self.case(store, event_id).await {
            Ok(case) => case,
            Err(GatherError::Unknown(_)) => return Ok(None),
            Err(GatherError::Store(error)) => return Err(error.into()),
            Err(error @ GatherError::Knowledge(_)) => {
                return Err(PlantError::Unavailable(error.to_string()));
            }
        };
        let Some(order) = work_order(&case) else { return Ok(None) };
        let sheet = serde_json::to_value(order).and_then(serde_json::from_value);
        sheet.map(Some).map_err(|error| PlantError::Unreadable(error.to_string()))
    }

    /// A knowledge base that does not answer leaves the order without a procedure, as in the
    /// document.
    async fn case(
        &self,
        store: &Store,
        event_id: EventId,
    ) -> Result<pdm_report::CaseFile, GatherError> {
        let (settings, lead_time) = (&self.settings, &self.lead_time);
        match stored(store, Some(&self.knowledge), settings, lead_time, event_id).await {
            Err(GatherError::Knowledge(error)) => {
                tracing::warn!(%error, "the page of a work order quotes nothing");
                stored(store, None, settings, lead_time, event_id).await
            }
            other => other,
        }
    }
}

/// Counts the work of the plant: what waits now, and what was done since a time.
pub(super) async fn work_figures(
    store: &Store,
    since: Timestamp,
    now: Timestamp,
) -> Result<WorkFigures, StoreError> {
    let counts = store.follow_ups().work_counts(now).await?;
    let (done, median_hours) = store.follow_ups().done_since(since).await?;
    Ok(WorkFigures {
        open: counts.open,
        overdue: counts.overdue,
        done,
        median_hours,
        right: counts.right,
        wrong: counts.wrong,
        other_cause: counts.other_cause,
    })
}
