//! `abnormal_decision`: one call that decides about a series of a measuring station or of a
//! bearing.
//!
//! ```text
//! station, element, from, to ─► series (store, packs) ─► judged at the edge: faults, picture,
//!                                                        the nearest past series ─► answer
//! ```
//!
//! Every call runs every step, and nothing is kept between calls. This crate reads and writes
//! words; it computes nothing: faults, likeness and the picture come from `pdm-edge mcp`
//! ([`analysis::Analyst`]).

pub mod analysis;
pub mod answer;
pub mod domain;
pub mod pack;
pub mod series;
pub mod table;
pub mod tool;

pub use series::{Case, Sample, SeriesSource, Window};
pub use tool::AbnormalDecision;
