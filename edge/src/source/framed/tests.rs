//! Blocks as the reference sender makes them, whole, cut anywhere, damaged and lost.

use std::sync::Arc;

use pdm_service::clock::SystemClock;
use pdm_shared::units::M_S2_PER_G;
use proptest::prelude::*;

use super::*;
use crate::source::frames::Encoding;

const CHANNELS: usize = 3;

fn format() -> FrameFormat {
    FrameFormat {
        channels: CHANNELS,
        sample_rate: SampleRate::new(1000.0).expect("valid"),
        encoding: Encoding::I16,
        block_samples: 5,
        calibrations: vec![],
    }
}

fn decoder() -> FramedDecoder {
    FramedDecoder::new(format(), 0.05, SourceHost::alone(Arc::new(SystemClock), "bench"))
}

/// A block of `frames` frames from number `first` on; a sample is its frame's number times 3 plus
/// its channel, in thousandths of g.
fn block(run: u64, first: u64, frames: u64, rate_hz: f64) -> Vec<u8> {
    let mut body = Vec::new();
    for _ in 0..CHANNELS {
        for number in [0.001f32, 0.0, 0.0] {
            body.extend(number.to_le_bytes());
        }
    }
    for frame in first..first + frames {
        for channel in 0..CHANNELS as u64 {
            body.extend(((frame * 3 + channel) as i16).to_le_bytes());
        }
    }
    let mut head = Vec::from(*MAGIC);
    head.extend([1, 1, 1, 0]);
    head.extend((CHANNELS as u16).to_le_bytes());
    head.extend([0, 0]);
    head.extend((frames as u32).to_le_bytes());
    head.extend(((first / frames) as u32).to_le_bytes());
    head.extend([0; 4]);
    head.extend(run.to_le_bytes());
    head.extend(first.to_le_bytes());
    head.extend(rate_hz.to_le_bytes());
    head.extend(0i64.to_le_bytes());
    head.extend(header::checksum(&body).to_le_bytes());
    let sum = header::checksum(&head);
    head.extend(sum.to_le_bytes());
    assert_eq!(head.len(), HEADER_BYTES);
    head.extend(body);
    head
}

/// The first sample of each block in thousandths of g, and whether the block follows on.
fn blocks(decoder: &mut FramedDecoder) -> Vec<(i64, bool)> {
    let mut got = Vec::new();
    while let Some(block) = decoder.block() {
        let raw = |channel: usize, frame: usize| {
            (block.accel_m_s2[[channel, frame]] / M_S2_PER_G * 1000.0).round() as i64
        };
        for frame in 0..5 {
            for channel in 0..CHANNELS {
                let expected = raw(0, 0) + (frame * 3 + channel).cast_signed() as i64;
                assert_eq!(raw(channel, frame), expected, "channel and order");
            }
        }
        got.push((raw(0, 0), block.follows_on));
    }
    got
}

#[test]
fn blocks_follow_on_and_a_lost_one_is_a_gap() {
    let mut decoder = decoder();
    for first in [0, 10, 30, 40] {
        decoder.push(&block(7, first, 10, 1000.0)).expect("valid");
    }
    let expected = [
        (0, false),
        (15, true),
        (30, true),
        (45, true),
        (90, false),
        (105, true),
        (120, true),
        (135, true),
    ];
    assert_eq!(blocks(&mut decoder), expected);
    // late and repeated blocks change nothing
    decoder.push(&block(7, 20, 10, 1000.0)).expect("valid");
    decoder.push(&block(7, 40, 10, 1000.0)).expect("valid");
    assert!(blocks(&mut decoder).is_empty());
    // the sender is started again
    decoder.push(&block(8, 0, 10, 1000.0)).expect("valid");
    assert_eq!(blocks(&mut decoder), [(0, false), (15, true)]);
}

/// A modem that dials anew each second: run and count go on, so nothing is missing.
#[test]
fn blocks_of_another_connection_follow_on_by_run_and_count() {
    let mut decoder = decoder();
    for first in [0u64, 7, 14, 21] {
        decoder.push(&block(7, first, 7, 1000.0)).expect("valid");
        decoder.push(&block(7, first + 7, 7, 1000.0)[..40]).expect("a part");
        decoder.reconnected();
    }
    let follow: Vec<bool> = blocks(&mut decoder).into_iter().map(|(_, follows)| follows).collect();
    assert_eq!(follow, [false, true, true, true, true]);
    decoder.push(&block(7, 35, 10, 1000.0)).expect("valid");
    assert_eq!(blocks(&mut decoder), [(105, false), (120, true)], "frames are missing");
}

/// A byte is lost, added or changed anywhere: no sample is wrong, and the stream goes on.
#[test]
fn a_byte_that_is_lost_added_or_changed_costs_its_block_alone() {
    let whole: Vec<u8> = (0..4).flat_map(|n| block(7, n * 10, 10, 1000.0)).collect();
    let length = whole.len() / 4;
    for at in (0..length).map(|n| length + n) {
        for change in 0..3 {
            let mut bytes = whole.clone();
            match change {
                0 => drop(bytes.remove(at)),
                1 => bytes.insert(at, 0x50),
                _ => bytes[at] ^= 0x10,
            }
            let mut decoder = decoder();
            for piece in bytes.chunks(97) {
                decoder.push(piece).expect("valid");
            }
            let got: Vec<i64> = blocks(&mut decoder).iter().map(|(first, _)| *first).collect();
            assert!(got.starts_with(&[0, 15]), "{at} {change}: {got:?}");
            assert!(got.ends_with(&[60, 75, 90, 105]), "{at} {change}: {got:?}");
        }
    }
}

#[test]
fn what_contradicts_the_configuration_is_refused_with_both() {
    let mut other = FramedDecoder::new(
        FrameFormat { channels: 2, ..format() },
        0.05,
        SourceHost::alone(Arc::new(SystemClock), "bench"),
    );
    let error = other.push(&block(7, 0, 10, 1000.0)).expect_err("channels");
    assert!(error.contains("3 channel(s)") && error.contains("stream.channels is 2"), "{error}");
    let calibrations = vec![Calibration::new(AccelUnit::G, 0.5, 0.0).expect("valid")];
    let mut other = FramedDecoder::new(
        FrameFormat { calibrations, ..format() },
        0.05,
        SourceHost::alone(Arc::new(SystemClock), "bench"),
    );
    let error = other.push(&block(7, 0, 10, 1000.0)).expect_err("units");
    assert!(error.contains("leave out unit"), "{error}");
    let mut later = block(7, 0, 10, 1000.0);
    later[4] = 2;
    let sum = header::checksum(&later[..60]);
    later[60..64].copy_from_slice(&sum.to_le_bytes());
    assert!(decoder().push(&later).expect_err("version").contains("version 2"));
}

#[test]
fn the_senders_rate_is_used_and_one_far_from_the_configured_is_marked() {
    for (rate_hz, far) in [(1003.0, false), (2000.0, true)] {
        let mut decoder = decoder();
        decoder.push(&block(7, 0, 10, rate_hz)).expect("valid");
        let rate = decoder.block().expect("whole").rate;
        let expected = SampleRate::new(rate_hz).expect("valid");
        let stated = Some(expected);
        assert_eq!(rate, BlockRate::Measured { rate: expected, is_off: far, stated });
    }
}

/// A device that is set to another rate while it runs: no block has samples of both, and each says
/// its own.
#[test]
fn a_rate_that_changes_begins_a_block_of_its_own() {
    let mut decoder = decoder();
    decoder.push(&block(7, 0, 8, 1000.0)).expect("valid");
    decoder.push(&block(7, 8, 8, 800.0)).expect("valid");
    // the sender's own measurement moves a little: no other setting
    decoder.push(&block(7, 16, 8, 800.5)).expect("valid");
    let blocks: Vec<Block> = std::iter::from_fn(|| decoder.block()).collect();
    let firsts: Vec<f64> =
        blocks.iter().map(|block| (block.accel_m_s2[[0, 0]] / M_S2_PER_G * 1e3).round()).collect();
    assert_eq!(firsts, [0.0, 24.0, 39.0, 54.0], "frames 5 to 7 are in no block");
    let follows: Vec<bool> = blocks.iter().map(|block| block.follows_on).collect();
    assert_eq!(follows, [false, false, true, true]);
    let stated = blocks[1].rate.stated().map(SampleRate::get);
    assert!(stated.is_some_and(|hz| (hz - 800.0).abs() < 1.0), "{stated:?}");
}

use crate::source::AccelUnit;

proptest! {
    /// However the bytes are cut, and whatever stands between the blocks, the samples are the same.
    #[test]
    fn blocks_are_found_in_bytes_of_any_size(
        cut in 1usize..200, noise in prop::collection::vec(any::<u8>(), 0..40)
    ) {
        let mut bytes = Vec::new();
        for n in 0..3 {
            bytes.extend(&noise);
            bytes.extend(block(7, n * 10, 10, 1000.0));
        }
        let mut decoder = decoder();
        for piece in bytes.chunks(cut) {
            prop_assert!(decoder.push(piece).is_ok());
        }
        let firsts: Vec<i64> = blocks(&mut decoder).into_iter().map(|(first, _)| first).collect();
        prop_assert_eq!(firsts, vec![0, 15, 30, 45, 60, 75]);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let mut decoder = decoder();
        let mut all = block(7, 0, 10, 1000.0);
        all.truncate(bytes.len() % 100);
        all.extend(&bytes);
        // a block that contradicts the configuration would be an error, not a panic
        let _outcome = decoder.push(&all);
    }
}

/// A count that passes the end of 64 bits goes on; one of 32 bits, or one that stands still, is
/// told.
#[test]
fn a_count_that_does_not_go_on_is_told_and_measured_again() {
    let mut decoder = decoder();
    // the sample numbers of the test's blocks are 16 bits wide, so their sums may wrap in them
    let push = |decoder: &mut FramedDecoder, first: u64| {
        let mut bytes = block(1, 0, 5, 1000.0);
        bytes[32..40].copy_from_slice(&first.to_le_bytes());
        let sum = header::checksum(&bytes[..HEADER_BYTES - 4]).to_le_bytes();
        bytes[HEADER_BYTES - 4..HEADER_BYTES].copy_from_slice(&sum);
        decoder.push(&bytes).expect("of the form");
        std::iter::from_fn(|| decoder.block()).map(|block| block.follows_on).collect::<Vec<_>>()
    };
    let last = u64::MAX - 7;
    assert_eq!(push(&mut decoder, last), [false]);
    assert_eq!(push(&mut decoder, last + 5), [true]);
    assert_eq!(push(&mut decoder, 2), [true], "past the end of 64 bits");
    let told = |decoder: &FramedDecoder| decoder.clock.host().remarks.lines().join("");
    assert_eq!(told(&decoder), "");

    let mut short = super::tests::decoder();
    let wrapped = u64::from(u32::MAX) - 4;
    assert_eq!(push(&mut short, wrapped), [false]);
    let after: usize = (0..40).map(|n| push(&mut short, 5 * n).len()).sum();
    assert!(after >= 30, "a count of 32 bits that began anew is followed: {after}");

    let mut stuck = super::tests::decoder();
    for _ in 0..40 {
        push(&mut stuck, 0);
    }
    assert!(told(&stuck).contains("64 bits"), "{}", told(&stuck));
}

/// Two senders whose blocks come in turn are told; one that is started again is not.
#[test]
fn two_senders_that_take_turns_are_told() {
    let mut decoder = decoder();
    let mut push = |run, first| decoder.push(&block(run, first, 5, 1000.0)).expect("of the form");
    (0..4).for_each(|n| push(7, 5 * n));
    push(8, 0);
    assert_eq!(decoder.clock.host().remarks.lines(), Vec::<String>::new(), "started again");
    for n in 1..5 {
        decoder.push(&block(7, 20 + 5 * n, 5, 1000.0)).expect("of the form");
        decoder.push(&block(8, 5 * n, 5, 1000.0)).expect("of the form");
    }
    let told = decoder.clock.host().remarks.lines().join("");
    assert!(told.contains("two senders take turns"), "{told}");
}
