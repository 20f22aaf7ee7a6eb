//! Stages that levels and impulsiveness ask for, with lines or without.

use pdm_shared::feature::FeatureKind;
use pdm_shared::text::Text;

use super::Ask;
use crate::case::Case;
use crate::rules::Rules;
use crate::screening::Screening;
use crate::wording::{fact, figure};

/// The symptoms in the anomaly's contributors and the kurtosis.
pub(super) struct Symptoms {
    pub(super) level: bool,
    pub(super) low_frequency: bool,
    pub(super) impulsive: bool,
    pub(super) envelope: bool,
}

impl Symptoms {
    pub(super) fn of(case: &Case<'_>, rules: &Rules) -> Self {
        let is_of_cable = case.has_spikes_of_cable();
        let kurtosis_high = !is_of_cable
            && case.event.time_domain.kurtosis.is_some_and(|k| k >= rules.stage.high_kurtosis);
        let mut symptoms =
            Self { level: false, low_frequency: false, impulsive: kurtosis_high, envelope: false };
        if case.event.anomaly_detected {
            case.event.contributing().for_each(|feature| symptoms.add(feature.kind()));
        }
        if case.is_usual_again(rules) {
            // the flag is of the windows before this one
            (symptoms.level, symptoms.low_frequency) = (false, false);
            (symptoms.impulsive, symptoms.envelope) = (false, false);
        }
        if is_of_cable {
            // a spike raises every feature of the high frequencies
            (symptoms.impulsive, symptoms.envelope) = (false, false);
        }
        symptoms
    }

    fn add(&mut self, kind: FeatureKind) {
        match kind {
            FeatureKind::Level => self.level = true,
            FeatureKind::LowFrequency => (self.level, self.low_frequency) = (true, true),
            FeatureKind::Impulsiveness => self.impulsive = true,
            FeatureKind::Envelope | FeatureKind::LineLevel => self.envelope = true,
            FeatureKind::LinePlace | FeatureKind::Verdict | FeatureKind::Unknown => {}
        }
    }

    /// Stage 3 for signs of the bearing at a level that stops a machine.
    fn by_height(&self, case: &Case<'_>, rules: &Rules) -> Option<Ask> {
        let ratio =
            case.event.anomaly.level_ratio.filter(|_| self.level && self.is_of_bearing())?;
        (ratio >= rules.risk.critical_level_ratio).then(|| {
            let told = figure(ratio);
            Ask {
                stage: 3,
                why: Text::new(
                    format!("수준이 기준 대비 {told}배"),
                    format!("the level stands at {told} times its baseline"),
                ),
                evidence: vec![fact("anomaly.level_ratio", ratio, "STAGE-3G")],
            }
        })
    }

    /// Whether anything speaks of the bearing itself.
    pub(super) const fn is_of_bearing(&self) -> bool {
        self.impulsive || self.envelope
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
            let why = Text::new(
                "고주파 포락선 또는 결함선 수준 상승",
                "the high-frequency envelope or a defect line is up",
            );
            asks.push(Ask { stage: 1, why, evidence: vec![contributors("STAGE-1C")] });
        }
        if self.level && (self.is_of_bearing() || screening.fault.is_some()) {
            let why = Text::new("가속도 수준 자체가 상승", "the level itself is up");
            let evidence =
                vec![contributors("STAGE-2B"), fact("time_domain.rms_g", time.rms_g, "STAGE-2B")];
            asks.push(Ask { stage: 2, why, evidence });
        }
        asks.extend(self.by_height(case, rules));
        let stood = screening.fault.is_some() || spreading >= rules.screening.confirm_after;
        if self.level && self.impulsive && stood {
            let why = if screening.fault.is_some() {
                Text::new(
                    "수준과 충격성이 함께 상승하여 박리가 커지는 양상",
                    "level and impulsiveness up together: a spall that grows",
                )
            } else {
                Text::new(
                    "수준과 충격성이 함께 상승(손상 확대, 이완 또는 러빙)",
                    "level and impulsiveness up together: growing damage, looseness or rubbing",
                )
            };
            let evidence = vec![contributors("STAGE-3B"), kurtosis("STAGE-3B")];
            asks.push(Ask { stage: 3, why, evidence });
        }
        asks
    }
}
