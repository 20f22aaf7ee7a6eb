//! Live updates: one server-sent event when something was judged or told, at most two a second.
//!
//! A browser has one stream for all its tabs. At most [`STREAMS`] are open at once,
//! [`STREAMS_OF_ONE`] of one user, and each ends after [`LONGEST`]: the browser opens it again, and
//! shows by that that it may still enter.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Extension, Router};
use futures_util::stream;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::Shared;
use crate::access::Viewer;
use crate::problem::Problem;

/// Most streams at once: half of the agent's connections, so that pages are answered beside them.
pub(crate) const STREAMS: usize = 128;
/// Most streams of one user, chosen: a control room's screens, each of which has one for all its
/// tabs. Who has no name is a program of this machine, and counts by its address
/// ([`pdm_service::places`]).
const STREAMS_OF_ONE: usize = 16;
/// Longest time of a stream.
const LONGEST: Duration = Duration::from_hours(1);
/// Shortest time between two updates.
const PAUSE: Duration = Duration::from_millis(500);
/// A comment that keeps proxies from closing an idle stream, well below their usual 60 s.
const ALIVE: Duration = Duration::from_secs(20);

pub(crate) fn router() -> Router<Arc<Shared>> {
    Router::new().route("/live", get(live))
}

/// The open streams.
#[derive(Debug, Default)]
pub(crate) struct Streams(Mutex<BTreeMap<Option<String>, usize>>);

/// The place of one stream; it is free again where this is dropped.
#[derive(Debug)]
struct StreamPlace {
    streams: Arc<Streams>,
    user: Option<String>,
}

impl Streams {
    /// Takes a place for a stream of this user; `None` if the user has too many, or if all together
    /// are too many.
    fn take(streams: &Arc<Self>, user: Option<&str>) -> Option<StreamPlace> {
        let user = user.map(str::to_owned);
        let mut open = streams.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = open.get(&user).copied().unwrap_or(0);
        if open.values().sum::<usize>() >= STREAMS || (user.is_some() && own >= STREAMS_OF_ONE) {
            return None;
        }
        open.insert(user.clone(), own + 1);
        Some(StreamPlace { streams: Arc::clone(streams), user })
    }
}

impl Drop for StreamPlace {
    fn drop(&mut self) {
        let mut open = self.streams.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.user) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                open.remove(&self.user);
            }
        }
    }
}

async fn live(State(shared): State<Arc<Shared>>, Extension(viewer): Extension<Viewer>) -> Response {
    let Some(place) = Streams::take(&shared.streams, viewer.named()) else {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// R-UI-1: 140 streams of one viewer took every one that there is, for an hour each.
    #[test]
    fn one_user_has_sixteen_streams_and_leaves_the_others_theirs() {
        let streams = Arc::new(Streams::default());
        let take = |user| Streams::take(&streams, user);
        let mut of_one: Vec<StreamPlace> = (0..140).filter_map(|_| take(Some("v1"))).collect();
        assert_eq!(of_one.len(), STREAMS_OF_ONE);
        let other = take(Some("admin"));
        assert!(other.is_some(), "another user's");
        of_one.pop();
        assert!(take(Some("v1")).is_some(), "one that ended is free");
        drop(of_one);
        let screens: Vec<StreamPlace> = (0..140).filter_map(|_| take(None)).collect();
        assert_eq!(screens.len(), STREAMS - 1, "the rest, as before users are made");
        drop((other, screens));
        assert!(streams.0.lock().expect("whole").is_empty(), "nothing is kept of who has gone");
    }
}
