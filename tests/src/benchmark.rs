//! The benchmark: the edge's findings in recordings whose truth is known.
//!
//! - [`recordings`] provides samples and the operator's knowledge of the machine (rate, speed,
//!   bearing).
//! - [`labels`] holds the truth, which only the scorer reads.
//! - [`diagnosis`] runs the quality check and the thorough path, and scores the named faults.
//! - [`simulated`] adds records with a chosen truth, [`adversary`] sound machines that look
//!   damaged.
//! - [`fit`] makes the constants of the naming rule, [`folds`] judges each rig by a rule that has
//!   not seen it.
//! - [`runs`] follows runs to failure; [`alarms`] and [`life`] choose the constants of alarms and
//!   of remaining lives without the run that they are judged on.
//! - [`speeds`] judges recordings at stated speeds that are off, and against their past; [`pasts`]
//!   says which recording is the past of another.
//! - [`wander`] watches sound machines whose levels wander.
//! - [`plant`] follows the alarms of a simulated plant, [`episodes`] what staff is told of recorded
//!   runs.
//! - [`report`] writes Markdown or JSON, failures first.
//!
//! Invariant: no code before the scorer reads a label.

pub mod adversary;
pub mod alarms;
pub mod diagnosis;
pub mod episodes;
pub mod fit;
pub mod folds;
pub mod labels;
pub mod life;
pub mod pasts;
pub mod plant;
mod random;
pub mod recordings;
pub mod report;
pub mod runs;
pub mod simulated;
pub mod speeds;
pub mod wander;
