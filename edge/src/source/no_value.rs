//! Marks for "no value" in the bursts of a live source: -9999, 1e30, a number at the end of its
//! range.
//!
//! Stands between a decoder and the conversion to m/s², so that a mark is compared with the numbers
//! as they were sent. Invariants: a mark becomes NaN, never a sample; its number is counted and
//! told.

use super::SourceHost;
use crate::tabular::sentinel::{in_samples, written};

/// Bursts without a mark in a row after which marks are no news any more.
const CLEAN_AGAIN: u32 = 20;

/// Takes the marks out of bursts.
#[derive(Debug)]
pub(super) struct MarksOfNoValue {
    host: SourceHost,
    /// Bursts without a mark since the last one with one; `None`: nothing is told.
    clean: Option<u32>,
}

impl MarksOfNoValue {
    pub(super) const fn new(host: SourceHost) -> Self {
        Self { host, clean: None }
    }

    /// Puts NaN in the place of every mark in the numbers of a channel, as they were sent.
    pub(super) fn take_out(&mut self, channel: usize, numbers: &mut [f64]) {
        let marks = in_samples(numbers.iter().copied());
        let mut told = None;
        for mark in marks.into_iter().filter(|mark| mark.is_no_value) {
            for number in numbers.iter_mut().filter(|number| mark.is(**number)) {
                *number = f64::NAN;
            }
            let source = self.host.name.clone();
            metrics::counter!("pdm_edge_samples_without_value_total", "source" => source)
                .increment(mark.count as u64);
            told = Some(mark);
        }
        let name = &self.host.name;
        match (told, &mut self.clean) {
            (Some(mark), clean) => {
                let (code, count) = (written(mark.code), mark.count);
                let text = format!(
                    "{code} stands {count} times among {} samples of channel {channel}, as a mark \
                     for no value: it is no sample, and its windows are not judged",
                    numbers.len()
                );
                if clean.replace(0).is_none() {
                    tracing::warn!(source = name, code, count, channel, "marks for no value come");
                }
                self.host.remarks.set(name, "no value", text);
            }
            (None, Some(clean)) => {
                *clean += 1;
                if *clean >= CLEAN_AGAIN {
                    self.clean = None;
                    self.host.remarks.withdraw(name, "no value");
                }
            }
            (None, None) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pdm_service::clock::SystemClock;

    use super::*;

    fn wave(n: usize) -> Vec<f64> {
        (0..n).map(|n| 0.5 * (n as f64 * 0.7).sin()).collect()
    }

    /// Marks of loggers, of historians and of an Int16 register, as bridges put them into bursts.
    #[test]
    fn a_mark_in_a_burst_is_no_sample_and_is_told_until_bursts_are_clean() {
        for code in [-9999.0, 1e30, 9.969_209_968_386_869e36, 32_767.0, -32_768.0] {
            let host = SourceHost::alone(Arc::new(SystemClock), "bench");
            let mut marks = MarksOfNoValue::new(host.clone());
            let mut numbers = wave(500);
            (numbers[7], numbers[8]) = (code, code);
            marks.take_out(1, &mut numbers);
            assert!(numbers[7].is_nan() && numbers[8].is_nan() && numbers[9].is_finite(), "{code}");
            let told = host.remarks.lines().join("");
            assert!(told.contains("2 times") && told.contains("channel 1"), "{told}");
            for _burst in 0..CLEAN_AGAIN {
                let mut clean = wave(500);
                marks.take_out(1, &mut clean);
                assert_eq!(clean, wave(500));
            }
            assert!(host.remarks.lines().is_empty());
        }
    }
}
