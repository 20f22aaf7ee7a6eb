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

/// Order tolerance where the data set infers the bearing's geometry (ratio).
const INFERRED_ORDER_TOLERANCE: f64 = 0.03;

/// Channels that hold accelerometers where the type of the bearings is not stated.
const UNSTATED_CHANNELS: usize = 4;

/// BPFO, BPFI, BSF and FTF of the bearings that are asked for where the type is not stated: 6203,
/// 6205 and 6208. All bearings of such machines are sound, so whatever is asked has no right name.
const ASKED: [[f64; 4]; 3] = [
    [3.0543, 4.9457, 1.9966, 0.3818],
    [3.5848, 5.4152, 2.3567, 0.3983],
    [3.572, 5.430, 2.322, 0.3968],
];

/// One channel of one recording, as an operator would describe it.
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
    let recording = |channel, request| Recording {
        file: entry.file.clone(),
        channel,
        path: data.join(&entry.file),
        scale: scale(entry, channel),
        request,
    };
    if entry.geometry.is_null() {
        let machine = machine(entry)?;
        let channels = 0..names.len().min(UNSTATED_CHANNELS);
        return channels
            .flat_map(|channel| ASKED.map(|orders| (channel, orders)))
            .map(|(channel, [bpfo, bpfi, bsf, ftf])| {
                let orders = DefectOrders::new(bpfo, bpfi, bsf, ftf)?;
                Ok(recording(channel, Request { orders, ..machine }))
            })
            .collect();
    }
    asked(entry, &names)?
        .into_iter()
        .map(|(channel, geometry)| Ok(recording(channel, request(entry, geometry)?)))
        .collect()
}

/// The channels that a bearing is asked for at, each with its geometry.
fn asked<'a>(entry: &'a Entry, names: &[&str]) -> anyhow::Result<Vec<(usize, &'a Value)>> {
    if let Some(bearing) = &entry.faulty_bearing {
        let at = names.iter().position(|name| name == bearing).context("no such channel")?;
        return Ok(vec![(at, &entry.geometry)]);
    }
    let is_one_bearing = orders_of(&entry.geometry).is_some();
    if names.is_empty() || is_one_bearing {
        let count = entry.channels.as_u64().unwrap_or(names.len().max(1) as u64) as usize;
        return Ok((0..count).map(|at| (at, &entry.geometry)).collect());
    }
    // Several bearings with a geometry each: every one at its own sensor.
    let own = |(at, name): (usize, &&str)| Some((at, entry.geometry.get(*name)?));
    Ok(names.iter().enumerate().filter_map(own).collect())
}

fn scale(entry: &Entry, channel: usize) -> f64 {
    let milli = if entry.file.starts_with("ims/") { 1e-3 } else { 1.0 };
    entry.scale_g.get(channel).copied().unwrap_or(milli)
}

fn orders_of(geometry: &Value) -> Option<&Value> {
    geometry.get("orders").or_else(|| geometry.get("orders_inferred"))
}

fn request(entry: &Entry, geometry: &Value) -> anyhow::Result<Request> {
    let orders = orders_of(geometry).context("no defect orders")?;
    let order = |key: &str| orders.get(key).and_then(Value::as_f64).context(key.to_owned());
    let orders =
        DefectOrders::new(order("BPFO")?, order("BPFI")?, order("BSF_1x")?, order("FTF")?)?;
    let mut request = Request { orders, ..machine(entry)? };
    if geometry.get("orders").is_none() {
        request.order_tolerance = INFERRED_ORDER_TOLERANCE;
    }
    Ok(request)
}

/// Rate and speed, with the orders of the first of [`ASKED`] until others are given.
fn machine(entry: &Entry) -> anyhow::Result<Request> {
    let [bpfo, bpfi, bsf, ftf] = ASKED[0];
    let orders = DefectOrders::new(bpfo, bpfi, bsf, ftf)?;
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
