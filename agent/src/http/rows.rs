//! Rows of the store as pages and API show them.

use pdm_shared::id::BearingKey;
use pdm_store::{EpisodeRecord, GatewayState};
use pdm_web::plant::{BearingRow, EpisodeAlarm, EpisodeDetail, GatewayRow};

/// An episode with what staff was told of it; `row`: the bearing as it stands, for the title of an
/// open one.
pub(super) fn detail_of(
    (key, record): (BearingKey, EpisodeRecord),
    row: Option<&BearingRow>,
) -> EpisodeDetail {
    let is_open = record.episode.closed_at.is_none();
    let document = record.episode.document(&key);
    let alarm = record.alarm.map(|alarm| EpisodeAlarm {
        notification_id: alarm.notification.notification_id,
        risk_level: alarm.risk,
        title: alarm.notification.title,
        event_id: alarm.notification.event_id,
        repeats: alarm.repeats,
        repeat_at: alarm.repeat_at,
    });
    // the message may be of an earlier stage
    let standing = row.filter(|_| is_open && alarm.is_some());
    let told = alarm.as_ref().map(|alarm: &EpisodeAlarm| alarm.title.clone());
    let title = standing.map(BearingRow::standing_title).or(told);
    EpisodeDetail { document, title, alarm }
}

/// A gateway for lists.
pub(super) fn gateway_of(state: GatewayState) -> GatewayRow {
    GatewayRow {
        site: state.gateway.site,
        gateway_id: state.gateway.gateway,
        presence: state.presence.map(|(presence, _)| presence),
        presence_at: state.presence.map(|(_, at)| at),
        last_event_at: state.last_event_at,
        highest_sequence: state.highest_sequence,
        lost_events: state.lost_events,
        proven: state.proven,
    }
}
