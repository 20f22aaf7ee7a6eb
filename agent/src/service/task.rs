//! The tasks of a running agent by type, and the order in which they are stopped.
//!
//! A task is spawned under a [`Task`], and a test holds [`STOP_ORDER`] to name each of them once.
//! So a task that nobody stops or waits for does not compile or does not pass.

use tokio::task::JoinHandle;

/// A task of the agent. Several lanes of the outbox run under one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    Receiver,
    Intake,
    Receipts,
    Judging,
    Opinions,
    Watchdog,
    Retention,
    Outbox,
    Publisher,
    Http,
    Knowledge,
    Tools,
}

impl Task {
    /// All of them.
    #[cfg(test)]
    const ALL: [Self; 12] = [
        Self::Receiver,
        Self::Intake,
        Self::Receipts,
        Self::Judging,
        Self::Opinions,
        Self::Watchdog,
        Self::Retention,
        Self::Outbox,
        Self::Publisher,
        Self::Http,
        Self::Knowledge,
        Self::Tools,
    ];

    /// The name in logs and errors.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Receiver => "receiver",
            Self::Intake => "intake",
            Self::Receipts => "receipts",
            Self::Judging => "judging",
            Self::Opinions => "opinions",
            Self::Watchdog => "watchdog",
            Self::Retention => "retention",
            Self::Outbox => "outbox",
            Self::Publisher => "publisher",
            Self::Http => "http",
            Self::Knowledge => "knowledge",
            Self::Tools => "tools",
        }
    }
}

/// A task that runs.
#[derive(Debug)]
pub(super) struct RunningTask {
    pub(super) task: Task,
    pub(super) handle: JoinHandle<()>,
}

/// A stage of stopping: the signal that is given first, and the tasks that are waited for after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StopStage {
    pub(super) signal: StopSignal,
    pub(super) tasks: &'static [Task],
}

/// The signal that ends the tasks of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StopSignal {
    /// Take nothing in any more.
    Intake,
    /// Everything that was taken in is stored and acknowledged.
    Drained,
    /// Judge what is left, then end.
    Judging,
    /// Send what is left, then end.
    Outbox,
    /// End at once.
    Publisher,
}

/// The stages in their order, which is the order of the flow: each stage ends with an empty queue
/// before the next one is told to end, so nothing that was taken in is left half done.
pub(super) const STOP_ORDER: [StopStage; 5] = [
    // the receiver drops its end of the queue, and the intake ends when it has stored the rest; the
    // watchdog and the retention write by themselves and have no queue
    StopStage {
        signal: StopSignal::Intake,
        tasks: &[Task::Intake, Task::Watchdog, Task::Retention],
    },
    // the receiver outlives the intake: its connection carries the acknowledgements of what was
    // just stored, and the broker would send those messages again
    StopStage { signal: StopSignal::Drained, tasks: &[Task::Receiver] },
    // an opinion that is under way goes on at the next start: nobody waits for a model
    StopStage { signal: StopSignal::Judging, tasks: &[Task::Judging, Task::Opinions] },
    // receipts end with the outbox: the last one covers what the intake stored at the end
    StopStage { signal: StopSignal::Outbox, tasks: &[Task::Outbox, Task::Receipts] },
    // the publisher carries the outbox and the receipts, so it ends after both; HTTP, knowledge
    // base and tools serve the judging until here
    StopStage {
        signal: StopSignal::Publisher,
        tasks: &[Task::Publisher, Task::Http, Task::Knowledge, Task::Tools],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_is_waited_for_once() {
        let waited: Vec<Task> = STOP_ORDER.iter().flat_map(|stage| stage.tasks).copied().collect();
        assert_eq!(waited.len(), Task::ALL.len());
        for task in Task::ALL {
            assert!(waited.contains(&task), "{} is never waited for", task.as_str());
        }
    }

    #[test]
    fn stopping_follows_the_flow() {
        let place = |task: Task| STOP_ORDER.iter().position(|stage| stage.tasks.contains(&task));
        let flow = [Task::Intake, Task::Receiver, Task::Judging, Task::Outbox, Task::Publisher];
        assert!(flow.windows(2).all(|pair| place(pair[0]) < place(pair[1])));
    }
}
