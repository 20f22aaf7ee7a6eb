//! Actions that follow from judgements.

use async_trait::async_trait;
use pdm_shared::id::EventId;

use super::SqlStore;
use crate::store::encoding::{json_of, to_json};
use crate::store::{FollowUp, FollowUpStore, StoreError};

#[async_trait]
impl FollowUpStore for SqlStore {
    async fn follow_up(&self, event_id: EventId) -> Result<Vec<FollowUp>, StoreError> {
        let mut reader = self.read().await?;
        let query =
            reader.query("SELECT follow_up_actions FROM pdm_agent_memory WHERE event_id = $1");
        let row = query.bind(event_id.0).fetch_optional().await?;
        row.map_or(Ok(Vec::new()), |row| json_of("follow-up actions", row.get(0)?))
    }

    async fn follow(&self, event_id: EventId, actions: &[FollowUp]) -> Result<bool, StoreError> {
        let mut transaction = self.write().await?;
        let changed = transaction
            .connection()
            .query("UPDATE pdm_agent_memory SET follow_up_actions = $1 WHERE event_id = $2")
            .bind(to_json("follow-up actions", &actions)?)
            .bind(event_id.0)
            .execute()
            .await?;
        transaction.commit().await?;
        Ok(changed == 1)
    }
}
