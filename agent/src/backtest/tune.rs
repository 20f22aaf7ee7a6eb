//! Proposes thresholds for a plant from its own past: those that would have cost least on machines
//! that the choice has not seen.
//!
//! The flow: [`candidates`] (the configuration and its neighbours, chosen before any event is read)
//! → the back-test plays all of them at once ([`super::MachinePlay`]) → [`MachineCosts`] of each
//! machine → [`Tuning`] (each machine left out once, the proposal, the curve) → [`page`].
//!
//! The cost of a configuration on a machine is the number of episodes that staff was told of
//! without a failure, and for each failure `miss_cost` times the share of the wanted lead time that
//! was missing. A failure of which nobody was told has a share of 1.
//!
//! Invariants: a machine that is left out has no part in the choice that is tried on it. Thresholds
//! are proposed only if the choices made without a machine cost less on that machine, in all, than
//! the configuration does; else it stays as it is. Nothing is proposed without failures on
//! [`LEAST_MACHINES`] machines, since each threshold that tells less would look better.

mod costs;
mod knobs;
pub(crate) mod page;
mod result;

#[cfg(test)]
mod tests;

pub(crate) use costs::MachineCosts;
pub(crate) use knobs::{Candidate, Change, candidates};
pub(crate) use result::{Advice, CurvePoint, Price, Tuning};

/// Machines with a failure without which nothing is proposed. Chosen: with one left out, two that
/// differ remain.
pub(crate) const LEAST_MACHINES: usize = 3;
