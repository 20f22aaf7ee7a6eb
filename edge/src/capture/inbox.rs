//! The queue between the threads that measure and the one that captures, bounded in bytes.
//!
//! A live source never waits for captures: what finds no room is dropped and counted, and the
//! samples are a gap in the ring. A recording waits, as it does for its measuring.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Bytes of samples that may wait: two and a half seconds of 8 channels at 25.6 kHz. Writing a
/// capture of a minute to flash takes less.
const MOST_BYTES: usize = 4 << 20;
/// Messages that may wait beside: a window of each point of a large gateway, several times.
const MOST_MESSAGES: usize = 4096;

#[derive(Debug)]
struct State<T> {
    items: VecDeque<(usize, T)>,
    bytes: usize,
    is_closed: bool,
}

/// The queue.
#[derive(Debug)]
pub(super) struct Inbox<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

/// The result of taking an item out.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Taken<T> {
    Item(T),
    /// Nothing came in time.
    Nothing,
    /// The queue is closed and empty.
    Closed,
}

impl<T> Inbox<T> {
    pub(super) const fn new() -> Self {
        let state = State { items: VecDeque::new(), bytes: 0, is_closed: false };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Adds an item of `bytes` bytes. Returns false if it found no room and does not wait, or the
    /// queue is closed.
    pub(super) fn push(&self, bytes: usize, item: T, waits: bool) -> bool {
        let mut state = self.lock();
        while !state.is_closed && !state.items.is_empty() && !has_room(&state, bytes) {
            if !waits {
                return false;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.is_closed {
            return false;
        }
        state.bytes += bytes;
        state.items.push_back((bytes, item));
        self.changed.notify_all();
        true
    }

    pub(super) fn pop(&self, within: Duration) -> Taken<T> {
        let mut state = self.lock();
        if state.items.is_empty() && !state.is_closed {
            let waited = self.changed.wait_timeout(state, within);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        match state.items.pop_front() {
            Some((bytes, item)) => {
                state.bytes -= bytes;
                self.changed.notify_all();
                Taken::Item(item)
            }
            None if state.is_closed => Taken::Closed,
            None => Taken::Nothing,
        }
    }

    /// Items that wait.
    pub(super) fn waiting(&self) -> usize {
        self.lock().items.len()
    }

    /// Refuses further items; what is inside is still taken out.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // the state is consistent between any two statements, so a panic elsewhere cannot break it
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A message without samples is not held up by those that wait.
fn has_room<T>(state: &State<T>, bytes: usize) -> bool {
    (bytes == 0 || state.bytes + bytes <= MOST_BYTES) && state.items.len() < MOST_MESSAGES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_finds_no_room_is_refused_and_a_large_item_alone_is_not() {
        let inbox = Inbox::new();
        assert!(inbox.push(2 * MOST_BYTES, 1, false), "alone");
        assert!(!inbox.push(1, 2, false));
        assert!(inbox.push(0, 5, false), "without samples");
        assert_eq!(inbox.pop(Duration::ZERO), Taken::Item(1));
        assert_eq!(inbox.pop(Duration::ZERO), Taken::Item(5));
        assert!(inbox.push(1, 3, false));
        assert_eq!(inbox.pop(Duration::ZERO), Taken::Item(3));
        assert_eq!(inbox.pop(Duration::ZERO), Taken::Nothing);
        inbox.close();
        assert!(!inbox.push(1, 4, true));
        assert_eq!(inbox.pop(Duration::ZERO), Taken::Closed);
    }
}
