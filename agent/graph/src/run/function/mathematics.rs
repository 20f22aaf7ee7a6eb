//! Functions of numbers.

use super::wrong;
use crate::error::{QueryError, Result};
use crate::plan::Function;
use crate::run::operator;
use crate::value::Value;

pub(super) fn constant(function: Function) -> Result<Value> {
    match function {
        Function::E => Ok(Value::Float(std::f64::consts::E)),
        Function::Pi => Ok(Value::Float(std::f64::consts::PI)),
        _ => Err(QueryError::type_error("a function without its argument")),
    }
}

pub(super) fn called(function: Function, arguments: &[Value]) -> Result<Value> {
    let first = &arguments[0];
    if let (Function::Abs, Value::Int(whole)) = (function, first) {
        let absolute = whole.checked_abs().map(Value::Int);
        return absolute.ok_or_else(|| QueryError::invalid("IntegerOverflow", "abs() of -2^63"));
    }
    let Some(x) = operator::number(first) else { return Err(wrong("mathematics", first)) };
    if function == Function::Sign {
        let sign = if x > 0.0 { 1 } else { -i64::from(x < 0.0) };
        return Ok(Value::Int(sign));
    }
    Ok(Value::Float(match function {
        Function::Abs => x.abs(),
        Function::Ceil => x.ceil(),
        Function::Floor => x.floor(),
        Function::Round => (x + 0.5).floor(),
        Function::Sqrt => x.sqrt(),
        Function::Exp => x.exp(),
        Function::Log => x.ln(),
        Function::Log10 => x.log10(),
        Function::Sin => x.sin(),
        Function::Cos => x.cos(),
        Function::Tan => x.tan(),
        Function::Cot => 1.0 / x.tan(),
        Function::Asin => x.asin(),
        Function::Acos => x.acos(),
        Function::Atan => x.atan(),
        Function::Atan2 => match arguments.get(1).and_then(operator::number) {
            Some(other) => x.atan2(other),
            None => return Err(wrong("atan2", first)),
        },
        Function::Degrees => x.to_degrees(),
        Function::Radians => x.to_radians(),
        _ => return Err(wrong(&format!("{function:?}").to_lowercase(), first)),
    }))
}
