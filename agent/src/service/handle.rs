//! A running agent: watch it, ask it, stop it. Stopping goes with the flow: intake first, then
//! judging, then the outbox, then what others call.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use pdm_knowledge::Knowledge;
use pdm_shared::id::BearingKey;
use pdm_tools::Runtime;
use tokio::sync::{broadcast, watch};
use tokio::task::JoinHandle;

use super::ServiceError;
use super::parts::Stops;
use crate::progress::{Live, Progress, Reporter, Standing};
use crate::store::Store;

/// A running agent.
#[derive(Debug)]
pub struct Handle {
    pub(super) stop: Stops,
    pub(super) tasks: Vec<(&'static str, JoinHandle<()>)>,
    pub(super) reporter: Reporter,
    pub(super) store: Arc<dyn Store>,
    pub(super) knowledge: Knowledge,
    pub(super) tools: Arc<Runtime>,
    pub(super) address: Option<SocketAddr>,
    pub(super) grace: Duration,
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

    /// What it looks up.
    pub const fn knowledge(&self) -> &Knowledge {
        &self.knowledge
    }

    /// The tools that it calls and serves.
    pub const fn tools(&self) -> &Arc<Runtime> {
        &self.tools
    }

    /// Where it serves HTTP.
    pub const fn address(&self) -> Option<SocketAddr> {
        self.address
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
        self.end(&["intake", "watchdog", "retention"], deadline, &mut failure).await;
        self.stop.drained.cancel();
        self.end(&["receiver"], deadline, &mut failure).await;
        self.stop.judging.cancel();
        self.stop.stored.notify_one();
        self.end(&["judging"], deadline, &mut failure).await;
        self.stop.outbox.cancel();
        self.end(&["outbox", "receipts"], deadline, &mut failure).await;
        self.stop.publisher.cancel();
        let last = deadline.max(tokio::time::Instant::now() + Duration::from_secs(2));
        self.end(&["publisher", "http", "knowledge", "tools"], last, &mut failure).await;
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
