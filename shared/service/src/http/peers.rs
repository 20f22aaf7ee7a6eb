//! Remembers the callers by address: how fast they ask, and how often their token was wrong.
//!
//! Invariant: both memories are bounded, however many addresses a sender has. An IPv6 caller is
//! known by the first 64 bits of its address, since one machine has all addresses below these.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Most callers that are remembered: a plant has fewer than a hundred, and the table stays below
/// 100 kB.
const MOST_PEERS: usize = 1024;

/// Requests a second and caller in the long run, and at once. The fastest caller that was measured,
/// a program that called tools over MCP without a pause, made 23 a second; four times that is never
/// a person or a scraper.
const PER_SECOND: f64 = 100.0;
const AT_ONCE: f64 = 400.0;

/// Time after which a failure is forgotten.
const FORGOTTEN: Duration = Duration::from_mins(10);

/// Pause after the first wrong token; each further one doubles the pause.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// Longest pause. Twenty guesses a second of a token of 16 characters find it in no lifetime.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// The address by which a caller is known.
fn known_by(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(address) => IpAddr::V4(address),
            None => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
        },
    }
}

/// A bounded table of callers.
#[derive(Debug)]
struct PeerTable<T>(Mutex<HashMap<IpAddr, (Instant, T)>>);

impl<T> Default for PeerTable<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Default> PeerTable<T> {
    /// Changes the entry of a caller; `since` is the time since its last change. An entry that was
    /// not changed for `kept` begins anew, and a full table forgets the caller that was silent
    /// longest.
    fn change<R>(
        &self,
        address: IpAddr,
        kept: Duration,
        change: impl FnOnce(&mut T, Duration) -> R,
    ) -> R {
        let now = Instant::now();
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let address = known_by(address);
        if entries.len() >= MOST_PEERS && !entries.contains_key(&address) {
            entries.retain(|_, (at, _)| now.duration_since(*at) < kept);
            let oldest = entries.iter().min_by_key(|(_, (at, _))| *at).map(|(address, _)| *address);
            if let Some(oldest) = oldest.filter(|_| entries.len() >= MOST_PEERS) {
                entries.remove(&oldest);
            }
        }
        let (at, entry) = entries.entry(address).or_insert_with(|| (now, T::default()));
        let since = now.duration_since(*at);
        if since >= kept {
            *entry = T::default();
        }
        *at = now;
        change(entry, since)
    }
}

/// Requests that a caller may still make at once.
#[derive(Debug)]
struct Allowance(f64);

impl Default for Allowance {
    fn default() -> Self {
        Self(AT_ONCE)
    }
}

/// How fast each caller asks.
#[derive(Debug, Default)]
pub(super) struct Rates(PeerTable<Allowance>);

impl Rates {
    /// Whether the caller may ask now; the request is counted.
    pub(super) fn admit(&self, address: IpAddr) -> bool {
        self.0.change(address, FORGOTTEN, |allowance, since| {
            allowance.0 = (allowance.0 + since.as_secs_f64() * PER_SECOND).min(AT_ONCE);
            let admitted = allowance.0 >= 1.0;
            if admitted {
                allowance.0 -= 1.0;
            }
            admitted
        })
    }
}

/// How often each caller sent a wrong token.
#[derive(Debug, Default)]
pub(super) struct Failures(PeerTable<u32>);

impl Failures {
    /// Counts a wrong token; returns the number of the caller's last ones and the pause before the
    /// answer.
    pub(super) fn note(&self, address: IpAddr) -> (u32, Duration) {
        self.0.change(address, FORGOTTEN, |failures, _since| {
            *failures = failures.saturating_add(1);
            let doubled = 1u32.checked_shl(*failures - 1).unwrap_or(u32::MAX);
            (*failures, FIRST_PAUSE.saturating_mul(doubled).min(LONGEST_PAUSE))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(n: u32) -> IpAddr {
        IpAddr::V4(std::net::Ipv4Addr::from_bits(n))
    }

    #[tokio::test(start_paused = true)]
    async fn a_caller_that_asks_too_fast_waits_and_others_do_not() {
        let rates = Rates::default();
        let admitted = (0..1000).filter(|_| rates.admit(peer(1))).count();
        assert_eq!(admitted, AT_ONCE as usize);
        assert!(rates.admit(peer(2)));
        tokio::time::advance(Duration::from_secs(1)).await;
        let admitted = (0..1000).filter(|_| rates.admit(peer(1))).count();
        assert_eq!(admitted, PER_SECOND as usize);
    }

    #[tokio::test(start_paused = true)]
    async fn wrong_tokens_make_the_pause_longer_until_they_are_forgotten() {
        let failures = Failures::default();
        let pauses: Vec<u128> = (0..8).map(|_| failures.note(peer(1)).1.as_millis()).collect();
        assert_eq!(pauses, [100, 200, 400, 800, 1600, 3200, 5000, 5000]);
        assert_eq!((0..100).map(|_| failures.note(peer(1)).1).max(), Some(LONGEST_PAUSE));
        assert_eq!(failures.note(peer(2)).0, 1);
        tokio::time::advance(FORGOTTEN).await;
        assert_eq!(failures.note(peer(1)).0, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn the_table_stays_bounded_and_forgets_the_longest_silent() {
        let failures = Failures::default();
        for n in 0..3 * MOST_PEERS as u32 {
            failures.note(peer(n));
            tokio::time::advance(Duration::from_millis(1)).await;
        }
        assert_eq!(failures.0.0.lock().expect("lock").len(), MOST_PEERS);
        assert_eq!(failures.note(peer(3 * MOST_PEERS as u32 - 1)).0, 2, "the last is known");
        assert_eq!(failures.note(peer(0)).0, 1, "the first is forgotten");
    }

    #[test]
    fn one_machine_is_one_caller() {
        let of = |text: &str| known_by(text.parse().expect("an address"));
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:1"));
        assert_ne!(of("2001:db8:0:1::1"), of("2001:db8::1"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
    }
}
