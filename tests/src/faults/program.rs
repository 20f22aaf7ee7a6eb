//! A program under test: started, killed, frozen, started again when it gave up by itself, as an init
//! system does.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use pdm_harness::{Child, WallClock};

/// Pause before a program that gave up is started again.
const AGAIN_AFTER: Duration = Duration::from_millis(200);

/// Exit codes of a program that could not reach what it needs: it is started again and may do so.
const MAY_END_WITH: [i32; 2] = [69, 74];

/// One program and its life so far.
#[derive(Debug)]
pub struct Program {
    name: String,
    command: Option<Command>,
    log: PathBuf,
    child: Option<Child>,
    /// It is meant to run: not killed and not stopped.
    wanted: bool,
    due: Option<Instant>,
    kills: usize,
    ended: Vec<ExitStatus>,
}

impl Program {
    /// A program that logs to `<name>.log` in `folder`.
    pub fn new(name: &str, folder: &Path) -> Self {
        Self {
            name: name.to_owned(),
            command: None,
            log: folder.join(format!("{name}.log")),
            child: None,
            wanted: false,
            due: None,
            kills: 0,
            ended: Vec::new(),
        }
    }

    /// How it is started, and the clock it lives by.
    pub fn set(&mut self, mut command: Command, clock: Option<&WallClock>) {
        if let Some(clock) = clock {
            clock.apply(&mut command);
        }
        command.stdout(Stdio::null()).env("PDM_LOG", "info").env("NO_COLOR", "1");
        self.command = Some(command);
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Starts it.
    ///
    /// # Panics
    /// If it cannot be started at all.
    pub fn start(&mut self) {
        let log = std::fs::File::options().create(true).append(true).open(&self.log);
        let command = self.command.as_mut().expect("it was said how it is started");
        self.child = Some(Child::start(command.stderr(log.expect("a log file"))));
        self.wanted = true;
        self.due = None;
    }

    /// `kill -9`.
    pub fn kill(&mut self) {
        self.tend();
        self.wanted = false;
        if let Some(mut child) = self.child.take() {
            child.kill();
        }
        self.kills += 1;
    }

    /// SIGSTOP.
    pub fn freeze(&self) {
        if let Some(child) = &self.child {
            child.freeze();
        }
    }

    /// SIGCONT.
    pub fn thaw(&self) {
        if let Some(child) = &self.child {
            child.thaw();
        }
    }

    /// Looks whether it has ended by itself; starts it again after a little while.
    pub fn tend(&mut self) {
        if let Some(child) = &mut self.child
            && let Some(status) = child.ended()
        {
            self.child = None;
            if self.wanted {
                self.ended.push(status);
                self.due = Some(Instant::now() + AGAIN_AFTER);
            }
        }
        if self.wanted && self.due.is_some_and(|due| due <= Instant::now()) {
            self.start();
        }
    }

    /// SIGTERM, and waits for its end.
    pub fn stop(&mut self) {
        self.tend();
        self.wanted = false;
        if let Some(mut child) = self.child.take() {
            let status = child.terminate();
            if !status.success() {
                self.ended.push(status);
            }
        }
    }

    /// How often it was killed.
    pub const fn kills(&self) -> usize {
        self.kills
    }

    /// The ends that may be, and those that must not: other exit codes, signals, panics in the log.
    pub fn ends(&self) -> (Vec<String>, Vec<String>) {
        let tell = |status: &ExitStatus| format!("{} ended by itself: {status}", self.name);
        let may = |status: &&ExitStatus| status.code().is_some_and(|c| MAY_END_WITH.contains(&c));
        let (good, bad): (Vec<_>, Vec<_>) = self.ended.iter().partition(may);
        let mut bad: Vec<String> = bad.into_iter().map(tell).collect();
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let panics = log.lines().filter(|line| line.contains("panicked"));
        bad.extend(panics.map(|line| format!("{}: {line}", self.name)));
        (good.into_iter().map(tell).collect(), bad)
    }
}
