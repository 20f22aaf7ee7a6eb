//! The verdict on one channel of a recording: the code path of `pdm-edge analyze`.

use pdm_dsp::Spectrum;
use pdm_edge::analysis::{Judged, RecordingNames, baseline, judge};
use pdm_shared::id::{BearingId, EquipmentId, MeasuringPoint};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::input;
use crate::machine::{MachineGiven, machine};
use crate::samples::{Samples, bytes};

/// A spectrum as Python takes it: distance of its lines (Hz) and amplitudes as bytes.
pub(crate) type Lines<'py> = (f64, Bound<'py, PyBytes>);

pub(crate) fn lines<'py>(py: Python<'py>, spectrum: &Spectrum) -> Lines<'py> {
    (spectrum.df_hz, bytes(py, &spectrum.amplitude))
}

/// A recording, judged.
#[pyclass(frozen, module = "pdm_bearings._core")]
#[derive(Debug)]
pub(crate) struct Verdict {
    json: String,
    notes: Vec<String>,
    judged: Judged,
}

/// Judges one channel, against another recording of the same measuring point if there is one.
#[pyfunction]
pub(crate) fn diagnose(
    py: Python<'_>,
    samples: &Samples,
    channel: usize,
    machine_given: MachineGiven,
    bearing: Option<String>,
    sound: Option<(PyRef<'_, Samples>, usize)>,
) -> PyResult<Verdict> {
    let machine = machine(machine_given)?;
    let read = samples.channel(channel)?;
    let sound = match &sound {
        Some((samples, channel)) => Some(samples.channel(*channel)?),
        None => None,
    };
    let names = RecordingNames {
        equipment: EquipmentId::from_any(&samples.name),
        bearing: BearingId::from_any(bearing.as_deref().unwrap_or("bearing")),
        measuring_point: MeasuringPoint::from_any(&format!("channel-{channel}")),
        measured_at: samples.measured_at,
    };
    let (judged, notes) = py
        .detach(|| {
            let mut notes = Vec::new();
            let sound = match sound {
                Some(sound) => {
                    let sound = baseline(sound, &machine, read.rate).map_err(|e| e.to_string())?;
                    notes.extend(sound.note.iter().map(|note| format!("baseline: {note}")));
                    Some(sound)
                }
                None => None,
            };
            let judged = judge(read, &machine, sound.as_ref(), names).map_err(|e| e.to_string())?;
            Ok::<_, String>((judged, notes))
        })
        .map_err(input)?;
    let json = py.detach(|| serde_json::to_string(&judged.event));
    let json = json.map_err(|e| PyRuntimeError::new_err(e.to_string()))?;
    Ok(Verdict { json, notes, judged })
}

#[pymethods]
impl Verdict {
    /// The event, as `pdm-edge analyze --json` prints it.
    #[getter]
    fn json(&self) -> &str {
        &self.json
    }

    /// Notes on the baseline.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// Spectrum of the squared envelope in the band that the verdict shows, (m/s²)².
    #[getter]
    fn envelope_spectrum<'py>(&self, py: Python<'py>) -> Option<Lines<'py>> {
        self.judged.findings.as_ref().map(|found| lines(py, &found.envelope_spectrum))
    }

    /// Acceleration spectrum, m/s².
    #[getter]
    fn acceleration_spectrum<'py>(&self, py: Python<'py>) -> Option<Lines<'py>> {
        self.judged.findings.as_ref().map(|found| lines(py, &found.acceleration_spectrum))
    }
}
