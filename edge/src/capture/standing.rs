//! Chooses the captures of a standing alarm that are not removed for room: the one of its rise, and
//! the newest few of its later changes. Captures that somebody asked for are not among them, so one
//! bearing whose alarm stands for days does not fill the folder of all.

use std::collections::BTreeSet;

use pdm_shared::capture::CaptureReason;
use pdm_shared::id::EventId;
use pdm_shared::time::Timestamp;

use super::CapturePoint;
use super::folder::{Kept, StoredCapture};

/// Captures of a standing alarm that are kept beside that of its rise. Chosen: a change of the
/// zone, the name and another name; with the rise and two references six of a point, 6 × 1.3 MB at
/// 25.6 kHz.
const NEWEST: usize = 3;

/// The captures of alarms that stand.
#[derive(Debug, Default)]
pub(super) struct Standing(BTreeSet<EventId>);

impl Standing {
    /// Returns the captures to keep of the points whose alarm stands.
    pub(super) fn of_alarms<'a>(
        captures: &[StoredCapture],
        points: impl Iterator<Item = &'a CapturePoint>,
    ) -> Self {
        Self(points.flat_map(|point| kept_of(captures, point)).collect())
    }
}

impl Kept for Standing {
    fn is_of_standing_alarm(&self, capture: &StoredCapture) -> bool {
        self.0.contains(&capture.document.capture_id)
    }
}

/// Whether the alarm in which a point stands has a capture of its rise.
pub(super) fn has_rise(captures: &[StoredCapture], point: &CapturePoint) -> bool {
    in_alarm(captures, point).any(|capture| capture.document.is_for(CaptureReason::Alarm))
}

/// Returns the newest captures of a point that were made in an alarm, up to one that was not. A
/// capture that was demanded before the first window is no evidence of an alarm.
fn in_alarm<'a>(
    captures: &'a [StoredCapture],
    point: &'a CapturePoint,
) -> impl Iterator<Item = &'a StoredCapture> {
    captures
        .iter()
        .rev()
        .filter(|capture| point.is_of(&capture.document))
        .filter(|capture| capture.document.triggers.iter().any(|t| t.event_id.is_some()))
        .take_while(|capture| capture.document.is_in_alarm)
}

/// The capture of the rise, else the first, and the newest of what the alarm told.
fn kept_of(captures: &[StoredCapture], point: &CapturePoint) -> Vec<EventId> {
    let told: Vec<&StoredCapture> =
        in_alarm(captures, point).filter(|capture| capture.document.is_for_alarm()).collect();
    let is_rise = |capture: &&&StoredCapture| capture.document.is_for(CaptureReason::Alarm);
    let rise = told.iter().find(is_rise).or(told.last());
    let later = told.iter().filter(|capture| !is_rise(capture)).take(NEWEST);
    rise.into_iter().chain(later).map(|capture| capture.document.capture_id).collect()
}

/// Returns when the newest reference of a point was captured.
pub(super) fn last_reference(
    captures: &[StoredCapture],
    point: &CapturePoint,
) -> Option<Timestamp> {
    let mut of_point = captures.iter().rev().filter(|capture| point.is_of(&capture.document));
    let newest = of_point.find(|capture| capture.document.is_for(CaptureReason::Reference))?;
    let mut triggers = newest.document.triggers.iter();
    triggers.find(|trigger| trigger.reason == CaptureReason::Reference).map(|trigger| trigger.at)
}
