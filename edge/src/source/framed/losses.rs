//! What was lost of a framed stream: counted at once, logged at most every ten seconds with its sum.

use std::time::Duration;

use metrics::{counter, gauge};

use super::header::FrameHeader;
use crate::source::SourceHost;
use crate::source::sample_clock::SampleClock;

/// Time between two log lines of losses: one line a burst.
const QUIET: Duration = Duration::from_secs(10);

/// Difference of the sender's clock from the gateway's above which a remark says so, s.
const CLOCKS_APART_S: f64 = 5.0;

/// Sums since the last log line.
#[derive(Debug)]
pub(super) struct Losses {
    host: SourceHost,
    frames: u64,
    blocks: u64,
    bytes: u64,
    logged_at: Option<Duration>,
}

impl Losses {
    pub(super) const fn new(host: SourceHost) -> Self {
        Self { host, frames: 0, blocks: 0, bytes: 0, logged_at: None }
    }

    /// Frames are missing by their count.
    pub(super) fn lost(&mut self, frames: u64) {
        counter!("pdm_edge_stream_lost_frames_total", "source" => self.host.name.clone())
            .increment(frames);
        counter!("pdm_edge_stream_gaps_total", "source" => self.host.name.clone(), "cause" => "missing")
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

    /// A block that came twice, or after a later one.
    pub(super) fn late(&self) {
        counter!("pdm_edge_stream_late_blocks_total", "source" => self.host.name.clone())
            .increment(1);
    }

    /// The sender was started again.
    pub(super) fn restarted(&self) {
        counter!("pdm_edge_stream_gaps_total", "source" => self.host.name.clone(), "cause" => "restart")
            .increment(1);
        tracing::info!(source = self.host.name, "the sender was started again");
    }

    /// How far the sender's clock stands from the gateway's, which dates the samples.
    pub(super) fn sender_time(&self, header: &FrameHeader, clock: &SampleClock) {
        let Some(sender_us) = header.sender_us else { return };
        let first = clock.frames().saturating_sub(header.frames as u64);
        let apart_s = sender_us as f64 / 1e6 - clock.began(first).unix_ms() as f64 / 1e3;
        gauge!("pdm_edge_sender_clock_offset_seconds", "source" => self.host.name.clone())
            .set(apart_s);
        if apart_s.abs() > CLOCKS_APART_S {
            let text = format!(
                "the sender's clock is {apart_s:.0} s apart from this gateway's, which dates the samples"
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
