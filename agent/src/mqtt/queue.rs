//! The queue between receiver and intake: one line for each sender, served in turn.
//!
//! The broker's queue for the agent is first in, first out, so whoever sends most stands in front
//! of everybody. The agent therefore empties that queue faster than it stores: what one sender has
//! waiting here above its share, while others send too, is put off at once. An event that is put
//! off is acknowledged to the broker and not stored; its number stays missing in its gateway's
//! receipt, and the gateway sends it again. Dropping from the longest line, and lines served in
//! turn, are fair queueing as RFC 8290 does it for packets. Where one gateway alone is known
//! nothing is put off: the broker keeps what does not fit.
//!
//! A line is long by what waits here where the broker sends many messages ahead. Brokers that send
//! few (20 by Mosquitto's default, 32 by EMQX's) keep the line with them; there a sender is above
//! its share when the intake was at work for most of the last second and the sender has sent more
//! in this one than its part of what the intake took in that one.
//!
//! Gateways that are known by nothing but their names share one line ([`super::acquaintances`]).
//!
//! **Invariants.** Messages of one sender leave in the order in which they came. What nobody sends
//! again ([`Urgency::Once`]) is never put off; of a status ([`Urgency::Latest`]) the broker retains
//! the latest. The queue holds at most [`Limits::messages`] messages.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pdm_shared::id::GatewayKey;
use tokio::sync::Notify;
use tokio::time::Instant;

/// The time over which messages that came and were taken are counted together.
const SLICE: Duration = Duration::from_secs(1);
/// Messages of a slice that a sender may always send. Chosen: the default quota of a minute
/// (`[intake.quota] events_per_minute`) by the second, so that the backlog of a gateway that comes
/// back is not put off.
const FREE: usize = 1000;

/// Messages of one sender that wait before its statuses are put off. Chosen: a gateway says how it
/// does once a minute, so of an hour of its own line there are 60.
const MANY_STATUSES: usize = 1024;

use super::acquaintances::Acquaintances;
use super::sender::{Sender, Urgency};

/// Senders that are remembered, so that it is known whether there are several; some 100 bytes each.
const SENDERS: usize = 1000;

/// How much waits at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Messages that wait together; the receiver then waits.
    pub(crate) messages: usize,
    /// Waiting messages above which each sender is held to its share. One batch: a second one waits
    /// while the first is stored, so holding to shares costs no throughput.
    pub(crate) crowded: usize,
    /// Waiting kibibytes above which each sender is held to its share.
    pub(crate) crowded_kib: usize,
}

/// The result of offering a message to the queue.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Offered<T> {
    /// It waits in its sender's line.
    Queued,
    /// There is no room; the receiver waits for some and offers it again.
    Full(T),
    /// The intake has ended.
    Closed,
}

#[derive(Debug)]
struct Line<T> {
    waiting: VecDeque<(T, usize)>,
    kib: usize,
    /// Whether the line is above the share: put off until half of it is served, so that gaps are
    /// few and long.
    is_over: bool,
    /// The round in which the line was last served.
    served: u64,
}

impl<T> Default for Line<T> {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), kib: 0, is_over: false, served: 0 }
    }
}

#[derive(Debug)]
struct State<T> {
    lines: BTreeMap<Sender, Line<T>>,
    messages: usize,
    kib: usize,
    known: BTreeSet<Sender>,
    acquaintances: Acquaintances,
    /// Senders of which everything that may be is put off until then.
    shut_out: BTreeMap<Sender, Instant>,
    round: u64,
    is_closed: bool,
    slice: Slice,
}

/// The messages that came and were taken in the present slice, and the part that follows from the
/// one before.
#[derive(Debug)]
struct Slice {
    since: Instant,
    came: BTreeMap<Sender, usize>,
    taken: usize,
    /// How long the intake has waited for messages, and since when it does.
    waited: Duration,
    waits_since: Option<Instant>,
    /// Messages that a sender may send in this slice; `None` where the intake had time.
    part: Option<usize>,
}

impl Slice {
    fn new(now: Instant) -> Self {
        let (came, waited) = (BTreeMap::new(), Duration::ZERO);
        Self { since: now, came, taken: 0, waited, waits_since: Some(now), part: None }
    }

    /// Begins the next slice if this one is over.
    fn turn(&mut self, now: Instant) {
        let lasted = now.duration_since(self.since);
        if lasted < SLICE {
            return;
        }
        let waits = self
            .waits_since
            .map_or(Duration::ZERO, |since| now.saturating_duration_since(since.max(self.since)));
        let is_busy = (self.waited + waits) * 2 < lasted && self.taken > 0;
        let part = is_busy.then(|| (self.taken / self.came.len().max(2)).max(FREE));
        let waits_since = self.waits_since.map(|_| now);
        *self = Self { waits_since, part, ..Self::new(now) };
    }

    /// Counts a message; whether it is above its sender's part.
    fn is_above(&mut self, sender: &Sender) -> bool {
        let Some(part) = self.part else {
            self.count(sender);
            return false;
        };
        self.count(sender) > part
    }

    fn count(&mut self, sender: &Sender) -> usize {
        if self.came.len() >= SENDERS && !self.came.contains_key(sender) {
            return usize::MAX;
        }
        let came = self.came.entry(sender.clone()).or_default();
        *came += 1;
        *came
    }

    fn waits(&mut self, now: Instant) {
        self.waits_since.get_or_insert(now);
    }

    fn goes_on(&mut self, now: Instant, taken: usize) {
        if let Some(since) = self.waits_since.take() {
            self.waited += now.saturating_duration_since(since.max(self.since));
        }
        self.taken += taken;
    }
}

#[derive(Debug)]
struct Shared<T> {
    limits: Limits,
    state: Mutex<State<T>>,
    came: Notify,
    left: Notify,
}

impl<T> Shared<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self) {
        self.state().is_closed = true;
        self.came.notify_one();
        self.left.notify_one();
    }
}

/// The receiver's end. Dropping it lets the intake end when the queue is empty.
#[derive(Debug)]
pub(crate) struct Inlet<T>(Arc<Shared<T>>);

/// The intake's end.
#[derive(Debug)]
pub(crate) struct Outlet<T>(Arc<Shared<T>>);

impl<T> Drop for Inlet<T> {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl<T> Drop for Outlet<T> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Both ends of a queue.
pub(crate) fn fair<T>(limits: Limits) -> (Inlet<T>, Outlet<T>) {
    let state = State {
        lines: BTreeMap::new(),
        messages: 0,
        kib: 0,
        known: BTreeSet::new(),
        acquaintances: Acquaintances::new(Instant::now()),
        shut_out: BTreeMap::new(),
        round: 0,
        is_closed: false,
        slice: Slice::new(Instant::now()),
    };
    let (came, left) = (Notify::new(), Notify::new());
    let shared = Arc::new(Shared { limits, state: Mutex::new(state), came, left });
    (Inlet(Arc::clone(&shared)), Outlet(shared))
}

impl<T> State<T> {
    fn note(&mut self, sender: &Sender) {
        if self.known.len() < SENDERS && !self.known.contains(sender) {
            self.known.insert(sender.clone());
        }
    }

    /// Whether several gateways are known.
    fn has_others(&self) -> bool {
        let mut gateways = self.known.iter().filter_map(Sender::gateway);
        let first = gateways.next();
        let has_strangers = self.known.contains(&Sender::Strangers);
        has_strangers || gateways.any(|gateway| Some(gateway) != first)
    }

    fn puts_off(&mut self, limits: &Limits, sender: &Sender, urgency: Urgency) -> bool {
        self.note(sender);
        self.slice.turn(Instant::now());
        let is_above = self.slice.is_above(sender);
        match urgency {
            Urgency::Repeated => {
                self.is_shut_out(sender)
                    || (self.has_others() && (is_above || self.is_over(limits, sender)))
            }
            // a gateway that speaks as it should has none of its statuses put off, whatever it has
            // to send
            Urgency::Latest => self.has_others() && self.has_many_waiting(limits, sender),
            Urgency::Once => false,
        }
    }

    /// Whether enough messages of a sender wait already that another status of it is put off.
    fn has_many_waiting(&self, limits: &Limits, sender: &Sender) -> bool {
        self.lines.get(sender).is_some_and(|line| {
            line.waiting.len() >= MANY_STATUSES || line.kib >= limits.crowded_kib
        })
    }

    fn is_shut_out(&mut self, sender: &Sender) -> bool {
        let Some(until) = self.shut_out.get(sender) else { return false };
        if *until > Instant::now() {
            return true;
        }
        self.shut_out.remove(sender);
        false
    }

    /// Whether a sender has its share of what waits, or more, while shares are held to.
    fn is_over(&mut self, limits: &Limits, sender: &Sender) -> bool {
        let (messages, kib, lines) = (self.messages, self.kib, self.lines.len());
        let is_crowded = messages >= limits.crowded || kib >= limits.crowded_kib;
        let Some(line) = self.lines.get_mut(sender) else { return false };
        let share = (limits.crowded / lines.max(1)).max(1);
        let share_kib = (limits.crowded_kib / lines.max(1)).max(1);
        if is_crowded && (line.waiting.len() >= share || line.kib >= share_kib) {
            line.is_over = true;
        } else if line.waiting.len() <= share / 2 && line.kib <= share_kib / 2 {
            line.is_over = false;
        }
        line.is_over
    }
}

impl<T> Inlet<T> {
    /// The sender as it is counted from here on: itself, or one of the gateways that nobody knows.
    pub(crate) fn line_of(&self, sender: Sender) -> Sender {
        self.0.state().acquaintances.line_of(sender, Instant::now())
    }

    /// Counts a message that has come; whether it is above its sender's share and is put off.
    pub(crate) fn puts_off(&self, sender: &Sender, urgency: Urgency) -> bool {
        let limits = self.0.limits;
        self.0.state().puts_off(&limits, sender, urgency)
    }

    /// Puts a message of `kib` kibibytes into its sender's line.
    pub(crate) fn offer(&self, sender: &Sender, kib: usize, message: T) -> Offered<T> {
        let mut state = self.0.state();
        if state.is_closed {
            return Offered::Closed;
        }
        if state.messages >= self.0.limits.messages {
            return Offered::Full(message);
        }
        state.messages += 1;
        state.kib += kib;
        let line = state.lines.entry(sender.clone()).or_default();
        line.kib += kib;
        line.waiting.push_back((message, kib));
        drop(state);
        self.0.came.notify_one();
        Offered::Queued
    }

    /// Whether something of a sender waits.
    pub(crate) fn has_waiting(&self, sender: &Sender) -> bool {
        self.0.state().lines.contains_key(sender)
    }

    /// Waits until something has left the queue.
    pub(crate) async fn room(&self) {
        self.0.left.notified().await;
    }
}

impl<T> Outlet<T> {
    /// Waits for the next messages and returns them: one of each sender in turn, first the sender
    /// that was served longest ago. Returns an empty list when the other end is gone and nothing
    /// waits.
    pub(crate) async fn take(&self, most: usize, most_kib: usize) -> Vec<T> {
        loop {
            {
                let mut state = self.0.state();
                let now = Instant::now();
                state.slice.turn(now);
                let taken = state.take(most, most_kib);
                if taken.is_empty() {
                    state.slice.waits(now);
                } else {
                    state.slice.goes_on(now, taken.len());
                    drop(state);
                    self.0.left.notify_one();
                    return taken;
                }
                if state.is_closed {
                    return Vec::new();
                }
            }
            self.0.came.notified().await;
        }
    }

    /// Notes a gateway that has sent before: shares are held to where several are known.
    pub(crate) fn knows(&self, gateway: GatewayKey) {
        let mut state = self.0.state();
        state.note(&Sender::Gateway(gateway.clone()));
        state.acquaintances.knows(gateway);
    }

    /// Notes the gateways of which events were stored.
    pub(crate) fn meets<'a>(&self, gateways: impl IntoIterator<Item = &'a GatewayKey>) {
        let (mut state, now) = (self.0.state(), Instant::now());
        for gateway in gateways {
            state.acquaintances.meets(gateway, now);
        }
    }

    /// Returns how many messages wait.
    pub(crate) fn len(&self) -> usize {
        self.0.state().messages
    }

    /// Puts off what may be of a sender, until then.
    pub(crate) fn shut_out(&self, sender: &Sender, until: Instant) {
        let mut state = self.0.state();
        if state.shut_out.len() < SENDERS {
            state.shut_out.insert(sender.clone(), until);
        }
    }
}

impl<T> State<T> {
    fn take(&mut self, most: usize, most_kib: usize) -> Vec<T> {
        let mut order: Vec<(u64, Sender)> =
            self.lines.iter().map(|(sender, line)| (line.served, sender.clone())).collect();
        order.sort();
        let (mut taken, mut kib) = (Vec::new(), 0);
        while taken.len() < most && kib < most_kib && !self.lines.is_empty() {
            self.round += 1;
            for (_, sender) in &order {
                if taken.len() >= most || kib >= most_kib {
                    break;
                }
                let Some(line) = self.lines.get_mut(sender) else { continue };
                if let Some((message, its_kib)) = line.waiting.pop_front() {
                    (line.kib, line.served) = (line.kib - its_kib, self.round);
                    (self.messages, self.kib) = (self.messages - 1, self.kib - its_kib);
                    kib += its_kib;
                    taken.push(message);
                }
                if line.waiting.is_empty() {
                    self.lines.remove(sender);
                }
            }
        }
        taken
    }
}

#[cfg(test)]
mod tests;
