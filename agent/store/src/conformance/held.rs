//! Judgements that wait for a language model.

use pdm_shared::diagnosis::{OpinionStance, SecondOpinion};
use pdm_shared::event::Event;
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;

use super::opinions::opinion;
use super::{at, event, judge_one, key, put, step};
use crate::{Checkpoint, HeldAnswer, HeldJudgement, Store, Unjudged};

/// An event of another bearing.
fn elsewhere(sequence: u64) -> Event {
    Event { bearing_id: "NDE".parse().expect("a name"), ..event(sequence) }
}

fn held(event: &Event) -> (BearingKey, HeldJudgement) {
    let checkpoint =
        Checkpoint { node: "parse_diagnosis".to_owned(), state: "{}".to_owned(), at: at(10_000.0) };
    let held = HeldJudgement {
        event_id: event.event_id,
        judged: RiskLevel::Warning,
        memory: pdm_expert::case::Memory::default(),
        asked_at: at(10_000.0),
        until: at(10_060.0),
        checkpoint,
        steps: vec![step(1)],
    };
    (event.key(), held)
}

fn answer(event: &Event, opinion: SecondOpinion) -> HeldAnswer {
    HeldAnswer { event_id: event.event_id, opinion, again_at: None, at: at(10_010.0) }
}

async fn waiting(store: &Store) -> Vec<Unjudged> {
    store.judging().unjudged(100).await.expect("read")
}

/// Each claim on a store of its own.
pub(super) async fn judgements_wait_for_a_model(one: &Store, other: &Store) {
    Box::pin(a_held_judgement_keeps_its_bearing_and_no_other(one)).await;
    Box::pin(a_wait_ends_once_by_an_answer_or_by_time(other)).await;
}

async fn a_held_judgement_keeps_its_bearing_and_no_other(store: &Store) {
    let (first, behind, other) = (event(1), event(2), elsewhere(3));
    put(store, &[first.clone(), behind.clone(), other.clone()]).await;
    assert_eq!(waiting(store).await.len(), 3);
    let (place, judgement) = held(&first);
    assert!(store.judging().hold(&place, &judgement).await.expect("held"));
    let free: Vec<_> = waiting(store).await.into_iter().map(|one| one.event.event_id).collect();
    assert_eq!(free, [other.event_id], "its bearing waits with it, others do not");
    let (at_back, looked_to) = store.judging().events_after_held(0, 10).await.expect("read");
    assert_eq!(at_back.len(), 1);
    assert!(looked_to > at_back[0].arrival, "up to the event of the other bearing");
    assert_eq!((at_back[0].held, at_back[0].event.event_id), (first.event_id, behind.event_id));
    let (none, still) =
        store.judging().events_after_held(at_back[0].arrival, 10).await.expect("read");
    assert!(none.is_empty() && still == looked_to);
    let (one, up_to) = store.judging().events_after_held(0, 1).await.expect("read");
    assert_eq!((one.len(), up_to), (1, at_back[0].arrival), "a full page ends at its last");
    let run = store.judging().held_run(first.event_id).await.expect("read");
    assert_eq!(run.as_ref(), Some(&judgement.checkpoint));
    // the lane finds it, and whoever restarts
    let asked =
        store.opinions().claim_opinions(at(10_000.0), at(10_500.0), 5).await.expect("claimed");
    assert_eq!(asked.len(), 1);
    assert!(asked[0].is_held && asked[0].judged == RiskLevel::Warning);
    store.take_over().await.expect("taken over");
    let again =
        store.opinions().claim_opinions(at(10_000.0), at(10_500.0), 5).await.expect("claimed");
    assert_eq!(again.len(), 1);
    let given = opinion(Some(OpinionStance::Agrees));
    assert!(store.judging().answer_held(&answer(&first, given.clone())).await.expect("answered"));
    assert!(
        !store.judging().answer_held(&answer(&first, given.clone())).await.expect("answered"),
        "once"
    );
    let going_on = waiting(store).await;
    assert_eq!(going_on[0].event.event_id, first.event_id, "in the order of arrival");
    assert_eq!(going_on[0].checkpoint.as_ref(), Some(&judgement.checkpoint));
    assert_eq!(
        (going_on.len(), store.judging().noted_steps(first.event_id).await.expect("read")),
        (3, 1)
    );
    assert_eq!(store.judging().held_answer(first.event_id).await.expect("read"), Some(given));
    for unjudged in going_on {
        judge_one(store, unjudged, None).await;
    }
    assert!(waiting(store).await.is_empty());
    assert_eq!(
        store.judging().held_answer(first.event_id).await.expect("read"),
        None,
        "it was taken in"
    );
    let counts = store.opinions().opinion_counts().await.expect("counts");
    assert_eq!((counts.agrees, counts.waiting), (1, 2), "the others are asked about afterwards");
    // a judged event waits for nobody
    let (place, judgement) = held(&other);
    assert!(!store.judging().hold(&place, &judgement).await.expect("not held"));
}

async fn a_wait_ends_once_by_an_answer_or_by_time(store: &Store) {
    let (first, other) = (event(1), elsewhere(2));
    put(store, &[first.clone(), other.clone()]).await;
    for event in [&first, &other] {
        let (place, judgement) = held(event);
        assert!(store.judging().hold(&place, &judgement).await.expect("held"));
    }
    assert_eq!(store.judging().end_holds(at(10_059.0), false).await.expect("ended"), 0);
    assert!(waiting(store).await.is_empty());
    assert_eq!(store.judging().end_holds(at(10_060.0), false).await.expect("ended"), 2);
    let late = answer(&first, opinion(Some(OpinionStance::Raises)));
    assert!(!store.judging().answer_held(&late).await.expect("answered"), "its wait was over");
    assert_eq!(store.judging().held_answer(first.event_id).await.expect("read"), None);
    // while the judgement is not stored nobody is asked about it; afterwards the run goes on beside
    // it
    let claimed = async || store.opinions().claim_opinions(at(10_070.0), at(10_500.0), 5).await;
    assert!(claimed().await.expect("claimed").is_empty());
    for unjudged in waiting(store).await {
        judge_one(store, unjudged, None).await;
    }
    let beside = claimed().await.expect("claimed");
    assert_eq!(beside.len(), 2);
    assert!(beside.iter().all(|one| !one.is_held));
    // a stopping agent ends all of its own waits
    let more = event(5);
    put(store, std::slice::from_ref(&more)).await;
    let (place, judgement) = held(&more);
    assert_eq!(place, key());
    assert!(store.judging().hold(&place, &judgement).await.expect("held"));
    assert_eq!(store.judging().end_holds(at(10_001.0), true).await.expect("ended"), 1);
    assert_eq!(waiting(store).await.len(), 1);
    let one = elsewhere(6);
    put(store, std::slice::from_ref(&one)).await;
    let (place, judgement) = held(&one);
    assert!(store.judging().hold(&place, &judgement).await.expect("held"));
    store.judging().end_hold(one.event_id).await.expect("ended");
    assert_eq!(waiting(store).await.len(), 2);
}
