//! The thread that reads the blocks of a source at their pace into a bounded queue.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pdm_service::backoff::{Backoff, Pauses};
use pdm_service::error_chain::error_chain;
use tokio::sync::watch;

use super::log;
use super::queue::Queue;
use crate::progress::Progress;
use crate::remarks::LOST;
use crate::settings::Pace;
use crate::source::{Block, Source, SourceError, SourceFormat, SourceHost, SourceInput};

/// Waits before a live source that failed is opened again: a sensor node restarts within seconds,
/// and half a minute is the most that a device which is back goes unmeasured.
const REOPEN: Pauses = Pauses::new(Duration::from_secs(1), Duration::from_secs(30));

/// Longest sleep of a paced reader before it checks whether to stop: short against the seconds
/// that a person waits for a service to end.
const NAP: Duration = Duration::from_millis(50);

/// A reader and its source.
pub(super) struct Reader {
    pub(super) name: String,
    /// Opens a live source again after a failure.
    pub(super) input: SourceInput,
    pub(super) host: SourceHost,
    pub(super) source: Box<dyn Source>,
    pub(super) pace: Pace,
    /// Time from one block to the next in the recording, s; `None`: a block's own length.
    pub(super) period_s: Option<f64>,
    /// Number of blocks that an earlier run has committed.
    pub(super) skip: u64,
    pub(super) queue: Arc<Queue<Block>>,
    pub(super) progress: watch::Sender<Progress>,
}

/// Closes the queue when the thread ends, also by a panic, so that the measurer ends too.
struct CloseAtEnd(Arc<Queue<Block>>);

impl Drop for CloseAtEnd {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl Reader {
    /// Reads until the source ends, fails, or the queue is closed.
    ///
    /// # Errors
    /// [`SourceError`] of a source that is not live; a live one is opened again.
    pub(super) fn run(mut self) -> Result<(), SourceError> {
        let _close = CloseAtEnd(Arc::clone(&self.queue));
        let mut reopening = Backoff::new(REOPEN);
        if self.pace != Pace::Live {
            self.source.skip_blocks(self.skip)?;
        }
        let mut failures = 0_u32;
        loop {
            let begun = Instant::now();
            let mut has_read = false;
            let error = match self.read_guarded(&mut has_read) {
                Ok(()) => return Ok(()),
                Err(error) if self.pace != Pace::Live => return Err(error),
                Err(error) => error,
            };
            log::source_lost(&self.name, &error);
            failures = if has_read { 1 } else { failures + 1 };
            // a connection that is lost once is back in a second
            if failures >= 2 || matches!(error, SourceError::Failed { .. }) {
                self.tell_lost(&error);
            }
            // a source that delivered for longer than the longest wait has recovered
            if begun.elapsed() > REOPEN.longest {
                reopening.reset();
            }
            if !self.reopen(&mut reopening) {
                return Ok(());
            }
        }
    }

    /// [`Self::read`], whose panic is the failure of a live source: the thread goes on.
    fn read_guarded(&mut self, has_read: &mut bool) -> Result<(), SourceError> {
        if self.pace != Pace::Live {
            return self.read(has_read);
        }
        // a source that panicked is opened anew and never used again, so nothing half-made is seen
        let read = std::panic::AssertUnwindSafe(|| self.read(has_read));
        std::panic::catch_unwind(read)
            .unwrap_or_else(|_panic| Err(SourceError::Failed { name: self.name.clone() }))
    }

    fn tell_lost(&self, error: &SourceError) {
        let why = error_chain(error);
        let text = format!("it cannot be read, and is tried again: {why}");
        self.host.remarks.set(&self.name, LOST, text);
    }

    fn read(&mut self, has_read: &mut bool) -> Result<(), SourceError> {
        let format = self.source.format().clone();
        let begun = Instant::now();
        let mut recorded_s = 0.0;
        while let Some(block) = self.source.next_block()? {
            *has_read = true;
            self.host.remarks.withdraw(&self.name, LOST);
            // a watched folder hands out an empty block when nothing new has come
            if let Pace::Times(times) = self.pace
                && block.accel_m_s2.ncols() > 0
            {
                let due = Duration::try_from_secs_f64(recorded_s / times).unwrap_or(Duration::MAX);
                if !self.sleep(due.saturating_sub(begun.elapsed())) {
                    return Ok(());
                }
                recorded_s += self.period_s.unwrap_or_else(|| length_s(&block, &format));
            }
            match self.queue.push(block) {
                Ok(0) => {}
                Ok(dropped) => {
                    log::blocks_missed(&self.name, dropped);
                    self.progress.send_modify(|progress| progress.missed_blocks += dropped);
                }
                Err(_closed) => return Ok(()),
            }
        }
        Ok(())
    }

    /// Opens the source again, repeated until it succeeds; false if the edge stops meanwhile.
    fn reopen(&mut self, reopening: &mut Backoff) -> bool {
        loop {
            if !self.sleep(reopening.next_pause()) {
                return false;
            }
            match self.input.open_at(&self.host) {
                Ok(source) if source.format() == self.source.format() => {
                    self.source = source;
                    return true;
                }
                Ok(source) => log::source_changed(&self.name, source.format()),
                Err(error) => {
                    log::source_lost(&self.name, &error);
                    self.tell_lost(&error);
                }
            }
        }
    }

    /// Sleeps; false if the queue was closed meanwhile.
    fn sleep(&self, time: Duration) -> bool {
        let until = Instant::now() + time.min(Duration::from_hours(24));
        loop {
            if self.queue.is_closed() {
                return false;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            std::thread::sleep(left.min(NAP));
        }
    }
}

fn length_s(block: &Block, format: &SourceFormat) -> f64 {
    block.accel_m_s2.ncols() as f64 / format.sample_rate.get()
}
