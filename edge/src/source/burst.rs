//! Blocks of bursts: samples that a message or several bring at once, apart from those before.
//!
//! Invariants: all channels of a burst are equally long; a burst follows on only where its sender's
//! times show that nothing is missing before it; a burst without a time of its own ends when it
//! arrives.

use ndarray::Array2;
use pdm_shared::time::Timestamp;
use pdm_shared::units::SampleRate;

use super::frames::FrameFormat;
use super::{Block, BlockRate, Calibration, SourceHost};

mod arrays;
mod sender_clock;

pub use arrays::ArrayTime;
pub(super) use arrays::{Bursts, ChannelArray};
pub(super) use sender_clock::SenderClock;

/// Share of a burst's length by which the time to the next one may differ from it, s at most, and
/// the resolution of time stamps with the jitter of a node, s. Half a sample is allowed beside.
/// Chosen: a lost message is a whole length.
const GAPLESS: (f64, f64, f64) = (0.02, 0.02, 0.002);

/// Whole bursts in a row after which one that was given up is no news any more.
const WHOLE_AGAIN: u32 = 20;

/// Difference of a sender's clock from the gateway's above which a remark says so, s.
const CLOCKS_APART_S: f64 = 5.0;

/// Most samples of a channel in a burst: 160 s at 51.2 kHz.
pub(super) const MOST_BURST_SAMPLES: usize = 8 << 20;

/// Makes the blocks of a source that sends bursts.
#[derive(Debug)]
pub(super) struct BurstBlocks {
    nominal: SampleRate,
    rate_tolerance: f64,
    host: SourceHost,
    next_index: u64,
    /// End and rate of the burst before, if its sender has dated it.
    last: Option<(Timestamp, f64)>,
}

impl BurstBlocks {
    pub(super) const fn new(nominal: SampleRate, rate_tolerance: f64, host: SourceHost) -> Self {
        Self { nominal, rate_tolerance, host, next_index: 0, last: None }
    }

    /// The index of the next block.
    pub(super) const fn take_index(&mut self) -> u64 {
        let index = self.next_index;
        self.next_index += 1;
        index
    }

    /// The block of a moment in which no burst came.
    #[cfg(feature = "opcua")]
    pub(super) fn nothing(&self, channels: usize) -> Block {
        let (index, rate) = (self.next_index, BlockRate::Format);
        let accel_m_s2 = Array2::zeros((channels, 0));
        let (started_at, follows_on, input, values) = (None, false, None, None);
        Block { index, started_at, follows_on, rate, input, values, accel_m_s2 }
    }

    /// The block of a burst: raw numbers by channel, the calibration of each, the rate, and the
    /// time of the first sample, if the sender tells it.
    ///
    /// # Errors
    /// The lengths, if they differ or are out of range.
    pub(super) fn block(
        &mut self,
        channels: &[Vec<f64>],
        calibration: impl Fn(usize) -> Calibration,
        rate: SampleRate,
        started_at: Option<Timestamp>,
    ) -> Result<Block, String> {
        let converted = |(channel, raw): (usize, &Vec<f64>)| {
            let calibration = calibration(channel);
            raw.iter().map(|raw| calibration.to_m_s2(*raw)).collect()
        };
        let channels: Vec<Vec<f64>> = channels.iter().enumerate().map(converted).collect();
        self.block_m_s2(&channels, rate, started_at)
    }

    /// [`Self::block`] of samples in m/s².
    ///
    /// # Errors
    /// As [`Self::block`].
    pub(super) fn block_m_s2(
        &mut self,
        channels: &[Vec<f64>],
        rate: SampleRate,
        started_at: Option<Timestamp>,
    ) -> Result<Block, String> {
        let length = burst_length(channels)?;
        let accel_m_s2 = Array2::from_shape_fn((channels.len(), length), |(channel, sample)| {
            channels[channel][sample]
        });
        let follows_on = self.follows_on(started_at, length, rate.get());
        let length_s = length as f64 / rate.get();
        let started_at =
            started_at.unwrap_or_else(|| self.host.clock.now().plus_seconds(-length_s));
        let ratio = rate.get() / self.nominal.get();
        let is_off = (ratio - 1.0).abs() > self.rate_tolerance;
        let rate = if rate == self.nominal {
            BlockRate::Format
        } else {
            BlockRate::Measured { rate, is_off, stated: Some(rate) }
        };
        Ok(Block {
            index: self.take_index(),
            started_at: Some(started_at),
            follows_on,
            rate,
            input: None,
            values: None,
            accel_m_s2,
        })
    }

    /// Whether a burst begins where the one before ended, by the times of their sender.
    fn follows_on(&mut self, started_at: Option<Timestamp>, length: usize, rate_hz: f64) -> bool {
        let length_s = length as f64 / rate_hz;
        let last = std::mem::replace(
            &mut self.last,
            started_at.map(|at| (at.plus_seconds(length_s), rate_hz)),
        );
        let (Some((ended_at, last_hz)), Some(started_at)) = (last, started_at) else {
            return false;
        };
        let allowed_s = (GAPLESS.0 * length_s).min(GAPLESS.1) + GAPLESS.2 + 0.5 / rate_hz;
        let is_same_rate = (rate_hz - last_hz).abs() <= f64::EPSILON * rate_hz;
        is_same_rate && started_at.seconds_since(ended_at).abs() <= allowed_s
    }
}

/// The samples of each channel in a burst.
fn burst_length(channels: &[Vec<f64>]) -> Result<usize, String> {
    let length = channels.first().map_or(0, Vec::len);
    if let Some(other) = channels.iter().find(|samples| samples.len() != length) {
        return Err(format!("channels of {length} and {} samples in a burst", other.len()));
    }
    if !(1..=MOST_BURST_SAMPLES).contains(&length) {
        return Err(format!("{length} samples in a burst; allowed is 1 to {MOST_BURST_SAMPLES}"));
    }
    Ok(length)
}

/// The configured calibration of a channel.
pub(super) fn configured_calibration(format: &FrameFormat, channel: usize) -> Calibration {
    match format.calibrations.as_slice() {
        [] => Calibration::default(),
        [one] => *one,
        many => many.get(channel).copied().unwrap_or_default(),
    }
}

/// Counts the bursts that are given up, and tells them until the bursts are whole again.
#[derive(Debug)]
pub(super) struct GivenUp {
    host: SourceHost,
    /// Bursts that were whole since the last one that was not; `None`: nothing is told.
    whole: Option<u32>,
}

impl GivenUp {
    pub(super) const fn new(host: SourceHost) -> Self {
        Self { host, whole: None }
    }

    /// A burst is given up, since a part of it did not come.
    pub(super) fn give_up(&mut self) {
        let SourceHost { name, remarks, .. } = &self.host;
        metrics::counter!("pdm_edge_bursts_given_up_total", "source" => name.clone()).increment(1);
        tracing::warn!(
            source = name,
            "a burst is given up: a part did not come, or states another time or rate"
        );
        self.whole = Some(0);
        let text = "bursts are given up, not measured: a part did not come, or states another time \
                    or rate than the others (pdm_edge_bursts_given_up_total counts them)";
        remarks.set(name, "burst given up", text.to_owned());
    }

    /// A burst is whole.
    pub(super) fn whole(&mut self) {
        let Some(whole) = &mut self.whole else { return };
        *whole += 1;
        if *whole >= WHOLE_AGAIN {
            self.whole = None;
            self.host.remarks.withdraw(&self.host.name, "burst given up");
        }
    }
}

/// Sets the gauge of how far a sender's clock stands from the gateway's.
pub(super) fn sender_time(host: &SourceHost, sent_ms: f64) {
    let apart_s = (sent_ms - host.clock.now().unix_ms() as f64) / 1e3;
    metrics::gauge!("pdm_edge_sender_clock_offset_seconds", "source" => host.name.clone())
        .set(apart_s);
    if apart_s.abs() > CLOCKS_APART_S {
        let text = format!("the sender's clock is {apart_s:.0} s apart from this gateway's");
        host.remarks.set(&host.name, "sender clock", text);
    } else {
        host.remarks.withdraw(&host.name, "sender clock");
    }
}
