//! Which refusals have been told, so that a hostile gateway fills no log.

use std::collections::BTreeSet;

use pdm_shared::id::{BearingKey, GatewayKey};
use pdm_store::{Refusal, RefusalCause};

use super::log;

/// Refusals that are remembered, some 300 bytes each; then all are forgotten and told once more.
const REMEMBERED: usize = 4096;

/// The refusals that have been told since the start.
#[derive(Debug, Default)]
pub(super) struct Told(BTreeSet<(RefusalCause, GatewayKey, BearingKey)>);

impl Told {
    /// Logs those that have not been told.
    pub(super) fn tell(&mut self, refusals: &[Refusal]) {
        for refusal in refusals {
            if self.0.len() >= REMEMBERED {
                self.0.clear();
            }
            let one = (refusal.cause, refusal.gateway.clone(), refusal.bearing.clone());
            if self.0.insert(one) {
                log::event_refused(refusal);
            }
        }
    }
}
