//! Windows that come again: one that is delivered twice, and a sensor that repeats its last
//! samples.
//!
//! Noise never repeats, so equal samples are the same samples. Invariants: a window of the same
//! samples and the same time is measured once; the third window of the same samples in a row says
//! nothing of the machine, whatever its time.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use pdm_shared::time::Timestamp;

use crate::window::Window;

/// Windows that are remembered: an hour of windows of a second.
const REMEMBERED: usize = 4096;
/// Windows of the same samples in a row from which on they are no measurement. Two may be one that
/// was delivered twice without a time of its own.
const FROZEN: u32 = 3;

/// A window's samples as a number.
fn fingerprint(accel_m_s2: &[f64]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for sample in accel_m_s2 {
        sample.to_bits().hash(&mut hasher);
    }
    hasher.finish()
}

/// The windows of a source that came already.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    seen: VecDeque<(u64, Timestamp)>,
    is_told: bool,
}

impl Repeats {
    /// Whether the window came before, with the same time; remembers it.
    pub(super) fn came_before(&mut self, source: &str, window: &Window) -> bool {
        let Some(at) = window.started_at else { return false };
        let mut hasher = DefaultHasher::new();
        for sample in &window.accel_m_s2 {
            sample.to_bits().hash(&mut hasher);
        }
        let known = (hasher.finish(), at);
        let is_again = self.seen.contains(&known);
        if is_again {
            metrics::counter!("pdm_edge_messages_repeated_total", "source" => source.to_owned())
                .increment(1);
            if !self.is_told {
                tracing::warn!(source, %at, "a window is delivered again; it is measured once");
            }
        } else {
            self.seen.push_back(known);
            if self.seen.len() > REMEMBERED {
                self.seen.pop_front();
            }
        }
        self.is_told = is_again;
        is_again
    }
}

/// How often the same samples came in a row.
#[derive(Debug, Default)]
pub(super) struct Standstill {
    last: Option<u64>,
    times: u32,
}

impl Standstill {
    /// Takes a window's samples; true if the sensor repeats them.
    pub(super) fn take(&mut self, accel_m_s2: &[f64]) -> bool {
        let samples = fingerprint(accel_m_s2);
        let is_same = self.last.replace(samples) == Some(samples);
        self.times = if is_same { self.times.saturating_add(1) } else { 1 };
        self.times >= FROZEN
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::BlockRate;

    fn window(first: f64, at_ms: i64) -> Window {
        Window {
            index: 0,
            block_index: 0,
            first_sample: 0,
            started_at: Timestamp::from_unix_ms(at_ms),
            rate: BlockRate::Format,
            input: None,
            accel_m_s2: ndarray::arr2(&[[first, 0.2, -0.3]]),
        }
    }

    #[test]
    fn the_same_samples_of_the_same_time_are_one_window() {
        let mut repeats = Repeats::default();
        let mut again = |first, at_ms| repeats.came_before("bench", &window(first, at_ms));
        assert!(!again(0.1, 1_000));
        assert!(again(0.1, 1_000), "delivered twice");
        assert!(!again(0.1, 2_000), "another time");
        assert!(!again(0.4, 1_000), "other samples");
        assert!(again(0.1, 1_000), "and late");
    }

    #[test]
    fn the_third_window_of_the_same_samples_is_none() {
        let mut standstill = Standstill::default();
        let samples = [0.1, 0.2, -0.3];
        assert_eq!([(); 4].map(|()| standstill.take(&samples)), [false, false, true, true]);
        assert!(!standstill.take(&[0.1, 0.2, -0.4]));
        assert!(!standstill.take(&samples));
    }
}
