//! A flood by one gateway beside honest ones: it delays itself. What is asserted is an order, never
//! a time. The flood waits at the broker while the agent is stopped, so it stands in front of
//! everything honest.

use std::time::Duration;

use pdm_harness::free_port;

use crate::plant::{Gateway, PATIENCE, Peer, Plant};
use crate::soak_of_all::critical;

/// Messages of the flood, as many as the agent stores in some seconds.
const FLOOD: u64 = 12_000;
/// The events among these that may be judged before an honest event that came behind all of them:
/// those that are taken in at full speed within the second in which the agent learns that it is
/// busy, then a part of them. First in, first out judges all of them before it.
const BEFORE: i64 = FLOOD.cast_signed() / 2;

const HOSTILE: Gateway<'static> =
    Gateway { site: "ulsan-1", name: "gw-66", bearing: "X", epoch: None };
const HONEST: Gateway<'static> =
    Gateway { site: "ulsan-1", name: "gw-01", bearing: "DE", epoch: None };

/// Events of the hostile gateway that were judged before the last one of the honest gateway.
const JUDGED_BEFORE: &str = "SELECT count(*) FROM pdm_agent_memory AS flood
     WHERE flood.bearing_id = 'X'
       AND flood.id < (SELECT max(id) FROM pdm_agent_memory WHERE bearing_id = 'DE')";
const HONEST_JUDGED: &str = "SELECT count(*) FROM pdm_agent_memory WHERE bearing_id = 'DE'";
const STORED: &str = "SELECT count(*) FROM events";
const LETTERS: &str = "SELECT count(*) FROM dead_letters";

/// Sends without waiting for each confirmation.
async fn pour(peer: &mut Peer, messages: impl IntoIterator<Item = (String, String)>) {
    peer.pour(messages).await;
}

fn of(gateway: &Gateway<'_>, number: u64, is_healthy: bool) -> (String, String) {
    let event = gateway.event(number, is_healthy);
    let topic = format!("pdm/v1/{}/event/{}", event.key(), gateway.name);
    (topic, serde_json::to_string(&event).expect("json"))
}

/// A plant whose two gateways are known, with an agent that is stopped.
async fn stopped_plant(test: &str, port: u16) -> Option<(Plant, Peer)> {
    let lines = format!("[intake]\nreceipt_after_s = 0.1\n[http]\nlisten = \"127.0.0.1:{port}\"\n");
    let mut plant = Plant::open(test, &lines)?;
    let mut peer = plant.anybody("gateways", &[]).await;
    for gateway in [&HOSTILE, &HONEST] {
        assert!(peer.send(&gateway.event(1, true), Some(gateway.name)).await);
    }
    plant.until_figure("judged", "SELECT count(*) FROM pdm_agent_memory", 2).await;
    plant.stop_agent();
    Some((plant, peer))
}

#[tokio::test]
async fn an_honest_critical_is_judged_before_the_flood_that_stands_in_front_of_it() {
    let test = "an_honest_critical_is_judged_before_the_flood_that_stands_in_front_of_it";
    let Some((mut plant, mut peer)) = stopped_plant(test, free_port()).await else { return };
    pour(&mut peer, (2..=FLOOD).map(|number| of(&HOSTILE, number, true))).await;
    pour(&mut peer, [of(&HONEST, 2, false)]).await;
    plant.start_agent_again();
    plant.until_figure("the honest event judged", HONEST_JUDGED, 2).await;
    let before = plant.figures(JUDGED_BEFORE).await[0];
    println!("{before} of {FLOOD} events of the flood were judged before the honest one");
    assert!(before < BEFORE, "{before} of {FLOOD}");
    // its own gateway is told that numbers are missing, and sends them again
    let said = plant.log("agent.log");
    assert!(said.contains("sends more than the agent can store"), "the log names the flood");
}

/// Criticals of the hostile gateways that were judged before the honest one, after it was stored.
const CRITICALS_BETWEEN: &str = "SELECT count(*) FROM pdm_agent_memory AS flood
     WHERE flood.equipment_id <> 'P-101'
       AND flood.id < (SELECT max(id) FROM pdm_agent_memory WHERE equipment_id = 'P-101')";
const CRITICALS_JUDGED: &str =
    "SELECT count(*) FROM pdm_agent_memory WHERE equipment_id <> 'P-101'";

/// R-AGENT-1: 600 Criticals of two gateways, a hundredth of their quota, delayed an honest one by
/// 76 s: turns were taken only where a batch of 256 began.
#[tokio::test]
async fn an_honest_critical_is_judged_within_seconds_while_two_gateways_pour_criticals() {
    let test = "an_honest_critical_is_judged_within_seconds_while_two_gateways_pour_criticals";
    let port = free_port();
    let lines = format!("[intake]\nreceipt_after_s = 0.1\n[http]\nlisten = \"127.0.0.1:{port}\"\n");
    let Some(plant) = Plant::open(test, &lines) else { return };
    let mut peer = plant.anybody("gateways", &[]).await;
    assert!(peer.send(&HONEST.event(1, true), Some(HONEST.name)).await);
    plant.until_figure("judged", "SELECT count(*) FROM pdm_agent_memory", 1).await;
    let of_machine = |name: &'static str, machine: u64, number: u64| {
        let gateway = Gateway { name, ..HOSTILE };
        let mut event = critical(gateway, number, "X");
        event.equipment_id = format!("{name}-{machine}").parse().expect("a name");
        event.event_id = pdm_shared::id::EventId::at(
            event.measured_at.unix_ms() + i64::try_from(number).expect("small"),
        );
        let topic = format!("pdm/v1/{}/event/{name}", event.key());
        (topic, serde_json::to_string(&event).expect("json"))
    };
    let mut flood = Vec::new();
    for round in 0..3 {
        for machine in 0..100 {
            for name in ["gw-66", "gw-67"] {
                flood.push(of_machine(name, machine, 1 + round * 100 + machine));
            }
        }
    }
    pour(&mut peer, flood).await;
    plant.until_at_least("the judging of the flood", CRITICALS_JUDGED, 1).await;
    let begun = std::time::Instant::now();
    let before = plant.figures(CRITICALS_JUDGED).await[0];
    let honest = critical(HONEST, 2, HONEST.bearing);
    assert!(peer.send(&honest, Some(HONEST.name)).await);
    plant.until_figure("the honest event judged", HONEST_JUDGED, 2).await;
    let (waited, between) = (begun.elapsed(), plant.figures(CRITICALS_BETWEEN).await[0] - before);
    println!("{between} of 600 were judged before the honest one, {waited:?} after it was sent");
    // a machine that judges so many in the seconds of a claim has kept it too
    assert!(between <= 128 || waited < Duration::from_secs(5), "{between}, {waited:?}");
}

/// Events that were put off are not lost: the receipt asks for them, and they are stored when they
/// come again.
#[tokio::test]
async fn what_a_flood_had_put_off_is_asked_for_and_stored_when_it_comes_again() {
    let test = "what_a_flood_had_put_off_is_asked_for_and_stored_when_it_comes_again";
    let Some((mut plant, mut peer)) = stopped_plant(test, free_port()).await else { return };
    let watch = plant.anybody("watch", &["pdm/v1/ulsan-1/gateway/+/receipt"]).await;
    let flood: Vec<_> = (2..=FLOOD).map(|number| of(&HOSTILE, number, true)).collect();
    pour(&mut peer, flood.clone()).await;
    pour(&mut peer, [of(&HONEST, 2, true)]).await;
    plant.start_agent_again();
    plant.until_figure("the honest event judged", HONEST_JUDGED, 2).await;
    // as an edge does: what no receipt covers comes again after a pause, until all of it is stored
    let end = "gw-66/receipt";
    for _ in 0..PATIENCE * 5 {
        let through = watch.receipt(end).unwrap_or(1);
        if through == FLOOD {
            break;
        }
        let again = flood.iter().skip(through as usize - 1).take(1000).cloned();
        pour(&mut peer, again).await;
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    assert_eq!(watch.receipt(end), Some(FLOOD), "the receipt covers all of it");
    assert_eq!(plant.figures(STORED).await, [FLOOD.cast_signed() + 2], "each once");
}

#[tokio::test]
async fn refused_messages_above_the_quota_are_counted_and_not_kept() {
    let test = "refused_messages_above_the_quota_are_counted_and_not_kept";
    let port = free_port();
    let lines =
        format!("[intake.quota]\nrefused_per_minute = 20\n[http]\nlisten = \"127.0.0.1:{port}\"\n");
    let Some(plant) = Plant::open(test, &lines) else { return };
    let mut peer = plant.anybody("gateways", &[]).await;
    let topic = "pdm/v1/ulsan-1/P-101/X/event/gw-66";
    pour(&mut peer, (0..300).map(|n| (topic.to_owned(), format!("{{\"n\":{n}")))).await;
    assert!(peer.send(&HONEST.event(1, true), Some(HONEST.name)).await);
    plant.until_figure("the honest event", STORED, 1).await;
    crate::quotas::until_counter(port, "pdm_agent_refusals_not_kept_total", 280).await;
    assert_eq!(plant.figures(LETTERS).await, [20]);
    let said = plant.log("agent.log");
    assert_eq!(said.matches("further ones of this minute are counted and not kept").count(), 1);
}
