//! The store in SQL that both databases understand.
//!
//! This folder is compiled once for each database, inside its module: `dialect` there gives the
//! types and the few statements that differ, `bulk` writes many rows at once in the way that is
//! quick there, `turns` says whose turn a bearing is. Invariants: parameters are `$1` and counted,
//! numbers are 64 bits, times are milliseconds, and a column of a conflicting row is named with its
//! table, as PostgreSQL wants it.

use async_trait::async_trait;
use pdm_shared::delivery::{Notification, Receipt};
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::event::Event;
use pdm_shared::id::{BearingKey, EquipmentId, EventId, GatewayId, SiteId};
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use sqlx::Row as _;
use uuid::Uuid;

use super::{dialect, turns};
use crate::store::due::DueAlarm;
use crate::store::{
    Alarm, Announcement, Backlog, BearingJudged, Checkpoint, Claimed, FollowUp, Forget, Forgotten,
    GatewayState, Incoming, Outcome, Outgoing, PastEvent, Recall, Store, StoreError, Stored,
    TraceStep, Unjudged,
};

mod alarms;
pub(super) mod days;
mod gateways;
mod history;
mod intake;
pub(super) mod judging;
mod outbox;
mod retention;
pub(super) mod runs;
mod telling;

#[async_trait]
impl Store for dialect::This {
    async fn migrate(&self) -> Result<(), StoreError> {
        self.install().await
    }

    async fn take_over(&self) -> Result<(), StoreError> {
        outbox::take_over(self.writer(), self.replica()).await
    }

    async fn let_go(&self, lane: &str) -> Result<(), StoreError> {
        outbox::let_go(self.writer(), self.replica(), lane).await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        sqlx::query("SELECT 1").execute(self.reader()).await?;
        Ok(())
    }

    async fn store(
        &self,
        batch: &[Incoming],
        now: Timestamp,
        dead_letter_topic: &str,
    ) -> Result<Stored, StoreError> {
        self.make_room(batch, now).await?;
        intake::store(self.writer(), batch, now, dead_letter_topic).await
    }

    async fn receipts(
        &self,
        gateways: &[GatewayId],
        now: Timestamp,
    ) -> Result<Vec<(SiteId, Receipt)>, StoreError> {
        gateways::receipts(self.reader(), gateways, now).await
    }

    async fn lose_gaps(&self, before: Timestamp) -> Result<u64, StoreError> {
        gateways::lose_gaps(self.writer(), before).await
    }

    async fn gateways(&self) -> Result<Vec<GatewayState>, StoreError> {
        gateways::list(self.reader()).await
    }

    async fn unjudged(&self, limit: u32) -> Result<Vec<Unjudged>, StoreError> {
        turns::unjudged(self, limit).await
    }

    async fn recall(&self, key: &BearingKey) -> Result<Recall, StoreError> {
        judging::recall(self.reader(), key).await
    }

    async fn save(&self, judged: &[BearingJudged]) -> Result<(), StoreError> {
        turns::save(self, judged).await
    }

    async fn diagnosis(&self, event_id: EventId) -> Result<Option<Diagnosis>, StoreError> {
        judging::diagnosis(self.reader(), event_id).await
    }

    async fn checkpoint(
        &self,
        event_id: EventId,
        checkpoint: &Checkpoint,
        steps: &[TraceStep],
    ) -> Result<(), StoreError> {
        runs::checkpoint(self.writer(), event_id, checkpoint, steps).await
    }

    async fn trace(&self, event_id: EventId) -> Result<Vec<TraceStep>, StoreError> {
        runs::trace(self.reader(), event_id).await
    }

    async fn follow_up(&self, event_id: EventId) -> Result<Vec<FollowUp>, StoreError> {
        runs::follow_up(self.reader(), event_id).await
    }

    async fn follow(&self, event_id: EventId, actions: &[FollowUp]) -> Result<bool, StoreError> {
        runs::follow(self.writer(), event_id, actions).await
    }

    async fn event(&self, event_id: EventId) -> Result<Option<Event>, StoreError> {
        history::event(self.reader(), event_id).await
    }

    async fn history(
        &self,
        key: &BearingKey,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<PastEvent>, StoreError> {
        history::history(self.reader(), key, until, limit).await
    }

    async fn alarms_to_repeat(
        &self,
        now: Timestamp,
        every_s: f64,
        limit: u32,
    ) -> Result<Vec<(BearingKey, Alarm)>, StoreError> {
        alarms::to_repeat(self.reader(), DueAlarm::at(now, every_s), limit).await
    }

    async fn alarm(&self, key: &BearingKey) -> Result<Option<Alarm>, StoreError> {
        let mut connection = self.reader().acquire().await?;
        alarms::read(&mut connection, key).await
    }

    async fn announce(
        &self,
        key: &BearingKey,
        expected: Option<Uuid>,
        announcement: &Announcement,
    ) -> Result<bool, StoreError> {
        alarms::announce(self.writer(), key, expected, announcement).await
    }

    async fn bearings_of(
        &self,
        equipment: &EquipmentId,
    ) -> Result<Vec<(BearingKey, RiskLevel)>, StoreError> {
        telling::bearings_of(self.reader(), equipment).await
    }

    async fn tell(
        &self,
        notification: &Notification,
        outgoing: &[Outgoing],
    ) -> Result<bool, StoreError> {
        telling::tell(self.writer(), notification, outgoing).await
    }

    async fn claim(
        &self,
        lane: &str,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<Claimed>, StoreError> {
        outbox::claim(self.writer(), self.replica(), lane, (now, until), limit).await
    }

    async fn settle(&self, outcomes: &[(i64, Outcome)], now: Timestamp) -> Result<(), StoreError> {
        outbox::settle(self.writer(), outcomes, now).await
    }

    async fn forget(&self, forget: &Forget, now: Timestamp) -> Result<Forgotten, StoreError> {
        let mut gone = retention::forget(self.writer(), forget, now).await?;
        let (events, has_more) = self.forget_events(forget, now).await?;
        gone.events = events;
        gone.has_more |= has_more;
        Ok(gone)
    }

    async fn backlog(&self) -> Result<Backlog, StoreError> {
        let row = sqlx::query(dialect::BACKLOG).fetch_one(self.reader()).await?;
        let count = |index: usize| row.get::<i64, _>(index).unsigned_abs();
        Ok(Backlog {
            unjudged: count(0),
            unsent: count(1),
            given_up: count(2),
            dead_letters: count(3),
        })
    }

    async fn close(&self) {
        self.end().await;
    }
}
