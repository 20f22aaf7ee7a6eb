//! Builds the channels of a TDMS file from its objects: names, units, rates, scales and starts.

use super::Objects;
use super::metadata::{self, Properties, Property};
use super::scale::scaled;
use crate::source::recording::leaves::{
    UNIT_KEYS, may_be_factor, may_be_unit, plain, rate_of_property,
};
use crate::source::recording::meaning::since_1970;
use crate::source::recording::variables::Variable;
use crate::source::recording::{NumberEncoding, StatedChannel, StatedStart};

/// Returns the channels of a file, and its objects that are no channels.
pub(super) fn variables_of_objects(mut objects: Objects) -> (Vec<Variable>, Vec<String>) {
    let (mut variables, mut others, mut times) = (Vec::new(), Vec::new(), Vec::new());
    for path in std::mem::take(&mut objects.order) {
        let Some(data) = objects.data.remove(&path) else { continue };
        let names = metadata::names_of_path(&path);
        let place = names.join("/");
        let group = names.first().map(|group| metadata::path_of_group(group)).unwrap_or_default();
        let scopes = [path.as_str(), group.as_str(), "/"];
        let own = objects.properties.get(&path).cloned().unwrap_or_default();
        if data.is_time {
            let seconds = data.numbers.into_values().next();
            times.extend(seconds.map(|seconds| TimeChannel { names, place, seconds }));
            continue;
        }
        if let Some(kind) = data.other {
            others.push(format!("{place} ({kind})"));
            continue;
        }
        let properties = scopes.iter().filter_map(|scope| objects.properties.get(*scope));
        let numbers = match scaled(data.numbers, data.is_daqmx, properties) {
            Ok(numbers) => numbers,
            Err(why) => {
                others.push(format!("{place} ({why})"));
                continue;
            }
        };
        let text = |key: &str| match own.get(key) {
            Some(Property::Text(text)) if !text.trim().is_empty() => Some(text.trim().to_owned()),
            _ => None,
        };
        // writers of other programs state the rate once, of the group or of the file
        let rate_hz = scopes.iter().filter_map(|scope| objects.properties.get(*scope)).find_map(
            |properties| {
                properties.iter().find_map(|(key, value)| rate_of_property(key, value.number()?))
            },
        );
        let is_frequency = text("wf_xname").is_some_and(|x| x.to_lowercase().contains("freq"))
            || text("wf_xunit_string").is_some_and(|unit| unit.eq_ignore_ascii_case("hz"));
        if is_frequency {
            others.push(format!("{place} (a spectrum: its abscissa is a frequency)"));
            continue;
        }
        let encoding = if numbers.is_scaled { NumberEncoding::Real } else { data.encoding };
        let unit = text("unit_string").or_else(|| text("NI_UnitDescription"));
        let named =
            StatedChannel { name: names.last().cloned(), unit, encoding, ..Default::default() };
        variables.push(Variable {
            stated: with_properties(named, &scopes, &objects, numbers.is_scaled),
            path: place,
            rate_hz,
            started_at: start_of(&scopes, &objects),
            time_note: None,
            numbers: numbers.numbers,
        });
    }
    for channel in times {
        match time_variable(channel, &variables) {
            Ok(times) => variables.push(times),
            Err(other) => others.push(other),
        }
    }
    (variables, others)
}

/// A channel with the unit and the factor that other properties of it, its group or the file state.
fn with_properties(
    channel: StatedChannel,
    scopes: &[&str],
    objects: &Objects,
    is_scaled: bool,
) -> StatedChannel {
    let all = || scopes.iter().filter_map(|scope| objects.properties.get(*scope));
    let unit = channel.unit.clone().or_else(|| all().find_map(unit_among));
    let factor = if is_scaled { None } else { all().find_map(factor_among) };
    StatedChannel { unit, factor, ..channel }
}

/// The unit that properties of a channel, its group or the file state under another key than
/// LabVIEW's own.
fn unit_among(properties: &Properties) -> Option<String> {
    properties.iter().find_map(|(key, value)| match value {
        Property::Text(unit) if names_unit_of_samples(&plain(key)) => {
            Some(unit.trim().to_owned()).filter(|unit| may_be_unit(unit))
        }
        Property::Text(_) | Property::Number(_) | Property::Time(_) | Property::Other => None,
    })
}

/// Whether the key of a property says that it is a unit, and not that of the abscissa: `Unit`,
/// `Sensor unit`.
fn names_unit_of_samples(key: &str) -> bool {
    let is_unit = key.ends_with("unit") || key.ends_with("units");
    let is_abscissa = key.starts_with('x') || key.contains("time") || key.contains("freq");
    UNIT_KEYS.contains(&key) || (is_unit && !is_abscissa)
}

/// A property that may be the scale of integers.
fn factor_among(properties: &Properties) -> Option<(String, f64)> {
    let factor = |(key, value): (&String, &Property)| {
        let number = value.number().filter(|number| number.is_finite() && *number != 0.0)?;
        // what LabVIEW writes of its own scales is read as such
        let is_own = key.starts_with("NI_") || key.starts_with("wf_");
        (!is_own && may_be_factor(&plain(key))).then(|| (key.clone(), number))
    };
    properties.iter().find_map(factor)
}

/// A channel of times, in seconds since 1970.
struct TimeChannel {
    names: Vec<String>,
    place: String,
    seconds: Vec<f64>,
}

/// The times of channels of their group and length, counted from the first one.
///
/// # Errors
/// A log of times beside a recording, in words.
fn time_variable(channel: TimeChannel, variables: &[Variable]) -> Result<Variable, String> {
    let TimeChannel { names, place, seconds } = channel;
    let group = |path: &str| path.rsplit_once('/').map(|(group, _)| group.to_owned());
    let is_beside =
        |one: &Variable| one.numbers.len() == seconds.len() && group(&one.path) == group(&place);
    if !variables.iter().any(is_beside) {
        return Err(format!("{place} (times)"));
    }
    let first = seconds.first().copied().unwrap_or(f64::NAN);
    let started_at = since_1970(first).filter(|_| first > 0.0).map(|at| StatedStart {
        at,
        is_local: false,
        origin: format!("the times of {place}"),
    });
    let stated = StatedChannel {
        name: names.last().cloned(),
        unit: Some("s".to_owned()),
        ..StatedChannel::default()
    };
    let numbers = seconds.iter().map(|at| at - first).collect();
    Ok(Variable { path: place, stated, started_at, numbers, ..Variable::default() })
}

/// Properties of a file that say when it was begun, as LabVIEW and DIAdem write them.
const FILE_TIMES: [&str; 2] = ["DateTime", "datetime"];

/// The start of a channel: `wf_start_time` of the channel, its group or the file, with the offset
/// of its first sample; else the time of the file.
fn start_of(scopes: &[&str], objects: &Objects) -> Option<StatedStart> {
    let all = || scopes.iter().filter_map(|scope| objects.properties.get(*scope));
    let time = |properties: &Properties, key: &str| match properties.get(key) {
        Some(Property::Time(at)) => Some(*at),
        Some(Property::Number(_) | Property::Text(_) | Property::Other) | None => None,
    };
    if let Some(at) = all().find_map(|properties| time(properties, "wf_start_time")) {
        let offset = all().find_map(|properties| properties.get("wf_start_offset")?.number());
        let offset_s = offset.filter(|offset| offset.is_finite()).unwrap_or(0.0);
        let origin = "wf_start_time".to_owned();
        return Some(StatedStart { at: at.plus_seconds(offset_s), is_local: false, origin });
    }
    let file = objects.properties.get("/")?;
    let (key, at) = FILE_TIMES.iter().find_map(|key| Some((*key, time(file, key)?)))?;
    let origin = format!("the property {key} of the file");
    Some(StatedStart { at, is_local: false, origin })
}
