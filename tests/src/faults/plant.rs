//! The plant: gateways, broker, agent and receiver as real processes, and the faults applied to
//! them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use pdm_harness::{Mosquitto, Persistence, Postgres, Proxy, SmallDisk, Smtp, WallClock, binary};
use pdm_shared::time::Timestamp;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::listener::Listener;
use super::mail::Mailed;
use super::oracle::{Evidence, Windows};
use super::plan::{Means, StoreKind};
use super::program::Program;
use super::receiver::Receiver;
use super::store::StorePlace;
use super::witness::{self, Witness};
use super::{Options, Watcher};

mod configure;
mod suffer;

/// Number of gateways.
const GATEWAYS: usize = 2;
/// Number of bearings of a gateway, each with its own source.
const BEARINGS: usize = 4;
/// Begin of the simulated lives.
const STARTED_AT: &str = "2026-01-01T00:00:00Z";
/// Interval of the check for ended programs.
const LOOK: Duration = Duration::from_millis(50);

/// One gateway.
#[derive(Debug)]
struct Gateway {
    program: Program,
    network: Proxy,
    spool: PathBuf,
    disk: Option<SmallDisk>,
    clock: Option<WallClock>,
}

/// The database server of the agent.
#[derive(Debug)]
struct Database {
    server: Postgres,
    network: Proxy,
    kills: usize,
    restarts: usize,
}

impl Database {
    fn start(test: &str) -> Option<Self> {
        let server = Postgres::start(test)?;
        let network = Proxy::before(server.port());
        Some(Self { server, network, kills: 0, restarts: 0 })
    }

    fn restart(&mut self) {
        self.server.restart();
    }
}

/// All parts of the plant.
#[derive(Debug)]
pub struct Plant {
    folder: TempDir,
    runtime: Runtime,
    windows: Windows,
    broker: Mosquitto,
    gateways: Vec<Gateway>,
    agent: Program,
    agent_network: Proxy,
    agent_disk: Option<SmallDisk>,
    agent_clock: Option<WallClock>,
    database: Option<Database>,
    place: StorePlace,
    receiver: Receiver,
    listener: Listener,
    mail: Option<Smtp>,
    stop: Arc<AtomicBool>,
    spare_broker: bool,
    witness: Witness,
    broker_kills: usize,
    seed: u64,
}

impl Plant {
    /// Builds the plant; only the broker and the receiver run yet.
    pub(super) fn build(test: &str, options: &Options) -> anyhow::Result<Option<Self>> {
        let is_even = options.seed.is_multiple_of(2);
        let persistence = if is_even { Persistence::Memory } else { Persistence::EverySecond };
        let Some(broker) = Mosquitto::start(test, persistence) else { return Ok(None) };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .context("a runtime")?;
        let receiver = runtime.block_on(Receiver::start()).context("a receiver")?;
        let listener = runtime.block_on(Listener::start(broker.port()))?;
        let mail = Smtp::start(test);
        let folder = tempfile::tempdir().context("a temporary folder")?;
        let windows = windows(options)?;
        let disk_mib = 64 + windows.count() / 16;
        let agent_disk = SmallDisk::mount(test, disk_mib);
        let home = folder.path().join("agent");
        std::fs::create_dir_all(&home)?;
        let (database, place) = match options.store {
            StoreKind::Sqlite => {
                let disk = agent_disk.as_ref().map_or(home.as_path(), SmallDisk::path);
                (None, StorePlace::Sqlite(disk.join("agent.db")))
            }
            StoreKind::Postgres => {
                let Some(database) = Database::start(test) else { return Ok(None) };
                let place = StorePlace::Postgres(database.server.url());
                (Some(database), place)
            }
        };
        let agent_clock = WallClock::new(test);
        let agent_network = Proxy::before(broker.port());
        let mut plant = Self {
            agent: Program::new("agent", folder.path()),
            database,
            place,
            gateways: Vec::new(),
            witness: Witness::default(),
            broker_kills: 0,
            seed: options.seed,
            folder,
            runtime,
            windows,
            broker,
            agent_network,
            agent_disk,
            agent_clock,
            receiver,
            listener,
            mail,
            stop: Arc::clone(&options.stop),
            spare_broker: options.spare_broker,
        };
        for _ in 0..GATEWAYS {
            plant.add_gateway(test, disk_mib)?;
        }
        plant.configure_agent(&home)?;
        Ok(Some(plant))
    }

    fn configure_agent(&mut self, home: &Path) -> anyhow::Result<()> {
        let config = home.join("agent.toml");
        std::fs::write(home.join("staff.toml"), include_str!("plant/staff.toml"))?;
        std::fs::write(&config, self.agent_toml())?;
        let mut command = Command::new(binary("pdm-agent"));
        command.args(["run", "--config"]).arg(&config);
        self.agent.set(command, self.agent_clock.as_ref());
        Ok(())
    }

    fn add_gateway(&mut self, test: &str, disk_mib: u64) -> anyhow::Result<()> {
        let number = self.gateways.len();
        let name = format!("edge-{number}");
        let disk = if self.agent_disk.is_some() { SmallDisk::mount(test, disk_mib) } else { None };
        let home = self.folder.path().join(&name);
        std::fs::create_dir_all(&home)?;
        let spool = disk.as_ref().map_or(home.as_path(), SmallDisk::path).join("spool.db");
        let clock = if self.agent_clock.is_some() { WallClock::new(test) } else { None };
        self.gateways.push(Gateway {
            program: Program::new(&name, self.folder.path()),
            network: Proxy::before(self.broker.port()),
            spool,
            disk,
            clock,
        });
        Ok(())
    }

    /// The faults that this plant allows.
    pub fn means(&self) -> Means {
        Means {
            edges: GATEWAYS,
            disks: self.agent_disk.is_some(),
            clocks: self.agent_clock.is_some(),
            database: self.database.is_some(),
            broker: !self.spare_broker,
        }
    }

    /// Starts agent and gateways; the sources run as long as the schedule.
    pub(super) fn start(&mut self, length: Duration) -> anyhow::Result<()> {
        let per_s = self.windows.snapshots as f64 / length.as_secs_f64().max(1.0);
        self.agent.start();
        for number in 0..self.gateways.len() {
            let config = self.folder.path().join(format!("edge-{number}/edge.toml"));
            std::fs::write(&config, self.edge_toml(number, per_s)?)?;
            let gateway = &mut self.gateways[number];
            let mut command = Command::new(binary("pdm-edge"));
            command.args(["run", "--config"]).arg(&config);
            gateway.program.set(command, gateway.clock.as_ref());
            gateway.program.start();
            self.runtime.spawn(self.witness.clone().watch(number, gateway.spool.clone()));
        }
        Ok(())
    }

    /// Waits, and restarts programs that have ended by themselves.
    fn tend(&mut self, time: Duration) {
        let end = Instant::now() + time;
        loop {
            self.agent.tend();
            for gateway in &mut self.gateways {
                gateway.program.tend();
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || self.stop.load(Ordering::Acquire) {
                return;
            }
            std::thread::sleep(left.min(LOOK));
        }
    }

    /// Waits until every window is measured, delivered, judged and notified; the error lists the
    /// missing results.
    pub(super) fn wait_until_healed(
        &mut self,
        patience: Duration,
        watcher: &mut dyn Watcher,
    ) -> Result<(), String> {
        let end = Instant::now() + patience;
        loop {
            self.tend(Duration::from_millis(300));
            let left = match self.left() {
                Ok(None) => return Ok(()),
                Ok(Some(left)) => left,
                Err(error) => error.to_string(),
            };
            watcher.healing(&left);
            if Instant::now() > end || self.stop.load(Ordering::Acquire) {
                return Err(left);
            }
        }
    }

    /// The missing results.
    fn left(&self) -> Result<Option<String>, sqlx::Error> {
        self.runtime.block_on(async {
            let wanted = self.windows.count().cast_signed();
            let (mut numbered, mut spooled) = (0, 0);
            for gateway in &self.gateways {
                let (highest, rows) = witness::level(&gateway.spool).await?;
                numbered += highest;
                spooled += rows;
            }
            let level = self.place.level().await?;
            let is_done = (numbered, spooled, level.events, level.unjudged, level.unsent)
                == (wanted, 0, wanted, 0, 0);
            Ok((!is_done).then(|| {
                format!(
                    "{} of {wanted} measured, {spooled} in the spools, {} stored, {} not judged, \
                     {} to be sent{}",
                    numbered,
                    level.events,
                    level.unjudged,
                    level.unsent,
                    level.why.map_or_else(String::new, |why| format!(" ({why})"))
                )
            }))
        })
    }

    /// Number of events that the edges have committed, as far as seen.
    pub fn seen(&self) -> i64 {
        self.witness.with(|seen| seen.highest.values().sum())
    }

    /// Number of events expected in all.
    pub fn expected(&self) -> u64 {
        self.windows.count()
    }

    /// Stops the programs as an operator would, and gathers the evidence.
    pub(super) fn close(mut self) -> anyhow::Result<Evidence> {
        let mut mishaps = Vec::new();
        let mut gave_up = Vec::new();
        let mut kills = BTreeMap::from([("broker".to_owned(), self.broker_kills)]);
        let mut restarts = 0;
        if let Some(database) = &self.database {
            kills.insert("database".to_owned(), database.kills);
            restarts = database.restarts;
        }
        let mut spooled = 0;
        for gateway in &mut self.gateways {
            gateway.program.stop();
            spooled += self.runtime.block_on(witness::level(&gateway.spool))?.1;
        }
        self.agent.stop();
        let programs = self.gateways.iter().map(|gateway| &gateway.program);
        for program in programs.chain([&self.agent]) {
            kills.insert(program.name().to_owned(), program.kills());
            let (may, must_not) = program.ends();
            gave_up.extend(may);
            mishaps.extend(must_not);
        }
        let kept = self.runtime.block_on(self.place.kept())?;
        let posted = self.receiver.posted();
        let heard = self.listener.heard();
        let mailed = self.mail.as_ref().map(|mail| Mailed::of(&mail.mails()));
        let seen = self.witness.take();
        if !mishaps.is_empty() {
            mishaps.push(format!("logs are kept in {}", self.folder.path().display()));
            self.folder.disable_cleanup(true);
        }
        let windows = self.windows.clone();
        Ok(Evidence {
            windows,
            seen,
            kept,
            posted,
            heard,
            mailed,
            spooled,
            kills,
            restarts,
            gave_up,
            mishaps,
        })
    }
}

/// The windows of a run.
fn windows(options: &Options) -> anyhow::Result<Windows> {
    let gateways = (0..GATEWAYS)
        .map(|gateway| {
            let bearing = |n| format!("P-{gateway}{n}/DE");
            (format!("gw-{gateway}"), (0..BEARINGS).map(bearing).collect())
        })
        .collect();
    let started_at_ms = Timestamp::parse(STARTED_AT).context("when it begins")?.unix_ms();
    let snapshots = options.events.div_ceil((GATEWAYS * BEARINGS) as u64);
    let period_ms = i64::from(options.period_s) * 1000;
    Ok(Windows { gateways, snapshots, started_at_ms, period_ms })
}
