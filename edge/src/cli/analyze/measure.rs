//! Measuring one recording: reading, quality, features, thorough verdict, event.

use std::path::Path;
use std::sync::Arc;

use pdm_dsp::diagnose::{Against, Past, Undetermined, diagnose_against, past_of};
use pdm_dsp::{Findings, time_domain};
use pdm_service::clock::{Clock, SystemClock};
use pdm_service::exit::{Exit, Failure};
use pdm_shared::event::{
    Anomaly, Baseline, BaselineState, EVENT_SCHEMA, Event, FrequencyDomain, Method, Operating,
    Persistence, SpeedSource, TimeDomain, Trend, TrendDirection, Window,
};
use pdm_shared::id::{BearingId, EquipmentId, EventId, GatewayId, MeasuringPoint, SiteId};
use pdm_shared::time::Timestamp;
use pdm_shared::units::SampleRate;

use super::super::recording_options::{Machine, RecordingArgs};
use super::Job;
use crate::catalogue::Estimate;
use crate::features;
use crate::plot::Picture;
use crate::quality::{Quality, QualityContext, assess};
use crate::source::{Interpretation, SourceError, open_recording};

/// A recording and its findings.
pub(super) struct Analysis {
    /// File, channel and snapshot, to be shown.
    pub(super) title: String,
    pub(super) event: Event,
    /// How the file was read.
    pub(super) input: Option<Arc<Interpretation>>,
    /// What is to be said of the recording that it was held against.
    pub(super) notes: Vec<String>,
    pub(super) machine: Machine,
    /// `None` if the signal cannot be judged.
    findings: Option<Findings>,
    accel_m_s2: Vec<f64>,
    rate: SampleRate,
}

impl Analysis {
    /// The picture of the recording, if the signal can be judged.
    pub(super) fn picture(&self) -> Option<Picture<'_>> {
        let findings = self.findings.as_ref()?;
        let (title, verdict) = (self.title.clone(), super::table::verdict(&self.event));
        Some(Picture { title, verdict, accel_m_s2: &self.accel_m_s2, rate: self.rate, findings })
    }
}

/// Reads and judges one recording.
pub(super) fn measure(job: &Job) -> anyhow::Result<Analysis> {
    let machine = job.machine.machine()?;
    let Read { accel_m_s2, rate, input, quality } = read(job, &job.path, &job.recording, &machine)?;
    let mut notes = Vec::new();
    let past = match &job.baseline {
        Some(file) => past(job, file, (&machine, rate), &mut notes)?,
        None => None,
    };
    let findings = if quality.signal.valid {
        let against = past.as_ref().map_or(Against::Nothing, Against::Past);
        let judged = diagnose_against(&accel_m_s2, &machine.request(rate), against);
        Some(judged.map_err(|e| unfit(&job.path, &e))?.0)
    } else {
        None
    };
    let title = title(job, job.recording.channel.unwrap_or(0));
    let mut event = event(job, &machine, &accel_m_s2, rate, &quality, findings.as_ref());
    event.input = input.as_ref().map(|input| input.described(0));
    Ok(Analysis { title, event, input, notes, machine, findings, accel_m_s2, rate })
}

/// A recording as it was read, and whether it can be judged.
struct Read {
    accel_m_s2: Vec<f64>,
    rate: SampleRate,
    input: Option<Arc<Interpretation>>,
    quality: Quality,
}

fn read(
    job: &Job,
    path: &Path,
    recording: &RecordingArgs,
    machine: &Machine,
) -> anyhow::Result<Read> {
    let mut options = recording.options()?;
    options.channels = vec![job.recording.channel.unwrap_or(0)];
    options.snapshot = Some(job.snapshot.unwrap_or(0));
    let failed = |e: SourceError| Failure::new(e.exit(), e);
    let mut source = open_recording(path, &options).map_err(failed)?;
    let rate = source.format().sample_rate;
    let accel_m_s2 = match source.next_block().map_err(failed)? {
        Some(block) => block.accel_m_s2.row(0).to_vec(),
        None => Vec::new(),
    };
    let input = source.interpretation().map(Arc::clone);
    let context = QualityContext {
        speed: Some(machine.speed),
        lost_samples: input.as_ref().map_or(0, |input| input.lost_samples),
        jitter_ratio: input.as_ref().and_then(|input| input.jitter_ratio).unwrap_or(0.0),
        ..QualityContext::new(rate)
    };
    let quality = assess(&accel_m_s2, &context);
    Ok(Read { accel_m_s2, rate, input, quality })
}

fn unfit(path: &Path, why: &dyn std::fmt::Display) -> Failure {
    Failure::new(Exit::BadInput, anyhow::anyhow!("{}: {why}", path.display()))
}

/// What stood in the recording that a person calls sound; none where that recording names a part itself.
fn past(
    job: &Job,
    file: &Path,
    (machine, rate): (&Machine, SampleRate),
    notes: &mut Vec<String>,
) -> anyhow::Result<Option<Past>> {
    let rate_hz = job.baseline_rate.or(job.recording.rate);
    let recording = RecordingArgs { rate: rate_hz, ..job.recording.clone() };
    let sound = read(job, file, &recording, machine)?;
    notes.extend(sound.input.as_ref().map(|input| format!("{}: {input}", file.display())));
    if !sound.quality.signal.valid {
        let why = not_judged(&sound.quality).undetermined.unwrap_or_default();
        return Err(unfit(file, &format!("no baseline, {why}")).into());
    }
    if sound.rate.get() < rate.get() {
        let why = format!(
            "no baseline, sampled at {} Hz, the recording at {} Hz: a baseline needs at least the rate of \
             the recording that --baseline is given for",
            sound.rate.get(),
            rate.get()
        );
        return Err(unfit(file, &why).into());
    }
    let (findings, past) = past_of(&sound.accel_m_s2, sound.rate, &machine.request(rate))
        .map_err(|e| unfit(file, &e))?;
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
        (None, _) => return Ok(past),
    };
    notes.push(format!("{}: {why}; the recording is judged without it", file.display()));
    Ok(None)
}

fn title(job: &Job, channel: usize) -> String {
    let snapshot = job.snapshot.map_or(String::new(), |n| format!(", snapshot {n}"));
    let variable = job.recording.variable.as_ref().map_or(String::new(), |v| format!(", {v}"));
    format!("{}, channel {channel}{snapshot}{variable}", job.path.display())
}

fn event(
    job: &Job,
    machine: &Machine,
    accel_m_s2: &[f64],
    rate: SampleRate,
    quality: &Quality,
    findings: Option<&Findings>,
) -> Event {
    let measured_at = measured_at(&job.path);
    let speed = findings.map_or(machine.speed, |found| found.speed);
    let is_estimated = findings.is_some_and(|found| found.speed_estimated);
    let samples = accel_m_s2.len() as u64;
    let sampling_rate_hz = rate.get();
    Event {
        schema: EVENT_SCHEMA.to_owned(),
        event_id: EventId::at(measured_at.unix_ms()),
        gateway_id: GatewayId::from_any("analyze"),
        sequence: 1,
        epoch: None,
        site: SiteId::from_any("local"),
        equipment_id: EquipmentId::from_any(&file_name(&job.path)),
        bearing_id: BearingId::from_any(job.machine.bearing.as_deref().unwrap_or("bearing")),
        measuring_point: Some(MeasuringPoint::from_any(&format!(
            "channel-{}",
            job.recording.channel.unwrap_or(0)
        ))),
        measured_at,
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
            state: "default".to_owned(),
            temperature_c: None,
        },
        signal_quality: quality.signal.clone(),
        anomaly_detected: false,
        anomaly: no_anomaly(),
        change: None,
        timing: None,
        input: None,
        time_domain: time_block(accel_m_s2, rate, findings),
        frequency_domain: frequency_domain(machine, quality, findings),
        trend: unknown_trend(),
        rul: pdm_shared::event::Rul::unknown("one recording has no history"),
        spectra: findings.map(features::spectra),
    }
}

fn frequency_domain(
    machine: &Machine,
    quality: &Quality,
    findings: Option<&Findings>,
) -> FrequencyDomain {
    let estimate = machine.estimate.as_ref();
    match findings {
        Some(findings) => features::judged_block(findings, &machine.orders, estimate),
        None => {
            let bearing_estimate = estimate.map(Estimate::told);
            FrequencyDomain { bearing_estimate, ..not_judged(quality) }
        }
    }
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

fn time_block(accel_m_s2: &[f64], rate: SampleRate, findings: Option<&Findings>) -> TimeDomain {
    let Some(time) = time_domain::time_domain(accel_m_s2) else { return TimeDomain::default() };
    let mut transforms = pdm_dsp::transform::Transforms::new();
    let velocity = pdm_dsp::integrate::velocity_rms_mm_s(accel_m_s2, rate, &mut transforms);
    features::time_block(&time, velocity, findings.map(|found| found.envelope_rms_m_s2), None)
}

/// The frequency domain of a signal that cannot be judged, with the reason.
fn not_judged(quality: &Quality) -> FrequencyDomain {
    let why = if quality.is_running {
        let flags: Vec<String> =
            quality.signal.flags.iter().map(|&flag| super::table::flag_words(flag)).collect();
        format!("the signal cannot be judged: {}", flags.join(", "))
    } else {
        "the machine stands".to_owned()
    };
    FrequencyDomain {
        method: Method::Thorough,
        envelope_band_hz: None,
        noise_floor_g: None,
        bpfo: pdm_shared::event::DefectLine::default(),
        bpfi: pdm_shared::event::DefectLine::default(),
        bsf: pdm_shared::event::DefectLine::default(),
        ftf: pdm_shared::event::DefectLine::default(),
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

/// Time of the last write to the file: of the times that a file has, the nearest to the
/// measurement.
fn measured_at(path: &Path) -> Timestamp {
    std::fs::metadata(path)
        .and_then(|metadata| metadata.modified())
        .ok()
        .and_then(|at| Timestamp::of(at.into()))
        .unwrap_or_else(|| SystemClock.now())
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
