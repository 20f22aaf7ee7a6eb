//! A task of the service that is waited for, together with the part that it is.
//!
//! A task is awaited through this type alone, so the service cannot stop without having named every
//! task whose end it must see: a task without an owner is a compiler warning, and a part that does
//! not exist is a compiler error.

use std::time::Duration;

use tokio::task::{JoinError, JoinHandle};

use super::failure::{EdgePart, Failure};
use crate::spool::SpoolError;

type TaskResult = Result<Result<(), SpoolError>, JoinError>;

/// A running task, and its result once it has ended.
#[derive(Debug)]
#[must_use = "a task that nobody waits for may be cut off in the middle of its work"]
pub(super) struct Task {
    part: EdgePart,
    handle: JoinHandle<Result<(), SpoolError>>,
    result: Option<TaskResult>,
}

impl Task {
    /// Starts a task.
    pub(super) fn spawn(
        part: EdgePart,
        work: impl Future<Output = Result<(), SpoolError>> + Send + 'static,
    ) -> Self {
        Self { part, handle: tokio::spawn(work), result: None }
    }

    /// Waits for the end; returns at once if the task has ended. The wait can be given up without
    /// losing the result, as `select!` needs.
    pub(super) async fn ended(&mut self) {
        if self.result.is_none() {
            // a second poll of an ended handle would panic: the result is kept at the first
            self.result = Some((&mut self.handle).await);
        }
    }

    /// Waits for the end, at most this long; true if the task has ended.
    pub(super) async fn ended_within(&mut self, limit: Duration) -> bool {
        tokio::time::timeout(limit, self.ended()).await.is_ok()
    }

    pub(super) const fn has_ended(&self) -> bool {
        self.result.is_some()
    }

    /// Ends the task where it stands.
    pub(super) fn cut_off(&self) {
        self.handle.abort();
    }

    /// Waits for the end and notes the task's failure, if it failed.
    pub(super) async fn join(mut self, failure: &Failure) {
        self.ended().await;
        match self.result {
            Some(Ok(Ok(()))) | None => {}
            Some(Ok(Err(error))) => failure.note(self.part, error.to_string()),
            Some(Err(error)) if error.is_cancelled() => {
                failure.note(self.part, "it did not end in time and was cut off");
            }
            Some(Err(error)) => failure.note(self.part, format!("it panicked: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_task_that_ended_can_be_waited_for_again_and_its_panic_is_a_failure() {
        let mut task = Task::spawn(EdgePart::Committing, async { panic!("a bug") });
        task.ended().await;
        assert!(task.has_ended() && task.ended_within(Duration::ZERO).await);
        let failure = Failure::default();
        task.join(&failure).await;
        let error = failure.first().expect("noted");
        assert_eq!(error.part, EdgePart::Committing);
        assert!(error.to_string().starts_with("the edge's part commit failed: it panicked"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_at_work_is_given_up_after_the_limit_and_goes_on() {
        let work = async { std::future::pending().await };
        let mut task = Task::spawn(EdgePart::Publishing, work);
        assert!(!task.ended_within(Duration::from_secs(1)).await);
        assert!(!task.has_ended());
    }
}
