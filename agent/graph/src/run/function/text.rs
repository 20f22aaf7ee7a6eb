//! Functions of texts. Positions count characters.

use super::wrong;
use crate::error::{QueryError, Result};
use crate::plan::Function;
use crate::value::Value;

pub(super) fn called(function: Function, own: &str, arguments: &[Value]) -> Result<Value> {
    Ok(match (function, &arguments[1..]) {
        (Function::Upper, _) => Value::text(own.to_uppercase()),
        (Function::Lower, _) => Value::text(own.to_lowercase()),
        (Function::Trim, _) => Value::text(own.trim()),
        (Function::LTrim, _) => Value::text(own.trim_start()),
        (Function::RTrim, _) => Value::text(own.trim_end()),
        (Function::Reverse, _) => Value::text(own.chars().rev().collect::<String>()),
        (Function::Replace, [Value::Text(from), Value::Text(to)]) => replaced(own, from, to)?,
        (Function::Split, [Value::Text(at)]) => {
            let parts: Vec<Value> = if at.is_empty() {
                own.chars().map(|c| Value::text(c.to_string())).collect()
            } else {
                own.split(&**at).map(Value::from).collect()
            };
            Value::list(parts)
        }
        (Function::Substring, [from]) => cut(own, length(from)?, usize::MAX),
        (Function::Substring, [from, count]) => cut(own, length(from)?, length(count)?),
        (Function::Left, [count]) => cut(own, 0, length(count)?),
        (Function::Right, [count]) => {
            let skip = own.chars().count().saturating_sub(length(count)?);
            cut(own, skip, usize::MAX)
        }
        _ => {
            let name = format!("{function:?}").to_lowercase();
            return Err(wrong(&name, arguments.get(1).unwrap_or(&arguments[0])));
        }
    })
}

/// A replacement whose length is bounded before it is made.
fn replaced(own: &str, from: &str, to: &str) -> Result<Value> {
    const MOST: usize = 1_000_000;
    let hits = if from.is_empty() { own.chars().count() + 1 } else { own.matches(from).count() };
    if own.len().saturating_add(hits.saturating_mul(to.len())) > MOST {
        return Err(QueryError::Limit(format!("replace() makes a text above {MOST} bytes")));
    }
    Ok(Value::text(own.replace(from, to)))
}

fn cut(own: &str, from: usize, count: usize) -> Value {
    Value::text(own.chars().skip(from).take(count).collect::<String>())
}

fn length(value: &Value) -> Result<usize> {
    match value {
        Value::Int(count) => usize::try_from(*count).map_err(|_| {
            QueryError::invalid("NumberOutOfRange", format!("a position of a text is {count}"))
        }),
        other => Err(wrong("a position of a text", other)),
    }
}
