//! The signals that stop a program: SIGINT and SIGTERM. Callers of a service may pass another
//! token.

use tokio_util::sync::CancellationToken;

/// A token that is cancelled at the first SIGINT or SIGTERM; a second one ends the process at once
/// with 130, without draining.
///
/// # Errors
/// The error of the system if the handlers cannot be installed.
pub fn on_signal() -> std::io::Result<CancellationToken> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let token = CancellationToken::new();
    let cancelled = token.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => tracing::info!("interrupted, stopping"),
            _ = terminate.recv() => tracing::info!("asked to terminate, stopping"),
        }
        cancelled.cancel();
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        tracing::warn!("asked twice, ending without draining");
        end_now();
    });
    Ok(token)
}

#[expect(clippy::exit, reason = "a second signal means that draining takes too long")]
fn end_now() -> ! {
    crate::telemetry::finish();
    std::process::exit(130)
}
