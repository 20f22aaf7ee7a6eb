//! The baseline of one operating state: where each feature lies, and how far it strays, in health.
//!
//! Learning collects a block of windows. While the levels in it still fall (run-in: fresh grease,
//! fresh surfaces) it lets go of the older half and waits. A learnt baseline goes on watching calm
//! blocks: where a level has settled lower it follows down at once, up no faster than a season
//! moves it, so damage is never learnt; how far the blocks' medians wander becomes part of the
//! spread. After a long standstill the levels are collected anew, and taken over where they lie
//! within reach of the first ones: a machine that was opened, greased or loaded otherwise. Windows
//! beyond reach are another load or damage and are not collected: of two levels in one block the
//! spread would be so wide that damage hides in it.

use std::collections::BTreeMap;

use pdm_dsp::robust::{MAD_TO_SIGMA, median, median_and_mad, quantile};
use pdm_shared::event::{Baseline as Status, BaselineState};
use serde::{Deserialize, Serialize};

use super::feature::FeatureKind;
use super::packed::Packed;
use super::presence::InService;
use super::{Features, MonitorSettings};

/// Most features that a state keeps, by order of their keys: a bound on the state's size.
const MOST_FEATURES: usize = 32;

/// `Φ⁻¹(0.9) − Φ⁻¹(0.1)`: deciles of Gaussian values in standard deviations.
const DECILES_TO_SIGMA: f64 = 2.563_103_131_089_2;

/// The distance credited to a value that cannot be: far below, never above.
const FAR_BELOW: f64 = -100.0;

/// Median and spread of every feature in health.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Baseline {
    /// Windows offered while learning.
    offered: u32,
    /// Windows that the present baseline was learnt from.
    windows: u64,
    /// When the state was last seen, in windows of the monitor.
    pub(super) last_seen: u64,
    block: Block,
    learnt: Option<BTreeMap<String, Normal>>,
    /// The machine stood for long: the levels are being learnt anew.
    #[serde(default)]
    resettling: bool,
    /// Windows since then whose levels lie beyond reach of those that were learnt first.
    #[serde(default)]
    beyond_reach: usize,
    /// When the block that is being collected began, hours since the monitor's first window.
    #[serde(default)]
    block_since_h: Option<f64>,
}

/// Windows collected column by column; a feature that a window lacks is NaN there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Block {
    windows: usize,
    columns: BTreeMap<String, Packed>,
}

/// The level and scatter of one feature in health.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Normal {
    log: bool,
    centre: f64,
    spread: f64,
    /// The centre when first learnt: what other states are aligned to.
    anchor: f64,
    /// Medians of the latest calm blocks.
    medians: Packed,
}

impl Baseline {
    pub(super) const fn is_ready(&self) -> bool {
        self.learnt.is_some()
    }

    pub(super) const fn status(&self) -> Status {
        let state = if self.is_ready() { BaselineState::Ready } else { BaselineState::Learning };
        Status { state, windows: self.windows }
    }

    /// The normal range of this feature, once learnt.
    pub(super) fn normal(&self, key: &str) -> Option<&Normal> {
        self.learnt.as_ref()?.get(key)
    }

    /// The baseline of a state whose levels lie as far above this one's as those of a step: what
    /// is normal there until its own windows tell.
    pub(super) fn stepped(&self, changes: &BTreeMap<String, f64>) -> Self {
        let mut learnt = self.learnt.clone().unwrap_or_default();
        for (key, normal) in &mut learnt {
            if let Some(change) = changes.get(key).filter(|_| normal.log) {
                normal.centre += change;
                normal.anchor = normal.centre;
                normal.medians = Packed::default();
            }
        }
        Self {
            windows: self.windows,
            last_seen: self.last_seen,
            learnt: Some(learnt),
            ..Self::default()
        }
    }

    /// The machine stood for long, and its levels are being learnt anew.
    pub(super) const fn is_resettling(&self) -> bool {
        self.resettling
    }

    /// The machine runs again after a long standstill.
    pub(super) fn restart(&mut self) {
        self.let_go();
        if self.is_ready() {
            self.resettling = true;
            self.offered = 0;
            self.beyond_reach = 0;
        }
    }

    /// The time at which the present block began is no longer known: the clock was set back.
    pub(super) const fn forget_times(&mut self) {
        self.block_since_h = None;
    }

    /// Takes a healthy window into account. `now_h`: hours since the monitor's first window.
    pub(super) fn learn(&mut self, features: &Features, now_h: f64, settings: &MonitorSettings) {
        let size = settings.baseline_windows.clamp(10, 1000) as usize;
        if self.resettling && self.is_beyond_reach(features, settings) {
            // a load that comes and goes: a spread over two states would hide damage in both
            self.beyond_reach += 1;
            if self.beyond_reach >= size {
                self.resettling = false;
                self.let_go();
            }
            return;
        }
        self.block.push(features);
        if self.learnt.is_none() {
            self.block.forget_absent();
        }
        let since_h = *self.block_since_h.get_or_insert(now_h);
        let settles = self.resettling || self.learnt.is_none();
        self.offered = self.offered.saturating_add(u32::from(settles));
        if self.learnt.is_none() {
            self.windows = self.block.windows.min(size) as u64;
        }
        if self.block.windows < size {
            return;
        }
        if settles && self.block.runs_in() && self.offered < settings.run_in_windows {
            self.block.forget_oldest(size / 2);
            return;
        }
        match &mut self.learnt {
            None => self.learnt = Some(self.block.normals()),
            Some(learnt) if self.resettling => settle(learnt, &self.block, settings),
            Some(learnt) => {
                let days = (now_h - since_h).max(0.0) / 24.0;
                follow(learnt, &self.block, days * settings.drift_per_day);
                self.windows = self.windows.saturating_add(self.block.windows as u64);
            }
        }
        self.resettling = false;
        self.let_go();
    }

    /// Whether a window's levels, the median of them, lie beyond what [`settle`] takes over.
    fn is_beyond_reach(&self, features: &Features, settings: &MonitorSettings) -> bool {
        let above = |(key, value): (&String, &f64)| {
            let centre = self.normal(key)?.log_centre()?;
            (FeatureKind::of(key).leads() && *value > 0.0).then(|| value.ln() - centre)
        };
        let above: Vec<f64> = features.iter().filter_map(above).collect();
        median(&above).is_some_and(|above| above >= settings.level_ratio.ln())
    }

    /// The levels in service: those that were learnt first, or that the windows being collected
    /// show.
    pub(super) fn in_service(&self) -> Option<InService> {
        match &self.learnt {
            Some(learnt) => InService::of(|key| Some(learnt.get(key)?.first_level())),
            None => self.block.in_service(),
        }
    }

    /// The levels that have grown by [`MonitorSettings::strong_ratio`] and more while they were
    /// being collected: no windows to learn health from.
    pub(super) fn grows(&self, settings: &MonitorSettings) -> Vec<String> {
        self.block.risen(settings.strong_ratio.ln())
    }

    /// Returns the highest of the latest levels (natural logarithms) as a multiple of the level of
    /// the first windows being collected.
    pub(super) fn grown_to(&self, latest: &BTreeMap<String, f64>) -> Option<f64> {
        let grown = latest.iter().filter_map(|(key, level)| Some(level - self.block.begun(key)?));
        grown.max_by(f64::total_cmp).map(f64::exp).filter(|ratio| ratio.is_finite())
    }

    /// Lets go of the block that was being collected: it is not calm.
    pub(super) fn disturb(&mut self) {
        if self.is_ready() {
            self.let_go();
        }
    }

    fn let_go(&mut self) {
        self.block = Block::default();
        self.block_since_h = None;
    }
}

/// Follows a calm block: down where a level fell, up by at most `drift` (a ratio), and the wander
/// of the medians into the spread.
fn follow(learnt: &mut BTreeMap<String, Normal>, block: &Block, drift: f64) {
    let seen = block.normals();
    let fell = seen.iter().any(|(key, new)| {
        let old = learnt.get(key);
        FeatureKind::of(key).leads()
            && old.is_some_and(|old| new.centre < old.centre - 0.5 * old.spread)
    });
    for (key, new) in seen {
        let Some(old) = learnt.get_mut(&key) else {
            learnt.insert(key, new);
            continue;
        };
        if new.log != old.log {
            continue;
        }
        old.medians.push(new.centre, 16);
        // background noise that goes down lets impacts stand out: shapes are learnt anew with it
        if new.centre < old.centre || (fell && FeatureKind::of(&key) == FeatureKind::Shape) {
            old.centre = new.centre;
            old.spread = new.spread.max(0.5 * old.spread);
        } else if old.log {
            old.centre = new.centre.min(old.centre + drift);
        }
        old.spread = old.spread.max(wander(&old.medians).min(2.0 * old.spread));
    }
}

/// Takes over the levels of a machine that runs again after a long standstill, where no level lies
/// beyond reach of those that were learnt first.
fn settle(learnt: &mut BTreeMap<String, Normal>, block: &Block, settings: &MonitorSettings) {
    for (key, new) in block.normals() {
        match learnt.get_mut(&key) {
            Some(old) if new.log == old.log => {
                let step = if old.log { settings.level_ratio.ln() } else { 4.0 * old.spread };
                let most = if old.log { settings.strong_ratio.ln() } else { 8.0 * old.spread };
                if new.centre < old.centre + step && new.centre < old.anchor + most {
                    old.centre = new.centre;
                    old.spread = new.spread.max(0.5 * old.spread);
                    old.medians = Packed::default();
                }
            }
            Some(_) => {}
            None => {
                learnt.insert(key, new);
            }
        }
    }
}

/// Standard deviation of the latest blocks' medians around their line of descent or rest.
fn wander(medians: &Packed) -> f64 {
    let medians = medians.finite();
    if medians.len() < 4 {
        return 0.0;
    }
    // differences of neighbours: a slow run-in is not wander
    let steps: Vec<f64> = medians.windows(2).map(|pair| pair[1] - pair[0]).collect();
    median_and_mad(&steps).map_or(0.0, |(_, mad)| MAD_TO_SIGMA * mad / std::f64::consts::SQRT_2)
}

impl Block {
    fn push(&mut self, features: &Features) {
        for (key, value) in features {
            if !value.is_finite()
                || (!self.columns.contains_key(key) && self.columns.len() >= MOST_FEATURES)
            {
                continue;
            }
            let column = self.columns.entry(key.clone()).or_default();
            column.0.resize(self.windows, f32::NAN);
            column.0.push(*value as f32);
        }
        self.windows += 1;
    }

    fn in_service(&self) -> Option<InService> {
        InService::reached(|key| self.columns.get(key).map(Packed::finite).unwrap_or_default())
    }

    /// Lets go of the windows that show no machine in service, by what the others show: a point
    /// that was switched on while its machine stood.
    fn forget_absent(&mut self) {
        let Some(service) = self.in_service() else { return };
        let is_kept = |at: usize| {
            let value = |key: &str| self.columns.get(key)?.0.get(at).map(|v| f64::from(*v));
            !service.is_absent(value)
        };
        let kept: Vec<bool> = (0..self.windows).map(is_kept).collect();
        if kept.iter().all(|kept| *kept) {
            return;
        }
        for column in self.columns.values_mut() {
            let mut kept = kept.iter();
            column.0.retain(|_| kept.next().copied().unwrap_or(true));
        }
        self.windows = kept.iter().filter(|kept| **kept).count();
    }

    fn forget_oldest(&mut self, windows: usize) {
        let kept = self.windows.saturating_sub(windows);
        for column in self.columns.values_mut() {
            column.0.resize(self.windows, f32::NAN);
            column.0.drain(..self.windows - kept);
        }
        self.windows = kept;
    }

    /// Returns the normal values by this block, for each feature that half of its windows have.
    fn normals(&self) -> BTreeMap<String, Normal> {
        let columns = self.columns.iter().map(|(key, column)| (key, column.finite()));
        columns
            .filter(|(_, values)| 2 * values.len() >= self.windows)
            .filter_map(|(key, values)| {
                Some((key.clone(), Normal::of(FeatureKind::of(key), values)?))
            })
            .collect()
    }

    /// Levels whose latest three windows lie above the first third by so much, in the logarithm.
    fn risen(&self, by: f64) -> Vec<String> {
        let risen = |(key, column): (&String, &Packed)| {
            let values = logarithms(&column.finite())?;
            let first = self.begun(key)?;
            (median(&values[values.len() - 3..])? > first + by).then(|| key.clone())
        };
        self.columns.iter().filter_map(risen).collect()
    }

    /// The level of the first third of the windows, natural logarithm; of nine windows at least.
    fn begun(&self, key: &str) -> Option<f64> {
        let column =
            self.columns.get(key).filter(|_| FeatureKind::of(key) == FeatureKind::Level)?;
        let values = logarithms(&column.finite()).filter(|values| values.len() >= 9)?;
        median(&values[..values.len() / 3])
    }

    /// Whether a level is lower in the last third than in the first, beyond its own scatter.
    fn runs_in(&self) -> bool {
        self.columns.iter().filter(|(key, _)| FeatureKind::of(key).leads()).any(|(key, column)| {
            let kind = FeatureKind::of(key);
            let values = column.finite();
            let third = values.len() / 3;
            let Some(values) = logarithms(&values).filter(|_| third >= 3) else { return false };
            let steps: Vec<f64> = values.windows(2).map(|pair| pair[1] - pair[0]).collect();
            let scatter = median_and_mad(&steps).map_or(0.0, |(_, mad)| MAD_TO_SIGMA * mad)
                / std::f64::consts::SQRT_2;
            let ends = median(&values[..third]).zip(median(&values[values.len() - third..]));
            // standard error of the difference of two medians, times three
            let error = 3.0 * 1.25 * scatter.max(kind.floor()) * (2.0 / third as f64).sqrt();
            ends.is_some_and(|(first, last)| first - last > error.max(2.0 * kind.floor()))
        })
    }
}

/// The logarithms, if all values are positive.
fn logarithms(values: &[f64]) -> Option<Vec<f64>> {
    values.iter().all(|value| *value > 0.0).then(|| values.iter().map(|v| v.ln()).collect())
}

impl Normal {
    fn of(kind: FeatureKind, values: Vec<f64>) -> Option<Self> {
        let logs = if kind.may_be_log() { logarithms(&values) } else { None };
        let log = logs.is_some();
        let values = logs.unwrap_or(values);
        let (centre, mad) = median_and_mad(&values)?;
        // deciles see what the MAD of a quantised or skewed feature does not
        let deciles = quantile(&values, 0.9)? - quantile(&values, 0.1)?;
        let relative = !log && kind != FeatureKind::Decibel;
        let floor = kind.floor() * if relative { centre.abs().max(1e-9) } else { 1.0 };
        let spread = (MAD_TO_SIGMA * mad).max(deciles / DECILES_TO_SIGMA).max(floor);
        Some(Self { log, centre, spread, anchor: centre, medians: Packed::default() })
    }

    /// Robust standard deviations above the centre.
    pub(super) fn distance(&self, value: f64) -> f64 {
        let distance = self.scaled(value).map_or(FAR_BELOW, |y| (y - self.centre) / self.spread);
        distance.clamp(FAR_BELOW, 1000.0)
    }

    /// Returns the value that lies `distance` robust standard deviations above the centre.
    pub(super) fn at_distance(&self, distance: f64) -> f64 {
        self.unscaled(self.centre + distance * self.spread)
    }

    /// The healthy level's natural logarithm, where that is what is compared.
    pub(super) fn log_centre(&self) -> Option<f64> {
        self.log.then_some(self.centre)
    }

    /// Returns how far the centre lies above the first centre of another normal, natural logarithm.
    pub(super) fn above_anchor_of(&self, other: &Self) -> f64 {
        self.centre - other.anchor
    }

    /// Whether the logarithm is compared: only positive values have been seen.
    pub(super) const fn is_log(&self) -> bool {
        self.log
    }

    /// The healthy level in the feature's own unit.
    pub(super) fn level(&self) -> f64 {
        self.unscaled(self.centre)
    }

    /// The level that was learnt first, in the feature's own unit.
    pub(super) fn first_level(&self) -> f64 {
        self.unscaled(self.anchor)
    }

    /// The lowest level that is known as healthy: what was learnt after a standstill, or followed
    /// with a season, may hold damage of the bearing.
    pub(super) fn sound_level(&self) -> f64 {
        self.unscaled(self.centre.min(self.anchor))
    }

    /// Returns how far a healthy value strays from [`level`](Self::level), in the feature's own
    /// unit.
    pub(super) fn scatter(&self) -> f64 {
        if self.log { self.spread * self.level() } else { self.spread }
    }

    /// The value as it would be in the state whose normal is `reference`.
    pub(super) fn aligned(&self, value: f64, reference: &Self) -> Option<f64> {
        if self.log != reference.log {
            return None;
        }
        Some(self.unscaled(self.scaled(value)? - self.anchor + reference.anchor))
            .filter(|value| value.is_finite())
    }

    fn scaled(&self, value: f64) -> Option<f64> {
        match self.log {
            true if value > 0.0 => Some(value.ln()),
            true => None,
            false => Some(value),
        }
    }

    fn unscaled(&self, value: f64) -> f64 {
        if self.log { value.exp() } else { value }
    }
}
