//! The functions of the dialect.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "an operation works on a few kinds of values and refuses all others alike"
)]

use std::cmp::Ordering;

use indexmap::{IndexMap, IndexSet};

use super::Machine;
use super::evaluate::Arguments;
use super::format::formatted;
use crate::error::{Outcome, Stop, fault, type_error, value_error};
use crate::json;
use crate::syntax::Operator;
use crate::value::{Key, Value};

/// Names of the functions.
pub(super) const NAMES: [&str; 31] = [
    "abs",
    "all",
    "any",
    "bool",
    "dict",
    "enumerate",
    "filter",
    "final_answer",
    "float",
    "format",
    "int",
    "isinstance",
    "len",
    "list",
    "map",
    "max",
    "min",
    "next",
    "iter",
    "print",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "sorted",
    "str",
    "sum",
    "tuple",
    "type",
    "zip",
];

/// Kinds of errors that a program may name.
pub(super) const KINDS: [&str; 12] = [
    "Exception",
    "BaseException",
    "ValueError",
    "TypeError",
    "KeyError",
    "IndexError",
    "LookupError",
    "NameError",
    "AttributeError",
    "ZeroDivisionError",
    "ToolError",
    "RuntimeError",
];

impl Machine<'_> {
    /// Calls a function of the dialect.
    pub(super) fn native(&mut self, name: &str, mut arguments: Arguments) -> Outcome<Value> {
        self.usage.steps(1)?;
        match name {
            "print" => return self.printed(&mut arguments),
            "final_answer" => return self.final_answer(&mut arguments),
            "sorted" => {
                let all = first(name, &arguments)?;
                let all = self.each(&all)?;
                return self.sorted(all, &mut arguments).map(Value::from);
            }
            "min" | "max" => return self.extreme(name == "max", &mut arguments),
            "dict" => return self.new_dict(arguments),
            "zip" => return self.zipped(&arguments),
            "json.dumps" => {
                let indent = arguments.take("indent").and_then(|value| value.whole());
                let value = first(name, &arguments)?;
                let indent = indent.map(|width| usize::try_from(width).unwrap_or(0));
                let text = json::dumps(&value, indent)?;
                self.usage.bytes(text.len() as u64)?;
                return Ok(Value::from(text));
            }
            _ => {}
        }
        let mut named = arguments.named.into_iter().map(|(_, value)| value);
        let mut values = arguments.positional.into_iter();
        let mut next = || values.next().or_else(|| named.next());
        let one = next();
        let (two, three) = (next(), next());
        if next().is_some() {
            return type_error(format!("{name}: too many arguments"));
        }
        self.of_three(name, one, two, three)
    }

    fn of_three(
        &mut self,
        name: &str,
        one: Option<Value>,
        two: Option<Value>,
        three: Option<Value>,
    ) -> Outcome<Value> {
        let empty = match (name, &one) {
            ("list", None) => Some(Value::from(Vec::new())),
            ("tuple", None) => Some(Value::Tuple([].into())),
            ("set", None) => Some(Value::set(IndexSet::new())),
            ("str", None) => Some(Value::from("")),
            ("int", None) => Some(Value::Int(0)),
            ("float", None) => Some(Value::Float(0.0)),
            ("bool", None) => Some(Value::Bool(false)),
            _ => None,
        };
        if let Some(empty) = empty {
            return Ok(empty);
        }
        let Some(one) = one else { return type_error(format!("{name}: an argument is missing")) };
        match name {
            "abs" => match &one {
                Value::Float(number) => Ok(Value::Float(number.abs())),
                _ => match one.whole().and_then(i64::checked_abs) {
                    Some(number) => Ok(Value::Int(number)),
                    None => type_error("abs wants a number"),
                },
            },
            "len" => length(&one),
            "bool" => Ok(Value::Bool(one.is_true())),
            "str" => self.text(one.shown()?),
            "repr" => self.text(one.written()?),
            "type" => Ok(Value::from(one.kind())),
            "int" => to_int(&one),
            "float" => to_float(&one),
            "round" => rounded(&one, two.as_ref()),
            "format" => {
                let spec = two.map_or_else(|| Ok(String::new()), |spec| spec.shown())?;
                self.text(formatted(&one, &spec)?)
            }
            "range" => self.ranged(&one, two.as_ref(), three.as_ref()),
            "isinstance" => is_instance(&one, two.as_ref()),
            "json.loads" => match &one {
                Value::Text(text) => json::loads(text, &mut self.usage),
                _ => type_error(format!("json.loads wants a text, not a {}", one.kind())),
            },
            "map" | "filter" => self.mapped(name == "map", &one, two.as_ref()),
            _ => self.of_values(name, &one, two),
        }
    }

    /// Functions of the values of a list.
    fn of_values(&mut self, name: &str, of: &Value, two: Option<Value>) -> Outcome<Value> {
        let all = self.each(of)?;
        match name {
            "list" | "iter" => Ok(Value::from(all)),
            "tuple" => Ok(Value::Tuple(all.into())),
            "set" => {
                let keys: Outcome<IndexSet<Key>> = all.iter().map(Value::key).collect();
                keys.map(Value::set)
            }
            "reversed" => Ok(Value::from(all.into_iter().rev().collect::<Vec<_>>())),
            "any" => Ok(Value::Bool(all.iter().any(Value::is_true))),
            "all" => Ok(Value::Bool(all.iter().all(Value::is_true))),
            "next" => match all.into_iter().next().or(two) {
                Some(value) => Ok(value),
                None => fault("StopIteration", ""),
            },
            "sum" => {
                let mut total = two.unwrap_or(Value::Int(0));
                for value in &all {
                    if matches!(value, Value::Text(_)) {
                        return type_error("sum adds numbers");
                    }
                    total = self.binary(Operator::Add, &total, value)?;
                }
                Ok(total)
            }
            "enumerate" => {
                let begin = two.and_then(|value| value.whole()).unwrap_or(0);
                self.usage.elements(2 * all.len())?;
                let pair = |(at, value): (usize, Value)| {
                    Value::Tuple([Value::Int(begin.saturating_add(at as i64)), value].into())
                };
                Ok(Value::from(all.into_iter().enumerate().map(pair).collect::<Vec<_>>()))
            }
            _ => fault("NameError", format!("{name} is not defined")),
        }
    }

    fn text(&mut self, text: String) -> Outcome<Value> {
        self.usage.bytes(text.len() as u64)?;
        Ok(Value::from(text))
    }

    fn printed(&mut self, arguments: &mut Arguments) -> Outcome<Value> {
        let between = match arguments.take("sep") {
            Some(text) => text.shown()?,
            None => " ".to_owned(),
        };
        let mut line = String::new();
        for (at, value) in arguments.positional.iter().enumerate() {
            line.push_str(if at > 0 { &between } else { "" });
            line.push_str(&value.shown()?);
            self.usage.bytes(line.len() as u64 / 8)?;
        }
        self.usage.steps(line.len() as u64 / 16)?;
        self.print(&line);
        Ok(Value::None)
    }

    fn final_answer(&mut self, arguments: &mut Arguments) -> Outcome<Value> {
        let named = arguments.take("answer").or_else(|| arguments.take("text"));
        let value = arguments.positional.first().cloned().or(named);
        match value {
            Some(value) => Err(Stop::Answer(value.shown()?)),
            None => type_error("final_answer wants a text"),
        }
    }

    fn ranged(
        &mut self,
        one: &Value,
        two: Option<&Value>,
        three: Option<&Value>,
    ) -> Outcome<Value> {
        let number = |value: &Value| match value.whole() {
            Some(number) => Ok(number),
            None => type_error("range wants whole numbers"),
        };
        let one = number(one)?;
        let step = three.map_or(Ok(1), number)?;
        match two {
            Some(two) => {
                let end = number(two)?;
                self.range(one, end, step)
            }
            None => self.range(0, one, step),
        }
    }

    fn mapped(&mut self, is_map: bool, function: &Value, of: Option<&Value>) -> Outcome<Value> {
        let Some(of) = of else { return type_error("map and filter want a function and values") };
        let mut out = Vec::new();
        for value in self.each(of)? {
            let given = Arguments { positional: vec![value.clone()], named: Vec::new() };
            let result = match function {
                Value::None => value.clone(),
                function => self.call(function, given)?,
            };
            if is_map {
                out.push(result);
            } else if result.is_true() {
                out.push(value);
            }
        }
        Ok(Value::from(out))
    }

    fn zipped(&mut self, arguments: &Arguments) -> Outcome<Value> {
        let mut lists = Vec::new();
        for of in &arguments.positional {
            lists.push(self.each(of)?);
        }
        let shortest = lists.iter().map(Vec::len).min().unwrap_or(0);
        self.usage.elements(shortest * (lists.len() + 1))?;
        let row = |at: usize| Value::Tuple(lists.iter().map(|list| list[at].clone()).collect());
        Ok(Value::from((0..shortest).map(row).collect::<Vec<_>>()))
    }

    fn new_dict(&mut self, arguments: Arguments) -> Outcome<Value> {
        let mut dict = IndexMap::new();
        if let Some(of) = arguments.positional.first() {
            self.add_to(&mut dict, of)?;
        }
        self.usage.elements(arguments.named.len())?;
        dict.extend(arguments.named.into_iter().map(|(name, value)| (Key::Text(name), value)));
        Ok(Value::dict(dict))
    }

    /// Adds a dictionary, or pairs, to one.
    pub(super) fn add_to(&mut self, dict: &mut IndexMap<Key, Value>, of: &Value) -> Outcome<()> {
        if let Value::Dict(other) = of {
            self.usage.elements(2 * other.borrow().len())?;
            dict.extend(other.borrow().iter().map(|(key, value)| (key.clone(), value.clone())));
            return Ok(());
        }
        for pair in self.each(of)? {
            let pair = self.each(&pair)?;
            let [key, value] = pair.as_slice() else {
                return type_error("a dictionary is made of pairs");
            };
            dict.insert(key.key()?, value.clone());
        }
        Ok(())
    }

    fn extreme(&mut self, is_max: bool, arguments: &mut Arguments) -> Outcome<Value> {
        let (by, default) = (arguments.take("key"), arguments.take("default"));
        let all = match arguments.positional.as_slice() {
            [one] => self.each(&one.clone())?,
            several => several.to_vec(),
        };
        let mut best: Option<(Value, Value)> = None;
        for value in all {
            let key = self.key_of(by.as_ref(), &value)?;
            let is_better = match &best {
                None => true,
                Some((_, so_far)) => {
                    let order = key.order(so_far)?;
                    order == if is_max { Ordering::Greater } else { Ordering::Less }
                }
            };
            if is_better {
                best = Some((value, key));
            }
        }
        match best.map(|(value, _)| value).or(default) {
            Some(value) => Ok(value),
            None => value_error("there is no value to choose from"),
        }
    }

    fn key_of(&mut self, by: Option<&Value>, value: &Value) -> Outcome<Value> {
        match by {
            None | Some(Value::None) => Ok(value.clone()),
            Some(function) => {
                let given = Arguments { positional: vec![value.clone()], named: Vec::new() };
                self.call(function, given)
            }
        }
    }

    /// The values in their order, by `key` and `reverse` of the arguments; equal ones keep their
    /// places.
    pub(super) fn sorted(
        &mut self,
        all: Vec<Value>,
        arguments: &mut Arguments,
    ) -> Outcome<Vec<Value>> {
        let by = arguments.take("key");
        let is_reverse = arguments.take("reverse").is_some_and(|value| value.is_true());
        let mut keyed = Vec::with_capacity(all.len());
        for value in all {
            keyed.push((self.key_of(by.as_ref(), &value)?, value));
        }
        self.usage.steps(keyed.len() as u64 * u64::from(keyed.len().max(1).ilog2() + 1))?;
        let sorted = merge_sorted(keyed, is_reverse)?;
        Ok(sorted.into_iter().map(|(_, value)| value).collect())
    }
}

/// Sorts by keys whose comparison can fail, which the standard library's sort does not allow.
fn merge_sorted(mut all: Vec<(Value, Value)>, is_reverse: bool) -> Outcome<Vec<(Value, Value)>> {
    if all.len() < 2 {
        return Ok(all);
    }
    let right = merge_sorted(all.split_off(all.len() / 2), is_reverse)?;
    let left = merge_sorted(all, is_reverse)?;
    let mut out = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    while let (Some((a, _)), Some((b, _))) = (left.peek(), right.peek()) {
        let order = a.order(b)?;
        let takes_left =
            if is_reverse { order != Ordering::Less } else { order != Ordering::Greater };
        out.extend(if takes_left { left.next() } else { right.next() });
    }
    out.extend(left);
    out.extend(right);
    Ok(out)
}

fn first(name: &str, arguments: &Arguments) -> Outcome<Value> {
    match arguments.positional.first() {
        Some(value) => Ok(value.clone()),
        None => type_error(format!("{name}: an argument is missing")),
    }
}

fn length(of: &Value) -> Outcome<Value> {
    let length = match of {
        Value::Text(text) => text.chars().count(),
        Value::List(all) => all.borrow().len(),
        Value::Tuple(all) => all.len(),
        Value::Dict(all) => all.borrow().len(),
        Value::Set(all) => all.borrow().len(),
        _ => return type_error(format!("a {} has no length", of.kind())),
    };
    Ok(Value::Int(length as i64))
}

fn to_int(value: &Value) -> Outcome<Value> {
    match value {
        Value::Text(text) => match text.trim().replace('_', "").parse() {
            Ok(number) => Ok(Value::Int(number)),
            Err(_) => value_error(format!("{} is no whole number", value.written()?)),
        },
        Value::Float(number) if number.abs() < 9.2e18 => Ok(Value::Int(number.trunc() as i64)),
        Value::Float(_) => fault("OverflowError", "the number does not fit into 64 bits"),
        _ => match value.whole() {
            Some(number) => Ok(Value::Int(number)),
            None => type_error(format!("a {} is no number", value.kind())),
        },
    }
}

fn to_float(value: &Value) -> Outcome<Value> {
    match value {
        Value::Text(text) => match text.trim().parse() {
            Ok(number) => Ok(Value::Float(number)),
            Err(_) => value_error(format!("{} is no number", value.written()?)),
        },
        _ => match value.number() {
            Some(number) => Ok(Value::Float(number)),
            None => type_error(format!("a {} is no number", value.kind())),
        },
    }
}

fn rounded(value: &Value, digits: Option<&Value>) -> Outcome<Value> {
    let Some(number) = value.number() else { return type_error("round wants a number") };
    match digits.and_then(Value::whole) {
        None if matches!(value, Value::Int(_)) => Ok(value.clone()),
        None => to_int(&Value::Float(number.round_ties_even())),
        Some(digits) => {
            let digits = usize::try_from(digits.clamp(0, 15)).unwrap_or(0);
            to_float(&Value::from(format!("{number:.digits$}")))
        }
    }
}

fn is_instance(value: &Value, of: Option<&Value>) -> Outcome<Value> {
    let kinds = match of {
        Some(Value::Tuple(all)) => all.to_vec(),
        Some(one) => vec![one.clone()],
        None => return type_error("isinstance wants a value and a type"),
    };
    let is_of = |kind: &Value| match kind {
        Value::Native(name) => *name == value.kind(),
        Value::Kind(name) => match value {
            Value::Error(error) => **name == *error.kind || &**name == "Exception",
            _ => false,
        },
        _ => false,
    };
    Ok(Value::Bool(kinds.iter().any(is_of)))
}
