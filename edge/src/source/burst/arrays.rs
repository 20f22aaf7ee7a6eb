//! Arrays of one channel each, put together to bursts with every channel.
//!
//! The arrays of a burst (metrics of Sparkplug B, nodes of OPC UA) come in one message or in
//! several, with time stamps that are equal or a few milliseconds apart. Invariants: arrays that
//! are further apart than half of their length are never one burst; bursts that wait for a channel
//! are bounded; one that is given up is counted.

use std::collections::VecDeque;

use pdm_shared::time::Timestamp;
use pdm_shared::units::SampleRate;

use super::{BurstBlocks, GivenUp, SenderClock};
use crate::source::no_value::MarksOfNoValue;
use crate::source::{Block, Calibration, SourceHost};

/// Which sample of an array its time stamp dates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ArrayTime {
    /// None: the last sample was taken when the array arrived. Only what a node has kept
    /// (historical values) is dated by its time stamp, as that of the last sample.
    #[default]
    Arrival,
    /// The first one.
    First,
    /// The last one.
    Last,
}

/// Bursts that wait for a channel: some more than a node sends between two channels of one burst.
const MOST_OPEN: usize = 8;

/// An array of a channel.
#[derive(Debug)]
pub(in crate::source) struct ChannelArray {
    pub(in crate::source) channel: usize,
    pub(in crate::source) samples: Vec<f64>,
    pub(in crate::source) time_ms: Option<u64>,
    pub(in crate::source) is_historical: bool,
}

/// A burst that waits for channels.
#[derive(Debug)]
struct OpenBurst {
    time_ms: Option<u64>,
    is_historical: bool,
    channels: Vec<Option<Vec<f64>>>,
}

/// Bursts from arrays.
#[derive(Debug)]
pub(in crate::source) struct Bursts {
    channels: usize,
    dated: ArrayTime,
    given_up: GivenUp,
    clock: SenderClock,
    marks: MarksOfNoValue,
    open: VecDeque<OpenBurst>,
    ready: VecDeque<Block>,
    last_start: Option<Timestamp>,
}

impl Bursts {
    pub(in crate::source) fn new(channels: usize, dated: ArrayTime, host: SourceHost) -> Self {
        let (open, ready) = (VecDeque::new(), VecDeque::new());
        let (given_up, marks) = (GivenUp::new(host.clone()), MarksOfNoValue::new(host.clone()));
        let clock = SenderClock::new(host);
        Self { channels, dated, given_up, clock, marks, open, ready, last_start: None }
    }

    pub(in crate::source) fn block(&mut self) -> Option<Block> {
        self.ready.pop_front()
    }

    /// Notes that something was lost: bursts that wait will not become whole.
    pub(in crate::source) fn gap(&mut self) {
        for _burst in self.open.drain(..) {
            self.given_up.give_up();
        }
    }

    /// Takes an array.
    ///
    /// # Errors
    /// Why the burst that it makes whole cannot be used.
    pub(in crate::source) fn push(
        &mut self,
        mut array: ChannelArray,
        calibration: impl Fn(usize) -> Calibration,
        (blocks, rate): (&mut BurstBlocks, SampleRate),
    ) -> Result<(), String> {
        self.marks.take_out(array.channel, &mut array.samples);
        let half_ms = 500.0 * array.samples.len() as f64 / rate.get();
        let fits = |burst: &OpenBurst| {
            let is_near = match (burst.time_ms, array.time_ms) {
                (Some(one), Some(other)) => one.abs_diff(other) as f64 <= half_ms,
                (None, None) => true,
                _ => false,
            };
            is_near && burst.channels[array.channel].is_none()
        };
        let place = self.open.iter().position(fits);
        let mut burst = place.and_then(|place| self.open.remove(place)).unwrap_or_else(|| {
            let channels = vec![None; self.channels];
            OpenBurst { time_ms: array.time_ms, is_historical: array.is_historical, channels }
        });
        burst.channels[array.channel] = Some(array.samples);
        if burst.channels.iter().any(Option::is_none) {
            self.open.push_back(burst);
            if self.open.len() > MOST_OPEN {
                self.open.pop_front();
                self.given_up.give_up();
            }
            return Ok(());
        }
        // what has waited since before this burst lacks a channel for good
        let is_older = |open: &OpenBurst| open.time_ms.is_none() || open.time_ms < burst.time_ms;
        let before = self.open.len();
        self.open.retain(|open| !is_older(open));
        (self.open.len()..before).for_each(|_burst| self.given_up.give_up());
        self.given_up.whole();
        self.finish(burst, calibration, (blocks, rate))
    }

    fn finish(
        &mut self,
        burst: OpenBurst,
        calibration: impl Fn(usize) -> Calibration,
        (blocks, rate): (&mut BurstBlocks, SampleRate),
    ) -> Result<(), String> {
        let channels: Vec<Vec<f64>> = burst.channels.into_iter().flatten().collect();
        let length_s = channels.first().map_or(0, Vec::len) as f64 / rate.get();
        let started_at = self.start(burst.time_ms, burst.is_historical, length_s)?;
        let block = blocks.block(&channels, calibration, rate, started_at)?;
        self.last_start = block.started_at;
        self.ready.push_back(block);
        Ok(())
    }

    /// Returns when the first sample was taken, where the time stamp is to say it.
    fn start(
        &mut self,
        time_ms: Option<u64>,
        is_historical: bool,
        length_s: f64,
    ) -> Result<Option<Timestamp>, String> {
        let before_s = match self.dated {
            ArrayTime::First => 0.0,
            ArrayTime::Last => length_s,
            // samples that a node has kept are older than their arrival
            ArrayTime::Arrival if is_historical => length_s,
            ArrayTime::Arrival => return Ok(None),
        };
        let stamp = time_ms.and_then(|ms| Timestamp::from_unix_ms(i64::try_from(ms).ok()?));
        let stamp =
            stamp.ok_or("has no time stamp that is a time, and the time stamp is to date it")?;
        let started_at = stamp.plus_seconds(-before_s);
        let Some(started_at) = self.clock.date(started_at, length_s) else { return Ok(None) };
        if self.last_start.is_some_and(|last| started_at < last) {
            return Err(format!("of {started_at} comes after a later one; it is not measured"));
        }
        Ok(Some(started_at))
    }
}
