//! The API against requests that a program makes from its document: schemathesis, of the Python
//! registry.

use std::process::{Command, Stdio};

use pdm_harness::{Postgres, PythonPackage};

use crate::plant::{Plant, TOKEN};

const SCHEMATHESIS: PythonPackage<'_> =
    PythonPackage { requirement: "schemathesis==4.32.5", probe: "import schemathesis" };
/// The seed of the requests.
const SEED: &str = "20261123";
/// Requests made at random of each operation. `tests/run api` sets more.
const EXAMPLES: &str = "10";
/// Requests made at random of each operation on the second store.
const FEWER: &str = "3";

/// R-AGENT-10: no 500, no status, type or body that the document does not name.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_made_from_the_document_get_what_the_document_says() {
    let name = "requests_made_from_the_document_get_what_the_document_says";
    fuzzed(name, EXAMPLES, None).await;
}

/// The same over a store on a PostgreSQL server, which refuses texts that SQLite takes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_made_from_the_document_get_the_same_from_postgres() {
    let name = "requests_made_from_the_document_get_the_same_from_postgres";
    let Some(server) = Postgres::start(name) else { return };
    fuzzed(name, FEWER, Some(&server)).await;
}

#[expect(clippy::print_stdout, reason = "the figures of the run are printed")]
async fn fuzzed(name: &str, examples: &str, server: Option<&Postgres>) {
    let Some(python) = SCHEMATHESIS.interpreter(name, env!("CARGO_TARGET_TMPDIR"), "schemathesis")
    else {
        return;
    };
    let plant = Plant::with_users_on(server).await;
    let examples = std::env::var("PDM_API_EXAMPLES").unwrap_or_else(|_unset| examples.to_owned());
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(python.with_file_name("schemathesis"));
    command
        .args(["run", &format!("{}/api/v1/openapi.json", plant.url)])
        .args(["--header", &format!("Authorization: Bearer {TOKEN}")])
        .args(["--seed", SEED, "--max-examples", &examples])
        .args(["--phases", "examples,coverage,fuzzing", "--no-color", "--workers", "1"])
        .args(["--checks", CHECKS, "--rate-limit", "80/s", "--generation-allow-x00", "true"])
        .args(["--continue-on-failure", "--generation-database", ":memory:"])
        .current_dir(folder.path())
        .stdin(Stdio::null());
    let run = tokio::task::spawn_blocking(move || command.output());
    let output = run.await.expect("joined").expect("schemathesis runs");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{told}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(told.contains("generated, "), "requests were made: {told}");
    println!("{told}");
    plant.stop().await;
}

/// The checks of every answer.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
                      response_headers_conformance,response_schema_conformance,unsupported_method,\
                      negative_data_rejection";
