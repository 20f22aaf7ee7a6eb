//! Live updates: one server-sent event when something was judged or told, at most two a second.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::routing::get;
use futures_util::stream::{self, Stream};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::Shared;

/// Shortest time between two updates.
const PAUSE: Duration = Duration::from_millis(500);
/// A comment that keeps proxies from closing an idle stream, well below their usual 60 s.
const ALIVE: Duration = Duration::from_secs(20);

pub(crate) fn router() -> Router<Arc<Shared>> {
    Router::new().route("/live", get(live))
}

async fn live(
    State(shared): State<Arc<Shared>>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let state = (shared.site.changes.clone(), shared.site.stop.clone());
    let changes = stream::unfold(state, |(mut changes, stop)| async move {
        let count = next(&mut changes, &stop).await?;
        let event = Event::default().event("changed").data(count.to_string());
        Some((Ok(event), (changes, stop)))
    });
    Sse::new(changes).keep_alive(KeepAlive::new().interval(ALIVE))
}

/// Waits for the next change; `None` when the program ends.
async fn next(changes: &mut watch::Receiver<u64>, stop: &CancellationToken) -> Option<u64> {
    tokio::select! {
        changed = changes.changed() => changed.ok()?,
        () = stop.cancelled() => return None,
    }
    let count = *changes.borrow_and_update();
    tokio::select! {
        () = tokio::time::sleep(PAUSE) => Some(count),
        () = stop.cancelled() => None,
    }
}
