//! A capture that waits for its last samples, and the triggers that join it meanwhile.

use std::time::Instant;

use pdm_shared::capture::{CaptureReason, CaptureTrigger, MAX_TRIGGERS};

use super::recorder::Judged;
use super::ring::Wanted;

/// A capture that waits for its last samples.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) triggers: Vec<CaptureTrigger>,
    pub(super) wanted: Wanted,
    /// The window of the first trigger; `None` for a demand before the first window.
    pub(super) judged: Option<Judged>,
    pub(super) is_in_alarm: bool,
    /// When its place of the hour was taken.
    pub(super) taken_at: Instant,
    /// It is written then, whatever has come.
    pub(super) until: Instant,
}

impl Pending {
    /// The reason that counts: the alarm, where it is one of them.
    pub(super) fn reason(&self) -> CaptureReason {
        let first = self.triggers.first().map_or(CaptureReason::Demand, |first| first.reason);
        if self.is_for(CaptureReason::Alarm) { CaptureReason::Alarm } else { first }
    }

    /// Whether one of its triggers has this reason.
    pub(super) fn is_for(&self, reason: CaptureReason) -> bool {
        self.triggers.iter().any(|trigger| trigger.reason == reason)
    }

    /// Takes over triggers of the same stretch, and their stretch where they tell anything new; at
    /// most `most` samples altogether. A reference is one of a sound state alone.
    pub(super) fn join(
        &mut self,
        triggers: Vec<CaptureTrigger>,
        wanted: Wanted,
        judged: Option<&Judged>,
        most: u64,
    ) {
        let is_reference = |trigger: &CaptureTrigger| trigger.reason == CaptureReason::Reference;
        let is_demand = |trigger: &CaptureTrigger| trigger.reason == CaptureReason::Demand;
        if triggers.iter().any(|trigger| !is_reference(trigger) && !is_demand(trigger)) {
            self.is_in_alarm |= triggers.iter().any(|t| t.reason == CaptureReason::Alarm);
            // the document describes the window of what takes the reference's place
            if self.triggers.first().is_some_and(is_reference) {
                self.judged = judged.cloned();
                self.wanted.anchor = wanted.anchor;
            }
            self.triggers.retain(|trigger| !is_reference(trigger));
        }
        let mut has_new = false;
        for trigger in triggers.into_iter().filter(|trigger| !is_reference(trigger)) {
            let is_new = !self.is_for(trigger.reason);
            // who asked by another demand finds the capture by it; the stretch stays as it is
            let is_other = trigger.demand_id.is_some()
                && self.triggers.iter().all(|one| one.demand_id != trigger.demand_id);
            if (is_new || is_other) && self.triggers.len() < MAX_TRIGGERS {
                self.triggers.push(trigger);
                has_new |= is_new;
            }
        }
        if has_new {
            self.wanted.from = self.wanted.from.min(wanted.from);
            let longest = self.wanted.from.saturating_add(most);
            self.wanted.to = self.wanted.to.max(wanted.to.min(longest));
        }
    }
}
