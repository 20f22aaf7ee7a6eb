//! The counters of a running edge that the program around it can watch.

use std::fmt;

use tokio::time::Instant;

use crate::spool::{Implausible, SpoolError, Tally};

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
    /// The time since which a batch waits that the spool does not take; `None` if the last commit
    /// succeeded.
    pub not_committed_since: Option<Instant>,
    /// Why the last commit failed; `None`: it succeeded, or is still under way.
    pub spool_trouble: Option<SpoolTrouble>,
    /// The fault of the connection to the broker, if it has one that a person has to see to.
    pub broker_trouble: Option<BrokerTrouble>,
    /// Events that the broker did not take whole, if there were any.
    pub too_large: Option<TooLarge>,
    /// The fault of the agent's receipts, if they have one.
    pub receipt_trouble: Option<ReceiptTrouble>,
}

/// Why the spool takes no event. Measuring goes on, and what was measured waits in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpoolTrouble {
    /// The disk is full, fails, or may not be written.
    Disk,
    /// The file is damaged and cannot be replaced.
    Damaged,
    /// The file was moved, removed or replaced while it was open.
    Moved,
    /// Anything else; the log tells.
    Other,
}

impl From<&SpoolError> for SpoolTrouble {
    fn from(error: &SpoolError) -> Self {
        match error {
            SpoolError::Full { .. } | SpoolError::Folder { .. } | SpoolError::Beside { .. } => {
                Self::Disk
            }
            SpoolError::Damaged { .. } => Self::Damaged,
            SpoolError::Moved { .. } => Self::Moved,
            SpoolError::Locked { .. }
            | SpoolError::Foreign { .. }
            | SpoolError::Newer { .. }
            | SpoolError::Interrupted(_)
            | SpoolError::Json(_)
            | SpoolError::Database { .. } => Self::Other,
        }
    }
}

impl fmt::Display for SpoolTrouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Disk => {
                "the spool cannot be written: its disk is full, fails or is read-only; make room, \
                 no restart is needed"
            }
            Self::Damaged => "the spool is damaged and cannot be replaced; check its disk",
            Self::Moved => {
                "another file was put in the place of the spool while it was open: what waits is \
                 sent, and what is not sent before the gateway stops is lost; put the spool's file \
                 back"
            }
            Self::Other => "the spool takes no event; the log of the gateway tells why",
        })
    }
}

/// The faults of the connection to the broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BrokerTrouble {
    /// The broker ends the connection again and again soon after it took it.
    ThrownOut,
    /// The broker acknowledges events, and the agent's receipts have covered no event for long.
    NoReceipts,
    /// The broker answers that it does not take the gateway's events, for long.
    Declined,
}

impl fmt::Display for BrokerTrouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ThrownOut => f.write_str(
                "the broker ends the connection again and again soon after it took it: another \
                 client uses this gateway's client id (two gateways of one name, or a copy), or \
                 the broker's access rules refuse what it sends; events wait in the spool",
            ),
            Self::Declined => f.write_str(
                "the broker refuses this gateway's events: its access rules have to let the \
                 gateway write its event topics, or its quota is used up; events stay in the \
                 spool",
            ),
            Self::NoReceipts => f.write_str(
                "the broker acknowledges events and no receipt of the agent covers them: the agent \
                 is away, or the broker's access rules drop what this gateway sends (MQTT 3.1.1 \
                 does not say so); events stay in the spool",
            ),
        }
    }
}

/// Events that are larger than the broker takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge {
    /// Events that were sent without their spectra.
    pub without_spectra: u64,
    /// Events that are larger without them, which are kept and not sent.
    pub parked: u64,
    /// The largest packet that the broker takes, as far as it is known, bytes.
    pub limit_bytes: Option<u64>,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { without_spectra, parked, limit_bytes } = self;
        write!(
            f,
            "{without_spectra} events were sent without their spectra and {parked} are parked"
        )?;
        match limit_bytes {
            Some(bytes) => write!(f, ": the broker takes packets of at most {bytes} bytes"),
            None => f.write_str(": the broker does not deliver them whole"),
        }
    }
}

/// The faults of the agent's receipts. No event is deleted because of such a receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiptTrouble {
    /// The last receipt cannot be true.
    Implausible(Implausible),
    /// A receipt covers less than one before, which has not been made up for yet.
    Fell {
        /// Number covered before.
        from: u64,
        /// Number that the receipt covers.
        to: u64,
    },
}

impl fmt::Display for ReceiptTrouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Implausible(why) => write!(f, "the agent's receipt is refused: {why}"),
            Self::Fell { from, to } => {
                write!(f, "the agent's receipt fell from {from} to {to}: it has lost events")
            }
        }
    }
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
