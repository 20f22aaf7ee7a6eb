//! Reading ahead: the next rows of the spool are read while earlier ones are in flight.
//!
//! One query at a time runs in a task of its own, so that sending does not wait for the disk. The
//! rows in memory are bounded by the flight. The rows of one query are bounded by their bytes too,
//! because SQLite, its driver and the publisher hold them at the same time.

use std::collections::VecDeque;

use tokio::task::JoinHandle;

use super::super::lanes::{LaneKind, Lanes};
use crate::spool::{Lane, Row, Spool, SpoolError};

/// Bytes of rows that a query shall return. Twice as many did not raise the events a second of the
/// benchmark `delivery` (`cargo bench -p pdm-edge --bench delivery`).
const AT_ONCE_BYTES: usize = 256 << 10;

/// Bytes of a row until one was read: those of an event without spectra.
const USUAL_BYTES: usize = 4 << 10;

/// Rows that were read and are not sent, and the query that reads more.
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
    which: LaneKind,
    /// Revision of the lanes at the start of the query. If it has changed at the end, rows that
    /// were called back meanwhile may be missing in the result.
    revision: u64,
    last_sequence: u64,
    task: JoinHandle<Result<Vec<Row>, SpoolError>>,
}

/// The result of a query.
#[derive(Debug)]
pub(super) struct FoundRows {
    which: LaneKind,
    revision: u64,
    last_sequence: u64,
    pub(super) rows: Result<Vec<Row>, SpoolError>,
}

impl Ahead {
    /// Whether no row is held and no query runs.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.query.is_none()
    }

    /// Whether another query shall start: fewer rows than `low` are held and none runs.
    pub(super) fn wants_more(&self, low: usize) -> bool {
        self.query.is_none() && self.rows.len() < low
    }

    /// Number of rows to read by one query, at most `most`.
    pub(super) fn at_once(&self, most: usize) -> usize {
        (AT_ONCE_BYTES / self.row_bytes.max(1)).clamp(1, most.max(1))
    }

    /// Starts a query for at most `limit` rows of a lane.
    pub(super) fn ask(
        &mut self,
        spool: &Spool,
        lanes: &Lanes,
        (which, lane, limit): (LaneKind, Lane, usize),
        last_sequence: u64,
    ) {
        let spool = spool.clone();
        let task = tokio::spawn(async move { spool.waiting(lane, limit).await });
        self.query = Some(Query { which, revision: lanes.revision(), last_sequence, task });
    }

    /// Waits for the query; for ever if none runs. The query is kept if the wait is given up, so
    /// the call can stand in a `select!`.
    pub(super) async fn found(&mut self) -> FoundRows {
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
        FoundRows { which, revision, last_sequence, rows }
    }

    /// Holds a row until there is room in the flight.
    pub(super) fn hold(&mut self, row: Row) {
        self.rows.push_back(row);
    }

    /// The next row.
    pub(super) fn next(&mut self) -> Option<Row> {
        self.rows.pop_front()
    }
}

impl FoundRows {
    /// The rows, with the lanes moved behind them. If rows were called back meanwhile, no row is
    /// returned, and the next query reads again.
    pub(super) fn take(self, lanes: &mut Lanes) -> Result<Vec<Row>, SpoolError> {
        let rows = self.rows?;
        if self.revision != lanes.revision() {
            return Ok(Vec::new());
        }
        lanes.advance(self.which, rows.last().map(|row| row.sequence), rows.len());
        if rows.is_empty() {
            // numbers of the live lane can be without waiting rows: deleted by a cap, or parked
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
