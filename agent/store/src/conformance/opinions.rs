//! Second opinions and the cost of the model.

use pdm_expert::case::Case;
use pdm_expert::judge;
use pdm_expert::rules::Rules;
use pdm_reasoner::budget::Spent;
use pdm_shared::diagnosis::{Diagnosis, OpinionStance, SecondOpinion};
use pdm_shared::event::Event;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;

use super::telling::raised;
use super::{at, event, judge_all, key, put};
use crate::{BearingJudged, Judged, MAX_WAITING_OPINIONS, OpinionCounts, OpinionEnded, Store};

pub(super) fn opinion(stance: Option<OpinionStance>) -> SecondOpinion {
    SecondOpinion {
        model: "m".to_owned(),
        given_at: at(20_000.0),
        stance,
        failure: stance.is_none().then(|| Text::new("실패", "failed")),
        risk_level: stance.map(|_| RiskLevel::Normal),
        fault_type: None,
        fault_stage: None,
        degradation: None,
        uncertainty: None,
        reason: None,
        recommendation: None,
        evidence: Vec::new(),
        thoughts: Vec::new(),
        tools: Vec::new(),
        calls: 2,
        repairs: 0,
        prompt_tokens: 10,
        completion_tokens: 5,
        cost_usd: 0.5,
    }
}

pub(super) async fn an_opinion_is_claimed_noted_and_ended_once(store: &Store) {
    put(store, &[event(1), event(2)]).await;
    judge_all(store).await;
    let (now, until) = (at(10_000.0), at(10_100.0));
    let first = store.opinions().claim_opinions(now, until, 1).await.expect("claimed");
    let second = store.opinions().claim_opinions(now, until, 5).await.expect("claimed");
    assert_eq!((first.len(), second.len()), (1, 1), "each once");
    let id = first[0].event_id;
    assert_ne!(id, second[0].event_id);
    assert!(store.opinions().claim_opinions(now, until, 5).await.expect("claimed").is_empty());
    assert!(store.opinions().note_opinion(id, "{\"step\":1}", until).await.expect("noted"));
    // an agent that was killed and started again goes on where it was
    store.take_over().await.expect("taken over");
    let again = store.opinions().claim_opinions(now, until, 5).await.expect("claimed");
    let resumed = again.iter().find(|one| one.event_id == id).expect("the first again");
    assert_eq!(resumed.checkpoint.as_deref(), Some("{\"step\":1}"));
    store.opinions().put_off_opinion(second[0].event_id, at(10_500.0)).await.expect("put off");
    assert!(
        store
            .opinions()
            .claim_opinions(at(10_400.0), until, 5)
            .await
            .expect("claimed")
            .iter()
            .all(|one| one.event_id == id)
    );
    let late =
        store.opinions().claim_opinions(at(10_501.0), at(10_600.0), 5).await.expect("claimed");
    assert!(late.iter().any(|one| one.attempts == 1));
    end(store, first[0].event_id).await;
    let failed = OpinionEnded { event_id: second[0].event_id, ..ended(store, id, None).await };
    assert!(store.opinions().end_opinion(&failed).await.expect("ended"));
    let counts = store.opinions().opinion_counts().await.expect("counts");
    let expected = OpinionCounts { waiting: 0, lowers: 1, failed: 1, ..OpinionCounts::default() };
    assert_eq!((counts, counts.agreement()), (expected, Some(0.0)));
}

async fn ended(
    store: &Store,
    id: pdm_shared::id::EventId,
    stance: Option<OpinionStance>,
) -> OpinionEnded {
    let diagnosis = store.history().diagnosis(id).await.expect("read").expect("judged");
    let told = raised(&key(), &diagnosis, None, at(20_000.0));
    OpinionEnded {
        event_id: id,
        opinion: opinion(stance),
        disagreement: stance.map(|_| Text::new("다름", "differs")),
        told: told.map(|told| (told.notification, told.outgoing)),
        publication: None,
        at: at(20_000.0),
    }
}

async fn end(store: &Store, id: pdm_shared::id::EventId) {
    let before = store.history().diagnosis(id).await.expect("read").expect("judged");
    let alarm = store.episodes().episode(&key()).await.expect("read");
    let ended = ended(store, id, Some(OpinionStance::Lowers)).await;
    assert!(store.opinions().end_opinion(&ended).await.expect("ended"));
    assert!(!store.opinions().end_opinion(&ended).await.expect("ended"), "once");
    let after = store.history().diagnosis(id).await.expect("read").expect("judged");
    assert_eq!(after.risk_level, before.risk_level, "a lower opinion lowers nothing");
    assert_eq!(after.second_opinion.as_ref(), Some(&ended.opinion));
    assert_eq!(after.disagreement, ended.disagreement);
    assert_eq!(
        store.episodes().episode(&key()).await.expect("read"),
        alarm,
        "the alarm stands as it was"
    );
    let told = store.pages().notifications(None, at(1e8), 100).await.expect("read");
    let id = ended.told.expect("told").0.notification_id;
    assert_eq!(told.iter().filter(|one| one.notification_id == id).count(), 1);
}

pub(super) async fn a_full_queue_takes_no_more(store: &Store) {
    let more = MAX_WAITING_OPINIONS as u64 + 3;
    let events: Vec<_> = (1..=more).map(event).collect();
    put(store, &events).await;
    judge_together(store, &events[0]).await;
    let counts = store.opinions().opinion_counts().await.expect("counts");
    assert_eq!(counts.waiting, MAX_WAITING_OPINIONS as u64);
}

pub(super) async fn what_the_model_costs_is_counted_by_day(store: &Store) {
    let spent =
        Spent { calls: 2, prompt_tokens: 100, completion_tokens: 10, seconds: 1.5, usd: 0.25 };
    for purpose in ["opinion", "opinion", "chat"] {
        store.opinions().add_model_usage(purpose, &spent, at(0.0)).await.expect("added");
    }
    let day = store.opinions().model_usage(at(0.0)).await.expect("read");
    assert_eq!((day.calls, day.tokens()), (6, 330));
    assert!((day.usd - 0.75).abs() < 1e-9 && (day.seconds - 4.5).abs() < 1e-9);
    let next = store.opinions().model_usage(at(2.0 * 86_400.0)).await.expect("read");
    assert_eq!(next, Spent::default());
}

/// Saves a judgement of each waiting event in one transaction, each with a wish for an opinion.
async fn judge_together(store: &Store, first: &Event) {
    let memory = store.judging().recall(&key(), at(1e9)).await.expect("recalled").memory;
    let case = Case { event: first, memory: &memory, now: at(10_000.0) };
    let judgement = judge(&case, &Rules::default());
    let waiting = store.judging().unjudged(10_000).await.expect("read");
    let judgements = waiting.into_iter().map(|unjudged| Judged {
        arrival: unjudged.arrival,
        measured_at: unjudged.event.measured_at,
        late: false,
        outgoing: Vec::new(),
        diagnosis: Diagnosis { event_id: unjudged.event.event_id, ..judgement.diagnosis.clone() },
        announcement: None,
        quiet: None,
        follow_up: Vec::new(),
        supersedes: false,
        trace: Vec::new(),
        unwritten: None,
        opinion_on: Some(Box::new(memory.clone())),
        was_held: false,
    });
    let judged = BearingJudged {
        key: key(),
        judgements: judgements.collect(),
        state: judgement.state.clone(),
        recent: Vec::new(),
    };
    store.judging().save(&[judged]).await.expect("saved");
}
