//! Queries as callers see them: read once, run over any graph.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::compile::compile;
use crate::error::{QueryError, Result};
use crate::limits::Limits;
use crate::parse::parse;
use crate::plan::QueryPlan;
use crate::run::Run;
use crate::source::GraphSource;
use crate::value::{Properties, Value};

/// A read-only openCypher query that has been read and checked.
///
/// ```
/// use pdm_graph::{Limits, MemoryGraph, Properties, Query};
///
/// let mut graph = MemoryGraph::default();
/// let pump = graph.add_node(vec!["Equipment".into()], Properties::from([("name".into(), "P-101".into())]));
/// let bearing = graph.add_node(vec!["Bearing".into()], Properties::new());
/// graph.add_relationship(pump, "HAS_PART", bearing, Properties::new());
///
/// let query = Query::read("MATCH (e:Equipment)-[:HAS_PART]->(b) RETURN e.name, count(b) AS bearings")?;
/// let table = query.run(&graph, &Properties::new(), &Limits::default())?;
/// assert_eq!(table.to_json().to_string(), r#"[{"bearings":1,"e.name":"P-101"}]"#);
///
/// let refusal = Query::read("MATCH (n) DELETE n").unwrap_err();
/// assert_eq!(refusal.to_string(), "DELETE is not allowed: the graph is read-only");
/// # Ok::<(), pdm_graph::QueryError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Query {
    text: Arc<str>,
    plan: Arc<QueryPlan>,
}

/// The rows of a result.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTable {
    /// Names of the columns.
    pub columns: Vec<Arc<str>>,
    /// The rows; each has a value a column.
    pub rows: Vec<Vec<Value>>,
    /// Whether rows were left out because there are more than [`Limits::rows`].
    pub truncated: bool,
}

impl Query {
    /// Reads a query: grammar, allow-list, variables and types.
    ///
    /// # Errors
    /// [`QueryError::Syntax`], [`QueryError::Refused`] or [`QueryError::Invalid`]; the query has to
    /// be corrected.
    pub fn read(text: &str) -> Result<Self> {
        let parsed = parse(text)?;
        let plan = compile(text, &parsed)?;
        Ok(Self { text: text.into(), plan: Arc::new(plan) })
    }

    /// Reads a query under the stricter rules of a tool that takes queries from a language model:
    /// it begins with `MATCH` and returns one map (`RETURN {key: value, …}`).
    ///
    /// # Errors
    /// As [`Query::read`]; [`QueryError::Refused`] names the rule.
    pub fn read_strict(text: &str) -> Result<Self> {
        let parsed = parse(text)?;
        strict::check(&parsed)?;
        let plan = compile(text, &parsed)?;
        Ok(Self { text: text.into(), plan: Arc::new(plan) })
    }

    /// The text that was read.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Runs the query. It blocks while the graph is read.
    ///
    /// # Errors
    /// [`QueryError`] if the query meets values that it cannot work with, a limit, or a graph that
    /// cannot be read.
    pub fn run(
        &self,
        graph: &dyn GraphSource,
        parameters: &Properties,
        limits: &Limits,
    ) -> Result<QueryTable> {
        self.run_seeded(graph, parameters, limits, seed())
    }

    fn run_seeded(
        &self,
        graph: &dyn GraphSource,
        parameters: &Properties,
        limits: &Limits,
        seed: u64,
    ) -> Result<QueryTable> {
        let run = Run::new(graph, parameters, limits.clone(), seed);
        let (rows, truncated) = run.query(&self.plan, limits.rows)?;
        Ok(QueryTable { columns: self.plan.columns.clone(), rows, truncated })
    }
}

/// A seed for `rand()` that differs from run to run.
fn seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0_u8)
}

impl QueryTable {
    /// The rows as JSON: an object for each row; if the only column is a map, that map.
    pub fn to_json(&self) -> serde_json::Value {
        let rows = self.rows.iter().map(|row| {
            if let [Value::Map(entries)] = row.as_slice() {
                return crate::value::properties_json(entries);
            }
            let cells = self.columns.iter().zip(row);
            let cells = cells.map(|(name, value)| (name.to_string(), value.to_json()));
            serde_json::Value::Object(cells.collect())
        });
        rows.collect()
    }
}

/// Parameters out of a JSON object; null parameters stay null.
pub fn parameters(arguments: &serde_json::Map<String, serde_json::Value>) -> Properties {
    let entries = arguments.iter();
    let entries = entries.map(|(key, value)| (Arc::from(key.as_str()), Value::from_json(value)));
    entries.collect::<BTreeMap<_, _>>()
}

/// The rules of a tool whose queries a language model writes.
mod strict {
    use open_cypher::ast::{
        ClauseKind, Expr, ExprKind, ProjectionItemKind, Query, QueryKind, SingleQuery,
    };

    use super::{QueryError, Result};

    pub(super) fn check(query: &Query) -> Result<()> {
        let QueryKind::Regular(regular) = &query.kind else { return Ok(()) };
        branch(&regular.head)?;
        regular.unions.iter().try_for_each(|union| branch(&union.query))
    }

    fn branch(query: &SingleQuery) -> Result<()> {
        let clauses = &query.kind.clauses;
        let starts = clauses.first().is_some_and(
            |clause| matches!(&clause.kind, ClauseKind::Match(first) if !first.optional),
        );
        if !starts {
            return Err(refused("a query that does not begin with MATCH", "begin it with MATCH"));
        }
        let Some(ClauseKind::Return(last)) = clauses.last().map(|clause| &clause.kind) else {
            return Err(refused("a query without RETURN", "end it with RETURN {key: value}"));
        };
        match last.projection.items.as_slice() {
            [item]
                if matches!(&item.kind,
                ProjectionItemKind::Expression { expression, .. } if is_map(expression)) =>
            {
                Ok(())
            }
            _ => Err(refused(
                "RETURN of anything but one map",
                "write RETURN {key1: value1, key2: value2}",
            )),
        }
    }

    fn is_map(expression: &Expr) -> bool {
        match &expression.kind {
            ExprKind::Map(_) | ExprKind::MapProjection(_) => true,
            ExprKind::Parenthesized(inner) => is_map(inner),
            _ => false,
        }
    }

    fn refused(construct: &str, why: &'static str) -> QueryError {
        QueryError::Refused { construct: construct.to_owned(), why }
    }
}
