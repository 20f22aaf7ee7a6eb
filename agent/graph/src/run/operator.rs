//! Operators on values: arithmetic, comparison, access to lists, maps and elements.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::error::{QueryError, Result};
use crate::plan::{Arithmetic, Comparison, TextTest};
use crate::value::{Compared, Properties, Truth, Value, compare, equal};

/// A number as a float.
pub(super) const fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(whole) => Some(*whole as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    }
}

pub(super) fn compared(by: Comparison, a: &Value, b: &Value) -> Truth {
    let ordered = |holds: fn(Ordering) -> bool| {
        if a.is_null() || b.is_null() {
            return None;
        }
        compare(a, b).map(|compared| match compared {
            Compared::Ordered(order) => holds(order),
            Compared::Never => false,
        })
    };
    match by {
        Comparison::Equal => equal(a, b),
        Comparison::NotEqual => equal(a, b).map(|equal| !equal),
        Comparison::Less => ordered(Ordering::is_lt),
        Comparison::LessEqual => ordered(Ordering::is_le),
        Comparison::Greater => ordered(Ordering::is_gt),
        Comparison::GreaterEqual => ordered(Ordering::is_ge),
    }
}

pub(super) fn text_test(test: TextTest, a: &Value, b: &Value) -> Truth {
    let (Value::Text(a), Value::Text(b)) = (a, b) else { return None };
    Some(match test {
        TextTest::StartsWith => a.starts_with(&**b),
        TextTest::EndsWith => a.ends_with(&**b),
        TextTest::Contains => a.contains(&**b),
    })
}

pub(super) fn is_in(item: &Value, list: &Value) -> Result<Truth> {
    let items = match list {
        Value::Null => return Ok(None),
        Value::List(items) => items,
        other => {
            let message = format!("IN needs a list, not {}", other.type_name());
            return Err(QueryError::type_error(message));
        }
    };
    let mut known = Some(false);
    for other in items.iter() {
        match equal(item, other) {
            Some(true) => return Ok(Some(true)),
            Some(false) => {}
            None => known = None,
        }
    }
    Ok(known)
}

pub(super) fn negate(value: &Value) -> Result<Value> {
    match value {
        Value::Null => Ok(Value::Null),
        Value::Int(whole) => whole.checked_neg().map(Value::Int).ok_or_else(overflow),
        Value::Float(number) => Ok(Value::Float(-number)),
        other => Err(QueryError::type_error(format!("- of {}", other.type_name()))),
    }
}

fn overflow() -> QueryError {
    QueryError::invalid("IntegerOverflow", "a result does not fit into 64 bits")
}

pub(super) fn arithmetic(by: Arithmetic, a: &Value, b: &Value) -> Result<Value> {
    if by == Arithmetic::Add
        && let Some(joined) = join(a, b)
    {
        return Ok(joined);
    }
    match (a, b) {
        (Value::Null, _) | (_, Value::Null) => Ok(Value::Null),
        (Value::Int(a), Value::Int(b)) => whole(by, *a, *b),
        _ => {
            if let (Some(a), Some(b)) = (number(a), number(b)) {
                return Ok(Value::Float(float(by, a, b)));
            }
            let (a, b) = (a.type_name(), b.type_name());
            Err(QueryError::type_error(format!("arithmetic with {a} and {b}")))
        }
    }
}

fn whole(by: Arithmetic, a: i64, b: i64) -> Result<Value> {
    let result = match by {
        Arithmetic::Add => a.checked_add(b),
        Arithmetic::Subtract => a.checked_sub(b),
        Arithmetic::Multiply => a.checked_mul(b),
        Arithmetic::Divide | Arithmetic::Remainder if b == 0 => {
            return Err(QueryError::invalid("DivisionByZero", format!("{a} is divided by 0")));
        }
        Arithmetic::Divide => a.checked_div(b),
        Arithmetic::Remainder => a.checked_rem(b),
        Arithmetic::Power => return Ok(Value::Float((a as f64).powf(b as f64))),
    };
    result.map(Value::Int).ok_or_else(overflow)
}

fn float(by: Arithmetic, a: f64, b: f64) -> f64 {
    match by {
        Arithmetic::Add => a + b,
        Arithmetic::Subtract => a - b,
        Arithmetic::Multiply => a * b,
        Arithmetic::Divide => a / b,
        Arithmetic::Remainder => a % b,
        Arithmetic::Power => a.powf(b),
    }
}

/// `+` of lists and texts.
fn join(a: &Value, b: &Value) -> Option<Value> {
    match (a, b) {
        (Value::List(a), Value::List(b)) => {
            Some(Value::list(a.iter().chain(b.iter()).cloned().collect()))
        }
        (Value::Null, _) | (_, Value::Null) => None,
        (Value::List(a), b) => {
            Some(Value::list(a.iter().chain(std::iter::once(b)).cloned().collect()))
        }
        (a, Value::List(b)) => {
            Some(Value::list(std::iter::once(a).chain(b.iter()).cloned().collect()))
        }
        (Value::Text(a), b) => scalar_text(b).map(|b| Value::text(format!("{a}{b}"))),
        (a, Value::Text(b)) => scalar_text(a).map(|a| Value::text(format!("{a}{b}"))),
        _ => None,
    }
}

/// A text, number or truth value as text.
pub(super) fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.to_string()),
        Value::Int(whole) => Some(whole.to_string()),
        Value::Float(number) => Some(format!("{number:?}")),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

/// The properties of an element or the entries of a map; `None` for null.
pub(super) fn properties(of: &Value) -> Result<Option<Arc<Properties>>> {
    match of {
        Value::Null => Ok(None),
        Value::Map(entries) => Ok(Some(Arc::clone(entries))),
        Value::Node(node) => Ok(Some(Arc::clone(&node.properties))),
        Value::Relationship(relationship) => Ok(Some(Arc::clone(&relationship.properties))),
        other => {
            let message = format!("{} has no properties", other.type_name());
            Err(QueryError::type_error(message))
        }
    }
}

pub(super) fn property(of: &Value, key: &str) -> Result<Value> {
    let own = properties(of)?;
    Ok(own.and_then(|own| own.get(key).cloned()).unwrap_or(Value::Null))
}

pub(super) fn index(of: &Value, index: &Value) -> Result<Value> {
    if of.is_null() || index.is_null() {
        return Ok(Value::Null);
    }
    match (of, index) {
        (Value::List(items), Value::Int(at)) => {
            let at = place(*at, items.len());
            Ok(at.and_then(|at| items.get(at).cloned()).unwrap_or(Value::Null))
        }
        (Value::List(_), other) => {
            let message = format!("a list is indexed by {}", other.type_name());
            Err(QueryError::type_error(message))
        }
        (Value::Map(_) | Value::Node(_) | Value::Relationship(_), Value::Text(key)) => {
            property(of, key)
        }
        (Value::Map(_) | Value::Node(_) | Value::Relationship(_), other) => {
            let message = format!("a property is named by {}", other.type_name());
            Err(QueryError::invalid("MapElementAccessByNonString", message))
        }
        (other, _) => {
            let message = format!("{} cannot be indexed", other.type_name());
            Err(QueryError::type_error(message))
        }
    }
}

/// An index from the beginning, or from the end if it is negative.
fn place(at: i64, length: usize) -> Option<usize> {
    let length = i64::try_from(length).ok()?;
    let at = if at < 0 { at.checked_add(length)? } else { at };
    usize::try_from(at).ok()
}

pub(super) fn slice(list: &Value, from: Option<&Value>, to: Option<&Value>) -> Result<Value> {
    let bound = |value: Option<&Value>, length: usize, default: usize| match value {
        None => Ok(Some(default)),
        Some(Value::Null) => Ok(None),
        Some(Value::Int(at)) => {
            let length = i64::try_from(length).unwrap_or(i64::MAX);
            let at = if *at < 0 { at.saturating_add(length) } else { *at };
            Ok(Some(usize::try_from(at.clamp(0, length)).unwrap_or(0)))
        }
        Some(other) => {
            let message = format!("a list is cut at {}", other.type_name());
            Err(QueryError::type_error(message))
        }
    };
    let items = match list {
        Value::Null => return Ok(Value::Null),
        Value::List(items) => items,
        other => {
            let message = format!("{} cannot be cut", other.type_name());
            return Err(QueryError::type_error(message));
        }
    };
    let length = items.len();
    let (Some(from), Some(to)) = (bound(from, length, 0)?, bound(to, length, length)?) else {
        return Ok(Value::Null);
    };
    Ok(Value::list(items.get(from..to).map(<[Value]>::to_vec).unwrap_or_default()))
}
