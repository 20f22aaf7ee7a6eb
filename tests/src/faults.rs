//! The fault suite: the real programs on real servers, every part killed again and again, and an
//! oracle that requires every window.
//!
//! [`plan`] draws a schedule from a seed; [`plant`] runs the programs ([`program`]) and applies the
//! schedule's faults; [`witness`] reads the edges' commits during the run; [`store`] reads the
//! agent's store; [`receiver`] receives notifications by web hook, [`listener`] by MQTT, [`mail`]
//! by e-mail; [`redelivery`] publishes events again in any order; [`oracle`] compares; [`report`]
//! prints the result.
//!
//! **Promises** (checked when all faults have ended): every window of a source becomes an event;
//! every event is stored exactly once, with the very bytes that the edge committed (except the two
//! fields that mark a late delivery), and judged exactly once; sequences have no gap; every change
//! of risk is notified, none twice; the spools end empty.
//!
//! **The meaning of "none twice" for people.** The agent repeats a message that it could not record
//! as sent, always with the same identity: a web hook gets the same `Idempotency-Key`, MQTT the
//! same `notification_id`, e-mail the same `Message-ID`. A receiver that compares these gets each
//! message once. SMTP and MQTT's QoS 1 have no such rule, so repetitions there are counted and
//! reported. A broker that is killed may lose a notification it has accepted, so MQTT must deliver
//! every notification only in runs that spare the broker.
//!
//! Invariant: the windows are known before the run, so a window that is lost before any commit is
//! missed too. The same seed gives the same schedule (not the same times).

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

use plan::{FaultStep, Plan};
use plant::Plant;
use report::Report;

/// The size and conditions of a run.
#[derive(Debug, Clone)]
pub struct Options {
    /// Seed of the schedule.
    pub seed: u64,
    /// Number of processes to kill.
    pub kills: usize,
    /// Number of events that the edges make in all (rounded up to whole windows of all bearings).
    pub events: u64,
    /// Interval between the snapshots of a bearing, s. Hourly snapshots all have spectra.
    pub period_s: u32,
    /// Kind of the agent's store.
    pub store: plan::StoreKind,
    /// Pace of the faults.
    pub tempo: plan::Tempo,
    /// Whether the broker is never killed. Accepted messages must then arrive, notifications by
    /// MQTT too.
    pub spare_broker: bool,
    /// Flag that ends a run early; processes, disks and files are removed.
    pub stop: Arc<AtomicBool>,
    /// Longest time for recovery at the end.
    pub patience: Duration,
}

impl Options {
    /// The form of the test command, which takes about a minute.
    pub fn short(seed: u64, store: plan::StoreKind) -> Self {
        Self {
            seed,
            kills: 16,
            events: 1200,
            period_s: 3600,
            store,
            tempo: plan::Tempo::Moderate,
            // one of the two forms kills the broker, the other requires that it delivers
            spare_broker: store == plan::StoreKind::Postgres,
            stop: Arc::default(),
            patience: Duration::from_mins(4),
        }
    }

    /// The long form: at least 200 kills and 100,000 events.
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

/// An observer of a run.
pub trait Watcher {
    /// Called when a step of the schedule begins.
    fn step(&mut self, number: usize, of: usize, step: &FaultStep, plant: &Plant);
    /// Called during the recovery; `left` describes the missing results.
    fn healing(&mut self, left: &str);
}

/// An observer that ignores everything.
#[derive(Debug, Clone, Copy)]
pub struct Unwatched;

impl Watcher for Unwatched {
    fn step(&mut self, _number: usize, _of: usize, _step: &FaultStep, _plant: &Plant) {}
    fn healing(&mut self, _left: &str) {}
}

/// Runs the suite; `None` if a server is not installed (noted as not run under the name `test`).
///
/// # Errors
/// The suite itself cannot run: no folder, no runtime, a store that cannot be read.
///
/// # Panics
/// If an installed server does not start.
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
