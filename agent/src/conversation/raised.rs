//! The alarms that staff was told of in some time, for a question how many there were.

use pdm_reasoner::chat::{RaisedAlarm, RaisedAlarms};
use pdm_shared::delivery::Notification;
use pdm_shared::id::BearingKey;
use pdm_shared::time::Timestamp;
use pdm_store::{Store, StoreError};

/// Notifications that are read at once.
const PAGE: u32 = 500;
/// Notifications that are read for one question at most.
const MOST: usize = 5_000;

/// The alarms that staff was told of since an instant, newest first.
pub(super) async fn alarms_since(
    store: &Store,
    since: Timestamp,
) -> Result<RaisedAlarms, StoreError> {
    let mut found = RaisedAlarms::default();
    // far enough ahead for a gateway's fast clock
    let (mut before, mut read) = (since.plus_seconds(100.0 * 365.25 * 86_400.0), 0);
    loop {
        let list = store.pages().notifications(None, before, PAGE).await?;
        read += list.len();
        let is_last = list.len() < PAGE as usize;
        let oldest = list.last().map(|last| last.created_at);
        found
            .alarms
            .extend(list.into_iter().filter(|one| one.created_at >= since).filter_map(raised));
        let Some(oldest) = oldest.filter(|oldest| !is_last && *oldest >= since) else {
            return Ok(found);
        };
        if read >= MOST {
            found.is_cut = true;
            return Ok(found);
        }
        before = oldest;
    }
}

/// The alarm that a notification raised, or made worse.
fn raised(one: Notification) -> Option<RaisedAlarm> {
    one.raises_alarm().then_some(RaisedAlarm {
        at: one.created_at,
        level: one.risk_level,
        key: BearingKey { site: one.site, equipment: one.equipment_id, bearing: one.bearing_id },
    })
}
