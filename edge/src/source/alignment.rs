//! Checks whether the samples of raw frames are still those of their channels.
//!
//! Raw frames have no header, so a byte or a sample that is lost moves every sample after it to
//! another place. Two figures show it. A lost byte, or the other byte order, puts the low byte of
//! an integer above its high one: its values fill the whole range, and those of the shifted bytes
//! do not. A lost sample turns the channels round: their levels and means are those that they had,
//! each at its neighbour. Channels with equal levels cannot be told apart; only a header can
//! ([`super::framed`]).

use ndarray::Array2;
use pdm_shared::units::SampleRate;

use super::frames::Encoding;

/// RMS, as a share of full scale, above which the low byte may stand above the high one. Even
/// spread gives 0.577, the low bytes of small numbers, which are near 0 or 255, about 0.2.
const FULL: f64 = 0.1;
/// RMS of the shifted bytes, as a share of that of the bytes, below which the shifted ones are the
/// samples.
const SHIFTED: f64 = 0.3;
/// Samples of a channel that are compared, at the end of a block.
const LOOKED_AT: usize = 512;

/// Length of the parts of a block that are compared one by one, s, and fewest samples of one: half
/// a turn of a motor, in which every channel has some impacts or none.
const PART_S: f64 = 0.025;
const LEAST_PART: usize = 64;
/// Parts after which the levels of the channels are known, and parts in a row that show them
/// turned: a tenth of a second in which every channel has the level of its neighbour. No data chose
/// them.
const KNOWN: u32 = 6;
const IN_A_ROW: u32 = 4;
/// Distance of levels (mean of the differences of their logarithms) above which they are others,
/// and share of it that is left once they are turned back. 0.3 is a third more vibration at every
/// channel; a turn of equal levels leaves the distance as it is. No data chose them.
const OTHERS: f64 = 0.3;
const TURNED_BACK: f64 = 0.35;
/// Share by which the known levels follow those of a part: over half a second.
const FOLLOWING: f64 = 0.05;

/// The displacement that the bytes show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Misplaced {
    /// The samples begin this many bytes later.
    Bytes(usize),
    /// Every channel holds the samples that the channel this many places later held.
    Channels(usize),
}

/// Follows the levels of the channels.
#[derive(Debug)]
pub(super) struct Alignment {
    /// Samples of a part.
    part: usize,
    /// ln of the RMS and mean of each channel.
    known: Vec<(f64, f64)>,
    parts: u32,
    turned: (usize, u32),
}

impl Alignment {
    /// For channels of this rate.
    pub(super) fn new(rate: SampleRate) -> Self {
        let part = ((PART_S * rate.get()) as usize).max(LEAST_PART);
        Self { part, known: Vec::new(), parts: 0, turned: (0, 0) }
    }

    /// Whether blocks have been seen whose bytes were in place.
    pub(super) const fn is_known(&self) -> bool {
        self.parts > 0
    }

    /// Looks at the bytes of whole frames, and at their samples.
    pub(super) fn look(
        &mut self,
        bytes: &[u8],
        encoding: Encoding,
        accel_m_s2: &Array2<f64>,
    ) -> Option<Misplaced> {
        if let Some(shift) = shifted_bytes(bytes, encoding, accel_m_s2.nrows()) {
            return Some(Misplaced::Bytes(shift));
        }
        self.turned(accel_m_s2).map(Misplaced::Channels)
    }

    /// Returns by how many places the channels have turned, once several parts in a row show it.
    fn turned(&mut self, accel_m_s2: &Array2<f64>) -> Option<usize> {
        let (channels, samples) = accel_m_s2.dim();
        if channels < 2 {
            self.parts = 1;
            return None;
        }
        let length = self.part;
        for first in (0..samples).step_by(length) {
            let last = (first + length).min(samples);
            if last - first < length && last - first < LEAST_PART {
                break;
            }
            let levels: Vec<(f64, f64)> = (0..channels)
                .map(|channel| level(accel_m_s2.row(channel).iter().take(last).skip(first)))
                .collect();
            if let Some(turn) = self.follow(&levels) {
                return Some(turn);
            }
        }
        None
    }

    fn follow(&mut self, levels: &[(f64, f64)]) -> Option<usize> {
        if levels.iter().any(|(level, mean)| !level.is_finite() || !mean.is_finite()) {
            return None;
        }
        if self.known.len() != levels.len() {
            self.known = levels.to_vec();
        }
        let own = self.distance(levels, 0);
        if self.parts >= KNOWN && own > OTHERS {
            let turns = (1..levels.len()).map(|turn| (turn, self.distance(levels, turn)));
            let nearest = turns.min_by(|a, b| a.1.total_cmp(&b.1));
            if let Some((turn, _)) = nearest.filter(|(_, left)| *left < TURNED_BACK * own) {
                let (before, count) = self.turned;
                self.turned = (turn, if before == turn { count + 1 } else { 1 });
                if self.turned.1 < IN_A_ROW {
                    return None;
                }
                self.turned = (0, 0);
                return Some(turn);
            }
        }
        self.turned = (0, 0);
        self.parts = self.parts.saturating_add(1);
        // the mean of the first parts, later of the latest ones
        let following = FOLLOWING.max(1.0 / f64::from(self.parts));
        for (known, now) in self.known.iter_mut().zip(levels) {
            known.0 += following * (now.0 - known.0);
            known.1 += following * (now.1 - known.1);
        }
        None
    }

    /// Distance of the levels from the known ones, if every channel holds what the channel `turn`
    /// places later held.
    fn distance(&self, levels: &[(f64, f64)], turn: usize) -> f64 {
        let count = levels.len();
        // means count by the mean vibration, so that gravity on an axis is a mark of it
        let scale = self.known.iter().map(|known| known.0.exp()).sum::<f64>() / count as f64;
        let sum: f64 = levels
            .iter()
            .enumerate()
            .map(|(channel, now)| {
                let known = self.known[(channel + turn) % count];
                let mean = ((now.1 - known.1) / scale.max(f64::MIN_POSITIVE)).abs().min(1.0);
                (now.0 - known.0).abs().min(3.0) + mean
            })
            .sum();
        sum / count as f64
    }
}

/// ln of the RMS without the mean, and the mean.
fn level<'a>(samples: impl Iterator<Item = &'a f64>) -> (f64, f64) {
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for sample in samples {
        count += 1.0;
        sum += sample;
        squares += sample * sample;
    }
    let mean = sum / count;
    let power: f64 = (squares / count - mean * mean).max(1e-12);
    (0.5 * power.ln(), mean)
}

/// Returns by how many bytes the samples are shifted, if they fill their whole range and the
/// shifted ones do not.
fn shifted_bytes(bytes: &[u8], encoding: Encoding, channels: usize) -> Option<usize> {
    let width = encoding.bytes();
    let full_scale = encoding.full_scale()?;
    // what was lost moves everything behind it, so the end of the block shows it
    let looked_at = LOOKED_AT * channels * width;
    let bytes = &bytes[bytes.len().saturating_sub(looked_at) / width * width..];
    let rms = |shift: usize, swapped: bool| {
        let samples = bytes.get(shift..)?.chunks_exact(width);
        let mut values = Vec::with_capacity(samples.len());
        for raw in samples {
            let value = if swapped { encoding.swapped().decode(raw) } else { encoding.decode(raw) };
            values.push(value / full_scale);
        }
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let power = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
        (values.len() >= LEAST_PART).then(|| power.sqrt())
    };
    let low = if encoding.is_big_endian() { width - 1 } else { 0 };
    let mut lowest = bytes.iter().skip(low).step_by(width);
    let first = lowest.next()?;
    if lowest.all(|byte| byte == first) {
        // numbers that are left-justified: their lowest byte is in its place
        return None;
    }
    let own = rms(0, false)?;
    if own < FULL {
        return None;
    }
    let other_order = rms(0, true)? < SHIFTED * own;
    let shifts = (1..width).filter_map(|shift| Some((shift, rms(shift, false)?)));
    let best = shifts.min_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, rms)| *rms < SHIFTED * own);
    best.map(|(shift, _)| shift).or(other_order.then_some(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Noise of three levels, one of them with gravity.
    fn sample(n: usize, channel: usize) -> f64 {
        let hash = (n * 3 + channel).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let noise = (hash >> 40) as f64 / f64::from(1 << 24) - 0.5;
        [5.4, 3.5, 1.7][channel] * noise + if channel == 2 { 9.8 } else { 0.0 }
    }

    fn block(first: usize, turn: usize, gain: f64) -> Array2<f64> {
        Array2::from_shape_fn((3, 2560), |(channel, n)| {
            gain * sample(first + n, (channel + turn) % 3)
        })
    }

    #[test]
    fn channels_that_change_places_are_found_and_a_load_is_no_turn() {
        for turn in [1, 2] {
            let rate = SampleRate::new(25_600.0).expect("valid");
            let mut alignment = Alignment::new(rate);
            for n in 0..5 {
                assert_eq!(alignment.turned(&block(n * 2560, 0, 1.0)), None);
            }
            assert_eq!(alignment.turned(&block(99_000, 0, 3.0)), None, "three times the load");
            for n in 0..20 {
                alignment.turned(&block(n * 2560, 0, 1.0));
            }
            assert_eq!(alignment.turned(&block(50_000, turn, 1.0)), Some(turn));
        }
    }

    #[test]
    fn a_lost_byte_and_the_other_byte_order_are_found_and_a_loud_signal_is_not() {
        for (encoding, width) in [(Encoding::I16, 2), (Encoding::I24, 3)] {
            let bytes: Vec<u8> = (0..6000)
                .flat_map(|n| {
                    let value = (300.0 * sample(n, 0)) as i32;
                    let value = if width == 2 { value } else { value << 6 };
                    value.to_le_bytes()[..width].to_vec()
                })
                .collect();
            assert_eq!(shifted_bytes(&bytes, encoding, 1), None);
            assert!(shifted_bytes(&bytes, encoding.swapped(), 1).is_some(), "{encoding:?}");
            for lost in 1..width {
                let shift = shifted_bytes(&bytes[lost..], encoding, 1);
                assert!(shift.is_some_and(|shift| shift > 0), "{lost} of {width}");
            }
        }
        let loud: Vec<u8> = (0..6000)
            .flat_map(|n| {
                (12_000.0 * sample(n, 0)).clamp(-32_768.0, 32_767.0).to_bits().to_le_bytes()
            })
            .collect();
        assert_eq!(shifted_bytes(&loud, Encoding::F32, 1), None, "floats have no range");
        let square: Vec<u8> = (0..6000)
            .flat_map(|n| (if n % 20 < 10 { 30_000i16 } else { -30_000 }).to_le_bytes())
            .collect();
        assert_eq!(shifted_bytes(&square, Encoding::I16, 1), None);
    }
}
