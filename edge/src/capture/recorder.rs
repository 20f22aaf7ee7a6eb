//! The thread that keeps the rings and writes captures.
//!
//! One for all sources. Whatever goes wrong here (a full disk, a folder that is gone, a storm of triggers)
//! is told and ends nothing: events do not depend on captures. Two triggers in one stretch are one capture.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pdm_service::clock::SharedClock;
use pdm_shared::capture::{CaptureReason, CaptureTrigger, MAX_TRIGGERS};
use pdm_shared::event::Event;
use pdm_shared::id::{EventId, GatewayId, SiteId};
use tokio::sync::Notify;

use super::chunk::Origin;
use super::document::{self, Taken};
use super::folder::{Folder, Kept, StoredCapture};
use super::inbox::{self, Inbox};
use super::log::{self, Refused};
use super::ring::{Ring, Wanted};
use super::watch::{HourBudget, Watch};
use super::{CapturePoint, CaptureSettings};
use crate::remarks::Remarks;

/// The matter of remarks on captures.
const MATTER: &str = "capture";
/// Time between two looks at what waits for its last samples.
const LOOK: Duration = Duration::from_millis(500);
/// Time between two updates of the figures of the rings.
const FIGURES: Duration = Duration::from_secs(5);
/// A live source that delivers in blocks is this much behind, at most.
const BEHIND: Duration = Duration::from_secs(5);

/// What the measuring threads and the listener send.
#[derive(Debug)]
pub(super) enum Message {
    /// Samples of a block, one row for each point: its number, m/s².
    Block { origin: Origin, rows: Vec<(usize, Vec<f64>)> },
    /// A window was judged.
    Judged { point: usize, first: u64, samples: u64, event: Box<Event> },
    /// Somebody asks for a capture of a bearing.
    Demand { bearing: String },
}

/// A window that was judged.
#[derive(Debug, Clone)]
pub(super) struct Judged {
    pub(super) first: u64,
    pub(super) samples: u64,
    pub(super) event: Event,
}

/// A capture that waits for its last samples.
#[derive(Debug)]
struct Pending {
    triggers: Vec<CaptureTrigger>,
    wanted: Wanted,
    /// The window of the first trigger; `None` for a demand before the first window.
    judged: Option<Judged>,
    is_in_alarm: bool,
    until: Instant,
}

#[derive(Debug)]
struct PointState {
    point: CapturePoint,
    ring: Ring,
    watch: Watch,
    hour: HourBudget,
    pending: Option<Pending>,
    newest: Option<Judged>,
    /// The end of the newest window in alarm, as the number of its sample.
    alarm_end: u64,
}

/// Keeps the rings and writes captures.
pub(super) struct Recorder {
    settings: CaptureSettings,
    names: (GatewayId, SiteId),
    clock: SharedClock,
    remarks: Remarks,
    folder: Option<Folder>,
    points: Vec<PointState>,
    figures_at: Instant,
    /// Rung when a capture was written.
    written: Arc<Notify>,
}

/// The captures of alarms that stand.
struct Standing(BTreeSet<EventId>);

impl Kept for Standing {
    fn is_of_standing_alarm(&self, capture: &StoredCapture) -> bool {
        self.0.contains(&capture.document.capture_id)
    }
}

/// Closes the inbox when the thread ends, also by a panic, so that no source waits for it.
struct CloseAtEnd(Arc<Inbox<Message>>);

impl Drop for CloseAtEnd {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl Recorder {
    pub(super) fn new(
        settings: CaptureSettings,
        names: (GatewayId, SiteId),
        points: Vec<CapturePoint>,
        (clock, remarks): (SharedClock, Remarks),
    ) -> Self {
        let folder = Folder::open(&settings.folder, settings.most_disk_bytes);
        let folder = folder.inspect_err(log::no_folder).ok();
        let rate: f64 = points.iter().map(|point| point.rate_hz).sum();
        let states = points.into_iter().map(|point| {
            let share = point.rate_hz / rate;
            let budget = (settings.budget_bytes as f64 * share) as usize;
            let last = folder.as_ref().and_then(|folder| last_reference(folder, &point));
            PointState {
                ring: Ring::new(budget),
                watch: Watch::new(last),
                hour: HourBudget::default(),
                pending: None,
                newest: None,
                alarm_end: 0,
                point,
            }
        });
        let points = states.collect();
        let figures_at = Instant::now();
        let written = Arc::default();
        Self { settings, names, clock, remarks, folder, points, figures_at, written }
    }

    /// The same, which rings when a capture was written.
    #[must_use]
    pub(super) fn ringing(self, written: Arc<Notify>) -> Self {
        Self { written, ..self }
    }

    /// Works until the inbox is closed; then writes what waits, as far as its samples have come.
    pub(super) fn run(mut self, inbox: Arc<Inbox<Message>>) {
        let _close = CloseAtEnd(Arc::clone(&inbox));
        if self.folder.is_none() {
            for at in 0..self.points.len() {
                let text = "no waveform is captured: the folder of captures cannot be used";
                self.remarks.set(&self.points[at].point.source, MATTER, text.to_owned());
            }
        }
        loop {
            match inbox.pop(LOOK) {
                inbox::Taken::Item(Message::Block { origin, rows }) => self.push(origin, rows),
                inbox::Taken::Item(Message::Judged { point, first, samples, event }) => {
                    self.judged(point, Judged { first, samples, event: *event });
                }
                inbox::Taken::Item(Message::Demand { bearing }) => self.demanded(&bearing),
                inbox::Taken::Nothing => {}
                inbox::Taken::Closed => break,
            }
            self.finish_due();
            if self.figures_at.elapsed() >= FIGURES {
                self.tell_figures();
            }
        }
        for at in 0..self.points.len() {
            self.finish(at);
        }
    }

    fn push(&mut self, origin: Origin, rows: Vec<(usize, Vec<f64>)>) {
        for (at, samples) in rows {
            if let Some(state) = self.points.get_mut(at) {
                state.ring.push(&samples, origin);
            }
        }
    }

    fn judged(&mut self, at: usize, judged: Judged) {
        let reference_s = self.settings.reference_s;
        let Some(state) = self.points.get(at) else { return };
        // the program may have ended between the alarm and its capture
        let is_owed = state.watch.is_alarmed().is_none()
            && judged.event.anomaly_detected
            && self.standing_of(state).is_empty();
        let Some(state) = self.points.get_mut(at) else { return };
        let mut reasons = state.watch.reasons(&judged.event, reference_s);
        let before = (self.settings.before_s * state.point.rate_hz).round() as u64;
        if judged.event.anomaly_detected {
            state.alarm_end = judged.first + judged.samples;
        } else if judged.first.saturating_sub(before) < state.alarm_end {
            // what came before it is still of the alarm
            reasons.retain(|reason| *reason != CaptureReason::Reference);
        }
        if is_owed {
            reasons.push(CaptureReason::Alarm);
        }
        if !reasons.is_empty() {
            self.triggered(at, &reasons, Some(&judged));
        }
        if let Some(state) = self.points.get_mut(at) {
            state.newest = Some(judged);
        }
    }

    fn demanded(&mut self, bearing: &str) {
        for at in 0..self.points.len() {
            if self.points[at].point.bearing() == bearing {
                let newest = self.points[at].newest.clone();
                self.triggered(at, &[CaptureReason::Demand], newest.as_ref());
            }
        }
    }

    fn triggered(&mut self, at: usize, reasons: &[CaptureReason], judged: Option<&Judged>) {
        let triggers: Vec<CaptureTrigger> = reasons
            .iter()
            .map(|&reason| CaptureTrigger {
                reason,
                at: judged.map_or_else(|| self.clock.now(), |judged| judged.event.measured_at),
                event_id: judged.map(|judged| judged.event.event_id),
            })
            .collect();
        let is_demand = reasons == [CaptureReason::Demand];
        let wanted = self.wanted(at, judged, is_demand);
        let length = self.settings.before_s + self.settings.after_s;
        let state = &mut self.points[at];
        let window = judged.map_or(0, |judged| judged.samples);
        let most = ((2.0 * length * state.point.rate_hz) as u64).saturating_add(2 * window);
        if let Some(pending) = &mut state.pending
            && wanted.anchor < pending.wanted.to
        {
            pending.join(triggers, wanted, judged, most);
            return;
        }
        self.finish(at);
        let first_class = reasons
            .iter()
            .find(|reason| matches!(reason, CaptureReason::Alarm | CaptureReason::Demand));
        let Some(&reason) = first_class.or(reasons.first()) else { return };
        let state = &mut self.points[at];
        if !state.hour.take(self.settings.per_hour, reason, Instant::now()) {
            self.refuse(at, reason, Refused::Storm);
            return;
        }
        let wait = Duration::from_secs_f64(2.0 * self.settings.after_s) + BEHIND;
        state.pending = Some(Pending {
            triggers,
            wanted,
            is_in_alarm: state.watch.is_alarmed() == Some(true),
            judged: judged.cloned(),
            until: Instant::now() + wait,
        });
        self.finish_due();
    }

    /// The stretch around a window; of a demand around the newest sample.
    fn wanted(&self, at: usize, judged: Option<&Judged>, is_demand: bool) -> Wanted {
        let state = &self.points[at];
        let samples = |seconds: f64| (seconds * state.point.rate_hz).round() as u64;
        let (before, after) = (samples(self.settings.before_s), samples(self.settings.after_s));
        let end = state.ring.end();
        let around = |first: u64, last: u64, anchor: u64| Wanted {
            from: first.saturating_sub(before),
            to: last.saturating_add(after),
            anchor,
        };
        match judged {
            Some(judged) if !is_demand => {
                around(judged.first, judged.first + judged.samples, judged.first)
            }
            Some(judged) if judged.first >= end.saturating_sub(before) => {
                around(end, end, judged.first)
            }
            // the anchor is among what is wanted, also where nothing before it is
            Some(_) | None => around(end.saturating_sub(1), end, end.saturating_sub(1)),
        }
    }

    /// Writes what has all its samples, or has waited long enough for them.
    fn finish_due(&mut self) {
        for at in 0..self.points.len() {
            let state = &self.points[at];
            let is_due = state.pending.as_ref().is_some_and(|pending| {
                state.ring.end() >= pending.wanted.to || Instant::now() >= pending.until
            });
            if is_due {
                self.finish(at);
            }
        }
    }

    fn finish(&mut self, at: usize) {
        let Some(pending) = self.points[at].pending.take() else { return };
        let reason = pending.triggers.first().map_or(CaptureReason::Demand, |t| t.reason);
        let state = &self.points[at];
        let Some(waveform) = state.ring.taken(pending.wanted) else {
            self.refuse(at, reason, Refused::Gone);
            return;
        };
        let taken = Taken {
            triggers: pending.triggers,
            is_in_alarm: pending.is_in_alarm,
            judged: pending.judged.as_ref(),
            waveform: &waveform,
        };
        let document = document::document_of(&self.names, &state.point, taken, self.clock.now());
        let standing = self.standing();
        let Some(folder) = &mut self.folder else {
            self.refuse(at, reason, Refused::Disk);
            return;
        };
        match folder.save(document, &waveform.accel_m_s2, &standing) {
            Ok(stored) => {
                log::capture_kept(&stored);
                self.written.notify_one();
                let state = &mut self.points[at];
                state.hour.is_told = false;
                if let Some(reference) = stored
                    .document
                    .triggers
                    .iter()
                    .find(|trigger| trigger.reason == CaptureReason::Reference)
                {
                    state.watch.referenced(reference.at);
                }
                self.remarks.withdraw(&state.point.told(), MATTER);
            }
            Err(error) => {
                log::not_written(&self.points[at].point.bearing(), &error);
                self.refuse(at, reason, Refused::Disk);
            }
        }
    }

    fn refuse(&mut self, at: usize, reason: CaptureReason, why: Refused) {
        let per_hour = self.settings.per_hour;
        let state = &mut self.points[at];
        let bearing = state.point.bearing();
        log::refused(&bearing, reason, why, !state.hour.is_told);
        state.hour.is_told = true;
        let text = match why {
            Refused::Storm => format!(
                "triggers of {bearing} make no waveform until the hour is over: it had {per_hour} captures"
            ),
            Refused::Gone => {
                format!("a waveform of {bearing} had left the memory before it could be written")
            }
            Refused::Disk => {
                format!("waveforms of {bearing} cannot be written; the log tells why, events go on")
            }
        };
        self.remarks.set(&state.point.told(), MATTER, text);
    }

    /// The captures of every point's alarm that stands, or that nothing is known of yet.
    fn standing(&self) -> Standing {
        let alarmed = self.points.iter().filter(|state| state.watch.is_alarmed() != Some(false));
        Standing(alarmed.flat_map(|state| self.standing_of(state)).collect())
    }

    /// The newest captures of a point that were made in an alarm, up to one that was not.
    fn standing_of(&self, state: &PointState) -> Vec<EventId> {
        let Some(folder) = &self.folder else { return Vec::new() };
        let of_point = folder.captures().iter().rev();
        let of_point = of_point.filter(|capture| state.point.is_of(&capture.document));
        let in_alarm = of_point.take_while(|capture| capture.document.is_in_alarm);
        in_alarm.map(|capture| capture.document.capture_id).collect()
    }

    fn tell_figures(&mut self) {
        self.figures_at = Instant::now();
        let bytes = self.points.iter().map(|state| state.ring.bytes()).sum();
        let lengths = self.points.iter().map(|state| state.ring.length_s());
        let shortest_s = lengths.reduce(f64::min).unwrap_or(0.0);
        log::ring(bytes, shortest_s);
    }
}

impl Pending {
    /// Takes over triggers of the same stretch. A reference is one of a sound state alone.
    fn join(
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
        for trigger in triggers.into_iter().filter(|trigger| !is_reference(trigger)) {
            let is_new = self.triggers.iter().all(|known| known.reason != trigger.reason);
            if is_new && self.triggers.len() < MAX_TRIGGERS {
                self.triggers.push(trigger);
            }
        }
        self.wanted.from = self.wanted.from.min(wanted.from);
        let longest = self.wanted.from.saturating_add(most);
        self.wanted.to = self.wanted.to.max(wanted.to.min(longest));
    }
}

fn last_reference(folder: &Folder, point: &CapturePoint) -> Option<pdm_shared::time::Timestamp> {
    let of_point = folder.captures().iter().rev();
    let mut of_point = of_point.filter(|capture| point.is_of(&capture.document));
    let newest = of_point.find(|capture| capture.document.is_for(CaptureReason::Reference))?;
    let mut triggers = newest.document.triggers.iter();
    triggers.find(|trigger| trigger.reason == CaptureReason::Reference).map(|trigger| trigger.at)
}
