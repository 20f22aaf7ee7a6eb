//! The limits of one program, counted by the interpreter: steps, bytes that were ever taken, depth.
//!
//! The numbers are chosen: a program that filters ten answers of tools takes some thousand steps
//! and less than a megabyte; a million steps take half a second of a slow core in a build without
//! optimisation.

use crate::error::{Outcome, Stop};

/// Most steps.
const MAX_STEPS: u64 = 1_000_000;
/// Most bytes of values, those that were given back included.
const MAX_BYTES: u64 = 32 << 20;
/// Deepest nesting of expressions and calls.
const MAX_DEPTH: u32 = 250;

/// Bytes of one element of a list.
pub(crate) const ELEMENT_BYTES: u64 = 32;

/// Counts what a program uses.
#[derive(Debug, Default)]
pub(crate) struct Usage {
    steps: u64,
    bytes: u64,
    depth: u32,
}

impl Usage {
    /// Counts steps.
    pub(crate) fn steps(&mut self, steps: u64) -> Outcome<()> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > MAX_STEPS {
            return Err(Stop::Limit(format!("the program takes more than {MAX_STEPS} steps")));
        }
        Ok(())
    }

    /// Counts bytes, before they are taken.
    pub(crate) fn bytes(&mut self, bytes: u64) -> Outcome<()> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > MAX_BYTES {
            let most = MAX_BYTES >> 20;
            return Err(Stop::Limit(format!("the program's values need more than {most} MiB")));
        }
        Ok(())
    }

    /// Counts the elements of a new list, before they are taken.
    pub(crate) fn elements(&mut self, count: usize) -> Outcome<()> {
        self.steps(count as u64)?;
        self.bytes((count as u64).saturating_mul(ELEMENT_BYTES))
    }

    /// Goes a level deeper; [`Usage::up`] comes back.
    pub(crate) fn down(&mut self) -> Outcome<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Stop::Limit(format!("calls or expressions nest deeper than {MAX_DEPTH}")));
        }
        self.steps(1)
    }

    /// Comes back from a deeper level.
    pub(crate) const fn up(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }
}
