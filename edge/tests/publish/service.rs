//! The whole edge in process: from the simulator to the broker, stopped and started again.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pdm_edge::condition::MonitorSettings;
use pdm_edge::pipeline::Edge;
use pdm_edge::settings::{
    DefectOrders, EdgeSettings, Pace, PointSettings, SourceSettings, Timing, ZoneTable,
};
use pdm_edge::source::SourceInput;
use pdm_edge::source::simulator::{Course, SimulatorSettings};
use pdm_edge::spool::{Lane, Spool};
use pdm_harness::{Mosquitto, Persistence, free_port};
use pdm_service::clock::SystemClock;
use pdm_shared::event::Event;
use pdm_shared::fault::Fault;
use pdm_shared::units::{Rpm, SampleRate};

use crate::agent::Agent;
use crate::stage::{GATEWAY, local};

fn orders() -> DefectOrders {
    DefectOrders::new(3.585, 5.415, 2.357, 0.398).expect("a 6205")
}

/// A run to failure of `snapshots` windows of half a second, a minute apart, on two channels.
fn simulator(snapshots: u64) -> SourceSettings {
    let rate = SampleRate::new(12_000.0).expect("valid");
    let speed = Rpm::new(1797.0).expect("valid");
    let settings = SimulatorSettings {
        fault: Some(Fault::OuterRace),
        course: Course::run_to_failure(),
        snapshots,
        snapshot_s: 0.6,
        channels: 2,
        ..SimulatorSettings::new(rate, speed, orders())
    };
    let points = (0..2).map(|channel| PointSettings {
        channel,
        equipment: "P-101".parse().expect("name"),
        bearing: "DE".parse().expect("name"),
        measuring_point: Some(format!("DE-{channel}").parse().expect("name")),
        orders: orders(),
        order_tolerance: 0.015,
        estimate: None,
        speed,
        speed_tolerance: 0.02,
        tachometer_ratio: 1.0,
        speed_bins: Vec::new(),
        envelope_band: None,
        zones: ZoneTable::of_group("medium_rigid"),
        monitor: MonitorSettings { baseline_windows: 20, ..MonitorSettings::default() },
    });
    SourceSettings {
        name: "rig".to_owned(),
        input: SourceInput::Simulator(Box::new(settings)),
        pace: Pace::AsFastAsItGoes,
        timing: Timing { started_at: None, period_s: Some(60.0) },
        points: points.collect(),
        window: None,
        every: None,
        tachometer: None,
        speed_tag: None,
    }
}

pub(crate) fn settings(folder: &Path, port: u16, snapshots: u64) -> EdgeSettings {
    let mut settings = EdgeSettings::embedded(
        GATEWAY.parse().expect("name"),
        "ulsan-1".parse().expect("name"),
        "127.0.0.1",
        port,
        folder.join("spool.db"),
        vec![simulator(snapshots)],
    );
    settings.broker = local(port);
    settings.shutdown_grace = Duration::from_secs(10);
    settings
}

pub(crate) async fn events(folder: &Path) -> Vec<Event> {
    let settings = settings(folder, 1, 1);
    let spool = Spool::open(settings.spool, settings.gateway, Arc::new(SystemClock)).await;
    let lane = Lane { first: 0, end: u64::MAX };
    let rows = spool.expect("opens").waiting(lane, usize::MAX).await.expect("reads");
    rows.iter().map(|row| serde_json::from_slice(&row.payload).expect("an event")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_window_of_a_run_is_measured_published_and_stored() {
    let Some(broker) = Mosquitto::start("every_window_of_a_run", Persistence::Memory) else {
        return;
    };
    let folder = tempfile::tempdir().expect("folder");
    let agent = Agent::listen(broker.port(), true).await;
    let clock = Arc::new(SystemClock);
    let edge = Edge::start(settings(folder.path(), broker.port(), 120), clock).await.expect("runs");
    tokio::time::timeout(Duration::from_mins(1), edge.drained()).await.expect("in time");
    agent.until("240 events", |stored| stored.events.len() == 240).await;
    let progress = edge.stop().await.expect("no part failed");
    assert_eq!((progress.measured, progress.spooled), (240, 240));
    assert!(progress.acknowledged >= 240, "{progress:?}");
    agent.with(|stored| {
        let events: Vec<Event> = stored
            .events
            .values()
            .map(|(_, bytes)| serde_json::from_slice(bytes).expect("an event"))
            .collect();
        for event in &events {
            event.check().expect("as the contract asks");
        }
        let last = events.last().expect("some");
        assert!(last.anomaly_detected, "the run ends in an anomaly: {:?}", last.anomaly);
        let named: Vec<Fault> =
            events.iter().filter_map(|event| event.frequency_domain.dominant_fault).collect();
        assert!(named.contains(&Fault::OuterRace), "the damage is named");
        assert!(named.iter().all(|fault| *fault == Fault::OuterRace), "and by no other name");
        assert!(!events[60].anomaly_detected, "and begins without one");
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edge_that_was_stopped_goes_on_with_the_next_window() {
    let folder = tempfile::tempdir().expect("folder");
    let port = free_port();
    let clock = Arc::new(SystemClock);
    for _ in 0..3 {
        let edge =
            Edge::start(settings(folder.path(), port, 150), clock.clone()).await.expect("runs");
        let mut progress = edge.progress();
        progress.wait_for(|progress| progress.spooled > 0 || progress.ended).await.expect("runs");
        edge.stop().await.expect("no part failed");
    }
    let edge = Edge::start(settings(folder.path(), port, 150), clock).await.expect("runs");
    edge.ended().await;
    edge.stop().await.expect("no part failed");
    let events = events(folder.path()).await;
    let sequences: Vec<u64> = events.iter().map(|event| event.sequence).collect();
    assert_eq!(sequences, (1..=300).collect::<Vec<_>>(), "nothing missing, nothing twice");
    let windows: BTreeSet<_> =
        events.iter().map(|event| (event.measured_at, event.measuring_point.clone())).collect();
    assert_eq!(windows.len(), 300, "no window twice");
    let learnt = events.iter().filter(|event| event.anomaly.baseline.windows >= 20).count();
    assert!(learnt > 200, "the baseline went on over the restarts");
}
