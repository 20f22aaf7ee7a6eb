//! Tests that a bearing whose windows stop while its gateway goes on is told, once, and nothing
//! that is expected to say nothing.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pdm_agent::service::{Agent, Handle};
use pdm_service::clock::Clock;
use pdm_shared::time::Timestamp;

use crate::open_plant::{begin, until};
use crate::suppression::Field;

/// How many times as fast the clock of these plants runs.
const FAST: u32 = 100;
/// The configured time, s: bearings have to be measured for eight times as long before.
const AFTER_S: f64 = 120.0;
/// Windows of each bearing, one each 10 s of the plant's clock, for longer than that.
const WINDOWS: u32 = 110;

/// A clock that runs [`FAST`] times as fast as the machine's.
#[derive(Debug)]
struct Fast(Instant);

impl Clock for Fast {
    fn now(&self) -> Timestamp {
        begin().plus_seconds(self.uptime().as_secs_f64())
    }

    fn uptime(&self) -> Duration {
        self.0.elapsed() * FAST
    }
}

struct Plant {
    field: Field,
    clock: Arc<Fast>,
}

impl Plant {
    async fn new(test: &str) -> Option<Self> {
        let mut field = Field::new(test).await?;
        field.settings.silence.bearing_after_s = AFTER_S;
        field.settings.http.listen = Some("127.0.0.1:0".parse().expect("an address"));
        Some(Self { field, clock: Arc::new(Fast(Instant::now())) })
    }

    async fn start(&self) -> Handle {
        let clock = Arc::clone(&self.clock);
        let agent =
            Box::pin(Agent::start(self.field.settings.clone(), clock)).await.expect("starts");
        let progress = agent.progress();
        until("the subscription", 60, || progress.borrow().subscribed.then_some(())).await;
        agent
    }

    /// Sends so many windows of each of these bearings of P-101, at the pace of the plant.
    async fn measure(&self, bearings: &[&str], windows: u32) {
        for _ in 0..windows {
            for bearing in bearings {
                self.window(bearing, |_| {}).await;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    async fn window(&self, bearing: &str, change: impl Fn(&mut pdm_shared::event::Event)) {
        let mut event = self.field.event("gw-01", "P-101", bearing);
        event.measured_at = self.clock.now();
        change(&mut event);
        self.field.client.send(&event).await;
    }
}

fn health(address: SocketAddr) -> String {
    let mut answer = String::new();
    if let Ok(mut stream) = TcpStream::connect(address) {
        let head = "GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n";
        let _ = stream.write_all(head.as_bytes());
        let _ = stream.read_to_string(&mut answer);
    }
    answer
}

/// Issue 33: the windows of one bearing stop, those of its neighbour go on. Health names it; a
/// restart tells nothing anew.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bearing_whose_windows_stop_is_told_once_and_told_back() {
    let test = "a_bearing_whose_windows_stop_is_told_once_and_told_back";
    let Some(plant) = Plant::new(test).await else { return };
    let agent = plant.start().await;
    plant.measure(&["DE", "NDE"], WINDOWS).await;
    assert_eq!(plant.field.count("[No data]"), 0, "{:?}", plant.field.told());
    plant.measure(&["DE"], 50).await;
    let told = plant.field.until_told("[No data] P-101 NDE").await;
    assert!(told.contains("check sensor, cable and battery"), "{told}");
    assert!(told.contains("P-101/NDE: last window"), "{told}");
    let said = health(agent.address().expect("served"));
    assert!(said.starts_with("HTTP/1.1 200"), "{said}");
    assert!(said.contains("goes on without bearings: ulsan-1/P-101/NDE"), "{said}");
    agent.stop().await.expect("no part failed");
    let agent = plant.start().await;
    plant.measure(&["DE"], 50).await;
    assert_eq!(plant.field.count("[No data]"), 1, "{:?}", plant.field.told());
    assert_eq!(plant.field.count("[Back]"), 0, "{:?}", plant.field.told());
    plant.measure(&["DE", "NDE"], 5).await;
    plant.field.until_told("[Back] P-101/NDE").await;
    agent.stop().await.expect("no part failed");
}

/// Issue 33: many bearings of one gateway stop at once, among them one whose Critical nobody has
/// acknowledged.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bearings_that_stop_together_are_one_message_that_says_which_critical_stands() {
    let test = "bearings_that_stop_together_are_one_message_that_says_which_critical_stands";
    let Some(plant) = Plant::new(test).await else { return };
    let agent = plant.start().await;
    let all = ["DE", "NDE", "B3", "B4", "B5", "B6"];
    plant.measure(&all, WINDOWS).await;
    for _ in 0..3 {
        plant
            .window("NDE", |event| {
                event.rul.hours = Some(20.0);
                event.rul.ci_low_hours = Some(5.0);
                event.rul.ci_high_hours = Some(30.0);
                event.trend.acceleration_detected = true;
            })
            .await;
    }
    plant.field.until_told("[Critical] P-101 NDE").await;
    plant.measure(&["DE"], 60).await;
    let stands = "Its Critical stands (not acknowledged)";
    let said = until("the Critical is named", 60, || {
        let told = plant.field.told();
        told.into_iter().find(|one| one.starts_with("[No data]") && one.contains(stands))
    })
    .await;
    for name in &all[1..] {
        assert!(said.contains(&format!("P-101/{name}: last window")), "{name}: {said}");
    }
    assert!(said.contains("(a Critical stands)"), "{said}");
    assert!(plant.field.count("[No data]") <= 2, "{:?}", plant.field.told());
    agent.stop().await.expect("no part failed");
}

/// Issue 33: a machine that stands by its last window, a bearing that was measured for a short time
/// alone, and one that is shelved, are no silence; nor is anything beside a gateway that says
/// nothing as a whole.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_machine_that_stands_a_trial_and_a_gateway_that_is_away_are_no_missing_data() {
    let test = "a_machine_that_stands_a_trial_and_a_gateway_that_is_away_are_no_missing_data";
    let Some(plant) = Plant::new(test).await else { return };
    let agent = plant.start().await;
    plant.measure(&["DE", "STANDS"], WINDOWS - 20).await;
    plant.measure(&["DE", "STANDS", "TRIAL"], 20).await;
    plant.window("STANDS", |event| event.operating.running = false).await;
    plant.measure(&["DE"], 60).await;
    assert_eq!(plant.field.count("[No data]"), 0, "{:?}", plant.field.told());
    // the gateway is away for long, and sends one bearing first
    plant.measure(&["DE", "NDE"], WINDOWS).await;
    tokio::time::sleep(Duration::from_secs(6)).await;
    plant.measure(&["DE"], 8).await;
    plant.measure(&["DE", "NDE"], 10).await;
    assert_eq!(plant.field.count("[No data]"), 0, "{:?}", plant.field.told());
    agent.stop().await.expect("no part failed");
}
