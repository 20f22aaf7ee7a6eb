//! The counters of a running edge that the program around it can watch.

use crate::spool::Tally;

/// Counters since the start of this process, and the present figures of the spool.
///
/// After the sources have ended, the broker has every event when `waiting` is 0, and the agent has
/// stored every event when `unreceived` is 0.
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
    /// Blocks of live sources that were dropped because measuring was too slow.
    pub missed_blocks: u64,
    /// Every source has ended and all its windows are committed.
    pub ended: bool,
    /// A part of the edge has failed; stopping the edge returns which.
    pub failed: bool,
    /// The broker has taken the connection.
    pub connected: bool,
    /// Blocks that the sources will deliver in all, if every source knows its number.
    pub expected_blocks: Option<u64>,
    /// Highest sequence number given out.
    pub last_sequence: u64,
}

impl Progress {
    /// Copies the figures of the spool.
    pub(crate) fn follow(&mut self, tally: &Tally) {
        self.waiting = tally.waiting;
        self.unreceived = tally.waiting + tally.acknowledged;
        self.dropped = tally.dropped;
        self.last_sequence = tally.last_sequence;
    }
}
