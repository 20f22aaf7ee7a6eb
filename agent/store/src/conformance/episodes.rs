//! Episodes: shelves, the axes that are changed by others, closed episodes.

use pdm_routes::Telling;
use pdm_shared::delivery::{ACK_SCHEMA, Acknowledgement};
use pdm_shared::episode::{
    EpisodeDocument, EpisodeState, SHELVE_SCHEMA, Shelve, ShelveAction, Suppression,
};
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use uuid::Uuid;

use super::leaving::stands;
use super::{at, event, judge_all, key, put, telling};
use crate::{Alarm, Beside, EpisodeChange, Incoming, MQTT_LANE, Store};

fn shelve(action: ShelveAction, until: Option<f64>) -> Shelve {
    Shelve {
        schema: SHELVE_SCHEMA.to_owned(),
        action,
        until: until.map(at),
        by: "kim\u{0}".to_owned(),
        reason: "예비품 대기".to_owned(),
        work_order: None,
        at: at(10_000.0),
    }
}

async fn ask(store: &Store, key: BearingKey, shelve: Shelve, now: f64) -> u64 {
    let batch = [Incoming::Shelve { key, shelve, topic: telling::EPISODE_TOPIC.to_owned() }];
    store.intake().store(&batch, at(now), "dead").await.expect("stored").refused
}

/// R-AGENT-10: a shelf stops the repetitions, is listed when its time is over, and is refused for a
/// bearing that is not known. Every change is published, retained.
pub(super) async fn a_bearing_is_shelved_and_told_of_at_its_end(store: &Store) {
    put(store, &[event(1)]).await;
    judge_all(store).await;
    let stranger = BearingKey { bearing: "X".parse().expect("name"), ..key() };
    let long = || shelve(ShelveAction::Shelve, Some(100_000.0));
    assert_eq!(ask(store, stranger, long(), 10_001.0).await, 1, "never judged");
    assert_eq!(ask(store, key(), shelve(ShelveAction::End, None), 10_001.0).await, 1, "none");
    assert_eq!(ask(store, key(), long(), 10_001.0).await, 0);
    assert_eq!(stands(store).await.episode.state(), EpisodeState::Shelved);
    let to_repeat = store.episodes().episodes_to_repeat(at(90_000.0), telling::REPEAT_S, 10).await;
    assert_eq!(to_repeat.expect("read"), [], "shelved");
    assert_eq!(store.episodes().suppressions_over(at(99_999.0), 9).await.expect("read").len(), 0);
    assert_eq!(store.episodes().suppressions_over(at(100_000.0), 9).await.expect("read").len(), 1);
    assert_eq!(ask(store, key(), shelve(ShelveAction::End, None), 50_000.0).await, 0);
    let over = store.episodes().suppressions_over(at(50_000.0), 9).await.expect("read");
    assert_eq!(over.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>(), [key()]);
    let rows = store.outbox().claim(MQTT_LANE, at(1e6), at(2e6), 100).await.expect("claimed");
    let published = rows.iter().filter(|row| row.topic.as_deref() == Some(telling::EPISODE_TOPIC));
    let documents: Vec<EpisodeDocument> = published
        .map(|row| {
            assert!(row.retain);
            serde_json::from_str(&row.payload).expect("an episode")
        })
        .collect();
    let states: Vec<EpisodeState> = documents.iter().map(|one| one.episode_state).collect();
    let (active, shelved) = (EpisodeState::UnacknowledgedActive, EpisodeState::Shelved);
    assert_eq!(states, [active, shelved, shelved]);
    let sequences: Vec<u64> = documents.iter().map(|one| one.episode_sequence).collect();
    assert_eq!(sequences, [1, 2, 3]);
}

/// An acknowledgement and a shelf that come while a window is judged stay.
pub(super) async fn an_acknowledgement_and_a_window_change_their_own_axis(store: &Store) {
    put(store, &[event(1)]).await;
    judge_all(store).await;
    let before = stands(store).await;
    let ack = Acknowledgement {
        schema: ACK_SCHEMA.to_owned(),
        notification_id: None,
        by: "kim".to_owned(),
        at: at(10_001.0),
        note: None,
        episode_id: Some(before.episode.id),
        via: Some("cli".to_owned()),
    };
    let batch = [Incoming::Ack { key: key(), ack, topic: telling::EPISODE_TOPIC.to_owned() }];
    store.intake().store(&batch, at(10_002.0), "dead").await.expect("stored");
    ask(store, key(), shelve(ShelveAction::OutOfService, Some(100_000.0)), 10_003.0).await;
    // decided before both
    let quiet = telling::frozen(&before, at(10_004.0));
    assert!(!store.episodes().change(&key(), Some(before.version()), &quiet).await.expect("asked"));
    let now = stands(store).await;
    assert!(store.episodes().change(&key(), Some(now.version()), &quiet).await.expect("written"));
    let after = stands(store).await;
    assert!(after.episode.acknowledgement.is_acknowledged());
    assert_eq!(after.episode.state(), EpisodeState::OutOfService);
    assert_eq!(after.episode.course.condition.as_str(), "frozen");
    assert_eq!(after.episode.sequence, now.episode.sequence + 1);
}

/// How far an alarm was told is stored with it; the next step is due until somebody has seen it.
pub(super) async fn a_step_is_due_until_somebody_acknowledges(store: &Store) {
    let telling = |next: f64| Telling {
        route: Some("밤".to_owned()),
        begun: Some(at(10_000.0)),
        steps: 1,
        heard: ["kim".to_owned()].into(),
        everybody: false,
        next: Some(at(next)),
    };
    let mut told = telling::risen(&key(), RiskLevel::Warning, None, at(10_000.0)).expect("told");
    let alarm = told.episode.as_mut().and_then(|change| change.alarm.as_mut()).expect("an alarm");
    alarm.telling = Some(telling(20_000.0));
    assert!(store.episodes().announce(&key(), None, &told).await.expect("told"));
    assert_eq!(store.episodes().episodes_to_tell(at(19_999.0), 9).await.expect("read").len(), 0);
    let due = store.episodes().episodes_to_tell(at(20_000.0), 9).await.expect("read");
    let record = due.first().map(|(_, record)| record.clone()).expect("due");
    assert_eq!(
        record.alarm.as_ref().and_then(|alarm| alarm.telling.clone()),
        Some(telling(20_000.0))
    );
    // one of two replicas goes on
    let mut change = telling::frozen(&record, at(20_000.0));
    let on =
        |next| record.alarm.clone().map(|alarm| Alarm { telling: Some(telling(next)), ..alarm });
    change.alarm = on(30_000.0).map(Box::new);
    assert!(
        store.episodes().change(&key(), Some(record.version()), &change).await.expect("written")
    );
    assert!(
        !store.episodes().change(&key(), Some(record.version()), &change).await.expect("asked")
    );
    assert_eq!(store.episodes().episodes_to_tell(at(29_999.0), 9).await.expect("read").len(), 0);
    let ack = Acknowledgement {
        schema: ACK_SCHEMA.to_owned(),
        notification_id: None,
        by: "kim".to_owned(),
        at: at(25_000.0),
        note: None,
        episode_id: Some(record.episode.id),
        via: None,
    };
    assert_eq!(store.episodes().episodes_to_tell(at(30_000.0), 9).await.expect("read").len(), 1);
    let batch = [Incoming::Ack { key: key(), ack, topic: telling::EPISODE_TOPIC.to_owned() }];
    store.intake().store(&batch, at(25_000.0), "dead").await.expect("stored");
    assert_eq!(
        store.episodes().episodes_to_tell(at(30_000.0), 9).await.expect("read").len(),
        0,
        "seen"
    );
}

/// The alarms that staff was told of lately on a site are found, and the episodes told with them.
pub(super) async fn alarms_of_one_cause_are_found(store: &Store) {
    let told = telling::risen(&key(), RiskLevel::Warning, None, at(10_000.0)).expect("told");
    assert!(store.episodes().announce(&key(), None, &told).await.expect("told"));
    let lately = store.judging().told_lately(&key().site, at(10_000.0), 9).await.expect("read");
    let found: Vec<_> = lately.iter().map(|one| (one.key.clone(), one.level, one.at)).collect();
    assert_eq!(found, [(key(), RiskLevel::Warning, at(10_000.0))]);
    assert_eq!(
        store.judging().told_lately(&key().site, at(10_001.0), 9).await.expect("read"),
        [],
        "before"
    );
    assert_eq!(store.episodes().told_beside(Uuid::nil(), 9).await.expect("read"), []);
    let record = stands(store).await;
    let source = pdm_shared::id::BearingKey { bearing: "NDE".parse().expect("name"), ..key() };
    let with = Beside { source, level: RiskLevel::Warning };
    let mut change = telling::frozen(&record, at(20_000.0));
    change.episode.suppression = Suppression::ByDesign { reason: "one cause".to_owned() };
    change.suppresses = true;
    change.beside = Some(with.clone());
    assert!(
        store.episodes().change(&key(), Some(record.version()), &change).await.expect("written")
    );
    let beside = store.episodes().told_beside(Uuid::nil(), 9).await.expect("read");
    let found: Vec<_> = beside.iter().map(|(key, one)| (key.clone(), one.beside.clone())).collect();
    assert_eq!(found, [(key(), Some(with.clone()))]);
    // those that stay beside another alarm hide none after them
    let last = beside[0].1.episode.id;
    assert_eq!(store.episodes().told_beside(last, 9).await.expect("read"), []);
    // a window changes the condition alone
    let record = stands(store).await;
    let window = EpisodeChange { suppresses: false, beside: None, ..change };
    assert!(
        store.episodes().change(&key(), Some(record.version()), &window).await.expect("written")
    );
    assert_eq!(stands(store).await.beside, Some(with));
    assert_eq!(
        store.judging().told_lately(&key().site, at(10_000.0), 9).await.expect("read"),
        [],
        "withheld"
    );
}

pub(super) async fn one_episode_is_open_and_the_closed_ones_are_listed(store: &Store) {
    put(store, &[event(1)]).await;
    judge_all(store).await;
    let first = stands(store).await;
    let over = telling::over(&first, at(20_000.0));
    assert!(store.episodes().announce(&key(), Some(first.version()), &over).await.expect("told"));
    let closed = store.episodes().episode(&key()).await.expect("read").expect("kept");
    assert_eq!((closed.episode.id, closed.is_open()), (first.episode.id, false));
    assert!(
        store.pages().standing(&key()).await.expect("read").is_some_and(|one| one.alarm.is_none())
    );
    let spalled = "the outer race was spalled";
    store.desk().remark(&key(), "Kim", spalled, at(25_000.0)).await.expect("noted");
    let again = telling::risen(&key(), RiskLevel::Watch, None, at(30_000.0)).expect("told");
    assert!(store.episodes().announce(&key(), None, &again).await.expect("told"));
    assert!(!store.episodes().announce(&key(), None, &again).await.expect("asked"), "one is open");
    let open = store.episodes().episodes(at(1e9), true, 9).await.expect("read");
    let all = store.episodes().episodes(at(1e9), false, 9).await.expect("read");
    assert_eq!((open.len(), all.len()), (1, 2));
    assert!(open[0].1.episode.id != first.episode.id && all[1].1.episode.id == first.episode.id);
    let of_bearing = store.episodes().episodes_of_bearing(&key(), 9).await.expect("read");
    let ids: Vec<_> = of_bearing.iter().map(|record| record.episode.id).collect();
    assert_eq!(ids, [open[0].1.episode.id, first.episode.id], "of the bearing, newest first");
    let other = BearingKey { bearing: "NDE".parse().expect("name"), ..key() };
    assert!(store.episodes().episodes_of_bearing(&other, 9).await.expect("read").is_empty());
    // what was found at the repair belongs to the episode that it ended
    store.desk().remark(&key(), "Lee", "it hums again", at(35_000.0)).await.expect("noted");
    for (opened_at, by) in [(first.episode.opened_at, "Kim"), (open[0].1.episode.opened_at, "Lee")]
    {
        let remarks = store.desk().remarks(&key(), opened_at).await.expect("read");
        assert_eq!(remarks.iter().map(|one| one.by.as_str()).collect::<Vec<_>>(), [by]);
    }
}
