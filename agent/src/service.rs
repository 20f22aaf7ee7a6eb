//! The agent as a service inside a process: start it, watch it, stop it.
//!
//! `pdm-agent run`, `pdm demo` and `pdm up` start the same service. Everything is built before
//! anything is received. `tooling` opens the knowledge base and the tools, `parts` spawns the
//! tasks, `task` holds the order in which they are stopped, [`Handle`] watches and stops them.

pub(crate) mod channels;
mod filling;
mod handle;
mod log;
mod opening;
mod parts;
mod pulse;
pub mod search;
mod series;
mod sole;
mod task;
pub(crate) mod tooling;

use std::net::SocketAddr;
use std::sync::Arc;

use pdm_service::clock::SharedClock;
use pdm_service::http::recorder::recorder;
use pdm_store::{MQTT_LANE, Store, StoreError, StoreTrouble};

pub use handle::Handle;
use pdm_knowledge::{Knowledge, KnowledgeError, SetAside};
use pdm_shared::time::Timestamp;
use pdm_tools::client::ClientError;
use pdm_tools::mcp;

use crate::captures::Captures;
use parts::{StopSignals, TaskParts};
use sole::SoleUse;
pub use sole::StoreTaken;
use task::Task;
use tooling::{StoreParts, Tooling};

use crate::configuration::AgentFile;
use crate::model::LanguageModel;
pub use crate::model::OpenModelError;
pub use crate::mqtt::BrokerError;
use crate::mqtt::publisher;
use crate::mqtt::receiver::Receiver;
use crate::mqtt::{PutOff, Thrown};
pub use crate::notify::email::EmailError;
use crate::notify::gone_way::gone_ways;
use crate::notify::lanes::Channel;
use crate::notify::linked::Linked;
use crate::notify::outage::Outage;
use crate::notify::policy::Policy;
pub use crate::notify::webhook::WebhookError;
use pdm_tools::Runtime;

use crate::documents::Writer;
pub use crate::http::bound::ServerError;
use crate::http::{bound, captures};
use crate::notify::remarks::Remarks;
use crate::progress::Reporter;
use crate::settings::AgentSettings;
use crate::workflow::{Expert, Workflow};
pub use pdm_store::{connect as connect_store, open as open_store};

/// The agent did not start. The caller shows the error and ends with its exit code.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The store cannot be opened or brought up to date.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Another agent runs on the file of the store.
    #[error(transparent)]
    Taken(#[from] StoreTaken),
    /// The broker's settings name something that cannot be read.
    #[error(transparent)]
    Broker(#[from] BrokerError),
    /// E-mail cannot be set up.
    #[error(transparent)]
    Email(#[from] EmailError),
    /// A web hook cannot be set up.
    #[error(transparent)]
    Webhook(#[from] WebhookError),
    /// The knowledge base cannot be used, and waiting would not help.
    #[error(transparent)]
    Knowledge(#[from] KnowledgeError),
    /// The language model cannot be used.
    #[error("[reasoner]: {0}")]
    Model(#[from] OpenModelError),
    /// The tools cannot be called.
    #[error(transparent)]
    Tools(#[from] ClientError),
    /// A secret that the settings name cannot be read.
    #[error("{key}")]
    Secret {
        /// The key of the secret.
        key: &'static str,
        /// The error of the secret.
        #[source]
        source: pdm_service::secret::SecretError,
    },
    /// The HTTP address cannot be opened.
    #[error(transparent)]
    Server(#[from] ServerError),
}

impl StartError {
    /// Whether the store was lost between its opening and the start of the tasks.
    fn is_of_store(&self) -> bool {
        match self {
            Self::Store(error) => StoreTrouble::from(error).may_end(),
            Self::Server(ServerError::Users(_)) => true,
            Self::Taken(_)
            | Self::Broker(_)
            | Self::Email(_)
            | Self::Webhook(_)
            | Self::Knowledge(_)
            | Self::Model(_)
            | Self::Tools(_)
            | Self::Secret { .. }
            | Self::Server(_) => false,
        }
    }
}

/// A task of the agent panicked: a bug.
#[derive(Debug, thiserror::Error)]
#[error("the agent's part {part} failed: {reason}")]
pub struct ServiceError {
    /// The task.
    pub part: &'static str,
    /// The panic's message.
    pub reason: String,
}

/// Makes ring the cryptography provider of the process for TLS, unless another was installed.
pub fn install_cryptography() {
    // it fails where one is installed, as with edge and agent in one process: the same provider
    let _there = rustls::crypto::ring::default_provider().install_default();
}

/// Starts agents.
#[derive(Debug, Clone, Copy)]
pub struct Agent;

impl Agent {
    /// Opens the store, installs the schema, and starts intake, judging and notification. A broker
    /// that is away is no error: the agent connects when it can. A store that is away, or the file
    /// of a secret, is waited for, with health served and staff told.
    ///
    /// # Errors
    /// [`StartError`] if waiting cannot help: a wrong configuration, or a store that must not be
    /// used.
    pub async fn start(settings: AgentSettings, clock: SharedClock) -> Result<Handle, StartError> {
        Box::pin(Self::start_from(settings, clock, None)).await
    }

    /// Starts the agent of a file, which administrators may change by a page.
    ///
    /// # Errors
    /// As [`Agent::start`].
    pub async fn start_from(
        mut settings: AgentSettings,
        clock: SharedClock,
        file: Option<Arc<AgentFile>>,
    ) -> Result<Handle, StartError> {
        install_cryptography();
        settings.link_to_pages();
        if settings.http.listen.is_some() {
            // before anything is counted: what is counted without it would be lost
            recorder();
        }
        log::starting();
        let mut sole = SoleUse::claim(&settings.store).await?;
        let reporter = Reporter::new();
        let mut outage = None;
        loop {
            // boxed, so that no future that starts an agent is larger than a few kilobytes
            let opening = opening::opened(&settings, &clock, reporter.vitals(), outage);
            let opened = Box::pin(opening).await?;
            outage = opened.outage;
            let reporter = reporter.clone();
            reporter.update(|progress| {
                progress.unjudged = opened.backlog.unjudged;
                progress.unsent = opened.backlog.unsent;
                progress.has_no_way = !settings.notify.has_a_way();
            });
            let store = opened.store;
            let on = (store.clone(), settings.clone(), Arc::clone(&clock), reporter, file.clone());
            match Box::pin(Self::run_on(on, &mut outage)).await {
                Ok(mut handle) => {
                    handle.sole = sole.take();
                    if let Some(missing) = opened.missing {
                        handle.lacks_rows(missing);
                    }
                    return Ok(handle);
                }
                Err(error) if error.is_of_store() => {
                    log::store_lost_at_start(&error);
                    store.close().await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Starts the tasks on an open store. They take over the outage that staff has been told of.
    async fn run_on(
        (store, settings, clock, reporter, file): StartedOn,
        outage: &mut Option<Outage>,
    ) -> Result<Handle, StartError> {
        let channels = linked_channels(&settings, &store, &clock).await?;
        let (thrown, thrown_out) = Thrown::channel(reporter.clone());
        let put_off = PutOff::default();
        let receiver = Receiver::new(settings.broker.clone(), thrown.clone(), put_off.clone())?;
        let (publisher, connection, connected) = publisher::publisher(&settings.broker, thrown)?;
        captures::check_tokens(&settings.gateways).map_err(ServerError::from)?;
        let served = bound::open(&settings.http, &store, &clock).await?;
        let address = served.as_ref().and_then(|server| server.listener.local_addr().ok());
        let policy = Policy::new(settings.notify.clone(), settings.broker.prefix.clone());
        let stored = StoreParts::of(&store, &clock, policy.clone(), reporter.clone());
        let model = LanguageModel::open(&settings, store.opinions(), Arc::clone(&clock))?;
        let Tooling { knowledge, runtime: tools, filling, watching } =
            Tooling::open(&settings, Some(stored), model.as_ref()).await?;
        if let Some(aside) = knowledge.set_aside() {
            tell_of_file(&policy, &store, aside, clock.now()).await;
        }
        let mut workflow = workflow(&settings, &tools, &clock).await?;
        if settings.reports.folder.is_some() {
            let writer = writer(&settings, &store, &knowledge, &clock);
            workflow = workflow.with_documents(Arc::new(writer));
        }
        let broker = settings.notify.mqtt.then(|| MQTT_LANE.to_owned()).into_iter();
        let lanes =
            broker.chain(channels.iter().map(|channel| channel.lane().to_owned())).collect();
        let mut parts = TaskParts {
            settings,
            policy,
            clock,
            store: store.clone(),
            reporter: reporter.clone(),
            knowledge: knowledge.clone(),
            tools: Arc::clone(&tools),
            model,
            lanes,
            file,
            outage: outage.take(),
            stops: StopSignals::default(),
            tasks: Vec::new(),
        };
        parts.tooling(filling, watching);
        if let Some(server) = served {
            parts.serve(server);
        }
        let ways = parts.outbox(channels, publisher.clone());
        parts.judging(workflow, ways);
        let (remarks, owed) = parts.intake(receiver, publisher, connected, (thrown_out, put_off));
        parts.pulse(remarks.clone(), owed);
        parts.retention(remarks.clone());
        let publishing = parts.stops.publisher.clone();
        parts.spawn(Task::Publisher, connection.run(publishing));
        Ok(handle(parts, remarks, address))
    }
}

/// The handle on an agent whose tasks run.
fn handle(parts: TaskParts, remarks: Remarks, address: Option<SocketAddr>) -> Handle {
    let TaskParts { settings, stops, tasks, reporter, store, knowledge, tools, .. } = parts;
    let grace = settings.shutdown_grace;
    let sole = None;
    Handle { stops, tasks, reporter, remarks, store, knowledge, tools, address, grace, sole }
}

/// Returns what writes the documents of judgements.
fn writer(
    settings: &AgentSettings,
    store: &Store,
    knowledge: &Knowledge,
    clock: &SharedClock,
) -> Writer {
    Writer {
        settings: settings.reports.clone(),
        lead_time: settings.rules.lead_time.clone(),
        store: store.clone(),
        knowledge: knowledge.clone(),
        captures: Captures::of_settings(settings, store, clock),
        page_url: settings.page_address(),
    }
}

/// The parts from which an agent is started.
type StartedOn = (Store, AgentSettings, SharedClock, Reporter, Option<Arc<AgentFile>>);

/// Tells staff that a damaged file was set aside. A failure does not stop the start: log and metric
/// tell too.
async fn tell_of_file(policy: &Policy, store: &Store, aside: &SetAside, now: Timestamp) {
    let Some((notification, outgoing)) = policy.file_set_aside(aside, now) else { return };
    if let Err(error) = store.messages().tell(&notification, &outgoing).await {
        log::file_not_told(&error);
    }
}

/// The ways to staff; messages carry links that acknowledge where the settings have them.
async fn linked_channels(
    settings: &AgentSettings,
    store: &Store,
    clock: &SharedClock,
) -> Result<Vec<Arc<dyn Channel>>, StartError> {
    let channels = channels::channels(&settings.notify, &settings.reports, clock)?;
    let gone = gone_ways(store, &channels, clock.now()).await;
    let Some(links) = bound::links(&settings.http, store, clock).await? else {
        return Ok(channels.into_iter().chain(gone).collect());
    };
    let linked = |channel| Arc::new(Linked { channel, links: links.clone() }) as _;
    Ok(channels.into_iter().map(linked).chain(gone).collect())
}

/// The workflow that judges by the expert's rules and calls the tools over MCP.
async fn workflow(
    settings: &AgentSettings,
    tools: &Arc<Runtime>,
    clock: &SharedClock,
) -> Result<Workflow, StartError> {
    let client = mcp::in_process(Arc::clone(tools)).await?;
    let expert = Expert::new(settings.rules.clone());
    Ok(Workflow::new(expert, Arc::clone(clock)).with_tools(Arc::new(client)))
}
