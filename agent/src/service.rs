//! The agent as a service inside a process: start it, watch it, stop it.
//!
//! `pdm-agent run`, `pdm demo` and `pdm up` start the same service. Everything is built before
//! anything is received; stopping goes with the flow: intake first, then judging, then the outbox.
//! Only this file spawns tasks.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use pdm_shared::clock::SharedClock;
use tokio::sync::{Notify, broadcast, mpsc, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::http;
use crate::intake::Intake;
use crate::intake::receipts::{Owed, Receipts};
use crate::judging::Judging;
pub use crate::mqtt::BrokerError;
use crate::mqtt::publisher::{self, Publisher};
use crate::mqtt::receiver::Receiver;
use crate::notify::email::Email;
pub use crate::notify::email::EmailError;
use crate::notify::lanes::{Channel, Lane};
use crate::notify::policy::Policy;
use crate::notify::silence::Watchdog;
use crate::notify::webhook::Webhook;
pub use crate::notify::webhook::WebhookError;
use crate::progress::{BearingKey, Live, Progress, Reporter, Standing};
use crate::settings::{AgentSettings, NotifySettings, StoreSettings};
use crate::store::sqlite::SqliteStore;
use crate::store::{Store, StoreError};
use crate::workflow::Expert;

/// The agent did not start. The caller shows it and ends with its exit code.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The store cannot be opened or brought up to date.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The broker's settings name something that cannot be read.
    #[error(transparent)]
    Broker(#[from] BrokerError),
    /// E-mail cannot be set up.
    #[error(transparent)]
    Email(#[from] EmailError),
    /// A web hook cannot be set up.
    #[error(transparent)]
    Webhook(#[from] WebhookError),
    /// Health and metrics cannot be served there.
    #[error("cannot listen on {listen} for health and metrics")]
    Http {
        /// Where.
        listen: std::net::SocketAddr,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
}

/// A part of the agent failed while it ran: a bug.
#[derive(Debug, thiserror::Error)]
#[error("the agent's part {part} failed: {reason}")]
pub struct ServiceError {
    /// Which part.
    pub part: &'static str,
    /// What it said.
    pub reason: String,
}

/// Opens the configured store and brings its schema up to date.
///
/// # Errors
/// [`StoreError`] if either fails.
pub async fn open_store(settings: &StoreSettings) -> Result<Arc<dyn Store>, StoreError> {
    let store: Arc<dyn Store> = match settings {
        StoreSettings::Sqlite(path) => Arc::new(SqliteStore::open(path).await?),
    };
    store.migrate().await?;
    Ok(store)
}

/// Makes the configured channels: e-mail and web hooks.
pub(crate) fn channels(settings: &NotifySettings) -> Result<Vec<Arc<dyn Channel>>, StartError> {
    let mut channels: Vec<Arc<dyn Channel>> = Vec::new();
    if let Some(email) = &settings.email {
        channels.push(Arc::new(Email::new(email)?));
    }
    for hook in &settings.webhook {
        channels.push(Arc::new(Webhook::new(hook)?));
    }
    Ok(channels)
}

/// Makes ring the process's cryptography for TLS, unless it has one.
pub fn install_cryptography() {
    // the second of two programs in one process finds the first one's
    let _there = rustls::crypto::ring::default_provider().install_default();
}

/// Starts agents.
#[derive(Debug, Clone, Copy)]
pub struct Agent;

impl Agent {
    /// Opens the store, installs the schema, and starts intake, judging and notification. A broker
    /// that is away is no error: the agent connects when it can.
    ///
    /// # Errors
    /// [`StartError`] if the store cannot be opened or a file or secret cannot be read.
    pub async fn start(settings: AgentSettings, clock: SharedClock) -> Result<Handle, StartError> {
        install_cryptography();
        let store = open_store(&settings.store).await?;
        let channels = channels(&settings.notify)?;
        let reporter = Reporter::new();
        let receiver = Receiver::new(settings.broker.clone(), reporter.clone())?;
        let (publisher, connection, connected) = publisher::publisher(&settings.broker)?;
        let listener = match settings.http {
            Some(listen) => Some(
                tokio::net::TcpListener::bind(listen)
                    .await
                    .map_err(|source| StartError::Http { listen, source })?,
            ),
            None => None,
        };
        let backlog = store.backlog().await?;
        reporter.update(|progress| {
            progress.unjudged = backlog.unjudged;
            progress.unsent = backlog.unsent;
        });
        let mut parts = Parts {
            settings,
            clock,
            store: Arc::clone(&store),
            reporter: reporter.clone(),
            stop: Stops::default(),
            tasks: Vec::new(),
        };
        if let Some(listener) = listener {
            parts.serve(listener);
        }
        let lanes = parts.outbox(channels, publisher.clone());
        parts.judging(lanes);
        parts.intake(receiver, publisher, connected);
        let publishing = parts.stop.publisher.clone();
        parts.spawn("publisher", connection.run(publishing));
        let grace = parts.settings.shutdown_grace;
        Ok(Handle { stop: parts.stop, tasks: parts.tasks, reporter, store, grace })
    }
}

/// What means "stop" to each stage.
#[derive(Debug, Clone, Default)]
struct Stops {
    intake: CancellationToken,
    drained: CancellationToken,
    judging: CancellationToken,
    outbox: CancellationToken,
    publisher: CancellationToken,
    stored: Arc<Notify>,
}

/// What the tasks are made of.
struct Parts {
    settings: AgentSettings,
    clock: SharedClock,
    store: Arc<dyn Store>,
    reporter: Reporter,
    stop: Stops,
    tasks: Vec<(&'static str, JoinHandle<()>)>,
}

impl Parts {
    fn spawn(&mut self, name: &'static str, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.push((name, tokio::spawn(task)));
    }

    fn serve(&mut self, listener: tokio::net::TcpListener) {
        let store = Arc::clone(&self.store);
        let stop = self.stop.publisher.clone();
        self.spawn("http", http::serve(listener, store, stop));
    }

    fn policy(&self) -> Policy {
        Policy::new(self.settings.notify.clone(), self.settings.broker.prefix.clone())
    }

    fn outbox(
        &mut self,
        channels: Vec<Arc<dyn Channel>>,
        publisher: Publisher,
    ) -> Arc<Vec<Arc<Notify>>> {
        let give_up_after = Duration::from_secs_f64(self.settings.notify.give_up_after_h * 3600.0);
        let mut bells = Vec::new();
        let mut lane = || {
            let written = Arc::new(Notify::new());
            bells.push(Arc::clone(&written));
            Lane {
                store: Arc::clone(&self.store),
                clock: Arc::clone(&self.clock),
                reporter: self.reporter.clone(),
                written,
                give_up_after,
                stop: self.stop.outbox.clone(),
            }
        };
        let mqtt = lane();
        let others: Vec<(Lane, Arc<dyn Channel>)> =
            channels.into_iter().map(|channel| (lane(), channel)).collect();
        self.spawn("outbox", mqtt.run_mqtt(publisher));
        for (lane, channel) in others {
            self.spawn("outbox", lane.run(channel));
        }
        Arc::new(bells)
    }

    fn judging(&mut self, written: Arc<Vec<Arc<Notify>>>) {
        let judging = Judging {
            store: Arc::clone(&self.store),
            clock: Arc::clone(&self.clock),
            reasoner: Arc::new(Expert::new(self.settings.rules.clone())),
            policy: self.policy(),
            reporter: self.reporter.clone(),
            stored: Arc::clone(&self.stop.stored),
            written,
        };
        let watchdog = Watchdog {
            store: Arc::clone(&self.store),
            clock: Arc::clone(&self.clock),
            policy: self.policy(),
            silence: self.settings.silence.clone(),
            reporter: self.reporter.clone(),
            started: self.clock.now(),
        };
        let stop = self.stop.judging.clone();
        self.spawn("judging", judging.run(stop));
        let stop = self.stop.intake.clone();
        self.spawn("watchdog", watchdog.run(stop));
    }

    fn intake(
        &mut self,
        receiver: Receiver,
        publisher: Publisher,
        connected: watch::Receiver<u64>,
    ) {
        let (queue, deliveries) = mpsc::channel(usize::from(self.settings.broker.receive_maximum));
        let owed = Arc::new(Owed::default());
        let intake = Intake {
            store: Arc::clone(&self.store),
            clock: Arc::clone(&self.clock),
            prefix: self.settings.broker.prefix.clone(),
            batch: self.settings.intake.batch,
            reporter: self.reporter.clone(),
            stored: Arc::clone(&self.stop.stored),
            owed: Arc::clone(&owed),
            receipt_after_events: self.settings.intake.receipt_after_events,
        };
        let receipts = Receipts {
            owed,
            store: Arc::clone(&self.store),
            clock: Arc::clone(&self.clock),
            prefix: self.settings.broker.prefix.clone(),
            publisher,
            after: Duration::from_secs_f64(self.settings.intake.receipt_after_s),
            gap_lost_after: Duration::from_secs_f64(self.settings.intake.gap_lost_after_h * 3600.0),
        };
        let (stop, drained) = (self.stop.intake.clone(), self.stop.drained.clone());
        self.spawn("receiver", receiver.run(queue, stop, drained));
        self.spawn("intake", intake.run(deliveries));
        let stop = self.stop.outbox.clone();
        self.spawn("receipts", receipts.run(connected, stop));
    }
}

/// A running agent.
#[derive(Debug)]
pub struct Handle {
    stop: Stops,
    tasks: Vec<(&'static str, JoinHandle<()>)>,
    reporter: Reporter,
    store: Arc<dyn Store>,
    grace: Duration,
}

impl Handle {
    /// Counters, as they change.
    pub fn progress(&self) -> watch::Receiver<Progress> {
        self.reporter.progress()
    }

    /// How every bearing that was judged since the start stands.
    pub fn standings(&self) -> watch::Receiver<BTreeMap<BearingKey, Standing>> {
        self.reporter.standings()
    }

    /// Changes of risk and notifications from now on.
    pub fn live(&self) -> broadcast::Receiver<Live> {
        self.reporter.live().subscribe()
    }

    /// The part that has ended although nobody asked it to: a bug; stop the process.
    pub fn failed(&self) -> Option<&'static str> {
        self.tasks.iter().find(|(_, task)| task.is_finished()).map(|(name, _)| *name)
    }

    /// Stops intake first, judges and sends what is left within the grace period, closes the store.
    ///
    /// # Errors
    /// [`ServiceError`] if a part had failed.
    pub async fn stop(mut self) -> Result<Progress, ServiceError> {
        let deadline = tokio::time::Instant::now() + self.grace;
        let mut failure = None;
        self.stop.intake.cancel();
        self.end(&["intake", "watchdog"], deadline, &mut failure).await;
        self.stop.drained.cancel();
        self.end(&["receiver"], deadline, &mut failure).await;
        self.stop.judging.cancel();
        self.stop.stored.notify_one();
        self.end(&["judging"], deadline, &mut failure).await;
        self.stop.outbox.cancel();
        self.end(&["outbox", "receipts"], deadline, &mut failure).await;
        self.stop.publisher.cancel();
        let last = deadline.max(tokio::time::Instant::now() + Duration::from_secs(2));
        self.end(&["publisher", "http"], last, &mut failure).await;
        self.store.close().await;
        let progress = *self.reporter.progress().borrow();
        failure.map_or(Ok(progress), Err)
    }

    async fn end(
        &mut self,
        names: &[&'static str],
        deadline: tokio::time::Instant,
        failure: &mut Option<ServiceError>,
    ) {
        for (name, task) in self.tasks.iter_mut().filter(|(name, _)| names.contains(name)) {
            match tokio::time::timeout_at(deadline, &mut *task).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => {
                    *failure = Some(ServiceError { part: name, reason: error.to_string() });
                }
                Err(_elapsed) => {
                    tracing::warn!(part = name, "still busy at the end of the grace period");
                    task.abort();
                }
            }
        }
    }
}
