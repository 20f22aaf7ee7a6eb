//! The limits of a query: rows, time, depth, memory.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::error::{QueryError, Result};

/// Longest text of a query, bytes. The longest of the documented examples has 600.
pub const MAX_QUERY_BYTES: usize = 10_000;

/// The limits of one query. No data chose the defaults: a tool's answer is read by a person or a
/// model, and ten thousand bearings have to fit into the steps between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Most rows of the result; a query that has more is cut there, and says so (1,000).
    pub rows: usize,
    /// Most rows, list elements and relationships that a step of the query may hold (200,000).
    pub working_rows: usize,
    /// Longest time (5 s).
    pub time: Duration,
    /// Most relationships of one path of variable length (32).
    pub depth: usize,
    /// Most bytes that all intermediate results may hold, about (256 MB).
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            rows: 1_000,
            working_rows: 200_000,
            time: Duration::from_secs(5),
            depth: 32,
            bytes: 256_000_000,
        }
    }
}

/// The rest of the limits while a query runs.
#[derive(Debug)]
pub(crate) struct Budget {
    limits: Limits,
    end: Instant,
    steps: Cell<u32>,
    bytes: Cell<usize>,
}

impl Budget {
    pub(crate) fn new(limits: Limits) -> Self {
        let end = Instant::now() + limits.time;
        Self { limits, end, steps: Cell::new(0), bytes: Cell::new(0) }
    }

    pub(crate) const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Counts one step of work; the clock is read every 256 steps.
    pub(crate) fn step(&self) -> Result<()> {
        let steps = self.steps.get().wrapping_add(1);
        self.steps.set(steps);
        if steps.is_multiple_of(256) { self.check_time() } else { Ok(()) }
    }

    pub(crate) fn check_time(&self) -> Result<()> {
        if Instant::now() < self.end {
            return Ok(());
        }
        let ms = self.limits.time.as_millis();
        Err(QueryError::Limit(format!("it ran longer than {ms} ms")))
    }

    /// Checks a number of rows, list elements or relationships.
    pub(crate) fn rows(&self, rows: usize) -> Result<()> {
        let most = self.limits.working_rows;
        if rows <= most {
            return Ok(());
        }
        Err(QueryError::Limit(format!("a step of it holds more than {most} rows")))
    }

    /// Counts memory that an intermediate result holds. Memory that is freed is not given back, so
    /// the count is what the whole query ever held.
    pub(crate) fn hold(&self, bytes: usize) -> Result<()> {
        let held = self.bytes.get().saturating_add(bytes);
        self.bytes.set(held);
        let most = self.limits.bytes;
        if held <= most {
            return Ok(());
        }
        Err(QueryError::Limit(format!("its intermediate results hold more than {most} bytes")))
    }

    pub(crate) fn depth(&self) -> QueryError {
        let most = self.limits.depth;
        QueryError::Limit(format!(
            "a path of variable length goes on after {most} relationships; write an upper bound, \
             such as *1..{most}"
        ))
    }
}
