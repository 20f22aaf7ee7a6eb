//! The edge: measures vibration and publishes events.
//!
//! The stages of the flow, each a module:
//! [`source`] → [`window`] → [`quality`] → [`features`] → [`condition`] (baseline, detect, trend,
//! remaining life) → [`event`] → [`spool`] (one SQLite commit) → [`publish`].
//! [`pipeline`] joins the stages to a service; [`cli`] holds the commands. The modules form no
//! circle: a module that another one uses never uses that one, directly or through others.

pub mod admin;
pub mod analysis;
pub mod capture;
pub mod catalogue;
pub mod cli;
pub mod condition;
pub mod event;
pub mod features;
pub mod mcp;
pub mod pipeline;
pub mod plot;
pub mod progress;
pub mod publish;
pub mod quality;
pub mod relearning;
pub mod remarks;
pub mod series;
pub mod settings;
pub mod source;
pub mod spool;
pub mod tabular;
pub mod window;
