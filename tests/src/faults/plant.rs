//! The plant: gateways, broker, agent and receiver as real processes, and what is done to them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use pdm_harness::{Mosquitto, Network, Persistence, Proxy, SmallDisk, WallClock, binary};
use pdm_shared::clock::Timestamp;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::oracle::{Evidence, Windows};
use super::plan::{Fault, Link, Means, Owner, Step, Victim};
use super::program::Program;
use super::receiver::{Manners, Receiver};
use super::store::Place;
use super::witness::{self, Witness};
use super::{Options, Watcher, redelivery};

/// Gateways of a plant.
const GATEWAYS: usize = 2;
/// Bearings of a gateway, each a source of its own.
const BEARINGS: usize = 4;
/// From one snapshot of a bearing to the next, s: 3000 windows are four months of a life.
const PERIOD_S: u32 = 3600;
/// When the lives begin.
const STARTED_AT: &str = "2026-01-01T00:00:00Z";
/// How often ended programs are looked for.
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

/// Everything that runs.
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
    place: Place,
    receiver: Receiver,
    witness: Witness,
    broker_kills: usize,
    seed: u64,
}

impl Plant {
    /// Builds it; nothing but the broker and the receiver runs yet.
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
        let folder = tempfile::tempdir().context("a temporary folder")?;
        let windows = windows(options.events)?;
        let disk_mib = 64 + windows.count() / 16;
        let agent_disk = SmallDisk::mount(test, disk_mib);
        let agent_clock = WallClock::new(test);
        let agent_network = Proxy::before(broker.port());
        let mut plant = Self {
            agent: Program::new("agent", folder.path()),
            place: Place::Sqlite(PathBuf::new()),
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
        };
        for _ in 0..GATEWAYS {
            plant.add_gateway(test, disk_mib)?;
        }
        plant.configure_agent()?;
        Ok(Some(plant))
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

    fn configure_agent(&mut self) -> anyhow::Result<()> {
        let home = self.folder.path().join("agent");
        std::fs::create_dir_all(&home)?;
        let file =
            self.agent_disk.as_ref().map_or(home.as_path(), SmallDisk::path).join("agent.db");
        let text = format!(
            "[store]\nsqlite = \"{}\"\n\
             [broker]\naddresses = [\"127.0.0.1:{}\"]\nkeep_alive_s = 5\n\
             [notify]\nrepeat_after_h = 0.001\nrepeat_limit = 3\ngroup_wait_s = 0.5\n\
             [[notify.webhook]]\nname = \"staff\"\nurl = \"{}\"\n",
            file.display(),
            self.agent_network.port(),
            self.receiver.url()
        );
        self.place = Place::Sqlite(file);
        let config = home.join("agent.toml");
        std::fs::write(&config, text)?;
        let mut command = Command::new(binary("pdm-agent"));
        command.args(["run", "--config"]).arg(&config);
        self.agent.set(command, self.agent_clock.as_ref());
        Ok(())
    }

    /// What can be done to it.
    pub fn means(&self) -> Means {
        Means {
            edges: GATEWAYS,
            disks: self.agent_disk.is_some(),
            clocks: self.agent_clock.is_some(),
        }
    }

    /// Starts agent and gateways; the sources take as long as the schedule.
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

    /// `per_s`: windows of a bearing in a second.
    fn edge_toml(&self, number: usize, per_s: f64) -> Result<String, std::fmt::Error> {
        let gateway = &self.gateways[number];
        let (name, bearings) = &self.windows.gateways[number];
        let pace = per_s * f64::from(PERIOD_S);
        let mut text = format!(
            "gateway_id = \"{name}\"\nsite = \"plant\"\nshutdown_grace_s = 20.0\n\
             [broker]\naddresses = [\"127.0.0.1:{}\"]\nkeep_alive_s = 5.0\n\
             reconnect_min_s = 0.05\nreconnect_max_s = 0.5\nlate_after_s = 2.0\n\
             [spool]\npath = \"{}\"\n",
            gateway.network.port(),
            gateway.spool.display()
        );
        for (place, bearing) in bearings.iter().enumerate() {
            let (equipment, bearing) = bearing.split_once('/').unwrap_or((bearing, "DE"));
            let faults = ["outer_race", "inner_race", "ball", "outer_race"];
            write!(
                text,
                "[[source]]\nname = \"{equipment}\"\nkind = \"simulator\"\npace = {pace:?}\n\
                 rate_hz = 6400.0\nperiod_s = {PERIOD_S}.0\nstarted_at = \"{STARTED_AT}\"\n\
                 [source.simulator]\nfault = \"{}\"\nsnapshots = {}\nsnapshot_s = 0.32\nseed = {}\n\
                 [[source.channel]]\nequipment = \"{equipment}\"\nbearing = \"{bearing}\"\n\
                 bearing_type = \"6205\"\nrpm = 1797.0\n\
                 [source.channel.condition]\nbaseline_windows = 20\nrun_in_windows = 0\n",
                faults[place % faults.len()],
                self.windows.snapshots,
                number * BEARINGS + place + 1
            )?;
        }
        Ok(text)
    }

    /// Lets the faults of a step happen, and the peace after them.
    pub(super) fn suffer(&mut self, step: &Step) {
        for fault in &step.faults {
            self.begin(*fault);
        }
        self.tend(step.lasting);
        for fault in &step.faults {
            self.end(*fault);
        }
        self.tend(step.pause);
    }

    /// Waits, and starts again what has ended by itself.
    fn tend(&mut self, time: Duration) {
        let end = Instant::now() + time;
        loop {
            self.agent.tend();
            for gateway in &mut self.gateways {
                gateway.program.tend();
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(LOOK));
        }
    }

    fn begin(&mut self, fault: Fault) {
        match fault {
            Fault::Kill(Victim::Edge(n)) => self.gateways[n].program.kill(),
            Fault::Kill(Victim::Agent) => self.agent.kill(),
            Fault::Kill(Victim::Broker) => {
                self.broker.kill();
                self.broker_kills += 1;
            }
            Fault::Freeze(Victim::Edge(n)) => self.gateways[n].program.freeze(),
            Fault::Freeze(Victim::Agent) => self.agent.freeze(),
            Fault::Freeze(Victim::Broker) => {
                if let Some(process) = self.broker.process() {
                    process.freeze();
                }
            }
            Fault::Cut(link) => {
                self.link(link).set(Network::Refuses);
                self.link(link).cut();
            }
            Fault::Stall(link) => self.link(link).set(Network::Stalls),
            Fault::Slow(link) => {
                let delay = Duration::from_millis(40);
                self.link(link).set(Network::Slow { bytes_per_s: 30_000, delay });
            }
            Fault::FullDisk(owner) => {
                if let Some(disk) = self.disk(owner) {
                    disk.fill();
                }
            }
            Fault::Clock(owner, seconds) => {
                if let Some(clock) = self.clock(owner) {
                    clock.set(seconds);
                }
            }
            Fault::Redelivery(count) => {
                let recent = self
                    .witness
                    .with(|seen| seen.recent.iter().rev().take(count).cloned().collect());
                self.seed = self.seed.wrapping_add(1);
                self.runtime.spawn(redelivery::publish(self.broker.port(), recent, self.seed));
            }
            Fault::ReceiverRefuses => self.receiver.behave(Manners::Refuses),
            Fault::ReceiverLies => self.receiver.behave(Manners::Lies),
        }
    }

    fn end(&mut self, fault: Fault) {
        match fault {
            Fault::Kill(Victim::Edge(n)) => self.gateways[n].program.start(),
            Fault::Kill(Victim::Agent) => self.agent.start(),
            Fault::Kill(Victim::Broker) => self.broker.restart(),
            Fault::Freeze(Victim::Edge(n)) => self.gateways[n].program.thaw(),
            Fault::Freeze(Victim::Agent) => self.agent.thaw(),
            Fault::Freeze(Victim::Broker) => {
                if let Some(process) = self.broker.process() {
                    process.thaw();
                }
            }
            Fault::Stall(link) => {
                self.link(link).cut();
                self.link(link).set(Network::Open);
            }
            Fault::Cut(link) | Fault::Slow(link) => self.link(link).set(Network::Open),
            Fault::FullDisk(owner) => {
                if let Some(disk) = self.disk(owner) {
                    disk.make_room();
                }
            }
            Fault::Clock(owner, _) => {
                if let Some(clock) = self.clock(owner) {
                    clock.set(0);
                }
            }
            Fault::Redelivery(_) => {}
            Fault::ReceiverRefuses | Fault::ReceiverLies => self.receiver.behave(Manners::Good),
        }
    }

    fn link(&self, link: Link) -> &Proxy {
        match link {
            Link::Edge(n) => &self.gateways[n].network,
            Link::Agent => &self.agent_network,
        }
    }

    fn disk(&self, owner: Owner) -> Option<&SmallDisk> {
        match owner {
            Owner::Edge(n) => self.gateways[n].disk.as_ref(),
            Owner::Agent => self.agent_disk.as_ref(),
        }
    }

    fn clock(&self, owner: Owner) -> Option<&WallClock> {
        match owner {
            Owner::Edge(n) => self.gateways[n].clock.as_ref(),
            Owner::Agent => self.agent_clock.as_ref(),
        }
    }

    /// Waits until every window is measured, delivered, judged and told; else says what is left.
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
            if Instant::now() > end {
                return Err(left);
            }
        }
    }

    /// What is still missing.
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

    /// How many events the edges have committed, as far as was seen.
    pub fn seen(&self) -> i64 {
        self.witness.with(|seen| seen.highest.values().sum())
    }

    /// How many there will be.
    pub fn expected(&self) -> u64 {
        self.windows.count()
    }

    /// Ends the programs as an operator would, and gathers what there is to know.
    pub(super) fn close(mut self) -> anyhow::Result<Evidence> {
        let mut mishaps = Vec::new();
        let mut gave_up = Vec::new();
        let mut kills = BTreeMap::from([("broker".to_owned(), self.broker_kills)]);
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
        let seen = self.witness.take();
        if !mishaps.is_empty() {
            mishaps.push(format!("logs are kept in {}", self.folder.path().display()));
            self.folder.disable_cleanup(true);
        }
        let windows = self.windows.clone();
        Ok(Evidence { windows, seen, kept, posted, spooled, kills, gave_up, mishaps })
    }
}

impl Plant {
    /// Ends every fault that may still last.
    pub(super) fn heal(&mut self) {
        self.receiver.behave(Manners::Good);
        for number in 0..self.gateways.len() {
            self.gateways[number].network.set(Network::Open);
        }
        self.agent_network.set(Network::Open);
    }
}

/// The windows of a run with at least `events` events.
fn windows(events: u64) -> anyhow::Result<Windows> {
    let gateways = (0..GATEWAYS)
        .map(|gateway| {
            let bearing = |n| format!("P-{gateway}{n}/DE");
            (format!("gw-{gateway}"), (0..BEARINGS).map(bearing).collect())
        })
        .collect();
    let started_at_ms = Timestamp::parse(STARTED_AT).context("when it begins")?.unix_ms();
    let snapshots = events.div_ceil((GATEWAYS * BEARINGS) as u64);
    let period_ms = i64::from(PERIOD_S) * 1000;
    Ok(Windows { gateways, snapshots, started_at_ms, period_ms })
}
