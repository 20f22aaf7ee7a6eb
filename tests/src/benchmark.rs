//! The benchmark: what the edge finds in recordings whose truth is known.
//!
//! [`recordings`] hands out samples and what an operator knows of the machine (rate, speed, bearing);
//! [`labels`] holds the truth and is opened by the scorer alone; [`diagnosis`] runs quality and the
//! thorough path and scores names; [`simulated`] adds records whose truth is chosen, [`adversary`]
//! sound machines that look damaged;
//! [`fit`] makes the constants of the naming rule, [`folds`] judges each rig by a rule that has not
//! seen it; [`report`]
//! writes Markdown or JSON, failures first; [`runs`] follows runs to failure. Invariant: nothing
//! before the scorer sees a label.

pub mod adversary;
pub mod diagnosis;
pub mod fit;
pub mod folds;
pub mod labels;
mod random;
pub mod recordings;
pub mod report;
pub mod runs;
pub mod simulated;
