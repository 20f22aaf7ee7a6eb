//! Puts the messages of a burst together.
//!
//! The messages of a burst share an identity, a time or both. Some sensors send an identity that
//! never changes, or begins anew, so a time that does not fit separates the messages as well.
//! Invariants: samples of two bursts never make one; bursts that wait are bounded; one that is
//! given up is counted and told.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use pdm_shared::time::Timestamp;
use pdm_shared::units::SampleRate;

use crate::source::SourceHost;
use crate::source::burst::GivenUp;

/// Bursts that wait for their parts. A sensor sends one after the other; a gateway that serves a
/// dozen of them in turn uses a topic for each.
pub(super) const MOST_OPEN: usize = 8;

/// Identities of the latest bursts; one that comes again says nothing.
const USED_IDS: usize = 8;

/// Share by which the rates of a burst's messages may differ. Chosen: a defect line is searched
/// within 1.5 %, fifteen times as far.
const SAME_RATE: f64 = 1e-3;

/// Messages without a time and with an identity that never changes are of one burst if they come
/// within this share of its length, and at least this time, s, after its first one: the next burst
/// comes after its whole length or more.
const ARRIVE_WITHIN: (f64, f64) = (0.75, 0.2);

/// The part of a burst in one message.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) id: String,
    /// The samples by channel, m/s².
    pub(super) samples: Vec<(usize, Vec<f64>)>,
    /// Its number in the burst, and how many there are.
    pub(super) number: u64,
    pub(super) of: u64,
    pub(super) rate: SampleRate,
    pub(super) time: Option<Timestamp>,
}

impl Part {
    /// Returns its length, s.
    fn length_s(&self) -> f64 {
        let longest = self.samples.iter().map(|(_, samples)| samples.len()).max();
        longest.unwrap_or(0) as f64 / self.rate.get()
    }
}

/// A burst of which every message has come.
#[derive(Debug)]
pub(super) struct WholeBurst {
    /// The samples of each channel, m/s².
    pub(super) channels: Vec<Vec<f64>>,
    pub(super) rate: SampleRate,
    pub(super) time: Option<Timestamp>,
}

/// A burst that waits for messages.
#[derive(Debug)]
struct OpenBurst {
    id: String,
    /// The parts of each channel by their number.
    channels: Vec<BTreeMap<u64, Vec<f64>>>,
    of: u64,
    rate: SampleRate,
    /// Time and number of the message that came first, and when it came.
    first: (Option<Timestamp>, u64),
    came: Duration,
    /// The earliest time of its messages.
    time: Option<Timestamp>,
}

impl OpenBurst {
    /// Whether a message with the same identity is of this burst.
    fn fits(&self, part: &Part, says_nothing: bool, now: Duration) -> bool {
        let burst_s = part.length_s() * part.of as f64;
        let Some((first, time)) = self.first.0.zip(part.time) else {
            return !says_nothing || self.fits_arrival(part, burst_s, now);
        };
        let most_s = 0.5 * if says_nothing { part.length_s() } else { burst_s };
        let apart_s = time.seconds_since(first);
        // the messages state the time of the burst, or each that of its own first sample
        let parts = part.number as f64 - self.first.1 as f64;
        let own_s = parts.mul_add(-part.length_s(), apart_s);
        apart_s.abs() <= most_s || own_s.abs() <= most_s
    }

    /// Whether a message fits without times: parts count up, none comes twice, and all come
    /// together.
    fn fits_arrival(&self, part: &Part, burst_s: f64, now: Duration) -> bool {
        let is_further = part.samples.iter().all(|(channel, _)| {
            let last = self.channels.get(*channel).and_then(BTreeMap::last_key_value);
            last.is_none_or(|(last, _)| *last < part.number)
        });
        let waited_s = now.saturating_sub(self.came).as_secs_f64();
        is_further && waited_s <= (ARRIVE_WITHIN.0 * burst_s).max(ARRIVE_WITHIN.1)
    }

    fn is_whole(&self) -> bool {
        self.channels.iter().all(|parts| parts.len() as u64 == self.of)
    }
}

/// Bursts that wait for messages.
#[derive(Debug)]
pub(super) struct OpenBursts {
    channels: usize,
    /// The messages state an identity.
    has_id: bool,
    host: SourceHost,
    open: VecDeque<OpenBurst>,
    used: VecDeque<String>,
    given_up: GivenUp,
}

impl OpenBursts {
    pub(super) fn new(channels: usize, has_id: bool, host: SourceHost) -> Self {
        let (open, used) = (VecDeque::new(), VecDeque::new());
        Self { channels, has_id, given_up: GivenUp::new(host.clone()), host, open, used }
    }

    /// Takes a message; returns the burst that it makes whole.
    ///
    /// # Errors
    /// The contradiction between two messages of one burst.
    pub(super) fn take(&mut self, part: Part) -> Result<Option<WholeBurst>, String> {
        let now = self.host.clock.uptime();
        let says_nothing = !self.has_id || self.used.contains(&part.id);
        let of_burst =
            |burst: &OpenBurst| burst.id == part.id && burst.fits(&part, says_nothing, now);
        let found = self.open.iter().position(of_burst).and_then(|place| self.open.remove(place));
        let mut burst = match found {
            Some(burst) => burst,
            None => self.begin(&part, now),
        };
        if let Some(why) = contradiction(&burst, &part) {
            self.given_up.give_up();
            return Err(why);
        }
        burst.time = burst.time.min(part.time).or(part.time);
        for (channel, samples) in part.samples {
            if let Some(parts) = burst.channels.get_mut(channel) {
                parts.insert(part.number, samples);
            }
        }
        if burst.is_whole() {
            return Ok(Some(self.whole(burst)));
        }
        self.open.push_back(burst);
        if self.open.len() > MOST_OPEN {
            self.open.pop_front();
            self.given_up.give_up();
        }
        Ok(None)
    }

    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.open.len()
    }

    /// A burst that begins with this message.
    fn begin(&mut self, part: &Part, now: Duration) -> OpenBurst {
        // without times nothing tells any more to which burst of an identity a message belongs
        if part.time.is_none() {
            self.give_up(|open| open.id == part.id);
        }
        OpenBurst {
            id: part.id.clone(),
            channels: vec![BTreeMap::new(); self.channels],
            of: part.of,
            rate: part.rate,
            first: (part.time, part.number),
            came: now,
            time: part.time,
        }
    }

    fn whole(&mut self, burst: OpenBurst) -> WholeBurst {
        // an earlier burst with the identity of this one lacks a message for good
        self.give_up(|open| open.id == burst.id && open.time <= burst.time);
        self.given_up.whole();
        if self.has_id {
            self.used.push_back(burst.id);
            if self.used.len() > USED_IDS {
                self.used.pop_front();
            }
        }
        let joined = |parts: BTreeMap<u64, Vec<f64>>| parts.into_values().flatten().collect();
        let channels = burst.channels.into_iter().map(joined).collect();
        WholeBurst { channels, rate: burst.rate, time: burst.time }
    }

    fn give_up(&mut self, is_lost: impl Fn(&OpenBurst) -> bool) {
        let before = self.open.len();
        self.open.retain(|open| !is_lost(open));
        (self.open.len()..before).for_each(|_burst| self.given_up.give_up());
    }
}

/// Returns the contradiction of a message to the earlier ones of its burst.
fn contradiction(burst: &OpenBurst, part: &Part) -> Option<String> {
    let ratio = part.rate.get() / burst.rate.get();
    if (ratio - 1.0).abs() > SAME_RATE {
        return Some(format!(
            "messages of one burst state {} and {}: it is not measured",
            burst.rate, part.rate
        ));
    }
    (part.of != burst.of).then(|| {
        format!(
            "messages of one burst state {} and {} parts: it is not measured",
            burst.of, part.of
        )
    })
}
