//! The files of captures that are whole, and of those that are being sent.
//!
//! ```text
//! captures/{capture_id}.wav                      whole
//! captures/incoming/{gateway}/{capture_id}.json  the document, there from the beginning
//! captures/incoming/{gateway}/{capture_id}.part  as much of the file as has come
//! ```
//! How much has come is the length of the part, so it survives the end of the program at any point.
//! What is written stands at its own offset: the same bytes written twice change nothing.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use pdm_service::files::{make_private, make_private_folder};
use pdm_shared::capture::CaptureDocument;
use pdm_shared::id::GatewayKey;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::log;

/// Uploads of one gateway that may be begun; it sends one after the other, and the oldest is given
/// up for another.
const OF_GATEWAY: usize = 2;

/// The folder of uploads.
#[derive(Debug, Clone)]
pub(super) struct Incoming(PathBuf);

/// The two files of an upload.
#[derive(Debug, Clone)]
pub(super) struct UploadFiles {
    pub(super) document: PathBuf,
    pub(super) part: PathBuf,
}

impl Incoming {
    pub(super) fn beside(folder: &Path) -> Self {
        Self(folder.join("incoming"))
    }

    /// The files of a gateway's upload. No other gateway has the same ones, whatever identity it
    /// names.
    pub(super) fn of_gateway(&self, gateway: &GatewayKey, id: Uuid) -> UploadFiles {
        // a name may hold characters that a file system does not take
        let folder = self.0.join(&hex(&Sha256::digest(gateway.to_string()))[..32]);
        UploadFiles {
            document: folder.join(format!("{id}.json")),
            part: folder.join(format!("{id}.part")),
        }
    }

    /// Bytes that the uploads of others than `files` have been promised room for.
    pub(super) fn promised_bytes(&self, files: &UploadFiles) -> u64 {
        let others = documents_below(&self.0).into_iter().filter(|path| *path != files.document);
        let bytes = others.filter_map(|path| {
            let document: CaptureDocument = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
            Some(document.file.bytes)
        });
        bytes.fold(0, u64::saturating_add)
    }

    /// Deletes uploads that did not go on for a time; tells how many.
    pub(super) fn give_up(&self, after: Duration) -> usize {
        let old = documents_below(&self.0).into_iter().filter(|path| {
            let newest =
                [path.clone(), path.with_extension("part")].iter().filter_map(|p| age(p)).min();
            newest.is_some_and(|age| age > after)
        });
        old.map(|path| UploadFiles { part: path.with_extension("part"), document: path }.forget())
            .count()
    }
}

impl UploadFiles {
    /// Notes the document of an upload. The parts of an earlier document are deleted, and so is the
    /// oldest upload of the gateway beyond the allowed number.
    pub(super) fn begin(&self, document: &[u8]) -> io::Result<()> {
        if fs::read(&self.document).is_ok_and(|before| before == document) {
            return Ok(());
        }
        let folder = self.document.parent().unwrap_or(Path::new(""));
        make_private_folder(folder)?;
        self.forget();
        let mut others = documents_in(folder);
        others.sort_by_key(|path| std::cmp::Reverse(age(path)));
        let too_many = (others.len() + 1).saturating_sub(OF_GATEWAY);
        for path in others.into_iter().take(too_many) {
            Self { part: path.with_extension("part"), document: path }.forget();
        }
        let new = self.document.with_extension("new");
        make_private(&new)?;
        let written = File::create(&new).and_then(|mut file| {
            file.write_all(document)?;
            file.sync_all()
        });
        let written = written.and_then(|()| fs::rename(&new, &self.document));
        if written.is_err() {
            // the first error is the one to report
            let _gone = fs::remove_file(&new);
        }
        written
    }

    /// Returns the document of the upload; `None` if the upload was not begun.
    pub(super) fn read_document(&self) -> io::Result<Option<Vec<u8>>> {
        match fs::read(&self.document) {
            Ok(document) => Ok(Some(document)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Bytes that have come. A file that got its name before its row was written is taken back
    /// first.
    pub(super) fn have(&self, whole: &Path) -> io::Result<u64> {
        if !self.part.exists() && whole.exists() {
            fs::rename(whole, &self.part)?;
        }
        match fs::metadata(&self.part) {
            Ok(found) => Ok(found.len()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
            Err(error) => Err(error),
        }
    }

    /// Deletes both files.
    pub(super) fn forget(&self) {
        for path in [&self.part, &self.document] {
            if let Err(error) = fs::remove_file(path)
                && error.kind() != io::ErrorKind::NotFound
            {
                log::not_deleted(&error);
            }
        }
    }

    /// Gives the part its name as a whole file; the upload's document is deleted by
    /// [`UploadFiles::forget`].
    pub(super) fn finish(&self, whole: &Path) -> io::Result<()> {
        File::open(&self.part)?.sync_all()?;
        fs::rename(&self.part, whole)?;
        match whole.parent() {
            Some(folder) => File::open(folder)?.sync_all(),
            None => Ok(()),
        }
    }
}

/// The captures in a folder with the ages of their files.
pub(super) fn captures_in(folder: &Path) -> Vec<(Uuid, Option<Duration>)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let waves = paths.filter(|path| path.extension().is_some_and(|ending| ending == "wav"));
    waves
        .filter_map(|path| {
            let id = Uuid::parse_str(path.file_stem()?.to_str()?).ok()?;
            Some((id, age(&path)))
        })
        .collect()
}

/// Deletes the file of a capture whose row is gone.
pub(super) async fn delete(place: &Path) {
    if let Err(error) = tokio::fs::remove_file(place).await
        && error.kind() != io::ErrorKind::NotFound
    {
        log::not_deleted(&error);
    }
}

/// The SHA-256 of a file, and its first bytes, in which its head stands.
pub(super) fn hash_and_head(path: &Path) -> io::Result<(String, Vec<u8>)> {
    let mut file = File::open(path)?;
    let (mut hash, mut head) = (Sha256::new(), Vec::new());
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Ok((hex(&hash.finalize()), head));
        }
        hash.update(&buffer[..count]);
        if head.len() < buffer.len() {
            head.extend_from_slice(&buffer[..count.min(buffer.len() - head.len())]);
        }
    }
}

fn documents_below(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .flat_map(|path| documents_in(&path))
        .collect()
}

fn documents_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths.filter(|path| path.extension().is_some_and(|ending| ending == "json")).collect()
}

fn age(path: &Path) -> Option<Duration> {
    fs::metadata(path).ok()?.modified().ok()?.elapsed().ok()
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _infallible = write!(text, "{byte:02x}");
        text
    })
}
