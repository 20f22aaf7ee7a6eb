//! Alarms that were given up on a lane, tried again: the way may work again, and an alarm that
//! stands has been told to nobody.

use std::time::Duration;

use pdm_store::Claimed;
use tokio::time::{Instant, timeout};

use super::super::log;
use super::super::portion::Portion;
use super::Lane;

/// How often an alarm that was given up is tried again while its way has nothing else to send: the
/// longest pause of what has not been given up.
const PROBE: Duration = Duration::from_mins(10);

impl Lane {
    /// As [`Lane::next`]; while nothing leaves, one alarm that was given up and that nobody was
    /// told of is tried again now and then, so that the rest of them follows once its way works
    /// again.
    pub(super) async fn next_or_probe(
        &self,
        lane: &str,
        portion: &mut Portion,
        is_renewed: &(dyn Fn() -> bool + Sync),
        probed: &mut Option<Instant>,
    ) -> Option<Vec<Claimed>> {
        loop {
            let next = self.next(lane, portion, is_renewed);
            match timeout(PROBE, next).await {
                Ok(rows) => return rows,
                Err(_elapsed) => {
                    // a claim that was committed in the call that was dropped; this lane holds no
                    // other one
                    if self.store.let_go(lane).await.is_ok() {
                        *probed = Some(Instant::now());
                        self.revive(lane, 1).await;
                    }
                }
            }
        }
    }

    /// Makes alarms that were given up due again.
    pub(super) async fn revive(&self, lane: &str, limit: u32) {
        match self.store.revive(lane, self.clock.now(), limit).await {
            Ok(0) => {}
            Ok(rows) => {
                log::revived(lane, rows);
                self.reporter.update(|progress| progress.unsent += rows);
            }
            Err(error) => log::claim_failed(lane, &error),
        }
    }
}
