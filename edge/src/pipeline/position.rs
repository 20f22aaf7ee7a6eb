//! The position in a source and the times of its blocks.
//!
//! The position is committed with the events, so a run that was killed continues with the window
//! after the last one committed, and its blocks keep the times that the first run gave them.

use pdm_shared::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::settings::{Pace, SourceSettings};
use crate::source::Block;

/// The key under which the spool remembers a source's position.
pub(super) fn position_key(source: &str) -> String {
    format!("position/{source}")
}

/// The position in a source, and the time at which the source began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Position {
    /// Block in which the next window begins.
    pub(super) block: u64,
    /// Sample of that block at which the next window begins.
    pub(super) sample: usize,
    /// Time of the first block, for blocks without a time of their own.
    pub(super) started_at: Option<Timestamp>,
    /// Length of all blocks before `block`, s.
    pub(super) elapsed_s: f64,
}

impl Position {
    /// The beginning of a source.
    ///
    /// A recording without times is dated so that its last block falls on the moment at which it
    /// will have been read. So no event carries a time in the future.
    pub(super) fn beginning(
        settings: &SourceSettings,
        expected_blocks: Option<u64>,
        block_s: Option<f64>,
        now: Timestamp,
    ) -> Self {
        let started_at = settings.timing.started_at.or_else(|| {
            let period_s = settings.timing.period_s.or(block_s)?;
            let length_s = period_s * expected_blocks? as f64;
            let ahead = match settings.pace {
                Pace::AsFastAsItGoes => 1.0,
                Pace::Times(times) => 1.0 - 1.0 / times.max(1.0),
                Pace::Live => 0.0,
            };
            Some(now.plus_seconds(-length_s * ahead))
        });
        Self { block: 0, sample: 0, started_at: started_at.or(Some(now)), elapsed_s: 0.0 }
    }
}

/// Gives a time to every block that has none.
#[derive(Debug)]
pub(super) struct BlockTimes {
    base: Timestamp,
    period_s: Option<f64>,
    /// Length of the blocks so far, s.
    elapsed_s: f64,
    is_live: bool,
}

impl BlockTimes {
    pub(super) fn new(settings: &SourceSettings, position: &Position, now: Timestamp) -> Self {
        Self {
            base: position.started_at.unwrap_or(now),
            period_s: settings.timing.period_s,
            elapsed_s: position.elapsed_s,
            is_live: settings.pace == Pace::Live,
        }
    }

    /// Sets the block's time if it has none; returns the length of all blocks before it, s.
    pub(super) fn stamp(&mut self, block: &mut Block, rate_hz: f64, now: Timestamp) -> f64 {
        let length_s = block.accel_m_s2.ncols() as f64 / rate_hz;
        let before_s = self.elapsed_s;
        self.elapsed_s += length_s;
        if block.started_at.is_none() {
            let at = if self.is_live {
                now.plus_seconds(-length_s)
            } else {
                let after_s = self.period_s.map_or(before_s, |p| p * block.index as f64);
                self.base.plus_seconds(after_s)
            };
            block.started_at = Some(at);
        }
        before_s
    }
}
