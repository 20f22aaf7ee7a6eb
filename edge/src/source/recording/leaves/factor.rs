//! Fields beside numbers that may be their scale: `gain`, `sensitivity`, `calibration`.
//!
//! A gain may be the unit of one count, or the factor of an amplifier before the converter; a
//! sensitivity leads the other way. Invariant: none of them is applied; integers beside one are
//! refused with its name, and a person decides.

use super::beside::{SCALE_KEYS, Tree, key_of, scope_of};
use super::labels::is_scope_of_labels;
use super::{Leaf, LeafContent};

/// Parts of a key that speak of such a factor, in lower case without `_`, `-` and spaces.
const WORDS: [&str; 22] = [
    "gain",
    "scale",
    "factor",
    "faktor",
    "sensitiv",
    "calib",
    "multipl",
    "lsb",
    "conversion",
    "umrechnung",
    "percount",
    "perbit",
    "perdigit",
    "slope",
    "verstärkung",
    "verstaerkung",
    "empfindlichkeit",
    "skalierung",
    "배율",
    "감도",
    "이득",
    "스케일",
];

/// Parts of a key by which such a word is another figure.
const OTHERS: [&str; 9] =
    ["crest", "powerfactor", "form", "shape", "quality", "safety", "date", "serial", "fullscale"];

/// Whether a key may name the scale of numbers. The keys that say it for certain are not meant.
pub(in super::super) fn may_be_factor(key: &str) -> bool {
    let has = |words: &[&str]| words.iter().any(|word| key.contains(word));
    !SCALE_KEYS.contains(&key) && has(&WORDS) && !has(&OTHERS)
}

impl Tree<'_> {
    /// The scales under the vector's name, of the vector itself, or of its struct: one, or one for
    /// each column.
    pub(super) fn scales_beside(&self, path: &str, own_key: &str, count: usize) -> Vec<f64> {
        let places = [path, scope_of(path)];
        let mut fields = places.into_iter().flat_map(|place| self.fields(place));
        let found = fields.find_map(|field| {
            let rest = field.key.strip_prefix(own_key).filter(|rest| !rest.is_empty());
            let is_scale = SCALE_KEYS.contains(&rest.unwrap_or(&field.key));
            factors_of(field.leaf, count).filter(|_| is_scale)
        });
        found.unwrap_or_default()
    }

    /// A field that may be a scale: of the vector itself, of its struct or of one around it, or of
    /// a struct of statements in one of these.
    pub(super) fn factor_beside(
        &self,
        path: &str,
        own_key: &str,
        count: usize,
    ) -> Option<(String, f64)> {
        let of_place = |place: &str, is_named: bool| {
            self.fields(place).iter().find_map(|field| {
                let rest = field.key.strip_prefix(own_key).filter(|rest| !rest.is_empty());
                let key = rest.unwrap_or(&field.key);
                let fits = may_be_factor(key) || (is_named && key == "factor");
                let number = factors_of(field.leaf, count)?.first().copied()?;
                fits.then(|| (key_of(&field.leaf.path).to_owned(), number))
            })
        };
        let mut scope = Some(path);
        while let Some(place) = scope {
            let inner = || {
                let mut inner = self.inner(place).filter(|inner| is_scope_of_labels(key_of(inner)));
                inner.find_map(|inner| of_place(inner, true))
            };
            if let Some(found) = of_place(place, false).or_else(inner) {
                return Some(found);
            }
            scope = (!place.is_empty()).then(|| scope_of(place));
        }
        None
    }
}

/// The numbers of a field that is one factor, or one for each of `count` columns.
fn factors_of(leaf: &Leaf, count: usize) -> Option<Vec<f64>> {
    let LeafContent::Numbers { numbers, .. } = &leaf.content else { return None };
    let fits = numbers.len() == 1 || (count > 1 && numbers.len() == count);
    let is_factor = |number: &f64| number.is_finite() && *number != 0.0;
    (fits && numbers.iter().all(is_factor)).then(|| numbers.clone())
}

#[cfg(test)]
mod tests {
    use super::super::{Leaf, LeafContent, variables_of};
    use crate::source::recording::NumberEncoding;

    fn numbers(path: &str, rows: usize, number: f64, encoding: NumberEncoding) -> Leaf {
        let numbers = vec![number; rows];
        let content = LeafContent::Numbers { rows, columns: 1, numbers, encoding };
        Leaf { path: path.to_owned(), content }
    }

    /// R-EDGE-4: integers beside a gain were taken for m/s² because a unit stood there, fifty times
    /// too large.
    #[test]
    fn a_field_that_may_be_a_scale_is_kept_with_its_name() {
        let counts = NumberEncoding::Counts { bits: 16 };
        for (field, vector) in [
            ("gain", "x"),
            ("x_gain", "x"),
            ("run.x.Gain", "run.x"),
            ("run.sensitivity_mv_per_g", "run.data"),
            ("calibration.factor", "acc"),
            ("info.adc_gain", "run.acc"),
        ] {
            let leaves = vec![
                numbers(field, 1, 0.25, NumberEncoding::Real),
                numbers(vector, 64, 40.0, counts),
            ];
            let (variables, _) = variables_of(leaves);
            let own = variables.iter().find(|own| own.path == vector).expect("the vector");
            let factor = own.stated.factor.clone().expect(field);
            assert!((factor.1 - 0.25).abs() < 1e-12 && field.ends_with(&factor.0), "{factor:?}");
            assert_eq!(own.stated.scale, None, "{field}");
        }
        for field in ["crest_factor", "range", "offset", "calibration_date", "rpm"] {
            let leaves =
                vec![numbers(field, 1, 0.25, NumberEncoding::Real), numbers("x", 64, 40.0, counts)];
            let (variables, _) = variables_of(leaves);
            assert!(variables.iter().all(|own| own.stated.factor.is_none()), "{field}");
        }
    }
}
