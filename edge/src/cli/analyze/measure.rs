//! Measuring one recording: reading it and its baseline, then the judgement of [`crate::analysis`].

use std::path::Path;
use std::sync::Arc;

use pdm_dsp::Findings;
use pdm_service::clock::{Clock, SystemClock};
use pdm_service::exit::{Exit, Failure, exit_of};
use pdm_shared::capture::CaptureDocument;
use pdm_shared::event::Event;
use pdm_shared::id::{BearingId, EquipmentId, MeasuringPoint};
use pdm_shared::time::Timestamp;
use pdm_shared::units::SampleRate;

use super::super::captured;
use super::super::recording_options::RecordingArgs;
use super::Job;
use crate::analysis::{self, Judged, Machine, ReadChannel, RecordingNames, SoundRecording};
use crate::plot::Picture;
use crate::source::{Interpretation, SourceError, open_recording};

/// A recording and its findings.
pub(super) struct Analysis {
    /// File, channel and snapshot, to be shown.
    pub(super) title: String,
    pub(super) event: Event,
    /// How the file was read.
    pub(super) input: Option<Arc<Interpretation>>,
    /// Notes on the recording with which it was compared.
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
    let document = captured::document(&job.path)?;
    let completed = document.as_ref().map(|document| Job {
        recording: captured::recording(&job.recording, document),
        machine: captured::machine(&job.machine, document),
        ..job.clone()
    });
    let mut notes = Vec::new();
    if let (Some(document), Some(job)) = (&document, &completed) {
        notes.push(captured::notice(&job.path, document, &job.recording));
    }
    let given = &job.recording;
    let job = completed.as_ref().unwrap_or(job);
    // what is wrong is said at once, what is missing after what the file is
    let machine = match job.machine.machine() {
        Err(wrong) if job.machine.is_complete() => return Err(wrong),
        machine => machine,
    };
    let (channel, started_at, machine) = match (read(job, &job.path, &job.recording), machine) {
        (Ok((channel, at)), Ok(machine)) => (channel, at, machine),
        (Ok((channel, _)), Err(missing)) => {
            if let Some((input, _)) = &channel.input {
                print_reading(&job.path, input);
            }
            return Err(missing);
        }
        (Err(error), machine) => return Err(with_missing(error, machine.err())),
    };
    let sound = match &job.baseline {
        Some(file) => Some(sound((job, given), file, (&machine, channel.rate), &mut notes)?),
        None => None,
    };
    let Judged { mut event, findings } = analysis::judge(
        &channel,
        &machine,
        sound.as_ref(),
        names(job, document.as_ref(), started_at),
    )
    .map_err(|e| unfit(&job.path, &e))?;
    if document.is_none() && started_at.is_none() {
        note_last_change(&mut event);
    }
    let title = title(job, job.recording.channel.unwrap_or(0));
    let ReadChannel { accel_m_s2, rate, input } = channel;
    let input = input.map(|(input, _)| input);
    Ok(Analysis { title, event, input, notes, machine, findings, accel_m_s2, rate })
}

/// Says in the event that nothing in the file dates it, in the words of a watched folder.
fn note_last_change(event: &mut Event) {
    const NOTE: &str = "dated by the file's last change";
    let Some(mut input) = event.input.take() else { return };
    input.note = Some(match input.note.take() {
        Some(note) => format!("{note}; {NOTE}"),
        None => NOTE.to_owned(),
    });
    event.input = Some(input.bounded());
}

/// Prints how a file was read, and which of its channels were not asked for.
pub(super) fn print_reading(path: &Path, input: &Interpretation) {
    super::super::note(&format!("{}: {input}", path.display()));
    if let Some(words) = input.further_words() {
        super::super::note(&format!("{}: {words}", path.display()));
    }
}

/// The error of a file, with what else is missing where another option reads the file.
fn with_missing(error: anyhow::Error, missing: Option<anyhow::Error>) -> anyhow::Error {
    match missing {
        Some(missing) if exit_of(&error) == Exit::Usage => {
            Failure::new(Exit::Usage, anyhow::anyhow!("{error}; {missing}")).into()
        }
        _ => error,
    }
}

/// Reads one channel, and when it was recorded, where the file states it.
fn read(
    job: &Job,
    path: &Path,
    recording: &RecordingArgs,
) -> anyhow::Result<(ReadChannel, Option<Timestamp>)> {
    let mut options = recording.options()?;
    options.channels = vec![job.recording.channel.unwrap_or(0)];
    options.snapshot = Some(job.snapshot.unwrap_or(0));
    let failed = |e: SourceError| Failure::new(e.exit(), e);
    let mut source = open_recording(path, &options).map_err(failed)?;
    let rate = source.format().sample_rate;
    let (accel_m_s2, started_at) = match source.next_block().map_err(failed)? {
        Some(block) => (block.accel_m_s2.row(0).to_vec(), block.started_at),
        None => (Vec::new(), None),
    };
    // the channel that was asked for is the only one of this reading
    let input = source.interpretation().map(|input| (Arc::clone(input), 0));
    Ok((ReadChannel { accel_m_s2, rate, input }, started_at))
}

fn unfit(path: &Path, why: &dyn std::fmt::Display) -> Failure {
    Failure::new(Exit::BadInput, anyhow::anyhow!("{}: {why}", path.display()))
}

/// Reads the recording that a person calls sound: its past and the speed that it teaches.
fn sound(
    (job, given): (&Job, &RecordingArgs),
    file: &Path,
    (machine, rate): (&Machine, SampleRate),
    notes: &mut Vec<String>,
) -> anyhow::Result<SoundRecording> {
    let recording = RecordingArgs { rate: job.baseline_rate.or(given.rate), ..given.clone() };
    // a captured reference is read by its own document
    let recording = match captured::document(file)? {
        Some(document) => {
            let own = RecordingArgs { rate: job.baseline_rate, ..RecordingArgs::default() };
            captured::recording(&own, &document)
        }
        None => recording,
    };
    let (sound, _) = read(job, file, &recording)?;
    let told = |text: &dyn std::fmt::Display| format!("{}: {text}", file.display());
    notes.extend(sound.input.as_ref().map(|(input, _)| told(input)));
    let baseline = analysis::baseline(&sound, machine, rate).map_err(|e| unfit(file, &e))?;
    notes.extend(baseline.note.as_ref().map(|note| told(note)));
    Ok(baseline)
}

fn title(job: &Job, channel: usize) -> String {
    let snapshot = job.snapshot.map_or(String::new(), |n| format!(", snapshot {n}"));
    let variable = job.recording.variable.as_ref().map_or(String::new(), |v| format!(", {v}"));
    format!("{}, channel {channel}{snapshot}{variable}", job.path.display())
}

fn names(
    job: &Job,
    captured: Option<&CaptureDocument>,
    started_at: Option<Timestamp>,
) -> RecordingNames {
    let channel = job.recording.channel.unwrap_or(0);
    if let Some(document) = captured {
        let from_s = job.recording.start_s.unwrap_or(0.0);
        let point = document.measuring_point.clone();
        return RecordingNames {
            equipment: document.equipment_id.clone(),
            bearing: document.bearing_id.clone(),
            measuring_point: point
                .unwrap_or_else(|| MeasuringPoint::from_any(&format!("channel-{channel}"))),
            measured_at: document.started_at.plus_seconds(from_s),
        };
    }
    RecordingNames {
        equipment: EquipmentId::from_any(&file_name(&job.path)),
        bearing: BearingId::from_any(job.machine.bearing.as_deref().unwrap_or("bearing")),
        measuring_point: MeasuringPoint::from_any(&format!("channel-{channel}")),
        measured_at: started_at.unwrap_or_else(|| measured_at(&job.path)),
    }
}

/// Time of the last write to the file, whose content states none: of the times that a file has, the
/// nearest to the measurement.
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
