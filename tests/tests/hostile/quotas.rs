//! Tests the quota of one gateway: events above it are put off or refused, counted, told once, and
//! cost no other gateway anything.

use pdm_harness::free_port;
use pdm_shared::event::Event;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::plant::{Gateway, Plant};

const STORED: &str = "SELECT count(*) FROM events";
const LETTERS: &str = "SELECT coalesce(sum(count), 0) FROM dead_letters";

fn gateway<'a>(name: &'a str, bearing: &'a str) -> Gateway<'a> {
    Gateway { site: "ulsan-1", name, bearing, epoch: None }
}

/// An agent with this quota that serves its metrics on the port.
fn plant(test: &str, quota: &str, port: u16) -> Option<Plant> {
    let lines = format!(
        "[intake]\nreceipt_after_s = 0.1\n[intake.quota]\n{quota}\n\
         [http]\nlisten = \"127.0.0.1:{port}\"\n"
    );
    Plant::open(test, &lines)
}

/// A counter of the agent's metrics, summed over its labels.
async fn counter(port: u16, name: &str) -> u64 {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.expect("listens");
    let request =
        format!("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("answered");
    let lines = answer.lines().filter(|line| line.starts_with(name));
    lines.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum()
}

/// Waits until a counter has come to a figure.
pub(crate) async fn until_counter(port: u16, name: &str, wanted: u64) {
    let mut last = 0;
    for _ in 0..crate::plant::PATIENCE * 20 {
        last = counter(port, name).await;
        if last == wanted {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("{name}: {last}, expected {wanted}");
}

/// Returns how often the agent's log says something.
fn said(plant: &Plant, words: &str) -> usize {
    plant.log("agent.log").lines().filter(|line| line.contains(words)).count()
}

#[tokio::test]
async fn events_above_a_gateways_quota_are_put_off_counted_and_told_once() {
    let test = "events_above_a_gateways_quota_are_put_off_counted_and_told_once";
    let port = free_port();
    let Some(plant) = plant(test, "events_per_minute = 5", port) else { return };
    let watch = plant.anybody("watch", &["pdm/v1/ulsan-1/gateway/+/receipt"]).await;
    let (one, two) = (gateway("gw-01", "DE"), gateway("gw-02", "NDE"));
    let mut peer = plant.anybody("gateways", &[]).await;
    for sequence in 1..=12 {
        assert!(peer.send(&one.event(sequence, true), None).await);
    }
    for sequence in 1..=4 {
        assert!(peer.send(&two.event(sequence, true), None).await);
    }
    watch.until_receipt("gw-02", 4).await;
    watch.until_receipt("gw-01", 5).await;
    assert_eq!(plant.figures(STORED).await, [9], "five of the one, all of the other");
    assert_eq!(counter(port, "pdm_agent_events_put_off_total").await, 7);
    assert_eq!(said(&plant, "gateway is above its quota"), 1);
    assert_eq!(plant.figures(LETTERS).await, [0], "put off is not refused: it is asked for again");
}

#[tokio::test]
async fn bytes_above_a_gateways_quota_are_put_off_counted_and_told_once() {
    let test = "bytes_above_a_gateways_quota_are_put_off_counted_and_told_once";
    let port = free_port();
    let (one, two) = (gateway("gw-01", "DE"), gateway("gw-02", "NDE"));
    let bytes = |event: &Event| serde_json::to_string(event).expect("json").len();
    // three events and a half of the one gateway
    let most = 7 * bytes(&one.event(1, true)) / 2;
    let Some(plant) = plant(test, &format!("bytes_per_minute = {most}"), port) else { return };
    let watch = plant.anybody("watch", &["pdm/v1/ulsan-1/gateway/+/receipt"]).await;
    let mut peer = plant.anybody("gateways", &[]).await;
    for sequence in 1..=8 {
        assert!(peer.send(&one.event(sequence, true), None).await);
    }
    assert!(peer.send(&two.event(1, true), None).await);
    watch.until_receipt("gw-02", 1).await;
    watch.until_receipt("gw-01", 3).await;
    assert_eq!(plant.figures(STORED).await, [4]);
    assert_eq!(counter(port, "pdm_agent_events_put_off_total").await, 5);
    assert_eq!(said(&plant, "gateway is above its quota"), 1);
}

#[tokio::test]
async fn new_bearings_above_a_gateways_quota_are_refused_counted_and_told_once() {
    let test = "new_bearings_above_a_gateways_quota_are_refused_counted_and_told_once";
    let port = free_port();
    let Some(plant) = plant(test, "new_bearings_per_hour = 2", port) else { return };
    let mut peer = plant.anybody("gateways", &[]).await;
    for (n, bearing) in (1..).zip(["A", "B", "C", "A", "C", "B", "C"]) {
        assert!(peer.send(&gateway("gw-01", bearing).event(n, true), None).await);
    }
    // another gateway's bearings are its own
    assert!(peer.send(&gateway("gw-02", "D").event(1, true), None).await);
    plant.until_figure("stored", STORED, 5).await;
    plant.until_figure("refused", LETTERS, 3).await;
    let refused = counter(port, "pdm_agent_events_refused_total{cause=\"new_bearing\"}").await;
    assert_eq!(refused, 3, "each is counted");
    assert_eq!(said(&plant, "event refused"), 1, "one bearing of one gateway is told once");
    assert!(plant.log("agent.log").contains("intake.quota.new_bearings_per_hour"));
}
