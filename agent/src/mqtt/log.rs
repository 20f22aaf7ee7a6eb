//! What happens to the connections, each as one function that logs and counts.

/// The connection for intake stands; the broker says whether it had kept the session.
pub(super) fn connected_for_intake(session_present: bool) {
    tracing::info!(session_present, "connected for intake");
}

/// The connection for publishing stands.
pub(super) fn connected_for_publishing() {
    tracing::info!("connected for publishing");
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
