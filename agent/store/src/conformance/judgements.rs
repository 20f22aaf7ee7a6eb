//! Judgements, runs, follow-up actions, the past of a bearing.

use pdm_expert::case::Memory;
use pdm_shared::event::{Event, Spectra, SpectrumLines};
use pdm_shared::fault::Fault;
use pdm_shared::follow_up::{FOLLOW_UP_SCHEMA, FollowUpReport, Verdict, WorkFound};
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::trace::TraceStep;

use super::leaving::stands;
use super::{at, event, judge_all, judge_one, key, put, step, telling, to_do};
use crate::{Checkpoint, Finished, FollowUp, FollowUpState, Incoming, Reported, Store};

pub(super) async fn judgements_are_remembered(store: &Store) {
    let events: Vec<Event> = (1..=7).map(event).collect();
    put(store, &events).await;
    judge_all(store).await;
    assert_eq!(store.judging().unjudged(10).await.expect("read").len(), 0);
    let recall = store.judging().recall(&key(), at(1e9)).await.expect("recalled");
    let recent = &recall.memory.recent;
    assert_eq!(recent.len(), 1, "equal judgements of a day are one entry");
    assert_eq!(recent[0].measured_at, event(7).measured_at);
    assert_eq!((recent[0].since, recent[0].windows), (Some(event(1).measured_at), 7));
    assert!(recent[0].rul_hours.is_some() && recent[0].advice.is_some());
    assert_eq!(recall.memory.recent[0].risk, RiskLevel::Warning);
    assert_eq!(recall.memory.state.risk(), RiskLevel::Warning);
    let diagnosis =
        store.history().diagnosis(events[6].event_id).await.expect("read").expect("there");
    assert_eq!(diagnosis.event_id, events[6].event_id);
    assert_eq!(diagnosis.memory.used, 1);
    let other = BearingKey { bearing: "NDE".parse().expect("name"), ..key() };
    let recall = store.judging().recall(&other, at(1e9)).await.expect("recalled");
    assert_eq!(recall.memory, Memory::default(), "of this bearing only");
}

pub(super) async fn a_run_is_resumed_where_it_stood(store: &Store) {
    put(store, &[event(1), event(2)]).await;
    let id = event(1).event_id;
    let checkpoint = async |node: &str, steps: &[TraceStep]| {
        let stands = Checkpoint {
            node: node.to_owned(),
            state: "{\"tool_calls_count\":1}".to_owned(),
            at: at(5.0),
        };
        store.judging().checkpoint(id, &stands, steps).await.expect("noted");
        stands
    };
    assert_eq!(store.history().trace(id).await.expect("read"), []);
    checkpoint("reasoning", &[step(1)]).await;
    // a step that is there already stays
    let other = TraceStep { node: "other".to_owned(), ..step(1) };
    let stands = checkpoint("tool_executor", &[other, step(2)]).await;
    assert_eq!(store.history().trace(id).await.expect("read"), [step(1), step(2)]);
    let waiting = store.judging().unjudged(10).await.expect("read");
    let checkpoints: Vec<_> =
        waiting.into_iter().map(|unjudged| (unjudged.event, unjudged.checkpoint)).collect();
    assert_eq!(checkpoints, [(event(1), Some(stands)), (event(2), None)]);
    judge_all(store).await;
    assert_eq!(store.history().trace(id).await.expect("read"), [step(1), step(2), step(3)]);
    assert_eq!(store.history().trace(event(2).event_id).await.expect("read").len(), 3);
    // judged: nothing to resume
    put(store, &[event(1), event(3)]).await;
    let waiting = store.judging().unjudged(10).await.expect("read");
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0].checkpoint, None);
}

/// The alarm leaves with the judgement; the rest of the run stays until its documents are written,
/// and a missing one is told once.
pub(super) async fn documents_are_left_until_they_are_written(store: &Store) {
    put(store, &[event(1)]).await;
    let id = event(1).event_id;
    let waiting = store.judging().unjudged(10).await.expect("read").remove(0);
    let rest =
        Checkpoint { node: "generate_report".to_owned(), state: "{}".to_owned(), at: at(10_000.0) };
    judge_one(store, waiting, Some(rest.clone())).await;
    assert_eq!(store.judging().unjudged(10).await.expect("read").len(), 0, "it is judged");
    assert!(stands(store).await.alarm.is_some(), "told before its documents");
    let left = store.judging().unwritten(&[id], at(0.0), 9).await.expect("read");
    assert_eq!(left, [(id, rest.clone())], "its own run");
    let idle = store.judging().unwritten(&[], at(20_000.0), 9).await.expect("read");
    assert_eq!(idle, [(id, rest)], "a run that nobody goes on with");
    let (notification, outgoing) = telling::message(Text::new("문서", "documents"), at(10_001.0));
    let missing = Some((notification, outgoing));
    let finished = Finished { event_id: id, steps: vec![step(4)], missing };
    assert!(store.judging().finish(&finished).await.expect("written"), "told");
    assert!(!store.judging().finish(&finished).await.expect("written"), "told before");
    assert_eq!(store.judging().unwritten(&[id], at(20_000.0), 9).await.expect("read"), []);
    assert_eq!(store.history().trace(id).await.expect("read").len(), 4);
}

pub(super) async fn what_is_to_be_done_is_followed(store: &Store) {
    put(store, &[event(1)]).await;
    judge_all(store).await;
    let id = event(1).event_id;
    assert_eq!(store.follow_ups().follow_up(id).await.expect("read"), [to_do()]);
    let report = FollowUpReport { found: None, repaired: false, ..report(id) };
    let taken = store.follow_ups().report(&key(), &report, at(60.0)).await.expect("written");
    assert_eq!(taken, Reported::Taken(id));
    let done = FollowUp {
        state: FollowUpState::Done,
        by: Some("kim".to_owned()),
        at: Some(at(60.0)),
        note: Some("재고 있음".to_owned()),
        ..to_do()
    };
    assert_eq!(store.follow_ups().follow_up(id).await.expect("read"), [done]);
    assert_eq!(store.follow_ups().bearing_of(id).await.expect("read"), Some(key()));
    let unknown = event(9).event_id;
    assert_eq!(store.follow_ups().follow_up(unknown).await.expect("read"), []);
    assert_eq!(store.follow_ups().bearing_of(unknown).await.expect("read"), None);
    let other = BearingKey { bearing: "NDE".parse().expect("name"), ..key() };
    for (key, event_id) in [(key(), unknown), (other, id)] {
        // a number is of an action that was asked for
        let report = FollowUpReport { event_id: Some(event_id), ..report.clone() };
        let taken = store.follow_ups().report(&key, &report, at(60.0)).await.expect("asked");
        assert_eq!(taken, Reported::Unknown);
    }
}

fn report(event_id: EventId) -> FollowUpReport {
    FollowUpReport {
        schema: FOLLOW_UP_SCHEMA.to_owned(),
        report_id: None,
        event_id: Some(event_id),
        number: Some(1),
        state: FollowUpState::Done,
        by: "kim".to_owned(),
        at: at(60.0),
        note: Some("재고 있음".to_owned()),
        repaired: true,
        found: Some(WorkFound {
            verdict: Verdict::Right,
            element: Some(Fault::OuterRace),
            cause: Some("정렬 불량\u{0}".to_owned()),
        }),
    }
}

/// R-AGENT-9: one open order a bearing; the older says what replaced it.
pub(super) async fn later_work_supersedes_what_is_open(store: &Store) {
    put(store, &[event(1), event(2)]).await;
    judge_all(store).await;
    let first = store.follow_ups().follow_up(event(1).event_id).await.expect("read");
    assert_eq!(first[0].state, FollowUpState::Superseded);
    assert!(first[0].note.as_deref().is_some_and(|note| note.contains("superseded by")));
    let last = store.follow_ups().follow_up(event(2).event_id).await.expect("read");
    assert_eq!(last[0].state, FollowUpState::Open);
    let counts = store.follow_ups().work_counts(at(7200.0)).await.expect("counted");
    assert_eq!((counts.open, counts.overdue, counts.superseded), (1, 1, 1));
    let work = store.judging().recall(&key(), at(1e9)).await.expect("recalled").memory.work;
    assert_eq!(work.len(), 2);
    assert!(work.iter().any(|work| work.is_overdue(at(7200.0))));
}

/// R-AGENT-9: what was found goes into the memory of the bearing and into the judgement that the
/// knowledge base gets again, and counts.
pub(super) async fn what_was_found_is_remembered_and_counted(store: &Store) {
    put(store, &[event(1)]).await;
    judge_all(store).await;
    let id = event(1).event_id;
    // by the bearing alone, as a technician at the machine reports
    let report = FollowUpReport { event_id: None, number: None, ..report(id) };
    let batch = [Incoming::FollowUp { key: key(), report: report.clone() }];
    for _ in 0..2 {
        let stored = store.intake().store(&batch, at(100.0), "dead").await.expect("stored");
        assert_eq!(stored.refused, 0, "the same report again changes nothing more");
    }
    let work = store.judging().recall(&key(), at(1e9)).await.expect("recalled").memory.work;
    let found = work[0].found.as_ref().expect("kept");
    assert_eq!((work[0].repaired, found.element), (true, Some(Fault::OuterRace)));
    let diagnosis = store.history().diagnosis(id).await.expect("read").expect("there");
    assert_eq!(diagnosis.found.map(|found| found.verdict), Some(Verdict::Right));
    let counts = store.follow_ups().work_counts(at(100.0)).await.expect("counted");
    assert_eq!((counts.done, counts.right, counts.precision()), (1, 1, Some(1.0)));
    let sent = store.outbox().claim("vectors", at(1e6), at(2e6), 10).await.expect("claimed");
    assert_eq!(sent.len(), 1, "to the knowledge base, once");
    let nobody = BearingKey { bearing: "NDE".parse().expect("name"), ..key() };
    let batch = [Incoming::FollowUp { key: nobody, report }];
    let stored = store.intake().store(&batch, at(200.0), "dead").await.expect("stored");
    assert_eq!(stored.refused, 1, "nobody asked for such work");
}

pub(super) async fn the_past_of_a_bearing_is_read_back(store: &Store) {
    let lines = SpectrumLines { df_hz: 1.0, unit: "g".to_owned(), amplitude: vec![0.5; 4] };
    let spectra = Some(Spectra { envelope: lines.clone(), acceleration: lines });
    let events: Vec<Event> =
        (1..=6).map(|n| Event { spectra: spectra.clone(), ..event(n) }).collect();
    put(store, &events[..4]).await;
    judge_all(store).await;
    put(store, &events[4..]).await;
    let read = store.history().event(events[2].event_id).await.expect("read");
    assert_eq!(read.as_ref(), Some(&events[2]), "an event with its spectra");
    assert_eq!(store.history().event(event(99).event_id).await.expect("read"), None);
    let until = events[4].measured_at;
    let past = store.history().history(&key(), until, 3).await.expect("read");
    let bare: Vec<Event> =
        events[2..5].iter().map(|event| Event { spectra: None, ..event.clone() }).collect();
    let read: Vec<Event> = past.iter().map(|past| past.event.clone()).collect();
    assert_eq!(read, bare, "the last three up to then, oldest first");
    let risks: Vec<_> =
        past.iter().map(|past| past.judged.as_ref().map(|judged| judged.risk)).collect();
    assert_eq!(risks, [Some(RiskLevel::Warning), Some(RiskLevel::Warning), None]);
    let other = BearingKey { bearing: "NDE".parse().expect("name"), ..key() };
    assert_eq!(store.history().history(&other, until, 3).await.expect("read"), []);
}
