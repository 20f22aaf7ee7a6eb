//! The log events of the intake, each as one function that logs and counts.

use pdm_service::error_chain::error_chain;
use pdm_shared::delivery::DeadLetter;
use pdm_shared::id::{GatewayId, GatewayKey, SiteId};
use pdm_store::{Refusal, StoreError, Stored};

use crate::mqtt::publisher::PublishError;
use crate::mqtt::sender::Sender;
use crate::settings::QuotaSettings;

/// A batch was stored.
pub(super) fn stored(stored: &Stored) {
    metrics::counter!("pdm_agent_events_stored_total").increment(stored.events);
    metrics::counter!("pdm_agent_events_duplicate_total").increment(stored.duplicates);
    metrics::counter!("pdm_agent_dead_letters_total").increment(stored.refused);
    for refusal in &stored.refusals {
        let cause = refusal.cause.as_str();
        metrics::counter!("pdm_agent_events_refused_total", "cause" => cause).increment(1);
    }
}

/// An event that does not come from the gateway that it names, or is not that gateway's. Told once
/// for each cause, gateway and bearing.
pub(super) fn event_refused(refusal: &Refusal) {
    tracing::error!(
        cause = refusal.cause.as_str(), gateway = %refusal.gateway, bearing = %refusal.bearing,
        reason = refusal.reason, "event refused; further ones of this kind are counted only"
    );
}

/// A message that is no event was refused. Told once for each topic.
pub(super) fn message_refused(letter: &DeadLetter) {
    tracing::warn!(
        topic = letter.topic,
        reason = letter.reason,
        "message refused, a dead letter; further ones under this topic are counted only"
    );
}

/// An event is above its gateway's quota.
pub(super) fn event_put_off() {
    metrics::counter!("pdm_agent_events_put_off_total", "cause" => "quota").increment(1);
}

/// A refused message is above its sender's quota: it is counted and not kept.
pub(super) fn refusal_not_kept() {
    metrics::counter!("pdm_agent_refusals_not_kept_total").increment(1);
}

/// Messages of a sender are refused in such numbers that they are no longer kept; told once a
/// minute.
pub(super) fn sender_over_refusals(sender: &Sender, quota: &QuotaSettings) {
    tracing::warn!(
        %sender,
        refused_per_minute = quota.refused_per_minute,
        "so many messages of this sender are refused that further ones of this minute are counted \
         and not kept (intake.quota)"
    );
}

/// A sender has more waiting than its share; told once a minute.
pub(super) fn sender_above_share(sender: &Sender, events: u64) {
    tracing::warn!(
        %sender,
        events,
        "sends more than the agent can store beside the other gateways, its events are put off and \
         asked for again"
    );
}

/// A gateway is above its quota; told once a minute.
pub(super) fn sender_over_quota(sender: &Sender, quota: &QuotaSettings) {
    tracing::warn!(
        %sender,
        events_per_minute = quota.events_per_minute,
        bytes_per_minute = quota.bytes_per_minute,
        "gateway is above its quota (intake.quota), its events are put off and asked for again"
    );
}

/// The store did not tell which gateways it knows.
pub(super) fn gateways_unknown(error: &StoreError) {
    tracing::warn!(%error, "the known gateways cannot be read, shares are held to once several \
        have sent");
}

/// The store did not take a batch; the batch is tried again.
pub(super) fn store_failed(error: &StoreError) {
    metrics::counter!("pdm_agent_store_errors_total").increment(1);
    tracing::error!(error = %error_chain(error), "cannot store a batch, trying again");
}

/// The store refuses a value of a batch; its messages are stored one by one.
pub(super) fn batch_refused(what: &str, reason: &str, messages: usize) {
    tracing::warn!(
        what,
        reason,
        messages,
        "the store refuses a batch, storing its messages one by one"
    );
}

/// The store refuses a message that is no event; the message is dropped.
pub(super) fn message_dropped(what: &str, reason: &str) {
    tracing::error!(what, reason, "the store refuses a message, dropped");
}

/// Events that were asked for count as lost.
pub(super) fn events_lost(lost: u64) {
    metrics::counter!("pdm_agent_events_lost_total").increment(lost);
}

/// Events that a gateway was told to be stored are not there any more.
pub(super) fn confirmed_events_gone(gateway: &GatewayKey, [first, last]: [u64; 2]) {
    metrics::counter!("pdm_agent_confirmed_events_gone_total")
        .increment(last.saturating_sub(first) + 1);
    tracing::error!(
        %gateway, first, last,
        "the store lacks events that it had confirmed: a server that was behind took over, or a \
         backup was put back"
    );
}

/// The store did not answer a question for receipts; it is asked again later.
pub(super) fn receipts_failed(asked_for: &'static str, error: &StoreError) {
    tracing::warn!(asked_for, %error, "the store did not answer for receipts, trying again");
}

/// A receipt was not published; it stays owed.
pub(super) fn receipt_not_published(error: &PublishError) {
    tracing::debug!(%error, "receipt not published, it stays owed");
}

/// A status says that its gateway cannot keep its events.
pub(super) fn status_troubled() {
    metrics::counter!("pdm_agent_gateway_troubles_total").increment(1);
}

/// A gateway says that it cannot keep its events. Told again where its words have changed, at most
/// once a minute.
pub(super) fn gateway_troubled(site: &SiteId, gateway: &GatewayId, trouble: &str) {
    tracing::error!(%site, %gateway, trouble, "gateway is in trouble");
}

/// So many gateways are in trouble that no further one is named in this minute.
pub(super) fn more_gateways_troubled(named: usize) {
    tracing::error!(named, "and more gateways are in trouble; see /gateways");
}

/// A status is above its sender's quota.
pub(super) fn status_not_kept() {
    metrics::counter!("pdm_agent_statuses_not_kept_total").increment(1);
}

/// A sender sends so many statuses that further ones are not stored; told once a minute.
pub(super) fn sender_over_statuses(sender: &Sender, most: u64) {
    tracing::warn!(
        %sender,
        statuses_per_minute = most,
        "sends so many statuses that further ones of this minute are counted and not stored"
    );
}

/// A status of a gateway of which no event is stored is not kept: there are many such gateways.
pub(super) fn strangers_not_kept(statuses: u64) {
    metrics::counter!("pdm_agent_statuses_not_kept_total").increment(statuses);
}

/// A gateway sends events that lie ahead of the clock.
pub(super) fn gateway_ahead(gateway: &GatewayKey, by_s: f64) {
    tracing::warn!(%gateway, by_s, "events of this gateway lie ahead of the agent's clock: one of \
        both clocks is wrong");
}

/// Live events of a gateway lie behind the clock for long.
pub(super) fn gateway_behind(gateway: &GatewayKey, by_s: f64) {
    metrics::counter!("pdm_agent_gateways_behind_total").increment(1);
    tracing::warn!(%gateway, by_s, "live events of a gateway lie behind the agent's clock: check \
        its time service");
}
