//! Putting the event together: measurement and judgement of one window in the words of the
//! contract.
//!
//! Seventh stage of the flow. Everything was measured before; nothing is computed here but the
//! length of the window. Invariant: an event that leaves here satisfies [`Event::check`] once the
//! spool has numbered it.

use pdm_shared::event::{
    EVENT_SCHEMA, Event, FrequencyDomain, InputDescription, Operating, SignalQuality, Spectra,
    SpeedBasis, SpeedSource, TimeDomain, Timing, Window,
};
use pdm_shared::fault::Fault;
use pdm_shared::feature::{Feature, LineFigure};
use pdm_shared::id::{BearingId, EquipmentId, EventId, GatewayId, MeasuringPoint, SiteId};
use pdm_shared::time::Timestamp;
use pdm_shared::units::{Rpm, SampleRate};

use crate::condition::{Features, Judgement};

/// The one operating state of a machine whose speed and load do not tell states apart.
pub const DEFAULT_STATE: &str = "default";

/// The names that an event carries: gateway, site, machine, bearing, measuring point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventNames {
    /// The gateway that measures.
    pub gateway: GatewayId,
    /// Site of the machine.
    pub site: SiteId,
    /// Machine.
    pub equipment: EquipmentId,
    /// Bearing.
    pub bearing: BearingId,
    /// Where the sensor sits.
    pub measuring_point: Option<MeasuringPoint>,
}

/// The measurement of one window.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// When the window began.
    pub at: Timestamp,
    /// Samples of the window.
    pub samples: usize,
    /// Their rate.
    pub rate: SampleRate,
    /// Their true rate, where the gateway's clock measured it.
    pub measured_rate: Option<SampleRate>,
    /// The shaft turned.
    pub is_running: bool,
    /// Shaft speed, and where it comes from.
    pub speed: (Rpm, SpeedSource),
    /// The stated speed, where the baseline has learnt another that was used in its place.
    pub learnt_against: Option<Rpm>,
    /// The operating state whose baseline applies.
    pub state: String,
    /// Temperature of the bearing, °C, where a transmitter gives it.
    pub temperature_c: Option<f64>,
    /// Whether the signal can be judged.
    pub quality: SignalQuality,
    /// How the samples were read, where they are from a file.
    pub input: Option<InputDescription>,
    /// Statistics of the waveform.
    pub time_domain: TimeDomain,
    /// The four defect frequencies.
    pub frequency_domain: FrequencyDomain,
    /// The spectra behind the verdict, where the event is to show them.
    pub spectra: Option<Spectra>,
}

/// The event of one window. Its `sequence` is given by the spool.
pub fn assemble(
    place: &EventNames,
    event_id: EventId,
    measured: Measured,
    judgement: Judgement,
) -> Event {
    let (speed, speed_source) = measured.speed;
    let sampling_rate_hz = measured.rate.get();
    Event {
        schema: EVENT_SCHEMA.to_owned(),
        event_id,
        gateway_id: place.gateway.clone(),
        sequence: 0,
        epoch: None,
        site: place.site.clone(),
        equipment_id: place.equipment.clone(),
        bearing_id: place.bearing.clone(),
        measuring_point: place.measuring_point.clone(),
        measured_at: measured.at,
        replayed: false,
        delayed_s: 0.0,
        window: Window {
            samples: measured.samples as u64,
            sampling_rate_hz,
            measured_rate_hz: measured.measured_rate.map(SampleRate::get),
            duration_s: measured.samples as f64
                / measured.measured_rate.unwrap_or(measured.rate).get(),
        },
        operating: Operating {
            running: measured.is_running,
            shaft_speed_rpm: measured.is_running.then_some(speed.get()),
            speed_source,
            speed_basis: measured.learnt_against.map(|_| SpeedBasis::Learnt),
            stated_speed_rpm: measured.learnt_against.map(Rpm::get),
            state: measured.state,
            temperature_c: measured.temperature_c,
        },
        signal_quality: measured.quality,
        anomaly_detected: judgement.anomaly_detected,
        anomaly: judgement.anomaly,
        change: judgement.change,
        timing: judgement.period.map(|period| Timing { clock_moved_s: None, period: Some(period) }),
        input: measured.input,
        time_domain: measured.time_domain,
        frequency_domain: measured.frequency_domain,
        trend: judgement.trend,
        rul: judgement.rul,
        spectra: measured.spectra,
    }
}

/// The figures of an event that the condition of the bearing is judged by, by their key in it.
///
/// Levels of defect lines count only where the window resolves them (`with_lines`): fewer shaft
/// turns than a verdict needs make them a matter of chance.
pub fn features(time: &TimeDomain, frequency: &FrequencyDomain, with_lines: bool) -> Features {
    let mut features = Features::new();
    for (feature, value) in [
        (Feature::Rms, time.rms_g),
        (Feature::Kurtosis, time.kurtosis),
        (Feature::CrestFactor, time.crest_factor),
        (Feature::EnvelopeRms, time.envelope_rms_g),
        (Feature::Velocity, time.velocity_rms_mm_s),
        (Feature::LowBandRms, time.low_band_rms_g),
    ] {
        if let Some(value) = value {
            features.insert(feature.key().into_owned(), value);
        }
    }
    if with_lines {
        for fault in Fault::ALL {
            if let Some(snr_db) = frequency.line(fault).snr_db {
                let feature = Feature::Line(Some(fault), LineFigure::Level);
                features.insert(feature.key().into_owned(), snr_db);
            }
        }
    }
    features
}
