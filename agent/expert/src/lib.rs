//! The expert's rules as pure functions: screening, P–F stage, degradation, remaining life, risk.
//!
//! One event, what is remembered of its bearing and the [`rules::Rules`] go in; a judgement in five
//! thoughts with its evidence comes out. No clock, no files, no network: the same input gives the
//! same judgement. Figures of the event are compared and quoted, never computed.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod rules;
