//! Claims about the ring: what goes in comes out, gaps and set clocks included, within the budget.

use proptest::prelude::*;

use super::*;

const RATE_HZ: f64 = 1000.0;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_unix_ms(1_700_000_000_000 + ms).expect("in the calendar")
}

fn origin(first: u64, ms: i64, is_after_gap: bool) -> Origin {
    Origin { first, started_at: at(ms), rate_hz: RATE_HZ, stated_hz: None, is_after_gap }
}

/// Samples whose value is their number.
fn numbers(first: u64, count: usize) -> Vec<f64> {
    (0..count as u64).map(|n| ((first + n) % 100_000) as f64 * 0.25).collect()
}

fn filled(blocks: &[(u64, usize, i64, bool)]) -> Ring {
    let mut ring = Ring::new(1 << 20);
    for &(first, count, ms, is_after_gap) in blocks {
        ring.push(&numbers(first, count), origin(first, ms, is_after_gap));
    }
    ring
}

fn is_from(taken: &[f32], first: u64) -> bool {
    let expected = numbers(first, taken.len());
    taken.iter().zip(expected).all(|(a, b)| a.to_bits() == (b as f32).to_bits())
}

#[test]
fn a_stretch_over_chunks_and_waiting_samples_is_bit_equal() {
    let ring = filled(&[(0, 20_000, 0, true), (20_000, 700, 20_000, false)]);
    let taken = ring.taken(Wanted { from: 5_000, to: 20_650, anchor: 16_500 }).expect("there");
    assert_eq!((taken.accel_m_s2.len(), taken.first, taken.anchor), (15_650, 5_000, 11_500));
    assert!(is_from(&taken.accel_m_s2, 5_000) && taken.is_exact && taken.gaps.is_empty());
    assert_eq!(taken.started_at, at(5_000));
}

#[test]
fn a_short_gap_is_kept_and_a_long_one_ends_the_stretch() {
    let ring = filled(&[(0, 3_000, 0, true), (3_000, 3_000, 3_500, true)]);
    let taken = ring.taken(Wanted { from: 1_000, to: 5_000, anchor: 4_000 }).expect("there");
    assert_eq!(taken.gaps, [CaptureGap { before_sample: 2_000, missing_s: 0.5 }]);
    assert!(is_from(&taken.accel_m_s2, 1_000));
    // snapshots a minute apart are captures of their own
    let ring = filled(&[(0, 3_000, 0, true), (3_000, 3_000, 60_000, true)]);
    let taken = ring.taken(Wanted { from: 1_000, to: 9_000, anchor: 4_000 }).expect("there");
    assert_eq!((taken.first, taken.accel_m_s2.len()), (3_000, 3_000));
    assert!(taken.gaps.is_empty());
}

#[test]
fn a_clock_that_is_set_back_loses_no_sample_of_a_stream() {
    let ring = filled(&[(0, 9_000, 0, true), (9_000, 9_000, -3_600_000, false)]);
    let taken = ring.taken(Wanted { from: 8_000, to: 10_000, anchor: 9_500 }).expect("there");
    assert!(is_from(&taken.accel_m_s2, 8_000) && taken.accel_m_s2.len() == 2_000);
    // at a gap nothing says how much is missing: the stretch ends there
    let ring = filled(&[(0, 9_000, 0, true), (9_000, 9_000, -3_600_000, true)]);
    let taken = ring.taken(Wanted { from: 8_000, to: 10_000, anchor: 9_500 }).expect("there");
    assert_eq!((taken.first, taken.cut), (9_000, Some(CaptureCut::Clock)));
}

#[test]
fn another_rate_ends_the_stretch() {
    let mut ring = Ring::new(1 << 20);
    ring.push(&numbers(0, 3_000), origin(0, 0, true));
    let faster = Origin { rate_hz: 2_000.0, ..origin(3_000, 3_000, true) };
    ring.push(&numbers(3_000, 3_000), faster);
    let taken = ring.taken(Wanted { from: 2_000, to: 5_000, anchor: 4_000 }).expect("there");
    assert_eq!((taken.first, taken.rate_hz), (3_000, 2_000.0));
    assert_eq!(taken.cut, Some(CaptureCut::Rate), "and says so");
}

/// A sender states 10,240 Hz while the gateway's measurement comes down to it from 12,800 Hz in
/// steps of 2 %: one stretch, which is cut at what it stated before and says so.
#[test]
fn the_rate_that_a_sender_states_ends_a_stretch_and_its_measurement_does_not() {
    let mut ring = Ring::new(1 << 22);
    let mut first = 0_u64;
    let mut push = |ring: &mut Ring, stated_hz: f64, rate_hz: f64, is_after_gap: bool| {
        let block = origin(first, first.cast_signed(), is_after_gap);
        ring.push(&numbers(first, 5_000), Origin { rate_hz, stated_hz: Some(stated_hz), ..block });
        first += 5_000;
    };
    (0..4).for_each(|n| push(&mut ring, 12_800.0, 12_800.0, n == 0));
    let mut rate_hz = 12_800.0;
    for n in 0..12 {
        push(&mut ring, 10_240.0, rate_hz, n == 0);
        rate_hz = f64::max(rate_hz * 0.98, 10_240.0);
    }
    let taken = ring.taken(Wanted { from: 10_000, to: 80_000, anchor: 75_000 }).expect("there");
    assert_eq!((taken.first, taken.accel_m_s2.len()), (20_000, 60_000), "all since the change");
    assert!(is_from(&taken.accel_m_s2, 20_000));
    assert_eq!(taken.cut, Some(CaptureCut::Rate));
    let within = ring.taken(Wanted { from: 30_000, to: 80_000, anchor: 75_000 }).expect("there");
    assert_eq!((within.first, within.cut), (30_000, None));
}

#[test]
fn what_has_left_or_is_not_there_is_not_made_up() {
    let mut ring = Ring::new(60_000);
    for block in 0..40_u64 {
        let first = block * 5_000;
        let noise: Vec<f64> =
            (0..5_000_u64).map(|n| ((first + n) * 2_654_435_761 % 8_000_000) as f64).collect();
        ring.push(&noise, origin(first, first.cast_signed(), block == 0));
        assert!(ring.bytes() <= 60_000, "{}", ring.bytes());
    }
    assert!(ring.taken(Wanted { from: 0, to: 100, anchor: 50 }).is_none(), "left");
    assert!(ring.taken(Wanted { from: 0, to: 1 << 40, anchor: 1 << 39 }).is_none(), "to come");
    let taken = ring.taken(Wanted { from: 0, to: 200_000, anchor: 199_000 }).expect("newest");
    assert!(taken.first > 150_000 && taken.accel_m_s2.len() as u64 == 200_000 - taken.first);
    assert_eq!(taken.cut, Some(CaptureCut::Memory));
}

proptest! {
    /// However a stream is chopped into blocks, what is taken out is the same.
    #[test]
    fn captures_do_not_depend_on_the_size_of_blocks(
        sizes in proptest::collection::vec(1_usize..6_000, 1..12), from in 0_u64..20_000,
        length in 1_u64..20_000
    ) {
        let mut ring = Ring::new(1 << 22);
        let mut first = 0_u64;
        for size in sizes {
            ring.push(&numbers(first, size), origin(first, first.cast_signed(), first == 0));
            first += size as u64;
        }
        let anchor = from.min(first - 1);
        let taken =
            ring.taken(Wanted { from: anchor, to: anchor + length, anchor }).expect("there");
        prop_assert_eq!(taken.accel_m_s2.len() as u64, length.min(first - anchor));
        prop_assert!(is_from(&taken.accel_m_s2, anchor));
        prop_assert_eq!(taken.started_at, at(anchor.cast_signed()));
    }
}
