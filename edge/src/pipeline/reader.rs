//! The thread that reads a source: blocks in, at their pace, into a bounded queue.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::Progress;
use super::queue::Queue;
use crate::event_log;
use crate::settings::{Opener, Pace};
use crate::source::{Block, Source, SourceError, SourceFormat};

/// Waits before a live source that failed is opened again.
const REOPEN: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

/// Longest sleep of a paced reader before it looks whether it is to stop.
const NAP: Duration = Duration::from_millis(50);

/// What a reader needs.
pub(super) struct Reader {
    pub(super) name: String,
    pub(super) open: Opener,
    pub(super) source: Box<dyn Source>,
    pub(super) pace: Pace,
    /// Time from one block to the next in the recording, s; `None`: a block's own length.
    pub(super) period_s: Option<f64>,
    /// Blocks that an earlier run has committed.
    pub(super) skip: u64,
    pub(super) queue: Arc<Queue<Block>>,
    pub(super) progress: watch::Sender<Progress>,
}

/// Closes the queue however the thread ends.
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
        let mut wait = REOPEN.0;
        if self.pace != Pace::Live {
            self.source.skip_blocks(self.skip)?;
        }
        loop {
            let begun = Instant::now();
            let error = match self.read() {
                Ok(()) => return Ok(()),
                Err(error) if self.pace != Pace::Live => return Err(error),
                Err(error) => error,
            };
            event_log::source_lost(&self.name, &error);
            if begun.elapsed() > REOPEN.1 {
                wait = REOPEN.0;
            }
            if !self.reopen(&mut wait) {
                return Ok(());
            }
        }
    }

    fn read(&mut self) -> Result<(), SourceError> {
        let format = self.source.format().clone();
        let begun = Instant::now();
        let mut recorded_s = 0.0;
        while let Some(block) = self.source.next_block()? {
            if let Pace::Times(times) = self.pace {
                let due = Duration::try_from_secs_f64(recorded_s / times).unwrap_or(Duration::MAX);
                if !self.sleep(due.saturating_sub(begun.elapsed())) {
                    return Ok(());
                }
                recorded_s += self.period_s.unwrap_or_else(|| length_s(&block, &format));
            }
            match self.queue.push(block) {
                Ok(0) => {}
                Ok(dropped) => {
                    event_log::blocks_missed(&self.name, dropped);
                    self.progress.send_modify(|progress| progress.missed_blocks += dropped);
                }
                Err(_closed) => return Ok(()),
            }
        }
        Ok(())
    }

    /// Opens the source again, as often as it takes; false if it is to stop meanwhile.
    fn reopen(&mut self, wait: &mut Duration) -> bool {
        loop {
            if !self.sleep(*wait) {
                return false;
            }
            *wait = wait.saturating_mul(2).min(REOPEN.1);
            match (self.open)() {
                Ok(source) if source.format() == self.source.format() => {
                    self.source = source;
                    return true;
                }
                Ok(source) => event_log::source_changed(&self.name, source.format()),
                Err(error) => event_log::source_lost(&self.name, &error),
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
