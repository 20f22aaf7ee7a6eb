//! A measuring point of which a transmitter gives ready-made values and no waveform.
//!
//! The values go into the judgement under the names of the figures that the edge measures itself,
//! so baseline, anomaly, trend and zone are the same. What a waveform alone tells is missing, and
//! the event says so: its window has no samples, its lines are `null` with the reason. Invariant: a
//! figure that no machine has (negative, above 1,000 g or 1,000 mm/s) is never judged.

use pdm_shared::event::feature::Feature;
use pdm_shared::event::{
    Event, FrequencyDomain, QualityFlag, SignalQuality, SpeedSource, TimeDomain,
};
use pdm_shared::id::EventId;
use pdm_shared::time::Timestamp;
use pdm_shared::units::Rpm;

use super::{Observation, Point, nothing_seen};
use crate::event::{Measured, assemble, features};
use crate::quality::Quality;
use crate::source::shaft_speed::ShaftSpeed;
use crate::source::values::{Figure, PointValue, PointValues};

/// Highest level of an acceleration, g, or a velocity, mm/s, that a machine has: the limit for
/// waveforms.
const HIGHEST: f64 = 1000.0;

/// Why the lines are missing.
const NO_WAVEFORM: &str =
    "values of a transmitter without a waveform: defect lines cannot be looked for";

/// The summary of the values of a point.
struct Summary {
    time_domain: TimeDomain,
    quality: SignalQuality,
    is_running: bool,
    temperature_c: Option<f64>,
    speed: Option<Rpm>,
}

impl Point {
    /// Judges the values of a poll at `at`; the event's identity is made from `now`.
    pub(crate) fn judge_values(
        &mut self,
        values: &PointValues,
        at: Timestamp,
        now: Timestamp,
    ) -> Event {
        let own = values.values.iter().filter(|value| value.channel == self.settings.channel);
        let Summary { mut time_domain, quality, is_running, temperature_c, speed } = summary(own);
        let follow = || self.tag.as_ref().and_then(|tag| tag.speed_near(self.settings.speed));
        let told = if speed.is_some() { None } else { follow() };
        let judged = self.judged_by_tag(Quality { signal: quality, is_running }, told, false);
        let Quality { signal: quality, is_running } = judged;
        let zones = self.settings.zones.as_ref();
        time_domain.iso_zone =
            time_domain.velocity_rms_mm_s.and_then(|velocity| Some(zones?.zone(velocity)));
        let tag = speed.or(told.and_then(ShaftSpeed::turning));
        let configured = (self.settings.speed, SpeedSource::Configured);
        let speed = tag.map_or(configured, |speed| (speed, SpeedSource::Tag));
        let state = self.state(speed.0);
        let frequency_domain =
            FrequencyDomain { undetermined: Some(NO_WAVEFORM.to_owned()), ..nothing_seen() };
        let features = features(&time_domain, &frequency_domain, false);
        let is_absent = quality.valid && self.memory.monitor.shows_no_service(&state, &features);
        let judged = Quality { signal: quality, is_running };
        let judged = if is_absent { judged.of_standstill() } else { judged };
        let Quality { signal: quality, is_running } = judged;
        let observation = Observation {
            at,
            state: state.clone(),
            usable: quality.valid,
            turns_per_h: Some(speed.0.shaft_hz() * 3600.0),
            features,
        };
        let judgement = self.memory.monitor.observe(&observation);
        self.memory.alarmed = judgement.anomaly_detected;
        let measured = Measured {
            at,
            samples: 0,
            rate: self.stated_rate,
            measured_rate: None,
            is_running,
            speed,
            learnt_against: None,
            state,
            temperature_c,
            quality,
            input: None,
            time_domain,
            frequency_domain,
            spectra: None,
        };
        assemble(&self.place, EventId::at(now.unix_ms()), measured, judgement)
    }
}

/// The figures in the values, and whether they can be judged.
fn summary<'a>(values: impl Iterator<Item = &'a PointValue>) -> Summary {
    let mut time_domain = TimeDomain::default();
    let (mut is_any, mut is_implausible, mut is_standing) = (false, false, false);
    let (mut temperature_c, mut speed) = (None, None);
    for PointValue { figure, value, standing_below, .. } in values {
        let Some(value) = *value else { continue };
        is_standing |= standing_below.is_some_and(|least| value < least);
        let feature = match figure {
            Figure::Feature(feature) => feature,
            Figure::Temperature => {
                temperature_c = Some(value);
                continue;
            }
            Figure::ShaftSpeed => {
                speed = Rpm::new(value).ok();
                continue;
            }
        };
        is_any = true;
        let is_level = !matches!(feature, Feature::Kurtosis | Feature::CrestFactor);
        is_implausible |= value < 0.0 || is_level && value > HIGHEST;
        if let Some(figure) = figure_of(&mut time_domain, feature) {
            *figure = (value >= 0.0).then_some(value);
        }
    }
    let flag = if !is_any {
        Some(QualityFlag::NotFinite)
    } else if is_implausible {
        Some(QualityFlag::Implausible)
    } else {
        is_standing.then_some(QualityFlag::MachineOff)
    };
    let quality = SignalQuality { valid: flag.is_none(), flags: flag.into_iter().collect() };
    let is_running = flag != Some(QualityFlag::MachineOff);
    Summary { time_domain, quality, is_running, temperature_c, speed }
}

/// The figure of the event's block that a feature is; `None` for one that no transmitter gives.
fn figure_of<'a>(block: &'a mut TimeDomain, feature: &Feature) -> Option<&'a mut Option<f64>> {
    match feature {
        Feature::Rms => Some(&mut block.rms_g),
        Feature::Peak => Some(&mut block.peak_g),
        Feature::CrestFactor => Some(&mut block.crest_factor),
        Feature::Kurtosis => Some(&mut block.kurtosis),
        Feature::EnvelopeRms => Some(&mut block.envelope_rms_g),
        Feature::Velocity => Some(&mut block.velocity_rms_mm_s),
        Feature::PeakToPeak
        | Feature::Skewness
        | Feature::ShapeFactor
        | Feature::ImpulseFactor
        | Feature::ClearanceFactor
        | Feature::LowBandRms
        | Feature::NoiseFloor
        | Feature::Confidence
        | Feature::Line(..)
        | Feature::Other(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(feature: Feature, value: Option<f64>) -> PointValue {
        let figure = Figure::Feature(feature);
        PointValue { channel: 0, figure, value, standing_below: Some(0.2) }
    }

    #[test]
    fn values_that_no_machine_has_are_not_judged() {
        for (value, flag) in [
            (value(Feature::Velocity, Some(2.5)), None),
            (value(Feature::Velocity, None), Some(QualityFlag::NotFinite)),
            (value(Feature::Velocity, Some(1500.0)), Some(QualityFlag::Implausible)),
            (value(Feature::Rms, Some(-1.0)), Some(QualityFlag::Implausible)),
            (value(Feature::Velocity, Some(0.1)), Some(QualityFlag::MachineOff)),
            (value(Feature::Kurtosis, Some(2000.0)), None),
        ] {
            let Summary { quality, is_running, time_domain, .. } = summary([&value].into_iter());
            assert_eq!(quality.flags.first().copied(), flag, "{value:?}");
            assert_eq!(quality.valid, flag.is_none(), "{value:?}");
            assert_eq!(is_running, flag != Some(QualityFlag::MachineOff), "{value:?}");
            assert!(time_domain.rms_g.is_none_or(|rms| rms >= 0.0));
        }
    }

    #[test]
    fn a_value_that_is_missing_beside_another_leaves_the_other_judged() {
        let (velocity, rms) = (value(Feature::Velocity, Some(2.5)), value(Feature::Rms, None));
        let summary = summary([&velocity, &rms].into_iter());
        assert!(summary.quality.valid);
        assert_eq!(summary.time_domain.velocity_rms_mm_s, Some(2.5));
        assert_eq!(summary.time_domain.rms_g, None);
    }

    /// A temperature is carried and is no vibration; a speed that stands is that of the machine.
    #[test]
    fn a_temperature_and_a_speed_stand_beside_the_features() {
        let beside = |figure, value| PointValue {
            channel: 0,
            standing_below: (figure == Figure::ShaftSpeed).then_some(50.0),
            figure,
            value: Some(value),
        };
        let velocity = value(Feature::Velocity, Some(2.5));
        let warm = beside(Figure::Temperature, 71.5);
        let turning = beside(Figure::ShaftSpeed, 1488.0);
        let summary_of = |values: &[&PointValue]| summary(values.iter().copied());
        let all = summary_of(&[&velocity, &warm, &turning]);
        assert!(all.quality.valid && all.is_running);
        assert_eq!((all.temperature_c, all.speed.map(Rpm::get)), (Some(71.5), Some(1488.0)));
        let alone = summary_of(&[&warm]);
        assert_eq!(alone.quality.flags, [QualityFlag::NotFinite]);
        let stands = summary_of(&[&velocity, &beside(Figure::ShaftSpeed, 0.0)]);
        assert_eq!(stands.quality.flags, [QualityFlag::MachineOff]);
        assert!(!stands.is_running && stands.speed.is_none());
    }
}
