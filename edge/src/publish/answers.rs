//! The newest answers to demands for captures, which the gateway's status repeats: whoever asked
//! over the broker learns the outcome there.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pdm_shared::bounds::{MAX_LINE, in_one_line};
use pdm_shared::capture::{CaptureAnswer, CaptureRefusal, MAX_ANSWERS};
use pdm_shared::time::Timestamp;
use uuid::Uuid;

use crate::capture::Demanded;

/// The newest answers, oldest first. Clones share them.
#[derive(Debug, Clone, Default)]
pub(super) struct DemandAnswers(Arc<Mutex<VecDeque<CaptureAnswer>>>);

impl DemandAnswers {
    fn held(&self) -> MutexGuard<'_, VecDeque<CaptureAnswer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a demand was answered already: the broker may deliver it twice.
    pub(super) fn has(&self, demand_id: Uuid) -> bool {
        self.held().iter().any(|answer| answer.demand_id == demand_id)
    }

    /// Notes the outcome of a demand.
    pub(super) fn note(&self, demand_id: Uuid, at: Timestamp, refusal: Option<CaptureRefusal>) {
        let mut held = self.held();
        held.retain(|answer| answer.demand_id != demand_id);
        held.push_back(CaptureAnswer { demand_id, at, refusal });
        while held.len() > MAX_ANSWERS {
            held.pop_front();
        }
    }

    /// The answers, oldest first.
    pub(super) fn newest(&self) -> Vec<CaptureAnswer> {
        self.held().iter().cloned().collect()
    }
}

/// Returns why a demand for a bearing is refused, for the status; `None` where it is taken.
pub(super) fn refusal_of(demanded: &Demanded, bearing: &str) -> Option<CaptureRefusal> {
    let told = demanded.refusal(bearing)?;
    let (cause, wait_s) = match demanded {
        Demanded::Taken => return None,
        Demanded::Unknown(_) => ("unknown", None),
        Demanded::Used { wait, .. } => ("used", Some(wait.as_secs().max(1))),
        Demanded::NoDisk => ("disk", None),
        Demanded::Busy => ("busy", None),
        Demanded::Late => ("late", None),
    };
    Some(refusal(cause, &told, wait_s))
}

/// A refusal in the bounds of the status.
pub(super) fn refusal(cause: &str, told: &str, wait_s: Option<u64>) -> CaptureRefusal {
    let told = in_one_line(told, MAX_LINE).into_owned();
    CaptureRefusal { cause: cause.to_owned(), told, wait_s }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// R-EDGE-10: a status stays small however many ask, and a demand is answered once.
    #[test]
    fn the_newest_answers_are_repeated_and_each_demand_once() {
        let answers = DemandAnswers::default();
        let at = Timestamp::from_unix_ms(0).expect("epoch");
        for number in 0..40 {
            answers.note(Uuid::from_u128(number), at, None);
        }
        assert!(!answers.has(Uuid::from_u128(0)) && answers.has(Uuid::from_u128(39)));
        let used = Demanded::Used { most: 6, wait: Duration::from_secs(90) };
        answers.note(Uuid::from_u128(39), at, refusal_of(&used, "P-101/DE"));
        let newest = answers.newest();
        assert_eq!(newest.len(), MAX_ANSWERS);
        let last = newest.last().and_then(|answer| answer.refusal.clone()).expect("refused");
        assert_eq!((last.cause.as_str(), last.wait_s), ("used", Some(90)));
        assert!(last.told.contains("per_hour = 6"), "{}", last.told);
        assert_eq!(refusal_of(&Demanded::Taken, "P-101/DE"), None);
    }
}
