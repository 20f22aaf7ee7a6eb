//! A gateway that goes silent raises its own alarm, from its last will to the person's channel, and
//! clears no other. Guarantee 6.

mod support;

use std::sync::Arc;

use pdm_agent::service::Agent;
use pdm_harness::{Mosquitto, Persistence};
use pdm_service::clock::SystemClock;
use pdm_shared::delivery::{Notification, NotificationReason};
use pdm_shared::risk::RiskLevel;

use support::{Client, event, settings, subscribed, until};

fn status(gateway: &str, presence: &str) -> (String, String) {
    let topic = format!("pdm/v1/ulsan-1/gateway/{gateway}/status");
    let text = serde_json::json!({
        "schema": "pdm.gateway/1", "gateway_id": gateway, "status": presence,
        "at": "2026-11-21T08:00:00Z",
    });
    (topic, text.to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_gateway_is_told_and_told_back_and_leaves_the_bearings_alarm_alone() {
    let name = "a_silent_gateway_is_told_and_told_back_and_leaves_the_bearings_alarm_alone";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let mut settings = settings(broker.port(), folder.path());
    settings.silence.offline_after_s = 0.2;
    let agent = Agent::start(settings, Arc::new(SystemClock)).await.expect("starts");
    subscribed(&agent).await;
    let filters = ["pdm/v1/+/+/+/notification"];
    let mut gateway = Client::connect(broker.port(), "gateway", &filters).await;
    let id = event(1).gateway_id.to_string();
    let told = |gateway: &Client| -> Vec<Notification> {
        let heard = gateway.heard_on("/notification");
        heard.iter().map(|text| serde_json::from_str(text).expect("a notification")).collect()
    };
    gateway.publish([status(&id, "online")]).await;
    gateway.send(&[event(1)]).await;
    until("the bearing's alarm", 10, || told(&gateway).len() == 1).await;
    gateway.publish([status(&id, "offline")]).await;
    until("the gateway's alarm", 15, || told(&gateway).len() == 2).await;
    let silent = told(&gateway).remove(1);
    assert_eq!(
        (silent.reason, silent.risk_level, silent.equipment_id.as_str()),
        (NotificationReason::Silent, RiskLevel::Warning, "gateway")
    );
    assert_eq!(silent.bearing_id.as_str(), id);
    gateway.publish([status(&id, "online")]).await;
    until("the all-clear", 15, || told(&gateway).len() == 3).await;
    let back = told(&gateway).remove(2);
    assert_eq!(
        (back.reason, back.equipment_id),
        (NotificationReason::Cleared, silent.equipment_id)
    );
    let own = |told: &Notification| told.equipment_id.as_str() == "P-101";
    let of_bearing: Vec<_> =
        told(&gateway).into_iter().filter(own).map(|told| told.reason).collect();
    assert_eq!(of_bearing, [NotificationReason::Raised], "its alarm stands");
    agent.stop().await.expect("stops");
}
