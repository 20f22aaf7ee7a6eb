//! Where the next window of a source begins, so that a run that was killed goes on there.

use std::collections::VecDeque;

use ndarray::{Axis, Slice};

use super::position::Position;
use crate::source::Block;
use crate::window::Cut;

/// Where the next window begins, told from the blocks that went in and the windows that came out.
#[derive(Debug)]
pub(super) struct Place {
    /// Samples from one window's start to the next; `None`: every block is a window.
    hop: Option<usize>,
    position: Position,
    /// Blocks of the present run without a gap: index, samples left out at its front, samples, time.
    run: VecDeque<(u64, usize, usize, f64)>,
    /// Sample of the run's first block (after what was left out) that the next window begins with.
    offset: usize,
    /// Samples to be left out of the first block.
    trim: usize,
}

impl Place {
    pub(super) fn new(cut: Cut, position: Position) -> Self {
        let hop = match cut {
            Cut::Whole => None,
            Cut::Equal { hop, .. } => Some(hop),
        };
        let trim = position.sample;
        Self { hop, position, run: VecDeque::new(), offset: 0, trim }
    }

    /// Leaves out of the first block what an earlier run has measured.
    pub(super) fn skip_into(&mut self, block: &mut Block) {
        if self.trim > 0 && self.trim <= block.accel_m_s2.ncols() {
            let rest = block.accel_m_s2.slice_axis(Axis(1), Slice::from(self.trim..)).to_owned();
            block.accel_m_s2 = rest;
        }
    }

    pub(super) fn push(&mut self, block: &Block, before_s: f64) {
        let trimmed = std::mem::take(&mut self.trim);
        if !block.follows_on {
            self.run.clear();
            self.offset = 0;
        }
        self.run.push_back((block.index, trimmed, block.accel_m_s2.ncols(), before_s));
    }

    pub(super) fn cut(&mut self, windows: usize) {
        match self.hop {
            Some(hop) => self.offset += windows * hop,
            None => self.offset = self.run.iter().map(|block| block.2).sum(),
        }
        while let Some(&(index, trimmed, samples, before_s)) = self.run.front() {
            self.position.block = index;
            self.position.sample = trimmed + self.offset;
            self.position.elapsed_s = before_s;
            if self.offset < samples {
                return;
            }
            self.offset -= samples;
            self.run.pop_front();
            // all of this block is measured: the next window begins in the one after it
            self.position.block = index + 1;
            self.position.sample = self.offset;
        }
    }

    pub(super) fn position(&self) -> &Position {
        &self.position
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(index: u64, samples: usize, follows_on: bool) -> Block {
        let accel_m_s2 = ndarray::Array2::zeros((1, samples));
        Block { index, started_at: None, follows_on, accel_m_s2 }
    }

    fn start() -> Position {
        Position { block: 0, sample: 0, started_at: None, elapsed_s: 0.0 }
    }

    fn at(place: &Place) -> (u64, usize) {
        (place.position().block, place.position().sample)
    }

    #[test]
    fn a_snapshot_that_is_measured_is_not_read_again() {
        let mut place = Place::new(Cut::Whole, start());
        for index in 0..3 {
            place.push(&block(index, 100, false), 0.0);
            place.cut(1);
            assert_eq!(at(&place), (index + 1, 0));
        }
    }

    #[test]
    fn windows_that_span_blocks_are_taken_up_where_the_next_begins() {
        let mut place = Place::new(Cut::Equal { samples: 60, hop: 60 }, start());
        place.push(&block(0, 100, false), 0.0);
        place.cut(1);
        assert_eq!(at(&place), (0, 60));
        place.push(&block(1, 100, true), 1.0);
        place.cut(2);
        assert_eq!(at(&place), (1, 80));
        place.push(&block(2, 100, false), 2.0);
        place.cut(1);
        assert_eq!(at(&place), (2, 60), "a gap ends what was left");
    }

    #[test]
    fn a_run_that_goes_on_leaves_out_what_was_measured() {
        let position = Position { block: 1, sample: 80, ..start() };
        let mut place = Place::new(Cut::Equal { samples: 60, hop: 60 }, position);
        let mut first = block(1, 100, false);
        place.skip_into(&mut first);
        assert_eq!(first.accel_m_s2.ncols(), 20);
        place.push(&first, 1.0);
        place.cut(0);
        assert_eq!(at(&place), (1, 80));
        place.push(&block(2, 100, true), 2.0);
        place.cut(2);
        assert_eq!(at(&place), (3, 0));
    }
}
