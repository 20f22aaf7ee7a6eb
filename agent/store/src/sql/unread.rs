//! Events that cannot be read, by gateway and bearing: a gateway that was updated before the agent
//! sends nothing else, and its bearings would not be judged without a word.
//!
//! One event that is taken halves what is counted against its bearing, so that a damaged message
//! now and then is no alarm, most of them are one, and the alarm ends soon after the cause.

use std::collections::BTreeSet;

use pdm_shared::bounds::{MAX_LINE, in_one_line};
use pdm_shared::id::{BearingKey, EventId, GatewayId, GatewayKey};
use uuid::Uuid;

use super::pins;
use crate::database::Connection;
use crate::{Incoming, Refusal, RefusalCause, RefusedMessage, StoreError};

/// In place of a gateway where neither topic nor text nor an earlier event names one.
const UNNAMED: &str = "unnamed";

/// The refusal of a message under the topic of a bearing's events; none of any other message.
pub(super) async fn refusal(
    connection: &mut Connection<'_>,
    refused: &RefusedMessage,
) -> Result<Option<Refusal>, StoreError> {
    let Some(event) = &refused.event_of else { return Ok(None) };
    let bearing = event.bearing.clone();
    let named = |name: &GatewayId| GatewayKey::new(bearing.site.clone(), name.clone());
    let gateway = match &event.of_topic {
        Some(name) => Some(named(name)),
        // the text is what cannot be trusted
        None => {
            pins::owners(connection, &BTreeSet::from([bearing.clone()])).await?.remove(&bearing)
        }
    };
    let gateway = gateway.or_else(|| event.of_text.as_ref().map(named));
    let unnamed = || Some(GatewayKey::new(bearing.site.clone(), GatewayId::new(UNNAMED).ok()?));
    Ok(gateway.or_else(unnamed).map(|gateway| Refusal {
        cause: RefusalCause::Unreadable,
        gateway,
        bearing,
        event_id: EventId(Uuid::nil()),
        reason: in_one_line(&refused.letter.reason, MAX_LINE).into_owned(),
    }))
}

/// Counts events that were taken against those that cannot be read, bearing by bearing.
pub(super) async fn follow(
    connection: &mut Connection<'_>,
    batch: &[Incoming],
    refusals: &[Refusal],
) -> Result<(), StoreError> {
    let cause = RefusalCause::Unreadable.as_str();
    let query = connection.query("SELECT 1 FROM refusals WHERE cause = $1 LIMIT 1").bind(cause);
    if query.fetch_optional().await?.is_none() {
        return Ok(());
    }
    let is_refused = |id: EventId| refusals.iter().any(|one| one.event_id == id);
    let taken: BTreeSet<(GatewayKey, BearingKey)> = batch
        .iter()
        .filter_map(|incoming| match incoming {
            Incoming::Event { event, .. } if !is_refused(event.event_id) => {
                Some((event.gateway(), event.key()))
            }
            Incoming::Event { .. }
            | Incoming::Status { .. }
            | Incoming::Ack { .. }
            | Incoming::Shelve { .. }
            | Incoming::FollowUp { .. }
            | Incoming::Refused(_) => None,
        })
        .collect();
    for (gateway, bearing) in taken {
        // a time of 1970 is over: the next look of the watch tells so
        connection
            .query(
                "UPDATE refusals
                 SET last_at_ms = CASE WHEN count <= 1 THEN 0 ELSE last_at_ms END,
                     count = count / 2
                 WHERE site = $1 AND gateway_id = $2 AND bearing = $3 AND cause = $4",
            )
            .bind_gateway(&gateway)
            .bind(bearing.to_string())
            .bind(cause)
            .execute()
            .await?;
    }
    Ok(())
}
