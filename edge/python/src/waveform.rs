//! Figures of the waveform, and the levels of defect lines, without a verdict.

use pdm_dsp::diagnose::speed as shaft;
use pdm_dsp::envelope::{RecordLines, squared_envelope};
use pdm_dsp::spectrum::amplitude_spectrum;
use pdm_dsp::transform::Transforms;
use pdm_dsp::{FastPath, Request};
use pdm_edge::analysis::ReadChannel;
use pdm_edge::features::{fast_block, time_of, to_g};
use pdm_edge::pipeline::point::DEFAULT_BAND;
use pdm_edge::quality::{QualityContext, assess};
use pdm_shared::units::{Band, SampleRate};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::errors::input;
use crate::machine::{Orders, orders, speed};
use crate::samples::Samples;

/// The band of a person, or the one that the gateway demodulates every window in.
pub(crate) fn band_of(rate: SampleRate, given: Option<(f64, f64)>) -> PyResult<Band> {
    let (low_hz, high_hz) =
        given.unwrap_or((DEFAULT_BAND.0 * rate.get(), DEFAULT_BAND.1 * rate.get()));
    let nyquist_hz = rate.nyquist_hz();
    if high_hz > nyquist_hz {
        let text =
            format!("band=({low_hz}, {high_hz}) reaches above half the rate, {nyquist_hz} Hz");
        return Err(input(text));
    }
    Band::new(low_hz, high_hz).map_err(|e| input(format!("band=({low_hz}, {high_hz}): {e}")))
}

/// Quality and waveform of one channel as JSON, with the levels of the defect lines where speed and
/// orders are known.
#[pyfunction]
pub(crate) fn features(
    py: Python<'_>,
    samples: &Samples,
    channel: usize,
    rpm: Option<f64>,
    of_bearing: Option<Orders>,
    band: Option<(f64, f64)>,
) -> PyResult<String> {
    let read = samples.channel(channel)?;
    let band = band_of(read.rate, band)?;
    let speed = rpm.map(speed).transpose()?;
    let orders = of_bearing.map(orders).transpose()?;
    let made = py.detach(|| {
        let context = QualityContext { speed, ..QualityContext::new(read.rate) };
        let quality = assess(&read.accel_m_s2, &context);
        let mut time = time_of(&read.accel_m_s2, read.rate).unwrap_or_default();
        if quality.signal.valid {
            time.envelope_rms_g = Some(envelope_rms_g(read, band)).filter(|e| e.is_finite());
        }
        let lines = match (speed, orders) {
            (Some(speed), Some(orders)) if quality.signal.valid => {
                let mut path = FastPath::new(read.accel_m_s2.len(), read.rate, band)
                    .map_err(|e| e.to_string())?;
                let narrow: Vec<f32> = read.accel_m_s2.iter().map(|x| *x as f32).collect();
                let found = path.measure(&narrow, speed, &orders).map_err(|e| e.to_string())?;
                Some(fast_block(&found, speed))
            }
            _ => None,
        };
        Ok::<_, String>(serde_json::json!({
            "signal_quality": quality.signal,
            "running": quality.is_running,
            "time_domain": time,
            "frequency_domain": lines,
        }))
    });
    let made = made.map_err(input)?;
    serde_json::to_string(&made).map_err(|e| PyRuntimeError::new_err(e.to_string()))
}

fn envelope_rms_g(read: &ReadChannel, band: Band) -> f64 {
    let mut transforms = Transforms::new();
    let record = RecordLines::of(&read.accel_m_s2, read.rate.get(), &mut transforms);
    to_g(squared_envelope(&record, band, &mut transforms).variation_rms())
}

/// Orders of no bearing: none is near one of the six shaft lines that the search compares.
const NO_PART: Orders = (7.5, 10.5, 6.7, 0.4);

/// Shaft speed (1/min) by the comb of shaft lines within a tolerance (ratio) of the nominal one,
/// and whether the recording shows one; else the nominal speed.
#[pyfunction]
pub(crate) fn searched_speed(
    py: Python<'_>,
    samples: &Samples,
    channel: usize,
    rpm: f64,
    tolerance_ratio: f64,
) -> PyResult<(f64, bool)> {
    let read = samples.channel(channel)?;
    let orders = orders(NO_PART)?;
    let request = Request {
        speed_tolerance: tolerance_ratio,
        ..Request::new(read.rate, speed(rpm)?, orders)
    };
    Ok(py.detach(|| {
        let mut transforms = Transforms::new();
        let record = RecordLines::of(&read.accel_m_s2, read.rate.get(), &mut transforms);
        let lines = amplitude_spectrum(&read.accel_m_s2, read.rate.get(), &mut transforms);
        let tried = shaft::tried(&lines, &request);
        let found = shaft::search(&read.accel_m_s2, &record, (&request, &tried), &mut transforms);
        (found.speed.get(), found.estimated)
    }))
}
