//! Units that a tree states among labels, and by the name of a vector: `"metric": {"unit": "mg"}`,
//! `"unit": {"x": "m/s2"}`, `"meta": {"units": ["g"]}`.
//!
//! Invariant: labels of a struct are of the vectors in it and in those inside it, never of those
//! beside it.

use super::beside::{Tree, UNIT_KEYS, key_of, plain};
use crate::source::interpretation::StatedUnit;

/// Names of structs that hold statements on their neighbours, in lower case without signs.
const SCOPES: [&str; 18] = [
    "metric",
    "tags",
    "labels",
    "meta",
    "metadata",
    "attributes",
    "attrs",
    "properties",
    "info",
    "header",
    "head",
    "config",
    "settings",
    "setup",
    "calibration",
    "sensor",
    "channelinfo",
    "description",
];

/// Whether a struct of this name holds statements.
pub(super) fn is_scope_of_labels(key: &str) -> bool {
    SCOPES.contains(&plain(key).as_str())
}

/// Whether a text may be a unit: it is one that is known, or has the form of one.
pub(in super::super) fn may_be_unit(text: &str) -> bool {
    StatedUnit::parse(text).is_some() || text.contains(['/', '^', '²'])
}

impl Tree<'_> {
    /// The unit under the vector's own name in a struct of units: `"unit": {"x": "m/s2"}`.
    pub(super) fn unit_by_name(&self, scope: &str, own_key: &str) -> Vec<String> {
        self.inner(scope)
            .filter(|inner| UNIT_KEYS.contains(&plain(key_of(inner)).as_str()))
            .map(|inner| self.texts(inner, |key| key == own_key))
            .find(|units| !units.is_empty())
            .unwrap_or_default()
    }

    /// The units among the labels of a struct, one for each of `count` columns or one for all, else
    /// the unit of the name that they give.
    pub(super) fn units_of_labels(&self, scope: &str, count: usize) -> Vec<String> {
        let scopes = || self.inner(scope).filter(|inner| is_scope_of_labels(key_of(inner)));
        // `"tags": {"unit": "P-101"}` names a machine
        let mut stated = scopes().map(|inner| {
            let mut units = self.texts_of_keys(inner, &UNIT_KEYS);
            units.retain(|unit| may_be_unit(unit));
            units
        });
        if let Some(units) = stated.find(|units| !units.is_empty()) {
            // units of several vectors, of which nothing tells whose each is
            let is_open = units.len() != count && units.iter().any(|other| *other != units[0]);
            return if is_open { Vec::new() } else { units };
        }
        let named = scopes().flat_map(|inner| self.texts(inner, |key| key == "name"));
        let unit = |name: String| StatedUnit::in_header(&name).map(|unit| unit.spelling);
        named.into_iter().find_map(unit).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Leaf, LeafContent, variables_of};
    use crate::source::recording::NumberEncoding;

    fn text(path: &str, lines: &[&str]) -> Leaf {
        let lines = lines.iter().map(|line| (*line).to_owned()).collect();
        Leaf { path: path.to_owned(), content: LeafContent::Text(lines) }
    }

    fn numbers(path: &str, numbers: Vec<f64>) -> Leaf {
        let (rows, encoding) = (numbers.len(), NumberEncoding::Real);
        let content = LeafContent::Numbers { rows, columns: 1, numbers, encoding };
        Leaf { path: path.to_owned(), content }
    }

    /// R-EDGE-4: the unit stood in the file, and g was assumed.
    #[test]
    fn a_unit_among_labels_or_under_the_vectors_name_is_its_unit() {
        for (label, vector) in [
            ("result{0}.metric.unit", "result{0}.values.column 1"),
            ("series{0}.tags.unit", "series{0}.values.column 1"),
            ("unit.y", "y"),
            ("units.y", "y"),
            ("payload.acc.UnitId", "payload.acc.Value"),
            ("meta.unit", "y"),
            ("meta.units", "run.y"),
        ] {
            let leaves = vec![text(label, &["mm/s2"]), numbers(vector, vec![0.5; 64])];
            let (variables, _) = variables_of(leaves);
            assert_eq!(variables[0].stated.unit.as_deref(), Some("mm/s2"), "{label}");
        }
        let named = vec![
            text("r{0}.metric.__name__", &["vib_mg"]),
            numbers("r{0}.values.v", vec![0.5; 64]),
        ];
        assert_eq!(variables_of(named).0[0].stated.unit.as_deref(), Some("mg"));
        let machine =
            vec![text("s{0}.tags.unit", &["P-101"]), numbers("s{0}.values.v", vec![0.5; 64])];
        assert_eq!(variables_of(machine).0[0].stated.unit, None, "a machine");
        let other = vec![text("b.metric.unit", &["mg"]), numbers("a.values.v", vec![0.5; 64])];
        assert_eq!(variables_of(other).0[0].stated.unit, None, "labels of another struct");
    }

    /// R-EDGE-4: 12.8 kHz was taken for 12.8 Hz.
    #[test]
    fn a_rate_has_the_unit_of_the_field_beside_it() {
        for (key, number, unit, rate) in [
            ("fs", 25.6, "kHz", Some(25_600.0)),
            ("fs", 25_600.0, "Hz", Some(25_600.0)),
            ("dt", 39.0625, "us", Some(25_600.0)),
            ("dt", 0.039_062_5, "ms", Some(25_600.0)),
            ("sample_rate", 25.6, "furlongs", None),
        ] {
            for scope in ["", "meta."] {
                let leaves = vec![
                    numbers(&format!("{scope}{key}"), vec![number]),
                    text(&format!("{scope}{key}_unit"), &[unit]),
                    numbers("y", vec![0.5; 64]),
                ];
                let got = variables_of(leaves).0[0].rate_hz;
                let is_same = match (got, rate) {
                    (Some(got), Some(rate)) => (got / rate - 1.0).abs() < 1e-9,
                    (got, rate) => got == rate,
                };
                // a step aside of the vectors is no statement of theirs
                assert!(
                    is_same || (key == "dt" && !scope.is_empty()),
                    "{scope}{key} {unit}: {got:?}"
                );
            }
        }
        let nested =
            vec![numbers("p.Rate.Value", vec![25_600.0]), numbers("p.acc.Value", vec![0.5; 64])];
        let (variables, _) = variables_of(nested);
        assert_eq!(variables[0].rate_hz, Some(25_600.0), "a struct with a value");
        let in_khz = vec![
            numbers("odr.value", vec![25.6]),
            text("odr.unit", &["kHz"]),
            text("unit", &["g"]),
            numbers("y", vec![0.5; 64]),
        ];
        let own = &variables_of(in_khz).0[0];
        assert_eq!((own.rate_hz, own.stated.unit.as_deref()), (Some(25_600.0), Some("g")));
    }
}
