//! Keeps the lines that stood in the looks at a measuring point while the baseline of an operating
//! state was learnt.
//!
//! A look while the baseline is learnt adds to the past of its state; a later look is compared with
//! it. The past is kept under a key of its own in the spool, in the transaction of the events it
//! was learnt with, because it is large and changes only while something is learnt. Invariants:
//! nothing is learnt once the baseline is complete; a look that names a part, or whose speed does
//! not fit, adds nothing, and a bearing that was named while it was learnt has no past, so damage
//! from the first day stays named.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pdm_dsp::Findings;
use pdm_dsp::diagnose::{Against, Past, Undetermined};
use pdm_shared::event::BaselineState;
use pdm_shared::units::{Order, SampleRate};
use serde::{Deserialize, Serialize};

use crate::condition::Judgement;
use crate::settings::PointSettings;

/// Most operating states with a past: as many as have a baseline.
pub(super) const MOST_STATES: usize = 8;

/// Two rates are one within this ratio: a clock's error moves no band.
const SAME_RATE: f64 = 0.01;

/// Whether the baseline is being learnt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// This window is one of those that the baseline is learnt from.
    Learning,
    /// The baseline is complete, or this window belongs to an alarm.
    Judging,
}

impl Stage {
    pub(super) fn of(judgement: &Judgement) -> Self {
        let is_learning = judgement.anomaly.baseline.state == BaselineState::Learning;
        let is_learnt_from = is_learning || judgement.baseline_completed;
        if is_learnt_from && !judgement.anomaly_detected { Self::Learning } else { Self::Judging }
    }
}

/// The pasts of a point by operating state.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pasts {
    measured: MeasuredBy,
    of_state: BTreeMap<String, StatePast>,
    has_changed: bool,
}

/// The conditions of a past: it does not apply to other orders, bands or rates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct MeasuredBy {
    rate_hz: f64,
    orders: [f64; 4],
    band_hz: Option<[f64; 2]>,
}

/// The past of one state.
#[derive(Debug, Clone, PartialEq)]
enum StatePast {
    Learnt(Past),
    /// A part was named while the baseline was learnt.
    Named,
}

/// The form in the spool: the bytes of each state's past as base64, `null` where a part was named.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    measured: MeasuredBy,
    states: BTreeMap<String, Option<String>>,
}

impl Pasts {
    /// None yet.
    pub(super) fn new(rate: SampleRate, settings: &PointSettings) -> Self {
        let orders = &settings.orders;
        let orders = [orders.bpfo, orders.bpfi, orders.bsf, orders.ftf].map(Order::get);
        let band_hz = settings.envelope_band.map(|band| [band.low_hz(), band.high_hz()]);
        let measured = MeasuredBy { rate_hz: rate.get(), orders, band_hz };
        Self { measured, of_state: BTreeMap::new(), has_changed: false }
    }

    /// Returns the past with which a look in a state is compared; [`Against::Nothing`] where its
    /// window has another rate.
    pub(super) fn against(&self, state: &str, stage: Stage, rate: SampleRate) -> Against<'_> {
        if (rate.get() / self.measured.rate_hz - 1.0).abs() > SAME_RATE {
            return Against::Nothing;
        }
        match (self.of_state.get(state), stage) {
            (None | Some(StatePast::Learnt(_)), Stage::Learning) => Against::Learning,
            (Some(StatePast::Learnt(past)), Stage::Judging) => Against::Past(past),
            (Some(StatePast::Named), _) | (None, Stage::Judging) => Against::Nothing,
        }
    }

    /// Takes what a look showed that was taken with [`Against::Learning`].
    pub(super) fn learn(&mut self, state: &str, shown: Option<Past>, findings: &Findings) {
        let is_unfit = matches!(
            findings.undetermined,
            Some(Undetermined::TooFewTurns { .. } | Undetermined::SpeedMisfit { .. })
        );
        let Some(shown) = shown.filter(|_| !is_unfit) else { return };
        if !self.of_state.contains_key(state) && self.of_state.len() >= MOST_STATES {
            return;
        }
        let learnt = match self.of_state.remove(state) {
            _ if findings.dominant.is_some() => StatePast::Named,
            Some(StatePast::Learnt(past)) => StatePast::Learnt(past.and(&shown)),
            Some(StatePast::Named) => StatePast::Named,
            None => StatePast::Learnt(shown),
        };
        self.of_state.insert(state.to_owned(), learnt);
        self.has_changed = true;
    }

    /// Forgets what was learnt of a state at a speed that is not its own. That a part was named
    /// stays.
    pub(super) fn forget_looks(&mut self, state: &str) {
        if matches!(self.of_state.get(state), Some(StatePast::Learnt(_))) {
            self.of_state.remove(state);
            self.has_changed = true;
        }
    }

    /// Forgets everything, with the baselines.
    pub(super) fn forget(&mut self) {
        self.of_state.clear();
        self.has_changed = true;
    }

    /// The form in the spool, if something has changed since the last call.
    pub(super) fn changed(&mut self) -> Option<Vec<u8>> {
        if !std::mem::take(&mut self.has_changed) {
            return None;
        }
        let kept = |past: &StatePast| match past {
            StatePast::Learnt(past) => Some(STANDARD.encode(past.to_bytes())),
            StatePast::Named => None,
        };
        let states = self.of_state.iter().map(|(state, past)| (state.clone(), kept(past)));
        let kept = Kept { measured: self.measured.clone(), states: states.collect() };
        Some(serde_json::to_vec(&kept).expect("texts, numbers and lists always make JSON"))
    }

    /// Takes the form in the spool over, if it holds for what is measured now.
    pub(super) fn restore(&mut self, kept: &[u8]) -> Result<(), serde_json::Error> {
        let kept: Kept = serde_json::from_slice(kept)?;
        if kept.measured != self.measured {
            return Ok(());
        }
        let past = |text: Option<String>| match text {
            None => Some(StatePast::Named),
            Some(text) => {
                let bytes = STANDARD.decode(text).ok()?;
                Past::from_bytes(&bytes).map(StatePast::Learnt)
            }
        };
        let states = kept.states.into_iter().take(MOST_STATES);
        self.of_state = states.filter_map(|(state, text)| Some((state, past(text)?))).collect();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
