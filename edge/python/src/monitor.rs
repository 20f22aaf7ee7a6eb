//! A measuring point's condition over many recordings: the gateway's own stage.

use std::sync::{Mutex, PoisonError};

use pdm_edge::condition::MonitorSettings;
use pdm_edge::pipeline::point::Point;
use pdm_edge::settings::PointSettings;
use pdm_shared::id::{BearingId, EquipmentId, GatewayId, MeasuringPoint, SiteId};
use pdm_shared::time::Timestamp;
use pdm_shared::units::SampleRate;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::errors::{input, poisoned};
use crate::machine::{MachineGiven, machine};
use crate::samples::{Samples, instant, rate};

/// A measuring point at work. Takes one recording after the other, in the order of time.
#[pyclass(frozen, module = "pdm_bearings._core")]
#[derive(Debug)]
pub(crate) struct PointMonitor {
    rate: SampleRate,
    course: Mutex<Course>,
}

/// The state that changes with each recording.
#[derive(Debug)]
struct Course {
    point: Point,
    sequence: u64,
    last: Option<Timestamp>,
}

#[pymethods]
impl PointMonitor {
    /// A point that knows nothing yet.
    #[new]
    fn new(
        machine_given: MachineGiven,
        rate_hz: f64,
        names: (String, String, String),
        baseline_windows: Option<u32>,
    ) -> PyResult<Self> {
        let machine = machine(machine_given)?;
        let (equipment, bearing, measuring_point) = names;
        let mut monitor = MonitorSettings::default();
        if let Some(windows) = baseline_windows {
            if windows < 10 {
                return Err(input(format!("baseline_windows={windows}, allowed is 10 and more")));
            }
            monitor.baseline_windows = windows;
        }
        let bearing = (
            EquipmentId::from_any(&equipment),
            BearingId::from_any(&bearing),
            Some(MeasuringPoint::from_any(&measuring_point)),
        );
        let settings = PointSettings { monitor, ..PointSettings::of_machine(&machine, bearing) };
        let rate = rate(rate_hz)?;
        let (gateway, site) = (GatewayId::from_any("monitor"), SiteId::from_any("local"));
        let point = Point::new(settings, gateway, site, rate);
        Ok(Self { rate, course: Mutex::new(Course { point, sequence: 0, last: None }) })
    }

    /// Judges the next recording, which began at `at_ms`; the event as JSON.
    fn observe(
        &self,
        py: Python<'_>,
        samples: &Samples,
        channel: usize,
        at_ms: i64,
    ) -> PyResult<String> {
        let read = samples.channel(channel)?;
        let at = instant(at_ms)?;
        let (is_hz, was_hz) = (read.rate.get(), self.rate.get());
        if (is_hz / was_hz - 1.0).abs() > 1e-9 {
            let name = &samples.name;
            let text = format!(
                "{name}: rate {is_hz} Hz, those before {was_hz} Hz: a monitor has one rate, \
                 because levels at two rates do not compare"
            );
            return Err(input(text));
        }
        let made = py.detach(|| {
            let mut course = self.course.lock().map_err(|_: PoisonError<_>| poisoned())?;
            if let Some(last) = course.last.filter(|last| at <= *last) {
                let name = &samples.name;
                let text =
                    format!("{name} is of {at}, the one before of {last}: give them in order");
                return Err(input(text));
            }
            let mut event = course.point.measure(&read.accel_m_s2, at, at);
            course.sequence += 1;
            event.sequence = course.sequence;
            course.last = Some(at);
            Ok(event)
        })?;
        serde_json::to_string(&made).map_err(|e| PyRuntimeError::new_err(e.to_string()))
    }

    /// Forgets everything, after the bearing was replaced.
    fn relearn(&self) -> PyResult<()> {
        self.course.lock().map_err(|_: PoisonError<_>| poisoned())?.point.relearn();
        Ok(())
    }
}
