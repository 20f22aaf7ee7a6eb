//! Child processes that end with the test, and free ports.

use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicU32, Ordering};

/// Ports for servers: below those that the system gives to clients (32768 and up on Linux), as one of
/// these may be taken by a connection while its server is down.
const PORTS: std::ops::Range<u16> = 10_000..32_000;

/// A port on loopback that was free a moment ago; each process begins elsewhere and goes on from there.
///
/// # Panics
/// If the machine has none.
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
/// If it was not built: run `cargo build --workspace --bins` first, as the test command does.
pub fn binary(name: &str) -> PathBuf {
    let own = std::env::current_exe().expect("the own path");
    // a program stands in target/<profile>, a test in target/<profile>/deps
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
    /// If it cannot be started.
    pub fn start(command: &mut Command) -> Self {
        Self(command.spawn().unwrap_or_else(|error| panic!("cannot start {command:?}: {error}")))
    }

    /// Its process number.
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// `kill -9`, and waits until it is gone.
    pub fn kill(&mut self) {
        // already gone is as good as killed
        let _gone = self.0.kill();
        let _reaped = self.0.wait();
    }

    /// Asks it to end (SIGTERM) and waits for it.
    ///
    /// # Panics
    /// If it cannot be waited for.
    pub fn terminate(&mut self) -> ExitStatus {
        self.signal("-TERM");
        self.wait()
    }

    /// Interrupts it (SIGINT) and waits for it.
    ///
    /// # Panics
    /// If it cannot be waited for.
    pub fn interrupt(&mut self) -> ExitStatus {
        self.signal("-INT");
        self.wait()
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// If it cannot be waited for.
    pub fn wait(&mut self) -> ExitStatus {
        self.0.wait().expect("the child can be waited for")
    }

    /// Stops it in its tracks (SIGSTOP) until [`Self::thaw`]: it neither works nor closes anything.
    pub fn freeze(&self) {
        self.signal("-STOP");
    }

    /// Lets it go on (SIGCONT).
    pub fn thaw(&self) {
        self.signal("-CONT");
    }

    /// Tells it to read its configuration again (SIGHUP).
    pub fn hang_up(&self) {
        self.signal("-HUP");
    }

    fn signal(&self, signal: &str) {
        // one that is gone already needs no signal
        let _gone = Command::new("kill").args([signal, &self.0.id().to_string()]).status();
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.0.try_wait().ok().flatten()
    }

    /// Whether it still runs.
    pub fn is_running(&mut self) -> bool {
        matches!(self.0.try_wait(), Ok(None))
    }

    /// The child itself, for its pipes.
    pub fn inner(&mut self) -> &mut std::process::Child {
        &mut self.0
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}
