//! A program under test: started, killed, frozen, and restarted when it ends by itself, as an init
//! system does.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use pdm_harness::{Child, WallClock};

/// Pause before a program that ended by itself is restarted.
const AGAIN_AFTER: Duration = Duration::from_millis(200);

/// Allowed exit codes of a program that could not reach a resource; it is restarted.
const MAY_END_WITH: [i32; 2] = [69, 74];

/// One program and its history.
#[derive(Debug)]
pub struct Program {
    name: String,
    command: Option<Command>,
    log: PathBuf,
    child: Option<Child>,
    /// Whether the program should run: it was neither killed nor stopped.
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

    /// Sets the command that starts the program, and its clock.
    pub fn set(&mut self, mut command: Command, clock: Option<&WallClock>) {
        if let Some(clock) = clock {
            clock.apply(&mut command);
        }
        command.stdout(Stdio::null()).env("PDM_LOG", "info").env("NO_COLOR", "1");
        self.command = Some(command);
    }

    /// The program's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Starts the program.
    ///
    /// # Panics
    /// If the program cannot be started.
    pub fn start(&mut self) {
        let log = std::fs::File::options().create(true).append(true).open(&self.log);
        let command = self.command.as_mut().expect("it was said how it is started");
        self.child = Some(Child::start(command.stderr(log.expect("a log file"))));
        self.wanted = true;
        self.due = None;
    }

    /// Kills the program with SIGKILL.
    pub fn kill(&mut self) {
        self.tend();
        self.wanted = false;
        if let Some(mut child) = self.child.take() {
            child.kill();
        }
        self.kills += 1;
    }

    /// Freezes the program with SIGSTOP.
    pub fn freeze(&self) {
        if let Some(child) = &self.child {
            child.freeze();
        }
    }

    /// Continues the program with SIGCONT.
    pub fn thaw(&self) {
        if let Some(child) = &self.child {
            child.thaw();
        }
    }

    /// Restarts the program after a short pause if it has ended by itself.
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

    /// Stops the program with SIGTERM and waits for its end.
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

    /// Number of kills.
    pub const fn kills(&self) -> usize {
        self.kills
    }

    /// The allowed ends, and the forbidden ones: other exit codes, signals, panics in the log.
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
