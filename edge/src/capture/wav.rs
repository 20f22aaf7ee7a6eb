//! Writes WAV files of 32-bit floating point with metadata in a `LIST`/`INFO` chunk.
//!
//! The crate `hound`, which reads WAV here, writes no such chunk. The form: `fmt ` with the length
//! of its (empty) extension and `fact` with the number of samples, which every format but PCM must
//! have (Microsoft, *Multiple Channel Audio Data and WAVE Files*), `LIST`, then `data`. Chunks have
//! even lengths; a text ends with a zero byte. Numbers are m/s² as they are, not scaled to ±1.

use std::io::{self, Write};

/// `WAVE_FORMAT_IEEE_FLOAT`.
const FORMAT_FLOAT: u16 = 3;
const BYTES_PER_SAMPLE: u32 = 4;
/// Length of everything before the texts and the samples, without `RIFF` and its length.
const HEADERS: u32 = 4 + (8 + 18) + (8 + 4) + (8 + 4) + 8;

/// The texts of a file by their names in `INFO`, such as `INAM`.
pub(super) type Texts<'a> = &'a [(&'static [u8; 4], String)];

/// Writes one channel.
///
/// # Errors
/// The error of `out`; `InvalidInput` if the file would be longer than its own lengths can say (4
/// GiB).
pub(super) fn write(
    out: &mut impl Write,
    rate_hz: u32,
    texts: Texts<'_>,
    samples: &[f32],
) -> io::Result<()> {
    let info: Vec<u8> = texts.iter().flat_map(|(name, text)| entry(**name, text)).collect();
    let data = u32::try_from(samples.len()).ok().and_then(|n| n.checked_mul(BYTES_PER_SAMPLE));
    let total = data
        .and_then(|data| data.checked_add(HEADERS)?.checked_add(u32::try_from(info.len()).ok()?));
    let (Some(data), Some(total)) = (data, total) else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "more than 4 GiB of samples"));
    };
    let mut head = Vec::with_capacity(HEADERS as usize + 8 + info.len());
    head.extend_from_slice(b"RIFF");
    head.extend_from_slice(&total.to_le_bytes());
    head.extend_from_slice(b"WAVEfmt ");
    head.extend_from_slice(&18_u32.to_le_bytes());
    head.extend_from_slice(&FORMAT_FLOAT.to_le_bytes());
    head.extend_from_slice(&1_u16.to_le_bytes());
    head.extend_from_slice(&rate_hz.to_le_bytes());
    head.extend_from_slice(&rate_hz.saturating_mul(BYTES_PER_SAMPLE).to_le_bytes());
    head.extend_from_slice(&4_u16.to_le_bytes());
    head.extend_from_slice(&32_u16.to_le_bytes());
    head.extend_from_slice(&0_u16.to_le_bytes());
    head.extend_from_slice(b"fact");
    head.extend_from_slice(&4_u32.to_le_bytes());
    head.extend_from_slice(&(data / BYTES_PER_SAMPLE).to_le_bytes());
    head.extend_from_slice(b"LIST");
    head.extend_from_slice(&(4 + info.len() as u32).to_le_bytes());
    head.extend_from_slice(b"INFO");
    head.extend_from_slice(&info);
    head.extend_from_slice(b"data");
    head.extend_from_slice(&data.to_le_bytes());
    out.write_all(&head)?;
    samples.iter().try_for_each(|sample| out.write_all(&sample.to_le_bytes()))
}

/// One text: name, length with the zero byte, text, zero byte, and one more where the length is
/// odd.
fn entry(name: [u8; 4], text: &str) -> Vec<u8> {
    let length = text.len() as u32 + 1;
    let mut entry = [name.as_slice(), &length.to_le_bytes(), text.as_bytes(), &[0]].concat();
    if !length.is_multiple_of(2) {
        entry.push(0);
    }
    entry
}

/// Returns the head of a NumPy file (`.npy`, version 1.0) of `samples` 32-bit floats in one row.
pub(super) fn npy_head(samples: u64) -> Vec<u8> {
    let form = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({samples},), }}");
    // the head ends with a line break at a multiple of 64 bytes
    let length = (10 + form.len() + 1).next_multiple_of(64) - 10;
    let mut head = b"\x93NUMPY\x01\x00".to_vec();
    head.extend_from_slice(&(length as u16).to_le_bytes());
    head.extend_from_slice(format!("{form:<width$}\n", width = length - 1).as_bytes());
    head
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_reader_finds_form_and_samples() {
        let samples = [0.5_f32, -1234.25, f32::NAN, 0.0, 3.0e-7];
        for text in ["even", "odd", ""] {
            let mut file = Vec::new();
            write(&mut file, 25_600, &[(b"INAM", text.to_owned())], &samples).expect("writes");
            assert_eq!(
                u32::from_le_bytes([file[4], file[5], file[6], file[7]]) as usize + 8,
                file.len()
            );
            let mut read = hound::WavReader::new(&file[..]).expect("a WAV file");
            assert_eq!((read.spec().sample_rate, read.spec().bits_per_sample), (25_600, 32));
            let back: Vec<f32> = read.samples().collect::<Result<_, _>>().expect("samples");
            let bits = |samples: &[f32]| samples.iter().map(|s| s.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&back), bits(&samples), "{text}");
        }
    }

    #[test]
    fn the_head_of_an_npy_file_is_a_multiple_of_64_bytes() {
        for samples in [0, 9, 99_999_999_999] {
            let head = npy_head(samples);
            assert_eq!((head.len() % 64, head.last()), (0, Some(&b'\n')));
        }
    }
}
