//! Episodes: what staff is told of a bearing, and when.
//!
//! One episode a bearing, with three axes that do not depend on each other (ISA-18.2, OPC UA Part
//! 9):
//!
//! | axis | changed by | states |
//! |---|---|---|
//! | condition ([`course`]) | windows ([`follow`]) | normal, active(level), frozen |
//! | acknowledgement | staff ([`Episode::acknowledge`]) | unacknowledged, acknowledged(level) |
//! | suppression | staff and design ([`shelf`]) | none, shelved, by design, out of service |
//!
//! An episode and what happened go in; the episode afterwards and what staff is told come out. No
//! clock, no files, no runtime: instants are arguments.
//!
//! Invariants, held by the property tests of this crate:
//! - a level above what staff was told of this bearing is told in the window that brings it, and
//!   ends the suppression; work on the machine alone holds a level below Critical back, which is
//!   told at its end
//! - what a suppression withheld is told once
//! - a window that tells nothing (sensor, standstill) neither clears nor begins anything, and its
//!   time counts for no hold
//! - within a hold a level that was told is not told again
//! - Watch and Warning are told at most twice in 24 hours each; a third return is told when the
//!   first of the two is 24 hours old, if it still stands then
//! - within a level that was told, a higher stage, a newly named element and parts that are to be
//!   hurried are told once each, at most twice in 24 hours
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod course;
pub mod finding;
pub mod hold;
pub mod shelf;

mod episode;
mod follow;
#[cfg(test)]
mod tests;

pub use course::{EndCause, ToldWith};
pub use episode::{Episode, EpisodeStep, Tell};
pub use finding::{Finding, ToldFinding};
pub use follow::{Observation, follow};
pub use hold::EpisodeRules;
