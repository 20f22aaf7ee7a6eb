//! Counts the losses of a framed stream at once, and logs them at most every ten seconds with their
//! sum.

use std::time::Duration;

use metrics::{counter, gauge};

use super::header::FrameHeader;
use crate::source::SourceHost;
use crate::source::sample_clock::SampleClock;

/// Time between two log lines of losses: one line a burst.
const QUIET: Duration = Duration::from_secs(10);

/// Difference of the sender's clock from the gateway's above which a remark says so, s.
const CLOCKS_APART_S: f64 = 5.0;

/// The number of late blocks in a row that no network explains by turning some around: their count
/// does not go on, being one of 32 bits that began anew, or one that stands still. Chosen: no path
/// turns this many around.
const LATE_IN_A_ROW: u32 = 8;
/// Blocks that follow on, in a row, after which the count is right again.
const RIGHT_AGAIN: u32 = 16;
/// Changes between the same two runs, both ways, that are two senders and no restart.
const ALTERNATIONS: u32 = 3;

/// Sums since the last log line.
#[derive(Debug)]
pub(super) struct Losses {
    host: SourceHost,
    /// Late blocks in a row, and blocks in a row that were not.
    late: u32,
    right: u32,
    /// The count or the sender is told to be wrong.
    is_count_told: bool,
    are_two_told: bool,
    /// The run before the present one, and how often the two took turns.
    earlier: Option<u64>,
    turns: u32,
    frames: u64,
    blocks: u64,
    bytes: u64,
    logged_at: Option<Duration>,
}

impl Losses {
    pub(super) const fn new(host: SourceHost) -> Self {
        Self {
            host,
            late: 0,
            right: 0,
            is_count_told: false,
            are_two_told: false,
            earlier: None,
            turns: 0,
            frames: 0,
            blocks: 0,
            bytes: 0,
            logged_at: None,
        }
    }

    /// Frames are missing by their count.
    pub(super) fn lost(&mut self, frames: u64) {
        counter!("pdm_edge_stream_lost_frames_total", "source" => self.host.name.clone())
            .increment(frames);
        counter!("pdm_edge_stream_gaps_total", "source" => self.host.name.clone(),
            "cause" => "missing")
        .increment(1);
        self.frames += frames;
        self.log();
    }

    /// A block whose checksum is wrong.
    pub(super) fn damaged(&mut self) {
        counter!("pdm_edge_stream_damaged_blocks_total", "source" => self.host.name.clone())
            .increment(1);
        self.blocks += 1;
        self.log();
    }

    /// Bytes that belong to no block.
    pub(super) fn skipped(&mut self, bytes: usize) {
        if bytes > 0 {
            counter!("pdm_edge_stream_skipped_bytes_total", "source" => self.host.name.clone())
                .increment(bytes as u64);
            self.bytes += bytes as u64;
            self.log();
        }
    }

    /// A block that came twice, or after a later one; true if its count is to be followed, since so
    /// many in a row are no accident of the network.
    pub(super) fn late(&mut self, due: u64, came: u64) -> bool {
        counter!("pdm_edge_stream_late_blocks_total", "source" => self.host.name.clone())
            .increment(1);
        self.late += 1;
        if self.late < LATE_IN_A_ROW {
            return false;
        }
        tracing::debug!(source = self.host.name, due, came, "following the count of the blocks");
        true
    }

    /// The count of frames does not go on.
    pub(super) fn count_set(&mut self, due: u64, came: u64) {
        let SourceHost { name, remarks, .. } = &self.host;
        counter!("pdm_edge_stream_gaps_total", "source" => name.clone(), "cause" => "count")
            .increment(1);
        self.right = 0;
        if !std::mem::replace(&mut self.is_count_told, true) {
            tracing::error!(
                source = name,
                due,
                came,
                "the count of frames does not go on: blocks were dropped as late"
            );
        }
        let text = format!(
            "the count of frames does not go on ({came} came, {due} was due): blocks are dropped; \
             it has to have 64 bits and to count every frame"
        );
        remarks.set(name, "count", text);
    }

    /// A block was taken.
    pub(super) fn taken(&mut self) {
        self.late = 0;
        self.right = self.right.saturating_add(1);
        if self.right < RIGHT_AGAIN {
            return;
        }
        if std::mem::take(&mut self.is_count_told) {
            self.host.remarks.withdraw(&self.host.name, "count");
        }
        if std::mem::take(&mut self.are_two_told) {
            self.host.remarks.withdraw(&self.host.name, "senders");
        }
        self.turns = 0;
    }

    /// The sender was started again, or another one sends as well.
    pub(super) fn restarted(&mut self, before: u64, now: u64) {
        let SourceHost { name, remarks, .. } = &self.host;
        counter!("pdm_edge_stream_gaps_total", "source" => name.clone(), "cause" => "restart")
            .increment(1);
        self.right = 0;
        if self.earlier.replace(before) != Some(now) {
            self.turns = 0;
            tracing::info!(source = name, "the sender was started again");
            return;
        }
        self.turns += 1;
        if self.turns < ALTERNATIONS || std::mem::replace(&mut self.are_two_told, true) {
            return;
        }
        tracing::error!(source = name, "two senders take turns, nothing can be measured");
        let text = "two senders take turns: their blocks make no stream; each needs a source and a \
                    port or topic of its own";
        remarks.set(name, "senders", text.to_owned());
    }

    /// Notes how far the sender's clock stands from the gateway's, which dates the samples.
    pub(super) fn sender_time(&self, header: &FrameHeader, clock: &SampleClock) {
        let Some(sender_us) = header.sender_us else { return };
        let first = clock.frames().saturating_sub(header.frames as u64);
        let apart_s = sender_us as f64 / 1e6 - clock.began(first).unix_ms() as f64 / 1e3;
        gauge!("pdm_edge_sender_clock_offset_seconds", "source" => self.host.name.clone())
            .set(apart_s);
        if apart_s.abs() > CLOCKS_APART_S {
            let text = format!(
                "the sender's clock is {apart_s:.0} s apart from this gateway's, which dates the \
                 samples"
            );
            self.host.remarks.set(&self.host.name, "sender clock", text);
        } else {
            self.host.remarks.withdraw(&self.host.name, "sender clock");
        }
    }

    fn log(&mut self) {
        let now = self.host.clock.uptime();
        if self.logged_at.is_some_and(|last| now.saturating_sub(last) < QUIET) {
            return;
        }
        self.logged_at = Some(now);
        tracing::warn!(
            source = self.host.name,
            lost_frames = self.frames,
            damaged_blocks = self.blocks,
            skipped_bytes = self.bytes,
            "a part of the stream was lost; nothing is measured across the gap"
        );
        (self.frames, self.blocks, self.bytes) = (0, 0, 0);
    }
}
