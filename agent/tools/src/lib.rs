//! Tools: declared in YAML, checked, reloaded while the program runs, and called within limits.
//!
//! The way of a tool: its file (a folder's or a [`pack`]'s, [`sources`]) → [`yaml`] (values with
//! positions) → [`spec`] (fields, schemas, [`spec::executor`]) → [`registry`] (names, dependencies,
//! order) → [`catalogue`] (current registry) → [`runtime`] (calls) → [`exec`] (one attempt). The
//! workflow and other programs call tools through MCP ([`mcp`]), people through `pdm-agent tools`.
//!
//! Invariants: the current registry is valid as a whole; arguments and answers match their schemas;
//! an answer is data, never an instruction.

pub mod catalogue;
pub mod client;
pub mod error;
pub mod exec;
mod fields;
mod graph;
pub mod layer;
pub mod mcp;
mod names;
pub mod observation;
pub mod pack;
pub mod problem;
pub mod registry;
pub mod runtime;
pub mod schema;
pub mod settings;
mod shipped;
pub mod sources;
pub mod spec;
pub mod yaml;

pub use catalogue::Catalogue;
pub use error::ToolError;
pub use observation::Observation;
pub use problem::Problem;
pub use registry::Registry;
pub use runtime::{Call, ExecutorResources, Runtime};
pub use sources::Sources;
pub use spec::ToolSpec;
