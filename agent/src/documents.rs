//! Report and work order of a judgement: what the workflow and the command `report` ask of
//! `pdm-report`, with the store and the knowledge base at hand.
//!
//! [`Writer`] writes the documents of a run that goes on; [`stored`] fills the case file of an event
//! that was judged before.

mod stored;
mod writer;

pub use stored::{GatherError, stored};
pub use writer::Writer;
