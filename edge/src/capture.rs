//! Captured waveforms: the newest samples of each point in memory, and files of them when something
//! happens.
//!
//! Beside the flow: the threads that measure hand every block to a [`Tap`] before it is cut into
//! windows, and every window's event after it was judged. One thread keeps a ring a point (24 bits,
//! coded as FLAC does, within a budget of bytes for all), sees what makes a capture, waits for its
//! last samples and writes the files.
//!
//! ```text
//! measurer ─ block, event ─► inbox (4 MiB, drop or wait) ─► rings ─► WAV + pdm.capture/1
//!                                  demand ─►                  └ triggers, budget an hour
//! ```
//! Invariants: nothing of this holds up or loses an event; samples are on flash only as a capture;
//! samples are those of the source (the module `grid` says what 24 bits keep); what was refused or
//! lost is logged, counted and shown in the health.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use pdm_dsp::DefectOrders;
use pdm_service::clock::SharedClock;
use pdm_shared::capture::CaptureDocument;
use pdm_shared::id::{BearingId, EquipmentId, GatewayId, MeasuringPoint, SiteId};

use crate::remarks::Remarks;
use crate::spool::Spool;

mod chunk;
mod client;
mod document;
mod folder;
mod grid;
mod inbox;
mod log;
mod pending;
mod recorder;
mod rice;
mod ring;
mod standing;
mod tap;
mod upload;
mod watch;
mod wav;

pub use client::{UploadError, UploadRefused, UploadSettings};
pub use folder::{
    CaptureError, StoredCapture, list, parse_document, read_document, sha256_of, upload_of,
};
pub use tap::{AskedBy, Capturing, Demanded, Tap};

use inbox::Inbox;
use recorder::{Message, Recorder};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use upload::Uploader;

/// Settings of captures (`[capture]`).
#[derive(Debug, Clone, PartialEq)]
pub struct CaptureSettings {
    /// Memory of the rings of all points together.
    pub budget_bytes: usize,
    /// Folder of the files.
    pub folder: PathBuf,
    /// Bound of the folder.
    pub most_disk_bytes: u64,
    /// Seconds before the trigger's window.
    pub before_s: f64,
    /// Seconds after it.
    pub after_s: f64,
    /// Most captures of a point in an hour.
    pub per_hour: usize,
    /// Seconds from one reference of the sound state to the next; 0: none.
    pub reference_s: f64,
    /// Where captures are sent; `None` if they stay on this device.
    pub upload: Option<UploadSettings>,
}

impl CaptureSettings {
    /// Returns the length of every point's ring, s, where all points together have `samples_per_s`
    /// samples a second.
    pub fn length_s(&self, samples_per_s: f64) -> f64 {
        self.budget_bytes as f64 / (ring::BYTES_PER_SAMPLE * samples_per_s)
    }
}

/// A point whose samples are captured.
#[derive(Debug, Clone, PartialEq)]
pub struct CapturePoint {
    /// Name of its source.
    pub source: String,
    /// Row of the source's blocks.
    pub channel: usize,
    /// Machine.
    pub equipment: EquipmentId,
    /// Bearing.
    pub bearing: BearingId,
    /// Position of the sensor.
    pub measuring_point: Option<MeasuringPoint>,
    /// Defect orders.
    pub orders: DefectOrders,
    /// Relative tolerance of the orders.
    pub order_tolerance: f64,
    /// The catalogue's entry that the orders are estimated from, where they are an estimate.
    pub estimated_for: Option<String>,
    /// Configured speed, rpm.
    pub speed_rpm: f64,
    /// Relative tolerance of the speed.
    pub speed_tolerance: f64,
    /// Sensitivity of the sensor, where the configuration states one.
    pub sensitivity_mv_per_g: Option<f64>,
    /// Samples per second, which says its share of the memory.
    pub rate_hz: f64,
}

impl CapturePoint {
    /// The bearing as `equipment/bearing`.
    fn bearing(&self) -> String {
        format!("{}/{}", self.equipment, self.bearing)
    }

    /// Returns its name in remarks, beside those on the source itself.
    fn told(&self) -> String {
        let point = self.measuring_point.as_ref().map_or(String::new(), |p| format!(" {p}"));
        format!("{}, {}{point}", self.source, self.bearing())
    }

    fn is_of(&self, document: &CaptureDocument) -> bool {
        document.equipment_id == self.equipment
            && document.bearing_id == self.bearing
            && document.measuring_point == self.measuring_point
    }
}

/// Captures that are being set up: sources are added as they are opened, then the thread is
/// started.
#[derive(Debug)]
pub struct CaptureStart {
    settings: CaptureSettings,
    inbox: Arc<Inbox<Message>>,
    written: Arc<Notify>,
    points: Mutex<Vec<CapturePoint>>,
}

impl CaptureStart {
    /// Creates the captures of these settings, with nothing captured yet.
    pub fn new(settings: CaptureSettings) -> Self {
        Self {
            settings,
            inbox: Arc::new(Inbox::new()),
            written: Arc::default(),
            points: Mutex::default(),
        }
    }

    /// The tap of a source with these points; `is_live`: it does not wait for captures.
    pub fn tap(&self, source: &str, points: Vec<CapturePoint>, is_live: bool) -> Tap {
        let mut all = self.points.lock().unwrap_or_else(PoisonError::into_inner);
        let first = all.len();
        let tap = Tap::new(Arc::clone(&self.inbox), source, (first, &points), !is_live);
        all.extend(points);
        tap
    }

    /// The settings.
    pub const fn settings(&self) -> &CaptureSettings {
        &self.settings
    }

    /// Returns the handle by which others ask for captures.
    pub fn capturing(&self) -> Capturing {
        let points = self.points.lock().unwrap_or_else(PoisonError::into_inner);
        Capturing::of(Arc::clone(&self.inbox), points.iter().map(CapturePoint::bearing))
    }

    /// Returns the task that sends captures to the agent until stopped, if the settings say so; it
    /// sends nothing while events wait in the spool.
    pub fn uploading(
        &self,
        spool: &Spool,
        remarks: Remarks,
        stop: CancellationToken,
    ) -> Option<impl Future<Output = ()> + Send + use<>> {
        let uploader = Uploader {
            settings: self.settings.upload.clone()?,
            folder: self.settings.folder.clone(),
            tally: spool.watch(),
            written: Arc::clone(&self.written),
            remarks,
        };
        Some(uploader.run(stop))
    }

    /// Starts the thread, which works until [`RunningCaptures::stop`].
    ///
    /// # Errors
    /// The error of the operating system if it gives no thread.
    pub fn run(
        self,
        names: (GatewayId, SiteId),
        host: (SharedClock, Remarks),
    ) -> std::io::Result<RunningCaptures> {
        let points = self.points.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (inbox, settings) = (Arc::clone(&self.inbox), self.settings);
        let written = self.written;
        let work = move || Recorder::new(settings, names, points, host).ringing(written).run(inbox);
        let thread = std::thread::Builder::new().name("capture".to_owned()).spawn(work)?;
        Ok(RunningCaptures { inbox: self.inbox, thread })
    }
}

/// The running thread.
#[derive(Debug)]
pub struct RunningCaptures {
    inbox: Arc<Inbox<Message>>,
    thread: JoinHandle<()>,
}

impl RunningCaptures {
    /// Takes no more samples, writes what waits and ends; false if the thread panicked. Blocks.
    pub fn stop(self) -> bool {
        self.inbox.close();
        self.thread.join().is_ok()
    }
}

/// Returns the head of a NumPy file (`.npy`) with `samples` 32-bit floats in one row.
pub fn npy_head(samples: u64) -> Vec<u8> {
    wav::npy_head(samples)
}

#[cfg(test)]
mod tests;
