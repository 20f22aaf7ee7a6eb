//! The position at which the next window of a source begins, so that a run that was killed
//! continues there.

use std::collections::VecDeque;

use ndarray::{Axis, Slice};

use super::position::Position;
use crate::source::Block;
use crate::window::Cut;

/// Follows the position of the next window from the blocks that went into the windower and the
/// number of windows that came out.
#[derive(Debug)]
pub(super) struct NextWindow {
    /// Samples from one window's start to the next; `None`: every block is a window.
    hop: Option<usize>,
    position: Position,
    /// Blocks since the last gap that are not measured to their end.
    run: VecDeque<RunBlock>,
    /// Sample of the run's first block, counted after the trimmed ones, at which the next window
    /// begins.
    offset: usize,
    /// Samples of the first block that an earlier run has measured.
    trim: usize,
}

/// A block that is not measured to its end.
#[derive(Debug, Clone, Copy)]
struct RunBlock {
    index: u64,
    /// Samples removed at its front.
    trimmed: usize,
    /// Samples that are left.
    samples: usize,
    /// Length of all blocks before it, s.
    before_s: f64,
}

impl NextWindow {
    pub(super) fn new(cut: Cut, position: Position) -> Self {
        let hop = match cut {
            Cut::Whole => None,
            Cut::Equal { hop, .. } => Some(hop),
        };
        let trim = position.sample;
        Self { hop, position, run: VecDeque::new(), offset: 0, trim }
    }

    /// Removes from the first block the samples that an earlier run has measured.
    pub(super) fn skip_into(&mut self, block: &mut Block) {
        if self.trim > 0 && self.trim <= block.accel_m_s2.ncols() {
            let rest = block.accel_m_s2.slice_axis(Axis(1), Slice::from(self.trim..)).to_owned();
            block.accel_m_s2 = rest;
        }
    }

    /// A block goes into the windower; all blocks before it are `before_s` seconds long.
    pub(super) fn push(&mut self, block: &Block, before_s: f64) {
        let trimmed = std::mem::take(&mut self.trim);
        if !block.follows_on {
            self.run.clear();
            self.offset = 0;
        }
        let samples = block.accel_m_s2.ncols();
        self.run.push_back(RunBlock { index: block.index, trimmed, samples, before_s });
    }

    /// Notes that the windower gave this many windows out of the blocks so far.
    pub(super) fn cut(&mut self, windows: usize) {
        match self.hop {
            Some(hop) => self.offset += windows * hop,
            None => self.offset = self.run.iter().map(|block| block.samples).sum(),
        }
        while let Some(&RunBlock { index, trimmed, samples, before_s }) = self.run.front() {
            self.position.block = index;
            self.position.sample = trimmed + self.offset;
            self.position.elapsed_s = before_s;
            if self.offset < samples {
                return;
            }
            self.offset -= samples;
            self.run.pop_front();
            // the whole block is measured: the next window begins in the block after it
            self.position.block = index + 1;
            self.position.sample = self.offset;
        }
    }

    /// The position, as it is remembered with the events.
    pub(super) fn position(&self) -> &Position {
        &self.position
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(index: u64, samples: usize, follows_on: bool) -> Block {
        let accel_m_s2 = ndarray::Array2::zeros((1, samples));
        let rate = crate::source::BlockRate::Format;
        Block { index, started_at: None, follows_on, rate, input: None, values: None, accel_m_s2 }
    }

    fn start() -> Position {
        Position { block: 0, sample: 0, started_at: None, elapsed_s: 0.0 }
    }

    fn at(next: &NextWindow) -> (u64, usize) {
        (next.position().block, next.position().sample)
    }

    #[test]
    fn a_snapshot_that_is_measured_is_not_read_again() {
        let mut next = NextWindow::new(Cut::Whole, start());
        for index in 0..3 {
            next.push(&block(index, 100, false), 0.0);
            next.cut(1);
            assert_eq!(at(&next), (index + 1, 0));
        }
    }

    #[test]
    fn windows_that_span_blocks_are_taken_up_where_the_next_begins() {
        let mut next = NextWindow::new(Cut::Equal { samples: 60, hop: 60 }, start());
        next.push(&block(0, 100, false), 0.0);
        next.cut(1);
        assert_eq!(at(&next), (0, 60));
        next.push(&block(1, 100, true), 1.0);
        next.cut(2);
        assert_eq!(at(&next), (1, 80));
        next.push(&block(2, 100, false), 2.0);
        next.cut(1);
        assert_eq!(at(&next), (2, 60), "a gap ends what was left");
    }

    #[test]
    fn a_run_that_goes_on_leaves_out_what_was_measured() {
        let position = Position { block: 1, sample: 80, ..start() };
        let mut next = NextWindow::new(Cut::Equal { samples: 60, hop: 60 }, position);
        let mut first = block(1, 100, false);
        next.skip_into(&mut first);
        assert_eq!(first.accel_m_s2.ncols(), 20);
        next.push(&first, 1.0);
        next.cut(0);
        assert_eq!(at(&next), (1, 80));
        next.push(&block(2, 100, true), 2.0);
        next.cut(2);
        assert_eq!(at(&next), (3, 0));
    }
}
