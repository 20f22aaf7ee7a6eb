//! Broker, agent and edge joined in one process: started in the order in which data is taken,
//! stopped in the order in which it is given.

use std::sync::Arc;
use std::time::Duration;

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

/// How often counters are looked at. Chosen: ten times a second is what an eye follows.
const LOOK: Duration = Duration::from_millis(100);

/// How long staff's last notifications may take after everything is judged, before `--exit` ends
/// all the same. Chosen: a mail server that is slow answers within this.
const LAST_SENDING: Duration = Duration::from_secs(30);

/// How long the edge waits for the agent's first subscription. Without it nothing is lost, only
/// sent twice. Chosen: a local broker answers within milliseconds.
const FIRST_CONTACT: Duration = Duration::from_secs(5);

/// The three settings of a chain.
#[derive(Debug)]
pub(crate) struct ChainSettings {
    /// The embedded broker.
    pub(crate) broker: BrokerSettings,
    /// The agent; its broker address is replaced by the embedded one.
    pub(crate) agent: AgentSettings,
    /// The edge; likewise.
    pub(crate) edge: EdgeSettings,
}

/// A running chain.
#[derive(Debug)]
pub(crate) struct Chain {
    broker: Broker,
    agent: pdm_agent::service::Handle,
    edge: pdm_edge::pipeline::Handle,
}

/// What a run came to.
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
    /// Starts broker, agent, edge.
    ///
    /// # Errors
    /// What did not start, with its exit code.
    pub(crate) async fn start(settings: ChainSettings) -> anyhow::Result<Self> {
        let ChainSettings { broker, mut agent, mut edge } = settings;
        let broker =
            Broker::start(broker).await.map_err(|error| Failure::new(Exit::Unavailable, error))?;
        let address = broker.address();
        // the embedded broker speaks plain MQTT on this machine, whatever the files say
        let embedded = BrokerAddress { host: address.ip().to_string(), port: address.port() };
        agent.broker.addresses = vec![embedded.clone()];
        agent.broker.tls = None;
        agent.broker.login = None;
        edge.broker.addresses = vec![embedded];
        edge.broker.tls = None;
        edge.broker.login = None;
        let agent = Agent::start(agent, Arc::new(SystemClock))
            .await
            .map_err(|error| Failure::new(Exit::Io, error))?;
        // what is published before the agent's first subscription would have to be asked for again
        let mut progress = agent.progress();
        let subscribed = progress.wait_for(|progress| progress.subscribed);
        // what is waited for must be let go of at once: it locks the agent's progress as long as it
        // is held, and the agent's tasks would wait for it on every thread there is
        let is_in_time = tokio::time::timeout(FIRST_CONTACT, subscribed).await.is_ok();
        tracing::debug!(is_in_time, "the agent listens");
        let edge = Edge::start(edge, Arc::new(SystemClock))
            .await
            .map_err(|error| Failure::new(Exit::Io, error))?;
        Ok(Self { broker, agent, edge })
    }

    /// Shows what happens until `stop`, or, where `to_the_end`, until every source has ended and
    /// everything is stored, judged and sent.
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

    /// How far it is.
    pub(crate) fn summary(&self) -> Summary {
        Summary { edge: *self.edge.progress().borrow(), agent: *self.agent.progress().borrow() }
    }

    /// Stops edge, agent, broker, each draining into the next.
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
    /// Every source has ended, and the agent has stored and judged all of it.
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
