//! Values from JSON and as JSON.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "all values that JSON does not have are refused alike"
)]

use std::rc::Rc;

use indexmap::IndexMap;
use serde_json::{Map, Number, Value as Json};

use crate::error::{Outcome, Stop, fault, type_error, value_error};
use crate::limits::{ELEMENT_BYTES, Usage};
use crate::value::{Key, Value, float};

/// Deepest nesting that is written.
const MAX_NESTED: u32 = 60;

/// The value of a JSON text.
pub(crate) fn loads(text: &str, usage: &mut Usage) -> Outcome<Value> {
    usage.bytes(text.len() as u64)?;
    usage.steps(text.len() as u64 / 16)?;
    match serde_json::from_str::<Json>(text) {
        Ok(json) => read(json, usage),
        Err(error) => fault("JSONDecodeError", error.to_string()),
    }
}

fn read(json: Json, usage: &mut Usage) -> Outcome<Value> {
    usage.bytes(ELEMENT_BYTES)?;
    Ok(match json {
        Json::Null => Value::None,
        Json::Bool(is) => Value::Bool(is),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => Value::Int(whole),
            None => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::from(text),
        Json::Array(all) => {
            let all: Outcome<Vec<Value>> = all.into_iter().map(|one| read(one, usage)).collect();
            Value::from(all?)
        }
        Json::Object(fields) => {
            let mut all = IndexMap::with_capacity(fields.len());
            for (name, value) in fields {
                all.insert(Key::Text(Rc::from(name)), read(value, usage)?);
            }
            Value::dict(all)
        }
    })
}

/// The value as JSON, for the arguments of a tool.
pub(crate) fn json_of(value: &Value) -> Outcome<Json> {
    of_at(value, 0)
}

fn of_at(value: &Value, depth: u32) -> Outcome<Json> {
    if depth > MAX_NESTED {
        return Err(Stop::Limit(format!("values nest deeper than {MAX_NESTED}")));
    }
    Ok(match value {
        Value::None => Json::Null,
        Value::Bool(is) => Json::Bool(*is),
        Value::Int(number) => Json::from(*number),
        Value::Float(number) => match Number::from_f64(*number) {
            Some(number) => Json::Number(number),
            None => return value_error("JSON has no infinite number"),
        },
        Value::Text(text) => Json::from(text.as_ref()),
        Value::List(all) => array(&all.borrow(), depth)?,
        Value::Tuple(all) => array(all, depth)?,
        Value::Dict(all) => {
            let mut fields = Map::new();
            for (key, value) in all.borrow().iter() {
                fields.insert(name_of(key)?, of_at(value, depth + 1)?);
            }
            Json::Object(fields)
        }
        _ => return type_error(format!("a {} has no form in JSON", value.kind())),
    })
}

fn name_of(key: &Key) -> Outcome<String> {
    Ok(match key {
        Key::Text(text) => text.to_string(),
        Key::Int(number) => number.to_string(),
        Key::Float(bits) => float(f64::from_bits(*bits)),
        Key::None => "null".to_owned(),
        Key::Bool(is) => is.to_string(),
        Key::Tuple(_) => return type_error("JSON has no tuples as names"),
    })
}

fn array(all: &[Value], depth: u32) -> Outcome<Json> {
    let all: Outcome<Vec<Json>> = all.iter().map(|one| of_at(one, depth + 1)).collect();
    all.map(Json::Array)
}

/// The value as text in JSON, written with Python's blanks; letters stand as they are.
pub(crate) fn dumps(value: &Value, indent: Option<usize>) -> Outcome<String> {
    let mut out = String::new();
    write(value, indent.map(|width| width.min(8)), 0, &mut out)?;
    Ok(out)
}

fn write(value: &Value, indent: Option<usize>, depth: usize, out: &mut String) -> Outcome<()> {
    if depth > MAX_NESTED as usize {
        return Err(Stop::Limit(format!("values nest deeper than {MAX_NESTED}")));
    }
    let line = |depth: usize, out: &mut String| {
        if let Some(width) = indent {
            out.push('\n');
            out.push_str(&" ".repeat(width * depth));
        }
    };
    let between = if indent.is_some() { "," } else { ", " };
    let list = |all: &[Value], out: &mut String| {
        out.push('[');
        for (at, one) in all.iter().enumerate() {
            out.push_str(if at > 0 { between } else { "" });
            line(depth + 1, out);
            write(one, indent, depth + 1, out)?;
        }
        line(depth, out);
        out.push(']');
        Ok(())
    };
    match value {
        Value::List(all) if !all.borrow().is_empty() => list(&all.borrow(), out),
        Value::Tuple(all) if !all.is_empty() => list(all, out),
        Value::Dict(all) if !all.borrow().is_empty() => {
            out.push('{');
            for (at, (key, value)) in all.borrow().iter().enumerate() {
                out.push_str(if at > 0 { between } else { "" });
                line(depth + 1, out);
                out.push_str(&Json::from(name_of(key)?).to_string());
                out.push_str(": ");
                write(value, indent, depth + 1, out)?;
            }
            line(depth, out);
            out.push('}');
            Ok(())
        }
        Value::Float(number) if number.is_finite() => {
            out.push_str(&float(*number));
            Ok(())
        }
        _ => {
            out.push_str(&json_of(value)?.to_string());
            Ok(())
        }
    }
}
