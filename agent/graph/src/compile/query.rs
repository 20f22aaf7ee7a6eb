//! Whole queries: the order of their clauses, and `UNION`.

use open_cypher::ast::{self, ClauseKind, QueryKind, UnionOperator};

use super::projection::project;
use super::scope::Scope;
use super::{Compiler, Kind, name_of};
use crate::error::{QueryError, Result};
use crate::plan::{Clause, MatchPlan, QueryPlan};

/// Compiles a query that sees the variables of `scope`.
pub(super) fn query(text: &str, query: &ast::Query, scope: &Scope) -> Result<QueryPlan> {
    compiled(text, query, scope, true)
}

/// Compiles the query of an expression; it may end without `RETURN`.
pub(super) fn subquery(text: &str, query: &ast::Query, scope: &Scope) -> Result<QueryPlan> {
    compiled(text, query, scope, false)
}

fn compiled(text: &str, query: &ast::Query, scope: &Scope, returns: bool) -> Result<QueryPlan> {
    let QueryKind::Regular(regular) = &query.kind else {
        return Err(QueryError::Syntax("it is no query".into()));
    };
    let (head, columns) = branch(text, &regular.head, scope.clone(), returns)?;
    let mut branches = vec![head];
    let mut distinct = None;
    for union in &regular.unions {
        let all = union.operator.kind == UnionOperator::All;
        if distinct.replace(!all).is_some_and(|before| before == all) {
            let message = "UNION and UNION ALL cannot be mixed";
            return Err(QueryError::invalid("InvalidClauseComposition", message));
        }
        let (next, names) = branch(text, &union.query, scope.clone(), returns)?;
        if names != columns {
            let message = "both sides of UNION have to return the same columns";
            return Err(QueryError::invalid("DifferentColumnsInUnion", message));
        }
        branches.push(next);
    }
    Ok(QueryPlan { branches, distinct: distinct.unwrap_or(false), columns })
}

type Branch = (Vec<Clause>, Vec<std::sync::Arc<str>>);

fn branch(text: &str, query: &ast::SingleQuery, mut scope: Scope, returns: bool) -> Result<Branch> {
    let mut clauses = Vec::new();
    let mut columns = Vec::new();
    let mut returned = false;
    for clause in &query.kind.clauses {
        if returned {
            return Err(composition("RETURN has to be the last clause"));
        }
        match &clause.kind {
            ClauseKind::Match(node) => {
                let mut compiler = Compiler::new(text, scope);
                let optional = node.optional.then(|| compiler.scope.push(None, Kind::Any));
                let condition = node.where_clause.as_ref();
                let pattern = compiler.pattern(&node.pattern, condition, true)?;
                clauses.push(Clause::Match(MatchPlan { optional, pattern }));
                scope = compiler.scope;
            }
            ClauseKind::Unwind(node) => {
                let mut compiler = Compiler::new(text, scope);
                let list = compiler.expression(&node.expression)?;
                let name = name_of(&node.variable);
                if compiler.scope.find(&name).is_some() {
                    let message = format!("variable `{name}` is bound already");
                    return Err(QueryError::invalid("VariableAlreadyBound", message));
                }
                let slot = compiler.scope.push(Some(name), Kind::Any);
                clauses.push(Clause::Unwind { list, slot });
                scope = compiler.scope;
            }
            ClauseKind::With(node) => {
                let condition = node.where_clause.as_ref();
                let done = project(text, &mut scope, &node.projection, condition, false)?;
                clauses.push(Clause::Project(Box::new(done)));
            }
            ClauseKind::Return(node) => {
                let done = project(text, &mut scope, &node.projection, None, true)?;
                columns = done.items.iter().map(|item| item.name.clone()).collect();
                clauses.push(Clause::Project(Box::new(done)));
                returned = true;
            }
            _ => return Err(QueryError::unsupported("this clause")),
        }
    }
    if returns && !returned {
        return Err(composition("a query has to end with RETURN"));
    }
    Ok((clauses, columns))
}

fn composition(message: &str) -> QueryError {
    QueryError::invalid("InvalidClauseComposition", message)
}
