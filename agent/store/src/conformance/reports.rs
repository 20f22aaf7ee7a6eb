//! Reports of staff: kept whatever state the work is in, and counted once.

use pdm_shared::fault::Fault;
use pdm_shared::follow_up::{FOLLOW_UP_SCHEMA, FollowUpReport, FollowUpState, Verdict, WorkFound};
use pdm_shared::id::{BearingKey, EventId};
use pdm_web::plant::Withdrawn;
use uuid::Uuid;

use super::{at, event, judge_all, key, put};
use crate::{Incoming, Reported, Store};

fn report(event_id: Option<EventId>, verdict: Option<Verdict>, note: &str) -> FollowUpReport {
    FollowUpReport {
        schema: FOLLOW_UP_SCHEMA.to_owned(),
        report_id: None,
        event_id,
        number: None,
        state: FollowUpState::Done,
        by: "kim".to_owned(),
        at: at(20_000.0),
        note: Some(note.to_owned()),
        repaired: false,
        found: verdict.map(|verdict| WorkFound {
            verdict,
            element: Some(Fault::OuterRace),
            cause: None,
        }),
    }
}

async fn send(store: &Store, report: &FollowUpReport, seconds: f64) -> Reported {
    store.follow_ups().report(&key(), report, at(seconds)).await.expect("written")
}

/// The verdicts that count: right, wrong, another cause.
async fn counted(store: &Store) -> (u32, u32, u32) {
    let counts = store.follow_ups().work_counts(at(1e6)).await.expect("counted");
    (counts.right, counts.wrong, counts.other_cause)
}

async fn notes(store: &Store) -> Vec<String> {
    let reports = store.desk().reports_of(&key(), 20).await.expect("read");
    let mut notes: Vec<String> = reports.into_iter().filter_map(|one| one.note).collect();
    notes.sort();
    notes
}

/// The alarm's judgement was replaced by later ones, as on most episodes: its work is not open any
/// more. The report closes the open work, and its verdict counts once, however many judgements it
/// is sent of.
pub(super) async fn a_report_on_replaced_work_goes_to_the_open_work(store: &Store) {
    put(store, &[event(1), event(2), event(3)]).await;
    judge_all(store).await;
    let (first, second, last) = (event(1).event_id, event(2).event_id, event(3).event_id);
    let sent = report(Some(first), Some(Verdict::Right), "cage\u{0} broken");
    assert_eq!(send(store, &sent, 20_000.0).await, Reported::Taken(last));
    let work = store.follow_ups().follow_up(last).await.expect("read");
    assert_eq!((work[0].state, work[0].by.as_deref()), (FollowUpState::Done, Some("kim")));
    assert!(store.desk().open_work_of(&key()).await.expect("read").is_empty());
    let replaced = store.follow_ups().follow_up(first).await.expect("read");
    assert_eq!((replaced[0].state, &replaced[0].found), (FollowUpState::Superseded, &None));
    assert_eq!(counted(store).await, (1, 0, 0));
    // the same inspection once more, of another judgement of the episode
    let again = report(Some(second), Some(Verdict::Wrong), "looked again");
    assert_eq!(send(store, &again, 20_100.0).await, Reported::Taken(last));
    assert_eq!(counted(store).await, (0, 1, 0), "one inspection, and the last word on it");
    assert_eq!(notes(store).await.len(), 2, "no note is lost");
    let reports = store.desk().reports_of(&key(), 20).await.expect("read");
    assert_eq!((reports[0].actions, reports[1].actions), (0, 1));
}

/// A program's report that names no action, where the work of two judgements is open: it is kept,
/// sets none, and its sender is answered with both.
pub(super) async fn a_report_that_names_no_action_of_several_sets_none(store: &Store) {
    put(store, &[event(1), event(2)]).await;
    judge_all(store).await;
    let (first, last) = (event(1).event_id, event(2).event_id);
    let one = report(None, Some(Verdict::Right), "the one that is open");
    assert_eq!(store.follow_ups().report_one(&key(), &one, at(20_000.0)).await.expect("kept"), {
        Reported::Taken(last)
    });
    let state = FollowUpState::Open;
    for of in [first, last] {
        let opened = FollowUpReport { number: Some(1), state, ..report(Some(of), None, "again") };
        send(store, &opened, 20_001.0).await;
    }
    let open = store.desk().open_work_of(&key()).await.expect("read");
    assert_eq!(open.len(), 2);
    let sent = report(None, None, "which?");
    let batch = [Incoming::FollowUp { key: key(), report: sent }];
    assert_eq!(
        store.intake().store(&batch, at(20_002.0), "dead").await.expect("stored").letters,
        1
    );
    assert_eq!(store.desk().open_work_of(&key()).await.expect("read"), open, "none is set");
    assert!(notes(store).await.contains(&"which?".to_owned()), "and it is kept");
    let answers = store.outbox().claim("mqtt", at(1e6), at(2e6), 99).await.expect("claimed");
    let answer = answers.iter().find(|row| row.topic.as_deref() == Some("dead")).expect("sent");
    for of in [first, last] {
        assert!(answer.payload.contains(&format!("event_id {of} number 1")), "{}", answer.payload);
    }
    let named = report(Some(last), None, "this one");
    let taken = store.follow_ups().report_one(&key(), &named, at(20_003.0)).await.expect("kept");
    assert_eq!(taken, Reported::Taken(last));
    assert_eq!(store.desk().open_work_of(&key()).await.expect("read").len(), 1);
}

/// One action of a list that was left open for days: the action that asks for the same now is done.
pub(super) async fn a_report_on_a_replaced_action_sets_the_one_that_asks_for_the_same(
    store: &Store,
) {
    put(store, &[event(1), event(2)]).await;
    judge_all(store).await;
    let (first, last) = (event(1).event_id, event(2).event_id);
    let sent = FollowUpReport { number: Some(1), ..report(Some(first), None, "done") };
    assert_eq!(send(store, &sent, 20_000.0).await, Reported::Taken(last));
    assert_eq!(
        store.follow_ups().follow_up(last).await.expect("read")[0].state,
        FollowUpState::Done
    );
    let missing = FollowUpReport { number: Some(9), ..sent };
    assert_eq!(send(store, &missing, 20_000.0).await, Reported::Unknown);
}

/// Work that is done, dropped, of a judgement that is no longer kept, or of none at all: the report
/// is a finding of the bearing.
pub(super) async fn a_report_without_open_work_is_a_finding_of_the_bearing(store: &Store) {
    put(store, &[event(1)]).await;
    judge_all(store).await;
    let id = event(1).event_id;
    let dropped = FollowUpReport { state: FollowUpState::Dropped, ..report(Some(id), None, "1") };
    assert_eq!(send(store, &dropped, 20_000.0).await, Reported::Taken(id));
    let before = store.follow_ups().follow_up(id).await.expect("read");
    let found = report(Some(id), Some(Verdict::OtherCause), "2");
    assert_eq!(send(store, &found, 20_001.0).await, Reported::Taken(id));
    assert_eq!(
        store.follow_ups().follow_up(id).await.expect("read"),
        before,
        "what was said before stands"
    );
    assert_eq!(counted(store).await, (0, 0, 1), "of what was inspected");
    for (number, of) in [("3", None), ("4", Some(event(9).event_id))] {
        let sent = FollowUpReport { repaired: true, ..report(of, Some(Verdict::Right), number) };
        assert_eq!(send(store, &sent, 20_002.0).await, Reported::Kept, "{number}");
    }
    assert_eq!(counted(store).await, (0, 0, 1), "nothing that was judged was inspected");
    assert_eq!(notes(store).await, ["1", "2", "3", "4"]);
    let work = store.judging().recall(&key(), at(1e9)).await.expect("recalled").memory.work;
    assert!(work.iter().any(|work| work.repaired), "the expert hears of the repair");
    let nobody = BearingKey { bearing: "NDE".parse().expect("name"), ..key() };
    let other =
        store.follow_ups().report(&nobody, &report(Some(id), None, "5"), at(20_003.0)).await;
    assert_eq!(other.expect("asked"), Reported::Unknown, "the judgement is of another bearing");
    assert!(store.desk().reports_of(&nobody, 9).await.expect("read").is_empty());
}

/// A form that is sent twice, and a message that comes again, are one report.
pub(super) async fn the_same_report_is_kept_once(store: &Store) {
    put(store, &[event(1), event(2)]).await;
    judge_all(store).await;
    let sent = report(None, Some(Verdict::Right), "once");
    let batch = [Incoming::FollowUp { key: key(), report: sent }];
    for _ in 0..2 {
        assert_eq!(
            store.intake().store(&batch, at(20_000.0), "dead").await.expect("stored").refused,
            0
        );
    }
    let id = Some(Uuid::from_u128(7));
    for seconds in [20_001.0, 20_002.0] {
        let sent = FollowUpReport { report_id: id, at: at(seconds), ..report(None, None, "twice") };
        assert_eq!(send(store, &sent, seconds).await, Reported::Kept);
    }
    assert_eq!(notes(store).await, ["once", "twice"]);
}

/// A report that was sent by mistake is taken back for ten minutes; it stays, marked, and counts no
/// more.
pub(super) async fn a_report_is_taken_back_soon_after_it(store: &Store) {
    put(store, &[event(1)]).await;
    judge_all(store).await;
    let (id, event_id) = (Uuid::from_u128(1), event(1).event_id);
    let before = store.follow_ups().follow_up(event_id).await.expect("read");
    let sent = FollowUpReport {
        report_id: Some(id),
        ..report(Some(event_id), Some(Verdict::Wrong), "by mistake")
    };
    send(store, &sent, 20_000.0).await;
    assert_eq!(counted(store).await, (0, 1, 0));
    let withdraw = async |id, seconds| {
        store.desk().withdraw_report(id, "kim", at(seconds)).await.expect("written")
    };
    assert_eq!(withdraw(id, 20_601.0).await, Withdrawn::Late(key()));
    assert_eq!(withdraw(Uuid::from_u128(2), 20_001.0).await, Withdrawn::Unknown);
    for _ in 0..2 {
        assert_eq!(withdraw(id, 20_599.0).await, Withdrawn::Yes(key()));
    }
    assert_eq!(store.follow_ups().follow_up(event_id).await.expect("read"), before);
    assert_eq!(counted(store).await, (0, 0, 0));
    let diagnosis = store.history().diagnosis(event_id).await.expect("read").expect("there");
    assert_eq!(diagnosis.found, None);
    let kept = store.desk().report_by_id(id).await.expect("read").expect("kept");
    assert_eq!(kept.withdrawn_by.as_deref(), Some("kim"));
    // what a second person has reported meanwhile stands
    let first = FollowUpReport { report_id: Some(Uuid::from_u128(3)), ..sent.clone() };
    send(store, &first, 21_000.0).await;
    let second = FollowUpReport {
        report_id: Some(Uuid::from_u128(4)),
        number: Some(1),
        by: "lee".to_owned(),
        found: None,
        ..sent
    };
    send(store, &second, 21_001.0).await;
    assert_eq!(withdraw(Uuid::from_u128(3), 21_002.0).await, Withdrawn::Yes(key()));
    let work = store.follow_ups().follow_up(event_id).await.expect("read");
    assert_eq!((work[0].state, work[0].by.as_deref()), (FollowUpState::Done, Some("lee")));
}
