//! A temporary PostgreSQL cluster on a free port. PostgreSQL refuses to run as root, so under root
//! the cluster runs as the user `postgres` of its package.

use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::needs::{is_root, program};
use crate::process::{Child, free_port};

/// Longest duration of a start, including the recovery after a kill.
const PATIENCE: Duration = Duration::from_secs(30);

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
    /// If PostgreSQL is installed but does not start.
    pub fn start(test: &str) -> Option<Self> {
        // the companion programs are beside the program itself, not beside a link to it
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

    /// Makes and starts a cluster that uses TLS with this certificate and key. With an authority,
    /// clients must present a certificate of that authority with the name `pdm`.
    ///
    /// # Panics
    /// If PostgreSQL is installed but does not start.
    pub fn start_tls(
        test: &str,
        certificate: &Path,
        key: &Path,
        clients: Option<&Path>,
    ) -> Option<Self> {
        let mut server = Self::start(test)?;
        server.stop();
        let cluster = server.cluster();
        for (name, file) in [("server.crt", certificate), ("server.key", key)] {
            let place = cluster.join(name);
            std::fs::copy(file, &place).expect("copies");
            std::fs::set_permissions(&place, Permissions::from_mode(0o600)).expect("permissions");
            if is_root() {
                let owned = Command::new("chown").arg("postgres").arg(&place).status();
                assert!(owned.is_ok_and(|status| status.success()), "chown {}", place.display());
            }
        }
        let mut lines = "ssl = on\n".to_owned();
        if let Some(authority) = clients {
            std::fs::copy(authority, cluster.join("clients.crt")).expect("copies");
            lines.push_str("ssl_ca_file = 'clients.crt'\n");
            let rule = "hostssl all pdm 127.0.0.1/32 cert\n";
            std::fs::write(cluster.join("pg_hba.conf"), rule).expect("writes");
        }
        let configuration = std::fs::File::options()
            .append(true)
            .open(cluster.join("postgresql.conf"))
            .and_then(|mut file| file.write_all(lines.as_bytes()));
        configuration.expect("writes");
        server.restart();
        Some(server)
    }

    /// The address for clients.
    pub fn url(&self) -> String {
        format!("postgres://pdm@127.0.0.1:{}/postgres", self.port)
    }

    /// Kills all processes of the cluster with SIGKILL.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            // stopped first, so that the server starts no process while the others are killed: a
            // survivor would prevent the next start
            child.freeze();
            let pid = child.id().to_string();
            let _children = Command::new("pkill").args(["-KILL", "-P", &pid]).status();
            child.kill();
        }
    }

    /// Stops all processes of the cluster with SIGSTOP until [`Self::thaw`]: connections stay open
    /// and nothing is answered.
    pub fn freeze(&self) {
        if let Some(child) = &self.child {
            // first, so that the server starts no process while the others are stopped
            child.freeze();
            self.signal_children("-STOP");
        }
    }

    /// Continues the processes of the cluster with SIGCONT.
    pub fn thaw(&self) {
        if let Some(child) = &self.child {
            self.signal_children("-CONT");
            child.thaw();
        }
    }

    fn signal_children(&self, signal: &str) {
        if let Some(child) = &self.child {
            let _done =
                Command::new("pkill").args([signal, "-P", &child.id().to_string()]).status();
        }
    }

    /// Stops the cluster without waiting for clients (SIGINT, "fast"): open transactions are rolled
    /// back and sessions are closed. The cluster stays down.
    pub fn stop(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.interrupt();
        }
    }

    /// The cluster's port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The cluster's log so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Restarts the cluster as a standby without a primary: it answers questions and takes no row
    /// until `pg_promote()`.
    ///
    /// # Panics
    /// If the cluster does not start.
    pub fn restart_as_standby(&mut self) {
        self.stop();
        let signal = self.cluster().join("standby.signal");
        std::fs::write(&signal, "").expect("writes");
        if is_root() {
            let owned = Command::new("chown").arg("postgres").arg(&signal).status();
            assert!(owned.is_ok_and(|status| status.success()), "chown {}", signal.display());
        }
        self.restart();
    }

    /// Restarts the cluster so that this role has to give its password; the others stay trusted.
    ///
    /// # Panics
    /// If the cluster does not start.
    pub fn restart_with_passwords_for(&mut self, role: &str) {
        self.stop();
        let rules = format!(
            "host all {role} 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n"
        );
        std::fs::write(self.cluster().join("pg_hba.conf"), rules).expect("writes");
        self.restart();
    }

    /// Starts the cluster on the same port and folder, if it is down. The start is repeated if it
    /// fails at once, as it does while killed processes still exist.
    ///
    /// # Panics
    /// If the cluster does not start, with the end of its log.
    pub fn restart(&mut self) {
        let ready = self.initdb.with_file_name("pg_isready");
        let port = self.port.to_string();
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            if !self.child.as_mut().is_some_and(Child::is_running) {
                self.child = Some(self.begin());
            }
            let asked = Command::new(&ready).args(["-q", "-h", "127.0.0.1", "-p", &port]).status();
            if asked.is_ok_and(|status| status.success()) {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        let log = self.log();
        let lines: Vec<&str> = log.lines().rev().take(20).collect();
        panic!("PostgreSQL does not come up; its last words, the last one first: {lines:#?}");
    }

    fn begin(&self) -> Child {
        let log = std::fs::File::options()
            .create(true)
            .append(true)
            .open(self.folder.path().join("log"))
            .expect("log file");
        Child::start(
            as_server_user(&self.initdb.with_file_name("postgres"))
                .arg("-D")
                .arg(self.cluster())
                .args(["-p", &self.port.to_string(), "-c", "listen_addresses=127.0.0.1"])
                .arg("-c")
                .arg(format!("unix_socket_directories={}", self.folder.path().display()))
                .stdout(Stdio::null())
                .stderr(log),
        )
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
