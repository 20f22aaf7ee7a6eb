//! Checks for contradictions to g where nothing states the unit of any channel: the name of the
//! file, gravity, the columns of an app.
//!
//! The check comes before the channels are taken for g. Invariant: a contradiction is refused with
//! the option that decides.

use std::path::Path;

use ndarray::Array2;
use pdm_shared::units::M_S2_PER_G;

use super::{NumberEncoding, StatedChannel};
use crate::source::interpretation::{
    ChannelRole, StatedUnit, UnitKind, label, role, sensor_of_file,
};

/// How far gravity may stand from its standard value, ratio: offset and scale of a MEMS sensor are
/// within 3 %.
const GRAVITY_TOLERANCE: f64 = 0.03;

/// How far the mean of one axis alone may stand from gravity, ratio. Chosen: a tilt of 8° lowers it
/// by as much, and other offsets are anywhere.
const UPRIGHT_TOLERANCE: f64 = 0.01;

/// Whether nothing states the unit of any of these channels.
fn are_open(channels: &[StatedChannel], rows: &[usize]) -> bool {
    rows.iter()
        .all(|row| channels[*row].unit.is_none() && channels[*row].encoding == NumberEncoding::Real)
}

/// Refuses to take channels without a name and a unit for g where the name of the file says another
/// quantity.
pub(super) fn check_file_name(
    path: &Path,
    channels: &[StatedChannel],
    rows: &[usize],
) -> Result<(), String> {
    if are_open(channels, rows)
        && let Some(unit) = path.file_stem().and_then(|stem| unit_of_stem(&stem.to_string_lossy()))
    {
        return Err(format!(
            "nothing in the file states the unit, and its name says {unit}; state it (--unit m/s2; \
             or --unit g)"
        ));
    }
    let says_nothing = rows.iter().all(|row| role(&channels[*row]) == ChannelRole::Unknown);
    if !says_nothing || !are_open(channels, rows) {
        return Ok(());
    }
    let stem = path.file_stem().map(|stem| stem.to_string_lossy());
    match stem.as_deref().and_then(sensor_of_file) {
        None => Ok(()),
        Some(what) => Err(format!(
            "nothing names the columns, and the name of the file says {what}; name an acceleration \
             in the header, or state the unit if it is one (--unit)"
        )),
    }
}

/// Refuses to take channels for g, of which nothing states a unit, where gravity in three axes
/// speaks against it.
pub(super) fn check_gravity(
    channels: &[StatedChannel],
    rows: &[usize],
    numbers: Option<&Array2<f64>>,
) -> Result<(), String> {
    let Some(numbers) = numbers.filter(|_| are_open(channels, rows)) else { return Ok(()) };
    let mean = |row: &usize| {
        let finite = || numbers.row(*row).into_iter().filter(|sample| sample.is_finite());
        finite().sum::<f64>() / finite().count().max(1) as f64
    };
    let means: Vec<f64> = rows.iter().map(mean).collect();
    let together = |three: &[f64]| three.iter().map(|mean| mean * mean).sum::<f64>().sqrt();
    for gravity in means.windows(3).map(together) {
        if let Some(options) = unit_by_gravity(gravity) {
            return Err(format!(
                "nothing states the unit, and the means of the three axes are {gravity:.3} \
                 together, which is gravity in a unit other than g; state it ({options}; or --unit \
                 g)"
            ));
        }
    }
    // an axis alone may stand upright; no other unit has an amount that no sensor's offset has
    let is_upright = |mean: &f64| (mean.abs() / M_S2_PER_G - 1.0).abs() <= UPRIGHT_TOLERANCE;
    match means.iter().position(is_upright) {
        Some(place) => Err(format!(
            "nothing states the unit, and the mean of {} is {:.3}, which is gravity in m/s²; state \
             it (--unit m/s2; or --unit g)",
            label(place, &channels[rows[place]]),
            means[place]
        )),
        None => Ok(()),
    }
}

/// Refuses the columns of an app for phones that writes m/s² and states it nowhere in the file.
pub(super) fn check_app(
    channels: &[StatedChannel],
    rows: &[usize],
    left_out: &[String],
) -> Result<(), String> {
    let is_of_app = left_out.iter().any(|column| column.contains("\"seconds_elapsed\""));
    if !(is_of_app && are_open(channels, rows)) {
        return Ok(());
    }
    Err("nothing states the unit, and the columns are those of the app Sensor Logger, which writes \
         m/s² unless it is set to g; state it (--unit m/s2; or --unit g)"
        .to_owned())
}

/// The unit of acceleration other than g at the end of a file's name, before a number of the file:
/// `run_m_s2_07`.
fn unit_of_stem(stem: &str) -> Option<String> {
    let numbered = stem.rsplit_once(['_', '-', ' ']);
    let without = numbered.filter(|(_, end)| end.chars().all(|c| c.is_ascii_digit()));
    let unit = [Some(stem), without.map(|(front, _)| front)]
        .into_iter()
        .flatten()
        .find_map(StatedUnit::in_header)?;
    match unit.kind {
        UnitKind::Acceleration(factor) if (factor / M_S2_PER_G - 1.0).abs() > 1e-6 => {
            Some(unit.spelling)
        }
        UnitKind::Acceleration(_)
        | UnitKind::Voltage(_)
        | UnitKind::Counts
        | UnitKind::Time(_)
        | UnitKind::Other(_) => None,
    }
}

/// The options for the unit in which this amount is gravity, if it is one other than g.
fn unit_by_gravity(gravity: f64) -> Option<&'static str> {
    let is_near = |amount: f64| (gravity / amount - 1.0).abs() <= GRAVITY_TOLERANCE;
    if is_near(M_S2_PER_G) {
        Some("--unit m/s2")
    } else if is_near(1000.0) {
        Some("--scale 0.001, for mg")
    } else if is_near(1000.0 * M_S2_PER_G) {
        Some("--unit m/s2 --scale 0.001, for mm/s²")
    } else if is_near(100.0 * M_S2_PER_G) {
        Some("--unit m/s2 --scale 0.01, for cm/s²")
    } else {
        None
    }
}
