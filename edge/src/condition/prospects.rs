//! Trend and remaining life of a measuring point, from the history of the feature that leads.

use pdm_shared::event::{Rul, Trend, TrendDirection};

use super::baseline::Normal;
use super::feature::{self, FeatureKind};
use super::gate::Gate;
use super::rul::{self, Degradation, Grown};
use super::surges::{Pace, SURGE_WINDOWS};
use super::{Monitor, Observation, trend};

/// Uncertainty of `ln(failure − healthy)` of a threshold that the plant gave, and of one that is a
/// multiple of the baseline. Chosen; the second on the ends that chose `failure_ratio`.
const KNOWN_THRESHOLD: f64 = 0.2;
const TYPICAL_THRESHOLD: f64 = 0.7;

/// Windows whose median is told as the level's ratio: that of the shortest rule.
pub(super) const RATIO_WINDOWS: usize = 6;

/// Change over the stretch looked at, as a share of the healthy level, below which a level is
/// stable. Chosen: the levels of sound machines wander by a tenth over weeks; a damage that ends a
/// bearing multiplies its level.
const LEAST_RISE: f64 = 0.1;

/// The least change of a feature that makes a trend, in its unit.
fn least_rise(normal: &Normal) -> f64 {
    let least = if normal.is_log() { LEAST_RISE * normal.level().abs() } else { 0.0 };
    normal.scatter().max(least)
}

impl Monitor {
    /// Trend and remaining life by the history.
    pub(super) fn prospects(
        &mut self,
        observation: &Observation,
        ready: bool,
    ) -> (Trend, Rul, Option<Grown>) {
        let age_h = self.history.hours(observation.at);
        self.choose_leader();
        let leader = self.leader.clone().unwrap_or_default();
        let normal = self.reference_normal(&leader);
        let mut trend = match (normal, self.history.last_hours()) {
            (Some(normal), Some(now)) => {
                let recent = self.history.course(&leader, self.recent(now), trend::BINS);
                trend::trend(&leader, &recent, least_rise(normal))
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
            return (trend, Rul::unknown(reason), None);
        }
        let onset = self.onset.unwrap_or(0.0);
        let grows = trend.trend_direction == TrendDirection::Rising && self.has_end(&leader);
        let grown = normal.filter(|_| grows).map(|normal| Grown {
            age_h,
            course: self.history.course(&leader, onset, trend::BINS),
            model: self.degradation(&leader, normal),
        });
        (trend, rul::remaining(grown.as_ref(), &self.settings.life), grown)
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

    /// Returns where the trend begins: at the later half of the time since the damage began to
    /// show, or at the last quarter of the history; but no fewer windows than the longest rule
    /// looks at.
    fn recent(&self, now: f64) -> f64 {
        let from = self.onset.map_or(0.75 * now, |onset| f64::midpoint(onset, now));
        let least = self.history.hours_back(2 * self.settings.memory()).unwrap_or(from);
        self.onset.map_or(from, |onset| from.min(least).max(onset))
    }

    /// The ratio that is told of a window: of an alarm while its state is learnt the growth since
    /// the state's first windows, which is the least that it can be.
    pub(super) fn told_ratio(&self, state: &str) -> Option<f64> {
        let here = self.baselines.get(state)?;
        if here.is_ready() {
            return self.level_ratio();
        }
        let latest = || self.steps.latest(SURGE_WINDOWS);
        self.detector.alarmed().then(|| here.grown_to(&latest())).flatten()
    }

    /// Returns the highest of the levels as a multiple of its healthy level, by the latest windows.
    pub(super) fn level_ratio(&self) -> Option<f64> {
        let ratio = |key: &String| {
            let healthy =
                self.reference_normal(key).filter(|normal| normal.is_log())?.sound_level();
            let settled = self.history.level(key, RATIO_WINDOWS)?;
            let surging = self.surge_level(key).unwrap_or(settled);
            let ratio = settled.max(surging) / healthy;
            ratio.is_finite().then_some(ratio)
        };
        let keys = self.history.keys().filter(|key| FeatureKind::of(key) != FeatureKind::Velocity);
        keys.filter_map(ratio).max_by(f64::total_cmp)
    }

    /// The level of a feature that alarms while windows are far apart: the median of the windows
    /// that make a surge.
    fn surge_level(&self, key: &str) -> Option<f64> {
        let pace = self.usual_gap_h.map(|gap_h| Pace { gap_h, turns_per_h: None });
        let has_stood = pace.is_some_and(|pace| pace.has_stood(&self.settings));
        let alarmed = self.detector.alarmed_by(key);
        (has_stood && alarmed).then(|| self.history.level(key, SURGE_WINDOWS))?
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
