//! A stand-in for a Qdrant server: the local mode of Qdrant's own Python client behind the server's
//! gRPC services (`python/qdrant.py`). Tests with it show that requests are well formed, and their
//! meaning; they do not show the server's index, durability or speed.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

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
        let mut child = Child::start(Command::new(python).arg(script).stdout(Stdio::piped()));
        let out = child.inner().stdout.take().expect("piped");
        let mut port = String::new();
        BufReader::new(out).read_line(&mut port).expect("a line");
        let port: u16 = port.trim().parse().expect("the stand-in prints its port");
        Some(Self { _child: child, url: format!("http://127.0.0.1:{port}") })
    }

    /// The address of the stand-in.
    pub fn url(&self) -> &str {
        &self.url
    }
}
