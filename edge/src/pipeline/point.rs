//! One measuring point: from the samples of a window to its event.
//!
//! Every window takes the fast path, whose band never changes, so that the baseline compares like
//! with like. The thorough path looks in addition: when an anomaly is raised and on while it lasts,
//! now and then while the baseline is learnt, and on a schedule. Its verdict stands for the windows
//! after it until the next look ([`looking`]).
//!
//! Where a tachometer tells the shaft's angle, its speed is used, and a window in which the speed
//! changes is turned into one of constant speed before any line is looked for.

use pdm_dsp::FastFindings;
use pdm_dsp::diagnose::LEAST_TURNS;
use pdm_dsp::order::ShaftAngle;
use pdm_dsp::transform::Transforms;
use pdm_shared::clock::Timestamp;
use pdm_shared::event::{DefectLine, Event, FrequencyDomain, Method, SpeedSource, TimeDomain};
use pdm_shared::id::{EventId, GatewayId, SiteId};
use pdm_shared::units::{Band, Rpm, SampleRate};
use serde::{Deserialize, Serialize};

use super::tools::Tools;
use crate::condition::{Monitor, Observation};
use crate::event::{DEFAULT_STATE, Measured, Place, assemble, features};
use crate::quality::{Quality, QualityContext, assess};
use crate::settings::PointSettings;
use crate::{features as blocks, quality};

mod looking;

use looking::{Look, Seen};

/// Change of speed within a window below which it is taken as it is, as a ratio. Chosen: below half
/// the reach of the search around a defect line's fourth harmonic at 100 turns.
const STEADY: f64 = 0.003;

/// Envelope band where none is configured, as shares of the sampling rate. Chosen: above shaft and
/// gear lines, below the anti-alias filter's corner (0.39 of the rate for common converters).
const DEFAULT_BAND: (f64, f64) = (0.1, 0.39);

/// What a point must remember between windows and over a restart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Memory {
    monitor: Monitor,
    look: Option<Look>,
    spectra_at: Option<Timestamp>,
    alarmed: bool,
    /// A look is due by what happened, and it was not this point's turn yet.
    #[serde(default)]
    owed: bool,
}

/// A measuring point at work.
#[derive(Debug)]
pub struct Point {
    settings: PointSettings,
    place: Place,
    rate: SampleRate,
    memory: Memory,
    tools: Tools,
}

/// What a tachometer says of a window.
struct Turned {
    speed: Rpm,
    /// The window as it would be at that speed, if the speed changes in it.
    steady: Option<Vec<f64>>,
}

/// A memory that cannot be understood. The caller begins anew and says so.
#[derive(Debug, thiserror::Error)]
#[error("the memory of {equipment}/{bearing} cannot be understood: {source}")]
pub struct MemoryError {
    equipment: String,
    bearing: String,
    source: serde_json::Error,
}

impl Point {
    /// A point that knows nothing yet.
    pub fn new(
        settings: PointSettings,
        gateway: GatewayId,
        site: SiteId,
        rate: SampleRate,
    ) -> Self {
        let place = Place {
            gateway,
            site,
            equipment: settings.equipment.clone(),
            bearing: settings.bearing.clone(),
            measuring_point: settings.measuring_point.clone(),
        };
        let monitor = Monitor::new(settings.monitor.clone());
        let memory = Memory { monitor, look: None, spectra_at: None, alarmed: false, owed: false };
        Self { settings, place, rate, memory, tools: Tools::default() }
    }

    /// With the tools of other points.
    #[must_use]
    pub fn with_tools(self, tools: Tools) -> Self {
        Self { tools, ..self }
    }

    /// Goes on from what [`Self::memory`] gave, under the settings that it has now.
    ///
    /// # Errors
    /// [`MemoryError`] if it is of another form.
    pub fn restore(&mut self, memory: &[u8]) -> Result<(), MemoryError> {
        let told = |source| MemoryError {
            equipment: self.place.equipment.to_string(),
            bearing: self.place.bearing.to_string(),
            source,
        };
        let mut memory: serde_json::Value = serde_json::from_slice(memory).map_err(told)?;
        // what was learnt goes on, judged by the settings of today
        let settings = serde_json::to_value(&self.settings.monitor).map_err(told)?;
        if let Some(remembered) = memory.pointer_mut("/monitor/settings") {
            *remembered = settings;
        }
        self.memory = serde_json::from_value(memory).map_err(told)?;
        Ok(())
    }

    /// What must be remembered together with the events made so far.
    pub fn memory(&self) -> Vec<u8> {
        serde_json::to_vec(&self.memory).expect("texts, numbers and lists always make JSON")
    }

    /// Row of the source's blocks.
    pub fn channel(&self) -> usize {
        self.settings.channel
    }

    /// Forgets what was learnt, after the bearing was replaced or its machine rebuilt.
    pub fn relearn(&mut self) {
        self.memory.monitor.relearn();
        self.memory.look = None;
        self.memory.spectra_at = None;
        self.memory.alarmed = false;
        self.memory.owed = false;
    }

    /// Measures and judges one window that began at `at`; `now` makes the event's identity.
    pub fn measure(&mut self, accel_m_s2: &[f64], at: Timestamp, now: Timestamp) -> Event {
        self.measure_turned(accel_m_s2, None, at, now)
    }

    /// The same with the angle of the tachometer's shaft over the window, where it is known.
    pub fn measure_turned(
        &mut self,
        accel_m_s2: &[f64],
        angle: Option<&ShaftAngle>,
        at: Timestamp,
        now: Timestamp,
    ) -> Event {
        let quality = self.assess(accel_m_s2);
        let usable = quality.signal.valid && quality.is_running;
        let turned = angle.and_then(|angle| self.turned(accel_m_s2, angle));
        let steady = turned.as_ref().and_then(|turned| turned.steady.as_deref());
        let accel_m_s2 = steady.filter(|_| usable).unwrap_or(accel_m_s2);
        let tachometer = turned.as_ref().map(|turned| turned.speed);
        let speed =
            tachometer.map_or_else(|| self.speed(at), |speed| (speed, SpeedSource::Tachometer));
        let state = self.state(speed.0);
        let fast = if usable { self.fast(accel_m_s2, speed.0) } else { None };
        let (time_domain, frequency) = self.fast_blocks(accel_m_s2, fast.as_ref(), speed.0);
        let turns = accel_m_s2.len() as f64 / self.rate.get() * speed.0.shaft_hz();
        let judgement = self.memory.monitor.observe(&Observation {
            at,
            state: state.clone(),
            usable: fast.is_some(),
            turns_per_h: Some(speed.0.shaft_hz() * 3600.0),
            features: features(&time_domain, &frequency, turns >= LEAST_TURNS),
        });
        let seen = match &fast {
            Some(_) => self.look_if_due(accel_m_s2, at, tachometer, &judgement),
            None => None,
        };
        let (speed, frequency_domain, spectra) = match seen {
            Some(Seen { findings, spectra }) => {
                let block = blocks::thorough_block(&findings);
                let estimated = (findings.speed, SpeedSource::Estimated);
                (if findings.speed_estimated { estimated } else { speed }, block, spectra)
            }
            None => (speed, self.with_standing_verdict(frequency, at, usable), None),
        };
        self.memory.alarmed = judgement.anomaly_detected;
        let measured = Measured {
            at,
            samples: accel_m_s2.len(),
            rate: self.rate,
            is_running: quality.is_running,
            speed,
            state,
            quality: quality.signal,
            time_domain,
            frequency_domain,
            spectra,
        };
        assemble(&self.place, EventId::at(now.unix_ms()), measured, judgement)
    }

    fn assess(&self, accel_m_s2: &[f64]) -> Quality {
        let context = QualityContext {
            speed: Some(self.settings.speed),
            ..quality::QualityContext::new(self.rate)
        };
        assess(accel_m_s2, &context)
    }

    /// The operating state at a speed: the bin it falls in.
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

    /// This shaft's speed over a window by the angle of the tachometer's, and the window at
    /// constant speed if the speed changes in it.
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
        self.tools.measure(accel_m_s2, (self.rate, band), speed, &self.settings.orders)
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
        undetermined: Some("the signal cannot be judged".to_owned()),
    }
}

#[cfg(test)]
mod tests;
