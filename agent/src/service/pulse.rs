//! The pulse: writes a row every few seconds, looks whether events are judged, and keeps
//! [`Vitals`].
//!
//! The store is watched by a write, because one that is full, locked, damaged or a standby answers
//! every question. The work is watched beside it: a store that takes the pulse's row may still
//! refuse an event's, and a judging that hangs leaves the oldest waiting event where it is.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use pdm_service::clock::SharedClock;
use pdm_store::{Pulse, Store, StoreError, StoreTrouble};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::handle::say_missing;
use super::log;
use crate::intake::receipts::OwedReceipts;
use crate::notify::remarks::Remarks;
use crate::vitals::{Ailment, Blindness, Saying, Trouble, Vitals, Writer};

/// The time between two writes: a write to the disk every two seconds is negligible beside those of
/// events.
const LOOK: Duration = Duration::from_secs(2);
/// The time between two writes while something is wrong, so that its end is noticed.
const LOOK_AILING: Duration = Duration::from_secs(1);
/// How long a write may take. Chosen: behind a batch of 256 events it takes some 100 ms on a slow
/// disk.
const ANSWER: Duration = Duration::from_secs(3);
/// How long the question why there is no answer may take.
const WHY: Duration = Duration::from_secs(1);
/// After this a write that hangs is given up, and a new one tried. SQLite gives up by itself after
/// 10 s.
const LONGEST: Duration = Duration::from_secs(15);
/// How long the store may take for a batch of events. Chosen: a batch of 256 takes some 100 ms on a
/// slow disk; a statement that waits for a lock ends after 30 s.
const HANGS: Duration = Duration::from_secs(8);
/// A writer that fails for less is not told: one lost connection is replaced within a second.
const LASTS: Duration = Duration::from_secs(3);
/// How long the oldest waiting event may stand still where `[silence] store_after_s` is 0.
const STANDS_STILL: Duration = Duration::from_mins(1);

/// Between two looks at the clock of the store's server.
const CLOCK_LOOK: Duration = Duration::from_secs(20);

/// What health says where the clocks are apart.
fn clock_line(ahead_s: f64) -> String {
    let way = if ahead_s > 0.0 { "behind" } else { "ahead of" };
    format!(
        "this machine's clock is {:.0} s {way} that of the database's server, by which due times \
         go: check the time service of both",
        ahead_s.abs()
    )
}

/// Watches store and work.
#[derive(Debug)]
pub(super) struct PulseWatch {
    pub(super) store: Store,
    pub(super) clock: SharedClock,
    pub(super) vitals: Vitals,
    /// `[silence] store_after_s`.
    pub(super) after: Duration,
    pub(super) remarks: Remarks,
    /// Who is owed a receipt.
    pub(super) owed: Arc<OwedReceipts>,
}

type Beat<'a> = Pin<Box<dyn Future<Output = Result<Pulse, StoreError>> + Send + 'a>>;

/// The state that is kept between two looks.
#[derive(Default)]
struct Known<'a> {
    /// A write that is under way. It is not dropped at once: SQLite would go on with it.
    beat: Option<(Beat<'a>, Instant)>,
    /// The oldest waiting event, and since when it is the oldest.
    oldest: Option<(i64, Instant)>,
    /// When the clock of the store's server was looked at.
    clock_at: Option<Instant>,
}

impl PulseWatch {
    /// Watches until `stop`.
    pub(super) async fn run(self, stop: CancellationToken) {
        let mut known = Known::default();
        while !stop.is_cancelled() {
            let asked = Instant::now();
            let was = self.vitals.ailment();
            match self.look(&mut known).await {
                None => {
                    if let Some(was) = &was {
                        log::sighted(was.since.elapsed());
                    }
                    self.vitals.is_well();
                }
                Some((since, blindness)) => {
                    let since = since.unwrap_or(asked);
                    if was.is_none_or(|was| !is_alike(&was.blindness, &blindness)) {
                        log::log_blindness(&blindness);
                    }
                    let since_at = self.clock.now().plus_seconds(-since.elapsed().as_secs_f64());
                    self.vitals.ails(Ailment { since, since_at, blindness });
                }
            }
            let pause = if self.vitals.ailment().is_some() { LOOK_AILING } else { LOOK };
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = stop.cancelled() => {}
            }
        }
    }

    /// Returns the fault, and since when it stands if that is known; `None` if all is well.
    async fn look<'a>(&'a self, known: &mut Known<'a>) -> Option<(Option<Instant>, Blindness)> {
        // a password that was changed meanwhile is used by the next connection
        let login = self.store.renew_login();
        let now = self.clock.now();
        let begin = || (Box::pin(self.store.beat(now)) as Beat<'a>, Instant::now());
        let (beat, begun) = known.beat.get_or_insert_with(begin);
        let trouble = match timeout(ANSWER, beat).await {
            Ok(Ok(mut pulse)) => {
                known.beat = None;
                if let Some(missing) = pulse.missing.take() {
                    say_missing(missing, &self.vitals, &self.remarks);
                    // what a gateway still keeps of it comes again
                    self.owed.ask_all();
                }
                self.follow_clock(&mut known.clock_at).await;
                return self.work(pulse, &mut known.oldest).await;
            }
            Ok(Err(error)) => {
                known.beat = None;
                Trouble::new(&error)
            }
            Err(_elapsed) => {
                if begun.elapsed() >= LONGEST {
                    known.beat = None;
                }
                self.silent().await
            }
        };
        let trouble = match login {
            Err(error) => Trouble::new(&error),
            Ok(()) => trouble,
        };
        Some((None, Blindness::Store(trouble)))
    }

    /// Follows the clock of the store's server, and says where the machine's is apart from it.
    async fn follow_clock(&self, looked: &mut Option<Instant>) {
        if looked.is_some_and(|at| at.elapsed() < CLOCK_LOOK) {
            return;
        }
        *looked = Some(Instant::now());
        // a failure is the next beat's to say
        let _looked = timeout(ANSWER, self.store.lead(self.clock.as_ref())).await;
        let apart_s = self.clock.apart_s();
        log::clock_apart(apart_s);
        self.vitals.says(Saying::Clock, apart_s.map(clock_line));
    }

    /// Why a write is not answered.
    async fn silent(&self) -> Trouble {
        match timeout(WHY, self.store.diagnose()).await {
            Ok(Ok(())) => Trouble {
                kind: StoreTrouble::Locked,
                detail: format!(
                    "questions are answered, a write is not within {} s",
                    ANSWER.as_secs()
                ),
            },
            Ok(Err(error)) => Trouble::new(&error),
            Err(_elapsed) => Trouble {
                kind: StoreTrouble::Away,
                detail: format!("no answer within {} s", (ANSWER + WHY).as_secs()),
            },
        }
    }

    /// Whether events are stored and judged while the store takes rows.
    async fn work(
        &self,
        pulse: Pulse,
        oldest: &mut Option<(i64, Instant)>,
    ) -> Option<(Option<Instant>, Blindness)> {
        // what fails anew while it was wrong already is no end of it: a statement that waits for a
        // lock is given up by the database from time to time, and the next one waits again
        let is_ailing = self.vitals.ailment().is_some();
        let lasting = |writer| {
            let failing = self.vitals.failing(writer);
            failing.filter(|failing| is_ailing || failing.since.elapsed() >= LASTS)
        };
        if let Some(failing) = lasting(Writer::Intake) {
            return Some((Some(failing.since), Blindness::Store(failing.trouble)));
        }
        if let Some(since) = self.vitals.storing().filter(|since| since.elapsed() >= HANGS) {
            let detail = format!(
                "a row is taken, a batch of events is not within {} s: a table may be locked",
                HANGS.as_secs()
            );
            let trouble = Trouble { kind: StoreTrouble::Locked, detail };
            return Some((Some(since), Blindness::Store(trouble)));
        }
        if let Some(failing) = lasting(Writer::Judging) {
            let unjudged = self.unjudged(Some(failing.trouble)).await;
            return Some((Some(failing.since), unjudged));
        }
        let Some(arrival) = pulse.oldest_waiting else {
            *oldest = None;
            return self.telling();
        };
        let (is_known, since) = match oldest {
            Some((known, since)) if *known == arrival => (true, *since),
            _ => (false, oldest.insert((arrival, Instant::now())).1),
        };
        // a bearing whose judgement is refused is put off, and the judging of nothing succeeds
        // meanwhile: it is over when the event that waited has been judged
        let was_unjudged = self.vitals.ailment().is_some_and(|ailment| match ailment.blindness {
            Blindness::Unjudged { .. } => true,
            Blindness::Store(_) | Blindness::Untold { .. } | Blindness::Secret(_) => false,
        });
        let patience = if self.after.is_zero() { STANDS_STILL } else { self.after };
        if since.elapsed() < patience && !(is_known && was_unjudged) {
            return self.telling();
        }
        let why = self.vitals.judging_failed_since(since);
        Some((Some(since), self.unjudged(why).await))
    }

    /// Whether what is judged can leave the store for staff.
    fn telling(&self) -> Option<(Option<Instant>, Blindness)> {
        let (teller, failing) = self.vitals.failing_teller()?;
        let is_lasting = failing.since.elapsed() >= LASTS || self.vitals.ailment().is_some();
        let untold = Blindness::Untold { teller, why: failing.trouble };
        is_lasting.then_some((Some(failing.since), untold))
    }

    async fn unjudged(&self, why: Option<Trouble>) -> Blindness {
        let events = self.store.backlog().await.map_or(1, |backlog| backlog.unjudged);
        Blindness::Unjudged { events, why }
    }
}

/// Whether the log has told this already: the number of events grows all the time.
fn is_alike(one: &Blindness, other: &Blindness) -> bool {
    let kind = |blindness: &Blindness| match blindness {
        Blindness::Store(trouble) => (0, Some(trouble.kind)),
        Blindness::Unjudged { why, .. } => (1, why.as_ref().map(|why| why.kind)),
        Blindness::Untold { why, .. } => (2, Some(why.kind)),
        Blindness::Secret(_) => (3, None),
    };
    kind(one) == kind(other)
}

#[cfg(test)]
mod tests {
    use pdm_service::clock::SystemClock;

    use super::*;

    /// R-AGENT-10: "works again" was told while the judgements of a bearing were refused: it is put
    /// off, and the judging of nothing succeeds meanwhile.
    #[tokio::test]
    async fn an_event_that_waits_on_is_no_end_of_what_keeps_it_from_being_judged() {
        let folder = tempfile::tempdir().expect("folder");
        let store = Store::open_sqlite(&folder.path().join("agent.db")).await.expect("opens");
        store.migrate().await.expect("migrated");
        let vitals = Vitals::default();
        let watch = PulseWatch {
            store,
            clock: Arc::new(SystemClock),
            vitals: vitals.clone(),
            after: Duration::from_mins(1),
            remarks: Remarks::channel().0,
            owed: Arc::default(),
        };
        let mut oldest = None;
        let waits = |arrival| Pulse { oldest_waiting: Some(arrival), missing: None };
        assert!(watch.work(waits(7), &mut oldest).await.is_none());
        let reason = "duplicate key value violates unique constraint \"outbox_pkey\"".to_owned();
        vitals.failed(Writer::Judging, &StoreError::Content { what: "a row", reason });
        tokio::time::sleep(LASTS).await;
        let (since, blindness) = watch.work(waits(7), &mut oldest).await.expect("is unjudged");
        vitals.ails(Ailment {
            since: since.expect("known"),
            since_at: watch.clock.now(),
            blindness,
        });
        vitals.worked(Writer::Judging);
        let (_, blindness) = watch.work(waits(7), &mut oldest).await.expect("it waits on");
        let told = blindness.to_string();
        assert!(told.contains("sequences are behind") && told.contains("migrate"), "{told}");
        assert!(watch.work(waits(8), &mut oldest).await.is_none(), "the next one waits: it moves");
    }
}
