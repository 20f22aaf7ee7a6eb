//! The thorough look: when it is due, what it says, and how long that stands.
//!
//! Invariants: a look that is due by what happened in a window (an anomaly is raised, a baseline is
//! complete) is taken, if not with that window then with the next whose turn it is; its spectra are
//! shown.

use pdm_dsp::Findings;
use pdm_dsp::diagnose::{Request, diagnose};
use pdm_shared::event::{BaselineState, FrequencyDomain, Spectra, SpeedSource};
use pdm_shared::fault::Fault;
use pdm_shared::time::Timestamp;
use pdm_shared::units::Rpm;
use serde::{Deserialize, Serialize};

use super::Point;
use crate::condition::Judgement;
use crate::features as blocks;

/// Machine time between two thorough looks while an anomaly lasts, while the baseline is learnt,
/// and else. Chosen: a verdict a minute is more than staff can follow; the others cost below 1 % of
/// a core at a window a second.
const LOOK_ON_ANOMALY_S: f64 = 60.0;
const LOOK_ON_LEARNING_S: f64 = 600.0;
const LOOK_ELSE_S: f64 = 3600.0;

/// How long a verdict stands for the windows after it.
const VERDICT_HOLDS_S: f64 = 3600.0;

/// Spectra are shown at least this often.
const SPECTRA_S: f64 = 3600.0;

/// The last thorough look.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Look {
    at: Timestamp,
    /// Speed that the record itself gave, rpm.
    speed_rpm: Option<f64>,
    dominant: Option<Fault>,
    confidence: f64,
    undetermined: Option<String>,
}

/// What a look at a window saw.
pub(super) struct Seen {
    pub(super) findings: Findings,
    pub(super) spectra: Option<Spectra>,
}

impl Point {
    /// Looks at a window, if that is due and it is this point's turn.
    pub(super) fn look_if_due(
        &mut self,
        accel_m_s2: &[f64],
        at: Timestamp,
        tachometer: Option<Rpm>,
        judgement: &Judgement,
    ) -> Option<Seen> {
        let raised = judgement.anomaly_detected && !self.memory.alarmed;
        self.memory.owed |= raised || judgement.baseline_completed;
        if !self.memory.owed && !self.is_scheduled(at, judgement) {
            return None;
        }
        if !self.tools.looks().may_begin() {
            return None;
        }
        let owed = std::mem::take(&mut self.memory.owed);
        let findings = self.look(accel_m_s2, at, tachometer)?;
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
        accel_m_s2: &[f64],
        at: Timestamp,
        tachometer: Option<Rpm>,
    ) -> Option<Findings> {
        // the search is around the configured speed: looks must not walk away with it
        let speed = tachometer.unwrap_or(self.settings.speed);
        let searched = if tachometer.is_some() { 0.0 } else { self.settings.speed_tolerance };
        let request = Request {
            speed_tolerance: searched,
            order_tolerance: self.settings.order_tolerance,
            envelope_band: self.settings.envelope_band,
            ..Request::new(self.rate, speed, self.settings.orders)
        };
        let look = |speed_rpm, dominant, confidence, undetermined| Look {
            at,
            speed_rpm,
            dominant,
            confidence,
            undetermined,
        };
        match self.tools.look(|| diagnose(accel_m_s2, &request)) {
            Ok(findings) => {
                let block = blocks::thorough_block(&findings);
                let estimated = findings.speed_estimated.then(|| findings.speed.get());
                self.memory.look = Some(look(
                    estimated,
                    block.dominant_fault,
                    block.confidence,
                    block.undetermined,
                ));
                Some(findings)
            }
            Err(reason) => {
                tracing::debug!(%reason, %speed, "window not looked at thoroughly");
                self.memory.look = Some(look(None, None, 0.0, Some(reason.to_string())));
                None
            }
        }
    }

    /// The speed to measure with: that of the last look while it holds, else the configured one.
    pub(super) fn speed(&self, at: Timestamp) -> (Rpm, SpeedSource) {
        self.standing(at)
            .and_then(|look| Rpm::new(look.speed_rpm?).ok())
            .map_or((self.settings.speed, SpeedSource::Configured), |speed| {
                (speed, SpeedSource::Estimated)
            })
    }

    /// Adds the verdict that stands to what the fast path saw.
    pub(super) fn with_standing_verdict(
        &self,
        frequency: FrequencyDomain,
        at: Timestamp,
        usable: bool,
    ) -> FrequencyDomain {
        let Some(look) = self.standing(at).filter(|_| usable) else { return frequency };
        FrequencyDomain {
            dominant_fault: look.dominant,
            confidence: look.confidence,
            undetermined: look.undetermined.clone(),
            ..frequency
        }
    }

    fn standing(&self, at: Timestamp) -> Option<&Look> {
        self.memory.look.as_ref().filter(|look| is_within(at, look.at, VERDICT_HOLDS_S))
    }
}

/// True if `at` is less than `seconds` after `since`; false where the clock went backwards.
fn is_within(at: Timestamp, since: Timestamp, seconds: f64) -> bool {
    (0.0..seconds).contains(&at.seconds_since(since))
}
