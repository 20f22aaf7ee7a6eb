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
    assert!("i8".parse::<Encoding>().is_err());
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

/// Three channels at 2,560 Hz as i16, frame by frame, of which `lost` bytes are missing after 500
/// frames of a block; the blocks that are handed out, as RMS in counts of each channel.
fn levels_after_loss(lost: usize) -> Vec<[f64; 3]> {
    let format = FrameFormat {
        channels: 3,
        sample_rate: SampleRate::new(2560.0).expect("valid"),
        encoding: Encoding::I16,
        block_samples: 2560,
        calibrations: vec![],
    };
    let mut bytes = Vec::new();
    for n in 0..8 * 2560u32 {
        for (channel, level) in [(0u32, 600.0), (1, 110.0), (2, 130.0)] {
            let hash = (n * 3 + channel).wrapping_mul(2_654_435_761) >> 8;
            let noise = f64::from(hash) / f64::from(1 << 24) - 0.5;
            bytes.extend(((level * noise) as i16).to_le_bytes());
        }
    }
    // in the second block, or, as whole samples, in the first
    let at = if lost.is_multiple_of(2) { 3000 } else { 6 * 2560 + 3000 };
    bytes.drain(at..at + lost);
    let mut decoder = FrameDecoder::new(format, Arc::new(SystemClock));
    decoder.push(&bytes);
    let mut levels = Vec::new();
    while let Some(block) = decoder.aligned_block().expect("of the encoding") {
        let rms = |channel: usize| {
            let row = block.accel_m_s2.row(channel);
            (row.iter().map(|a| a * a).sum::<f64>() / 2560.0).sqrt() / M_S2_PER_G
        };
        levels.push([rms(0), rms(1), rms(2)]);
    }
    levels
}

/// One sample lost turned the channels for good; one byte lost made noise of them.
#[test]
fn a_sample_or_a_byte_that_is_lost_in_raw_frames_costs_blocks_and_turns_no_channel() {
    for lost in 0..6 {
        let levels = levels_after_loss(lost);
        assert!(levels.len() >= if lost == 0 { 8 } else { 4 }, "{lost}: {}", levels.len());
        for [x, y, z] in levels {
            let is_right = (150.0..200.0).contains(&x) && (25.0..45.0).contains(&y) && z < 45.0;
            assert!(is_right, "{lost} bytes lost: {x} {y} {z}");
        }
    }
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
