//! The number of messages that one sender may send in a minute.
//!
//! An event above the quota is put off, not refused: it is acknowledged to the broker and not
//! stored, so its number stays missing in the gateway's receipt and the edge, which keeps every
//! event until a receipt covers it, sends it again. Holding the message back instead would take
//! room in the receive maximum, which all gateways share. Events under a topic that names the
//! gateway have a count of their own, so that forged ones elsewhere cannot use it up. Refused
//! messages count as events do; only a limited number of them is kept as dead letters, because each
//! costs the store more than an event and nobody needs the thousandth.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::log;
use crate::mqtt::sender::Sender;
use crate::settings::QuotaSettings;

const MINUTE: Duration = Duration::from_mins(1);

/// Statuses of a gateway in a minute; further ones are counted and not stored. Chosen: an edge says
/// how it does once a minute and at each change of it.
const STATUSES: u64 = 120;
/// Statuses in a minute of all gateways together of which no event was stored. Chosen: a plant of
/// some hundred gateways at its first start.
const STATUSES_OF_STRANGERS: u64 = 600;

/// Senders that are counted at once, some 200 bytes each. Events that name further ones are put
/// off: only forged names reach this number.
const SENDERS: usize = 10_000;

#[derive(Debug, Default, Clone, Copy)]
struct Sent {
    events: u64,
    bytes: u64,
    put_off: u64,
    refused: u64,
    statuses: u64,
}

/// The counts of the present minute.
#[derive(Debug)]
pub(super) struct Quotas {
    settings: QuotaSettings,
    since: Instant,
    sent: BTreeMap<Sender, Sent>,
}

impl Quotas {
    pub(super) fn new(settings: QuotaSettings, now: Instant) -> Self {
        Self { settings, since: now, sent: BTreeMap::new() }
    }

    /// Returns when the present minute is over.
    pub(super) fn until(&self) -> Instant {
        self.since + MINUTE
    }

    fn of(&mut self, sender: &Sender, now: Instant) -> Option<&mut Sent> {
        if now.duration_since(self.since) >= MINUTE {
            self.since = now;
            self.sent.clear();
        }
        if self.sent.len() >= SENDERS && !self.sent.contains_key(sender) {
            return None;
        }
        Some(self.sent.entry(sender.clone()).or_default())
    }

    /// Counts one event; false if it is put off.
    pub(super) fn admit(&mut self, sender: &Sender, bytes: usize, now: Instant) -> bool {
        let (events_most, bytes_most) =
            (self.settings.events_per_minute, self.settings.bytes_per_minute);
        let Some(sent) = self.of(sender, now) else {
            log::event_put_off();
            return false;
        };
        let bytes = sent.bytes.saturating_add(bytes as u64);
        if sent.events < events_most && bytes <= bytes_most {
            (sent.events, sent.bytes) = (sent.events + 1, bytes);
            return true;
        }
        sent.put_off += 1;
        let is_first = sent.put_off == 1;
        log::event_put_off();
        if is_first {
            log::sender_over_quota(sender, &self.settings);
        }
        false
    }

    /// Counts one status; false if it is not stored. A gateway says all of it again within a
    /// minute.
    pub(super) fn keeps_status(&mut self, sender: &Sender, now: Instant) -> bool {
        let is_of_many = *sender == Sender::Strangers;
        let most = if is_of_many { STATUSES_OF_STRANGERS } else { STATUSES };
        let statuses = self.of(sender, now).map(|sent| {
            sent.statuses += 1;
            sent.statuses
        });
        if statuses.is_some_and(|statuses| statuses <= most) {
            return true;
        }
        log::status_not_kept();
        if statuses == Some(most + 1) {
            log::sender_over_statuses(sender, most);
        }
        false
    }

    /// Counts one refused message, as an event too; false if it is not kept.
    pub(super) fn keeps_refusal(&mut self, sender: &Sender, bytes: usize, now: Instant) -> bool {
        let most = self.settings.refused_per_minute;
        let Some(sent) = self.of(sender, now) else {
            log::refusal_not_kept();
            return false;
        };
        (sent.events, sent.bytes) = (sent.events + 1, sent.bytes.saturating_add(bytes as u64));
        sent.refused += 1;
        let refused = sent.refused;
        if refused <= most {
            return true;
        }
        log::refusal_not_kept();
        if refused == most + 1 {
            log::sender_over_refusals(sender, &self.settings);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(gateway: &str) -> Sender {
        Sender::Gateway(format!("s/{gateway}").parse().expect("name"))
    }

    fn quotas(now: Instant) -> Quotas {
        let settings = QuotaSettings {
            events_per_minute: 2,
            bytes_per_minute: 1_000,
            refused_per_minute: 1,
            ..QuotaSettings::default()
        };
        Quotas::new(settings, now)
    }

    #[test]
    fn what_is_above_the_quota_of_a_minute_is_put_off_until_the_next() {
        let now = Instant::now();
        let mut quotas = quotas(now);
        let (one, other) = (named("gw-01"), named("gw-02"));
        assert!(quotas.admit(&one, 10, now) && quotas.admit(&one, 10, now));
        assert!(!quotas.admit(&one, 10, now), "the third");
        assert!(quotas.admit(&other, 10, now), "another gateway has its own");
        assert!(!quotas.admit(&other, 991, now), "too many bytes");
        assert!(quotas.admit(&one, 10, now + MINUTE));
    }

    #[test]
    fn forged_events_do_not_use_up_the_quota_of_a_proven_gateway() {
        let now = Instant::now();
        let mut quotas = quotas(now);
        let proven = named("gw-01");
        let claimed = Sender::Claimed(proven.gateway().expect("a gateway").clone());
        for _ in 0..10 {
            quotas.admit(&claimed, 10, now);
        }
        assert!(quotas.admit(&proven, 10, now));
    }

    /// R-AGENT-1: statuses were stored without end, and events of others waited behind them.
    #[test]
    fn statuses_have_a_quota_of_each_gateway_and_one_of_all_strangers_together() {
        let now = Instant::now();
        let mut quotas = quotas(now);
        let kept = |quotas: &mut Quotas, sender: &Sender, now| {
            (0..5_000).filter(|_| quotas.keeps_status(sender, now)).count() as u64
        };
        assert_eq!(kept(&mut quotas, &named("gw-02"), now), STATUSES);
        assert_eq!(kept(&mut quotas, &Sender::Strangers, now), STATUSES_OF_STRANGERS);
        assert!(quotas.keeps_status(&named("gw-01"), now), "another gateway has its own");
        assert!(quotas.admit(&named("gw-02"), 10, now), "its events are counted apart");
        assert_eq!(kept(&mut quotas, &named("gw-02"), now + MINUTE), STATUSES);
    }

    #[test]
    fn refused_messages_count_and_few_of_them_are_kept() {
        let now = Instant::now();
        let mut quotas = quotas(now);
        let (one, other) = (named("gw-01"), named("gw-02"));
        assert!(quotas.keeps_refusal(&one, 10, now));
        assert!(!quotas.keeps_refusal(&one, 10, now), "the second");
        assert!(!quotas.admit(&one, 10, now), "its two messages of this minute were refused");
        assert!(quotas.keeps_refusal(&other, 10, now), "another gateway has its own");
        assert!(quotas.keeps_refusal(&one, 10, now + MINUTE));
    }
}
