//! Writing PUBACKs to the spool in groups, in a task beside the sending: the session would
//! otherwise wait for the `fsync` of each group.

use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::super::log;
use super::Session;
use crate::spool::{Spool, SpoolError};

/// A group of PUBACKs that is being written.
#[derive(Debug)]
pub(super) struct Writing {
    sequences: Vec<u64>,
    task: JoinHandle<Result<(), SpoolError>>,
}

impl Writing {
    fn begin(spool: &Spool, sequences: Vec<u64>) -> Self {
        let (spool, list) = (spool.clone(), sequences.clone());
        Self { sequences, task: tokio::spawn(async move { spool.acknowledge(&list).await }) }
    }
}

/// Waits until the group is written; for ever if none is being written. The group is kept if the
/// wait is given up, so the call can stand in a `select!`.
pub(super) async fn written(writing: &mut Option<Writing>) -> Result<(), SpoolError> {
    match writing {
        Some(group) => (&mut group.task).await.unwrap_or_else(|ended| Err(ended.into())),
        None => std::future::pending().await,
    }
}

impl Session<'_> {
    /// Starts to write a group, if one is due and none is being written.
    pub(super) fn begin_writing_taken(&mut self) {
        let is_due = self.taken.len() >= super::ACK_GROUP
            || self.taken_since.is_some_and(|since| since.elapsed() >= super::ACK_DELAY);
        if is_due && self.writing.is_none() && !self.taken.is_empty() {
            self.taken_since = None;
            let group = std::mem::take(&mut self.taken);
            self.writing = Some(Writing::begin(&self.publisher.spool, group));
        }
    }

    /// Takes the result of a group. A group that failed is written again later.
    pub(super) async fn end_writing(
        &mut self,
        outcome: Result<(), SpoolError>,
    ) -> Result<(), SpoolError> {
        let Some(Writing { sequences, .. }) = self.writing.take() else { return Ok(()) };
        match outcome {
            Ok(()) => {
                let count = sequences.len() as u64;
                log::events_acknowledged(count);
                self.publisher.progress.send_modify(|progress| progress.acknowledged += count);
                for sequence in &sequences {
                    self.busy.remove(sequence);
                }
                Ok(())
            }
            Err(error) => {
                self.taken.extend(sequences);
                self.taken_since = Some(Instant::now());
                self.recover(error).await
            }
        }
    }

    /// Writes all PUBACKs. Those that cannot be written now are kept for later.
    pub(super) async fn write_taken(&mut self) -> Result<(), SpoolError> {
        if self.writing.is_some() {
            let outcome = written(&mut self.writing).await;
            self.end_writing(outcome).await?;
        }
        if self.taken.is_empty() {
            return Ok(());
        }
        self.taken_since = None;
        let group = std::mem::take(&mut self.taken);
        self.writing = Some(Writing::begin(&self.publisher.spool, group));
        let outcome = written(&mut self.writing).await;
        self.end_writing(outcome).await
    }
}
