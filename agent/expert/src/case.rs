//! The start of a judgement: the event, and the memory of its bearing.
//!
//! A bearing may have several measuring points; each keeps its own state, and the bearing stands as
//! badly as its worst point. Invariant: a state only changes by [`crate::judge`].

use std::collections::BTreeMap;

use pdm_shared::diagnosis::{Diagnosis, Evidence};
use pdm_shared::event::{Event, IsoZone};
use pdm_shared::fault::Fault;
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::rules::Rules;
use crate::standing::{Sensor, Standing};
use crate::wording::fact;

mod recollection;

pub use recollection::{Memory, RECALLED, RECALLED_WORK, Remembered, Work, remember};

/// Most measuring points of one bearing whose state is kept; beyond it the longest silent goes.
pub const MAX_POINTS: usize = 16;
/// Velocities, mm/s RMS, from which a machine is in zone C and in zone D whatever its class: the
/// highest limits of ISO 20816-3 (large machines on a flexible support).
const ZONE_C_OF_EVERY_CLASS: f64 = 7.1;
const ZONE_D_OF_EVERY_CLASS: f64 = 11.0;
/// Duration of the ring of one impact, s, below which nothing mechanical rings. Chosen: one period
/// at 4 kHz, the lower end of the resonances of mounted sensors.
const SHORTEST_RING_S: f64 = 0.000_25;
/// Turns of a cage in a turn of the shaft: bearings of every kind have 0.35 to 0.5 (names.md).
const CAGE_ORDER: f64 = 0.4;
/// How far a level may lie from the last normal one and still be the usual one, ratio. Source: the
/// least ratio of a level that counts at the edge (ISO 20816-1, criterion II; `level_ratio`).
const USUAL_RATIO: f64 = 1.3;
/// The score of an anomaly below which its evidence is away and the flag only outlasts it: that of
/// a distance below half of the alarm's, d / (d + 5) at d = 2.5 (`clear_sigma` of the edge).
const OUTLASTING_SCORE: f64 = 0.34;
/// The key of a bearing's only sensor, which has no name.
const UNNAMED_POINT: &str = "-";

/// One event to be judged.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// The event.
    pub event: &'a Event,
    /// The memory of the event's bearing.
    pub memory: &'a Memory,
    /// When it is judged.
    pub now: Timestamp,
}

impl Case<'_> {
    /// Whether the event's remaining life is the usual course of damaged bearings, as earlier edges
    /// told it, and holds no information on this bearing.
    pub(crate) fn is_life_of_population(&self) -> bool {
        self.event.rul.model.as_deref() == Some("population")
    }
}

impl Case<'_> {
    /// The key of the event's measuring point in [`BearingState::points`].
    pub fn point(&self) -> &str {
        self.event.measuring_point.as_ref().map_or(UNNAMED_POINT, |point| point.as_str())
    }

    /// The memory of the event's measuring point.
    pub fn before(&self) -> Option<&PointState> {
        self.memory.state.points.get(self.point())
    }

    /// The velocity zone: the gateway's, else that of a velocity which is beyond the limits of
    /// every class.
    pub(crate) fn zone(&self) -> Option<IsoZone> {
        let time = &self.event.time_domain;
        let by_velocity = || match time.velocity_rms_mm_s? {
            velocity if velocity >= ZONE_D_OF_EVERY_CLASS => Some(IsoZone::D),
            velocity if velocity >= ZONE_C_OF_EVERY_CLASS => Some(IsoZone::C),
            _ => None,
        };
        time.iso_zone.or_else(by_velocity)
    }

    /// Whether impacts stand out of the window by themselves.
    pub(crate) fn is_impulsive(&self, rules: &Rules) -> bool {
        let kurtosis = self.event.time_domain.kurtosis;
        kurtosis.is_some_and(|kurtosis| kurtosis >= rules.screening.suspicious_kurtosis)
    }

    /// The fact behind [`Self::zone`].
    pub(crate) fn zone_fact(&self, rule: &str) -> Evidence {
        let time = &self.event.time_domain;
        match time.iso_zone {
            Some(zone) => fact("time_domain.iso_zone", zone, rule),
            None => fact("time_domain.velocity_rms_mm_s", time.velocity_rms_mm_s, rule),
        }
    }

    /// The impulsiveness is that of a bad cable or contact and of no impact: spikes shorter than
    /// anything mechanical rings, even if one came in each turn of the cage only.
    ///
    /// Decaying impacts that ring for `t` and come at `f` have a kurtosis of 1.5 / (t f).
    pub(crate) fn has_spikes_of_cable(&self) -> bool {
        let rpm = self.event.operating.shaft_speed_rpm.filter(|rpm| *rpm > 0.0);
        let kurtosis = self.event.time_domain.kurtosis;
        let highest = rpm.map(|rpm| 1.5 / (SHORTEST_RING_S * CAGE_ORDER * rpm / 60.0));
        matches!((kurtosis, highest), (Some(kurtosis), Some(highest)) if kurtosis > highest)
    }

    /// Whether the window by itself is as the last normal ones of its point, although a flag or a
    /// former judgement may still stand: the level had risen and is theirs again, no element is
    /// named, and nothing strikes.
    ///
    /// A bearing that was replaced or greased is known by it before the medians of the latest
    /// windows are.
    pub(crate) fn is_usual_again(&self, rules: &Rules) -> bool {
        let normal = self.before().and_then(|before| before.normal_rms_g);
        let (Some(normal), Some(rms)) = (normal, self.event.time_domain.rms_g) else {
            return false;
        };
        let highest = self.before().and_then(|before| before.highest_rms_g);
        let was_raised = highest.is_some_and(|highest| highest > USUAL_RATIO * normal);
        let lines = &self.event.frequency_domain;
        let is_named = lines.dominant_fault.is_some()
            && lines.confidence >= rules.screening.name_confidence
            || lines.damaged.is_some();
        let kurtosis = self.event.time_domain.kurtosis;
        let strikes = kurtosis.is_none_or(|kurtosis| kurtosis >= rules.stage.high_kurtosis);
        let is_of_velocity = self.zone().is_some_and(|zone| zone >= rules.stage.limited_zone);
        let is_level_usual = rms <= USUAL_RATIO * normal && rms * USUAL_RATIO >= normal;
        let envelopes = self
            .before()
            .and_then(|before| before.normal_envelope_g)
            .zip(self.event.time_domain.envelope_rms_g);
        let is_envelope_usual = envelopes.is_none_or(|(normal, now)| now <= USUAL_RATIO * normal);
        let is_usual = is_level_usual && is_envelope_usual && self.is_flag_of_the_past();
        was_raised && is_usual && !is_named && !strikes && !is_of_velocity
    }

    /// Whether a flag, if one stands, may be of the windows before this one: it was raised by
    /// levels, which this window can be compared with, or only outlasts its evidence.
    fn is_flag_of_the_past(&self) -> bool {
        let anomaly = &self.event.anomaly;
        let outlasts = anomaly.score.is_some_and(|score| score < OUTLASTING_SCORE);
        // this window's acceleration can be compared with the last normal one, its velocity cannot
        let of_velocity = |name: &str| name.starts_with("velocity");
        let is_by_level = || {
            self.event.contributing().any(|feature| feature.kind().is_level())
                && !anomaly.contributors.iter().any(|name| of_velocity(name))
        };
        !self.event.anomaly_detected || outlasts || is_by_level()
    }

    /// The event is of samples; false for ready-made values of a transmitter, in which no line of
    /// the bearing can be looked for.
    pub const fn has_waveform(&self) -> bool {
        self.event.window.samples > 0
    }

    /// The event is older than the last one of its measuring point.
    pub fn is_late(&self) -> bool {
        self.before().is_some_and(|state| self.event.measured_at < state.measured_at)
    }

    /// The event lies so far ahead of the clock by which it is judged that the clock of its gateway
    /// must be wrong. Such an event is judged, and moves nothing that later events are compared
    /// with.
    pub fn is_ahead(&self, rules: &Rules) -> bool {
        self.event.measured_at.seconds_since(self.now) > rules.ahead_s
    }
}

/// A judgement and what has to be remembered of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// The diagnosis, as staff is told.
    pub diagnosis: Diagnosis,
    /// The state of the bearing after this judgement.
    pub state: BearingState,
    /// The event was older than its measuring point's last, or ahead of the clock.
    pub late: bool,
    /// The event was ahead of the clock ([`Case::is_ahead`]).
    #[serde(default)]
    pub ahead: bool,
}

/// A window of a bearing's past, with its judgement.
#[derive(Debug, Clone, PartialEq)]
pub struct PastEvent {
    /// The event, without its spectra.
    pub event: Event,
    /// The judgement of the event; `None` while it waits for one.
    pub judged: Option<Remembered>,
}

/// The state of a bearing after the last judgement.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct BearingState {
    /// The states by measuring point.
    pub points: BTreeMap<String, PointState>,
    /// The time since which the risk has been above Normal without a break.
    #[serde(default)]
    pub since: Option<Timestamp>,
    /// How long it has stood at each level.
    #[serde(default)]
    pub standing: Standing,
    /// When the bearing first stood at each stage or above it in the present episode; empty at
    /// stage 0.
    #[serde(default)]
    pub reached: BTreeMap<u8, Timestamp>,
    /// When the last episode was ended by a repair.
    #[serde(default)]
    pub repaired_at: Option<Timestamp>,
}

impl BearingState {
    /// The risk of the worst point.
    pub fn risk(&self) -> RiskLevel {
        self.points.values().map(|point| point.risk).max().unwrap_or(RiskLevel::Normal)
    }

    /// The stage of the worst point.
    pub fn stage(&self) -> u8 {
        self.points.values().map(|point| point.stage).max().unwrap_or(0)
    }

    /// Notes at which stage the bearing stands now.
    pub(crate) fn reach(&mut self, at: Timestamp) {
        self.reach_stage(self.stage(), at);
    }

    /// Notes that the bearing stands at this stage now.
    pub(crate) fn reach_stage(&mut self, stage: u8, at: Timestamp) {
        if stage == 0 {
            self.reached.clear();
        }
        for below in 1..=stage {
            self.reached.entry(below).or_insert(at);
        }
    }

    /// The fault at the worst point that has a name for it.
    pub fn fault(&self) -> Option<Fault> {
        self.points
            .values()
            .filter(|point| point.stage > 0)
            .filter_map(|point| point.fault.map(|fault| (point.stage, point.risk, fault)))
            .max_by_key(|&(stage, risk, _)| (stage, risk))
            .map(|(_, _, fault)| fault)
    }
}

/// The state of a measuring point after the last judgement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PointState {
    /// The time of the last event.
    pub measured_at: Timestamp,
    /// The latched risk.
    pub risk: RiskLevel,
    /// The latched stage.
    pub stage: u8,
    /// The fault that was named while the stage stands.
    pub fault: Option<Fault>,
    /// Judgements in a row that asked for no more than Normal, Watch, Warning.
    pub calm: [u32; 3],
    /// Judgements in a row that asked for no more than stage 0, 1, 2, 3.
    pub calm_stages: [u32; 4],
    /// Judgements in a row with evidence that the anomaly flag does not carry.
    pub unflagged: u32,
    /// RMS of the acceleration at the last of them, g.
    pub unflagged_rms_g: Option<f64>,
    /// Since when, and for how many judgements in a row, the windows have been as usual while the
    /// risk stands above Watch.
    pub usual: Option<UsualAgain>,
    /// Judgements in a row in which a short remaining life stood without a name for the fault.
    pub short_life: u32,
    /// Judgements in a row in which level and impulsiveness were up together without a name.
    pub spreading: u32,
    /// Judgements in a row in which the named element had many multiples with sidebands.
    pub multiples: u32,
    /// Highest raw kurtosis while the risk stands above Normal.
    pub highest_kurtosis: Option<f64>,
    /// Highest RMS of the acceleration while the risk stands above Normal, g.
    pub highest_rms_g: Option<f64>,
    /// Noise floor at the last normal judgement, g.
    pub normal_floor_g: Option<f64>,
    /// RMS of the acceleration at the last normal judgement, g.
    pub normal_rms_g: Option<f64>,
    /// Highest RMS of the acceleration at a normal judgement since the baseline was complete, g.
    pub most_normal_rms_g: Option<f64>,
    /// RMS of the envelope at the last normal judgement, g.
    pub normal_envelope_g: Option<f64>,
    /// The state of the sensor.
    pub sensor: Sensor,
    /// Whether its baseline was complete.
    pub learnt: bool,
    /// The element that was named with certainty while the baseline was being learnt, as long as
    /// the risk stands above Normal: that baseline holds the damage.
    pub damaged_when_learnt: Option<Fault>,
    /// When its baseline was begun anew while the risk stood above Normal.
    pub relearning_since: Option<Timestamp>,
}

/// A run of windows that are as usual.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct UsualAgain {
    /// The time of the first.
    pub since: Timestamp,
    /// How many they are.
    pub windows: u32,
}

impl Default for PointState {
    fn default() -> Self {
        Self {
            measured_at: Timestamp::from_unix_ms(0).expect("the epoch is in the calendar"),
            risk: RiskLevel::Normal,
            stage: 0,
            fault: None,
            calm: [0; 3],
            calm_stages: [0; 4],
            unflagged: 0,
            unflagged_rms_g: None,
            usual: None,
            short_life: 0,
            spreading: 0,
            multiples: 0,
            highest_kurtosis: None,
            highest_rms_g: None,
            normal_floor_g: None,
            normal_rms_g: None,
            most_normal_rms_g: None,
            normal_envelope_g: None,
            sensor: Sensor::default(),
            learnt: false,
            damaged_when_learnt: None,
            relearning_since: None,
        }
    }
}
