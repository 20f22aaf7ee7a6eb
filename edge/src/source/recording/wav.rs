//! RIFF/WAVE in the forms that recorders write: integer PCM of 1 to 64 bits in containers of 1 to 8
//! bytes, floating point of 32 and 64 bits, plain and extensible headers, big-endian (RIFX), more
//! than 4 GiB (RF64, BW64), and lengths that a pipe could not know. Compressed forms are refused by
//! name.
//!
//! Numbers are not scaled: a 16-bit sample is −32,768…32,767. A sample of fewer bits than its
//! container stands in the upper bits (Microsoft, *Multiple Channel Audio Data and WAVE Files*); it
//! is handed out as a number of its own bits, so that 24 bits in 32 are −8,388,608…8,388,607. Where
//! the lower bits are used and every sample fits into the valid bits, the writer has aligned it
//! right, and the number is taken as it stands. The rate is that of the file, unless the header
//! contradicts itself.
//!
//! Invariants: memory grows with the bytes that are there, not with an announced length; a file
//! that ends before its announced end is refused, unless the announced length is that of a stream.

use std::io::Read;
use std::path::Path;

use ndarray::Array2;

use super::bounds::{MAX_SAMPLES, check_samples};
use super::{NumberEncoding, RawRecording, SourceError};
use chunk::Chunks;
use form::Form;

mod chunk;
mod form;

/// Frames that are decoded at once.
const PIECE_FRAMES: usize = 4096;

/// Whether the file begins as one of this family.
pub(super) fn is_wav(start: &[u8]) -> bool {
    start.starts_with(b"RIFF")
        || start.get(8..12) == Some(b"WAVE")
            && [b"RIFX", b"RF64", b"BW64"].iter().any(|id| start.starts_with(*id))
}

/// Reads the whole file.
pub(super) fn open(path: &Path, file: impl Read) -> Result<RawRecording, SourceError> {
    let malformed = |what: String| SourceError::malformed(path, what);
    let mut chunks = Chunks::new(path, file)?;
    let mut form = None;
    let mut long_data = None;
    while let Some(chunk) = chunks.next_chunk()? {
        match &chunk.id {
            b"ds64" => long_data = chunks.long_data_length(chunk.length)?,
            b"fmt " => {
                let header = chunks.content_start(chunk.length)?;
                form = Some(
                    Form::parse(&header, chunks.is_big_endian)
                        .map_err(|what| malformed(format!("no WAV file that is read: {what}")))?,
                );
            }
            b"data" => {
                let Some(form) = form else {
                    return Err(malformed("the WAV file has no format before its data".to_owned()));
                };
                let length = chunks.data_length(chunk.length, long_data);
                return recording(path, &form, chunks, length);
            }
            _ => chunks.skip(chunk.length)?,
        }
    }
    Err(malformed("the WAV file ends too early: it is truncated before its samples".to_owned()))
}

/// The samples behind the header of the data chunk; `length` is `None` for a stream.
fn recording(
    path: &Path,
    form: &Form,
    mut chunks: Chunks<'_, impl Read>,
    length: Option<u64>,
) -> Result<RawRecording, SourceError> {
    let samples = decoded(path, form, &mut chunks, length)?;
    check_samples(path, samples.numbers.len())?;
    let channels = form.channels;
    let frames = samples.numbers.len() / channels;
    if frames == 0 {
        return Err(SourceError::malformed(path, "the WAV file holds no samples"));
    }
    let factor = samples.factor(path, form);
    let at = |(c, s): (usize, usize)| samples.numbers[s * channels + c] * factor;
    let data = Array2::from_shape_fn((channels, frames), at);
    let encoding = if form.is_float {
        NumberEncoding::Real
    } else {
        NumberEncoding::Counts { bits: form.valid_bits }
    };
    Ok(RawRecording::whole("WAV", data, form.consistent_rate(path), encoding))
}

/// Numbers as they stand in their containers.
#[derive(Default)]
struct ContainerSamples {
    numbers: Vec<f64>,
    /// Some bit below the valid ones is set.
    uses_low_bits: bool,
    /// Some number needs more than the valid bits.
    exceeds_valid_bits: bool,
}

impl ContainerSamples {
    /// The factor from the container's number to one of the valid bits.
    fn factor(&self, path: &Path, form: &Form) -> f64 {
        let spare = form.spare_bits();
        if spare == 0 {
            return 1.0;
        }
        if self.uses_low_bits && !self.exceeds_valid_bits {
            tracing::warn!(
                path = %path.display(), valid_bits = form.valid_bits,
                "the samples of this WAV file are aligned right in their containers, against the \
                 format; they are taken as they stand"
            );
            return 1.0;
        }
        0.5f64.powi(spare.cast_signed())
    }

    fn add_integer(&mut self, number: i64, form: &Form) {
        let spare = form.spare_bits();
        if spare > 0 {
            self.uses_low_bits |= number & ((1i64 << spare) - 1) != 0;
            let beyond = number >> (form.valid_bits - 1);
            self.exceeds_valid_bits |= beyond != 0 && beyond != -1;
        }
        self.numbers.push(number as f64);
    }
}

fn decoded(
    path: &Path,
    form: &Form,
    chunks: &mut Chunks<'_, impl Read>,
    length: Option<u64>,
) -> Result<ContainerSamples, SourceError> {
    let mut samples = ContainerSamples::default();
    let frame_bytes = form.frame_bytes();
    let mut left = length.unwrap_or(u64::MAX);
    while left > 0 && samples.numbers.len() <= MAX_SAMPLES {
        let wanted = left.min((PIECE_FRAMES * frame_bytes) as u64);
        let piece = chunks.piece(wanted)?;
        let whole = piece.len() - piece.len() % frame_bytes;
        for raw in piece[..whole].chunks_exact(form.container_bytes) {
            form.add_sample(raw, chunks.is_big_endian, &mut samples);
        }
        let is_short = (piece.len() as u64) < wanted;
        if let Some(announced) = length.filter(|_| is_short || whole < piece.len()) {
            let there = announced - left + piece.len() as u64;
            let what = if is_short {
                format!(
                    "the WAV file ends too early: {there} of {announced} bytes of samples are \
                     there; it is truncated"
                )
            } else {
                format!("{announced} bytes of samples are no whole frames of {frame_bytes} bytes")
            };
            return Err(SourceError::malformed(path, what));
        }
        if is_short {
            break;
        }
        left -= wanted;
    }
    Ok(samples)
}

#[cfg(test)]
mod tests;
