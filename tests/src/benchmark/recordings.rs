//! Recordings of the data folder without their truth: their location and their machine.

use std::path::{Path, PathBuf};

use anyhow::Context;
use pdm_dsp::{DefectOrders, Request};
use pdm_edge::source::{AccelUnit, Calibration, RecordingOptions, open_recording};
use pdm_shared::units::{Rpm, SampleRate};
use serde::Deserialize;
use serde_json::Value;

/// Speed tolerance for data sets that call their speeds nominal (ratio).
const NOMINAL_SPEED_TOLERANCE: f64 = 0.07;

/// One channel of one recording, with an operator's description.
#[derive(Debug, Clone)]
pub struct Recording {
    /// Path below the data folder.
    pub file: String,
    /// Channel, from 0.
    pub channel: usize,
    path: PathBuf,
    scale: f64,
    request: Request,
}

#[derive(Debug, Deserialize)]
struct Manifest {
    files: Vec<Entry>,
}

/// A file's entry in the manifest, without its labels.
#[derive(Debug, Deserialize)]
struct Entry {
    file: String,
    #[serde(default)]
    channels: Value,
    #[serde(default)]
    scale_g: Vec<f64>,
    fs_hz: f64,
    #[serde(default)]
    rpm: Option<f64>,
    #[serde(default)]
    rpm_note: Option<String>,
    #[serde(default)]
    faulty_bearing: Option<String>,
    #[serde(default)]
    geometry: Value,
}

/// All channels of all recordings in which a fault can be named, in the manifest's order.
///
/// A recording with several sensors is judged at the sensor of its bearing; a recording with
/// several bearings is judged for each, at its own sensor.
///
/// # Errors
/// The manifest is missing or malformed.
pub fn list(data: &Path) -> anyhow::Result<Vec<Recording>> {
    let path = data.join("manifest.json");
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let manifest: Manifest =
        serde_json::from_str(&text).with_context(|| path.display().to_string())?;
    let mut recordings = Vec::new();
    for entry in &manifest.files {
        let extension = Path::new(&entry.file).extension().and_then(|e| e.to_str());
        if matches!(extension, Some("npy" | "mat")) && !entry.file.starts_with("femto/") {
            recordings.extend(channels(data, entry).with_context(|| entry.file.clone())?);
        }
    }
    Ok(recordings)
}

fn channels(data: &Path, entry: &Entry) -> anyhow::Result<Vec<Recording>> {
    let names: Vec<&str> = entry
        .channels
        .as_array()
        .map_or_else(Vec::new, |names| names.iter().filter_map(Value::as_str).collect());
    let asked: Vec<(usize, &Value)> = match &entry.faulty_bearing {
        Some(bearing) => {
            let at = names.iter().position(|name| name == bearing).context("no such channel")?;
            vec![(at, &entry.geometry)]
        }
        // Two bearings with their own geometries: each is judged at its own sensor.
        None if !names.is_empty() => names
            .iter()
            .enumerate()
            .filter_map(|(at, name)| Some((at, entry.geometry.get(name)?)))
            .collect(),
        None => {
            let count = entry.channels.as_u64().unwrap_or(1) as usize;
            (0..count).map(|at| (at, &entry.geometry)).collect()
        }
    };
    asked
        .into_iter()
        .map(|(channel, geometry)| {
            Ok(Recording {
                file: entry.file.clone(),
                channel,
                path: data.join(&entry.file),
                scale: scale(entry, channel),
                request: request(entry, geometry)?,
            })
        })
        .collect()
}

fn scale(entry: &Entry, channel: usize) -> f64 {
    let milli = if entry.file.starts_with("ims/") { 1e-3 } else { 1.0 };
    entry.scale_g.get(channel).copied().unwrap_or(milli)
}

fn request(entry: &Entry, geometry: &Value) -> anyhow::Result<Request> {
    let orders = geometry
        .get("orders")
        .or_else(|| geometry.get("orders_inferred"))
        .context("no defect orders")?;
    let order = |key: &str| orders.get(key).and_then(Value::as_f64).context(key.to_owned());
    let orders =
        DefectOrders::new(order("BPFO")?, order("BPFI")?, order("BSF_1x")?, order("FTF")?)?;
    let speed = Rpm::new(entry.rpm.context("no speed")?)?;
    let mut request = Request::new(SampleRate::new(entry.fs_hz)?, speed, orders);
    if entry.rpm_note.is_some() {
        request.speed_tolerance = NOMINAL_SPEED_TOLERANCE;
    }
    Ok(request)
}

impl Recording {
    /// Samples, m/s², and the request to the edge.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(&self) -> anyhow::Result<(Vec<f64>, Request)> {
        let options = RecordingOptions {
            sample_rate: Some(self.request.rate),
            channels: vec![self.channel],
            calibrations: vec![Calibration::new(AccelUnit::G, self.scale, 0.0)?],
            ..RecordingOptions::default()
        };
        let mut source = open_recording(&self.path, &options)?;
        let block = source.next_block()?.context("the recording is empty")?;
        Ok((block.accel_m_s2.row(0).to_vec(), self.request))
    }
}
