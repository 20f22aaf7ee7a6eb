//! The shaft speed that a point learns beside its baseline, by operating state.
//!
//! The stated speed of a machine is often a synchronous one, and its shaft turns up to 5 % slower.
//! While the baseline is learnt, the combs of shaft lines of its windows are averaged
//! ([`SpeedMean`]). Where another speed than the stated one stands in the mean, it takes the place
//! of the stated one in that state: looks search around it, and windows without an estimate of
//! their own are measured with it. Invariants: a speed is learnt once and told once; it holds for
//! the stated speed that it was learnt against, so a configuration that was put right is not
//! corrected again; a tachometer's speed is never replaced.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pdm_dsp::diagnose::Request;
use pdm_dsp::diagnose::speed::SpeedMean;
use pdm_shared::event::SpeedSource;
use pdm_shared::time::Timestamp;
use pdm_shared::units::Rpm;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::super::log;
use super::Point;
use super::pasts::{MOST_STATES, Stage};
use crate::condition::Judgement;

/// Windows after which the mean is asked for the first time; then after twice as many, and so on
/// until the baseline is complete. Ten windows are the shortest baseline.
const FIRST_ASKED: u32 = 10;

/// The speeds of a point by operating state.
pub(super) type StateSpeeds = BTreeMap<String, StateSpeed>;

/// The speed of one state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct StateSpeed {
    /// The configured speed at that time, rpm, and what stated the speeds that the ratio is of.
    configured_rpm: f64,
    stated_by: SpeedSource,
    course: SpeedCourse,
}

/// How far the learning of a speed is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SpeedCourse {
    Learning(#[serde(serialize_with = "as_text", deserialize_with = "from_text")] SpeedMean),
    /// The true speed as a multiple of the stated one; `None` where nothing speaks against the
    /// stated one.
    Known(Option<f64>),
}

/// The speeds of one window.
pub(super) struct WindowSpeed {
    /// The speed that it is measured with.
    pub(super) speed: (Rpm, SpeedSource),
    /// Its operating state.
    pub(super) state: String,
    /// The speed by tachometer, tag or configuration.
    pub(super) stated: (Rpm, SpeedSource),
    /// The speed that was learnt in place of the stated one.
    pub(super) learnt: Option<Rpm>,
}

impl Point {
    /// The speeds of a window: a tachometer's, else a tag's, else the last look's estimate or the
    /// configured one; what was learnt takes the place of the last two, but of no estimate.
    pub(super) fn window_speed(
        &self,
        tachometer: Option<Rpm>,
        tag: Option<Rpm>,
        at: Timestamp,
    ) -> WindowSpeed {
        let configured = (self.settings.speed, SpeedSource::Configured);
        let (speed, stated) = match (tachometer, tag) {
            (Some(speed), _) => {
                ((speed, SpeedSource::Tachometer), (speed, SpeedSource::Tachometer))
            }
            (None, Some(speed)) => ((speed, SpeedSource::Tag), (speed, SpeedSource::Tag)),
            (None, None) => (self.speed(at), configured),
        };
        let state = self.state(speed.0);
        let learnt = self.learnt_speed(&state, stated);
        let speed = match learnt.filter(|_| speed.1 != SpeedSource::Estimated) {
            Some(learnt) => (learnt, SpeedSource::Estimated),
            None => speed,
        };
        WindowSpeed { speed, state, stated, learnt }
    }

    /// Returns how far the true speed may be off a stated one, as a ratio.
    pub(super) fn tolerance_of(&self, stated_by: SpeedSource) -> f64 {
        if stated_by == SpeedSource::Tachometer { 0.0 } else { self.settings.speed_tolerance }
    }

    /// The speed that takes the place of the stated one in a state, if another was learnt.
    pub(super) fn learnt_speed(
        &self,
        state: &str,
        (stated, stated_by): (Rpm, SpeedSource),
    ) -> Option<Rpm> {
        let known = self.memory.speeds.get(state).filter(|known| self.holds(known, stated_by))?;
        match known.course {
            SpeedCourse::Known(Some(ratio)) => Rpm::new(stated.get() * ratio).ok(),
            SpeedCourse::Known(None) | SpeedCourse::Learning(_) => None,
        }
    }

    /// Takes a window of the time in which the baseline is learnt; tells a speed that is learnt by
    /// it.
    pub(super) fn learn_speed(
        &mut self,
        accel_m_s2: &[f64],
        state: &str,
        (stated, stated_by): (Rpm, SpeedSource),
        judgement: &Judgement,
    ) {
        let tolerance = self.tolerance_of(stated_by);
        if tolerance <= 0.0 || Stage::of(judgement) != Stage::Learning {
            return;
        }
        let request = self.request(stated, tolerance);
        let is_new = !self.memory.speeds.contains_key(state);
        if is_new && self.memory.speeds.len() >= MOST_STATES {
            return;
        }
        let mut known = self
            .memory
            .speeds
            .remove(state)
            .filter(|known| self.holds(known, stated_by))
            .unwrap_or_else(|| self.unknown(stated_by));
        if let SpeedCourse::Learning(mean) = &mut known.course {
            mean.take(accel_m_s2, &request);
            if let Some(course) = next_course(mean, &request, judgement.baseline_completed) {
                if let SpeedCourse::Known(Some(ratio)) = course {
                    self.take_speed(state, (stated, ratio), mean.windows());
                }
                known.course = course;
            }
        }
        self.memory.speeds.insert(state.to_owned(), known);
    }

    /// A speed was learnt: what was seen at the stated one is looked at anew.
    fn take_speed(&mut self, state: &str, (stated, ratio): (Rpm, f64), windows: u32) {
        let names = format!("{}/{}", self.place.equipment, self.place.bearing);
        log::speed_learnt((&names, state), (stated.get(), stated.get() * ratio), windows);
        self.pasts.forget_looks(state);
        self.memory.owed = true;
    }

    fn unknown(&self, stated_by: SpeedSource) -> StateSpeed {
        let configured_rpm = self.settings.speed.get();
        StateSpeed {
            configured_rpm,
            stated_by,
            course: SpeedCourse::Learning(SpeedMean::default()),
        }
    }

    /// Whether it was learnt against the source that states the speed now.
    fn holds(&self, known: &StateSpeed, stated_by: SpeedSource) -> bool {
        let is_same = (known.configured_rpm / self.settings.speed.get() - 1.0).abs() < 1e-6;
        is_same && known.stated_by == stated_by
    }

    /// The request for a thorough look at a speed.
    pub(super) const fn request(&self, speed: Rpm, speed_tolerance: f64) -> Request {
        Request {
            speed_tolerance,
            order_tolerance: self.settings.order_tolerance,
            envelope_band: self.settings.envelope_band,
            ..Request::new(self.rate, speed, self.settings.orders)
        }
    }
}

/// Returns the next course of the speed once the mean is asked; `None` while the learning goes on.
fn next_course(mean: &SpeedMean, request: &Request, is_last: bool) -> Option<SpeedCourse> {
    let asked = mean.windows() / FIRST_ASKED;
    let is_due = mean.windows().is_multiple_of(FIRST_ASKED) && asked.is_power_of_two();
    if !is_due && !is_last {
        return None;
    }
    let other = mean.other(request);
    (other.is_some() || is_last).then_some(SpeedCourse::Known(other))
}

fn as_text<S: Serializer>(mean: &SpeedMean, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&STANDARD.encode(mean.to_bytes()))
}

/// Reads the mean from a text; a text that is no mean begins the learning anew.
fn from_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SpeedMean, D::Error> {
    let text = String::deserialize(deserializer)?;
    let bytes = STANDARD.decode(text).unwrap_or_default();
    Ok(SpeedMean::from_bytes(&bytes).unwrap_or_default())
}

#[cfg(test)]
mod tests;
