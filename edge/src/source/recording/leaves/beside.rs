//! Reads the statements beside a vector in a tree: its name, unit and rate in fields of its struct.

use std::collections::{BTreeMap, BTreeSet};

use super::aside::RatesAside;
use super::{Leaf, LeafContent};
use crate::source::interpretation::{StatedUnit, UnitKind};
use crate::source::recording::{NumberEncoding, StatedChannel};

/// Fields with a rate in Hz, lower case, without `_`, `-` and spaces.
const RATE_KEYS: [&str; 25] = [
    "sr",
    "fs",
    "fshz",
    "fsamp",
    "fsample",
    "samplerate",
    "sampleratehz",
    "samplefrequency",
    "samplefrequencyhz",
    "samplingrate",
    "samplingratehz",
    "samplingfrequency",
    "samplingfrequencyhz",
    "samplefreq",
    "samplingfreq",
    "samplespersecond",
    "sps",
    "odr",
    "scanrate",
    "ratehz",
    "daqrate",
    "acquisitionrate",
    "samplingfreqhz",
    "abtastrate",
    "샘플링주파수",
];

/// A field `rate` is the shaft's below this, as in the public set of MFPT (25 Hz), and the samples'
/// above, Hz.
const LEAST_BARE_RATE_HZ: f64 = 1000.0;

/// Seconds that a field `Ts` has where it is the step of samples: a time since 1970 is greater.
const SMALL_STEP_S: std::ops::RangeInclusive<f64> = 1e-7..=0.1;

/// Fields with the seconds from one sample to the next.
const STEP_KEYS: [&str; 15] = [
    "interval",
    "dt",
    "dts",
    "deltat",
    "deltax",
    "increment",
    "xinc",
    "xincrement",
    "wfincrement",
    "sampleinterval",
    "samplinginterval",
    "sampleperiod",
    "samplingperiod",
    "timestep",
    "tinterval",
];

/// Fields with a unit.
pub(in super::super) const UNIT_KEYS: [&str; 24] = [
    "channelunits",
    "channelunit",
    "uom",
    "unitofmeasurement",
    "unitofmeasure",
    "accunit",
    "unit",
    "units",
    "yunit",
    "yunits",
    "unitlabel",
    "yunitlabel",
    "unitstring",
    "engineeringunits",
    "eu",
    "einheit",
    "단위",
    "measurementunit",
    "unitid",
    "unitname",
    "unitsymbol",
    "engineeringunit",
    "engunit",
    "displayunit",
];

/// Fields with the unit's amount in one count of a converter.
pub(super) const SCALE_KEYS: [&str; 5] = ["scale", "scalefactor", "scaling", "lsb", "unitpercount"];

/// Fields with the name of a channel.
const NAME_KEYS: [&str; 8] =
    ["name", "label", "title", "signal", "channel", "channelname", "channelid", "axis"];

/// Fields with the names of the columns of a matrix.
const COLUMN_KEYS: [&str; 9] = [
    "names",
    "labels",
    "columns",
    "columnnames",
    "channels",
    "channelnames",
    "signals",
    "headers",
    "signalnames",
];

/// Structs beside a vector that describe its abscissa.
const ABSCISSA_KEYS: [&str; 4] = ["xvalues", "x", "xaxis", "abscissa"];

/// Names of a vector that do not describe it: its struct has the name.
const VALUE_KEYS: [&str; 6] = ["values", "data", "samples", "value", "y", "yvalues"];

/// The statements beside a vector or matrix.
pub(super) struct BesideStatement {
    /// One for each column.
    pub(super) columns: Vec<StatedChannel>,
    pub(super) rate_hz: Option<f64>,
    pub(super) is_over_frequency: bool,
}

/// A leaf with its last key in lower case without `_`, `-` and spaces.
pub(super) struct Field<'a> {
    pub(super) key: String,
    pub(super) leaf: &'a Leaf,
}

/// The leaves by the struct that holds them.
pub(super) struct Tree<'a> {
    fields: BTreeMap<&'a str, Vec<Field<'a>>>,
    inner: BTreeMap<&'a str, BTreeSet<&'a str>>,
    aside: RatesAside<'a>,
}

impl<'a> Tree<'a> {
    /// Sorts the leaves by their structs.
    pub(super) fn new(leaves: &'a [Leaf]) -> Self {
        let aside = RatesAside::new(leaves);
        let mut tree = Self { fields: BTreeMap::new(), inner: BTreeMap::new(), aside };
        for leaf in leaves {
            let scope = scope_of(&leaf.path);
            // the content of a cell belongs to the struct that holds the cell array
            let path = leaf.path.split_once('{').map_or(leaf.path.as_str(), |(array, _)| array);
            let key = plain(key_of(if scope_of(path) == scope { path } else { &leaf.path }));
            // `"Rate": {"Value": 12800}` states the rate of the struct around it
            if ["value", "val"].contains(&key.as_str()) && !scope.is_empty() && is_single(leaf) {
                let named = Field { key: plain(key_of(scope)), leaf };
                tree.fields.entry(scope_of(scope)).or_default().push(named);
            }
            tree.fields.entry(scope).or_default().push(Field { key, leaf });
            if !scope.is_empty() {
                tree.inner.entry(scope_of(scope)).or_default().insert(scope);
            }
        }
        tree
    }

    /// Returns the statements beside the vector or matrix at this path.
    pub(super) fn stated_beside(
        &self,
        path: &str,
        count: usize,
        encoding: NumberEncoding,
    ) -> BesideStatement {
        let (scope, own_key) = (scope_of(path), plain(key_of(path)));
        // attributes of the dataset itself come before fields beside it
        let own_names = self.texts_of_keys(path, &NAME_KEYS);
        let own_units = self.texts_of_keys(path, &UNIT_KEYS);
        let names = if own_names.len() == count && count > 0 {
            own_names
        } else {
            self.names_of(scope, &own_key, count)
        };
        let units = if own_units.is_empty() {
            let beside = self.units_of(scope, &own_key);
            if beside.is_empty() { self.units_around(scope, count) } else { beside }
        } else {
            own_units
        };
        let scales = self.scales_beside(path, &own_key, count);
        let factor = self.factor_beside(path, &own_key, count);
        let columns = (0..count)
            .map(|index| StatedChannel {
                name: names.get(index).cloned(),
                unit: if units.len() == count { units.get(index) } else { units.first() }.cloned(),
                scale: if scales.len() == count { scales.get(index) } else { scales.first() }
                    .copied(),
                factor: factor.clone(),
                encoding,
            })
            .collect();
        let rate_hz = self.rate_beside(path, &own_key);
        BesideStatement { columns, rate_hz, is_over_frequency: self.is_over_frequency(scope) }
    }

    pub(super) fn fields(&self, scope: &str) -> &[Field<'a>] {
        self.fields.get(scope).map_or(&[], Vec::as_slice)
    }

    pub(super) fn inner(&self, scope: &str) -> impl Iterator<Item = &'a str> {
        self.inner.get(scope).into_iter().flatten().copied()
    }

    /// All lines of the texts under these keys.
    pub(super) fn texts(&self, scope: &str, is_meant: impl Fn(&str) -> bool) -> Vec<String> {
        let mut lines = Vec::new();
        let mut first_key = None;
        for field in self.fields(scope).iter().filter(|field| is_meant(&field.key)) {
            // several leaves of one key are the texts of a cell array
            if *first_key.get_or_insert(&field.key) != &field.key {
                continue;
            }
            if let LeafContent::Text(own) = &field.leaf.content {
                lines.extend(own.iter().map(|line| line.trim().to_owned()));
            }
        }
        if lines.iter().all(String::is_empty) { Vec::new() } else { lines }
    }

    pub(super) fn texts_of_keys(&self, scope: &str, keys: &[&str]) -> Vec<String> {
        self.texts(scope, |key| keys.contains(&key))
    }

    /// The names of the columns, or the name of the single vector of a struct.
    fn names_of(&self, scope: &str, own_key: &str, count: usize) -> Vec<String> {
        if count != 1 {
            let names = self.texts_of_keys(scope, &COLUMN_KEYS);
            return if names.len() == count { names } else { Vec::new() };
        }
        if scope.is_empty() || self.fields(scope).iter().filter(|f| is_vector(f.leaf)).count() > 1 {
            return Vec::new();
        }
        let own = self.texts_of_keys(scope, &NAME_KEYS);
        let outer = scope_of(scope);
        if !own.is_empty() || !VALUE_KEYS.contains(&own_key) || outer.is_empty() {
            return own;
        }
        let record = self.inner(outer).find(|s| plain(key_of(s)) == "functionrecord");
        let recorded = record.map(|record| self.texts_of_keys(record, &NAME_KEYS));
        recorded
            .filter(|names| !names.is_empty())
            .unwrap_or_else(|| self.texts_of_keys(outer, &NAME_KEYS))
    }

    /// The units under the vector's name with `unit`, else of its struct, else of its quantity.
    fn units_of(&self, scope: &str, own_key: &str) -> Vec<String> {
        let named = [format!("{own_key}unit"), format!("{own_key}units"), format!("unit{own_key}")];
        let with_name = self.texts(scope, |key| named.iter().any(|name| name == key));
        if !with_name.is_empty() {
            return with_name;
        }
        let direct = self.texts_of_keys(scope, &UNIT_KEYS);
        if !direct.is_empty() {
            return direct;
        }
        let by_name = self.unit_by_name(scope, own_key);
        if !by_name.is_empty() {
            return by_name;
        }
        self.inner(scope)
            .filter(|inner| ["quantity", "unit", "units"].contains(&plain(key_of(inner)).as_str()))
            .map(|inner| self.texts_of_keys(inner, &["label", "name", "symbol", "unit"]))
            .find(|labels| !labels.is_empty())
            .unwrap_or_default()
    }

    /// The units among labels beside the vector's structs, or one unit of the nearest struct around
    /// that has no vectors of its own: it is of what is inside.
    fn units_around(&self, scope: &str, count: usize) -> Vec<String> {
        let mut inner = scope;
        loop {
            let of_labels = self.units_of_labels(inner, count);
            if !of_labels.is_empty() {
                return of_labels;
            }
            if inner.is_empty() {
                break;
            }
            inner = scope_of(inner);
            if self.fields(inner).iter().any(|field| is_vector(field.leaf)) {
                return Vec::new();
            }
            let units = self.texts_of_keys(inner, &UNIT_KEYS);
            if units.len() == 1 {
                return units;
            }
        }
        Vec::new()
    }

    /// The rate in the same struct, else in the nearest one around it, else in one aside of these.
    fn rate_beside(&self, path: &str, own_key: &str) -> Option<f64> {
        let mut scope = Some(path);
        while let Some(place) = scope {
            let direct = self.fields(place).iter().find_map(|field| {
                let rest = field.key.strip_prefix(own_key).filter(|rest| !rest.is_empty());
                self.rate_in(place, field, rest.unwrap_or(&field.key))
            });
            let nested = || {
                self.inner(place)
                    .filter(|inner| is_abscissa(inner))
                    .flat_map(|inner| self.fields(inner))
                    .find_map(|field| rate_of_field(&field.key, field.leaf))
            };
            if let Some(rate) = direct.or_else(nested) {
                return Some(rate);
            }
            scope = (!place.is_empty()).then(|| scope_of(place));
        }
        self.aside.rate_of(path)
    }

    /// The rate of a field, with its unit in a field beside it: `"fs": 12.8, "fs_unit": "kHz"`.
    fn rate_in(&self, place: &str, field: &Field<'a>, key: &str) -> Option<f64> {
        let units = self.texts(place, |other| {
            other
                .strip_prefix(field.key.as_str())
                .is_some_and(|rest| ["unit", "units"].contains(&rest))
        });
        // `"odr": {"value": 12.8, "unit": "kHz"}`
        let own = scope_of(&field.leaf.path);
        let units = if units.is_empty() && own != place {
            self.texts_of_keys(own, &UNIT_KEYS)
        } else {
            units
        };
        rate_in_unit(key, field.leaf, units.first().map(String::as_str))
    }

    /// The abscissa beside the struct's vectors is stated in Hz.
    fn is_over_frequency(&self, scope: &str) -> bool {
        let is_hertz = |place: &str| {
            let units = self.texts(place, |key| ["label", "unit", "units"].contains(&key));
            units.first().is_some_and(|unit| unit.eq_ignore_ascii_case("hz"))
        };
        [scope, scope_of(scope)].iter().flat_map(|place| self.inner(place)).any(|abscissa| {
            is_abscissa(abscissa) && (is_hertz(abscissa) || self.inner(abscissa).any(is_hertz))
        })
    }
}

pub(super) fn is_vector(leaf: &Leaf) -> bool {
    matches!(leaf.content, LeafContent::Numbers { rows, columns, .. } if rows.max(columns) > 1)
}

fn is_abscissa(scope: &str) -> bool {
    ABSCISSA_KEYS.contains(&plain(key_of(scope)).as_str())
}

/// Whether a leaf is one number.
fn is_single(leaf: &Leaf) -> bool {
    matches!(&leaf.content, LeafContent::Numbers { numbers, .. } if numbers.len() == 1)
}

/// The rate of a field whose unit stands in a field beside it. A unit that is not known leaves it
/// open.
pub(super) fn rate_in_unit(key: &str, leaf: &Leaf, unit: Option<&str>) -> Option<f64> {
    let rate = rate_of_field(key, leaf)?;
    let Some(unit) = unit else { return Some(rate) };
    let plain = unit.trim().to_lowercase();
    let is_rate = is_rate_key(key) || key == "rate";
    // a key with a unit of its own, such as `fs_hz`, has it already
    let has_own = !(RATE_KEYS.contains(&key) || STEP_KEYS.contains(&key) || key == "rate");
    if has_own {
        return Some(rate);
    }
    let factor = match plain.as_str() {
        "hz" | "s/s" | "sps" | "1/s" | "samples/s" if is_rate => 1.0,
        "khz" | "ks/s" | "ksps" if is_rate => 1e3,
        "mhz" | "ms/s" | "msps" if is_rate => 1e6,
        _ if is_rate => return None,
        _ => match StatedUnit::parse(&plain)?.kind {
            UnitKind::Time(seconds) => 1.0 / seconds,
            UnitKind::Acceleration(_)
            | UnitKind::Voltage(_)
            | UnitKind::Counts
            | UnitKind::Other(_) => return None,
        },
    };
    Some(rate * factor)
}

pub(super) fn rate_of_field(key: &str, leaf: &Leaf) -> Option<f64> {
    let is_rate = is_rate_key(key) || key == "rate";
    let is_step = key == "ts" || unit_of_key(key, &STEP_KEYS, &STEP_ENDINGS).is_some();
    if !is_rate && !is_step {
        return None;
    }
    let number = match &leaf.content {
        LeafContent::Numbers { numbers, .. } if numbers.len() == 1 => *numbers.first()?,
        LeafContent::Text(lines) if lines.len() == 1 && is_rate => hertz_of(lines.first()?)?,
        LeafContent::Numbers { .. } | LeafContent::Text(_) | LeafContent::Other(_) => return None,
    };
    rate_of_property(key, number)
}

/// Units behind the key of a rate, with their Hz, and behind that of a step, with their seconds.
const RATE_ENDINGS: [(&str, f64); 3] = [("khz", 1e3), ("hz", 1.0), ("sps", 1.0)];
const STEP_ENDINGS: [(&str, f64); 5] =
    [("sec", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9), ("s", 1.0)];

/// Whether a key says that it is a rate.
pub(super) fn is_rate_key(key: &str) -> bool {
    unit_of_key(key, &RATE_KEYS, &RATE_ENDINGS).is_some()
}

/// The factor of the unit at the end of a key (`odr_hz`, `dt_us`); 1 where it is one of `keys`
/// itself.
fn unit_of_key(key: &str, keys: &[&str], endings: &[(&str, f64)]) -> Option<f64> {
    if keys.contains(&key) {
        return Some(1.0);
    }
    endings.iter().find_map(|(ending, factor)| {
        key.strip_suffix(ending).filter(|rest| keys.contains(rest)).map(|_| *factor)
    })
}

/// The rate that a property states by its key, Hz.
pub(in super::super) fn rate_of_property(key: &str, number: f64) -> Option<f64> {
    let key = plain(key);
    let is_bare = key == "rate" && number >= LEAST_BARE_RATE_HZ;
    // an interval without a unit is that of messages as often as that of samples; `Ts` is a step
    // where it is small
    if key == "interval" || (key == "ts" && !SMALL_STEP_S.contains(&number)) {
        return None;
    }
    if key == "ts" {
        return Some(1.0 / number);
    }
    let rate = match unit_of_key(&key, &RATE_KEYS, &RATE_ENDINGS) {
        Some(factor) => number * factor,
        None if is_bare => number,
        None => 1.0 / (number * unit_of_key(&key, &STEP_KEYS, &STEP_ENDINGS)?),
    };
    (rate.is_finite() && rate > 0.0).then_some(rate)
}

/// A number of a text such as `25.6 kHz` or `2560`.
fn hertz_of(text: &str) -> Option<f64> {
    let text = text.trim();
    let is_unit = |c: char| c.is_alphabetic() && !matches!(c, 'e' | 'E');
    let end = text.find(is_unit).unwrap_or(text.len());
    let number: f64 = text.get(..end)?.trim().parse().ok()?;
    match text.get(end..)?.trim().to_lowercase().as_str() {
        "" | "hz" | "s/s" | "sps" => Some(number),
        "khz" | "ks/s" | "ksps" => Some(1e3 * number),
        "mhz" => Some(1e6 * number),
        _ => None,
    }
}

/// The path of the struct around a leaf; empty at the top.
pub(super) fn scope_of(path: &str) -> &str {
    path.rfind(['.', '/']).map_or("", |at| &path[..at])
}

/// The last key of a path.
pub(super) fn key_of(path: &str) -> &str {
    path.rfind(['.', '/']).map_or(path, |at| &path[at + 1..])
}

/// A key in lower case without `_`, `-` and spaces.
pub(in super::super) fn plain(key: &str) -> String {
    key.to_lowercase().replace(['_', '-', ' ', '(', ')', '[', ']'], "")
}
