//! Measuring and judging the sources without spool and broker, for `replay` and for tests.

use std::collections::BTreeMap;
use std::io;

use pdm_service::clock::SharedClock;
use pdm_shared::event::Event;
use tokio::sync::{mpsc, watch};

use super::{StartError, build};
use crate::progress::Progress;
use crate::relearning::Relearning;
use crate::remarks::Remarks;
use crate::settings::EdgeSettings;
use crate::source::SourceError;

/// Batches that wait for the consumer: as many as wait for the committer of a service, so that
/// `replay` uses no more memory than the service.
const BATCHES: usize = 4;

/// A run that did not come to its end. The caller shows the error and ends with its exit code.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OfflineError {
    /// A source cannot be opened or does not fit its settings.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A source failed while it was read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The consumer of the events failed.
    #[error("cannot write events: {0}")]
    Output(#[source] io::Error),
    /// A thread cannot be started, or panicked: a bug.
    #[error("a thread failed: {0}")]
    Thread(String),
}

/// Measures the sources of `settings` to their end, or until `each` fails. `each` is called with
/// every event, which has its sequence number, and with the number of blocks of all sources.
///
/// Blocks the calling thread, so it must not be called inside of an async runtime.
///
/// # Errors
/// [`OfflineError`].
pub fn measure_all(
    settings: &EdgeSettings,
    clock: SharedClock,
    each: &mut dyn FnMut(&Event, Option<u64>) -> io::Result<()>,
) -> Result<(), OfflineError> {
    let progress = watch::Sender::new(Progress::default());
    let built = build::sources(
        settings,
        &BTreeMap::new(),
        &build::Shared {
            clock: &clock,
            progress: &progress,
            relearning: &Relearning::default(),
            remarks: &Remarks::default(),
            captures: None,
        },
        build::Unreadable::Fail,
    )?;
    let expected = progress.borrow().expected_blocks;
    let (sender, mut batches) = mpsc::channel(BATCHES);
    std::thread::scope(|scope| {
        let mut readers = Vec::new();
        let mut queues = Vec::new();
        for source in built {
            let batches = sender.clone();
            queues.push(source.queue);
            readers.push(scope.spawn(|| source.reader.run()));
            let measurer = source.measurer;
            scope.spawn(move || measurer(batches).run());
        }
        drop(sender);
        let mut sequence = 0;
        let mut consumed = Ok(());
        'all: while let Some(batch) = batches.blocking_recv() {
            for mut event in batch.events {
                sequence += 1;
                event.sequence = sequence;
                if let Err(error) = each(&event, expected) {
                    consumed = Err(OfflineError::Output(error));
                    break 'all;
                }
            }
        }
        // A consumer that failed takes no more events. Closing the queues and dropping the channel
        // lets readers and measurers end, for which the scope waits.
        for queue in &queues {
            queue.close();
        }
        drop(batches);
        for reader in readers {
            match reader.join() {
                Ok(ended) => ended?,
                Err(_panic) => return Err(OfflineError::Thread("reading panicked".to_owned())),
            }
        }
        consumed
    })
}
