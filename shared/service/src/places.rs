//! The places of a server's connections, and which connection loses its own when all are taken.
//!
//! A connection is *admitted* once its caller has said something that the server accepts; before, it
//! waits. When every place is taken, a new connection takes the place of the longest waiting one of
//! the caller with the most connections. So a thousand connections that say nothing cost each other
//! their places, and a caller that speaks at once is served at once.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// All places of a server, in the order in which they were taken.
#[derive(Debug)]
pub struct Places {
    taken: Mutex<Vec<Place>>,
    most: usize,
    freed: Notify,
}

/// The place of one connection; clones are the same place.
#[derive(Debug, Clone)]
pub struct Place {
    places: Arc<Places>,
    peer: IpAddr,
    is_admitted: Arc<AtomicBool>,
    taken_away: CancellationToken,
}

impl Places {
    /// So many places.
    pub fn new(most: usize) -> Self {
        Self { taken: Mutex::default(), most, freed: Notify::new() }
    }

    /// A place for a connection of `peer`. If all are taken, a waiting connection loses its own; if
    /// all are being answered, waits until one is done.
    pub async fn take(places: &Arc<Self>, peer: IpAddr) -> Place {
        loop {
            // registered before the look, so that no place that is freed in between is missed
            let freed = places.freed.notified();
            if let Some(place) = Self::try_take(places, peer) {
                return place;
            }
            freed.await;
        }
    }

    fn try_take(places: &Arc<Self>, peer: IpAddr) -> Option<Place> {
        let mut taken = places.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if taken.len() >= places.most {
            let at = loser(&taken)?;
            taken.remove(at).taken_away.cancel();
        }
        let place = Place {
            places: Arc::clone(places),
            peer,
            is_admitted: Arc::default(),
            taken_away: CancellationToken::new(),
        };
        taken.push(place.clone());
        Some(place)
    }
}

/// The longest waiting connection of the caller with the most connections; `None` if every
/// connection is being answered.
fn loser(taken: &[Place]) -> Option<usize> {
    let of = |peer: IpAddr| taken.iter().filter(|place| place.peer == peer).count();
    let waiting = taken.iter().enumerate().filter(|(_, place)| !place.is_admitted());
    // of equal counts `max_by_key` would take the last; reversed it takes the longest waiting
    waiting.rev().max_by_key(|(_, place)| of(place.peer)).map(|(at, _)| at)
}

impl Place {
    /// A request of the connection passed the guard.
    pub fn admit(&self) {
        self.is_admitted.store(true, Ordering::Relaxed);
    }

    /// The request is answered: the connection waits for the next.
    pub fn answered(&self) {
        self.is_admitted.store(false, Ordering::Relaxed);
        self.places.freed.notify_one();
    }

    fn is_admitted(&self) -> bool {
        self.is_admitted.load(Ordering::Relaxed)
    }

    /// Resolves when the place is given to another connection.
    pub async fn is_taken_away(&self) {
        self.taken_away.cancelled().await;
    }

    /// The connection is closed.
    pub fn leave(&self) {
        let mut taken = self.places.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.retain(|place| !Arc::ptr_eq(&place.is_admitted, &self.is_admitted));
        drop(taken);
        self.places.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_caller_with_the_most_waiting_connections_loses_a_place() {
        let places = Arc::new(Places::new(4));
        let of = |last: u8| IpAddr::from([192, 0, 2, last]);
        let honest = Places::take(&places, of(1)).await;
        let admitted = Places::take(&places, of(2)).await;
        admitted.admit();
        let first = Places::take(&places, of(2)).await;
        let second = Places::take(&places, of(2)).await;
        let new = Places::take(&places, of(3)).await;
        first.is_taken_away().await;
        for place in [&honest, &admitted, &second, &new] {
            let away =
                tokio::time::timeout(std::time::Duration::from_millis(1), place.is_taken_away())
                    .await;
            assert!(away.is_err(), "{place:?}");
        }
    }

    #[tokio::test]
    async fn who_is_answered_keeps_the_place_and_the_next_waits() {
        let places = Arc::new(Places::new(1));
        let peer = IpAddr::from([192, 0, 2, 1]);
        let admitted = Places::take(&places, peer).await;
        admitted.admit();
        let mut next = std::pin::pin!(Places::take(&places, peer));
        let soon = std::time::Duration::from_millis(1);
        assert!(tokio::time::timeout(soon, &mut next).await.is_err());
        admitted.leave();
        next.await;
    }
}
