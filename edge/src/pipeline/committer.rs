//! The task that commits: batches of all sources into the spool, as many at once as there are.

use std::time::Duration;

use pdm_service::backoff::{Backoff, Pauses};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::Progress;
use crate::event_log;
use crate::spool::{Batch, Committed, Disposition, Spool, SpoolError};

/// Most events of one commit. Chosen: one `fsync` then costs little against writing them.
const MOST_EVENTS: usize = 256;

/// Waits between attempts while the disk does not take anything.
const RETRY: Pauses = Pauses::new(Duration::from_millis(100), Duration::from_secs(5));

/// Commits until every measurer has ended, or until `abandon` while the disk takes nothing.
///
/// While it waits for the disk it takes nothing from the measurers, so a recording stands still
/// and a live source drops and counts what it cannot hold.
///
/// # Errors
/// [`SpoolError`] that no repetition can help.
pub(super) async fn run(
    spool: Spool,
    mut batches: mpsc::Receiver<Batch>,
    progress: watch::Sender<Progress>,
    abandon: CancellationToken,
) -> Result<(), SpoolError> {
    while let Some(mut batch) = batches.recv().await {
        while batch.events.len() < MOST_EVENTS
            && let Ok(more) = batches.try_recv()
        {
            batch.events.extend(more.events);
            batch.memory.extend(more.memory);
        }
        let Some(done) = commit(&spool, &mut batch, &abandon).await? else {
            event_log::windows_abandoned(batch.events.len());
            return Ok(());
        };
        let tally = *spool.watch().borrow();
        progress.send_modify(|progress| {
            progress.spooled += done.taken;
            progress.follow(&tally);
        });
    }
    Ok(())
}

/// Commits one batch, however long it takes; `None` if it was abandoned.
async fn commit(
    spool: &Spool,
    batch: &mut Batch,
    abandon: &CancellationToken,
) -> Result<Option<Committed>, SpoolError> {
    let mut retry = Backoff::new(RETRY);
    loop {
        let error = match spool.commit(batch).await {
            Ok(done) => return Ok(Some(done)),
            Err(error) => error,
        };
        event_log::spool_failed(&error);
        match error.disposition() {
            Disposition::Fatal => return Err(error),
            Disposition::Repair => match spool.repair(&error).await {
                Ok(()) => continue,
                Err(error) if error.disposition() == Disposition::Fatal => return Err(error),
                Err(error) => event_log::spool_failed(&error),
            },
            Disposition::Retry => {}
        }
        tokio::select! {
            () = tokio::time::sleep(retry.next_pause()) => {}
            () = abandon.cancelled() => return Ok(None),
        }
    }
}
