//! Conversions between texts, numbers and truth values. A text that is no number converts to null.

use super::wrong;
use crate::error::Result;
use crate::plan::Function;
use crate::run::operator;
use crate::value::Value;

pub(super) fn converted(function: Function, value: &Value) -> Result<Value> {
    let (name, converted) = match function {
        Function::ToInteger => ("toInteger", to_integer(value)),
        Function::ToFloat => ("toFloat", to_float(value)),
        Function::ToText => ("toString", operator::scalar_text(value).map(Value::text)),
        _ => ("toBoolean", to_boolean(value)),
    };
    converted.ok_or_else(|| match wrong(name, value) {
        crate::error::QueryError::Invalid { message, .. } => {
            crate::error::QueryError::invalid("InvalidArgumentValue", message)
        }
        other => other,
    })
}

/// 2^63: floats from here on do not fit into 64 bits.
const TOO_LARGE: f64 = 9_223_372_036_854_775_808.0;

fn truncated(number: f64) -> Value {
    let fits = number.is_finite() && (-TOO_LARGE..TOO_LARGE).contains(&number);
    if fits { Value::Int(number.trunc() as i64) } else { Value::Null }
}

fn to_integer(value: &Value) -> Option<Value> {
    match value {
        Value::Int(_) => Some(value.clone()),
        Value::Float(number) => Some(truncated(*number)),
        Value::Text(text) => {
            let text = text.trim();
            let whole = text.parse::<i64>().ok().map(Value::Int);
            let float = || text.parse::<f64>().ok().map(truncated);
            Some(whole.or_else(float).unwrap_or(Value::Null))
        }
        _ => None,
    }
}

fn to_float(value: &Value) -> Option<Value> {
    match value {
        Value::Float(_) => Some(value.clone()),
        Value::Int(whole) => Some(Value::Float(*whole as f64)),
        Value::Text(text) => {
            let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
            Some(number.map_or(Value::Null, Value::Float))
        }
        _ => None,
    }
}

fn to_boolean(value: &Value) -> Option<Value> {
    match value {
        Value::Bool(_) => Some(value.clone()),
        Value::Text(text) => Some(match text.trim().to_ascii_lowercase().as_str() {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ => Value::Null,
        }),
        _ => None,
    }
}
