//! Calls tools: checks the arguments, runs attempts with time-outs and back-off, checks the answer,
//! cuts the text.
//!
//! The runtime stands between the callers (workflow, MCP, command line) and [`super::exec`].
//! Invariants: a tool never gets arguments that its input schema refuses; a caller never gets an
//! answer that its output schema refuses; at most [`MAX_PARALLEL`] tools run at once.

use std::sync::Arc;

use pdm_service::backoff::REQUEST_PAUSES;
use serde_json::{Map, Value};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::catalogue::Catalogue;
use super::error::ToolError;
use super::exec::articles::ArticleSearch;
use super::exec::builtin::Builtins;
use super::exec::graph::{self, Graphs};
use super::exec::http::Web;
use super::exec::mcp::Servers;
use super::exec::prompt::{self, LanguageModel};
use super::exec::search::{self, KnowledgeSearch};
use super::exec::sql::Databases;
use super::exec::table;
use super::exec::{Failure, Invocation};
use super::observation::{self, Observation};
use super::pack::PackData;
use super::registry::Registry;
use super::spec::ToolSpec;
use super::spec::executor::Executor;

mod steps;

/// Most tools that run at once. No data chose it: a workflow calls two or three tools at a time, so
/// two workflows do not wait for each other, while foreign servers get a bounded load.
pub const MAX_PARALLEL: usize = 8;

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Identity of the call: an action is done once for one id.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// The arguments, a mapping.
    pub arguments: Value,
}

/// The resources of the executors. Without one, the tools that need it fail with a clear error; the
/// others work.
#[derive(Default)]
pub struct ExecutorResources {
    /// Functions of the program.
    pub builtins: Builtins,
    /// The knowledge base that `search` tools use.
    pub knowledge: Option<Arc<dyn KnowledgeSearch>>,
    /// The indexes of packs' documents.
    pub articles: ArticleSearch,
    /// The language model that `prompt` tools ask.
    pub model: Option<Arc<dyn LanguageModel>>,
    /// Databases that `sql` tools may read.
    pub databases: Databases,
    /// Graphs that `graph` tools may ask.
    pub graphs: Option<Arc<dyn Graphs>>,
    /// HTTP access to allowed hosts; `None` allows no host.
    pub web: Option<Web>,
    /// Other MCP servers.
    pub servers: Arc<Servers>,
}

impl std::fmt::Debug for ExecutorResources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExecutorResources")
            .field("builtins", &self.builtins)
            .field("knowledge", &self.knowledge.is_some())
            .field("articles", &self.articles)
            .field("model", &self.model.is_some())
            .field("databases", &self.databases)
            .field("graphs", &self.graphs.is_some())
            .field("web", &self.web)
            .field("servers", &self.servers)
            .finish()
    }
}

/// Calls the tools of a catalogue.
#[derive(Debug)]
pub struct Runtime {
    catalogue: Arc<Catalogue>,
    means: Arc<ExecutorResources>,
    places: Arc<Semaphore>,
    filters: bool,
}

impl Runtime {
    /// A runtime for the tools of `catalogue`.
    pub fn new(catalogue: Arc<Catalogue>, means: ExecutorResources) -> Self {
        let places = Arc::new(Semaphore::new(MAX_PARALLEL));
        Self { catalogue, means: Arc::new(means), places, filters: false }
    }

    /// Returns the same tools for people and programs that can wait for a model: it drops the
    /// passages of a search that do not help to answer the question (R-KB-4). Judgements use the
    /// tools without it, so that a model that is slow holds up no alarm.
    #[must_use]
    pub fn filtering(&self) -> Self {
        Self {
            catalogue: Arc::clone(&self.catalogue),
            means: Arc::clone(&self.means),
            places: Arc::clone(&self.places),
            filters: true,
        }
    }

    /// The tools.
    pub fn catalogue(&self) -> &Arc<Catalogue> {
        &self.catalogue
    }

    /// Whether this program has the function of a `builtin` tool, and it only reads.
    pub fn function_only_reads(&self, function: &str) -> bool {
        self.means.builtins.only_reads(function)
    }

    /// Calls one tool.
    ///
    /// # Errors
    /// [`ToolError`]; each variant says what the caller can do.
    pub async fn call(&self, call: &Call) -> Result<Observation, ToolError> {
        // one registry for the whole call, so that a reload meanwhile has no effect on it
        let registry = self.catalogue.current();
        let started = Instant::now();
        let result = self.call_within(&registry, call).await;
        let outcome = match &result {
            Ok(observation) if observation.is_empty => "empty",
            Ok(_) => "ok",
            Err(error) => error.kind(),
        };
        let took = started.elapsed();
        // only names of existing tools become labels: a caller's typing errors must not grow the
        // metrics
        let tool = registry.get(&call.tool).map_or("(unknown)", |spec| spec.name.as_str());
        let labels = [("tool", tool.to_owned()), ("outcome", outcome.to_owned())];
        metrics::counter!("pdm_agent_tool_calls_total", &labels).increment(1);
        metrics::histogram!("pdm_agent_tool_call_seconds", &labels).record(took.as_secs_f64());
        match &result {
            Ok(done) => {
                tracing::debug!(tool, outcome, attempts = done.attempts, ?took, "Tool called.");
            }
            Err(error) => tracing::warn!(tool, outcome, %error, ?took, "Tool call failed."),
        }
        result
    }

    /// Calls several tools side by side; the answers are in the order of the calls.
    pub async fn call_all(&self, calls: &[Call]) -> Vec<Result<Observation, ToolError>> {
        side_by_side(calls.iter().map(|call| self.call(call))).await
    }

    async fn call_within(
        &self,
        registry: &Registry,
        call: &Call,
    ) -> Result<Observation, ToolError> {
        let started = Instant::now();
        let Some(spec) = registry.get(&call.tool) else {
            let known = registry.names().join(", ");
            return Err(ToolError::Unknown { tool: call.tool.clone(), known });
        };
        let arguments = checked_arguments(spec, &call.arguments)?;
        let invocation = Invocation { call_id: &call.id, tool: &spec.name, arguments: &arguments };
        let (value, attempts) = self.attempts(registry, spec, invocation).await?;
        let is_empty = observation::is_empty(&value);
        let (text, cut) = observation::cut(value.to_string(), spec.limits.max_chars);
        Ok(Observation {
            tool: spec.name.clone(),
            version: spec.version.to_string(),
            call_id: call.id.clone(),
            value,
            text,
            cut,
            is_empty,
            attempts,
            took: started.elapsed(),
        })
    }

    async fn attempts(
        &self,
        registry: &Registry,
        spec: &ToolSpec,
        invocation: Invocation<'_>,
    ) -> Result<(Value, u32), ToolError> {
        let tool = spec.name.clone();
        let mut attempt = 1;
        loop {
            let failure = match self.attempt(registry, spec, invocation).await {
                Ok(value) => match validate_result(spec, &value) {
                    Ok(()) => return Ok((value, attempt)),
                    Err(failure) => failure,
                },
                Err(failure) => failure,
            };
            let again = match &failure {
                Failure::Transient(_) => true,
                Failure::Malformed(_) => spec.executor.is_remote(),
                Failure::Permanent(_) => false,
            };
            let wait =
                REQUEST_PAUSES.get(attempt as usize - 1).filter(|_| attempt <= spec.limits.retries);
            let Some(wait) = wait.filter(|_| again) else {
                return Err(match failure {
                    Failure::Transient(reason) => {
                        ToolError::Unavailable { tool, attempts: attempt, reason }
                    }
                    Failure::Malformed(what) => {
                        ToolError::Malformed { tool, complaints: vec![what] }
                    }
                    Failure::Permanent(reason) => ToolError::Refused { tool, reason },
                });
            };
            tracing::debug!(tool, attempt, %failure, ?wait, "Tool failed, trying again.");
            tokio::time::sleep(*wait).await;
            attempt += 1;
        }
    }

    async fn attempt(
        &self,
        registry: &Registry,
        spec: &ToolSpec,
        invocation: Invocation<'_>,
    ) -> Result<Value, Failure> {
        if let Executor::Pipeline(pipeline) = &spec.executor {
            // a pipeline takes no place of its own: its steps take places, and could wait for it
            // for ever
            return Box::pin(self.pipeline(registry, pipeline, invocation)).await;
        }
        let _place = self.places.acquire().await;
        let timeout = spec.limits.timeout;
        match tokio::time::timeout(timeout, self.run(registry, spec, invocation)).await {
            Ok(result) => result,
            Err(_elapsed) => {
                let seconds = timeout.as_secs_f64();
                Err(Failure::Transient(format!("no answer within {seconds} s")))
            }
        }
    }

    /// One attempt of a tool that is no pipeline.
    async fn run(
        &self,
        registry: &Registry,
        spec: &ToolSpec,
        invocation: Invocation<'_>,
    ) -> Result<Value, Failure> {
        let ExecutorResources { builtins, knowledge, articles, databases, web, servers, .. } =
            &*self.means;
        let model = self.means.model.as_deref();
        let pack = spec.pack.as_deref().and_then(|pack| registry.pack_data(pack));
        let timeout = spec.limits.timeout;
        match &spec.executor {
            Executor::Builtin { function } => {
                let packs: Vec<Arc<PackData>> =
                    registry.packs().iter().map(|pack| Arc::clone(&pack.data)).collect();
                builtins.run(function, &packs, invocation).await
            }
            Executor::Search(config) => {
                let filter = model.filter(|_| self.filters);
                search::run(config, knowledge.as_deref(), filter, invocation).await
            }
            Executor::Articles(config) => articles.run(config, pack, model, invocation).await,
            Executor::Table(config) => Ok(table::run(config, invocation)),
            Executor::Sql(config) => databases.run(config, pack, timeout, invocation).await,
            Executor::Graph(config) => {
                graph::run(config, self.means.graphs.as_deref(), pack, invocation).await
            }
            Executor::Http(config) => match web {
                Some(web) => web.run(config, timeout, invocation).await,
                None => Err(Failure::Permanent("no host is allowed in the settings".into())),
            },
            Executor::Mcp { server, tool } => servers.run(server, tool, invocation).await,
            Executor::Prompt { instructions } => {
                let (description, schema) = (spec.description.as_str(), spec.output.value());
                let asked = prompt::PromptRequest { description, instructions, schema };
                prompt::run(asked, model, invocation).await
            }
            Executor::Pipeline(_) => Err(Failure::Permanent("a pipeline is no step".into())),
        }
    }
}

/// Checks an answer against the form that its tool promises: kinds of data and required fields. An
/// answer that is empty is right; the observation says that it is ([`observation::is_empty`]).
///
/// # Errors
/// [`Failure::Malformed`] with each field that is wrong.
fn validate_result(spec: &ToolSpec, value: &Value) -> Result<(), Failure> {
    let complaints = spec.output.complaints(value);
    if complaints.is_empty() { Ok(()) } else { Err(Failure::Malformed(complaints.join("; "))) }
}

/// Arguments without nulls: models and references write null for an absent argument.
fn given(arguments: &Value) -> Value {
    let entries = arguments.as_object().into_iter().flatten();
    entries.filter(|(_, value)| !value.is_null()).map(|(k, v)| (k.clone(), v.clone())).collect()
}

fn checked_arguments(spec: &ToolSpec, arguments: &Value) -> Result<Map<String, Value>, ToolError> {
    let arguments = if arguments.is_null() || arguments.is_object() {
        // models write null for absent arguments
        given(arguments)
    } else {
        arguments.clone()
    };
    let arguments = spec.input.with_defaults(arguments);
    let complaints = spec.input.complaints(&arguments);
    if let Value::Object(map) = arguments
        && complaints.is_empty()
    {
        return Ok(map);
    }
    Err(ToolError::Arguments { tool: spec.name.clone(), complaints })
}

/// Runs futures concurrently on this task and returns their results in order.
async fn side_by_side<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    futures_util::future::join_all(futures).await
}
