//! Tests the properties that hold for any signal: Parseval, scale, shift.

use std::f64::consts::TAU;

use pdm_dsp::envelope::{RecordLines, squared_envelope};
use pdm_dsp::spectrum::amplitude_spectrum;
use pdm_dsp::transform::Transforms;
use pdm_dsp::{DefectOrders, Request, diagnose};
use pdm_shared::units::{Band, Rpm, SampleRate};
use proptest::prelude::*;

fn samples() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(-100.0_f64..100.0, 300..600)
}

/// Impacts at 3.585 orders of 30 Hz that ring at 3 kHz, over noise: 1.5 s at 12 kHz.
fn faulty(gain: f64, delay: usize) -> Vec<f64> {
    let mut noise = 99_u32;
    (0..18_000 + delay)
        .map(|i| {
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let random = f64::from(noise >> 8) / f64::from(1 << 24) - 0.5;
            let t = i as f64 / 12_000.0;
            let since = t - (t * 107.55).floor() / 107.55;
            gain * (2.0 * (-700.0 * since).exp() * (TAU * 3000.0 * since).sin() + 2.0 * random)
        })
        .skip(delay)
        .collect()
}

fn request() -> Request {
    let orders = DefectOrders::new(3.585, 5.415, 2.357, 0.3983).expect("orders");
    let rate = SampleRate::new(12_000.0).expect("rate");
    Request::new(rate, Rpm::new(1800.0).expect("speed"), orders)
}

proptest! {
    /// The power of the samples is the power of the lines.
    #[test]
    fn parseval_holds_for_any_length(samples in samples()) {
        let n = samples.len();
        let lines = Transforms::new().forward(&mut samples.clone());
        let time: f64 = samples.iter().map(|x| x * x).sum();
        let frequency: f64 = lines
            .iter()
            .enumerate()
            .map(|(k, z)| {
                let is_single = k == 0 || (2 * k == n);
                z.norm_sqr() * if is_single { 1.0 } else { 2.0 }
            })
            .sum::<f64>() / n as f64;
        prop_assert!((time - frequency).abs() <= 1e-10 * time);
    }

    /// The mean squared envelope of the whole band is twice the power of the samples without mean.
    #[test]
    fn the_squared_envelope_keeps_the_power(samples in samples()) {
        let mut transforms = Transforms::new();
        let record = RecordLines::of(&samples, 1000.0, &mut transforms);
        let used = &samples[..record.samples];
        let mean = used.iter().sum::<f64>() / used.len() as f64;
        let power = used.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / used.len() as f64;
        let band = Band::new(0.0, 500.0).expect("band");
        let envelope = squared_envelope(&record, band, &mut transforms);
        // The line at the Nyquist frequency counts twice: one line of hundreds.
        let nyquist = record.lines[record.lines.len() - 1].norm_sqr();
        let slack = 3.0 * nyquist / (used.len() as f64).powi(2) + 1e-9 * power;
        prop_assert!((envelope.mean() - 2.0 * power).abs() <= slack);
    }

    /// Twice the signal, twice the amplitudes; a circular shift changes none.
    #[test]
    fn amplitudes_scale_with_the_signal(samples in samples(), gain in 0.01_f64..100.0) {
        let mut transforms = Transforms::new();
        let one = amplitude_spectrum(&samples, 1.0, &mut transforms);
        let scaled: Vec<f64> = samples.iter().map(|x| gain * x).collect();
        let other = amplitude_spectrum(&scaled, 1.0, &mut transforms);
        for (a, b) in one.amplitude.iter().zip(&other.amplitude) {
            prop_assert!((gain * a - b).abs() <= 1e-9 * gain * 100.0);
        }
    }

    #[test]
    fn a_delay_moves_no_magnitude(samples in samples(), delay in 0_usize..300) {
        let mut transforms = Transforms::new();
        let mut shifted = samples.clone();
        shifted.rotate_left(delay);
        let one = transforms.forward(&mut samples.clone());
        let other = transforms.forward(&mut shifted);
        for (a, b) in one.iter().zip(&other) {
            prop_assert!((a.norm() - b.norm()).abs() <= 1e-7);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    /// Neither unit nor moment of the measurement changes the verdict.
    #[test]
    fn a_fault_is_named_in_any_unit_at_any_moment(
        exponent in -3.0_f64..3.0, delay in 0_usize..2000
    ) {
        let found = diagnose(&faulty(10_f64.powf(exponent), delay), &request()).expect("judged");
        prop_assert_eq!(found.dominant, Some(pdm_shared::fault::Fault::OuterRace));
        prop_assert!(found.confidence >= pdm_dsp::diagnose::verdict::NAMING_CONFIDENCE);
    }

    /// No input panics, whatever the numbers are.
    #[test]
    fn any_samples_at_all_are_judged_or_refused(
        samples in prop::collection::vec(any::<f64>(), 0..400)
    ) {
        let _ = diagnose(&samples, &request());
    }
}

#[test]
fn fourteen_turns_are_too_few_for_a_name() {
    let record = faulty(1.0, 0);
    let found = diagnose(&record[..5_600], &request()).expect("judged");
    assert_eq!(found.dominant, None);
    let why = found.undetermined.expect("told").to_string();
    assert!(why.contains("shaft turns") && why.contains("at least 15"), "{why}");
}

#[test]
fn what_cannot_be_measured_is_refused_with_its_numbers() {
    let mut wild = faulty(1.0, 0);
    wild[17] = f64::NAN;
    let text = |samples: &[f64], request: &Request| {
        diagnose(samples, request).expect_err("refused").to_string()
    };
    assert_eq!(text(&wild, &request()), "sample 17 is NaN; every sample must be finite");
    assert_eq!(text(&[0.0; 10], &request()), "10 samples, at least 256 are needed");
    let band = Some(Band::new(500.0, 9000.0).expect("band"));
    let high = Request { envelope_band: band, ..request() };
    let told = text(&faulty(1.0, 0), &high);
    assert_eq!(told, "envelope band 500–9000 Hz reaches above the Nyquist frequency 6000 Hz");
}
