//! The type of an expression, as far as it is known before a query runs.

use super::Compiler;
use crate::error::{QueryError, Result};
use crate::plan::{Expr, Function};
use crate::value::Value;

/// The type of an expression, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Any,
    Bool,
    Int,
    Float,
    Text,
    List,
    Map,
    Node,
    Relationship,
    /// The relationships of a path of variable length.
    Relationships,
    Path,
}

impl Kind {
    const fn told(self) -> &'static str {
        match self {
            Self::Any => "a value",
            Self::Bool => "a boolean",
            Self::Int => "an integer",
            Self::Float => "a float",
            Self::Text => "a string",
            Self::List => "a list",
            Self::Map => "a map",
            Self::Node => "a node",
            Self::Relationship => "a relationship",
            Self::Relationships => "a list of relationships",
            Self::Path => "a path",
        }
    }

    /// Whether a variable of this type may stand where a pattern wants `wanted`.
    pub(super) fn fits(self, wanted: Self) -> bool {
        let list = wanted == Self::Relationships && self == Self::List;
        self == wanted || self == Self::Any || list
    }
}

impl Compiler<'_> {
    pub(super) fn kind(&self, expression: &Expr) -> Kind {
        match expression {
            Expr::Constant(value) => kind_of(value),
            Expr::Slot(slot) => self.scope.kind(*slot),
            Expr::List(_)
            | Expr::Slice(..)
            | Expr::Comprehension { .. }
            | Expr::PatternList { .. } => Kind::List,
            Expr::Map(_) | Expr::MapOver(..) => Kind::Map,
            Expr::Not(_)
            | Expr::Logic(..)
            | Expr::Compare(..)
            | Expr::TextTest(..)
            | Expr::In(..)
            | Expr::IsNull(_)
            | Expr::HasLabels(..)
            | Expr::PatternExists(_)
            | Expr::Quantified { .. } => Kind::Bool,
            Expr::Call(function, _) => kind_of_call(*function),
            _ => Kind::Any,
        }
    }

    /// Fails if the type of `expression` is known and not one of `allowed`.
    pub(super) fn expect(&self, what: &str, expression: &Expr, allowed: &[Kind]) -> Result<()> {
        let kind = self.kind(expression);
        if kind == Kind::Any || allowed.contains(&kind) {
            return Ok(());
        }
        Err(QueryError::type_error(format!("{what} cannot be applied to {}", kind.told())))
    }

    pub(super) fn expect_arguments(&self, name: &str, call: &Expr) -> Result<()> {
        let Expr::Call(function, arguments) = call else { return Ok(()) };
        let allowed: &[Kind] = match function {
            Function::Type | Function::StartNode | Function::EndNode => &[Kind::Relationship],
            Function::Labels => &[Kind::Node],
            Function::Length | Function::Nodes | Function::Relationships => &[Kind::Path],
            Function::Size => &[Kind::List, Kind::Relationships, Kind::Text, Kind::Map],
            Function::Head | Function::Last | Function::Tail => &[Kind::List, Kind::Relationships],
            Function::Properties | Function::Keys => &[Kind::Node, Kind::Relationship, Kind::Map],
            Function::Id => &[Kind::Node, Kind::Relationship],
            _ => return Ok(()),
        };
        match arguments.first() {
            Some(argument) => self.expect(&format!("{name}()"), argument, allowed),
            None => Ok(()),
        }
    }
}

const fn kind_of(value: &Value) -> Kind {
    match value {
        Value::Null => Kind::Any,
        Value::Bool(_) => Kind::Bool,
        Value::Int(_) => Kind::Int,
        Value::Float(_) => Kind::Float,
        Value::Text(_) => Kind::Text,
        Value::List(_) => Kind::List,
        Value::Map(_) => Kind::Map,
        Value::Node(_) => Kind::Node,
        Value::Relationship(_) => Kind::Relationship,
        Value::Path(_) => Kind::Path,
    }
}

/// The types that matter for a check; a call may always be null.
const fn kind_of_call(function: Function) -> Kind {
    match function {
        Function::StartNode | Function::EndNode => Kind::Node,
        Function::Nodes
        | Function::Relationships
        | Function::Labels
        | Function::Keys
        | Function::Range
        | Function::Split => Kind::List,
        Function::Rand | Function::E | Function::Pi => Kind::Float,
        Function::Size | Function::Length => Kind::Int,
        _ => Kind::Any,
    }
}
