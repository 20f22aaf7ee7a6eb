//! Report and work order of a judgement. The workflow and the command `report` use this module to
//! call `pdm-report` with the store and the knowledge base.
//!
//! [`Writer`] writes the documents of a run in progress; [`stored`] fills the case file of an event
//! that is already judged.

mod stored;
mod writer;

pub use stored::{GatherError, stored};
pub use writer::Writer;
