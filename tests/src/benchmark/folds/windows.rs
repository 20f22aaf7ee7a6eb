//! The recordings and the generated records as a gateway sees them: cut into windows of a second.
//!
//! In a second a shaft turns 15 to 60 times, so lines are resolved less and chance levels differ
//! from those of a whole recording. The rule for short records is fitted on these windows, and each
//! fold of them is judged by a rule that has seen no window of its rig. Invariant: a window has the
//! truth and the rig of what it is cut from.

use std::ops::Range;
use std::path::PathBuf;

use pdm_dsp::diagnose::LEAST_TURNS;
use pdm_dsp::{Part, Request};

use super::{Measured, Sample, figures, generated_by, in_parallel, listed};

/// Length of a window, s, and turns of the shaft that it has at least: one more than a verdict
/// needs.
const WINDOW_S: f64 = 1.0;
const WINDOW_TURNS: f64 = LEAST_TURNS + 1.0;
/// Most windows of a recording, spread evenly over it: more of the same say little more.
pub(super) const MOST_WINDOWS: usize = 6;

/// Measures the windows of every recording of the folders.
///
/// # Errors
/// A folder or one of its files cannot be read.
pub fn measured(folders: &[PathBuf]) -> anyhow::Result<Vec<Measured>> {
    let mut all = Vec::new();
    let listed = listed(folders)?;
    let evidence = in_parallel(listed.len(), |i| {
        let (accel_m_s2, request) = listed[i].0.read()?;
        let windows = cut(accel_m_s2.len(), &request, MOST_WINDOWS);
        Ok(windows
            .into_iter()
            .map(|window| figures(&accel_m_s2[window], &request))
            .collect::<Vec<_>>())
    })?;
    for ((recording, label), windows) in listed.into_iter().zip(evidence) {
        let truth = label.truth.and_then(Part::of);
        for (i, evidence) in windows.into_iter().enumerate() {
            let sample = Sample { evidence, truth, rig: label.rig.clone() };
            let name = format!("{} channel {}, window {i}", recording.file, recording.channel);
            all.push(Measured { name, label: label.clone(), sample });
        }
    }
    Ok(all)
}

/// The first window of each generated record that every fit sees.
///
/// # Errors
/// A drawn value is refused, which is a bug.
pub fn generated() -> anyhow::Result<Vec<Sample>> {
    generated_by(|accel_m_s2, request| {
        let window = cut(accel_m_s2.len(), request, 1).into_iter().next().unwrap_or_default();
        figures(&accel_m_s2[window], request)
    })
}

/// Returns at most `most` windows of a record, from its beginning to its end; the whole of a record
/// that is no longer than one.
pub(super) fn cut(samples: usize, request: &Request, most: usize) -> Vec<Range<usize>> {
    let seconds = WINDOW_S.max(WINDOW_TURNS / request.speed.shaft_hz());
    let length = ((request.rate.get() * seconds) as usize).min(samples);
    let count = (samples / length.max(1)).max(1);
    let taken = count.min(most);
    (0..taken)
        .map(|i| if taken == 1 { 0 } else { i * (count - 1) / (taken - 1) })
        .map(|i| i * length..(i + 1) * length)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pdm_dsp::DefectOrders;
    use pdm_shared::units::{Rpm, SampleRate};

    fn request(rpm: f64) -> Request {
        let orders = DefectOrders::new(3.585, 5.415, 2.357, 0.398).expect("valid");
        let (rate, speed) = (SampleRate::new(1000.0), Rpm::new(rpm));
        Request::new(rate.expect("valid"), speed.expect("valid"), orders)
    }

    #[test]
    fn windows_reach_from_the_first_second_to_the_last() {
        assert_eq!(cut(3_500, &request(1800.0), 6), [0..1000, 1000..2000, 2000..3000]);
        let spread = cut(10_000, &request(1800.0), 2);
        assert_eq!(spread, [0..1000, 9000..10_000]);
    }

    #[test]
    fn a_slow_shafts_window_holds_sixteen_turns_and_a_short_record_is_one() {
        assert_eq!(cut(4_000, &request(600.0), 6), [0..1600, 1600..3200]);
        assert_eq!(cut(900, &request(600.0), 6), std::slice::from_ref(&(0..900)));
        assert_eq!(cut(0, &request(600.0), 6), std::slice::from_ref(&(0..0)));
    }
}
