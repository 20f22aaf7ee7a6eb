//! The order in which the parts of the edge start and stop.
//!
//! Everything that can be refused is built before anything runs. Parts stop in the direction of the
//! data, each after the part before it has handed over its last item:
//!
//! 1. the queues of blocks close, so readers and measurers end ([`EdgePart::Measuring`]);
//! 2. the committer ends when the last measurer has dropped its channel ([`EdgePart::Committing`]);
//! 3. the publisher sends what is in the spool and says `offline` ([`EdgePart::Publishing`]);
//! 4. the spool closes last, since both tasks write to it.

use std::sync::Arc;
use std::thread::JoinHandle as Thread;
use std::time::Duration;

use pdm_service::clock::SharedClock;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::build::{self, Built};
use super::failure::{EdgePart, Failure, ServiceError};
use super::handle::Handle;
use super::queue::Queue;
use super::task::Task;
use super::{StartError, committer};
use crate::admin;
use crate::capture::{CaptureStart, RunningCaptures};
use crate::progress::Progress;
use crate::publish::{Publisher, PublisherSettings};
use crate::relearning::Relearning;
use crate::remarks::Remarks;
use crate::settings::EdgeSettings;
use crate::source::Block;
use crate::spool::{Batch, Spool};

/// Batches that wait for the disk: one for each source of a gateway with four, so that every
/// measurer can continue with its next batch during a commit.
const BATCHES: usize = 4;

/// The time for which a stop waits for a spool that takes nothing. A transient lock of the file is
/// gone within SQLite's busy time-out of 5 s; a full disk or a damaged count is not gone by
/// waiting.
const FAILING_STOP: Duration = Duration::from_secs(5);

/// A task that was told to abandon its work is cut off after this time, twice the 5 s for which
/// SQLite waits for a lock. What it has not written is measured or sent again at the next start.
const CUT_OFF: Duration = Duration::from_secs(10);

/// Starts edges.
#[derive(Debug, Clone, Copy)]
pub struct Edge;

impl Edge {
    /// Opens the spool and the sources, then measures and publishes until stopped. An unreachable
    /// broker is not an error: the edge connects as soon as the broker answers.
    ///
    /// # Errors
    /// [`StartError`] if the spool or a source cannot be opened or does not fit its settings.
    pub async fn start(settings: EdgeSettings, clock: SharedClock) -> Result<Handle, StartError> {
        let spool =
            Spool::open(settings.spool.clone(), settings.gateway.clone(), Arc::clone(&clock))
                .await?;
        let mut progress = Progress::default();
        progress.follow(&spool.tally().await?);
        let progress = watch::Sender::new(progress);
        let relearning = Relearning::of(settings.bearings());
        if settings.admin.is_some() {
            // before the sources: what is counted while they are opened would be lost
            admin::begin_metrics(settings.sources.iter().map(|one| one.name.clone()).collect());
        }
        let remarks = Remarks::default();
        let captures = settings.capture.clone().map(CaptureStart::new).map(Arc::new);
        let shared = (&clock, &progress, &relearning, &remarks);
        let built = open_sources(&settings, &spool, shared, captures.clone()).await?;
        let capturing = captures.as_ref().map(|captures| captures.capturing());
        let admin = match &settings.admin {
            None => None,
            Some(admin) => {
                let progress = progress.subscribe();
                let shown = (relearning.clone(), capturing.clone(), remarks.clone());
                Some(admin::bind(admin, spool.clone(), progress, shown).await?)
            }
        };
        let names = (settings.gateway.clone(), settings.site.clone());
        let captures = captures.and_then(Arc::into_inner);
        let stop = CancellationToken::new();
        if let Some(captures) = &captures
            && let Some(uploading) = captures.uploading(&spool, remarks.clone(), stop.clone())
        {
            // it ends by the token, or with the process: what it has not sent is sent after the
            // next start
            tokio::spawn(uploading);
        }
        let host = (Arc::clone(&clock), remarks.clone());
        let captures = captures.map(|captures| captures.run(names, host)).transpose();
        let captures = captures.map_err(|error| StartError::Unfit {
            name: "of captures".to_owned(),
            reason: format!("no thread: {error}"),
        })?;
        let publisher =
            Publisher::new(published_as(&settings), spool.clone(), clock.clone(), progress.clone())
                .with_remarks(remarks.clone())
                .with_capturing(capturing)
                .with_relearning(relearning.clone());
        let service = Service {
            settings,
            spool,
            progress: progress.clone(),
            stop: stop.clone(),
            failure: Failure::default(),
            captures,
            relearning: (relearning, clock),
        };
        let admin = admin.map(|admin| tokio::spawn(admin.serve(stop.clone())));
        Ok(Handle {
            stop,
            progress,
            remarks,
            task: tokio::spawn(service.run(built, publisher, admin)),
        })
    }
}

/// To which broker the events go, and under which topics.
fn published_as(settings: &EdgeSettings) -> PublisherSettings {
    PublisherSettings {
        broker: settings.broker.clone(),
        prefix: settings.prefix.clone(),
        site: settings.site.clone(),
        bearings: settings.bearings(),
    }
}

/// Opens the sources on a thread of the blocking pool, since opening waits for files and devices.
async fn open_sources(
    settings: &EdgeSettings,
    spool: &Spool,
    (clock, progress, relearning, remarks): (
        &SharedClock,
        &watch::Sender<Progress>,
        &Relearning,
        &Remarks,
    ),
    captures: Option<Arc<CaptureStart>>,
) -> Result<Vec<Built>, StartError> {
    let memory = spool.memory().await?;
    let (settings, clock, progress) = (settings.clone(), Arc::clone(clock), progress.clone());
    let (relearning, remarks) = (relearning.clone(), remarks.clone());
    let opening = move || {
        let unreadable = build::Unreadable::LeaveOut;
        let shared = build::Shared {
            clock: &clock,
            progress: &progress,
            relearning: &relearning,
            remarks: &remarks,
            captures: captures.as_deref(),
        };
        build::sources(&settings, &memory, &shared, unreadable)
    };
    match tokio::task::spawn_blocking(opening).await {
        Ok(built) => built,
        Err(panic) => Err(StartError::Unfit {
            name: "of the configuration".to_owned(),
            reason: format!("opening a source panicked: {panic}"),
        }),
    }
}

/// The running parts.
struct Service {
    settings: EdgeSettings,
    spool: Spool,
    progress: watch::Sender<Progress>,
    stop: CancellationToken,
    failure: Failure,
    captures: Option<RunningCaptures>,
    /// Requests to learn bearings anew, which are answered when they are on disk, and the clock.
    relearning: (Relearning, SharedClock),
}

impl Service {
    async fn run(
        mut self,
        built: Vec<Built>,
        publisher: Publisher,
        admin: Option<JoinHandle<()>>,
    ) -> Result<(), ServiceError> {
        let (closing, abandon) = (CancellationToken::new(), CancellationToken::new());
        let publishing = publisher.run(closing.clone(), abandon.clone());
        let mut publishing = Task::spawn(EdgePart::Publishing, publishing);
        let (batches, receiver) = mpsc::channel(BATCHES);
        let (spool, progress) = (self.spool.clone(), self.progress.clone());
        let relearning = self.relearning.clone();
        let committing = committer::run(spool, receiver, progress, abandon.clone(), relearning);
        let mut committing = Task::spawn(EdgePart::Committing, committing);
        let queues = built.iter().map(|source| Arc::clone(&source.queue)).collect();
        let measurers = self.start_threads(built, batches);
        let following = tokio::spawn(follow(self.spool.clone(), self.progress.clone()));

        // The committer ends by itself when every source has ended. The publisher ends by itself
        // only if it failed: the edge then stops, so that a supervisor can start it again.
        tokio::select! {
            () = committing.ended() => {}
            () = publishing.ended() => {}
            () = self.stop.cancelled() => {}
        }
        self.stop_measuring(queues, committing, &abandon).await;
        self.join(measurers);
        self.stop_captures().await;
        self.progress.send_modify(|progress| {
            progress.ended = true;
            progress.failed = self.failure.has_any() || publishing.has_ended();
        });
        self.stop_publishing(publishing, &closing, &abandon).await;
        self.progress.send_modify(|progress| progress.failed = self.failure.has_any());

        // Neither task holds anything that is not on disk, so both are cut off: `follow` copies
        // figures, and the admin listener ends by the token `stop` or with the process.
        following.abort();
        if let Some(admin) = admin {
            admin.abort();
        }
        if tokio::time::timeout(CUT_OFF, self.spool.close()).await.is_err() {
            self.failure.note(EdgePart::Service, "the spool could not be closed in time");
        }
        self.failure.first().map_or(Ok(()), Err)
    }

    /// Ends measuring: closes the queues, and waits until everything measured is committed.
    ///
    /// A disk that cannot be written would hold the committer for ever, so the committer abandons
    /// its batch after the grace period. The publisher is abandoned with it by the same token: the
    /// events that the publisher could still send are on the disk that does not answer.
    async fn stop_measuring(
        &self,
        queues: Vec<Arc<Queue<Block>>>,
        mut committing: Task,
        abandon: &CancellationToken,
    ) {
        if !committing.has_ended() {
            for queue in &queues {
                queue.close();
            }
            let grace = self.settings.shutdown_grace;
            tokio::select! {
                has_ended = committing.ended_within(grace) => {
                    if !has_ended {
                        abandon.cancel();
                    }
                }
                () = self.spool_takes_nothing() => abandon.cancel(),
            }
        }
        if !committing.ended_within(CUT_OFF).await {
            committing.cut_off();
        }
        committing.join(&self.failure).await;
    }

    /// Resolves when a batch has waited for the spool for [`FAILING_STOP`] during the stop.
    async fn spool_takes_nothing(&self) {
        let mut progress = self.progress.subscribe();
        loop {
            // an error would mean that the sender is gone, and the sender is a field of self
            drop(progress.wait_for(|now| now.not_committed_since.is_some()).await);
            let recovered = async {
                drop(progress.wait_for(|now| now.not_committed_since.is_none()).await);
            };
            if tokio::time::timeout(FAILING_STOP, recovered).await.is_err() {
                return;
            }
        }
    }

    /// Writes the captures that wait for their last samples. The disk may hold this up: it is given
    /// up after the time that the other parts have.
    async fn stop_captures(&mut self) {
        let Some(captures) = self.captures.take() else { return };
        let stopping = tokio::task::spawn_blocking(move || captures.stop());
        match tokio::time::timeout(CUT_OFF, stopping).await {
            Ok(Ok(true)) => {}
            Ok(_) => self.failure.note(EdgePart::Capturing, "it panicked: a bug"),
            Err(_late) => self.failure.note(EdgePart::Capturing, "it did not end in time"),
        }
    }

    /// Ends publishing. An edge whose sources have ended continues to send until a stop is
    /// requested; only then does the grace period begin in which the spool is emptied.
    async fn stop_publishing(
        &self,
        mut publishing: Task,
        closing: &CancellationToken,
        abandon: &CancellationToken,
    ) {
        if !publishing.has_ended() {
            tokio::select! {
                () = publishing.ended() => {}
                () = self.stop.cancelled() => {}
            }
        }
        closing.cancel();
        if !publishing.ended_within(self.settings.shutdown_grace).await {
            // events that are not sent by now stay in the spool for the next start
            abandon.cancel();
        }
        if !publishing.ended_within(CUT_OFF).await {
            publishing.cut_off();
        }
        publishing.join(&self.failure).await;
    }

    /// Starts a reader and a measurer for each source; returns the measurers.
    fn start_threads(
        &self,
        built: Vec<Built>,
        batches: mpsc::Sender<Batch>,
    ) -> Vec<(String, Thread<()>)> {
        let mut measurers = Vec::new();
        for source in built {
            let Built { name, reader, measurer, queue: _ } = source;
            let failure = self.failure.clone();
            let part = EdgePart::Reading(name.clone());
            // A reader is not waited for: it may hang in a system call on a device that is gone.
            // Nothing is lost with it, since a block counts only after it was measured.
            let reading =
                std::thread::Builder::new().name(format!("read {name}")).spawn(move || {
                    if let Err(error) = reader.run() {
                        failure.note(part, error.to_string());
                    }
                });
            let batches = batches.clone();
            let measuring = std::thread::Builder::new()
                .name(format!("measure {name}"))
                .spawn(move || measurer(batches).run());
            for thread in [reading.map(|_detached| None), measuring.map(Some)] {
                match thread {
                    Ok(Some(thread)) => measurers.push((name.clone(), thread)),
                    Ok(None) => {}
                    Err(error) => {
                        self.failure.note(EdgePart::Reading(name.clone()), error.to_string());
                    }
                }
            }
        }
        measurers
    }

    /// Waits for the measurers. This does not block for long: the committer has ended, so each
    /// measurer has dropped its channel or fails at its next batch.
    fn join(&self, measurers: Vec<(String, Thread<()>)>) {
        for (name, thread) in measurers {
            if thread.join().is_err() {
                self.failure.note(EdgePart::Measuring(name), "it panicked: a bug");
            }
        }
    }
}

/// Copies the spool's figures into the progress whenever they change.
async fn follow(spool: Spool, progress: watch::Sender<Progress>) {
    let mut tally = spool.watch();
    while tally.changed().await.is_ok() {
        let now = *tally.borrow_and_update();
        progress.send_modify(|progress| progress.follow(&now));
    }
}
