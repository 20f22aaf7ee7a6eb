//! A shaft speed that a file states beside its vectors, such as `X130RPM` of the bearing sets of
//! Case Western Reserve University.
//!
//! It is told, not used: it may be the nominal speed or that of another recording.

use super::beside::key_of;
use super::{Leaf, LeafContent};

/// Returns the note on the shaft speeds that the leaves state.
pub(in super::super) fn stated_speed(leaves: &[Leaf]) -> Option<String> {
    const MOST_TOLD: usize = 4;
    let told: Vec<String> = leaves.iter().filter_map(speed).take(MOST_TOLD).collect();
    (!told.is_empty())
        .then(|| format!("the file states the shaft speed {} (--rpm)", told.join(", ")))
}

fn speed(leaf: &Leaf) -> Option<String> {
    let LeafContent::Numbers { numbers, .. } = &leaf.content else { return None };
    let [rpm] = numbers.as_slice() else { return None };
    let key = key_of(&leaf.path);
    let lower = key.to_lowercase();
    let is_speed = lower == "speed_rpm" || lower.ends_with("rpm") || lower == "drehzahl";
    (is_speed && rpm.is_finite() && *rpm > 0.0).then(|| format!("{key} = {rpm}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::recording::NumberEncoding;

    #[test]
    fn a_single_number_of_revolutions_is_told() {
        let leaf = |path: &str, numbers: Vec<f64>| Leaf {
            path: path.to_owned(),
            content: LeafContent::Numbers {
                rows: numbers.len(),
                columns: 1,
                numbers,
                encoding: NumberEncoding::Real,
            },
        };
        let told = stated_speed(&[leaf("X7_DE_time", vec![0.5; 9]), leaf("X7RPM", vec![1772.0])]);
        assert_eq!(told.as_deref(), Some("the file states the shaft speed X7RPM = 1772 (--rpm)"));
        assert_eq!(stated_speed(&[leaf("rpm", vec![1772.0, 1773.0])]), None);
    }
}
