//! The executors that run tools, and the `config` that each reads.
//!
//! Invariants of an [`Executor`]: an `sql` statement is one SELECT; an `http` address has a literal
//! host; a pipeline's steps are dependencies, without a circle among them. A file only names its
//! database, hosts and programs; the operator's settings define what these names stand for.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Limits;
use super::graph;
pub use super::graph::{GraphConfig, GraphQuery, GraphResult};
use super::pipeline::Pipeline;
use super::statement::Statement;
use super::table::{self, TableConfig};
use super::template::Address;
use crate::fields::{Reading, shown};
use crate::schema::Schema;

/// The values of `executor`.
pub const KINDS: [&str; 8] =
    ["builtin", "search", "table", "sql", "graph", "http", "mcp", "pipeline"];

/// The executor of a tool, with its configuration.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Executor {
    /// A function of the program.
    Builtin {
        /// The function's name (`config.function`, the tool's own name by default).
        function: String,
    },
    /// Hybrid search over a collection of the knowledge base.
    Search(SearchConfig),
    /// Rows of the tool's own file.
    Table(TableConfig),
    /// One read-only SQL statement.
    Sql(SqlConfig),
    /// One read-only query over a graph.
    Graph(GraphConfig),
    /// One HTTP request.
    Http(HttpConfig),
    /// A tool of another MCP server.
    Mcp {
        /// The server's name in the settings (`config.server`).
        server: String,
        /// The tool's name at that server (`config.tool`, the tool's own name by default).
        tool: String,
    },
    /// Other tools, in sequence or side by side.
    Pipeline(Pipeline),
}

/// `config` of a `search` tool.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchConfig {
    /// How documents are found.
    pub by: SearchBy,
    /// The collection; empty where all are looked up.
    pub collection: String,
    /// Filter field → input property that holds its value; an absent property does not filter.
    pub filters: BTreeMap<String, String>,
    /// Hits if the call does not set `top_k` (3, as in the knowledge base).
    pub top_k: usize,
    /// Most hits that a call may ask for (`max_top_k`, 20).
    pub max_top_k: usize,
}

/// How a `search` tool finds documents (`config.by`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SearchBy {
    /// `meaning`: by what the question `query` means.
    #[default]
    Meaning,
    /// `section`: by the id of a `document` and the `number` of a section.
    Section,
    /// `title`: by a `title` of a document or section.
    Title,
}

/// `config` of an `sql` tool.
#[derive(Debug, Clone, PartialEq)]
pub struct SqlConfig {
    /// The database's name in the settings.
    pub database: String,
    /// The statement.
    pub statement: Statement,
    /// Most rows (`row_limit`, 100; the result says if more were cut).
    pub row_limit: usize,
}

/// `config` of an `http` tool.
#[derive(Debug, Clone)]
pub struct HttpConfig {
    /// Whether the tool posts the arguments as JSON (`method: POST`) instead of reading (`GET`).
    pub post: bool,
    /// The address, with places for arguments.
    pub address: Address,
    /// Most bytes of an answer (`max_bytes`, 1,000,000).
    pub max_bytes: usize,
}

impl Executor {
    /// The value of `executor` in the tool's file.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Builtin { .. } => "builtin",
            Self::Search(_) => "search",
            Self::Table(_) => "table",
            Self::Sql(_) => "sql",
            Self::Graph(_) => "graph",
            Self::Http(_) => "http",
            Self::Mcp { .. } => "mcp",
            Self::Pipeline(_) => "pipeline",
        }
    }

    /// Whether a malformed answer is worth another attempt: a remote server may answer better, a
    /// function of this program will not.
    pub(crate) const fn is_remote(&self) -> bool {
        matches!(self, Self::Http(_) | Self::Mcp { .. })
    }

    pub(super) fn read(
        reading: &mut Reading<'_>,
        kind: &str,
        name: &str,
        config: &Map<String, Value>,
        input: Option<&Schema>,
        dependencies: &[String],
    ) -> Option<Self> {
        match kind {
            "builtin" => {
                only(reading, config, &["function"]);
                let function = reading.maybe_text("/config", config, "function");
                Some(Self::Builtin { function: function.unwrap_or_else(|| name.to_owned()) })
            }
            "search" => search(reading, config, input).map(Self::Search),
            "table" => {
                only(reading, config, &["source", "equal", "ranges", "rows"]);
                table::read(reading, config, input).map(Self::Table)
            }
            "sql" => sql(reading, config, input).map(Self::Sql),
            "graph" => graph::read(reading, config, input).map(Self::Graph),
            "http" => http(reading, config, input).map(Self::Http),
            "mcp" => {
                only(reading, config, &["server", "tool"]);
                let tool = reading.maybe_text("/config", config, "tool");
                let server = reading.text("/config", config, "server")?;
                Some(Self::Mcp { server, tool: tool.unwrap_or_else(|| name.to_owned()) })
            }
            "pipeline" => {
                only(reading, config, &["steps", "output"]);
                Pipeline::read(reading, config, input, dependencies).map(Self::Pipeline)
            }
            other => {
                let why = match other {
                    "prompt" => " (this version has no language model to run it)",
                    _ => "",
                };
                let message = format!("is {other:?}{why}, allowed are {}", KINDS.join(", "));
                reading.problem("/executor", message);
                None
            }
        }
    }
}

pub(super) fn only(reading: &mut Reading<'_>, config: &Map<String, Value>, own: &[&str]) {
    let allowed: Vec<&str> = own.iter().copied().chain(Limits::KEYS).collect();
    reading.only("/config", config, &allowed);
}

/// Notes a property that the configuration uses but the input schema lacks.
pub(super) fn must_be_input(
    reading: &mut Reading<'_>,
    at: &str,
    property: &str,
    input: Option<&Schema>,
) {
    if let Some(input) = input
        && !input.has_property(property)
    {
        reading.problem(at, format!("{property} is none of the properties of input_schema"));
    }
}

fn search(
    reading: &mut Reading<'_>,
    config: &Map<String, Value>,
    input: Option<&Schema>,
) -> Option<SearchConfig> {
    only(reading, config, &["by", "collection", "filters", "top_k", "max_top_k"]);
    let by = match reading.maybe_text("/config", config, "by").as_deref() {
        None | Some("meaning") => SearchBy::Meaning,
        Some("section") => SearchBy::Section,
        Some("title") => SearchBy::Title,
        Some(other) => {
            let message = format!("is {other:?}, allowed are meaning, section, title");
            reading.problem("/config/by", message);
            return None;
        }
    };
    let needed: &[&str] = match by {
        SearchBy::Meaning => &["query"],
        SearchBy::Section => &["document", "number"],
        SearchBy::Title => &["title"],
    };
    for property in needed {
        must_be_input(reading, "/executor", property, input);
    }
    let mut filters = BTreeMap::new();
    for (field, property) in reading.map("/config", config, "filters").into_iter().flatten() {
        let at = format!("/config/filters/{field}");
        if let Some(property) = property.as_str() {
            must_be_input(reading, &at, property, input);
            filters.insert(field.clone(), property.to_owned());
        } else {
            let message = format!("is {}, expected the name of a property", shown(property));
            reading.problem(&at, message);
        }
    }
    let top_k = reading.whole("/config", config, "top_k", 3, 1..=100);
    let max_top_k = reading.whole("/config", config, "max_top_k", 20.max(top_k), top_k..=100);
    let collection = match by {
        SearchBy::Meaning => reading.text("/config", config, "collection")?,
        SearchBy::Section | SearchBy::Title => String::new(),
    };
    Some(SearchConfig {
        by,
        collection,
        filters,
        top_k: usize::try_from(top_k).ok()?,
        max_top_k: usize::try_from(max_top_k).ok()?,
    })
}

fn sql(
    reading: &mut Reading<'_>,
    config: &Map<String, Value>,
    input: Option<&Schema>,
) -> Option<SqlConfig> {
    only(reading, config, &["database", "query", "row_limit"]);
    let database = reading.text("/config", config, "database");
    let row_limit = reading.whole("/config", config, "row_limit", 100, 1..=1000);
    let query = reading.text("/config", config, "query")?;
    match Statement::read(&query) {
        Ok(statement) => {
            for name in statement.parameters() {
                must_be_input(reading, "/config/query", name, input);
            }
            let row_limit = usize::try_from(row_limit).ok()?;
            Some(SqlConfig { database: database?, statement, row_limit })
        }
        Err(refusal) => {
            reading.problem("/config/query", refusal.to_string());
            None
        }
    }
}

fn http(
    reading: &mut Reading<'_>,
    config: &Map<String, Value>,
    input: Option<&Schema>,
) -> Option<HttpConfig> {
    only(reading, config, &["method", "url", "max_bytes"]);
    let method = reading.maybe_text("/config", config, "method");
    let post = match method.as_deref() {
        None | Some("GET") => false,
        Some("POST") => true,
        Some(other) => {
            reading.problem("/config/method", format!("is {other:?}, allowed are GET, POST"));
            return None;
        }
    };
    let max_bytes = reading.whole("/config", config, "max_bytes", 1_000_000, 1..=10_000_000);
    let url = reading.text("/config", config, "url")?;
    match Address::read(&url) {
        Ok(address) => {
            for name in address.parameters() {
                must_be_input(reading, "/config/url", name, input);
            }
            Some(HttpConfig { post, address, max_bytes: usize::try_from(max_bytes).ok()? })
        }
        Err(refusal) => {
            reading.problem("/config/url", refusal);
            None
        }
    }
}
