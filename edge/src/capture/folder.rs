//! The captures on disk: a WAV file and its document of the same name, in one folder.
//!
//! Both are written under temporary names and synced, then renamed, the WAV file first; the folder
//! is synced. So a capture whose document stands is whole. What a kill left behind is put right at
//! the start: a document that lacks only its name gets it, anything else unfinished is removed.
//!
//! Invariants: the folder holds at most its bound of bytes; the oldest captures are removed for a
//! new one, at the bound and where the disk is full before it, never one that [`Kept`] names: those
//! of an alarm that stands, and the first and the newest reference of a point.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use pdm_service::files::{make_private, make_private_folder, read_regular};
use pdm_shared::capture::{CaptureDocument, CaptureReason};
use sha2::{Digest, Sha256};

use super::{log, wav};

/// Largest document that is read: forty times one with all triggers and gaps.
const MOST_DOCUMENT: u64 = 1 << 20;

/// A capture cannot be kept. The caller tells it and goes on; nothing is left behind.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// The disk is full, fails, or may not be written.
    #[error("{}: {source}", path.display())]
    Disk {
        /// File or folder.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// Even without every capture that may be removed there is no room.
    #[error(
        "no room for {needed} bytes: {kept} of {most} bytes are captures of standing alarms and \
         references"
    )]
    NoRoom {
        /// Bytes of the new capture.
        needed: u64,
        /// Bytes that are kept.
        kept: u64,
        /// The bound.
        most: u64,
    },
    /// The document cannot be read.
    #[error("{}: {reason}", path.display())]
    Document {
        /// The document.
        path: PathBuf,
        /// The fault of the document.
        reason: String,
    },
}

fn disk(path: &Path) -> impl FnOnce(io::Error) -> CaptureError {
    let path = path.to_owned();
    move |source| CaptureError::Disk { path, source }
}

/// A capture on disk.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredCapture {
    /// Its document's file.
    pub path: PathBuf,
    /// Its document.
    pub document: CaptureDocument,
}

impl StoredCapture {
    /// Returns its WAV file.
    pub fn wav(&self) -> PathBuf {
        self.path.with_file_name(&self.document.file.name)
    }

    fn bytes(&self) -> u64 {
        let document = fs::metadata(&self.path).map_or(0, |file| file.len());
        self.document.file.bytes.saturating_add(document)
    }

    fn point(&self) -> (String, Option<String>) {
        let point = self.document.measuring_point.as_ref().map(ToString::to_string);
        (self.document.within_site(), point)
    }
}

/// Reads the document of a capture.
///
/// # Errors
/// [`CaptureError::Document`], [`CaptureError::Disk`].
pub fn read_document(path: &Path) -> Result<CaptureDocument, CaptureError> {
    let failed = |reason: String| CaptureError::Document { path: path.to_owned(), reason };
    let json = read_regular(path, MOST_DOCUMENT).map_err(disk(path))?;
    let json = json.ok_or_else(|| failed(format!("more than {MOST_DOCUMENT} bytes")))?;
    parse_document(path, &json)
}

/// Reads `json` as the content of the document `path`.
///
/// # Errors
/// [`CaptureError::Document`].
pub fn parse_document(path: &Path, json: &[u8]) -> Result<CaptureDocument, CaptureError> {
    let failed = |reason: String| CaptureError::Document { path: path.to_owned(), reason };
    let document: CaptureDocument =
        serde_json::from_slice(json).map_err(|error| failed(error.to_string()))?;
    let document = document.checked().map_err(|error| failed(error.to_string()))?;
    let is_name = !document.file.name.is_empty()
        && Path::new(&document.file.name).file_name() == Some(document.file.name.as_ref());
    // a name with folders would lead out of the folder of captures
    if is_name { Ok(document) } else { Err(failed("file.name is no name of a file".to_owned())) }
}

/// The captures of a folder, oldest first, and documents that cannot be read.
///
/// # Errors
/// [`CaptureError::Disk`] if the folder cannot be read; a folder that is not there holds none.
pub fn list(folder: &Path) -> Result<(Vec<StoredCapture>, Vec<CaptureError>), CaptureError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Default::default()),
        Err(error) => return Err(disk(folder)(error)),
    };
    let (mut found, mut unread) = (Vec::new(), Vec::new());
    for entry in entries {
        let path = entry.map_err(disk(folder))?.path();
        if path.extension().is_none_or(|ending| ending != "json") {
            continue;
        }
        match read_document(&path) {
            Ok(document) => found.push(StoredCapture { path, document }),
            Err(error) => unread.push(error),
        }
    }
    // the identity begins with the time of the capture by the gateway's clock
    found.sort_by_key(|capture| capture.document.capture_id);
    Ok((found, unread))
}

/// The note beside a document that its capture was sent to the agent, or why it never will be.
pub(super) fn mark_of(document: &Path) -> PathBuf {
    document.with_extension("sent")
}

/// Returns the upload state of the capture with this document: `None` as yet, `sent`, or why the
/// agent does not take it.
pub fn upload_of(document: &Path) -> Option<String> {
    let text = read_regular(&mark_of(document), MOST_DOCUMENT).ok()??;
    Some(String::from_utf8_lossy(&text).trim().to_owned())
}

/// The captures that are not removed for room.
pub(super) trait Kept {
    /// Whether the alarm stands in which it was captured.
    fn is_of_standing_alarm(&self, capture: &StoredCapture) -> bool;
}

/// The folder of a running edge.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    most_bytes: u64,
    captures: Vec<StoredCapture>,
}

impl Folder {
    /// Opens the folder and puts right what a kill left behind.
    pub(super) fn open(path: &Path, most_bytes: u64) -> Result<Self, CaptureError> {
        make_private_folder(path).map_err(disk(path))?;
        let finished = finish(path)?;
        let (captures, unread) = list(path)?;
        unread.iter().for_each(log::not_read);
        if finished > 0 {
            log::unfinished(finished);
        }
        let folder = Self { path: path.to_owned(), most_bytes, captures };
        log::held_on_disk(folder.bytes(), folder.captures.len());
        Ok(folder)
    }

    pub(super) fn captures(&self) -> &[StoredCapture] {
        &self.captures
    }

    fn bytes(&self) -> u64 {
        self.captures.iter().map(StoredCapture::bytes).fold(0, u64::saturating_add)
    }

    /// Writes a capture; removes the oldest that may go where there is no room. Completes the
    /// document's `file`.
    pub(super) fn save(
        &mut self,
        mut document: CaptureDocument,
        samples: &[f32],
        kept: &dyn Kept,
    ) -> Result<StoredCapture, CaptureError> {
        // 2 KiB for the head of the WAV file, and the document
        let needed = 4 * samples.len() as u64 + 2048 + 8192;
        let over = self.bytes().saturating_add(needed).saturating_sub(self.most_bytes);
        if !self.free(over, kept)? {
            let (kept, most) = (self.bytes(), self.most_bytes);
            return Err(CaptureError::NoRoom { needed, kept, most });
        }
        let written = match self.write(&mut document, samples) {
            // others have filled the disk below the bound: the oldest leave as at the bound, once
            Err(CaptureError::Disk { source, path }) if is_full(&source) => {
                let samples_bytes = 4 * samples.len() as u64;
                if self.free(samples_bytes, kept)? {
                    self.write(&mut document, samples)
                } else {
                    Err(CaptureError::Disk { source, path })
                }
            }
            written => written,
        };
        let stored = StoredCapture { path: written?, document };
        self.captures.push(stored.clone());
        log::held_on_disk(self.bytes(), self.captures.len());
        Ok(stored)
    }

    /// Writes both files and completes the document's `file`; returns the document's path. What is
    /// not whole is removed.
    fn write(
        &self,
        document: &mut CaptureDocument,
        samples: &[f32],
    ) -> Result<PathBuf, CaptureError> {
        let stem = stem(document);
        let path = |ending: &str| self.path.join(format!("{stem}.{ending}"));
        let (wav, json) = (path("wav"), path("json"));
        let (wav_tmp, json_tmp) = (path("wav.tmp"), path("json.tmp"));
        document.file.name = format!("{stem}.wav");
        let written = write_wav(&wav_tmp, document, samples)
            .and_then(|()| {
                let text = serde_json::to_vec_pretty(&document)?;
                write_synced(&json_tmp, |out| out.write_all(&text))
            })
            .and_then(|()| fs::rename(&wav_tmp, &wav))
            .and_then(|()| fs::rename(&json_tmp, &json))
            .and_then(|()| File::open(&self.path)?.sync_all());
        if let Err(error) = written {
            for left in [&wav_tmp, &json_tmp, &json, &wav] {
                // what is not there needs no removal, and a disk that fails is told by the error
                // itself
                let _gone = fs::remove_file(left);
            }
            return Err(disk(&wav)(error));
        }
        Ok(json)
    }

    /// Removes the oldest captures that may leave until `over` bytes are free. Returns false, and
    /// removes none, if these are not enough.
    fn free(&mut self, mut over: u64, kept: &dyn Kept) -> Result<bool, CaptureError> {
        if over == 0 {
            return Ok(true);
        }
        let references = self.references();
        let mut leaving = Vec::new();
        for (at, capture) in self.captures.iter().enumerate() {
            if over == 0 {
                break;
            }
            if !references.contains(&at) && !kept.is_of_standing_alarm(capture) {
                over = over.saturating_sub(capture.bytes());
                leaving.push(at);
            }
        }
        if over > 0 {
            return Ok(false);
        }
        for at in leaving.into_iter().rev() {
            let capture = self.captures.remove(at);
            // killed in between, the next start finds the document with its WAV file, or removes it
            let leaving = capture.path.with_extension("json.tmp");
            match fs::rename(&capture.path, &leaving) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(disk(&capture.path)(error));
                }
                Ok(()) | Err(_) => {}
            }
            for path in [capture.wav(), mark_of(&capture.path), leaving] {
                match fs::remove_file(&path) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        return Err(disk(&path)(error));
                    }
                    Ok(()) | Err(_) => {}
                }
            }
            log::removed(&capture);
        }
        Ok(true)
    }

    /// The first and the newest reference of each point.
    fn references(&self) -> Vec<usize> {
        let mut by_point: BTreeMap<_, (usize, usize)> = BTreeMap::new();
        for (at, capture) in self.captures.iter().enumerate() {
            if capture.document.is_for(CaptureReason::Reference) {
                by_point.entry(capture.point()).or_insert((at, at)).1 = at;
            }
        }
        by_point.into_values().flat_map(|(first, newest)| [first, newest]).collect()
    }
}

/// Whether a write failed for want of room, which removing captures makes.
fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Completes or removes what a kill left behind; returns how many files it was.
fn finish(folder: &Path) -> Result<usize, CaptureError> {
    let mut count = 0;
    for entry in fs::read_dir(folder).map_err(disk(folder))? {
        let path = entry.map_err(disk(folder))?.path();
        let is_left = path.extension().is_some_and(|ending| ending == "sent")
            && !path.with_extension("json").exists()
            && is_unfinished(&path.with_extension("json.tmp"));
        if is_left {
            fs::remove_file(&path).map_err(disk(&path))?;
            count += 1;
            continue;
        }
        // only the names that are given here: files of others in the folder stay as they are
        if !is_unfinished(&path) || !path.is_file() {
            continue;
        }
        count += 1;
        // both files are synced before the first gets its name
        let is_whole = path
            .file_stem()
            .is_some_and(|stem| Path::new(stem).extension().is_some_and(|ending| ending == "json"))
            && read_document(&path)
                .is_ok_and(|document| path.with_file_name(&document.file.name).is_file());
        let done = if is_whole {
            fs::rename(&path, path.with_extension(""))
        } else {
            fs::remove_file(&path)
        };
        done.map_err(disk(&path))?;
    }
    Ok(count)
}

/// Whether a file has the name of one that was being written: `…_1f2a77e1.wav.tmp`, `….json.tmp`.
fn is_unfinished(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let stem = name.strip_suffix(".wav.tmp").or_else(|| name.strip_suffix(".json.tmp"));
    let id = stem.and_then(|stem| stem.rsplit_once('_')).map(|(_, id)| id);
    id.is_some_and(|id| id.len() == 8 && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// `P-101_DE_20261121T051011Z_alarm_1f2a77e1`: for people; the identity makes it unique.
fn stem(document: &CaptureDocument) -> String {
    let plain = |text: &str| -> String {
        text.chars().map(|c| if c.is_alphanumeric() || c == '-' { c } else { '_' }).collect()
    };
    let id = document.capture_id.to_string();
    let reason = document.triggers.first().map_or("demand", |trigger| trigger.reason.as_str());
    format!(
        "{}_{}_{}_{reason}_{}",
        plain(document.equipment_id.as_str()),
        plain(document.bearing_id.as_str()),
        document.started_at.date_time().format("%Y%m%dT%H%M%SZ"),
        &id[id.len().saturating_sub(8)..]
    )
}

/// Counts and hashes what passes.
struct Hashed<W> {
    out: W,
    hash: Sha256,
    bytes: u64,
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.hash.update(&bytes[..count]);
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn write_wav(path: &Path, document: &mut CaptureDocument, samples: &[f32]) -> io::Result<()> {
    let texts = texts(document);
    let rate = document.sampling_rate_hz.round().clamp(1.0, f64::from(u32::MAX)) as u32;
    let mut written = (0, String::new());
    write_synced(path, |out| {
        let mut hashed = Hashed { out, hash: Sha256::new(), bytes: 0 };
        {
            let mut buffered = BufWriter::with_capacity(1 << 16, &mut hashed);
            wav::write(&mut buffered, rate, &texts, samples)?;
            buffered.flush()?;
        }
        written = (hashed.bytes, hex(&hashed.hash.finalize()));
        Ok(())
    })?;
    (document.file.bytes, document.file.sha256) = written;
    Ok(())
}

fn write_synced(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    make_private(path)?;
    let mut file = File::options().write(true).truncate(true).open(path)?;
    fill(&mut file)?;
    file.sync_all()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _infallible = write!(text, "{byte:02x}");
        text
    })
}

/// The SHA-256 of a file, as in a document.
///
/// # Errors
/// The error of the operating system.
pub fn sha256_of(path: &Path) -> io::Result<String> {
    let mut hash = Hashed { out: io::sink(), hash: Sha256::new(), bytes: 0 };
    io::copy(&mut pdm_service::files::open_regular(path)?, &mut hash)?;
    Ok(hex(&hash.hash.finalize()))
}

/// Returns the texts that a WAV reader shows, by the names of `INFO` as libsndfile and Audacity
/// read them.
fn texts(document: &CaptureDocument) -> Vec<(&'static [u8; 4], String)> {
    let point = document.measuring_point.as_ref().map_or(String::new(), |p| format!(" {p}"));
    let reasons: Vec<&str> = document.reasons().iter().map(|reason| reason.as_str()).collect();
    let sensitivity = document
        .sensor
        .sensitivity_mv_per_g
        .map_or(String::new(), |mv| format!("; sensitivity {mv} mV/g"));
    let comment = format!(
        "unit m/s2; rate {} Hz; speed {} rpm; trigger {}{sensitivity}; capture {}",
        document.sampling_rate_hz,
        document.speed.shaft_speed_rpm,
        reasons.join(", "),
        document.capture_id
    );
    vec![
        (b"INAM", format!("{} {}{point}", document.equipment_id, document.bearing_id)),
        (b"IART", format!("{} {}", document.site, document.gateway_id)),
        (b"ICRD", document.started_at.to_string()),
        (b"ISFT", format!("pdm-edge {}", env!("CARGO_PKG_VERSION"))),
        (b"ICMT", comment),
    ]
}

#[cfg(test)]
mod tests;
