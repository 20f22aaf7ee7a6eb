//! Measures when the samples of a live source were taken, and how many of them come in a second.
//!
//! A device samples by its own clock, which is off by up to some percent; its samples arrive late
//! by a delay that varies. What is known is how many frames had arrived at which instant of the
//! gateway's monotonic clock. The delay is never below the shortest one, so the earliest arrivals
//! lie on a line whose slope is the true time from frame to frame: the lower envelope. The slope is
//! the least-squares line through the earliest arrival of each bin of half a second, and, once
//! minutes have passed, of each bin of ten seconds, over ten minutes at most, since a clock drifts
//! with its temperature. The instant of a frame lies on this line, moved to the earliest of the
//! last arrivals.
//!
//! Instants of the wall clock are made at the end, from the present difference between both clocks,
//! so a wall clock that is set reaches the next block.
//!
//! Invariants: a frame is never dated after its arrival; bins are bounded in number.

use std::collections::VecDeque;

use pdm_shared::time::Timestamp;
use pdm_shared::units::SampleRate;

use super::{BlockRate, SourceHost};

mod log;

/// Share by which the true rate may differ from the configured one where none is configured. No
/// data chose it: twice the 2.5 % that are reported of an oscillator over temperature (OpenBCI
/// Cyton), and far below a rate that is configured wrong.
pub const DEFAULT_RATE_TOLERANCE: f64 = 0.05;

/// Length of a bin, s, and number of bins that are kept: the earliest of half a second of arrivals
/// has passed a network without waiting, where packets come every 10 ms to 100 ms.
const BIN_S: f64 = 0.5;
const BINS: usize = 120;
/// The length of the bins of the whole estimate, s: of ten minutes.
const LONG_BIN_S: f64 = 10.0;
const LONG_BINS: usize = 60;
/// Bins among whose arrivals the earliest one moves the line.
const RECENT: usize = 4;
/// The rate counts as measured once its standard error is below this share and the bins span this
/// time, s. The search around a defect line reaches 1.5 %, thirty times as far.
const MEASURED: (f64, f64) = (5e-4, 5.0);
/// Least scatter of arrivals that is assumed, s: the resolution of a busy gateway's scheduling.
const LEAST_SCATTER_S: f64 = 1e-3;
/// A measured rate replaces the one before if it differs by this share. Every new rate costs a plan
/// of the transforms, and none below this moves a line by a bin.
const NEWS: f64 = 2e-4;
/// The number of bins in a row and the delay, s, that show a loss of frames: arrivals that are all
/// later than the line by more than the delay, or six times their scatter. The longest pause of a
/// network that loses nothing ends with the arrival of everything that waited.
const LOST: (usize, f64) = (6, 0.03);
/// The time without an arrival, s, after which a sender has paused and not been held up: many
/// sensors send a burst each minute or hour. Chosen: a network that loses nothing makes up for a
/// second or two, and bursts that are closer than this are rarer than longer ones.
const PAUSE_S: f64 = 5.0;
/// Scatter of arrivals up to which they are on one line, s: a busy wireless network.
const ON_A_LINE_S: f64 = 0.05;
/// Frames that come faster than they are taken, by more than this time, s, and without a pause of
/// the second figure, are a backlog: where they have waited is not known, and only the newest tells
/// when it was taken. Chosen: senders with messages of a second are live; a modem that was away
/// brings ten seconds within one.
const BACKLOG_S: (f64, f64) = (1.5, 0.5);
/// The time without a pause, s, after which the comparison begins anew: a rate that is off adds up.
const BACKLOG_LOOK_S: f64 = 10.0;
/// Rates, as multiples of the nominal one, beyond which bytes are no live stream, but a file.
const LIVE: std::ops::RangeInclusive<f64> = 0.2..=5.0;

/// The earliest arrival of a bin: frames that had arrived, and when, s of the monotonic clock.
#[derive(Debug, Clone, Copy)]
struct Arrival {
    frames: f64,
    at_s: f64,
}

/// The clock of a live source's samples.
#[derive(Debug)]
pub(super) struct SampleClock {
    host: SourceHost,
    nominal: SampleRate,
    /// Share by which the true rate may differ from the nominal one.
    tolerance: f64,
    /// Frames that have arrived or are known to be lost since the clock began.
    frames: u64,
    /// When frames last arrived, s.
    last_s: Option<f64>,
    /// The time since which frames have come without a pause, s, and how many there were before.
    unbroken: (f64, u64),
    bins: VecDeque<Arrival>,
    long_bins: VecDeque<Arrival>,
    /// Beginning of the newest bin and of the newest long bin, s.
    bin_from_s: f64,
    long_from_s: f64,
    /// s per frame.
    slope: f64,
    rate: BlockRate,
    is_told: bool,
}

/// A line through arrivals.
struct Fit {
    /// s per frame.
    slope: f64,
    /// Standard error of the slope, as a share of it.
    error: f64,
    /// Scatter of the arrivals around the line, s.
    scatter_s: f64,
    span_s: f64,
    /// A point of the line.
    through: Arrival,
}

impl Fit {
    /// Returns by how much an arrival is later than the line, s.
    fn late_s(&self, arrival: &Arrival) -> f64 {
        let due_s = (arrival.frames - self.through.frames).mul_add(self.slope, self.through.at_s);
        arrival.at_s - due_s
    }
}

impl SampleClock {
    /// A clock of a source whose frames come at this rate, give or take a share of it.
    pub(super) fn new(nominal: SampleRate, tolerance: f64, host: SourceHost) -> Self {
        Self {
            host,
            nominal,
            tolerance,
            frames: 0,
            last_s: None,
            unbroken: (0.0, 0),
            bins: VecDeque::new(),
            long_bins: VecDeque::new(),
            bin_from_s: 0.0,
            long_from_s: 0.0,
            slope: 1.0 / nominal.get(),
            rate: BlockRate::Format,
            is_told: false,
        }
    }

    /// The host of the source.
    pub(super) const fn host(&self) -> &SourceHost {
        &self.host
    }

    /// Frames that have arrived since the clock began.
    pub(super) const fn frames(&self) -> u64 {
        self.frames
    }

    /// The rate of the frames that arrive now.
    pub(super) const fn rate(&self) -> BlockRate {
        self.rate
    }

    /// Whether what arrives now is a burst after a pause of its sender.
    pub(super) fn has_paused(&self) -> bool {
        let at_s = self.host.clock.uptime().as_secs_f64();
        self.last_s.is_some_and(|last_s| at_s - last_s > PAUSE_S)
    }

    /// Whether the frames that arrive now have waited: the instants of those before are known once
    /// the newest has come.
    pub(super) fn is_catching_up(&self) -> bool {
        let now_s = self.host.clock.uptime().as_secs_f64();
        let (from_s, before) = self.unbroken;
        let is_paused = self.last_s.is_none_or(|last_s| now_s - last_s > BACKLOG_S.1);
        let length_s = self.frames.saturating_sub(before) as f64 * self.slope;
        !is_paused && length_s - (now_s - from_s) > BACKLOG_S.0
    }

    /// Notes that `frames` more frames have just arrived. Returns true if frames were lost before
    /// them or their sender has paused, as far as the arrivals show it.
    pub(super) fn arrived(&mut self, frames: u64) -> bool {
        let has_paused = frames > 0 && self.has_paused();
        if has_paused {
            // the frames of a burst were taken right before it, and not where the count would go on
            self.gap();
        }
        let at_s = self.host.clock.uptime().as_secs_f64();
        let is_unbroken = self.last_s.is_some_and(|last_s| at_s - last_s <= BACKLOG_S.1)
            && at_s - self.unbroken.0 <= BACKLOG_LOOK_S;
        if frames > 0 && !is_unbroken {
            self.unbroken = (at_s, self.frames);
        }
        self.frames += frames;
        if frames > 0 {
            self.last_s = Some(at_s);
        }
        let arrival = Arrival { frames: self.frames as f64, at_s };
        let is_new_bin = self.bins.is_empty() || at_s - self.bin_from_s >= BIN_S;
        let has_lost = if is_new_bin { self.close_bin() } else { false };
        // frames that were lost have been counted while the bin was closed
        let arrival = Arrival { frames: self.frames as f64, ..arrival };
        let slope = self.slope;
        put(&mut self.bins, arrival, (&mut self.bin_from_s, BIN_S, BINS), slope);
        put(&mut self.long_bins, arrival, (&mut self.long_from_s, LONG_BIN_S, LONG_BINS), slope);
        has_lost || has_paused
    }

    /// Notes that `frames` frames are known to be lost, by the count of their sender.
    pub(super) const fn lost(&mut self, frames: u64) {
        self.frames += frames;
    }

    /// Frames were lost, and it is not known how many: the line begins anew. The rate stays.
    pub(super) fn gap(&mut self) {
        self.bins.clear();
        self.long_bins.clear();
    }

    /// Notes that the sender states another rate from here on: the measurements of the earlier one
    /// do not apply.
    pub(super) fn restated(&mut self, rate: SampleRate) {
        self.gap();
        self.rate = BlockRate::Format;
        self.slope = 1.0 / rate.get();
        self.unbroken = (self.last_s.unwrap_or_default(), self.frames);
    }

    /// The instant at which the frame with this number, from 0, was taken.
    pub(super) fn began(&self, frame: u64) -> Timestamp {
        let now = self.host.clock.now();
        let now_s = self.host.clock.uptime().as_secs_f64();
        let offset_s = self.offset_s().unwrap_or(now_s - self.frames as f64 * self.slope);
        now.plus_seconds((frame as f64).mul_add(self.slope, offset_s) - now_s)
    }

    /// The line at frame 0, s: moved to the earliest of the last arrivals.
    fn offset_s(&self) -> Option<f64> {
        let recent = self.bins.iter().rev().take(RECENT);
        recent.map(|arrival| self.residual_s(arrival)).reduce(f64::min)
    }

    fn residual_s(&self, arrival: &Arrival) -> f64 {
        arrival.frames.mul_add(-self.slope, arrival.at_s)
    }

    /// Takes a bin that is complete into the estimate; true if frames were lost.
    fn close_bin(&mut self) -> bool {
        self.follow_jump_back();
        let has_lost = self.find_loss();
        let is_long = self.long_bins.len() > LONG_BINS / 10;
        let bins = if is_long { &mut self.long_bins } else { &mut self.bins };
        let fitted = best_fit(bins.make_contiguous());
        let Some(fit) = fitted.filter(|fit| fit.slope > 0.0) else { return has_lost };
        let ratio = 1.0 / (fit.slope * self.nominal.get());
        if !LIVE.contains(&ratio) {
            return has_lost;
        }
        self.slope = fit.slope;
        if fit.error < MEASURED.0 && fit.span_s >= MEASURED.1 {
            self.adopt(1.0 / fit.slope);
        }
        has_lost
    }

    /// Handles arrivals far before their time by the line of the earlier ones: the earlier arrivals
    /// had waited somewhere, so they are no evidence of the instants.
    fn follow_jump_back(&mut self) {
        let Some((newest, before)) = self.bins.make_contiguous().split_last() else { return };
        let newest = *newest;
        let Some(fit) = best_fit(before) else { return };
        if -fit.late_s(&newest) > fit.scatter_s.mul_add(6.0, 10.0 * LOST.1) {
            self.gap();
            self.bins.push_back(newest);
            self.long_bins.push_back(newest);
        }
    }

    /// Frames that were lost without a count: arrivals that are late for good. The count of the
    /// arrivals since then is moved, so that the earlier ones still tell the slope.
    fn find_loss(&mut self) -> bool {
        let (count, least_s) = LOST;
        let Some(keep) = self.bins.len().checked_sub(count).filter(|keep| *keep >= count) else {
            return false;
        };
        let (old, recent) = self.bins.make_contiguous().split_at(keep);
        let Some(fit) = best_fit(old) else { return false };
        let late_s = recent.iter().map(|arrival| fit.late_s(arrival));
        let earliest_s = late_s.clone().fold(f64::INFINITY, f64::min);
        let latest_s = late_s.fold(f64::NEG_INFINITY, f64::max);
        // a rate that changes makes arrivals later and later, lost frames make them late at once
        if earliest_s < fit.scatter_s.mul_add(6.0, least_s) || latest_s > 1.5 * earliest_s {
            return false;
        }
        let lost = earliest_s / fit.slope;
        let first_after_s = recent[0].at_s;
        for arrival in self.bins.iter_mut().chain(&mut self.long_bins) {
            if arrival.at_s >= first_after_s {
                arrival.frames += lost;
            }
        }
        self.frames += lost.round() as u64;
        log::frames_missing(&self.host.name, earliest_s);
        true
    }

    /// Takes over a rate that was measured, if it is news.
    fn adopt(&mut self, rate_hz: f64) {
        let Ok(rate) = SampleRate::new(rate_hz) else { return };
        metrics::gauge!("pdm_edge_source_rate_hz", "source" => self.host.name.clone()).set(rate_hz);
        let before = self.rate.own().map(SampleRate::get);
        if before.is_some_and(|before| (rate_hz / before - 1.0).abs() < NEWS) {
            return;
        }
        let is_off = (rate_hz / self.nominal.get() - 1.0).abs() > self.tolerance;
        self.rate = BlockRate::Measured { rate, is_off, stated: None };
        if is_off && !self.is_told {
            log::rate_off(&self.host.name, rate, self.nominal, self.tolerance);
            let text = format!(
                "{:.1} Hz arrive, but rate_hz is {}; its windows are not judged (wrong_rate), \
                 rate_tolerance_percent decides",
                rate.get(),
                self.nominal
            );
            self.host.remarks.set(&self.host.name, "rate", text);
        }
        if !is_off && self.is_told {
            self.host.remarks.withdraw(&self.host.name, "rate");
        }
        self.is_told = is_off;
    }
}

/// Puts an arrival into its bin, if it is the earliest of it.
fn put(
    bins: &mut VecDeque<Arrival>,
    arrival: Arrival,
    (from_s, length_s, most): (&mut f64, f64, usize),
    slope: f64,
) {
    match bins.back_mut() {
        Some(last) if arrival.at_s - *from_s < length_s => {
            let residual_s = |arrival: &Arrival| arrival.frames.mul_add(-slope, arrival.at_s);
            if residual_s(&arrival) <= residual_s(last) {
                *last = arrival;
            }
        }
        _ => {
            *from_s = arrival.at_s;
            bins.push_back(arrival);
            if bins.len() > most {
                bins.pop_front();
            }
        }
    }
}

/// The line of arrivals, or of the newer ones where all are on no line, as after a backlog that
/// came at once; `None` if these are on none either.
fn best_fit(mut arrivals: &[Arrival]) -> Option<Fit> {
    loop {
        let fitted = fit(arrivals)?;
        if fitted.scatter_s <= ON_A_LINE_S {
            return Some(fitted);
        }
        arrivals = &arrivals[arrivals.len().div_ceil(2)..];
    }
}

/// The least-squares line of arrivals; `None` below two, or if they span too little.
fn fit(arrivals: &[Arrival]) -> Option<Fit> {
    let count = arrivals.len();
    let n = count as f64;
    let mean_frames = arrivals.iter().map(|arrival| arrival.frames).sum::<f64>() / n;
    let mean_s = arrivals.iter().map(|arrival| arrival.at_s).sum::<f64>() / n;
    let (mut xx, mut xy, mut first, mut last) = (0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY);
    for arrival in arrivals {
        let (x, y) = (arrival.frames - mean_frames, arrival.at_s - mean_s);
        xx += x * x;
        xy += x * y;
        (first, last) = (first.min(arrival.at_s), last.max(arrival.at_s));
    }
    let span_s = last - first;
    if count < 2 || xx <= 0.0 || span_s < 1.5 {
        return None;
    }
    let slope = xy / xx;
    let squares: f64 = arrivals
        .iter()
        .map(|arrival| (arrival.frames - mean_frames).mul_add(-slope, arrival.at_s - mean_s))
        .map(|residual| residual * residual)
        .sum();
    let scatter_s = (squares / n).sqrt().max(LEAST_SCATTER_S);
    let error = scatter_s / xx.sqrt() / slope.abs();
    let through = Arrival { frames: mean_frames, at_s: mean_s };
    Some(Fit { slope, error, scatter_s, span_s, through })
}

#[cfg(test)]
mod tests;
