//! Starting the edge, and the order in which its parts end: everything is built before anything runs.

use std::sync::Arc;
use std::thread::JoinHandle as Thread;

use pdm_service::clock::SharedClock;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::build::{self, Built};
use super::failure::{Failure, ServiceError};
use super::handle::Handle;
use super::queue::Queue;
use super::{Progress, Relearning, committer};
use crate::admin;
use crate::publish::{Publisher, PublisherSettings};
use crate::settings::EdgeSettings;
use crate::source::{Block, SourceError};
use crate::spool::{Spool, SpoolError};

/// Batches that wait for the disk.
const BATCHES: usize = 4;

/// The edge did not start. The caller shows it and ends with its exit code.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The spool cannot be opened.
    #[error(transparent)]
    Spool(#[from] SpoolError),
    /// A source cannot be opened.
    #[error("source {name}: {source}")]
    Source {
        /// Which.
        name: String,
        /// Why.
        #[source]
        source: SourceError,
    },
    /// A source does not fit its settings.
    #[error("source {name}: {reason}")]
    Unfit {
        /// Which.
        name: String,
        /// What does not fit, with the figures.
        reason: String,
    },
    /// Health and metrics cannot be served.
    #[error(transparent)]
    Admin(#[from] admin::AdminError),
}

/// Starts edges.
#[derive(Debug, Clone, Copy)]
pub struct Edge;

impl Edge {
    /// Opens the spool and the sources, then measures and publishes until stopped. A broker that
    /// is away is no error: the edge connects when it can.
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
        let relearning = Relearning::of(build::bearings(&settings));
        let built = open_sources(&settings, &spool, &clock, &progress, &relearning).await?;
        let admin = match &settings.admin {
            None => None,
            Some(admin) => {
                let progress = progress.subscribe();
                Some(admin::bind(admin, spool.clone(), progress, relearning).await?)
            }
        };
        let publisher = Publisher::new(
            PublisherSettings {
                broker: settings.broker.clone(),
                prefix: settings.prefix.clone(),
                site: settings.site.clone(),
                bearings: build::bearings(&settings),
            },
            spool.clone(),
            clock,
            progress.clone(),
        );
        let stop = CancellationToken::new();
        let service = Service {
            settings,
            spool,
            progress: progress.clone(),
            stop: stop.clone(),
            failure: Failure::default(),
        };
        let admin = admin.map(|admin| tokio::spawn(admin.serve(stop.clone())));
        Ok(Handle { stop, progress, task: tokio::spawn(service.run(built, publisher, admin)) })
    }
}

/// Opens the sources on a thread that may block.
async fn open_sources(
    settings: &EdgeSettings,
    spool: &Spool,
    clock: &SharedClock,
    progress: &watch::Sender<Progress>,
    relearning: &Relearning,
) -> Result<Vec<Built>, StartError> {
    let memory = spool.memory().await?;
    let (settings, clock, progress) = (settings.clone(), Arc::clone(clock), progress.clone());
    let relearning = relearning.clone();
    let opening = move || build::sources(&settings, &memory, &clock, &progress, &relearning);
    match tokio::task::spawn_blocking(opening).await {
        Ok(built) => built,
        Err(panic) => Err(StartError::Unfit {
            name: "of the configuration".to_owned(),
            reason: format!("opening it panicked: {panic}"),
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
}

impl Service {
    async fn run(
        self,
        built: Vec<Built>,
        publisher: Publisher,
        admin: Option<JoinHandle<()>>,
    ) -> Result<(), ServiceError> {
        let (closing, abandon) = (CancellationToken::new(), CancellationToken::new());
        let mut publishing = tokio::spawn(publisher.run(closing.clone(), abandon.clone()));
        let (sender, receiver) = mpsc::channel(BATCHES);
        let mut committing = tokio::spawn(committer::run(
            self.spool.clone(),
            receiver,
            self.progress.clone(),
            abandon.clone(),
        ));
        let queues: Vec<Arc<Queue<Block>>> =
            built.iter().map(|source| Arc::clone(&source.queue)).collect();
        let threads = self.start_threads(built, sender);
        let following = tokio::spawn(follow(self.spool.clone(), self.progress.clone()));

        let mut published = None;
        let mut committed = None;
        tokio::select! {
            outcome = &mut committing => committed = Some(outcome),
            outcome = &mut publishing => published = Some(outcome),
            () = self.stop.cancelled() => {}
        }
        if committed.is_none() {
            for queue in &queues {
                queue.close();
            }
            let grace = self.settings.shutdown_grace;
            committed = tokio::time::timeout(grace, &mut committing).await.ok();
            if committed.is_none() {
                abandon.cancel();
                committed = Some(committing.await);
            }
        }
        self.note("commit", committed);
        self.join(threads);
        let failed = self.failure.first().is_some() || published.is_some();
        self.progress.send_modify(|progress| {
            progress.ended = true;
            progress.failed = failed;
        });
        if published.is_none() {
            tokio::select! {
                outcome = &mut publishing => published = Some(outcome),
                () = self.stop.cancelled() => {}
            }
        }
        closing.cancel();
        if published.is_none() {
            let grace = self.settings.shutdown_grace;
            published = tokio::time::timeout(grace, &mut publishing).await.ok();
        }
        if published.is_none() {
            abandon.cancel();
            published = Some(publishing.await);
        }
        self.note("publish", published);
        self.progress.send_modify(|progress| progress.failed = self.failure.first().is_some());
        following.abort();
        if let Some(admin) = admin {
            admin.abort();
        }
        self.spool.close().await;
        self.failure.first().map_or(Ok(()), Err)
    }

    fn start_threads(
        &self,
        built: Vec<Built>,
        batches: mpsc::Sender<crate::spool::Batch>,
    ) -> Vec<(String, Thread<()>)> {
        let mut threads = Vec::new();
        for source in built {
            let Built { name, reader, measurer, queue: _ } = source;
            let failure = self.failure.clone();
            let part = format!("source {name}");
            // a reader may hang in a system call for ever: it is not waited for
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
                    Ok(Some(thread)) => threads.push((name.clone(), thread)),
                    Ok(None) => {}
                    Err(error) => self.failure.note(format!("source {name}"), error.to_string()),
                }
            }
        }
        threads
    }

    /// Measurers have let go of their channel, so they are at their end.
    fn join(&self, threads: Vec<(String, Thread<()>)>) {
        for (name, thread) in threads {
            if thread.join().is_err() {
                self.failure.note(format!("measure {name}"), "it panicked: a bug".to_owned());
            }
        }
    }

    fn note(
        &self,
        part: &str,
        outcome: Option<Result<Result<(), SpoolError>, tokio::task::JoinError>>,
    ) {
        match outcome {
            Some(Ok(Ok(()))) | None => {}
            Some(Ok(Err(error))) => self.failure.note(part, error.to_string()),
            Some(Err(error)) => self.failure.note(part, format!("it panicked: {error}")),
        }
    }
}

/// Keeps the spool's figures in the progress up to date.
async fn follow(spool: Spool, progress: watch::Sender<Progress>) {
    let mut tally = spool.watch();
    while tally.changed().await.is_ok() {
        let now = *tally.borrow_and_update();
        progress.send_modify(|progress| progress.follow(&now));
    }
}
