//! Judges what is stored: one writer, in the order of arrival, a batch in one transaction.
//!
//! What was stored but not judged when the process died is found again by its mark. Within a batch
//! a bearing's events are judged one after the other, each remembering the one before.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use pdm_shared::clock::SharedClock;
use pdm_shared::event::Event;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::notify::policy::Policy;
use crate::progress::{BearingKey, Reporter, Standing};
use crate::store::{AlarmChange, BearingJudged, Judged, Recall, Store, StoreError, Unjudged};
use crate::workflow::{self, Reasoner, WorkflowError};

/// Events of one transaction.
const BATCH: u32 = 256;
/// Looks at least this often, should a ring be missed.
const LOOK: Duration = Duration::from_secs(1);
/// Pause after a failure.
const RETRY: Duration = Duration::from_millis(500);

/// The judging task.
#[derive(Debug)]
pub(crate) struct Judging {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: SharedClock,
    pub(crate) reasoner: Arc<dyn Reasoner>,
    pub(crate) policy: Policy,
    pub(crate) reporter: Reporter,
    /// Rung when something was stored.
    pub(crate) stored: Arc<Notify>,
    /// Rung when something has to leave.
    pub(crate) written: Arc<Vec<Arc<Notify>>>,
}

/// A batch could not be judged; it is tried again.
#[derive(Debug, thiserror::Error)]
enum JudgingError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Workflow(#[from] WorkflowError),
}

impl Judging {
    /// Judges until `stop`, and then what is left.
    pub(crate) async fn run(self, stop: CancellationToken) {
        loop {
            match self.batch().await {
                Ok(0) if stop.is_cancelled() => return,
                Ok(0) => {
                    tokio::select! {
                        () = self.stored.notified() => {}
                        () = tokio::time::sleep(LOOK) => {}
                        () = stop.cancelled() => {}
                    }
                }
                Ok(_) => {}
                Err(error) => {
                    metrics::counter!("pdm_agent_judging_errors_total").increment(1);
                    tracing::error!(%error, cause = ?std::error::Error::source(&error), "cannot judge, trying on");
                    if stop.is_cancelled() {
                        return;
                    }
                    tokio::time::sleep(RETRY).await;
                }
            }
        }
    }

    async fn batch(&self) -> Result<usize, JudgingError> {
        let events = self.store.unjudged(BATCH).await?;
        let count = events.len();
        let mut by_bearing: BTreeMap<BearingKey, Vec<Unjudged>> = BTreeMap::new();
        for event in events {
            by_bearing.entry(key_of(&event.event)).or_default().push(event);
        }
        if count == 0 {
            // a dead letter may wait to leave
            self.ring();
            return Ok(0);
        }
        let mut judged = Vec::with_capacity(by_bearing.len());
        for (key, events) in by_bearing {
            judged.push(self.bearing(key, events).await?);
        }
        self.store.save(&judged).await?;
        self.report(judged);
        Ok(count)
    }

    async fn bearing(
        &self,
        key: BearingKey,
        events: Vec<Unjudged>,
    ) -> Result<BearingJudged, JudgingError> {
        let Recall { mut memory, mut alarm } = self.store.recall(&key).await?;
        let mut judgements = Vec::with_capacity(events.len());
        for Unjudged { arrival, event, checkpoint: _ } in events {
            let now = self.clock.now();
            let finished = workflow::run(self.reasoner.as_ref(), &event, &memory, now).await?;
            if !finished.ungrounded.is_empty() {
                metrics::counter!("pdm_agent_ungrounded_figures_total")
                    .increment(finished.ungrounded.len() as u64);
                tracing::error!(figures = ?finished.ungrounded, event_id = %event.event_id, "figures without a source in a judgement");
            }
            let judgement = *finished.judgement;
            let announcement = self.policy.judged(
                &key,
                &judgement.diagnosis,
                &judgement.state,
                alarm.as_ref(),
                now,
            );
            if let Some(announcement) = &announcement {
                alarm = match &announcement.alarm {
                    AlarmChange::Stands(alarm) => Some(alarm.as_ref().clone()),
                    AlarmChange::Over => None,
                };
            }
            memory.recall(&event, &judgement);
            judgements.push(Judged {
                arrival,
                measured_at: event.measured_at,
                late: judgement.late,
                outgoing: vec![self.policy.publication(&key, &judgement.diagnosis)],
                diagnosis: judgement.diagnosis,
                announcement,
                follow_up: Vec::new(),
                trace: Vec::new(),
            });
        }
        Ok(BearingJudged { key, judgements, state: memory.state })
    }

    fn report(&self, judged: Vec<BearingJudged>) {
        let count: usize = judged.iter().map(|bearing| bearing.judgements.len()).sum();
        let told = |judgement: &Judged| judgement.announcement.clone();
        let announcements: Vec<_> =
            judged.iter().flat_map(|bearing| bearing.judgements.iter().filter_map(told)).collect();
        let rows: usize = announcements.iter().map(|told| told.outgoing.len()).sum();
        metrics::counter!("pdm_agent_events_judged_total").increment(count as u64);
        metrics::counter!("pdm_agent_notifications_total").increment(announcements.len() as u64);
        self.reporter.update(|progress| {
            progress.judged += count as u64;
            progress.unjudged = progress.unjudged.saturating_sub(count as u64);
            progress.notified += announcements.len() as u64;
            progress.unsent += (count + rows) as u64;
        });
        for bearing in judged {
            for judgement in bearing.judgements {
                let standing = Standing {
                    at: judgement.measured_at,
                    risk: judgement.diagnosis.risk_level,
                    stage: judgement.diagnosis.fault_stage,
                    fault: judgement.diagnosis.fault_type,
                };
                self.reporter.stands(&bearing.key, standing);
            }
        }
        for announcement in announcements {
            self.reporter.notified(announcement.notification);
        }
        self.ring();
    }

    fn ring(&self) {
        for lane in self.written.iter() {
            lane.notify_one();
        }
    }
}

fn key_of(event: &Event) -> BearingKey {
    BearingKey {
        site: event.site.clone(),
        equipment: event.equipment_id.clone(),
        bearing: event.bearing_id.clone(),
    }
}
