//! Delivery: events a second from the spool to a broker, beside rumqttc alone with the same
//! payloads, and from measurements into the spool. `cargo bench -p pdm-edge --bench delivery`;
//! `--short`, for the test command, is one round of 200 events.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pdm_edge::progress::Progress;
use pdm_edge::publish::{Publisher, PublisherSettings};
use pdm_edge::settings::{BrokerAddress, BrokerSettings};
use pdm_edge::spool::{Batch, Limits, Spool, SpoolSettings};
use pdm_harness::{Mosquitto, Persistence};
use pdm_service::clock::SystemClock;
use pdm_shared::event::Event;
use pdm_shared::id::EventId;
use pdm_shared::topic::Prefix;
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::Packet;
use rumqttc::v5::{AsyncClient, Event as Happening, MqttOptions};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

const IN_FLIGHT: u16 = 256;

/// How much is measured.
#[derive(Clone, Copy)]
struct Size {
    events: u64,
    /// Number of rounds, of which the median counts: one round is 0.5 s, and other programs disturb
    /// single rounds. The order of the two publishers changes from round to round.
    rounds: usize,
}

const WHOLE: Size = Size { events: 20_000, rounds: 15 };
const SHORT: Size = Size { events: 200, rounds: 1 };

fn event(n: u64) -> Event {
    let text = include_str!("../../config/examples/event.json");
    let example: Event = serde_json::from_str(text).expect("the example");
    Event { event_id: EventId::at(n.cast_signed()), sequence: n, ..example }
}

/// rumqttc alone with the same number in flight: the rate that the network and the broker allow.
async fn alone(port: u16, events: u64) -> f64 {
    let mut options = MqttOptions::new("alone", "127.0.0.1", port);
    options.set_outgoing_inflight_upper_limit(IN_FLIGHT);
    let (client, mut event_loop) = AsyncClient::new(options, usize::from(IN_FLIGHT));
    let payload = serde_json::to_vec(&event(1)).expect("json");
    let sender = tokio::spawn(async move {
        for _ in 0..events {
            let sent =
                client.publish("pdm/v1/a/b/c/event", QoS::AtLeastOnce, false, payload.clone());
            sent.await.expect("the loop runs");
        }
        client
    });
    let begun = Instant::now();
    let mut taken = 0;
    while taken < events {
        if let Happening::Incoming(Packet::PubAck(_)) = event_loop.poll().await.expect("connected")
        {
            taken += 1;
        }
    }
    drop(sender);
    events as f64 / begun.elapsed().as_secs_f64()
}

/// Fills a spool; returns events a second.
async fn fill(spool: &Spool, count: u64) -> f64 {
    let begun = Instant::now();
    let mut n = 0;
    while n < count {
        let events = (n..n + 100).map(event).collect();
        spool.commit(&mut Batch { events, ..Batch::default() }).await.expect("commits");
        n += 100;
    }
    count as f64 / begun.elapsed().as_secs_f64()
}

/// Drains a full spool by the publisher; returns events a second.
async fn drain(spool: &Spool, port: u16, events: u64) -> f64 {
    let settings = PublisherSettings {
        broker: BrokerSettings {
            addresses: vec![BrokerAddress { host: "127.0.0.1".to_owned(), port }],
            max_in_flight: IN_FLIGHT,
            ..BrokerSettings::default()
        },
        prefix: Prefix::default(),
        site: "a".parse().expect("name"),
        bearings: Vec::new(),
    };
    let publisher = Publisher::new(
        settings,
        spool.clone(),
        Arc::new(SystemClock),
        watch::Sender::new(Progress::default()),
    );
    let begun = Instant::now();
    let (closing, abandon) = (CancellationToken::new(), CancellationToken::new());
    let running = tokio::spawn(publisher.run(closing.clone(), abandon));
    let mut tally = spool.watch();
    tally.wait_for(|tally| tally.waiting == 0).await.expect("lives");
    let rate = events as f64 / begun.elapsed().as_secs_f64();
    closing.cancel();
    running.await.expect("no panic").expect("no failure");
    rate
}

#[expect(clippy::print_stdout, reason = "the figures are what a benchmark is for")]
async fn measure(Size { events, rounds }: Size) {
    let Some(broker) = Mosquitto::start("bench delivery", Persistence::Memory) else { return };
    println!("{events} events of {} bytes, {IN_FLIGHT} in flight", bytes());
    let mut ratios = Vec::with_capacity(rounds);
    for round in 0..rounds {
        let folder = tempfile::tempdir().expect("folder");
        let settings = SpoolSettings {
            path: folder.path().join("spool.db"),
            limits: Limits { max_age: Duration::from_hours(24), ..Limits::default() },
            await_receipt: true,
        };
        let gateway = "gw".parse().expect("name");
        let spool = Spool::open(settings, gateway, Arc::new(SystemClock)).await.expect("opens");
        let filled = fill(&spool, events).await;
        let (alone, drained) = if round % 2 == 0 {
            let alone = alone(broker.port(), events).await;
            (alone, drain(&spool, broker.port(), events).await)
        } else {
            let drained = drain(&spool, broker.port(), events).await;
            (alone(broker.port(), events).await, drained)
        };
        println!(
            "into the spool {filled:.0}/s, spool to broker {drained:.0}/s, rumqttc alone \
             {alone:.0}/s: ratio {:.2}",
            drained / alone
        );
        ratios.push(drained / alone);
    }
    ratios.sort_by(f64::total_cmp);
    println!(
        "spool to broker / rumqttc alone, median of {rounds} rounds: {:.2}",
        ratios[rounds / 2]
    );
}

fn bytes() -> usize {
    serde_json::to_vec(&event(1)).expect("json").len()
}

fn main() {
    let is_short = std::env::args().any(|argument| argument == "--short");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("runtime").block_on(measure(if is_short { SHORT } else { WHOLE }));
}
