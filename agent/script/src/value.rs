//! Values of a program: what they are, how they compare and how they are written.
//!
//! Invariant: every walk through nested values is bounded by [`MAX_NESTED`]; a list may hold
//! itself.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "an operation works on a few kinds of values and refuses all others alike"
)]

use std::cell::RefCell;
use std::cmp::Ordering;
use std::fmt::Write as _;
use std::rc::Rc;

use indexmap::{IndexMap, IndexSet};

use crate::error::{Fault, Outcome, Stop, type_error};
use crate::syntax::Constant;

mod function;

pub(crate) use function::{Function, Method, Scope};

/// Deepest nesting of values that is written or compared.
const MAX_NESTED: u32 = 60;
/// Longest text that a value is written as, bytes.
const MAX_WRITTEN: usize = 1 << 20;

/// A value.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Rc<str>),
    List(Rc<RefCell<Vec<Value>>>),
    Tuple(Rc<[Value]>),
    Dict(Rc<RefCell<IndexMap<Key, Value>>>),
    Set(Rc<RefCell<IndexSet<Key>>>),
    /// A function of the program.
    Function(Rc<Function>),
    /// A function of the dialect.
    Native(&'static str),
    /// A method with its value.
    Method(Rc<Method>),
    /// A tool.
    Tool(Rc<str>),
    /// The module `json`.
    Json,
    /// A kind of error, such as `ValueError`.
    Kind(Rc<str>),
    /// An error that was caught or made.
    Error(Rc<Fault>),
}

/// A value that a dictionary or a set can be searched by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    None,
    Bool(bool),
    Int(i64),
    /// The bits of a number that is no whole one.
    Float(u64),
    Text(Rc<str>),
    Tuple(Vec<Key>),
}

impl From<&Constant> for Value {
    fn from(constant: &Constant) -> Self {
        match constant {
            Constant::None => Self::None,
            Constant::Bool(is) => Self::Bool(*is),
            Constant::Int(number) => Self::Int(*number),
            Constant::Float(number) => Self::Float(*number),
            Constant::Text(text) => Self::Text(Rc::clone(text)),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(Rc::from(text))
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(Rc::from(text))
    }
}

impl From<Vec<Value>> for Value {
    fn from(all: Vec<Value>) -> Self {
        Self::List(Rc::new(RefCell::new(all)))
    }
}

impl From<Key> for Value {
    fn from(key: Key) -> Self {
        match key {
            Key::None => Self::None,
            Key::Bool(is) => Self::Bool(is),
            Key::Int(number) => Self::Int(number),
            Key::Float(bits) => Self::Float(f64::from_bits(bits)),
            Key::Text(text) => Self::Text(text),
            Key::Tuple(all) => Self::Tuple(all.into_iter().map(Self::from).collect()),
        }
    }
}

fn too_deep<T>() -> Outcome<T> {
    Err(Stop::Limit(format!("values nest deeper than {MAX_NESTED}")))
}

impl Value {
    /// A dictionary.
    pub(crate) fn dict(all: IndexMap<Key, Self>) -> Self {
        Self::Dict(Rc::new(RefCell::new(all)))
    }

    /// A set.
    pub(crate) fn set(all: IndexSet<Key>) -> Self {
        Self::Set(Rc::new(RefCell::new(all)))
    }

    /// The name of the type, as Python has it.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::None => "NoneType",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float",
            Self::Text(_) => "str",
            Self::List(_) => "list",
            Self::Tuple(_) => "tuple",
            Self::Dict(_) => "dict",
            Self::Set(_) => "set",
            Self::Function(_) | Self::Native(_) | Self::Method(_) | Self::Tool(_) => "function",
            Self::Json => "module",
            Self::Kind(_) => "type",
            Self::Error(_) => "Exception",
        }
    }

    /// Whether the value counts as true.
    pub(crate) fn is_true(&self) -> bool {
        match self {
            Self::None => false,
            Self::Bool(is) => *is,
            Self::Int(number) => *number != 0,
            Self::Float(number) => *number != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::List(all) => !all.borrow().is_empty(),
            Self::Tuple(all) => !all.is_empty(),
            Self::Dict(all) => !all.borrow().is_empty(),
            Self::Set(all) => !all.borrow().is_empty(),
            _ => true,
        }
    }

    /// The value as a number; true and false are 1 and 0.
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Self::Bool(is) => Some(f64::from(u8::from(*is))),
            Self::Int(number) => Some(*number as f64),
            Self::Float(number) => Some(*number),
            _ => None,
        }
    }

    /// The value as a whole number.
    pub(crate) fn whole(&self) -> Option<i64> {
        match self {
            Self::Bool(is) => Some(i64::from(*is)),
            Self::Int(number) => Some(*number),
            _ => None,
        }
    }

    /// The value as a key.
    pub(crate) fn key(&self) -> Outcome<Key> {
        self.key_at(0)
    }

    fn key_at(&self, depth: u32) -> Outcome<Key> {
        if depth > MAX_NESTED {
            return too_deep();
        }
        Ok(match self {
            Self::None => Key::None,
            Self::Bool(is) => Key::Bool(*is),
            Self::Int(number) => Key::Int(*number),
            Self::Float(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
                Key::Int(*number as i64)
            }
            Self::Float(number) => Key::Float(number.to_bits()),
            Self::Text(text) => Key::Text(Rc::clone(text)),
            Self::Tuple(all) => {
                let all: Outcome<Vec<Key>> = all.iter().map(|one| one.key_at(depth + 1)).collect();
                Key::Tuple(all?)
            }
            _ => return type_error(format!("a {} cannot be a key", self.kind())),
        })
    }

    /// Whether two values are equal.
    pub(crate) fn equals(&self, other: &Self) -> Outcome<bool> {
        self.equals_at(other, 0)
    }

    fn equals_at(&self, other: &Self, depth: u32) -> Outcome<bool> {
        if depth > MAX_NESTED {
            return too_deep();
        }
        let all = |left: &[Self], right: &[Self]| -> Outcome<bool> {
            if left.len() != right.len() {
                return Ok(false);
            }
            for (left, right) in left.iter().zip(right) {
                if !left.equals_at(right, depth + 1)? {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        Ok(match (self, other) {
            (Self::None, Self::None) | (Self::Json, Self::Json) => true,
            (Self::Text(left), Self::Text(right)) => left == right,
            (Self::List(left), Self::List(right)) => {
                Rc::ptr_eq(left, right) || all(&left.borrow(), &right.borrow())?
            }
            (Self::Tuple(left), Self::Tuple(right)) => all(left, right)?,
            (Self::Set(left), Self::Set(right)) => *left.borrow() == *right.borrow(),
            (Self::Dict(left), Self::Dict(right)) => {
                if Rc::ptr_eq(left, right) {
                    return Ok(true);
                }
                let (left, right) = (left.borrow(), right.borrow());
                if left.len() != right.len() {
                    return Ok(false);
                }
                for (key, value) in left.iter() {
                    let is_equal = match right.get(key) {
                        Some(other) => value.equals_at(other, depth + 1)?,
                        None => false,
                    };
                    if !is_equal {
                        return Ok(false);
                    }
                }
                true
            }
            (Self::Kind(left), Self::Kind(right)) => left == right,
            (Self::Native(left), Self::Native(right)) => left == right,
            (Self::Int(left), Self::Int(right)) => left == right,
            (left, right) => match (left.number(), right.number()) {
                (Some(left), Some(right)) => left.partial_cmp(&right) == Some(Ordering::Equal),
                _ => false,
            },
        })
    }

    /// The order of two values.
    pub(crate) fn order(&self, other: &Self) -> Outcome<Ordering> {
        self.order_at(other, 0)
    }

    fn order_at(&self, other: &Self, depth: u32) -> Outcome<Ordering> {
        if depth > MAX_NESTED {
            return too_deep();
        }
        let all = |left: &[Self], right: &[Self]| -> Outcome<Ordering> {
            for (left, right) in left.iter().zip(right) {
                let order = left.order_at(right, depth + 1)?;
                if order != Ordering::Equal {
                    return Ok(order);
                }
            }
            Ok(left.len().cmp(&right.len()))
        };
        match (self, other) {
            (Self::Int(left), Self::Int(right)) => Ok(left.cmp(right)),
            (Self::Text(left), Self::Text(right)) => Ok(left.cmp(right)),
            (Self::List(left), Self::List(right)) => {
                if Rc::ptr_eq(left, right) {
                    return Ok(Ordering::Equal);
                }
                all(&left.borrow(), &right.borrow())
            }
            (Self::Tuple(left), Self::Tuple(right)) => all(left, right),
            (left, right) => match (left.number(), right.number()) {
                (Some(left), Some(right)) => Ok(left.total_cmp(&right)),
                _ => type_error(format!("{} and {} cannot be compared", left.kind(), right.kind())),
            },
        }
    }

    /// The value as `str` writes it.
    pub(crate) fn shown(&self) -> Outcome<String> {
        match self {
            Self::Text(text) => Ok(text.to_string()),
            Self::Error(error) => Ok(error.message.clone()),
            _ => self.written(),
        }
    }

    /// The value as `repr` writes it.
    pub(crate) fn written(&self) -> Outcome<String> {
        let mut out = String::new();
        self.write(&mut out, 0)?;
        Ok(out)
    }

    fn write(&self, out: &mut String, depth: u32) -> Outcome<()> {
        if depth > MAX_NESTED {
            return too_deep();
        }
        if out.len() > MAX_WRITTEN {
            return Err(Stop::Limit(format!("a text is longer than {MAX_WRITTEN} bytes")));
        }
        match self {
            Self::None => out.push_str("None"),
            Self::Bool(is) => out.push_str(if *is { "True" } else { "False" }),
            Self::Int(number) => {
                let _written = write!(out, "{number}");
            }
            Self::Float(number) => out.push_str(&float(*number)),
            Self::Text(text) => quoted(text, out),
            Self::List(all) => list(&all.borrow(), ("[", "]"), out, depth)?,
            Self::Tuple(all) => {
                let end = if all.len() == 1 { ",)" } else { ")" };
                list(all, ("(", end), out, depth)?;
            }
            Self::Set(all) if all.borrow().is_empty() => out.push_str("set()"),
            Self::Set(all) => {
                let all: Vec<Self> = all.borrow().iter().cloned().map(Self::from).collect();
                list(&all, ("{", "}"), out, depth)?;
            }
            Self::Dict(all) => {
                out.push('{');
                for (at, (key, value)) in all.borrow().iter().enumerate() {
                    out.push_str(if at > 0 { ", " } else { "" });
                    Self::from(key.clone()).write(out, depth + 1)?;
                    out.push_str(": ");
                    value.write(out, depth + 1)?;
                }
                out.push('}');
            }
            Self::Function(function) => {
                let _written = write!(out, "<function {}>", function.code.name);
            }
            Self::Native(name) => {
                let _written = write!(out, "<function {name}>");
            }
            Self::Method(method) => {
                let _written = write!(out, "<method {}>", method.name);
            }
            Self::Tool(name) => {
                let _written = write!(out, "<tool {name}>");
            }
            Self::Json => out.push_str("<module json>"),
            Self::Kind(name) => {
                let _written = write!(out, "<class {name}>");
            }
            Self::Error(error) => {
                let _written = write!(out, "{}(", error.kind);
                quoted(&error.message, out);
                out.push(')');
            }
        }
        Ok(())
    }
}

fn list(all: &[Value], (begin, end): (&str, &str), out: &mut String, depth: u32) -> Outcome<()> {
    out.push_str(begin);
    for (at, one) in all.iter().enumerate() {
        out.push_str(if at > 0 { ", " } else { "" });
        one.write(out, depth + 1)?;
    }
    out.push_str(end);
    Ok(())
}

fn quoted(text: &str, out: &mut String) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\\' => out.push_str("\\\\"),
            _ if c == quote => {
                out.push('\\');
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out.push(quote);
}

/// A number as Python writes it: the shortest digits that read back as the same number.
pub(crate) fn float(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "inf".to_owned() } else { "-inf".to_owned() };
    }
    let size = number.abs();
    if size != 0.0 && !(1e-4..1e16).contains(&size) {
        let text = format!("{number:e}");
        let Some((digits, exponent)) = text.split_once('e') else { return text };
        let (sign, exponent) = match exponent.strip_prefix('-') {
            Some(rest) => ('-', rest),
            None => ('+', exponent),
        };
        return format!("{digits}e{sign}{exponent:0>2}");
    }
    let text = format!("{number}");
    if text.contains('.') { text } else { format!("{text}.0") }
}
