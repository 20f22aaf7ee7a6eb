//! An HTTPS server (Python's own) that stores received posts.

use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::needs::program;
use crate::process::{Child, free_port};
use crate::wait::until;

const SCRIPT: &str = "
import http.server, pathlib, ssl, sys
certificate, key, port, folder = sys.argv[1:]
class Files(http.server.BaseHTTPRequestHandler):
    count = 0
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get('content-length', 0)))
        Files.count += 1
        (pathlib.Path(folder) / f'{Files.count:04}').write_bytes(self.path.encode() + b'\\n' + body)
        self.send_response(200)
        self.send_header('content-length', '0')
        self.end_headers()
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer(('127.0.0.1', int(port)), Files)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
";

/// A running server.
#[derive(Debug)]
pub struct Https {
    _child: Child,
    folder: TempDir,
    port: u16,
}

impl Https {
    /// Starts the server with this certificate and key, or notes that Python is not installed.
    ///
    /// # Panics
    /// If Python is installed but the server does not start.
    pub fn start(test: &str, certificate: &Path, key: &Path) -> Option<Self> {
        let python = program(test, "python3")?;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let port = free_port();
        let child = Child::start(
            Command::new(python)
                .args(["-c", SCRIPT])
                .args([certificate, key])
                .arg(port.to_string())
                .arg(folder.path())
                .stderr(Stdio::null()),
        );
        until("the HTTPS server to listen", 10, || {
            TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()
        });
        Some(Self { _child: child, folder, port })
    }

    /// The server's port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The posts so far: the path, a line end, the body.
    pub fn posts(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.folder.path()) else { return Vec::new() };
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        paths.iter().filter_map(|path| std::fs::read_to_string(path).ok()).collect()
    }
}
