//! A backlog through a broker and the program itself.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pdm_harness::{Child, Mosquitto, Persistence};
use pdm_shared::event::Event;
use rumqttc::v5::Event::Incoming;
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::Packet;
use rumqttc::v5::{AsyncClient, MqttOptions};

use crate::history::{self, BenchPlace};

/// Longest time of one drain.
const LIMIT: Duration = Duration::from_mins(10);

/// The measurements of a drain.
pub(crate) struct Drained {
    pub(crate) stored_per_s: f64,
    pub(crate) judged_per_s: f64,
    pub(crate) rss_mib: f64,
}

/// Lets the broker keep `events` for an agent that is away, then starts it. None without a broker.
///
/// # Panics
/// If the agent does not get through within [`LIMIT`].
pub(crate) async fn drain(place: &BenchPlace, events: u64, time: u32) -> Option<Drained> {
    let gateway = format!("gw-{time}");
    let lines = "allow_anonymous true\nmax_inflight_messages 1024\nset_tcp_nodelay true\n";
    let broker = Mosquitto::start_with("durable", Persistence::Memory, lines)?;
    let config = place.folder().join("agent.toml");
    let text = format!(
        "{}[broker]\naddresses = [\"127.0.0.1:{}\"]\n[knowledge]\nstore = {{ sqlite = \
         \"knowledge.db\" }}\n",
        place.section(),
        broker.port()
    );
    std::fs::write(&config, text).expect("configuration");
    let start = || {
        Child::start(
            Command::new(env!("CARGO_BIN_EXE_pdm-agent"))
                .args(["run", "--config"])
                .arg(&config)
                .stderr(Stdio::null()),
        )
    };
    place.release_bearings().await;
    let all = history::events(events, &gateway, time);
    // one event shows that the session is there
    let mut agent = start();
    while place.progress(&gateway).await.0 == 0 {
        publish(broker.port(), &all[..1]).await;
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    agent.terminate();
    publish(broker.port(), &all[1..]).await;
    let mut agent = start();
    let drained = watch(place, &agent, &gateway, events).await;
    // the next time begins with nothing left to do
    while !place.is_sent().await {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    agent.terminate();
    Some(drained)
}

async fn watch(place: &BenchPlace, agent: &Child, gateway: &str, events: u64) -> Drained {
    let begun = Instant::now();
    let (mut first, mut stored_per_s, mut rss_mib) = (None, None, 0.0_f64);
    while begun.elapsed() < LIMIT {
        let (stored, is_judged) = place.progress(gateway).await;
        rss_mib = rss_mib.max(rss(agent.id()));
        if stored > 1 {
            let (since, at_first) = *first.get_or_insert((Instant::now(), stored));
            let rate = |count: u64| count as f64 / since.elapsed().as_secs_f64();
            if stored == events && stored_per_s.is_none() {
                stored_per_s = Some(rate(events - at_first));
            }
            if let Some(stored_per_s) = stored_per_s.filter(|_| is_judged) {
                return Drained { stored_per_s, judged_per_s: rate(events), rss_mib };
            }
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let (stored, is_judged) = place.progress(gateway).await;
    panic!("after {LIMIT:?} {stored} of {events} events are stored, all judged: {is_judged}");
}

/// Resident memory of a process, MiB.
fn rss(pid: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()).and_then(|kib| kib.parse().ok());
    kib.unwrap_or(0.0) / 1024.0
}

/// Publishes and waits until the broker has it all.
async fn publish(port: u16, events: &[Event]) {
    let mut options = MqttOptions::new("bench", "127.0.0.1", port);
    options.set_max_packet_size(Some(1 << 20));
    let (client, mut polled) = AsyncClient::new(options, 1024);
    let mut confirmed = 0;
    let messages: Vec<(String, String)> = events
        .iter()
        .map(|event| {
            let topic =
                format!("pdm/v1/{}/{}/{}/event", event.site, event.equipment_id, event.bearing_id);
            (topic, serde_json::to_string(event).expect("json"))
        })
        .collect();
    let sending = tokio::spawn(async move {
        for (topic, payload) in messages {
            client.publish(topic, QoS::AtLeastOnce, false, payload).await.expect("queued");
        }
        client
    });
    while confirmed < events.len() {
        let event = polled.poll().await.expect("the broker is there");
        confirmed += usize::from(matches!(event, Incoming(Packet::PubAck(_))));
    }
    drop(sending.await);
}
