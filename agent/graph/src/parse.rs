//! Parses text to syntax: the official grammar (crate `open-cypher`), then the allow-list.
//!
//! The allow-list is a visitor that knows every clause and expression this engine runs; everything
//! else is refused by its name, new constructs of a later grammar among them. Nothing that writes,
//! calls a procedure, reads a file or names another graph is on it.

use std::borrow::Cow;

use open_cypher::ast::visit::{self, Visitor};
use open_cypher::ast::{
    Clause, ClauseKind, Expr, ExprKind, MatchClause, PathFactor, PathFactorKind, PatternPart,
    Program, Query, QueryKind, StatementKind,
};
use open_cypher::{Keyword, TokenKind};

use crate::error::{QueryError, Result};
use crate::limits::MAX_QUERY_BYTES;

/// Deepest nesting of expressions, patterns and queries. A person's query has fewer than ten
/// levels; the bound keeps the walk of a hostile one on the stack of a thread.
const MAX_NESTING: usize = 100;

const WRITES: &str = "the graph is read-only";
const CALLS: &str = "procedures and subqueries are not called";
const UNSUPPORTED: &str = "this engine does not support it";

/// Reads the one query of `text`.
///
/// # Errors
/// [`QueryError::Syntax`] or [`QueryError::Refused`].
pub(crate) fn parse(text: &str) -> Result<Query> {
    if text.len() > MAX_QUERY_BYTES {
        let message = format!("it has {} bytes, at most {MAX_QUERY_BYTES} are read", text.len());
        return Err(QueryError::Syntax(message));
    }
    nesting_of_text(text)?;
    let parsed = open_cypher::parse(&with_functions(text)).map_err(|errors| {
        let first = errors.diagnostics().first();
        QueryError::Syntax(first.map_or_else(|| errors.to_string(), |found| told(text, found)))
    })?;
    check(&parsed.program)?;
    let mut statements = parsed.program.statements;
    let Some(statement) = statements.pop() else {
        return Err(QueryError::Syntax("it is empty".into()));
    };
    match statement.kind {
        StatementKind::Query(query) => match query.mode {
            None => Ok(query.query),
            Some(_) => Err(refused("EXPLAIN or PROFILE", UNSUPPORTED)),
        },
        _ => Err(QueryError::Syntax("it is no query".into())),
    }
}

/// The name under which the grammar is given the function `collect`, of the same length, so that
/// places in the text stay what they are.
const COLLECT: &str = "collec_";

/// `collect` before a bracket is the function, never the beginning of a subquery. The grammar finds
/// that out by trying, and gives up where `CASE` stands in the same query (`open-cypher` 0.5.0).
fn with_functions(text: &str) -> Cow<'_, str> {
    let mut written = Cow::Borrowed(text);
    let tokens = open_cypher::lex(text).tokens;
    let mut tokens = tokens.iter().filter(|token| !token.is_trivia()).peekable();
    while let Some(token) = tokens.next() {
        let is_called = tokens.peek().is_some_and(|next| next.kind == TokenKind::LeftParen);
        if token.kind == TokenKind::Keyword(Keyword::Collect) && is_called {
            written.to_mut().replace_range(token.span.start..token.span.end, COLLECT);
        }
    }
    written
}

/// The name of a function as the query has it.
pub(crate) fn function_name(name: &str) -> &str {
    if name == COLLECT { "collect" } else { name }
}

fn told(text: &str, found: &open_cypher::Diagnostic) -> String {
    let before = text.get(..found.primary_span.start).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    format!("line {line}, column {column}: {}", found.message)
}

/// Refuses text whose brackets nest deeper than the parser should be asked to follow.
fn nesting_of_text(text: &str) -> Result<()> {
    let mut depth = 0_usize;
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_NESTING {
            return Err(too_deep());
        }
    }
    Ok(())
}

fn too_deep() -> QueryError {
    QueryError::Syntax(format!("it nests deeper than {MAX_NESTING} levels"))
}

fn refused(construct: impl Into<String>, why: &'static str) -> QueryError {
    QueryError::Refused { construct: construct.into(), why }
}

fn check(program: &Program) -> Result<()> {
    let mut allowed = Allowed { depth: 0, refusal: None };
    allowed.visit_program(program);
    allowed.refusal.map_or(Ok(()), Err)
}

/// Walks the syntax until the first refusal.
struct Allowed {
    depth: usize,
    refusal: Option<QueryError>,
}

impl Allowed {
    fn refuse(&mut self, refusal: QueryError) {
        self.refusal.get_or_insert(refusal);
    }

    /// Walks one level deeper, unless something has been refused or the level is too deep.
    fn descend(&mut self, walk: impl FnOnce(&mut Self)) {
        if self.refusal.is_some() {
            return;
        }
        if self.depth == MAX_NESTING {
            self.refuse(too_deep());
            return;
        }
        self.depth += 1;
        walk(self);
        self.depth -= 1;
    }
}

impl<'ast> Visitor<'ast> for Allowed {
    fn visit_query(&mut self, node: &'ast Query) {
        match &node.kind {
            QueryKind::Regular(_) => self.descend(|own| visit::walk_query(own, node)),
            _ => self.refuse(QueryError::Syntax("it is no query".into())),
        }
    }

    fn visit_clause(&mut self, node: &'ast Clause) {
        if let Some(refusal) = clause_refusal(&node.kind) {
            self.refuse(refusal);
        } else {
            self.descend(|own| visit::walk_clause(own, node));
        }
    }

    fn visit_expr(&mut self, node: &'ast Expr) {
        if matches!(node.kind, ExprKind::DynamicProperty { .. } | ExprKind::Error(_)) {
            self.refuse(refused("a dynamic property", UNSUPPORTED));
        } else {
            self.descend(|own| visit::walk_expr(own, node));
        }
    }

    fn visit_pattern_part(&mut self, node: &'ast PatternPart) {
        if node.kind.selector.is_some() {
            self.refuse(refused("a path selector (SHORTEST, ANY, ALL)", UNSUPPORTED));
        } else {
            self.descend(|own| visit::walk_pattern_part(own, node));
        }
    }

    fn visit_path_factor(&mut self, node: &'ast PathFactor) {
        let construct = match &node.kind {
            PathFactorKind::Relationship(relationship) => {
                relationship.graph_quantifier.as_ref().map(|_| "a quantified relationship")
            }
            PathFactorKind::QuantifiedNode { .. } => Some("a quantified node"),
            PathFactorKind::Node(_)
            | PathFactorKind::Parenthesized { quantifier: None, where_clause: None, .. } => None,
            PathFactorKind::Parenthesized { .. } => Some("a quantified path"),
            PathFactorKind::Subpath { .. } => Some("a subpath variable"),
            PathFactorKind::LegacyShortest { all: false, .. } => Some("shortestPath()"),
            PathFactorKind::LegacyShortest { all: true, .. } => Some("allShortestPaths()"),
            _ => Some("this path pattern"),
        };
        match construct {
            Some(construct) => self.refuse(refused(construct, UNSUPPORTED)),
            None => self.descend(|own| visit::walk_path_factor(own, node)),
        }
    }
}

/// Returns why a clause is not allowed; `None` for those that are.
fn clause_refusal(clause: &ClauseKind) -> Option<QueryError> {
    Some(match clause {
        ClauseKind::Match(MatchClause { mode: Some(_), .. }) => {
            refused("a path mode (WALK, TRAIL, SIMPLE, ACYCLIC)", UNSUPPORTED)
        }
        ClauseKind::Match(MatchClause { hints, .. }) if !hints.is_empty() => {
            refused("USING (a planner hint)", UNSUPPORTED)
        }
        ClauseKind::Match(_)
        | ClauseKind::Unwind(_)
        | ClauseKind::With(_)
        | ClauseKind::Return(_) => return None,
        ClauseKind::Create(_) => refused("CREATE", WRITES),
        ClauseKind::Insert(_) => refused("INSERT", WRITES),
        ClauseKind::Merge(_) => refused("MERGE", WRITES),
        ClauseKind::Delete(_) => refused("DELETE", WRITES),
        ClauseKind::Set(_) => refused("SET", WRITES),
        ClauseKind::Remove(_) => refused("REMOVE", WRITES),
        ClauseKind::Foreach(_) => refused("FOREACH", WRITES),
        ClauseKind::LoadCsv(_) => refused("LOAD CSV", "a query reads no file"),
        ClauseKind::Call(_) => refused("CALL", CALLS),
        ClauseKind::Use(_) => refused("USE", "a query reads its own graph only"),
        ClauseKind::Let(_) => refused("LET", UNSUPPORTED),
        ClauseKind::Select(_) => refused("SELECT", UNSUPPORTED),
        ClauseKind::Next(_) => refused("NEXT", UNSUPPORTED),
        ClauseKind::Filter(_) => refused("FILTER", UNSUPPORTED),
        ClauseKind::Finish => refused("FINISH", UNSUPPORTED),
        _ => refused("this clause", UNSUPPORTED),
    })
}
