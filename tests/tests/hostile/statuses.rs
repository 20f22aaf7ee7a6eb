//! Statuses without end, of invented gateways and of one's own: they cost no other gateway an
//! alarm, and fill neither the log nor the health. What cannot be read takes no page from anybody.

use pdm_harness::free_port;

use crate::plant::{Gateway, Plant};
use crate::programs::get;
use crate::soak_of_all::critical;

const HONEST: Gateway<'static> =
    Gateway { site: "ulsan-1", name: "gw-01", bearing: "DE", epoch: None };
const HOSTILE: Gateway<'static> =
    Gateway { site: "ulsan-1", name: "gw-66", bearing: "X", epoch: None };
/// Statuses of a flood, more than the agent has lines for.
const FLOOD: usize = 6_000;
/// Alarms of the honest bearing.
const ALARMS: &str =
    "SELECT count(*) FROM episodes WHERE bearing_id = 'DE' AND closed_at_ms IS NULL";

fn status(gateway: &str, trouble: usize) -> (String, String) {
    let status = serde_json::json!({
        "schema": "pdm.gateway/1", "gateway_id": gateway, "status": "online",
        "at": "2026-11-21T05:10:21.000Z", "trouble": format!("trouble {trouble}"),
    });
    (format!("pdm/v1/ulsan-1/gateway/{gateway}/status"), status.to_string())
}

/// A plant whose two gateways have sent an event each.
async fn plant(test: &str, port: u16) -> Option<Plant> {
    let lines = format!(
        "[intake]\nreceipt_after_s = 0.1\ngateway_in_topic = \"required\"\n\
         [http]\nlisten = \"127.0.0.1:{port}\"\n"
    );
    let plant = Plant::open(test, &lines)?;
    let mut peer = plant.anybody("gateways", &[]).await;
    for gateway in [&HOSTILE, &HONEST] {
        assert!(peer.send(&gateway.event(1, true), Some(gateway.name)).await);
    }
    plant.until_figure("judged", "SELECT count(*) FROM pdm_agent_memory", 2).await;
    Some(plant)
}

async fn flooded(test: &str, name_of: impl Fn(usize) -> String) {
    let port = free_port();
    let Some(plant) = plant(test, port).await else { return };
    let mut hostile = plant.anybody("hostile", &[]).await;
    let mut honest = plant.anybody("honest", &[]).await;
    hostile.pour((0..FLOOD / 2).map(|n| status(&name_of(n), n))).await;
    assert!(honest.send(&critical(HONEST, 2, HONEST.bearing), Some(HONEST.name)).await);
    hostile.pour((FLOOD / 2..FLOOD).map(|n| status(&name_of(n), n))).await;
    plant.until_figure("the honest alarm", ALARMS, 1).await;
    let lines = plant.log("agent.log").len();
    assert!(lines < 100_000, "{lines} bytes of log");
    let health = get(port, "/healthz").expect("answered");
    assert!(health.len() < 20_000, "{} bytes of health", health.len());
    let known = plant.figures("SELECT count(*) FROM gateways").await[0];
    assert!(known <= 2 + 256, "{known} gateways");
    let put_off = plant.log("agent.log").contains("sender=ulsan-1/gw-01");
    assert!(!put_off, "nothing of the honest gateway is put off: {}", plant.log("agent.log"));
}

#[tokio::test]
async fn statuses_of_invented_gateways_cost_an_honest_one_nothing() {
    let test = "statuses_of_invented_gateways_cost_an_honest_one_nothing";
    flooded(test, |n| format!("g{n}")).await;
}

#[tokio::test]
async fn a_gateways_own_statuses_fill_neither_log_nor_health() {
    let test = "a_gateways_own_statuses_fill_neither_log_nor_health";
    flooded(test, |_| HOSTILE.name.to_owned()).await;
}

/// R-UI-11: three messages that could not be read took the page of gateways from everybody.
#[tokio::test]
async fn the_page_of_gateways_stands_whatever_is_refused() {
    let test = "the_page_of_gateways_stands_whatever_is_refused";
    let port = free_port();
    let Some(plant) = plant(test, port).await else { return };
    let mut hostile = plant.anybody("hostile", &[]).await;
    let own = "pdm/v1/ulsan-1/P-101/X/event/gw-66";
    let mut jump = HOSTILE.event(1_000_000_000, true);
    jump.event_id = pdm_shared::id::EventId::at(7);
    let foreign = Gateway { bearing: HONEST.bearing, ..HOSTILE }.event(2, true);
    for refused in ["{bad".to_owned(), serde_json::to_string(&jump).expect("json")] {
        assert!(hostile.publish(own, false, refused).await);
    }
    assert!(hostile.send(&foreign, Some(HOSTILE.name)).await);
    plant.until_at_least("refused", "SELECT count(DISTINCT cause) FROM refusals", 3).await;
    let page = get(port, "/gateways").expect("answered");
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    assert!(!plant.log("agent.log").contains("a page lacks a value"), "nothing is left out");
}

/// R-EDGE-10: a gateway that had used the identity before made the agent refuse an honest Critical.
#[tokio::test]
async fn an_identity_that_another_gateway_used_up_silences_no_critical() {
    let test = "an_identity_that_another_gateway_used_up_silences_no_critical";
    let Some(plant) = plant(test, free_port()).await else { return };
    let honest = critical(HONEST, 2, HONEST.bearing);
    let mut taken = HOSTILE.event(2, true);
    taken.event_id = honest.event_id;
    let mut peer = plant.anybody("both", &[]).await;
    assert!(peer.send(&taken, Some(HOSTILE.name)).await);
    plant.until_figure("the hostile event", "SELECT count(*) FROM events", 3).await;
    assert!(peer.send(&honest, Some(HONEST.name)).await);
    plant.until_figure("the honest alarm", ALARMS, 1).await;
}
