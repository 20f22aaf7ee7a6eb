//! The pictures of made waveforms show what was put into them.

use std::f64::consts::TAU;

use super::*;

/// An outer race that is struck: a ring of 4 kHz at 3.5848 times 29.95 Hz, with the shaft's line
/// and noise.
fn struck(document: &CaptureDocument) -> Vec<f32> {
    let (rate, shaft) = (document.sampling_rate_hz, document.speed.shaft_speed_rpm / 60.0);
    let mut noise = 7_u32;
    (0..document.samples)
        .map(|i| {
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let t = i as f64 / rate;
            let since =
                (t * shaft * document.bearing.bpfo).fract() / (shaft * document.bearing.bpfo);
            let ring = 20.0 * (-900.0 * since).exp() * (TAU * 4000.0 * since).sin();
            let hiss = f64::from(noise >> 8) / f64::from(1 << 24) - 0.5;
            (ring + hiss + 2.0 * (TAU * shaft * t).sin()) as f32
        })
        .collect()
}

fn document() -> CaptureDocument {
    let text = include_str!("../../../../config/examples/capture.json");
    serde_json::from_str(text).expect("a document")
}

fn asked() -> DrawingOptions {
    DrawingOptions { columns: 600, band: None, is_whole: false, ranges: None }
}

fn highest(curve: &Curve, from: f64, to: f64) -> f64 {
    let inside = curve.points.iter().filter(|point| (from..=to).contains(&point.x));
    inside.map(|point| point.high).fold(f64::NEG_INFINITY, f64::max)
}

/// Issue 39: each picture shows the struck race where its mark stands.
#[test]
fn a_struck_race_stands_under_its_marks() {
    let document = document();
    let samples = struck(&document);
    assert!(draw_pictures(&samples, &document, &asked()).band.is_some(), "one is found");
    let band = Band::new(3000.0, 5000.0).ok();
    let pictures = draw_pictures(&samples, &document, &DrawingOptions { band, ..asked() });
    let hz = document.bearing.bpfo * pictures.shaft_hz;
    let line = highest(&pictures.envelope, hz - 5.0, hz + 5.0);
    let beside = highest(&pictures.envelope, 1.3 * hz, 1.7 * hz);
    assert!(line > 10.0 * beside, "{line} {beside}");
    let one = highest(&pictures.orders, 0.9, 1.1);
    assert!((one - 2.0).abs() < 0.2, "the shaft's line stands at order 1: {one}");
    let gap = highest(&pictures.cepstrum, 0.97 / hz, 1.03 / hz);
    let off = highest(&pictures.cepstrum, 1.3 / hz, 1.7 / hz);
    assert!(gap > 3.0 * off, "{gap} {off}");
    assert_eq!(pictures.marks[1].name, "BPFO");
    assert_eq!((pictures.stretch, pictures.not_finite), (document.window, 0));
}

/// A struck race moves no mark: without a clear line of the shaft its configured speed stands.
#[test]
fn a_shaft_without_a_line_is_not_followed() {
    let document = document();
    let shaft_hz = document.speed.shaft_speed_rpm / 60.0;
    let with = struck(&document);
    let without: Vec<f32> = (0..)
        .zip(&with)
        .map(|(i, sample)| {
            sample - 2.0 * (TAU * shaft_hz * f64::from(i) / document.sampling_rate_hz).sin() as f32
        })
        .collect();
    let followed = draw_pictures(&with, &document, &asked());
    assert!(followed.is_tracked && (followed.shaft_hz - shaft_hz).abs() < 0.02 * shaft_hz);
    let left = draw_pictures(&without, &document, &asked());
    assert_eq!((left.is_tracked, left.shaft_hz), (false, shaft_hz));
}

/// A single spike is drawn, however many samples share its column.
#[test]
fn thinning_loses_no_peak() {
    let document = document();
    let mut samples = vec![0.0_f32; document.samples as usize];
    samples[200_001] = 77.0;
    samples[100_003] = -55.0;
    samples[5] = f32::NAN;
    let curve = draw_pictures(&samples, &document, &asked()).waveform;
    assert!(curve.points.len() <= 601, "{}", curve.points.len());
    assert!((highest(&curve, -20.0, 20.0) - 77.0).abs() < 1e-9);
    let lowest = curve.points.iter().map(|point| point.low).fold(0.0, f64::min);
    assert!((lowest + 55.0).abs() < 1e-9, "{lowest}");
    assert!(curve.points.is_sorted_by(|a, b| a.x < b.x));
}

/// A capture over another one has its axes; gaps end the stretch, and bad samples are counted.
#[test]
fn axes_are_shared_and_gaps_end_the_stretch() {
    let mut other = document();
    other.samples = 300_000;
    other.window.first_sample = 200_000;
    other.gaps = vec![pdm_shared::capture::CaptureGap { before_sample: 190_000, missing_s: 1.0 }];
    let base = draw_pictures(&struck(&document()), &document(), &asked());
    let mut samples = struck(&other);
    samples[195_000] = f32::INFINITY;
    let ask = DrawingOptions { ranges: Some(base.ranges), is_whole: true, ..asked() };
    let over = draw_pictures(&samples, &other, &ask);
    assert_eq!(over.ranges, base.ranges);
    assert_eq!(over.stretch, CaptureStretch { first_sample: 190_000, samples: 110_000 });
    assert_eq!(over.not_finite, 1);
}

/// Nothing panics, whatever a document that was let in says of its samples.
#[test]
fn short_and_empty_captures_are_drawn_as_far_as_they_go() {
    for count in [0, 1, 2, 7, 100] {
        let mut document = document();
        document.samples = count;
        document.window = CaptureStretch { first_sample: 0, samples: count };
        let samples = vec![1.0; count as usize];
        let pictures = draw_pictures(&samples, &document, &asked());
        assert!(pictures.waveform.points.len() <= count as usize);
        let few = draw_pictures(&samples[..samples.len() / 2], &document, &asked());
        assert!(
            few.waveform.points.len() <= count as usize,
            "fewer samples than the document says"
        );
    }
}
