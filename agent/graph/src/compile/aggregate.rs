//! Aggregates of a projection: where they may stand, and the hidden places of a row that take them.

use open_cypher::ast::visit::{self, Visitor};
use open_cypher::ast::{self, ExprKind};

use super::Compiler;
use crate::error::{QueryError, Result};
use crate::parse::function_name;
use crate::plan::{Aggregate, AggregateFunction, Expr, Function};

/// Where aggregates may stand while an expression is compiled.
#[derive(Debug)]
pub(super) enum Aggregates {
    /// Nowhere: in a condition, a pattern, an argument of `UNWIND`.
    Forbidden,
    /// Anywhere; each takes the next of the places from `next` on.
    Collected { next: usize, found: Vec<(usize, Aggregate)> },
    /// Nowhere, because the expression is the argument of an aggregate.
    Inside,
}

/// At least as many places as the aggregates in `expressions` take. The middle of a chain of
/// comparisons (`1 < count(*) < 3`) is compiled twice, so each counts double.
pub(super) fn places<'a>(expressions: impl Iterator<Item = &'a ast::Expr>) -> usize {
    struct Count(usize);
    impl<'a> Visitor<'a> for Count {
        fn visit_expr(&mut self, node: &'a ast::Expr) {
            if let ExprKind::Function(call) = &node.kind
                && aggregate_named(call).is_some()
            {
                self.0 += 2;
            }
            visit::walk_expr(self, node);
        }
        // an aggregate in a subquery belongs to the subquery
        fn visit_query(&mut self, _: &'a ast::Query) {}
    }
    let mut count = Count(0);
    expressions.for_each(|expression| count.visit_expr(expression));
    count.0
}

fn aggregate_named(call: &ast::FunctionInvocation) -> Option<(AggregateFunction, usize)> {
    let [name] = call.name.parts.as_slice() else { return None };
    AggregateFunction::named(function_name(&name.kind.text))
}

impl Compiler<'_> {
    /// The aggregate that `call` is, as its place; `None` if it is another function.
    pub(super) fn aggregate(&mut self, call: &ast::FunctionInvocation) -> Result<Option<Expr>> {
        let Some((mut function, count)) = aggregate_named(call) else { return Ok(None) };
        let name = function_name(&call.name.parts[0].kind.text);
        let collected = std::mem::replace(&mut self.aggregates, Aggregates::Inside);
        let (next, mut found) = match collected {
            Aggregates::Collected { next, found } => (next, found),
            Aggregates::Forbidden => {
                self.aggregates = Aggregates::Forbidden;
                let message = format!("{name}() cannot be used here");
                return Err(QueryError::invalid("InvalidAggregation", message));
            }
            Aggregates::Inside => {
                let message = format!("{name}() stands inside another aggregate");
                return Err(QueryError::invalid("NestedAggregation", message));
            }
        };
        let mut arguments = Vec::new();
        if let [ast::Node { kind: ExprKind::Wildcard, .. }] = call.arguments.as_slice()
            && function == AggregateFunction::Count
        {
            function = AggregateFunction::CountRows;
        } else if call.arguments.len() == count {
            for argument in &call.arguments {
                arguments.push(self.expression(argument)?);
            }
        } else {
            let message = format!("{name}() takes {count} argument(s)");
            return Err(QueryError::invalid("InvalidNumberOfArguments", message));
        }
        if arguments.iter().any(calls_rand) {
            let message = format!("{name}() is asked for a random argument");
            return Err(QueryError::invalid("NonConstantExpression", message));
        }
        let distinct =
            call.quantifier.as_ref().is_some_and(|q| q.kind == ast::SetQuantifier::Distinct);
        found.push((next, Aggregate { function, distinct, arguments }));
        self.aggregates = Aggregates::Collected { next: next + 1, found };
        Ok(Some(Expr::Slot(next)))
    }
}

fn calls_rand(expression: &Expr) -> bool {
    matches!(expression, Expr::Call(Function::Rand, _))
        || expression.children().into_iter().any(calls_rand)
}
