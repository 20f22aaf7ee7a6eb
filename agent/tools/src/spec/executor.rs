//! The executors that run tools, and the `config` that each reads.
//!
//! Invariants of an [`Executor`]: an `sql` statement is one SELECT; an `http` address has a literal
//! host; a pipeline's steps are dependencies, without a circle among them. A file only names its
//! database, hosts and programs; the operator's settings define what these names stand for.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Limits;
use super::articles::{self, ArticleConfig};
use super::graph;
pub use super::graph::{GraphConfig, GraphPlace, GraphQuery, GraphResult};
use super::pipeline::Pipeline;
use super::statement::Statement;
use super::table::{self, TableConfig};
use super::template::Address;
use crate::fields::{FieldReading, short_text};
use crate::pack::Pack;
use crate::schema::Schema;

/// The values of `executor`.
pub const KINDS: [&str; 9] =
    ["builtin", "search", "table", "sql", "graph", "http", "mcp", "prompt", "pipeline"];
/// The name that stands for the data of a tool's own pack.
pub(super) const OWN_PACK: &str = "pack";

/// The setting in which an executor's `config` is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct About<'a> {
    /// The tool's name.
    pub(super) name: &'a str,
    /// The schema of its arguments.
    pub(super) input: Option<&'a Schema>,
    /// The tools that it depends on.
    pub(super) dependencies: &'a [String],
    /// The pack that it belongs to.
    pub(super) pack: Option<&'a Pack>,
}

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
    /// Articles of a document of the tool's pack; `search` with a `document`.
    Articles(ArticleConfig),
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
    /// A request to the language model.
    Prompt {
        /// The instructions to the model beside the tool's description (`config.instructions`).
        instructions: String,
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
    /// Where the statement runs.
    pub database: SqlPlace,
    /// The statement.
    pub statement: Statement,
    /// A statement whose row, if it gives one, is the reason why the call is refused.
    pub refuse_if: Option<Statement>,
    /// The form of the answer.
    pub result: SqlResult,
    /// Most rows (`row_limit`, 100; the result says if more were cut).
    pub row_limit: usize,
}

/// Where an `sql` tool reads (`config.database`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SqlPlace {
    /// A database of this name in the settings.
    Named(String),
    /// `pack`: the tables of the tool's own pack, which has this name.
    Pack(String),
}

/// The form of an `sql` tool's answer (`config.result`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SqlResult {
    /// `table`: `rows`, `row_count` and whether more were left out, `truncated`.
    #[default]
    Table,
    /// `rows`: the rows alone, as a list.
    Rows,
    /// `json`: the one value of the one row, which the statement has written as JSON.
    Json,
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
            Self::Search(_) | Self::Articles(_) => "search",
            Self::Table(_) => "table",
            Self::Sql(_) => "sql",
            Self::Graph(_) => "graph",
            Self::Http(_) => "http",
            Self::Mcp { .. } => "mcp",
            Self::Prompt { .. } => "prompt",
            Self::Pipeline(_) => "pipeline",
        }
    }

    /// Whether a malformed answer is worth another attempt: a remote server or a model may answer
    /// better, a function of this program will not.
    pub(crate) const fn is_remote(&self) -> bool {
        matches!(self, Self::Http(_) | Self::Mcp { .. } | Self::Prompt { .. })
    }

    pub(super) fn read(
        reading: &mut FieldReading<'_>,
        kind: &str,
        config: &Map<String, Value>,
        about: About<'_>,
    ) -> Option<Self> {
        let About { name, input, dependencies, .. } = about;
        match kind {
            "builtin" => {
                only(reading, config, &["function"]);
                let function = reading.maybe_text("/config", config, "function");
                Some(Self::Builtin { function: function.unwrap_or_else(|| name.to_owned()) })
            }
            "search" if config.contains_key("document") => {
                only(reading, config, &articles::KEYS);
                articles::read_article_config(reading, config, about).map(Self::Articles)
            }
            "search" => search(reading, config, input).map(Self::Search),
            "table" => {
                only(reading, config, &["source", "equal", "ranges", "rows"]);
                table::read_table_config(reading, config, input).map(Self::Table)
            }
            "sql" => sql(reading, config, about).map(Self::Sql),
            "graph" => graph::read_graph_config(reading, config, about).map(Self::Graph),
            "http" => http(reading, config, input).map(Self::Http),
            "mcp" => {
                only(reading, config, &["server", "tool"]);
                let tool = reading.maybe_text("/config", config, "tool");
                let server = reading.text("/config", config, "server")?;
                Some(Self::Mcp { server, tool: tool.unwrap_or_else(|| name.to_owned()) })
            }
            "prompt" => {
                only(reading, config, &["instructions"]);
                let instructions = reading.maybe_text("/config", config, "instructions");
                Some(Self::Prompt { instructions: instructions.unwrap_or_default() })
            }
            "pipeline" => {
                only(reading, config, &["steps", "output"]);
                Pipeline::read(reading, config, input, dependencies).map(Self::Pipeline)
            }
            other => {
                let message = format!("is {other:?}, allowed are {}", KINDS.join(", "));
                reading.problem("/executor", message);
                None
            }
        }
    }
}

pub(super) fn only(reading: &mut FieldReading<'_>, config: &Map<String, Value>, own: &[&str]) {
    let allowed: Vec<&str> = own.iter().copied().chain(Limits::KEYS).collect();
    reading.only("/config", config, &allowed);
}

/// Notes a property that the configuration uses but the input schema lacks.
pub(super) fn must_be_input(
    reading: &mut FieldReading<'_>,
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
    reading: &mut FieldReading<'_>,
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
        // without `number` the whole document is read
        SearchBy::Section => &["document"],
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
            let message = format!("is {}, expected the name of a property", short_text(property));
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
    reading: &mut FieldReading<'_>,
    config: &Map<String, Value>,
    about: About<'_>,
) -> Option<SqlConfig> {
    only(reading, config, &["database", "query", "row_limit", "refuse_if", "result"]);
    let database = reading.text("/config", config, "database").and_then(|name| {
        match (name.as_str(), about.pack) {
            (OWN_PACK, Some(pack)) => Some(SqlPlace::Pack(pack.name.clone())),
            (OWN_PACK, None) => {
                let message = "is pack, which only the tools of a pack may read";
                reading.problem("/config/database", message);
                None
            }
            (_, _) => Some(SqlPlace::Named(name)),
        }
    });
    let row_limit = reading.whole("/config", config, "row_limit", 100, 1..=1000);
    let result = match reading.maybe_text("/config", config, "result").as_deref() {
        None | Some("table") => SqlResult::Table,
        Some("rows") => SqlResult::Rows,
        Some("json") => SqlResult::Json,
        Some(other) => {
            let message = format!("is {other:?}, allowed are table, rows, json");
            reading.problem("/config/result", message);
            SqlResult::Table
        }
    };
    let refuse_if = match reading.maybe_text("/config", config, "refuse_if") {
        Some(text) => Some(statement(reading, "/config/refuse_if", &text, about.input)?),
        None => None,
    };
    let query = reading.text("/config", config, "query")?;
    let statement = statement(reading, "/config/query", &query, about.input)?;
    let row_limit = usize::try_from(row_limit).ok()?;
    Some(SqlConfig { database: database?, statement, refuse_if, result, row_limit })
}

fn statement(
    reading: &mut FieldReading<'_>,
    at: &str,
    text: &str,
    input: Option<&Schema>,
) -> Option<Statement> {
    match Statement::read(text) {
        Ok(statement) => {
            for name in statement.parameters() {
                must_be_input(reading, at, name, input);
            }
            Some(statement)
        }
        Err(refusal) => {
            reading.problem(at, refusal.to_string());
            None
        }
    }
}

fn http(
    reading: &mut FieldReading<'_>,
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
