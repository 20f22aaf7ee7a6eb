//! Watching and stopping a running edge.

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::failure::{EdgePart, ServiceError};
use crate::progress::Progress;
use crate::remarks::Remarks;

/// A running edge.
#[derive(Debug)]
pub struct Handle {
    pub(super) stop: CancellationToken,
    pub(super) progress: watch::Sender<Progress>,
    pub(super) remarks: Remarks,
    pub(super) task: JoinHandle<Result<(), ServiceError>>,
}

impl Handle {
    /// The counters, as they change.
    pub fn progress(&self) -> watch::Receiver<Progress> {
        self.progress.subscribe()
    }

    /// Returns the faults while the edge goes on, as `/healthz` shows them.
    pub const fn remarks(&self) -> &Remarks {
        &self.remarks
    }

    /// Resolves when every source has ended and all its windows are committed, or a part failed.
    pub async fn ended(&self) {
        let mut progress = self.progress.subscribe();
        // an error would mean that the sender is gone, and the sender is a field of self
        let _result = progress.wait_for(|progress| progress.ended || progress.failed).await;
    }

    /// Resolves when, in addition, the broker has taken every event.
    pub async fn drained(&self) {
        let mut progress = self.progress.subscribe();
        // as in `ended`
        let _result = progress
            .wait_for(|progress| progress.failed || (progress.ended && progress.waiting == 0))
            .await;
    }

    /// Stops the sources first, commits the windows that were measured, sends the rest within the
    /// grace period, publishes `offline` and closes the spool.
    ///
    /// # Errors
    /// [`ServiceError`] if a part had failed.
    pub async fn stop(self) -> Result<Progress, ServiceError> {
        self.stop.cancel();
        match self.task.await {
            Ok(ended) => ended?,
            Err(error) => {
                return Err(ServiceError {
                    part: EdgePart::Service,
                    reason: format!("it panicked: {error}"),
                });
            }
        }
        Ok(*self.progress.borrow())
    }
}
