//! Applies the faults to a plant: the beginning and the end of each.

use std::time::Duration;

use pdm_harness::{Network, Proxy, SmallDisk, WallClock};

use super::{Database, Plant};
use crate::faults::plan::{Fault, FaultStep, Link, Owner, Victim};
use crate::faults::receiver::Manners;
use crate::faults::redelivery;

/// The limits of a slow network.
const SLOW: Network = Network::Slow { bytes_per_s: 30_000, delay: Duration::from_millis(40) };

impl Plant {
    /// Applies the faults of a step, and waits for the pause after them.
    pub(in crate::faults) fn suffer(&mut self, step: &FaultStep) {
        for fault in &step.faults {
            self.begin(*fault);
        }
        self.tend(step.lasting);
        for fault in &step.faults {
            self.end(*fault);
        }
        self.tend(step.pause);
    }

    /// Ends every fault that may still last.
    pub(in crate::faults) fn heal(&mut self) {
        self.receiver.behave(Manners::Good);
        let gateways = self.gateways.iter().map(|gateway| &gateway.network);
        let database = self.database.as_ref().map(|database| &database.network);
        for network in gateways.chain([&self.agent_network]).chain(database) {
            network.set(Network::Open);
        }
    }

    fn begin(&mut self, fault: Fault) {
        match fault {
            Fault::Kill(victim) => self.kill(victim),
            Fault::Restart => {
                if let Some(database) = &mut self.database {
                    database.server.stop();
                    database.restarts += 1;
                }
            }
            Fault::Freeze(victim) => self.freeze(victim),
            Fault::Cut(link) => self.on(link, |network| {
                network.set(Network::Refuses);
                network.cut();
            }),
            Fault::Stall(link) => self.on(link, |network| network.set(Network::Stalls)),
            Fault::Slow(link) => self.on(link, |network| network.set(SLOW)),
            Fault::FullDisk(owner) => self.disk(owner).map_or((), SmallDisk::fill),
            Fault::Clock(owner, seconds) => self.turn(owner, seconds),
            Fault::Redelivery(count) => self.deliver_again(count),
            Fault::ReceiverRefuses => self.receiver.behave(Manners::Refuses),
            Fault::ReceiverLies => self.receiver.behave(Manners::Lies),
        }
    }

    fn end(&mut self, fault: Fault) {
        match fault {
            Fault::Kill(victim) => self.revive(victim),
            Fault::Restart => self.revive(Victim::Database),
            Fault::Freeze(victim) => self.thaw(victim),
            Fault::Stall(link) => self.on(link, |network| {
                network.cut();
                network.set(Network::Open);
            }),
            Fault::Cut(link) | Fault::Slow(link) => self.on(link, |network| {
                network.set(Network::Open);
            }),
            Fault::FullDisk(owner) => self.disk(owner).map_or((), SmallDisk::make_room),
            Fault::Clock(owner, _) => self.turn(owner, 0),
            Fault::Redelivery(_) => {}
            Fault::ReceiverRefuses | Fault::ReceiverLies => self.receiver.behave(Manners::Good),
        }
    }

    fn kill(&mut self, victim: Victim) {
        match victim {
            Victim::Edge(n) => self.gateways[n].program.kill(),
            Victim::Agent => self.agent.kill(),
            Victim::Broker => {
                self.broker.kill();
                self.broker_kills += 1;
            }
            Victim::Database => {
                if let Some(database) = &mut self.database {
                    database.server.kill();
                    database.kills += 1;
                }
            }
        }
    }

    fn revive(&mut self, victim: Victim) {
        match victim {
            Victim::Edge(n) => self.gateways[n].program.start(),
            Victim::Agent => self.agent.start(),
            Victim::Broker => self.broker.restart(),
            Victim::Database => self.database.as_mut().map_or((), Database::restart),
        }
    }

    fn freeze(&mut self, victim: Victim) {
        match victim {
            Victim::Edge(n) => self.gateways[n].program.freeze(),
            Victim::Agent => self.agent.freeze(),
            Victim::Broker => self.broker.process().map_or((), pdm_harness::Child::freeze),
            Victim::Database => {}
        }
    }

    fn thaw(&mut self, victim: Victim) {
        match victim {
            Victim::Edge(n) => self.gateways[n].program.thaw(),
            Victim::Agent => self.agent.thaw(),
            Victim::Broker => self.broker.process().map_or((), pdm_harness::Child::thaw),
            Victim::Database => {}
        }
    }

    fn deliver_again(&mut self, count: usize) {
        let recent =
            self.witness.with(|seen| seen.recent.iter().rev().take(count).cloned().collect());
        self.seed = self.seed.wrapping_add(1);
        self.runtime.spawn(redelivery::publish(self.broker.port(), recent, self.seed));
    }

    fn on(&self, link: Link, change: impl FnOnce(&Proxy)) {
        match link {
            Link::Edge(n) => change(&self.gateways[n].network),
            Link::Agent => change(&self.agent_network),
            Link::Database => self.database.as_ref().map_or((), |it| change(&it.network)),
        }
    }

    fn disk(&self, owner: Owner) -> Option<&SmallDisk> {
        match owner {
            Owner::Edge(n) => self.gateways[n].disk.as_ref(),
            Owner::Agent => self.agent_disk.as_ref(),
        }
    }

    fn turn(&self, owner: Owner, seconds: i64) {
        let clock: Option<&WallClock> = match owner {
            Owner::Edge(n) => self.gateways[n].clock.as_ref(),
            Owner::Agent => self.agent_clock.as_ref(),
        };
        if let Some(clock) = clock {
            clock.set(seconds);
        }
    }
}
