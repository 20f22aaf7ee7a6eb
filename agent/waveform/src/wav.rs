//! The WAV file of a capture: its head compared with the document, and its samples.

use pdm_shared::capture::CaptureDocument;

/// `WAVE_FORMAT_IEEE_FLOAT`.
const FORMAT_FLOAT: u16 = 3;

/// A file that is not of a capture, or not the one of its document. The caller refuses it by these
/// words.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WavError {
    /// It is no WAV file, or it ends within its head.
    #[error("the file is no WAV file: {0}")]
    NoWav(&'static str),
    /// Its samples are of another form.
    #[error(
        "the file has {channels} channels of {bits} bits in format {format}; allowed is one of \
         32-bit float"
    )]
    Form {
        /// Channels.
        channels: u16,
        /// Bits of a sample.
        bits: u16,
        /// The format's number.
        format: u16,
    },
    /// Its rate is not that of the document.
    #[error("the file has {got} samples a second, its document {expected}")]
    Rate {
        /// The rate of the file.
        got: u32,
        /// The rate of the document.
        expected: f64,
    },
    /// Its samples are not as many as those of the document.
    #[error("the file has {got} samples, its document {expected}")]
    Samples {
        /// The samples of the file.
        got: u64,
        /// The samples of the document.
        expected: u64,
    },
    /// Its length is not that of the document.
    #[error("the file has {got} bytes, its document {expected}")]
    Length {
        /// The bytes of the file.
        got: u64,
        /// The bytes of the document.
        expected: u64,
    },
}

/// The head of a WAV file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WavHead {
    /// Samples per second.
    pub rate_hz: u32,
    /// Bytes before the first sample.
    pub data_at: usize,
    /// Bytes of the samples.
    pub data_bytes: u32,
}

/// Reads the head of a WAV file of one channel of 32-bit float.
///
/// **Input** the first bytes of the file, up to its samples; more do no harm.
///
/// # Errors
/// [`WavError::NoWav`], [`WavError::Form`].
pub fn wav_head(bytes: &[u8]) -> Result<WavHead, WavError> {
    if bytes.get(..4) != Some(b"RIFF") || bytes.get(8..12) != Some(b"WAVE") {
        return Err(WavError::NoWav("it does not begin with RIFF and WAVE"));
    }
    let mut at = 12;
    let mut rate_hz = None;
    loop {
        let name = bytes.get(at..at + 4).ok_or(WavError::NoWav("it has no samples"))?;
        let length = u32_at(bytes, at + 4)?;
        let body = at + 8;
        match name {
            b"fmt " => {
                let (format, channels) = (u16_at(bytes, body)?, u16_at(bytes, body + 2)?);
                let bits = u16_at(bytes, body + 14)?;
                if (format, channels, bits) != (FORMAT_FLOAT, 1, 32) {
                    return Err(WavError::Form { channels, bits, format });
                }
                rate_hz = Some(u32_at(bytes, body + 4)?);
            }
            b"data" => {
                let rate_hz =
                    rate_hz.ok_or(WavError::NoWav("its samples come before their form"))?;
                return Ok(WavHead { rate_hz, data_at: body, data_bytes: length });
            }
            _ => {}
        }
        // chunks have even lengths
        let step = usize::try_from(length).ok().and_then(|length| length.checked_add(length % 2));
        let next = step.and_then(|step| body.checked_add(step));
        at = next.ok_or(WavError::NoWav("a part is longer than the file"))?;
    }
}

impl WavHead {
    /// Holds the head of a file of `bytes` bytes against its document.
    ///
    /// # Errors
    /// [`WavError::Length`], [`WavError::Rate`], [`WavError::Samples`].
    pub fn fits(&self, document: &CaptureDocument, bytes: u64) -> Result<(), WavError> {
        if bytes != document.file.bytes {
            return Err(WavError::Length { got: bytes, expected: document.file.bytes });
        }
        // the file's rate is a whole number, the document's the true one
        if (f64::from(self.rate_hz) - document.sampling_rate_hz).abs() > 0.5 {
            let expected = document.sampling_rate_hz;
            return Err(WavError::Rate { got: self.rate_hz, expected });
        }
        let there = bytes.saturating_sub(self.data_at as u64);
        let samples = u64::from(self.data_bytes) / 4;
        if samples != document.samples || u64::from(self.data_bytes) != there {
            return Err(WavError::Samples { got: there / 4, expected: document.samples });
        }
        Ok(())
    }
}

/// Returns the samples of a file, m/s², checked against its document.
///
/// # Errors
/// [`WavError`].
pub fn samples_of(bytes: &[u8], document: &CaptureDocument) -> Result<Vec<f32>, WavError> {
    let head = wav_head(bytes)?;
    head.fits(document, bytes.len() as u64)?;
    let data = bytes.get(head.data_at..).unwrap_or_default();
    let samples = data.as_chunks::<4>().0;
    Ok(samples.iter().map(|sample| f32::from_le_bytes(*sample)).collect())
}

fn u16_at(bytes: &[u8], at: usize) -> Result<u16, WavError> {
    let found = bytes.get(at..).and_then(|rest| rest.first_chunk());
    found.map(|two| u16::from_le_bytes(*two)).ok_or(WavError::NoWav("it ends within its head"))
}

fn u32_at(bytes: &[u8], at: usize) -> Result<u32, WavError> {
    let found = bytes.get(at..).and_then(|rest| rest.first_chunk());
    found.map(|four| u32::from_le_bytes(*four)).ok_or(WavError::NoWav("it ends within its head"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(format: u16, rate_hz: u32, samples: &[f32]) -> Vec<u8> {
        let mut file = b"RIFF\0\0\0\0WAVEfmt ".to_vec();
        file.extend_from_slice(&18_u32.to_le_bytes());
        file.extend_from_slice(&format.to_le_bytes());
        file.extend_from_slice(&1_u16.to_le_bytes());
        file.extend_from_slice(&rate_hz.to_le_bytes());
        file.extend_from_slice(&[0; 6]);
        file.extend_from_slice(&32_u16.to_le_bytes());
        file.extend_from_slice(&[0; 2]);
        file.extend_from_slice(b"LIST\x03\0\0\0abc\0data");
        file.extend_from_slice(&(4 * samples.len() as u32).to_le_bytes());
        for sample in samples {
            file.extend_from_slice(&sample.to_le_bytes());
        }
        file
    }

    fn document(file: &[u8], samples: u64) -> CaptureDocument {
        let text = include_str!("../../../config/examples/capture.json");
        let mut document: CaptureDocument = serde_json::from_str(text).expect("a document");
        (document.samples, document.file.bytes) = (samples, file.len() as u64);
        document
    }

    #[test]
    fn samples_are_read_and_a_file_of_another_form_is_refused_by_name() {
        let right = file(3, 25_600, &[1.5, -2.0]);
        assert_eq!(samples_of(&right, &document(&right, 2)), Ok(vec![1.5, -2.0]));
        let told = |file: &[u8], document: &CaptureDocument| {
            samples_of(file, document).expect_err("refused").to_string()
        };
        assert!(told(&right, &document(&right, 3)).contains("2 samples, its document 3"));
        assert!(told(&right[..right.len() - 4], &document(&right, 2)).contains("bytes"));
        let other = file(3, 12_800, &[1.5, -2.0]);
        assert!(told(&other, &document(&other, 2)).contains("12800 samples a second"));
        let integers = file(1, 25_600, &[1.5]);
        assert!(told(&integers, &document(&integers, 1)).contains("format 1"));
        for cut in 0..right.len() {
            assert!(samples_of(&right[..cut], &document(&right, 2)).is_err(), "{cut}");
        }
    }

    #[test]
    fn lengths_that_cannot_be_end_the_reading() {
        let mut endless = file(3, 25_600, &[1.0]);
        let at = endless.windows(4).position(|name| name == b"LIST").expect("there") + 4;
        endless[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(matches!(wav_head(&endless), Err(WavError::NoWav(_))));
    }
}
