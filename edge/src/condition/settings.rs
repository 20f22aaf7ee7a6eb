//! The settings of a measuring point's judgement, each value with its source.
//!
//! "Chosen" means chosen by us on the data named beside it; everything else names its source.
//! Everything is counted in windows, so the same values serve windows every ten seconds and every
//! six hours.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::rul::LifeModel;

/// "`k` of the last `n` windows beyond `sigma`": the form of the run rules of control charts
/// (Western Electric, Statistical Quality Control Handbook, 1956), where a small deviation needs
/// more windows than a large one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Windows that must lie beyond.
    pub k: u32,
    /// Windows looked at.
    pub n: u32,
    /// Robust standard deviations above the baseline.
    pub sigma: f64,
}

/// Settings of a [`Monitor`](super::Monitor).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MonitorSettings {
    /// Usable windows that make a baseline of one operating state (at least 10 are used). 50 gives
    /// the median to a sixth of a standard deviation; chosen as the most that a short accelerated
    /// life of 500 windows can spare.
    pub baseline_windows: u32,
    /// While levels still fall (run-in) the baseline waits, but no longer than this many windows.
    /// Chosen: four baselines, on the FEMTO runs, whose levels fall for 60 to 600 windows.
    pub run_in_windows: u32,
    /// Any of these raises the alarm. The first is the one that `persistence` reports. Chosen on
    /// IMS test 2 and three FEMTO runs: no alarm in the healthy part, the outer-race line of IMS
    /// at its first rise; none of the rules is reached by five wild windows in a row of fifteen.
    pub rules: Vec<Rule>,
    /// The rule for shape features (kurtosis, crest factor, peak), whose healthy values are
    /// heavy-tailed: longer. Chosen on the same runs.
    pub shape_rule: Rule,
    /// A vibration level counts only from this multiple of its baseline on. ISO 20816-1's criterion
    /// II calls a change significant from a quarter of a zone limit on; on seven FEMTO runs sound
    /// levels wander by up to 1.28 times their lowest for hours. A historian's column, of which
    /// nothing is known, is judged by its own scatter alone.
    pub level_ratio: f64,
    /// The ratio of a level where only strong evidence counts: in the hold-back after a standstill.
    /// 6 dB is the change that Randall (Vibration-based Condition Monitoring, 2011) calls
    /// significant.
    pub strong_ratio: f64,
    /// Turns of the shaft over which evidence must have stood before it raises an alarm, where the
    /// speed is known. Chosen: a slow machine's windows hold few turns each; half a minute at 2,000
    /// rpm is below the period of every recorded run.
    pub least_turns: f64,
    /// Hours without a window to judge after which the levels are learnt anew, within
    /// [`Self::strong_ratio`] of the first. Chosen on IMS test 1: of its 21 gaps the four of 34 h
    /// and more moved the levels of sound bearings by up to 20 %, the shorter ones by below 2 %.
    pub standstill_h: f64,
    /// How far a baseline follows levels up while nothing is suspected, as a ratio a day. Chosen:
    /// seasons move a level by 20 % in 100 days; damage doubles it within a P–F interval of one to
    /// nine months, which is three to twenty times as fast.
    pub drift_per_day: f64,
    /// The number of robust standard deviations below which a feature is back in its baseline.
    /// Chosen: half of the alarm's.
    pub clear_sigma: f64,
    /// An alarm clears after at least this many windows in the baseline …
    pub clear_windows: u32,
    /// … and after this many times the windows that it took to believe it.
    pub clear_factor: u32,
    /// … but at most after this many windows.
    pub clear_windows_most: u32,
    /// ISO 20816-3's limit between the zones B and C for this machine, mm/s RMS. A change of
    /// velocity counts only from a quarter of it on (ISO 20816-1, criterion II). Without: that of
    /// the machine's zones, else 4.5 (group 1, rigid support).
    pub velocity_zone_bc_mm_s: Option<f64>,
    /// Failure thresholds by feature key in the feature's own unit, where the plant knows one.
    /// Without one for `velocity_rms_mm_s`: the limit between the machine's zones C and D, else
    /// 7.1 (ISO 20816-3, group 1, rigid support).
    pub failure_thresholds: BTreeMap<String, f64>,
    /// Where no threshold is known, a level's multiple of its baseline at failure. Chosen on the
    /// ends of three FEMTO runs (3.2 to 17, median 4.7) and of IMS test 2 (4.5 at four hours before
    /// its end, 9 at it); its square for energies.
    pub failure_ratio: f64,
    /// How bearings go on once their damage shows: fitted, so no setting of a plant.
    #[serde(skip)]
    pub life: LifeModel,
}

/// The one feature whose failure threshold is known without the plant.
const VELOCITY: &str = "velocity_rms_mm_s";
/// ISO 20816-3, group 1, rigid support.
const ZONE_BC_MM_S: f64 = 4.5;
/// ISO 20816-3, group 1, rigid support.
const ZONE_CD_MM_S: f64 = 7.1;

impl Default for MonitorSettings {
    fn default() -> Self {
        Self {
            baseline_windows: 50,
            run_in_windows: 200,
            rules: vec![
                Rule { k: 8, n: 10, sigma: 5.0 },
                Rule { k: 6, n: 6, sigma: 6.0 },
                Rule { k: 12, n: 15, sigma: 4.0 },
            ],
            shape_rule: Rule { k: 24, n: 30, sigma: 5.0 },
            level_ratio: 1.3,
            strong_ratio: 2.0,
            least_turns: 500.0,
            standstill_h: 24.0,
            drift_per_day: 0.002,
            clear_sigma: 2.5,
            clear_windows: 15,
            clear_factor: 1,
            clear_windows_most: 1000,
            velocity_zone_bc_mm_s: None,
            failure_thresholds: BTreeMap::new(),
            failure_ratio: 5.0,
            life: LifeModel::default(),
        }
    }
}

/// A setting that cannot be meant. The caller shows it with its place in the configuration.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{key} is {got}, allowed is {allowed}")]
pub struct SettingsError {
    /// The setting, as in the configuration.
    pub key: String,
    /// The value.
    pub got: String,
    /// The allowed values.
    pub allowed: &'static str,
}

impl MonitorSettings {
    /// Checks what the types cannot say.
    ///
    /// # Errors
    /// The first setting that cannot be meant.
    pub fn check(&self) -> Result<(), SettingsError> {
        let refuse = |key: &str, got: String, allowed| {
            Err(SettingsError { key: key.to_owned(), got, allowed })
        };
        for (key, got, least, most) in [
            ("baseline_windows", self.baseline_windows, 10, 1000),
            ("run_in_windows", self.run_in_windows, 0, 100_000),
        ] {
            if !(least..=most).contains(&got) {
                let allowed = if least == 0 { "0 to 100000" } else { "10 to 1000" };
                return refuse(key, got.to_string(), allowed);
            }
        }
        if self.rules.is_empty() {
            return refuse("rules", "empty".to_owned(), "at least one rule");
        }
        let named = self.rules.iter().enumerate().map(|(n, rule)| (format!("rules[{n}]"), rule));
        for (key, rule) in named.chain([("shape_rule".to_owned(), &self.shape_rule)]) {
            let Rule { k, n, sigma } = *rule;
            if k == 0 || k > n || n > 100 || !(sigma.is_finite() && sigma > 0.0) {
                let got = format!("{k} of {n} beyond {sigma}");
                return refuse(&key, got, "1 ≤ k ≤ n ≤ 100 and a sigma above 0");
            }
        }
        for (key, got, least) in [
            ("clear_sigma", self.clear_sigma, 0.0),
            ("velocity_zone_bc_mm_s", self.velocity_zone_bc(), 0.0),
            ("failure_ratio", self.failure_ratio, 1.0),
            ("level_ratio", self.level_ratio, 1.0),
            ("strong_ratio", self.strong_ratio, 1.0),
            ("standstill_h", self.standstill_h, 0.0),
        ] {
            if !(got.is_finite() && got > least) {
                let allowed = if least > 0.0 { "a number above 1" } else { "a number above 0" };
                return refuse(key, got.to_string(), allowed);
            }
        }
        for (key, got) in [("least_turns", self.least_turns), ("drift_per_day", self.drift_per_day)]
        {
            if !(got.is_finite() && got >= 0.0) {
                return refuse(key, got.to_string(), "a number not below 0");
            }
        }
        let mut levels = self.failure_thresholds.iter();
        levels.find(|(_, level)| !level.is_finite()).map_or(Ok(()), |(key, level)| {
            refuse(&format!("failure_thresholds.{key}"), level.to_string(), "a finite number")
        })
    }

    /// Sets these limits between the zones B, C and D, mm/s, where no others are given.
    #[must_use]
    pub fn in_zones(mut self, zone_bc_mm_s: f64, zone_cd_mm_s: f64) -> Self {
        self.velocity_zone_bc_mm_s.get_or_insert(zone_bc_mm_s);
        self.failure_thresholds.entry(VELOCITY.to_owned()).or_insert(zone_cd_mm_s);
        self
    }

    /// The limit between the zones B and C, mm/s.
    pub(super) fn velocity_zone_bc(&self) -> f64 {
        self.velocity_zone_bc_mm_s.unwrap_or(ZONE_BC_MM_S)
    }

    /// A feature's value at failure, in its own unit, where one is known.
    pub(super) fn failure_threshold(&self, key: &str) -> Option<f64> {
        let usual = (key == VELOCITY).then_some(ZONE_CD_MM_S);
        self.failure_thresholds.get(key).copied().or(usual)
    }

    /// The rule that `persistence` and the score refer to.
    pub(super) fn main_rule(&self) -> Rule {
        self.rules.first().copied().unwrap_or(self.shape_rule)
    }

    /// Most windows that any rule looks back.
    pub(super) fn memory(&self) -> usize {
        let all = self.rules.iter().chain(std::iter::once(&self.shape_rule));
        // a bound on what configuration can make the state grow to
        all.map(|rule| rule.n as usize).max().unwrap_or(0).clamp(1, 100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_allowed_and_what_cannot_be_meant_is_named() {
        let fine = MonitorSettings::default();
        assert_eq!(fine.check(), Ok(()));
        let rule = Rule { k: 9, n: 5, sigma: 4.0 };
        let error = MonitorSettings { rules: vec![rule], ..fine.clone() }.check();
        let text = error.expect_err("more windows than there are").to_string();
        assert!(text.starts_with("rules[0] is 9 of 5 beyond 4"), "{text}");
        let error = MonitorSettings { baseline_windows: 3, ..fine.clone() }.check();
        assert_eq!(error.expect_err("too few").key, "baseline_windows");
        let error = MonitorSettings { failure_ratio: 0.5, ..fine }.check();
        assert_eq!(error.expect_err("below the healthy level").key, "failure_ratio");
    }
}
