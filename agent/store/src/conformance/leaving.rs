//! Alarms, the outbox, messages to staff, retention.

use pdm_shared::delivery::{ACK_SCHEMA, Acknowledgement};
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::id::EventId;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;

use super::intake::receipt;
use super::{at, event, incoming, judge_all, judge_some, key, put, telling};
use crate::{
    Claimed, EpisodeRecord, Forget, HeldBack, Incoming, MQTT_LANE, SendOutcome, Store, ToldInHour,
    webhook_lane,
};

/// The open episode of the suite's bearing.
pub(super) async fn stands(store: &Store) -> EpisodeRecord {
    let record = store.episodes().episode(&key()).await.expect("read").expect("there is one");
    assert!(record.is_open(), "{record:?}");
    record
}

fn acknowledged(ack: Acknowledgement) -> Incoming {
    Incoming::Ack { key: key(), ack, topic: telling::EPISODE_TOPIC.to_owned() }
}

pub(super) async fn an_alarm_is_told_once_and_acknowledged(store: &Store) {
    put(store, &[event(1), event(2)]).await;
    judge_all(store).await;
    let hook = webhook_lane("ops");
    let told = store.outbox().claim(&hook, at(20_000.0), at(20_100.0), 10).await.expect("claimed");
    assert_eq!(told.len(), 1, "one notification for two events of one risk");
    let record = stands(store).await;
    let due = store
        .episodes()
        .episodes_to_repeat(at(50_000.0), telling::REPEAT_S, 10)
        .await
        .expect("read");
    assert_eq!(due, [(key(), record.clone())]);
    assert_eq!(
        store
            .episodes()
            .episodes_to_repeat(at(10_001.0), telling::REPEAT_S, 10)
            .await
            .expect("read"),
        []
    );
    let again = telling::repeated(&record, at(50_000.0));
    let expected = Some(record.version());
    assert!(store.episodes().announce(&key(), expected, &again).await.expect("told"));
    assert!(
        !store.episodes().announce(&key(), expected, &again).await.expect("told"),
        "it was repeated"
    );
    // the first notification of the standing level is as good as its repetition
    let ack = Acknowledgement {
        schema: ACK_SCHEMA.to_owned(),
        notification_id: record.alarm.map(|alarm| alarm.notification.notification_id),
        by: "kim".to_owned(),
        at: at(50_001.0),
        note: None,
        episode_id: None,
        via: None,
    };
    let other = Acknowledgement { episode_id: Some(event(9).event_id.0), ..ack.clone() };
    let stranger = Acknowledgement { notification_id: Some(event(9).event_id.0), ..ack.clone() };
    let acknowledge = async |ack: Acknowledgement| {
        store.intake().store(&[acknowledged(ack)], at(50_002.0), "dead").await.expect("stored");
        stands(store).await.episode.acknowledgement.is_acknowledged()
    };
    assert!(!acknowledge(other).await, "of another episode");
    assert!(!acknowledge(stranger).await, "of nothing that was told");
    assert!(acknowledge(ack).await);
    assert_eq!(
        store
            .episodes()
            .episodes_to_repeat(at(999_999.0), telling::REPEAT_S, 10)
            .await
            .expect("read"),
        []
    );
}

/// R-AGENT-10: a channel fails from its first vain try on until it delivers, and what was given up
/// is told.
pub(super) async fn a_channel_that_fails_is_told_with_its_reason(store: &Store) {
    assert_eq!(store.outbox().channels(at(10_000.0)).await.expect("read"), []);
    put(store, &[event(1)]).await;
    judge_all(store).await;
    let hook = webhook_lane("ops");
    let of = async |now: f64| {
        let all = store.outbox().channels(at(now)).await.expect("read");
        all.into_iter().find(|one| one.lane == webhook_lane("ops")).expect("the channel")
    };
    let fresh = of(10_000.0).await;
    assert_eq!((fresh.waiting, fresh.is_failing, fresh.last_error), (1, false, None));
    let claimed =
        store.outbox().claim(&hook, at(20_000.0), at(20_100.0), 10).await.expect("claimed");
    let [row] = &claimed[..] else { panic!("one row: {claimed:?}") };
    let retry =
        SendOutcome::Retry { at: at(20_060.0), error: "the receiver answers 503: x".to_owned() };
    store.outbox().settle(&[(row.id, retry)], at(20_001.0)).await.expect("settled");
    let failing = of(20_002.0).await;
    assert_eq!((failing.waiting, failing.is_failing), (1, true));
    assert_eq!(failing.failing_since, Some(row.created_at));
    assert_eq!(failing.next_try_at, Some(at(20_060.0)));
    assert_eq!(failing.last_error.as_deref(), Some("the receiver answers 503: x"));
    store.outbox().claim(&hook, at(20_060.0), at(20_200.0), 10).await.expect("claimed");
    let given_up = SendOutcome::GivenUp { error: "the receiver answers 404: y".to_owned() };
    store.outbox().settle(&[(row.id, given_up)], at(20_061.0)).await.expect("settled");
    let lost = of(20_062.0).await;
    assert_eq!((lost.waiting, lost.given_up, lost.is_failing), (0, 1, true));
    assert_eq!(lost.given_up_at, Some(at(20_061.0)));
    assert_eq!(lost.last_error.as_deref(), Some("the receiver answers 404: y"));
    let later = of(20_061.0 + 2.0 * 86_400.0).await;
    assert_eq!(
        (later.given_up, later.is_failing),
        (1, false),
        "told for a week, a failure for a day"
    );
}

/// Issue 33, point 5: a secret has changed, so what failed is due now, and what has not been tried
/// is not.
pub(super) async fn what_failed_is_tried_at_once(store: &Store) {
    put(store, &[event(1)]).await;
    judge_all(store).await;
    let hook = webhook_lane("ops");
    let claim = async |now: f64| {
        store.outbox().claim(&hook, at(now), at(now + 100.0), 10).await.expect("claimed").len()
    };
    let claimed =
        store.outbox().claim(&hook, at(20_000.0), at(20_100.0), 10).await.expect("claimed");
    let retry = SendOutcome::Retry { at: at(20_600.0), error: "401".to_owned() };
    store.outbox().settle(&[(claimed[0].id, retry)], at(20_001.0)).await.expect("settled");
    assert_eq!(claim(20_002.0).await, 0);
    store.outbox().try_at_once("email", at(20_003.0)).await.expect("written");
    assert_eq!(claim(20_003.0).await, 0, "of another lane");
    store.outbox().try_at_once(&hook, at(20_004.0)).await.expect("written");
    assert_eq!(claim(20_004.0).await, 1);
}

/// An acknowledgement belongs to the alarm that its sender saw: a time of before, or a notification
/// of an alarm that is over, means another one.
pub(super) async fn an_acknowledgement_of_before_silences_no_alarm(store: &Store) {
    put(store, &[event(1)]).await;
    judge_all(store).await;
    let first = stands(store).await;
    let first_id = first.alarm.as_ref().map(|alarm| alarm.notification.notification_id);
    let over = telling::over(&first, at(20_000.0));
    assert!(store.episodes().announce(&key(), Some(first.version()), &over).await.expect("told"));
    let again = telling::risen(&key(), RiskLevel::Warning, None, at(30_000.0)).expect("told");
    assert!(store.episodes().announce(&key(), None, &again).await.expect("told"));
    let acknowledge = async |notification_id, when: f64| {
        let schema = ACK_SCHEMA.to_owned();
        let by = "kim".to_owned();
        let (note, episode_id, via) = (None, None, None);
        let at_device = at(when);
        let ack =
            Acknowledgement { schema, notification_id, by, at: at_device, note, episode_id, via };
        let batch = [acknowledged(ack)];
        store.intake().store(&batch, at(40_000.0), "dead").await.expect("stored");
        stands(store).await.episode.acknowledgement.is_acknowledged()
    };
    assert!(!acknowledge(None, -8e8).await, "of 2001");
    assert!(!acknowledge(None, 29_900.0).await, "of before the alarm");
    assert!(!acknowledge(first_id, 39_000.0).await, "of the alarm that is over");
    assert!(acknowledge(None, 29_950.0).await, "of a clock that is 50 s behind");
}

/// A knowledge base that has lost the judgements gets them again; while they wait they are not
/// written twice.
pub(super) async fn judgements_are_sent_again_once(store: &Store) {
    put(store, &[event(1), event(2), event(3)]).await;
    judge_all(store).await;
    let now = at(20_000.0);
    assert_eq!(store.outbox().send_again("vectors", 2, now).await.expect("written"), 2);
    assert_eq!(store.outbox().send_again("vectors", 2, now).await.expect("looked"), 0, "they wait");
    let rows = store.outbox().claim("vectors", now, at(20_300.0), 10).await.expect("claimed");
    let of = |number: u64| event(number).event_id.to_string();
    assert!(rows[0].payload.contains(&of(2)) && rows[1].payload.contains(&of(3)));
}

/// Messages above a lane's ceiling are counted by level, leave with a summary, and never by
/// themselves.
pub(super) async fn what_is_held_back_is_counted_and_settled_together(store: &Store) {
    put(store, &[event(1)]).await;
    judge_all(store).await;
    let hook = webhook_lane("ops");
    let hour = at(0.0);
    assert_eq!(store.ceilings().told_in(&hook, hour).await.expect("read"), ToldInHour::default());
    store.ceilings().note_message(&hook, "ulsan-1/gw-01", hour).await.expect("noted");
    store.ceilings().note_message(&hook, "ulsan-1/gw-01", hour).await.expect("noted");
    let told = store.ceilings().told_in(&hook, hour).await.expect("read");
    assert_eq!(told, ToldInHour { messages: 2, summaries: 0 });
    let now = at(20_000.0);
    let rows = store.outbox().claim(&hook, now, at(20_300.0), 10).await.expect("claimed");
    let outcomes: Vec<_> = rows.iter().map(|row| (row.id, SendOutcome::Held)).collect();
    store.outbox().settle(&outcomes, now).await.expect("settled");
    let later = store.outbox().claim(&hook, at(90_000.0), at(90_300.0), 10).await.expect("claimed");
    assert_eq!(later, [], "it does not leave by itself");
    let held = store.ceilings().held_back(&hook).await.expect("read");
    assert_eq!(
        (held.levels.as_slice(), held.worst.as_slice()),
        ([(RiskLevel::Warning, 1)].as_slice(), [key()].as_slice())
    );
    assert_eq!(store.ceilings().held_back("email").await.expect("read"), HeldBack::default());
    let told = store.ceilings().settle_held(&hook, held.through, hour, now).await.expect("settled");
    assert_eq!(told.len(), 1, "the notifications that the summary told");
    assert_eq!(store.ceilings().held_back(&hook).await.expect("read"), HeldBack::default());
    let told = store.ceilings().told_in(&hook, hour).await.expect("read");
    assert_eq!(told, ToldInHour { messages: 2, summaries: 1 });
}

/// R-AGENT-10. Such an alarm was silent until the day that the wrong clock had named.
pub(super) async fn an_alarm_of_a_clock_that_was_ahead_is_repeated(store: &Store) {
    put(store, &[event(1)]).await;
    judge_all(store).await;
    let to_repeat = async |now: f64| {
        store
            .episodes()
            .episodes_to_repeat(at(now), telling::REPEAT_S, 10)
            .await
            .expect("read")
            .len()
    };
    // told at 10,000 s, to be repeated at 38,800 s
    assert_eq!(to_repeat(10_000.0 - 60.0).await, 0, "clocks a minute apart are both right");
    assert_eq!(to_repeat(10_000.0 - 61.0).await, 1, "told by a clock that is ahead");
    assert_eq!(to_repeat(-40.0 * 86_400.0).await, 1, "by weeks");
    let record = stands(store).await;
    let expected = Some(record.version());
    let again = telling::repeated(&record, at(0.0));
    assert!(store.episodes().announce(&key(), expected, &again).await.expect("told"));
    assert_eq!(to_repeat(1.0).await, 0, "told again, it waits as usual");
    assert_eq!(to_repeat(telling::REPEAT_S).await, 1);
}

/// R-AGENT-10. A clean-up of the outbox by hand left an alarm that nobody was told of, and nothing
/// said so.
pub(super) async fn an_alarm_whose_rows_are_gone_is_found(store: &Store) {
    put(store, &[event(1)]).await;
    judge_all(store).await;
    let without_ways = async |since: f64, until: f64| {
        let found = store.episodes().episodes_without_ways(at(since), at(until), 10).await;
        found.expect("read").into_iter().map(|(key, _)| key).collect::<Vec<_>>()
    };
    assert_eq!(without_ways(0.0, 90_000.0).await, [], "its row waits");
    let record = stands(store).await;
    let mut again = telling::repeated(&record, at(20_000.0));
    again.outgoing.retain(|row| row.lane == MQTT_LANE);
    let is_written = store.episodes().announce(&key(), Some(record.version()), &again).await;
    assert!(is_written.expect("told"));
    assert_eq!(without_ways(0.0, 90_000.0).await, [key()], "the topic leads to no person");
    assert_eq!(without_ways(20_001.0, 90_000.0).await, [], "not of that time");
    assert_eq!(without_ways(0.0, 19_999.0).await, [], "not so soon");
}

pub(super) async fn the_outbox_keeps_order_and_counts_tries(store: &Store) {
    put(store, &[event(1), event(2), event(3)]).await;
    judge_all(store).await;
    let claim = async |now: f64| {
        store.outbox().claim(MQTT_LANE, at(now), at(now + 100.0), 10).await.expect("claimed")
    };
    let rows = claim(10_000.0).await;
    // each diagnosis, and the episode and the notification after the first
    let retained: Vec<bool> = rows.iter().map(|row| row.retain).collect();
    assert_eq!(retained, [true, true, false, true, true]);
    assert!(rows.windows(2).all(|pair| pair[0].id < pair[1].id));
    assert_eq!(claim(10_001.0).await, [], "claimed already");
    assert_eq!(claim(10_101.0).await.len(), 5, "a claim ends by itself");
    let retry = SendOutcome::Retry { at: at(10_200.0), error: "away".to_owned() };
    let given_up = SendOutcome::GivenUp { error: "refused".to_owned() };
    let outcomes = [
        (rows[0].id, retry.clone()),
        (rows[1].id, SendOutcome::Delivered),
        (rows[2].id, given_up),
        (rows[3].id, SendOutcome::Delivered),
        (rows[4].id, retry),
    ];
    store.outbox().settle(&outcomes, at(10_150.0)).await.expect("settled");
    assert_eq!(claim(10_199.0).await, []);
    let rows_again = claim(10_200.0).await;
    let seen: Vec<(i64, u32, bool)> = rows_again
        .iter()
        .map(|row| (row.id, row.attempts, row.key == rows[0].key || row.key == rows[4].key))
        .collect();
    assert_eq!(seen, [(rows[0].id, 1, true), (rows[4].id, 1, true)]);
    let backlog = store.backlog().await.expect("counted");
    assert_eq!((backlog.unsent, backlog.given_up), (3, 1), "two here, one in the hook's lane");
}

pub(super) async fn a_message_is_told_once(store: &Store) {
    let machine = key().equipment;
    assert_eq!(store.messages().bearings_of(&machine).await.expect("read"), []);
    put(store, &[event(1)]).await;
    let waiting = store.messages().bearings_of(&machine).await.expect("read");
    assert_eq!(waiting, [(key(), RiskLevel::Normal)], "before its first judgement");
    judge_all(store).await;
    let judged = store.messages().bearings_of(&machine).await.expect("read");
    assert_eq!(judged, [(key(), RiskLevel::Warning)]);
    let hook = webhook_lane("ops");
    store.outbox().claim(&hook, at(20_000.0), at(90_000.0), 10).await.expect("claimed");
    let before = store.episodes().episode(&key()).await.expect("read");
    let words = Text::new("가", "a");
    let (told, rows) = telling::message(words, at(20_001.0));
    assert!(store.messages().tell(&told, &rows).await.expect("told"));
    assert!(!store.messages().tell(&told, &rows).await.expect("told"), "the same call again");
    assert_eq!(
        store.outbox().claim(&hook, at(20_002.0), at(90_000.0), 10).await.expect("claimed").len(),
        1
    );
    assert_eq!(store.episodes().episode(&key()).await.expect("read"), before, "it is no alarm");
}

/// Runs the deletion once a day for this many days, the last of them `now`.
async fn days_pass(store: &Store, days: u32, now: f64) {
    for ago in (0..days).rev() {
        let keep = Forget::default();
        store.retention().forget(&keep, at(now - f64::from(ago) * DAY_S)).await.expect("looked");
    }
}

const DAY_S: f64 = 86_400.0;

pub(super) async fn what_is_old_goes_and_what_waits_stays(store: &Store) {
    let days = |count: f64| count * DAY_S;
    let of = |sequence: u64, seconds: f64| {
        let mut event = event(sequence);
        event.measured_at = at(seconds);
        event.event_id = EventId::at(event.measured_at.unix_ms());
        event
    };
    let events = [of(1, days(-90.0)), of(2, days(-85.0)), of(3, days(-9.0))];
    store
        .intake()
        .store(&[incoming(&events[0]), incoming(&events[1])], at(days(-85.0)), "dead")
        .await
        .expect("stored");
    assert_eq!(judge_some(store, 1).await, 1);
    days_pass(store, 75, days(-10.0)).await;
    store.intake().store(&[incoming(&events[2])], at(days(-9.0)), "dead").await.expect("stored");
    days_pass(store, 9, days(-1.0)).await;
    let forget = Forget { events_days: 70, limit: 10, ..Forget::default() };
    store.retention().forget(&forget, at(0.0)).await.expect("forgotten");
    let there = async |number: usize| {
        store.history().event(events[number].event_id).await.expect("read").is_some()
    };
    assert!(there(1).await, "it waits for its judgement");
    assert!(there(2).await, "young");
    assert!(
        store.history().diagnosis(events[0].event_id).await.expect("read").is_some(),
        "kept for longer"
    );
    assert_eq!(receipt(store).await, (3, vec![]), "the sequence knows nothing of it");
    judge_all(store).await;
    days_pass(store, 3, days(3.0)).await;
    let now = days(4.0);
    let forget = Forget { judgements_days: 2, ..forget };
    what_has_not_left_keeps_its_judgement(store, forget, now).await;
    let forget = Forget { told_days: 2, refused_days: 2, limit: 2, ..forget };
    let gone = store.retention().forget(&forget, at(now)).await.expect("forgotten");
    assert!(gone.judgements == 2 && gone.has_more, "a bounded amount: {gone:?}");
    let gone = store.retention().forget(&forget, at(now)).await.expect("forgotten");
    assert!(gone.judgements == 1 && !gone.has_more, "{gone:?}");
    let bearing = store.pages().standing(&key()).await.expect("read").expect("known");
    assert!(bearing.event_id.is_none(), "nothing leads to a judgement that is gone: {bearing:?}");
    assert_eq!(bearing.measured_at, Some(events[2].measured_at));
    assert!(!there(0).await && !there(1).await && there(2).await, "judged and old");
    assert!(store.history().trace(events[0].event_id).await.expect("read").is_empty());
    assert!(stands(store).await.is_open(), "it stands");
    assert_eq!(store.backlog().await.expect("counted").unsent, 1, "the hook's has not left");
}

/// Every row of the broker's lane is claimed; afterwards all have left.
async fn what_has_not_left_keeps_its_judgement(store: &Store, forget: Forget, now: f64) {
    assert_eq!(store.retention().forget(&forget, at(now)).await.expect("forgotten").judgements, 0);
    let (late, until) = (at(now + 200.0), at(now + 300.0));
    let rows = store.outbox().claim(MQTT_LANE, late, until, 100).await.expect("claimed");
    let is_episode = |row: &&Claimed| row.topic.as_deref() == Some(telling::EPISODE_TOPIC);
    let diagnoses: Vec<_> = rows.iter().filter(|row| row.retain && !is_episode(row)).collect();
    assert_eq!(diagnoses.len(), 3);
    for row in diagnoses {
        let published: Diagnosis = serde_json::from_str(&row.payload).expect("a diagnosis");
        let stored = store.history().diagnosis(published.event_id).await.expect("read");
        assert_eq!(stored, Some(published), "what leaves is what is stored");
    }
    let left: Vec<_> = rows.iter().map(|row| (row.id, SendOutcome::Delivered)).collect();
    store.outbox().settle(&left, late).await.expect("settled");
}

/// A clock that was 400 days back while events were stored, and is right again; then one that is
/// 400 days ahead at one look. Nobody kept anything for a day yet.
pub(super) async fn no_clock_makes_anything_old_by_being_set(store: &Store) {
    let forget = Forget {
        events_days: 90,
        judgements_days: 90,
        told_days: 90,
        refused_days: 90,
        limit: 1000,
    };
    let back = -400.0 * DAY_S;
    store.retention().forget(&forget, at(0.0)).await.expect("looked");
    let first: Vec<Incoming> = (1..=4).map(|number| incoming(&event(number))).collect();
    store.intake().store(&first, at(back), "dead").await.expect("stored");
    judge_all(store).await;
    store.retention().forget(&forget, at(back)).await.expect("looked");
    for now in [0.0, -back, DAY_S] {
        store.retention().forget(&forget, at(now)).await.expect("looked");
        for number in 1..=4 {
            let id = event(number).event_id;
            assert!(store.history().event(id).await.expect("read").is_some(), "{number} at {now}");
            assert!(
                store.history().diagnosis(id).await.expect("read").is_some(),
                "{number} at {now}"
            );
        }
    }
    // its receipt was lost, so it comes again
    let again = store.intake().store(&first[1..2], at(DAY_S), "dead").await.expect("stored");
    assert_eq!((again.events, again.duplicates), (0, 1));
    assert_eq!(receipt(store).await, (4, vec![]));
}

/// An event that was forgotten and comes once more has a number that was counted before.
pub(super) async fn what_is_stored_is_not_missing(store: &Store) {
    put(store, &[event(1), event(2), event(3)]).await;
    judge_some(store, 2).await;
    days_pass(store, 2, 0.0).await;
    let forget = Forget { events_days: 1, limit: 1, ..Forget::default() };
    // of a week whose other events wait nothing goes, so on a server nothing is forgotten here
    let gone = store.retention().forget(&forget, at(DAY_S)).await.expect("forgotten").events;
    assert_eq!(put(store, &[event(1)]).await.uncounted, gone);
    put(store, &[event(4)]).await;
    assert_eq!(receipt(store).await, (4, vec![]));
    put(store, &[event(2), event(3)]).await;
    assert_eq!(receipt(store).await, (4, vec![]));
}
