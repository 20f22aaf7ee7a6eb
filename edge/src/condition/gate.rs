//! Changes too small to count: a level must rise by a ratio, not by its scatter alone.
//!
//! Stands between the baseline, which knows how a feature strays in health, and the detector, which
//! counts windows that lie outside.

use std::collections::BTreeMap;

use super::baseline::{Baseline, Normal};
use super::feature::{self, FeatureKind};
use super::{Features, MonitorSettings};

/// The level that keeps an alarm, as a share of the level that raises it: a dead band of 5 % (EEMUA
/// 191, the usual one of levels and flows).
const DEADBAND: f64 = 0.95;

/// The ratio to their baseline that levels must have at least for impacts to count: half of
/// [`MonitorSettings::level_ratio`] as it stands by default, in decibels.
const LIFTED: f64 = 1.14;

/// The ratio to its healthy level that a historian's level must have at least to alarm, and the
/// square of it for an energy, however little it strays: a machine's level wanders by ± 10 % over
/// weeks, which is 1.22 from trough to crest, and a quarter more is what ISO 20816-1, criterion II,
/// calls significant. On NASA/IMS all bearings that failed reach it; the sound ones of test 2 alarm
/// at 1.05 to 1.17 without it.
const COLUMN_RATIO: f64 = 1.25;

/// The least change of a feature that counts, however little the feature strays in health.
pub(super) struct Gate<'a> {
    pub(super) settings: &'a MonitorSettings,
    /// An alarm stands: what keeps it may lie a little lower than what raises it.
    pub(super) alarmed: bool,
    /// After a long standstill only strong evidence counts.
    pub(super) resettling: bool,
}

impl Gate<'_> {
    /// Returns how far the features lie above their baselines.
    ///
    /// Where levels are measured, impacts count only in windows whose level is up with them: the
    /// shape of a short window strays by far more than fifty windows show.
    pub(super) fn distances(
        &self,
        features: &Features,
        baseline: &Baseline,
    ) -> BTreeMap<String, f64> {
        let known = || {
            let finite = features.iter().filter(|(_, value)| value.is_finite());
            finite.filter_map(|(key, value)| Some((key, *value, baseline.normal(key)?)))
        };
        let lifted = |(key, value, normal): (&String, f64, &Normal)| {
            (FeatureKind::of(key) == FeatureKind::Level).then(|| value >= LIFTED * normal.level())
        };
        let lifts: Vec<bool> = known().filter_map(lifted).collect();
        let shapes_count = lifts.is_empty() || lifts.contains(&true);
        let distance = |(key, value, normal): (&String, f64, &Normal)| {
            let distance = self.distance(key, value, normal);
            let counts = shapes_count || FeatureKind::of(key) != FeatureKind::Shape;
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

    /// Whether somebody would act on a feature at this level, which its latest windows have settled
    /// on: a historian's level has to have grown by [`COLUMN_RATIO`]. What is no level of vibration
    /// is judged by its own scatter alone. `reference`: the baseline that levels are told against.
    pub(super) fn has_effect(key: &str, level: Option<f64>, reference: Option<&Baseline>) -> bool {
        let is_level =
            FeatureKind::of(key) == FeatureKind::Generic && feature::is_column_level(key);
        let normal = reference.filter(|_| is_level).and_then(|reference| reference.normal(key));
        let Some(normal) = normal.filter(|normal| normal.is_log()) else { return true };
        let squared = if feature::is_squared(key) { 2 } else { 1 };
        level.is_some_and(|level| level >= COLUMN_RATIO.powi(squared) * normal.sound_level())
    }

    /// The least value that counts. A change of velocity below a quarter of the zone B/C limit is
    /// none (ISO 20816-1, criterion II).
    pub(super) fn least(&self, key: &str, normal: &Normal) -> Option<f64> {
        let level = normal.level();
        let ratio = match (FeatureKind::of(key), self.resettling) {
            (FeatureKind::Level | FeatureKind::Velocity, false) => self.settings.level_ratio,
            (FeatureKind::Level | FeatureKind::Velocity, true) => self.settings.strong_ratio,
            (FeatureKind::Generic, true) if normal.is_log() => self.settings.level_ratio,
            (FeatureKind::Generic | FeatureKind::Shape | FeatureKind::Decibel, _) => return None,
        };
        let zone = match FeatureKind::of(key) {
            FeatureKind::Velocity => level + 0.25 * self.settings.velocity_zone_bc(),
            FeatureKind::Level
            | FeatureKind::Generic
            | FeatureKind::Shape
            | FeatureKind::Decibel => level,
        };
        Some(zone.max(level * ratio) * if self.alarmed { DEADBAND } else { 1.0 })
    }
}
