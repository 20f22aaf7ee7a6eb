//! The task that commits the batches of all sources to the spool, those that wait in one commit.

use std::time::Duration;

use pdm_service::backoff::{Backoff, Pauses};
use pdm_service::clock::SharedClock;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::log;
use crate::progress::{Progress, SpoolTrouble};
use crate::relearning::Relearning;
use crate::spool::{self, Batch, Committed, Disposition, Spool, SpoolError};

/// Most events of one commit. 256 events of 4 KiB are 1 MiB, which an SD card of speed class 10
/// (10 MB/s) writes in 0.1 s, so one `fsync` is shared by many events and no commit is long.
const MOST_EVENTS: usize = 256;

/// Waits between attempts while the disk cannot be written. At most 5 s, so that measuring
/// continues soon after somebody made room.
const RETRY: Pauses = Pauses::new(Duration::from_millis(100), Duration::from_secs(5));

/// Commits until every measurer has ended, or until `abandon` while the disk takes nothing.
///
/// While the committer waits for the disk, it takes no batch from the measurers. Their channel
/// fills, so reading a recording pauses, and a live source drops and counts its oldest blocks.
/// `abandon` ends only the wait: a commit that is under way is finished, since its events may be
/// on disk already.
///
/// # Errors
/// [`SpoolError`] with [`Disposition::Fatal`].
pub(super) async fn run(
    spool: Spool,
    mut batches: mpsc::Receiver<Batch>,
    progress: watch::Sender<Progress>,
    abandon: CancellationToken,
    (relearning, clock): (Relearning, SharedClock),
) -> Result<(), SpoolError> {
    while let Some(mut batch) = batches.recv().await {
        while batch.events.len() < MOST_EVENTS
            && let Ok(more) = batches.try_recv()
        {
            batch.events.extend(more.events);
            batch.memory.extend(more.memory);
            batch.relearnt.extend(more.relearnt);
        }
        let Some(done) = commit(&spool, &mut batch, &progress, &abandon).await? else {
            log::windows_abandoned(batch.events.len());
            return Ok(());
        };
        for (bearing, request) in batch.relearnt.drain(..) {
            if relearning.on_disk(&bearing, request, clock.now()) {
                log::relearnt_on_disk(&bearing);
            }
        }
        let tally = *spool.watch().borrow();
        let is_replaced = spool.is_replaced();
        progress.send_modify(|progress| {
            progress.not_committed_since = None;
            progress.spool_trouble = is_replaced.then_some(SpoolTrouble::Moved);
            progress.spooled += done.taken;
            progress.follow(&tally);
        });
    }
    Ok(())
}

async fn commit_under_its_name(spool: &Spool, batch: &mut Batch) -> Result<Committed, SpoolError> {
    spool.has_a_name()?;
    spool.commit(batch).await
}

/// Commits one batch, repeated until it succeeds; `None` if it was abandoned.
async fn commit(
    spool: &Spool,
    batch: &mut Batch,
    progress: &watch::Sender<Progress>,
    abandon: &CancellationToken,
) -> Result<Option<Committed>, SpoolError> {
    let mut retry = Backoff::new(RETRY);
    // also a commit that hangs must be seen; nobody is woken, because most take milliseconds
    progress.send_if_modified(|progress| {
        progress.not_committed_since.get_or_insert_with(Instant::now);
        false
    });
    loop {
        let error = match commit_under_its_name(spool, batch).await {
            Ok(done) => return Ok(Some(done)),
            Err(error) => error,
        };
        spool::log::failed(&error);
        progress.send_modify(|progress| {
            progress.not_committed_since.get_or_insert_with(Instant::now);
            progress.spool_trouble = Some(SpoolTrouble::from(&error));
        });
        match error.disposition() {
            Disposition::Fatal => return Err(error),
            Disposition::Repair => match spool.repair(&error).await {
                Ok(true) => continue,
                // the file is sound and still fails: as for a disk that takes nothing
                Ok(false) => {}
                Err(error) if error.disposition() == Disposition::Fatal => return Err(error),
                Err(error) => spool::log::failed(&error),
            },
            Disposition::Retry => {}
        }
        tokio::select! {
            () = tokio::time::sleep(retry.next_pause()) => {}
            () = abandon.cancelled() => return Ok(None),
        }
    }
}
