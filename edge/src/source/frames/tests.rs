//! Claims about frames: no sample changes its channel, however the bytes arrive.

use std::sync::Arc;

use pdm_service::clock::SystemClock;
use pdm_shared::units::M_S2_PER_G;
use proptest::prelude::*;

use super::*;

fn format(encoding: Encoding) -> FrameFormat {
    let sample_rate = SampleRate::new(1000.0).expect("valid");
    FrameFormat { channels: 2, sample_rate, encoding, block_samples: 2, calibrations: vec![] }
}

#[test]
fn every_encoding_keeps_sign_and_channel() {
    let i16s = [1i16, -2, 300, -400].map(i16::to_le_bytes).concat();
    let i24s: Vec<u8> =
        [1i32, -2, 300, -400].iter().flat_map(|v| v.to_le_bytes()[..3].to_vec()).collect();
    let f32s = [1f32, -2.0, 300.0, -400.0].map(f32::to_le_bytes).concat();
    for (encoding, bytes) in [(Encoding::I16, i16s), (Encoding::I24, i24s), (Encoding::F32, f32s)] {
        let accel = format(encoding).decode(&bytes) / M_S2_PER_G;
        let expected = ndarray::arr2(&[[1.0, 300.0], [-2.0, -400.0]]);
        assert!((accel - expected).iter().all(|d| d.abs() < 1e-9), "{encoding:?}");
    }
}

#[test]
fn a_format_out_of_range_is_refused() {
    let error = FrameFormat { channels: 0, ..format(Encoding::I16) }.check().expect_err("0");
    assert_eq!(error.to_string(), "number of channels is 0, allowed is 1 to 1024");
    let three = vec![Calibration::default(); 3];
    assert!(FrameFormat { calibrations: three, ..format(Encoding::I16) }.check().is_err());
    assert!("i32".parse::<Encoding>().is_err());
}

/// With a copy of the rest for each block, a message of 16 MiB in blocks of two frames took
/// minutes.
#[test]
fn a_long_message_of_short_blocks_is_moved_only_once() {
    let mut decoder = FrameDecoder::new(format(Encoding::I16), Arc::new(SystemClock));
    decoder.push(&[0; 8 * 100]);
    let mut moves = 0;
    while decoder.block().is_some() {
        moves += usize::from(decoder.taken == 0);
    }
    assert!(moves <= 7, "moved {moves} times"); // halves of 100 blocks
    assert_eq!(decoder.wanted(), 8);
}

#[test]
fn after_a_gap_a_block_stands_alone() {
    let mut decoder = FrameDecoder::new(format(Encoding::I16), Arc::new(SystemClock));
    decoder.push(&[0; 8 + 3]);
    assert!(!decoder.block().expect("whole").follows_on);
    decoder.push(&[0; 5]);
    assert!(decoder.block().expect("whole").follows_on);
    decoder.push(&[0; 7]);
    decoder.gap();
    decoder.push(&[0; 8]);
    assert!(!decoder.block().expect("whole").follows_on);
}

proptest! {
    #[test]
    fn however_the_bytes_are_cut_the_samples_are_the_same(
        samples in proptest::collection::vec(any::<i16>(), 0..60), cut in 1usize..9
    ) {
        let bytes: Vec<u8> = samples.iter().flat_map(|s| s.to_le_bytes()).collect();
        let mut decoder = FrameDecoder::new(format(Encoding::I16), Arc::new(SystemClock));
        let mut got = Vec::new();
        let mut take = |block: Block| {
            for frame in block.accel_m_s2.columns() {
                got.extend(frame.iter().map(|a| (a / M_S2_PER_G).round()));
            }
        };
        for piece in bytes.chunks(cut) {
            decoder.push(piece);
            while let Some(block) = decoder.block() {
                take(block);
            }
        }
        decoder.rest().map(&mut take);
        let whole = samples.len() / 2 * 2;
        let expected: Vec<f64> = samples[..whole].iter().map(|&s| f64::from(s)).collect();
        prop_assert_eq!(got, expected);
    }
}
