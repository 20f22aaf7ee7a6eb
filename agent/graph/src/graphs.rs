//! Graphs as the tools ask them, those of the program by name and those of packs: the
//! implementation of executor `graph`.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use pdm_tools::exec::Failure;
use pdm_tools::exec::graph::{AskedGraph, GraphQuestion, GraphRows, Graphs};
use pdm_tools::pack::PackData;

use crate::error::QueryError;
use crate::limits::Limits;
use crate::memory::MemoryGraph;
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
    /// The graphs of packs by the pack's name.
    packs: Arc<Mutex<HashMap<String, MadeGraph>>>,
}

/// The graph of a pack with the data that it was made of.
type MadeGraph = (Arc<PackData>, Arc<MemoryGraph>);

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

    /// Returns the same graphs under other limits.
    #[must_use]
    pub fn within(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.graphs.keys().map(String::as_str)
    }

    /// The graph of a pack, made anew when the pack was read anew.
    fn of_pack(&self, data: &Arc<PackData>) -> Arc<MemoryGraph> {
        let mut packs = self.packs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((made_of, graph)) = packs.get(&data.pack)
            && Arc::ptr_eq(made_of, data)
        {
            return Arc::clone(graph);
        }
        let graph = Arc::new(data.graph.as_ref().map(MemoryGraph::from).unwrap_or_default());
        packs.insert(data.pack.clone(), (Arc::clone(data), Arc::clone(&graph)));
        graph
    }

    fn graph(&self, asked: &AskedGraph<'_>) -> Result<Arc<dyn GraphSource>, Failure> {
        match asked {
            AskedGraph::Pack(data) => Ok(self.of_pack(data)),
            AskedGraph::Named(name) => self.graphs.get(*name).cloned().ok_or_else(|| {
                let names: Vec<&str> = self.names().collect();
                let there = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                let message = format!(
                    "this program was started without the graph {name}; there are: {there}"
                );
                Failure::Permanent(message)
            }),
        }
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
        let graph = self.graph(&question.graph)?;
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
