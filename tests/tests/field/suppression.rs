//! Tests that no suppression of an alarm swallows a rise: gateways that are replaced or refused,
//! machines with another name, neighbours, restarts, floods.

use std::sync::Arc;
use std::time::Instant;

use pdm_agent::service::{Agent, Handle};
use pdm_agent::settings::AgentSettings;
use pdm_harness::{Mosquitto, Persistence};
use pdm_service::clock::Clock;
use pdm_shared::event::Event;
use pdm_shared::id::EventId;
use pdm_shared::time::Timestamp;
use serde_json::json;

use crate::open_plant::{
    Client, FromBegin, Posts, begin, hook, receiver, settings, started, topic, until,
};

/// A broker, an agent with one web hook, and a client.
pub(crate) struct Field {
    broker: Mosquitto,
    pub(crate) folder: tempfile::TempDir,
    pub(crate) settings: AgentSettings,
    pub(crate) port: u16,
    pub(crate) posts: Posts,
    pub(crate) client: Client,
    sent: std::sync::atomic::AtomicU64,
}

impl Field {
    pub(crate) async fn new(test: &str) -> Option<Self> {
        let broker = Mosquitto::start(test, Persistence::Memory)?;
        let port = broker.port();
        let folder = tempfile::tempdir().expect("folder");
        let (url, posts) = receiver().await;
        let mut settings = settings(port, folder.path());
        settings.notify.webhook = vec![hook("ops", url)];
        settings.silence.offline_after_s = 1.0;
        let client = Client::connect(port).await;
        let sent = std::sync::atomic::AtomicU64::new(0);
        Some(Self { broker, folder, settings, port, posts, client, sent })
    }

    pub(crate) async fn start(&self) -> Handle {
        started(self.settings.clone(), FromBegin::new()).await
    }

    /// An event of a gateway for a bearing, with a Warning as the contract's example has it.
    pub(crate) fn event(&self, gateway: &str, machine: &str, bearing: &str) -> Event {
        let number = 1 + self.sent.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let mut event = crate::open_plant::event(number, number as f64 / 10.0);
        event.gateway_id = gateway.parse().expect("a name");
        event.equipment_id = machine.parse().expect("a name");
        event.bearing_id = bearing.parse().expect("a name");
        event
    }

    /// Sends windows of a bearing whose life ends within a day.
    pub(crate) async fn critical(&self, gateway: &str, machine: &str, bearing: &str) {
        for _ in 0..3 {
            let mut event = self.event(gateway, machine, bearing);
            event.rul.hours = Some(20.0);
            event.rul.ci_low_hours = Some(5.0);
            event.rul.ci_high_hours = Some(30.0);
            event.trend.acceleration_detected = true;
            self.client.send(&event).await;
        }
    }

    pub(crate) async fn warning(&self, gateway: &str, machine: &str, bearing: &str) {
        let event = self.event(gateway, machine, bearing);
        self.client.send(&event).await;
    }

    pub(crate) async fn status(&self, gateway: &str, status: &str) {
        let document = json!({
            "schema": "pdm.gateway/1", "gateway_id": gateway, "status": status,
            "at": begin().to_string(),
        });
        let topic = format!("pdm/v1/ulsan-1/gateway/{gateway}/status");
        self.client.publish(topic, true, document.to_string()).await;
    }

    /// Titles and bodies that the web hook was told, in English.
    pub(crate) fn told(&self) -> Vec<String> {
        let posts = self.posts.lock().expect("whole");
        let mut told = Vec::new();
        for (_, body) in posts.iter() {
            let body: serde_json::Value = serde_json::from_str(body).expect("json");
            let all = body["notifications"].as_array().cloned().unwrap_or_else(|| vec![body]);
            told.extend(all.iter().map(|one| {
                let text = |field: &str| one[field]["en"].as_str().unwrap_or_default().to_owned();
                format!("{}\n{}", text("title"), text("body"))
            }));
        }
        told
    }

    /// Waits until the hook was told something that begins so.
    pub(crate) async fn until_told(&self, begins: &str) -> String {
        until(begins, 60, || self.told().into_iter().find(|one| one.starts_with(begins))).await
    }

    /// Stops the broker.
    pub(crate) fn stop_broker(&mut self) {
        self.broker.stop();
    }

    pub(crate) fn count(&self, begins: &str) -> usize {
        self.told().iter().filter(|one| one.starts_with(begins)).count()
    }
}

/// Issue 33, row 1.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_critical_is_told_although_the_bearings_former_gateway_is_silent() {
    let test = "a_critical_is_told_although_the_bearings_former_gateway_is_silent";
    let Some(field) = Field::new(test).await else { return };
    let agent = field.start().await;
    field.status("gw-01", "online").await;
    field.warning("gw-01", "P-101", "DE").await;
    field.until_told("[Warning] P-101 DE").await;
    field.status("gw-01", "offline").await;
    field.until_told("[Silent] gateway gw-01").await;
    let store = pdm_store::open(&field.settings.store).await.expect("opens");
    let key = field.event("gw-01", "P-101", "DE").key();
    store.gateways().release_bearing(&key).await.expect("released");
    field.critical("gw-02", "P-101", "DE").await;
    field.until_told("[Critical] P-101 DE").await;
    agent.stop().await.expect("no part failed");
}

/// Issue 33, row 4. The false return was told with the first look of the watch.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_tells_no_return_of_a_gateway_that_is_still_gone() {
    let test = "a_restart_tells_no_return_of_a_gateway_that_is_still_gone";
    let Some(field) = Field::new(test).await else { return };
    let agent = field.start().await;
    field.status("gw-01", "online").await;
    field.warning("gw-01", "P-100", "DE").await;
    field.status("gw-01", "offline").await;
    field.until_told("[Silent] gateway gw-01").await;
    agent.stop().await.expect("no part failed");
    for restart in 1..=2 {
        let agent = field.start().await;
        field.warning("gw-02", &format!("P-{restart}"), "DE").await;
        field.until_told(&format!("[Warning] P-{restart} DE")).await;
        agent.stop().await.expect("no part failed");
    }
    assert_eq!(field.count("[Back] gateway gw-01"), 0, "{:?}", field.told());
    assert_eq!(field.count("[Silent] gateway gw-01"), 1, "{:?}", field.told());
}

/// Issue 33, row 9; two equal pumps of one gateway are the same case.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_machine_under_its_new_name_is_told_beside_its_former_one() {
    let test = "a_machine_under_its_new_name_is_told_beside_its_former_one";
    let Some(mut field) = Field::new(test).await else { return };
    field.settings.notify.related_within_min = 60.0;
    let agent = field.start().await;
    field.warning("gw-01", "P-101", "DE").await;
    field.until_told("[Warning] P-101 DE").await;
    field.warning("gw-01", "P-201", "DE").await;
    field.until_told("[Warning] P-201 DE").await;
    agent.stop().await.expect("no part failed");
}

/// Issue 34, H3.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_invented_neighbour_hides_no_critical() {
    let test = "an_invented_neighbour_hides_no_critical";
    let Some(mut field) = Field::new(test).await else { return };
    field.settings.notify.related_within_min = 60.0;
    let agent = field.start().await;
    field.critical("gw-02", "M-458", "NDE").await;
    field.until_told("[Critical] M-458 NDE").await;
    field.warning("gw-03", "M-458", "DE").await;
    field.until_told("[Warning] M-458 DE").await;
    field.critical("gw-03", "M-458", "DE").await;
    field.until_told("[Critical] M-458 DE").await;
    agent.stop().await.expect("no part failed");
}

/// Issue 34, H4: 60 invented Criticals of one gateway, of which half of the hour's 24 leave.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateways_flood_of_criticals_holds_no_others_first_critical() {
    let test = "a_gateways_flood_of_criticals_holds_no_others_first_critical";
    let Some(mut field) = Field::new(test).await else { return };
    field.settings.notify.per_recipient_per_hour = 24;
    let agent = field.start().await;
    field.warning("gw-03", "M-1", "DE").await;
    field.until_told("[Warning] M-1 DE").await;
    for machine in 0..60 {
        field.critical("gw-04", &format!("X-{machine}"), "DE").await;
    }
    let summary = |one: &&String| one.contains("notifications held back");
    until("the summary", 60, || field.told().iter().find(summary).cloned()).await;
    field.critical("gw-03", "M-458", "DE").await;
    field.until_told("[Critical] M-458 DE").await;
    agent.stop().await.expect("no part failed");
}

/// Issue 33, row 11.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateway_whose_events_are_refused_is_told_with_the_command_that_admits_it() {
    let test = "a_gateway_whose_events_are_refused_is_told_with_the_command_that_admits_it";
    let Some(field) = Field::new(test).await else { return };
    let agent = field.start().await;
    field.warning("gw-01", "P-101", "DE").await;
    field.until_told("[Warning] P-101 DE").await;
    field.critical("gw-02", "P-101", "DE").await;
    let told = field.until_told("[Refused] events of gateway gw-02").await;
    assert!(told.contains("`pdm-agent gateways release ulsan-1/P-101/DE`"), "{told}");
    let store = pdm_store::open(&field.settings.store).await.expect("opens");
    let key = field.event("gw-01", "P-101", "DE").key();
    store.gateways().release_bearing(&key).await.expect("released");
    field.critical("gw-02", "P-101", "DE").await;
    field.until_told("[Critical] P-101 DE").await;
    field.until_told("[Cleared] events of gateway gw-02").await;
    agent.stop().await.expect("no part failed");
}

/// Issue 34, H1: a stranger's message under the long topic, without the gateway's epoch.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_message_of_a_stranger_ends_no_gateways_intake() {
    let test = "one_message_of_a_stranger_ends_no_gateways_intake";
    let Some(field) = Field::new(test).await else { return };
    let agent = field.start().await;
    let own = pdm_shared::id::Epoch::at(1_000);
    let born = json!({
        "schema": "pdm.gateway/1", "gateway_id": "gw-01", "status": "online",
        "at": begin().to_string(), "last_sequence": 0, "first_sequence": 1, "epoch": own,
    });
    let status = "pdm/v1/ulsan-1/gateway/gw-01/status".to_owned();
    field.client.publish(status, true, born.to_string()).await;
    let forged = field.event("gw-01", "X-9", "Y");
    let long = format!("{}/gw-01", topic(&forged, "event"));
    field.client.publish(long, false, serde_json::to_string(&forged).expect("json")).await;
    let honest = Event { epoch: Some(own), ..field.event("gw-01", "P-101", "DE") };
    field.client.send(&honest).await;
    field.until_told("[Warning] P-101 DE").await;
    agent.stop().await.expect("no part failed");
}

/// A clock that runs a hundred times as fast.
#[derive(Debug)]
struct Fast(Instant);

impl Clock for Fast {
    fn now(&self) -> Timestamp {
        begin().plus_seconds(self.uptime().as_secs_f64())
    }

    fn uptime(&self) -> std::time::Duration {
        self.0.elapsed() * 20
    }
}

/// Issue 34, H3: the told alarm names the second bearing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_alarm_that_stands_for_a_machines_second_bearing_names_it() {
    let test = "the_alarm_that_stands_for_a_machines_second_bearing_names_it";
    let Some(mut field) = Field::new(test).await else { return };
    field.settings.notify.related_within_min = 60.0;
    let clock = Arc::new(Fast(Instant::now()));
    let agent = Box::pin(Agent::start(field.settings.clone(), clock)).await.expect("starts");
    let progress = agent.progress();
    until("the subscription", 60, || progress.borrow().subscribed.then_some(())).await;
    field.warning("gw-01", "P-101", "DE").await;
    field.until_told("[Warning] P-101 DE").await;
    field.warning("gw-01", "P-101", "NDE").await;
    let names = |one: &&String| one.contains("(also: NDE)") && one.contains("P-101 NDE [Warning]");
    until("the second bearing is named", 60, || field.told().iter().find(names).cloned()).await;
    assert_eq!(field.count("[Warning] P-101 NDE"), 0, "{:?}", field.told());
    agent.stop().await.expect("no part failed");
}

/// Issue 34, M4.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_ahead_of_the_clock_is_no_bearings_last() {
    let test = "an_event_ahead_of_the_clock_is_no_bearings_last";
    let Some(field) = Field::new(test).await else { return };
    let agent = field.start().await;
    let mut ahead = field.event("gw-01", "P-101", "DE");
    ahead.measured_at = Timestamp::parse("9999-12-31T23:59:59Z").expect("a time");
    ahead.event_id = EventId::at(begin().unix_ms() + 500_000);
    field.client.send(&ahead).await;
    let right = field.event("gw-01", "P-101", "DE");
    field.client.send(&right).await;
    let progress = agent.progress();
    until("both judged", 60, || (progress.borrow().judged >= 2).then_some(())).await;
    let store = pdm_store::open(&field.settings.store).await.expect("opens");
    let row = store.pages().standing(&right.key()).await.expect("read").expect("known");
    assert_eq!(row.measured_at, Some(right.measured_at));
    assert_eq!(row.event_id, Some(right.event_id));
    agent.stop().await.expect("no part failed");
}
