//! A capture as a NumPy file (`.npy`, version 1.0): one row of 32-bit floats, m/s².
//!
//! Source of the form: NumPy, `numpy.lib.format`, "Format Version 1.0".

/// The file of these samples. A sample that is no number keeps its bits.
///
/// ```
/// let file = pdm_waveform::npy_of(&[0.5, -1.0]);
/// assert_eq!(file.len() % 64, 8, "a head of whole 64 bytes, then 4 bytes a sample");
/// assert_eq!(&file[file.len() - 4..], (-1.0_f32).to_le_bytes());
/// ```
#[must_use]
pub fn npy_of(samples: &[f32]) -> Vec<u8> {
    let count = samples.len();
    let form = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({count},), }}");
    // magic and lengths are 10 bytes; the head ends with a line break at a multiple of 64 bytes
    let length = (10 + form.len() + 1).next_multiple_of(64) - 10;
    let mut file = Vec::with_capacity(10 + length + 4 * count);
    file.extend_from_slice(b"\x93NUMPY\x01\x00");
    file.extend_from_slice(&u16::try_from(length).unwrap_or(u16::MAX).to_le_bytes());
    file.extend_from_slice(format!("{form:<width$}\n", width = length - 1).as_bytes());
    for sample in samples {
        file.extend_from_slice(&sample.to_le_bytes());
    }
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-EDGE-10: the file says its own form, and samples keep their bits, those that are no number
    /// too.
    #[test]
    fn a_numpy_file_holds_the_bits_of_the_samples() {
        let odd = f32::from_bits(0x7fc0_1234);
        for samples in [vec![], vec![0.25], vec![-1234.5, odd, 1.0e-38]] {
            let file = npy_of(&samples);
            let head = 10 + usize::from(u16::from_le_bytes([file[8], file[9]]));
            assert_eq!((&file[..8], head % 64), (&b"\x93NUMPY\x01\x00"[..], 0));
            let text = String::from_utf8_lossy(&file[10..head]).into_owned();
            let shape = format!("'shape': ({},)", samples.len());
            assert!(text.contains(&shape) && text.ends_with('\n'), "{text}");
            let bits: Vec<u32> = file[head..]
                .chunks_exact(4)
                .map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
                .collect();
            assert_eq!(bits, samples.iter().map(|sample| sample.to_bits()).collect::<Vec<_>>());
        }
    }
}
