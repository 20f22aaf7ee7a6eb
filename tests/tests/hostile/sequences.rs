//! Sequence numbers and receipts that cannot be true, on both sides.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use pdm_harness::{Child, Mosquitto, Persistence, SmallDisk, binary, free_port, until};
use pdm_shared::event::Event;
use pdm_shared::id::EventId;
use sqlx::{Connection as _, Row as _, SqliteConnection};

use crate::plant::{Gateway, PATIENCE, Plant};

/// A gateway of a version without epochs, which its numbers alone protect.
const OLD: Gateway<'static> =
    Gateway { site: "ulsan-1", name: "gw-01", bearing: "DE", epoch: None };

async fn fifty_stored(test: &str) -> Option<(Plant, crate::plant::Peer)> {
    let plant = Plant::open(test, "[intake]\nreceipt_after_s = 0.1\n")?;
    let mut peer = plant.anybody("gw-01", &["pdm/v1/+/gateway/+/receipt"]).await;
    for sequence in 1..=50 {
        assert!(peer.send(&OLD.event(sequence, true), None).await);
    }
    peer.until_receipt("gw-01", 50).await;
    Some((plant, peer))
}

#[tokio::test]
async fn ten_forged_events_do_not_reset_a_receipt() {
    let test = "ten_forged_events_do_not_reset_a_receipt";
    let Some((plant, mut peer)) = fifty_stored(test).await else { return };
    for n in 1..=10 {
        let forged = Event { event_id: EventId::at(n), ..OLD.event(11 - n.unsigned_abs(), true) };
        assert!(peer.send(&forged, None).await);
    }
    plant.until_figure("stored", "SELECT count(*) FROM events", 60).await;
    assert!(peer.send(&OLD.event(51, true), None).await);
    peer.until_receipt("gw-01", 51).await;
    let books = "SELECT count(*) FROM sequence_gaps";
    assert_eq!(plant.figures(books).await, [0], "no number is asked for again");
}

#[tokio::test]
async fn a_jump_beyond_every_spool_moves_no_receipt() {
    let test = "a_jump_beyond_every_spool_moves_no_receipt";
    let Some((plant, mut peer)) = fifty_stored(test).await else { return };
    for sequence in [50 + (1 << 20) + 1, (1 << 53) - 1, i64::MAX as u64] {
        assert!(peer.send(&OLD.event(sequence, true), None).await);
    }
    let letters = "SELECT coalesce(sum(count), 0) FROM dead_letters";
    plant.until_figure("refused", letters, 3).await;
    assert!(peer.send(&OLD.event(51, true), None).await);
    peer.until_receipt("gw-01", 51).await;
    assert_eq!(plant.figures("SELECT highest_sequence FROM gateways").await, [51]);
}

/// A real edge that makes a window a second.
fn edge(folder: &Path, spool: &Path, broker: u16, admin: u16) -> Child {
    let text = format!(
        "gateway_id = \"gw-01\"\nsite = \"ulsan-1\"\n[broker]\naddresses = \
         [\"127.0.0.1:{broker}\"]\n\
         [spool]\npath = \"{}\"\n[admin]\nlisten = \"127.0.0.1:{admin}\"\n[[source]]\nname = \
         \"sim\"\n\
         kind = \"simulator\"\npace = 60.0\nrate_hz = 6400.0\nperiod_s = 12.0\n[source.simulator]\n\
         fault = \"outer_race\"\nsnapshots = 5000\nsnapshot_s = 0.5\nseed = 1\n[[source.channel]]\n\
         equipment = \"P-101\"\nbearing = \"DE\"\nbearing_type = \"6205\"\nrpm = 1797.0\n",
        spool.join("spool.db").display()
    );
    let config = folder.join("edge.toml");
    std::fs::write(&config, text).expect("edge.toml");
    let log = std::fs::File::create(folder.join("edge.log")).expect("log");
    let mut command = Command::new(binary("pdm-edge"));
    command.args(["run", "--config"]).arg(config).stdout(Stdio::null()).stderr(log);
    Child::start(&mut command)
}

/// The answer of the edge's health, head and body.
fn health(port: u16) -> String {
    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        stream
            .write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        Ok(text)
    };
    ask().unwrap_or_default()
}

/// Highest number given out, rows held, number that a receipt covers.
async fn spool(folder: &Path) -> (i64, i64, i64) {
    let url = format!("sqlite:{}?mode=ro", folder.join("spool.db").display());
    let mut database = SqliteConnection::connect(&url).await.expect("the spool opens");
    let sql = "SELECT next_sequence - 1, (SELECT count(*) FROM event), stored_through FROM gateway";
    let row = sqlx::query(sql).fetch_one(&mut database).await.expect(sql);
    (row.get(0), row.get(1), row.get(2))
}

#[tokio::test]
async fn an_edge_ignores_a_receipt_above_its_last_number() {
    let test = "an_edge_ignores_a_receipt_above_its_last_number";
    let Some(broker) = Mosquitto::start(test, Persistence::Memory) else { return };
    let (folder, admin) = (tempfile::tempdir().expect("folder"), free_port());
    let mut edge = edge(folder.path(), folder.path(), broker.port(), admin);
    let patience = PATIENCE;
    until("the edge's health", patience, || health(admin).ends_with("ok\n").then_some(()));
    for stored_through in [1_000_000, (1 << 53), i64::MAX as u64 - 1, u64::MAX] {
        let receipt = serde_json::json!({
            "schema": "pdm.receipt/1", "gateway_id": "gw-01", "stored_through": stored_through,
            "missing": [], "at": "2026-11-21T05:10:21.000Z",
        });
        let topic = "pdm/v1/ulsan-1/gateway/gw-01/receipt";
        // one each: waiting for the edge's health stands still with this connection
        let options = rumqttc::v5::MqttOptions::new("forger", "127.0.0.1", broker.port());
        let mut forger = crate::plant::Peer::connect(options, &[]).await;
        assert!(forger.publish(topic, true, receipt.to_string()).await);
        until("a degraded health", patience, || {
            health(admin).contains(&format!("stored_through is {stored_through}")).then_some(())
        });
    }
    assert!(health(admin).starts_with("HTTP/1.1 200"), "it measures and keeps: no restart helps");
    let (last, rows, covered) = spool(folder.path()).await;
    assert!(last < 10_000 && rows == last && covered == 0, "{last} {rows} {covered}");
    let mut later = last;
    for _ in 0..PATIENCE * 10 {
        later = spool(folder.path()).await.0;
        if later > last {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(later > last, "the edge goes on measuring");
    assert!(edge.terminate().success());
    // and it can be started again
    let mut edge = self::edge(folder.path(), folder.path(), broker.port(), admin);
    until("the edge's health", patience, || health(admin).contains("HTTP/1.1 200").then_some(()));
    assert!(edge.terminate().success());
}

#[tokio::test]
async fn sigterm_ends_an_edge_whose_spool_fails() {
    let test = "sigterm_ends_an_edge_whose_spool_fails";
    let Some(disk) = SmallDisk::mount(test, 8) else { return };
    let (folder, admin) = (tempfile::tempdir().expect("folder"), free_port());
    let mut edge = edge(folder.path(), disk.path(), free_port(), admin);
    let patience = 2 * PATIENCE;
    until("the edge's health", patience, || health(admin).ends_with("ok\n").then_some(()));
    disk.fill();
    until("a health that fails", patience, || {
        let answer = health(admin);
        let is_failing =
            answer.starts_with("HTTP/1.1 503") && answer.contains("the spool cannot be written");
        is_failing.then_some(())
    });
    let stopping = std::time::Instant::now();
    edge.terminate();
    // the grace period of a stop is 45 s; a spool that takes nothing is given 5 s, and every part
    // that does not end by itself 10 s
    assert!(stopping.elapsed() < Duration::from_secs(40), "{:?}", stopping.elapsed());
}
