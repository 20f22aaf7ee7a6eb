//! Child processes that end with the test, and free ports.

use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicU32, Ordering};

/// Ports for servers, below those that the system gives to clients (32768 and above on Linux): a
/// connection could take one of these while its server is down.
const PORTS: std::ops::Range<u16> = 10_000..32_000;

/// A port on loopback that is free now; each process begins at another port and counts upwards.
///
/// # Panics
/// If no port is free.
pub fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let count = u32::from(PORTS.end - PORTS.start);
    let begin = std::process::id().wrapping_mul(97);
    (0..count)
        .map(|_| begin.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % count)
        .map(|offset| PORTS.start + offset as u16)
        .find(|&port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok())
        .expect("a free port on loopback")
}

/// The path of one of the workspace's programs, beside the running program or test.
///
/// # Panics
/// If the program was not built: run `cargo build --workspace --bins` first, as the test command
/// does.
pub fn binary(name: &str) -> PathBuf {
    let own = std::env::current_exe().expect("the own path");
    // programs are in target/<profile>, tests in target/<profile>/deps
    let mut folder = own.parent().expect("a folder");
    if folder.ends_with("deps") {
        folder = folder.parent().expect("target/<profile>");
    }
    let path = folder.join(name);
    assert!(path.is_file(), "{} is not built: cargo build --workspace --bins", path.display());
    path
}

/// A child process, killed when dropped.
#[derive(Debug)]
pub struct Child(std::process::Child);

impl Child {
    /// Starts `command`.
    ///
    /// # Panics
    /// If the command cannot be started.
    pub fn start(command: &mut Command) -> Self {
        Self(command.spawn().unwrap_or_else(|error| panic!("cannot start {command:?}: {error}")))
    }

    /// Takes the standard output of the process, once; `None` unless its command pipes it.
    pub fn output(&mut self) -> Option<std::process::ChildStdout> {
        self.0.stdout.take()
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// Kills the process with SIGKILL and waits until it is gone.
    pub fn kill(&mut self) {
        // an error means that the process is already gone
        let _gone = self.0.kill();
        let _reaped = self.0.wait();
    }

    /// Sends SIGTERM and waits for the end.
    ///
    /// # Panics
    /// If the wait fails.
    pub fn terminate(&mut self) -> ExitStatus {
        self.signal("-TERM");
        self.wait()
    }

    /// Sends SIGINT and waits for the end.
    ///
    /// # Panics
    /// If the wait fails.
    pub fn interrupt(&mut self) -> ExitStatus {
        self.signal("-INT");
        self.wait()
    }

    /// Waits for the end of the process.
    ///
    /// # Panics
    /// If the wait fails.
    pub fn wait(&mut self) -> ExitStatus {
        self.0.wait().expect("the child can be waited for")
    }

    /// Stops the process with SIGSTOP until [`Self::thaw`]: meanwhile it does not work and closes
    /// nothing.
    pub fn freeze(&self) {
        self.signal("-STOP");
    }

    /// Continues the process with SIGCONT.
    pub fn thaw(&self) {
        self.signal("-CONT");
    }

    /// Sends SIGHUP, upon which a server reads its configuration again.
    pub fn hang_up(&self) {
        self.signal("-HUP");
    }

    fn signal(&self, signal: &str) {
        // a process that is already gone needs no signal
        let _gone = Command::new("kill").args([signal, &self.0.id().to_string()]).status();
    }

    /// The exit status, if the process has ended.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.0.try_wait().ok().flatten()
    }

    /// Whether the process still runs.
    pub fn is_running(&mut self) -> bool {
        matches!(self.0.try_wait(), Ok(None))
    }

    /// The inner child process, for its pipes.
    pub fn inner(&mut self) -> &mut std::process::Child {
        &mut self.0
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}
