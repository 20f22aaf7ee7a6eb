//! A channel whose messages carry a signed link by which their alarm is acknowledged.
//!
//! The link is made when a message leaves, for the lane that it leaves on: what the store and the
//! broker hold names a page alone, so nobody who reads there can acknowledge. The end counts from
//! the notification, so every try of it carries the same link.

use std::sync::Arc;

use async_trait::async_trait;
use pdm_shared::delivery::{Notification, NotificationReason};
use pdm_web::link::{AckClaim, AckLinks, LASTS_S};
use uuid::Uuid;

use super::lanes::{Channel, SendError};

/// A channel with links.
#[derive(Debug)]
pub(crate) struct Linked {
    pub(crate) channel: Arc<dyn Channel>,
    pub(crate) links: AckLinks,
}

impl Linked {
    fn with_link(&self, notification: &Notification) -> Notification {
        let asks = match notification.reason {
            NotificationReason::Raised | NotificationReason::Repeated => true,
            NotificationReason::Silent => notification.episode_id.is_some(),
            NotificationReason::Cleared | NotificationReason::Message => false,
        };
        let mut linked = notification.clone();
        if let Some(episode_id) = notification.episode_id.filter(|_| asks) {
            linked.ack_url = Some(self.links.url(&AckClaim {
                episode_id,
                level: notification.risk_level,
                recipient: recipient_of(self.channel.lane()).to_owned(),
                expires_at: notification.created_at.plus_seconds(LASTS_S),
            }));
        }
        linked
    }
}

/// Returns who acknowledges by a link of a lane: the person, or the channel where it leads to
/// nobody by name.
fn recipient_of(lane: &str) -> &str {
    let person = lane.strip_prefix("to:").and_then(|rest| rest.rsplit_once(':'));
    person.map_or(lane, |(person, _channel)| person)
}

#[async_trait]
impl Channel for Linked {
    fn lane(&self) -> &str {
        self.channel.lane()
    }

    fn most(&self) -> u32 {
        self.channel.most()
    }

    fn renewals(&self) -> u64 {
        self.channel.renewals()
    }

    async fn try_out(&self, key: Uuid, trial: &Notification) -> Result<String, SendError> {
        self.channel.try_out(key, trial).await
    }

    async fn send(&self, key: Uuid, notifications: &[Notification]) -> Result<(), SendError> {
        let linked: Vec<Notification> =
            notifications.iter().map(|one| self.with_link(one)).collect();
        self.channel.send(key, &linked).await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use pdm_shared::time::Timestamp;

    use super::*;

    /// Keeps what it is given.
    #[derive(Debug, Default)]
    struct Kept(Mutex<Vec<Notification>>);

    #[async_trait]
    impl Channel for Kept {
        fn lane(&self) -> &'static str {
            "email"
        }

        async fn send(&self, _key: Uuid, notifications: &[Notification]) -> Result<(), SendError> {
            self.0.lock().expect("lock").extend_from_slice(notifications);
            Ok(())
        }
    }

    #[test]
    fn a_link_to_a_person_acknowledges_in_that_persons_name() {
        assert_eq!(recipient_of(&pdm_store::person_lane("김 기사", "sms")), "김 기사");
        assert_eq!(recipient_of("webhook:ops"), "webhook:ops");
    }

    /// R-AGENT-10
    #[tokio::test]
    async fn a_message_that_asks_for_an_acknowledgement_carries_its_link_and_no_other_does() {
        let kept = Arc::new(Kept::default());
        let links = AckLinks::new(&[1; 32], "https://pdm.example");
        let linked =
            Linked { channel: Arc::clone(&kept) as Arc<dyn Channel>, links: links.clone() };
        let created_at = Timestamp::from_unix_ms(1_795_238_000_000).expect("in range");
        let notification = |reason: &str, level: &str| {
            serde_json::from_value::<Notification>(serde_json::json!({
                "schema": "pdm.notification/1", "notification_id": Uuid::from_u128(1),
                "event_id": null, "site": "s", "equipment_id": "e", "bearing_id": "b",
                "risk_level": level, "reason": reason, "title": { "ko": "가", "en": "a" },
                "body": { "ko": "가", "en": "a" }, "created_at": created_at,
                "episode_id": Uuid::from_u128(7),
            }))
            .expect("a notification")
        };
        let told = [notification("raised", "Critical"), notification("cleared", "Normal")];
        linked.send(Uuid::from_u128(3), &told).await.expect("sent");
        let sent = kept.0.lock().expect("lock").clone();
        assert_eq!(sent[1].ack_url, None, "what is over asks for nothing");
        let url = sent[0].ack_url.clone().expect("a link");
        let text = url.strip_prefix("https://pdm.example/ack/").expect("below the base");
        let claim = links.read(text, created_at).expect("a link of this agent");
        assert_eq!((claim.episode_id, claim.recipient.as_str()), (Uuid::from_u128(7), "email"));
        assert_eq!(claim.level, told[0].risk_level);
    }
}
