//! `WITH` and `RETURN`: items, groups, order, page.

use std::sync::Arc;

use open_cypher::ast::{
    self, ExprKind, NullOrder, ProjectionItemKind, SetQuantifier, SortDirection,
};

use super::expression::no_pattern;
use super::scope::Scope;
use super::{Aggregates, Compiler, Kind, aggregate, name_of, undefined};
use crate::error::{QueryError, Result};
use crate::plan::{Expr, Item, Projection, Sort};
use crate::value::Value;

/// Compiles a projection; the scope afterwards holds its columns.
pub(super) fn project(
    text: &str,
    scope: &mut Scope,
    clause: &ast::ProjectionClause,
    condition: Option<&ast::Expr>,
    is_return: bool,
) -> Result<Projection> {
    let mut scoped = scope.clone();
    let places = aggregate::places(expressions(clause));
    let prior = scoped.width();
    for _ in 0..places {
        scoped.push(None, Kind::Any);
    }
    let mut compiler = Compiler::new(text, scoped);
    compiler.aggregates = Aggregates::Collected { next: prior, found: Vec::new() };
    let (mut items, unnamed) = compiler.items(clause, is_return)?;
    let in_items = compiler.found();
    let grouped = in_items > 0;
    for item in &mut items {
        item.is_key = item.expression.reads(prior + places).iter().all(|slot| *slot < prior);
    }
    let width = prior + places;
    if grouped {
        let keys: Vec<_> = items.iter().filter(|item| item.is_key).collect();
        for item in items.iter().filter(|item| !item.is_key) {
            let simple = keys.iter().filter(|key| is_simple(&key.expression));
            let allowed: Vec<_> = simple.map(|key| &key.expression).collect();
            grouping(&item.expression, &allowed, prior, "AmbiguousAggregationExpression")?;
        }
    }
    let kinds: Vec<_> = items.iter().map(|item| compiler.kind(&item.expression)).collect();
    for (item, kind) in items.iter().zip(&kinds) {
        compiler.scope.push(Some(Arc::clone(&item.name)), *kind);
    }
    let distinct = clause.quantifier.as_ref().is_some_and(|q| q.kind == SetQuantifier::Distinct);
    let closed = grouped || distinct;
    let check = Check { items: &items, prior, width, closed, grouped };
    let order = compiler.order(clause, &check)?;
    compiler.only_projected(in_items)?;
    if unnamed {
        let message = "an expression of WITH needs a name (AS …)";
        return Err(QueryError::invalid("NoExpressionAlias", message));
    }
    let filter = compiler.condition(condition, &check)?;
    let skip = page(text, clause.skip.as_ref().or(clause.offset.as_ref()), "SKIP")?;
    let limit = page(text, clause.limit.as_ref(), "LIMIT")?;
    let aggregates = compiler.take_found();
    *scope = Scope::default();
    for (item, kind) in items.iter().zip(kinds) {
        scope.push(Some(Arc::clone(&item.name)), kind);
    }
    Ok(Projection { width, aggregates, items, grouped, distinct, order, skip, limit, filter })
}

fn expressions(clause: &ast::ProjectionClause) -> impl Iterator<Item = &ast::Expr> {
    let items = clause.items.iter().filter_map(|item| match &item.kind {
        ProjectionItemKind::Expression { expression, .. } => Some(expression),
        _ => None,
    });
    let order = clause.order_by.iter().flat_map(|order| &order.items);
    items.chain(order.map(|item| &item.expression))
}

/// Checks the slots that an expression after the items may read.
struct Check<'i> {
    items: &'i [Item],
    prior: usize,
    width: usize,
    /// Whether the rows before the projection are gone (groups, `DISTINCT`).
    closed: bool,
    grouped: bool,
}

impl Check<'_> {
    /// Replaces what an item computes by that item, and refuses what is gone.
    fn apply(&self, expression: Expr) -> Result<Expr> {
        if !self.closed {
            return Ok(expression);
        }
        if let Some(index) = self.items.iter().position(|item| item.expression == expression) {
            return Ok(Expr::Slot(self.width + index));
        }
        let simple = self.items.iter().filter(|item| item.is_key && is_simple(&item.expression));
        let mut allowed: Vec<_> = simple.map(|item| &item.expression).collect();
        if !self.grouped {
            allowed.extend(self.items.iter().map(|item| &item.expression));
        }
        let mut aggregates = false;
        expression.slots(&mut |slot| aggregates |= (self.prior..self.width).contains(&slot));
        let sums = self.items.iter().any(|item| {
            !is_simple(&item.expression) && item.is_key && contains(&expression, &item.expression)
        });
        let code =
            if aggregates && sums { "AmbiguousAggregationExpression" } else { "UndefinedVariable" };
        grouping(&expression, &allowed, self.prior, code)?;
        Ok(expression)
    }
}

fn contains(expression: &Expr, part: &Expr) -> bool {
    expression == part || expression.children().into_iter().any(|child| contains(child, part))
}

/// A variable, or a property of one.
fn is_simple(expression: &Expr) -> bool {
    match expression {
        Expr::Slot(_) => true,
        Expr::Property(of, _) => matches!(**of, Expr::Slot(_)),
        _ => false,
    }
}

/// Fails if an expression reads a place below `prior` otherwise than through `allowed`.
fn grouping(expression: &Expr, allowed: &[&Expr], prior: usize, code: &'static str) -> Result<()> {
    if allowed.contains(&expression) {
        return Ok(());
    }
    let refusal = || {
        let message = "an expression reads a variable that is not among the projected ones";
        QueryError::invalid(code, message)
    };
    match expression {
        Expr::Slot(slot) if *slot < prior => Err(refusal()),
        Expr::PatternExists(_) | Expr::PatternList { .. } | Expr::Subquery(..) => {
            let read = expression.reads(prior);
            let known = |slot: &usize| allowed.contains(&&Expr::Slot(*slot));
            if read.iter().all(known) { Ok(()) } else { Err(refusal()) }
        }
        _ => {
            let children = expression.children();
            children.into_iter().try_for_each(|child| grouping(child, allowed, prior, code))
        }
    }
}

/// `SKIP` or `LIMIT`: an expression without variables.
fn page(text: &str, expression: Option<&ast::Expr>, name: &str) -> Result<Option<Expr>> {
    let Some(expression) = expression else { return Ok(None) };
    let mut compiler = Compiler::new(text, Scope::default());
    let compiled = compiler.expression(expression).map_err(|error| match error {
        QueryError::Invalid { code: "UndefinedVariable", .. } => {
            let message = format!("{name} cannot depend on a variable");
            QueryError::invalid("NonConstantExpression", message)
        }
        other => other,
    })?;
    if let Expr::Constant(value) = &compiled {
        whole(value, name)?;
    }
    Ok(Some(compiled))
}

/// The number of a `SKIP` or `LIMIT`.
pub(crate) fn whole(value: &Value, name: &str) -> Result<usize> {
    match value {
        Value::Int(count) => usize::try_from(*count).map_err(|_| {
            let message = format!("{name} is {count}, it cannot be negative");
            QueryError::invalid("NegativeIntegerArgument", message)
        }),
        other => {
            let message = format!("{name} is {}, expected an integer", other.type_name());
            Err(QueryError::type_error(message))
        }
    }
}

impl Compiler<'_> {
    fn found(&self) -> usize {
        match &self.aggregates {
            Aggregates::Collected { found, .. } => found.len(),
            Aggregates::Forbidden | Aggregates::Inside => 0,
        }
    }

    fn take_found(&mut self) -> Vec<(usize, crate::plan::Aggregate)> {
        match std::mem::replace(&mut self.aggregates, Aggregates::Forbidden) {
            Aggregates::Collected { found, .. } => found,
            Aggregates::Forbidden | Aggregates::Inside => Vec::new(),
        }
    }

    /// Fails if an aggregate of `ORDER BY` is not one of the first `count`, those of the items.
    fn only_projected(&self, count: usize) -> Result<()> {
        let Aggregates::Collected { found, .. } = &self.aggregates else { return Ok(()) };
        let (items, order) = found.split_at(count.min(found.len()));
        if order.iter().all(|(_, own)| items.iter().any(|(_, item)| item == own)) {
            return Ok(());
        }
        let message = "ORDER BY sorts by an aggregate that is not projected";
        Err(QueryError::invalid("UndefinedVariable", message))
    }

    /// The items, and whether one of them lacks the name that it needs.
    fn items(
        &mut self,
        clause: &ast::ProjectionClause,
        is_return: bool,
    ) -> Result<(Vec<Item>, bool)> {
        let mut unnamed = false;
        let mut items: Vec<Item> = Vec::new();
        for item in &clause.items {
            match &item.kind {
                ProjectionItemKind::Wildcard => {
                    let names = self.scope.names();
                    if names.is_empty() && is_return {
                        let message = "* needs at least one variable";
                        return Err(QueryError::invalid("NoVariablesInScope", message));
                    }
                    for name in names {
                        let slot = self.scope.find(&name).ok_or_else(|| undefined(&name))?;
                        items.push(Item { name, expression: Expr::Slot(slot), is_key: true });
                    }
                }
                ProjectionItemKind::Expression { expression, alias } => {
                    let name = match (alias, &expression.kind) {
                        (Some(alias), _) => name_of(alias),
                        (None, ExprKind::Variable(name)) => name_of(name),
                        (None, _) => {
                            unnamed |= !is_return;
                            self.source(expression)
                        }
                    };
                    no_pattern(expression)?;
                    let expression = self.expression(expression)?;
                    items.push(Item { name, expression, is_key: true });
                }
                _ => return Err(QueryError::unsupported("this projection")),
            }
        }
        for (index, item) in items.iter().enumerate() {
            if items[..index].iter().any(|other| other.name == item.name) {
                let message = format!("column `{}` is named twice", item.name);
                return Err(QueryError::invalid("ColumnNameConflict", message));
            }
        }
        Ok((items, unnamed))
    }

    /// An expression as it is written.
    fn source(&self, expression: &ast::Expr) -> Arc<str> {
        let span = expression.span;
        self.text.get(span.start..span.end).unwrap_or_default().trim().into()
    }

    fn order(&mut self, clause: &ast::ProjectionClause, check: &Check<'_>) -> Result<Vec<Sort>> {
        let mut order = Vec::new();
        for item in clause.order_by.iter().flat_map(|order| &order.items) {
            if !check.grouped {
                self.aggregates = Aggregates::Forbidden;
            }
            let expression = check.apply(self.expression(&item.expression)?)?;
            let nulls = item.nulls.as_ref().map(|nulls| nulls.kind);
            order.push(Sort {
                expression,
                descending: item.direction.as_ref().map(|d| d.kind)
                    == Some(SortDirection::Descending),
                nulls_first: nulls.map(|nulls| nulls == NullOrder::First),
            });
        }
        Ok(order)
    }

    fn condition(&mut self, node: Option<&ast::Expr>, check: &Check<'_>) -> Result<Option<Expr>> {
        let Some(node) = node else { return Ok(None) };
        let kept = std::mem::replace(&mut self.aggregates, Aggregates::Forbidden);
        let condition = self.expression(node)?;
        self.expect("WHERE", &condition, &[Kind::Bool])?;
        self.aggregates = kept;
        check.apply(condition).map(Some)
    }
}
