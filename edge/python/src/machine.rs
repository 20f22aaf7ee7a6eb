//! Machines and bearings as Python gives them.

use pdm_dsp::diagnose::{DEFAULT_ORDER_TOLERANCE, DEFAULT_SPEED_TOLERANCE};
use pdm_dsp::{DefectOrders, Geometry};
use pdm_edge::analysis::Machine;
use pdm_edge::catalogue::{Bearing, Catalogue, Estimate};
use pdm_shared::units::Rpm;
use pyo3::prelude::*;

use crate::errors::input;

/// BPFO, BPFI, BSF (1×) and FTF as multiples of the shaft speed.
pub(crate) type Orders = (f64, f64, f64, f64);

/// Speed (1/min), its tolerance (percent), orders, their tolerance (percent).
pub(crate) type MachineGiven = (f64, Option<f64>, Orders, Option<f64>);

pub(crate) fn orders(given: Orders) -> PyResult<DefectOrders> {
    let (bpfo, bpfi, bsf, ftf) = given;
    DefectOrders::new(bpfo, bpfi, bsf, ftf).map_err(|e| input(format!("orders={given:?}: {e}")))
}

fn numbers(orders: &DefectOrders) -> Orders {
    (orders.bpfo.get(), orders.bpfi.get(), orders.bsf.get(), orders.ftf.get())
}

pub(crate) fn machine(given: MachineGiven) -> PyResult<Machine> {
    let (rpm, rpm_tolerance_percent, of_bearing, order_tolerance_percent) = given;
    let speed_tolerance = ratio("rpm_tolerance_percent", rpm_tolerance_percent, 20.0)?;
    let order_tolerance = ratio("order_tolerance_percent", order_tolerance_percent, 10.0)?;
    let orders = orders(of_bearing)?;
    let estimate = estimate(of_bearing);
    let default = estimate.as_ref().map_or(DEFAULT_ORDER_TOLERANCE, Estimate::searched);
    Ok(Machine {
        speed: speed(rpm)?,
        speed_tolerance: speed_tolerance.unwrap_or(DEFAULT_SPEED_TOLERANCE),
        orders,
        order_tolerance: order_tolerance.unwrap_or(default),
        estimate,
    })
}

/// The estimate that these orders are, if they are those of an entry of the catalogue whose orders
/// are estimated: orders come here by value, from [`orders_of_name`] too.
fn estimate(orders: Orders) -> Option<Estimate> {
    let catalogue = Catalogue::built_in();
    let entry = catalogue.bearings().iter().find(|entry| numbers(&entry.orders) == orders)?;
    entry.estimate()
}

pub(crate) fn speed(rpm: f64) -> PyResult<Rpm> {
    Rpm::new(rpm).map_err(|e| input(format!("rpm={rpm}: {e}")))
}

fn ratio(name: &str, percent: Option<f64>, most: f64) -> PyResult<Option<f64>> {
    match percent {
        Some(p) if !(0.0..=most).contains(&p) => {
            Err(input(format!("{name}={p}, allowed is 0 to {most}")))
        }
        other => Ok(other.map(|p| p / 100.0)),
    }
}

/// Name, other names, orders, source of the figures.
type Entry = (String, Vec<String>, Orders, String);

fn entry(bearing: &Bearing) -> Entry {
    (bearing.id.clone(), bearing.also.clone(), numbers(&bearing.orders), bearing.source.clone())
}

/// The built-in catalogue.
#[pyfunction]
pub(crate) fn catalogue() -> Vec<Entry> {
    Catalogue::built_in().bearings().iter().map(entry).collect()
}

/// The bearing of this name; `None` if there is none.
#[pyfunction]
pub(crate) fn orders_of_name(name: &str) -> Option<Entry> {
    Catalogue::built_in().find(name).ok().map(entry)
}

/// The orders of a geometry: elements, their diameter (mm), pitch diameter (mm), contact angle (°).
#[pyfunction]
pub(crate) fn orders_of_geometry(
    elements: u32,
    element_mm: f64,
    pitch_mm: f64,
    contact_deg: f64,
) -> PyResult<Orders> {
    let geometry = Geometry::new(elements, element_mm, pitch_mm, contact_deg).map_err(input)?;
    Ok(numbers(&geometry.orders()))
}
