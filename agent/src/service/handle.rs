//! A running agent: watch it, ask it, stop it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use pdm_knowledge::Knowledge;
use pdm_shared::id::BearingKey;
use pdm_store::{MissingRows, Store};
use pdm_tools::Runtime;
use tokio::sync::{broadcast, watch};
use tokio::time::{Instant, timeout_at};

use super::parts::StopSignals;
use super::sole::SoleUse;
use super::task::{RunningTask, STOP_ORDER, StopSignal, Task};
use super::{ServiceError, log};
use crate::notify::missing_rows_line;
use crate::notify::remarks::{Remark, Remarks};
use crate::progress::{Live, Progress, Reporter, Standing};
use crate::vitals::{Saying, Vitals};

/// How long the last stage may take even if the grace period is over: twice the second that the
/// publisher waits for the broker to close its side. Aborted before, it would break the connection
/// off.
const LAST_STAGE: Duration = Duration::from_secs(2);

/// A running agent.
#[derive(Debug)]
pub struct Handle {
    pub(super) stops: StopSignals,
    pub(super) tasks: Vec<RunningTask>,
    pub(super) reporter: Reporter,
    pub(super) remarks: Remarks,
    pub(super) store: Store,
    pub(super) knowledge: Knowledge,
    pub(super) tools: Arc<Runtime>,
    pub(super) address: Option<SocketAddr>,
    pub(super) grace: Duration,
    /// Kept until the store is closed.
    pub(super) sole: Option<SoleUse>,
}

/// Says in log, health and to staff that the store lacks what the agent wrote last.
pub(super) fn say_missing(missing: MissingRows, vitals: &Vitals, remarks: &Remarks) {
    log::rows_missing(&missing);
    vitals.says(Saying::Store, Some(missing_rows_line(&missing)));
    remarks.note(Remark::MissingRows(missing));
}

impl Handle {
    /// Counters, as they change.
    pub fn progress(&self) -> watch::Receiver<Progress> {
        self.reporter.progress()
    }

    /// The standing of every bearing that was judged since the start.
    pub fn standings(&self) -> watch::Receiver<BTreeMap<BearingKey, Standing>> {
        self.reporter.standings()
    }

    /// Changes of risk and notifications from now on.
    pub fn live(&self) -> broadcast::Receiver<Live> {
        self.reporter.live().subscribe()
    }

    /// Says in health, metrics and to staff that a configuration that was read again is refused,
    /// and why. It stands for as long as this agent runs: one that starts with another
    /// configuration has none.
    pub fn refuses_configuration(&self, why: &str) {
        log::configuration_refused();
        let said = format!("the new configuration is refused, the one of before stays: {why}");
        self.reporter.vitals().says(Saying::Configuration, Some(said));
        self.remarks.note(Remark::Configuration(why.to_owned()));
    }

    /// Says in log, health and to staff that the store lacks what the agent wrote last.
    pub(super) fn lacks_rows(&self, missing: MissingRows) {
        say_missing(missing, self.reporter.vitals(), &self.remarks);
    }

    /// The knowledge base.
    pub const fn knowledge(&self) -> &Knowledge {
        &self.knowledge
    }

    /// The tools that the agent calls and serves.
    pub const fn tools(&self) -> &Arc<Runtime> {
        &self.tools
    }

    /// The address on which the agent serves HTTP.
    pub const fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// A task that has ended although it was not told to: a bug. The caller stops the process.
    pub fn failed(&self) -> Option<&'static str> {
        self.tasks.iter().find(|one| one.handle.is_finished()).map(|one| one.task.as_str())
    }

    /// StopSignals the tasks stage by stage, in the order of the flow, within the grace period,
    /// then closes the store. A task that is still busy at the end of the period is aborted: what
    /// it had not finished is in the store or with the broker, and the next start goes on with it.
    ///
    /// # Errors
    /// [`ServiceError`] if a task had failed.
    pub async fn stop(mut self) -> Result<Progress, ServiceError> {
        let deadline = Instant::now() + self.grace;
        let mut failure = None;
        for stage in STOP_ORDER {
            self.stops.signal(stage.signal);
            let is_last = stage.signal == StopSignal::Publisher;
            let least = if is_last { Instant::now() + LAST_STAGE } else { deadline };
            for task in stage.tasks {
                // a failure does not end the stopping: the later stages still save what they hold
                failure = self.end(*task, deadline.max(least)).await.err().or(failure);
            }
        }
        // last, because every task above may write until it has ended
        self.store.close().await;
        let progress = *self.reporter.progress().borrow();
        failure.map_or(Ok(progress), Err)
    }

    /// Waits for the tasks of this name, and aborts those that are busy at the deadline.
    async fn end(&mut self, task: Task, deadline: Instant) -> Result<(), ServiceError> {
        let mut result = Ok(());
        for running in self.tasks.iter_mut().filter(|one| one.task == task) {
            match timeout_at(deadline, &mut running.handle).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => {
                    result = Err(ServiceError { part: task.as_str(), reason: error.to_string() });
                }
                Err(_elapsed) => {
                    log::task_still_busy(task.as_str());
                    running.handle.abort();
                }
            }
        }
        result
    }
}
