//! A stand-in for a Qdrant server: the local mode of Qdrant's own Python client behind the server's
//! gRPC services (`python/qdrant.py`). Tests with it show that requests are well formed, and their
//! meaning; they do not show the server's index, durability or speed.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

use crate::process::Child;
use crate::python::PythonPackage;

/// The version whose conversions the script uses.
const PACKAGE: PythonPackage<'_> = PythonPackage {
    requirement: "qdrant-client>=1.20,<1.21",
    probe: "import grpc; from qdrant_client.conversions.conversion import GrpcToRest, RestToGrpc",
};

/// A running stand-in, empty.
#[derive(Debug)]
pub struct QdrantStandIn {
    _child: Child,
    url: String,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl QdrantStandIn {
    /// Starts the stand-in, or notes that its package is not available. `folder` is the test's
    /// `CARGO_TARGET_TMPDIR`.
    ///
    /// # Panics
    /// If the stand-in does not start.
    pub fn start(test: &str, folder: &str) -> Option<Self> {
        let python = PACKAGE.interpreter(test, folder, "qdrant-venv")?;
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/python/qdrant.py");
        let mut child = Child::start(
            Command::new(python).arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()),
        );
        let input = child.inner().stdin.take().expect("piped");
        let mut output = BufReader::new(child.inner().stdout.take().expect("piped"));
        let mut port = String::new();
        output.read_line(&mut port).expect("a line");
        let port: u16 = port.trim().parse().expect("the stand-in prints its port");
        Some(Self { _child: child, url: format!("http://127.0.0.1:{port}"), input, output })
    }

    /// Stops answering; connections stay open.
    pub fn hang(&mut self) {
        self.order("hang");
    }

    /// Answers again, also what was asked meanwhile.
    pub fn go_on(&mut self) {
        self.order("go on");
    }

    /// Loses every collection, as a server that starts on an empty disk.
    pub fn forget(&mut self) {
        self.order("forget");
    }

    /// Asks for one of two keys from now on; with the second one nothing can be written.
    pub fn require_keys(&mut self, full: &str, read_only: &str) {
        self.order(&format!("keys {full} {read_only}"));
    }

    /// Loses the payload index of a field in every collection, as one that was stopped while it was
    /// made.
    pub fn lose_index(&mut self, field: &str) {
        self.order(&format!("lose index {field}"));
    }

    /// Refuses searches that filter a field without an index.
    pub fn be_strict(&mut self) {
        self.order("strict");
    }

    fn order(&mut self, line: &str) {
        writeln!(self.input, "{line}").expect("the stand-in reads");
        let mut done = String::new();
        self.output.read_line(&mut done).expect("the stand-in answers");
        assert_eq!(done.trim(), "done", "{line}");
    }

    /// The address of the stand-in.
    pub fn url(&self) -> &str {
        &self.url
    }
}
