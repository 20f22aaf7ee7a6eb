//! Tests who may speak for a gateway, and for a bearing.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pdm_harness::binary;
use pdm_service::clock::{Clock as _, SystemClock};
use pdm_shared::id::Epoch;
use rumqttc::v5::AsyncClient;

use crate::plant::{Gateway, Plant, WATCH};

const STORED: &str = "SELECT count(*) FROM events";
const LETTERS: &str = "SELECT coalesce(sum(count), 0) FROM dead_letters";
/// Standing alarms of Warning and above on the bearing of the first gateway.
const WARNINGS: &str =
    "SELECT count(*) FROM episodes WHERE closed_at_ms IS NULL AND bearing_id = 'DE'
                        AND risk_level IN ('Warning', 'Critical')";
const ACKNOWLEDGED: &str =
    "SELECT count(*) FROM episodes WHERE bearing_id = 'DE' AND state LIKE 'acknowledged%'";
const CLEARED: &str = "SELECT count(*) FROM notifications WHERE reason = 'cleared'";

fn gateway<'a>(name: &'a str, bearing: &'a str, ms: i64) -> Gateway<'a> {
    Gateway { site: "ulsan-1", name, bearing, epoch: Some(Epoch::at(ms)) }
}

#[tokio::test]
async fn a_gateway_that_claims_anothers_name_moves_no_receipt() {
    let test = "a_gateway_that_claims_anothers_name_moves_no_receipt";
    let Some(plant) = Plant::shipped(test, &[("gw-01", "ulsan-1"), ("gw-02", "ulsan-1")]) else {
        return;
    };
    let (one, two) = (gateway("gw-01", "DE", 1), gateway("gw-02", "NDE", 2));
    let receipts = "pdm/v1/ulsan-1/gateway/+/receipt";
    let watch = plant.client(WATCH, &[receipts]).await;
    let mut honest = plant.client("gw-01", &[]).await;
    one.is_born(&mut honest, 0).await;
    for sequence in 1..=5 {
        assert!(honest.send(&one.event(sequence, false), Some("gw-01")).await);
    }
    watch.until_receipt("gw-01", 5).await;

    let mut hostile = plant.client("gw-02", &[]).await;
    two.is_born(&mut hostile, 0).await;
    for sequence in [1, 6, (1 << 53) - 1, i64::MAX as u64, u64::MAX] {
        let forged = one.event(sequence, true);
        // under its own topic, which the broker lets through
        assert!(hostile.send(&forged, Some("gw-02")).await);
    }
    plant.until_figure("refused", LETTERS, 5).await;
    // two connections of one name would take the session from each other
    drop(hostile);
    // under the other's topic and the short one, which the broker refuses
    for topic in [Some("gw-01"), None] {
        let mut hostile = plant.client("gw-02", &[]).await;
        assert!(!hostile.send(&one.event(6, true), topic).await);
    }
    let mut hostile = plant.client("gw-02", &[]).await;
    assert!(hostile.send(&two.event(1, true), Some("gw-02")).await, "its own");
    watch.until_receipt("gw-02", 1).await;
    assert!(honest.send(&one.event(6, false), Some("gw-01")).await);
    watch.until_receipt("gw-01", 6).await;
    assert_eq!(plant.figures(STORED).await, [7]);
}

/// Issue 34, H2 and M3: with one certificate a gateway held everybody off the broker by their
/// client ids, and an acknowledgement with its PUBACK was lost.
#[tokio::test]
async fn a_client_that_takes_anothers_id_throws_nobody_off() {
    let test = "a_client_that_takes_anothers_id_throws_nobody_off";
    let gateways = [("gw-01", "ulsan-1"), ("gw-02", "ulsan-1")];
    let Some(plant) = Plant::shipped(test, &gateways) else { return };
    let one = gateway("gw-01", "DE", 1);
    let mut honest = plant.client("gw-01", &[]).await;
    one.is_born(&mut honest, 0).await;
    assert!(honest.send(&one.event(1, false), Some("gw-01")).await);
    plant.until_figure("stored", STORED, 1).await;

    let stop = Arc::new(AtomicBool::new(false));
    let connections = Arc::new(AtomicUsize::new(0));
    let attacks: Vec<_> = ["pdm-agent", "pdm-agent-out", "gw-01", "test-gw-01"]
        .map(|id| {
            let mut options = plant.options("gw-02", id);
            options.set_clean_start(true);
            let (stop, connections) = (Arc::clone(&stop), Arc::clone(&connections));
            tokio::spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    let (_client, mut events) = AsyncClient::new(options.clone(), 4);
                    let taken = tokio::time::timeout(Duration::from_secs(5), events.poll()).await;
                    connections
                        .fetch_add(usize::from(matches!(taken, Ok(Ok(_)))), Ordering::Relaxed);
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            })
        })
        .into();
    let mut staff = plant.client("staff", &[]).await;
    for sequence in 2..=60 {
        assert!(honest.send(&one.event(sequence, false), Some("gw-01")).await, "{sequence}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    plant.until_figure("warned", WARNINGS, 1).await;
    let at = SystemClock.now();
    let ack = serde_json::json!({ "schema": "pdm.ack/1", "by": "kim", "at": at }).to_string();
    assert!(staff.publish("pdm/v1/ulsan-1/P-101/DE/ack", false, ack).await);
    plant.until_figure("acknowledged", ACKNOWLEDGED, 1).await;
    plant.until_figure("stored", STORED, 60).await;
    stop.store(true, Ordering::Relaxed);
    for attack in attacks {
        attack.await.expect("the attacker ends");
    }
    assert!(connections.load(Ordering::Relaxed) > 40, "the attack took place");
    let log = plant.log("agent.log");
    assert!(!log.contains("ends the connection again and again"), "{log}");
    assert_eq!(log.matches("connected for intake").count(), 1, "never thrown off: {log}");
}

/// The shipped broker makes the certificate's name the client id, so `check` has to be one of the
/// agent's two connections. It is not the one for which events wait.
#[tokio::test]
async fn check_beside_a_running_agent_passes_and_leaves_its_intake_connected() {
    let test = "check_beside_a_running_agent_passes_and_leaves_its_intake_connected";
    let Some(plant) = Plant::shipped(test, &[("gw-01", "ulsan-1")]) else { return };
    let config = plant.folder.path().join("agent.toml");
    let mut command = Command::new(binary("pdm-agent"));
    let checked = command.arg("check").arg("--config").arg(config).output().expect("runs");
    let said = [checked.stdout, checked.stderr].concat();
    assert_eq!(checked.status.code(), Some(0), "{}", String::from_utf8_lossy(&said));
    let one = gateway("gw-01", "DE", 1);
    let mut honest = plant.client("gw-01", &[]).await;
    one.is_born(&mut honest, 0).await;
    assert!(honest.send(&one.event(1, false), Some("gw-01")).await);
    plant.until_figure("stored", STORED, 1).await;
    let log = plant.log("agent.log");
    assert_eq!(log.matches("connected for intake").count(), 1, "{log}");
}

#[tokio::test]
async fn two_sites_with_one_gateway_name_have_two_receipts() {
    let test = "two_sites_with_one_gateway_name_have_two_receipts";
    let lines = "[intake]\nreceipt_after_s = 0.1\n";
    let Some(plant) = Plant::open(test, lines) else { return };
    let mut peer = plant.anybody("both", &["pdm/v1/+/gateway/+/receipt"]).await;
    for (site, events) in [("ulsan-1", 7), ("busan-1", 3)] {
        let gateway = Gateway { site, name: "gw-01", bearing: "DE", epoch: None };
        for sequence in 1..=events {
            assert!(peer.send(&gateway.event(sequence, true), None).await);
        }
    }
    peer.until_receipt("ulsan-1/gateway/gw-01", 7).await;
    peer.until_receipt("busan-1/gateway/gw-01", 3).await;
}

/// Sixty healthy events of a neighbour once ended the alarm of a failing bearing.
#[tokio::test]
async fn a_neighbour_cannot_clear_a_warning() {
    let test = "a_neighbour_cannot_clear_a_warning";
    let Some(plant) = Plant::shipped(test, &[("gw-01", "ulsan-1"), ("gw-02", "ulsan-1")]) else {
        return;
    };
    let (one, two) = (gateway("gw-01", "DE", 1), gateway("gw-02", "DE", 2));
    let mut honest = plant.client("gw-01", &[]).await;
    one.is_born(&mut honest, 0).await;
    for sequence in 1..=5 {
        assert!(honest.send(&one.event(sequence, false), Some("gw-01")).await);
    }
    plant.until_figure("warned", WARNINGS, 1).await;
    let mut hostile = plant.client("gw-02", &[]).await;
    two.is_born(&mut hostile, 0).await;
    for sequence in 1..=60 {
        // 60 windows of 100 s each: more than the hold of an alarm
        assert!(hostile.send(&two.event(sequence * 10, true), Some("gw-02")).await);
    }
    plant.until_figure("refused", LETTERS, 60).await;
    let letters = plant.figures("SELECT count(*) FROM dead_letters").await;
    assert_eq!(letters, [1], "one letter for all of them");
    assert_eq!(plant.figures(WARNINGS).await, [1]);
    assert_eq!(plant.figures(CLEARED).await, [0]);
    assert_eq!(plant.figures(STORED).await, [5]);
}

/// A broker without access rules: what protects a gateway is the identity of its count.
#[tokio::test]
async fn without_access_rules_an_event_without_the_gateways_epoch_moves_nothing() {
    let test = "without_access_rules_an_event_without_the_gateways_epoch_moves_nothing";
    let Some(plant) = Plant::open(test, "[intake]\nreceipt_after_s = 0.1\n") else { return };
    let one = gateway("gw-01", "DE", 1);
    let mut honest = plant.anybody("gw-01", &["pdm/v1/+/gateway/+/receipt"]).await;
    one.is_born(&mut honest, 0).await;
    for sequence in 1..=5 {
        assert!(honest.send(&one.event(sequence, false), None).await);
    }
    honest.until_receipt("gw-01", 5).await;
    plant.until_figure("warned", WARNINGS, 1).await;
    let mut hostile = plant.anybody("hostile", &[]).await;
    for (n, epoch) in [(0, None), (1, Some(Epoch::at(9)))] {
        for sequence in 1..=30 {
            let forged = Gateway { epoch, ..one };
            assert!(hostile.send(&forged.event(5 + n * 30 + sequence, true), None).await);
        }
    }
    plant.until_figure("refused", LETTERS, 60).await;
    assert!(honest.send(&one.event(6, false), None).await);
    honest.until_receipt("gw-01", 6).await;
    assert_eq!(plant.figures(WARNINGS).await, [1]);
    assert_eq!(plant.figures(STORED).await, [6]);
}

/// Issue 34, L2: a machine named `.` or `..` stood in addresses of pages, where it means another.
#[tokio::test]
async fn a_machine_named_by_dots_is_refused() {
    let test = "a_machine_named_by_dots_is_refused";
    let Some(plant) = Plant::open(test, "") else { return };
    let one = gateway("gw-01", "DE", 1);
    let mut peer = plant.anybody("gw-01", &[]).await;
    for (name, level) in [(".", "equipment_id"), ("..", "equipment_id"), ("..", "bearing_id")] {
        let mut event = serde_json::to_value(one.event(1, true)).expect("json");
        event[level] = name.into();
        let of = |key: &str| event[key].as_str().expect("a name").to_owned();
        let topic =
            format!("pdm/v1/{}/{}/{}/event", of("site"), of("equipment_id"), of("bearing_id"));
        assert!(peer.publish(&topic, false, event.to_string()).await);
    }
    plant.until_figure("refused", LETTERS, 3).await;
    assert_eq!(plant.figures(STORED).await, [0]);
}

/// R-EDGE-10: at a broker without access rules everybody reads the retained status, and the count
/// in it. One event of it under the long topic ended the intake of the short one for good, two
/// statuses with other counts ended both.
#[tokio::test]
async fn who_has_read_a_gateways_count_ends_no_intake_of_it() {
    let test = "who_has_read_a_gateways_count_ends_no_intake_of_it";
    let Some(plant) = Plant::open(test, "[intake]\nreceipt_after_s = 0.1\n") else { return };
    let one = gateway("gw-01", "DE", 1);
    let mut honest = plant.anybody("gw-01", &["pdm/v1/+/gateway/+/receipt"]).await;
    one.is_born(&mut honest, 0).await;
    for sequence in 1..=3 {
        assert!(honest.send(&one.event(sequence, true), None).await);
    }
    honest.until_receipt("gw-01", 3).await;
    let mut hostile = plant.anybody("hostile", &[]).await;
    let invented = Gateway { bearing: "Y", ..one };
    assert!(hostile.send(&invented.event(1_000, true), Some("gw-01")).await);
    plant.until_figure("the forged event", STORED, 4).await;
    for epoch in [Epoch::at(77), Epoch::at(78)] {
        Gateway { epoch: Some(epoch), ..one }.is_born(&mut hostile, 0).await;
    }
    for sequence in 4..=9 {
        assert!(honest.send(&one.event(sequence, true), None).await);
    }
    plant.until_figure("all of the honest gateway", STORED, 10).await;
    honest.until_receipt("gw-01", 9).await;
    assert_eq!(plant.figures(LETTERS).await, [0]);
    let log = plant.log("agent.log");
    assert!(log.contains("names another count of sequence numbers"), "told: {log}");
}

#[tokio::test]
async fn a_bearing_that_was_released_is_taken_from_its_new_gateway() {
    let test = "a_bearing_that_was_released_is_taken_from_its_new_gateway";
    let Some(plant) = Plant::open(test, "") else { return };
    let (one, two) = (gateway("gw-01", "DE", 1), gateway("gw-02", "DE", 2));
    let mut peer = plant.anybody("both", &[]).await;
    one.is_born(&mut peer, 0).await;
    two.is_born(&mut peer, 0).await;
    assert!(peer.send(&one.event(1, true), None).await);
    plant.until_figure("stored", STORED, 1).await;
    assert!(peer.send(&two.event(2, true), None).await);
    plant.until_figure("refused", LETTERS, 1).await;
    let gateways = |arguments: &[&str]| {
        let mut command = Command::new(binary("pdm-agent"));
        let config = plant.folder.path().join("agent.toml");
        let done = command.arg("gateways").args(arguments).arg("--config").arg(config).output();
        let done = done.expect("runs");
        (done.status.code(), String::from_utf8_lossy(&done.stdout).into_owned())
    };
    let (code, text) = gateways(&["list"]);
    assert!(
        code == Some(0) && text.contains("ulsan-1/gw-01") && text.contains("P-101/DE"),
        "{text}"
    );
    assert_eq!(gateways(&["release", "ulsan-1/P-101/DE"]).0, Some(0));
    assert_eq!(gateways(&["release", "ulsan-1/P-101/DE"]).0, Some(66), "nothing left to release");
    assert!(peer.send(&two.event(3, true), None).await);
    plant.until_figure("stored", STORED, 2).await;
    assert!(plant.log("agent.log").contains("event refused"), "the refusal was told");
}
