//! The schedule of faults, drawn from a seed. No I/O, no clock.

use std::fmt;
use std::time::Duration;

use rand::seq::IndexedRandom as _;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Kind of the agent's store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum StoreKind {
    /// One SQLite file.
    Sqlite,
    /// A PostgreSQL server.
    Postgres,
}

impl fmt::Display for StoreKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        })
    }
}

/// A process that can be killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Victim {
    /// A gateway's program.
    Edge(usize),
    /// The agent.
    Agent,
    /// The broker.
    Broker,
    /// The agent's database server.
    Database,
}

/// A network connection that can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// The link from a gateway to the broker.
    Edge(usize),
    /// The link from the agent to the broker.
    Agent,
    /// The link from the agent to its database server.
    Database,
}

/// Owner of a disk or clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// A gateway's.
    Edge(usize),
    /// The agent's.
    Agent,
}

/// One fault, which lasts as long as its step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fault {
    /// The process is killed with SIGKILL, and started again at the end of the step.
    Kill(Victim),
    /// The operator stops the database server with open transactions, and starts it at the end of
    /// the step.
    Restart,
    /// The process is stopped with SIGSTOP: it does not work and closes nothing.
    Freeze(Victim),
    /// Connections are closed and new ones refused.
    Cut(Link),
    /// Connections stay open and carry nothing (half-open), and are cut at the end.
    Stall(Link),
    /// The connection carries a few kilobytes a second.
    Slow(Link),
    /// The disk is full.
    FullDisk(Owner),
    /// The wall clock is off by this number of seconds.
    Clock(Owner, i64),
    /// Events are published again, some several times, in random order.
    Redelivery(usize),
    /// The receiver of notifications refuses every post.
    ReceiverRefuses,
    /// The receiver accepts every post and answers that it failed.
    ReceiverLies,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kill(victim) => write!(f, "kill -9 {victim:?}"),
            Self::Restart => f.write_str("restart of the database"),
            Self::Freeze(victim) => write!(f, "freeze {victim:?}"),
            Self::Cut(link) => write!(f, "cut the network of {link:?}"),
            Self::Stall(link) => write!(f, "half-open network of {link:?}"),
            Self::Slow(link) => write!(f, "slow network of {link:?}"),
            Self::FullDisk(owner) => write!(f, "full disk of {owner:?}"),
            Self::Clock(owner, seconds) => write!(f, "clock of {owner:?} off by {seconds} s"),
            Self::Redelivery(count) => write!(f, "{count} events again, in random order"),
            Self::ReceiverRefuses => f.write_str("the receiver of notifications refuses"),
            Self::ReceiverLies => f.write_str("the receiver takes and says that it failed"),
        }
    }
}

/// The faults that the machine allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Means {
    /// Number of gateways.
    pub edges: usize,
    /// Whether disks can be filled.
    pub disks: bool,
    /// Whether clocks can jump.
    pub clocks: bool,
    /// Whether the agent's store is a server, which can be killed.
    pub database: bool,
    /// Whether the broker may be killed.
    pub broker: bool,
}

/// The lengths of faults and of the pauses between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tempo {
    /// Most parts have recovered before the next fault.
    Moderate,
    /// The next fault begins while all parts are recovering from the last.
    Dense,
}

/// Faults that begin together, their duration, and the pause after them.
#[derive(Debug, Clone, PartialEq)]
pub struct FaultStep {
    /// The faults.
    pub faults: Vec<Fault>,
    /// Duration of the faults.
    pub lasting: Duration,
    /// Duration of the pause after the faults.
    pub pause: Duration,
}

impl fmt::Display for FaultStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let faults: Vec<String> = self.faults.iter().map(Fault::to_string).collect();
        write!(f, "{} for {} ms", faults.join(", "), self.lasting.as_millis())
    }
}

/// The whole schedule.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The steps, in order.
    pub steps: Vec<FaultStep>,
}

impl Plan {
    /// Draws steps until `kills` processes have been killed in them.
    pub fn draw(seed: u64, kills: usize, means: Means, tempo: Tempo) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut plan = Self { steps: Vec::new() };
        while plan.kills() < kills {
            plan.steps.push(step(&mut random, means, tempo));
        }
        plan
    }

    /// Number of processes to kill.
    pub fn kills(&self) -> usize {
        let faults = self.steps.iter().flat_map(|step| &step.faults);
        faults.filter(|fault| matches!(fault, Fault::Kill(_))).count()
    }

    /// Duration of the plan, without the starts of programs.
    pub fn length(&self) -> Duration {
        self.steps.iter().map(|step| step.lasting + step.pause).sum()
    }
}

fn step(random: &mut ChaCha8Rng, means: Means, tempo: Tempo) -> FaultStep {
    let mut faults = vec![fault(random, means)];
    // every third step has two faults of different kinds
    if random.random_ratio(1, 3) {
        let second = fault(random, means);
        if std::mem::discriminant(&second) != std::mem::discriminant(&faults[0])
            || matches!((second, faults[0]), (Fault::Kill(a), Fault::Kill(b)) if a != b)
        {
            faults.push(second);
        }
    }
    let lasting_ms = match faults[0] {
        // from an immediate restart to a pause that the peers notice
        Fault::Kill(_) | Fault::Restart => random.random_range(0..1200),
        Fault::Stall(_) | Fault::Freeze(_) => random.random_range(300..3000),
        Fault::Cut(_)
        | Fault::Slow(_)
        | Fault::FullDisk(_)
        | Fault::Clock(..)
        | Fault::Redelivery(_)
        | Fault::ReceiverRefuses
        | Fault::ReceiverLies => random.random_range(200..2000),
    };
    let pause_ms = match tempo {
        Tempo::Moderate => random.random_range(100..2200),
        Tempo::Dense => random.random_range(50..1200),
    };
    let (lasting, pause) = (Duration::from_millis(lasting_ms), Duration::from_millis(pause_ms));
    FaultStep { faults, lasting, pause }
}

fn fault(random: &mut ChaCha8Rng, means: Means) -> Fault {
    let edge = random.random_range(0..means.edges);
    // an agent with a database server has no disk of its own that could be full
    let owner = if random.random() || means.database { Owner::Edge(edge) } else { Owner::Agent };
    let clock = if random.random() { Owner::Edge(edge) } else { Owner::Agent };
    let among = 3 + usize::from(means.database);
    let links = [Link::Edge(edge), Link::Agent, Link::Agent, Link::Database];
    let link = links[random.random_range(0..among)];
    let victims = [Victim::Edge(edge), Victim::Agent, Victim::Broker, Victim::Database];
    let victim = match victims[random.random_range(0..among)] {
        Victim::Broker if !means.broker => Victim::Agent,
        victim @ (Victim::Edge(_) | Victim::Agent | Victim::Broker | Victim::Database) => victim,
    };
    match random.random_range(0..100) {
        55..60 if means.database => Fault::Restart,
        // a stopped postmaster has no effect: its sessions continue
        60..65 if victim != Victim::Database => Fault::Freeze(victim),
        65..70 => Fault::Cut(link),
        70..74 => Fault::Stall(link),
        74..78 => Fault::Slow(link),
        78..83 if means.disks => Fault::FullDisk(owner),
        83..88 if means.clocks => Fault::Clock(clock, jump_s(random)),
        88..94 => Fault::Redelivery(random.random_range(1..200)),
        94..97 => Fault::ReceiverRefuses,
        97..100 => Fault::ReceiverLies,
        _ => Fault::Kill(victim),
    }
}

/// A jump of the clock: summer time, an empty battery, or a month ahead.
fn jump_s(random: &mut ChaCha8Rng) -> i64 {
    *[-3600, 3600, -86_400 * 400, 86_400 * 40, -7, 90].choose(random).unwrap_or(&3600)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEANS: Means =
        Means { edges: 2, disks: true, clocks: true, database: true, broker: true };

    fn plan(seed: u64, kills: usize, means: Means) -> Plan {
        Plan::draw(seed, kills, means, Tempo::Moderate)
    }

    #[test]
    fn the_same_seed_gives_the_same_schedule_and_another_one_another() {
        assert_eq!(plan(7, 50, MEANS), plan(7, 50, MEANS));
        assert_ne!(plan(7, 50, MEANS), plan(8, 50, MEANS));
    }

    #[test]
    fn a_schedule_has_the_kills_that_are_asked_for_and_every_kind_of_fault() {
        let plan = plan(1, 300, MEANS);
        assert!(plan.kills() >= 300);
        for kind in [
            Fault::Restart,
            Fault::Freeze(Victim::Agent),
            Fault::Cut(Link::Agent),
            Fault::Stall(Link::Agent),
            Fault::Slow(Link::Agent),
            Fault::FullDisk(Owner::Agent),
            Fault::Clock(Owner::Agent, 0),
            Fault::Redelivery(1),
            Fault::ReceiverRefuses,
            Fault::ReceiverLies,
        ] {
            let kind = std::mem::discriminant(&kind);
            let mut faults = plan.steps.iter().flat_map(|step| &step.faults);
            assert!(faults.any(|fault| std::mem::discriminant(fault) == kind));
        }
        for victim in [Victim::Edge(1), Victim::Agent, Victim::Broker, Victim::Database] {
            let mut faults = plan.steps.iter().flat_map(|step| &step.faults);
            assert!(faults.any(|fault| *fault == Fault::Kill(victim)), "{victim:?}");
        }
    }

    #[test]
    fn what_the_machine_cannot_do_is_not_in_the_schedule() {
        let means = Means { edges: 1, disks: false, clocks: false, database: false, broker: false };
        let plan = plan(1, 300, means);
        let mut faults = plan.steps.iter().flat_map(|step| &step.faults);
        assert!(!faults.any(|fault| matches!(
            fault,
            Fault::FullDisk(_)
                | Fault::Clock(..)
                | Fault::Restart
                | Fault::Kill(Victim::Database | Victim::Broker)
                | Fault::Cut(Link::Database)
        )));
    }

    #[test]
    fn a_dense_schedule_is_shorter() {
        let dense = Plan::draw(1, 200, MEANS, Tempo::Dense);
        assert!(dense.length() < plan(1, 200, MEANS).length());
    }
}
