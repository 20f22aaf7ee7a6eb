//! A way to staff that has left the configuration while messages wait on it: what it was to deliver
//! is told by the ways that there are, as where a receiver refuses for good.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use pdm_shared::delivery::Notification;
use pdm_shared::time::Timestamp;
use pdm_store::{EMAIL_LANE, Store};
use uuid::Uuid;

use super::lanes::{Channel, SendError};

/// The way that is gone.
#[derive(Debug)]
struct GoneWay {
    lane: String,
}

#[async_trait]
impl Channel for GoneWay {
    fn lane(&self) -> &str {
        &self.lane
    }

    async fn send(&self, _key: Uuid, _notifications: &[Notification]) -> Result<(), SendError> {
        Err(SendError::Never("the way has left the configuration".to_owned()))
    }
}

/// Returns the ways on which messages wait and that are not among `configured`. A store that does
/// not answer leaves them to the next start, which is logged.
pub(crate) async fn gone_ways(
    store: &Store,
    configured: &[Arc<dyn Channel>],
    now: Timestamp,
) -> Vec<Arc<dyn Channel>> {
    let known: BTreeSet<&str> = configured.iter().map(|channel| channel.lane()).collect();
    let ways = match store.outbox().channels(now).await {
        Ok(ways) => ways,
        Err(error) => {
            tracing::warn!(%error, "cannot look for ways to staff that have left the \
                configuration");
            return Vec::new();
        }
    };
    let is_of_people =
        |lane: &str| lane == EMAIL_LANE || lane.starts_with("webhook:") || lane.starts_with("to:");
    let gone = ways.into_iter().filter(|way| {
        way.waiting > 0 && is_of_people(&way.lane) && !known.contains(way.lane.as_str())
    });
    gone.map(|way| {
        tracing::warn!(
            lane = way.lane,
            waiting = way.waiting,
            "a way to staff has left the configuration: what waits on it is told by the others"
        );
        Arc::new(GoneWay { lane: way.lane }) as Arc<dyn Channel>
    })
    .collect()
}
