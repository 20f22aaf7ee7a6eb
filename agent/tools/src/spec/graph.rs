//! `config` of a `graph` tool:
//!
//! ```yaml
//! executor: graph
//! config:
//!   graph: assets              # the asset graph; pack: that of the tool's own pack (graph.yaml)
//!   query: >-                  # parameters are the properties of input_schema
//!     MATCH (e:Equipment) WHERE e.name CONTAINS $query RETURN {id: e.id} ORDER BY e.id
//!   # or query_argument: cypher, the property that holds the caller's own query
//!   row_limit: 10
//!   result: rows               # a list; table: {rows, row_count, truncated}; first: the first row
//! ```

use serde_json::{Map, Value};

use super::executor::{About, OWN_PACK, must_be_input, only};
use crate::fields::FieldReading;
use crate::schema::Schema;

/// `config` of a `graph` tool.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphConfig {
    /// The graph (`graph`, `assets` by default).
    pub graph: GraphPlace,
    /// The query.
    pub query: GraphQuery,
    /// Properties of the input schema: a parameter of the query that the call leaves out is null.
    pub parameters: Vec<String>,
    /// Most rows (`row_limit`, 100).
    pub row_limit: usize,
    /// The form of the answer (`result`, `rows` by default).
    pub result: GraphResult,
}

/// A graph that a tool asks (`config.graph`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GraphPlace {
    /// A graph of the program.
    Named(String),
    /// `pack`: the graph of the tool's own pack, which has this name.
    Pack(String),
}

/// Where the query comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GraphQuery {
    /// `query`: the tool's own query.
    Fixed(String),
    /// `query_argument`: a query that the caller writes.
    OfCaller {
        /// The property that holds it.
        argument: String,
    },
}

/// The form of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GraphResult {
    /// `rows`: a list of the rows.
    Rows,
    /// `table`: the rows with their number, and whether rows were cut.
    Table,
    /// `first`: the first row; without one the call fails.
    First {
        /// The text for the caller then (`missing`).
        missing: String,
    },
}

pub(super) fn read_graph_config(
    reading: &mut FieldReading<'_>,
    config: &Map<String, Value>,
    about: About<'_>,
) -> Option<GraphConfig> {
    let input = about.input;
    let own = ["graph", "query", "query_argument", "row_limit", "result", "missing"];
    only(reading, config, &own);
    let graph = reading.maybe_text("/config", config, "graph").unwrap_or_else(|| "assets".into());
    let graph = match (graph.as_str(), about.pack) {
        (OWN_PACK, Some(pack)) if pack.data.graph.is_some() => GraphPlace::Pack(pack.name.clone()),
        (OWN_PACK, pack) => {
            reading.problem(
                "/config/graph",
                match pack {
                    Some(_) => "is pack, and the pack has no graph.yaml",
                    None => "is pack, which only the tools of a pack may ask",
                },
            );
            return None;
        }
        (_, _) => GraphPlace::Named(graph),
    };
    let row_limit = reading.whole("/config", config, "row_limit", 100, 1..=1000);
    let query = reading.maybe_text("/config", config, "query");
    let argument = reading.maybe_text("/config", config, "query_argument");
    let query = match (query, argument) {
        (Some(query), None) => GraphQuery::Fixed(query),
        (None, Some(argument)) => {
            must_be_input(reading, "/config/query_argument", &argument, input);
            GraphQuery::OfCaller { argument }
        }
        (Some(_), Some(_)) | (None, None) => {
            reading.problem("/config/query", "needs either query or query_argument");
            return None;
        }
    };
    let missing = reading.maybe_text("/config", config, "missing");
    let result = match reading.maybe_text("/config", config, "result").as_deref() {
        None | Some("rows") => GraphResult::Rows,
        Some("table") => GraphResult::Table,
        Some("first") => GraphResult::First {
            missing: missing.unwrap_or_else(|| "nothing in the graph fits the arguments".into()),
        },
        Some(other) => {
            let message = format!("is {other:?}, allowed are rows, table, first");
            reading.problem("/config/result", message);
            return None;
        }
    };
    let parameters = input.map(Schema::property_names).unwrap_or_default();
    let row_limit = usize::try_from(row_limit).ok()?;
    Some(GraphConfig { graph, query, parameters, row_limit, result })
}
