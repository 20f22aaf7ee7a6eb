//! A real Mosquitto on a free port in a temporary folder.

use std::fmt::Write;
use std::net::{Ipv4Addr, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::needs::program;
use crate::process::{Child, free_port};
use crate::wait::until;

/// The persistence of sessions, queues and retained messages over a restart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Persistence {
    /// Every change is written at once, with all earlier ones: safe, and slow with a backlog.
    Disk,
    /// Changes are written once a second: `kill -9` loses acknowledged messages of the last second.
    EverySecond,
    /// Nothing is written: a restart loses all state.
    Memory,
}

/// A running broker.
#[derive(Debug)]
pub struct Mosquitto {
    program: PathBuf,
    folder: TempDir,
    port: u16,
    child: Option<Child>,
}

impl Mosquitto {
    /// Starts a broker that any client on loopback may use.
    pub fn start(test: &str, persistence: Persistence) -> Option<Self> {
        Self::start_with(test, persistence, "allow_anonymous true\n")
    }

    /// Starts a broker with `lines` added to its configuration.
    ///
    /// # Panics
    /// If Mosquitto is installed but does not start.
    pub fn start_with(test: &str, persistence: Persistence, lines: &str) -> Option<Self> {
        let program = program(test, "mosquitto")?;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let port = free_port();
        let mut text = format!("listener {port} 127.0.0.1\nmax_queued_messages 0\n{lines}");
        if crate::needs::is_root() {
            text.push_str("user root\n");
        }
        if persistence != Persistence::Memory {
            let place = folder.path().display();
            let each_change = persistence == Persistence::Disk;
            let _infallible = writeln!(
                text,
                "persistence true\npersistence_location {place}/\n\
                 autosave_on_changes {each_change}\nautosave_interval 1"
            );
        }
        std::fs::write(folder.path().join("mosquitto.conf"), text).expect("configuration");
        let mut broker = Self { program, folder, port, child: None };
        broker.restart();
        Some(broker)
    }

    /// Starts a broker on `port` with this configuration and no other line.
    ///
    /// # Panics
    /// If Mosquitto is installed but does not start.
    pub fn start_configured(test: &str, configuration: &str, port: u16) -> Option<Self> {
        let program = program(test, "mosquitto")?;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let text = if crate::needs::is_root() {
            format!("{configuration}\nuser root\n")
        } else {
            configuration.to_owned()
        };
        std::fs::write(folder.path().join("mosquitto.conf"), text).expect("configuration");
        let mut broker = Self { program, folder, port, child: None };
        broker.restart();
        Some(broker)
    }

    /// The broker's port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Kills the broker with SIGKILL.
    pub fn kill(&mut self) {
        self.child = None;
    }

    /// Stops the broker with SIGTERM, so that it saves its state.
    pub fn stop(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.terminate();
        }
    }

    /// Starts the broker again on the same port and folder (after [`Self::kill`] or
    /// [`Self::stop`]).
    ///
    /// # Panics
    /// If the broker does not start.
    pub fn restart(&mut self) {
        let log = std::fs::File::options()
            .create(true)
            .append(true)
            .open(self.folder.path().join("log"))
            .expect("log file");
        self.child = Some(Child::start(
            Command::new(&self.program)
                .arg("-c")
                .arg(self.folder.path().join("mosquitto.conf"))
                .stdout(Stdio::null())
                .stderr(log),
        ));
        let port = self.port;
        until("mosquitto to listen", 10, || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok());
    }

    /// The broker's process; `None` while the broker is down.
    pub fn process(&self) -> Option<&Child> {
        self.child.as_ref()
    }

    /// The broker's log so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }
}
