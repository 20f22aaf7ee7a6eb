//! The newest samples of one point, in memory within a budget of bytes.
//!
//! Samples are numbered over all that the point had, so a stretch is found whatever the clock does.
//! Invariants: the oldest stretch leaves first; the memory of full stretches never exceeds the
//! budget; numbers that are missing are a gap.

use std::collections::VecDeque;

use pdm_shared::capture::{CaptureCut, CaptureGap, MAX_GAPS};
use pdm_shared::time::Timestamp;

use super::chunk::{Chunk, Origin};
use super::grid::Grid;

/// Samples of a chunk: two frames of the code, so a chunk's header is 1 % of it and what waits to
/// be encoded is 64 KiB a point.
pub(super) const CHUNK: usize = 8192;
/// Bytes of a sample that the length of a ring is reckoned with: what FLAC of 24 bits, whose coding
/// this is, took of recorded vibration was 2.4 to 2.8.
pub(super) const BYTES_PER_SAMPLE: f64 = 2.8;
/// Times of two blocks that follow each other may differ so much from the length of the first, s.
const JITTER_S: f64 = 0.05;

/// The newest samples of one point.
#[derive(Debug)]
pub(super) struct Ring {
    budget: usize,
    chunks: VecDeque<Chunk>,
    bytes: usize,
    /// Samples that are not encoded yet, m/s².
    pending: Vec<f64>,
    /// Where the first pending sample is from; what the next one must be.
    origin: Option<Origin>,
    /// The latest block: number and time of its first sample.
    latest: Option<(u64, Timestamp)>,
    grid: Option<Grid>,
    /// Older samples have left.
    has_left: bool,
}

/// The stretch to take out of a ring.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Wanted {
    /// Number of the first sample.
    pub(super) from: u64,
    /// Number of the sample after the last.
    pub(super) to: u64,
    /// A sample that must be among them: the first of the trigger's window.
    pub(super) anchor: u64,
}

/// A stretch that was taken out.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Waveform {
    /// Number of the first sample.
    pub(super) first: u64,
    /// Number of each gap's next sample is counted from here.
    pub(super) gaps: Vec<CaptureGap>,
    /// Why it is shorter than what was wanted.
    pub(super) cut: Option<CaptureCut>,
    pub(super) started_at: Timestamp,
    pub(super) rate_hz: f64,
    pub(super) accel_m_s2: Vec<f32>,
    pub(super) not_finite: u64,
    pub(super) step_m_s2: f64,
    pub(super) is_exact: bool,
    /// Index of the anchor in the samples.
    pub(super) anchor: usize,
}

impl Ring {
    pub(super) const fn new(budget: usize) -> Self {
        Self {
            budget,
            chunks: VecDeque::new(),
            bytes: 0,
            pending: Vec::new(),
            origin: None,
            latest: None,
            grid: None,
            has_left: false,
        }
    }

    /// Adds the samples of a block, m/s².
    pub(super) fn push(&mut self, samples: &[f64], block: Origin) {
        if samples.is_empty() {
            return;
        }
        let follows = self.origin.is_some_and(|origin| {
            block.first == origin.first + self.pending.len() as u64
                && !block.is_after_gap
                && block.has_rate_of(&origin)
        });
        if !follows {
            self.flush();
            self.origin = Some(Origin { is_after_gap: true, ..block });
        } else if self.pending.is_empty() {
            self.origin = Some(Origin { is_after_gap: false, ..block });
        } else if let Some(origin) = &mut self.origin {
            // the measured rate comes closer to the true one from block to block
            (origin.rate_hz, origin.stated_hz) = (block.rate_hz, block.stated_hz);
        }
        self.latest = Some((block.first, block.started_at));
        self.pending.extend_from_slice(samples);
        self.encode(self.pending.len() - self.pending.len() % CHUNK);
    }

    /// Encodes what waits, so that the next block begins a chunk.
    fn flush(&mut self) {
        self.encode(self.pending.len());
    }

    /// Encodes the oldest `count` of the pending samples.
    fn encode(&mut self, count: usize) {
        if count == 0 {
            return;
        }
        let pending = std::mem::take(&mut self.pending);
        let (full, rest) = pending.split_at(count);
        full.chunks(CHUNK).for_each(|samples| self.add(samples));
        self.pending = rest.to_vec();
    }

    fn add(&mut self, samples: &[f64]) {
        let Some(origin) = self.origin else { return };
        let chunk = Chunk::of(samples, origin, self.grid);
        self.grid = Some(chunk.grid);
        let first = origin.first + samples.len() as u64;
        // the time of the latest block, where the rest is its own: times that were counted from an
        // earlier one would run away from the source's clock
        let (base, at) = self
            .latest
            .filter(|latest| latest.0 <= first)
            .unwrap_or((origin.first, origin.started_at));
        let started_at = at.plus_seconds((first - base) as f64 / origin.rate_hz);
        self.origin = Some(Origin { first, started_at, is_after_gap: false, ..origin });
        self.bytes += chunk.bytes();
        self.chunks.push_back(chunk);
        while self.bytes > self.budget
            && let Some(oldest) = self.chunks.pop_front()
        {
            self.bytes -= oldest.bytes();
            self.has_left = true;
        }
    }

    /// Bytes of the encoded samples.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Number of the sample after the newest.
    pub(super) fn end(&self) -> u64 {
        self.origin.map_or(0, |origin| origin.first + self.pending.len() as u64)
    }

    /// Length of what it holds, s.
    pub(super) fn length_s(&self) -> f64 {
        let pending = self.origin.map_or(0.0, |o| self.pending.len() as f64 / o.rate_hz);
        self.chunks.iter().map(Chunk::length_s).sum::<f64>() + pending
    }

    /// Takes samples out; `None` where the anchor is no longer, or not yet, in memory.
    ///
    /// Samples on the other side of a gap are taken along as far as their time lies within the
    /// wanted stretch. A clock that was set ends the stretch only at a gap, where nothing else says
    /// which samples belong together.
    pub(super) fn taken(&self, wanted: Wanted) -> Option<Waveform> {
        let parts = self.parts();
        let at = parts.iter().position(|part| part.holds(wanted.anchor))?;
        let rate_hz = parts[at].origin.rate_hz;
        let reach_s = (wanted.to - wanted.from) as f64 / rate_hz;
        let (mut first, mut last) = (at, at);
        let mut missing = Missing { anchor: parts[at].origin, left_s: reach_s, gaps: 0, cut: None };
        while first > 0 && parts[first].origin.first > wanted.from {
            let has_some = parts[first - 1].end() > wanted.from;
            if !has_some || !missing.may_join(&parts[first - 1], &parts[first]) {
                break;
            }
            first -= 1;
        }
        if first == 0 && parts[0].origin.first > wanted.from && self.has_left {
            missing.cut = Some(CaptureCut::Memory);
        }
        while last + 1 < parts.len() && parts[last].end() < wanted.to {
            let has_some = parts[last + 1].origin.first < wanted.to;
            if !has_some || !missing.may_join(&parts[last], &parts[last + 1]) {
                break;
            }
            last += 1;
        }
        let taken = waveform(&parts[first..=last], wanted, rate_hz)?;
        Some(Waveform { cut: missing.cut, ..taken })
    }

    fn parts(&self) -> Vec<Part<'_>> {
        let mut parts: Vec<Part<'_>> = self
            .chunks
            .iter()
            .map(|chunk| Part {
                origin: chunk.origin,
                count: chunk.samples as usize,
                content: Content::Encoded(chunk),
            })
            .collect();
        if let Some(origin) = self.origin.filter(|_| !self.pending.is_empty()) {
            let content = Content::Pending(&self.pending);
            parts.push(Part { origin, count: self.pending.len(), content });
        }
        parts
    }
}

/// Samples of one chunk, or those that wait to be encoded.
#[derive(Debug)]
struct Part<'a> {
    origin: Origin,
    count: usize,
    content: Content<'a>,
}

#[derive(Debug)]
enum Content<'a> {
    Encoded(&'a Chunk),
    Pending(&'a [f64]),
}

impl Part<'_> {
    const fn end(&self) -> u64 {
        self.origin.first + self.count as u64
    }

    const fn holds(&self, number: u64) -> bool {
        self.origin.first <= number && number < self.end()
    }

    /// Seconds from its end to the beginning of the next one, by their times.
    fn missing_before_s(&self, next: &Self) -> f64 {
        let length_s = self.count as f64 / self.origin.rate_hz;
        next.origin.started_at.seconds_since(self.origin.started_at) - length_s
    }
}

/// The samples that may still be missing in a capture.
struct Missing {
    /// Where the samples are from that must be in it.
    anchor: Origin,
    left_s: f64,
    gaps: usize,
    /// Why it ends before what is wanted; where both ends do, that of its beginning.
    cut: Option<CaptureCut>,
}

impl Missing {
    fn may_join(&mut self, earlier: &Part<'_>, later: &Part<'_>) -> bool {
        if ![earlier, later].iter().all(|part| part.origin.has_rate_of(&self.anchor)) {
            self.cut = self.cut.or(Some(CaptureCut::Rate));
            return false;
        }
        if !later.origin.is_after_gap && earlier.end() == later.origin.first {
            return true;
        }
        let missing_s = earlier.missing_before_s(later);
        let fits = (-JITTER_S..=self.left_s).contains(&missing_s) && self.gaps < MAX_GAPS;
        if fits {
            self.left_s -= missing_s.max(0.0);
            self.gaps += 1;
        } else if missing_s < -JITTER_S {
            self.cut = self.cut.or(Some(CaptureCut::Clock));
        }
        fits
    }
}

fn waveform(parts: &[Part<'_>], wanted: Wanted, rate_hz: f64) -> Option<Waveform> {
    let head = parts.first()?;
    let from = wanted.from.max(head.origin.first);
    let ahead_s = (from - head.origin.first) as f64 / head.origin.rate_hz;
    let mut taken = Waveform {
        first: from,
        gaps: Vec::new(),
        cut: None,
        started_at: head.origin.started_at.plus_seconds(ahead_s),
        rate_hz,
        accel_m_s2: Vec::new(),
        not_finite: 0,
        step_m_s2: 0.0,
        is_exact: true,
        anchor: 0,
    };
    let mut before: Option<&Part<'_>> = None;
    for part in parts {
        if let Some(before) = before
            && (part.origin.is_after_gap || before.end() != part.origin.first)
        {
            taken.gaps.push(CaptureGap {
                before_sample: taken.accel_m_s2.len() as u64,
                missing_s: before.missing_before_s(part).max(0.0),
            });
        }
        before = Some(part);
        let skip = from.saturating_sub(part.origin.first).min(part.count as u64) as usize;
        let end = wanted.to.min(part.end()).saturating_sub(part.origin.first) as usize;
        if part.holds(wanted.anchor) {
            let within = ((wanted.anchor - part.origin.first) as usize).checked_sub(skip)?;
            taken.anchor = taken.accel_m_s2.len() + within;
        }
        match &part.content {
            Content::Encoded(chunk) => {
                let samples = chunk.samples()?;
                taken.add(samples.get(skip..end)?);
                taken.step_m_s2 = taken.step_m_s2.max(chunk.grid.step);
                taken.is_exact &= chunk.grid.is_exact;
            }
            Content::Pending(samples) => {
                // the same rounding as that of what is encoded, so that no file depends on the
                // moment
                let grid = Grid::of(samples, None);
                let kept = samples.get(skip..end)?.iter().map(|&sample| {
                    if grid.is_number(sample) { grid.sample(grid.count(sample)) } else { f64::NAN }
                });
                taken.add(&kept.collect::<Vec<_>>());
                taken.step_m_s2 = taken.step_m_s2.max(grid.step);
                taken.is_exact &= grid.is_exact;
            }
        }
    }
    Some(taken)
}

impl Waveform {
    fn add(&mut self, samples: &[f64]) {
        self.not_finite += samples.iter().filter(|sample| !sample.is_finite()).count() as u64;
        self.accel_m_s2.extend(samples.iter().map(|&sample| sample as f32));
    }
}

#[cfg(test)]
mod tests;
