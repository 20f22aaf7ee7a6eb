//! Samples that come as single numbers, one value of a metric after the other.
//!
//! A node that reports by exception leaves out a value that did not change, which would be a sample
//! lost in silence. So every message has to hold equally many values of each channel, and the time
//! stamps have to go on at the configured rate. Invariant: a block never spans a place where they
//! did not.

use ndarray::Array2;

use crate::source::burst::BurstBlocks;
use crate::source::frames::FrameFormat;
use crate::source::sample_clock::SampleClock;
use crate::source::{Block, SourceHost};

/// Share by which the time from message to message may differ from that of its samples, and the
/// resolution of time stamps with the jitter of a node, ms. Chosen: half a sample is allowed
/// beside.
const UNEVEN: (f64, f64) = (0.05, 2.0);

/// Samples from single values.
#[derive(Debug)]
pub(super) struct Singles {
    format: FrameFormat,
    clock: SampleClock,
    /// Acceleration, m/s², frame by frame, of frames that are in no block yet.
    samples: Vec<f64>,
    follows_on: bool,
    /// Time stamp of the last message's first value, and its frames.
    last: Option<(u64, usize)>,
}

impl Singles {
    pub(super) fn new(format: FrameFormat, rate_tolerance: f64, host: SourceHost) -> Self {
        let clock = SampleClock::new(format.sample_rate, rate_tolerance, host);
        Self { format, clock, samples: Vec::new(), follows_on: false, last: None }
    }

    /// Samples were lost.
    pub(super) fn gap(&mut self) {
        self.samples.clear();
        self.follows_on = false;
        self.last = None;
        self.clock.gap();
    }

    /// Takes the values of a message, m/s², channel by channel; true if some are missing before
    /// them.
    ///
    /// # Errors
    /// The numbers of values, if channels differ.
    pub(super) fn push(
        &mut self,
        channels: &[Vec<f64>],
        first_ms: Option<u64>,
    ) -> Result<bool, String> {
        let frames = channels.first().map_or(0, Vec::len);
        if let Some(at) = channels.iter().position(|values| values.len() != frames) {
            let other = channels[at].len();
            self.gap();
            return Err(format!(
                "{frames} values of the first channel and {other} of channel {at} in a message: a \
                 node that reports by exception leaves samples out"
            ));
        }
        let is_uneven = self.is_uneven(first_ms);
        if is_uneven {
            self.gap();
        }
        self.last = first_ms.map(|ms| (ms, frames));
        for frame in 0..frames {
            self.samples.extend(channels.iter().map(|values| values[frame]));
        }
        if self.clock.arrived(frames as u64) {
            self.follows_on = false;
        }
        Ok(is_uneven)
    }

    fn is_uneven(&self, first_ms: Option<u64>) -> bool {
        let (Some((last_ms, frames)), Some(first_ms)) = (self.last, first_ms) else { return false };
        let sample_ms = 1000.0 / self.format.sample_rate.get();
        let due_ms = frames as f64 * sample_ms;
        let passed_ms = first_ms.abs_diff(last_ms) as f64;
        let allowed_ms = due_ms.mul_add(UNEVEN.0, sample_ms.mul_add(0.5, UNEVEN.1));
        first_ms < last_ms || (passed_ms - due_ms).abs() > allowed_ms
    }

    /// A whole block, if there is one.
    pub(super) fn block(&mut self, blocks: &mut BurstBlocks) -> Option<Block> {
        let (channels, frames) = (self.format.channels, self.format.block_samples);
        let waiting = self.samples.len() / channels;
        if waiting < frames {
            return None;
        }
        let first = self.clock.frames().saturating_sub(waiting as u64);
        let started_at = Some(self.clock.began(first));
        let taken: Vec<f64> = self.samples.drain(..frames * channels).collect();
        let accel_m_s2 = Array2::from_shape_fn((channels, frames), |(channel, frame)| {
            taken[frame * channels + channel]
        });
        let follows_on = std::mem::replace(&mut self.follows_on, true);
        let (index, rate) = (blocks.take_index(), self.clock.rate());
        Some(Block { index, started_at, follows_on, rate, input: None, values: None, accel_m_s2 })
    }
}
