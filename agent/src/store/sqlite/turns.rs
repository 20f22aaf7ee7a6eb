//! Whose turn a bearing is: always this agent's, as one file has one agent.

use sqlx::Row as _;

use super::{SqliteStore, dialect, sql};
use crate::store::encoding::json_of;
use crate::store::{BearingJudged, StoreError, Unjudged};

pub(super) async fn unjudged(store: &SqliteStore, limit: u32) -> Result<Vec<Unjudged>, StoreError> {
    let rows = sqlx::query(
        "SELECT arrival, payload, node, state, updated_at_ms
         FROM events LEFT JOIN checkpoints USING (event_id)
         WHERE judged = 0 ORDER BY arrival LIMIT $1",
    )
    .bind(limit)
    .fetch_all(store.reader())
    .await?;
    rows.iter()
        .map(|row| {
            Ok(Unjudged {
                arrival: row.get("arrival"),
                event: json_of("an event", row.get("payload"))?,
                checkpoint: sql::runs::checkpoint_of(row)?,
            })
        })
        .collect()
}

pub(super) async fn save(store: &SqliteStore, judged: &[BearingJudged]) -> Result<(), StoreError> {
    let mut transaction = dialect::begin(store.writer()).await?;
    sql::judging::save(&mut transaction, judged).await?;
    transaction.commit().await?;
    Ok(())
}
