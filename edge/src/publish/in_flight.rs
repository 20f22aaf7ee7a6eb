//! The request behind each packet id. rumqttc assigns the id later than it accepts the request, so
//! the id must be learnt from the client's events.
//!
//! Requests leave in the order in which they were handed over (one publisher, one channel), so the
//! n-th `Sent` is the n-th request. A request whose id is still in use is `Held`, with its id,
//! until the older one is acknowledged; rumqttc sends nothing else meanwhile. No I/O here.

use std::collections::VecDeque;

/// Requests that were handed to rumqttc and are not acknowledged.
#[derive(Debug)]
pub(super) struct InFlight<T> {
    queued: VecDeque<T>,
    held: Option<(u16, T)>,
    /// Sent requests, by packet id.
    sent: Vec<Option<T>>,
    sent_count: usize,
}

impl<T> Default for InFlight<T> {
    fn default() -> Self {
        Self { queued: VecDeque::new(), held: None, sent: Vec::new(), sent_count: 0 }
    }
}

impl<T> InFlight<T> {
    /// Number of requests that are not acknowledged.
    pub(super) fn len(&self) -> usize {
        self.queued.len() + usize::from(self.held.is_some()) + self.sent_count
    }

    /// Every request that is not acknowledged.
    pub(super) fn all(&self) -> impl Iterator<Item = &T> {
        let held = self.held.iter().map(|(_, item)| item);
        self.sent.iter().flatten().chain(held).chain(&self.queued)
    }

    /// A request was handed to rumqttc.
    pub(super) fn push(&mut self, item: T) {
        self.queued.push_back(item);
    }

    /// The next request was sent with this id.
    pub(super) fn sent(&mut self, packet_id: u16) {
        let released = self.held.take_if(|(held, _)| *held == packet_id).map(|(_, item)| item);
        if let Some(item) = released.or_else(|| self.queued.pop_front()) {
            let place = usize::from(packet_id);
            if place >= self.sent.len() {
                self.sent.resize_with(place + 1, || None);
            }
            let older = self.sent[place].replace(item);
            self.sent_count += usize::from(older.is_none());
        }
    }

    /// The next request waits until this id is free.
    pub(super) fn held(&mut self, packet_id: u16) {
        if let Some(item) = self.queued.pop_front() {
            self.held = Some((packet_id, item));
        }
    }

    /// The broker answered for this id; returns the request.
    pub(super) fn answered(&mut self, packet_id: u16) -> Option<T> {
        let item = self.sent.get_mut(usize::from(packet_id))?.take();
        self.sent_count -= usize::from(item.is_some());
        item
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_in_any_order_find_their_request() {
        let mut flight = InFlight::default();
        for name in ["a", "b", "c"] {
            flight.push(name);
        }
        for id in [7, 8, 9] {
            flight.sent(id);
        }
        assert_eq!(flight.answered(8), Some("b"));
        assert_eq!(flight.answered(7), Some("a"));
        assert_eq!((flight.len(), flight.answered(8)), (1, None));
    }

    /// rumqttc issues #1014 and #1056: a broker that answers out of order makes an id collide.
    #[test]
    fn a_request_that_collides_gets_its_id_when_the_older_one_is_answered() {
        let mut flight = InFlight::default();
        flight.push("old");
        flight.sent(1);
        flight.push("new");
        flight.held(1);
        assert_eq!(flight.len(), 2);
        assert_eq!(flight.answered(1), Some("old"));
        flight.sent(1);
        assert_eq!(flight.answered(1), Some("new"));
        assert_eq!(flight.len(), 0);
    }
}
