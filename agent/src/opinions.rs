//! The lane of opinions: a language model reads what the expert has judged.
//!
//! An opinion comes beside a judgement that is stored and told, or, with `[judging] reasoner =
//! "llm"`, for a judgement that is held until the model has answered or its wait is over; then the
//! judging takes the answer in ([`crate::judging`]), and what comes later is an opinion beside like
//! any other.
//!
//! The lane has its own queue in the store, its own claims and its own budget, and nothing waits
//! for it: a model that hangs holds one place of the lane until its time is over. The state of a
//! run is stored after every step, so an agent that was killed goes on where it was. What comes of
//! an opinion is written in one transaction: the diagnosis with `second_opinion` and
//! `disagreement`, the message to staff if the model sees a higher risk, and the diagnosis
//! published again.
//!
//! Invariant: an opinion beside a judgement changes neither the risk nor the alarm of the expert's
//! judgement. A higher risk is told beside the alarm, so that no acknowledgement of it silences the
//! expert.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use pdm_reasoner::client::ModelError;
use pdm_reasoner::opinion::{
    CaseFile, OpinionFailure, OpinionRun, Opinions, Progressed, RUN_SCHEMA, disagreement, document,
};
use pdm_reasoner::spans;
use pdm_reasoner::toolbox::Toolbox;
use pdm_reasoner::verdict::{Verdict, VerdictPlace};
use pdm_service::clock::SharedClock;
use pdm_shared::diagnosis::{Diagnosis, OpinionStance};
use pdm_shared::event::Event;
use pdm_shared::time::Timestamp;
use pdm_store::{HeldAnswer, OpinionAsked, OpinionEnded, Store, StoreError};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument as _, Span};

use crate::model::LanguageModel;
use crate::notify::policy::Policy;

mod log;

/// The longest time between two looks at the store.
const LOOK: Duration = Duration::from_secs(2);
/// How long a claim is held beyond the longest answer of the model, s.
const CLAIM_S: f64 = 120.0;
/// Pause before a run that was put off is taken up again, s; it doubles with every time.
const PAUSE_S: f64 = 60.0;
/// Looks for the judgement of a held event whose wait is over: a minute, in which the judging has
/// saved it unless the store is away.
const LOOKS_FOR_JUDGEMENT: u32 = 30;
/// How often a run is put off because the model does not answer.
const MOST_ATTEMPTS: u32 = 3;

/// The lane.
#[derive(Debug)]
pub(crate) struct OpinionLane {
    pub(crate) store: Store,
    pub(crate) clock: SharedClock,
    pub(crate) model: Arc<LanguageModel>,
    pub(crate) tools: Arc<dyn Toolbox>,
    pub(crate) policy: Policy,
    /// Whether the model's verdict is part of judgements.
    pub(crate) place: VerdictPlace,
    /// Notified when a judgement waits for the model.
    pub(crate) asked: Arc<Notify>,
    /// Notified when a judgement that has waited can go on.
    pub(crate) answered: Arc<Notify>,
    /// Notified when something has to leave: one for each lane of the outbox.
    pub(crate) written: Arc<Vec<Arc<Notify>>>,
}

/// The outcome of one run.
enum RunEnd {
    /// It ended, or was put off.
    Done,
    /// Another agent has it.
    Lost,
}

impl OpinionLane {
    /// Works until `stop`; a run that is under way then goes on at the next start.
    pub(crate) async fn run(self, stop: CancellationToken) {
        tokio::select! {
            () = self.work() => {}
            () = stop.cancelled() => {}
        }
    }

    /// Gives the opinions that wait now, one after the other, and ends: for scenarios, whose time
    /// stands still meanwhile.
    pub(crate) async fn drain(&self) -> Result<(), StoreError> {
        loop {
            let asked = self.claim(1).await?;
            if asked.is_empty() {
                return Ok(());
            }
            for one in asked {
                self.one(one).await;
            }
        }
    }

    async fn work(&self) {
        let places = self.model.settings().opinion.parallel as usize;
        let mut under_way = FuturesUnordered::new();
        loop {
            let free = places.saturating_sub(under_way.len());
            match beside(self.claim(free), &mut under_way).await {
                Ok(asked) => under_way.extend(asked.into_iter().map(|one| self.one(one))),
                Err(error) => log::store_failed(&error),
            }
            let wait = tokio::time::sleep(LOOK);
            tokio::select! {
                Some(()) = under_way.next(), if !under_way.is_empty() => {}
                () = self.asked.notified() => {}
                () = wait => {}
            }
        }
    }

    async fn claim(&self, free: usize) -> Result<Vec<OpinionAsked>, StoreError> {
        if free == 0 {
            return Ok(Vec::new());
        }
        let now = self.clock.now();
        self.store
            .opinions()
            .claim_opinions(now, self.until(), u32::try_from(free).unwrap_or(1))
            .await
    }

    /// Returns when a claim ends unless it is held longer.
    fn until(&self) -> Timestamp {
        let longest_s = self.model.settings().per_event.seconds.min(3600.0);
        self.clock.now().plus_seconds(longest_s + CLAIM_S)
    }

    async fn one(&self, asked: OpinionAsked) {
        let event_id = asked.event_id;
        let about = event_id.to_string();
        let span = spans::of_agent("pdm-opinion", Some(self.model.name()), &about);
        match self.opinion(asked).instrument(span).await {
            Ok(RunEnd::Done) => {}
            Ok(RunEnd::Lost) => log::lost(event_id),
            // the claim ends by itself, and the run goes on then
            Err(error) => log::store_failed(&error),
        }
    }

    async fn opinion(&self, asked: OpinionAsked) -> Result<RunEnd, StoreError> {
        let Some(event) = self.store.history().event(asked.event_id).await? else {
            return Ok(RunEnd::Lost);
        };
        let case = CaseFile {
            event: &event,
            memory: &asked.memory,
            judged: asked.judged,
            now: asked.asked_at,
        };
        let dialect = match self.model.dialect().await {
            Ok(dialect) => dialect,
            Err(error) => {
                let failure = OpinionFailure::Model(ModelError::Unavailable(error.to_string()));
                let run = OpinionRun::unbegun(asked.event_id);
                return self.ended(&asked, &event, &run, Err(failure)).await;
            }
        };
        let opinions = Opinions {
            meter: self.model.meter("opinion"),
            tools: self.tools.as_ref(),
            redactor: self.model.redactor(),
            language: self.model.settings().language,
            answer_tokens: self.model.settings().answer_tokens,
            place: self.place,
        };
        let mut run = resumed(&asked).unwrap_or_else(|| opinions.begin(&case, dialect));
        loop {
            match opinions.step(&mut run, &case).await {
                Progressed::On => {
                    let state = serde_json::to_string(&run).unwrap_or_default();
                    if !self
                        .store
                        .opinions()
                        .note_opinion(asked.event_id, &state, self.until())
                        .await?
                    {
                        return Ok(RunEnd::Lost);
                    }
                }
                Progressed::Concluded(verdict) => {
                    return self.ended(&asked, &event, &run, Ok(*verdict)).await;
                }
                Progressed::Failed(failure) => {
                    return self.ended(&asked, &event, &run, Err(failure)).await;
                }
            }
        }
    }

    /// Ends a run, or puts it off if its model may answer later. A judgement that waits goes on in
    /// both cases.
    async fn ended(
        &self,
        asked: &OpinionAsked,
        event: &Event,
        run: &OpinionRun,
        end: Result<Verdict, OpinionFailure>,
    ) -> Result<RunEnd, StoreError> {
        let again_at = end.as_ref().err().and_then(|failure| {
            log::no_opinion(asked.event_id, failure);
            self.again_at(asked, failure)
        });
        if asked.is_held && self.answers_held(asked, run, &end, again_at).await? {
            return Ok(RunEnd::Done);
        }
        if let Some(again_at) = again_at {
            self.store.opinions().put_off_opinion(asked.event_id, again_at).await?;
            spans::conclude(&Span::current(), &run.spent, "put_off", true);
            return Ok(RunEnd::Done);
        }
        match self.judged(asked).await? {
            Some(diagnosis) => self.beside(asked, event, &diagnosis, run, end).await,
            None => Ok(RunEnd::Lost),
        }
    }

    /// Returns when a model that does not answer is asked again; `None` if it is not.
    fn again_at(&self, asked: &OpinionAsked, failure: &OpinionFailure) -> Option<Timestamp> {
        let now = self.clock.now();
        let age_h = now.seconds_since(asked.asked_at) / 3600.0;
        let is_passing = matches!(
            failure,
            OpinionFailure::Model(ModelError::Unavailable(_) | ModelError::Late(_))
        );
        let is_in_time = age_h < self.model.settings().opinion.give_up_after_h;
        let pause_s = PAUSE_S * f64::from(1_u32 << asked.attempts.min(10));
        (is_passing && is_in_time && asked.attempts + 1 < MOST_ATTEMPTS)
            .then(|| now.plus_seconds(pause_s))
    }

    /// Answers the judgement that waits; false if it waits no longer.
    async fn answers_held(
        &self,
        asked: &OpinionAsked,
        run: &OpinionRun,
        end: &Result<Verdict, OpinionFailure>,
        again_at: Option<Timestamp>,
    ) -> Result<bool, StoreError> {
        let at = self.clock.now();
        let opinion = document(run, self.model.name(), at, end.clone());
        let answer = HeldAnswer { event_id: asked.event_id, opinion, again_at, at };
        if !self.store.judging().answer_held(&answer).await? {
            return Ok(false);
        }
        let outcome = answer.opinion.stance.map_or("failed", OpinionStance::as_str);
        spans::conclude(&Span::current(), &run.spent, outcome, answer.opinion.stance.is_none());
        log::ended(asked.event_id, &answer.opinion, at.seconds_since(asked.asked_at));
        self.answered.notify_one();
        Ok(true)
    }

    /// The stored judgement. One whose wait is over is stored a moment later.
    async fn judged(&self, asked: &OpinionAsked) -> Result<Option<Diagnosis>, StoreError> {
        let looks = if asked.is_held { LOOKS_FOR_JUDGEMENT } else { 1 };
        for look in 0..looks {
            if look > 0 {
                tokio::time::sleep(LOOK).await;
            }
            if let Some(diagnosis) = self.store.history().diagnosis(asked.event_id).await? {
                return Ok(Some(diagnosis));
            }
        }
        Ok(None)
    }

    /// Ends an opinion beside its judgement.
    async fn beside(
        &self,
        asked: &OpinionAsked,
        event: &Event,
        diagnosis: &Diagnosis,
        run: &OpinionRun,
        end: Result<Verdict, OpinionFailure>,
    ) -> Result<RunEnd, StoreError> {
        let (key, now) = (event.key(), self.clock.now());
        let opinion = document(run, self.model.name(), now, end);
        let outcome = opinion.stance.map_or("failed", OpinionStance::as_str);
        spans::conclude(&Span::current(), &run.spent, outcome, opinion.stance.is_none());
        let told = match opinion.stance {
            Some(OpinionStance::Raises) => self.policy.opined(&key, diagnosis, &opinion, now),
            Some(OpinionStance::Agrees | OpinionStance::Lowers) | None => None,
        };
        // the topic keeps the bearing's last diagnosis: an older one must not take its place
        let standing = self.store.pages().standing(&key).await?;
        let is_last = standing.is_some_and(|row| row.event_id == Some(event.event_id));
        let ended = OpinionEnded {
            event_id: event.event_id,
            disagreement: disagreement(diagnosis.risk_level, &opinion),
            publication: is_last.then(|| self.policy.publication(&key, diagnosis)),
            told,
            opinion,
            at: now,
        };
        if self.store.opinions().end_opinion(&ended).await? {
            log::ended(event.event_id, &ended.opinion, now.seconds_since(asked.asked_at));
            for wake in self.written.iter() {
                wake.notify_one();
            }
        }
        Ok(RunEnd::Done)
    }
}

/// Returns the result of a future while the runs that are under way go on. A run that is not polled
/// may hold the store's one connection for writing, for which the future would wait in vain.
async fn beside<T>(
    future: impl Future<Output = T>,
    under_way: &mut FuturesUnordered<impl Future<Output = ()>>,
) -> T {
    let mut future = pin!(future);
    loop {
        tokio::select! {
            done = &mut future => return done,
            Some(()) = under_way.next(), if !under_way.is_empty() => {}
        }
    }
}

/// Returns the run of a checkpoint; `None` if it has not begun, or another version wrote it.
fn resumed(asked: &OpinionAsked) -> Option<OpinionRun> {
    let run: OpinionRun = serde_json::from_str(asked.checkpoint.as_deref()?).ok()?;
    (run.schema == RUN_SCHEMA && run.event_id == asked.event_id).then(|| {
        log::resumed(run.event_id, run.transcript.messages.len());
        run
    })
}
