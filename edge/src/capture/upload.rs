//! Sends captures to the agent when the line has nothing better to do.
//!
//! ```text
//! folder ─► not sent yet, alarms first ─► spool is drained ─► document ─► part … part ─► mark beside the files
//!                                             ▲                             │
//!                                             └── before every part ◄───────┘
//! ```
//! Invariants: no part is sent while an event waits for the broker; a capture is marked as sent
//! only after the agent said that it is whole; a program that ends at any point goes on where the
//! agent says that the file ends.

use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use pdm_service::backoff::{Jitter, Pauses};
use pdm_service::error_chain::error_chain;
use pdm_service::files::{make_private, open_regular};
use pdm_shared::capture::CaptureDocument;
use tokio::sync::{Notify, watch};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::client::{Sent, UploadAnswer, UploadError, UploadSettings};
use super::{folder, log};
use crate::remarks::Remarks;
use crate::spool::Tally;

/// Bytes of a part: 2 s on a line of 1 Mbit/s, so that an event never waits longer for the line.
const PART: u64 = 256 * 1024;
/// Pauses after what may pass: an agent that is away, a full disk, a bearing that is not admitted
/// yet.
const PAUSES: Pauses = Pauses::new(Duration::from_secs(1), Duration::from_mins(10));
/// How often a file is sent again after the agent found another hash, before it is left.
const MOST_HASHES: u32 = 3;
/// The name under which remarks on uploads stand.
const TOLD: &str = "captures";
/// The matter of remarks on uploads.
const MATTER: &str = "upload";

/// Sends captures.
pub(super) struct Uploader {
    pub(super) settings: UploadSettings,
    pub(super) folder: PathBuf,
    /// The counts of the spool: nothing is sent while something waits there.
    pub(super) tally: watch::Receiver<Tally>,
    /// Rung when a capture was written.
    pub(super) written: Arc<Notify>,
    pub(super) remarks: Remarks,
}

/// How the sending of a capture ended.
enum Ended {
    /// The agent has it.
    Whole,
    /// The agent will never take it.
    Refused(String),
    /// It may take it later; others may be taken now.
    Later(String),
    /// None is taken now.
    Away(String),
    /// The capture left the folder meanwhile, or the program stops.
    Gone,
}

/// A capture that waits.
struct Waiting {
    document: CaptureDocument,
    text: Vec<u8>,
    path: PathBuf,
}

impl Uploader {
    /// Sends until stopped. What is under way is cut off and goes on at the next start.
    pub(super) async fn run(mut self, stop: CancellationToken) {
        let pauses = PAUSES.with_jitter(Jitter::UpperHalf);
        let mut failures = 0;
        loop {
            let done = tokio::select! {
                done = self.send_all() => done,
                () = stop.cancelled() => return,
            };
            let pause = match done {
                Ok(()) => {
                    failures = 0;
                    self.remarks.withdraw(TOLD, MATTER);
                    None
                }
                Err(reason) => {
                    log::upload_failed(&reason, failures);
                    let text = format!("waveforms are not sent: {reason}; they are kept here");
                    self.remarks.set(TOLD, MATTER, text);
                    let pause = pauses.after(failures);
                    failures += 1;
                    Some(pause)
                }
            };
            let written = Arc::clone(&self.written);
            tokio::select! {
                // after a failure a new capture changes nothing
                () = written.notified(), if pause.is_none() => {}
                () = sleep(pause.unwrap_or_default()), if pause.is_some() => {}
                () = stop.cancelled() => return,
            }
        }
    }

    /// Sends what waits; the reason why something still does.
    async fn send_all(&mut self) -> Result<(), String> {
        let folder = self.folder.clone();
        let listed = tokio::task::spawn_blocking(move || waiting_in(&folder)).await;
        let listed = listed.map_err(|error| error.to_string())?;
        log::waiting_uploads(listed.len());
        let mut left = listed.len();
        let mut later = None;
        for capture in listed {
            let name = capture.document.file.name.clone();
            match self.send(&capture).await {
                Ended::Whole => {
                    mark(&capture.path, "sent").map_err(|error| error.to_string())?;
                    log::uploaded(&name, capture.document.file.bytes);
                }
                Ended::Refused(reason) => {
                    mark(&capture.path, &reason).map_err(|error| error.to_string())?;
                    log::upload_refused(&name, &reason);
                }
                Ended::Later(reason) => {
                    later.get_or_insert(reason);
                    continue;
                }
                Ended::Away(reason) => return Err(reason),
                Ended::Gone => {}
            }
            left -= 1;
            log::waiting_uploads(left);
        }
        later.map_or(Ok(()), Err)
    }

    async fn send(&mut self, capture: &Waiting) -> Ended {
        let document = &capture.document;
        let wav = capture.path.with_file_name(&document.file.name);
        let hashed = wav.clone();
        let hash = tokio::task::spawn_blocking(move || folder::sha256_of(&hashed)).await;
        match hash {
            Ok(Ok(hash)) if hash == document.file.sha256 => {}
            Ok(Ok(_other)) => return Ended::Refused("the file has another hash here".to_owned()),
            // the oldest captures leave for new ones at any time
            Ok(Err(error)) if error.kind() == io::ErrorKind::NotFound => return Ended::Gone,
            Ok(Err(error)) => return Ended::Later(error.to_string()),
            Err(error) => return Ended::Later(error.to_string()),
        }
        let id = document.capture_id.to_string();
        let mut hashes = 0;
        let mut sent = Sent::Document(capture.text.clone());
        loop {
            self.drained().await;
            let answer = match self.settings.put(&id, sent).await {
                Ok(answer) => answer,
                Err(error) => return Ended::Away(told(&error)),
            };
            let have = match judged(&answer, document.file.bytes, &mut hashes) {
                Ok(have) => have,
                Err(ended) => return ended,
            };
            let Some(have) = have else {
                sent = Sent::Document(capture.text.clone());
                continue;
            };
            match part_of(&wav, have, document.file.bytes) {
                Ok(bytes) if !bytes.is_empty() => {
                    sent = Sent::Part { bytes, first: have, total: document.file.bytes };
                }
                Ok(_empty) => {
                    return Ended::Later("the file is shorter than its document says".to_owned());
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ended::Gone,
                Err(error) => return Ended::Later(error.to_string()),
            }
        }
    }

    /// Waits until no event waits for the broker.
    async fn drained(&mut self) {
        // an error would mean that the spool is closed: the program stops then
        let _stopping = self.tally.wait_for(|tally| tally.waiting == 0).await;
    }
}

/// Returns where the next part begins by an answer, `None` to send the document again, or the end
/// of the upload.
fn judged(answer: &UploadAnswer, bytes: u64, hashes: &mut u32) -> Result<Option<u64>, Ended> {
    let UploadAnswer { status, said } = answer;
    if status.is_success() {
        return if said.complete {
            Err(Ended::Whole)
        } else {
            Ok(said.have.filter(|&have| have < bytes))
        };
    }
    let error = said.error.clone().unwrap_or_default();
    let reason = format!("the agent answers {}: {error}", status.as_u16());
    match (*status, said.cause.as_deref()) {
        (StatusCode::CONFLICT, Some("place")) => Ok(said.have.filter(|&have| have < bytes)),
        (StatusCode::CONFLICT, Some("unknown")) => Ok(None),
        (StatusCode::UNPROCESSABLE_ENTITY, Some("hash")) if *hashes < MOST_HASHES => {
            *hashes += 1;
            Ok(None)
        }
        (StatusCode::UNPROCESSABLE_ENTITY | StatusCode::PAYLOAD_TOO_LARGE, Some(_))
        | (StatusCode::FORBIDDEN, Some("identity")) => Err(Ended::Refused(reason)),
        (StatusCode::FORBIDDEN, Some("owner")) | (StatusCode::CONFLICT, _) => {
            Err(Ended::Later(reason))
        }
        _ => Err(Ended::Away(reason)),
    }
}

fn told(error: &UploadError) -> String {
    error_chain(error)
}

/// The bytes of a file from a place on, at most a part.
fn part_of(path: &Path, first: u64, total: u64) -> io::Result<Vec<u8>> {
    let mut file = open_regular(path)?;
    file.seek(SeekFrom::Start(first))?;
    let mut bytes = Vec::new();
    file.take(PART.min(total.saturating_sub(first))).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The captures of a folder without a mark: those of alarms first, each kind oldest first.
fn waiting_in(folder: &Path) -> Vec<Waiting> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let documents = paths.filter(|path| path.extension().is_some_and(|ending| ending == "json"));
    let unsent = documents.filter(|path| !folder::mark_of(path).exists());
    let mut waiting: Vec<Waiting> = unsent
        .filter_map(|path| {
            // what cannot be read is told when the folder is opened
            let text = pdm_service::files::read_regular(&path, 1 << 20).ok()??;
            let document = folder::parse_document(&path, &text).ok()?;
            Some(Waiting { document, text, path })
        })
        .collect();
    waiting.sort_by_key(|one| (!one.document.is_of_alarm(), one.document.capture_id));
    waiting
}

/// Notes beside a capture that it was sent, or why it never will be.
fn mark(document: &Path, said: &str) -> io::Result<()> {
    let path = folder::mark_of(document);
    make_private(&path)?;
    let mut file = std::fs::File::options().write(true).truncate(true).open(&path)?;
    file.write_all(said.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::super::client::Said;
    use super::*;

    fn answer(status: u16, cause: &str, have: Option<u64>) -> UploadAnswer {
        let cause = (!cause.is_empty()).then(|| cause.to_owned());
        let status = StatusCode::from_u16(status).expect("a status");
        UploadAnswer { status, said: Said { have, cause, complete: status == 201, error: None } }
    }

    /// A failure that may pass is tried again, one that never will is left, and a part begins where
    /// the agent says.
    #[test]
    fn an_answer_says_how_to_go_on() {
        let mut hashes = 0;
        let mut said =
            |status, cause, have| match judged(&answer(status, cause, have), 100, &mut hashes) {
                Ok(Some(have)) => format!("from {have}"),
                Ok(None) => "anew".to_owned(),
                Err(Ended::Whole) => "whole".to_owned(),
                Err(Ended::Refused(_)) => "never".to_owned(),
                Err(Ended::Later(_)) => "later".to_owned(),
                Err(Ended::Away(_)) => "away".to_owned(),
                Err(Ended::Gone) => "gone".to_owned(),
            };
        assert_eq!(said(202, "", Some(40)), "from 40");
        assert_eq!(said(201, "", Some(100)), "whole");
        assert_eq!(said(409, "place", Some(7)), "from 7");
        assert_eq!(said(409, "unknown", None), "anew");
        assert_eq!(said(409, "busy", None), "later");
        assert_eq!(
            (said(422, "unfit", None), said(413, "large", None)),
            ("never".into(), "never".into())
        );
        assert_eq!(
            (said(403, "owner", None), said(403, "identity", None)),
            ("later".into(), "never".into())
        );
        for away in [401, 404, 429, 500, 502, 503, 507] {
            assert_eq!(said(away, "", None), "away", "{away}");
        }
        let tries: Vec<String> = (0..4).map(|_| said(422, "hash", None)).collect();
        assert_eq!(tries, ["anew", "anew", "anew", "never"]);
    }
}
