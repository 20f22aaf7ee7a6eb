//! The thorough look: when it is due, its verdict, and how long the verdict holds.
//!
//! Invariants: a look that is due because of its window (an anomaly was raised, a baseline became
//! complete) is taken with that window or with the next one that is not refused, and its spectra
//! are part of that window's event.

use pdm_dsp::Findings;
use pdm_dsp::diagnose::diagnose_against;
use pdm_shared::event::{
    BaselineState, FrequencyDomain, OpenDamage, SecondFault, Spectra, SpeedSource, StoodLine,
};
use pdm_shared::fault::Fault;
use pdm_shared::time::Timestamp;
use pdm_shared::units::Rpm;
use serde::{Deserialize, Serialize};

use super::super::log;
use super::Point;
use super::pasts::Stage;
use crate::catalogue::Estimate;
use crate::condition::Judgement;
use crate::features as blocks;

/// Machine time between two thorough looks while an anomaly lasts, while the baseline is learnt,
/// and at other times. A verdict a minute is more than staff can act on. A look takes up to 0.5 s
/// of a small gateway's core, so one in 600 s takes 0.1 % of it for each point.
const LOOK_ON_ANOMALY_S: f64 = 60.0;
const LOOK_ON_LEARNING_S: f64 = 600.0;
const LOOK_ELSE_S: f64 = 3600.0;

/// Time for which a verdict holds for the windows after it: the longest time between two looks.
const VERDICT_HOLDS_S: f64 = 3600.0;

/// Longest time between two events with spectra, as the contract of the event states it.
const SPECTRA_S: f64 = 3600.0;

/// The last thorough look.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Look {
    at: Timestamp,
    /// Speed estimated from the window itself, rpm.
    speed_rpm: Option<f64>,
    dominant: Option<Fault>,
    confidence: f64,
    #[serde(default)]
    second: Option<SecondFault>,
    #[serde(default)]
    new_comb_db: Option<f64>,
    #[serde(default)]
    damaged: Option<OpenDamage>,
    #[serde(default)]
    stood: Vec<StoodLine>,
    undetermined: Option<String>,
}

/// The result of a look at a window.
pub(super) struct Seen {
    pub(super) findings: Findings,
    pub(super) spectra: Option<Spectra>,
}

/// The rise (dB), the level (dB) and the number of windows in a row of a line that brings the next
/// look forward while the baseline is learnt: the line stands this far above those at the last
/// look, at this level or above, in this many windows. No data chose them: a rise of 9 dB in three
/// windows is a line almost three times as high, and a look too many costs only time.
const RISE: (f64, f64, u32) = (9.0, 15.0, 3);

impl Point {
    /// Notes a defect line that rises while the baseline is learnt, when no anomaly can be raised
    /// yet: the next look is then due at once.
    pub(super) fn note_rise(&mut self, frequency: &FrequencyDomain, judgement: &Judgement) {
        let levels = Fault::ALL.iter().filter_map(|fault| frequency.line(*fault).snr_db);
        let Some(now_db) = levels.reduce(f64::max) else { return };
        let Some(before_db) = self.memory.looked_at_db else {
            self.memory.looked_at_db = Some(now_db);
            return;
        };
        let is_learning = judgement.anomaly.baseline.state == BaselineState::Learning;
        let (by_db, least_db, windows) = RISE;
        if !is_learning || now_db < least_db || now_db < before_db + by_db {
            self.memory.risen = 0;
            return;
        }
        self.memory.risen += 1;
        if self.memory.risen >= windows {
            self.memory.risen = 0;
            self.memory.looked_at_db = Some(now_db);
            self.memory.owed = true;
        }
    }

    /// Looks at a window, if a look is due and not refused.
    ///
    /// The search is centred on the stated speed or the one learnt in its place, not on the last
    /// estimate: a wrong estimate would otherwise shift the next search, look by look.
    pub(super) fn look_if_due(
        &mut self,
        (accel_m_s2, at, state): (&[f64], Timestamp, &str),
        stated: (Rpm, SpeedSource),
        judgement: &Judgement,
    ) -> Option<Seen> {
        let raised = judgement.anomaly_detected && !self.memory.alarmed;
        self.memory.owed |= raised || judgement.baseline_completed;
        if !self.memory.owed && !self.is_scheduled(at, judgement) {
            return None;
        }
        if !self.plans.looks().may_begin() {
            return None;
        }
        let owed = std::mem::take(&mut self.memory.owed);
        let stage = Stage::of(judgement);
        let findings = self.look((accel_m_s2, at), stated, (state, stage))?;
        let is_shown = owed || judgement.anomaly_detected || self.are_spectra_due(at);
        let spectra = is_shown.then(|| blocks::spectra(&findings));
        if is_shown {
            self.memory.spectra_at = Some(at);
        }
        Some(Seen { findings, spectra })
    }

    fn is_scheduled(&self, at: Timestamp, judgement: &Judgement) -> bool {
        let Some(look) = &self.memory.look else { return true };
        let wait_s = if judgement.anomaly_detected {
            LOOK_ON_ANOMALY_S
        } else if judgement.anomaly.baseline.state == BaselineState::Learning {
            LOOK_ON_LEARNING_S
        } else {
            LOOK_ELSE_S
        };
        !is_within(at, look.at, wait_s)
    }

    fn are_spectra_due(&self, at: Timestamp) -> bool {
        self.memory.spectra_at.is_none_or(|last| !is_within(at, last, SPECTRA_S))
    }

    fn look(
        &mut self,
        (accel_m_s2, at): (&[f64], Timestamp),
        stated: (Rpm, SpeedSource),
        (state, stage): (&str, Stage),
    ) -> Option<Findings> {
        let speed = self.learnt_speed(state, stated).unwrap_or(stated.0);
        let request = self.request(speed, self.tolerance_of(stated.1));
        let against = self.pasts.against(state, stage, self.rate);
        match self.plans.look(|| diagnose_against(accel_m_s2, &request, against)) {
            Ok((findings, shown)) => {
                self.pasts.learn(state, shown, &findings);
                let block = self.settings.judged(&findings);
                let estimated = findings.speed_estimated.then(|| findings.speed.get());
                self.memory.look = Some(Look {
                    at,
                    speed_rpm: estimated,
                    dominant: block.dominant_fault,
                    confidence: block.confidence,
                    second: block.second_fault,
                    new_comb_db: block.new_comb_db,
                    damaged: block.damaged,
                    stood: block.since_commissioning,
                    undetermined: block.undetermined,
                });
                Some(findings)
            }
            Err(reason) => {
                log::not_looked_at(&reason, speed);
                self.memory.look = Some(Look {
                    at,
                    speed_rpm: None,
                    dominant: None,
                    confidence: 0.0,
                    second: None,
                    new_comb_db: None,
                    damaged: None,
                    stood: Vec::new(),
                    undetermined: Some(reason.to_string()),
                });
                None
            }
        }
    }

    /// The speed to measure with: the last look's estimate while it holds, else the configured one.
    pub(super) fn speed(&self, at: Timestamp) -> (Rpm, SpeedSource) {
        self.standing(at)
            .and_then(|look| Rpm::new(look.speed_rpm?).ok())
            .map_or((self.settings.speed, SpeedSource::Configured), |speed| {
                (speed, SpeedSource::Estimated)
            })
    }

    /// Adds the verdict of the last look, while it holds, to the lines of the fast path.
    pub(super) fn with_standing_verdict(
        &self,
        frequency: FrequencyDomain,
        at: Timestamp,
        usable: bool,
    ) -> FrequencyDomain {
        let bearing_estimate = self.settings.estimate.as_ref().map(Estimate::told);
        let frequency = FrequencyDomain { bearing_estimate, ..frequency };
        let Some(look) = self.standing(at).filter(|_| usable) else { return frequency };
        FrequencyDomain {
            dominant_fault: look.dominant,
            confidence: look.confidence,
            second_fault: look.second,
            new_comb_db: look.new_comb_db,
            damaged: look.damaged,
            since_commissioning: look.stood.clone(),
            undetermined: look.undetermined.clone(),
            ..frequency
        }
    }

    fn standing(&self, at: Timestamp) -> Option<&Look> {
        self.memory.look.as_ref().filter(|look| is_within(at, look.at, VERDICT_HOLDS_S))
    }
}

/// Whether `at` is less than `seconds` after `since`; false if the clock was set back between them.
fn is_within(at: Timestamp, since: Timestamp, seconds: f64) -> bool {
    (0.0..seconds).contains(&at.seconds_since(since))
}
