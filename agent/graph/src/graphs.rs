//! Graphs by name, as the tools ask them: the implementation of executor `graph`.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use pdm_tools::exec::Failure;
use pdm_tools::exec::graph::{GraphQuestion, GraphRows, Graphs};

use crate::error::QueryError;
use crate::limits::Limits;
use crate::query::{Query, parameters};
use crate::source::GraphSource;

/// Most queries whose plans are kept. The tools of an agent and its packs have some thirty.
const KEPT_PLANS: usize = 256;

/// Graphs by name. A clone shares the graphs.
#[derive(Clone, Default)]
pub struct NamedGraphs {
    graphs: BTreeMap<String, Arc<dyn GraphSource>>,
    limits: Limits,
    /// Plans of the fixed queries of tools, by their text.
    plans: Arc<Mutex<HashMap<String, Query>>>,
}

impl std::fmt::Debug for NamedGraphs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.graphs.keys()).finish()
    }
}

impl NamedGraphs {
    /// Adds `graph` under `name`.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, graph: Arc<dyn GraphSource>) -> Self {
        self.graphs.insert(name.into(), graph);
        self
    }

    /// The same graphs under other limits.
    #[must_use]
    pub fn within(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.graphs.keys().map(String::as_str)
    }

    fn plan(&self, question: &GraphQuestion<'_>) -> Result<Query, QueryError> {
        if question.by_caller {
            return Query::read_strict(question.query);
        }
        let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(query) = plans.get(question.query) {
            return Ok(query.clone());
        }
        let query = Query::read(question.query)?;
        if plans.len() >= KEPT_PLANS {
            plans.clear();
        }
        plans.insert(question.query.to_owned(), query.clone());
        Ok(query)
    }
}

fn failure(error: QueryError) -> Failure {
    let message = error.to_string();
    if error.is_transient() { Failure::Transient(message) } else { Failure::Permanent(message) }
}

#[async_trait]
impl Graphs for NamedGraphs {
    async fn ask(&self, question: GraphQuestion<'_>) -> Result<GraphRows, Failure> {
        let Some(graph) = self.graphs.get(question.graph).cloned() else {
            let names = self.names().collect::<Vec<_>>().join(", ");
            let message =
                format!("no graph {} in this program; there are: {names}", question.graph);
            return Err(Failure::Permanent(message));
        };
        let query = self.plan(&question).map_err(failure)?;
        let parameters = parameters(question.parameters);
        let limits = Limits { rows: question.row_limit, ..self.limits.clone() };
        // the engine blocks while it reads
        let run =
            tokio::task::spawn_blocking(move || query.run(graph.as_ref(), &parameters, &limits));
        let table = run.await.map_err(|error| Failure::Transient(error.to_string()))?;
        let table = table.map_err(failure)?;
        let truncated = table.truncated;
        let rows = match table.to_json() {
            serde_json::Value::Array(rows) => rows,
            other => vec![other],
        };
        Ok(GraphRows { rows, truncated })
    }
}
