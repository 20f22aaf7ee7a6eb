//! The thread that measures a source: blocks → windows → events of every point, with what must be
//! remembered together with them.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use ndarray::{Axis, Slice};
use pdm_dsp::order::ShaftAngle;
use pdm_shared::clock::{SharedClock, Timestamp};
use pdm_shared::event::Event;
use pdm_shared::units::SampleRate;
use tokio::sync::{mpsc, watch};

use super::point::Point;
use super::position::{Position, Times};
use super::queue::Queue;
use super::{Progress, Relearning, relearn};
use crate::settings::{PointSettings, Tachometer};
use crate::source::Block;
use crate::spool::Batch;
use crate::window::{Cut, Window, Windower};

/// Most blocks measured before their events are handed on.
const MOST_BLOCKS: usize = 32;

/// What a measurer needs.
pub(super) struct Measurer {
    /// The source's name: what is remembered stands under it.
    pub(super) name: String,
    pub(super) queue: Arc<Queue<Block>>,
    pub(super) windower: Windower,
    pub(super) place: Place,
    pub(super) times: Times,
    pub(super) rate: SampleRate,
    /// Time from the start of one window to that of the next, s; 0: every window is measured.
    pub(super) every_s: f64,
    /// The channel that tells the shaft's angle.
    pub(super) tachometer: Option<Tachometer>,
    pub(super) points: Vec<Point>,
    pub(super) relearners: Relearners,
    pub(super) clock: SharedClock,
    pub(super) batches: mpsc::Sender<Batch>,
    pub(super) progress: watch::Sender<Progress>,
}

/// Of so many points, those that one core measures one after the other.
pub(super) fn share(points: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    points.div_ceil(cores).max(1)
}

/// The key under which a source's position is remembered.
pub(super) fn position_key(source: &str) -> String {
    format!("position/{source}")
}

/// The bearing of each point and how often it was learnt anew.
pub(super) struct Relearners {
    relearning: Relearning,
    taken: Vec<(String, u64)>,
}

impl Relearners {
    /// Of points in their order.
    pub(super) fn of(relearning: Relearning, points: &[PointSettings]) -> Self {
        let names = points.iter().map(|point| relearn::name(&point.equipment, &point.bearing));
        Self { relearning, taken: names.map(|name| (name, 0)).collect() }
    }

    /// Lets the points forget whose bearing was asked for since the last batch.
    fn apply(&mut self, points: &mut [Point]) {
        for (point, (name, taken)) in points.iter_mut().zip(&mut self.taken) {
            let asked = self.relearning.times(name);
            if asked > *taken {
                *taken = asked;
                point.relearn();
                tracing::info!(bearing = %name, "learnt anew from here");
            }
        }
    }
}

impl Measurer {
    /// Measures until the queue is closed and empty, or nobody takes the events.
    pub(super) fn run(mut self) {
        let mut last_start = None;
        loop {
            let blocks = self.queue.pop(MOST_BLOCKS);
            if blocks.is_empty() {
                return;
            }
            let mut windows = Vec::new();
            for mut block in blocks {
                let before_s = self.times.stamp(&mut block, self.rate.get(), self.clock.now());
                self.place.skip_into(&mut block);
                self.place.push(&block, before_s);
                let cut = self.windower.push(block);
                self.place.cut(cut.len());
                windows.extend(cut);
            }
            windows.retain(|window| self.is_wanted(window, &mut last_start));
            self.relearners.apply(&mut self.points);
            let events = self.measure(&windows);
            let count = events.len() as u64;
            let batch = Batch { events, memory: self.memory() };
            self.progress.send_modify(|progress| progress.measured += count);
            if self.batches.blocking_send(batch).is_err() {
                return;
            }
        }
    }

    fn is_wanted(&self, window: &Window, last: &mut Option<Timestamp>) -> bool {
        let at = self.start(window);
        let wanted = self.every_s <= 0.0
            || last.is_none_or(|last| !(0.0..self.every_s).contains(&at.seconds_since(last)));
        if wanted {
            *last = Some(at);
        }
        wanted
    }

    fn start(&self, window: &Window) -> Timestamp {
        window.started_at.unwrap_or_else(|| self.clock.now())
    }

    /// Events in the order of time, the points of a window in their own order.
    fn measure(&mut self, windows: &[Window]) -> Vec<Event> {
        let times: Vec<Timestamp> = windows.iter().map(|window| self.start(window)).collect();
        let angles: Vec<Option<ShaftAngle>> =
            windows.iter().map(|window| self.angle(window)).collect();
        let clock = &self.clock;
        let of_point = |point: &mut Point| -> Vec<Event> {
            windows
                .iter()
                .zip(&times)
                .zip(&angles)
                .filter_map(|((window, at), angle)| {
                    let samples = samples_of(window, point.channel());
                    (!samples.is_empty())
                        .then(|| point.measure_turned(&samples, angle.as_ref(), *at, clock.now()))
                })
                .collect()
        };
        let share = share(self.points.len());
        let by_point: Vec<Vec<Event>> = if self.points.len() < 2 || windows.len() < 2 {
            self.points.iter_mut().map(of_point).collect()
        } else {
            // points are independent of each other: each core takes its share
            std::thread::scope(|scope| {
                let threads: Vec<_> = self
                    .points
                    .chunks_mut(share)
                    .map(|points| {
                        scope.spawn(|| points.iter_mut().map(of_point).collect::<Vec<_>>())
                    })
                    .collect();
                threads
                    .into_iter()
                    .flat_map(|thread| match thread.join() {
                        Ok(events) => events,
                        Err(panic) => std::panic::resume_unwind(panic),
                    })
                    .collect()
            })
        };
        interleaved(by_point, windows.len())
    }

    /// The shaft's angle over a window by the tachometer; `None` without one, or without pulses.
    fn angle(&self, window: &Window) -> Option<ShaftAngle> {
        let tachometer = self.tachometer?;
        let pulses = samples_of(window, tachometer.channel);
        let angle = ShaftAngle::from_pulses(&pulses, self.rate.get(), tachometer.pulses_per_turn);
        angle
            .inspect_err(|reason| tracing::debug!(source = %self.name, %reason, "no shaft angle"))
            .ok()
    }

    fn memory(&self) -> BTreeMap<String, Vec<u8>> {
        let mut memory: BTreeMap<String, Vec<u8>> = self
            .points
            .iter()
            .map(|point| (relearn::memory_key(&self.name, point.channel()), point.memory()))
            .collect();
        let position =
            serde_json::to_vec(&self.place.position()).expect("numbers and times always make JSON");
        memory.insert(position_key(&self.name), position);
        memory
    }
}

/// A channel's samples.
fn samples_of(window: &Window, channel: usize) -> Cow<'_, [f64]> {
    let row = window.accel_m_s2.row(channel);
    row.to_slice().map_or_else(|| row.to_vec().into(), Cow::from)
}

/// First window of every point, then the second of every point, …
fn interleaved(by_point: Vec<Vec<Event>>, windows: usize) -> Vec<Event> {
    let mut points: Vec<_> = by_point.into_iter().map(Vec::into_iter).collect();
    let mut events = Vec::with_capacity(points.len() * windows);
    for _ in 0..windows {
        events.extend(points.iter_mut().filter_map(Iterator::next));
    }
    events
}

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
    fn skip_into(&mut self, block: &mut Block) {
        if self.trim > 0 && self.trim <= block.accel_m_s2.ncols() {
            let rest = block.accel_m_s2.slice_axis(Axis(1), Slice::from(self.trim..)).to_owned();
            block.accel_m_s2 = rest;
        }
    }

    fn push(&mut self, block: &Block, before_s: f64) {
        let trimmed = std::mem::take(&mut self.trim);
        if !block.follows_on {
            self.run.clear();
            self.offset = 0;
        }
        self.run.push_back((block.index, trimmed, block.accel_m_s2.ncols(), before_s));
    }

    fn cut(&mut self, windows: usize) {
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

    fn position(&self) -> &Position {
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
