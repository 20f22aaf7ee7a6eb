//! How many events a second the agent makes durable, against a bare client that only inserts.
//!
//! ```text
//! cargo bench -p pdm-agent --bench durable -- --rows 0,1000000 --events 20000 --store sqlite,postgres
//! ```
//!
//! In one run and for each store and amount of history: the same rows by a bare batched INSERT
//! (same columns, same batch), then a backlog through Mosquitto and the program `pdm-agent` itself,
//! which judges and publishes meanwhile: received, checked, stored, acknowledged. History is made by
//! the database in a temporary folder that is deleted afterwards. Needs Mosquitto and PostgreSQL.

mod agent;
mod history;

use std::time::Instant;

use agent::Drained;
use history::Place;

/// What is measured.
struct Plan {
    rows: Vec<u64>,
    events: u64,
    stores: Vec<String>,
}

impl Plan {
    fn of(arguments: &[String]) -> Self {
        let value = |name: &str, default: &str| {
            let place = arguments.iter().position(|argument| argument == name);
            place
                .and_then(|place| arguments.get(place + 1))
                .map_or(default, String::as_str)
                .to_owned()
        };
        let rows = value("--rows", "0,100000");
        Self {
            rows: rows.split(',').map(|rows| rows.parse().expect("--rows N[,N…]")).collect(),
            events: value("--events", "20000").parse().expect("--events N"),
            stores: value("--store", "sqlite,postgres").split(',').map(str::to_owned).collect(),
        }
    }
}

fn main() {
    let plan = Plan::of(&std::env::args().collect::<Vec<_>>());
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    say("store     history rows   bare/s  agent/s   ratio  judged/s  RSS MiB");
    for store in &plan.stores {
        for rows in &plan.rows {
            runtime.block_on(measure(store, *rows, plan.events));
        }
    }
}

async fn measure(store: &str, rows: u64, events: u64) {
    let Some(place) = Place::new(store).await else { return };
    place.load(rows).await;
    let begun = Instant::now();
    place.insert_bare(&history::events(events, "bare")).await;
    let bare = events as f64 / begun.elapsed().as_secs_f64();
    let Some(Drained { stored_per_s, judged_per_s, rss_mib }) = agent::drain(&place, events).await
    else {
        return;
    };
    say(&format!(
        "{store:<9} {rows:>12} {bare:>8.0} {stored_per_s:>8.0} {:>7.2} {judged_per_s:>9.0} {rss_mib:>8.0}",
        stored_per_s / bare
    ));
}

#[expect(clippy::print_stdout, reason = "what a benchmark is for")]
fn say(line: &str) {
    println!("{line}");
}
