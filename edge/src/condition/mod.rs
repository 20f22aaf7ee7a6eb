//! How a measuring point is doing: baseline, anomaly, trend and remaining life.
//!
//! Stands between the stages `features` and `event`. One [`Monitor`] a
//! measuring point takes one [`Observation`] a window, in the order of time, and gives a
//! [`Judgement`]. It is pure and deterministic: no clock, no files, no randomness. Its whole state
//! is serialised with the event in one transaction, so it stays small (below 64 KiB, whatever
//! comes; columns of numbers are base64) and a monitor that was serialised and read back continues
//! exactly as if nothing had happened.
//!
//! Only rises are anomalies: levels that fall are run-in, a lighter load or a sensor that came
//! loose, and the last is a matter of [`quality`](crate::quality).

use std::collections::BTreeMap;

use pdm_shared::event::{Anomaly, Persistence, Rul, Trend, TrendDirection};
use pdm_shared::time::Timestamp;
use serde::{Deserialize, Serialize};

mod baseline;
mod detect;
mod feature;
mod history;
mod packed;
mod rul;
mod settings;
#[cfg(test)]
mod tests;
mod trend;

pub use settings::{MonitorSettings, Rule, SettingsError};

use baseline::{Baseline, Normal};
use detect::{Detector, Finding, When};
use feature::Kind;
use history::History;
use rul::{Degradation, Growth};

/// Features of one window by their key in the event: `rms_g`, `kurtosis`, `bpfo.snr_db`, …
pub type Features = BTreeMap<String, f64>;

/// Most operating states with a baseline of their own; the one not seen for longest makes room.
const MOST_STATES: usize = 8;

/// Uncertainty of `ln(failure − healthy)` of a threshold that the plant gave, and of one that is a
/// multiple of the baseline. Chosen; the second on the ends that chose `failure_ratio`.
const KNOWN_THRESHOLD: f64 = 0.2;
const TYPICAL_THRESHOLD: f64 = 0.7;

/// What keeps an alarm, as a share of what raises it: a dead band of 5 % (EEMUA 191, the usual one of
/// levels and flows).
const DEADBAND: f64 = 0.95;

/// Of their baseline at least this much must levels have for impacts to count: half of
/// [`MonitorSettings::level_ratio`] as it stands by default, in decibels.
const LIFTED: f64 = 1.14;

/// Windows whose median is told as the level's ratio: that of the shortest rule.
const RATIO_WINDOWS: usize = 6;

/// A standstill is at least as long as this many usual times between windows: a point that is
/// measured once a day does not stand still in between.
const GAPS_THAT_STAND: f64 = 6.0;

/// One window of a measuring point.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// When the window began.
    pub at: Timestamp,
    /// The operating state whose baseline applies.
    pub state: String,
    /// The signal is valid and the machine runs. Other windows are neither judged nor learnt from.
    pub usable: bool,
    /// Turns of the shaft in an hour, where they are known.
    pub turns_per_h: Option<f64>,
    /// What was measured. Values that are not finite are left out of account.
    pub features: Features,
}

/// What a monitor says of a window.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// The anomaly flag after persistence and hysteresis. Stays as it was on a window that is not
    /// usable.
    pub anomaly_detected: bool,
    /// Why.
    pub anomaly: Anomaly,
    /// Slope of the leading feature.
    pub trend: Trend,
    /// Remaining useful life, or why it is unknown.
    pub rul: Rul,
    /// This window completed the baseline of its operating state.
    pub baseline_completed: bool,
}

/// The state of one measuring point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Monitor {
    settings: MonitorSettings,
    /// Windows taken.
    windows: u64,
    baselines: BTreeMap<String, Baseline>,
    /// The state whose level the history is told in: the first that was learnt.
    reference: Option<String>,
    detector: Detector,
    history: History,
    /// When the damage began to show, hours since the history's start.
    onset: Option<f64>,
    /// The feature that leads the trend.
    leader: Option<String>,
    /// The last window that could be judged.
    #[serde(default)]
    last_usable: Option<Timestamp>,
    /// The usual time from one such window to the next, hours.
    #[serde(default)]
    usual_gap_h: Option<f64>,
}

impl Monitor {
    /// A monitor that knows nothing yet.
    pub fn new(settings: MonitorSettings) -> Self {
        Self {
            settings,
            windows: 0,
            baselines: BTreeMap::new(),
            reference: None,
            detector: Detector::default(),
            history: History::default(),
            onset: None,
            leader: None,
            last_usable: None,
            usual_gap_h: None,
        }
    }

    /// Takes the next window. Windows come in the order of time.
    pub fn observe(&mut self, observation: &Observation) -> Judgement {
        self.windows += 1;
        self.make_room_for(&observation.state);
        let windows = self.windows;
        let baseline = self.baselines.entry(observation.state.clone()).or_default();
        baseline.last_seen = windows;
        let was_ready = baseline.is_ready();
        let finding = if observation.usable { self.take(observation) } else { None };
        let baseline = self.baselines.entry(observation.state.clone()).or_default();
        let ready = baseline.is_ready();
        let status = baseline.status();
        if ready && self.reference.is_none() {
            self.reference = Some(observation.state.clone());
        }
        let (trend, rul) = self.prospects(observation, ready);
        let (score, contributors, persistence) = finding.map_or_else(
            || (None, Vec::new(), Persistence { k: 0, n: 0 }),
            |finding| (Some(finding.score), finding.contributors, finding.persistence),
        );
        Judgement {
            anomaly_detected: self.detector.alarmed(),
            anomaly: Anomaly {
                score,
                contributors,
                persistence,
                baseline: status,
                level_ratio: self.level_ratio().filter(|_| ready && observation.usable),
            },
            trend,
            rul,
            baseline_completed: ready && !was_ready,
        }
    }

    /// Forgets what was learnt, after the bearing was replaced or the machine rebuilt: the next
    /// windows make a new baseline.
    pub fn relearn(&mut self) {
        *self = Self::new(std::mem::take(&mut self.settings));
    }

    fn make_room_for(&mut self, state: &str) {
        if self.baselines.contains_key(state) || self.baselines.len() < MOST_STATES {
            return;
        }
        let others =
            self.baselines.iter().filter(|(name, _)| self.reference.as_ref() != Some(name));
        let oldest = others.min_by_key(|(_, baseline)| baseline.last_seen);
        if let Some(name) = oldest.map(|(name, _)| name.clone()) {
            self.baselines.remove(&name);
        }
    }

    /// Notices that the machine runs again after a long standstill.
    fn notice_standstill(&mut self, at: Timestamp) {
        let gap_h = self.last_usable.map(|last| at.seconds_since(last) / 3600.0);
        self.last_usable = Some(at);
        let Some(gap_h) = gap_h.filter(|gap_h| *gap_h > 0.0) else { return };
        let usual_h = *self.usual_gap_h.get_or_insert(gap_h);
        if gap_h < self.settings.standstill_h.max(GAPS_THAT_STAND * usual_h) {
            // a change of the period is followed within a few windows
            self.usual_gap_h = Some(usual_h + 0.2 * (gap_h - usual_h));
        } else if !self.detector.alarmed() {
            self.baselines.values_mut().for_each(Baseline::restart);
        }
    }

    /// Judges a usable window, or learns from it.
    fn take(&mut self, observation: &Observation) -> Option<Finding> {
        self.notice_standstill(observation.at);
        let hours = self.history.hours(observation.at);
        let alarmed = self.detector.alarmed();
        let baseline = self.baselines.get_mut(&observation.state)?;
        if !baseline.is_ready() {
            // a state first met while something is wrong has no healthy windows to offer
            if !alarmed {
                baseline.learn(&observation.features, hours, &self.settings);
            }
            return None;
        }
        let gate = Gate { settings: &self.settings, alarmed, resettling: baseline.is_resettling() };
        let distances = gate.distances(&observation.features, baseline);
        if distances.is_empty() {
            return None;
        }
        let when = When { hours, turns_per_h: observation.turns_per_h };
        let finding = self.detector.take(&distances, when, &self.settings);
        if finding.calm {
            baseline.learn(&observation.features, hours, &self.settings);
        } else {
            baseline.disturb();
        }
        self.remember(observation);
        // an alarm that only outlasts its evidence sees no damage: what comes next begins anew
        if finding.raised || self.detector.quiet_for() >= self.settings.memory() as u64 {
            self.onset = self.history.hours_back(self.settings.memory());
        }
        if !self.detector.alarmed() {
            self.onset = None;
        }
        Some(finding)
    }

    /// Appends the features that can lead to the history, told in the reference state's level.
    fn remember(&mut self, observation: &Observation) {
        let Some(here) = self.baselines.get(&observation.state) else { return };
        let values = observation
            .features
            .iter()
            .filter(|(key, value)| Kind::of(key).leads() && value.is_finite())
            .filter_map(|(key, value)| {
                let aligned = match self.reference_normal(key) {
                    Some(reference) => here.normal(key)?.aligned(*value, reference)?,
                    None => *value,
                };
                Some((key.clone(), aligned))
            })
            .collect();
        self.history.push(observation.at, &values);
    }

    fn reference_normal(&self, key: &str) -> Option<&Normal> {
        self.baselines.get(self.reference.as_ref()?)?.normal(key)
    }

    /// Trend and remaining life by the history.
    fn prospects(&mut self, observation: &Observation, ready: bool) -> (Trend, Rul) {
        let age = self.history.hours(observation.at);
        self.choose_leader();
        let leader = self.leader.clone().unwrap_or_default();
        let normal = self.reference_normal(&leader);
        let mut trend = match (normal, self.history.last_hours()) {
            (Some(normal), Some(now)) => {
                let recent = self.history.course(&leader, self.recent(now), trend::BINS);
                trend::trend(&leader, &recent, normal.scatter())
            }
            _ => trend::unknown(&leader),
        };
        (trend.baseline_level, trend.baseline_limit) =
            self.bounds(&leader, &observation.state).unzip();
        let silent = match () {
            () if !observation.usable => Some("this window cannot be judged"),
            () if !ready => Some("the baseline of this operating state is still learning"),
            () if !self.detector.alarmed() => Some("no anomaly"),
            () => None,
        };
        if let Some(reason) = silent {
            return (trend, Rul::unknown(reason));
        }
        let onset = self.onset.unwrap_or(0.0);
        let grows = trend.trend_direction == TrendDirection::Rising && self.has_end(&leader);
        let course = self.history.course(&leader, onset, trend::BINS);
        let growth = normal
            .filter(|_| grows)
            .map(|normal| Growth { course: &course, model: self.degradation(&leader, normal) });
        (trend, rul::remaining(growth, age))
    }

    /// Level and limit of a feature's baseline in a state: beyond the limit lies what the main rule
    /// counts.
    fn bounds(&self, key: &str, state: &str) -> Option<(f64, f64)> {
        let normal = self.baselines.get(state)?.normal(key)?;
        let limit = normal.at_distance(self.settings.main_rule().sigma);
        let gate = Gate { settings: &self.settings, alarmed: false, resettling: false };
        let least = gate.least(key, normal).unwrap_or(limit);
        let bounds = (normal.level(), limit.max(least));
        (bounds.0.is_finite() && bounds.1.is_finite()).then_some(bounds)
    }

    /// Where the trend begins: the later half of what came since the damage began to show, or the
    /// last quarter of what is remembered; but no fewer windows than the longest rule looks at.
    fn recent(&self, now: f64) -> f64 {
        let from = self.onset.map_or(0.75 * now, |onset| f64::midpoint(onset, now));
        let least = self.history.hours_back(2 * self.settings.memory()).unwrap_or(from);
        self.onset.map_or(from, |onset| from.min(least).max(onset))
    }

    /// How many times its healthy level the highest of the levels has, by the latest windows.
    fn level_ratio(&self) -> Option<f64> {
        let ratio = |key: &String| {
            let healthy = self.reference_normal(key).filter(|normal| normal.is_log())?.level();
            let ratio = self.history.level(key, RATIO_WINDOWS)? / healthy;
            ratio.is_finite().then_some(ratio)
        };
        let keys = self.history.keys().filter(|key| Kind::of(key) != Kind::Velocity);
        keys.filter_map(ratio).max_by(f64::total_cmp)
    }

    fn has_end(&self, key: &str) -> bool {
        self.settings.failure_threshold(key).is_some() || feature::has_usual_end(key)
    }

    fn degradation(&self, key: &str, normal: &Normal) -> Degradation {
        let known = self.settings.failure_threshold(key);
        let ratio = self.settings.failure_ratio;
        let ratio = if feature::is_squared(key) { ratio * ratio } else { ratio };
        let healthy = normal.level();
        let known = known.filter(|threshold| *threshold > healthy);
        Degradation {
            healthy,
            scatter: normal.scatter(),
            failure: known.unwrap_or_else(|| healthy + (ratio - 1.0) * healthy.abs()),
            failure_sigma: if known.is_some() { KNOWN_THRESHOLD } else { TYPICAL_THRESHOLD },
        }
    }

    /// The feature that has gone the largest part of its way to failure leads; another takes over
    /// only when it is clearly ahead, so that trend and remaining life do not jump.
    fn choose_leader(&mut self) {
        let progress = |key: &String| {
            let normal = self.reference_normal(key)?;
            let model = self.degradation(key, normal);
            let level = self.history.level(key, 5)?;
            Some((level - model.healthy) / (model.failure - model.healthy).max(f64::MIN_POSITIVE))
        };
        let best = self
            .history
            .keys()
            .filter_map(|key| Some((key, progress(key)?)))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((key, ahead)) = best else { return };
        let present = self.leader.as_ref().and_then(progress);
        if present.is_none_or(|present| ahead > 1.25 * present.max(0.0) + 0.05) {
            self.leader = Some(key.clone());
        }
    }
}

/// What is too little to count, however little a feature strays in health.
struct Gate<'a> {
    settings: &'a MonitorSettings,
    /// An alarm stands: what keeps it may lie a little lower than what raises it.
    alarmed: bool,
    /// After a long standstill only strong evidence counts.
    resettling: bool,
}

impl Gate<'_> {
    /// How far the features lie above their baselines.
    ///
    /// Where levels are measured, impacts count only in windows whose level is up with them: the
    /// shape of a short window strays by far more than fifty windows show.
    fn distances(&self, features: &Features, baseline: &Baseline) -> BTreeMap<String, f64> {
        let known = || {
            let finite = features.iter().filter(|(_, value)| value.is_finite());
            finite.filter_map(|(key, value)| Some((key, *value, baseline.normal(key)?)))
        };
        let lifted = |(key, value, normal): (&String, f64, &Normal)| {
            (Kind::of(key) == Kind::Level).then(|| value >= LIFTED * normal.level())
        };
        let lifts: Vec<bool> = known().filter_map(lifted).collect();
        let shapes_count = lifts.is_empty() || lifts.contains(&true);
        let distance = |(key, value, normal): (&String, f64, &Normal)| {
            let distance = self.distance(key, value, normal);
            let counts = shapes_count || Kind::of(key) != Kind::Shape;
            (key.clone(), if counts { distance } else { distance.min(self.settings.clear_sigma) })
        };
        known().map(distance).collect()
    }

    /// Robust standard deviations above the baseline; what is too little to count stays within it.
    fn distance(&self, key: &str, value: f64, normal: &Normal) -> f64 {
        let distance = normal.distance(value);
        match self.least(key, normal) {
            Some(least) if value < least => distance.min(self.settings.clear_sigma),
            Some(_) | None => distance,
        }
    }

    /// The least value that counts. A change of velocity below a quarter of the zone B/C limit is
    /// none (ISO 20816-1, criterion II).
    fn least(&self, key: &str, normal: &Normal) -> Option<f64> {
        let level = normal.level();
        let ratio = match (Kind::of(key), self.resettling) {
            (Kind::Level | Kind::Velocity, false) => self.settings.level_ratio,
            (Kind::Level | Kind::Velocity, true) => self.settings.strong_ratio,
            (Kind::Generic, true) if normal.is_log() => self.settings.level_ratio,
            (Kind::Generic | Kind::Shape | Kind::Decibel, _) => return None,
        };
        let zone = match Kind::of(key) {
            Kind::Velocity => level + 0.25 * self.settings.velocity_zone_bc(),
            Kind::Level | Kind::Generic | Kind::Shape | Kind::Decibel => level,
        };
        Some(zone.max(level * ratio) * if self.alarmed { DEADBAND } else { 1.0 })
    }
}
