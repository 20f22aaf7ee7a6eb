//! Spectra, envelope spectra and the kurtogram of one channel.

use pdm_dsp::Spectrum;
use pdm_dsp::band;
use pdm_dsp::envelope::{self, RecordLines, squared_envelope};
use pdm_dsp::spectrum::{amplitude_spectrum, averaged_spectrum};
use pdm_dsp::transform::Transforms;
use pdm_shared::units::Band;
use pyo3::prelude::*;

use crate::samples::Samples;
use crate::verdict::{Lines, lines};
use crate::waveform::band_of;

/// Peak amplitudes of the acceleration, m/s²: of the whole record, or averaged over blocks.
#[pyfunction]
pub(crate) fn spectrum<'py>(
    py: Python<'py>,
    samples: &Samples,
    channel: usize,
    block: Option<usize>,
) -> PyResult<Lines<'py>> {
    let read = samples.channel(channel)?;
    let made = py.detach(|| {
        let mut transforms = Transforms::new();
        let (accel, rate_hz) = (&read.accel_m_s2, read.rate.get());
        match block {
            None => amplitude_spectrum(accel, rate_hz, &mut transforms),
            Some(block) => averaged_spectrum(accel, rate_hz, block, &mut transforms),
        }
    });
    Ok(lines(py, &made))
}

/// Distance of the lines, amplitudes, and the band.
type OfBand<'py> = (Lines<'py>, (f64, f64));

/// Spectrum of the squared envelope in a band, (m/s²)². The most impulsive band of the kurtogram
/// where `levels` and a least width are given.
#[pyfunction]
pub(crate) fn envelope_spectrum<'py>(
    py: Python<'py>,
    samples: &Samples,
    channel: usize,
    band: Option<(f64, f64)>,
    search: Option<(u32, f64)>,
    limit_hz: f64,
) -> PyResult<OfBand<'py>> {
    let read = samples.channel(channel)?;
    let usual = band_of(read.rate, band)?;
    let (made, band) = py.detach(|| -> (Spectrum, Band) {
        let mut transforms = Transforms::new();
        let record = RecordLines::of(&read.accel_m_s2, read.rate.get(), &mut transforms);
        let found = search.and_then(|(levels, least_hz)| {
            band::most_impulsive(&record, levels, least_hz, &mut transforms)
        });
        let (band, squared) = match found {
            Some((best, squared)) => (best.band, squared),
            None => (usual, squared_envelope(&record, usual, &mut transforms)),
        };
        let limit_hz = limit_hz.min(read.rate.nyquist_hz());
        (envelope::envelope_spectrum(&squared, limit_hz, &mut transforms), band)
    });
    Ok((lines(py, &made), (band.low_hz(), band.high_hz())))
}

/// Low and high end of each band (Hz) and the spectral kurtosis in it, the most impulsive first.
#[pyfunction]
pub(crate) fn kurtogram(
    py: Python<'_>,
    samples: &Samples,
    channel: usize,
    levels: u32,
    least_width_hz: f64,
) -> PyResult<Vec<(f64, f64, f64)>> {
    let read = samples.channel(channel)?;
    Ok(py.detach(|| {
        let mut transforms = Transforms::new();
        let record = RecordLines::of(&read.accel_m_s2, read.rate.get(), &mut transforms);
        let scores = band::kurtogram(&record, levels, least_width_hz, &mut transforms);
        scores.iter().map(|s| (s.band.low_hz(), s.band.high_hz(), s.kurtosis)).collect()
    }))
}
