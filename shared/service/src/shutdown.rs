//! The signals that stop a program, SIGINT and SIGTERM, and the one that must not: SIGXFSZ. Callers
//! of a service may pass another token.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// Pause after a word on a file that may not grow: each write to it asks for one.
const FILE_TOO_LARGE_AGAIN: Duration = Duration::from_mins(1);

/// A token that is cancelled at the first SIGINT or SIGTERM; a second one ends the process at once
/// with 130, without draining.
///
/// # Errors
/// The error of the system if the handlers cannot be installed.
pub fn on_signal() -> std::io::Result<CancellationToken> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    // a file at the limit of the system (`LimitFSIZE`, `ulimit -f`) would end the process without a
    // word; with a handler the write fails, and whoever writes says so
    let mut too_large = signal(SignalKind::from_raw(libc::SIGXFSZ))?;
    tokio::spawn(async move {
        while too_large.recv().await.is_some() {
            tracing::error!("a file has reached the system's limit of its size (LimitFSIZE)");
            tokio::time::sleep(FILE_TOO_LARGE_AGAIN).await;
        }
    });
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
