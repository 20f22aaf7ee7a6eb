//! The programs as they are installed: configurations in a temporary folder, a log, and HTTP by
//! hand, since a client library would not send what an attacker sends.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use pdm_harness::{Child, binary, free_port, until};

/// The token of the servers of these tests.
pub(crate) const TOKEN: &str = "a token of sixteen";

/// A folder with the configuration of every program.
pub(crate) struct Plant {
    pub(crate) folder: tempfile::TempDir,
    /// Port of the agent's HTTP server.
    pub(crate) agent: u16,
    /// Port of the edge's HTTP server.
    pub(crate) edge: u16,
    /// Port of the broker, where nobody listens unless `pdm up` runs.
    pub(crate) broker: u16,
}

impl Plant {
    /// `agent` and `edge` are more lines of the two configurations.
    pub(crate) fn new(agent: &str, edge: &str) -> Self {
        let plant = Self {
            folder: tempfile::tempdir().expect("a folder"),
            agent: free_port(),
            edge: free_port(),
            broker: free_port(),
        };
        plant.write("token", TOKEN.as_bytes());
        plant.configure_agent(agent);
        let text = format!(
            "gateway_id = \"gw-01\"\nsite = \"s\"\n[broker]\naddresses = [\"127.0.0.1:{}\"]\n\
             [spool]\npath = \"edge.db\"\n[admin]\nlisten = \"127.0.0.1:{}\"\n{edge}\n",
            plant.broker, plant.edge
        );
        plant.write("edge.toml", text.as_bytes());
        plant
    }

    /// Writes `agent.toml` with more lines.
    pub(crate) fn configure_agent(&self, more: &str) {
        let text = format!(
            "[store]\nsqlite = \"agent.db\"\n[broker]\naddresses = [\"127.0.0.1:{}\"]\n\
             [http]\nlisten = \"127.0.0.1:{}\"\n{more}\n",
            self.broker, self.agent
        );
        self.write("agent.toml", text.as_bytes());
    }

    /// The line that sets the token.
    pub(crate) fn token(&self) -> String {
        format!("token = {{ file = {:?} }}\n", self.path("token").display().to_string())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: &[u8]) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, content).expect("written");
    }

    /// A command of a program with its configuration.
    pub(crate) fn command(&self, program: &str, command: &str) -> Command {
        let mut started = Command::new(binary(program));
        started.arg(command).current_dir(self.folder.path()).env("PDM_LOG", "info,mqtt5=error");
        match program {
            "pdm" => started.args(["--config"]).arg(self.folder.path()),
            "pdm-edge" => started.args(["--config", "edge.toml"]),
            _ => started.args(["--config", "agent.toml"]),
        };
        started
    }

    /// Starts a program with its log in a file; waits until `port` answers.
    pub(crate) fn start(&self, mut command: Command, port: u16) -> Child {
        let log = File::create(self.path("log")).expect("a log");
        let mut child = Child::start(command.stdout(Stdio::null()).stderr(log));
        until("the program to answer", 60, || {
            assert!(child.is_running(), "the program ended: {}", self.log());
            get(port, "/healthz")
        });
        child
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.path("log")).unwrap_or_default()
    }
}

/// `command` with the limit of open files of a usual shell.
pub(crate) fn with_few_files(command: &Command) -> Command {
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -n 1024 && exec \"$@\"", "sh"]);
    limited.arg(command.get_program()).args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        limited.current_dir(folder);
    }
    for (name, value) in command.get_envs() {
        limited.env(name, value.unwrap_or_default());
    }
    limited
}

/// The answer to a GET, or `None` if there is none within five seconds.
pub(crate) fn get(port: u16, path: &str) -> Option<String> {
    ask(port, &format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"), b"")
}

/// The answer to a GET with a token.
pub(crate) fn get_as(port: u16, path: &str, token: &str) -> Option<String> {
    let head = format!(
        "GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n\
         Connection: close\r\n\r\n"
    );
    ask(port, &head, b"")
}

/// The answer to a POST with the token, if one is given.
pub(crate) fn post(port: u16, path: &str, token: Option<&str>, body: &[u8]) -> Option<String> {
    let bearer = token.map(|token| format!("Authorization: Bearer {token}\r\n"));
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{}Content-Length: {}\r\nConnection: \
         close\r\n\r\n",
        bearer.unwrap_or_default(),
        body.len()
    );
    ask(port, &head, body)
}

fn ask(port: u16, head: &str, body: &[u8]) -> Option<String> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()?;
    let patience = if body.is_empty() { Duration::from_secs(5) } else { Duration::from_secs(90) };
    stream.set_read_timeout(Some(patience)).expect("a limit");
    stream.write_all(head.as_bytes()).ok()?;
    // a server that refuses early closes before it has read everything
    let _refused = stream.write_all(body);
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    (read.is_ok() || !answer.is_empty())
        .then(|| String::from_utf8_lossy(&answer).into_owned())
        .filter(|answer| !answer.is_empty())
}

/// Returns the output of a command.
pub(crate) fn shown(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}{}", text(&output.stdout), text(&output.stderr))
}

/// Connections that send `begun` and nothing more.
pub(crate) fn half_connections(port: u16, count: usize, begun: &[u8]) -> Vec<TcpStream> {
    let mut open = Vec::new();
    for _ in 0..count {
        // refused ones are not the claim: the attacker has as many as it gets
        let Ok(mut stream) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) else { continue };
        let _closed = stream.write_all(begun);
        open.push(stream);
    }
    open
}

/// Bytes of a file.
pub(crate) fn length(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |about| about.len())
}
