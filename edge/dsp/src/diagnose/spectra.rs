//! The spectra of logarithmic envelopes on which defect orders are looked for.
//!
//! The logarithm of the squared envelope weighs every instant alike, so one huge shock or one loud
//! band does not decide. The whole band and two, four and eight equal bands are taken, of the
//! record as it is and of the record with its steady lines clipped ([`clip_lines`]).
//!
//! **Source** Borghesani & Antoni 2017, doi:10.1016/j.ymssp.2016.12.023 (log-envelope indicators);
//! Randall & Antoni 2011, doi:10.1016/j.ymssp.2010.07.017 (envelope analysis, discrete lines).

use pdm_shared::units::Band;

use super::levels::log_levels;
use crate::envelope::{
    RecordLines, SquaredEnvelope, averaged_envelope_spectrum, squared_envelope_as_wide,
};
use crate::transform::Transforms;

/// Numbers of equal bands.
const DIVISIONS: [u8; 4] = [1, 2, 4, 8];
/// Shaft turns in one block of an averaged spectrum: the first resolves sidebands of the cage, the
/// second bears slip.
pub const BLOCK_TURNS: [f64; 2] = [100.0, 30.0];
/// The multiple of the median magnitude of the lines around it to which a line is clipped.
const CLIP: f64 = 2.0;
/// Lines over which that median is taken.
const CLIP_BLOCK: usize = 64;
/// The amount added to the squared envelope before the logarithm, as a share of its mean: instants
/// of silence must not outweigh the rest.
const LEAST_SHARE: f64 = 1e-6;
/// Fewest lines of a spectrum that tells anything.
const LEAST_LINES: usize = 32;
/// Levels below this count as this where spectra are averaged, dB: one empty line is no evidence.
const LEAST_DB: f64 = -10.0;
/// A band is looked at if it is at least this share of the highest frequency wanted wide.
const LEAST_WIDTH: f64 = 0.5;

/// Which of a record's spectra one is, whatever its speed and length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// Into how many equal bands the record's is divided; 0 for bands together.
    pub division: u8,
    /// Which of them, from 0.
    pub index: u8,
    /// True for the finer of the two resolutions.
    pub is_fine: bool,
}

/// One spectrum of a logarithmic envelope, as levels over the local floor.
#[derive(Debug, Clone)]
pub struct LogSpectrum {
    /// Which one of the record's it is.
    pub slot: Slot,
    /// The band whose envelope it is of.
    pub band: Band,
    /// True if that is the whole band.
    pub is_whole: bool,
    /// True for the finer of the two resolutions.
    pub is_fine: bool,
    /// Shaft turns in one block.
    pub block_turns: f64,
    /// Distance of the lines, Hz.
    pub df_hz: f64,
    /// Levels of the lines over the running median, dB.
    pub levels: Vec<f64>,
}

impl LogSpectrum {
    /// Mean levels (dB, at most `cap_db`) of several spectra, on lines twice as fine as `turns`
    /// shaft turns resolve; `band` is the one they cover together.
    pub fn pooled(
        spectra: &[Self],
        band: Band,
        (shaft_hz, turns): (f64, f64),
        cap_db: f64,
    ) -> Self {
        let block_turns = turns.min(BLOCK_TURNS[0]);
        let df_hz = shaft_hz / block_turns / 2.0;
        let last_hz = |s: &Self| s.df_hz * s.levels.len().saturating_sub(1) as f64;
        let limit_hz = spectra.iter().map(last_hz).reduce(f64::min).unwrap_or(0.0);
        let mut levels = vec![0.0; (limit_hz / df_hz) as usize];
        for spectrum in spectra {
            let ratio = df_hz / spectrum.df_hz;
            let last = spectrum.levels.len() - 1;
            let get = |k: usize| spectrum.levels[k.min(last)].clamp(LEAST_DB, cap_db);
            for (i, level) in levels.iter_mut().enumerate() {
                let at = i as f64 * ratio;
                let share = at.fract();
                *level += (1.0 - share) * get(at as usize) + share * get(at as usize + 1);
            }
        }
        for level in &mut levels {
            *level /= spectra.len().max(1) as f64;
        }
        let slot = Slot { division: 0, index: 0, is_fine: true };
        Self { slot, band, is_whole: false, is_fine: true, block_turns, df_hz, levels }
    }

    /// The level at a frequency between the lines, 0 to `cap_db`; 0 beyond the spectrum.
    pub fn level_at(&self, hz: f64, cap_db: f64) -> f64 {
        let at = hz / self.df_hz;
        let level = |i: usize| self.levels.get(i).copied().unwrap_or(0.0);
        let (low, share) = (at as usize, at.fract());
        ((1.0 - share) * level(low) + share * level(low + 1)).clamp(0.0, cap_db)
    }
}

/// All spectra of one record.
///
/// **Input** the record's lines, the shaft frequency (Hz), the highest frequency wanted (Hz).
/// **Output** at most 30 spectra: bands that are too narrow for the frequencies wanted are left
/// out, and so is the second resolution of a record that is shorter than one block of the first.
/// Where a band is `configured`, that alone is looked at.
pub fn log_spectra(
    record: &RecordLines,
    configured: Option<Band>,
    (shaft_hz, limit_hz): (f64, f64),
    transforms: &mut Transforms,
) -> Vec<LogSpectrum> {
    let mut spectra = Vec::new();
    let divisions = if configured.is_some() { &DIVISIONS[..1] } else { &DIVISIONS[..] };
    for &division in divisions {
        let equal = || bands(record.rate_hz / 2.0, division, shaft_hz, limit_hz);
        let bands = configured.map_or_else(equal, |band| vec![(0, band)]);
        let widest = bands.iter().map(|(_, band)| band.width_hz()).fold(0.0, f64::max);
        let lines = (widest / record.df_hz()) as usize + 2;
        for (index, band) in bands {
            let mut envelope = squared_envelope_as_wide(record, band, lines, transforms);
            if !envelope.values.is_empty() {
                take_logarithm(&mut envelope);
                let slot = Slot { division, index, is_fine: true };
                let limits = (shaft_hz, limit_hz);
                spectra.extend(resolutions(&envelope, (band, slot), limits, transforms));
            }
        }
    }
    spectra
}

/// The spectra of one envelope. A block as long as the record gives the same at either resolution.
fn resolutions(
    envelope: &SquaredEnvelope,
    (band, slot): (Band, Slot),
    (shaft_hz, limit_hz): (f64, f64),
    transforms: &mut Transforms,
) -> Vec<LogSpectrum> {
    let turns = envelope.values.len() as f64 / envelope.rate_hz * shaft_hz;
    BLOCK_TURNS
        .iter()
        .enumerate()
        .filter(|(i, block_turns)| *i == 0 || turns > **block_turns)
        .filter_map(|(i, &block_turns)| {
            let block_s = block_turns / shaft_hz;
            let spectrum = averaged_envelope_spectrum(envelope, block_s, limit_hz, transforms);
            (spectrum.amplitude.len() >= LEAST_LINES).then(|| LogSpectrum {
                slot: Slot { is_fine: i == 0, ..slot },
                band,
                is_whole: slot.division == 1,
                is_fine: i == 0,
                block_turns,
                df_hz: spectrum.df_hz,
                levels: log_levels(&spectrum, shaft_hz),
            })
        })
        .collect()
}

/// The equal bands that are wide enough, each with its number.
fn bands(nyquist_hz: f64, division: u8, shaft_hz: f64, limit_hz: f64) -> Vec<(u8, Band)> {
    let width = nyquist_hz / f64::from(division);
    if width < 1.1 * LEAST_WIDTH * limit_hz {
        return Vec::new();
    }
    let lowest = (10.0 * shaft_hz).max(200.0);
    (0..division)
        .filter_map(|j| {
            let low = (f64::from(j) * width).max(if j == 0 { lowest } else { 0.0 });
            let last = if j + 1 == division { 0.98 } else { 1.0 };
            let high = f64::from(j + 1) * width * last;
            let is_wide = high - low >= LEAST_WIDTH * limit_hz;
            Some((j, Band::new(low, high).ok().filter(|_| is_wide)?))
        })
        .collect()
}

/// The record with every line cut down to [`CLIP`] times the median magnitude around it.
pub fn clip_lines(record: &RecordLines) -> RecordLines {
    let magnitudes: Vec<f64> = record.lines.iter().map(|line| line.norm()).collect();
    let medians: Vec<f64> = magnitudes
        .chunks_exact(CLIP_BLOCK)
        .map(|block| crate::robust::median(block).unwrap_or(0.0))
        .collect();
    let mut clipped = record.clone();
    let Some(last) = medians.len().checked_sub(1) else { return clipped };
    for (i, line) in clipped.lines.iter_mut().enumerate() {
        let at = ((i as f64 + 0.5) / CLIP_BLOCK as f64 - 0.5).clamp(0.0, last as f64);
        let low = at as usize;
        let high = (low + 1).min(last);
        let usual = medians[low] + (medians[high] - medians[low]) * (at - low as f64);
        let most = CLIP * usual;
        if magnitudes[i] > most {
            *line *= most / magnitudes[i];
        }
    }
    clipped
}

fn take_logarithm(envelope: &mut SquaredEnvelope) {
    let least = LEAST_SHARE * envelope.mean() + f64::MIN_POSITIVE;
    for value in &mut envelope.values {
        *value = (*value + least).ln();
    }
}
