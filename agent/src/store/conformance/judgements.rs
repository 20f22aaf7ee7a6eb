//! Judgements, runs, follow-up actions, the past of a bearing.

use pdm_expert::case::Memory;
use pdm_shared::event::{Event, Spectra, SpectrumLines};
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use pdm_shared::trace::TraceStep;

use super::{at, event, judge_all, judge_one, key, put, step, telling, to_do};
use crate::store::{Checkpoint, Finished, FollowUp, FollowUpState, Linked, Store};

pub(super) async fn judgements_are_remembered(store: &dyn Store) {
    let events: Vec<Event> = (1..=7).map(event).collect();
    put(store, &events).await;
    judge_all(store).await;
    assert_eq!(store.unjudged(10).await.expect("read").len(), 0);
    let recall = store.recall(&key(), at(1e9)).await.expect("recalled");
    let times: Vec<Timestamp> =
        recall.memory.recent.iter().map(|remembered| remembered.measured_at).collect();
    let last: Vec<Timestamp> = (3..=7).rev().map(|sequence| event(sequence).measured_at).collect();
    assert_eq!(times, last, "the last five, newest first");
    assert_eq!(recall.memory.recent[0].risk, RiskLevel::Warning);
    assert_eq!(recall.memory.state.risk(), RiskLevel::Warning);
    let diagnosis = store.diagnosis(events[6].event_id).await.expect("read").expect("there");
    assert_eq!(diagnosis.event_id, events[6].event_id);
    assert_eq!(diagnosis.memory.used, 5);
    let other = BearingKey { bearing: "NDE".parse().expect("name"), ..key() };
    let recall = store.recall(&other, at(1e9)).await.expect("recalled");
    assert_eq!(recall.memory, Memory::default(), "of this bearing only");
}

pub(super) async fn a_run_is_resumed_where_it_stood(store: &dyn Store) {
    put(store, &[event(1), event(2)]).await;
    let id = event(1).event_id;
    let checkpoint = async |node: &str, steps: &[TraceStep]| {
        let stands = Checkpoint {
            node: node.to_owned(),
            state: "{\"tool_calls_count\":1}".to_owned(),
            at: at(5.0),
        };
        store.checkpoint(id, &stands, steps).await.expect("noted");
        stands
    };
    assert_eq!(store.trace(id).await.expect("read"), []);
    checkpoint("reasoning", &[step(1)]).await;
    // a step that is there already stays
    let other = TraceStep { node: "other".to_owned(), ..step(1) };
    let stands = checkpoint("tool_executor", &[other, step(2)]).await;
    assert_eq!(store.trace(id).await.expect("read"), [step(1), step(2)]);
    let waiting = store.unjudged(10).await.expect("read");
    let checkpoints: Vec<_> =
        waiting.into_iter().map(|unjudged| (unjudged.event, unjudged.checkpoint)).collect();
    assert_eq!(checkpoints, [(event(1), Some(stands)), (event(2), None)]);
    judge_all(store).await;
    assert_eq!(store.trace(id).await.expect("read"), [step(1), step(2), step(3)]);
    assert_eq!(store.trace(event(2).event_id).await.expect("read").len(), 3);
    // judged: nothing to resume
    put(store, &[event(1), event(3)]).await;
    let waiting = store.unjudged(10).await.expect("read");
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0].checkpoint, None);
}

/// The alarm leaves with the judgement; the rest of the run stays until its documents are told, once.
pub(super) async fn documents_are_left_until_they_are_told_once(store: &dyn Store) {
    put(store, &[event(1)]).await;
    let id = event(1).event_id;
    let waiting = store.unjudged(10).await.expect("read").remove(0);
    let rest =
        Checkpoint { node: "generate_report".to_owned(), state: "{}".to_owned(), at: at(10_000.0) };
    judge_one(store, waiting, Some(rest.clone())).await;
    assert_eq!(store.unjudged(10).await.expect("read").len(), 0, "it is judged");
    let alarm = store.alarm(&key()).await.expect("read").expect("told before its documents");
    let left = store.unwritten(&[id], at(0.0), 9).await.expect("read");
    assert_eq!(left, [(id, rest.clone())], "its own run");
    let idle = store.unwritten(&[], at(20_000.0), 9).await.expect("read");
    assert_eq!(idle, [(id, rest)], "a run that nobody goes on with");
    let (notification, outgoing) = telling::message(Text::new("문서", "documents"), at(10_001.0));
    let lines = Text::new("\n리포트: r", "\nReport: r");
    let alarm_id = alarm.notification.notification_id;
    let linked = Some(Linked { notification, outgoing, alarm: Some(alarm_id), lines });
    let finished = Finished { event_id: id, steps: vec![step(4)], linked };
    assert!(store.finish(&finished).await.expect("written"), "told");
    assert!(!store.finish(&finished).await.expect("written"), "told before");
    assert_eq!(store.unwritten(&[id], at(20_000.0), 9).await.expect("read"), []);
    assert_eq!(store.trace(id).await.expect("read").len(), 4);
    let linked = store.alarm(&key()).await.expect("read").expect("stands");
    assert_eq!(linked.notification.notification_id, alarm_id);
    let body = &linked.notification.body;
    assert_eq!(
        body.en,
        format!("{}\nReport: r", alarm.notification.body.en),
        "its repeats say where"
    );
}

pub(super) async fn what_is_to_be_done_is_followed(store: &dyn Store) {
    put(store, &[event(1)]).await;
    judge_all(store).await;
    let id = event(1).event_id;
    assert_eq!(store.follow_up(id).await.expect("read"), [to_do()]);
    let done = FollowUp {
        state: FollowUpState::Done,
        by: Some("kim".to_owned()),
        at: Some(at(60.0)),
        note: Some("재고 있음".to_owned()),
        ..to_do()
    };
    assert!(store.follow(id, std::slice::from_ref(&done)).await.expect("written"));
    assert_eq!(store.follow_up(id).await.expect("read"), [done]);
    let unknown = event(9).event_id;
    assert!(!store.follow(unknown, &[to_do()]).await.expect("asked"));
    assert_eq!(store.follow_up(unknown).await.expect("read"), []);
}

pub(super) async fn the_past_of_a_bearing_is_read_back(store: &dyn Store) {
    let lines = SpectrumLines { df_hz: 1.0, unit: "g".to_owned(), amplitude: vec![0.5; 4] };
    let spectra = Some(Spectra { envelope: lines.clone(), acceleration: lines });
    let events: Vec<Event> =
        (1..=6).map(|n| Event { spectra: spectra.clone(), ..event(n) }).collect();
    put(store, &events[..4]).await;
    judge_all(store).await;
    put(store, &events[4..]).await;
    let read = store.event(events[2].event_id).await.expect("read");
    assert_eq!(read.as_ref(), Some(&events[2]), "an event with its spectra");
    assert_eq!(store.event(event(99).event_id).await.expect("read"), None);
    let until = events[4].measured_at;
    let past = store.history(&key(), until, 3).await.expect("read");
    let bare: Vec<Event> =
        events[2..5].iter().map(|event| Event { spectra: None, ..event.clone() }).collect();
    let read: Vec<Event> = past.iter().map(|past| past.event.clone()).collect();
    assert_eq!(read, bare, "the last three up to then, oldest first");
    let risks: Vec<_> = past.iter().map(|past| past.judged.map(|judged| judged.risk)).collect();
    assert_eq!(risks, [Some(RiskLevel::Warning), Some(RiskLevel::Warning), None]);
    let other = BearingKey { bearing: "NDE".parse().expect("name"), ..key() };
    assert_eq!(store.history(&other, until, 3).await.expect("read"), []);
}
