//! The work order: what is to be done to a bearing, quoted from the plant's own documents
//! (R-AGENT-8).
//!
//! Invariants: it exists for Warning and Critical only; its number is the event's, so that writing
//! it again makes the same order; steps, tools and amounts are quoted with their source or said to
//! be planned, never invented.

mod build;
mod compose;
pub mod data;

pub use build::work_order;
pub use compose::document;
pub use data::{WORK_ORDER_SCHEMA, WorkOrder};
