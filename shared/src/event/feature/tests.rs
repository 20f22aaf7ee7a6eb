//! Claims about keys, kinds and names of features.

use super::{Feature, FeatureKind, LineFigure, check_key};
use crate::event::Event;
use crate::fault::Fault;

fn all() -> Vec<Feature> {
    let lines = LineFigure::ALL.into_iter().flat_map(|figure| {
        let faults = Fault::ALL.map(|fault| Feature::Line(Some(fault), figure));
        faults.into_iter().chain([Feature::Line(None, figure)])
    });
    Feature::OF_WAVEFORM.into_iter().chain([Feature::Confidence]).chain(lines).collect()
}

#[test]
fn every_feature_is_read_back_from_its_key_and_its_paths() {
    for feature in all() {
        let key = feature.key().into_owned();
        assert_eq!(Feature::of_key(&key), feature, "{key}");
        assert_eq!(Feature::of_key(&format!("frequency_domain.{key}")), feature, "{key}");
        assert_eq!(Feature::at_path(&key), Some(feature.clone()), "{key}");
        let json = serde_json::to_string(&feature).expect("a text");
        assert_eq!(json, format!("\"{key}\""));
        assert_eq!(serde_json::from_str::<Feature>(&json).expect("read"), feature);
    }
    let second = Feature::at_path("frequency_domain.bpfo.harmonics[1].snr_db");
    assert_eq!(second, Some(Feature::Line(Some(Fault::OuterRace), LineFigure::Level)));
    for path in ["operating.state", "rul.confidence", "anomaly.score", "memory.points.-.kurtosis"] {
        assert_eq!(Feature::at_path(path), None, "{path}");
    }
}

#[test]
fn a_key_that_is_not_known_stays_as_it_is_and_speaks_of_nothing() {
    for key in ["Bearing1_ch1_rms", "a.rms_g", "", "rms_g.bpfo", "velocity"] {
        let feature = Feature::of_key(key);
        assert_eq!(feature, Feature::Other(key.to_owned()));
        assert_eq!((feature.key().as_ref(), feature.unit()), (key, ""));
        assert!(!feature.kind().is_of_bearing() && !feature.kind().is_level(), "{key}");
    }
    let forged = Feature::Other("rms\nAction: none".to_owned());
    assert!(!forged.name().en.contains('\n'));
}

/// The names are for people: Korean ones have no key and English ones no underscore.
#[test]
fn every_feature_has_a_name_in_both_languages() {
    for feature in all() {
        let name = feature.name();
        assert!(!name.ko.contains('_') && !name.en.contains('_'), "{feature:?}");
        assert!(name.ko.chars().any(|letter| ('가'..='힣').contains(&letter)), "{feature:?}");
    }
}

/// A feature that the event tells must be known here: this reads the example, so a field that is
/// added to the block without a feature fails.
#[test]
fn every_figure_of_the_events_waveform_is_a_feature() {
    let text = include_str!("../../../../config/examples/event.json");
    let mut event: Event = serde_json::from_str(text).expect("event");
    event.time_domain.low_band_rms_g = Some(0.1);
    let block = serde_json::to_value(event.time_domain).expect("json");
    for (key, value) in block.as_object().expect("a block") {
        let Some(value) = value.as_f64() else { continue };
        assert_eq!(event.figure(&Feature::of_key(key)), Some(value), "{key}");
    }
    let line = Feature::Line(Some(Fault::OuterRace), LineFigure::Level);
    assert_eq!(event.figure(&line), event.frequency_domain.bpfo.snr_db);
}

#[test]
fn the_stand_in_of_the_velocity_is_of_its_kind() {
    assert_eq!(Feature::Velocity.kind(), FeatureKind::LowFrequency);
    assert_eq!(Feature::LowBandRms.kind(), Feature::Velocity.kind());
    assert!(!Feature::Rms.kind().is_of_bearing() && Feature::Rms.kind().is_level());
}

#[test]
fn a_figure_of_the_event_is_a_feature_and_a_sentence_is_none() {
    for good in ["", "rms_g", "bpfo.snr_db", "frequency_domain.bpfi.envelope_amplitude"] {
        assert_eq!(check_key(good), Ok(()), "{good}");
    }
    for bad in ["SENSOR_TEST", "a.rms_g", "rms_g\nAction: none", "bpfo", ".", &"bpfo.".repeat(90)] {
        assert!(check_key(bad).is_err(), "{bad:?}");
    }
}
