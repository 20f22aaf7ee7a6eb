//! Samples at equal shaft angle.

use pdm_dsp::order::{OrderError, ShaftAngle};
use pdm_dsp::spectrum::amplitude_spectrum;
use pdm_dsp::transform::Transforms;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::input;
use crate::samples::{Samples, bytes, numbers};
use crate::verdict::{Lines, lines};

/// Most samples of a resampled channel: 64 Mi, which are 512 MiB, as of a simulated one.
const MOST_SAMPLES: f64 = 64.0 * 1024.0 * 1024.0;

/// Where the shaft's angle comes from.
#[derive(Debug, FromPyObject)]
pub(crate) enum AngleFrom<'py> {
    /// A channel with pulses, and pulses a turn.
    Pulses(usize, u32),
    /// Shaft frequencies (Hz) as bytes, at equal steps (s).
    Speeds(Bound<'py, PyBytes>, f64),
    /// The record's own shaft line: nominal shaft frequency (Hz), tolerance (ratio), and a word
    /// that tells this source from the others.
    Vibration(f64, f64, String),
}

/// Samples at equal angles, turns covered, mean shaft frequency (Hz), its change (ratio), and the
/// order spectrum (m/s², lines by order).
type Tracked<'py> = (Bound<'py, PyBytes>, f64, f64, f64, Lines<'py>);

/// One channel resampled to equal shaft angle.
#[pyfunction]
pub(crate) fn order_track<'py>(
    py: Python<'py>,
    samples: &Samples,
    channel: usize,
    angle: AngleFrom<'py>,
    samples_per_turn: u32,
) -> PyResult<Tracked<'py>> {
    let read = samples.channel(channel)?;
    let (accel, rate_hz) = (&read.accel_m_s2, read.rate.get());
    let angle = match angle {
        AngleFrom::Pulses(channel, pulses_per_turn) => {
            let tachometer = &samples.channel(channel)?.accel_m_s2;
            py.detach(|| ShaftAngle::from_pulses(tachometer, rate_hz, pulses_per_turn))
        }
        AngleFrom::Speeds(shaft_hz, step_s) => {
            ShaftAngle::from_speed(&numbers(shaft_hz.as_bytes()), step_s)
        }
        AngleFrom::Vibration(_, _, source) if source != "vibration" => {
            return Err(input(format!("{source:?} is no source of the shaft's angle")));
        }
        AngleFrom::Vibration(nominal_hz, tolerance, _) => {
            py.detach(|| ShaftAngle::from_vibration(accel, rate_hz, nominal_hz, tolerance))
        }
    };
    let angle: ShaftAngle = angle.map_err(|e: OrderError| input(e))?;
    let turns = angle.turns();
    if turns * f64::from(samples_per_turn) > MOST_SAMPLES {
        let text = format!(
            "{turns:.0} shaft turns of {samples_per_turn} samples are more than {MOST_SAMPLES} \
             samples: is the speed in 1/min?"
        );
        return Err(input(text));
    }
    let (at_angles, spectrum) = py.detach(|| {
        let at_angles = angle.resample(accel, rate_hz, samples_per_turn);
        let per_turn = f64::from(samples_per_turn);
        let spectrum = amplitude_spectrum(&at_angles, per_turn, &mut Transforms::new());
        (at_angles, spectrum)
    });
    let turns = at_angles.len() as f64 / f64::from(samples_per_turn.max(1));
    let at_angles = bytes(py, &at_angles);
    Ok((at_angles, turns, angle.mean_hz(), angle.variation(), lines(py, &spectrum)))
}
