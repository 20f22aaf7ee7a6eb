//! The log events of the connections, each as one function that logs and counts.

/// The connection for intake stands; the broker says whether it had kept the session.
pub(super) fn connected_for_intake(session_present: bool) {
    tracing::info!(session_present, "connected for intake");
}

/// The connection for publishing stands.
pub(super) fn connected_for_publishing() {
    tracing::info!("connected for publishing");
}

/// The broker ends a connection again and again soon after it took it.
pub(super) fn thrown_out(side: &'static str, client_id: &str, error: &str) {
    metrics::counter!("pdm_agent_broker_thrown_out_total", "side" => side).increment(1);
    tracing::error!(
        side,
        client_id,
        error,
        "the broker ends the connection again and again: another client has taken this client id \
         (also the agent's other connection, where the broker makes the user's name the client id: \
         see [broker.tls] in agent.toml), or the access rules refuse the agent"
    );
}

/// The broker refused a publication because of its size, which tells how large they may be at most.
pub(super) fn limit_learnt(most_bytes: usize) {
    metrics::gauge!("pdm_agent_broker_packet_limit_bytes").set(most_bytes as f64);
    tracing::error!(
        most_bytes,
        "the broker refuses a publication as too large, larger ones are given up: raise its limit"
    );
}

/// The broker lacks something that nothing works without.
pub(super) fn broker_lacks(lack: crate::progress::BrokerLack) {
    tracing::error!(?lack, "{}", lack.told());
}

/// A connection was lost or refused. The same error again is logged at debug level only, because a
/// broker that is away fails every attempt.
pub(super) fn connection_failed(side: &'static str, error: &str, is_repeated: bool) {
    metrics::counter!("pdm_agent_broker_errors_total", "side" => side).increment(1);
    if is_repeated {
        tracing::debug!(side, error, "still no connection to the broker");
    } else {
        tracing::warn!(side, error, "no connection to the broker, trying again");
    }
}

/// An event is put off, because its sender has more waiting than its share.
pub(super) fn event_put_off() {
    metrics::counter!("pdm_agent_events_put_off_total", "cause" => "share").increment(1);
}
