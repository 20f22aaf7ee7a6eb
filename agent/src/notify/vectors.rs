//! The lane of judgements: each is added to the knowledge base's `analysis_history`, so that a
//! later judgement finds those of similar cases.
//!
//! The knowledge base stores a judgement under its event's id, so one that is sent twice is there
//! once. A judgement is never given up because the knowledge base is away; a row that is no
//! judgement is given up. Counting a judgement's words is the most work of all that follows from it
//! and the least urgent, so this lane waits while events wait to be judged.

use std::time::Duration;

use pdm_knowledge::Knowledge;
use pdm_shared::diagnosis::Diagnosis;
use pdm_store::{Claimed, SendOutcome};

use super::lanes::{CLAIM, Lane, PAUSES};
use super::portion::Portion;
use super::{VECTORS_LANE, log};

/// Longest wait of a batch for the judging: a case can be found 10 s after it was judged also while
/// events never stop.
const WAIT: Duration = Duration::from_secs(10);

impl Lane {
    /// Runs the lane.
    pub(crate) async fn run_vectors(self, knowledge: Knowledge) {
        let mut portion = Portion::of(CLAIM);
        while let Some(rows) = self.next(VECTORS_LANE, &mut portion, &|| false).await {
            tokio::select! {
                () = self.reporter.judging_first(WAIT) => {}
                () = self.stop.cancelled() => {}
            }
            let outcomes = self.remember(&knowledge, &rows).await;
            self.settle(VECTORS_LANE, &outcomes).await;
        }
    }

    async fn remember(&self, knowledge: &Knowledge, rows: &[Claimed]) -> Vec<(i64, SendOutcome)> {
        let mut outcomes = Vec::with_capacity(rows.len());
        let mut judgements: Vec<Diagnosis> = Vec::with_capacity(rows.len());
        let mut waiting = Vec::with_capacity(rows.len());
        for row in rows {
            match serde_json::from_str(&row.payload) {
                Ok(judgement) => {
                    judgements.push(judgement);
                    waiting.push(row);
                }
                Err(error) => {
                    log::row_unreadable(VECTORS_LANE, row.id, &error);
                    outcomes.push((row.id, SendOutcome::GivenUp { error: error.to_string() }));
                }
            }
        }
        let result = knowledge.add_judgements(&judgements).await;
        if let Err(error) = &result {
            log::judgements_not_added(error);
        }
        outcomes.extend(waiting.into_iter().map(|row| {
            let outcome = match &result {
                Ok(()) => SendOutcome::Delivered,
                Err(error) => SendOutcome::Retry {
                    at: self.clock.now().plus_seconds(PAUSES.after(row.attempts).as_secs_f64()),
                    error: error.to_string(),
                },
            };
            (row.id, outcome)
        }));
        outcomes
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pdm_expert::case::{Case, Memory};
    use pdm_expert::rules::Rules;
    use pdm_knowledge::{Collection, KnowledgeSettings};
    use pdm_service::clock::{Clock, SystemClock};
    use pdm_shared::event::Event;
    use pdm_shared::risk::RiskLevel;
    use pdm_shared::text::Text;
    use pdm_shared::topic::Prefix;
    use tokio::sync::Notify;
    use tokio_util::sync::CancellationToken;
    use uuid::Uuid;

    use super::*;
    use crate::notify::elsewhere::Elsewhere;
    use crate::notify::policy::Policy;
    use crate::progress::Reporter;
    use crate::settings::NotifySettings;
    use pdm_store::{Outgoing, Payload, Store};

    /// R-AGENT-9
    #[tokio::test]
    async fn a_judgement_is_in_the_knowledge_base_once_and_a_row_that_is_none_is_given_up() {
        let folder = tempfile::tempdir().expect("folder");
        let store = Store::open_sqlite(&folder.path().join("agent.db")).await.expect("opens");
        store.migrate().await.expect("migrated");
        let settings = KnowledgeSettings::embedded_in(folder.path());
        let knowledge = Knowledge::open(&settings).await.expect("opens");
        let event: Event =
            serde_json::from_str(include_str!("../../../config/examples/event.json"))
                .expect("event");
        let memory = Memory::default();
        let case = Case { event: &event, memory: &memory, now: event.measured_at };
        let judgement = pdm_expert::judge(&case, &Rules::default());
        let payload = serde_json::to_string(&judgement.diagnosis).expect("JSON");
        let now = SystemClock.now();
        let row = |number: u128, payload: &str| Outgoing {
            key: Uuid::from_u128(number),
            lane: VECTORS_LANE.to_owned(),
            topic: None,
            retain: false,
            notification_id: None,
            group: None,
            payload: Payload::Text(payload.to_owned()),
            due_at: now,
        };
        let rows = [row(1, &payload), row(2, &payload), row(3, "{}")];
        let key = event.key();
        let policy = Policy::new(NotifySettings::default(), Prefix::default());
        let (told, _) = policy.message("c", &key, RiskLevel::Watch, Text::new("가", "a"), now);
        assert!(store.messages().tell(&told, &rows).await.expect("written"));
        let elsewhere =
            Elsewhere::new(store.clone(), Arc::new(SystemClock), policy.clone(), Reporter::new());
        let lane = Lane {
            store: store.outbox(),
            clock: Arc::new(SystemClock),
            reporter: Reporter::new(),
            written: Arc::new(Notify::new()),
            give_up_after: Duration::from_secs(1),
            elsewhere: Arc::new(elsewhere),
            stop: CancellationToken::new(),
        };
        lane.stop.cancel();
        lane.run_vectors(knowledge.clone()).await;
        assert_eq!(knowledge.count(Collection::AnalysisHistory).await.expect("counted"), 1);
        let backlog = store.backlog().await.expect("counted");
        assert_eq!((backlog.unsent, backlog.given_up), (0, 1));
    }
}
