//! A recording that the edge captured itself: what its document says completes the options.
//!
//! The document (`pdm.capture/1`) stands beside the samples under the same name. What is given on the
//! command line counts; what is left out is taken from the document: rate, unit, the window of the trigger,
//! speed and bearing. Invariant: a document whose hash is of another file is refused.

use std::path::Path;

use pdm_service::exit::{Exit, Failure};
use pdm_shared::capture::CaptureDocument;

use super::super::recording_options::{MachineArgs, RecordingArgs};
use crate::capture;
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
    // an exported NumPy file has no hash of its own
    if ending == "wav" {
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

/// What is read, for the person at the terminal.
pub(super) fn notice(path: &Path, document: &CaptureDocument, read: &RecordingArgs) -> String {
    let reasons: Vec<&str> = document.triggers.iter().map(|t| t.reason.as_str()).collect();
    let start_s = read.start_s.unwrap_or(0.0);
    let length = read.duration_s.map_or("all".to_owned(), |s| format!("{s:.3} s"));
    let gaps = if document.gaps.is_empty() {
        String::new()
    } else {
        format!("; {} gaps in it", document.gaps.len())
    };
    format!(
        "{}: captured from {} ({}); {length} from {start_s:.3} s on are judged, --start-s and --duration-s \
         choose others; rate, unit, speed and bearing are of its document unless given{gaps}",
        path.display(),
        document.within_site(),
        reasons.join(", ")
    )
}
