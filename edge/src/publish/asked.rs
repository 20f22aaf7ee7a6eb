//! The numbers that were sent again because a receipt listed them as missing.
//!
//! A broker with a long queue delivers a repeated event after everything that is queued already,
//! and until then every receipt lists the event as missing. If each receipt caused another
//! repetition, the queue would grow faster than the agent can empty it. So a number is sent again
//! once, and once more only after a pause in which receipts did not advance; the pause doubles. No
//! I/O here; a new connection starts without numbers.

use std::collections::BTreeSet;
use std::time::Duration;

use pdm_service::backoff::{Backoff, Pauses};
use pdm_shared::delivery::Receipt;
use tokio::time::Instant;

/// Pauses before a number is sent once more. Without a queue at the broker a repeated event is
/// stored and covered by a receipt well within 10 s; with a queue of hours, 5 minutes allow 12
/// repetitions an hour.
const PAUSES: Pauses = Pauses::new(Duration::from_secs(10), Duration::from_mins(5));

/// Most numbers taken from one receipt (40 MB of events of 4 KiB). The next receipt lists the rest.
const AT_ONCE: usize = 10_000;

/// Most numbers remembered (about 1 MiB of memory). Further numbers are taken after the pause.
const REMEMBERED: usize = 50_000;

/// Numbers that were sent again and are not covered by a receipt yet.
#[derive(Debug)]
pub(super) struct AskedEvents {
    numbers: BTreeSet<u64>,
    stored_through: u64,
    again_at: Instant,
    pauses: Backoff,
}

impl AskedEvents {
    pub(super) fn new(now: Instant) -> Self {
        let mut pauses = Backoff::new(PAUSES);
        let again_at = now + pauses.next_pause();
        Self { numbers: BTreeSet::new(), stored_through: 0, again_at, pauses }
    }

    /// The receipt with only those missing numbers, up to `last`, that are to be sent again now.
    /// These numbers are remembered.
    pub(super) fn filter(&mut self, receipt: &Receipt, last: u64, now: Instant) -> Receipt {
        if receipt.stored_through > self.stored_through {
            self.numbers = self.numbers.split_off(&receipt.stored_through.saturating_add(1));
            self.pauses.reset();
            self.again_at = now + self.pauses.next_pause();
        } else if now >= self.again_at {
            self.numbers.clear();
            self.again_at = now + self.pauses.next_pause();
        }
        // a lower number than before means that the agent lost events: progress counts from there
        self.stored_through = receipt.stored_through;
        let room = REMEMBERED.saturating_sub(self.numbers.len()).min(AT_ONCE);
        let missing: Vec<u64> = receipt
            .missing
            .iter()
            .flat_map(|&[first, to]| first.max(1)..=to.min(last))
            .filter(|number| !self.numbers.contains(number))
            .take(room)
            .collect();
        self.numbers.extend(&missing);
        let missing = missing.into_iter().map(|number| [number, number]).collect();
        Receipt { missing, ..receipt.clone() }
    }
}

#[cfg(test)]
mod tests {
    use pdm_shared::time::Timestamp;

    use super::*;

    fn receipt(stored_through: u64, missing: &[[u64; 2]]) -> Receipt {
        Receipt {
            schema: "pdm.receipt/1".to_owned(),
            gateway_id: "gw".parse().expect("name"),
            epoch: None,
            stored_through,
            missing: missing.to_vec(),
            at: Timestamp::from_unix_ms(0).expect("epoch"),
        }
    }

    #[test]
    fn what_is_on_its_way_again_is_not_sent_at_every_receipt() {
        let now = Instant::now();
        let mut asked = AskedEvents::new(now);
        let mut at = |s: u64, missing: &[[u64; 2]]| {
            asked.filter(&receipt(4, missing), 100, now + Duration::from_secs(s)).missing
        };
        assert_eq!(at(0, &[[5, 7]]), [[5, 5], [6, 6], [7, 7]]);
        assert!(at(1, &[[5, 7]]).is_empty(), "on its way");
        assert_eq!(at(2, &[[6, 7], [9, 9]]), [[9, 9]], "a new gap is sent at once");
        assert_eq!(at(11, &[[6, 7]]).len(), 2, "no progress for too long");
        assert!(at(29, &[[6, 7]]).is_empty(), "the wait has doubled");
        assert_eq!(at(32, &[[6, 7]]).len(), 2);
    }

    #[test]
    fn progress_makes_the_wait_a_short_one_again() {
        let now = Instant::now();
        let mut asked = AskedEvents::new(now);
        let later = |s| now + Duration::from_secs(s);
        assert_eq!(asked.filter(&receipt(4, &[[5, 6]]), 100, now).missing.len(), 2);
        assert_eq!(asked.filter(&receipt(5, &[[6, 6]]), 100, later(9)).missing.len(), 0);
        assert_eq!(asked.filter(&receipt(5, &[[6, 6]]), 100, later(18)).missing.len(), 0);
        assert_eq!(asked.filter(&receipt(5, &[[6, 6]]), 100, later(20)).missing.len(), 1);
    }

    #[test]
    fn progress_is_counted_from_what_an_agent_has_that_lost_some() {
        let now = Instant::now();
        let mut asked = AskedEvents::new(now);
        let later = |s| now + Duration::from_secs(s);
        assert_eq!(asked.filter(&receipt(50, &[]), 100, now).missing.len(), 0);
        assert_eq!(asked.filter(&receipt(4, &[[5, 6]]), 100, now).missing.len(), 2);
        assert_eq!(asked.filter(&receipt(5, &[[6, 6]]), 100, later(9)).missing.len(), 0);
        assert_eq!(asked.filter(&receipt(5, &[[6, 6]]), 100, later(18)).missing.len(), 0);
        assert_eq!(asked.filter(&receipt(5, &[[6, 6]]), 100, later(20)).missing.len(), 1);
    }

    #[test]
    fn a_receipt_that_asks_for_everything_is_taken_in_pieces() {
        let now = Instant::now();
        let mut asked = AskedEvents::new(now);
        let all = receipt(0, &[[0, u64::MAX]]);
        let first = asked.filter(&all, 25_000, now).missing;
        assert_eq!((first.len(), first[0]), (AT_ONCE, [1, 1]));
        assert_eq!(asked.filter(&all, 25_000, now).missing[0], [10_001, 10_001]);
    }
}
