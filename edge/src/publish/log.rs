//! Log lines and metrics of publishing: one function an occurrence, which logs *and* counts.

use std::time::Duration;

use metrics::{counter, gauge};
use pdm_shared::time::Timestamp;

use super::Down;
use crate::progress::BrokerTrouble;
use crate::settings::BrokerAddress;
use crate::spool::Implausible;

/// The broker refuses the states of bearings.
pub(super) fn states_given_up() {
    counter!("pdm_edge_states_given_up_total").increment(1);
    tracing::warn!(
        "the broker refuses the states of bearings (topic …/state): none are published until the \
         next start; events go on. Allow the topic in the broker's access rules \
         (deploy/mosquitto/acl)"
    );
}

/// The broker took the connection.
pub(super) fn connected(address: &BrokerAddress) {
    counter!("pdm_edge_broker_connections_total").increment(1);
    gauge!("pdm_edge_broker_connected").set(1.0);
    tracing::info!(%address, "connected to broker");
}

/// A connection was lost, or an attempt to connect failed.
pub(super) fn connection_lost(address: &BrokerAddress, down: &Down) {
    gauge!("pdm_edge_broker_connected").set(0.0);
    match down {
        Down::Lost(reason) => {
            counter!("pdm_edge_broker_losses_total", "kind" => "lost").increment(1);
            tracing::warn!(%address, reason, "no broker, events wait in the spool");
        }
        Down::TooLarge(reason) => {
            counter!("pdm_edge_broker_losses_total", "kind" => "too_large").increment(1);
            tracing::warn!(
                %address,
                reason,
                "the broker refuses a publication as too large and ends the connection, the next \
                 one leaves spectra out"
            );
        }
        Down::Refused(reason) => {
            counter!("pdm_edge_broker_losses_total", "kind" => "refused").increment(1);
            tracing::error!(%address, reason, "broker refused, events wait in the spool");
        }
    }
}

/// Events were handed to the client library.
pub(super) fn events_sent(count: u64) {
    counter!("pdm_edge_published_events_total").increment(count);
}

/// PUBACKs were written to the spool.
pub(super) fn events_acknowledged(count: u64) {
    counter!("pdm_edge_acknowledged_events_total").increment(count);
}

/// The broker ends the connection again and again soon after it took it.
pub(super) fn thrown_out(address: &BrokerAddress, client_id: &str, down: &Down, is_new: bool) {
    counter!("pdm_edge_broker_thrown_out_total").increment(1);
    if is_new {
        tracing::error!(
            %address,
            client_id,
            reason = %down,
            "the broker ends the connection again and again: another client has taken this client \
             id (two gateways of one name, or a copied spool), or its access rules refuse what is \
             sent"
        );
    }
}

/// The broker acknowledges events, and no receipt covers them.
pub(super) fn no_receipts(trouble: BrokerTrouble) {
    counter!("pdm_edge_receipts_missing_total").increment(1);
    tracing::error!("{trouble}");
}

/// A publication was refused because of its size, which tells how large they may be at most.
pub(super) fn limit_learnt(most_bytes: usize) {
    gauge!("pdm_edge_broker_packet_limit_bytes").set(most_bytes as f64);
    tracing::warn!(
        most_bytes,
        "the broker takes smaller packets than it says, spectra are left out"
    );
}

/// The agent asks for events again and again that the broker has acknowledged.
pub(super) fn asked_for_often(events: usize) {
    counter!("pdm_edge_dropped_by_broker_total").increment(events as u64);
    tracing::error!(
        events,
        "the broker acknowledges events that never reach the agent, they are sent without spectra: \
         look for a size limit (message_size_limit) or an access rule of the broker"
    );
}

/// The state of a bearing is larger than the broker takes.
pub(super) fn state_too_large(topic: &str, bytes: usize) {
    counter!("pdm_edge_oversized_states_total").increment(1);
    tracing::error!(
        topic,
        bytes,
        "a bearing's state is larger than the broker takes, it is not sent"
    );
}

/// An event is larger than the broker takes.
pub(super) fn event_too_large(sequence: u64, limit_bytes: usize, fits_without_spectra: bool) {
    counter!("pdm_edge_oversized_events_total").increment(1);
    if fits_without_spectra {
        tracing::warn!(sequence, limit_bytes, "event sent without its spectra, it was too large");
    } else {
        tracing::error!(sequence, limit_bytes, "event parked, it is larger than the broker takes");
    }
}

/// The broker answered a publication with an error code.
pub(super) fn publication_declined(reason: &str, wait: Duration) {
    counter!("pdm_edge_declined_publications_total").increment(1);
    tracing::error!(reason, ?wait, "broker declined a publication, trying again after a wait");
}

/// The broker refused the subscription to receipts.
pub(super) fn receipts_not_subscribed(reason: &str) {
    counter!("pdm_edge_subscription_refusals_total").increment(1);
    tracing::error!(
        reason,
        "broker refuses the receipt topic, acknowledged events stay to the cap"
    );
}

/// The broker refused the subscription to demands for captures; they can be made at the gateway.
pub(super) fn demands_not_subscribed(reason: &str) {
    counter!("pdm_edge_subscription_refusals_total").increment(1);
    tracing::warn!(reason, "broker refuses the topic of demands for captures");
}

/// A demand over the broker was taken.
pub(super) fn demanded(bearing: &str, by: &str, asked_at: Option<Timestamp>) {
    counter!("pdm_edge_capture_demands_total", "outcome" => "taken").increment(1);
    let asked_at = asked_at.map_or_else(|| "not stated".to_owned(), |at| at.to_string());
    tracing::info!(bearing, by, asked_at, "asked for a waveform over the broker");
}

/// A demand over the broker was not taken.
pub(super) fn demand_refused(bearing: &str, reason: &str) {
    counter!("pdm_edge_capture_demands_total", "outcome" => "refused").increment(1);
    tracing::warn!(bearing, reason, "demand for a waveform not taken");
}

/// The broker does not let the gateway have requests to learn bearings anew; they can be made at
/// the gateway.
pub(super) fn relearning_not_subscribed(reason: &str) {
    counter!("pdm_edge_subscription_refusals_total").increment(1);
    tracing::warn!(reason, "broker refuses the topic of requests to learn a bearing anew");
}

/// A request over the broker to learn a bearing anew was taken.
pub(super) fn relearning_requested(bearing: &str, by: &str) {
    counter!("pdm_edge_relearn_requests_total", "outcome" => "taken").increment(1);
    tracing::info!(bearing, by, "asked over the broker to learn the bearing anew");
}

/// A request over the broker to learn a bearing anew was not taken.
pub(super) fn relearning_refused(bearing: &str, reason: &str) {
    counter!("pdm_edge_relearn_requests_total", "outcome" => "refused").increment(1);
    tracing::warn!(bearing, reason, "request to learn a bearing anew not taken");
}

/// A message on the receipt topic is not a receipt.
pub(super) fn receipt_not_understood(topic: &str, error: &serde_json::Error) {
    counter!("pdm_edge_receipts_total", "outcome" => "not_understood").increment(1);
    tracing::warn!(topic, %error, "receipt not understood");
}

/// A receipt says what cannot be true. Told once until it changes, since receipts come every
/// second.
pub(super) fn receipt_not_believed(why: &Implausible) {
    tracing::error!(%why, "receipt refused, nothing is deleted");
}

/// Receipts do not advance, so the last event was called back to be sent again.
pub(super) fn tail_sent_again(sequence: u64, stored_through: u64) {
    counter!("pdm_edge_tail_repetitions_total").increment(1);
    tracing::debug!(sequence, stored_through, "receipts stand still, last event sent again");
}
