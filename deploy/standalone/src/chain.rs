//! Broker, agent and edge in one process. They start against the direction of the data, so that
//! each part finds its receiver ready, and stop in the direction of the data. With other settings
//! agent and edge start anew on the same broker, so that its clients notice nothing.

use std::sync::Arc;
use std::time::Duration;

use pdm_agent::configuration::AgentFile;
use pdm_agent::progress::{Live, Progress as AgentProgress};
use pdm_agent::service::Agent;
use pdm_agent::settings::AgentSettings;
use pdm_edge::pipeline::Edge;
use pdm_edge::progress::Progress as EdgeProgress;
use pdm_edge::settings::{BrokerAddress, EdgeSettings};
use pdm_service::clock::SystemClock;
use pdm_service::exit::{Exit, Failure};
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

use crate::broker::{Broker, BrokerSettings};
use crate::view::View;

/// Interval of reading the counters: ten changes a second are as many as a person can follow.
const LOOK: Duration = Duration::from_millis(100);

/// Longest time for the last notifications after everything is judged, before `--exit` ends. A slow
/// mail server answers within 30 s.
const LAST_SENDING: Duration = Duration::from_secs(30);

/// Longest wait of the edge for the agent's first subscription. Without the subscription no event
/// is lost, but events are sent twice. A local broker answers within milliseconds.
const FIRST_CONTACT: Duration = Duration::from_secs(5);

/// The three settings of a chain.
#[derive(Debug)]
pub(crate) struct ChainSettings {
    /// The embedded broker.
    pub(crate) broker: BrokerSettings,
    /// The agent; its broker address is replaced by the embedded one.
    pub(crate) agent: AgentSettings,
    /// The edge; its broker address is replaced too.
    pub(crate) edge: EdgeSettings,
    /// The agent's file, where pages may change it.
    pub(crate) file: Option<Arc<AgentFile>>,
}

/// The settings of the two programs in a chain.
#[derive(Debug, Clone)]
pub(crate) struct Programs {
    /// The agent.
    pub(crate) agent: AgentSettings,
    /// The edge.
    pub(crate) edge: EdgeSettings,
}

/// A running chain.
#[derive(Debug)]
pub(crate) struct Chain {
    broker: Broker,
    agent: pdm_agent::service::Handle,
    edge: pdm_edge::pipeline::Handle,
    file: Option<Arc<AgentFile>>,
}

/// The counters of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Summary {
    /// The edge's counters.
    pub(crate) edge: EdgeProgress,
    /// The agent's counters.
    pub(crate) agent: AgentProgress,
}

impl std::fmt::Display for Summary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "events: {} measured, {} published, {} stored, {} judged, {} notified",
            self.edge.measured,
            self.edge.spooled.saturating_sub(self.edge.waiting),
            self.agent.stored,
            self.agent.judged,
            self.agent.notified
        )
    }
}

impl Chain {
    /// The address of the agent's pages, if they are served.
    pub(crate) const fn pages(&self) -> Option<std::net::SocketAddr> {
        self.agent.address()
    }

    /// Starts broker, agent, edge.
    ///
    /// # Errors
    /// The error of the part that did not start, with its exit code.
    pub(crate) async fn start(settings: ChainSettings) -> anyhow::Result<Self> {
        let ChainSettings { broker, agent, edge, file } = settings;
        let broker =
            Broker::start(broker).await.map_err(|error| Failure::new(error.exit(), error))?;
        let (agent, edge) = Self::start_on(&broker, Programs { agent, edge }, file.clone()).await?;
        Ok(Self { broker, agent, edge, file })
    }

    /// Stops edge and agent and starts them with `new` on the same broker; with the settings of
    /// `before` where they do not start. Returns the settings that the chain runs with.
    ///
    /// # Errors
    /// A part that had failed, or does not start with the settings of before either.
    pub(crate) async fn renew(
        self,
        new: Programs,
        before: Programs,
    ) -> anyhow::Result<(Self, Programs)> {
        let Self { broker, agent, edge, file } = self;
        edge.stop().await?;
        agent.stop().await?;
        let mut refused = None;
        let (runs_with, started) = match Self::start_on(&broker, new.clone(), file.clone()).await {
            Ok(started) => {
                if let Some(file) = &file {
                    file.settled();
                }
                (new, Ok(started))
            }
            Err(error) => {
                refused = Some(format!("agent and edge do not start with it: {error:#}"));
                tracing::error!(%error, "agent and edge do not start with the new configuration, \
                    the one of before stays");
                if let Some(file) = &file {
                    // a later start must not fail on what a page wrote
                    file.put_back();
                }
                let started = Self::start_on(&broker, before.clone(), file.clone()).await;
                (before, started)
            }
        };
        match started {
            Ok((agent, edge)) => {
                let chain = Self { broker, agent, edge, file };
                if let Some(why) = refused {
                    chain.refuses_configuration(&why);
                }
                Ok((chain, runs_with))
            }
            Err(error) => {
                broker.stop().await;
                Err(error)
            }
        }
    }

    /// Says by the agent that a configuration that was read again is refused.
    pub(crate) fn refuses_configuration(&self, why: &str) {
        self.agent.refuses_configuration(why);
    }

    /// Starts the agent, then the edge.
    async fn start_on(
        broker: &Broker,
        programs: Programs,
        file: Option<Arc<AgentFile>>,
    ) -> anyhow::Result<(pdm_agent::service::Handle, pdm_edge::pipeline::Handle)> {
        let Programs { mut agent, mut edge } = programs;
        let address = broker.inside();
        // the embedded broker uses plain TCP on loopback and a login of its own, so TLS and login
        // of the files do not apply
        let embedded = BrokerAddress { host: address.ip().to_string(), port: address.port() };
        agent.broker.addresses = vec![embedded.clone()];
        agent.broker.tls = None;
        agent.broker.login = broker.login();
        edge.broker.addresses = vec![embedded];
        edge.broker.tls = None;
        edge.broker.login = broker.login();
        // on the heap: the futures that wait for it stay small
        let agent = Box::pin(Agent::start_from(agent, Arc::new(SystemClock), file))
            .await
            .map_err(|error| Failure::new(Exit::Io, error))?;
        // events published before the agent's first subscription would have to be sent again
        let mut progress = agent.progress();
        let subscribed = progress.wait_for(|progress| progress.subscribed);
        // The value that `wait_for` returns holds a read lock on the agent's progress. It is
        // dropped at once: while it is held, every task of the agent that writes its progress
        // blocks a thread.
        let is_in_time = tokio::time::timeout(FIRST_CONTACT, subscribed).await.is_ok();
        tracing::debug!(is_in_time, "the agent listens");
        match Edge::start(edge, Arc::new(SystemClock)).await {
            Ok(edge) => Ok((agent, edge)),
            Err(error) => {
                // its own failure would hide why the edge does not start
                let _stopped = agent.stop().await;
                Err(Failure::new(Exit::Io, error).into())
            }
        }
    }

    /// Shows what happens until `stop` is cancelled. With `to_the_end` also ends when every source
    /// has ended, every event is stored and judged, and every notification is sent.
    pub(crate) async fn watch(&self, view: &mut View, stop: &CancellationToken, to_the_end: bool) {
        let mut live = self.agent.live();
        let mut look = tokio::time::interval(LOOK);
        let mut settled_for = Duration::ZERO;
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                happened = live.recv() => match happened {
                    Ok(happened) => show(view, happened),
                    Err(RecvError::Lagged(missed)) => {
                        view.say(&format!("({missed} lines left out: they came too fast)"));
                    }
                    Err(RecvError::Closed) => return,
                },
                _ = look.tick() => {
                    for (bearing, standing) in self.agent.standings().borrow().iter() {
                        view.seen(bearing, standing);
                    }
                    let now = self.summary();
                    view.progressed(now.edge.measured, now.agent.judged);
                    settled_for = if now.is_judged() { settled_for + LOOK } else { Duration::ZERO };
                    let sent = now.agent.unsent == 0 || settled_for > LAST_SENDING;
                    if to_the_end && now.is_judged() && sent && live.is_empty() {
                        return;
                    }
                }
            }
        }
    }

    /// The counters as they are now.
    pub(crate) fn summary(&self) -> Summary {
        Summary { edge: *self.edge.progress().borrow(), agent: *self.agent.progress().borrow() }
    }

    /// Stops the edge, then the agent, then the broker.
    ///
    /// The edge goes first, because it sends its spool while broker and agent still take events.
    /// The agent goes before the broker, because its last receipts and diagnoses need the broker.
    /// All three are stopped even if one had failed.
    ///
    /// # Errors
    /// The first part that had failed.
    pub(crate) async fn stop(self) -> anyhow::Result<Summary> {
        let edge = self.edge.stop().await;
        let agent = self.agent.stop().await;
        self.broker.stop().await;
        Ok(Summary { edge: edge?, agent: agent? })
    }
}

impl Summary {
    /// Whether every source has ended and the agent has stored and judged every event.
    fn is_judged(&self) -> bool {
        self.edge.ended && self.edge.unreceived == 0 && self.agent.unjudged == 0
    }
}

fn show(view: &mut View, happened: Live) {
    match happened {
        Live::Risk { bearing, now, .. } => view.stands(&bearing, &now),
        Live::Notified(notification) => view.notified(&notification),
    }
}
