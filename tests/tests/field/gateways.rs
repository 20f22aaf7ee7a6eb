//! Tests the reports of gateways on themselves and their missing events: staff is told once, with
//! its end, and health says it with the command that helps.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use pdm_agent::service::Handle;
use pdm_shared::event::Event;
use pdm_shared::id::EventId;
use serde_json::{Value, json};

use crate::open_plant::{begin, until};
use crate::suppression::Field;

/// Says the status of gateway gw-01 with these fields.
async fn says(field: &Field, more: Value) {
    let mut document = json!({
        "schema": "pdm.gateway/1", "gateway_id": "gw-01", "status": "online",
        "at": begin().to_string(),
    });
    for (key, value) in more.as_object().expect("fields") {
        document[key] = value.clone();
    }
    let topic = "pdm/v1/ulsan-1/gateway/gw-01/status".to_owned();
    field.client.publish(topic, true, document.to_string()).await;
}

/// A field whose agent serves its health.
async fn served(test: &str) -> Option<(Field, Handle, SocketAddr)> {
    let mut field = Field::new(test).await?;
    field.settings.http.listen = Some("127.0.0.1:0".parse().expect("an address"));
    let agent = field.start().await;
    let address = agent.address().expect("served");
    Some((field, agent, address))
}

fn get(address: SocketAddr, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect(address).ok()?;
    let head = format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    Some(answer)
}

/// Waits until health answers 200 and says this.
async fn until_health_says(address: SocketAddr, text: &str) {
    until(text, 60, || {
        let answer = get(address, "/healthz")?;
        (answer.starts_with("HTTP/1.1 200") && answer.contains(text)).then_some(())
    })
    .await;
}

/// Waits until a gauge has this value: the agents of one process share them, and each sets its own.
async fn until_metric(address: SocketAddr, line: &str) {
    until(line, 60, || get(address, "/metrics")?.contains(line).then_some(())).await;
}

/// Issue 33, points 2 and 6.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateways_own_trouble_is_told_once_and_its_end_too() {
    let test = "a_gateways_own_trouble_is_told_once_and_its_end_too";
    let Some((field, agent, address)) = served(test).await else { return };
    let trouble = json!({ "trouble": "the spool cannot be written: its disk is full" });
    says(&field, trouble.clone()).await;
    let told = field.until_told("[Connection] gateway gw-01 is in trouble").await;
    assert!(told.contains("its disk is full") && told.contains("Action:"), "{told}");
    until_health_says(address, "degraded: gateway ulsan-1/gw-01: the spool cannot be written")
        .await;
    until_metric(address, "pdm_agent_troubled_gateways 1").await;
    says(&field, trouble).await;
    says(&field, json!({})).await;
    field.until_told("[Cleared] gateway gw-01 is out of trouble").await;
    until_health_says(address, "\r\n\r\nok").await;
    assert_eq!(field.count("[Connection] gateway gw-01 is in trouble"), 1, "{:?}", field.told());
    agent.stop().await.expect("no part failed");
}

/// Issue 33, point 9: an agent whose database is a restored backup asks for what the gateway has no
/// more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_that_a_gateway_no_longer_has_are_counted_and_told() {
    let test = "events_that_a_gateway_no_longer_has_are_counted_and_told";
    let Some((field, agent, address)) = served(test).await else { return };
    says(&field, json!({})).await;
    field.warning("gw-01", "P-101", "DE").await;
    let last = Event { sequence: 8, ..field.event("gw-01", "P-101", "DE") };
    field.client.send(&last).await;
    let receipts = || field.client.heard("gw-01/receipt");
    until("a receipt that asks", 60, || {
        receipts().last().filter(|one| one.contains("[[2,7]]")).map(|_| ())
    })
    .await;
    says(&field, json!({ "gone": [[2, 4], [6, 7]] })).await;
    let told = field.until_told("[Data] 5 events of gateway gw-01 are missing").await;
    assert!(told.contains("restored from a backup"), "{told}");
    until("a receipt that asks for the rest", 60, || {
        receipts().last().filter(|one| one.contains("[[5,5]]")).map(|_| ())
    })
    .await;
    let metrics = get(address, "/metrics").expect("served");
    assert!(metrics.contains("pdm_agent_events_lost_total 5"), "{metrics}");
    // said again, nothing more is lost; what comes late is found
    says(&field, json!({ "gone": [[2, 4], [6, 7]] })).await;
    field.client.send(&Event { sequence: 5, ..field.event("gw-01", "P-101", "DE") }).await;
    until("the receipt", 60, || {
        receipts().last().filter(|one| one.contains("\"stored_through\":8")).map(|_| ())
    })
    .await;
    assert_eq!(field.count("[Data]"), 1, "{:?}", field.told());
    agent.stop().await.expect("no part failed");
}

/// Issue 33, point 6.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_gateways_of_one_name_are_told_and_stand_in_health_and_metric() {
    let test = "two_gateways_of_one_name_are_told_and_stand_in_health_and_metric";
    let Some((field, agent, address)) = served(test).await else { return };
    field.warning("gw-01", "P-101", "DE").await;
    field.until_told("[Warning] P-101 DE").await;
    // the other one counts from 1 too
    let event_id = EventId::at(begin().unix_ms() + 7777);
    let other = Event { sequence: 1, event_id, ..field.event("gw-01", "P-102", "DE") };
    field.client.send(&other).await;
    let told = field.until_told("[Connection] two gateways seem to use the name gw-01").await;
    assert!(told.contains("rename one of them"), "{told}");
    until_health_says(address, "degraded: two gateways seem to use the name ulsan-1/gw-01").await;
    until_metric(address, "pdm_agent_twin_gateways 1").await;
    agent.stop().await.expect("no part failed");
}

/// Issue 33, point 7 and row 11.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refused_events_stand_in_health_with_the_command_that_admits_them() {
    let test = "refused_events_stand_in_health_with_the_command_that_admits_them";
    let Some((field, agent, address)) = served(test).await else { return };
    field.warning("gw-01", "P-101", "DE").await;
    field.until_told("[Warning] P-101 DE").await;
    field.critical("gw-02", "P-101", "DE").await;
    until_health_says(address, "degraded: events of gateway ulsan-1/gw-02 are refused").await;
    until_health_says(address, "`pdm-agent gateways release ulsan-1/P-101/DE`").await;
    let store = pdm_store::open(&field.settings.store).await.expect("opens");
    let key = field.event("gw-01", "P-101", "DE").key();
    store.gateways().release_bearing(&key).await.expect("released");
    field.critical("gw-02", "P-101", "DE").await;
    until_health_says(address, "\r\n\r\nok").await;
    agent.stop().await.expect("no part failed");
}

/// R-AGENT-10: a bearing that its gateway's configuration no longer names just fell silent.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bearing_that_leaves_its_gateways_configuration_is_told_once_and_its_return_too() {
    let test = "a_bearing_that_leaves_its_gateways_configuration_is_told_once_and_its_return_too";
    let Some((field, agent, address)) = served(test).await else { return };
    let both = json!({ "bearings": ["P-101/DE", "P-102/DE"] });
    says(&field, both.clone()).await;
    field.warning("gw-01", "P-101", "DE").await;
    field.warning("gw-01", "P-102", "DE").await;
    field.until_told("[Warning] P-101 DE").await;
    field.until_told("[Warning] P-102 DE").await;
    says(&field, json!({ "bearings": ["P-101/DE"] })).await;
    let told = field.until_told("[Not measured] gateway gw-01: P-102/DE").await;
    assert!(
        told.contains("pdm-agent forget ulsan-1/P-102/DE") && !told.contains("P-101"),
        "{told}"
    );
    until_health_says(address, "configuration of gateway ulsan-1/gw-01: ulsan-1/P-102/DE").await;
    says(&field, both).await;
    field.until_told("[Cleared] gateway gw-01 measures").await;
    until_health_says(address, "\r\n\r\nok").await;
    assert_eq!(field.count("[Not measured]"), 1, "{:?}", field.told());
    agent.stop().await.expect("no part failed");
}

/// R-AGENT-10: a count alone names nobody.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateway_whose_clock_is_years_ahead_is_named() {
    let test = "a_gateway_whose_clock_is_years_ahead_is_named";
    let Some((field, agent, address)) = served(test).await else { return };
    for _ in 0..2 {
        let mut event = field.event("gw-07", "P-107", "DE");
        event.measured_at = event.measured_at.plus_seconds(10.0 * 365.25 * 86_400.0);
        field.client.send(&event).await;
    }
    let told = field.until_told("[Clock] gateway gw-07: its time is 10 years ahead").await;
    assert!(told.contains("no vibration alarm"), "{told}");
    until_health_says(address, "the clock of gateway ulsan-1/gw-07 is about 10 years ahead").await;
    assert_eq!(field.count("[Clock] gateway gw-07"), 1, "{:?}", field.told());
    agent.stop().await.expect("no part failed");
}
