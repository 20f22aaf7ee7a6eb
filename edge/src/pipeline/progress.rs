//! What the program that runs an edge may watch.

use crate::spool::Tally;

/// How far the edge is. Counters count since the start of this process, the figures of the spool
/// are as they stand. An edge whose sources have ended is done when `waiting` is 0, and the
/// agent has everything when `unreceived` is 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Windows measured.
    pub measured: u64,
    /// Events committed.
    pub spooled: u64,
    /// Events sent, repetitions included.
    pub published: u64,
    /// Events that the broker has taken (PUBACK).
    pub acknowledged: u64,
    /// Events that the agent's receipts cover.
    pub received: u64,
    /// Events in the spool without a PUBACK, earlier runs included.
    pub waiting: u64,
    /// Events in the spool that no receipt covers yet, earlier runs included.
    pub unreceived: u64,
    /// Events lost by the caps, since the spool was made.
    pub dropped: u64,
    /// Blocks of live sources that could not be taken in time.
    pub missed_blocks: u64,
    /// Every source has come to its end and all its windows are committed.
    pub ended: bool,
    /// A part has failed; stopping the edge tells which.
    pub failed: bool,
    /// The broker has taken the connection.
    pub connected: bool,
    /// Blocks that the sources will deliver in all, where that is known.
    pub expected_blocks: Option<u64>,
    /// Highest sequence number given out.
    pub last_sequence: u64,
}

impl Progress {
    pub(crate) fn follow(&mut self, tally: &Tally) {
        self.waiting = tally.waiting;
        self.unreceived = tally.waiting + tally.acknowledged;
        self.dropped = tally.dropped;
        self.last_sequence = tally.last_sequence;
    }
}
