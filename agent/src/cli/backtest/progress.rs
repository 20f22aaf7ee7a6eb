//! Shows how far a back-test is: one line on a terminal, nothing elsewhere.

use std::io::{IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The time between two lines.
const EVERY: Duration = Duration::from_millis(500);
/// The width of the bar, in characters.
const BAR: u64 = 24;

/// The state of the progress line.
pub(super) struct Progress {
    total_bytes: Option<u64>,
    bytes: u64,
    began: Instant,
    shown: Option<Instant>,
    is_shown: bool,
}

impl Progress {
    /// Creates the progress through `total_bytes` bytes; `None` if their number is not known.
    pub(super) fn new(total_bytes: Option<u64>) -> Self {
        let is_shown = std::io::stderr().is_terminal();
        let total_bytes = total_bytes.filter(|bytes| *bytes > 0);
        Self { total_bytes, bytes: 0, began: Instant::now(), shown: None, is_shown }
    }

    /// Notes a line that was read.
    pub(super) fn at(&mut self, bytes: u64, events: &AtomicU64) {
        self.bytes += bytes + 1;
        if !self.is_shown || self.shown.is_some_and(|shown| shown.elapsed() < EVERY) {
            return;
        }
        self.shown = Some(Instant::now());
        let events = events.load(Ordering::Relaxed);
        let line = line(self.bytes, self.total_bytes, events, self.began.elapsed());
        // a progress that cannot be shown is no reason to end
        let _lost = write!(std::io::stderr(), "\r{line}\x1b[K");
    }

    /// Notes a share that is done, where no bytes are read.
    pub(super) fn share(&mut self, done: u64, all: u64, events: &AtomicU64) {
        self.total_bytes = Some(all);
        self.bytes = done;
        self.at(0, events);
        self.bytes = done;
    }

    /// Takes the line away.
    pub(super) fn end(&self) {
        if self.is_shown && self.shown.is_some() {
            let _lost = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

fn line(bytes: u64, total: Option<u64>, events: u64, took: Duration) -> String {
    let rate = events as f64 / took.as_secs_f64().max(0.001);
    let Some(total) = total else { return format!("{events} windows, {rate:.0}/s") };
    let done = bytes.min(total);
    let filled = (BAR * done / total) as usize;
    let bar: String =
        (0..BAR as usize).map(|place| if place < filled { '█' } else { '░' }).collect();
    format!("{bar} {} %  {events} windows, {rate:.0}/s", 100 * done / total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_never_longer_than_its_width() {
        for (bytes, share) in [(0, "0 %"), (50, "50 %"), (100, "100 %"), (170, "100 %")] {
            let line = line(bytes, Some(100), 7, Duration::from_secs(2));
            assert!(line.contains(share) && line.ends_with("7 windows, 4/s"), "{line}");
            assert_eq!(line.chars().filter(|one| "█░".contains(*one)).count(), 24);
        }
        assert_eq!(line(5, None, 10, Duration::from_secs(1)), "10 windows, 10/s");
    }
}
