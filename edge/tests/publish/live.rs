//! A live source whose device is absent at the start, comes, disconnects and comes back.

use std::io::Write as _;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pdm_edge::pipeline::Edge;
use pdm_edge::settings;
use pdm_harness::free_port;
use pdm_service::clock::{Clock, SystemClock};
use pdm_shared::time::Timestamp;

fn configuration(folder: &Path, device: u16) -> settings::EdgeSettings {
    let text = format!(
        "gateway_id = \"gw\"\nsite = \"s\"\n[broker]\naddresses = [\"127.0.0.1:{}\"]\n\
         [spool]\npath = \"spool.db\"\n[[source]]\nname = \"device\"\nkind = \"stream\"\n\
         rate_hz = 3200.0\n[source.stream]\nencoding = \"f32\"\nblock_s = 0.5\n\
         from = \"tcp://127.0.0.1:{device}\"\n[[source.channel]]\nequipment = \"P\"\n\
         bearing = \"DE\"\nrpm = 1800.0\nbearing_type = \"6205\"\nunit = \"g\"\n",
        free_port()
    );
    settings::parse(&folder.join("edge.toml"), &text).expect("valid").0
}

/// Two windows of a vibration, then the connection closes.
fn deliver(listener: &TcpListener) {
    deliver_after(listener, || ());
}

/// Delivers the same; `connected` is called before the first byte.
fn deliver_after(listener: &TcpListener, connected: impl FnOnce()) {
    let (mut socket, _) = listener.accept().expect("the edge connects");
    connected();
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

/// The clock of a gateway without a battery.
#[derive(Debug, Default)]
struct UnsetClock(AtomicBool);

impl Clock for UnsetClock {
    fn now(&self) -> Timestamp {
        if self.0.load(Ordering::Relaxed) {
            return SystemClock.now();
        }
        Timestamp::EPOCH.plus_seconds(self.uptime().as_secs_f64())
    }
}

/// A gateway that starts in 1970 dates nothing until its clock is set.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_dated_while_the_clock_of_the_gateway_is_not_set() {
    let folder = tempfile::tempdir().expect("folder");
    let port = free_port();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).expect("binds");
    let clock = Arc::new(UnsetClock::default());
    let settings = configuration(folder.path(), port);
    let edge = Edge::start(settings, clock.clone()).await.expect("starts");
    let device = std::thread::spawn(move || {
        deliver(&listener);
        // the edge connects again a second after the loss, so the first windows are through
        deliver_after(&listener, || clock.0.store(true, Ordering::Relaxed));
    });
    let mut progress = edge.progress();
    let two = progress.wait_for(|progress| progress.spooled >= 2);
    tokio::time::timeout(Duration::from_secs(20), two).await.expect("in time").expect("runs");
    device.join().expect("no panic");
    let done = edge.stop().await.expect("no part failed");
    assert_eq!(done.measured, 2, "the windows of 1970 are left out");
}
