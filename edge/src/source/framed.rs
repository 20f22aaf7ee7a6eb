//! `pdm.frames/1`: blocks of frames with a header, of which none is lost in silence.
//!
//! A block has a magic word, the form of its samples, the true rate, a calibration, a count of
//! blocks and of frames, the sender's time, and a checksum of the header and of the samples
//! (`header`; specification: `docs/frames.md`). [`FramedDecoder`] finds the blocks in bytes of any
//! size. Bytes between blocks, and blocks whose checksum is wrong, are skipped; the count of frames
//! then says how many were lost.
//!
//! Invariants: no sample of a damaged block is handed out; after lost frames the next block does
//! not follow on; every loss is logged, at most once in ten seconds with its sum, and counted.

use std::collections::VecDeque;

use ndarray::Array2;
use pdm_shared::units::SampleRate;

use super::frames::{FrameFormat, held_frames};
use super::interpretation::unbelieved;
use super::sample_clock::SampleClock;
use super::{Block, BlockRate, Calibration, SourceHost};

mod header;
mod losses;

use header::{FrameHeader, HEADER_BYTES, MAGIC};
use losses::Losses;

/// The time, s, whose frames may be missing at once by their count: more than a day means that the
/// count was set, since a sender that was away for that long was started again.
const MOST_LOST_S: f64 = 86_400.0;

/// Rates of two blocks of a sender further apart than this ratio are two settings of its device;
/// what a sender measures itself moves less.
const OTHER_RATE: f64 = 0.01;

/// Blocks from bytes.
#[derive(Debug)]
pub struct FramedDecoder {
    format: FrameFormat,
    rate_tolerance: f64,
    clock: SampleClock,
    losses: Losses,
    pending: Vec<u8>,
    /// Acceleration, m/s², frame by frame, of frames that are in no block yet.
    samples: Vec<f64>,
    /// Blocks from before a gap.
    ready: VecDeque<Block>,
    sender: Option<Sender>,
    next_index: u64,
    follows_on: bool,
}

/// The known state of the sender that delivers.
#[derive(Debug, Clone, Copy)]
struct Sender {
    run: u64,
    /// Count of the frame that comes next.
    next_frame: u64,
    rate: SampleRate,
}

impl FramedDecoder {
    /// Creates a decoder for blocks of the format's channels; encoding and calibration come with
    /// the blocks.
    pub fn new(format: FrameFormat, rate_tolerance: f64, host: SourceHost) -> Self {
        Self {
            losses: Losses::new(host.clone()),
            clock: SampleClock::new(format.sample_rate, rate_tolerance, host),
            format,
            rate_tolerance,
            pending: Vec::new(),
            samples: Vec::new(),
            ready: VecDeque::new(),
            sender: None,
            next_index: 0,
            follows_on: false,
        }
    }

    /// Adds bytes in the order of their arrival.
    ///
    /// # Errors
    /// The reason if a block contradicts the configuration.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.pending.extend_from_slice(bytes);
        let mut at = 0;
        let outcome = loop {
            match self.take_at(at) {
                Ok(Some(end)) => at = end,
                Ok(None) => break Ok(()),
                Err(reason) => break Err(reason),
            }
        };
        // what is left begins with a magic word, or is shorter than one
        let left = next_magic(&self.pending, at);
        self.losses.skipped(left - at);
        self.pending.drain(..left);
        outcome
    }

    /// The connection ended: what is unfinished is dropped, and the next block does not follow on.
    pub fn gap(&mut self) {
        self.pending.clear();
        self.begin_anew();
        self.clock.gap();
        self.sender = None;
    }

    /// Notes another connection of the same sender, or of another: bytes of an unfinished block are
    /// dropped. Run and count of the next block say whether it follows on.
    pub(super) fn reconnected(&mut self) {
        self.pending.clear();
    }

    /// Whether whole blocks are to wait, since what arrives has waited as well.
    pub(super) fn holds(&self) -> bool {
        let frames = self.samples.len() / self.format.channels;
        frames < held_frames(&self.format) && self.clock.is_catching_up()
    }

    /// A whole block, if there is one.
    pub fn block(&mut self) -> Option<Block> {
        self.ready.pop_front().or_else(|| self.cut())
    }

    fn cut(&mut self) -> Option<Block> {
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
        let index = self.next_index;
        self.next_index += 1;
        let follows_on = std::mem::replace(&mut self.follows_on, true);
        Some(Block {
            index,
            started_at,
            follows_on,
            rate: self.rate(),
            input: None,
            values: None,
            accel_m_s2,
        })
    }

    /// The rate by the gateway's clock, else the one that the sender states.
    fn rate(&self) -> BlockRate {
        let stated = self.sender.map(|sender| sender.rate);
        match (self.clock.rate(), stated) {
            (BlockRate::Format, Some(rate)) if rate != self.format.sample_rate => {
                let ratio = rate.get() / self.format.sample_rate.get();
                let is_off = (ratio - 1.0).abs() > self.rate_tolerance;
                BlockRate::Measured { rate, is_off, stated }
            }
            (BlockRate::Measured { rate, is_off, .. }, _) => {
                BlockRate::Measured { rate, is_off, stated }
            }
            (other, _) => other,
        }
    }

    /// Takes the block that begins at `at` or later; returns its end, or `None` if none is whole.
    fn take_at(&mut self, at: usize) -> Result<Option<usize>, String> {
        let begin = next_magic(&self.pending, at);
        let Some(head) = self.pending.get(begin..begin + HEADER_BYTES) else { return Ok(None) };
        let skip_magic = Ok(Some(begin + 1));
        let header = match FrameHeader::parse(head) {
            Ok(header) => header,
            Err(header::HeaderError::Version(version)) => {
                return Err(format!("version {version} of pdm.frames; this program reads 1"));
            }
            Err(header::HeaderError::Rate(hz)) => {
                return Err(format!("the sender states {}", unbelieved(hz)));
            }
            Err(header::HeaderError::Damaged) => {
                self.losses.skipped(begin + 1 - at);
                return skip_magic;
            }
        };
        let end = begin + header.total_bytes();
        let Some(body) = self.pending.get(begin + HEADER_BYTES..end) else { return Ok(None) };
        self.losses.skipped(begin - at);
        if !header.is_body_whole(body) {
            self.losses.damaged();
            return skip_magic;
        }
        let calibrations = header.calibrations(body, &self.format.calibrations)?;
        let accel = self.decoded(&header, body, &calibrations)?;
        self.follow(&header, accel);
        Ok(Some(end))
    }

    fn decoded(
        &self,
        header: &FrameHeader,
        body: &[u8],
        calibrations: &[Calibration],
    ) -> Result<Vec<f64>, String> {
        if header.channels != self.format.channels {
            return Err(format!(
                "blocks of {} channel(s), but stream.channels is {}",
                header.channels, self.format.channels
            ));
        }
        let samples = header.samples(body).chunks_exact(header.encoding.bytes());
        let accel = samples.zip(calibrations.iter().cycle());
        Ok(accel.map(|(raw, cal)| cal.to_m_s2(header.encoding.decode(raw))).collect())
    }

    /// Puts the frames of a whole block after those before, if they follow on.
    fn follow(&mut self, header: &FrameHeader, accel: Vec<f64>) {
        let frames = header.frames as u64;
        match self.sender {
            Some(sender) if sender.run == header.run => {
                // a count may pass its end: what lies behind by less than half of it is late
                let ahead = header.first_frame.wrapping_sub(sender.next_frame);
                let is_late = ahead.cast_signed() < 0;
                if is_late && !self.losses.late(sender.next_frame, header.first_frame) {
                    return;
                }
                if is_late || ahead as f64 > MOST_LOST_S * header.rate.get() {
                    // a count that was set tells nothing of what is missing
                    self.losses.count_set(sender.next_frame, header.first_frame);
                    self.begin_anew();
                    self.clock.gap();
                } else if ahead > 0 {
                    self.losses.lost(ahead);
                    self.begin_anew();
                    self.clock.lost(ahead);
                }
                // samples of two rates are neither one block nor one measurement of the rate
                if (header.rate.get() / sender.rate.get() - 1.0).abs() > OTHER_RATE {
                    self.begin_anew();
                    self.clock.restated(header.rate);
                }
            }
            Some(sender) => {
                self.losses.restarted(sender.run, header.run);
                self.begin_anew();
                self.clock.gap();
            }
            None => {}
        }
        self.losses.taken();
        let next_frame = header.first_frame.wrapping_add(frames);
        self.sender = Some(Sender { run: header.run, next_frame, rate: header.rate });
        self.samples.extend(accel);
        if self.clock.arrived(frames) {
            self.follows_on = false;
        }
        self.losses.sender_time(header, &self.clock);
    }

    /// Ends the data before a gap: its whole blocks are kept, the rest is dropped.
    fn begin_anew(&mut self) {
        while let Some(block) = self.cut() {
            self.ready.push_back(block);
        }
        self.samples.clear();
        self.follows_on = false;
    }
}

/// Returns where a magic word begins, from `at` on; else where the last bytes could begin one.
fn next_magic(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at.min(bytes.len())..];
    let whole = rest.windows(MAGIC.len()).position(|window| window == MAGIC);
    let begun = || {
        let longest = rest.len().min(MAGIC.len() - 1);
        (1..=longest).rev().find(|&count| rest.ends_with(&MAGIC[..count])).unwrap_or(0)
    };
    at + whole.unwrap_or_else(|| rest.len() - begun())
}

#[cfg(test)]
mod tests;
