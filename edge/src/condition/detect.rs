//! Turns distances into an alarm: run rules to raise it, evidence for health to clear it.
//!
//! One window can never raise an alarm, however wild: every rule wants several, and several turns
//! of the shaft. Once raised it stays until its evidence has been away for as long as it took to
//! believe it.

use std::collections::{BTreeMap, BTreeSet};

use pdm_shared::event::Persistence;
use serde::{Deserialize, Serialize};

use super::MonitorSettings;
use super::feature::FeatureKind;
use super::packed::Packed;
use super::settings::Rule;

/// Distances of the latest windows, and the alarm.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Detector {
    /// Latest distances by feature, robust standard deviations.
    recent: BTreeMap<String, Packed>,
    /// Windows judged so far.
    judged: u64,
    alarm: Option<Alarm>,
    /// Hours of the latest windows, since the monitor's first.
    #[serde(default)]
    hours: Packed,
    /// The time since which a rule holds without a break, in the same hours.
    #[serde(default)]
    held_since_h: Option<f64>,
}

/// A raised alarm; times in windows judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Alarm {
    /// Where the windows begin that raised it.
    since: u64,
    /// The window that raised it.
    #[serde(default)]
    raised: u64,
    /// Last window with a feature outside.
    evidence: u64,
    /// Features that raised it.
    by: Vec<String>,
}

/// When a window was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct When {
    /// Hours since the monitor's first window.
    pub(super) hours: f64,
    /// Turns of the shaft in an hour, where they are known.
    pub(super) turns_per_h: Option<f64>,
}

/// Whether a feature at its present level is worth an alarm.
pub(super) type HasEffect<'a> = dyn Fn(&str) -> bool + 'a;

/// The detector's result for a window.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Finding {
    pub(super) score: f64,
    pub(super) contributors: Vec<String>,
    pub(super) persistence: Persistence,
    /// Nothing is outside and there is no alarm: the window may be learnt from.
    pub(super) calm: bool,
    /// This window raised the alarm.
    pub(super) raised: bool,
}

impl Detector {
    pub(super) const fn alarmed(&self) -> bool {
        self.alarm.is_some()
    }

    /// Whether an alarm stands that this feature raised.
    pub(super) fn alarmed_by(&self, key: &str) -> bool {
        self.alarm.as_ref().is_some_and(|alarm| alarm.by.iter().any(|by| by == key))
    }

    /// Windows since the last evidence of an alarm that stands; 0 without one.
    pub(super) fn quiet_for(&self) -> u64 {
        self.alarm.as_ref().map_or(0, |alarm| self.judged - alarm.evidence)
    }

    /// Takes the distances of a window's features from their baselines. A feature `has_effect` at
    /// its present level, or is no evidence, however far it lies outside.
    pub(super) fn take(
        &mut self,
        distances: &BTreeMap<String, f64>,
        (when, has_effect): (When, &HasEffect<'_>),
        settings: &MonitorSettings,
    ) -> Finding {
        self.judged += 1;
        self.hours.push(when.hours, settings.memory());
        for key in distances.keys() {
            self.recent.entry(key.clone()).or_default();
        }
        for (key, column) in &mut self.recent {
            column.push(distances.get(key).copied().unwrap_or(f64::NAN), settings.memory());
        }
        self.recent.retain(|_, column| column.0.iter().any(|distance| distance.is_finite()));
        let main = settings.main_rule();
        let idle: BTreeSet<String> =
            self.recent.keys().filter(|key| !has_effect(key)).cloned().collect();
        let mut levels: Vec<(String, f64)> = self
            .recent
            .iter()
            .filter(|(key, _)| !idle.contains(*key))
            .map(|(key, column)| (key.clone(), persistent(&column.0, main)))
            .collect();
        levels.sort_by(|a, b| b.1.total_cmp(&a.1));
        let worst = levels.first().map_or(0.0, |(_, level)| level.max(0.0));
        let outside = worst > settings.clear_sigma;
        let raised = self.judge((outside, &idle), when, settings);
        let mut contributors: Vec<String> = levels
            .into_iter()
            .filter(|(_, level)| *level > settings.clear_sigma)
            .map(|(key, _)| key)
            .collect();
        if let (true, Some(alarm)) = (contributors.is_empty(), &self.alarm) {
            contributors.clone_from(&alarm.by);
        }
        Finding {
            score: if main.sigma > 0.0 { worst / (worst + main.sigma) } else { 0.0 },
            contributors,
            persistence: self.persistence(main),
            calm: self.alarm.is_none() && !outside,
            raised,
        }
    }

    /// Raises the alarm by features of which more is known than their distances.
    pub(super) fn raise(&mut self, by: Vec<String>, windows: usize) {
        self.alarm = Some(Alarm {
            since: self.judged.saturating_sub(windows as u64),
            raised: self.judged,
            evidence: self.judged,
            by,
        });
    }

    /// Takes an alarm back, and the distances that raised it: they were those of another state.
    pub(super) fn withdraw(&mut self) {
        self.alarm = None;
        self.recent.clear();
        self.held_since_h = None;
    }

    /// Times no longer tell how long evidence has stood: the clock was set back.
    pub(super) fn forget_times(&mut self) {
        self.hours = Packed::default();
        self.held_since_h = None;
    }

    /// Latest distances of what is specific to bearings: shapes and lines.
    pub(super) fn specific(&self) -> impl Iterator<Item = &Packed> + Clone {
        let specific =
            |key: &str| matches!(FeatureKind::of(key), FeatureKind::Shape | FeatureKind::Decibel);
        self.recent.iter().filter(move |(key, _)| specific(key)).map(|(_, column)| column)
    }

    /// Raises or clears; true if the alarm was raised now.
    fn judge(
        &mut self,
        (outside, idle): (bool, &BTreeSet<String>),
        when: When,
        settings: &MonitorSettings,
    ) -> bool {
        let mut hits = self.hits(settings);
        hits.retain(|(key, _)| !idle.contains(key));
        let looked_at = hits.iter().map(|(_, n)| *n).max();
        let stood = self.has_stood(looked_at, when, settings);
        let Some(alarm) = &mut self.alarm else {
            // the windows that raise an alarm are its first evidence
            self.alarm = looked_at.filter(|_| stood).map(|n| Alarm {
                since: self.judged.saturating_sub(u64::from(n)),
                raised: self.judged,
                evidence: self.judged,
                by: hits.into_iter().map(|(key, _)| key).collect(),
            });
            return self.alarm.is_some();
        };
        if outside {
            alarm.evidence = self.judged;
        }
        let wanted = alarm
            .raised
            .saturating_sub(alarm.since)
            .saturating_mul(u64::from(settings.clear_factor))
            .max(u64::from(settings.clear_windows))
            .min(u64::from(settings.clear_windows_most));
        if self.judged - alarm.evidence >= wanted {
            self.alarm = None;
        }
        false
    }

    /// The features by which a rule holds, and the windows that it looks at.
    fn hits(&self, settings: &MonitorSettings) -> Vec<(String, u32)> {
        let hit = |(key, column): (&String, &Packed)| {
            let rules = if FeatureKind::of(key) == FeatureKind::Shape {
                std::slice::from_ref(&settings.shape_rule)
            } else {
                &settings.rules
            };
            let held = rules.iter().filter(|rule| holds(&column.0, **rule));
            Some((key.clone(), held.map(|rule| rule.n).max()?))
        };
        self.recent.iter().filter_map(hit).collect()
    }

    /// Whether the shaft has turned often enough since the rule that holds began to hold.
    fn has_stood(
        &mut self,
        looked_at: Option<u32>,
        when: When,
        settings: &MonitorSettings,
    ) -> bool {
        let Some(n) = looked_at else {
            self.held_since_h = None;
            return false;
        };
        let first = latest(&self.hours.0, n).first().map_or(when.hours, |hours| f64::from(*hours));
        let since_h = *self.held_since_h.get_or_insert(first);
        let turns = when.turns_per_h.map(|per_h| (when.hours - since_h) * per_h);
        turns.is_none_or(|turns| turns >= settings.least_turns)
    }

    /// Returns how many of the latest windows lay beyond the main rule's distance in any feature.
    fn persistence(&self, main: Rule) -> Persistence {
        let n = self.judged.min(u64::from(main.n)) as usize;
        let beyond = |back: &usize| {
            self.recent.values().any(|column| {
                let at = column.0.len().checked_sub(back + 1);
                at.is_some_and(|at| f64::from(column.0[at]) > main.sigma)
            })
        };
        Persistence { k: (0..n).filter(beyond).count() as u32, n: n as u32 }
    }
}

/// The last `n` of a column.
fn latest(column: &[f32], n: u32) -> &[f32] {
    &column[column.len().saturating_sub(n as usize)..]
}

fn holds(column: &[f32], rule: Rule) -> bool {
    let beyond = latest(column, rule.n).iter().filter(|d| f64::from(**d) > rule.sigma).count();
    beyond >= rule.k.max(1) as usize
}

/// The distance that `k` of the last `n` windows reach, or as large a share of fewer windows.
fn persistent(column: &[f32], rule: Rule) -> f64 {
    let mut window: Vec<f32> = latest(column, rule.n).to_vec();
    window.retain(|distance| distance.is_finite());
    window.sort_by(|a, b| b.total_cmp(a));
    let k = (window.len() * rule.k as usize).div_ceil(rule.n.max(1) as usize);
    window.get(k.max(1) - 1).map_or(0.0, |distance| f64::from(*distance))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHEN: When = When { hours: 0.0, turns_per_h: None };
    /// Every level is worth an alarm.
    const ANY: fn(&str) -> bool = |_| true;

    fn feed(detector: &mut Detector, distances: &[f64]) -> Vec<bool> {
        let settings = MonitorSettings::default();
        let one = |d: &f64| BTreeMap::from([("rms_g".to_owned(), *d)]);
        distances
            .iter()
            .map(|distance| {
                detector.take(&one(distance), (WHEN, &ANY), &settings);
                detector.alarmed()
            })
            .collect()
    }

    /// R-EDGE-6.
    #[test]
    fn three_wild_windows_of_ten_raise_nothing() {
        let mut detector = Detector::default();
        let wild: Vec<f64> = (0..200).map(|n| if n % 10 < 3 { 1000.0 } else { 0.0 }).collect();
        assert!(feed(&mut detector, &wild).iter().all(|alarmed| !alarmed));
    }

    #[test]
    fn a_large_step_is_told_in_six_windows_and_a_small_one_in_twelve() {
        let told = |distance| {
            let mut detector = Detector::default();
            feed(&mut detector, &[0.0; 20]);
            feed(&mut detector, &[distance; 20]).iter().position(|alarmed| *alarmed)
        };
        assert_eq!(told(10.0), Some(5));
        assert_eq!(told(5.5), Some(7));
        assert_eq!(told(4.5), Some(11));
        assert_eq!(told(3.9), None);
    }

    #[test]
    fn a_feature_that_some_windows_lack_is_judged_by_those_that_have_it() {
        let settings = MonitorSettings::default();
        let mut detector = Detector::default();
        for n in 0..40 {
            let mut distances = BTreeMap::from([("rms_g".to_owned(), 0.0)]);
            if n % 7 != 0 {
                distances.insert("bpfo.snr_db".to_owned(), 9.0);
            }
            detector.take(&distances, (WHEN, &ANY), &settings);
        }
        assert!(detector.alarmed());
    }

    #[test]
    fn an_alarm_ends_once_its_evidence_is_away_for_as_long_as_it_took_to_believe() {
        let mut detector = Detector::default();
        assert_eq!(feed(&mut detector, &[9.0; 60]).last(), Some(&true));
        // 8 of 10 windows must leave first, then as many calm ones must pass as an alarm wants
        let still = feed(&mut detector, &[0.0; 40]).iter().filter(|alarmed| **alarmed).count();
        assert!((15..25).contains(&still), "{still}");
    }

    /// Impacts that come and go within a minute are no lasting change.
    #[test]
    fn bursts_that_leave_every_other_window_alone_raise_nothing() {
        let mut detector = Detector::default();
        let bursts: Vec<f64> = (0..60).map(|n| if n % 2 == 0 { 50.0 } else { 0.0 }).collect();
        assert!(feed(&mut detector, &bursts).iter().all(|alarmed| !alarmed));
    }

    /// A slow machine's evidence must have stood for as many turns as a fast one's.
    #[test]
    fn windows_of_a_slow_shaft_count_by_its_turns() {
        let settings = MonitorSettings::default();
        let raised_at = |turns_per_h| {
            let mut detector = Detector::default();
            (0..2000).position(|n| {
                let when = When { hours: f64::from(n) / 360.0, turns_per_h: Some(turns_per_h) };
                detector.take(
                    &BTreeMap::from([("rms_g".to_owned(), 9.0)]),
                    (when, &ANY),
                    &settings,
                );
                detector.alarmed()
            })
        };
        assert_eq!(raised_at(60.0 * 1800.0), Some(5));
        // 10 rpm: 500 turns take 50 minutes, which is 300 windows every 10 s
        assert!(raised_at(60.0 * 10.0).is_some_and(|n| (295..310).contains(&n)));
    }
}
