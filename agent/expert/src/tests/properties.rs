//! Properties of every event's judgement: monotonic risk, grounded words.

use pdm_shared::event::{BaselineState, Event, Harmonic, IsoZone, Rul, TrendDirection};
use pdm_shared::fault::Fault;
use proptest::prelude::*;

use super::{Life, example, judge_one};

prop_compose! {
    fn any_event()(
        anomaly in any::<bool>(),
        contributors in prop::sample::subsequence(
            vec!["rms_g", "kurtosis", "envelope_rms_g", "velocity_rms_mm_s", "crest_factor"], 0..5),
        kurtosis in prop::option::of(1.5..20.0_f64),
        zone in prop::option::of(
            prop::sample::select(vec![IsoZone::A, IsoZone::B, IsoZone::C, IsoZone::D])),
        fault in prop::option::of(prop::sample::select(Fault::ALL.to_vec())),
        confidence in 0.0..=1.0_f64,
        snr in prop::option::of(-5.0..40.0_f64),
        harmonics in 0_u32..6,
        sidebands in 0_u32..6,
        direction in prop::sample::select(vec![
            TrendDirection::Stable, TrendDirection::Rising, TrendDirection::Falling,
            TrendDirection::Unknown]),
        accelerating in any::<bool>(),
        slope in prop::option::of(-1.0..1.0_f64),
        life in prop::option::of((0.0..2000.0_f64, 0.0..1.0_f64)),
        learning in any::<bool>(),
        valid in prop::bool::weighted(0.9),
    ) -> Event {
        let mut event = example();
        event.anomaly_detected = anomaly;
        event.anomaly.contributors = contributors.into_iter().map(str::to_owned).collect();
        if learning { event.anomaly.baseline.state = BaselineState::Learning; }
        event.time_domain.kurtosis = kurtosis;
        event.time_domain.iso_zone = zone;
        event.frequency_domain.dominant_fault = fault;
        event.frequency_domain.confidence = if fault.is_some() { confidence } else { 0.0 };
        let lines = &mut event.frequency_domain;
        for line in [&mut lines.bpfo, &mut lines.bpfi, &mut lines.bsf, &mut lines.ftf] {
            line.snr_db = snr;
            line.harmonics = (1..=harmonics)
                .map(|n| Harmonic { n, frequency_hz: 100.0 * f64::from(n), snr_db: 10.0 })
                .collect();
            line.sidebands.count = sidebands;
        }
        event.trend.trend_direction = direction;
        event.trend.acceleration_detected = accelerating;
        event.trend.slope = slope;
        event.rul = match life {
            Some((hours, share)) => Rul {
                hours: Some(hours), ci_low_hours: Some(hours * share),
                ci_high_hours: Some(hours * 2.0), confidence: Some(0.8),
                model: Some("bayesian_exponential".to_owned()), unknown: None,
            },
            None => Rul::unknown("no trend"),
        };
        event.signal_quality.valid = valid;
        event
    }
}

/// Returns the same event with one severity input worse.
fn worse(event: &Event, which: usize) -> Event {
    let mut event = event.clone();
    let frequency = &mut event.frequency_domain;
    match which {
        0 => event.anomaly_detected = true,
        1 => event.time_domain.kurtosis = Some(event.time_domain.kurtosis.unwrap_or(1.5) + 5.0),
        2 => event.time_domain.iso_zone = Some(IsoZone::D),
        3 => {
            for line in
                [&mut frequency.bpfo, &mut frequency.bpfi, &mut frequency.bsf, &mut frequency.ftf]
            {
                line.snr_db = Some(line.snr_db.unwrap_or(-5.0) + 10.0);
            }
        }
        4 => frequency.confidence = if frequency.dominant_fault.is_some() { 1.0 } else { 0.0 },
        5 => event.trend.trend_direction = TrendDirection::Rising,
        6 if event.trend.trend_direction == TrendDirection::Rising => {
            event.trend.acceleration_detected = true;
        }
        7 => {
            event.rul.hours = event.rul.hours.map(|hours| hours / 3.0);
            event.rul.ci_low_hours = event.rul.ci_low_hours.map(|hours| hours / 3.0);
        }
        8 => {
            frequency.dominant_fault = frequency.dominant_fault.or(Some(Fault::InnerRace));
            frequency.confidence = frequency.confidence.max(0.9);
        }
        _ => {
            event.anomaly.contributors =
                vec!["rms_g".to_owned(), "kurtosis".to_owned(), "envelope_rms_g".to_owned()];
        }
    }
    event
}

proptest! {
    /// R-AGENT-4: more evidence never means less risk.
    #[test]
    fn the_risk_never_falls_when_a_severity_input_rises(event in any_event(),
        which in 0_usize..10) {
        let before = judge_one(&event).diagnosis;
        let after = judge_one(&worse(&event, which)).diagnosis;
        prop_assert!(
            after.risk_level >= before.risk_level,
            "input {which}: {} to {}", before.risk_level, after.risk_level
        );
    }

    /// R-AGENT-2: `Life::next` checks that no figure is without its source.
    #[test]
    fn every_figure_in_the_words_has_its_source(events in prop::collection::vec(any_event(),
        1..12)) {
        let mut life = Life::new();
        for event in &events {
            let judgement = life.next(event);
            prop_assert_eq!(judgement.diagnosis.thoughts.len(), 5);
            prop_assert!(judgement.diagnosis.risk_level >= judgement.state.risk());
        }
    }

    #[test]
    fn missing_data_lowers_certainty_never_below_what_stands(event in any_event()) {
        let mut life = Life::new();
        let before = life.next(&example()).diagnosis.risk_level;
        prop_assert!(life.next(&event).diagnosis.risk_level >= before);
    }
}
