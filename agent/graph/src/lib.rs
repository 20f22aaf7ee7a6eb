//! Property graphs and read-only openCypher over them.
//!
//! The way of a query: text → `parse` (official grammar, allow-list) → `compile` (variables, types,
//! steps) → `run` (rows, within [`Limits`]). The engine knows nothing of machines: it reads any
//! [`GraphSource`]. [`MemoryGraph`] is one for graphs from files; the tables of the agent's store
//! are another.
//!
//! [`NamedGraphs`] goes into `ExecutorResources::graphs` of the tool runtime: the graphs of the
//! program by name, and those of packs, which become a [`MemoryGraph`] when a tool first asks them
//! (`config.graph: pack`).
//!
//! A query that writes, calls or reads files is refused by the name of the construct before
//! anything runs; there is no code in this crate that could write a graph through a query.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the grammar's enumerations are open, and an operation on values refuses every type \
              that it does not name"
)]

pub mod assets;
mod compile;
mod error;
pub mod files;
mod graphs;
mod limits;
mod memory;
mod parse;
mod plan;
mod query;
mod run;
mod source;
#[cfg(test)]
mod tck;
mod value;

pub use error::QueryError;
pub use graphs::NamedGraphs;
pub use limits::{Limits, MAX_QUERY_BYTES};
pub use memory::MemoryGraph;
pub use query::{Query, QueryTable, parameters};
pub use source::{Direction, Fans, GraphSource, Hops, Scan, SourceError};
pub use value::{
    Node, Path, Properties, Relationship, Value, equal, order, properties_json, properties_of,
};
