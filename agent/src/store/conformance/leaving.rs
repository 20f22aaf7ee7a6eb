//! What leaves and what goes: alarms, the outbox, messages, retention.

use pdm_shared::delivery::{ACK_SCHEMA, Acknowledgement};
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::id::EventId;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;

use super::intake::receipt;
use super::{at, event, incoming, judge_all, judge_some, key, policy, put};
use crate::notify::{MQTT_LANE, webhook_lane};
use crate::store::{Forget, Incoming, Outcome, Store};

/// From one repetition of an alarm to the next as [`policy`] has it, s.
const REPEAT_S: f64 = 8.0 * 3600.0;

pub(super) async fn an_alarm_is_told_once_and_acknowledged(store: &dyn Store) {
    put(store, &[event(1), event(2)]).await;
    judge_all(store).await;
    let hook = webhook_lane("ops");
    let told = store.claim(&hook, at(20_000.0), at(20_100.0), 10).await.expect("claimed");
    assert_eq!(told.len(), 1, "one notification for two events of one risk");
    let alarm = store.alarm(&key()).await.expect("read").expect("stands");
    let due = store.alarms_to_repeat(at(50_000.0), REPEAT_S, 10).await.expect("read");
    assert_eq!(due, [(key(), alarm.clone())]);
    assert_eq!(store.alarms_to_repeat(at(10_001.0), REPEAT_S, 10).await.expect("read"), []);
    let again = policy().repeated(&key(), &alarm, at(50_000.0));
    let expected = Some(alarm.notification.notification_id);
    assert!(store.announce(&key(), expected, &again).await.expect("told"));
    assert!(!store.announce(&key(), expected, &again).await.expect("told"), "it was repeated");
    // the first notification of the standing level is as good as its repetition
    let ack = Acknowledgement {
        schema: ACK_SCHEMA.to_owned(),
        notification_id: expected,
        by: "kim".to_owned(),
        at: at(50_001.0),
        note: None,
    };
    let stranger = Acknowledgement { notification_id: Some(event(9).event_id.0), ..ack.clone() };
    let acknowledge = async |ack: Acknowledgement| {
        store
            .store(&[Incoming::Ack { key: key(), ack }], at(50_002.0), "dead")
            .await
            .expect("stored");
        store.alarm(&key()).await.expect("read").expect("stands").acknowledged
    };
    assert!(!acknowledge(stranger).await, "of nothing that was told");
    assert!(acknowledge(ack).await);
    assert_eq!(store.alarms_to_repeat(at(999_999.0), REPEAT_S, 10).await.expect("read"), []);
}

/// R-AGENT-10. It was silent until the day that the wrong clock had named.
pub(super) async fn an_alarm_of_a_clock_that_was_ahead_is_repeated(store: &dyn Store) {
    put(store, &[event(1)]).await;
    judge_all(store).await;
    let to_repeat =
        async |now: f64| store.alarms_to_repeat(at(now), REPEAT_S, 10).await.expect("read").len();
    // told at 10,000 s, to be repeated at 38,800 s
    assert_eq!(to_repeat(10_000.0 - 3600.0).await, 0, "clocks an hour apart are both right");
    assert_eq!(to_repeat(10_000.0 - 3601.0).await, 1, "told by a clock that is ahead");
    assert_eq!(to_repeat(-40.0 * 86_400.0).await, 1, "by weeks");
    let alarm = store.alarm(&key()).await.expect("read").expect("stands");
    let expected = Some(alarm.notification.notification_id);
    let again = policy().repeated(&key(), &alarm, at(0.0));
    assert!(store.announce(&key(), expected, &again).await.expect("told"));
    assert_eq!(to_repeat(1.0).await, 0, "told again, it waits as usual");
    assert_eq!(to_repeat(REPEAT_S).await, 1);
}

pub(super) async fn the_outbox_keeps_order_and_counts_tries(store: &dyn Store) {
    put(store, &[event(1), event(2), event(3)]).await;
    judge_all(store).await;
    let claim = async |now: f64| {
        store.claim(MQTT_LANE, at(now), at(now + 100.0), 10).await.expect("claimed")
    };
    let rows = claim(10_000.0).await;
    // each diagnosis, and the notification after the first
    assert_eq!(rows.iter().map(|row| row.retain).collect::<Vec<_>>(), [true, false, true, true]);
    assert!(rows.windows(2).all(|pair| pair[0].id < pair[1].id));
    assert_eq!(claim(10_001.0).await, [], "claimed already");
    assert_eq!(claim(10_101.0).await.len(), 4, "a claim ends by itself");
    let retry = Outcome::Retry { at: at(10_200.0), error: "away".to_owned() };
    let given_up = Outcome::GivenUp { error: "refused".to_owned() };
    let outcomes = [
        (rows[0].id, retry.clone()),
        (rows[1].id, given_up),
        (rows[2].id, Outcome::Delivered),
        (rows[3].id, retry),
    ];
    store.settle(&outcomes, at(10_150.0)).await.expect("settled");
    assert_eq!(claim(10_199.0).await, []);
    let rows_again = claim(10_200.0).await;
    let seen: Vec<(i64, u32, bool)> = rows_again
        .iter()
        .map(|row| (row.id, row.attempts, row.key == rows[0].key || row.key == rows[3].key))
        .collect();
    assert_eq!(seen, [(rows[0].id, 1, true), (rows[3].id, 1, true)]);
    let backlog = store.backlog().await.expect("counted");
    assert_eq!((backlog.unsent, backlog.given_up), (3, 1), "two here, one in the hook's lane");
}

pub(super) async fn a_message_is_told_once(store: &dyn Store) {
    let machine = key().equipment;
    assert_eq!(store.bearings_of(&machine).await.expect("read"), []);
    put(store, &[event(1)]).await;
    let waiting = store.bearings_of(&machine).await.expect("read");
    assert_eq!(waiting, [(key(), RiskLevel::Normal)], "before its first judgement");
    judge_all(store).await;
    let judged = store.bearings_of(&machine).await.expect("read");
    assert_eq!(judged, [(key(), RiskLevel::Warning)]);
    let hook = webhook_lane("ops");
    store.claim(&hook, at(20_000.0), at(90_000.0), 10).await.expect("claimed");
    let alarm = store.alarm(&key()).await.expect("read");
    let words = Text::new("가", "a");
    let (told, rows) = policy().message("call-1", &key(), RiskLevel::Critical, words, at(20_001.0));
    assert!(store.tell(&told, &rows).await.expect("told"));
    assert!(!store.tell(&told, &rows).await.expect("told"), "the same call again");
    assert_eq!(store.claim(&hook, at(20_002.0), at(90_000.0), 10).await.expect("claimed").len(), 1);
    assert_eq!(store.alarm(&key()).await.expect("read"), alarm, "it is no alarm");
}

pub(super) async fn what_is_old_goes_and_what_waits_stays(store: &dyn Store) {
    let weeks = |count: f64| count * 7.0 * 86_400.0;
    let of = |sequence: u64, seconds: f64| {
        let mut event = event(sequence);
        event.measured_at = at(seconds);
        event.event_id = EventId::at(event.measured_at.unix_ms());
        event
    };
    let events = [of(1, weeks(-30.0)), of(2, weeks(-29.0)), of(3, weeks(-1.0))];
    store
        .store(&[incoming(&events[0]), incoming(&events[1])], at(weeks(-29.0)), "dead")
        .await
        .expect("stored");
    assert_eq!(judge_some(store, 1).await, 1);
    store.store(&[incoming(&events[2])], at(weeks(-1.0)), "dead").await.expect("stored");
    let forget = Forget { events_before: Some(at(weeks(-10.0))), limit: 10, ..Forget::default() };
    store.forget(&forget, at(0.0)).await.expect("forgotten");
    let there =
        async |number: usize| store.event(events[number].event_id).await.expect("read").is_some();
    assert!(!there(0).await, "judged and old");
    assert!(there(1).await, "it waits for its judgement");
    assert!(there(2).await, "young");
    assert!(store.diagnosis(events[0].event_id).await.expect("read").is_some(), "kept for longer");
    assert_eq!(receipt(store).await, (3, vec![]), "the sequence knows nothing of it");
    judge_all(store).await;
    let all = Some(at(30_000.0));
    what_has_not_left_keeps_its_judgement(store, Forget { judgements_before: all, ..forget }).await;
    let forget = Forget {
        events_before: Some(at(weeks(-10.0))),
        judgements_before: all,
        told_before: all,
        refused_before: all,
        limit: 2,
    };
    let gone = store.forget(&forget, at(0.0)).await.expect("forgotten");
    assert!(gone.judgements == 2 && gone.has_more, "a bounded amount: {gone:?}");
    let gone = store.forget(&forget, at(0.0)).await.expect("forgotten");
    assert!(gone.judgements == 1 && !gone.has_more, "{gone:?}");
    assert!(!there(1).await && there(2).await);
    assert!(store.trace(events[0].event_id).await.expect("read").is_empty());
    assert!(store.alarm(&key()).await.expect("read").is_some(), "it stands");
    assert_eq!(store.backlog().await.expect("counted").unsent, 1, "the hook's has not left");
}

/// Every row of the broker's lane is claimed; afterwards all have left.
async fn what_has_not_left_keeps_its_judgement(store: &dyn Store, forget: Forget) {
    assert_eq!(store.forget(&forget, at(0.0)).await.expect("forgotten").judgements, 0);
    let rows = store.claim(MQTT_LANE, at(20_200.0), at(20_300.0), 100).await.expect("claimed");
    let diagnoses: Vec<_> = rows.iter().filter(|row| row.retain).collect();
    assert_eq!(diagnoses.len(), 3);
    for row in diagnoses {
        let published: Diagnosis = serde_json::from_str(&row.payload).expect("a diagnosis");
        let stored = store.diagnosis(published.event_id).await.expect("read");
        assert_eq!(stored, Some(published), "what leaves is what is stored");
    }
    let left: Vec<_> = rows.iter().map(|row| (row.id, Outcome::Delivered)).collect();
    store.settle(&left, at(20_250.0)).await.expect("settled");
}
