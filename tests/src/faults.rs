//! The fault suite: the real programs on real servers, everything dies again and again, and an
//! oracle holds every window as an obligation.
//!
//! [`plan`] draws a schedule from a seed; [`plant`] runs the programs ([`program`]) and does to them
//! what the schedule says; [`witness`] reads what the edges commit, beside them, while they run; [`store`]
//! reads what the agent keeps; [`receiver`] takes notifications by web hook, [`listener`] by MQTT,
//! [`mail`] by e-mail; [`redelivery`] publishes events again in any order; [`oracle`] compares;
//! [`report`] tells.
//!
//! **What is promised** (and checked when everything has healed): every window that a source
//! delivers is an event; every event is stored exactly once, with the very bytes that the edge
//! committed (but for the two fields that mark a late delivery), judged exactly once; sequences have
//! no gap; every change of risk is notified, none twice; the spools end empty.
//!
//! **What "none twice" means on the way to people.** The agent sends again what it could not note as
//! sent, always under the same identity: a web hook sees the same `Idempotency-Key`, MQTT the same
//! `notification_id`, e-mail the same `Message-ID`. A receiver that knows them gets each once. SMTP
//! has no such rule and MQTT's QoS 1 none either: repetitions there are counted and told. A broker
//! that has taken a notification and is killed may forget it, so MQTT is held to "every one arrives"
//! in runs that spare the broker.
//!
//! Invariant: the windows are known before anything runs, so what is lost before anybody saw it is
//! missed too. The same seed gives the same schedule (not the same instants).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub mod listener;
pub mod mail;
pub mod oracle;
pub mod plan;
pub mod plant;
pub mod program;
pub mod receiver;
pub mod redelivery;
pub mod report;
pub mod store;
pub mod witness;

use plan::{Plan, Step};
use plant::Plant;
use report::Report;

/// How large a run is.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where the schedule comes from.
    pub seed: u64,
    /// How many processes are killed.
    pub kills: usize,
    /// How many events the edges make in all (rounded up to whole windows of all bearings).
    pub events: u64,
    /// From one snapshot of a bearing to the next, s. Hourly ones bring their spectra, every one.
    pub period_s: u32,
    /// What the agent keeps everything in.
    pub store: plan::StoreKind,
    /// How close the faults follow each other.
    pub tempo: plan::Tempo,
    /// The broker is not killed, so what it has taken must arrive, notifications by MQTT too.
    pub spare_broker: bool,
    /// Set to end a run early: everything is put away.
    pub stop: Arc<AtomicBool>,
    /// How long everything may take to heal at the end.
    pub patience: Duration,
}

impl Options {
    /// The form of the test command: about a minute.
    pub fn short(seed: u64, store: plan::StoreKind) -> Self {
        Self {
            seed,
            kills: 16,
            events: 1200,
            period_s: 3600,
            store,
            tempo: plan::Tempo::Moderate,
            // one of two forms lets the broker be killed, the other holds it to what it has taken
            spare_broker: store == plan::StoreKind::Postgres,
            stop: Arc::default(),
            patience: Duration::from_mins(4),
        }
    }

    /// The soak: at least 200 kills and 100,000 events.
    pub fn long(seed: u64, store: plan::StoreKind) -> Self {
        Self {
            seed,
            kills: 200,
            events: 100_000,
            period_s: 600,
            store,
            tempo: plan::Tempo::Dense,
            spare_broker: false,
            stop: Arc::default(),
            patience: Duration::from_mins(30),
        }
    }
}

/// Someone who watches a run.
pub trait Watcher {
    /// A step of the schedule begins.
    fn step(&mut self, number: usize, of: usize, step: &Step, plant: &Plant);
    /// Everything is let heal; `left` says what is still missing.
    fn healing(&mut self, left: &str);
}

/// Nobody watches.
#[derive(Debug, Clone, Copy)]
pub struct Unwatched;

impl Watcher for Unwatched {
    fn step(&mut self, _number: usize, _of: usize, _step: &Step, _plant: &Plant) {}
    fn healing(&mut self, _left: &str) {}
}

/// Runs the suite; `None` if a server is not installed (noted as not run under the name `test`).
///
/// # Errors
/// The suite itself cannot work: no folder, no runtime, a store that cannot be read.
///
/// # Panics
/// If an installed server does not come up.
pub fn run(
    test: &str,
    options: &Options,
    watcher: &mut dyn Watcher,
) -> anyhow::Result<Option<Report>> {
    let begun = Instant::now();
    let Some(mut plant) = Plant::build(test, options)? else { return Ok(None) };
    let plan = Plan::draw(options.seed, options.kills, plant.means(), options.tempo);
    plant.start(plan.length())?;
    for (number, step) in plan.steps.iter().enumerate() {
        watcher.step(number, plan.steps.len(), step, &plant);
        plant.suffer(step);
        anyhow::ensure!(!options.stop.load(Ordering::Acquire), "interrupted");
    }
    plant.heal();
    let healed = plant.wait_until_healed(options.patience, watcher);
    anyhow::ensure!(!options.stop.load(Ordering::Acquire), "interrupted");
    let evidence = plant.close()?;
    let verdict = oracle::judge(&evidence, healed);
    Ok(Some(Report::new(options, &plan, &evidence, verdict, begun.elapsed())))
}
