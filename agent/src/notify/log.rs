//! The log events of notifications and publications, each as one function that logs and counts.

use pdm_shared::id::{BearingKey, GatewayKey};
use pdm_shared::risk::RiskLevel;
use pdm_store::{StoreError, VECTORS_LANE};
use uuid::Uuid;

use pdm_knowledge::KnowledgeError;

/// Counts an attempt at sending that failed.
pub(super) fn count_failure(lane: &str) {
    metrics::counter!("pdm_agent_notify_failures_total", "lane" => lane.to_owned()).increment(1);
}

/// A notification was not delivered and is tried again after a pause.
pub(super) fn not_delivered(lane: &str, error: &str, attempts: u32, pause_s: f64) {
    count_failure(lane);
    tracing::warn!(lane, error, attempts, pause_s, "notification not delivered, trying again");
}

/// The store does not say what a lane has delivered in this hour; the message leaves.
pub(super) fn ceiling_unknown(lane: &str, error: &StoreError) {
    tracing::warn!(lane, %error, "cannot count the messages of this hour");
}

/// Notifications above the ceiling are held back for the hour's summary.
pub(super) fn held_back(lane: &str, notifications: usize, per_hour: u32, is_first: bool) {
    metrics::counter!("pdm_agent_notify_held_back_total", "lane" => lane.to_owned())
        .increment(notifications as u64);
    if is_first {
        tracing::warn!(
            lane,
            per_hour,
            "more messages in this hour than notify.per_recipient_per_hour allows: the rest \
             follows in one summary"
        );
    }
}

/// A receiver refuses a key that it knows: it has the message.
pub(super) fn known_already(lane: &str, key: Uuid) {
    metrics::counter!("pdm_agent_notify_duplicates_total", "lane" => lane.to_owned()).increment(1);
    tracing::info!(lane, %key, "the receiver has the notification already");
}

/// Nobody has acknowledged an alarm, and the next step of its route hears of it.
pub(super) fn escalated(key: &BearingKey, route: Option<&str>, steps: usize) {
    let route = route.unwrap_or_default();
    metrics::counter!("pdm_agent_notify_escalations_total", "route" => route.to_owned())
        .increment(1);
    tracing::warn!(%key, route, steps, "alarm not acknowledged, the next step is told");
}

/// Nobody is on duty in any step of a route.
pub(super) fn nobody_on_duty(key: &BearingKey, route: Option<&str>) {
    let route = route.unwrap_or_default();
    metrics::counter!("pdm_agent_notify_nobody_total", "route" => route.to_owned()).increment(1);
    tracing::error!(%key, route, "nobody is on duty on this route: the general channels are told, \
        or all people where there are none");
}

/// A notification is not tried again.
pub(super) fn given_up(lane: &str, error: &str, key: Uuid) {
    count_failure(lane);
    metrics::counter!("pdm_agent_notify_given_up_total", "lane" => lane.to_owned()).increment(1);
    tracing::error!(lane, error, %key, "notification given up, it stays in the outbox");
}

/// Alarms that were given up and that nobody was told of are tried again.
pub(super) fn revived(lane: &str, rows: u64) {
    metrics::counter!("pdm_agent_notify_tried_again_total", "lane" => lane.to_owned())
        .increment(rows);
    tracing::warn!(
        lane,
        rows,
        "alarms that were given up are tried again: nobody was told of them"
    );
}

/// Some recipients of a channel refuse a notification that its others have.
pub(super) fn partly_refused(lane: &str, error: &str, key: Uuid) {
    count_failure(lane);
    metrics::counter!("pdm_agent_notify_refused_total", "lane" => lane.to_owned()).increment(1);
    tracing::error!(lane, error, %key, "recipients refuse a notification that the others of their \
        channel have");
}

/// A channel does not take an alarm, and others hear of it instead.
pub(super) fn told_elsewhere(lane: &str, why: &str, key: &BearingKey, instead: &[String]) {
    metrics::counter!("pdm_agent_notify_elsewhere_total", "lane" => lane.to_owned()).increment(1);
    let instead = instead.join(", ");
    tracing::error!(lane, why, %key, instead, "a channel does not take a notification, others are \
        told instead");
}

/// No channel takes an alarm.
pub(super) fn told_nobody(key: &BearingKey, risk: RiskLevel, lane: &str, why: &str) {
    metrics::counter!("pdm_agent_notify_untold_total").increment(1);
    let risk = risk.as_str();
    tracing::error!(%key, risk, lane, why, "an alarm reaches nobody: every channel refuses it or \
        fails, it is tried again");
}

/// The rows of an alarm's message are no longer in the outbox, and it is told again.
pub(super) fn rows_lost(key: &BearingKey, notification: Uuid) {
    metrics::counter!("pdm_agent_notify_rows_lost_total").increment(1);
    tracing::error!(%key, %notification, "the outbox has no row of an alarm's message: somebody \
        has deleted them, it is told again");
}

/// The store does not say who else can be told.
pub(super) fn elsewhere_failed(lane: &str, error: &StoreError) {
    tracing::warn!(lane, %error, "cannot tell elsewhere what a channel does not take, trying \
        again");
}

/// Staff is told of something between gateways, broker and agent.
pub(super) fn remarked(key: &BearingKey, what: &'static str) {
    metrics::counter!("pdm_agent_remarks_total", "what" => what).increment(1);
    tracing::warn!(%key, what, "staff is told of a trouble with the broker");
}

/// The store does not take a remark, which waits.
pub(super) fn remark_waits(error: &StoreError) {
    tracing::warn!(%error, "cannot tell staff of a trouble with the broker, trying again");
}

/// The knowledge base did not take judgements; they are tried again after a pause.
pub(super) fn judgements_not_added(error: &KnowledgeError) {
    count_failure(VECTORS_LANE);
    tracing::warn!(%error, "judgements not added to the knowledge base, trying again");
}

/// A row of the outbox does not hold what its lane carries.
pub(super) fn row_unreadable(lane: &str, id: i64, error: &serde_json::Error) {
    tracing::error!(lane, id, %error, "row of the outbox cannot be read");
}

/// A row of the outbox that waits for too long does not hold what its lane carries.
pub(super) fn unsent_unreadable(lane: &str, notification: Uuid, error: &serde_json::Error) {
    tracing::error!(lane, %notification, %error, "row of the outbox cannot be read");
}

/// A lane cannot claim its rows.
pub(super) fn claim_failed(lane: &str, error: &StoreError) {
    tracing::warn!(lane, %error, "cannot claim rows of the outbox, trying again");
}

/// The store did not take the outcomes of rows that were sent.
pub(super) fn settle_failed(error: &StoreError) {
    tracing::error!(%error, "cannot store what was sent, trying again");
}

/// The secrets of a channel have changed; it uses the new ones.
pub(super) fn secrets_renewed(lane: &str) {
    metrics::counter!("pdm_agent_secrets_renewed_total", "secret" => lane.to_owned()).increment(1);
    tracing::info!(lane, "secrets of this way to staff have changed, the next message uses them");
}

/// Sets the gauge of the gateways whose events are refused.
pub(super) fn refused_gateways(count: usize) {
    metrics::gauge!("pdm_agent_refused_gateways").set(count as f64);
}

/// Sets the gauges of the gateways in trouble, and of the names that two gateways seem to use.
pub(super) fn troubled_gateways(troubled: u64, twins: u64) {
    metrics::gauge!("pdm_agent_troubled_gateways").set(troubled as f64);
    metrics::gauge!("pdm_agent_twin_gateways").set(twins as f64);
}

/// Staff is told that a gateway cannot measure or keep its events.
pub(super) fn gateway_troubled(gateway: &GatewayKey, trouble: &str) {
    tracing::error!(%gateway, trouble, "this gateway is in trouble, and staff is told");
}

/// Staff is told that a gateway no longer measures some of its bearings.
pub(super) fn bearings_unmeasured(gateway: &GatewayKey, bearings: usize) {
    tracing::error!(%gateway, bearings, "the configuration of this gateway no longer names \
        bearings that it measured, and staff is told");
}

/// Sets the gauge of the bearings of which nothing comes while their gateways go on.
pub(super) fn bearings_without_data(count: usize) {
    metrics::gauge!("pdm_agent_bearings_without_data").set(count as f64);
}

/// Staff is told that nothing of some bearings comes from a gateway that goes on.
pub(super) fn no_data_told(gateway: &GatewayKey, bearings: usize) {
    tracing::error!(%gateway, bearings, "nothing of these bearings comes while their gateway goes \
        on, and staff is told");
}

/// Staff is told that events of a gateway are refused.
pub(super) fn events_refused(gateway: &GatewayKey, bearings: usize) {
    tracing::error!(%gateway, bearings, "events of this gateway are refused, and staff is told");
}
