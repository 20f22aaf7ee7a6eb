//! A live source whose device is absent at the start, comes, disconnects and comes back.

use std::io::Write as _;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pdm_edge::pipeline::Edge;
use pdm_edge::settings;
use pdm_harness::free_port;
use pdm_service::clock::SystemClock;

fn configuration(folder: &Path, device: u16) -> settings::EdgeSettings {
    let text = format!(
        "gateway_id = \"gw\"\nsite = \"s\"\n[broker]\naddresses = [\"127.0.0.1:{}\"]\n\
         [spool]\npath = \"spool.db\"\n[[source]]\nname = \"device\"\nkind = \"stream\"\n\
         rate_hz = 3200.0\n[source.stream]\nencoding = \"f32\"\nblock_s = 0.5\n\
         from = \"tcp://127.0.0.1:{device}\"\n[[source.channel]]\nequipment = \"P\"\n\
         bearing = \"DE\"\nrpm = 1800.0\nbearing_type = \"6205\"\n",
        free_port()
    );
    settings::parse(&folder.join("edge.toml"), &text).expect("valid").0
}

/// Two windows of a vibration, then the connection closes.
fn deliver(listener: &TcpListener) {
    let (mut socket, _) = listener.accept().expect("the edge connects");
    let bytes: Vec<u8> = (0..3200)
        .flat_map(|n| ((f64::from(n) * 0.7).sin() as f32 + (n % 7) as f32 * 0.01).to_le_bytes())
        .collect();
    socket.write_all(&bytes).expect("sends");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_that_goes_and_comes_is_measured_whenever_it_is_there() {
    let folder = tempfile::tempdir().expect("folder");
    let port = free_port();
    let settings = configuration(folder.path(), port);
    let edge = Edge::start(settings, Arc::new(SystemClock)).await.expect("starts without it");
    tokio::time::sleep(Duration::from_millis(100)).await;
    let device = std::thread::spawn(move || {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).expect("binds");
        deliver(&listener);
        deliver(&listener);
    });
    let mut progress = edge.progress();
    let four = progress.wait_for(|progress| progress.spooled >= 4);
    tokio::time::timeout(Duration::from_secs(20), four).await.expect("in time").expect("runs");
    device.join().expect("no panic");
    let done = edge.stop().await.expect("no part failed");
    assert_eq!((done.measured, done.waiting), (4, 4));
}
