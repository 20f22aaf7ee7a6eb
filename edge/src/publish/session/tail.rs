//! Sending the end of the sequence again while receipts do not advance.
//!
//! A broker may acknowledge the last events and lose them. The agent cannot miss numbers that it
//! never saw, so no receipt would ask for them. The last event makes the agent see the gap.

use std::time::Duration;

use pdm_service::backoff::{Backoff, Pauses};
use tokio::time::Instant;

use super::super::lanes::Lanes;
use super::super::log;
use super::Session;
use crate::spool::SpoolError;

/// Time in which receipts may fail to advance, with rows acknowledged, before the last row is sent
/// again: 1 s after connecting, since the broker may have restarted and lost the end of the
/// sequence; then 5 s, doubling up to 5 minutes while receipts do not advance.
const TAIL_AT_FIRST: Duration = Duration::from_secs(1);
const TAIL_PAUSES: Pauses = Pauses::new(Duration::from_secs(5), Duration::from_mins(5));

/// The time when the end of the sequence is sent again.
#[derive(Debug)]
pub(super) struct Tail {
    /// The number up to which the last receipt covers the sequence.
    pub(super) stored_through: u64,
    due: Instant,
    pauses: Backoff,
}

impl Tail {
    /// Due at `due`, or one pause after `now` if that is later; without `due`, soon after `now`.
    pub(super) fn new(stored_through: u64, now: Instant, due: Option<Instant>) -> Self {
        let mut pauses = Backoff::new(TAIL_PAUSES);
        let paused = now + pauses.next_pause();
        let due = due.map_or(now + TAIL_AT_FIRST, |due| due.max(paused));
        Self { stored_through, due, pauses }
    }
}

impl Session<'_> {
    /// Makes the last acknowledged row wait again if receipts do not advance.
    pub(super) async fn send_tail_again(&mut self, lanes: &mut Lanes) -> Result<(), SpoolError> {
        let tally = *self.publisher.spool.watch().borrow();
        let now = Instant::now();
        if tally.acknowledged == 0 || tally.stored_through != self.tail.stored_through {
            self.tail = Tail::new(tally.stored_through, now, Some(self.tail.due));
            return Ok(());
        }
        if now < self.tail.due {
            return Ok(());
        }
        self.tail.due = now + self.tail.pauses.next_pause();
        match self.publisher.spool.call_back_last().await {
            Ok(Some(sequence)) => {
                log::tail_sent_again(sequence, tally.stored_through);
                lanes.call_back(sequence);
                Ok(())
            }
            Ok(None) => Ok(()),
            Err(error) => self.recover(error).await,
        }
    }
}
