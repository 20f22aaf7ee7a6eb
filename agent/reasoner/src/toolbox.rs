//! The tools of the model: those of the catalogue that only read, and nothing else.
//!
//! Whether a tool only reads is decided by its executor, which runs it, not by what its file says:
//! a search, a table, a SELECT, a query of a graph, a GET, a function of the program that says of
//! itself that it only reads (those of the asset graph, `abnormal_decision`), and pipelines of
//! these. Functions that act (`notify_maintenance_staff`) and tools of other servers are never
//! offered.

use std::sync::Arc;

use async_trait::async_trait;
use pdm_tools::spec::ToolSpec;
use pdm_tools::spec::executor::Executor;
use pdm_tools::{Call, Registry, Runtime};
use serde_json::{Map, Value};
use tracing::Instrument as _;

use crate::dialect::ToolDefinition;
use crate::spans;

/// The answer of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolAnswer {
    /// The text for the model.
    pub text: String,
    /// The answer as data.
    pub data: Value,
    /// Whether the tool failed.
    pub is_error: bool,
}

impl ToolAnswer {
    /// A failure in words.
    pub fn failed(reason: impl Into<String>) -> Self {
        Self { text: reason.into(), data: Value::Null, is_error: true }
    }
}

/// Tools that only read.
#[async_trait]
pub trait Toolbox: Send + Sync + std::fmt::Debug {
    /// The tools.
    fn tools(&self) -> Vec<ToolDefinition>;

    /// Calls a tool of [`Toolbox::tools`]; any other name is a failure.
    async fn call(&self, id: &str, name: &str, arguments: Map<String, Value>) -> ToolAnswer;
}

/// Calls a tool inside a span of its own.
pub(crate) async fn traced(
    tools: &dyn Toolbox,
    id: &str,
    name: &str,
    arguments: Map<String, Value>,
) -> ToolAnswer {
    // also the program's own look-ups take only what is offered here
    if !tools.tools().iter().any(|tool| tool.name == name) {
        return ToolAnswer::failed(format!("there is no tool {name:?} here"));
    }
    let span = spans::of_call(name, id);
    let answer = tools.call(id, name, arguments).instrument(span.clone()).await;
    if answer.is_error {
        // the reason may quote what the tool has read: it stays out of the span
        spans::fail(&span, "tool_error", "the tool failed");
    }
    answer
}

/// The reading tools of the agent's catalogue.
#[derive(Debug, Clone)]
pub struct CatalogueTools {
    runtime: Arc<Runtime>,
}

impl CatalogueTools {
    /// The tools of this runtime.
    pub const fn new(runtime: Arc<Runtime>) -> Self {
        Self { runtime }
    }
}

#[async_trait]
impl Toolbox for CatalogueTools {
    fn tools(&self) -> Vec<ToolDefinition> {
        let registry = self.runtime.catalogue().current();
        let reading = registry.list().filter(|spec| only_reads(spec, &registry, &self.runtime, 0));
        let definition = |spec: &Arc<ToolSpec>| ToolDefinition {
            name: spec.name.clone(),
            description: spec.description.clone(),
            parameters: Value::Object((**spec.input.value()).clone()),
        };
        reading.map(definition).collect()
    }

    async fn call(&self, id: &str, name: &str, arguments: Map<String, Value>) -> ToolAnswer {
        let registry = self.runtime.catalogue().current();
        let is_offered =
            registry.get(name).is_some_and(|spec| only_reads(spec, &registry, &self.runtime, 0));
        if !is_offered {
            return ToolAnswer::failed(format!("refused: there is no tool {name:?} to be called"));
        }
        let arguments = Value::Object(arguments);
        let call = Call { id: id.to_owned(), tool: name.to_owned(), arguments };
        match self.runtime.call(&call).await {
            Ok(answer) => ToolAnswer { text: answer.text, data: answer.value, is_error: false },
            Err(error) => ToolAnswer::failed(error.to_string()),
        }
    }
}

/// Deepest pipeline of pipelines that is looked into.
const DEEPEST: u32 = 8;

/// Whether a tool only reads, whatever its arguments are.
fn only_reads(spec: &ToolSpec, registry: &Registry, runtime: &Runtime, depth: u32) -> bool {
    match &spec.executor {
        // the engine of graphs has no code that could write (`pdm-graph`)
        Executor::Search(_)
        | Executor::Articles(_)
        | Executor::Table(_)
        | Executor::Sql(_)
        | Executor::Graph(_) => true,
        Executor::Http(http) => !http.post,
        Executor::Pipeline(_) => {
            depth < DEEPEST
                && spec.dependencies.iter().all(|name| {
                    let step = registry.get(name);
                    step.is_some_and(|step| only_reads(step, registry, runtime, depth + 1))
                })
        }
        Executor::Builtin { function } => runtime.function_only_reads(function),
        // ways that are new here are not offered until somebody has looked at them
        Executor::Mcp { .. } | _ => false,
    }
}

#[cfg(test)]
mod tests {
    use pdm_tools::exec::builtin::{Builtin, Builtins};
    use pdm_tools::exec::{Failure, Invocation};
    use pdm_tools::{Catalogue, ExecutorResources};

    use super::*;

    struct Function(bool);

    #[async_trait]
    impl Builtin for Function {
        fn only_reads(&self) -> bool {
            self.0
        }

        async fn call(&self, _invocation: Invocation<'_>) -> Result<Value, Failure> {
            Ok(serde_json::json!([]))
        }
    }

    /// R-TOOL-8: nine of the ten asset tools could not be called by a chat's program.
    #[tokio::test]
    async fn a_function_that_only_reads_is_offered_and_one_that_acts_is_not() {
        let builtins = Builtins::default()
            .with("search_equipment", Function(true))
            .with("compare_equipment", Function(true))
            .with("notify_maintenance_staff", Function(false));
        let (catalogue, _problems) = Catalogue::shipped();
        let means = ExecutorResources { builtins, ..ExecutorResources::default() };
        let tools = CatalogueTools::new(Arc::new(Runtime::new(catalogue, means)));
        let names: Vec<String> = tools.tools().into_iter().map(|tool| tool.name).collect();
        for name in ["search_equipment", "compare_equipment", "read_document_section"] {
            assert!(names.iter().any(|one| one == name), "{name}: {names:?}");
        }
        // a function that this program does not have is not offered
        for name in ["notify_maintenance_staff", "list_tags"] {
            assert!(!names.iter().any(|one| one == name), "{name}: {names:?}");
        }
        let arguments = Map::from_iter([("query".to_owned(), Value::from("P-101"))]);
        let answer = tools.call("c", "search_equipment", arguments).await;
        assert!(!answer.is_error, "{answer:?}");
    }

    #[tokio::test]
    async fn what_acts_is_neither_offered_nor_called() {
        let (catalogue, problems) = Catalogue::shipped();
        assert!(problems.is_empty());
        let tools =
            CatalogueTools::new(Arc::new(Runtime::new(catalogue, ExecutorResources::default())));
        let names: Vec<String> = tools.tools().into_iter().map(|tool| tool.name).collect();
        assert!(names.iter().any(|name| name == "search_equipment_manual"), "{names:?}");
        assert!(!names.iter().any(|name| name.contains("notify")), "{names:?}");
        for name in ["notify_maintenance_staff", "nothing", ""] {
            let answer = tools.call("c", name, Map::new()).await;
            assert!(answer.is_error && answer.text.contains("refused"), "{answer:?}");
        }
    }
}
