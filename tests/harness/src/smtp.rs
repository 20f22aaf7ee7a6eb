//! A real SMTP server (Debian's `python3-aiosmtpd`) that stores received mails in a maildir.

use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::needs::not_run;
use crate::process::{Child, free_port};
use crate::wait::until;

/// A maildir that answers to some receivers as it is told.
const REFUSING: &str = r#"
from aiosmtpd.handlers import Mailbox

class Refusing(Mailbox):
    async def handle_RCPT(self, server, session, envelope, address, options):
        answer = ANSWERS.get(address)
        if answer is not None:
            return answer
        envelope.rcpt_tos.append(address)
        return "250 OK"
"#;

/// A running mail server.
#[derive(Debug)]
pub struct Smtp {
    child: Child,
    folder: TempDir,
    port: u16,
}

impl Smtp {
    /// Starts the server, or notes that it is not installed.
    ///
    /// # Panics
    /// If the server is installed but does not start.
    pub fn start(test: &str) -> Option<Self> {
        Self::start_with(test, &[])
    }

    /// Starts the server so that it accepts mail after STARTTLS only, with this certificate and
    /// key.
    ///
    /// # Panics
    /// If the server is installed but does not start.
    pub fn start_tls(test: &str, certificate: &Path, key: &Path) -> Option<Self> {
        let (certificate, key) = (certificate.display().to_string(), key.display().to_string());
        Self::start_with(test, &["--tlscert", &certificate, "--tlskey", &key])
    }

    /// Starts the server so that it takes no mail of more bytes (552, RFC 1870).
    ///
    /// # Panics
    /// If the server is installed but does not start.
    pub fn start_narrow(test: &str, bytes: u32) -> Option<Self> {
        Self::start_with(test, &["-s", &bytes.to_string()])
    }

    /// Starts the server so that it gives these answers to these receivers, such as
    /// `550 5.1.1 no such user`.
    ///
    /// # Panics
    /// If the server is installed but does not start.
    pub fn start_refusing(test: &str, answers: &[(&str, &str)]) -> Option<Self> {
        let mut server = Self::start_with(test, &[])?;
        let pairs: Vec<String> =
            answers.iter().map(|(address, answer)| format!("{address:?}: {answer:?}")).collect();
        let handler = REFUSING.replace("ANSWERS", &format!("{{{}}}", pairs.join(", ")));
        std::fs::write(server.folder.path().join("refusing.py"), handler).expect("the handler");
        server.port = free_port();
        server.child = Child::start(
            Command::new("/usr/bin/python3")
                .env("PYTHONPATH", server.folder.path())
                .args(["-m", "aiosmtpd", "-n", "-l", &format!("127.0.0.1:{}", server.port)])
                .args(["-c", "refusing.Refusing"])
                .arg(server.folder.path().join("mail"))
                .stderr(Stdio::null()),
        );
        until("the mail server to listen", 10, || {
            TcpStream::connect((Ipv4Addr::LOCALHOST, server.port)).ok()
        });
        Some(server)
    }

    fn start_with(test: &str, arguments: &[&str]) -> Option<Self> {
        let python = "/usr/bin/python3";
        let there =
            Command::new(python).args(["-c", "import aiosmtpd"]).stderr(Stdio::null()).status();
        if !there.is_ok_and(|status| status.success()) {
            not_run(test, "python3-aiosmtpd is not installed");
            return None;
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        let port = free_port();
        let child = Child::start(
            Command::new(python)
                .args(["-m", "aiosmtpd", "-n", "-l", &format!("127.0.0.1:{port}")])
                .args(arguments)
                .args(["-c", "aiosmtpd.handlers.Mailbox"])
                .arg(folder.path().join("mail"))
                .stderr(Stdio::null()),
        );
        until("the mail server to listen", 10, || {
            TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()
        });
        Some(Self { child, folder, port })
    }

    /// The server's port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The server's process, to be frozen and thawed.
    pub fn process(&self) -> &Child {
        &self.child
    }

    /// The mails received so far, raw.
    pub fn mails(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.folder.path().join("mail/new")) else {
            return Vec::new();
        };
        entries.flatten().filter_map(|entry| std::fs::read_to_string(entry.path()).ok()).collect()
    }
}
