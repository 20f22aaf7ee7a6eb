//! Operators, comparisons, elements and slices.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "an operation works on a few kinds of values and refuses all others alike"
)]

use std::cmp::Ordering;
use std::rc::Rc;

use super::Machine;
use super::format::percent;
use crate::error::{Outcome, fault, type_error};
use crate::limits::ELEMENT_BYTES;
use crate::syntax::{Comparison, Operator};
use crate::value::Value;

fn overflow<T>() -> Outcome<T> {
    fault("OverflowError", "a whole number does not fit into 64 bits")
}

fn by_zero<T>() -> Outcome<T> {
    fault("ZeroDivisionError", "division by zero")
}

impl Machine<'_> {
    pub(super) fn negative(&self, value: &Value) -> Outcome<Value> {
        match value {
            Value::Float(number) => Ok(Value::Float(-number)),
            _ => match value.whole() {
                Some(number) => number.checked_neg().map_or_else(overflow, |n| Ok(Value::Int(n))),
                None => type_error(format!("a {} has no negative", value.kind())),
            },
        }
    }

    /// `a += b`: a list is changed in its place.
    pub(super) fn augmented(
        &mut self,
        operator: Operator,
        left: &Value,
        right: &Value,
    ) -> Outcome<Value> {
        if let (Operator::Add, Value::List(all)) = (operator, left) {
            let more = self.each(right)?;
            all.borrow_mut().extend(more);
            return Ok(left.clone());
        }
        self.binary(operator, left, right)
    }

    pub(super) fn binary(
        &mut self,
        operator: Operator,
        left: &Value,
        right: &Value,
    ) -> Outcome<Value> {
        if let (Some(a), Some(b)) = (left.whole(), right.whole()) {
            return whole(operator, a, b);
        }
        if let (Some(a), Some(b)) = (left.number(), right.number()) {
            return number(operator, a, b);
        }
        match (operator, left, right) {
            (Operator::Add, Value::Text(a), Value::Text(b)) => {
                self.usage.bytes((a.len() + b.len()) as u64)?;
                Ok(Value::from(format!("{a}{b}")))
            }
            (Operator::Add, Value::List(a), Value::List(b)) => {
                self.usage.elements(a.borrow().len() + b.borrow().len())?;
                Ok(Value::from([a.borrow().as_slice(), b.borrow().as_slice()].concat()))
            }
            (Operator::Add, Value::Tuple(a), Value::Tuple(b)) => {
                self.usage.elements(a.len() + b.len())?;
                Ok(Value::Tuple([a.as_ref(), b.as_ref()].concat().into()))
            }
            (Operator::Multiply, of, times) if times.whole().is_some() => self.repeated(of, times),
            (Operator::Multiply, times, of) if times.whole().is_some() => self.repeated(of, times),
            (Operator::Remainder, Value::Text(text), _) => {
                let values = match right {
                    Value::Tuple(all) => all.to_vec(),
                    one => vec![one.clone()],
                };
                percent(text, &values).map(Value::from)
            }
            (Operator::Or | Operator::And | Operator::Subtract, Value::Set(a), Value::Set(b)) => {
                self.usage.elements(a.borrow().len() + b.borrow().len())?;
                let (a, b) = (a.borrow(), b.borrow());
                Ok(Value::set(match operator {
                    Operator::Or => a.union(&b).cloned().collect(),
                    Operator::And => a.intersection(&b).cloned().collect(),
                    _ => a.difference(&b).cloned().collect(),
                }))
            }
            (Operator::Or, Value::Dict(a), Value::Dict(b)) => {
                self.usage.elements(a.borrow().len() + b.borrow().len())?;
                let mut all = a.borrow().clone();
                all.extend(b.borrow().iter().map(|(key, value)| (key.clone(), value.clone())));
                Ok(Value::dict(all))
            }
            _ => type_error(format!("{} and {} have no such operation", left.kind(), right.kind())),
        }
    }

    /// A text or list several times; the bytes are counted before they are taken.
    fn repeated(&mut self, of: &Value, times: &Value) -> Outcome<Value> {
        let times = u64::try_from(times.whole().unwrap_or(0)).unwrap_or(0);
        let (length, each) = match of {
            Value::Text(text) => (text.len(), 1),
            Value::List(all) => (all.borrow().len(), ELEMENT_BYTES),
            Value::Tuple(all) => (all.len(), ELEMENT_BYTES),
            _ => return type_error(format!("a {} cannot be repeated", of.kind())),
        };
        self.usage.bytes((length as u64).saturating_mul(each).saturating_mul(times))?;
        self.usage.steps((length as u64).saturating_mul(times) / 16)?;
        let times = times as usize;
        Ok(match of {
            Value::Text(text) => Value::from(text.repeat(if length == 0 { 0 } else { times })),
            Value::List(all) if length > 0 => {
                let all = all.borrow();
                Value::from(
                    std::iter::repeat_n(all.as_slice(), times)
                        .flatten()
                        .cloned()
                        .collect::<Vec<_>>(),
                )
            }
            Value::Tuple(all) if length > 0 => {
                Value::Tuple(std::iter::repeat_n(all.as_ref(), times).flatten().cloned().collect())
            }
            Value::Tuple(_) => of.clone(),
            _ => Value::from(Vec::new()),
        })
    }

    pub(super) fn holds(
        &mut self,
        comparison: Comparison,
        left: &Value,
        right: &Value,
    ) -> Outcome<bool> {
        Ok(match comparison {
            Comparison::Equal => left.equals(right)?,
            Comparison::NotEqual => !left.equals(right)?,
            Comparison::Less => left.order(right)? == Ordering::Less,
            Comparison::LessOrEqual => left.order(right)? != Ordering::Greater,
            Comparison::Greater => left.order(right)? == Ordering::Greater,
            Comparison::GreaterOrEqual => left.order(right)? != Ordering::Less,
            Comparison::In => self.contains(right, left)?,
            Comparison::NotIn => !self.contains(right, left)?,
            Comparison::Is => is_same(left, right)?,
            Comparison::IsNot => !is_same(left, right)?,
        })
    }

    fn contains(&mut self, all: &Value, one: &Value) -> Outcome<bool> {
        match all {
            Value::Text(text) => match one {
                Value::Text(part) => {
                    self.usage.steps(text.len() as u64 / 16)?;
                    Ok(text.contains(&**part))
                }
                _ => type_error(format!("a {} is in no text", one.kind())),
            },
            Value::Dict(all) => Ok(all.borrow().contains_key(&one.key()?)),
            Value::Set(all) => Ok(all.borrow().contains(&one.key()?)),
            _ => {
                for value in self.each(all)? {
                    if value.equals(one)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }

    /// `of[index]`
    pub(super) fn item(&mut self, of: &Value, index: &Value) -> Outcome<Value> {
        match of {
            Value::Dict(all) => match all.borrow().get(&index.key()?) {
                Some(value) => Ok(value.clone()),
                None => fault("KeyError", index.written()?),
            },
            Value::List(all) => {
                let all = all.borrow();
                Ok(all[place(index, all.len())?].clone())
            }
            Value::Tuple(all) => Ok(all[place(index, all.len())?].clone()),
            Value::Text(text) => {
                self.usage.steps(text.len() as u64 / 16)?;
                let at = place(index, text.chars().count())?;
                Ok(text.chars().nth(at).map_or(Value::None, |c| Value::from(c.to_string())))
            }
            _ => {
                let told =
                    format!("a {} has no elements; json.loads reads a tool's text", of.kind());
                type_error(told)
            }
        }
    }

    /// `of[index] = value`
    pub(super) fn put(&mut self, of: &Value, index: &Value, value: Value) -> Outcome<()> {
        match of {
            Value::Dict(all) => {
                self.usage.elements(2)?;
                all.borrow_mut().insert(index.key()?, value);
                Ok(())
            }
            Value::List(all) => {
                let mut all = all.borrow_mut();
                let at = place(index, all.len())?;
                all[at] = value;
                Ok(())
            }
            _ => type_error(format!("the elements of a {} cannot be set", of.kind())),
        }
    }

    /// Takes an element out.
    pub(super) fn remove(&mut self, of: &Value, index: &Value) -> Outcome<Value> {
        match of {
            Value::Dict(all) => {
                self.usage.steps(all.borrow().len() as u64)?;
                let removed = all.borrow_mut().shift_remove(&index.key()?);
                match removed {
                    Some(value) => Ok(value),
                    None => fault("KeyError", index.written()?),
                }
            }
            Value::List(all) => {
                let mut all = all.borrow_mut();
                self.usage.steps(all.len() as u64)?;
                let at = place(index, all.len())?;
                Ok(all.remove(at))
            }
            _ => type_error(format!("nothing can be taken out of a {}", of.kind())),
        }
    }

    /// `of[from:to:step]`
    pub(super) fn slice(&mut self, of: &Value, bounds: [Option<i64>; 3]) -> Outcome<Value> {
        let all = match of {
            Value::List(_) | Value::Tuple(_) | Value::Text(_) => self.each(of)?,
            _ => return type_error(format!("a {} cannot be sliced", of.kind())),
        };
        let [from, to, step] = bounds;
        let (length, step) = (all.len() as i64, step.unwrap_or(1));
        if step == 0 {
            return fault("ValueError", "the step of a slice is not 0");
        }
        let at = |bound: i64| if bound < 0 { bound.saturating_add(length) } else { bound };
        let mut taken = Vec::new();
        if step > 0 {
            let end = at(to.unwrap_or(length)).clamp(0, length);
            let mut now = at(from.unwrap_or(0)).clamp(0, length);
            while now < end {
                taken.push(all[now as usize].clone());
                now = now.saturating_add(step);
            }
        } else {
            let end = to.map_or(-1, |to| at(to).clamp(-1, length));
            let mut now = at(from.unwrap_or(length - 1)).clamp(-1, length - 1);
            while now > end {
                taken.push(all[now as usize].clone());
                now = now.saturating_add(step);
            }
        }
        Ok(match of {
            Value::Text(_) => {
                let mut out = String::with_capacity(taken.len());
                for one in &taken {
                    if let Value::Text(c) = one {
                        out.push_str(c);
                    }
                }
                Value::from(out)
            }
            Value::Tuple(_) => Value::Tuple(taken.into()),
            _ => Value::from(taken),
        })
    }
}

fn is_same(left: &Value, right: &Value) -> Outcome<bool> {
    Ok(match (left, right) {
        (Value::List(a), Value::List(b)) => Rc::ptr_eq(a, b),
        (Value::Dict(a), Value::Dict(b)) => Rc::ptr_eq(a, b),
        (Value::None, Value::None) => true,
        (Value::None, _) | (_, Value::None) => false,
        (Value::Bool(_), other) | (other, Value::Bool(_)) if !matches!(other, Value::Bool(_)) => {
            false
        }
        _ => left.equals(right)?,
    })
}

/// Returns where an index points to.
fn place(index: &Value, length: usize) -> Outcome<usize> {
    let Some(index) = index.whole() else {
        return type_error(format!("an index is a whole number, not a {}", index.kind()));
    };
    let at = if index < 0 { index.saturating_add(length as i64) } else { index };
    match usize::try_from(at) {
        Ok(at) if at < length => Ok(at),
        _ => fault("IndexError", format!("index {index} of {length} elements")),
    }
}

fn whole(operator: Operator, a: i64, b: i64) -> Outcome<Value> {
    let result = match operator {
        Operator::Add => a.checked_add(b),
        Operator::Subtract => a.checked_sub(b),
        Operator::Multiply => a.checked_mul(b),
        Operator::Divide | Operator::FloorDivide | Operator::Remainder if b == 0 => {
            return by_zero();
        }
        Operator::Divide => return Ok(Value::Float(a as f64 / b as f64)),
        Operator::FloorDivide => {
            a.checked_div_euclid(b).map(|q| if b < 0 && a.rem_euclid(b) != 0 { q - 1 } else { q })
        }
        Operator::Remainder => {
            a.checked_rem(b).map(|r| if r != 0 && (r < 0) != (b < 0) { r + b } else { r })
        }
        Operator::Power if b < 0 => return number(operator, a as f64, b as f64),
        Operator::Power => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
        Operator::Or => Some(a | b),
        Operator::And => Some(a & b),
    };
    result.map_or_else(overflow, |number| Ok(Value::Int(number)))
}

fn number(operator: Operator, a: f64, b: f64) -> Outcome<Value> {
    let is_division =
        matches!(operator, Operator::Divide | Operator::FloorDivide | Operator::Remainder);
    if is_division && b.abs() < f64::MIN_POSITIVE {
        return by_zero();
    }
    Ok(Value::Float(match operator {
        Operator::Add => a + b,
        Operator::Subtract => a - b,
        Operator::Multiply => a * b,
        Operator::Divide => a / b,
        Operator::FloorDivide => (a / b).floor(),
        Operator::Remainder => a - b * (a / b).floor(),
        Operator::Power => a.powf(b),
        Operator::Or | Operator::And => {
            return type_error("numbers with fractions have no such operation");
        }
    }))
}
