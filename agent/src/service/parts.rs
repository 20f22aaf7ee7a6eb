//! The tasks of the agent, each put together from what was built before. Only this file spawns
//! tasks.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pdm_knowledge::Knowledge;
use pdm_reasoner::toolbox::CatalogueTools;
use pdm_service::clock::{JumpWatch, Patience, SharedClock, SteadyClock};
use pdm_service::own_threads::{half_of_processors, on_own_threads};
use pdm_shared::risk::RiskLevel;
use pdm_shared::topic::Topic;
use pdm_store::{IntakeTerms, Store};
use pdm_tools::Runtime;
use pdm_web::configuration::ConfigurationFile;
use tokio::sync::{Notify, mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::filling::Filling;
use super::pulse::PulseWatch;
use super::task::{RunningTask, StopSignal, Task};
use super::tooling::Watching;
use super::{log, opening};
use crate::captures::Captures;
use crate::configuration::AgentFile;
use crate::conversation::Conversation;
use crate::http::bound::BoundServer;
use crate::http::{self, Served};
use crate::intake::Intake;
use crate::intake::receipts::{Confirmed, OwedReceipts, Receipts};
use crate::judging::{Judging, ModelInLoop};
use crate::model::LanguageModel;
use crate::mqtt::publisher::Publisher;
use crate::mqtt::queue::fair;
use crate::mqtt::receiver::{Receiver, limits};
use crate::mqtt::{PutOff, ThrownOut};
use crate::notify::ceiling::Ceiling;
use crate::notify::elsewhere::Elsewhere;
use crate::notify::lanes::{Channel, Lane};
use crate::notify::outage::Outage;
use crate::notify::policy::Policy;
use crate::notify::remarks::{Remark, Remarker, Remarks};
use crate::notify::silence::Watchdog;
use crate::notify::topic::NotificationTopic;
use crate::opinions::OpinionLane;
use crate::photos::Photos;
use crate::progress::Reporter;
use crate::removal::Ground;
use crate::retention::Retention;
use crate::settings::AgentSettings;
use crate::workflow::Workflow;

/// The signals that end the tasks, one for each stage of stopping.
#[derive(Debug, Clone, Default)]
pub(super) struct StopSignals {
    pub(super) intake: CancellationToken,
    pub(super) drained: CancellationToken,
    pub(super) judging: CancellationToken,
    pub(super) outbox: CancellationToken,
    pub(super) publisher: CancellationToken,
    /// Notified when something was stored: the judging looks at once.
    pub(super) stored: Arc<Notify>,
    /// Notified when a judgement waits for the language model.
    pub(super) asked: Arc<Notify>,
}

impl StopSignals {
    /// Tells the tasks of a stage to end.
    pub(super) fn signal(&self, signal: StopSignal) {
        match signal {
            StopSignal::Intake => self.intake.cancel(),
            StopSignal::Drained => self.drained.cancel(),
            StopSignal::Judging => self.judging.cancel(),
            StopSignal::Outbox => self.outbox.cancel(),
            StopSignal::Publisher => self.publisher.cancel(),
        }
    }
}

/// The parts from which the tasks are made, and the tasks that run already.
pub(super) struct TaskParts {
    pub(super) settings: AgentSettings,
    pub(super) policy: Policy,
    pub(super) clock: SharedClock,
    pub(super) store: Store,
    pub(super) reporter: Reporter,
    pub(super) knowledge: Knowledge,
    pub(super) tools: Arc<Runtime>,
    pub(super) model: Option<Arc<LanguageModel>>,
    /// The lanes of the configured ways to staff.
    pub(super) lanes: Arc<[String]>,
    /// The file that the settings were read from, where pages may change it.
    pub(super) file: Option<Arc<AgentFile>>,
    /// An outage that staff has been told of before the tasks started.
    pub(super) outage: Option<Outage>,
    pub(super) stops: StopSignals,
    pub(super) tasks: Vec<RunningTask>,
}

impl TaskParts {
    pub(super) fn spawn(&mut self, task: Task, work: impl Future<Output = ()> + Send + 'static) {
        self.tasks.push(RunningTask { task, handle: tokio::spawn(work) });
    }

    /// Fills the knowledge base and follows the tools' folder for as long as the agent runs.
    pub(super) fn tooling(&mut self, filling: Filling, watching: Watching) {
        let stop = self.stops.publisher.clone();
        let (store, clock) = (self.store.outbox(), Arc::clone(&self.clock));
        self.spawn(Task::Knowledge, filling.run(store, clock, stop.clone()));
        self.spawn(Task::Tools, watching.run(stop));
    }

    /// Serves HTTP on an address that is bound already.
    pub(super) fn serve(&mut self, server: BoundServer) {
        let filters = self.settings.knowledge.filter_by_model;
        let tools =
            if filters { Arc::new(self.tools.filtering()) } else { Arc::clone(&self.tools) };
        let conversation = Conversation::new(
            self.store.clone(),
            Arc::clone(&self.clock),
            Arc::clone(&tools),
            self.model.clone(),
            self.settings.notify.table(Path::new("")),
            (self.settings.reports.clone(), self.settings.rules.clone()),
        )
        .with_judging(self.settings.judging.has_model());
        let served = Served {
            store: self.store.clone(),
            knowledge: self.knowledge.clone(),
            tools,
            talk: Arc::new(conversation),
            clock: Arc::clone(&self.clock),
            progress: self.reporter.progress(),
            vitals: self.reporter.vitals().clone(),
            degraded: self.reporter.degraded(),
            dead_letters: Topic::DeadLetter.under(&self.settings.broker.prefix),
            prefix: self.settings.broker.prefix.clone(),
            ground: Ground::of(&self.settings),
            lanes: Arc::clone(&self.lanes),
            documents: self.documents(),
            captures: self.captures(),
            owners: self.settings.gateways.clone(),
            table: Arc::new(self.settings.notify.table(Path::new(""))),
            reports: self.settings.reports.clone(),
            lead_time: self.settings.rules.lead_time.clone(),
            repeats: (self.settings.notify.repeat_after_h > 0.0)
                .then_some((self.settings.notify.repeat_from, self.settings.notify.repeat_after_h)),
            configuration: self.file.clone().map(|file| file as Arc<dyn ConfigurationFile>),
            routes: self.settings.notify.route.iter().map(|route| route.name.clone()).collect(),
        };
        let stop = self.stops.publisher.clone();
        // nobody who asks for pages without end takes a thread from judging
        let server = http::serve(server, served, stop);
        self.spawn(Task::Http, async {
            if let Err(error) = on_own_threads("http", half_of_processors(), server).await {
                log::http_ended(&error);
            }
        });
    }

    /// Starts a lane for the broker, for the knowledge base and for each channel; returns the wakes
    /// that wake them. The lanes run on a steady clock, so that a wall clock that is set back does
    /// not hold up what waits for its pause.
    pub(super) fn outbox(
        &mut self,
        channels: Vec<Arc<dyn Channel>>,
        publisher: Publisher,
    ) -> Arc<Vec<Arc<Notify>>> {
        let give_up_after = Duration::from_secs_f64(self.settings.notify.give_up_after_h * 3600.0);
        let clock: SharedClock = Arc::new(SteadyClock::new(Arc::clone(&self.clock)));
        self.store_watch(&channels, &publisher);
        let elsewhere = Arc::new(Elsewhere::new(
            self.store.clone(),
            Arc::clone(&clock),
            self.policy.clone(),
            self.reporter.clone(),
        ));
        let mut wakes = Vec::new();
        let mut lane = || {
            let written = Arc::new(Notify::new());
            wakes.push(Arc::clone(&written));
            Lane {
                store: self.store.outbox(),
                clock: Arc::clone(&clock),
                reporter: self.reporter.clone(),
                written,
                give_up_after,
                elsewhere: Arc::clone(&elsewhere),
                stop: self.stops.outbox.clone(),
            }
        };
        let (mqtt, letters, vectors) = (lane(), lane(), lane());
        let others: Vec<(Lane, Arc<dyn Channel>)> =
            channels.into_iter().map(|channel| (lane(), channel)).collect();
        let per_hour = self.settings.notify.per_recipient_per_hour;
        let owners = self.settings.gateways.clone();
        let topic = self.topic(&publisher);
        let ceiling =
            Arc::new(Ceiling::new(self.store.ceilings(), topic.lane(), per_hour, owners.clone()));
        self.spawn(Task::Outbox, mqtt.clone().run_summaries(topic, Arc::clone(&ceiling)));
        self.spawn(Task::Outbox, letters.run_dead_letters(publisher.clone()));
        self.spawn(Task::Outbox, mqtt.run_mqtt(publisher, ceiling));
        self.spawn(Task::Outbox, vectors.run_vectors(self.knowledge.clone()));
        for (lane, channel) in others {
            let ceiling = Arc::new(Ceiling::new(
                self.store.ceilings(),
                channel.lane(),
                per_hour,
                owners.clone(),
            ));
            let summaries = lane.clone().run_summaries(channel.clone(), Arc::clone(&ceiling));
            self.spawn(Task::Outbox, summaries);
            self.spawn(Task::Outbox, lane.run(channel, ceiling));
        }
        Arc::new(wakes)
    }

    /// The broker's topics `notification` as a channel.
    fn topic(&self, publisher: &Publisher) -> Arc<dyn Channel> {
        let (publisher, prefix) = (publisher.clone(), self.settings.broker.prefix.clone());
        Arc::new(NotificationTopic { publisher, prefix })
    }

    /// Starts the watch over store and work, which ends with the intake.
    pub(super) fn pulse(&mut self, remarks: Remarks, owed: Arc<OwedReceipts>) {
        let pulse = PulseWatch {
            store: self.store.clone(),
            clock: Arc::clone(&self.clock),
            vitals: self.reporter.vitals().clone(),
            after: Duration::from_secs_f64(self.settings.silence.store_after_s),
            remarks,
            owed,
        };
        let stop = self.stops.intake.clone();
        self.spawn(Task::Watchdog, pulse.run(stop));
    }

    /// Starts the watch that tells past the store of what the pulse finds; it ends with the intake.
    fn store_watch(&mut self, channels: &[Arc<dyn Channel>], publisher: &Publisher) {
        let vitals = self.reporter.vitals().clone();
        let ways = channels.iter().cloned().chain([self.topic(publisher)]).collect();
        let Some(watch) = opening::watch(&self.settings, &self.clock, &vitals, ways) else {
            return;
        };
        let (outage, stop) = (self.outage.take(), self.stops.intake.clone());
        self.spawn(Task::Watchdog, async move {
            // what stands at the end is told anew by the next start
            let outage = watch.run(outage, stop).await;
            watch.tell_at_the_end(outage).await;
        });
    }

    /// Starts the judging, and the watch for silent gateways, which ends with the intake: a gateway
    /// cannot be heard after that.
    pub(super) fn judging(&mut self, workflow: Workflow, written: Arc<Vec<Arc<Notify>>>) {
        let judging = Judging::new(
            self.store.judging(),
            Arc::clone(&self.clock),
            workflow,
            &self.settings.notify,
            &self.settings.broker.prefix,
        )
        .with_reporter(self.reporter.clone())
        .with_ahead_s(self.settings.intake.ahead_s)
        .with_knowledge()
        .with_opinions(self.opinions_from())
        .with_model_in_loop(self.model_in_loop())
        .with_staff_tool(Arc::clone(self.tools.catalogue()))
        .with_wakes(Arc::clone(&self.stops.stored), Arc::clone(&written));
        self.opinions(written);
        let watchdog = Watchdog {
            store: self.store.clone(),
            clock: Arc::clone(&self.clock),
            policy: self.policy.clone(),
            silence: self.settings.silence.clone(),
            reporter: self.reporter.clone(),
            owners: self.settings.gateways.clone(),
            jumps: JumpWatch::new(Arc::clone(&self.clock)),
            started: self.clock.now(),
        };
        let stop = self.stops.judging.clone();
        self.spawn(Task::Judging, judging.run(stop));
        let stop = self.stops.intake.clone();
        self.spawn(Task::Watchdog, watchdog.run(stop));
    }

    /// Returns the lowest risk whose news get a second opinion; `None` without a model.
    fn opinions_from(&self) -> Option<RiskLevel> {
        let opinion = self.model.as_ref()?.settings().opinion;
        opinion.enabled.then_some(opinion.from)
    }

    /// The language model whose verdict is part of judgements.
    fn model_in_loop(&self) -> Option<ModelInLoop> {
        let judging = self.settings.judging;
        let model = self.model.as_ref().filter(|_| judging.has_model())?;
        Some(ModelInLoop {
            model: model.name().to_owned(),
            from: self.opinions_from()?,
            at_once_from: judging.at_once_from,
            wait_s: judging.wait_s,
            asked: Arc::clone(&self.stops.asked),
        })
    }

    /// Starts the lane of second opinions, if a model is configured.
    fn opinions(&mut self, written: Arc<Vec<Arc<Notify>>>) {
        let Some(model) = self.model.clone().filter(|model| model.settings().opinion.enabled)
        else {
            return;
        };
        let lane = OpinionLane {
            store: self.store.clone(),
            clock: Arc::new(SteadyClock::new(Arc::clone(&self.clock))),
            model,
            tools: Arc::new(CatalogueTools::new(Arc::clone(&self.tools))),
            policy: self.policy.clone(),
            place: self.settings.judging.place(),
            asked: Arc::clone(&self.stops.asked),
            answered: Arc::clone(&self.stops.stored),
            written,
        };
        let stop = self.stops.judging.clone();
        self.spawn(Task::Opinions, lane.run(stop));
    }

    /// Captured waveforms, where they are kept.
    fn captures(&self) -> Option<Captures> {
        Captures::of_settings(&self.settings, &self.store, &self.clock)
    }

    /// Returns where documents are written, if they are.
    fn documents(&self) -> Option<PathBuf> {
        self.settings.reports.folder.clone().filter(|_| !self.settings.reports.off)
    }

    /// Deletes what is no longer kept for as long as the agent runs.
    pub(super) fn retention(&mut self, remarks: Remarks) {
        let retention = Retention {
            store: self.store.retention(),
            clock: Arc::clone(&self.clock),
            settings: self.settings.store.retention,
            photos: self
                .documents()
                .map(|folder| Photos::beside(self.store.clone(), Arc::clone(&self.clock), &folder)),
            captures: self.captures(),
            max_bytes: self.settings.store.max_bytes,
            reporter: self.reporter.clone(),
            remarks,
        };
        let stop = self.stops.intake.clone();
        self.spawn(Task::Retention, retention.run(stop));
    }

    /// Tells staff what gateways and broker make its business.
    fn remarks(&mut self, remarks: mpsc::Receiver<Remark>, thrown: mpsc::Receiver<ThrownOut>) {
        let remarker = Remarker {
            store: self.store.messages(),
            clock: Arc::clone(&self.clock),
            policy: self.policy.clone(),
            reporter: self.reporter.clone(),
        };
        // ends with the intake, whose remarks it tells: the watchdog is waited for right after it
        let stop = self.stops.intake.clone();
        self.spawn(Task::Watchdog, remarker.run(remarks, thrown, stop));
    }

    /// Starts the receiver, the intake and the receipts; hands out the way to make remarks and to
    /// owe receipts. The queue between receiver and intake holds as many messages as the broker may
    /// send unacknowledged, so the receiver never blocks on it.
    pub(super) fn intake(
        &mut self,
        receiver: Receiver,
        publisher: Publisher,
        connected: watch::Receiver<u64>,
        (thrown_out, put_off): (mpsc::Receiver<ThrownOut>, PutOff),
    ) -> (Remarks, Arc<OwedReceipts>) {
        let (remarks, remarked) = Remarks::channel();
        let owed = Arc::new(OwedReceipts::default());
        let for_others = (remarks.clone(), Arc::clone(&owed));
        let receipts_remarks = remarks.clone();
        self.remarks(remarked, thrown_out);
        let receive_maximum = self.settings.broker.receive_maximum;
        let (queue, deliveries) = fair(limits(receive_maximum));
        let intake = Intake {
            store: self.store.intake(),
            gateways: self.store.gateways(),
            clock: Arc::clone(&self.clock),
            prefix: self.settings.broker.prefix.clone(),
            batch: self.settings.intake.batch,
            reporter: self.reporter.clone(),
            stored: Arc::clone(&self.stops.stored),
            owed: Arc::clone(&owed),
            receipt_after_events: self.settings.intake.receipt_after_events,
            terms: IntakeTerms {
                owners: self.settings.gateways.clone(),
                largest_jump: self.settings.intake.largest_jump,
                new_bearings_per_hour: self.settings.intake.quota.new_bearings_per_hour,
                rival_silent_s: self.settings.intake.rival_silent_s,
            },
            proof: self.settings.intake.gateway_in_topic,
            quota: self.settings.intake.quota.clone(),
            remarks,
            put_off,
            ahead_s: self.settings.intake.ahead_s,
            rules: self.settings.rules.clone(),
        };
        let gap_lost_after =
            Duration::from_secs_f64(self.settings.intake.gap_lost_after_h * 3600.0);
        let receipts = Receipts {
            owed,
            store: self.store.gateways(),
            clock: Arc::clone(&self.clock),
            prefix: self.settings.broker.prefix.clone(),
            publisher,
            after: Duration::from_secs_f64(self.settings.intake.receipt_after_s),
            gap_lost_after,
            patience: Patience::new(Arc::clone(&self.clock), gap_lost_after),
            remarks: receipts_remarks,
            confirmed: Confirmed::default(),
        };
        let (stop, drained) = (self.stops.intake.clone(), self.stops.drained.clone());
        self.spawn(Task::Receiver, receiver.run(queue, stop, drained));
        self.spawn(Task::Intake, intake.run(deliveries));
        let stop = self.stops.outbox.clone();
        self.spawn(Task::Receipts, receipts.run(connected, stop));
        for_others
    }
}
