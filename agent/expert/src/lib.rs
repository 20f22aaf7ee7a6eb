//! The expert's rules as pure functions: screening, P–F stage, degradation, remaining life, risk.
//!
//! One event, what is remembered of its bearing and the [`rules::Rules`] go in; a judgement in five
//! thoughts with its evidence comes out ([`judge`]). No clock, no network: the same input gives the
//! same judgement. Figures of the event are compared and quoted, never computed; [`grounding`]
//! checks that.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod advice;
pub mod case;
pub mod degradation;
pub mod grounding;
pub mod memory;
pub mod pf_stage;
pub mod research;
pub mod risk;
pub mod rul;
pub mod rules;
pub mod screening;
pub mod standing;
pub mod wording;

mod course;
mod judge;
mod repair;
#[cfg(test)]
mod tests;
mod unsettled;
mod velocity;

pub use advice::hurries_parts;
pub use case::Judgement;
pub use judge::{is_not_judged, judge, judge_raised};
