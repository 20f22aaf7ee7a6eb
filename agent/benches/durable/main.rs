//! Measures how many events a second the agent makes durable, against a bare client that only
//! inserts.
//!
//! ```text
//! cargo bench -p pdm-agent --bench durable -- --rows 0,1000000 --events 20000 --store sqlite,postgres
//! ```
//!
//! In one run and for each store and amount of history: the same rows by a bare batched INSERT
//! (same columns, same batch), then a backlog through Mosquitto and the program `pdm-agent` itself,
//! which judges and publishes meanwhile: received, checked, stored, acknowledged. Both in turn,
//! three times (`--times`), of which the medians are told, as a machine with other work measures
//! unevenly. History is made by the database in a temporary folder that is deleted afterwards.
//! Needs Mosquitto and PostgreSQL.

mod agent;
mod history;

use std::time::Instant;

use agent::Drained;
use history::BenchPlace;

/// The plan of the measurements.
struct Plan {
    rows: Vec<u64>,
    events: u64,
    stores: Vec<String>,
    times: u32,
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
            times: value("--times", "3").parse().expect("--times N"),
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
            runtime.block_on(measure(store, *rows, &plan));
        }
    }
}

async fn measure(store: &str, rows: u64, plan: &Plan) {
    let Some(place) = BenchPlace::new(store).await else { return };
    place.load(rows).await;
    let (mut bare, mut drained) = (Vec::new(), Vec::new());
    for time in 1..=plan.times {
        let events = history::events(plan.events, &format!("bare-{time}"), time);
        let begun = Instant::now();
        place.insert_bare(&events).await;
        bare.push(plan.events as f64 / begun.elapsed().as_secs_f64());
        let Some(one) = agent::drain(&place, plan.events, time).await else { return };
        drained.push(one);
    }
    let of = |value: fn(&Drained) -> f64| median(drained.iter().map(value).collect());
    let (bare, stored_per_s) = (median(bare), of(|one| one.stored_per_s));
    let (judged_per_s, rss_mib) = (of(|one| one.judged_per_s), of(|one| one.rss_mib));
    say(&format!(
        "{store:<9} {rows:>12} {bare:>8.0} {stored_per_s:>8.0} {:>7.2} {judged_per_s:>9.0} \
         {rss_mib:>8.0}",
        stored_per_s / bare
    ));
}

/// The middle one, of an even number the upper.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

#[expect(clippy::print_stdout, reason = "what a benchmark is for")]
fn say(line: &str) {
    println!("{line}");
}
