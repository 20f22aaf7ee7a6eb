//! Writes the documents of a run: the workflow's nodes `generate_report` and `generate_work_order`.

use std::time::Duration;

use async_trait::async_trait;
use pdm_expert::rules::LeadTime;
use pdm_knowledge::{Knowledge, KnowledgeError};
use pdm_report::files::{self, DocumentKind};
use pdm_report::settings::ReportSettings;
use pdm_report::{CaseFile, LOOK_BACK, english, findings, gather, grounds};
use pdm_store::Store;

use super::stored::add_designation;
use crate::captures::Captures;
use crate::workflow::documents::{DocumentError, DocumentOutcome, Documents, Written};
use crate::workflow::state::State;

/// How long one look-up for a document may take: the alarm has named the documents by then. Chosen:
/// three look-ups for the two documents of an alarm, together 1.5 s.
const LOOK_UP: Duration = Duration::from_millis(500);
/// How long the picture of a waveform may take. Chosen: 60 s at 51.2 kHz are drawn within 2 s on a
/// small server.
const DRAWING: Duration = Duration::from_secs(5);

/// Writes the documents of a run into the configured folder.
#[derive(Debug)]
pub struct Writer {
    /// Folder, languages and formats.
    pub settings: ReportSettings,
    /// Time that a replacement takes to arrange.
    pub lead_time: LeadTime,
    /// Store with the bearing's earlier windows.
    pub store: Store,
    /// Knowledge base with the passages that documents quote.
    pub knowledge: Knowledge,
    /// Captured waveforms, where they are kept.
    pub(crate) captures: Option<Captures>,
    /// The address of the pages, where one is configured.
    pub(crate) page_url: Option<String>,
}

impl Writer {
    async fn case(&self, state: &State) -> Result<CaseFile, String> {
        let event = state.event_payload.clone();
        let judgement = state.diagnosis_result.as_ref().ok_or("there is no judgement")?;
        let key = event.key();
        let past = self.store.history().history(&key, event.measured_at, LOOK_BACK).await;
        let past = past.map_err(|error| error.to_string())?;
        let diagnosis = judgement.diagnosis.clone();
        let fault = diagnosis.fault_type;
        let mut case = gather::fresh(event, diagnosis, &past, &self.settings, &self.lead_time);
        add_designation(&self.store, &mut case).await.map_err(|error| error.to_string())?;
        case.memory.clone_from(&state.memory_context.recent);
        case.work.clone_from(&state.memory_context.work);
        case.research = findings::of_run(&state.inquiry);
        if let Some(captures) = &self.captures {
            let picture = captures.waveform(&case.event, fault, self.page_url.as_deref());
            match tokio::time::timeout(DRAWING, picture).await {
                Ok(Ok(waveform)) => case.waveform = Some(waveform),
                Ok(Err(error)) => tracing::warn!(%error, "the documents have no waveform"),
                Err(_elapsed) => tracing::warn!("the documents have no waveform: it took too long"),
            }
        }
        // a document without passages is better than none, and states that there is no procedure
        match in_time(grounds::look_up(&self.knowledge, fault)).await {
            Ok(grounds) => case.grounds = grounds,
            Err(error) => tracing::warn!(error, "the documents quote nothing"),
        }
        Ok(case)
    }

    async fn files(&self, kind: DocumentKind, state: &State) -> Result<DocumentOutcome, String> {
        let Some(folder) = self.settings.folder.clone() else {
            return Ok(DocumentOutcome::default());
        };
        let mut case = self.case(state).await?;
        if kind == DocumentKind::Report {
            // the work order does not include the research
            match in_time(english::look_up(&self.knowledge, &case.research, &case.diagnosis)).await
            {
                Ok(english) => case.english = english,
                Err(error) => tracing::warn!(error, "the research is quoted as it stands"),
            }
        }
        let settings = self.settings.clone();
        let written = tokio::task::spawn_blocking(move || {
            files::write_part(&case, kind, &folder, &settings.languages, &settings.formats)
        });
        let written = written.await.map_err(|error| error.to_string())?;
        let written = written.map_err(|error| error.to_string())?;
        if !written.ungrounded.is_empty() {
            let count = written.ungrounded.len() as u64;
            metrics::counter!("pdm_agent_ungrounded_figures_total").increment(count);
            tracing::error!(figures = ?written.ungrounded, "figures without a source in a \
                document");
        }
        let files = written.files.iter();
        let files = files.map(|file| Written { kind, place: self.settings.place(file) });
        Ok(DocumentOutcome { written: files.collect(), ungrounded: written.ungrounded })
    }
}

/// A look-up that may take [`LOOK_UP`].
async fn in_time<T>(look_up: impl Future<Output = Result<T, KnowledgeError>>) -> Result<T, String> {
    match tokio::time::timeout(LOOK_UP, look_up).await {
        Ok(found) => found.map_err(|error| error.to_string()),
        Err(_elapsed) => Err(format!("no answer within {} ms", LOOK_UP.as_millis())),
    }
}

#[async_trait]
impl Documents for Writer {
    fn places(&self, kind: DocumentKind, state: &State) -> Vec<Written> {
        let Some(folder) = &self.settings.folder else { return Vec::new() };
        let (languages, formats) = (&self.settings.languages, &self.settings.formats);
        let names = files::names(&state.event_payload, kind, languages, formats);
        let place = |name: String| self.settings.place(&folder.join(name));
        names.into_iter().map(|name| Written { kind, place: place(name) }).collect()
    }

    async fn write(
        &self,
        kind: DocumentKind,
        state: &State,
    ) -> Result<DocumentOutcome, DocumentError> {
        self.files(kind, state).await.map_err(|reason| DocumentError { kind, reason })
    }
}
