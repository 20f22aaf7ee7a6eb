//! The thread that keeps the rings and writes captures.
//!
//! One for all sources. Whatever goes wrong here (a full disk, a folder that is gone, a storm of
//! triggers) is told and ends nothing: events do not depend on captures. Two triggers in one
//! stretch are one capture.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pdm_service::clock::SharedClock;
use pdm_shared::capture::{CaptureReason, CaptureTrigger};
use pdm_shared::event::Event;
use pdm_shared::id::{GatewayId, SiteId};
use tokio::sync::Notify;

use super::chunk::Origin;
use super::document::{self, Taken};
use super::folder::{Folder, StoredCapture};
use super::inbox::{self, Inbox};
use super::log::{self, Refused};
use super::pending::Pending;
use super::ring::{Ring, Wanted};
use super::standing::{self, Standing};
use super::tap::{AskedBy, DemandAnswer, Demanded};
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
/// Time after which a disk that took no capture is tried again. Chosen: a person makes room in
/// minutes, and a flash that is full is not written in vain more than once a minute for a point.
const DISK_PAUSE: Duration = Duration::from_mins(1);

/// A message of the measuring threads or of the listener.
#[derive(Debug)]
pub(super) enum Message {
    /// Samples of a block, one row for each point: its number, m/s².
    Block { origin: Origin, rows: Vec<(usize, Vec<f64>)> },
    /// A window was judged.
    Judged { point: usize, first: u64, samples: u64, event: Box<Event> },
    /// Somebody asks for a capture of a bearing.
    Demand { bearing: String, asked: AskedBy, answer: DemandAnswer },
}

/// A window that was judged.
#[derive(Debug, Clone)]
pub(super) struct Judged {
    pub(super) first: u64,
    pub(super) samples: u64,
    pub(super) event: Event,
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
    /// The alarm that stands has no capture of its rise: that was refused, or not written.
    is_rise_owed: bool,
    /// The disk took no capture; it is not tried again before.
    disk_from: Option<Instant>,
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
    /// Messages that came while the last file was written, and are taken in before the next one is.
    behind: usize,
    /// Time after a disk took no capture until the point's next one is tried.
    disk_pause: Duration,
    /// Rung when a capture was written.
    ring: Arc<Notify>,
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
            let captures = folder.as_ref().map_or(&[][..], Folder::captures);
            let last = standing::last_reference(captures, &point);
            PointState {
                ring: Ring::new(budget),
                watch: Watch::new(last),
                hour: HourBudget::default(),
                pending: None,
                newest: None,
                alarm_end: 0,
                is_rise_owed: false,
                disk_from: None,
                point,
            }
        });
        let points = states.collect();
        let figures_at = Instant::now();
        let (behind, disk_pause, ring) = (0, DISK_PAUSE, Arc::default());
        Self {
            settings,
            names,
            clock,
            remarks,
            folder,
            points,
            figures_at,
            behind,
            disk_pause,
            ring,
        }
    }

    /// Returns the same recorder, which rings when a capture was written.
    #[must_use]
    pub(super) fn ringing(self, ring: Arc<Notify>) -> Self {
        Self { ring, ..self }
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
        while self.step(&inbox) {
            if self.figures_at.elapsed() >= FIGURES {
                self.tell_figures();
            }
        }
        for at in 0..self.points.len() {
            self.finish(at);
        }
    }

    /// Takes in one message and writes at most one capture; returns false once the inbox is closed
    /// and empty. Messages that came while a file was written are taken in before the next file is,
    /// so that the captures of many points at once lose no samples.
    fn step(&mut self, inbox: &Inbox<Message>) -> bool {
        self.behind = self.behind.saturating_sub(1);
        match inbox.pop(LOOK) {
            inbox::Taken::Item(Message::Block { origin, rows }) => self.push(origin, rows),
            inbox::Taken::Item(Message::Judged { point, first, samples, event }) => {
                self.judged(point, Judged { first, samples, event: *event });
            }
            inbox::Taken::Item(Message::Demand { bearing, asked, answer }) => {
                answer.answer_demand(self.demanded(&bearing, asked));
            }
            inbox::Taken::Nothing => self.behind = 0,
            inbox::Taken::Closed => return false,
        }
        if self.behind == 0 && self.finish_one_due() {
            self.behind = inbox.waiting();
        }
        true
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
        let is_alarmed = judged.event.anomaly_detected;
        // the program may have ended between the alarm and its capture
        let is_left = state.watch.is_alarmed().is_none()
            && is_alarmed
            && !standing::has_rise(self.captures(), &state.point);
        let is_owed = is_left || (is_alarmed && self.is_owed_and_has_room(at));
        let Some(state) = self.points.get_mut(at) else { return };
        let mut reasons = state.watch.reasons(&judged.event, reference_s);
        let before = (self.settings.before_s * state.point.rate_hz).round() as u64;
        if is_alarmed {
            state.alarm_end = judged.first + judged.samples;
        } else if judged.first.saturating_sub(before) < state.alarm_end {
            // what came before it is still of the alarm
            reasons.retain(|reason| *reason != CaptureReason::Reference);
        }
        if is_owed && !reasons.contains(&CaptureReason::Alarm) {
            reasons.push(CaptureReason::Alarm);
        }
        // owed until it is written, as long as the alarm stands
        state.is_rise_owed &= is_alarmed;
        state.is_rise_owed |= reasons.contains(&CaptureReason::Alarm);
        if !reasons.is_empty() {
            // what is refused is told, and an alarm stays owed
            let _told = self.triggered(at, reasons, Some(&judged), AskedBy::default());
        }
        if let Some(state) = self.points.get_mut(at) {
            state.newest = Some(judged);
        }
    }

    /// Whether the standing alarm of a point has no capture of its own, and there is room for one
    /// now.
    fn is_owed_and_has_room(&mut self, at: usize) -> bool {
        let (most, now) = (self.settings.per_hour, Instant::now());
        let Some(state) = self.points.get_mut(at) else { return false };
        state.is_rise_owed
            && self.folder.is_some()
            && state.pending.as_ref().is_none_or(|pending| !pending.is_for(CaptureReason::Alarm))
            && state.disk_from.is_none_or(|from| now >= from)
            && state.hour.free_in(most, CaptureReason::Alarm, now).is_zero()
    }

    /// Asks for a capture of each point of a bearing; returns the outcome.
    fn demanded(&mut self, bearing: &str, asked: AskedBy) -> Demanded {
        let mut refused = None;
        let mut is_taken = false;
        for at in 0..self.points.len() {
            if self.points[at].point.bearing() != bearing {
                continue;
            }
            let newest = self.points[at].newest.clone();
            match self.triggered(at, vec![CaptureReason::Demand], newest.as_ref(), asked) {
                Ok(()) => is_taken = true,
                Err(Refused::Storm) => {
                    let (most, now) = (self.settings.per_hour, Instant::now());
                    let wait = self.points[at].hour.free_in(most, CaptureReason::Demand, now);
                    refused = Some(Demanded::Used { most, wait });
                }
                Err(Refused::Disk | Refused::Gone) => refused = Some(Demanded::NoDisk),
            }
        }
        if is_taken { Demanded::Taken } else { refused.unwrap_or(Demanded::Busy) }
    }

    fn triggered(
        &mut self,
        at: usize,
        mut reasons: Vec<CaptureReason>,
        judged: Option<&Judged>,
        asked: AskedBy,
    ) -> Result<(), Refused> {
        let now = Instant::now();
        let state = &self.points[at];
        let is_disk_off = state.disk_from.is_some_and(|from| now < from);
        if state.pending.is_some() || is_disk_off {
            // it stays due until it is written
            reasons.retain(|reason| *reason != CaptureReason::Reference);
        }
        let Some(&first) = reasons.first() else { return Ok(()) };
        let triggers = self.triggers(&reasons, judged, asked);
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
            return Ok(());
        }
        self.finish(at);
        let is_alarm = reasons.contains(&CaptureReason::Alarm);
        let reason = if is_alarm { CaptureReason::Alarm } else { first };
        let state = &mut self.points[at];
        if state.disk_from.is_some_and(|from| now < from) || self.folder.is_none() {
            return Err(self.refuse(at, reason, Refused::Disk));
        }
        if !state.hour.take(self.settings.per_hour, reason, now) {
            return Err(self.refuse(at, reason, Refused::Storm));
        }
        let wait = Duration::from_secs_f64(2.0 * self.settings.after_s) + BEHIND;
        state.pending = Some(Pending {
            triggers,
            wanted,
            is_in_alarm: state.watch.is_alarmed() == Some(true),
            judged: judged.cloned(),
            taken_at: now,
            until: now + wait,
        });
        Ok(())
    }

    fn triggers(
        &self,
        reasons: &[CaptureReason],
        judged: Option<&Judged>,
        AskedBy { asked_at, demand_id }: AskedBy,
    ) -> Vec<CaptureTrigger> {
        let at = judged.map_or_else(|| self.clock.now(), |judged| judged.event.measured_at);
        let event_id = judged.map(|judged| judged.event.event_id);
        let of =
            |&reason: &CaptureReason| CaptureTrigger { reason, at, event_id, asked_at, demand_id };
        reasons.iter().map(of).collect()
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

    /// Writes one capture that has all its samples, or has waited long enough for them; false if
    /// none is due.
    fn finish_one_due(&mut self) -> bool {
        let is_due = |state: &PointState| {
            state.pending.as_ref().is_some_and(|pending| {
                state.ring.end() >= pending.wanted.to || Instant::now() >= pending.until
            })
        };
        let Some(at) = self.points.iter().position(is_due) else { return false };
        self.finish(at);
        true
    }

    fn finish(&mut self, at: usize) {
        let Some(pending) = self.points[at].pending.take() else { return };
        let (reason, taken_at) = (pending.reason(), pending.taken_at);
        match self.written(at, pending) {
            Ok(stored) => self.kept(at, &stored),
            Err(why) => {
                let state = &mut self.points[at];
                state.hour.give_back(taken_at);
                if why == Refused::Disk {
                    state.disk_from = Some(Instant::now() + self.disk_pause);
                }
                let _told = self.refuse(at, reason, why);
            }
        }
    }

    fn written(&mut self, at: usize, pending: Pending) -> Result<StoredCapture, Refused> {
        let standing = self.standing();
        let state = &self.points[at];
        let waveform = state.ring.taken(pending.wanted).ok_or(Refused::Gone)?;
        let taken = Taken {
            triggers: pending.triggers,
            is_in_alarm: pending.is_in_alarm,
            judged: pending.judged.as_ref(),
            waveform: &waveform,
        };
        let document = document::document_of(&self.names, &state.point, taken, self.clock.now());
        let folder = self.folder.as_mut().ok_or(Refused::Disk)?;
        folder.save(document, &waveform.accel_m_s2, &standing).map_err(|error| {
            log::not_written(&state.point.bearing(), &error);
            Refused::Disk
        })
    }

    fn kept(&mut self, at: usize, stored: &StoredCapture) {
        log::capture_kept(stored);
        self.ring.notify_one();
        let state = &mut self.points[at];
        state.hour.is_told = false;
        state.disk_from = None;
        state.is_rise_owed &= !stored.document.is_for(CaptureReason::Alarm);
        let mut triggers = stored.document.triggers.iter();
        if let Some(reference) = triggers.find(|one| one.reason == CaptureReason::Reference) {
            state.watch.referenced(reference.at);
        }
        self.remarks.withdraw(&state.point.told(), MATTER);
    }

    /// Tells that a trigger made no capture; returns why.
    fn refuse(&mut self, at: usize, reason: CaptureReason, why: Refused) -> Refused {
        let per_hour = self.settings.per_hour;
        let state = &mut self.points[at];
        let bearing = state.point.bearing();
        log::refused(&bearing, reason, why, !state.hour.is_told);
        state.hour.is_told = true;
        let text = match why {
            Refused::Storm => format!(
                "triggers of {bearing} make no waveform until the hour is over: its captures are \
                 used up (per_hour = {per_hour}, the last of which is for an alarm)"
            ),
            Refused::Gone => {
                format!("a waveform of {bearing} had left the memory before it could be written")
            }
            Refused::Disk => {
                format!("waveforms of {bearing} cannot be written; the log tells why, events go on")
            }
        };
        self.remarks.set(&state.point.told(), MATTER, text);
        why
    }

    /// The captures of every point's alarm that stands, or that nothing is known of yet.
    fn standing(&self) -> Standing {
        let alarmed = self.points.iter().filter(|state| state.watch.is_alarmed() != Some(false));
        Standing::of_alarms(self.captures(), alarmed.map(|state| &state.point))
    }

    fn captures(&self) -> &[StoredCapture] {
        self.folder.as_ref().map_or(&[], Folder::captures)
    }

    fn tell_figures(&mut self) {
        self.figures_at = Instant::now();
        let bytes = self.points.iter().map(|state| state.ring.bytes()).sum();
        let lengths = self.points.iter().map(|state| state.ring.length_s());
        let shortest_s = lengths.reduce(f64::min).unwrap_or(0.0);
        log::ring(bytes, shortest_s);
    }
}

#[cfg(test)]
mod tests;
