//! The samples of a recording, in m/s², with what is known of them.

use pdm_edge::analysis::ReadChannel;
use pdm_edge::source::{AccelUnit, Calibration};
use pdm_shared::event::StatementSource;
use pdm_shared::time::Timestamp;
use pdm_shared::units::SampleRate;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::input;

/// Bytes of one sample.
const SAMPLE_BYTES: usize = size_of::<f64>();

/// Samples of one recording. Never changes, so threads may share it.
#[pyclass(frozen, module = "pdm_bearings._core")]
#[derive(Debug)]
pub(crate) struct Samples {
    pub(crate) channels: Vec<ReadChannel>,
    pub(crate) rate: SampleRate,
    /// Name of the file, or what a person calls the recording.
    pub(crate) name: String,
    /// Time of the first sample, or of the file.
    pub(crate) measured_at: Timestamp,
}

impl Samples {
    /// The channel `index`.
    pub(crate) fn channel(&self, index: usize) -> PyResult<&ReadChannel> {
        self.channels.get(index).ok_or_else(|| {
            let has = self.channels.len();
            input(format!("channel={index} is not there: the recording has {has} (from 0)"))
        })
    }
}

/// Unit and scale of raw numbers, as Python gives them.
pub(crate) type Meaning = (Option<String>, Option<f64>, Option<f64>, f64);

/// `(unit, sensitivity in mV/g, scale, offset)` as a calibration.
pub(crate) fn calibration(meaning: &Meaning) -> PyResult<Calibration> {
    let (unit, sensitivity_mv_per_g, scale, offset) = meaning;
    let unit = match (unit, sensitivity_mv_per_g) {
        (_, Some(mv)) => Some(AccelUnit::Millivolt { sensitivity_mv_per_g: *mv }),
        (Some(text), None) => Some(text.parse().map_err(|e| input(format!("unit={e}")))?),
        (None, None) => None,
    };
    Calibration::stated(unit, *scale, *offset).map_err(input)
}

pub(crate) fn rate(rate_hz: f64) -> PyResult<SampleRate> {
    SampleRate::new(rate_hz).map_err(|e| input(format!("rate={rate_hz}: {e}")))
}

/// An instant from milliseconds since 1970 (UTC).
pub(crate) fn instant(ms: i64) -> PyResult<Timestamp> {
    Timestamp::from_unix_ms(ms).ok_or_else(|| input(format!("{ms} ms lie outside the calendar")))
}

/// Numbers as the bytes that `numpy.frombuffer` takes.
pub(crate) fn bytes<'py>(py: Python<'py>, numbers: &[f64]) -> Bound<'py, PyBytes> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    PyBytes::new(py, &bytes)
}

/// The numbers of such bytes.
pub(crate) fn numbers(bytes: &[u8]) -> Vec<f64> {
    let (whole, _) = bytes.as_chunks::<SAMPLE_BYTES>();
    whole.iter().map(|b| f64::from_le_bytes(*b)).collect()
}

#[pymethods]
impl Samples {
    /// Raw numbers (64-bit floats, little-endian, channel after channel) as samples.
    #[staticmethod]
    fn of_raw(
        py: Python<'_>,
        raw: &[u8],
        channels: usize,
        rate_hz: f64,
        meaning: Meaning,
        name: String,
        measured_at_ms: i64,
    ) -> PyResult<Self> {
        let rate = rate(rate_hz)?;
        let calibration = calibration(&meaning)?;
        let measured_at = instant(measured_at_ms)?;
        let channels = py.detach(|| {
            let of_channel = raw.len() / channels.max(1);
            raw.chunks(of_channel.max(SAMPLE_BYTES))
                .map(|raw| {
                    let mut accel_m_s2 = numbers(raw);
                    for x in &mut accel_m_s2 {
                        *x = calibration.to_m_s2(*x);
                    }
                    ReadChannel { accel_m_s2, rate, input: None }
                })
                .collect()
        });
        Ok(Self { channels, rate, name, measured_at })
    }

    /// Number of channels.
    #[getter]
    fn channels(&self) -> usize {
        self.channels.len()
    }

    /// Samples of each channel.
    #[getter]
    fn samples(&self) -> usize {
        self.channels.first().map_or(0, |channel| channel.accel_m_s2.len())
    }

    /// Samples per second.
    #[getter]
    fn rate_hz(&self) -> f64 {
        self.rate.get()
    }

    /// Name of the file, or what a person calls the recording.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Time of the first sample or of the file, milliseconds since 1970 (UTC).
    #[getter]
    fn measured_at_ms(&self) -> i64 {
        self.measured_at.unix_ms()
    }

    /// Returns how a file was read, in one line; `None` for an array.
    #[getter]
    fn interpretation(&self) -> Option<String> {
        self.channels.first().and_then(|c| c.input.as_ref()).map(|(input, _)| input.to_string())
    }

    /// Whether the unit of a channel is assumed, because neither the file nor a person states it.
    #[getter]
    fn unit_is_assumed(&self) -> bool {
        self.channels.iter().filter_map(|channel| channel.input.as_ref()).any(|(input, at)| {
            let source = input.channels.get(*at).map(|channel| channel.unit_source);
            source == Some(StatementSource::Assumed)
        })
    }

    /// The channels' names in their file.
    #[getter]
    fn channel_names(&self) -> Vec<Option<String>> {
        let name = |channel: &ReadChannel| {
            let (input, at) = channel.input.as_ref()?;
            input.channels.get(*at)?.name.clone()
        };
        self.channels.iter().map(name).collect()
    }

    /// One channel, m/s², as the bytes of 64-bit floats.
    fn accel_m_s2<'py>(&self, py: Python<'py>, channel: usize) -> PyResult<Bound<'py, PyBytes>> {
        Ok(bytes(py, &self.channel(channel)?.accel_m_s2))
    }

    /// Returns how many samples of a channel are no finite number, and the first of them.
    fn not_finite(&self, py: Python<'_>, channel: usize) -> PyResult<(usize, Option<usize>)> {
        let samples = &self.channel(channel)?.accel_m_s2;
        Ok(py.detach(|| {
            let count = samples.iter().filter(|x| !x.is_finite()).count();
            (count, samples.iter().position(|x| !x.is_finite()))
        }))
    }
}
