//! Rates that a tree states aside of its vectors: `{"meta": {"sampleRate": 2560}, "channels":
//! […]}`.
//!
//! Such a rate belongs to the vectors beside whose structs it stands, if no vector is in its own.
//! Invariant: of several rates that differ, no rate is taken.

use std::collections::BTreeSet;

use super::beside::{is_rate_key, is_vector, key_of, plain, rate_in_unit, scope_of};
use super::{Leaf, LeafContent};

/// Most rates that are looked at; a document that states more states none.
const MOST_RATES: usize = 64;

/// The rates of a tree, and where its vectors are.
pub(super) struct RatesAside<'a> {
    /// The struct of each rate, and its Hz.
    rates: Vec<(&'a str, f64)>,
    vectors: BTreeSet<&'a str>,
}

impl<'a> RatesAside<'a> {
    /// Collects the rates and vectors.
    pub(super) fn new(leaves: &'a [Leaf]) -> Self {
        let vectors = leaves.iter().filter(|leaf| is_vector(leaf));
        let rate = |leaf: &'a Leaf| {
            let key = plain(key_of(&leaf.path));
            let is_rate = is_rate_key(&key);
            if !is_rate {
                return None;
            }
            let hz = rate_in_unit(&key, leaf, unit_beside(leaves, &leaf.path))?;
            Some((scope_of(&leaf.path), hz))
        };
        let mut rates: Vec<(&str, f64)> =
            leaves.iter().filter_map(rate).take(MOST_RATES + 1).collect();
        if rates.len() > MOST_RATES {
            rates.clear();
        }
        Self { rates, vectors: vectors.map(|leaf| leaf.path.as_str()).collect() }
    }

    /// The one rate that stands nearest aside of the vector at this path.
    pub(super) fn rate_of(&self, path: &str) -> Option<f64> {
        let mut place = scope_of(path);
        loop {
            let mut found = self.rates.iter().filter(|(scope, _)| self.is_aside(place, scope));
            if let Some((_, first)) = found.next() {
                return found
                    .all(|(_, other)| (other / first - 1.0).abs() < 1e-6)
                    .then_some(*first);
            }
            if place.is_empty() {
                return None;
            }
            place = scope_of(place);
        }
    }

    /// Whether a struct is inside of `place`, and no vector is in the branch that leads to it.
    fn is_aside(&self, place: &str, scope: &str) -> bool {
        let Some(rest) = scope.strip_prefix(place) else { return false };
        let is_joint = |c: char| matches!(c, '.' | '/');
        // the name of the next struct on the way
        let inner = if place.is_empty() { rest } else { rest.strip_prefix(is_joint).unwrap_or("") };
        if inner.is_empty() {
            return false;
        }
        let from = scope.len() - inner.len();
        let skipped = usize::from(inner.starts_with(is_joint));
        let end = inner.get(skipped..).and_then(|inner| inner.find(is_joint));
        let branch = scope.get(..end.map_or(scope.len(), |end| from + skipped + end));
        let Some(branch) = branch else { return false };
        let mut below = self.vectors.range(branch..).take_while(|path| path.starts_with(branch));
        !below.any(|path| {
            path[branch.len()..].is_empty() || path[branch.len()..].starts_with(is_joint)
        })
    }
}

/// The text of the field that states the unit of another: `fs_unit` beside `fs`.
fn unit_beside<'a>(leaves: &'a [Leaf], path: &str) -> Option<&'a str> {
    let beside = |leaf: &&Leaf| {
        let rest = leaf.path.strip_prefix(path);
        rest.is_some_and(|rest| ["unit", "units"].contains(&plain(rest).as_str()))
    };
    match &leaves.iter().find(beside)?.content {
        LeafContent::Text(lines) => lines.first().map(String::as_str),
        LeafContent::Numbers { .. } | LeafContent::Other(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::recording::NumberEncoding;

    fn leaf(path: &str, count: usize, number: f64) -> Leaf {
        let numbers = vec![number; count];
        let encoding = NumberEncoding::Real;
        let content = LeafContent::Numbers { rows: count, columns: 1, numbers, encoding };
        Leaf { path: path.to_owned(), content }
    }

    /// R-EDGE-4: a rate in the metadata of a document is that of its vectors.
    #[test]
    fn a_rate_in_a_struct_without_vectors_is_that_of_the_vectors_beside_it() {
        for (rate, vector) in [
            ("header.sample_rate", "samples"),
            ("unit.setup.fs", "runs.first.data"),
            ("payload.info.sps", "payload.axes.x"),
            ("/setup/fs", "/run/acc"),
        ] {
            let leaves = [leaf(rate, 1, 2560.0), leaf(vector, 64, 0.5)];
            assert_eq!(RatesAside::new(&leaves).rate_of(vector), Some(2560.0), "{rate}");
        }
    }

    #[test]
    fn the_rate_of_another_vector_and_rates_that_differ_are_none() {
        let of_mic = [
            leaf("mic.setup.fs", 1, 48_000.0),
            leaf("mic.data", 64, 0.1),
            leaf("acc.data", 64, 0.5),
        ];
        assert_eq!(RatesAside::new(&of_mic).rate_of("acc.data"), None);
        let two = [leaf("a.fs", 1, 1000.0), leaf("b.fs", 1, 2000.0), leaf("x", 64, 0.5)];
        assert_eq!(RatesAside::new(&two).rate_of("x"), None);
    }
}
