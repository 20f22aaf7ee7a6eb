//! What one gateway may send in a minute.
//!
//! An event above the quota is put off, not refused: it is acknowledged to the broker and not stored, so
//! its number stays missing in the gateway's receipt and the edge, which keeps every event until a receipt
//! covers it, sends it again. Holding the message back instead would take room in the receive maximum,
//! which all gateways share. Events under a topic that names the gateway have a count of their own, so
//! that forged ones elsewhere cannot use it up.

use std::collections::BTreeMap;
use std::time::Duration;

use pdm_shared::event::Event;
use pdm_shared::id::GatewayKey;
use tokio::time::Instant;

use super::log;
use crate::settings::QuotaSettings;

const MINUTE: Duration = Duration::from_mins(1);

/// Gateways that are counted at once, some 200 bytes each. Events that name further ones are put off: only
/// forged names are so many.
const GATEWAYS: usize = 10_000;

#[derive(Debug, Default, Clone, Copy)]
struct Sent {
    events: u64,
    bytes: u64,
    put_off: u64,
}

/// The counts of the present minute.
#[derive(Debug)]
pub(super) struct Quotas {
    settings: QuotaSettings,
    since: Instant,
    sent: BTreeMap<(GatewayKey, bool), Sent>,
}

impl Quotas {
    pub(super) fn new(settings: QuotaSettings, now: Instant) -> Self {
        Self { settings, since: now, sent: BTreeMap::new() }
    }

    /// Counts one event; false if it is put off.
    pub(super) fn admit(
        &mut self,
        event: &Event,
        bytes: usize,
        proven: bool,
        now: Instant,
    ) -> bool {
        if now.duration_since(self.since) >= MINUTE {
            self.since = now;
            self.sent.clear();
        }
        let key = (event.gateway(), proven);
        if self.sent.len() >= GATEWAYS && !self.sent.contains_key(&key) {
            log::event_put_off();
            return false;
        }
        let sent = self.sent.entry(key).or_default();
        let bytes = sent.bytes.saturating_add(bytes as u64);
        let fits = sent.events < self.settings.events_per_minute
            && bytes <= self.settings.bytes_per_minute;
        if fits {
            (sent.events, sent.bytes) = (sent.events + 1, bytes);
            return true;
        }
        sent.put_off += 1;
        log::event_put_off();
        if sent.put_off == 1 {
            log::gateway_over_quota(&event.gateway(), &self.settings);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(gateway: &str) -> Event {
        let text = include_str!("../../../config/examples/event.json");
        let mut event: Event = serde_json::from_str(text).expect("event");
        event.gateway_id = gateway.parse().expect("name");
        event
    }

    fn quotas(now: Instant) -> Quotas {
        let settings = QuotaSettings {
            events_per_minute: 2,
            bytes_per_minute: 1_000,
            ..QuotaSettings::default()
        };
        Quotas::new(settings, now)
    }

    #[test]
    fn what_is_above_the_quota_of_a_minute_is_put_off_until_the_next() {
        let now = Instant::now();
        let mut quotas = quotas(now);
        let (one, other) = (event("gw-01"), event("gw-02"));
        assert!(quotas.admit(&one, 10, true, now) && quotas.admit(&one, 10, true, now));
        assert!(!quotas.admit(&one, 10, true, now), "the third");
        assert!(quotas.admit(&other, 10, true, now), "another gateway has its own");
        assert!(!quotas.admit(&other, 991, true, now), "too many bytes");
        assert!(quotas.admit(&one, 10, true, now + MINUTE));
    }

    #[test]
    fn forged_events_do_not_use_up_the_quota_of_a_proven_gateway() {
        let now = Instant::now();
        let mut quotas = quotas(now);
        let event = event("gw-01");
        for _ in 0..10 {
            quotas.admit(&event, 10, false, now);
        }
        assert!(quotas.admit(&event, 10, true, now));
    }
}
