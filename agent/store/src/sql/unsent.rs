//! Alarms that do not leave: behind a message whose receiver says nothing, or in a summary that its
//! receiver does not take.

use std::sync::LazyLock;

use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use uuid::Uuid;

use super::ways;
use crate::database::{Row, Spelt};
use crate::outbox::OutboxState;
use crate::{CeilingStore, MQTT_LANE, OutboxStore, StoreError};

/// Most alarms of one look; the worst first.
const MOST: i64 = 100;

/// Returns the SQL condition on `free`, a row of the outbox on lane `$1`: it carries a Warning or a
/// Critical that no other lane of people has delivered or will try in its time (`$2`: rows that
/// were due before are late).
fn is_alarm_of_this_lane_alone() -> String {
    let (waiting, held) = (OutboxState::Waiting, OutboxState::Held);
    let delivered = OutboxState::Delivered;
    let (warning, critical) = (RiskLevel::Warning.as_str(), RiskLevel::Critical.as_str());
    format!(
        "EXISTS (SELECT 1 FROM notifications AS told
                 WHERE told.notification_id = free.notification_id
                   AND told.risk_level IN ('{warning}', '{critical}'))
         AND NOT EXISTS (
             SELECT 1 FROM outbox AS other
             WHERE other.notification_id = free.notification_id AND other.lane <> free.lane
               AND other.lane <> '{MQTT_LANE}'
               AND (other.state = '{delivered}'
                    OR (other.state = '{held}' AND other.attempts = 0)
                    OR (other.state = '{waiting}' AND other.attempts = 0
                        AND other.due_at_ms > $2)))"
    )
}

/// Parameters: lane, the time before which a row had to be tried, the time before which a row that
/// was tried had to be tried again, limit.
static LATE: LazyLock<Spelt> = LazyLock::new(|| {
    let (waiting, alone, order) =
        (OutboxState::Waiting, is_alarm_of_this_lane_alone(), ways::by_risk());
    Spelt::each(|_| {
        format!(
            "SELECT free.notification_id, free.payload FROM outbox AS free
             WHERE free.lane = $1 AND free.state = '{waiting}' AND free.notification_id IS NOT NULL
               AND ((free.attempts = 0 AND free.due_at_ms <= $2)
                    OR (free.attempts > 0 AND free.created_at_ms <= $2 AND free.due_at_ms <= $3))
               AND {alone}
             ORDER BY {order}, free.id LIMIT $4"
        )
    })
});

/// Parameters: lane, the time before which a row had to be tried, last row, limit.
static HELD: LazyLock<Spelt> = LazyLock::new(|| {
    let (held, alone, order) = (OutboxState::Held, is_alarm_of_this_lane_alone(), ways::by_risk());
    Spelt::each(|_| {
        format!(
            "SELECT free.notification_id, free.payload FROM outbox AS free
             WHERE free.lane = $1 AND free.state = '{held}' AND free.id <= $3 AND {alone}
             ORDER BY {order}, free.id LIMIT $4"
        )
    })
});

/// Parameters: lane, last row, the next try, error.
static NOT_SUMMED: LazyLock<Spelt> = LazyLock::new(|| {
    let held = OutboxState::Held;
    Spelt::each(|_| {
        format!(
            "UPDATE outbox SET attempts = attempts + 1, due_at_ms = $3, last_error = $4
             WHERE lane = $1 AND state = '{held}' AND id <= $2"
        )
    })
});

/// Parameters: lane, last row, now, error.
static GIVE_UP_HELD: LazyLock<Spelt> = LazyLock::new(|| {
    let (held, given_up) = (OutboxState::Held, OutboxState::GivenUp);
    Spelt::each(|_| {
        format!(
            "UPDATE outbox SET state = '{given_up}', attempts = attempts + 1, settled_at_ms = $3,
                               last_error = $4
             WHERE lane = $1 AND state = '{held}' AND id <= $2"
        )
    })
});

/// An alarm that has not left on a lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsentAlarm {
    /// The notification's identity.
    pub notification_id: Uuid,
    /// The notification, JSON.
    pub payload: String,
}

fn unsent_of(row: &Row) -> Result<UnsentAlarm, StoreError> {
    Ok(UnsentAlarm { notification_id: row.get(0)?, payload: row.get(1)? })
}

impl OutboxStore {
    /// Returns alarms that wait on a lane and that no other way carries: those that are not tried
    /// yet although they were due before `late`, and those that were tried, are older than that and
    /// were to be tried again before `again`.
    pub async fn late_alarms(
        &self,
        lane: &str,
        (late, again): (Timestamp, Timestamp),
    ) -> Result<Vec<UnsentAlarm>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(&LATE).bind(lane).bind(late.unix_ms()).bind(again.unix_ms());
        query.bind(MOST).fetch_all().await?.iter().map(unsent_of).collect()
    }
}

impl CeilingStore {
    /// Returns alarms that are held back up to `through` and that no other way carries; `late` as
    /// for [`OutboxStore::late_alarms`].
    pub async fn held_alarms(
        &self,
        lane: &str,
        through: i64,
        late: Timestamp,
    ) -> Result<Vec<UnsentAlarm>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(&HELD).bind(lane).bind(late.unix_ms()).bind(through);
        query.bind(MOST).fetch_all().await?.iter().map(unsent_of).collect()
    }

    /// Notes that the summary of what is held back up to `through` was not taken: the lane fails.
    pub async fn note_not_summed(
        &self,
        lane: &str,
        through: i64,
        next_try: Timestamp,
        error: &str,
    ) -> Result<(), StoreError> {
        self.on_held(&NOT_SUMMED, (lane, through), next_try, error).await
    }

    /// Gives up what is held back up to `through`.
    pub async fn give_up_held(
        &self,
        lane: &str,
        through: i64,
        now: Timestamp,
        error: &str,
    ) -> Result<(), StoreError> {
        self.on_held(&GIVE_UP_HELD, (lane, through), now, error).await
    }

    async fn on_held(
        &self,
        statement: &'static LazyLock<Spelt>,
        (lane, through): (&str, i64),
        at: Timestamp,
        error: &str,
    ) -> Result<(), StoreError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        let error = connection.dialect().text(error);
        let query = connection.query(statement).bind(lane).bind(through);
        query.bind(at.unix_ms()).bind(error).execute().await?;
        transaction.commit().await
    }
}
