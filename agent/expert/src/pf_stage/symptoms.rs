//! Stages that levels and impulsiveness ask for, with lines or without.

use pdm_shared::text::Text;

use super::Ask;
use crate::case::Case;
use crate::rules::Rules;
use crate::screening::Screening;
use crate::wording::fact;

/// The stages that the anomaly's contributors and the kurtosis ask for.
pub(super) struct Symptoms {
    pub(super) level: bool,
    pub(super) velocity_only: bool,
    pub(super) impulsive: bool,
    pub(super) envelope: bool,
}

impl Symptoms {
    pub(super) fn of(case: &Case<'_>, rules: &Rules) -> Self {
        let kurtosis_high =
            case.event.time_domain.kurtosis.is_some_and(|k| k >= rules.stage.high_kurtosis);
        Self {
            level: case.contributes(is_level),
            velocity_only: case.contributes(is_velocity) && !case.contributes(is_bearing),
            impulsive: kurtosis_high || case.contributes(is_impulsive),
            envelope: case.contributes(is_envelope),
        }
    }

    pub(super) fn asks(
        &self,
        case: &Case<'_>,
        screening: &Screening,
        spreading: u32,
        rules: &Rules,
    ) -> Vec<Ask> {
        let time = &case.event.time_domain;
        let contributors =
            |rule: &str| fact("anomaly.contributors", &case.event.anomaly.contributors, rule);
        let kurtosis = |rule: &str| fact("time_domain.kurtosis", time.kurtosis, rule);
        let mut asks = Vec::new();
        if self.impulsive {
            let why =
                Text::new("충격성 신호(첨도·파고율) 증가", "impulsive (kurtosis, crest factor)");
            asks.push(Ask { stage: 1, why, evidence: vec![kurtosis("STAGE-1B")] });
        }
        if self.envelope {
            let why = Text::new("고주파 포락선 수준 상승", "the high-frequency envelope is up");
            asks.push(Ask { stage: 1, why, evidence: vec![contributors("STAGE-1C")] });
        }
        if self.level && (self.impulsive || self.envelope || !self.velocity_only) {
            let why = Text::new("가속도 수준 자체가 상승", "the level itself is up");
            let evidence =
                vec![contributors("STAGE-2B"), fact("time_domain.rms_g", time.rms_g, "STAGE-2B")];
            asks.push(Ask { stage: 2, why, evidence });
        }
        let stood = screening.fault.is_some() || spreading >= rules.screening.confirm_after;
        if self.level && self.impulsive && stood {
            let why = Text::new(
                "수준과 충격성이 함께 상승하여 박리가 커지는 양상",
                "level and impulsiveness up together: a spall that grows",
            );
            let evidence = vec![contributors("STAGE-3B"), kurtosis("STAGE-3B")];
            asks.push(Ask { stage: 3, why, evidence });
        }
        asks
    }
}

/// A contributor's own name: `bpfo.envelope_amplitude` is an envelope amplitude.
fn own_name(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn is_level(name: &str) -> bool {
    own_name(name).starts_with("rms") || is_velocity(name)
}

fn is_velocity(name: &str) -> bool {
    own_name(name).starts_with("velocity")
}

fn is_impulsive(name: &str) -> bool {
    ["kurtosis", "crest", "peak", "impulse", "clearance", "shape"]
        .iter()
        .any(|word| own_name(name).starts_with(word))
}

fn is_envelope(name: &str) -> bool {
    ["envelope", "noise_floor", "snr"].iter().any(|word| own_name(name).starts_with(word))
}

fn is_bearing(name: &str) -> bool {
    !is_velocity(name)
}
