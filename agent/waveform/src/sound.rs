//! A capture to listen to: 16-bit WAV, which every browser plays.

use pdm_dsp::band_pass::band_pass;
use pdm_shared::units::Band;

/// The largest magnitude of a sound, of full scale (chosen: −1 dB, so that no player clips).
const LOUDEST: f32 = 0.89;

/// A WAV file of 16 bits: the samples as they are, or those of a band, normalised to the same
/// loudest magnitude.
///
/// **Input** samples in any unit. **Output** the file's bytes. A sample that is no number is
/// silence.
pub fn pcm_sound(samples: &[f32], rate_hz: f64, band: Option<Band>) -> Vec<u8> {
    let filtered = band.map(|band| band_pass(samples, rate_hz, band));
    let samples = filtered.as_deref().unwrap_or(samples);
    let finite = || samples.iter().map(|&one| if one.is_finite() { one } else { 0.0 });
    // a sensor's constant part is no sound, and would take the room of what is
    let count = samples.len().max(1) as f64;
    let mean = (finite().map(f64::from).sum::<f64>() / count) as f32;
    let level = |one: f32| if one == 0.0 { 0.0 } else { one - mean };
    let largest = finite().map(|one| level(one).abs()).fold(0.0, f32::max);
    let gain = if largest > 0.0 { LOUDEST / largest } else { 0.0 };
    let bytes = u32::try_from(samples.len()).unwrap_or(u32::MAX).saturating_mul(2);
    let rate_hz = rate_hz.round().clamp(1.0, f64::from(u32::MAX)) as u32;
    let mut file = Vec::with_capacity(44 + 2 * samples.len());
    file.extend_from_slice(b"RIFF");
    file.extend_from_slice(&bytes.saturating_add(36).to_le_bytes());
    file.extend_from_slice(b"WAVEfmt ");
    file.extend_from_slice(&16_u32.to_le_bytes());
    file.extend_from_slice(&1_u16.to_le_bytes());
    file.extend_from_slice(&1_u16.to_le_bytes());
    file.extend_from_slice(&rate_hz.to_le_bytes());
    file.extend_from_slice(&rate_hz.saturating_mul(2).to_le_bytes());
    file.extend_from_slice(&2_u16.to_le_bytes());
    file.extend_from_slice(&16_u16.to_le_bytes());
    file.extend_from_slice(b"data");
    file.extend_from_slice(&bytes.to_le_bytes());
    for one in finite() {
        let value = (level(one) * gain * f32::from(i16::MAX)).round() as i16;
        file.extend_from_slice(&value.to_le_bytes());
    }
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(file: &[u8]) -> Vec<i16> {
        file[44..].as_chunks::<2>().0.iter().map(|two| i16::from_le_bytes(*two)).collect()
    }

    #[test]
    fn a_sound_is_as_loud_as_a_player_takes_and_nothing_is_clipped() {
        let tone: Vec<f32> = (0..1000).map(|i| 1e-3 * (i as f32 * 0.1).sin()).collect();
        let file = pcm_sound(&tone, 25_600.4, None);
        assert_eq!(&file[24..28], &25_600_u32.to_le_bytes());
        assert_eq!(file.len(), 44 + 2000);
        let largest = values(&file).into_iter().map(i16::unsigned_abs).max();
        assert!(largest.is_some_and(|largest| (29_000..29_400).contains(&largest)), "{largest:?}");
    }

    #[test]
    fn silence_and_missing_samples_are_silence() {
        assert_eq!(values(&pcm_sound(&[0.0, f32::NAN], 8000.0, None)), [0, 0]);
        assert_eq!(pcm_sound(&[], 8000.0, None).len(), 44);
    }
}
