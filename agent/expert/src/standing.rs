//! Remembers how long a bearing has stood at each risk, and how long a sensor has measured nothing:
//! both decide whether staff is told again.
//!
//! Times are those of the measurement, so a backlog that is judged late is told as it would have
//! been told then. Invariants: a stand changes by events that are not late, in their order; a
//! window that cannot be judged neither begins nor ends one.

use std::collections::BTreeMap;

use pdm_shared::event::{QualityFlag, SignalQuality};
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Hours away from a level after which its earlier stands no longer count. Chosen: two days, longer
/// than any hold, shorter than the time in which a machine is repaired.
const FORGOTTEN_S: f64 = 48.0 * 3600.0;

/// A stand at a level or above it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Stand {
    /// The first window of the stand.
    pub since: Timestamp,
    /// The last window of the stand so far.
    pub until: Timestamp,
    /// How long the bearing had been below before, s; `None` if it never stood there.
    pub away_s: Option<f64>,
    /// Stands that followed each other closely, this one included.
    pub count: u32,
}

/// The stands of a bearing at the levels above Normal.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Standing {
    /// The stands by level.
    pub levels: BTreeMap<RiskLevel, Stand>,
    /// The last window.
    pub at: Option<Timestamp>,
    /// The levels whose stands the last window began.
    pub begun: Vec<RiskLevel>,
}

impl Standing {
    /// Takes a window at which the bearing stood at `now` and before it at `before`.
    pub(crate) fn take(&mut self, at: Timestamp, before: RiskLevel, now: RiskLevel) {
        let at = self.at.map_or(at, |last| last.max(at));
        self.at = Some(at);
        self.begun.clear();
        for level in RiskLevel::ALL.into_iter().filter(|l| *l > RiskLevel::Normal && *l <= now) {
            let stand = self.levels.get(&level).copied();
            let next = match stand {
                Some(stand) if before >= level => Stand { until: at, ..stand },
                Some(stand) => {
                    let away_s = at.seconds_since(stand.until);
                    let count = if away_s > FORGOTTEN_S { 1 } else { stand.count + 1 };
                    Stand { since: at, until: at, away_s: Some(away_s), count }
                }
                None => Stand { since: at, until: at, away_s: None, count: 1 },
            };
            if before < level {
                self.begun.push(level);
            }
            self.levels.insert(level, next);
        }
    }

    /// The stand at this level that begins with the last window.
    pub fn begun(&self, level: RiskLevel) -> Option<&Stand> {
        self.levels.get(&level).filter(|_| self.begun.contains(&level))
    }

    /// Returns how long the bearing has been below a level that it stood at, s.
    pub fn below_s(&self, level: RiskLevel) -> Option<f64> {
        Some(self.at?.seconds_since(self.levels.get(&level)?.until))
    }
}

/// The record of a sensor whose windows cannot be judged although the machine may run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sensor {
    /// The time since which every window is invalid.
    pub invalid_since: Option<Timestamp>,
    /// How long that had been so at the window before, s.
    pub before_s: f64,
    /// How long it is so now, s.
    pub now_s: f64,
    /// The faults of the last such window.
    pub flags: Vec<QualityFlag>,
    /// How long the sensor had been invalid that is valid again with this window, s.
    pub back_after_s: Option<f64>,
}

impl Sensor {
    /// Takes a window. A window of a standing machine is no evidence about its sensor.
    pub(crate) fn take(&mut self, at: Timestamp, quality: &SignalQuality) {
        if quality.flags.contains(&QualityFlag::MachineOff) {
            (self.before_s, self.back_after_s) = (self.now_s, None);
        } else if quality.valid {
            let back_after_s = self.invalid_since.map(|_| self.now_s);
            *self = Self { back_after_s, ..Self::default() };
        } else {
            let since = *self.invalid_since.get_or_insert(at);
            (self.before_s, self.now_s) = (self.now_s, at.seconds_since(since).max(self.now_s));
            self.flags.clone_from(&quality.flags);
            self.back_after_s = None;
        }
    }

    /// Whether this is the window with which the sensor had been invalid for `wait_s` seconds.
    pub fn fails_after(&self, wait_s: f64) -> bool {
        self.invalid_since.is_some() && self.before_s < wait_s && self.now_s >= wait_s
    }

    /// Whether this is the window with which the sensor is back after at least `wait_s` seconds.
    pub fn is_back_after(&self, wait_s: f64) -> bool {
        self.back_after_s.is_some_and(|invalid_s| invalid_s >= wait_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Timestamp {
        Timestamp::from_unix_ms(1_795_238_000_000).expect("in range").plus_seconds(seconds)
    }

    #[test]
    fn a_return_knows_how_long_the_bearing_was_away_and_how_often_it_came() {
        use RiskLevel::{Critical, Normal, Watch};
        let mut standing = Standing::default();
        standing.take(at(0.0), Normal, Critical);
        standing.take(at(60.0), Critical, Watch);
        assert_eq!(standing.below_s(Critical), Some(60.0));
        standing.take(at(600.0), Watch, Critical);
        let stand = standing.begun(Critical).expect("begins here");
        assert_eq!((stand.away_s, stand.count), (Some(600.0), 2));
        assert_eq!(standing.begun(Watch), None, "never left");
        standing.take(at(600.0 + 49.0 * 3600.0), Critical, Normal);
        standing.take(at(900_000.0), Normal, Critical);
        assert_eq!(standing.begun(Critical).map(|stand| stand.count), Some(1));
    }

    #[test]
    fn a_sensor_fails_once_and_comes_back_once() {
        let quality = |valid, flag| SignalQuality { valid, flags: vec![flag] };
        let mut sensor = Sensor::default();
        let mut told = Vec::new();
        for hour in 0..10 {
            let valid = !(2..8).contains(&hour);
            sensor.take(at(3600.0 * f64::from(hour)), &quality(valid, QualityFlag::FlatLine));
            told.push((sensor.fails_after(7200.0), sensor.is_back_after(7200.0)));
        }
        let places = |wanted: (bool, bool)| told.iter().filter(|t| **t == wanted).count();
        assert_eq!((places((true, false)), places((false, true))), (1, 1));
        assert_eq!(told[4], (true, false), "two hours after the first invalid window");
        let off = SignalQuality { valid: false, flags: vec![QualityFlag::MachineOff] };
        let mut standing = Sensor::default();
        for hour in 0..50 {
            standing.take(at(3600.0 * f64::from(hour)), &off);
            assert!(!standing.fails_after(7200.0));
        }
    }
}
