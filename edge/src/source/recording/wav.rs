//! RIFF/WAVE: integer PCM of 8 to 32 bits and 32-bit float, any number of channels.
//!
//! Numbers are not scaled: a 16-bit sample is −32,768…32,767. The rate is that of the file.

use std::io::Read;
use std::path::Path;

use hound::{SampleFormat, WavReader};
use ndarray::Array2;

use super::bounds::{MAX_SAMPLES, check_samples};
use super::{NumberEncoding, RawRecording, SourceError};

/// First bytes of the format.
pub(super) const MAGIC: &[u8] = b"RIFF";

/// Reads the whole file.
pub(super) fn open(path: &Path, file: impl Read) -> Result<RawRecording, SourceError> {
    let told = |e| told(path, e);
    let mut reader = WavReader::new(file).map_err(told)?;
    let (spec, most) = (reader.spec(), MAX_SAMPLES + 1);
    let numbers: Vec<f64> = match spec.sample_format {
        SampleFormat::Float => {
            reader.samples::<f32>().take(most).map(|s| s.map(f64::from)).collect::<Result<_, _>>()
        }
        SampleFormat::Int => {
            reader.samples::<i32>().take(most).map(|s| s.map(f64::from)).collect::<Result<_, _>>()
        }
    }
    .map_err(told)?;
    check_samples(path, numbers.len())?;
    let channels = usize::from(spec.channels);
    let samples = numbers.len().checked_div(channels).unwrap_or(0);
    if samples == 0 {
        return Err(SourceError::malformed(path, "the WAV file holds no samples"));
    }
    let data = Array2::from_shape_fn((channels, samples), |(c, s)| numbers[s * channels + c]);
    let encoding = match spec.sample_format {
        SampleFormat::Float => NumberEncoding::Real,
        SampleFormat::Int => NumberEncoding::Counts { bits: spec.bits_per_sample.into() },
    };
    Ok(RawRecording::whole("WAV", data, Some(f64::from(spec.sample_rate)), encoding))
}

fn told(path: &Path, error: hound::Error) -> SourceError {
    if let hound::Error::IoError(e) = error {
        // hound marks a file that ends early with this kind
        return if e.kind() == std::io::ErrorKind::Other {
            SourceError::malformed(path, "the WAV file ends too early: it is truncated")
        } else {
            SourceError::from_io(path, e)
        };
    }
    let what = format!(
        "no WAV file that can be read: {error}; allowed are PCM of 8 to 32 bits and 32-bit float"
    );
    SourceError::malformed(path, what)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use hound::{WavSpec, WavWriter};
    use proptest::prelude::*;

    use super::*;

    fn spec(bits: u16, sample_format: SampleFormat) -> WavSpec {
        WavSpec { channels: 2, sample_rate: 25_600, bits_per_sample: bits, sample_format }
    }

    fn written(bits: u16) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        let mut writer = WavWriter::new(&mut bytes, spec(bits, SampleFormat::Int)).expect("spec");
        for sample in [1i32, -2, 3, -4] {
            writer.write_sample(sample).expect("memory");
        }
        writer.finalize().expect("memory");
        bytes.into_inner()
    }

    fn read(bytes: Vec<u8>) -> Result<Array2<f64>, SourceError> {
        let mut raw = open(Path::new("t.wav"), Cursor::new(bytes))?;
        Ok(raw.reader.next_snapshot()?.expect("one snapshot"))
    }

    #[test]
    fn channels_are_taken_apart_at_every_width() {
        for bits in [8, 16, 24, 32] {
            let data = read(written(bits)).expect("valid");
            assert_eq!(data, ndarray::arr2(&[[1.0, 3.0], [-2.0, -4.0]]), "{bits} bits");
        }
    }

    #[test]
    fn the_rate_is_the_files_own() {
        let raw = open(Path::new("t.wav"), Cursor::new(written(16))).expect("valid");
        assert_eq!(raw.stated_rate_hz, Some(25_600.0));
    }

    #[test]
    fn a_nan_in_a_float_file_is_data() {
        let mut bytes = Cursor::new(Vec::new());
        let mut writer = WavWriter::new(&mut bytes, spec(32, SampleFormat::Float)).expect("spec");
        writer.write_sample(f32::NAN).expect("memory");
        writer.write_sample(0.5f32).expect("memory");
        writer.finalize().expect("memory");
        let data = read(bytes.into_inner()).expect("valid");
        assert!(data[[0, 0]].is_nan() && data[[1, 0]] > 0.4);
    }

    #[test]
    fn a_truncated_file_is_said_to_be_truncated() {
        let mut bytes = written(16);
        bytes.truncate(bytes.len() - 3);
        let error = read(bytes).expect_err("truncated").to_string();
        assert!(error.contains("truncated"), "{error}");
    }

    proptest! {
        #[test]
        fn arbitrary_damage_never_panics(
            at in 4usize..52, byte in any::<u8>(), cut in 0usize..60
        ) {
            let mut bytes = written(16);
            if let Some(old) = bytes.get_mut(at) {
                *old = byte;
            }
            bytes.truncate(bytes.len().min(cut));
            let _ = read(bytes);
        }

        #[test]
        fn arbitrary_bytes_never_panic(tail in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut bytes = b"RIFF\x00\x01\x00\x00WAVEfmt \x10\x00\x00\x00".to_vec();
            bytes.extend(tail);
            let _ = read(bytes);
        }
    }
}
