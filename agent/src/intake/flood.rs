//! Reports senders of so many events that some are put off: in the log once a minute, in the health
//! while it lasts, and to staff once a day.

use std::collections::BTreeMap;
use std::time::Duration;

use pdm_shared::id::GatewayKey;
use tokio::time::Instant;

use super::log;
use crate::mqtt::sender::Sender;

const MINUTE: Duration = Duration::from_mins(1);

/// Events of one gateway that are put off within a minute before staff is told. Chosen: an edge
/// that comes back sends what it has kept, and is over its share for seconds; an hour of windows
/// every second is more.
const TOLD_FROM: u64 = 3000;

/// The events put off in the present minute, by sender. Bounded by what [`crate::mqtt::PutOff`]
/// counts.
#[derive(Debug)]
pub(super) struct Flood {
    since: Instant,
    put_off: BTreeMap<Sender, u64>,
}

impl Flood {
    pub(super) fn new(now: Instant) -> Self {
        Self { since: now, put_off: BTreeMap::new() }
    }

    /// Adds what was put off since the last time; the gateways that staff is told of.
    pub(super) fn note(&mut self, new: &BTreeMap<Sender, u64>, now: Instant) -> Vec<GatewayKey> {
        if now.duration_since(self.since) >= MINUTE {
            self.since = now;
            self.put_off.clear();
        }
        let mut told = Vec::new();
        for (sender, events) in new {
            let count = self.put_off.entry(sender.clone()).or_default();
            let before = *count;
            *count += events;
            if before == 0 {
                log::sender_above_share(sender, *events);
            }
            if before < TOLD_FROM && *count >= TOLD_FROM {
                told.extend(sender.gateway().cloned());
            }
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn staff_is_told_of_a_flood_once_and_of_no_short_backlog() {
        let now = Instant::now();
        let mut flood = Flood::new(now);
        let key: GatewayKey = "s/gw-02".parse().expect("a gateway");
        let of = |events| BTreeMap::from([(Sender::Gateway(key.clone()), events)]);
        assert_eq!(flood.note(&of(TOLD_FROM - 1), now), []);
        assert_eq!(flood.note(&of(1), now), std::slice::from_ref(&key));
        assert_eq!(flood.note(&of(1), now), [], "told");
        assert_eq!(
            flood.note(&of(TOLD_FROM), now + MINUTE),
            std::slice::from_ref(&key),
            "another minute"
        );
    }
}
