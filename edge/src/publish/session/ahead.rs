//! Reading ahead: the next rows of the spool are fetched while earlier ones are on the way.
//!
//! One query at a time runs in a task of its own, so neither the broker waits for the disk nor the
//! disk for the broker. What is held in memory is bounded by the flight, and what one query brings by
//! its bytes as well: SQLite, its driver and the publisher each hold it for a moment.

use std::collections::VecDeque;

use tokio::task::JoinHandle;

use super::super::lanes::{Lanes, Which};
use crate::spool::{Lane, Row, Spool, SpoolError};

/// Bytes that a query is to bring. Chosen by `cargo bench -p pdm-edge --bench memory` and `delivery`:
/// with twice as much nothing left sooner.
const AT_ONCE_BYTES: usize = 256 << 10;

/// Bytes of a row as long as none was read: an event without spectra.
const USUAL_BYTES: usize = 4 << 10;

/// Rows that were read and not handed over yet, and the query that fetches more.
#[derive(Debug)]
pub(super) struct Ahead {
    rows: VecDeque<Row>,
    query: Option<Query>,
    /// Mean of the last rows that were read.
    row_bytes: usize,
}

impl Default for Ahead {
    fn default() -> Self {
        Self { rows: VecDeque::new(), query: None, row_bytes: USUAL_BYTES }
    }
}

#[derive(Debug)]
struct Query {
    which: Which,
    /// Of the lanes when it was asked: rows called back meanwhile would be skipped otherwise.
    revision: u64,
    last_sequence: u64,
    task: JoinHandle<Result<Vec<Row>, SpoolError>>,
}

/// What a finished query brought.
#[derive(Debug)]
pub(super) struct Found {
    which: Which,
    revision: u64,
    last_sequence: u64,
    pub(super) rows: Result<Vec<Row>, SpoolError>,
}

impl Ahead {
    /// Nothing is held and nothing is being read.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.query.is_none()
    }

    /// True if another query is worth asking: fewer rows than `low` are held and none runs.
    pub(super) fn wants_more(&self, low: usize) -> bool {
        self.query.is_none() && self.rows.len() < low
    }

    /// Rows to ask for at once, at most `most`.
    pub(super) fn at_once(&self, most: usize) -> usize {
        (AT_ONCE_BYTES / self.row_bytes.max(1)).clamp(1, most.max(1))
    }

    /// Asks for at most `limit` rows of a lane.
    pub(super) fn ask(
        &mut self,
        spool: &Spool,
        lanes: &Lanes,
        (which, lane, limit): (Which, Lane, usize),
        last_sequence: u64,
    ) {
        let spool = spool.clone();
        let task = tokio::spawn(async move { spool.waiting(lane, limit).await });
        self.query = Some(Query { which, revision: lanes.revision(), last_sequence, task });
    }

    /// Waits for the query; for ever if none runs. Nothing is lost when the wait is given up.
    pub(super) async fn found(&mut self) -> Found {
        let Some(query) = &mut self.query else { return std::future::pending().await };
        let rows = (&mut query.task).await.unwrap_or_else(|ended| Err(ended.into()));
        let Query { which, revision, last_sequence, .. } = *query;
        self.query = None;
        if let Ok(rows) = &rows
            && !rows.is_empty()
        {
            let bytes: usize = rows.iter().map(|row| row.payload.len()).sum();
            self.row_bytes = bytes / rows.len();
        }
        Found { which, revision, last_sequence, rows }
    }

    /// Holds a row until there is room for it.
    pub(super) fn hold(&mut self, row: Row) {
        self.rows.push_back(row);
    }

    /// The next row.
    pub(super) fn next(&mut self) -> Option<Row> {
        self.rows.pop_front()
    }
}

impl Found {
    /// Moves the lanes past what was found. Where rows were called back since, nothing is taken and
    /// it is read again.
    pub(super) fn take(self, lanes: &mut Lanes) -> Result<Vec<Row>, SpoolError> {
        let rows = self.rows?;
        if self.revision != lanes.revision() {
            return Ok(Vec::new());
        }
        lanes.advance(self.which, rows.last().map(|row| row.sequence), rows.len());
        if rows.is_empty() {
            // the live lane has numbers without rows: let go by a cap, or parked
            lanes.skip_to(self.which, self.last_sequence);
        }
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_rows_are_read_a_few_at_a_time_and_small_ones_a_flight_at_once() {
        let rows = |row_bytes| Ahead { row_bytes, ..Ahead::default() }.at_once(256);
        assert_eq!(Ahead::default().at_once(256), 64);
        assert_eq!([0, 100, 2 << 10, 20_000, 1 << 20].map(rows), [256, 256, 128, 13, 1]);
        assert_eq!(Ahead::default().at_once(1), 1);
    }
}
