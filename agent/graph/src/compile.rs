//! Compiles syntax to a plan: variables become places in a row, patterns become steps, and a query
//! without a meaning (an unknown variable, an aggregate in a condition, a node used as a
//! relationship) is refused before anything is read.

use std::sync::Arc;

use open_cypher::ast;

use crate::error::{QueryError, Result};
use crate::plan::QueryPlan;

mod aggregate;
mod expression;
mod kind;
mod pattern;
mod planner;
mod projection;
mod query;
mod scope;

use aggregate::Aggregates;
pub(crate) use kind::Kind;
pub(crate) use projection::whole;
use scope::Scope;

/// Compiles a query that has passed the allow-list. `text` is what the query was parsed from; names
/// of columns are cut out of it.
pub(crate) fn compile(text: &str, query: &ast::Query) -> Result<QueryPlan> {
    query::query(text, query, &Scope::default())
}

/// Compiles expressions and patterns within one scope.
struct Compiler<'t> {
    text: &'t str,
    scope: Scope,
    aggregates: Aggregates,
}

impl<'t> Compiler<'t> {
    fn new(text: &'t str, scope: Scope) -> Self {
        Self { text, scope, aggregates: Aggregates::Forbidden }
    }
}

fn name_of(name: &ast::Name) -> Arc<str> {
    name.kind.text.as_str().into()
}

fn undefined(name: &str) -> QueryError {
    QueryError::invalid("UndefinedVariable", format!("variable `{name}` is not defined"))
}
