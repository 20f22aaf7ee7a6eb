//! The topic `notification` as a channel, for the summaries of its ceiling. Notifications
//! themselves are rows of the broker's lane, beside the diagnoses.

use async_trait::async_trait;
use pdm_shared::delivery::Notification;
use pdm_shared::id::BearingKey;
use pdm_shared::topic::{BearingTopic, Prefix, Topic};
use uuid::Uuid;

use super::MQTT_LANE;
use super::lanes::{CONFIRM, Channel, SendError, Unconfirmed, confirmation};
use crate::mqtt::publisher::{Message, Publisher};

/// Publishes notifications under the topics of their bearings.
#[derive(Debug)]
pub(crate) struct NotificationTopic {
    pub(crate) publisher: Publisher,
    pub(crate) prefix: Prefix,
}

#[async_trait]
impl Channel for NotificationTopic {
    fn lane(&self) -> &str {
        MQTT_LANE
    }

    async fn send(&self, _key: Uuid, notifications: &[Notification]) -> Result<(), SendError> {
        let deadline = tokio::time::Instant::now() + CONFIRM;
        for notification in notifications {
            let key = BearingKey {
                site: notification.site.clone(),
                equipment: notification.equipment_id.clone(),
                bearing: notification.bearing_id.clone(),
            };
            let topic =
                Topic::Bearing { key, what: BearingTopic::Notification }.under(&self.prefix);
            let payload = serde_json::to_vec(notification)
                .map_err(|error| SendError::Never(error.to_string()))?;
            let message = Message { topic, payload, retain: false, expires_s: None };
            let queued = tokio::time::timeout_at(deadline, self.publisher.queue(message)).await;
            confirmation(queued.ok(), deadline).await.map(|_confirmed| ()).map_err(|error| {
                match error {
                    Unconfirmed::Later(error) => SendError::Later(error),
                    Unconfirmed::Refused(error) => SendError::Refused(error),
                    Unconfirmed::Never(error) => SendError::Never(error),
                }
            })?;
        }
        Ok(())
    }
}
