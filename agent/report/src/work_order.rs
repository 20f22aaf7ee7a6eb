//! The work order: the work on a bearing, quoted from the plant's own documents (R-AGENT-8).
//!
//! Invariants: work orders exist for Warning and Critical only; the number is derived from the
//! event, so that the order is the same if it is written again; steps, tools and amounts are quoted
//! with their source or marked as to be planned, never invented.

mod build;
mod compose;
pub mod data;

pub use build::{number, work_order};
pub use compose::document;
pub use data::{WORK_ORDER_SCHEMA, WorkOrder};
