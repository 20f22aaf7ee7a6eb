//! The thresholds of all rules, typed, from `config/diagnosis.toml`.
//!
//! The file that the program was built with is embedded, so the rules work without any file.
//! Reading a file is the caller's; [`Rules::check`] then refuses what no rule can work with (NaN,
//! an empty range, a matrix in which a worse stage is milder).

use pdm_shared::event::IsoZone;
use pdm_shared::risk::RiskLevel;
use serde::{Deserialize, Serialize};

/// The value of `schema` in a rules file.
pub const RULES_SCHEMA: &str = "pdm.rules/1";

const EMBEDDED: &str = include_str!("../../../config/diagnosis.toml");

/// The thresholds of the rules. See `config/diagnosis.toml` for the source of each value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// Always [`RULES_SCHEMA`].
    pub schema: String,
    /// First thought.
    pub screening: Screening,
    /// Second thought.
    pub stage: Stage,
    /// Third thought.
    pub degradation: Degradation,
    /// How long a replacement takes to arrange.
    pub lead_time: LeadTime,
    /// Fourth thought.
    pub rul: Rul,
    /// Fifth thought.
    pub risk: Risk,
    /// How far a window may lie ahead of the clock by which it is judged, s. No threshold of a
    /// rules file: the agent sets `[intake] ahead_s`.
    #[serde(skip, default = "an_hour_s")]
    pub ahead_s: f64,
}

/// Chosen: a clock without time synchronisation drifts by about 1 s a day (10 ppm), so an hour is
/// years of drift; a clock in local time or with a wrong date is off by more.
const fn an_hour_s() -> f64 {
    3600.0
}

/// Thresholds of the screening.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Screening {
    /// Confidence (0…1) from which a name is taken.
    pub name_confidence: f64,
    /// Confidence (0…1) from which a name is certain.
    pub sure_confidence: f64,
    /// Line level worth a second look, dB.
    pub suspicious_snr_db: f64,
    /// Raw kurtosis that contradicts "no anomaly".
    pub suspicious_kurtosis: f64,
    /// Judgements in a row that unflagged evidence must stand.
    pub confirm_after: u32,
}

/// Thresholds of the P–F stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// Level of a clear line, dB.
    pub clear_snr_db: f64,
    /// Multiples that count as many.
    pub many_harmonics: usize,
    /// Sidebands that count as many.
    pub many_sidebands: u32,
    /// Raw kurtosis that counts as impulsive.
    pub high_kurtosis: f64,
    /// Share of the highest kurtosis below which it has fallen.
    pub fallen_kurtosis_ratio: f64,
    /// Highest kurtosis needed for a fall to mean something.
    pub fallen_kurtosis_from: f64,
    /// Ratio of a raised floor.
    pub raised_floor_ratio: f64,
    /// Ratio of a floor that drowns the lines.
    pub drowning_floor_ratio: f64,
    /// Zone of limited operation.
    pub limited_zone: IsoZone,
    /// Zone of damage.
    pub damage_zone: IsoZone,
}

/// Thresholds of the degradation's speed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Degradation {
    /// Lead times that must remain for "slow".
    pub slow_from_lead_times: f64,
}

/// How long a replacement takes to arrange, hours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeadTime {
    /// The time until the parts are there, h.
    pub parts_h: f64,
    /// Planning, h.
    pub planning_h: f64,
    /// The time until the machine may stop, h.
    pub stop_window_h: f64,
}

impl LeadTime {
    /// The sum, h.
    pub fn total_h(&self) -> f64 {
        self.parts_h + self.planning_h + self.stop_window_h
    }

    /// A lead time of `total_h` hours in the same proportions: for test rigs and demonstrations
    /// whose whole life is shorter than a real order.
    #[must_use]
    pub fn scaled_to(&self, total_h: f64) -> Self {
        let factor = total_h / self.total_h().max(f64::MIN_POSITIVE);
        Self {
            parts_h: self.parts_h * factor,
            planning_h: self.planning_h * factor,
            stop_window_h: self.stop_window_h * factor,
        }
    }
}

/// Thresholds of the remaining life.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rul {
    /// Lead times below which the lower bound asks for Warning.
    pub warning_lead_times: f64,
    /// Coverage below which an interval is weak.
    pub weak_confidence: f64,
    /// Upper / lower bound above which an interval is wide.
    pub wide_ratio: f64,
    /// Upper / lower bound above which no life is told.
    pub useless_ratio: f64,
}

/// The risk matrix and its hysteresis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Risk {
    /// The risk by stage 0–4, trend not rising.
    pub stable: [RiskLevel; 5],
    /// The risk by stage, trend rising.
    pub rising: [RiskLevel; 5],
    /// The risk by stage, trend accelerating.
    pub accelerating: [RiskLevel; 5],
    /// No spare, or the plant stands when this machine stands.
    pub critical_asset: bool,
    /// Level over its baseline from which Warning is asked for; an unnamed element below it is
    /// Watch at most.
    pub warning_level_ratio: f64,
    /// Level over its baseline from which Critical is asked for; an unnamed element below it is
    /// Warning at most.
    pub critical_level_ratio: f64,
    /// Better judgements in a row before a level falls.
    pub downgrade_after: u32,
}

/// A rule with a value that it cannot have. The caller reports it with the file it came from.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key} is {value}, allowed is {allowed}")]
pub struct RuleError {
    /// Dotted key, as in `config/diagnosis.toml`.
    pub key: &'static str,
    /// The value that was given.
    pub value: String,
    /// The values that the key allows.
    pub allowed: &'static str,
}

impl RuleError {
    fn new(key: &'static str, value: impl ToString, allowed: &'static str) -> Self {
        Self { key, value: value.to_string(), allowed }
    }
}

impl Default for Rules {
    fn default() -> Self {
        toml::from_str(EMBEDDED).expect("the embedded rules are read by a test")
    }
}

impl Rules {
    /// Checks every value; whoever reads rules calls this before judging by them.
    ///
    /// # Errors
    /// [`RuleError`] that names the first wrong key and what it allows.
    pub fn check(&self) -> Result<(), RuleError> {
        if self.schema != RULES_SCHEMA {
            return Err(RuleError::new("schema", &self.schema, RULES_SCHEMA));
        }
        for (key, value) in [
            ("screening.name_confidence", self.screening.name_confidence),
            ("screening.sure_confidence", self.screening.sure_confidence),
            ("stage.fallen_kurtosis_ratio", self.stage.fallen_kurtosis_ratio),
            ("rul.weak_confidence", self.rul.weak_confidence),
        ] {
            if !(0.0..=1.0).contains(&value) {
                return Err(RuleError::new(key, value, "0 to 1"));
            }
        }
        for (key, value) in self.positive_values() {
            if !(value.is_finite() && value > 0.0) {
                return Err(RuleError::new(key, value, "a finite number above 0"));
            }
        }
        self.check_counts()?;
        self.check_matrix()
    }

    fn positive_values(&self) -> [(&'static str, f64); 16] {
        [
            ("screening.suspicious_snr_db", self.screening.suspicious_snr_db),
            ("screening.suspicious_kurtosis", self.screening.suspicious_kurtosis),
            ("stage.clear_snr_db", self.stage.clear_snr_db),
            ("stage.high_kurtosis", self.stage.high_kurtosis),
            ("stage.fallen_kurtosis_from", self.stage.fallen_kurtosis_from),
            ("stage.raised_floor_ratio", self.stage.raised_floor_ratio),
            ("stage.drowning_floor_ratio", self.stage.drowning_floor_ratio),
            ("degradation.slow_from_lead_times", self.degradation.slow_from_lead_times),
            ("lead_time.parts_h", self.lead_time.parts_h),
            ("lead_time.planning_h", self.lead_time.planning_h),
            ("lead_time.stop_window_h", self.lead_time.stop_window_h),
            ("rul.warning_lead_times", self.rul.warning_lead_times),
            ("rul.wide_ratio", self.rul.wide_ratio),
            ("rul.useless_ratio", self.rul.useless_ratio),
            ("risk.warning_level_ratio", self.risk.warning_level_ratio),
            ("risk.critical_level_ratio", self.risk.critical_level_ratio),
        ]
    }

    fn check_counts(&self) -> Result<(), RuleError> {
        for (key, value) in [
            ("screening.confirm_after", self.screening.confirm_after),
            ("risk.downgrade_after", self.risk.downgrade_after),
        ] {
            if value == 0 {
                return Err(RuleError::new(key, value, "1 or more"));
            }
        }
        Ok(())
    }

    /// A worse stage or a worse trend must never lower the risk.
    fn check_matrix(&self) -> Result<(), RuleError> {
        let rows = [
            ("risk.stable", &self.risk.stable),
            ("risk.rising", &self.risk.rising),
            ("risk.accelerating", &self.risk.accelerating),
        ];
        for (key, row) in rows {
            if !row.is_sorted() {
                let allowed = "levels that do not fall from stage to stage";
                return Err(RuleError::new(key, format!("{row:?}"), allowed));
            }
        }
        for pair in rows.windows(2) {
            let [(_, lower), (key, higher)] = pair else { continue };
            if lower.iter().zip(higher.iter()).any(|(a, b)| b < a) {
                let allowed = "levels not below those of the milder trend";
                return Err(RuleError::new(key, format!("{higher:?}"), allowed));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_rules_are_read() {
        let rules = Rules::default();
        assert_eq!(rules.check(), Ok(()));
        assert!((rules.lead_time.total_h() - 168.0).abs() < 1e-9);
    }

    fn refused(was: &str, is: &str) -> RuleError {
        let text = EMBEDDED.replace(was, is);
        let rules: Rules = toml::from_str(&text).expect("of the right form");
        rules.check().expect_err("a wrong value")
    }

    /// The file says that every key is needed: a line that is deleted is refused with its key, and
    /// no default takes its place.
    #[test]
    fn a_rules_file_without_any_one_of_its_keys_is_refused() {
        let keys = EMBEDDED.lines().filter(|line| line.contains(" = ") && !line.starts_with('#'));
        let keys: Vec<&str> = keys.filter_map(|line| line.split(" = ").next()).collect();
        assert!(keys.len() > 25, "{keys:?}");
        for key in keys {
            let is_of_key = |line: &&str| {
                line.split(" = ").next().is_some_and(|name| name.trim() == key.trim())
            };
            let without: Vec<&str> = EMBEDDED.lines().filter(|line| !is_of_key(line)).collect();
            let error = toml::from_str::<Rules>(&without.join("\n")).expect_err(key).to_string();
            assert!(error.contains(&format!("missing field `{}`", key.trim())), "{error}");
        }
    }

    #[test]
    fn a_matrix_in_which_a_worse_stage_is_milder_is_refused() {
        let error = refused(
            r#"["Normal", "Watch", "Watch", "Warning", "Critical"]"#,
            r#"["Normal", "Watch", "Warning", "Watch", "Critical"]"#,
        );
        assert_eq!(error.key, "risk.stable");
    }

    #[test]
    fn a_threshold_that_is_no_number_is_refused_with_its_key() {
        assert_eq!(refused("parts_h = 120.0", "parts_h = nan").key, "lead_time.parts_h");
    }

    #[test]
    fn a_scaled_lead_time_keeps_its_proportions() {
        let scaled = Rules::default().lead_time.scaled_to(1.68);
        assert!((scaled.total_h() - 1.68).abs() < 1e-9 && (scaled.parts_h - 1.2).abs() < 1e-9);
    }
}
