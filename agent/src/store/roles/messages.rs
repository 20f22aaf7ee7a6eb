//! What leaves the store: messages to staff, the outbox with its channels, and the ceiling of the hour.

use std::collections::BTreeMap;

use async_trait::async_trait;
use pdm_shared::delivery::Notification;
use pdm_shared::id::{BearingKey, EquipmentId, GatewayKey};
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use pdm_web::plant::ChannelRow;
use uuid::Uuid;

use crate::store::{Claimed, HeldBack, Outgoing, SendOutcome, StoreError, ToldInHour, WayState};

/// Messages to staff that belong to no alarm; used by the tool `notify_maintenance_staff`.
#[async_trait]
pub trait MessageStore: Send + Sync + std::fmt::Debug {
    /// The bearings of a machine on every site, with their risk; a bearing that waits for its first
    /// judgement is Normal.
    async fn bearings_of(
        &self,
        equipment: &EquipmentId,
    ) -> Result<Vec<(BearingKey, RiskLevel)>, StoreError>;

    /// Writes a notification that belongs to no alarm. The same `notification_id` again changes
    /// nothing. True if the notification was written.
    async fn tell(
        &self,
        notification: &Notification,
        outgoing: &[Outgoing],
    ) -> Result<bool, StoreError>;
}

/// Rows that have to leave; used by the lanes of the outbox.
#[async_trait]
pub trait OutboxStore: Send + Sync + std::fmt::Debug {
    /// Claims due rows of a lane in their order, at most `limit`. A claim ends by
    /// [`OutboxStore::settle`] or at `until`.
    async fn claim(
        &self,
        lane: &str,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<Claimed>, StoreError>;

    /// Frees this replica's claims of a lane. For a claim that failed: the database may have committed
    /// it although the answer was lost.
    async fn let_go(&self, lane: &str) -> Result<(), StoreError>;

    /// Makes what failed on a lane and waits for another try due now.
    async fn try_at_once(&self, lane: &str, now: Timestamp) -> Result<(), StoreError>;

    /// How far a notification has come on each lane of people that it has a row on.
    async fn ways(&self, notification_id: Uuid) -> Result<Vec<(String, WayState)>, StoreError>;

    /// Writes rows of a notification that is stored, for lanes that it has no row on; tells how many.
    async fn spread(
        &self,
        notification_id: Uuid,
        rows: &[Outgoing],
        now: Timestamp,
    ) -> Result<u64, StoreError>;

    /// Writes what became of claimed rows.
    async fn settle(
        &self,
        outcomes: &[(i64, SendOutcome)],
        now: Timestamp,
    ) -> Result<(), StoreError>;
}

/// How the ways to staff do; used by pages, metrics and `check`.
#[async_trait]
pub trait ChannelStore: Send + Sync + std::fmt::Debug {
    /// The lanes on which something waits or was given up within a week.
    async fn channels(&self, now: Timestamp) -> Result<Vec<ChannelRow>, StoreError>;
}

/// What each lane has delivered in an hour and what is above its ceiling; used by the lanes of the
/// outbox.
#[async_trait]
pub trait CeilingStore: Send + Sync + std::fmt::Debug {
    /// What a lane has delivered in the hour that begins at `hour`.
    async fn told_in(&self, lane: &str, hour: Timestamp) -> Result<ToldInHour, StoreError>;

    /// What a lane has delivered in the hour that begins at `hour`, by share.
    async fn shares_told(
        &self,
        lane: &str,
        hour: Timestamp,
    ) -> Result<BTreeMap<String, u32>, StoreError>;

    /// Counts a message of this hour, of this share.
    async fn note_message(
        &self,
        lane: &str,
        share: &str,
        hour: Timestamp,
    ) -> Result<(), StoreError>;

    /// The gateway that a bearing belongs to by its first event.
    async fn gateway_of(&self, key: &BearingKey) -> Result<Option<GatewayKey>, StoreError>;

    /// How many gateways are known.
    async fn gateway_count(&self) -> Result<u32, StoreError>;

    /// The rows of a lane that are held back.
    async fn held_back(&self, lane: &str) -> Result<HeldBack, StoreError>;

    /// Settles the rows up to `through` as delivered, and counts the hour's summary.
    async fn settle_held(
        &self,
        lane: &str,
        through: i64,
        hour: Timestamp,
        now: Timestamp,
    ) -> Result<(), StoreError>;
}
