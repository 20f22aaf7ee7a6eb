//! Decides which of a point's events make a capture.
//!
//! | reason | when |
//! |---|---|
//! | alarm | the anomaly was raised with this window |
//! | stage | the evaluation zone is C or D and higher than any since the last sound state |
//! | name | a thorough look names a fault, or another one than before |
//! | no name | the first thorough look of an anomaly that names none |
//! | reference | sound, baseline ready, the last reference is older than configured |
//!
//! Invariants: each reason makes one capture for the same state, so an alarm that stands for days
//! is one capture; a start in the middle of an alarm is no rise.

use std::time::{Duration, Instant};

use pdm_shared::capture::CaptureReason;
use pdm_shared::event::{BaselineState, Event, IsoZone, Method};
use pdm_shared::fault::Fault;
use pdm_shared::time::Timestamp;

/// The state of one point by its events so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Watch {
    is_alarmed: Option<bool>,
    highest_zone: Option<IsoZone>,
    named: Option<Fault>,
    is_unnamed_told: bool,
    last_reference: Option<Timestamp>,
}

impl Watch {
    /// A point whose newest reference is of this time, and that has a capture of a standing alarm
    /// or not.
    pub(super) const fn new(last_reference: Option<Timestamp>) -> Self {
        Self {
            is_alarmed: None,
            highest_zone: None,
            named: None,
            is_unnamed_told: false,
            last_reference,
        }
    }

    /// Whether the point's alarm stands; `None` before its first event.
    pub(super) const fn is_alarmed(&self) -> Option<bool> {
        self.is_alarmed
    }

    /// A reference was captured.
    pub(super) const fn referenced(&mut self, at: Timestamp) {
        self.last_reference = Some(at);
    }

    /// The reasons that an event gives; `reference_s`: seconds from one reference to the next, 0
    /// for none.
    pub(super) fn reasons(&mut self, event: &Event, reference_s: f64) -> Vec<CaptureReason> {
        let mut reasons = Vec::new();
        let is_alarmed = event.anomaly_detected;
        let was_alarmed = self.is_alarmed.replace(is_alarmed);
        if is_alarmed && was_alarmed == Some(false) {
            reasons.push(CaptureReason::Alarm);
        }
        if !is_alarmed && was_alarmed == Some(true) {
            (self.named, self.is_unnamed_told) = (None, false);
        }
        if event.signal_quality.valid && event.operating.running {
            self.judged(event, &mut reasons);
        }
        if self.is_reference_due(event, reference_s) {
            reasons.push(CaptureReason::Reference);
        }
        reasons
    }

    fn judged(&mut self, event: &Event, reasons: &mut Vec<CaptureReason>) {
        if let Some(zone) = event.time_domain.iso_zone {
            let is_higher = self.highest_zone.is_some_and(|highest| zone > highest);
            if is_higher && zone >= IsoZone::C {
                reasons.push(CaptureReason::Stage);
            }
            let is_sound = !event.anomaly_detected && zone < IsoZone::C;
            if is_sound || self.highest_zone.is_none_or(|highest| zone > highest) {
                self.highest_zone = Some(zone);
            }
        }
        if event.frequency_domain.method != Method::Thorough {
            return;
        }
        match event.frequency_domain.dominant_fault {
            Some(fault) if self.named != Some(fault) => {
                self.named = Some(fault);
                reasons.push(CaptureReason::Name);
            }
            None if event.anomaly_detected && !self.is_unnamed_told => {
                self.is_unnamed_told = true;
                reasons.push(CaptureReason::NoName);
            }
            Some(_) | None => {}
        }
    }

    fn is_reference_due(&self, event: &Event, reference_s: f64) -> bool {
        let is_sound = !event.anomaly_detected
            && event.signal_quality.valid
            && event.operating.running
            && event.time_domain.iso_zone.is_none_or(|zone| zone < IsoZone::C)
            && event.frequency_domain.dominant_fault.is_none()
            && event.anomaly.baseline.state == BaselineState::Ready;
        // a reference of the future is of a clock that was set back since
        let is_old = self.last_reference.is_none_or(|last| {
            !(0.0..reference_s).contains(&event.measured_at.seconds_since(last))
        });
        reference_s > 0.0 && is_sound && is_old
    }
}

/// Captures of a point in the hour, bounded, with a share for what matters most.
#[derive(Debug, Default)]
pub(super) struct HourBudget {
    taken: Vec<Instant>,
    /// A refusal was told since the last capture.
    pub(super) is_told: bool,
}

const HOUR: Duration = Duration::from_hours(1);

impl HourBudget {
    /// Takes one capture of `most` in an hour of running, which no clock can set back.
    pub(super) fn take(&mut self, most: usize, reason: CaptureReason, now: Instant) -> bool {
        let has_room = self.free_in(most, reason, now).is_zero();
        if has_room {
            self.taken.push(now);
        }
        has_room
    }

    /// Returns the time until a capture for this reason has a place; zero if it has one now.
    pub(super) fn free_in(&mut self, most: usize, reason: CaptureReason, now: Instant) -> Duration {
        self.taken.retain(|&at| now.saturating_duration_since(at) < HOUR);
        let over = (self.taken.len() + 1).saturating_sub(places(most, reason));
        let leaving = over.checked_sub(1).and_then(|last| self.taken.get(last));
        leaving.map_or(Duration::ZERO, |&at| HOUR.saturating_sub(now.saturating_duration_since(at)))
    }

    /// Gives back the place that was taken at this instant: it became no capture.
    pub(super) fn give_back(&mut self, taken_at: Instant) {
        if let Some(at) = self.taken.iter().position(|&at| at == taken_at) {
            self.taken.remove(at);
        }
    }
}

/// The places of an hour that captures for this reason may fill. The last one is for an alarm
/// alone, which no person and no program that asks can use up; the one before also for a demand, so
/// that zones and names that come and go leave it one. Of a single place all have that.
fn places(most: usize, reason: CaptureReason) -> usize {
    let kept = match reason {
        CaptureReason::Alarm => 0,
        CaptureReason::Demand => 1,
        CaptureReason::Stage
        | CaptureReason::Name
        | CaptureReason::NoName
        | CaptureReason::Reference => 2,
    };
    most.saturating_sub(kept).max(1)
}

#[cfg(test)]
mod tests {
    use pdm_shared::event::SignalQuality;

    use super::*;

    fn event() -> Event {
        let text = include_str!("../../../config/examples/event-healthy.json");
        let mut event: Event = serde_json::from_str(text).expect("the example");
        event.time_domain.iso_zone = Some(IsoZone::A);
        event.frequency_domain.method = Method::Fast;
        event.anomaly.baseline.state = BaselineState::Ready;
        event
    }

    fn alarmed(method: Method, fault: Option<Fault>) -> Event {
        let mut event = event();
        event.anomaly_detected = true;
        event.frequency_domain.method = method;
        event.frequency_domain.dominant_fault = fault;
        event
    }

    #[test]
    fn an_alarm_that_stands_is_told_once_and_a_start_in_it_is_no_rise() {
        let mut watch = Watch::new(None);
        assert_eq!(watch.reasons(&alarmed(Method::Fast, None), 0.0), []);
        assert_eq!(watch.reasons(&event(), 0.0), []);
        let rise = alarmed(Method::Thorough, None);
        assert_eq!(watch.reasons(&rise, 0.0), [CaptureReason::Alarm, CaptureReason::NoName]);
        for _ in 0..5 {
            assert_eq!(watch.reasons(&rise, 0.0), []);
        }
        let named = alarmed(Method::Thorough, Some(Fault::OuterRace));
        assert_eq!(watch.reasons(&named, 0.0), [CaptureReason::Name]);
        assert_eq!(watch.reasons(&named, 0.0), []);
        let other = alarmed(Method::Thorough, Some(Fault::Ball));
        assert_eq!(watch.reasons(&other, 0.0), [CaptureReason::Name]);
    }

    #[test]
    fn a_zone_is_told_when_it_is_higher_than_since_the_sound_state() {
        use IsoZone::{A, B, C, D};
        let mut watch = Watch::new(None);
        let mut told = |zone| {
            let mut event = event();
            event.time_domain.iso_zone = Some(zone);
            watch.reasons(&event, 0.0).len()
        };
        let zones = [A, B, C, C, D, C, D, B, C];
        assert_eq!(zones.map(&mut told), [0, 0, 1, 0, 1, 0, 0, 0, 1]);
    }

    #[test]
    fn a_reference_is_due_once_in_its_time_and_never_of_what_is_not_sound() {
        let day = 86_400.0;
        let mut watch = Watch::new(None);
        let sound = event();
        assert_eq!(watch.reasons(&sound, day), [CaptureReason::Reference]);
        watch.referenced(sound.measured_at);
        let mut later = sound.clone();
        later.measured_at = sound.measured_at.plus_seconds(day - 1.0);
        assert_eq!(watch.reasons(&later, day), []);
        later.measured_at = sound.measured_at.plus_seconds(day);
        assert_eq!(watch.reasons(&later, day), [CaptureReason::Reference]);
        // a clock that was set back does not put it off until then
        later.measured_at = sound.measured_at.plus_seconds(-7.0 * day);
        assert_eq!(watch.reasons(&later, day), [CaptureReason::Reference]);
        assert_eq!(watch.reasons(&later, 0.0), [], "none is configured");
        later.signal_quality = SignalQuality { valid: false, flags: Vec::new() };
        assert_eq!(watch.reasons(&later, day), []);
        let mut learning = sound.clone();
        learning.anomaly.baseline.state = BaselineState::Learning;
        assert_eq!(Watch::new(None).reasons(&learning, day), []);
    }

    #[test]
    fn a_storm_is_bounded_and_leaves_one_for_an_alarm() {
        let mut hour = HourBudget::default();
        let now = Instant::now();
        let taken =
            |hour: &mut HourBudget, reason| (0..1000).filter(|_| hour.take(6, reason, now)).count();
        assert_eq!(taken(&mut hour, CaptureReason::Name), 4);
        assert_eq!(taken(&mut hour, CaptureReason::Demand), 1, "one for a person");
        assert_eq!(taken(&mut hour, CaptureReason::Alarm), 1, "and one that nobody can use up");
        assert!(hour.take(6, CaptureReason::Name, now + HOUR));
        // demands alone leave it, too
        let mut hour = HourBudget::default();
        assert_eq!(taken(&mut hour, CaptureReason::Demand), 5);
        assert_eq!(taken(&mut hour, CaptureReason::Alarm), 1);
    }

    #[test]
    fn a_place_is_given_back_and_the_wait_for_one_is_known() {
        let mut hour = HourBudget::default();
        let begun = Instant::now();
        let at = |minutes| begun + Duration::from_mins(minutes);
        for minutes in 0..5 {
            assert!(hour.take(6, CaptureReason::Demand, at(minutes)));
        }
        assert_eq!(hour.free_in(6, CaptureReason::Demand, at(10)), Duration::from_mins(50));
        assert_eq!(hour.free_in(6, CaptureReason::Name, at(10)), Duration::from_mins(51));
        assert_eq!(hour.free_in(6, CaptureReason::Alarm, at(10)), Duration::ZERO);
        hour.give_back(at(3));
        assert_eq!(hour.free_in(6, CaptureReason::Demand, at(10)), Duration::ZERO);
        // of a single place each reason has that
        for reason in CaptureReason::ALL {
            assert!(HourBudget::default().take(1, reason, begun), "{reason:?}");
        }
    }
}
