//! Requests to a running service to learn a bearing anew, after the bearing was replaced or its
//! machine rebuilt.
//!
//! The admin listener makes a request, or the agent makes one over the broker, which has an
//! identity and is answered in the gateway's status. The thread that measures the bearing's points
//! takes the request up before its next batch and forgets baseline, alarm, trend and verdict; the
//! emptied memory is committed with that batch. Invariants: each point of a known bearing takes a
//! request exactly once, also one that comes again after a restart (the point remembers the
//! identity of the last one); a request is answered as done when its memory is on disk, not before.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pdm_shared::bounds::{MAX_LINE, in_one_line};
use pdm_shared::relearn::{MAX_RELEARN_ANSWERS, RelearnAnswer, RelearnRefusal, RelearnStep};
use pdm_shared::time::Timestamp;
use uuid::Uuid;

/// The bearings of a service, as `equipment/bearing`, with the requests for each. Clones share
/// them.
#[derive(Debug, Clone, Default)]
pub struct Relearning(Arc<Mutex<Requests>>);

#[derive(Debug, Default)]
struct Requests {
    bearings: BTreeMap<String, OfBearing>,
    /// The newest answers to requests with an identity, oldest first.
    answers: VecDeque<RelearnAnswer>,
}

#[derive(Debug, Default)]
struct OfBearing {
    /// Requests since the service started.
    times: u64,
    /// Points that are measured.
    points: usize,
    /// The last request with an identity that is not on disk yet.
    pending: Option<Pending>,
}

#[derive(Debug)]
struct Pending {
    id: Uuid,
    /// It is this request of the bearing.
    number: u64,
    /// Points whose memory is not on disk yet.
    left: usize,
}

/// What becomes of a request with an identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requested {
    /// It is done with the next measurement.
    Taken,
    /// It came before.
    Known,
    /// The service does not measure the bearing.
    NotHere,
}

/// The requests for a bearing, as a point takes them up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wish {
    /// Number of requests since the service started.
    pub(crate) times: u64,
    /// The last one that has an identity and is not on disk yet, with its number.
    pub(crate) pending: Option<(u64, Uuid)>,
}

impl Relearning {
    /// Requests for these bearings, named `equipment/bearing`, can be made.
    pub fn of(bearings: impl IntoIterator<Item = String>) -> Self {
        let bearings = bearings.into_iter().map(|bearing| (bearing, OfBearing::default()));
        let requests = Requests { bearings: bearings.collect(), answers: VecDeque::new() };
        Self(Arc::new(Mutex::new(requests)))
    }

    /// Counts a point of a bearing, whose memory a request has to reach.
    pub(crate) fn add_point(&self, bearing: &str) {
        if let Some(one) = self.held().bearings.get_mut(bearing) {
            one.points += 1;
        }
    }

    /// Requests that a bearing is learnt anew; false if the service does not measure the bearing.
    pub fn ask(&self, bearing: &str) -> bool {
        self.held().bearings.get_mut(bearing).map(|one| one.times += 1).is_some()
    }

    /// Whether the service measures the bearing.
    pub fn has(&self, bearing: &str) -> bool {
        self.held().bearings.contains_key(bearing)
    }

    /// Takes a request that has an identity; one that came before changes nothing.
    pub fn request(&self, bearing: &str, id: Uuid, now: Timestamp) -> Requested {
        let mut held = self.held();
        if held.answers.iter().any(|answer| answer.request_id == id) {
            return Requested::Known;
        }
        let Some(one) = held.bearings.get_mut(bearing) else { return Requested::NotHere };
        one.times += 1;
        one.pending = Some(Pending { id, number: one.times, left: one.points });
        held.note(RelearnAnswer {
            request_id: id,
            at: now,
            step: RelearnStep::Taken,
            refusal: None,
        });
        Requested::Taken
    }

    /// Answers a request that is not obeyed.
    pub(crate) fn refuse(&self, id: Uuid, now: Timestamp, cause: &str, told: &str) {
        let told = in_one_line(told, MAX_LINE).into_owned();
        let refusal = Some(RelearnRefusal { cause: cause.to_owned(), told });
        let step = RelearnStep::Refused;
        self.held().note(RelearnAnswer { request_id: id, at: now, step, refusal });
    }

    /// The memory that a point has emptied by a request is on disk; with its last point the request
    /// is done. Returns whether it is.
    pub(crate) fn on_disk(&self, bearing: &str, id: Uuid, now: Timestamp) -> bool {
        let mut held = self.held();
        let Some(one) = held.bearings.get_mut(bearing) else { return false };
        let Some(pending) = one.pending.as_mut().filter(|pending| pending.id == id) else {
            return false;
        };
        pending.left = pending.left.saturating_sub(1);
        if pending.left > 0 {
            return false;
        }
        one.pending = None;
        held.note(RelearnAnswer {
            request_id: id,
            at: now,
            step: RelearnStep::Done,
            refusal: None,
        });
        true
    }

    /// The newest answers to requests that have an identity, oldest first.
    pub(crate) fn answers(&self) -> Vec<RelearnAnswer> {
        self.held().answers.iter().cloned().collect()
    }

    /// The requests for a bearing.
    pub(crate) fn wish(&self, bearing: &str) -> Wish {
        let held = self.held();
        let one = held.bearings.get(bearing);
        let pending = one.and_then(|one| one.pending.as_ref());
        Wish {
            times: one.map_or(0, |one| one.times),
            pending: pending.map(|pending| (pending.number, pending.id)),
        }
    }

    /// Number of requests for a bearing since the service started.
    pub fn times(&self, bearing: &str) -> u64 {
        self.wish(bearing).times
    }

    /// The bearings that the service measures.
    pub fn bearings(&self) -> Vec<String> {
        self.held().bearings.keys().cloned().collect()
    }

    fn held(&self) -> MutexGuard<'_, Requests> {
        // a request changes in one call, so a panic elsewhere cannot leave a half-made one
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Requests {
    /// Keeps an answer in the place of an earlier one to the same request.
    fn note(&mut self, answer: RelearnAnswer) {
        self.answers.retain(|before| before.request_id != answer.request_id);
        self.answers.push_back(answer);
        while self.answers.len() > MAX_RELEARN_ANSWERS {
            self.answers.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_bearing_that_is_measured_can_be_asked_for() {
        let relearning = Relearning::of(["P-101/DE".to_owned()]);
        assert!(!relearning.ask("P-101/NDE"));
        assert!(relearning.clone().ask("P-101/DE"));
        assert_eq!((relearning.times("P-101/DE"), relearning.times("P-101/NDE")), (1, 0));
        assert_eq!(relearning.bearings(), ["P-101/DE"]);
    }

    /// R-EDGE-10: a request is taken once, and done when the memory of each of its points is on
    /// disk.
    #[test]
    fn a_request_is_done_when_the_memory_of_every_point_is_on_disk() {
        let now = Timestamp::from_unix_ms(0).expect("epoch");
        let relearning = Relearning::of(["P-101/DE".to_owned()]);
        relearning.add_point("P-101/DE");
        relearning.add_point("P-101/DE");
        let id = Uuid::from_u128(7);
        assert_eq!(relearning.request("P-101/NDE", id, now), Requested::NotHere);
        assert_eq!(relearning.request("P-101/DE", id, now), Requested::Taken);
        assert_eq!(relearning.request("P-101/DE", id, now), Requested::Known);
        let wish = Wish { times: 1, pending: Some((1, id)) };
        assert_eq!(relearning.wish("P-101/DE"), wish);
        let steps = || relearning.answers().iter().map(|one| one.step).collect::<Vec<_>>();
        assert_eq!(steps(), [RelearnStep::Taken]);
        assert!(!relearning.on_disk("P-101/DE", id, now), "one point of two");
        assert!(!relearning.on_disk("P-101/DE", Uuid::from_u128(8), now), "another request");
        assert!(relearning.on_disk("P-101/DE", id, now));
        assert_eq!(steps(), [RelearnStep::Done]);
        assert_eq!(relearning.request("P-101/DE", id, now), Requested::Known, "it comes again");
        for number in 100..200 {
            relearning.refuse(Uuid::from_u128(number), now, "old", "too old\nfor it");
        }
        let answers = relearning.answers();
        assert_eq!(answers.len(), MAX_RELEARN_ANSWERS);
        let refusal = answers.last().and_then(|answer| answer.refusal.clone()).expect("refused");
        assert_eq!(refusal.cause, "old");
        assert!(!refusal.told.contains('\n'), "{}", refusal.told);
    }
}
