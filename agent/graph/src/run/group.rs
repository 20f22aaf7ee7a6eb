//! Rows by equal values, where null equals null and NaN equals NaN.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use crate::value::{Value, order};

/// Values by which rows are grouped.
#[derive(Debug, Clone)]
pub(super) struct Key(pub(super) Vec<Value>);

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        let pairs = self.0.iter().zip(&other.0);
        let first = pairs.map(|(a, b)| order(a, b)).find(|order| order.is_ne());
        first.unwrap_or_else(|| self.0.len().cmp(&other.0.len()))
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Key {}

/// The first of the rows that are equal in what `by` tells, in their order.
pub(super) fn distinct<T>(rows: Vec<T>, by: impl Fn(&T) -> &[Value]) -> Vec<T> {
    let mut seen = BTreeSet::new();
    let mut kept = Vec::new();
    for row in rows {
        if seen.insert(Key(by(&row).to_vec())) {
            kept.push(row);
        }
    }
    kept
}
