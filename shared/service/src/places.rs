//! The places of a server's connections, and which connection loses its own when all are taken.
//!
//! A connection is *admitted* once its caller has said something that the server accepts; before,
//! it waits. When every place is taken, a new connection takes the place of the longest waiting one
//! of the caller with the most connections. So a thousand connections that say nothing cost each
//! other their places, and a caller that speaks at once is served at once.
//!
//! One caller is answered in half of the places at most, and all together leave some free: who
//! holds many requests open (streams, slow answers) takes no place from another caller or from a
//! monitor. The last of those that are left are for callers who hold none, so that a few callers
//! cannot shut out the rest. A request whose body is awaited holds no place: it waits as a
//! connection that has said nothing.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// All places of a server, in the order in which they were taken.
#[derive(Debug)]
pub struct Places {
    taken: Mutex<Vec<ConnectionPlace>>,
    most: usize,
    freed: Notify,
}

/// The place of one connection; clones are the same place.
#[derive(Debug, Clone)]
pub struct ConnectionPlace {
    places: Arc<Places>,
    peer: IpAddr,
    caller: Arc<Mutex<Option<String>>>,
    is_admitted: Arc<AtomicBool>,
    taken_away: CancellationToken,
}

/// One caller is answered in at most the fraction 1/`SHARE` of the places, chosen: a hundred
/// screens of one user show the live plant.
const SHARE: usize = 2;
/// The fraction 1/`FREE` of the places is for callers that are not admitted, chosen: health, logins
/// and refusals take milliseconds, so a few are enough.
const FREE: usize = 16;

/// The fraction 1/`RESERVE` of the places is for callers that hold none, chosen: thirty people open
/// a page while others hold everything else.
const RESERVE: usize = 8;

/// Why a request is not answered now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    /// The caller has its share of places.
    Share,
    /// All callers together have what there is for them.
    All,
}

impl Places {
    /// Creates `most` places.
    pub fn new(most: usize) -> Self {
        Self { taken: Mutex::default(), most, freed: Notify::new() }
    }

    /// A place for a connection of `peer`. If all are taken, a waiting connection loses its own; if
    /// all are being answered, waits until one is done.
    pub async fn take(places: &Arc<Self>, peer: IpAddr) -> ConnectionPlace {
        loop {
            // registered before the look, so that no place that is freed in between is missed
            let freed = places.freed.notified();
            if let Some(place) = Self::try_take(places, peer) {
                return place;
            }
            freed.await;
        }
    }

    fn try_take(places: &Arc<Self>, peer: IpAddr) -> Option<ConnectionPlace> {
        let mut taken = places.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if taken.len() >= places.most {
            let at = loser(&taken)?;
            taken.remove(at).taken_away.cancel();
        }
        let place = ConnectionPlace {
            places: Arc::clone(places),
            peer,
            caller: Arc::default(),
            is_admitted: Arc::default(),
            taken_away: CancellationToken::new(),
        };
        taken.push(place.clone());
        Some(place)
    }
}

/// The longest waiting connection of the caller with the most connections; `None` if every
/// connection is being answered.
fn loser(taken: &[ConnectionPlace]) -> Option<usize> {
    let of = |peer: IpAddr| taken.iter().filter(|place| place.peer == peer).count();
    let waiting = taken.iter().enumerate().filter(|(_, place)| !place.is_admitted());
    // of equal counts `max_by_key` would take the last; reversed it takes the longest waiting
    waiting.rev().max_by_key(|(_, place)| of(place.peer)).map(|(at, _)| at)
}

impl ConnectionPlace {
    /// A request of the connection passed the guard.
    pub fn admit(&self) {
        self.is_admitted.store(true, Ordering::Relaxed);
    }

    /// A request of this caller passed the guard.
    ///
    /// # Errors
    /// [`Full`] if the caller, or all callers together, have as many places as they may have.
    pub fn admit_for(&self, caller: &str) -> Result<(), Full> {
        let taken = self.places.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let others = || taken.iter().filter(|one| one.is_admitted() && !self.is_same(one));
        let own = others().filter(|one| one.is_of(caller)).count();
        if own >= (self.places.most / SHARE).max(1) {
            return Err(Full::Share);
        }
        let most = self.places.most;
        let free = most.div_ceil(FREE).min(most - 1);
        let reserve = if own == 0 { 0 } else { most / RESERVE };
        if others().count() >= most.saturating_sub(free + reserve).max(1) {
            return Err(Full::All);
        }
        *self.caller.lock().unwrap_or_else(PoisonError::into_inner) = Some(caller.to_owned());
        self.admit();
        Ok(())
    }

    /// The rest of a request's body is awaited, if the request passed the guard: until it is there,
    /// the connection waits as one that has said nothing. True if it waits now and did not before.
    pub fn awaits(&self) -> bool {
        let waits = self.is_admitted.swap(false, Ordering::Relaxed);
        if waits {
            self.places.freed.notify_one();
        }
        waits
    }

    /// The body of a request that passed the guard is there.
    ///
    /// # Errors
    /// [`Full`] if the caller, or all callers together, have as many places as they may have by
    /// now.
    pub fn goes_on(&self) -> Result<(), Full> {
        let caller = self.caller.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(caller) = caller {
            self.admit_for(&caller)
        } else {
            self.admit();
            Ok(())
        }
    }

    fn is_of(&self, caller: &str) -> bool {
        let own = self.caller.lock().unwrap_or_else(PoisonError::into_inner);
        own.as_deref() == Some(caller)
    }

    fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.is_admitted, &other.is_admitted)
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
        taken.retain(|place| !place.is_same(self));
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

    /// Issue 34, M1 and M2: a viewer's slow bodies, or open streams, took all places and health
    /// with them.
    #[tokio::test]
    async fn a_caller_has_its_share_and_all_together_leave_some_free() {
        let places = Arc::new(Places::new(32));
        let peer = IpAddr::from([192, 0, 2, 1]);
        let mut held = Vec::new();
        for caller in ["a", "b", "c"] {
            for _ in 0..20 {
                let place = Places::take(&places, peer).await;
                held.push((caller, place.admit_for(caller)));
                std::mem::forget(place);
            }
        }
        let admitted = |caller| held.iter().filter(|one| **one == (caller, Ok(()))).count();
        assert_eq!(["a", "b", "c"].map(admitted), [16, 10, 1]);
        assert!(held.contains(&("a", Err(Full::Share))) && held.contains(&("c", Err(Full::All))));
        // whoever is not admitted, such as a monitor, still finds a place
        Places::take(&places, peer).await;
    }

    /// R-UI-1: two viewers held every place that there is for callers, and an administrator got
    /// none.
    #[tokio::test]
    async fn two_callers_leave_places_for_those_who_hold_none() {
        let places = Arc::new(Places::new(256));
        let peer = IpAddr::from([192, 0, 2, 1]);
        for caller in ["v1", "v2"] {
            for _ in 0..128 {
                let place = Places::take(&places, peer).await;
                let _refused_at_the_end = place.admit_for(caller);
                std::mem::forget(place);
            }
        }
        for other in 0..32 {
            let place = Places::take(&places, peer).await;
            assert_eq!(place.admit_for(&format!("admin {other}")), Ok(()), "{other}");
            std::mem::forget(place);
        }
        let place = Places::take(&places, peer).await;
        assert_eq!(place.admit_for("v1"), Err(Full::Share));
    }

    #[tokio::test]
    async fn who_awaits_a_body_holds_no_place_and_has_one_when_it_is_there() {
        let places = Arc::new(Places::new(2));
        let peer = IpAddr::from([192, 0, 2, 1]);
        let slow = Places::take(&places, peer).await;
        slow.admit_for("v1").expect("the first");
        assert!(slow.awaits() && !slow.awaits(), "once");
        let other = Places::take(&places, peer).await;
        other.admit_for("v1").expect("a body that is awaited is not counted");
        assert_eq!(slow.goes_on(), Err(Full::Share), "half of two places are taken");
        other.answered();
        assert_eq!(slow.goes_on(), Ok(()));
        // who has said nothing never held one
        assert!(!Places::take(&places, peer).await.awaits());
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
