//! A throw-away PostgreSQL cluster on a free port. PostgreSQL refuses root: there it runs as the
//! user `postgres` that its package makes.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::needs::{is_root, program};
use crate::process::{Child, free_port};
use crate::wait::until;

/// A running cluster with one superuser `pdm` and the database `postgres`.
#[derive(Debug)]
pub struct Postgres {
    child: Option<Child>,
    folder: TempDir,
    initdb: PathBuf,
    port: u16,
}

impl Postgres {
    /// Makes and starts a cluster, or notes that PostgreSQL is not installed.
    ///
    /// # Panics
    /// If it is installed but does not come up.
    pub fn start(test: &str) -> Option<Self> {
        // its companions stand beside the program itself, not beside a link to it
        let initdb = program(test, "initdb")?.canonicalize().expect("an existing program");
        let folder = tempfile::tempdir().expect("a temporary folder");
        if is_root() {
            let owned = Command::new("chown").arg("postgres").arg(folder.path()).status();
            assert!(owned.is_ok_and(|status| status.success()), "no user postgres");
        }
        let made = as_server_user(&initdb)
            .args(["-U", "pdm", "-A", "trust", "-E", "UTF8", "--no-sync", "-D"])
            .arg(folder.path().join("cluster"))
            .stdout(Stdio::null())
            .status();
        assert!(made.is_ok_and(|status| status.success()), "initdb failed");
        let mut server = Self { child: None, folder, initdb, port: free_port() };
        server.restart();
        Some(server)
    }

    /// The address for clients.
    pub fn url(&self) -> String {
        format!("postgres://pdm@127.0.0.1:{}/postgres", self.port)
    }

    /// `kill -9` of the whole cluster.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let pids = std::fs::read_to_string(self.cluster().join("postmaster.pid"));
            let pid = pids.unwrap_or_default().lines().next().unwrap_or_default().to_owned();
            let _children = Command::new("pkill").args(["-KILL", "-P", &pid]).status();
            let _server = Command::new("kill").args(["-KILL", &pid]).status();
            child.kill();
        }
    }

    /// Starts it (again) on the same port and folder.
    ///
    /// # Panics
    /// If it does not come up.
    pub fn restart(&mut self) {
        let log = std::fs::File::create(self.folder.path().join("log")).expect("log file");
        self.child = Some(Child::start(
            as_server_user(&self.initdb.with_file_name("postgres"))
                .arg("-D")
                .arg(self.cluster())
                .args(["-p", &self.port.to_string(), "-c", "listen_addresses=127.0.0.1"])
                .arg("-c")
                .arg(format!("unix_socket_directories={}", self.folder.path().display()))
                .stdout(Stdio::null())
                .stderr(log),
        ));
        let ready = self.initdb.with_file_name("pg_isready");
        let port = self.port.to_string();
        until("PostgreSQL to accept connections", 30, || {
            let asked = Command::new(&ready).args(["-q", "-h", "127.0.0.1", "-p", &port]).status();
            asked.is_ok_and(|status| status.success()).then_some(())
        });
    }

    fn cluster(&self) -> PathBuf {
        self.folder.path().join("cluster")
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.kill();
    }
}

fn as_server_user(program: &Path) -> Command {
    if is_root() {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
        command
    } else {
        Command::new(program)
    }
}
