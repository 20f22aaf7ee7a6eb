//! The one unit of acceleration that a tree states somewhere, for vectors beside which none stands:
//! in a list of fields, columns or sensors, in a struct of another name, in the title of an axis.
//!
//! Invariants: only a unit that is the only one of its kind in the tree counts; vectors that go one
//! way are times and get none; a tree in which a vector has a unit of its own is left as it is.

use super::beside::{UNIT_KEYS, key_of, plain};
use super::{Leaf, LeafContent, Variable};
use crate::source::interpretation::{StatedUnit, UnitKind};
use crate::source::time_axis::goes_one_way;

/// Keys of the name of a field in a list.
const NAMES: [&str; 6] = ["name", "columnname", "label", "field", "channel", "displayname"];

/// Keys of a title of an axis.
const TITLES: [&str; 3] = ["title", "text", "ylabel"];

/// Units that Grafana names by an id.
const IDS: [(&str, &str); 3] = [("accms2", "m/s2"), ("accg", "g"), ("accfs2", "ft/s2")];

/// The unit, as the tree spells it.
pub(super) fn unit_of(leaves: &[Leaf]) -> Option<String> {
    let mut found: Vec<StatedUnit> = Vec::new();
    for leaf in leaves {
        let LeafContent::Text(lines) = &leaf.content else { continue };
        let key = plain(key_of(&leaf.path));
        let is_listed = leaf.path.contains('{');
        for line in lines {
            let unit = if UNIT_KEYS.contains(&key.as_str()) {
                let id = IDS.iter().find(|(id, _)| line.trim().eq_ignore_ascii_case(id));
                StatedUnit::parse(id.map_or(line.as_str(), |(_, unit)| unit))
            } else if NAMES.contains(&key.as_str()) && is_listed
                || TITLES.contains(&key.as_str()) && line.contains(['(', '['])
            {
                StatedUnit::in_header(line)
            } else {
                None
            };
            let is_sample = |unit: &StatedUnit| {
                matches!(unit.kind, UnitKind::Acceleration(_) | UnitKind::Voltage(_))
            };
            if let Some(unit) = unit.filter(is_sample)
                && !found.iter().any(|other| other.kind == unit.kind)
            {
                found.push(unit);
            }
        }
    }
    match found.as_slice() {
        [one] => Some(one.spelling.clone()),
        _ => None,
    }
}

/// Gives the unit to the vectors that may be samples, if none has one.
pub(super) fn give(unit: Option<String>, variables: &mut [Variable]) {
    let Some(unit) = unit else { return };
    let own = |variable: &Variable| {
        let name = variable.stated.name.as_deref().unwrap_or_else(|| key_of(&variable.path));
        let stated = variable.stated.unit.as_deref().and_then(StatedUnit::parse);
        stated.or_else(|| StatedUnit::in_header(name)).map(|unit| unit.kind)
    };
    let has_unit = |variable: &Variable| {
        matches!(own(variable), Some(UnitKind::Acceleration(_) | UnitKind::Voltage(_)))
    };
    if variables.iter().any(has_unit) {
        return;
    }
    for variable in variables {
        let is_open = variable.stated.unit.is_none() && own(variable).is_none();
        if is_open && !goes_one_way(variable.numbers.iter().copied()) {
            variable.stated.unit = Some(unit.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::variables_of;
    use super::*;
    use crate::source::recording::NumberEncoding;

    fn unit(texts: &[(&str, &str)]) -> Option<String> {
        let text = |(path, line): &(&str, &str)| Leaf {
            path: (*path).to_owned(),
            content: LeafContent::Text(vec![(*line).to_owned()]),
        };
        let numbers: Vec<f64> = (0..64).map(|n| (f64::from(n) * 0.7).sin()).collect();
        let times: Vec<f64> = (0..64).map(f64::from).collect();
        let vector = |path: &str, numbers: Vec<f64>| Leaf {
            path: path.to_owned(),
            content: LeafContent::Numbers {
                rows: numbers.len(),
                columns: 1,
                numbers,
                encoding: NumberEncoding::Real,
            },
        };
        let mut leaves: Vec<Leaf> = texts.iter().map(text).collect();
        leaves.push(vector("data.v", numbers));
        leaves.push(vector("data.w", times));
        let (variables, _) = variables_of(leaves);
        assert_eq!(variables[1].stated.unit, None, "a time");
        variables[0].stated.unit.clone()
    }

    /// R-EDGE-4: the unit stood in the file, and g was assumed.
    #[test]
    fn the_one_unit_of_a_tree_is_that_of_its_samples() {
        for (path, line, expected) in [
            ("frames{0}.fields{1}.config.unit", "accMS2", "m/s2"),
            ("frames{0}.fields{1}.name", "vib_mg", "mg"),
            ("Columns{1}.ColumnName", "vib_ms2", "ms2"),
            ("sensors{0}.units", "m/s2", "m/s2"),
            ("layout.yaxis.title.text", "Vibration (m/s²)", "m/s²"),
            ("other.accel.units", "m/s^2", "m/s^2"),
        ] {
            assert_eq!(unit(&[(path, line)]).as_deref(), Some(expected), "{path}");
        }
        let two = [("fields{0}.unit", "g"), ("fields{1}.unit", "m/s2")];
        assert_eq!(unit(&two), None, "whose is which is open");
        assert_eq!(unit(&[("device.name", "Sensor 5 g")]), None);
    }
}
