//! The rows of one notification on its lanes.

use pdm_shared::delivery::NotificationReason;
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;

use super::telling::{notification, row};
use super::{at, event, judge_all, key, put, telling};
use crate::{HeldBack, Outgoing, Payload, SendOutcome, Store, WayState, webhook_lane};

/// R-AGENT-10: a lane that takes nothing is known as that, another gets the same notification once,
/// and a recipient who refuses what the others of a lane have is seen beside the delivery.
pub(super) async fn a_notification_spreads_to_further_lanes_once(store: &Store) {
    put(store, &[event(1)]).await;
    judge_all(store).await;
    let (hook, other) = (webhook_lane("ops"), webhook_lane("other"));
    let now = at(20_000.0);
    let rows = store.outbox().claim(&hook, now, at(20_300.0), 10).await.expect("claimed");
    let record = store.episodes().episode(&key()).await.expect("read").expect("an episode");
    let told = record.alarm.expect("an alarm").notification.notification_id;
    let ways = async || store.outbox().ways(told, at(0.0)).await.expect("read");
    assert_eq!(ways().await, [(hook.clone(), WayState::Ahead)]);
    let refused = |error: &str| SendOutcome::GivenUp { error: error.to_owned() };
    store.outbox().settle(&[(rows[0].id, refused("550"))], now).await.expect("settled");
    assert_eq!(ways().await, [(hook.clone(), WayState::GivenUp)]);
    let row = |lane: &String| Outgoing {
        key: event(7).event_id.0,
        lane: lane.clone(),
        topic: None,
        retain: false,
        notification_id: Some(told),
        group: None,
        payload: Payload::Text(rows[0].payload.clone()),
        due_at: now,
    };
    let further = [row(&other), row(&hook)];
    assert_eq!(
        store.outbox().spread(told, &further, now).await.expect("written"),
        1,
        "one lane is new"
    );
    assert_eq!(
        store.outbox().spread(told, &further, now).await.expect("written"),
        0,
        "and is so once"
    );
    let new = store.outbox().claim(&other, now, at(20_300.0), 10).await.expect("claimed");
    let later = at(20_010.0);
    let retry = SendOutcome::Retry { at: later, error: "451".to_owned() };
    store.outbox().settle(&[(new[0].id, retry)], now).await.expect("settled");
    assert_eq!(ways().await[1], (other.clone(), WayState::Failing));
    let again = store.outbox().claim(&other, later, at(20_300.0), 10).await.expect("claimed");
    let partly = SendOutcome::Partly { error: "gone@plant.example: 550".to_owned() };
    store.outbox().settle(&[(again[0].id, partly)], later).await.expect("settled");
    let states: Vec<WayState> = ways().await.into_iter().map(|(_, state)| state).collect();
    assert_eq!(states, [WayState::GivenUp, WayState::Delivered, WayState::GivenUp]);
    let channels = store.outbox().channels(at(20_020.0)).await.expect("read");
    let told = channels.iter().find(|one| one.lane == other).expect("the lane");
    assert_eq!(told.last_error.as_deref(), Some("gone@plant.example: 550"));
    assert!(told.is_failing && told.given_up == 1 && told.waiting == 0, "{told:?}");
}

/// The order out is by risk: what is worse leaves first, whatever waits longer.
pub(super) async fn the_worst_risk_leaves_first(store: &Store) {
    put(store, &[event(1)]).await;
    judge_all(store).await;
    let hook = webhook_lane("ops");
    for (number, risk) in [(11, RiskLevel::Watch), (12, RiskLevel::Critical)] {
        let (mut told, mut rows) = telling::message(Text::new("가", "a"), at(20_001.0));
        told.risk_level = risk;
        told.notification_id = event(number).event_id.0;
        rows.retain(|row| row.lane == hook);
        for row in &mut rows {
            row.key = event(number + 10).event_id.0;
            row.notification_id = Some(told.notification_id);
            row.payload = Payload::Text(risk.as_str().to_owned());
        }
        assert!(store.messages().tell(&told, &rows).await.expect("told"));
    }
    let rows = store.outbox().claim(&hook, at(90_000.0), at(90_300.0), 1).await.expect("claimed");
    assert_eq!(rows.len(), 1);
    let first = &rows[0];
    assert!(first.payload.contains("Critical"), "{first:?}");
}

/// R-AGENT-10: an alarm behind a message that its receiver does not answer was told nowhere else.
pub(super) async fn an_alarm_that_its_lane_does_not_try_is_late(store: &Store) {
    put(store, &[event(1)]).await;
    judge_all(store).await;
    let (hook, other) = (webhook_lane("ops"), webhook_lane("other"));
    let record = store.episodes().episode(&key()).await.expect("read").expect("an episode");
    let told = record.alarm.expect("an alarm").notification.notification_id;
    let outbox = store.outbox();
    let late = async |lane: &str, before: f64| {
        let before = (at(before), at(before));
        let found = outbox.late_alarms(lane, before).await.expect("read");
        found.iter().map(|one| one.notification_id).collect::<Vec<_>>()
    };
    assert!(late(&hook, 0.0).await.is_empty(), "it is not due yet");
    assert_eq!(late(&hook, 30_000.0).await, [told]);
    assert!(late(&other, 30_000.0).await.is_empty());
    let way = async |before: f64| outbox.ways(told, at(before)).await.expect("read");
    assert_eq!(way(0.0).await, [(hook.clone(), WayState::Ahead)]);
    assert_eq!(way(30_000.0).await, [(hook.clone(), WayState::Failing)]);
    // another way that is to try it in its time carries it; one that is late as well does not
    let row = Outgoing {
        key: event(7).event_id.0,
        lane: other.clone(),
        topic: None,
        retain: false,
        notification_id: Some(told),
        group: None,
        payload: Payload::Text("{}".to_owned()),
        due_at: at(29_000.0),
    };
    assert_eq!(outbox.spread(told, &[row], at(29_000.0)).await.expect("written"), 1);
    assert!(late(&hook, 28_000.0).await.is_empty());
    assert_eq!(late(&hook, 30_000.0).await, [told]);
    let rows = outbox.claim(&other, at(30_000.0), at(30_300.0), 10).await.expect("claimed");
    let outcome = [(rows[0].id, SendOutcome::Delivered)];
    outbox.settle(&outcome, at(30_000.0)).await.expect("settled");
    assert!(late(&hook, 30_000.0).await.is_empty(), "somebody has it");
}

/// R-AGENT-10: a Critical counts as told by the summary that names it, and by no other.
pub(super) async fn a_summary_covers_the_criticals_that_it_names(store: &Store) {
    let hook = webhook_lane("ops");
    for number in 0..23 {
        // one bearing has two notifications
        let key = BearingKey::parse("ulsan-1", &format!("P-{}", number % 22), "DE").expect("names");
        let now = at(20_000.0 + f64::from(number));
        let told = notification(&key, RiskLevel::Critical, NotificationReason::Raised, now);
        let payload = Payload::Text("{}".to_owned());
        let outgoing = row(&hook, Some(told.notification_id), payload, now);
        assert!(store.messages().tell(&told, &[outgoing]).await.expect("written"));
    }
    let now = at(20_100.0);
    let rows = store.outbox().claim(&hook, now, at(20_400.0), 50).await.expect("claimed");
    let outcomes: Vec<_> = rows.iter().map(|row| (row.id, SendOutcome::Held)).collect();
    assert_eq!(outcomes.len(), 23);
    store.outbox().settle(&outcomes, now).await.expect("settled");
    let ceilings = store.ceilings();
    let mut named = Vec::new();
    for (bearings, behind) in [(20, 3), (3, 0)] {
        let held = ceilings.held_back(&hook).await.expect("read");
        assert_eq!((held.worst.len(), held.criticals_behind), (bearings, behind), "{held:?}");
        named.extend(held.worst.clone());
        let told = ceilings.settle_held(&hook, held.through, at(0.0), now).await.expect("settled");
        assert_eq!(told.len(), bearings);
    }
    assert_eq!(ceilings.held_back(&hook).await.expect("read"), HeldBack::default());
    named.sort();
    named.dedup();
    assert_eq!(named.len(), 22, "every bearing was named");
}

/// R-AGENT-10: what was held back on a lane that takes no summary counted as on its way for ever.
pub(super) async fn what_is_held_back_fails_with_its_summary(store: &Store) {
    put(store, &[event(1)]).await;
    judge_all(store).await;
    let hook = webhook_lane("ops");
    let record = store.episodes().episode(&key()).await.expect("read").expect("an episode");
    let told = record.alarm.expect("an alarm").notification.notification_id;
    let (outbox, ceilings) = (store.outbox(), store.ceilings());
    let rows = outbox.claim(&hook, at(20_000.0), at(20_300.0), 10).await.expect("claimed");
    let outcome = [(rows[0].id, SendOutcome::Held)];
    outbox.settle(&outcome, at(20_000.0)).await.expect("settled");
    let lane = async || {
        let all = outbox.channels(at(20_010.0)).await.expect("read");
        all.into_iter().find(|one| one.lane == hook).expect("the lane")
    };
    let sound = lane().await;
    assert!(sound.waiting == 1 && !sound.is_failing, "{sound:?}");
    let held = ceilings.held_back(&hook).await.expect("read");
    let alarms = ceilings.held_alarms(&hook, held.through, at(0.0)).await.expect("read");
    assert_eq!(alarms.iter().map(|one| one.notification_id).collect::<Vec<_>>(), [told]);
    ceilings.note_not_summed(&hook, held.through, at(20_020.0), "403").await.expect("noted");
    let failing = lane().await;
    assert!(failing.is_failing && failing.failing_since.is_some(), "{failing:?}");
    assert_eq!(failing.last_error.as_deref(), Some("403"));
    let ways = outbox.ways(told, at(0.0)).await.expect("read");
    assert_eq!(ways, [(hook.clone(), WayState::Failing)]);
    ceilings.give_up_held(&hook, held.through, at(20_030.0), "410").await.expect("given up");
    let ways = outbox.ways(told, at(0.0)).await.expect("read");
    assert_eq!(ways, [(hook.clone(), WayState::GivenUp)]);
    assert_eq!(ceilings.held_back(&hook).await.expect("read").levels, []);
}
