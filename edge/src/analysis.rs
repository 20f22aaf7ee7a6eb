//! One recording judged without state: quality, waveform, thorough verdict, event.
//!
//! Stands between whoever has read a recording (`pdm-edge analyze`, the Python package) and the
//! stages [`quality`](crate::quality) and [`features`](crate::features), so that both get the same
//! figures. No files and no options here. Invariants: a recording that cannot be judged gives an
//! event that says why; the event of the same samples is the same but for its identity.

use std::sync::Arc;

use pdm_dsp::diagnose::{Against, Past, Taught, Undetermined, diagnose_against, taught_by};
use pdm_dsp::{DefectOrders, DiagnoseError, Findings, Request, time_domain};
use pdm_shared::event::{
    Anomaly, Baseline, BaselineState, DefectLine, EVENT_SCHEMA, Event, FrequencyDomain, Method,
    Operating, Persistence, QualityFlag, Rul, SpeedBasis, SpeedSource, TimeDomain, Trend,
    TrendDirection, Window,
};
use pdm_shared::id::{BearingId, EquipmentId, EventId, GatewayId, MeasuringPoint, SiteId};
use pdm_shared::time::Timestamp;
use pdm_shared::units::{Rpm, SampleRate};

use crate::catalogue::Estimate;
use crate::features;
use crate::quality::{Quality, QualityContext, assess};
use crate::source::Interpretation;

/// A machine, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    /// Nominal shaft speed.
    pub speed: Rpm,
    /// Largest deviation of the true speed, ratio.
    pub speed_tolerance: f64,
    /// Defect orders.
    pub orders: DefectOrders,
    /// Largest deviation of a line from its order, ratio.
    pub order_tolerance: f64,
    /// The estimate that the orders are, if the catalogue has no better for this bearing.
    pub estimate: Option<Estimate>,
}

impl Machine {
    /// The request for a thorough look at a recording of this machine.
    pub const fn request(&self, rate: SampleRate) -> Request {
        Request {
            rate,
            speed: self.speed,
            speed_tolerance: self.speed_tolerance,
            orders: self.orders,
            order_tolerance: self.order_tolerance,
            envelope_band: None,
        }
    }
}

/// One channel of a recording as it was read.
#[derive(Debug, Clone)]
pub struct ReadChannel {
    /// Acceleration, m/s²; NaN where the recording has no finite number.
    pub accel_m_s2: Vec<f64>,
    /// Samples per second.
    pub rate: SampleRate,
    /// How the samples were read, where they are from a file, and which of its channels they are.
    pub input: Option<(Arc<Interpretation>, usize)>,
}

impl ReadChannel {
    /// Whether it can be judged as a recording of `machine`.
    pub fn quality(&self, machine: &Machine) -> Quality {
        let input = self.input.as_ref().map(|(input, _)| input);
        let context = QualityContext {
            speed: Some(machine.speed),
            lost_samples: input.map_or(0, |input| input.lost_samples),
            time_steps_back: input.map_or(0, |input| input.time_steps_back),
            jitter_ratio: input.and_then(|input| input.jitter_ratio).unwrap_or(0.0),
            ..QualityContext::new(self.rate)
        };
        assess(&self.accel_m_s2, &context)
    }
}

/// The names in the event of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordingNames {
    /// Machine.
    pub equipment: EquipmentId,
    /// Bearing.
    pub bearing: BearingId,
    /// Where the sensor sits.
    pub measuring_point: MeasuringPoint,
    /// When it was measured.
    pub measured_at: Timestamp,
}

/// A recording, judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The event.
    pub event: Event,
    /// The findings of the verdict; `None` if the signal cannot be judged.
    pub findings: Option<Findings>,
}

/// Judges a recording, compared with a sound one if there is one.
///
/// A speed that the sound one taught takes the place of the stated one where the recording shows
/// none of its own, as in the service: two recordings of one machine may be of two loads.
///
/// # Errors
/// [`DiagnoseError`] for samples that cannot be measured with this machine, such as a rate that is
/// too low for its defect frequencies.
pub fn judge(
    channel: &ReadChannel,
    machine: &Machine,
    sound: Option<&SoundRecording>,
    names: RecordingNames,
) -> Result<Judged, DiagnoseError> {
    let quality = channel.quality(machine);
    let past = sound.and_then(|sound| sound.past.as_ref());
    let at = |speed: Rpm| {
        let request = Request { speed, ..machine.request(channel.rate) };
        let against = past.map_or(Against::Nothing, Against::Past);
        Ok(diagnose_against(&channel.accel_m_s2, &request, against)?.0)
    };
    let mut findings = quality.signal.valid.then(|| at(machine.speed)).transpose()?;
    let is_open = findings.as_ref().is_some_and(|found: &Findings| !found.speed_estimated);
    let learnt = sound.and_then(|sound| sound.learnt_speed).filter(|_| is_open);
    if let Some(speed) = learnt {
        findings = Some(at(speed)?);
    }
    let (quality, findings) = match findings {
        Some(found) if is_silent(channel, &found) => (quality.of_standstill(), None),
        findings => (quality, findings),
    };
    let mut event = event(channel, machine, names, &quality, findings.as_ref());
    if learnt.is_some() && findings.is_some() {
        event.operating.speed_source = SpeedSource::Estimated;
        event.operating.speed_basis = Some(SpeedBasis::Learnt);
        event.operating.stated_speed_rpm = Some(machine.speed.get());
    }
    Ok(Judged { event, findings })
}

/// Level, g RMS, velocity, mm/s RMS, and raw kurtosis below all of which a recording shows no
/// machine in service. IMS shows 0.002 g when stopped; 0.1 mm/s is a fourteenth of the lowest limit
/// of zone A (ISO 20816-3), and noise has a kurtosis of 3. A slow machine is as quiet: with impacts
/// or lines it is judged.
const SILENT: (f64, f64, f64) = (0.002, 0.1, 4.0);

/// Whether nothing was measured that a verdict can rest on: a dead sensor, or a machine that
/// stands.
fn is_silent(channel: &ReadChannel, found: &Findings) -> bool {
    let time = time_block(channel, Some(found));
    let is_open = found.dominant.is_none() && found.undetermined.is_none();
    is_open
        && time.rms_g.is_some_and(|rms| rms < SILENT.0)
        && time.velocity_rms_mm_s.is_none_or(|velocity| velocity < SILENT.1)
        && time.kurtosis.is_none_or(|kurtosis| kurtosis < SILENT.2)
}

/// A sound recording, ready to be compared with.
#[derive(Debug, Clone, PartialEq)]
pub struct SoundRecording {
    /// The past of the recording; `None` if it is of no use, and then `note` says why.
    pub past: Option<Past>,
    /// The speed that it shows, where that is another than the stated one.
    pub learnt_speed: Option<Rpm>,
    /// A note on it for the person.
    pub note: Option<String>,
}

/// A recording that is no baseline. The caller shows it to the person who named the recording.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BaselineError {
    /// Its signal cannot be judged.
    #[error("no baseline, {why}")]
    NotJudged {
        /// The reason.
        why: String,
    },
    /// It was sampled slower than what is to be judged.
    #[error(
        "no baseline, sampled at {got_hz} Hz, the recording at {needed_hz} Hz: a baseline needs at \
         least the rate of the recording that it is for"
    )]
    TooSlow {
        /// Its rate, Hz.
        got_hz: f64,
        /// The rate of the recording, Hz.
        needed_hz: f64,
    },
    /// It cannot be measured.
    #[error(transparent)]
    Diagnose(#[from] DiagnoseError),
}

/// Returns the past of the recording that a person calls sound, for recordings at `rate`, and the
/// speed that it teaches; without either where that recording names a part itself.
///
/// # Errors
/// [`BaselineError`].
pub fn baseline(
    sound: &ReadChannel,
    machine: &Machine,
    rate: SampleRate,
) -> Result<SoundRecording, BaselineError> {
    let quality = sound.quality(machine);
    if !quality.signal.valid {
        let why = not_judged(&quality).undetermined.unwrap_or_default();
        return Err(BaselineError::NotJudged { why });
    }
    if sound.rate.get() < rate.get() {
        return Err(BaselineError::TooSlow { got_hz: sound.rate.get(), needed_hz: rate.get() });
    }
    let Taught { findings, past, speed_ratio } =
        taught_by(&sound.accel_m_s2, sound.rate, &machine.request(rate))?;
    let learnt_speed = speed_ratio.and_then(|ratio| Rpm::new(machine.speed.get() * ratio).ok());
    let why = match (findings.dominant, &findings.undetermined) {
        (Some(fault), _) => format!(
            "lines of the {} stand in the baseline itself (confidence {:.2})",
            fault.name().en,
            findings.confidence
        ),
        (
            None,
            Some(why @ (Undetermined::SpeedMisfit { .. } | Undetermined::TooFewTurns { .. })),
        ) => {
            format!("no baseline, {why}")
        }
        (None, _) => {
            let note = learnt_speed.map(|learnt| speed_note(machine.speed, learnt));
            return Ok(SoundRecording { past, learnt_speed, note });
        }
    };
    let note = format!("{why}; the recording is judged without it");
    Ok(SoundRecording { past: None, learnt_speed: None, note: Some(note) })
}

/// The note on a speed that a sound recording taught.
fn speed_note(stated: Rpm, learnt: Rpm) -> String {
    format!(
        "its shaft lines give {:.1} rpm in place of the stated {}; a recording that shows no speed \
         of its own is judged at that speed",
        learnt.get(),
        stated.get()
    )
}

fn event(
    channel: &ReadChannel,
    machine: &Machine,
    names: RecordingNames,
    quality: &Quality,
    findings: Option<&Findings>,
) -> Event {
    let speed = findings.map_or(machine.speed, |found| found.speed);
    let is_estimated = findings.is_some_and(|found| found.speed_estimated);
    let samples = channel.accel_m_s2.len() as u64;
    let sampling_rate_hz = channel.rate.get();
    Event {
        schema: EVENT_SCHEMA.to_owned(),
        event_id: EventId::at(names.measured_at.unix_ms()),
        gateway_id: GatewayId::from_any("analyze"),
        sequence: 1,
        epoch: None,
        site: SiteId::from_any("local"),
        equipment_id: names.equipment,
        bearing_id: names.bearing,
        measuring_point: Some(names.measuring_point),
        measured_at: names.measured_at,
        replayed: false,
        delayed_s: 0.0,
        window: Window {
            samples,
            sampling_rate_hz,
            measured_rate_hz: None,
            duration_s: samples as f64 / sampling_rate_hz,
        },
        operating: Operating {
            running: quality.is_running,
            shaft_speed_rpm: Some(speed.get()),
            speed_source: if is_estimated {
                SpeedSource::Estimated
            } else {
                SpeedSource::Configured
            },
            speed_basis: None,
            stated_speed_rpm: None,
            state: "default".to_owned(),
            temperature_c: None,
        },
        signal_quality: quality.signal.clone(),
        anomaly_detected: false,
        anomaly: no_anomaly(),
        change: None,
        timing: None,
        input: channel.input.as_ref().map(|(input, row)| input.described(*row)),
        time_domain: time_block(channel, findings),
        frequency_domain: frequency_domain(machine, quality, findings),
        trend: unknown_trend(),
        rul: Rul::unknown("one recording has no history"),
        spectra: findings.map(features::spectra),
    }
}

fn frequency_domain(
    machine: &Machine,
    quality: &Quality,
    findings: Option<&Findings>,
) -> FrequencyDomain {
    let estimate = machine.estimate.as_ref();
    let Some(findings) = findings else {
        let bearing_estimate = estimate.map(Estimate::told);
        return FrequencyDomain { bearing_estimate, ..not_judged(quality) };
    };
    features::judged_block(findings, &machine.orders, estimate)
}

/// The anomaly block of a recording without a baseline.
fn no_anomaly() -> Anomaly {
    Anomaly {
        score: None,
        contributors: Vec::new(),
        persistence: Persistence { k: 0, n: 0 },
        baseline: Baseline { state: BaselineState::Learning, windows: 0 },
        level_ratio: None,
    }
}

/// The trend block of a recording without a history.
fn unknown_trend() -> Trend {
    Trend {
        feature: "rms_g".to_owned(),
        slope: None,
        slope_unit: "g/h".to_owned(),
        slope_ci: None,
        trend_direction: TrendDirection::Unknown,
        acceleration_detected: false,
        span_h: None,
        baseline_level: None,
        baseline_limit: None,
    }
}

fn time_block(channel: &ReadChannel, findings: Option<&Findings>) -> TimeDomain {
    let Some(time) = time_domain::time_domain(&channel.accel_m_s2) else {
        return TimeDomain::default();
    };
    let mut transforms = pdm_dsp::transform::Transforms::new();
    let velocity =
        pdm_dsp::integrate::velocity_rms_mm_s(&channel.accel_m_s2, channel.rate, &mut transforms);
    features::time_block(&time, velocity, findings.map(|found| found.envelope_rms_m_s2), None)
}

/// The frequency domain of a signal that cannot be judged, with the reason.
fn not_judged(quality: &Quality) -> FrequencyDomain {
    let why = if quality.is_running {
        let flags: Vec<&str> = quality.signal.flags.iter().map(|&flag| flag_words(flag)).collect();
        format!("the signal cannot be judged: {}", flags.join(", "))
    } else {
        "no signal of a machine that runs: the machine stands, or the sensor does not measure; \
         check that it ran, and sensor, cable and scale"
            .to_owned()
    };
    FrequencyDomain {
        method: Method::Thorough,
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
        undetermined: Some(why),
    }
}

/// A quality flag in words.
pub const fn flag_words(flag: QualityFlag) -> &'static str {
    match flag {
        QualityFlag::NotFinite => "samples that are no numbers",
        QualityFlag::Clipping => "clipped samples",
        QualityFlag::FlatLine => "flat line",
        QualityFlag::DropOut => {
            "stretches of identical samples (drop-out, or too coarse a resolution)"
        }
        QualityFlag::DcDrift => "drifting mean",
        QualityFlag::SkiSlope => "ski slope (loose mount?)",
        QualityFlag::WrongRate => "wrong sampling rate",
        QualityFlag::MachineOff => "machine off",
        QualityFlag::TooShort => "too short",
        QualityFlag::Implausible => "levels that no bearing reaches (unit or scale wrong?)",
    }
}
