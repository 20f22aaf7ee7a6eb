//! From distances to an alarm: run rules to raise it, evidence for health to clear it.
//!
//! One window can never raise an alarm, however wild: every rule wants several. Once raised it
//! stays until the measuring point has been in its baseline for longer than it had been outside.

use std::collections::BTreeMap;

use pdm_shared::event::Persistence;
use serde::{Deserialize, Serialize};

use super::MonitorSettings;
use super::feature::Kind;
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
}

/// A raised alarm; times in windows judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Alarm {
    /// Where the windows begin that raised it.
    since: u64,
    /// Last window with a feature outside.
    evidence: u64,
    /// Features that raised it.
    by: Vec<String>,
}

/// What the detector says of a window.
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

    /// Windows since the last evidence of an alarm that stands; 0 without one.
    pub(super) fn quiet_for(&self) -> u64 {
        self.alarm.as_ref().map_or(0, |alarm| self.judged - alarm.evidence)
    }

    /// Takes the distances of a window's features from their baselines.
    pub(super) fn take(
        &mut self,
        distances: &BTreeMap<String, f64>,
        settings: &MonitorSettings,
    ) -> Finding {
        self.judged += 1;
        for key in distances.keys() {
            self.recent.entry(key.clone()).or_default();
        }
        for (key, column) in &mut self.recent {
            column.push(distances.get(key).copied().unwrap_or(f64::NAN), settings.memory());
        }
        self.recent.retain(|_, column| column.0.iter().any(|distance| distance.is_finite()));
        let main = settings.main_rule();
        let mut levels: Vec<(String, f64)> = self
            .recent
            .iter()
            .map(|(key, column)| (key.clone(), persistent(&column.0, main)))
            .collect();
        levels.sort_by(|a, b| b.1.total_cmp(&a.1));
        let worst = levels.first().map_or(0.0, |(_, level)| level.max(0.0));
        let outside = worst > settings.clear_sigma;
        let raised = self.judge(outside, settings);
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

    /// Raises or clears; true if the alarm was raised now.
    fn judge(&mut self, outside: bool, settings: &MonitorSettings) -> bool {
        let hits: Vec<(String, u32)> = self
            .recent
            .iter()
            .filter_map(|(key, column)| {
                let rules = if Kind::of(key) == Kind::Shape {
                    std::slice::from_ref(&settings.shape_rule)
                } else {
                    &settings.rules
                };
                let held = rules.iter().filter(|rule| holds(&column.0, **rule));
                Some((key.clone(), held.map(|rule| rule.n).max()?))
            })
            .collect();
        let evidence = outside || !hits.is_empty();
        let Some(alarm) = &mut self.alarm else {
            // the windows that raise an alarm are its first evidence
            let looked_at = hits.iter().map(|(_, n)| u64::from(*n)).max();
            self.alarm = looked_at.map(|n| Alarm {
                since: self.judged.saturating_sub(n),
                evidence: self.judged,
                by: hits.into_iter().map(|(key, _)| key).collect(),
            });
            return self.alarm.is_some();
        };
        if evidence {
            alarm.evidence = self.judged;
        }
        let outside_for = alarm.evidence.saturating_sub(alarm.since);
        let wanted = outside_for
            .saturating_mul(u64::from(settings.clear_factor))
            .max(u64::from(settings.clear_windows))
            .min(u64::from(settings.clear_windows_most));
        if self.judged - alarm.evidence > wanted {
            self.alarm = None;
        }
        false
    }

    /// How many of the latest windows lay beyond the main rule's distance in any feature.
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

    fn feed(detector: &mut Detector, distances: &[f64]) -> Vec<bool> {
        let settings = MonitorSettings::default();
        let one = |d: &f64| BTreeMap::from([("rms_g".to_owned(), *d)]);
        distances
            .iter()
            .map(|distance| {
                detector.take(&one(distance), &settings);
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
    fn a_large_step_is_told_in_four_windows_and_a_small_one_in_twelve() {
        let told = |distance| {
            let mut detector = Detector::default();
            feed(&mut detector, &[0.0; 20]);
            feed(&mut detector, &[distance; 20]).iter().position(|alarmed| *alarmed)
        };
        assert_eq!(told(10.0), Some(3));
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
            detector.take(&distances, &settings);
        }
        assert!(detector.alarmed());
    }

    #[test]
    fn an_alarm_outlasts_a_recovery_shorter_than_ten_times_its_own_length() {
        let mut detector = Detector::default();
        feed(&mut detector, &[9.0; 60]);
        assert!(feed(&mut detector, &[0.0; 550]).iter().all(|alarmed| *alarmed));
        assert_eq!(feed(&mut detector, &[0.0; 100]).last(), Some(&false));
    }
}
