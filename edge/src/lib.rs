//! The edge: vibration in, events out.
//!
//! The flow is one line, and the modules stand in its order:
//! [`source`] → [`window`] → [`quality`] → [`features`] → [`condition`] (baseline, detect, trend,
//! remaining life) → [`event`] → [`spool`] (one SQLite commit) → [`publish`].
//! [`pipeline`] joins the stages; [`cli`] is what people type.

pub mod admin;
pub mod catalogue;
pub mod cli;
pub mod condition;
pub mod event;
pub mod features;
pub mod pipeline;
pub mod plot;
pub mod progress;
pub mod publish;
pub mod quality;
pub mod relearning;
pub mod series;
pub mod settings;
pub mod source;
pub mod spool;
pub mod window;
