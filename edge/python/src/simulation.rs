//! Simulated recordings, for examples and tests.

use pdm_edge::analysis::ReadChannel;
use pdm_edge::source::Source;
use pdm_edge::source::simulator::{Course, Simulator, SimulatorSettings};
use pdm_shared::fault::Fault;
use pyo3::prelude::*;

use crate::errors::{input, reading};
use crate::machine::{Orders, orders, speed};
use crate::samples::{Samples, instant, rate};

/// Snapshots of a simulated machine: a constant severity, or from sound to failure.
#[pyfunction]
pub(crate) fn simulate(
    py: Python<'_>,
    machine: (f64, f64, Orders),
    fault: Option<String>,
    severity: Option<f64>,
    course: (u64, f64, f64),
    more: (usize, u64, i64),
) -> PyResult<Vec<Samples>> {
    let (rate_hz, rpm, of_bearing) = machine;
    let (snapshots, snapshot_s, period_s) = course;
    let (channels, seed, started_at_ms) = more;
    let rate = rate(rate_hz)?;
    let mut settings = SimulatorSettings::new(rate, speed(rpm)?, orders(of_bearing)?);
    settings.fault = fault.as_deref().map(fault_of).transpose()?;
    settings.course = match severity {
        Some(severity) => Course::Constant { severity },
        None => Course::run_to_failure(),
    };
    settings.snapshots = snapshots;
    settings.snapshot_s = snapshot_s;
    settings.period_s = period_s;
    settings.channels = channels;
    settings.seed = seed;
    settings.started_at = Some(instant(started_at_ms)?);
    let mut source = Simulator::new(settings).map_err(input)?;
    let made = py.detach(|| {
        let mut made = Vec::new();
        while let Some(block) = source.next_block()? {
            let channel = |row: ndarray::ArrayView1<'_, f64>| ReadChannel {
                accel_m_s2: row.to_vec(),
                rate,
                input: None,
            };
            made.push((
                block.index,
                block.started_at,
                block.accel_m_s2.outer_iter().map(channel).collect(),
            ));
        }
        Ok(made)
    });
    let first = instant(started_at_ms)?;
    let named = |(index, started_at, channels): (u64, Option<_>, Vec<ReadChannel>)| Samples {
        channels,
        rate,
        name: format!("simulated#{index}"),
        measured_at: started_at.unwrap_or(first),
    };
    Ok(made.map_err(|e| reading(&e))?.into_iter().map(named).collect())
}

fn fault_of(name: &str) -> PyResult<Fault> {
    let faults = [
        ("outer_race", Fault::OuterRace),
        ("inner_race", Fault::InnerRace),
        ("ball", Fault::Ball),
        ("cage", Fault::Cage),
    ];
    let found = faults.into_iter().find(|(known, _)| *known == name);
    found.map(|(_, fault)| fault).ok_or_else(|| {
        input(format!("fault={name:?} is none of outer_race, inner_race, ball, cage and None"))
    })
}
