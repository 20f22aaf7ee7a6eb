//! Defines how values compare: equality and inequality with three truth values, and the total order
//! of `ORDER BY` and of groups (openCypher 9, "Comparability, equality, orderability and
//! equivalence").

use std::cmp::Ordering;

use super::{Path, Properties, Value};

/// A truth value of openCypher; `None` is "unknown".
pub(crate) type Truth = Option<bool>;

/// `a = b`; `None` is "unknown".
pub fn equal(a: &Value, b: &Value) -> Option<bool> {
    match (a, b) {
        (Value::Null, _) | (_, Value::Null) => None,
        (Value::List(a), Value::List(b)) => equal_lists(a, b),
        (Value::Map(a), Value::Map(b)) => equal_maps(a, b),
        (Value::Int(_) | Value::Float(_), Value::Int(_) | Value::Float(_)) => {
            Some(numbers(a, b) == Some(Ordering::Equal))
        }
        _ => Some(order(a, b) == Ordering::Equal),
    }
}

fn equal_lists(a: &[Value], b: &[Value]) -> Truth {
    if a.len() != b.len() {
        return Some(false);
    }
    all(a.iter().zip(b).map(|(a, b)| equal(a, b)))
}

fn equal_maps(a: &Properties, b: &Properties) -> Truth {
    if !a.keys().eq(b.keys()) {
        return Some(false);
    }
    all(a.values().zip(b.values()).map(|(a, b)| equal(a, b)))
}

/// Whether all are, false if one is not, else unknown.
fn all(truths: impl Iterator<Item = Truth>) -> Truth {
    let mut known = Some(true);
    for truth in truths {
        match truth {
            Some(false) => return Some(false),
            Some(true) => {}
            None => known = None,
        }
    }
    known
}

/// Returns how `a` and `b` compare for `<` and its kin: `None` where they cannot be compared
/// (different types, a null inside).
pub(crate) fn compare(a: &Value, b: &Value) -> Option<Compared> {
    match (a, b) {
        (Value::Int(_) | Value::Float(_), Value::Int(_) | Value::Float(_)) => {
            Some(numbers(a, b).map_or(Compared::Never, Compared::Ordered))
        }
        (Value::Text(a), Value::Text(b)) => Some(Compared::Ordered(a.cmp(b))),
        (Value::Bool(a), Value::Bool(b)) => Some(Compared::Ordered(a.cmp(b))),
        (Value::List(a), Value::List(b)) => compare_lists(a, b),
        _ => None,
    }
}

/// The outcome of a comparison that is possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compared {
    /// The values are ordered.
    Ordered(Ordering),
    /// One of the values is NaN, so that every comparison is false.
    Never,
}

fn compare_lists(a: &[Value], b: &[Value]) -> Option<Compared> {
    for (a, b) in a.iter().zip(b) {
        match compare(a, b)? {
            Compared::Ordered(Ordering::Equal) => {}
            decided => return Some(decided),
        }
    }
    Some(Compared::Ordered(a.len().cmp(&b.len())))
}

/// Returns how two numbers compare; `None` if one is NaN.
fn numbers(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Int(a), Value::Float(b)) => whole_and_float(*a, *b),
        (Value::Float(a), Value::Int(b)) => whole_and_float(*b, *a).map(Ordering::reverse),
        (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
        _ => None,
    }
}

/// Compares without the loss of `a as f64` above 2^53.
fn whole_and_float(a: i64, b: f64) -> Option<Ordering> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if b.is_nan() {
        None
    } else if b >= LIMIT {
        Some(Ordering::Less)
    } else if b < -LIMIT {
        Some(Ordering::Greater)
    } else {
        let whole = b.trunc();
        let fraction = b - whole;
        Some(a.cmp(&(whole as i64)).then_with(|| 0.0_f64.total_cmp(&(fraction + 0.0))))
    }
}

/// The total order of values: by type, then by value. Nulls come last, NaN after every number.
pub fn order(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Map(a), Value::Map(b)) => order_maps(a, b),
        (Value::Node(a), Value::Node(b)) => a.id.cmp(&b.id),
        (Value::Relationship(a), Value::Relationship(b)) => a.id.cmp(&b.id),
        (Value::List(a), Value::List(b)) => order_lists(a, b),
        (Value::Path(a), Value::Path(b)) => order_paths(a, b),
        (Value::Text(a), Value::Text(b)) => a.cmp(b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Int(_) | Value::Float(_), Value::Int(_) | Value::Float(_)) => {
            numbers(a, b).unwrap_or_else(|| is_nan(a).cmp(&is_nan(b)))
        }
        _ => rank(a).cmp(&rank(b)),
    }
}

const fn is_nan(value: &Value) -> bool {
    matches!(value, Value::Float(number) if number.is_nan())
}

/// The place of a type in the order (openCypher 9, "Orderability between different types").
const fn rank(value: &Value) -> u8 {
    match value {
        Value::Map(_) => 0,
        Value::Node(_) => 1,
        Value::Relationship(_) => 2,
        Value::List(_) => 3,
        Value::Path(_) => 4,
        Value::Text(_) => 5,
        Value::Bool(_) => 6,
        Value::Int(_) | Value::Float(_) => 7,
        Value::Null => 8,
    }
}

fn order_lists(a: &[Value], b: &[Value]) -> Ordering {
    let first = a.iter().zip(b).map(|(a, b)| order(a, b)).find(|order| order.is_ne());
    first.unwrap_or_else(|| a.len().cmp(&b.len()))
}

fn order_maps(a: &Properties, b: &Properties) -> Ordering {
    let keys = a.keys().cmp(b.keys());
    keys.then_with(|| {
        let values = a.values().zip(b.values()).map(|(a, b)| order(a, b));
        values.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    })
}

fn order_paths(a: &Path, b: &Path) -> Ordering {
    a.nodes.len().cmp(&b.nodes.len()).then_with(|| a.ids().cmp(b.ids()))
}
