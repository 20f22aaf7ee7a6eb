//! The state of the agent: the last faults of its store or its work, for health and for the watch
//! that tells staff.
//!
//! The intake and the judging note failures of the store here; the pulse ([`crate::service`]) adds
//! what it finds itself and decides. Health answers 503 while an [`Ailment`] stands.
//!
//! Invariant: an ailment keeps the time at which its trouble began until it is over, whatever its
//! cause turns into.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use pdm_service::error_chain::error_chain;
use pdm_shared::time::Timestamp;
use pdm_store::{StoreError, StoreTrouble};
use tokio::sync::watch;
use tokio::time::Instant;

/// A part of the agent that writes to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writer {
    Intake,
    Judging,
}

/// A part that tells staff out of the store. A store that takes events and judgements may still
/// refuse these: a right is missing on one table, a row is held, a trigger of the database's keeper
/// fails.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Teller {
    /// The lane of a channel, by its name.
    Lane(String),
    /// The watch over silent gateways, next steps, shelves and reminders.
    Watch,
}

/// Something of the agent itself that is wrong although it works, until it is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Saying {
    /// A configuration that was read again is refused.
    Configuration,
    /// The store lacks what the agent wrote last.
    Store,
    /// The clocks of the agent and of its database's server are apart.
    Clock,
}

/// A trouble of the store, with the error's own text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub(crate) kind: StoreTrouble,
    pub(crate) detail: String,
}

impl Trouble {
    pub(crate) fn new(error: &StoreError) -> Self {
        Self { kind: StoreTrouble::from(error), detail: error_chain(error) }
    }
}

/// Why the agent does not watch the machines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Blindness {
    /// The store cannot be used.
    Store(Trouble),
    /// The store answers, and this many events wait for a judgement that does not come.
    Unjudged { events: u64, why: Option<Trouble> },
    /// The store answers, and what waits in it for staff cannot be taken out.
    Untold { teller: Teller, why: Trouble },
    /// The start waits for the file of a secret; the text names it.
    Secret(String),
}

impl fmt::Display for Blindness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(trouble) => {
                let Trouble { kind, detail } = trouble;
                write!(f, "{}: {}; {detail}", kind.what().en, kind.action().en)
            }
            Self::Untold { teller, why: Trouble { kind, detail } } => {
                match teller {
                    Teller::Lane(lane) => write!(f, "messages by {lane} do not leave the store")?,
                    Teller::Watch => f.write_str(
                        "silent gateways, next steps, shelves and reminders are not looked after",
                    )?,
                }
                write!(f, ", because {}: {}; {detail}", kind.what().en, kind.action().en)
            }
            Self::Secret(told) => write!(f, "the start waits for a secret: {told}"),
            Self::Unjudged { events, why: None } => write!(f, "{events} events wait unjudged"),
            Self::Unjudged { events, why: Some(trouble) } => {
                let Trouble { kind, detail } = trouble;
                let (what, action) = (kind.what().en, kind.action().en);
                write!(f, "{events} events wait unjudged, because {what}: {action}; {detail}")
            }
        }
    }
}

/// A fault, and since when it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ailment {
    pub(crate) since: Instant,
    pub(crate) since_at: Timestamp,
    pub(crate) blindness: Blindness,
}

/// A writer that fails, and since when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failing {
    pub(crate) since: Instant,
    pub(crate) trouble: Trouble,
}

/// The state that health and the watch read. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Vitals {
    ailment: watch::Sender<Option<Ailment>>,
    writers: Arc<Mutex<[Option<Failing>; 2]>>,
    tellers: Arc<Mutex<BTreeMap<Teller, Failing>>>,
    /// The time since which the intake waits for the store to take a batch.
    storing: Arc<Mutex<Option<Instant>>>,
    /// The last failure of judging, and when it was.
    last_of_judging: Arc<Mutex<Option<Failing>>>,
    /// The faults that the agent reports of itself although it works.
    says: Arc<Mutex<BTreeMap<Saying, String>>>,
}

impl Vitals {
    /// Says what is wrong although the agent works, or that it is over.
    pub(crate) fn says(&self, what: Saying, text: Option<String>) {
        let mut says = self.says.lock().unwrap_or_else(PoisonError::into_inner);
        match text {
            Some(text) => says.insert(what, text),
            None => says.remove(&what),
        };
    }

    /// Returns the faults of an agent that still works.
    pub(crate) fn said(&self) -> Vec<String> {
        self.says.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// Notes that the intake hands a batch to the store.
    pub(crate) fn stores(&self) {
        *self.storing.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Returns the time since which the store has not answered the intake, if it was asked.
    pub(crate) fn storing(&self) -> Option<Instant> {
        *self.storing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that the store has answered a writer; since when it was asked.
    fn answered(&self, writer: Writer) -> Option<Instant> {
        if writer != Writer::Intake {
            return None;
        }
        self.storing.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Notes that a writer's last call of the store failed. It fails since the call began: one that
    /// hung until its time-out was no good time before.
    pub(crate) fn failed(&self, writer: Writer, error: &StoreError) {
        let now = Instant::now();
        let since = self.answered(writer).unwrap_or(now);
        let trouble = Trouble::new(error);
        if writer == Writer::Judging {
            let last = Failing { since: now, trouble: trouble.clone() };
            *self.last_of_judging.lock().unwrap_or_else(PoisonError::into_inner) = Some(last);
        }
        let mut writers = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = &mut writers[writer as usize];
        match slot {
            Some(failing) => failing.trouble = trouble,
            None => *slot = Some(Failing { since, trouble }),
        }
    }

    /// Returns the last failure of judging, if it has failed since then. Bearings whose judgements
    /// are refused are put off, so that the judging of others works meanwhile.
    pub(crate) fn judging_failed_since(&self, since: Instant) -> Option<Trouble> {
        let last = self.last_of_judging.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().filter(|last| last.since >= since).map(|last| last.trouble.clone())
    }

    /// Notes that a writer's last call of the store succeeded.
    pub(crate) fn worked(&self, writer: Writer) {
        self.answered(writer);
        let mut writers = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        writers[writer as usize] = None;
    }

    /// Returns the failure of a writer, if it fails.
    pub(crate) fn failing(&self, writer: Writer) -> Option<Failing> {
        let writers = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        writers[writer as usize].clone()
    }

    /// Notes that the store refused a teller.
    pub(crate) fn teller_failed(&self, teller: Teller, error: &StoreError) {
        let trouble = Trouble::new(error);
        let mut tellers = self.tellers.lock().unwrap_or_else(PoisonError::into_inner);
        let began = || Failing { since: Instant::now(), trouble: trouble.clone() };
        tellers.entry(teller).or_insert_with(began).trouble = trouble.clone();
    }

    /// Notes that the store served a teller.
    pub(crate) fn teller_worked(&self, teller: &Teller) {
        self.tellers.lock().unwrap_or_else(PoisonError::into_inner).remove(teller);
    }

    /// The teller that has failed for longest.
    pub(crate) fn failing_teller(&self) -> Option<(Teller, Failing)> {
        let tellers = self.tellers.lock().unwrap_or_else(PoisonError::into_inner);
        let longest = tellers.iter().min_by_key(|(_, failing)| failing.since);
        longest.map(|(teller, failing)| (teller.clone(), failing.clone()))
    }

    /// Sets what is wrong; the time at which it began stays.
    pub(crate) fn ails(&self, found: Ailment) {
        self.ailment.send_modify(|ailment| {
            let (since, since_at) = match ailment {
                Some(before) => (before.since, before.since_at),
                None => (found.since, found.since_at),
            };
            *ailment = Some(Ailment { since, since_at, blindness: found.blindness });
        });
    }

    /// Notes that nothing is wrong.
    pub(crate) fn is_well(&self) {
        self.ailment.send_if_modified(|ailment| ailment.take().is_some());
    }

    /// Returns a receiver of the fault, as it changes.
    pub(crate) fn subscribe(&self) -> watch::Receiver<Option<Ailment>> {
        self.ailment.subscribe()
    }

    /// Returns the present fault.
    pub(crate) fn ailment(&self) -> Option<Ailment> {
        self.ailment.borrow().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn away() -> StoreError {
        StoreError::Unavailable(sqlx::Error::PoolTimedOut)
    }

    #[tokio::test(start_paused = true)]
    async fn an_ailment_keeps_its_beginning_whatever_its_cause_turns_into() {
        let vitals = Vitals::default();
        let began = Instant::now();
        let at = |seconds: i64| Timestamp::from_unix_ms(seconds * 1000).expect("in range");
        let trouble = Trouble::new(&away());
        let first =
            Ailment { since: began, since_at: at(1), blindness: Blindness::Store(trouble.clone()) };
        vitals.ails(first);
        tokio::time::advance(std::time::Duration::from_secs(9)).await;
        let kind = StoreTrouble::Standby;
        let blindness = Blindness::Store(Trouble { kind, ..trouble });
        vitals.ails(Ailment { since: Instant::now(), since_at: at(10), blindness });
        let ailment = vitals.ailment().expect("ails");
        assert_eq!((ailment.since, ailment.since_at), (began, at(1)));
        assert!(ailment.blindness.to_string().contains("standby"), "{}", ailment.blindness);
        vitals.is_well();
        assert_eq!(vitals.ailment(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_writer_fails_since_its_first_failure() {
        let vitals = Vitals::default();
        let began = Instant::now();
        vitals.failed(Writer::Intake, &away());
        tokio::time::advance(std::time::Duration::from_secs(3)).await;
        vitals.failed(Writer::Intake, &away());
        assert_eq!(vitals.failing(Writer::Intake).expect("fails").since, began);
        assert_eq!(vitals.failing(Writer::Judging), None);
        vitals.worked(Writer::Intake);
        assert_eq!(vitals.failing(Writer::Intake), None);
    }

    /// R-AGENT-10: a locked table lets a batch hang for half a minute, then refuses it.
    #[tokio::test(start_paused = true)]
    async fn a_writer_that_hung_before_it_failed_fails_since_it_was_asked() {
        let vitals = Vitals::default();
        let asked = Instant::now();
        vitals.stores();
        tokio::time::advance(std::time::Duration::from_secs(30)).await;
        vitals.failed(Writer::Intake, &away());
        assert_eq!(vitals.failing(Writer::Intake).expect("fails").since, asked);
        vitals.stores();
        assert_eq!(vitals.failing(Writer::Intake).expect("until one is taken").since, asked);
        vitals.worked(Writer::Intake);
        assert_eq!(vitals.failing(Writer::Intake), None);
    }

    /// R-AGENT-10
    #[tokio::test(start_paused = true)]
    async fn a_lane_that_works_says_nothing_of_another_that_fails() {
        let vitals = Vitals::default();
        let lane = |name: &str| Teller::Lane(name.to_owned());
        vitals.teller_failed(lane("email"), &away());
        tokio::time::advance(std::time::Duration::from_secs(3)).await;
        vitals.teller_failed(Teller::Watch, &away());
        vitals.teller_failed(lane("email"), &away());
        vitals.teller_worked(&lane("webhook:ops"));
        let (teller, failing) = vitals.failing_teller().expect("fails");
        assert_eq!((teller, failing.since.elapsed().as_secs()), (lane("email"), 3));
        vitals.teller_worked(&lane("email"));
        assert_eq!(vitals.failing_teller().map(|(teller, _)| teller), Some(Teller::Watch));
    }
}
