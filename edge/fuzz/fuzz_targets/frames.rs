//! Any bytes in any pieces as a stream of frames: every sample comes out once and in its channel.
//!
//! The first four bytes choose channels, encoding, frames of a block and the length of the pieces.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use pdm_edge::source::Block;
use pdm_edge::source::frames::{Encoding, FrameDecoder, FrameFormat};
use pdm_service::clock::SystemClock;
use pdm_shared::units::SampleRate;

fuzz_target!(|data: &[u8]| {
    let Some((&[channels, encoding, block, piece], bytes)) = data.split_first_chunk() else {
        return;
    };
    let encodings = [Encoding::I16, Encoding::I24, Encoding::F32];
    let format = FrameFormat {
        channels: usize::from(channels % 17),
        sample_rate: SampleRate::new(1000.0).expect("a rate"),
        encoding: encodings[usize::from(encoding) % encodings.len()],
        block_samples: usize::from(block),
        calibrations: Vec::new(),
    };
    if format.check().is_err() {
        return;
    }
    let whole = decoded(&format, [bytes]);
    let pieces = decoded(&format, bytes.chunks(usize::from(piece) + 1));
    assert_eq!(whole, pieces, "the pieces make no difference");
    let samples = bytes.len() / format.frame_bytes() * format.channels;
    assert_eq!(whole.len(), samples, "no sample is lost or doubled");
});

/// The samples of all blocks, frame by frame, as bits, so that NaN equals itself.
fn decoded<'a>(format: &FrameFormat, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<u64> {
    let mut decoder = FrameDecoder::new(format.clone(), Arc::new(SystemClock));
    let mut samples = Vec::new();
    let mut take = |block: Block| {
        for frame in block.accel_m_s2.columns() {
            samples.extend(frame.iter().map(|sample| sample.to_bits()));
        }
    };
    for piece in pieces {
        decoder.push(piece);
        while let Some(block) = decoder.block() {
            take(block);
        }
    }
    decoder.rest().map(&mut take);
    samples
}
