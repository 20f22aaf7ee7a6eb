//! What every implementation of [`Store`] must do, whatever the database. Each claim starts from an
//! empty store.

use std::sync::Arc;

use pdm_expert::case::{Case, Memory};
use pdm_expert::judge;
use pdm_expert::rules::Rules;
use pdm_shared::clock::Timestamp;
use pdm_shared::delivery::{ACK_SCHEMA, Acknowledgement, DeadLetter, Presence, STATUS_SCHEMA};
use pdm_shared::event::{Event, Spectra, SpectrumLines};
use pdm_shared::id::EventId;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::topic::Prefix;

use super::{
    BearingJudged, Checkpoint, FollowUp, FollowUpState, Forget, Incoming, Judged, Outcome, Store,
    Stored, TraceStep,
};
use crate::notify::policy::Policy;
use crate::notify::{MQTT_LANE, webhook_lane};
use crate::progress::BearingKey;
use crate::settings::{NotifySettings, WebhookSettings};

pub(super) fn at(seconds: f64) -> Timestamp {
    Timestamp::from_unix_ms(1_795_238_000_000).expect("in range").plus_seconds(seconds)
}

pub(super) fn event(sequence: u64) -> Event {
    let mut event: Event =
        serde_json::from_str(include_str!("../../../config/examples/event.json")).expect("event");
    event.sequence = sequence;
    event.measured_at = at(sequence as f64 * 60.0);
    let id = 0x0193_6f3e_7c1a_7b52_9a6e_0000_0000_0000_u128 + u128::from(sequence);
    event.event_id = EventId(uuid::Uuid::from_u128(id));
    event
}

pub(super) fn incoming(event: &Event) -> Incoming {
    let payload = serde_json::to_string(event).expect("json");
    Incoming::Event { event: Box::new(event.clone()), payload }
}

async fn put(store: &dyn Store, events: &[Event]) -> Stored {
    let batch: Vec<Incoming> = events.iter().map(incoming).collect();
    store.store(&batch, at(0.0), "dead").await.expect("stored")
}

fn key() -> BearingKey {
    let event = event(1);
    BearingKey { site: event.site, equipment: event.equipment_id, bearing: event.bearing_id }
}

fn policy() -> Policy {
    let hook = WebhookSettings {
        name: "ops".to_owned(),
        url: Some("http://127.0.0.1:1/".to_owned()),
        url_secret: None,
        format: crate::settings::WebhookFormat::Generic,
        language: crate::settings::Languages::Both,
        from: RiskLevel::Watch,
    };
    let settings = NotifySettings { webhook: vec![hook], ..NotifySettings::default() };
    Policy::new(settings, Prefix::default())
}

fn step(number: u32) -> TraceStep {
    TraceStep {
        number,
        node: "reasoning".to_owned(),
        at: at(f64::from(number)),
        detail: serde_json::json!({ "round": number, "결론": "외륜" }),
    }
}

fn to_do() -> FollowUp {
    FollowUp {
        action: Text::new("예비품 확인", "Check the spare"),
        due_at: Some(at(3600.0)),
        state: FollowUpState::Open,
        by: None,
        at: None,
        note: None,
    }
}

/// Judges everything that waits, as the judging task does.
async fn judge_all(store: &dyn Store) {
    judge_some(store, 100).await;
}

/// Judges what waits, at most so many; tells how many that were.
pub(super) async fn judge_some(store: &dyn Store, limit: u32) -> u64 {
    let waiting = store.unjudged(limit).await.expect("read");
    let count = waiting.len() as u64;
    for unjudged in waiting {
        let key = || BearingKey { bearing: unjudged.event.bearing_id.clone(), ..key() };
        let recall = store.recall(&key()).await.expect("recalled");
        let case = Case { event: &unjudged.event, memory: &recall.memory, now: at(10_000.0) };
        let judgement = judge(&case, &Rules::default());
        let policy = policy();
        let announcement = policy.judged(
            &key(),
            &judgement.diagnosis,
            &judgement.state,
            recall.alarm.as_ref(),
            at(10_000.0),
        );
        let judged = Judged {
            arrival: unjudged.arrival,
            measured_at: unjudged.event.measured_at,
            late: judgement.late,
            outgoing: vec![policy.publication(&key(), &judgement.diagnosis)],
            diagnosis: judgement.diagnosis,
            announcement,
            follow_up: vec![to_do()],
            trace: vec![step(1), step(2), step(3)],
        };
        let bearing =
            BearingJudged { key: key(), judgements: vec![judged], state: judgement.state };
        store.save(std::slice::from_ref(&bearing)).await.expect("saved");
        // the same again, as after a crash that hid the commit: nothing twice
        store.save(&[bearing]).await.expect("saved again");
    }
    count
}

/// Runs the whole suite; `fresh` gives an empty store each time.
pub(super) async fn suite<F, S>(fresh: F)
where
    F: AsyncFn() -> S,
    S: Store + 'static,
{
    let fresh = async || {
        let store = fresh().await;
        store.migrate().await.expect("migrated");
        store.migrate().await.expect("a second time changes nothing");
        let store: Arc<dyn Store> = Arc::new(store);
        store
    };
    an_event_is_stored_once(&*fresh().await).await;
    sequences_are_followed(&*fresh().await).await;
    a_gateway_may_count_anew(&*fresh().await).await;
    gaps_are_lost_in_the_end(&*fresh().await).await;
    judgements_are_remembered(&*fresh().await).await;
    the_past_of_a_bearing_is_read_back(&*fresh().await).await;
    a_run_is_resumed_where_it_stood(&*fresh().await).await;
    what_is_to_be_done_is_followed(&*fresh().await).await;
    an_alarm_is_told_once_and_acknowledged(&*fresh().await).await;
    the_outbox_keeps_order_and_counts_tries(&*fresh().await).await;
    refused_messages_do_not_pile_up(&*fresh().await).await;
    presence_is_noted(&*fresh().await).await;
    what_is_old_goes_and_what_waits_stays(&*fresh().await).await;
    a_message_is_told_once(&*fresh().await).await;
}

async fn an_event_is_stored_once(store: &dyn Store) {
    let events = [event(1), event(2), event(1)];
    let stored = put(store, &events).await;
    assert_eq!((stored.events, stored.duplicates), (2, 1));
    let stored = put(store, &events).await;
    assert_eq!((stored.events, stored.duplicates), (0, 3));
    let waiting = store.unjudged(10).await.expect("read");
    let waiting: Vec<Event> = waiting.into_iter().map(|unjudged| unjudged.event).collect();
    assert_eq!(waiting, events[..2], "in the order of arrival, unchanged");
    assert_eq!(store.unjudged(1).await.expect("read").len(), 1);
}

async fn receipt(store: &dyn Store) -> (u64, Vec<[u64; 2]>) {
    let receipts = store.receipts(&[event(1).gateway_id], at(1.0)).await.expect("receipts");
    let (site, receipt) = receipts.into_iter().next().expect("one");
    assert_eq!(site, event(1).site);
    (receipt.stored_through, receipt.missing)
}

async fn sequences_are_followed(store: &dyn Store) {
    let none = store.receipts(&[event(1).gateway_id], at(1.0)).await.expect("receipts");
    assert_eq!(none, []);
    put(store, &[event(3)]).await;
    assert_eq!(receipt(store).await, (0, vec![[1, 2]]));
    put(store, &[event(1), event(2)]).await;
    assert_eq!(receipt(store).await, (3, vec![]));
    put(store, &[event(10), event(6)]).await;
    assert_eq!(receipt(store).await, (3, vec![[4, 5], [7, 9]]));
    put(store, &[event(8), event(4), event(5)]).await;
    assert_eq!(receipt(store).await, (6, vec![[7, 7], [9, 9]]));
    put(store, &[event(9), event(7), event(7)]).await;
    assert_eq!(receipt(store).await, (10, vec![]));
}

async fn a_gateway_may_count_anew(store: &dyn Store) {
    put(store, &[event(1), event(2), event(3)]).await;
    let mut again = event(1);
    again.event_id = EventId::at(at(500.0).unix_ms());
    put(store, &[again]).await;
    assert_eq!(receipt(store).await, (1, vec![]), "nothing of the new count is promised");
}

async fn gaps_are_lost_in_the_end(store: &dyn Store) {
    put(store, &[event(1), event(5)]).await;
    assert_eq!(store.lose_gaps(at(-1.0)).await.expect("looked"), 0, "too early");
    assert_eq!(store.lose_gaps(at(1.0)).await.expect("looked"), 3);
    assert_eq!(receipt(store).await, (5, vec![]));
    put(store, &[event(3)]).await;
    assert_eq!(receipt(store).await, (5, vec![]), "a lost one that comes is no new count");
    let gateway = store.gateways().await.expect("gateways").remove(0);
    assert_eq!(gateway.lost_events, 2);
}

async fn judgements_are_remembered(store: &dyn Store) {
    let events: Vec<Event> = (1..=7).map(event).collect();
    put(store, &events).await;
    judge_all(store).await;
    assert_eq!(store.unjudged(10).await.expect("read").len(), 0);
    let recall = store.recall(&key()).await.expect("recalled");
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
    let recall = store.recall(&other).await.expect("recalled");
    assert_eq!(recall.memory, Memory::default(), "of this bearing only");
}

async fn a_run_is_resumed_where_it_stood(store: &dyn Store) {
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

async fn what_is_to_be_done_is_followed(store: &dyn Store) {
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

async fn the_past_of_a_bearing_is_read_back(store: &dyn Store) {
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

async fn an_alarm_is_told_once_and_acknowledged(store: &dyn Store) {
    put(store, &[event(1), event(2)]).await;
    judge_all(store).await;
    let hook = webhook_lane("ops");
    let told = store.claim(&hook, at(20_000.0), at(20_100.0), 10).await.expect("claimed");
    assert_eq!(told.len(), 1, "one notification for two events of one risk");
    let alarm = store.alarm(&key()).await.expect("read").expect("stands");
    let due = store.alarms_to_repeat(at(50_000.0), 10).await.expect("read");
    assert_eq!(due, [(key(), alarm.clone())]);
    assert_eq!(store.alarms_to_repeat(at(10_001.0), 10).await.expect("read"), []);
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
    assert_eq!(store.alarms_to_repeat(at(999_999.0), 10).await.expect("read"), []);
}

async fn the_outbox_keeps_order_and_counts_tries(store: &dyn Store) {
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

async fn refused_messages_do_not_pile_up(store: &dyn Store) {
    let letter = |payload: &str| {
        Incoming::Refused(DeadLetter::of(
            "t",
            payload.as_bytes(),
            "not an event: x".to_owned(),
            at(0.0),
        ))
    };
    let batch = [letter("a"), letter("a"), letter("b"), letter("a")];
    let stored = store.store(&batch, at(0.0), "pdm/v1/dead-letter").await.expect("stored");
    assert_eq!((stored.refused, stored.letters), (4, 2));
    let rows = store.claim(MQTT_LANE, at(1.0), at(2.0), 10).await.expect("claimed");
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0].topic.as_deref(), Some("pdm/v1/dead-letter"));
    assert_eq!(store.backlog().await.expect("counted").dead_letters, 2);
}

async fn presence_is_noted(store: &dyn Store) {
    let say = async |presence: Presence, seconds: f64| {
        let status = pdm_shared::delivery::GatewayStatus {
            schema: STATUS_SCHEMA.to_owned(),
            gateway_id: event(1).gateway_id,
            status: presence,
            at: at(seconds),
            version: None,
            bearings: Vec::new(),
            last_sequence: None,
            spooled: None,
            dropped: None,
        };
        let incoming = Incoming::Status { site: event(1).site, status };
        store.store(&[incoming], at(seconds), "dead").await.expect("stored");
        store.gateways().await.expect("gateways").remove(0).presence
    };
    assert_eq!(say(Presence::Online, 1.0).await, Some((Presence::Online, at(1.0))));
    assert_eq!(say(Presence::Offline, 5.0).await, Some((Presence::Offline, at(5.0))));
    assert_eq!(say(Presence::Offline, 9.0).await, Some((Presence::Offline, at(5.0))), "since when");
}

async fn a_message_is_told_once(store: &dyn Store) {
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

async fn what_is_old_goes_and_what_waits_stays(store: &dyn Store) {
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
    let told = store.claim(MQTT_LANE, at(20_000.0), at(20_100.0), 100).await.expect("claimed");
    let all = Some(at(30_000.0));
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
    let again = store.claim(MQTT_LANE, at(20_200.0), at(20_300.0), 100).await.expect("claimed");
    assert_eq!(again.len(), told.len(), "what has not left stays");
}
