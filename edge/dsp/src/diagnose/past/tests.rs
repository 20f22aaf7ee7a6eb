//! Claims about what a past keeps, how it is averaged, and what is taken off a look.

use pdm_shared::units::Band;
use proptest::prelude::*;

use super::*;

const SLOT: Slot = Slot { division: 1, index: 0, is_fine: true };
const SHAFT_HZ: f64 = 25.0;
const TURNS: f64 = 200.0;

/// A spectrum with lines 0.01 orders apart, in which these orders stand at these levels.
fn spectrum(lines: &[(f64, f64)]) -> LogSpectrum {
    let df_hz = SHAFT_HZ / 100.0;
    let mut levels = vec![1.0; 2500];
    for (order, level) in lines {
        levels[(order * SHAFT_HZ / df_hz).round() as usize] = *level;
    }
    let band = Band::new(0.0, 5000.0).expect("valid");
    LogSpectrum {
        slot: SLOT,
        band,
        is_whole: true,
        is_fine: true,
        block_turns: 100.0,
        df_hz,
        levels,
    }
}

fn past(lines: &[(f64, f64)], cage_db: f64) -> Past {
    let spectra = [spectrum(lines)];
    let parts_db = PerPart { outer_race: 4.0, inner_race: 0.5, ball: -1.0 };
    Past::of_look((&spectra, &spectra), (SHAFT_HZ, TURNS), (parts_db, Some(cage_db)))
}

fn level_at(spectra: &[LogSpectrum], order: f64) -> f64 {
    spectra[0].levels[(order * 100.0).round() as usize]
}

/// The standing level is taken off, less 6 dB; a new line stays as it is, and so does another
/// source.
#[test]
fn what_stood_is_taken_off_each_line_and_what_is_new_stays() {
    let past = past(&[(3.58, 14.0), (5.0, 5.9)], 0.0);
    let mut look = [spectrum(&[(3.57, 20.0), (5.0, 9.0), (7.2, 15.0)])];
    past.take_off(&mut look, false, SHAFT_HZ);
    assert!(
        (level_at(&look, 3.57) - 12.0).abs() < 1e-9,
        "one line beside the past's is the same line"
    );
    assert!((level_at(&look, 5.0) - 9.0).abs() < 1e-9, "below 6 dB nothing is kept");
    assert!((level_at(&look, 7.2) - 15.0).abs() < 1e-9);
    let mut coarse =
        [LogSpectrum { slot: Slot { is_fine: false, ..SLOT }, ..spectrum(&[(3.58, 20.0)]) }];
    past.take_off(&mut coarse, false, SHAFT_HZ);
    assert!((level_at(&coarse, 3.58) - 20.0).abs() < 1e-9, "another spectrum than the past's");
}

/// The order axis: the same machine 4 % faster has its lines at the same orders.
#[test]
fn a_past_holds_at_another_speed() {
    let past = past(&[(3.58, 14.0)], 0.0);
    let faster = 1.04 * SHAFT_HZ;
    let mut look = [LogSpectrum { df_hz: faster / 100.0, ..spectrum(&[(3.58, 20.0)]) }];
    past.take_off(&mut look, true, faster);
    assert!((level_at(&look, 3.58) - 12.0).abs() < 1e-9);
}

/// Noise that stands in one look of three is let go; what the first look did not show never comes
/// in.
#[test]
fn a_past_is_the_mean_of_its_looks_and_never_rises_above_the_first_ones_lines() {
    let first = past(&[(3.58, 14.0), (4.4, 9.0)], 3.0);
    let other = past(&[(3.58, 11.0), (6.6, 20.0)], 6.0);
    let both = first.clone().and(&other).and(&other);
    assert_eq!(both.looks(), 3);
    assert!((both.cage_db() - 5.0).abs() < 1e-9);
    let mut look = [spectrum(&[(3.58, 20.0), (4.4, 9.0), (6.6, 20.0)])];
    both.take_off(&mut look, false, SHAFT_HZ);
    assert!((level_at(&look, 3.58) - 14.0).abs() < 0.11, "12 dB are the mean");
    assert!(
        (level_at(&look, 4.4) - 9.0).abs() < 1e-9 && (level_at(&look, 6.6) - 20.0).abs() < 1e-9
    );
    assert_eq!(Past::default().and(&first), first);
}

#[test]
fn the_elements_whose_combs_stood_are_told() {
    let standing = past(&[], 3.5).standing();
    assert_eq!(standing, [(Fault::OuterRace, 4.0), (Fault::Cage, 3.5)]);
    assert!(past(&[], -2.0).cage_db().abs() < 1e-12, "what is below the chance level adds nothing");
}

#[test]
fn a_past_of_a_thousand_lines_a_spectrum_keeps_the_highest_in_its_bytes() {
    let levels: Vec<f64> = (0..2500).map(|i| 6.0 + f64::from(i % 97) / 8.0).collect();
    let one = |index| LogSpectrum {
        slot: Slot { division: 8, index, ..SLOT },
        levels: levels.clone(),
        ..spectrum(&[])
    };
    let spectra: Vec<LogSpectrum> = (0..8).map(one).collect();
    let past = Past::of_look((&spectra, &spectra), (SHAFT_HZ, TURNS), (PerPart::default(), None));
    let bytes = past.to_bytes();
    assert!(bytes.len() <= MOST_BYTES, "{}", bytes.len());
    assert_eq!(Past::from_bytes(&bytes).expect("its own form").to_bytes(), bytes);
    assert!(past.spectra.iter().all(|kept| kept.lines.iter().all(|line| line.level > 120)));
}

proptest! {
    #[test]
    fn bytes_of_anything_are_no_past_or_one_that_comes_back(
        mut bytes in prop::collection::vec(any::<u8>(), 0..200), is_form in any::<bool>()
    ) {
        if let (true, Some(first)) = (is_form, bytes.first_mut()) {
            *first = 1;
        }
        if let Some(past) = Past::from_bytes(&bytes) {
            prop_assert_eq!(past.to_bytes().len(), bytes.len());
        }
    }
}
