//! Expressions: their values, calls, elements.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "an operation works on a few kinds of values and refuses all others alike"
)]

use std::rc::Rc;

use indexmap::{IndexMap, IndexSet};
use serde_json::Map;

use super::format::formatted;
use super::functions::{KINDS, NAMES};
use super::{Machine, NoResult};
use crate::error::{Fault, Outcome, Stop, fault, type_error};
use crate::json;
use crate::syntax::{Argument, Body, Clause, Comparison, Expression, Made, Piece};
use crate::value::{Function, Key, Method, Scope, Value};

/// Longest list that is made of a range.
const MAX_RANGE: i64 = 100_000;

/// The arguments of a call.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    pub(super) positional: Vec<Value>,
    pub(super) named: Vec<(Rc<str>, Value)>,
}

impl Arguments {
    /// Takes a named argument.
    pub(super) fn take(&mut self, name: &str) -> Option<Value> {
        let at = self.named.iter().position(|(found, _)| &**found == name)?;
        Some(self.named.remove(at).1)
    }
}

impl Machine<'_> {
    pub(super) fn evaluate(
        &mut self,
        expression: &Expression,
        scope: &Rc<Scope>,
    ) -> Outcome<Value> {
        self.usage.down()?;
        let value = self.evaluated(expression, scope);
        self.usage.up();
        value
    }

    fn evaluated(&mut self, expression: &Expression, scope: &Rc<Scope>) -> Outcome<Value> {
        match expression {
            Expression::Constant(constant) => Ok(Value::from(constant)),
            Expression::Name(name) => self.named(name, scope),
            Expression::List(all) => self.all(all, scope).map(Value::from),
            Expression::Tuple(all) => Ok(Value::Tuple(self.all(all, scope)?.into())),
            Expression::Set(all) => {
                let keys: Outcome<IndexSet<Key>> =
                    self.all(all, scope)?.iter().map(Value::key).collect();
                keys.map(Value::set)
            }
            Expression::Dict(all) => self.dictionary(all, scope),
            Expression::Comprehension(made, clauses) => self.comprehension(made, clauses, scope),
            Expression::Negative(inner) => {
                let value = self.evaluate(inner, scope)?;
                self.negative(&value)
            }
            Expression::Not(inner) => Ok(Value::Bool(!self.evaluate(inner, scope)?.is_true())),
            Expression::Binary(operator, left, right) => {
                let left = self.evaluate(left, scope)?;
                let right = self.evaluate(right, scope)?;
                self.binary(*operator, &left, &right)
            }
            Expression::Compare(first, all) => self.compared(first, all, scope),
            Expression::And(left, right) => {
                let left = self.evaluate(left, scope)?;
                if left.is_true() { self.evaluate(right, scope) } else { Ok(left) }
            }
            Expression::Or(left, right) => {
                let left = self.evaluate(left, scope)?;
                if left.is_true() { Ok(left) } else { self.evaluate(right, scope) }
            }
            Expression::Choice { condition, then, otherwise } => {
                let chosen =
                    if self.evaluate(condition, scope)?.is_true() { then } else { otherwise };
                self.evaluate(chosen, scope)
            }
            Expression::Call(function, arguments) => {
                let function = self.evaluate(function, scope)?;
                let arguments = self.arguments(arguments, scope)?;
                self.call(&function, arguments)
            }
            Expression::Attribute(of, name) => {
                let of = self.evaluate(of, scope)?;
                self.attribute(of, name)
            }
            Expression::Item(of, index) => {
                let of = self.evaluate(of, scope)?;
                let index = self.evaluate(index, scope)?;
                self.item(&of, &index)
            }
            Expression::Slice(of, parts) => {
                let of = self.evaluate(of, scope)?;
                let mut bounds = [None; 3];
                for (bound, part) in bounds.iter_mut().zip(parts.iter()) {
                    let Some(part) = part else { continue };
                    *bound = match self.evaluate(part, scope)? {
                        Value::None => None,
                        value => match value.whole() {
                            Some(number) => Some(number),
                            None => return type_error("the bounds of a slice are whole numbers"),
                        },
                    };
                }
                self.slice(&of, bounds)
            }
            Expression::Lambda(code) => self.function(code, scope),
            Expression::Format(pieces) => self.format_string(pieces, scope).map(Value::from),
        }
    }

    fn all(&mut self, all: &[Expression], scope: &Rc<Scope>) -> Outcome<Vec<Value>> {
        self.usage.elements(all.len())?;
        all.iter().map(|one| self.evaluate(one, scope)).collect()
    }

    pub(super) fn named(&mut self, name: &Rc<str>, scope: &Rc<Scope>) -> Outcome<Value> {
        if let Some(value) = scope.find(name) {
            return Ok(value);
        }
        if self.outside.has(name) {
            return Ok(Value::Tool(Rc::clone(name)));
        }
        if let Some(native) = NAMES.into_iter().find(|native| *native == &**name) {
            return Ok(Value::Native(native));
        }
        if KINDS.contains(&&**name) {
            return Ok(Value::Kind(Rc::clone(name)));
        }
        match &**name {
            "json" => Ok(Value::Json),
            _ => fault("NameError", format!("{name} is not defined")),
        }
    }

    fn dictionary(
        &mut self,
        all: &[(Option<Expression>, Expression)],
        scope: &Rc<Scope>,
    ) -> Outcome<Value> {
        self.usage.elements(all.len())?;
        let mut dict = IndexMap::new();
        for (key, value) in all {
            let Some(key) = key else {
                let Value::Dict(other) = self.evaluate(value, scope)? else {
                    return type_error("** wants a dictionary");
                };
                self.usage.elements(other.borrow().len())?;
                dict.extend(other.borrow().iter().map(|(key, value)| (key.clone(), value.clone())));
                continue;
            };
            let key = self.evaluate(key, scope)?.key()?;
            dict.insert(key, self.evaluate(value, scope)?);
        }
        Ok(Value::dict(dict))
    }

    fn comprehension(
        &mut self,
        made: &Made,
        clauses: &[Clause],
        scope: &Rc<Scope>,
    ) -> Outcome<Value> {
        let inner = Scope::inside(scope);
        let mut pairs = Vec::new();
        self.clause(made, clauses, &inner, &mut pairs)?;
        match made {
            Made::List(_) => {
                Ok(Value::from(pairs.into_iter().map(|(one, _)| one).collect::<Vec<_>>()))
            }
            Made::Set(_) => {
                let keys: Outcome<IndexSet<Key>> = pairs.iter().map(|(one, _)| one.key()).collect();
                keys.map(Value::set)
            }
            Made::Dict(..) => {
                let mut dict = IndexMap::new();
                for (key, value) in pairs {
                    dict.insert(key.key()?, value);
                }
                Ok(Value::dict(dict))
            }
        }
    }

    fn clause(
        &mut self,
        made: &Made,
        clauses: &[Clause],
        scope: &Rc<Scope>,
        pairs: &mut Vec<(Value, Value)>,
    ) -> Outcome<()> {
        let Some((clause, rest)) = clauses.split_first() else {
            self.usage.elements(2)?;
            pairs.push(match made {
                Made::List(one) | Made::Set(one) => (self.evaluate(one, scope)?, Value::None),
                Made::Dict(key, value) => {
                    (self.evaluate(key, scope)?, self.evaluate(value, scope)?)
                }
            });
            return Ok(());
        };
        let of = self.evaluate(&clause.of, scope)?;
        'values: for value in self.each(&of)? {
            self.assign(&clause.target, value, scope)?;
            for condition in &clause.conditions {
                if !self.evaluate(condition, scope)?.is_true() {
                    continue 'values;
                }
            }
            self.usage.down()?;
            self.clause(made, rest, scope, pairs)?;
            self.usage.up();
        }
        Ok(())
    }

    fn compared(
        &mut self,
        first: &Expression,
        all: &[(Comparison, Expression)],
        scope: &Rc<Scope>,
    ) -> Outcome<Value> {
        let mut left = self.evaluate(first, scope)?;
        for (comparison, right) in all {
            let right = self.evaluate(right, scope)?;
            if !self.holds(*comparison, &left, &right)? {
                return Ok(Value::Bool(false));
            }
            left = right;
        }
        Ok(Value::Bool(true))
    }

    fn format_string(&mut self, pieces: &[Piece], scope: &Rc<Scope>) -> Outcome<String> {
        let mut out = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Shown { value, is_repr, format } => {
                    let value = self.evaluate(value, scope)?;
                    let value = if *is_repr { Value::from(value.written()?) } else { value };
                    let format = self.format_string(format, scope)?;
                    out.push_str(&formatted(&value, &format)?);
                }
            }
            self.usage.bytes(out.len() as u64 / 8)?;
        }
        self.usage.bytes(out.len() as u64)?;
        Ok(out)
    }

    fn arguments(&mut self, all: &[Argument], scope: &Rc<Scope>) -> Outcome<Arguments> {
        let mut arguments = Arguments::default();
        for argument in all {
            match argument {
                Argument::Positional(value) => {
                    arguments.positional.push(self.evaluate(value, scope)?);
                }
                Argument::Named(name, value) => {
                    arguments.named.push((Rc::clone(name), self.evaluate(value, scope)?));
                }
                Argument::Each(values) => {
                    let values = self.evaluate(values, scope)?;
                    arguments.positional.extend(self.each(&values)?);
                }
                Argument::Names(values) => {
                    let Value::Dict(values) = self.evaluate(values, scope)? else {
                        return type_error("** wants a dictionary");
                    };
                    for (key, value) in values.borrow().iter() {
                        let Key::Text(name) = key else {
                            return type_error("names of arguments are texts");
                        };
                        arguments.named.push((Rc::clone(name), value.clone()));
                    }
                }
            }
        }
        Ok(arguments)
    }

    /// Calls a value.
    pub(super) fn call(&mut self, function: &Value, arguments: Arguments) -> Outcome<Value> {
        match function {
            Value::Function(function) => self.own(function, arguments),
            Value::Native(name) => self.native(name, arguments),
            Value::Method(method) => self.method(&method.of, &method.name, arguments),
            Value::Tool(name) => self.tool(name, &arguments),
            Value::Kind(kind) => {
                let message = match arguments.positional.first() {
                    Some(value) => value.shown()?,
                    None => String::new(),
                };
                Ok(Value::Error(Rc::new(Fault { kind: kind.to_string(), message })))
            }
            other => type_error(format!("a {} is no function", other.kind())),
        }
    }

    /// Calls a function of the program.
    fn own(&mut self, function: &Function, mut arguments: Arguments) -> Outcome<Value> {
        let (name, parameters) = (&function.code.name, &function.code.parameters);
        let scope = Scope::inside(&function.around);
        self.usage.elements(parameters.len())?;
        if arguments.positional.len() > parameters.len() {
            let (given, most) = (arguments.positional.len(), parameters.len());
            return type_error(format!("{name}: {given} arguments, at most {most} are taken"));
        }
        let mut positional = std::mem::take(&mut arguments.positional).into_iter();
        for ((parameter, _), default) in parameters.iter().zip(&function.defaults) {
            let value = positional.next().or_else(|| arguments.take(parameter));
            match value.or_else(|| default.clone()) {
                Some(value) => scope.set(parameter, value),
                None => return type_error(format!("{name}: the argument {parameter} is missing")),
            }
        }
        if let Some((unknown, _)) = arguments.named.first() {
            return type_error(format!(
                "{name}: there is no argument {unknown}, or it is given twice"
            ));
        }
        self.usage.down()?;
        let line = self.line;
        let value = match &function.code.body {
            Body::Expression(expression) => self.evaluate(expression, &scope)?,
            Body::Block(block) => match self.block(block, &scope)? {
                super::Next::Return(value) => value,
                super::Next::Statement | super::Next::Break | super::Next::Continue => Value::None,
            },
        };
        self.line = line;
        self.usage.up();
        Ok(value)
    }

    fn tool(&mut self, name: &Rc<str>, arguments: &Arguments) -> Outcome<Value> {
        if !arguments.positional.is_empty() {
            let told =
                format!("{name}: a tool takes its arguments by name, such as {name}(query=…)");
            return type_error(told);
        }
        let mut all = Map::new();
        for (name, value) in &arguments.named {
            all.insert(name.to_string(), json::json_of(value)?);
        }
        match self.outside.call(name, all) {
            Ok(text) => {
                self.usage.bytes(text.len() as u64)?;
                Ok(Value::from(text))
            }
            Err(NoResult::Failed(reason)) => fault("ToolError", format!("{name}: {reason}")),
            Err(NoResult::Gone(reason)) => Err(Stop::Limit(reason)),
        }
    }

    fn attribute(&mut self, of: Value, name: &Rc<str>) -> Outcome<Value> {
        match (&of, &**name) {
            (Value::Json, "loads") => Ok(Value::Native("json.loads")),
            (Value::Json, "dumps") => Ok(Value::Native("json.dumps")),
            (Value::Json, "JSONDecodeError") => Ok(Value::Kind(Rc::clone(name))),
            _ if Self::has_method(&of, name) => {
                self.usage.bytes(64)?;
                Ok(Value::Method(Rc::new(Method { of, name: Rc::clone(name) })))
            }
            _ => fault("AttributeError", format!("a {} has no {name}", of.kind())),
        }
    }

    /// The values of what can be gone through.
    pub(super) fn each(&mut self, of: &Value) -> Outcome<Vec<Value>> {
        let count = match of {
            Value::List(all) => all.borrow().len(),
            Value::Tuple(all) => all.len(),
            Value::Set(all) => all.borrow().len(),
            Value::Dict(all) => all.borrow().len(),
            Value::Text(text) => text.len(),
            _ => return type_error(format!("a {} cannot be gone through", of.kind())),
        };
        self.usage.elements(count)?;
        Ok(match of {
            Value::List(all) => all.borrow().clone(),
            Value::Tuple(all) => all.to_vec(),
            Value::Set(all) => all.borrow().iter().cloned().map(Value::from).collect(),
            Value::Dict(all) => all.borrow().keys().cloned().map(Value::from).collect(),
            Value::Text(text) => text.chars().map(|c| Value::from(c.to_string())).collect(),
            _ => Vec::new(),
        })
    }

    /// The numbers of a range as a list.
    pub(super) fn range(&mut self, begin: i64, end: i64, step: i64) -> Outcome<Value> {
        if step == 0 {
            return fault("ValueError", "the step of a range is not 0");
        }
        let span = if step > 0 { end.saturating_sub(begin) } else { begin.saturating_sub(end) };
        let count = span.max(0).saturating_add(step.saturating_abs() - 1) / step.saturating_abs();
        if count > MAX_RANGE {
            let told = format!("a range of {count} numbers is longer than {MAX_RANGE}");
            return Err(Stop::Limit(told));
        }
        self.usage.elements(count as usize)?;
        let number = |at: i64| Value::Int(begin.saturating_add(at.saturating_mul(step)));
        Ok(Value::from((0..count).map(number).collect::<Vec<_>>()))
    }
}
