//! Learns how large a packet the broker takes, where it does not say so in its CONNACK.
//!
//! A broker with MQTT 5 refuses a publication with reason 149 ("packet too large"), which ends the
//! client's connection without saying which one it was. The largest packet in flight is at least as
//! large as the refused one, so what is learnt is never below the broker's limit; the next
//! connections learn it closer. A broker with MQTT 3.1.1 acknowledges and drops, or closes the
//! connection: an event that the agent asks for again and again, or with which connections end, is
//! sent without its spectra. No I/O here.

use std::collections::{BTreeMap, BTreeSet};

/// How often the agent asks for an event before it is sent without its spectra. Chosen: the first
/// repetition follows a lost connection often enough, the third never did.
const ASKED_OFTEN: u8 = 3;
/// Most numbers that are remembered; further ones are sent whole.
const REMEMBERED: usize = 10_000;
/// The share of a refused packet's size by which the spectra of other events are left out already:
/// without it each of many events that differ by a few bytes would cost a connection.
const MARGIN: usize = 64;

/// The limit of the broker's packets, as far as it has been learnt.
#[derive(Debug, Default)]
pub(super) struct PacketLimit {
    /// The smallest packet that is known to be refused, or larger than one that is.
    refused: Option<usize>,
    asked: BTreeMap<u64, u8>,
    slim: BTreeSet<u64>,
    /// The largest packet in flight when a young connection ended, and how often in a row it was.
    suspect: Option<(u64, u8)>,
}

impl PacketLimit {
    /// The largest packet that may be sent.
    pub(super) fn most(&self) -> usize {
        self.refused.map_or(usize::MAX, |refused| refused.saturating_sub(1))
    }

    /// The largest packet that is sent with spectra.
    pub(super) fn most_with_spectra(&self) -> usize {
        self.refused.map_or(usize::MAX, |refused| refused - refused.div_ceil(MARGIN))
    }

    /// The broker refuses a packet of at most this size. False if that was known: another
    /// connection would end in the same way.
    pub(super) fn refuses(&mut self, bytes: usize) -> bool {
        let is_new = self.refused.is_none_or(|refused| bytes < refused);
        if is_new {
            self.refused = Some(bytes);
        }
        is_new
    }

    /// The broker took a packet: what was learnt may not be below it, as its limit may have been
    /// raised.
    pub(super) fn took(&mut self, bytes: usize) {
        if self.refused.is_some_and(|refused| bytes >= refused) {
            self.refused = None;
        }
        self.suspect = None;
    }

    /// The agent asks for these again; true for those that are sent without spectra from now on.
    pub(super) fn asked_again(&mut self, numbers: impl Iterator<Item = u64>) -> usize {
        let mut new = 0;
        for number in numbers {
            if self.asked.len() >= REMEMBERED && !self.asked.contains_key(&number) {
                self.asked.pop_first();
            }
            let times = self.asked.entry(number).or_default();
            *times = times.saturating_add(1);
            if *times >= ASKED_OFTEN {
                new += usize::from(self.leave_out(number));
            }
        }
        new
    }

    /// A young connection ended while this event was the largest in flight.
    pub(super) fn ended_with(&mut self, number: u64) {
        let times = match self.suspect {
            Some((before, times)) if before == number => times.saturating_add(1),
            _ => 1,
        };
        self.suspect = Some((number, times));
        if times >= ASKED_OFTEN {
            self.leave_out(number);
        }
    }

    fn leave_out(&mut self, number: u64) -> bool {
        if self.slim.len() >= REMEMBERED {
            self.slim.pop_first();
        }
        self.slim.insert(number)
    }

    /// Whether an event is sent without its spectra whatever its size.
    pub(super) fn is_slim(&self, number: u64) -> bool {
        self.slim.contains(&number)
    }

    /// The agent has stored everything up to this number.
    pub(super) fn stored(&mut self, through: u64) {
        let from = through.saturating_add(1);
        self.asked = self.asked.split_off(&from);
        self.slim = self.slim.split_off(&from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-EDGE-10: a broker with a limit of 6,000 that refuses what is larger, whatever else is in
    /// flight.
    #[test]
    fn what_is_learnt_comes_down_to_the_brokers_limit_and_not_below() {
        let mut limit = PacketLimit::default();
        let sizes: Vec<usize> = (0..200).map(|n| 3000 + n * 37).collect();
        let mut connections = 0;
        // each connection ends at the first refusal, with everything that is allowed in flight
        while let Some(largest) =
            sizes.iter().copied().filter(|size| *size <= limit.most_with_spectra()).max()
            && largest > 6000
        {
            assert!(limit.refuses(largest), "each connection teaches something");
            connections += 1;
        }
        assert!(limit.most() >= 6000, "never below what the broker takes: {}", limit.most());
        assert!((1..=40).contains(&connections), "{connections} connections");
        assert!(!limit.refuses(limit.most() + 1), "known already");
        limit.took(20_000);
        assert_eq!(limit.most(), usize::MAX, "the limit was raised");
    }

    /// R-EDGE-10: MQTT 3.1.1 acknowledges and drops.
    #[test]
    fn what_is_asked_for_again_and_again_is_sent_without_spectra() {
        let mut limit = PacketLimit::default();
        for _ in 0..2 {
            assert_eq!(limit.asked_again([4, 5].into_iter()), 0);
        }
        assert!(!limit.is_slim(4));
        assert_eq!(limit.asked_again([4].into_iter()), 1);
        assert!(limit.is_slim(4) && !limit.is_slim(5));
        limit.stored(4);
        assert!(!limit.is_slim(4));
        for _ in 0..3 {
            limit.ended_with(9);
        }
        assert!(limit.is_slim(9), "a broker that closes the connection");
        limit.ended_with(10);
        assert!(!limit.is_slim(10));
    }
}
