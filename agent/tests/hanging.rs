//! Measures how much a language model that hangs delays the judgements beside it: `tests/run
//! hanging`. It takes minutes, so the usual test run leaves it out; that nothing is lost or held up
//! is also in `opinions`.

mod support;

use std::path::Path;
use std::time::{Duration, Instant};

use pdm_agent::service::connect_store;
use pdm_harness::{Child, ModelReply, ModelStandIn, Mosquitto, Persistence};
use pdm_shared::event::Event;

use support::{Client, event, healthy, settings, until};

/// Judgements that are measured on each side.
const EVENTS: u64 = 1000;
/// Runs of the model that hang meanwhile.
const HANGING: u64 = 50;

/// An agent as a program, with its broker, and a gateway that listens.
struct Side {
    broker: Mosquitto,
    agent: Child,
    client: Client,
    took: Vec<Duration>,
}

impl Side {
    async fn start(test: &str, folder: &Path, model: Option<&ModelStandIn>) -> Option<Self> {
        let broker = Mosquitto::start(test, Persistence::Memory)?;
        let port = broker.port();
        let mut text = format!(
            "[store]\nsqlite = \"agent.db\"\n[broker]\naddresses = [\"127.0.0.1:{port}\"]\n"
        );
        if let Some(model) = model {
            let url = model.base_url();
            let more = format!(
                "[reasoner]\nbase_url = {url:?}\ndialect = \"native\"\ntimeout_s = 3600.0\n\
                 [reasoner.per_event]\nseconds = 3600.0\n[reasoner.opinion]\nparallel = {HANGING}\n"
            );
            text.push_str(&more);
        }
        std::fs::create_dir_all(folder).expect("a folder");
        let config = folder.join("agent.toml");
        std::fs::write(&config, text).expect("written");
        let agent = support::start(&config);
        let client = Client::connect(port, "gw", &["pdm/v1/+/+/+/diagnosis"]).await;
        let mut side = Self { broker, agent, client, took: Vec::new() };
        side.warm_up().await;
        Some(side)
    }

    /// Sends one window again and again until the agent listens.
    async fn warm_up(&mut self) {
        for _ in 0..300 {
            self.client.send(&[named(healthy(1), "B0")]).await;
            tokio::time::sleep(Duration::from_millis(200)).await;
            if !self.client.heard_on("/diagnosis").is_empty() {
                return;
            }
        }
        panic!("the agent does not listen within a minute");
    }

    /// Measures the time from the sending of a window to its judgement on the broker.
    async fn judged(&mut self, event: &Event) {
        let id = event.event_id.to_string();
        let begun = Instant::now();
        self.client.send(std::slice::from_ref(event)).await;
        let is_there = || {
            let heard = self.client.heard.lock().expect("whole");
            heard.iter().rev().take(8).any(|(_, text)| text.contains(&id))
        };
        while !is_there() {
            assert!(begun.elapsed() < Duration::from_mins(4), "{id} is not judged");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        self.took.push(begun.elapsed());
    }

    fn p95_ms(&mut self) -> f64 {
        self.took.sort_unstable();
        self.took[self.took.len() * 95 / 100].as_secs_f64() * 1000.0
    }
}

fn named(mut event: Event, bearing: &str) -> Event {
    event.bearing_id = bearing.parse().expect("a name");
    event
}

/// A window of one of twenty other bearings: every fourth one shows the fault.
fn window(sequence: u64) -> Event {
    let at = 1000 + sequence;
    let event = if sequence.is_multiple_of(4) { event(at) } else { healthy(at) };
    named(event, &format!("C{}", sequence % 20))
}

#[expect(clippy::print_stdout, reason = "the figures of the run are printed")]
fn print(line: &str) {
    println!("{line}");
}

/// R-AGENT-5: the 95th percentile of other judgements beside fifty runs that hang, as a ratio to
/// that of an agent without a model, which judges the same windows in turn with it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes: tests/run hanging"]
async fn fifty_runs_that_hang_lose_nothing_and_their_cost_is_printed() {
    let name = "fifty_runs_that_hang_lose_nothing_and_their_cost_is_printed";
    let folder = tempfile::tempdir().expect("folder");
    let (without, with) = (folder.path().join("without"), folder.path().join("with"));
    let model = ModelStandIn::scripted(vec![ModelReply::Hangs]);
    let Some(mut alone) = Side::start(name, &without, None).await else { return };
    let Some(mut beside) = Side::start(name, &with, Some(&model)).await else { return };
    for number in 1..=HANGING {
        let fault = named(event(number), &format!("B{number}"));
        beside.client.send(std::slice::from_ref(&fault)).await;
        alone.client.send(std::slice::from_ref(&fault)).await;
    }
    let asked = &model;
    until("all runs to hang", 120, || asked.requests().len() as u64 >= HANGING).await;
    let windows: Vec<Event> = (1..=EVENTS).map(window).collect();
    for window in &windows {
        // one after the other, each first in turn: what else the machine does strikes both
        if window.sequence.is_multiple_of(2) {
            alone.judged(window).await;
            beside.judged(window).await;
        } else {
            beside.judged(window).await;
            alone.judged(window).await;
        }
    }
    let (p95_alone, p95_beside) = (alone.p95_ms(), beside.p95_ms());
    let hanging = model.requests().len();
    assert_eq!(hanging as u64, HANGING, "the runs hang still");
    assert!(beside.agent.terminate().success() && alone.agent.terminate().success());
    for (side, folder) in [(&alone, &without), (&beside, &with)] {
        let store =
            connect_store(&settings(side.broker.port(), folder).store).await.expect("opens");
        for window in &windows {
            let judged = store.history().diagnosis(window.event_id).await.expect("read");
            assert!(judged.is_some(), "window {} is lost", window.sequence);
        }
        store.close().await;
    }
    print(&format!(
        "{EVENTS} judgements, {hanging} model runs hanging: p95 {p95_beside:.1} ms, without a \
         model {p95_alone:.1} ms, ratio {:.2} (asked: at most 1.2); 0 lost",
        p95_beside / p95_alone
    ));
}
