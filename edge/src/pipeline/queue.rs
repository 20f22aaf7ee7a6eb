//! A bounded queue between two threads. A full queue blocks the producer, or drops its oldest item
//! and counts it.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The policy of a full queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WhenFull {
    /// The producer waits.
    Block,
    /// The oldest item is dropped.
    DropOldest,
}

#[derive(Debug)]
struct State<T> {
    items: VecDeque<T>,
    closed: bool,
}

/// The queue.
#[derive(Debug)]
pub(super) struct Queue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    capacity: usize,
    when_full: WhenFull,
}

impl<T> Queue<T> {
    pub(super) fn new(capacity: usize, when_full: WhenFull) -> Self {
        let state = Mutex::new(State { items: VecDeque::new(), closed: false });
        Self { state, changed: Condvar::new(), capacity: capacity.max(1), when_full }
    }

    /// Adds an item; returns how many older items were dropped for it.
    ///
    /// # Errors
    /// [`Closed`] if the queue is closed; the item is dropped.
    pub(super) fn push(&self, item: T) -> Result<u64, Closed> {
        let mut state = self.lock();
        let mut dropped = 0;
        while state.items.len() >= self.capacity && !state.closed {
            match self.when_full {
                WhenFull::Block => {
                    state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                WhenFull::DropOldest => {
                    state.items.pop_front();
                    dropped += 1;
                }
            }
        }
        if state.closed {
            return Err(Closed);
        }
        state.items.push_back(item);
        self.changed.notify_all();
        Ok(dropped)
    }

    /// Takes the items that are in the queue, at most `most`; waits for the first. An empty result
    /// means that the queue is closed and empty.
    pub(super) fn pop(&self, most: usize) -> Vec<T> {
        let mut state = self.lock();
        while state.items.is_empty() && !state.closed {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let count = state.items.len().min(most);
        let items = state.items.drain(..count).collect();
        self.changed.notify_all();
        items
    }

    /// Refuses further items. The items inside can still be taken out.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// Whether further items are refused.
    pub(super) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // the state is consistent between any two statements, so a panic elsewhere cannot break it
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The queue is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Closed;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn drop_oldest_keeps_the_newest_and_counts() {
        let queue = Queue::new(2, WhenFull::DropOldest);
        let dropped: u64 = (0..5).map(|n| queue.push(n).expect("open")).sum();
        assert_eq!(dropped, 3);
        assert_eq!(queue.pop(9), [3, 4]);
    }

    #[test]
    fn block_loses_nothing_and_keeps_the_order() {
        let queue = Arc::new(Queue::new(2, WhenFull::Block));
        let producer = Arc::clone(&queue);
        let thread = std::thread::spawn(move || {
            for n in 0..1000 {
                producer.push(n).expect("open");
            }
            producer.close();
        });
        let mut taken = Vec::new();
        loop {
            let items = queue.pop(3);
            if items.is_empty() {
                break;
            }
            taken.extend(items);
        }
        thread.join().expect("no panic");
        assert_eq!(taken, (0..1000).collect::<Vec<_>>());
    }

    #[test]
    fn a_closed_queue_gives_what_is_left_and_takes_nothing() {
        let queue = Queue::new(2, WhenFull::Block);
        queue.push(1).expect("open");
        queue.close();
        assert_eq!(queue.push(2), Err(Closed));
        assert_eq!((queue.pop(9), queue.pop(9)), (vec![1], vec![]));
    }
}
