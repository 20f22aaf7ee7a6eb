//! The condition of a measuring point: baseline, anomaly, trend and remaining life.
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

use pdm_shared::event::{Anomaly, Change, PeriodChange, Persistence, Rul, Trend};
use pdm_shared::time::Timestamp;
use serde::{Deserialize, Serialize};

mod baseline;
mod changes;
mod company;
mod detect;
mod feature;
mod gate;
mod history;
mod packed;
mod period;
mod presence;
mod prospects;
mod rul;
mod settings;
mod steps;
mod surges;
#[cfg(test)]
mod tests;
mod trend;

pub use company::{Neighbour, Seen};
pub(crate) use feature::is_column_line;
pub use rul::{Grown, LifeModel};
pub use settings::{MonitorSettings, Rule, SettingsError};

use baseline::{Baseline, Normal};
use changes::{Stop, ToldChange};
use detect::{Detector, Finding, When};
use feature::FeatureKind;
use gate::Gate;
use history::History;
use period::Period;
use prospects::RATIO_WINDOWS;
use steps::Steps;
use surges::{Pace, SURGE_WINDOWS, surging};

/// Features of one window by their key in the event: `rms_g`, `kurtosis`, `bpfo.snr_db`, …
pub type Features = BTreeMap<String, f64>;

/// Most operating states with a baseline of their own; the one not seen for longest makes room.
const MOST_STATES: usize = 8;

/// A standstill is at least as long as this many usual times between windows: a point that is
/// measured once a day does not stand still in between.
const GAPS_THAT_STAND: f64 = 6.0;

/// Standstills with a single window in between that are believed: a third is the period.
const MOST_STANDSTILLS: u32 = 2;

/// Windows that a growth which raises an alarm by itself was seen in, at least.
const LEAST_GROWN: usize = 9;

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
    /// The measured features. Values that are not finite are ignored.
    pub features: Features,
}

/// The monitor's judgement of a window.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// The anomaly flag after persistence and hysteresis. Stays as it was on a window that is not
    /// usable.
    pub anomaly_detected: bool,
    /// The grounds of the flag.
    pub anomaly: Anomaly,
    /// Slope of the leading feature.
    pub trend: Trend,
    /// Remaining useful life, or why it is unknown.
    pub rul: Rul,
    /// The growth from which the remaining life was computed, for programs that fit its model.
    pub grown: Option<Grown>,
    /// This window completed the baseline of its operating state.
    pub baseline_completed: bool,
    /// A change of the machine or its mounting that this window completed the evidence for.
    pub change: Option<Change>,
    /// Another time from window to window, as of this window.
    pub period: Option<PeriodChange>,
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
    /// Operating states that no key announces.
    #[serde(default)]
    steps: Steps,
    /// The last window that could be judged.
    #[serde(default)]
    last_usable: Option<Timestamp>,
    /// The usual time from one such window to the next, hours.
    #[serde(default)]
    usual_gap_h: Option<f64>,
    /// Standstills without a usual gap in between.
    #[serde(default)]
    long_gaps: u32,
    /// A standstill whose first windows are being looked at.
    #[serde(default)]
    stop: Option<Stop>,
    /// Changes that were told.
    #[serde(default)]
    told: ToldChange,
    /// The time from window to window.
    #[serde(default)]
    period: Period,
    /// The change that the present window completes; `None` between windows.
    #[serde(skip)]
    change: Option<Change>,
    /// Another series says that it is this bearing that changes.
    #[serde(skip)]
    is_singled_out: bool,
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
            steps: Steps::default(),
            last_usable: None,
            usual_gap_h: None,
            long_gaps: 0,
            stop: None,
            told: ToldChange::default(),
            period: Period::default(),
            change: None,
            is_singled_out: false,
        }
    }

    /// Notes for the windows that follow whether another series says that it is this bearing that
    /// changes: its defect lines alarm, or it rises at once and alone among its like. A historian's
    /// level then needs no least effect.
    pub const fn single_out(&mut self, is_so: bool) {
        self.is_singled_out = is_so;
    }

    /// Takes the next window. Windows come in the order of time.
    pub fn observe(&mut self, observation: &Observation) -> Judgement {
        self.observe_beside(observation, &[])
    }

    /// Takes the next window, with what the other measuring points of the machine had seen by the
    /// window before.
    pub fn observe_beside(
        &mut self,
        observation: &Observation,
        neighbours: &[Neighbour],
    ) -> Judgement {
        self.windows += 1;
        let period = self.period.take(observation.at);
        let announced = observation.state.as_str();
        let observation = &self.in_its_state(observation);
        self.make_room_for(&observation.state);
        let windows = self.windows;
        let baseline = self.baselines.entry(observation.state.clone()).or_default();
        baseline.last_seen = windows;
        let was_ready = baseline.is_ready();
        let finding =
            if observation.usable { self.take(observation, announced, neighbours) } else { None };
        let baseline = self.baselines.entry(observation.state.clone()).or_default();
        let ready = baseline.is_ready();
        let status = baseline.status();
        if ready && self.reference.is_none() {
            self.reference = Some(observation.state.clone());
        }
        let (trend, rul, grown) = self.prospects(observation, ready);
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
                level_ratio: observation
                    .usable
                    .then(|| self.told_ratio(&observation.state))
                    .flatten(),
            },
            trend,
            rul,
            grown,
            baseline_completed: ready && !was_ready,
            change: self.change.take(),
            period,
        }
    }

    /// Returns when the latest window began.
    pub fn last_at(&self) -> Option<Timestamp> {
        self.period.last()
    }

    /// Forgets what was learnt, after the bearing was replaced or the machine rebuilt: the next
    /// windows make a new baseline.
    pub fn relearn(&mut self) {
        let period = std::mem::take(&mut self.period);
        *self = Self { period, ..Self::new(std::mem::take(&mut self.settings)) };
    }

    /// The window with the state whose baseline applies: the announced one, or one found in it.
    fn in_its_state(&mut self, observation: &Observation) -> Observation {
        let (announced, features) = (&observation.state, &observation.features);
        let state = if observation.usable {
            self.steps.state_of(announced, features, &self.baselines)
        } else {
            self.steps.current(announced, &self.baselines)
        };
        Observation { state, ..observation.clone() }
    }

    /// Raises the alarm where levels surge or have doubled and the next windows are far away.
    fn surges(&mut self, state: &str, turns_per_h: Option<f64>) -> bool {
        let pace = self.usual_gap_h.map(|gap_h| Pace { gap_h, turns_per_h });
        let Some((here, pace)) = self.baselines.get(state).zip(pace) else { return false };
        let by = surging(&self.steps, here, pace, &self.settings);
        let surges = !by.is_empty();
        if surges {
            self.detector.raise(by, SURGE_WINDOWS);
        }
        surges
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

    /// Notices that the machine runs again after a long standstill, and a clock that was set back.
    fn notice_standstill(&mut self, at: Timestamp) {
        let gap_h = self.last_usable.map(|last| at.seconds_since(last) / 3600.0);
        self.last_usable = Some(at);
        let Some(gap_h) = gap_h else { return };
        if gap_h < 0.0 {
            self.history.forget_after(at);
            self.onset = None;
            self.detector.forget_times();
            self.baselines.values_mut().for_each(Baseline::forget_times);
        }
        if gap_h <= 0.0 {
            return;
        }
        let usual_h = *self.usual_gap_h.get_or_insert(gap_h);
        let is_long = gap_h >= self.settings.standstill_h.max(GAPS_THAT_STAND * usual_h);
        self.long_gaps = if is_long { self.long_gaps + 1 } else { 0 };
        if self.long_gaps > MOST_STANDSTILLS {
            // windows that are all far apart are the period, no standstills
            (self.usual_gap_h, self.long_gaps) = (Some(gap_h), 0);
            return;
        }
        self.notice_stop(gap_h, usual_h);
        if !is_long {
            // a change of the period is followed within a few windows
            self.usual_gap_h = Some(usual_h + 0.2 * (gap_h - usual_h));
        } else if !self.detector.alarmed() {
            self.baselines.values_mut().for_each(Baseline::restart);
        }
    }

    /// Judges a usable window, or learns from it.
    fn take(
        &mut self,
        observation: &Observation,
        announced: &str,
        neighbours: &[Neighbour],
    ) -> Option<Finding> {
        self.notice_standstill(observation.at);
        let states = (observation.state.as_str(), announced);
        if self.settles_otherwise(observation.at, states, neighbours) {
            return None;
        }
        let hours = self.history.hours(observation.at);
        let alarmed = self.detector.alarmed();
        let baseline = self.baselines.get_mut(&observation.state)?;
        if !baseline.is_ready() {
            // a state first met while something is wrong has no healthy windows to offer
            if !alarmed {
                baseline.learn(&observation.features, hours, &self.settings);
                // a point that knows no state yet may be starting up
                let by = baseline.grows(&self.settings);
                if self.reference.is_some() && !by.is_empty() {
                    self.detector.raise(by, LEAST_GROWN);
                }
            }
            return None;
        }
        let gate = Gate { settings: &self.settings, alarmed, resettling: baseline.is_resettling() };
        let distances = gate.distances(&observation.features, baseline);
        if distances.is_empty() {
            return None;
        }
        let when = When { hours, turns_per_h: observation.turns_per_h };
        let (history, is_singled_out) = (&self.history, self.is_singled_out);
        let reference = self.reference.as_ref().and_then(|name| self.baselines.get(name));
        let has_effect = |key: &str| {
            let level = history.level(key, RATIO_WINDOWS);
            is_singled_out || Gate::has_effect(key, level, reference)
        };
        let mut finding = self.detector.take(&distances, (when, &has_effect), &self.settings);
        if finding.raised && self.holds_as_state(states, neighbours) {
            // the levels are those of the state that was opened, no longer of this one
            finding = Finding { raised: false, contributors: Vec::new(), ..finding };
        } else if !self.detector.alarmed()
            && !company::may_be_swapped(&self.seen(), neighbours)
            && self.surges(&observation.state, observation.turns_per_h)
        {
            finding.raised = true;
        }
        let baseline = self.baselines.get_mut(&observation.state)?;
        if finding.calm && !finding.raised {
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
            .filter(|(key, value)| FeatureKind::of(key).leads() && value.is_finite())
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
}
