//! Stores with rows of earlier versions: of the schema before gateways were named by their sites,
//! and with names that this version no longer takes.

use pdm_shared::episode::AcknowledgementState;
use pdm_shared::event::Event;
use pdm_shared::id::{BearingKey, EventId, GatewayKey};
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;

use super::{at, event, incoming, judge_some, key};
use crate::Store;

/// Runs the claims of this file; `fresh` gives an empty store without a schema each time.
pub(crate) async fn suite(fresh: impl AsyncFn() -> Store) {
    rows_of_before_go_on_under_their_sites(&fresh().await).await;
    alarms_of_before_are_episodes(&fresh().await).await;
    an_alarm_told_beside_another_is_still(&fresh().await).await;
    a_bearing_keeps_the_judgement_of_its_newest_window(&fresh().await).await;
    windows_of_before_are_shown_beside_new_ones(&fresh().await).await;
    a_name_that_is_no_longer_taken_hides_no_other_row(&fresh().await).await;
}

/// The identity of an event as a literal.
fn id(store: &Store, number: u32) -> String {
    let number = 0x0193_6f3e_7c1a_7b52_9a6e_0000_0000_0000_u128 + u128::from(number);
    let uuid = uuid::Uuid::from_u128(number);
    if store.is_file() { format!("x'{}'", uuid.simple()) } else { format!("'{uuid}'") }
}

/// One event of an earlier version, which was judged.
async fn put(store: &Store, number: u32, site: &str, gateway: &str, sequence: i64) {
    let (id, at_ms) = (id(store, number), 1000 * i64::from(number));
    let judged = if store.is_file() { (", judged", ", 1") } else { ("", "") };
    let sql = format!(
        "INSERT INTO events (event_id, gateway_id, sequence, site, equipment_id, bearing_id,
                             measured_at_ms, received_at_ms, payload{})
         VALUES ({id}, '{gateway}', {sequence}, '{site}', 'P', 'A', {at_ms}, {at_ms}, '{{}}'{})",
        judged.0, judged.1
    );
    store.raw(&sql).await;
}

fn gateway(name: &str) -> GatewayKey {
    name.parse().expect("a name")
}

/// Rows as the schema before 0010 has them.
async fn rows_of_before(store: &Store) {
    store
        .raw(
            "INSERT INTO gateways (gateway_id, site, highest_sequence, lost_events, \
             last_event_at_ms,
                                   presence, presence_at_ms)
             VALUES ('gw-01', 'ulsan-1', 7, 2, 1000, 'online', 900),
                    ('gw-02', 's1', 50, 0, 2000, NULL, NULL),
                    ('gw-03', 's3', 9223372036854775807, 0, 3000, NULL, NULL),
                    ('gw-05', 's5', 4, 0, NULL, 'offline', 5000)",
        )
        .await;
    store
        .raw(
            "INSERT INTO sequence_gaps (gateway_id, first_sequence, last_sequence, noticed_at_ms, \
             lost)
             VALUES ('gw-01', 1, 2, 100, TRUE), ('gw-01', 4, 5, 200, FALSE),
                    ('gw-02', 5, 6, 300, FALSE), ('gw-02', 20, 30, 300, FALSE),
                    ('gw-03', 13, 9223372036854775806, 300, FALSE)",
        )
        .await;
    put(store, 1, "ulsan-1", "gw-01", 7).await;
    for (number, site, sequence) in [(2, "s1", 3), (3, "s1", 9), (4, "s2", 4), (5, "s2", 50)] {
        put(store, number, site, "gw-02", sequence).await;
    }
    for (number, sequence) in [(6, 12), (7, i64::MAX)] {
        put(store, number, "s3", "gw-03", sequence).await;
    }
    store
        .raw(
            "INSERT INTO bearings (site, equipment_id, bearing_id, risk_level, fault_stage,
                                   updated_at_ms, state)
             VALUES ('s1', 'P', 'A', 'Normal', 0, 0, '{}'), ('s2', 'P', 'A', 'Normal', 0, 0, '{}'),
                    ('s1', 'P', 'unmeasured', 'Normal', 0, 0, '{}')",
        )
        .await;
}

/// Migration 0010 on rows of before: a gateway keeps its number, gaps and losses; two sites that
/// shared a row are two gateways, each at its own number; a number that a forged event had set is
/// gone; a bearing belongs to the gateway that measured it.
async fn rows_of_before_go_on_under_their_sites(store: &Store) {
    store.migrate_before(10).await;
    rows_of_before(store).await;
    store.migrate().await.expect("migrated");
    let gateways = store.gateways().gateways().await.expect("read");
    let told: Vec<(String, u64, u64)> = gateways
        .iter()
        .map(|one| (one.gateway.to_string(), one.highest_sequence, one.lost_events))
        .collect();
    let expected = [
        ("s1/gw-02", 9, 0),
        ("s2/gw-02", 50, 0),
        ("s3/gw-03", 12, 0),
        ("s5/gw-05", 4, 0),
        ("ulsan-1/gw-01", 7, 2),
    ];
    assert_eq!(told, expected.map(|(name, highest, lost)| (name.to_owned(), highest, lost)));
    assert!(gateways.iter().all(|one| !one.proven), "nobody has proven himself yet");
    let presence: Vec<bool> = gateways.iter().map(|one| one.presence.is_some()).collect();
    assert_eq!(presence, [false, false, false, true, true]);
    let asked = [gateway("ulsan-1/gw-01"), gateway("s1/gw-02"), gateway("s2/gw-02")];
    let receipts = store.gateways().receipts(&asked, at(0.0)).await.expect("read");
    let receipts: Vec<(u64, Vec<[u64; 2]>)> =
        receipts.into_iter().map(|(_, one)| (one.stored_through, one.missing)).collect();
    assert_eq!(receipts, [(3, vec![[4, 5]]), (4, vec![[5, 6]]), (50, vec![])]);
    let owners = store.gateways().bearing_owners().await.expect("read");
    let owners: Vec<String> = owners.iter().map(|(key, by)| format!("{key} {by}")).collect();
    assert_eq!(owners, ["s1/P/A s1/gw-02", "s2/P/A s2/gw-02"]);
    // the count goes on where it stood
    let mut next = event(8);
    (next.site, next.gateway_id) =
        (gateway("ulsan-1/gw-01").site, gateway("ulsan-1/gw-01").gateway);
    store.intake().store(&[incoming(&next)], at(0.0), "dead").await.expect("stored");
    let receipt = store.gateways().receipts(&asked[..1], at(0.0)).await.expect("read");
    assert_eq!((receipt[0].1.stored_through, &receipt[0].1.missing), (3, &vec![[4, 5]]));
}

/// Migration 0042: lists of bearings show what they showed before.
async fn a_bearing_keeps_the_judgement_of_its_newest_window(store: &Store) {
    store.migrate_before(42).await;
    // the window of 2 s came last
    let judgements =
        [(1, 1000, "8.5"), (2, 3000, "6.5"), (3, 2000, "NULL")].map(|(n, at_ms, life)| {
            format!(
            "({}, 'ulsan-1', 'P-101', 'DE', {at_ms}, 9000, FALSE, 0, 'Normal', 'steady', {life}, \
             '{{}}', '',
              '', '{{}}', '[]', '{{}}')",
            id(store, n)
        )
        });
    store
        .raw(&format!(
            "INSERT INTO bearings (site, equipment_id, bearing_id, risk_level, fault_stage,
                                   updated_at_ms, state)
             VALUES ('ulsan-1', 'P-101', 'DE', 'Normal', 0, 0, '{{}}'),
                    ('ulsan-1', 'P-101', 'NDE', 'Normal', 0, 0, '{{}}');
             INSERT INTO pdm_agent_memory (event_id, site, equipment_id, bearing_id, measured_at_ms,
                                           judged_at_ms, late, fault_stage, risk_level,
                                           degradation_speed, rul_hours, rul_assessment,
                                           recommendation_ko, recommendation_en, uncertainty, \
             tool_use,
                                           diagnosis)
             VALUES {}",
            judgements.join(", ")
        ))
        .await;
    store.migrate().await.expect("migrated");
    let fleet = store.pages().fleet().await.expect("read");
    let told: Vec<_> = fleet.iter().map(|one| (one.measured_at, one.rul_hours)).collect();
    let newest = Timestamp::from_unix_ms(3000);
    assert_eq!(told, [(newest, Some(6.5)), (None, None)]);
    assert!(fleet[0].event_id.is_some() && fleet[1].event_id.is_none(), "{fleet:?}");
}

/// Migration 0043: windows of before are told by their events, and one that cannot be read hides no
/// other.
async fn windows_of_before_are_shown_beside_new_ones(store: &Store) {
    store.migrate_before(43).await;
    let (before, after) = (event(1), event(3));
    for (number, payload) in
        [(1, serde_json::to_string(&before).expect("json")), (2, "{}".to_owned())]
    {
        let (id, at_ms) = (id(store, number), before.measured_at.unix_ms());
        let sql = format!(
            "INSERT INTO events (event_id, gateway_id, sequence, site, equipment_id, bearing_id,
                                 measured_at_ms, received_at_ms, payload)
             VALUES ({id}, 'gw-01', {number}, 'ulsan-1', 'P-101', 'DE', {at_ms}, {at_ms}, \
             '{payload}')"
        );
        store.raw(&sql).await;
    }
    store.migrate().await.expect("migrated");
    store.intake().store(&[incoming(&after)], at(0.0), "dead").await.expect("stored");
    let windows = store.pages().windows(&key(), at(1e6), 9).await.expect("read");
    let told: Vec<_> = windows.iter().map(|one| (one.measured_at, one.rms_g)).collect();
    let of = |event: &Event| (event.measured_at, event.time_domain.rms_g);
    assert_eq!(told, [of(&before), of(&after)]);
}

/// Migration 0031: the alarm of one cause, which stood within a reason, is a column.
async fn an_alarm_told_beside_another_is_still(store: &Store) {
    store.migrate_before(31).await;
    let id = id(store, 1);
    store
        .raw(&format!(
            "INSERT INTO episodes (episode_id, site, equipment_id, bearing_id, sequence, \
             opened_at_ms,
                                   changed_at_ms, transition, acknowledgement, suppression, state)
             VALUES ({id}, 'ulsan-1', 'P-101', 'DE', 1, 1000, 1000, 'opened',
                     '{{\"state\":\"unacknowledged\"}}',
                     '{{\"state\":\"by_design\",\"reason\":\"one cause with ulsan 1/P at \
             Critical/NDE at Warning\"}}',
                     'suppressed_by_design')"
        ))
        .await;
    store.migrate().await.expect("migrated");
    let found = store.episodes().told_beside(uuid::Uuid::nil(), 9).await.expect("read");
    let beside = found.first().and_then(|(_, record)| record.beside.clone()).expect("beside");
    assert_eq!(beside.source.to_string(), "ulsan 1/P at Critical/NDE");
    assert_eq!(beside.level, RiskLevel::Warning);
}

/// Migration 0013: what stood, and who had seen it, goes on; what was told is not told again.
async fn alarms_of_before_are_episodes(store: &Store) {
    store.migrate_before(13).await;
    let told = super::telling::message(pdm_shared::text::Text::new("가", "a"), at(100.0)).0;
    let told = serde_json::to_string(&told).expect("json");
    let (first, second, third) = (id(store, 1), id(store, 2), id(store, 3));
    store
        .raw(&format!(
            "INSERT INTO alarms (site, equipment_id, bearing_id, notification_id, risk_level, \
             repeats,
                                 repeat_at_ms, acknowledged_at_ms, acknowledged_by, notification,
                                 since_ms)
             VALUES ('ulsan-1', 'P-101', 'DE', {first}, 'Warning', 2, 5000, NULL, NULL, '{told}', \
             1000),
                    ('ulsan-1', 'P-101', 'NDE', {second}, 'Watch', 0, NULL, 7250, 'kim', '{told}', \
             2000),
                    ('ulsan-1', 'P-102', 'DE', {third}, 'Watch', 0, NULL, NULL, NULL, '{told}', 0)"
        ))
        .await;
    store.migrate().await.expect("migrated");
    let stands = store.episodes().episode(&key()).await.expect("read").expect("there");
    assert!(stands.is_open() && !stands.episode.acknowledgement.is_acknowledged());
    let alarm = stands.alarm.as_ref().expect("told");
    assert_eq!((alarm.risk, alarm.repeats), (RiskLevel::Warning, 2));
    let again = super::telling::risen(&key(), RiskLevel::Warning, Some(&stands.episode), at(1.0));
    assert!(again.is_none(), "told before");
    let worse = super::telling::risen(&key(), RiskLevel::Critical, Some(&stands.episode), at(1.0));
    let worse = worse.expect("worse is told");
    assert!(store.episodes().announce(&key(), Some(stands.version()), &worse).await.expect("told"));
    let other = BearingKey { bearing: "NDE".parse().expect("name"), ..key() };
    let seen = store.episodes().episode(&other).await.expect("read").expect("there").episode;
    let acknowledged = AcknowledgementState::Acknowledged {
        level: RiskLevel::Watch,
        by: "kim".to_owned(),
        at: Timestamp::from_unix_ms(7250).expect("in range"),
        via: None,
    };
    assert_eq!(seen.acknowledgement, acknowledged);
    assert_eq!(store.episodes().episodes(at(1e9), true, 9).await.expect("read").len(), 3);
    an_alarm_that_was_carried_over_has_the_time_of_its_message(store).await;
}

/// Issue 33, script 27 (migration 0081): alarms of a database without `since_ms` were listed as of
/// 1970.
async fn an_alarm_that_was_carried_over_has_the_time_of_its_message(store: &Store) {
    let undated = BearingKey { equipment: "P-102".parse().expect("name"), ..key() };
    let undated = store.episodes().episode(&undated).await.expect("read").expect("there").episode;
    assert_eq!((undated.opened_at, undated.changed_at), (at(100.0), at(100.0)));
}

/// A gateway, an alarm, a bearing and a waiting event whose names turn the reading direction.
async fn hidden_names(store: &Store) {
    let (bad, other) = (id(store, 77), id(store, 78));
    store
        .raw(&format!(
            "INSERT INTO gateways (site, gateway_id) VALUES ('ulsan-1', 'gw\u{202e}-66');
             INSERT INTO bearing_gateways (bearing, site, gateway_id, since_ms)
             VALUES ('ulsan-1/P-101/D\u{202e}E', 'ulsan-1', 'gw\u{202e}-66', 0);
             INSERT INTO episodes (site, equipment_id, bearing_id, episode_id, sequence, \
             opened_at_ms,
                                   changed_at_ms, transition, acknowledgement, suppression, state,
                                   notification_id, risk_level, repeat_at_ms, notification)
             VALUES ('ulsan-1', 'P-101', 'D\u{202e}E', {bad}, 1, 0, 0, 'opened', '{{}}', '{{}}',
                     'unacknowledged_active', {bad}, 'Warning', 1, '{{}}')"
        ))
        .await;
    let arrival = if store.is_file() {
        String::new()
    } else {
        format!(
            "; INSERT INTO events_unjudged (arrival, event_id, turn)
             SELECT arrival, event_id, 7 FROM events WHERE event_id = {other}"
        )
    };
    store
        .raw(&format!(
            "INSERT INTO events (event_id, gateway_id, sequence, site, equipment_id, bearing_id,
                                 measured_at_ms, received_at_ms, payload)
             VALUES ({other}, 'gw\u{202e}-66', 1, 'ulsan-1', 'P-101', 'DE', 1, 1, '{{}}'){arrival}"
        ))
        .await;
}

/// A direction character in a stored name: gateways are listed, the other alarms are repeated and
/// the other events judged.
async fn a_name_that_is_no_longer_taken_hides_no_other_row(store: &Store) {
    store.migrate().await.expect("migrated");
    store.intake().store(&[incoming(&event(1))], at(0.0), "dead").await.expect("stored");
    assert_eq!(judge_some(store, 9).await, 1);
    hidden_names(store).await;
    let gateways = store.gateways().gateways().await.expect("read");
    let names: Vec<&str> = gateways.iter().map(|one| one.gateway.gateway.as_str()).collect();
    assert!(names.len() == 2 && names.contains(&event(1).gateway_id.as_str()), "{names:?}");
    assert!(names.iter().all(|name| !name.contains('\u{202e}')), "{names:?}");
    let owners = store.gateways().bearing_owners().await.expect("read");
    assert_eq!(owners.len(), 1, "{owners:?}");
    // one place only: the alarm that cannot be read does not keep it
    let mut due = Vec::new();
    for _ in 0..2 {
        due = store.episodes().episodes_to_repeat(at(1e6), 3600.0, 1).await.expect("read");
    }
    assert_eq!(due.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>(), [key()]);
    store.intake().store(&[incoming(&event(2))], at(0.0), "dead").await.expect("stored");
    let waiting = store.judging().unjudged(9).await.expect("read");
    let waiting: Vec<EventId> = waiting.iter().map(|one| one.event.event_id).collect();
    assert_eq!(waiting, [event(2).event_id]);
    assert_eq!(store.backlog().await.expect("read").unjudged, 1, "the other is not tried again");
}
