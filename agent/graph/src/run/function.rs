//! Functions of a row's values: lists, elements, conversions, texts, mathematics.

use std::sync::Arc;

use super::{Run, operator};
use crate::error::{QueryError, Result};
use crate::plan::Function;
use crate::value::{Path, Properties, Value};

mod convert;
mod mathematics;
mod text;

impl Run<'_> {
    pub(super) fn call(&self, function: Function, arguments: &[Value]) -> Result<Value> {
        if function == Function::Coalesce {
            let known = arguments.iter().find(|argument| !argument.is_null());
            return Ok(known.cloned().unwrap_or(Value::Null));
        }
        if function == Function::Exists {
            return Ok(Value::Bool(!arguments.iter().any(Value::is_null)));
        }
        if function == Function::Rand {
            return Ok(Value::Float(self.random()));
        }
        if arguments.iter().any(Value::is_null) {
            return Ok(Value::Null);
        }
        match (function, arguments) {
            (Function::StartNode, [Value::Relationship(r)]) => self.node(r.start).map(Value::Node),
            (Function::EndNode, [Value::Relationship(r)]) => self.node(r.end).map(Value::Node),
            (Function::Range, _) => self.range(arguments),
            _ => called(function, arguments),
        }
    }

    fn range(&self, arguments: &[Value]) -> Result<Value> {
        let mut bounds = Vec::new();
        for argument in arguments {
            match argument {
                Value::Int(whole) => bounds.push(*whole),
                other => return Err(wrong("range", other)),
            }
        }
        let (from, to) = (bounds[0], bounds[1]);
        let step = bounds.get(2).copied().unwrap_or(1);
        if step == 0 {
            return Err(QueryError::invalid("NumberOutOfRange", "the step of range() is 0"));
        }
        let span = i128::from(to) - i128::from(from);
        let count = if (span < 0) == (step < 0) { span / i128::from(step) + 1 } else { 0 };
        let count = if span == 0 { 1 } else { count };
        self.budget.rows(usize::try_from(count).unwrap_or(usize::MAX))?;
        let items = (0..count).map(|index| i128::from(from) + index * i128::from(step));
        let items = items.filter_map(|item| i64::try_from(item).ok().map(Value::Int));
        Ok(Value::list(items.collect()))
    }
}

/// An argument of a type that the function does not take.
fn wrong(name: &str, value: &Value) -> QueryError {
    QueryError::type_error(format!("{name}() of {}", value.type_name()))
}

fn called(function: Function, arguments: &[Value]) -> Result<Value> {
    let Some(first) = arguments.first() else { return mathematics::constant(function) };
    Ok(match (function, first) {
        (Function::Head, Value::List(items)) => items.first().cloned().unwrap_or(Value::Null),
        (Function::Last, Value::List(items)) => items.last().cloned().unwrap_or(Value::Null),
        (Function::Tail, Value::List(items)) => {
            Value::list(items.iter().skip(1).cloned().collect())
        }
        (Function::Size, Value::List(items)) => count(items.len()),
        (Function::Size, Value::Text(text)) => count(text.chars().count()),
        (Function::Size, Value::Map(entries)) => count(entries.len()),
        (Function::Length, Value::Path(path)) => count(path.relationships.len()),
        (Function::Id, Value::Node(node)) => Value::Int(node.id),
        (Function::Id, Value::Relationship(relationship)) => Value::Int(relationship.id),
        (Function::Type, Value::Relationship(relationship)) => {
            Value::Text(Arc::clone(&relationship.kind))
        }
        (Function::Labels, Value::Node(node)) => {
            Value::list(node.labels.iter().cloned().map(Value::Text).collect())
        }
        (Function::Nodes, Value::Path(path)) => nodes(path),
        (Function::Relationships, Value::Path(path)) => {
            Value::list(path.relationships.iter().cloned().map(Value::Relationship).collect())
        }
        (Function::IsEmpty, Value::List(items)) => Value::Bool(items.is_empty()),
        (Function::IsEmpty, Value::Text(text)) => Value::Bool(text.is_empty()),
        (Function::IsEmpty, Value::Map(entries)) => Value::Bool(entries.is_empty()),
        (Function::Reverse, Value::List(items)) => {
            Value::list(items.iter().rev().cloned().collect())
        }
        (Function::Properties, of) => operator::properties(of)?.map_or(Value::Null, Value::Map),
        (Function::Keys, of) => operator::properties(of)?.map_or(Value::Null, |own| keys(&own)),
        (
            Function::ToInteger | Function::ToFloat | Function::ToText | Function::ToBoolean,
            value,
        ) => convert::converted(function, value)?,
        (_, Value::Text(own)) => text::called(function, own, arguments)?,
        (_, Value::Int(_) | Value::Float(_)) => mathematics::called(function, arguments)?,
        (_, other) => return Err(wrong(&format!("{function:?}").to_lowercase(), other)),
    })
}

fn count(count: usize) -> Value {
    Value::Int(i64::try_from(count).unwrap_or(i64::MAX))
}

fn nodes(path: &Path) -> Value {
    Value::list(path.nodes.iter().cloned().map(Value::Node).collect())
}

fn keys(properties: &Properties) -> Value {
    Value::list(properties.keys().cloned().map(Value::Text).collect())
}
