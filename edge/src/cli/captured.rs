//! A recording that the edge captured itself: what its document says completes the options.
//!
//! The document (`pdm.capture/1`) stands beside the samples under the same name. What is given on
//! the command line counts; what is left out is taken from the document: rate, unit, the window of
//! the trigger, speed and bearing. Invariant: a document whose hash is of another file is refused.

use std::path::{Path, PathBuf};

use pdm_service::exit::{Exit, Failure};
use pdm_shared::capture::CaptureDocument;

use super::recording_options::{MachineArgs, RecordingArgs};
use crate::capture::{self, StoredCapture};
use crate::source::{AccelUnit, Preferred};

/// The document beside a recording, if it is a capture.
pub(super) fn document(recording: &Path) -> anyhow::Result<Option<CaptureDocument>> {
    let ending = recording.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let path = recording.with_extension("json");
    if !["wav", "npy"].contains(&ending) || !path.is_file() || !is_capture(&path) {
        return Ok(None);
    }
    let refused = |why: anyhow::Error| Failure::new(Exit::BadInput, why);
    let document = capture::read_document(&path).map_err(|error| refused(error.into()))?;
    // NumPy files of before had the document of the WAV file
    if ending == "wav" || Path::new(&document.file.name).extension().is_none_or(|end| end != "wav")
    {
        let hash = capture::sha256_of(recording).map_err(|e| Failure::new(Exit::NoInput, e))?;
        if hash != document.file.sha256 {
            let (recording, path) = (recording.display(), path.display());
            let why =
                anyhow::anyhow!("{recording} is not the file that {path} describes (SHA-256)");
            return Err(refused(why).into());
        }
    }
    Ok(Some(document))
}

/// A capture in a folder: its samples and its document.
#[derive(Debug, Clone)]
pub(super) struct CapturedRecording {
    pub(super) path: PathBuf,
    pub(super) document: CaptureDocument,
}

/// Returns the captures among these files and folders, oldest first, each checked against its hash.
/// Other content of a folder is left out; a file that looks like a capture and cannot be read is
/// reported.
///
/// # Errors
/// A [`Failure`]: 65 for a file without its document or with another hash, 66 for a folder without
/// a capture.
pub(super) fn captures(paths: &[PathBuf]) -> anyhow::Result<Vec<CapturedRecording>> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            found.extend(in_folder(path)?);
            continue;
        }
        let document = document(path)?.ok_or_else(|| {
            let why = anyhow::anyhow!(
                "{}: no capture, its document ({}, pdm.capture/1) is not there",
                path.display(),
                path.with_extension("json").display()
            );
            Failure::new(Exit::BadInput, why)
        })?;
        found.push(CapturedRecording { path: path.clone(), document });
    }
    // of a file and its folder, or of WAV and NumPy, one
    found.sort_by_key(|one| (one.document.started_at, one.document.capture_id));
    found.dedup_by_key(|one| one.document.capture_id);
    Ok(found)
}

/// The captures of a folder.
fn in_folder(folder: &Path) -> anyhow::Result<Vec<CapturedRecording>> {
    let (listed, unread) = capture::list(folder).map_err(|error| Failure::new(Exit::Io, error))?;
    let mut found = Vec::new();
    for StoredCapture { path, document: named } in listed {
        let samples = path.with_file_name(&named.file.name);
        if !samples.is_file() {
            super::note(&format!("left out: {} is not there", samples.display()));
            continue;
        }
        if let Some(document) = document(&samples)? {
            found.push(CapturedRecording { path: samples, document });
        }
    }
    for error in unread.iter().filter(|_| !found.is_empty()) {
        super::note(&format!("left out: {error}"));
    }
    if found.is_empty() {
        let why = anyhow::anyhow!(
            "{}: no captures in this folder (WAV or NumPy files with their documents, \
             pdm.capture/1); name other recordings one by one",
            folder.display()
        );
        return Err(Failure::new(Exit::NoInput, why).into());
    }
    Ok(found)
}

/// Whether one of these is a capture, or a folder that holds one.
pub(super) fn has_captures(paths: &[PathBuf]) -> bool {
    let is_one = |path: &PathBuf| {
        if path.is_dir() {
            return capture::list(path).is_ok_and(|(listed, _)| {
                listed.iter().any(|one| one.path.with_file_name(&one.document.file.name).is_file())
            });
        }
        is_capture(&path.with_extension("json"))
    };
    paths.iter().any(is_one)
}

/// Whether a JSON document says that it is one of a capture, of whatever version.
fn is_capture(path: &Path) -> bool {
    let json = pdm_service::files::read_regular(path, 1 << 20).ok().flatten();
    let value = json.and_then(|json| serde_json::from_slice::<serde_json::Value>(&json).ok());
    let schema = value.as_ref().and_then(|value| value.get("schema")?.as_str());
    schema.is_some_and(|schema| schema.starts_with("pdm.capture/"))
}

/// The options of the recording, completed.
pub(super) fn recording(given: &RecordingArgs, document: &CaptureDocument) -> RecordingArgs {
    let rate = given.rate.unwrap_or(document.sampling_rate_hz);
    let is_whole = given.start_s.is_none() && given.duration_s.is_none();
    let window = Some(document.window).filter(|_| is_whole);
    let seconds = |samples: u64| samples as f64 / rate;
    let has_unit = given.unit.is_some() || given.sensitivity.is_some();
    RecordingArgs {
        rate: given.rate.or(Some(rate)),
        unit: if has_unit { given.unit } else { Some(AccelUnit::MetrePerSecondSquared) },
        start_s: given.start_s.or(window.map(|window| seconds(window.first_sample))),
        duration_s: given.duration_s.or(window.map(|window| seconds(window.samples))),
        // the head of a WAV file holds whole Hz
        prefer: given.prefer.or(Some(Preferred::Option).filter(|_| given.rate.is_none())),
        ..given.clone()
    }
}

/// The options of the machine, completed.
pub(super) fn machine(given: &MachineArgs, document: &CaptureDocument) -> MachineArgs {
    let bearing = &document.bearing;
    let orders = format!("{},{},{},{}", bearing.bpfo, bearing.bpfi, bearing.bsf, bearing.ftf);
    let own = MachineArgs {
        rpm: Some(document.speed.shaft_speed_rpm),
        rpm_tolerance: Some(100.0 * document.speed.tolerance),
        orders: Some(orders).filter(|_| bearing.estimated_for.is_none()),
        bearing: bearing.estimated_for.clone(),
        order_tolerance: Some(100.0 * bearing.order_tolerance),
        catalogue: None,
    };
    given.clone().or(&own)
}

/// Returns the sentence for the person at the terminal on what is read.
pub(super) fn notice(path: &Path, document: &CaptureDocument, read: &RecordingArgs) -> String {
    let reasons: Vec<&str> = document.reasons().iter().map(|reason| reason.as_str()).collect();
    let start_s = read.start_s.unwrap_or(0.0);
    let length = read.duration_s.map_or("all".to_owned(), |s| format!("{s:.3} s"));
    let gaps = if document.gaps.is_empty() {
        String::new()
    } else {
        format!("; {} gaps in it", document.gaps.len())
    };
    format!(
        "{}: captured from {} ({}); {length} from {start_s:.3} s on are judged, --start-s and \
         --duration-s choose others; rate, unit, speed and bearing are of its document unless \
         given{gaps}",
        path.display(),
        document.within_site(),
        reasons.join(", ")
    )
}
