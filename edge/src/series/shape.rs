//! Finds faults in the shape of one series of a measuring station (peaks, a drift, a drop-out), and
//! computes a vector of its shape, by which series are compared.
//!
//! A drop-out is searched for in the values as they stand; without one the daily cycle is taken
//! off; values that stand out of their neighbours are spikes; without spikes the level is followed
//! for a drift. So one fault is not taken for another. Everything is pure: values in, findings out.

use pdm_dsp::robust::{median, median_and_mad, quantile, running_median};
use serde::Serialize;

/// Missing or equal hours in a row from which on they are a drop-out. Chosen: analysers calibrate
/// themselves for an hour or two a day.
const GAP: usize = 4;
/// How probable a run of equal values may be by chance before it is a drop-out, as an expected
/// number in the series. Chosen: a false one in ten thousand series.
const BY_CHANCE: f64 = 1e-4;
/// Values around one, of which the median is its neighbourhood: peaks of up to three are seen.
const NEIGHBOURS: usize = 7;
/// Robust standard deviations (1.4826 MAD) above its neighbourhood that make a spike. Data: 300
/// series of the generator `pdm_harness::planted`, seeds 1 to 5: sound ones reach 6.4, the 1st
/// percentile of planted peaks is 10.
const SPIKE_SIGMAS: f64 = 8.0;
/// Times the level's own changes from day to day that its change from the first third to the last
/// twelfth must be. Data: the same series: without a drift they reach 3.0, of 75 drifts five stay
/// below 3.2.
const DRIFT_TIMES: f64 = 3.2;
/// Least share of the level that a drift changes. Chosen: below an eighth nobody acts.
const DRIFT_SHARE: f64 = 0.25;
/// The factor from the median absolute deviation to the standard deviation of a normal
/// distribution.
const MAD_TO_SIGMA: f64 = 1.4826;
/// Fewest values that can be judged: a day of hours.
pub const FEWEST: usize = 24;
/// Fewest days of which a daily cycle is known.
const FEWEST_DAYS: usize = 3;
/// Most findings that are told.
const MOST: usize = 20;

/// A kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Values are missing, or stay the same longer than chance allows.
    Dropout,
    /// A value far from its neighbours.
    Spike,
    /// The level moves away from where it was.
    Drift,
}

impl Kind {
    /// The kind's word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Dropout => "dropout",
            Self::Spike => "spike",
            Self::Drift => "drift",
        }
    }
}

/// A fault in a series.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ShapeFinding {
    /// The kind.
    pub kind: Kind,
    /// The first value it concerns, from 0.
    pub first: usize,
    /// The last one.
    pub last: usize,
    /// Its size, in the unit of the series: the peak above its neighbourhood, the change of the
    /// level, the value at which a drop-out stands (`None` where values are missing).
    pub amount: Option<f64>,
    /// How sure: robust standard deviations of a spike, times the usual change of a drift, values
    /// of a drop-out.
    pub strength: f64,
}

/// The shape of a series.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// The faults, in the order drop-out, spike, drift.
    pub findings: Vec<ShapeFinding>,
    /// A vector of length 1 that is near that of a series of like shape.
    pub embedding: Vec<f64>,
}

/// The shape of a series of equally spaced values; `day` is the number of values a day, if that is
/// a whole number above 1. Fewer than [`FEWEST`] values give only drop-outs.
pub fn shape(values: &[Option<f64>], day: Option<usize>) -> Shape {
    let mut findings = dropouts(values);
    let mut kept: Vec<Option<f64>> = values.to_vec();
    for finding in &findings {
        kept[finding.first..=finding.last].fill(None);
    }
    let usable = kept.iter().flatten().count();
    let mut parts = Parts::default();
    if usable >= FEWEST {
        let course = Course::of(&kept, day);
        let spikes = course.spikes();
        parts.spike = spikes.iter().map(|one| one.strength).fold(course.greatest, f64::max);
        parts.spikes = spikes.len();
        let level = course.level(&spikes, day);
        parts.drift = level.times.min(20.0) * level.change.signum();
        parts.quiet = level.is_quiet;
        findings.extend(spikes);
        findings.extend(level.finding(values.len()));
    }
    parts.lost = findings
        .iter()
        .filter(|one| one.kind == Kind::Dropout)
        .map(|one| one.last + 1 - one.first)
        .sum();
    findings.truncate(MOST);
    Shape { embedding: parts.vector(&kept, values.len()), findings }
}

/// Runs of missing values, and of equal ones that are longer than chance allows.
fn dropouts(values: &[Option<f64>]) -> Vec<ShapeFinding> {
    let missing = runs(values.iter().enumerate().filter(|(_, value)| value.is_none()), |_, _| true);
    let present = values.iter().enumerate().filter(|(_, value)| value.is_some());
    // a single missing value does not end a run of equal ones
    let equal = runs(present, |a, b| a.zip(*b).is_some_and(|(a, b)| a.total_cmp(&b).is_eq()));
    let repeated: usize = equal.iter().map(|(first, last)| last - first).sum();
    let is_frozen = |&(first, last): &(usize, usize)| {
        // how often neighbours are equal elsewhere says how long a run chance makes
        let (own, pairs) = (last - first, values.len().saturating_sub(1));
        let chance = (repeated - own + 1) as f64 / (pairs - own + 2) as f64;
        own + 1 >= GAP && values.len() as f64 * chance.powf(own as f64) < BY_CHANCE
    };
    let gaps = missing.into_iter().filter(|(first, last)| last + 1 - first >= GAP);
    let mut found: Vec<(usize, usize)> =
        gaps.chain(equal.iter().copied().filter(is_frozen)).collect();
    found.sort_unstable();
    found
        .into_iter()
        .map(|(first, last)| ShapeFinding {
            kind: Kind::Dropout,
            first,
            last,
            amount: values[first],
            strength: (last + 1 - first) as f64,
        })
        .collect()
}

/// First and last place of each run of items that follow each other, at most one place left out,
/// and are the same.
fn runs<'v>(
    items: impl Iterator<Item = (usize, &'v Option<f64>)>,
    same: impl Fn(Option<f64>, &Option<f64>) -> bool,
) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    let mut before = None;
    for (at, value) in items {
        let previous = before.replace(*value);
        match (runs.last_mut(), previous) {
            (Some((_, last)), Some(previous)) if at <= *last + 2 && same(previous, value) => {
                *last = at;
            }
            _ => runs.push((at, at)),
        }
    }
    runs
}

/// The values that are there, without their daily cycle.
struct Course {
    /// Where each value stands in the series.
    at: Vec<usize>,
    values: Vec<f64>,
    /// Distance of each value from its neighbourhood, in robust standard deviations.
    distances: Vec<f64>,
    /// Distance in the unit of the series.
    heights: Vec<f64>,
    /// The greatest distance.
    greatest: f64,
}

impl Course {
    fn of(kept: &[Option<f64>], day: Option<usize>) -> Self {
        let (at, mut values): (Vec<usize>, Vec<f64>) = kept
            .iter()
            .enumerate()
            .filter_map(|(at, value)| value.map(|value| (at, value)))
            .unzip();
        if let Some(day) = day.filter(|day| kept.len() >= FEWEST_DAYS * day) {
            let slow = running_median(&values, day);
            let mut phases: Vec<Vec<f64>> = vec![Vec::new(); day];
            for ((at, value), slow) in at.iter().zip(&values).zip(&slow) {
                phases[at % day].push(value - slow);
            }
            let cycle: Vec<f64> =
                phases.iter().map(|phase| median(phase).unwrap_or_default()).collect();
            for (at, value) in at.iter().zip(&mut values) {
                *value -= cycle[at % day];
            }
        }
        let around = running_median(&values, NEIGHBOURS);
        let heights: Vec<f64> =
            values.iter().zip(&around).map(|(value, around)| value - around).collect();
        let (centre, mad) = median_and_mad(&heights).unwrap_or_default();
        // values that hardly differ have no scale of their own: a hundredth of the level is one
        let least = 0.01 * median(&values).unwrap_or_default().abs();
        let sigma = (MAD_TO_SIGMA * mad).max(least).max(f64::MIN_POSITIVE);
        let distances: Vec<f64> =
            heights.iter().map(|height| (height - centre).abs() / sigma).collect();
        let greatest = distances.iter().copied().fold(0.0, f64::max);
        Self { at, values, distances, heights, greatest }
    }

    fn spikes(&self) -> Vec<ShapeFinding> {
        let mut spikes: Vec<ShapeFinding> = Vec::new();
        for (place, &distance) in self.distances.iter().enumerate() {
            if distance < SPIKE_SIGMAS {
                continue;
            }
            let (at, height) = (self.at[place], self.heights[place]);
            match spikes.last_mut().filter(|one| at <= one.last + 1) {
                Some(one) => {
                    one.last = at;
                    if distance > one.strength {
                        (one.strength, one.amount) = (distance, Some(height));
                    }
                }
                None => spikes.push(ShapeFinding {
                    kind: Kind::Spike,
                    first: at,
                    last: at,
                    amount: Some(height),
                    strength: distance,
                }),
            }
        }
        spikes
    }

    fn level(&self, spikes: &[ShapeFinding], day: Option<usize>) -> Level {
        let is_spike =
            |at: usize| spikes.iter().any(|spike| (spike.first..=spike.last).contains(&at));
        let (at, calm): (Vec<usize>, Vec<f64>) = self
            .at
            .iter()
            .zip(&self.values)
            .filter(|(at, _)| !is_spike(**at))
            .map(|(at, value)| (*at, *value))
            .unzip();
        let n = calm.len();
        let (Some(before), Some(after)) = (median(&calm[..n / 3]), median(&calm[n - n / 12..]))
        else {
            return Level::default();
        };
        // how much the level changes over as long a time where nothing drifts: its first third
        let block = day.unwrap_or(n / 14).clamp(3, n.max(3));
        let days: Vec<f64> = calm.chunks(block).filter_map(median).collect();
        let steps: Vec<f64> = days.windows(2).map(|pair| pair[1] - pair[0]).collect();
        // what a steady drift adds to every step is not part of the usual change
        let steady = median(&steps).unwrap_or_default();
        let steps: Vec<f64> = steps.iter().map(|step| (step - steady).abs()).collect();
        let usual = MAD_TO_SIGMA * median(&steps).unwrap_or_default();
        let level = median(&calm).unwrap_or_default().abs();
        let usual = usual.max(0.02 * level).max(f64::MIN_POSITIVE);
        let change = after - before;
        let first = at.get(n / 3).copied().unwrap_or_default();
        Level {
            first,
            change,
            times: change.abs() / usual,
            share: change.abs() / before.abs().max(f64::MIN_POSITIVE),
            is_quiet: spikes.is_empty(),
        }
    }
}

/// How the level moved.
#[derive(Debug, Default)]
struct Level {
    first: usize,
    change: f64,
    times: f64,
    share: f64,
    is_quiet: bool,
}

impl Level {
    fn finding(&self, length: usize) -> Option<ShapeFinding> {
        let is_drift = self.times >= DRIFT_TIMES && self.share >= DRIFT_SHARE;
        is_drift.then(|| ShapeFinding {
            kind: Kind::Drift,
            first: self.first,
            last: length.saturating_sub(1),
            amount: Some(self.change),
            strength: self.times,
        })
    }
}

/// The components of the vector of a shape.
#[derive(Debug, Default)]
struct Parts {
    spike: f64,
    spikes: usize,
    drift: f64,
    quiet: bool,
    lost: usize,
}

impl Parts {
    /// Each part is scaled to about 1 for a clear case of its fault; levels of quantiles and parts
    /// of time say how the rest of the series looks.
    fn vector(&self, kept: &[Option<f64>], length: usize) -> Vec<f64> {
        let present: Vec<f64> = kept.iter().flatten().copied().collect();
        let (centre, mad) = median_and_mad(&present).unwrap_or_default();
        let sigma = (MAD_TO_SIGMA * mad).max(f64::MIN_POSITIVE);
        let scaled = |value: f64| ((value - centre) / sigma / 6.0).clamp(-1.0, 1.0);
        let mut vector = vec![
            (self.spike / SPIKE_SIGMAS).ln_1p() * 1.5 * f64::from(u8::from(self.spikes > 0)),
            (self.spikes as f64 / 3.0).min(1.0),
            self.drift.abs() / DRIFT_TIMES / 2.0,
            self.drift / DRIFT_TIMES / 2.0,
            (self.lost as f64 / length.max(1) as f64 * 12.0).min(2.0),
            if self.lost > 0 { 1.5 } else { 0.0 },
            if self.quiet && self.lost == 0 && self.drift.abs() < DRIFT_TIMES { 1.0 } else { 0.0 },
        ];
        for q in [0.02, 0.25, 0.75, 0.98] {
            vector.push(0.5 * scaled(quantile(&present, q).unwrap_or(centre)));
        }
        for part in kept.chunks(length.div_ceil(6).max(1)) {
            let part: Vec<f64> = part.iter().flatten().copied().collect();
            vector.push(0.5 * scaled(median(&part).unwrap_or(centre)));
        }
        let norm = vector.iter().map(|value| value * value).sum::<f64>().sqrt();
        if norm > 0.0 {
            for value in &mut vector {
                *value /= norm;
            }
        }
        vector
    }
}

/// Returns how alike two shapes are: the cosine of their vectors, -1 … 1.
pub fn likeness(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>().clamp(-1.0, 1.0)
}
