//! Executor `graph`: one read-only openCypher query over a graph of the program or of a pack.
//!
//! The engine stands behind [`Graphs`], because this crate knows no graph: crate `pdm-graph`
//! implements it.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::{Failure, Invocation};
use crate::pack::PackData;
use crate::spec::executor::{GraphConfig, GraphPlace, GraphQuery, GraphResult};

/// A question to a graph.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphQuestion<'q> {
    /// The graph (`config.graph`).
    pub graph: AskedGraph<'q>,
    /// The query.
    pub query: &'q str,
    /// Whether the query comes from the caller: stricter rules hold then.
    pub by_caller: bool,
    /// Parameters of the query (`$name`).
    pub parameters: &'q Map<String, Value>,
    /// Most rows.
    pub row_limit: usize,
}

/// A graph that is asked.
#[derive(Debug, Clone, PartialEq)]
pub enum AskedGraph<'q> {
    /// A graph of the program, by its name.
    Named(&'q str),
    /// The graph of a pack.
    Pack(&'q Arc<PackData>),
}

/// The answer of a graph.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GraphRows {
    /// The rows: objects.
    pub rows: Vec<Value>,
    /// Whether rows were cut at the limit.
    pub truncated: bool,
}

/// Graphs that tools can ask.
#[async_trait]
pub trait Graphs: Send + Sync {
    /// Runs a query.
    ///
    /// # Errors
    /// [`Failure`]: a refused query and an unknown graph are permanent, a store that is away is
    /// transient.
    async fn ask(&self, question: GraphQuestion<'_>) -> Result<GraphRows, Failure>;
}

pub(crate) async fn run(
    config: &GraphConfig,
    graphs: Option<&dyn Graphs>,
    pack: Option<&Arc<PackData>>,
    invocation: Invocation<'_>,
) -> Result<Value, Failure> {
    let Some(graphs) = graphs else {
        return Err(Failure::Permanent("this program was started without a graph".into()));
    };
    let (query, by_caller) = match &config.query {
        GraphQuery::Fixed(query) => (query.as_str(), false),
        GraphQuery::OfCaller { argument } => match invocation.text(argument) {
            Some(query) => (query, true),
            None => return Err(Failure::Permanent(format!("{argument}: is required, a query"))),
        },
    };
    // every parameter of a fixed query has a value: an argument that is absent is null
    let mut parameters: Map<String, Value> =
        config.parameters.iter().map(|name| (name.clone(), Value::Null)).collect();
    parameters.extend(invocation.arguments.clone());
    let row_limit = config.row_limit;
    let graph = match (&config.graph, pack) {
        (GraphPlace::Named(name), _) => AskedGraph::Named(name),
        (GraphPlace::Pack(_), Some(pack)) => AskedGraph::Pack(pack),
        (GraphPlace::Pack(name), None) => {
            return Err(Failure::Permanent(format!("the pack {name} is not turned on")));
        }
    };
    let question = GraphQuestion { graph, query, by_caller, parameters: &parameters, row_limit };
    let GraphRows { rows, truncated } = graphs.ask(question).await?;
    Ok(match &config.result {
        // a list has no place to tell that rows were left out, and a caller's query may say what it
        // wants
        GraphResult::Rows if truncated && by_caller => {
            let message = format!("the query gives more than {row_limit} rows: add LIMIT or WHERE");
            return Err(Failure::Permanent(message));
        }
        GraphResult::Rows => Value::Array(rows),
        GraphResult::Table => {
            json!({ "row_count": rows.len(), "rows": rows, "truncated": truncated })
        }
        GraphResult::First { missing } => match rows.into_iter().next() {
            Some(row) => row,
            None => return Err(Failure::Permanent(missing.clone())),
        },
    })
}
