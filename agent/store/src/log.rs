//! Log lines of the store.

use pdm_shared::episode::Shelve;
use pdm_shared::id::{BearingKey, GatewayKey};

use super::StoreError;

/// A sequence of row numbers was behind its table, as after a logical replication, and was set
/// forward.
pub(super) fn sequence_set_forward(sequence: &str, to: i64) {
    tracing::warn!(
        sequence,
        to,
        "row numbers of this sequence were taken already: it was behind its table and is set \
         forward"
    );
}

/// The role may not look at the sequences of row numbers.
pub(super) fn sequences_not_looked_at(error: &StoreError) {
    let error = pdm_service::error_chain::error_chain(error);
    tracing::warn!(error, "cannot look whether sequences of row numbers are behind their tables");
}

/// A row of the store cannot be read, as one with a name that an earlier version took; the others
/// are.
pub(super) fn row_left_out(error: &StoreError) {
    metrics::counter!("pdm_agent_rows_left_out_total").increment(1);
    tracing::warn!(%error, "row of the store cannot be read, leaving it out");
}

/// The state of a bearing cannot be read; it is rebuilt from the risk that the bearing stands at.
pub(super) fn state_rebuilt(key: &BearingKey, error: &StoreError) {
    metrics::counter!("pdm_agent_rows_left_out_total").increment(1);
    tracing::error!(bearing = %key, %error, "state of the bearing cannot be read, taking its risk \
        and stage");
}

/// A part of a bearing's episode cannot be read; the episode goes on without it, on the side of
/// telling staff again.
pub(super) fn episode_part_lost(key: &BearingKey, part: &'static str, error: &StoreError) {
    metrics::counter!("pdm_agent_rows_left_out_total").increment(1);
    tracing::error!(bearing = %key, part, %error, "part of the episode cannot be read, going on \
        without it");
}

/// An alarm that cannot be read is not repeated any more.
pub(super) fn alarm_not_repeated(error: &StoreError) {
    metrics::counter!("pdm_agent_rows_left_out_total").increment(1);
    tracing::error!(%error, "alarm of the store cannot be read, it is not repeated any more");
}

/// A stored event cannot be read, so it is never judged.
pub(super) fn event_unreadable(arrival: i64, error: &StoreError) {
    metrics::counter!("pdm_agent_rows_left_out_total").increment(1);
    tracing::error!(arrival, %error, "stored event cannot be read, it is not judged");
}

/// A gateway's status names a new count of sequence numbers, as after the loss of its spool.
pub(super) fn count_restarted(gateway: &GatewayKey, first: u64) {
    metrics::counter!("pdm_agent_gateway_counts_total").increment(1);
    tracing::warn!(%gateway, first, "gateway counts from a new start, following it");
}

/// New events have numbers of which the gateway's sequence knows nothing; they are stored.
pub(super) fn numbers_not_counted(gateway: &GatewayKey, events: u64) {
    metrics::counter!("pdm_agent_events_not_counted_total").increment(events);
    tracing::warn!(
        %gateway, events,
        "events with numbers that this gateway has used before, stored without moving its receipt"
    );
}

/// A gateway has used the topic that names it for the first time.
pub(super) fn gateway_proven(gateway: &GatewayKey) {
    tracing::info!(%gateway, "topic names the gateway");
}

/// A status names another count of sequence numbers while events of the gateway's own come.
pub(super) fn rival_count(gateway: &GatewayKey, silent_s: f64) {
    metrics::counter!("pdm_agent_rival_counts_total").increment(1);
    tracing::warn!(
        %gateway, silent_s,
        "a status names another count of sequence numbers while events of the known one come: \
         events of both are kept, and the other count is followed when the known one has been \
         silent for so long (intake.rival_silent_s), or by gateways release"
    );
}

/// A refused message is kept and not published, because too many wait to be.
pub(super) fn letter_not_published() {
    metrics::counter!("pdm_agent_dead_letters_not_published_total").increment(1);
}

/// An acknowledgement came, and ended the repetitions of an alarm or of none.
pub(super) fn acknowledged(key: &BearingKey, applied: bool) {
    let outcome = if applied { "applied" } else { "without_effect" };
    metrics::counter!("pdm_agent_acknowledgements_total", "outcome" => outcome).increment(1);
    tracing::info!(bearing = %key, outcome, "acknowledgement");
}

/// Staff shelved a bearing or took it out of service.
pub(super) fn shelved(key: &BearingKey, shelve: &Shelve) {
    metrics::counter!("pdm_agent_shelves_total").increment(1);
    let until = shelve.until.map(|until| until.to_string());
    tracing::info!(bearing = %key, by = ?shelve.by, until, reason = ?shelve.reason, "shelved");
}

/// A gateway was asked for events and did not send them in time.
pub(super) fn events_lost(gateway: &GatewayKey, count: i64) {
    tracing::warn!(%gateway, count, "events were asked for and never came, counted as lost");
}

/// A report names no action, and the work of several judgements is open.
pub(super) fn report_undecided(key: &BearingKey) {
    metrics::counter!("pdm_agent_reports_undecided_total").increment(1);
    tracing::warn!(%key, "a report names no action and the work of several judgements is open: it \
        is kept and sets none of it");
}

/// A partition of `events` was made.
pub(super) fn partition_made(table: &str) {
    tracing::info!(table, "partition of a week was made");
}

/// A partition of `events` with about this many rows was dropped.
pub(super) fn partition_dropped(table: &str, rows: i64) {
    tracing::info!(table, rows, "partition of a week that is no longer kept was dropped");
}

/// A judgement gets no second opinion, because too many wait.
pub(super) fn opinion_not_asked() {
    metrics::counter!("pdm_agent_opinions_not_asked_total").increment(1);
    tracing::warn!("too many judgements wait for a second opinion: this one gets none");
}

/// The database of a store that is there already does not check what it is given.
pub(super) fn encoding_not_checked() {
    tracing::warn!(
        "server_encoding is SQL_ASCII: the server checks no character; move the store to a \
         database in UTF8"
    );
}

/// The password of the server was read again and is another one.
pub(super) fn login_renewed() {
    metrics::counter!("pdm_agent_secrets_renewed_total", "secret" => "store.postgres.password")
        .increment(1);
    tracing::info!("the password of the store's server has changed, new connections use it");
}
