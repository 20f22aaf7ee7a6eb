//! Operating states that no key announces, found in the levels themselves.
//!
//! A machine that changes its load or speed moves its levels at once, keeps them there and brings
//! them back; what a bearing radiates of its own (impacts, defect lines, the high-frequency
//! envelope beyond the overall level) stays as it was. Damage grows. So a step that is flat on
//! either side, stays below [`MonitorSettings::strong_ratio`] and shows nothing that is specific to
//! bearings opens a state of its own, whose levels are those of the step. Whichever state the
//! levels jump to next is the one that windows are compared with; a level that creeps from one
//! state's level to the other's stays in its state and is judged there.

use std::collections::BTreeMap;

use pdm_dsp::robust::{MAD_TO_SIGMA, median, median_and_mad};
use serde::{Deserialize, Serialize};

use super::baseline::Baseline;
use super::company::Rise;
use super::feature::FeatureKind;
use super::packed::Packed;
use super::{Features, MonitorSettings};

/// Windows remembered: those that the slowest rule for levels looks at, before and after a step.
const REMEMBERED: usize = 30;

/// Least windows on either side of a step. Chosen: the median of three is not moved by one.
const LEAST_SIDE: usize = 3;

/// Most windows before a step that are looked at: a load of a few hours is enough.
const MOST_BEFORE: usize = 8;

/// Found states of one announced state. Chosen: two further loads beside the first, and one that a
/// rebuilt machine brings; more would make any level a state.
const MOST_FOUND: usize = 3;

/// Shapes and lines above this many robust standard deviations speak for a bearing. Chosen: the
/// median of several windows reaches two by chance in less than one of a thousand steps.
const SPECIFIC_SIGMA: f64 = 2.0;

/// The rise of one level beyond the others up to which they are alike, natural logarithm. Chosen:
/// 1.3 dB, twice the error of the median of six windows that stray by 8 % each.
const ALIKE: f64 = 0.15;

/// A share of a step: within a step's first window at least this share of it is done, and on the
/// plateau no more than its complement is still to come.
const AT_ONCE: f64 = 0.6;

/// The least size of a step, as a share of all that its plateau lies above the baseline. Chosen: a
/// third of it may be a season or a sway of some hours.
const MOST_OF: f64 = 0.7;

/// The latest levels and the state that they belong to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Steps {
    /// The announced state of the latest windows.
    announced: String,
    /// Natural logarithms of the latest levels by feature; NaN where not measured.
    latest: BTreeMap<String, Packed>,
    /// The found state that applies, by announced state; without an entry the announced one itself.
    current: BTreeMap<String, String>,
}

/// Change of each level, natural logarithm.
pub(super) type Changes = BTreeMap<String, f64>;

/// Whether all bearings of the machine took the step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Together {
    /// They did: a load may then move one level more than the others.
    Yes,
    /// There is no other bearing to tell.
    Unknown,
}

impl Steps {
    /// The state whose baseline applies to these levels, and takes them into memory.
    pub(super) fn state_of(
        &mut self,
        announced: &str,
        features: &Features,
        baselines: &BTreeMap<String, Baseline>,
    ) -> String {
        if self.announced != announced {
            announced.clone_into(&mut self.announced);
            self.latest.clear();
        }
        let present = self.current(announced, baselines);
        let state = self.jumped_to(announced, &present, features, baselines).unwrap_or(present);
        self.push(features);
        if state == announced {
            self.current.remove(announced);
        } else {
            self.current.insert(announced.to_owned(), state.clone());
        }
        state
    }

    /// The state of the window before, as long as its baseline is known.
    pub(super) fn current(
        &self,
        announced: &str,
        baselines: &BTreeMap<String, Baseline>,
    ) -> String {
        let found = self.current.get(announced).filter(|found| baselines.contains_key(*found));
        found.map_or_else(|| announced.to_owned(), Clone::clone)
    }

    /// Returns another state whose level these features have, if they jumped there.
    fn jumped_to(
        &self,
        announced: &str,
        present: &str,
        features: &Features,
        baselines: &BTreeMap<String, Baseline>,
    ) -> Option<String> {
        let here = offset(features, baselines.get(present)?)?;
        let others = baselines.iter().filter(|(name, baseline)| {
            belongs(name, announced) && name.as_str() != present && baseline.is_ready()
        });
        let others =
            others.filter_map(|(name, baseline)| Some((name, offset(features, baseline)?)));
        let (name, there) = others.min_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
        let apart = here - there;
        // downwards a state is more sensitive: only the way up has to be a jump
        let jumped = apart < 0.0
            || self
                .last_offset(baselines.get(present)?)
                .is_none_or(|last| here - last > 0.5 * apart);
        (there.abs() < here.abs() && jumped).then(|| name.clone())
    }

    /// Offset of the latest windows from a baseline.
    fn last_offset(&self, baseline: &Baseline) -> Option<f64> {
        let course = self.course(baseline);
        median(&course[course.len().saturating_sub(LEAST_SIDE)..])
    }

    /// The levels before and after a step to a plateau among the latest windows, if nothing in them
    /// is specific to bearings.
    ///
    /// `specific`: distances of shapes and lines in the latest windows, oldest first.
    pub(super) fn found<'a>(
        &self,
        (here, anchor): (&Baseline, &Baseline),
        specific: impl Iterator<Item = &'a Packed> + Clone,
        together: Together,
        settings: &MonitorSettings,
    ) -> Option<Changes> {
        let after = self.rise(here)?.windows;
        let shapes = specific.clone().count();
        if speaks_for_a_bearing(specific, after) {
            return None;
        }
        let changes = self.changes(here, after);
        let levels =
            || changes.iter().filter(|(key, _)| FeatureKind::of(key) == FeatureKind::Level);
        let common = median(&levels().map(|(_, change)| *change).collect::<Vec<_>>())?;
        // a single level, or levels without shapes, cannot tell a load from damage
        let can_tell = shapes > 0 && levels().count() > 1;
        let alike =
            together == Together::Yes || levels().all(|(_, change)| *change < common + ALIKE);
        let most = settings.strong_ratio.ln();
        let within = levels().all(|(key, change)| {
            let heights = here.normal(key).zip(anchor.normal(key));
            heights.is_some_and(|(here, first)| here.above_anchor_of(first) + change < most)
        });
        (can_tell && alike && within).then_some(changes)
    }

    /// The last step upwards to a plateau among the latest windows.
    pub(super) fn rise(&self, here: &Baseline) -> Option<Rise> {
        plateau(&self.course(here)).map(|(windows, height)| Rise { windows, height })
    }

    /// The state that applies after the latest window.
    pub(super) fn applying(&self, baselines: &BTreeMap<String, Baseline>) -> String {
        self.current(&self.announced, baselines)
    }

    /// Medians of the latest `windows` levels, natural logarithm.
    pub(super) fn latest(&self, windows: usize) -> BTreeMap<String, f64> {
        self.medians(windows, 0)
    }

    /// Returns the same of the windows before the latest one.
    pub(super) fn before_latest(&self, windows: usize) -> BTreeMap<String, f64> {
        self.medians(windows, 1)
    }

    fn medians(&self, windows: usize, back: usize) -> BTreeMap<String, f64> {
        let one = |(key, column): (&String, &Packed)| {
            let end = column.0.len().saturating_sub(back);
            let values = &column.0[end.saturating_sub(windows)..end];
            let finite = values.iter().filter(|v| v.is_finite()).map(|v| f64::from(*v));
            Some((key.clone(), median(&finite.collect::<Vec<_>>())?))
        };
        self.latest_levels().filter_map(one).collect()
    }

    /// Whether the latest `windows` do not rise any more.
    pub(super) fn is_level_kept(&self, windows: usize) -> bool {
        self.latest_levels().all(|(_, column)| {
            let latest: Vec<f64> =
                Packed(column.0[column.0.len().saturating_sub(windows)..].to_vec()).finite();
            is_flat(&latest, ALIKE, scatter(&latest))
        })
    }

    /// Natural logarithms of the latest levels by feature, oldest first; NaN where not measured.
    pub(super) fn latest_levels(&self) -> impl Iterator<Item = (&String, &Packed)> {
        self.latest.iter().filter(|(key, _)| FeatureKind::of(key) == FeatureKind::Level)
    }

    /// Names a state for the step and makes it the one that applies.
    pub(super) fn open(
        &mut self,
        announced: &str,
        baselines: &BTreeMap<String, Baseline>,
    ) -> Option<String> {
        let names = (2..).map(|number| format!("{announced}{MARK}{number}")).take(MOST_FOUND);
        let free = names.into_iter().find(|name| !baselines.contains_key(name))?;
        self.current.insert(announced.to_owned(), free.clone());
        Some(free)
    }

    fn push(&mut self, features: &Features) {
        let leads =
            |key: &str| matches!(FeatureKind::of(key), FeatureKind::Level | FeatureKind::Velocity);
        for key in features.keys().filter(|key| leads(key)) {
            self.latest.entry(key.clone()).or_default();
        }
        for (key, column) in &mut self.latest {
            let value = features.get(key).copied().filter(|value| *value > 0.0);
            column.push(value.map_or(f64::NAN, f64::ln), REMEMBERED);
        }
        self.latest.retain(|_, column| column.0.iter().any(|value| value.is_finite()));
    }

    /// Returns how far the levels of the latest windows lie above a baseline: the median of them,
    /// window by window.
    fn course(&self, baseline: &Baseline) -> Vec<f64> {
        let columns: Vec<(&Packed, f64)> = self
            .latest
            .iter()
            .filter(|(key, _)| FeatureKind::of(key) == FeatureKind::Level)
            .filter_map(|(key, column)| Some((column, baseline.normal(key)?.log_centre()?)))
            .collect();
        let windows = columns.iter().map(|(column, _)| column.0.len()).min().unwrap_or(0);
        let offset = |back: usize| {
            let values = columns
                .iter()
                .map(|(column, centre)| f64::from(column.0[column.0.len() - back]) - centre);
            median(&values.filter(|value| value.is_finite()).collect::<Vec<_>>())
        };
        (1..=windows).rev().filter_map(offset).collect()
    }

    /// Change of each level in the latest `after` windows against a baseline.
    pub(super) fn changes(&self, baseline: &Baseline, after: usize) -> Changes {
        let change = |(key, column): (&String, &Packed)| {
            let latest = &column.0[column.0.len().saturating_sub(after)..];
            let values: Vec<f64> =
                latest.iter().filter(|v| v.is_finite()).map(|v| f64::from(*v)).collect();
            Some((key.clone(), median(&values)? - baseline.normal(key)?.log_centre()?))
        };
        self.latest.iter().filter_map(change).collect()
    }
}

/// Stands between an announced state's name and the number of a found one.
const MARK: char = '~';

/// Whether a state is the announced one or was found in it.
fn belongs(name: &str, announced: &str) -> bool {
    let rest = name.strip_prefix(announced);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(MARK))
}

/// Returns how far the levels of a window lie above a baseline: the median of them.
fn offset(features: &Features, baseline: &Baseline) -> Option<f64> {
    let levels = features.iter().filter(|(key, value)| {
        FeatureKind::of(key) == FeatureKind::Level && value.is_finite() && **value > 0.0
    });
    let offsets: Vec<f64> = levels
        .filter_map(|(key, value)| Some(value.ln() - baseline.normal(key)?.log_centre()?))
        .collect();
    median(&offsets)
}

/// Whether shapes or lines lie above their baseline in the latest `windows`, by their distances.
pub(super) fn speaks_for_a_bearing<'a>(
    mut specific: impl Iterator<Item = &'a Packed>,
    windows: usize,
) -> bool {
    specific.any(|column| {
        let latest = Packed(column.0[column.0.len().saturating_sub(windows)..].to_vec()).finite();
        median(&latest).is_some_and(|distance| distance > SPECIFIC_SIGMA)
    })
}

/// Windows since the last step upwards of a course that is flat before and after it, and the step's
/// height.
fn plateau(course: &[f64]) -> Option<(usize, f64)> {
    let end = course.len();
    let step = |at: &usize| {
        let (before, after) = (&course[at.saturating_sub(MOST_BEFORE)..*at], &course[*at..]);
        Some((*at, median(after)? - median(before)?, course[*at] - course[*at - 1]))
    };
    let splits = LEAST_SIDE..=end.checked_sub(LEAST_SIDE)?;
    let (at, height, _) = splits
        .filter_map(|at| step(&at))
        .filter(|(_, height, at_once)| *at_once > AT_ONCE * height && *height > 0.0)
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    // what was up before the step is damage that creeps
    if height < MOST_OF * median(&course[at..])? {
        return None;
    }
    let (before, after) = (&course[at.saturating_sub(MOST_BEFORE)..at], &course[at..]);
    let scatter = scatter(course);
    let is_kept = is_flat(before, height, scatter) && is_flat(after, height, scatter);
    is_kept.then_some((end - at, height))
}

/// Whether the later half of the values lies no higher than the earlier one by a part of the step,
/// or by three standard errors of the difference of their medians.
fn is_flat(values: &[f64], height: f64, scatter: f64) -> bool {
    let half = values.len() / 2;
    let ends = median(&values[..half]).zip(median(&values[values.len() - half..]));
    let error = 3.0 * 1.25 * scatter * (2.0 / half.max(1) as f64).sqrt();
    let allowed = ((1.0 - AT_ONCE) * height).min((0.25 * height).max(error));
    ends.is_none_or(|(first, last)| last - first <= allowed)
}

/// Standard deviation of the windows, by the differences of neighbours.
fn scatter(course: &[f64]) -> f64 {
    let steps: Vec<f64> = course.windows(2).map(|pair| pair[1] - pair[0]).collect();
    median_and_mad(&steps).map_or(0.0, |(_, mad)| MAD_TO_SIGMA * mad) / std::f64::consts::SQRT_2
}
