//! The compiled half of the Python package `pdm-bearings`: the module `pdm_bearings._core`.
//!
//! Stands between Python and the gateway's own code: its readers, its judgement of a recording
//! ([`pdm_edge::analysis`]), its monitor and its signal science. What comes in are numbers, what
//! goes out are numbers as bytes and events as JSON; names, defaults and tables are made in Python
//! (`python/pdm_bearings`). Invariants: Python's lock is released while anything is computed or
//! read; no input panics; every error is an exception of `pdm_bearings.errors`.

use pyo3::prelude::*;

mod errors;
mod machine;
mod monitor;
mod order;
mod reading;
mod samples;
mod simulation;
mod spectra;
mod verdict;
mod waveform;

/// The compiled half of `pdm_bearings`.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::machine::{catalogue, orders_of_geometry, orders_of_name};
    #[pymodule_export]
    use super::monitor::PointMonitor;
    #[pymodule_export]
    use super::order::order_track;
    #[pymodule_export]
    use super::reading::{read, read_sequence};
    #[pymodule_export]
    use super::samples::Samples;
    #[pymodule_export]
    use super::simulation::simulate;
    #[pymodule_export]
    use super::spectra::{envelope_spectrum, kurtogram, spectrum};
    #[pymodule_export]
    use super::verdict::{Verdict, diagnose};
    #[pymodule_export]
    use super::waveform::{features, searched_speed};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
