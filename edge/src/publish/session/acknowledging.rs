//! PUBACKs on their way into the spool: written in groups, beside the sending.

use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::Session;
use crate::event_log;
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

/// Waits for the group; for ever if none is being written. Nothing is lost when the wait is given
/// up: the group stays.
pub(super) async fn written(writing: &mut Option<Writing>) -> Result<(), SpoolError> {
    match writing {
        Some(group) => (&mut group.task).await.unwrap_or_else(|ended| Err(ended.into())),
        None => std::future::pending().await,
    }
}

impl Session<'_> {
    /// Begins to write a group, if one is due and none is being written.
    pub(super) fn begin_writing_taken(&mut self) {
        let is_due = self.taken.len() >= super::ACK_GROUP
            || self.taken_since.is_some_and(|since| since.elapsed() >= super::ACK_DELAY);
        if is_due && self.writing.is_none() && !self.taken.is_empty() {
            self.taken_since = None;
            let group = std::mem::take(&mut self.taken);
            self.writing = Some(Writing::begin(&self.publisher.spool, group));
        }
    }

    /// Takes the outcome of a group; one that failed is written again later.
    pub(super) async fn end_writing(
        &mut self,
        outcome: Result<(), SpoolError>,
    ) -> Result<(), SpoolError> {
        let Some(Writing { sequences, .. }) = self.writing.take() else { return Ok(()) };
        match outcome {
            Ok(()) => {
                let count = sequences.len() as u64;
                event_log::events_acknowledged(count);
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

    /// Writes every PUBACK; those that cannot be written now are kept for later.
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
