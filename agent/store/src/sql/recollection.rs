//! Judgements that leave for the knowledge base a second time.

use std::sync::LazyLock;

use pdm_shared::id::EventId;
use pdm_shared::time::Timestamp;

use super::bulk;
use crate::database::Spelt;
use crate::outbox::OutboxState;
use crate::{OutboxStore, Outgoing, Payload, StoreError};

/// Rows of one statement.
const PIECE: usize = 500;

/// Parameter: lane.
static WAITS: LazyLock<Spelt> = LazyLock::new(|| {
    let waiting = OutboxState::Waiting;
    Spelt::each(|_| format!("SELECT 1 FROM outbox WHERE lane = $1 AND state = '{waiting}' LIMIT 1"))
});

// Sending judgements to a knowledge base that has lost them; used by the task that fills it.
impl OutboxStore {
    /// Writes a row of `lane` for each of the last `most` judgements, unless rows of it wait
    /// already; tells how many.
    pub async fn send_again(
        &self,
        lane: &str,
        most: u32,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let mut transaction = self.database.write().await?;
        let mut connection = transaction.connection();
        if connection.query(&WAITS).bind(lane).fetch_optional().await?.is_some() {
            return Ok(0);
        }
        let rows = connection
            .query("SELECT event_id FROM pdm_agent_memory ORDER BY id DESC LIMIT $1")
            .bind(i64::from(most))
            .fetch_all()
            .await?;
        let mut events = rows
            .iter()
            .map(|row| row.get(0).map(EventId))
            .collect::<Result<Vec<EventId>, StoreError>>()?;
        // the oldest first, as they left the first time
        events.reverse();
        for piece in events.chunks(PIECE) {
            let rows: Vec<Outgoing> = piece.iter().map(|event| row(lane, *event, now)).collect();
            let rows: Vec<(&Outgoing, Timestamp)> = rows.iter().map(|row| (row, now)).collect();
            bulk::insert_outbox(&mut connection, &rows).await?;
        }
        transaction.commit().await?;
        Ok(events.len() as u64)
    }
}

fn row(lane: &str, event: EventId, now: Timestamp) -> Outgoing {
    Outgoing {
        key: EventId::at(now.unix_ms()).0,
        lane: lane.to_owned(),
        topic: None,
        retain: false,
        notification_id: None,
        group: None,
        payload: Payload::Judgement(event),
        due_at: now,
    }
}
