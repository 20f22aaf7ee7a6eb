//! Live updates: one server-sent event when something was judged or told, at most two a second.
//!
//! A browser has one stream for all its tabs. At most [`STREAMS`] are open at once, and each ends after
//! [`LONGEST`]: the browser opens it again, and shows by that that it may still enter.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use futures_util::stream;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::Shared;
use crate::problem::Problem;

/// Most streams at once: half of the agent's connections, so that pages are answered beside them.
pub(crate) const STREAMS: usize = 128;
/// Longest time of a stream.
const LONGEST: Duration = Duration::from_hours(1);
/// Shortest time between two updates.
const PAUSE: Duration = Duration::from_millis(500);
/// A comment that keeps proxies from closing an idle stream, well below their usual 60 s.
const ALIVE: Duration = Duration::from_secs(20);

pub(crate) fn router() -> Router<Arc<Shared>> {
    Router::new().route("/live", get(live))
}

async fn live(State(shared): State<Arc<Shared>>) -> Response {
    let Ok(place) = Arc::clone(&shared.streams).try_acquire_owned() else {
        let told = "too many live streams: the page is shown without them";
        return Problem::new(StatusCode::SERVICE_UNAVAILABLE, told).into_response();
    };
    let end = tokio::time::Instant::now() + LONGEST;
    let state = (shared.site.changes.clone(), shared.site.stop.clone(), place);
    let changes = stream::unfold(state, move |(mut changes, stop, place)| async move {
        let count = tokio::select! {
            count = next(&mut changes, &stop) => count?,
            () = tokio::time::sleep_until(end) => return None,
        };
        let event = Event::default().event("changed").data(count.to_string());
        Some((Ok::<_, Infallible>(event), (changes, stop, place)))
    });
    Sse::new(changes).keep_alive(KeepAlive::new().interval(ALIVE)).into_response()
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
