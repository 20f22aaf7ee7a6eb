//! The words that both programs and every crate use: units, faults, features, names, instants, the
//! contracts on the wire, topics, risk, texts in two languages.
//!
//! No module here does I/O, asks a clock or needs a runtime; `pdm-service` holds the services of a
//! running program.

pub mod bounds;
pub mod capture;
pub mod delivery;
pub mod diagnosis;
pub mod episode;
pub mod event;
pub mod fault;
pub mod follow_up;
pub mod id;
pub mod packed;
pub mod particle;
pub mod rank;
pub mod relearn;
pub mod risk;
#[cfg(feature = "slice")]
pub mod slice;
pub mod text;
pub mod time;
pub mod topic;
pub mod trace;
pub mod units;

pub use event::feature;
