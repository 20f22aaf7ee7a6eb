//! Reading ahead: the next rows of the spool are fetched while earlier ones are on the way.
//!
//! One query at a time runs in a task of its own, so neither the broker waits for the disk nor the
//! disk for the broker. What is held in memory is bounded by the flight.

use std::collections::VecDeque;

use tokio::task::JoinHandle;

use super::super::lanes::{Lanes, Which};
use crate::spool::{Lane, Row, Spool, SpoolError};

/// Rows that were read and not handed over yet, and the query that fetches more.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    rows: VecDeque<Row>,
    query: Option<Query>,
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
