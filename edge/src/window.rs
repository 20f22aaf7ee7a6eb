//! Blocks of channel × sample cut into windows of equal length.
//!
//! Second stage of the flow: a [`crate::source`] delivers blocks of any length, and the stages
//! behind need windows. Invariants: a window never spans a gap; windows come in the order of time;
//! samples that fill no window are counted and not passed on.

use std::collections::VecDeque;
use std::sync::Arc;

use ndarray::{Array2, Axis, Slice, concatenate};
use pdm_shared::time::Timestamp;
use pdm_shared::units::SampleRate;

use crate::source::{Block, BlockRate, Interpretation, SourceFormat};

/// The way in which blocks are cut into windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// Every block is one window, as for recordings of snapshots.
    Whole,
    /// Windows of equal length.
    Equal {
        /// Samples of a window, above 0.
        samples: usize,
        /// Samples from the start of a window to that of the next, 1 to `samples`; a hop below
        /// `samples` makes windows overlap.
        hop: usize,
    },
}

/// Length or hop of windows is out of range. The caller reports the error with its key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "windows of {samples} samples every {hop}; allowed is a length above 0 and a hop of 1 to that \
     length"
)]
pub struct CutError {
    /// Samples of a window.
    pub samples: usize,
    /// Samples between windows.
    pub hop: usize,
}

/// Samples that are judged together.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// Position in the sequence of windows, from 0, without gaps.
    pub index: u64,
    /// Index of the block with its first sample.
    pub block_index: u64,
    /// Number of its first sample, counted over all samples that came.
    pub first_sample: u64,
    /// Time of its first sample, if the source knows it.
    pub started_at: Option<Timestamp>,
    /// The rate of its samples.
    pub rate: BlockRate,
    /// How the samples were read, where they are from a file.
    pub input: Option<Arc<Interpretation>>,
    /// Acceleration, m/s², channel × sample.
    pub accel_m_s2: Array2<f64>,
}

/// Cuts blocks into windows.
#[derive(Debug)]
pub struct Windower {
    cut: Cut,
    rate: SampleRate,
    next_index: u64,
    /// Samples that are not in a finished window, and their origin.
    pending: Option<Pending>,
    left_over: u64,
    /// Samples of each channel that came.
    came: u64,
    /// How the latest block was read.
    input: Option<Arc<Interpretation>>,
}

#[derive(Debug)]
struct Pending {
    /// The blocks that the samples are from, oldest first. Every block has its own time: times that
    /// were counted from the first one would run away from the source's clock.
    blocks: VecDeque<BlockStart>,
    accel_m_s2: Array2<f64>,
}

/// Where a block begins in the waiting samples.
#[derive(Debug, Clone, Copy)]
struct BlockStart {
    index: u64,
    /// Number of its first sample.
    first_sample: u64,
    started_at: Option<Timestamp>,
    rate: BlockRate,
    /// Samples of the block that are in windows already; 0 before its first.
    passed: usize,
    /// Samples of the block that still wait.
    waiting: usize,
}

impl Pending {
    /// The samples of `self` followed by those of `next`; returns `next` as the error if the
    /// numbers of channels differ.
    fn joined(self, next: Self) -> Result<Self, Self> {
        if self.accel_m_s2.nrows() != next.accel_m_s2.nrows() {
            return Err(next);
        }
        if self.accel_m_s2.ncols() == 0 {
            return Ok(next);
        }
        let parts = [self.accel_m_s2.view(), next.accel_m_s2.view()];
        match concatenate(Axis(1), &parts) {
            Ok(accel_m_s2) => {
                let mut blocks = self.blocks;
                blocks.extend(next.blocks);
                Ok(Self { blocks, accel_m_s2 })
            }
            Err(_rows_differ) => Err(next),
        }
    }

    /// Takes `count` samples off the front of the blocks.
    fn pass(&mut self, mut count: usize) {
        while let Some(block) = self.blocks.front_mut() {
            let taken = count.min(block.waiting);
            block.passed += taken;
            block.waiting -= taken;
            count -= taken;
            // the last block stays, so that an empty rest still knows what it follows on
            if block.waiting > 0 || self.blocks.len() == 1 {
                return;
            }
            self.blocks.pop_front();
        }
    }
}

impl Windower {
    /// A windower for the blocks of a source.
    ///
    /// # Errors
    /// [`CutError`] if the windows have no length, or the hop is 0 or longer than a window.
    pub fn new(cut: Cut, format: &SourceFormat) -> Result<Self, CutError> {
        if let Cut::Equal { samples, hop } = cut
            && !(1..=samples).contains(&hop)
        {
            return Err(CutError { samples, hop });
        }
        let rate = format.sample_rate;
        Ok(Self { cut, rate, next_index: 0, pending: None, left_over: 0, came: 0, input: None })
    }

    /// Returns the windower for samples that come after `came` others.
    #[must_use]
    pub fn after(self, came: u64) -> Self {
        Self { came, ..self }
    }

    /// Samples of each channel that came, and number of the next one.
    pub const fn came(&self) -> u64 {
        self.came
    }

    /// Adds a block; returns the windows that it completes.
    pub fn push(&mut self, mut block: Block) -> Vec<Window> {
        self.input = block.input.take();
        let Cut::Equal { samples, hop } = self.cut else {
            let Block { index, started_at, rate, accel_m_s2, .. } = block;
            let first_sample = self.came;
            self.came += accel_m_s2.ncols() as u64;
            return vec![self.numbered((index, first_sample, started_at, rate), accel_m_s2)];
        };
        self.append(block);
        let mut windows = Vec::new();
        while let Some(pending) = &mut self.pending {
            let available = pending.accel_m_s2.ncols();
            if available < samples {
                break;
            }
            let Some(&first) = pending.blocks.front() else { break };
            let rate = first.rate.own().unwrap_or(self.rate);
            let passed_s = first.passed as f64 / rate.get();
            let started_at = first.started_at.map(|at| at.plus_seconds(passed_s));
            let rest = pending.accel_m_s2.slice_axis(Axis(1), Slice::from(hop..)).to_owned();
            let mut window = std::mem::replace(&mut pending.accel_m_s2, rest);
            // a window that is as long as the samples is moved, not copied: a second of eight
            // channels is 1.6 MB
            if available > samples {
                window = window.slice_axis(Axis(1), Slice::from(..samples)).to_owned();
            }
            pending.pass(hop);
            let first_sample = first.first_sample + first.passed as u64;
            let origin = (first.index, first_sample, started_at, first.rate);
            windows.push(self.numbered(origin, window));
        }
        windows
    }

    /// Samples of each channel that are in no window: those lost before gaps, and those waiting.
    pub fn left_over(&self) -> u64 {
        self.left_over + self.pending.as_ref().map_or(0, |p| p.accel_m_s2.ncols() as u64)
    }

    /// Samples of each channel that were in no window when a gap came.
    pub const fn dropped(&self) -> u64 {
        self.left_over
    }

    fn numbered(
        &mut self,
        (block_index, first_sample, started_at, rate): (u64, u64, Option<Timestamp>, BlockRate),
        accel_m_s2: Array2<f64>,
    ) -> Window {
        let index = self.next_index;
        self.next_index += 1;
        let input = self.input.clone();
        Window { index, block_index, first_sample, started_at, rate, input, accel_m_s2 }
    }

    /// Adds the block to the waiting samples, or replaces them after a gap.
    fn append(&mut self, block: Block) {
        let Block { index, started_at, follows_on, rate, accel_m_s2, .. } = block;
        let waiting = accel_m_s2.ncols();
        let first_sample = self.came;
        self.came += waiting as u64;
        let start = BlockStart { index, first_sample, started_at, rate, passed: 0, waiting };
        let alone = Pending { blocks: VecDeque::from([start]), accel_m_s2 };
        self.pending = Some(match self.pending.take() {
            None => alone,
            Some(pending) => {
                let waiting = pending.accel_m_s2.ncols() as u64;
                match if follows_on { pending.joined(alone) } else { Err(alone) } {
                    Ok(joined) => joined,
                    Err(alone) => {
                        self.left_over += waiting;
                        alone
                    }
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn format() -> SourceFormat {
        let sample_rate = SampleRate::new(1000.0).expect("valid");
        SourceFormat { channels: 1, sample_rate, block_samples: None }
    }

    fn block(index: u64, first: usize, samples: usize, follows_on: bool) -> Block {
        let accel_m_s2 = Array2::from_shape_fn((1, samples), |(_, s)| (first + s) as f64);
        let started_at = Timestamp::from_unix_ms(first.cast_signed() as i64);
        Block {
            index,
            started_at,
            follows_on,
            rate: BlockRate::Format,
            input: None,
            values: None,
            accel_m_s2,
        }
    }

    fn windower(samples: usize, hop: usize) -> Windower {
        Windower::new(Cut::Equal { samples, hop }, &format()).expect("valid")
    }

    #[test]
    fn a_gap_ends_a_window_and_its_samples_are_counted() {
        let mut windower = windower(4, 4);
        assert_eq!(windower.push(block(0, 0, 6, false)).len(), 1);
        let windows = windower.push(block(1, 100, 4, false));
        assert_eq!(windows.len(), 1);
        assert!((windows[0].accel_m_s2[[0, 0]] - 100.0).abs() < 1e-12);
        assert_eq!((windows[0].index, windows[0].block_index), (1, 1));
        assert_eq!(windows[0].first_sample, 6);
        assert_eq!(windower.left_over(), 2);
    }

    #[test]
    fn the_time_of_a_window_is_that_of_its_first_sample() {
        let mut windower = windower(4, 2);
        let windows = windower.push(block(0, 0, 9, false));
        let times: Vec<i64> =
            windows.iter().filter_map(|w| w.started_at).map(Timestamp::unix_ms).collect();
        assert_eq!(times, [0, 2, 4]);
    }

    #[test]
    fn a_hop_of_zero_or_beyond_the_window_is_refused() {
        for (samples, hop) in [(4, 0), (4, 5), (0, 0)] {
            assert!(Windower::new(Cut::Equal { samples, hop }, &format()).is_err());
        }
    }

    proptest! {
        /// However a stream is chopped into blocks, its windows are the same.
        #[test]
        fn windows_do_not_depend_on_the_size_of_blocks(
            sizes in proptest::collection::vec(0usize..20, 1..20), samples in 1usize..12,
            hop in 1usize..12
        ) {
            let hop = hop.min(samples);
            let mut chopped = windower(samples, hop);
            let mut first = 0;
            let mut windows = Vec::new();
            for (index, size) in sizes.into_iter().enumerate() {
                windows.extend(chopped.push(block(index as u64, first, size, index > 0)));
                first += size;
            }
            let expected = if first < samples { 0 } else { (first - samples) / hop + 1 };
            prop_assert_eq!(windows.len(), expected);
            for (index, window) in windows.iter().enumerate() {
                prop_assert_eq!(window.accel_m_s2.ncols(), samples);
                prop_assert_eq!(window.first_sample, (index * hop) as u64);
                prop_assert!((window.accel_m_s2[[0, 0]] - (index * hop) as f64).abs() < 1e-9);
                prop_assert_eq!(window.started_at,
                    Timestamp::from_unix_ms((index * hop).cast_signed() as i64));
            }
        }
    }
}
