//! Checks whether an alarm is justified by the signal in hindsight. Needs no label.
//!
//! Level: the running median (11 snapshots) of the RMS, of the 4–12 kHz and of the 10–1000 Hz part
//! of each axis over the lowest settled level so far (median of 50 snapshots), the largest of them.
//! Onset: the first snapshot after which the level never falls below [`SHOWS`] again.

use ndarray::Array3;
use pdm_dsp::robust::median;
use pdm_dsp::transform::Transforms;
use serde::Serialize;

/// The level from which the signal shows something.
const SHOWS: f64 = 1.3;
/// Snapshots to either side in which it must show for an alarm to be justified.
pub(super) const NEAR: usize = 30;
/// The share of the time from onset to end before which a Critical needs a level of its own, and
/// that level.
const CRITICAL_SHARE: f64 = 0.5;
const CRITICAL_LEVEL: f64 = 2.0;
/// Bands, Hz.
const BANDS_HZ: [(f64, f64); 2] = [(4000.0, 12_000.0), (10.0, 1000.0)];

/// How the alarms of a run stand against its signal.
#[derive(Debug, Clone, Serialize)]
pub struct Verdict {
    /// The run.
    pub run: String,
    /// Its snapshots.
    pub windows: usize,
    /// The snapshot from which the level is up for good.
    pub onset: usize,
    /// Alarms raised on either axis.
    pub alarms: usize,
    /// Share of the snapshots before onset with an alarm that nothing near justifies.
    pub groundless: f64,
    /// Alarms raised before onset whose level does not show within [`NEAR`] snapshots.
    pub early: usize,
    /// Snapshots from onset to the alarm, as a share of those left then; `None` without an alarm.
    pub delay: Option<f64>,
    /// The alarm stands at the end.
    pub on_at_end: bool,
}

impl Verdict {
    /// Whether the alarms of a run did something that they must not do.
    pub(crate) fn failed(&self) -> bool {
        self.early > 0 || !self.on_at_end || self.groundless > 0.005
    }
}

/// Holds the alarms of a run, one flag a snapshot for either axis, to its level and to the
/// snapshots on either side in which it must show.
pub(super) fn hold(run: &str, (level, near): (&[f64], usize), on: &[bool]) -> Verdict {
    let windows = level.len().min(on.len());
    let onset = onset(level).min(windows.saturating_sub(1));
    let shows =
        |from: usize, to: usize| level[from..to.min(windows)].iter().any(|level| *level >= SHOWS);
    let raised: Vec<usize> = (1..windows).filter(|&n| on[n] && !on[n - 1]).collect();
    let groundless =
        (0..onset).filter(|&n| on[n] && !shows(n.saturating_sub(near), n + near + 1)).count();
    let at = (onset..windows).find(|&n| on[n]);
    Verdict {
        run: run.to_owned(),
        windows,
        onset,
        alarms: raised.len(),
        groundless: groundless as f64 / onset.max(1) as f64,
        early: raised.iter().filter(|&&n| n < onset && !shows(n, n + near + 1)).count(),
        delay: at.map(|at| (at - onset) as f64 / (windows - 1 - onset).max(1) as f64),
        on_at_end: on[windows.saturating_sub(3)..windows].contains(&true),
    }
}

/// The first snapshot after which the level never falls below [`SHOWS`] again.
fn onset(level: &[f64]) -> usize {
    level.iter().rposition(|level| *level < SHOWS).map_or(0, |last| last + 1)
}

/// A Critical held to the signal: the first snapshot that has one, where it stands and what it
/// shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FirstCritical {
    /// The snapshot.
    pub snapshot: usize,
    /// Time since the onset as a share of that from onset to end; negative before the onset.
    pub share: f64,
    /// The level there.
    pub level: f64,
    /// Snapshots with a Critical before half of the time from onset to end whose level is below
    /// twice the settled one.
    pub too_early: usize,
}

/// Holds the Criticals of a run, one flag a snapshot, to its level; `None` where there is none.
pub(crate) fn hold_critical(level: &[f64], critical: &[bool]) -> Option<FirstCritical> {
    let windows = level.len().min(critical.len());
    let onset = onset(level).min(windows.saturating_sub(1));
    let left = windows.saturating_sub(1).saturating_sub(onset).max(1);
    let share = |n: usize| (n as f64 - onset as f64) / left as f64;
    let told = || (0..windows).filter(|n| critical[*n]);
    let snapshot = told().next()?;
    let is_too_early = |n: &usize| share(*n) < CRITICAL_SHARE && level[*n] < CRITICAL_LEVEL;
    Some(FirstCritical {
        snapshot,
        share: share(snapshot),
        level: level[snapshot],
        too_early: told().filter(is_too_early).count(),
    })
}

/// The level of each snapshot of a recording `[snapshot][channel][sample]`.
pub(super) fn level(samples: &Array3<i32>, rate_hz: f64) -> Vec<f64> {
    let mut transforms = Transforms::new();
    let rows: Vec<Vec<f64>> = samples
        .outer_iter()
        .map(|snapshot| {
            let axes = snapshot.rows().into_iter();
            axes.flat_map(|axis| {
                let values: Vec<f64> = axis.iter().map(|value| f64::from(*value)).collect();
                parts(&values, rate_hz, &mut transforms)
            })
            .collect()
        })
        .collect();
    let columns = rows.first().map_or(0, Vec::len);
    let course = |column: usize| rows.iter().map(|row| row[column]).collect::<Vec<f64>>();
    let ratios: Vec<Vec<f64>> = (0..columns).map(|column| ratio(&course(column))).collect();
    (0..rows.len()).map(|n| ratios.iter().map(|ratio| ratio[n]).fold(0.0, f64::max)).collect()
}

/// RMS of a snapshot and of its bands.
fn parts(values: &[f64], rate_hz: f64, transforms: &mut Transforms) -> Vec<f64> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let mut work: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let rms = (work.iter().map(|value| value * value).sum::<f64>() / count).sqrt();
    let lines = transforms.forward(&mut work);
    let of_band = |(low, high): (f64, f64)| {
        let inside = lines
            .iter()
            .enumerate()
            .filter(|(k, _)| (low..=high).contains(&(*k as f64 * rate_hz / count)));
        (2.0 * inside.map(|(_, line)| line.norm_sqr()).sum::<f64>()).sqrt() / count
    };
    std::iter::once(rms).chain(BANDS_HZ.map(of_band)).collect()
}

/// A course over the lowest settled level so far.
fn ratio(course: &[f64]) -> Vec<f64> {
    let middle =
        |from: usize, to: usize| median(&course[from..to.min(course.len())]).unwrap_or(f64::NAN);
    let settled = |n: usize| {
        let n = n.max(60).min(course.len() - 1);
        middle(n.saturating_sub(50), n + 1)
    };
    let mut lowest = f64::INFINITY;
    (0..course.len())
        .map(|n| {
            lowest = lowest.min(settled(n));
            middle(n.saturating_sub(5), n + 6) / lowest
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alarm_is_held_to_what_the_signal_shows() {
        let level: Vec<f64> = (0..200).map(|n| if n < 150 { 1.0 } else { 2.0 }).collect();
        let right: Vec<bool> = (0..200).map(|n| n >= 155).collect();
        let verdict = hold("right", (&level, NEAR), &right);
        assert_eq!((verdict.onset, verdict.alarms, verdict.early), (150, 1, 0));
        assert!(verdict.delay.is_some_and(|delay| (0.05..0.15).contains(&delay)));
        assert!(!verdict.failed(), "{verdict:?}");
        let groundless: Vec<bool> = (0..200).map(|n| (20..80).contains(&n)).collect();
        let verdict = hold("groundless", (&level, NEAR), &groundless);
        assert_eq!((verdict.early, verdict.on_at_end), (1, false));
        assert!((verdict.groundless - 0.4).abs() < 1e-9 && verdict.failed());
    }

    /// Issue 35, "Must show": no Critical before half of the time from onset to end unless the
    /// level is doubled.
    #[test]
    fn a_critical_is_held_to_the_time_that_is_left_and_to_the_level() {
        let level: Vec<f64> = (0..201)
            .map(|n| if n < 100 { 1.0 } else { 1.4 + f64::from(u8::from(n >= 130)) })
            .collect();
        let from = |first: usize, last: usize| -> Vec<bool> {
            (0..201).map(|n| (first..=last).contains(&n)).collect()
        };
        assert_eq!(hold_critical(&level, &from(300, 300)), None);
        let early = hold_critical(&level, &from(90, 200)).expect("told");
        assert_eq!((early.snapshot, early.too_early), (90, 40));
        assert!((early.share + 0.1).abs() < 1e-9);
        let doubled = hold_critical(&level, &from(130, 200)).expect("told");
        assert_eq!((doubled.snapshot, doubled.too_early), (130, 0));
        let late = hold_critical(&[1.4; 101], &from(50, 100)).expect("told");
        assert_eq!((late.snapshot, late.too_early), (50, 0));
    }
}
