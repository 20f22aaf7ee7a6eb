//! One measuring point: from the samples of a window to its event.
//!
//! Every window takes the fast path, whose band never changes, so that figures and baseline are
//! comparable. The thorough path looks at some windows in addition: when an anomaly is raised and
//! every minute while it lasts, every ten minutes while the baseline is learnt, else every hour.
//! Its verdict holds for the following windows until the next look (`looking`).
//!
//! The speed is a tachometer's, else that of another system's tag while it is fresh, else the last
//! look's estimate, else the configured one; a thorough look searches around the tag's or the
//! configured speed. Where the baseline has learnt another speed than these state, it takes their
//! place (`learning_speed`). If a tachometer gives the shaft's angle, its speed is used. A window
//! in which the speed changes is first resampled to constant speed, since a moving defect line
//! smears over many bins.

use std::sync::Arc;

use pdm_dsp::FastFindings;
use pdm_dsp::diagnose::LEAST_TURNS;
use pdm_dsp::order::ShaftAngle;
use pdm_dsp::transform::Transforms;
use pdm_shared::event::{DefectLine, Event, FrequencyDomain, Method, SpeedSource, TimeDomain};
use pdm_shared::id::{EventId, GatewayId, SiteId};
use pdm_shared::time::Timestamp;
use pdm_shared::units::{Band, Rpm, SampleRate};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::fft_plans::FftPlans;
use super::repeats::Standstill;
use crate::condition::{self, Features, Monitor, Neighbour, Observation};
use crate::event::{DEFAULT_STATE, EventNames, Measured, assemble, features};
use crate::quality::{Quality, QualityContext, assess};
use crate::settings::PointSettings;
use crate::source::shaft_speed::ShaftSpeed;
use crate::source::speed_tag::SpeedTag;
use crate::source::{BlockRate, Interpretation};
use crate::{features as blocks, quality};

mod learning_speed;
mod looking;
mod pasts;
mod relearning;
mod values;

use learning_speed::{StateSpeeds, WindowSpeed};
use looking::{Look, Seen};
use pasts::Pasts;

/// Change of speed within a window, as a ratio, up to which the window is not resampled. The search
/// around a defect line reaches 1.5 % to either side; a change of 0.3 % spreads the line over a
/// fifth of that reach.
const STEADY: f64 = 0.003;

/// Envelope band where none is configured, as shares of the sampling rate. The lower end, 2.56 kHz
/// at 25.6 kHz, lies above shaft and gear lines; the upper end is the corner of the anti-alias
/// filter of common converters (0.39 of the rate).
pub const DEFAULT_BAND: (f64, f64) = (0.1, 0.39);

/// The state of a point that is kept between windows and over a restart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Memory {
    monitor: Monitor,
    look: Option<Look>,
    spectra_at: Option<Timestamp>,
    alarmed: bool,
    /// A look is due because of an anomaly or a complete baseline, and was refused so far.
    #[serde(default)]
    owed: bool,
    /// The strongest defect line of each element at the last look, dB, and windows in a row in
    /// which one stands far above that.
    #[serde(default)]
    looked_at_db: Option<f64>,
    #[serde(default)]
    risen: u32,
    /// The speed that each operating state has learnt.
    #[serde(default)]
    speeds: StateSpeeds,
    /// The last request of the agent by which the memory was emptied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    emptied_by: Option<Uuid>,
}

/// A measuring point at work.
#[derive(Debug)]
pub struct Point {
    settings: PointSettings,
    place: EventNames,
    /// The rate that everything is measured with.
    rate: SampleRate,
    /// The rate that the source or the file states.
    stated_rate: SampleRate,
    /// The rate as the gateway's clock measured it, and whether it is too far from the stated one.
    measured_rate: Option<(SampleRate, bool)>,
    memory: Memory,
    /// The lines of its looks while its baselines were learnt.
    pasts: Pasts,
    plans: FftPlans,
    tag: Option<SpeedTag>,
    /// How the window at hand was read, where it is from a file.
    input: Option<Arc<Interpretation>>,
    /// Only of a live source: whether its sensor repeats its samples.
    repeats: Option<Standstill>,
    is_frozen: bool,
}

/// The speed of a window by a tachometer.
struct Turned {
    speed: Rpm,
    /// The window resampled to that constant speed, if the speed changes in it.
    steady: Option<Vec<f64>>,
}

/// A memory that cannot be decoded. The caller logs the error and starts the point without memory.
#[derive(Debug, thiserror::Error)]
#[error("the memory of {equipment}/{bearing} cannot be understood: {source}")]
pub struct MemoryError {
    equipment: String,
    bearing: String,
    source: serde_json::Error,
}

/// The key under which the spool remembers a point.
pub(crate) fn memory_key(source: &str, channel: usize) -> String {
    format!("point/{source}/{channel}")
}

/// Returns the key under which the spool keeps the pasts of a point: apart from its memory, which
/// is written with every window.
pub(crate) fn pasts_key(source: &str, channel: usize) -> String {
    format!("past/{source}/{channel}")
}

impl Point {
    /// A point without memory.
    pub fn new(
        settings: PointSettings,
        gateway: GatewayId,
        site: SiteId,
        rate: SampleRate,
    ) -> Self {
        let place = EventNames {
            gateway,
            site,
            equipment: settings.equipment.clone(),
            bearing: settings.bearing.clone(),
            measuring_point: settings.measuring_point.clone(),
        };
        let monitor = Monitor::new(settings.monitor.clone());
        let memory = Memory {
            monitor,
            look: None,
            spectra_at: None,
            alarmed: false,
            owed: false,
            looked_at_db: None,
            risen: 0,
            speeds: StateSpeeds::new(),
            emptied_by: None,
        };
        let pasts = Pasts::new(rate, &settings);
        Self {
            settings,
            place,
            rate,
            stated_rate: rate,
            measured_rate: None,
            memory,
            pasts,
            plans: FftPlans::default(),
            tag: None,
            input: None,
            repeats: None,
            is_frozen: false,
        }
    }

    /// The point with FFT plans that it shares with other points.
    #[must_use]
    pub fn with_plans(self, plans: FftPlans) -> Self {
        Self { plans, ..self }
    }

    /// The point with the shaft speed that another system tells.
    #[must_use]
    pub(crate) fn with_tag(self, tag: Option<SpeedTag>) -> Self {
        Self { tag, ..self }
    }

    /// Flags windows that a live sensor repeats. A recording may well be measured again.
    pub(crate) fn watch_repeats(&mut self) {
        self.repeats = Some(Standstill::default());
    }

    /// Whether the sensor repeats its samples.
    pub(crate) const fn is_frozen(&self) -> bool {
        self.is_frozen
    }

    /// Sets the rate of the windows that follow. The true rate is used where it was measured, since
    /// a defect line lies where the time of the machine puts it.
    pub(crate) const fn set_rate(&mut self, rate: BlockRate) {
        match rate {
            BlockRate::Format => {}
            BlockRate::Stated(rate) => {
                self.rate = rate;
                self.stated_rate = rate;
            }
            BlockRate::Measured { rate, is_off, .. } => {
                self.rate = rate;
                self.measured_rate = Some((rate, is_off));
            }
        }
    }

    /// Takes over how the next window was read.
    pub(crate) fn set_input(&mut self, input: Option<&Arc<Interpretation>>) {
        self.input = input.map(Arc::clone);
    }

    /// Takes over a memory that [`Self::memory`] returned. The present settings stay in force.
    ///
    /// # Errors
    /// [`MemoryError`] if the memory has another form.
    pub fn restore(&mut self, memory: &[u8]) -> Result<(), MemoryError> {
        let told = |source| MemoryError {
            equipment: self.place.equipment.to_string(),
            bearing: self.place.bearing.to_string(),
            source,
        };
        let mut memory: serde_json::Value = serde_json::from_slice(memory).map_err(told)?;
        // baseline and trend are taken over; the settings inside the memory are those of that time
        let settings = serde_json::to_value(&self.settings.monitor).map_err(told)?;
        if let Some(remembered) = memory.pointer_mut("/monitor/settings") {
            *remembered = settings;
        }
        self.memory = serde_json::from_value(memory).map_err(told)?;
        Ok(())
    }

    /// The memory to be committed with the events made so far.
    pub fn memory(&self) -> Vec<u8> {
        serde_json::to_vec(&self.memory).expect("texts, numbers and lists always make JSON")
    }

    /// Takes over what [`Self::changed_pasts`] returned, unless it was learnt of another bearing or
    /// at another rate: then the point goes on without a past, as if it had never had one.
    ///
    /// # Errors
    /// [`MemoryError`] if it has another form.
    pub fn restore_pasts(&mut self, kept: &[u8]) -> Result<(), MemoryError> {
        self.pasts.restore(kept).map_err(|source| MemoryError {
            equipment: self.place.equipment.to_string(),
            bearing: self.place.bearing.to_string(),
            source,
        })
    }

    /// Returns the pasts that were learnt with the baselines, to be committed with the events made
    /// so far; `None` if they have not changed since the last call.
    pub fn changed_pasts(&mut self) -> Option<Vec<u8>> {
        self.pasts.changed()
    }

    /// Row of the source's blocks.
    pub fn channel(&self) -> usize {
        self.settings.channel
    }

    /// The machine and the bearing that it belongs to.
    pub(crate) const fn names(&self) -> &EventNames {
        &self.place
    }

    /// Returns when its latest window began.
    pub(crate) fn last_at(&self) -> Option<Timestamp> {
        self.memory.monitor.last_at()
    }

    /// Returns the levels of this point that the other points of its machine use.
    pub(crate) fn seen(&self) -> condition::Seen {
        self.memory.monitor.seen()
    }

    /// Measures and judges one window that began at `at`; the event's identity is made from `now`.
    pub fn measure(&mut self, accel_m_s2: &[f64], at: Timestamp, now: Timestamp) -> Event {
        self.measure_beside(accel_m_s2, (None, &[]), at, now)
    }

    /// [`Self::measure`] with the angle of the tachometer's shaft over the window, if it is known,
    /// and what the other points of the machine had seen by the window before.
    pub fn measure_beside(
        &mut self,
        accel_m_s2: &[f64],
        (angle, neighbours): (Option<&ShaftAngle>, &[Neighbour]),
        at: Timestamp,
        now: Timestamp,
    ) -> Event {
        self.is_frozen = self.repeats.as_mut().is_some_and(|repeats| repeats.take(accel_m_s2));
        let told = self.tag.as_ref().and_then(|tag| tag.speed_near(self.settings.speed));
        let quality = self.judged_by_tag(self.assess(accel_m_s2), told, angle.is_some());
        let usable = quality.signal.valid && quality.is_running;
        let turned = angle.and_then(|angle| self.turned(accel_m_s2, angle));
        let steady = turned.as_ref().and_then(|turned| turned.steady.as_deref());
        let accel_m_s2 = steady.filter(|_| usable).unwrap_or(accel_m_s2);
        let tachometer = turned.as_ref().map(|turned| turned.speed);
        let tag = told.and_then(ShaftSpeed::turning);
        let WindowSpeed { speed, state, stated, learnt } = self.window_speed(tachometer, tag, at);
        let Taken { fast, time_domain, frequency, features, is_absent } =
            self.take_in(accel_m_s2, usable, (speed.0, &state));
        let usable = usable && !is_absent;
        let quality = if is_absent { quality.of_standstill() } else { quality };
        let observation = Observation {
            at,
            state: state.clone(),
            usable: fast.is_some(),
            turns_per_h: Some(speed.0.shaft_hz() * 3600.0),
            features,
        };
        let judgement = self.memory.monitor.observe_beside(&observation, neighbours);
        if fast.is_some() {
            self.note_rise(&frequency, &judgement);
            self.learn_speed(accel_m_s2, &state, stated, &judgement);
        }
        let seen = match &fast {
            Some(_) => self.look_if_due((accel_m_s2, at, &state), stated, &judgement),
            None => None,
        };
        let learnt = seen.as_ref().map_or(learnt, |_| self.learnt_speed(&state, stated));
        let (speed, frequency_domain, spectra) = match seen {
            Some(Seen { findings, spectra }) => {
                let block = self.settings.judged(&findings);
                let estimated = (findings.speed, SpeedSource::Estimated);
                (if findings.speed_estimated { estimated } else { speed }, block, spectra)
            }
            None => (speed, self.with_standing_verdict(frequency, at, usable), None),
        };
        self.memory.alarmed = judgement.anomaly_detected;
        let measured = Measured {
            at,
            samples: accel_m_s2.len(),
            rate: self.stated_rate,
            measured_rate: self.measured_rate.map(|measured| measured.0),
            is_running: quality.is_running,
            speed,
            learnt_against: learnt.map(|_| stated.0),
            state,
            temperature_c: None,
            quality: quality.signal,
            input: self.input.as_ref().map(|input| input.described(self.settings.channel)),
            time_domain,
            frequency_domain,
            spectra,
        };
        assemble(&self.place, EventId::at(now.unix_ms()), measured, judgement)
    }

    /// Measures the figures of a window; without lines where they show no machine in service.
    fn take_in(&mut self, accel_m_s2: &[f64], usable: bool, (speed, state): (Rpm, &str)) -> Taken {
        let fast = if usable { self.fast(accel_m_s2, speed) } else { None };
        let (time_domain, frequency) = self.fast_blocks(accel_m_s2, fast.as_ref(), speed);
        let turns = accel_m_s2.len() as f64 / self.rate.get() * speed.shaft_hz();
        let features = features(&time_domain, &frequency, turns >= LEAST_TURNS);
        let is_absent = fast.is_some() && self.memory.monitor.shows_no_service(state, &features);
        if is_absent {
            return Taken {
                fast: None,
                time_domain,
                frequency: nothing_seen(),
                features,
                is_absent,
            };
        }
        Taken { fast, time_domain, frequency, features, is_absent }
    }

    /// The quality of a window whose shaft stands by its tag; a tachometer knows better.
    fn judged_by_tag(
        &self,
        quality: Quality,
        told: Option<ShaftSpeed>,
        has_tachometer: bool,
    ) -> Quality {
        let Some(tag) = &self.tag else { return quality };
        let stands = told == Some(ShaftSpeed::Standing) && !has_tachometer;
        if stands && quality.is_running {
            tag.tell_doubtful_standstill();
        }
        if stands { quality.of_standstill() } else { quality }
    }

    fn assess(&self, accel_m_s2: &[f64]) -> Quality {
        let context = QualityContext {
            speed: Some(self.settings.speed),
            is_wrong_rate: self.measured_rate.is_some_and(|measured| measured.1),
            is_frozen: self.is_frozen,
            lost_samples: self.input.as_ref().map_or(0, |input| input.lost_samples),
            time_steps_back: self.input.as_ref().map_or(0, |input| input.time_steps_back),
            jitter_ratio: self.input.as_ref().and_then(|input| input.jitter_ratio).unwrap_or(0.0),
            ..quality::QualityContext::new(self.rate)
        };
        assess(accel_m_s2, &context)
    }

    /// The operating state at a speed: the bin that contains the speed.
    fn state(&self, speed: Rpm) -> String {
        let bins = &self.settings.speed_bins;
        let above = bins.partition_point(|edge| edge.get() <= speed.get());
        match (above.checked_sub(1).and_then(|at| bins.get(at)), bins.get(above)) {
            (None, None) => DEFAULT_STATE.to_owned(),
            (None, Some(high)) => format!("below {} rpm", high.get()),
            (Some(low), Some(high)) => format!("{} to {} rpm", low.get(), high.get()),
            (Some(low), None) => format!("{} rpm and above", low.get()),
        }
    }

    /// This shaft's speed over a window from the angle of the tachometer's shaft, and the window
    /// resampled to constant speed if the speed changes in it.
    fn turned(&self, accel_m_s2: &[f64], angle: &ShaftAngle) -> Option<Turned> {
        let rate_hz = self.rate.get();
        let duration_s = accel_m_s2.len() as f64 / rate_hz;
        let angle = angle.covering(duration_s).geared(self.settings.tachometer_ratio);
        let speed = Rpm::from_shaft_hz(angle.mean_hz()).ok()?;
        let steady = (angle.variation() > STEADY)
            .then(|| angle.at_constant_speed(accel_m_s2, rate_hz, &mut Transforms::new()))
            .flatten();
        Some(Turned { speed, steady })
    }

    fn fast(&self, accel_m_s2: &[f64], speed: Rpm) -> Option<FastFindings> {
        let rate = self.rate.get();
        let band = match self.settings.envelope_band {
            Some(band) => band,
            None => Band::new(DEFAULT_BAND.0 * rate, DEFAULT_BAND.1 * rate).ok()?,
        };
        self.plans.measure(accel_m_s2, (self.rate, band), speed, &self.settings.orders)
    }

    fn fast_blocks(
        &self,
        accel_m_s2: &[f64],
        fast: Option<&FastFindings>,
        speed: Rpm,
    ) -> (TimeDomain, FrequencyDomain) {
        let Some(fast) = fast else {
            let time = blocks::time_of(accel_m_s2, self.rate).unwrap_or_default();
            return (time, nothing_seen());
        };
        let zone = fast
            .velocity_rms_mm_s
            .and_then(|velocity| Some(self.settings.zones.as_ref()?.zone(velocity)));
        let velocity = fast.velocity_rms_mm_s;
        let envelope = Some(fast.envelope_rms_m_s2);
        let mut time = blocks::time_block(&fast.time, velocity, envelope, zone);
        let low_band = fast.low_band_rms_m_s2.filter(|_| velocity.is_none());
        time.low_band_rms_g = low_band.map(blocks::to_g);
        (time, blocks::fast_block(fast, speed))
    }
}

/// The figures of a window.
struct Taken {
    fast: Option<FastFindings>,
    time_domain: TimeDomain,
    frequency: FrequencyDomain,
    features: Features,
    /// They show no machine in service.
    is_absent: bool,
}

fn nothing_seen() -> FrequencyDomain {
    FrequencyDomain {
        method: Method::Fast,
        envelope_band_hz: None,
        noise_floor_g: None,
        bpfo: DefectLine::default(),
        bpfi: DefectLine::default(),
        bsf: DefectLine::default(),
        ftf: DefectLine::default(),
        dominant_fault: None,
        confidence: 0.0,
        second_fault: None,
        new_comb_db: None,
        bearing_estimate: None,
        damaged: None,
        since_commissioning: Vec::new(),
        undetermined: Some("the signal cannot be judged".to_owned()),
    }
}

#[cfg(test)]
mod tests;
