//! The tasks of the agent, each put together from what was built before. Only this file spawns.

use std::sync::Arc;
use std::time::Duration;

use pdm_knowledge::Knowledge;
use pdm_service::clock::{Patience, SharedClock, SteadyClock};
use pdm_service::http::guard::Access;
use pdm_tools::Runtime;
use tokio::net::TcpListener;
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::tooling::{Filling, Watching};
use crate::http::{self, Served};
use crate::intake::Intake;
use crate::intake::receipts::{Owed, Receipts};
use crate::judging::Judging;
use crate::mqtt::publisher::Publisher;
use crate::mqtt::receiver::Receiver;
use crate::notify::lanes::{Channel, Lane};
use crate::notify::policy::Policy;
use crate::notify::silence::Watchdog;
use crate::progress::Reporter;
use crate::retention::Retention;
use crate::settings::AgentSettings;
use crate::store::Store;
use crate::workflow::Workflow;

/// What means "stop" to each stage.
#[derive(Debug, Clone, Default)]
pub(super) struct Stops {
    pub(super) intake: CancellationToken,
    pub(super) drained: CancellationToken,
    pub(super) judging: CancellationToken,
    pub(super) outbox: CancellationToken,
    pub(super) publisher: CancellationToken,
    pub(super) stored: Arc<Notify>,
}

/// What the tasks are made of.
pub(super) struct Parts {
    pub(super) settings: AgentSettings,
    pub(super) policy: Policy,
    pub(super) clock: SharedClock,
    pub(super) store: Arc<dyn Store>,
    pub(super) reporter: Reporter,
    pub(super) knowledge: Knowledge,
    pub(super) tools: Arc<Runtime>,
    pub(super) stop: Stops,
    pub(super) tasks: Vec<(&'static str, JoinHandle<()>)>,
}

impl Parts {
    pub(super) fn spawn(
        &mut self,
        name: &'static str,
        task: impl Future<Output = ()> + Send + 'static,
    ) {
        self.tasks.push((name, tokio::spawn(task)));
    }

    /// Fills the knowledge base and follows the tools' folder for as long as the agent runs.
    pub(super) fn tooling(&mut self, filling: Filling, watching: Watching) {
        let stop = self.stop.publisher.clone();
        self.spawn("knowledge", filling.run(stop.clone()));
        self.spawn("tools", watching.run(stop));
    }

    pub(super) fn serve(&mut self, listener: TcpListener, access: Access) {
        let served = Served {
            store: self.store.clone(),
            knowledge: self.knowledge.clone(),
            tools: Arc::clone(&self.tools),
            access,
        };
        let stop = self.stop.publisher.clone();
        self.spawn("http", http::serve(listener, served, stop));
    }

    pub(super) fn outbox(
        &mut self,
        channels: Vec<Arc<dyn Channel>>,
        publisher: Publisher,
    ) -> Arc<Vec<Arc<Notify>>> {
        let give_up_after = Duration::from_secs_f64(self.settings.notify.give_up_after_h * 3600.0);
        let clock: SharedClock = Arc::new(SteadyClock::new(Arc::clone(&self.clock)));
        let mut bells = Vec::new();
        let mut lane = || {
            let written = Arc::new(Notify::new());
            bells.push(Arc::clone(&written));
            Lane {
                store: self.store.clone(),
                clock: Arc::clone(&clock),
                reporter: self.reporter.clone(),
                written,
                give_up_after,
                stop: self.stop.outbox.clone(),
            }
        };
        let (mqtt, vectors) = (lane(), lane());
        let others: Vec<(Lane, Arc<dyn Channel>)> =
            channels.into_iter().map(|channel| (lane(), channel)).collect();
        self.spawn("outbox", mqtt.run_mqtt(publisher));
        self.spawn("outbox", vectors.run_vectors(self.knowledge.clone()));
        for (lane, channel) in others {
            self.spawn("outbox", lane.run(channel));
        }
        Arc::new(bells)
    }

    pub(super) fn judging(&mut self, workflow: Workflow, written: Arc<Vec<Arc<Notify>>>) {
        let judging = Judging::new(
            self.store.clone(),
            Arc::clone(&self.clock),
            workflow,
            &self.settings.notify,
            &self.settings.broker.prefix,
        )
        .with_reporter(self.reporter.clone())
        .with_knowledge()
        .with_bells(Arc::clone(&self.stop.stored), written);
        let watchdog = Watchdog {
            store: self.store.clone(),
            clock: Arc::clone(&self.clock),
            policy: self.policy.clone(),
            silence: self.settings.silence.clone(),
            reporter: self.reporter.clone(),
            started: self.clock.now(),
        };
        let stop = self.stop.judging.clone();
        self.spawn("judging", judging.run(stop));
        let stop = self.stop.intake.clone();
        self.spawn("watchdog", watchdog.run(stop));
    }

    /// Forgets what is no longer kept for as long as the agent runs.
    pub(super) fn retention(&mut self) {
        let retention = Retention {
            store: self.store.clone(),
            clock: Arc::clone(&self.clock),
            settings: self.settings.store.retention,
        };
        let stop = self.stop.intake.clone();
        self.spawn("retention", retention.run(stop));
    }

    pub(super) fn intake(
        &mut self,
        receiver: Receiver,
        publisher: Publisher,
        connected: watch::Receiver<u64>,
    ) {
        let (queue, deliveries) = mpsc::channel(usize::from(self.settings.broker.receive_maximum));
        let owed = Arc::new(Owed::default());
        let intake = Intake {
            store: self.store.clone(),
            clock: Arc::clone(&self.clock),
            prefix: self.settings.broker.prefix.clone(),
            batch: self.settings.intake.batch,
            reporter: self.reporter.clone(),
            stored: Arc::clone(&self.stop.stored),
            owed: Arc::clone(&owed),
            receipt_after_events: self.settings.intake.receipt_after_events,
        };
        let gap_lost_after =
            Duration::from_secs_f64(self.settings.intake.gap_lost_after_h * 3600.0);
        let receipts = Receipts {
            owed,
            store: self.store.clone(),
            clock: Arc::clone(&self.clock),
            prefix: self.settings.broker.prefix.clone(),
            publisher,
            after: Duration::from_secs_f64(self.settings.intake.receipt_after_s),
            gap_lost_after,
            patience: Patience::new(Arc::clone(&self.clock), gap_lost_after),
        };
        let (stop, drained) = (self.stop.intake.clone(), self.stop.drained.clone());
        self.spawn("receiver", receiver.run(queue, stop, drained));
        self.spawn("intake", intake.run(deliveries));
        let stop = self.stop.outbox.clone();
        self.spawn("receipts", receipts.run(connected, stop));
    }
}
