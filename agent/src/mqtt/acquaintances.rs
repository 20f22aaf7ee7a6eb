//! The gateways that have a line of their own at the intake.
//!
//! Each is one of which an event was stored, or that the configuration names. Others have a line
//! each as long as there are few of them, as in a plant whose gateways begin to send; further ones
//! share one line, so that invented names take no part of what the known gateways have.

use std::collections::BTreeSet;
use std::time::Duration;

use pdm_shared::id::GatewayKey;
use tokio::time::Instant;

use super::sender::Sender;

const HOUR: Duration = Duration::from_hours(1);

/// Gateways of which no event was stored that have a line each. Chosen: the gateways that a plant
/// adds in an hour.
const STRANGERS: usize = 16;
/// Gateways that may become known in an hour by an event of theirs. Chosen: those of the largest
/// plant of the benchmarks, at its first start.
const NEW: usize = 256;
/// Gateways that are known at most, some 100 bytes each.
const KNOWN: usize = 10_000;

/// Which gateways are known.
#[derive(Debug)]
pub(super) struct Acquaintances {
    known: BTreeSet<GatewayKey>,
    strangers: BTreeSet<GatewayKey>,
    since: Instant,
    new: usize,
}

impl Acquaintances {
    pub(super) const fn new(now: Instant) -> Self {
        Self { known: BTreeSet::new(), strangers: BTreeSet::new(), since: now, new: 0 }
    }

    /// Notes a gateway that was known before this start.
    pub(super) fn knows(&mut self, gateway: GatewayKey) {
        if self.known.len() < KNOWN {
            self.known.insert(gateway);
        }
    }

    /// Notes a gateway of which an event was stored.
    pub(super) fn meets(&mut self, gateway: &GatewayKey, now: Instant) {
        if self.known.contains(gateway) {
            return;
        }
        self.turn(now);
        if self.new < NEW && self.known.len() < KNOWN {
            self.new += 1;
            self.strangers.remove(gateway);
            self.known.insert(gateway.clone());
        }
    }

    /// The sender as it is counted: itself, or one of the strangers.
    pub(super) fn line_of(&mut self, sender: Sender, now: Instant) -> Sender {
        let Some(gateway) = sender.gateway() else { return sender };
        if self.known.contains(gateway) || self.strangers.contains(gateway) {
            return sender;
        }
        self.turn(now);
        if self.strangers.len() >= STRANGERS {
            return Sender::Strangers;
        }
        self.strangers.insert(gateway.clone());
        sender
    }

    fn turn(&mut self, now: Instant) {
        if now.duration_since(self.since) >= HOUR {
            (self.since, self.new) = (now, 0);
            self.strangers.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sender(name: &str) -> Sender {
        Sender::Gateway(format!("s/{name}").parse().expect("a gateway"))
    }

    /// R-AGENT-1: each of 18,000 invented names had a line of its own, and the share of an honest
    /// gateway was nothing.
    #[test]
    fn invented_gateways_share_one_line_and_a_known_one_keeps_its_own() {
        let now = Instant::now();
        let mut all = Acquaintances::new(now);
        all.knows("s/gw-01".parse().expect("a gateway"));
        let lines: BTreeSet<Sender> =
            (0..18_000).map(|n| all.line_of(sender(&format!("g{n}")), now)).collect();
        assert_eq!(lines.len(), STRANGERS + 1);
        assert!(lines.contains(&Sender::Strangers));
        assert_eq!(all.line_of(sender("gw-01"), now), sender("gw-01"));
        // one whose event was stored is no stranger any more
        let new = "s/gw-02".parse().expect("a gateway");
        assert_eq!(all.line_of(sender("gw-02"), now), Sender::Strangers);
        all.meets(&new, now);
        assert_eq!(all.line_of(sender("gw-02"), now), sender("gw-02"));
    }

    #[test]
    fn so_many_gateways_become_known_in_an_hour() {
        let now = Instant::now();
        let mut all = Acquaintances::new(now);
        for n in 0..2 * NEW {
            all.meets(&format!("s/g{n}").parse().expect("a gateway"), now);
        }
        assert_eq!(all.known.len(), NEW);
        all.meets(&"s/later".parse().expect("a gateway"), now + HOUR);
        assert_eq!(all.known.len(), NEW + 1);
    }
}
