//! llmock as a process, and the schema of OpenAI's Python library.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use pdm_harness::{Child, PythonPackage, free_port};
use serde_json::{Value, json};

const PACKAGES: PythonPackage<'_> =
    PythonPackage { requirement: "llmock==0.2.2 openai==3.54.0", probe: "import llmock, openai" };

/// The schema of a request, as strict as a server may be: no field that is not published.
const SCHEMA: &str = "
import json, typing
from pydantic import TypeAdapter
from openai.types.chat import completion_create_params as params
schema = TypeAdapter(typing.Union[params.CompletionCreateParamsNonStreaming,
                                  params.CompletionCreateParamsStreaming]).json_schema()
for one in schema['$defs'].values():
    if 'properties' in one:
        one.setdefault('additionalProperties', False)
print(json.dumps(schema))
";

/// A running llmock; it ends with the value.
pub(crate) struct LlMock {
    _process: Child,
    python: PathBuf,
    root: String,
    http: reqwest::Client,
}

/// llmock's report on the client.
pub(crate) struct Verdict {
    pub(crate) errors: u64,
    pub(crate) warnings: u64,
    pub(crate) faults: u64,
    pub(crate) text: String,
}

impl LlMock {
    /// Starts the server; `None` (noted as not run) if it cannot be installed.
    pub(crate) async fn start(test: &str) -> Option<Self> {
        let python = PACKAGES.interpreter(test, env!("CARGO_TARGET_TMPDIR"), "llmock")?;
        let port = free_port();
        let mut command = Command::new(python.with_file_name("llmock"));
        command.args(["serve", "--host", "127.0.0.1", "--log-level", "error"]);
        command.args(["--port", &port.to_string()]).stdin(Stdio::null());
        let process = Child::start(command.stdout(Stdio::null()).stderr(Stdio::null()));
        let _there = rustls::crypto::ring::default_provider().install_default();
        let (root, http) = (format!("http://127.0.0.1:{port}"), reqwest::Client::new());
        for _ in 0..600 {
            if http.get(format!("{root}/_llmock/scenario")).send().await.is_ok() {
                return Some(Self { _process: process, python, root, http });
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("llmock does not answer within a minute");
    }

    /// The address of its OpenAI-compatible API.
    pub(crate) fn base_url(&self) -> String {
        format!("{}/v1", self.root)
    }

    /// Queues what it does with the requests for a model.
    pub(crate) async fn queue(&self, model: &str, does: Vec<Value>) {
        let only = |mut one: Value| {
            one["match"] = json!({ "model": model });
            one
        };
        let behaviors: Vec<Value> = does.into_iter().map(only).collect();
        let sent = self.http.post(format!("{}/_llmock/scenario", self.root));
        let answer = sent.json(&json!({ "behaviors": behaviors })).send().await.expect("answers");
        let status = answer.status();
        assert!(status.is_success(), "{status}: {}", answer.text().await.unwrap_or_default());
    }

    async fn get(&self, path: &str) -> String {
        let sent = self.http.get(format!("{}/_llmock/{path}", self.root)).send().await;
        sent.expect("answers").text().await.expect("text")
    }

    pub(crate) async fn verdict(&self) -> Verdict {
        let told: Value = serde_json::from_str(&self.get("verdict").await).expect("json");
        let count = |name: &str| told[name].as_u64().expect("a count");
        Verdict {
            errors: count("errors"),
            warnings: count("warnings"),
            faults: count("faults_injected"),
            text: self.get("verdict?format=text").await,
        }
    }

    /// The bodies of the requests that it saw.
    pub(crate) async fn requests(&self) -> Vec<Value> {
        let told: Value = serde_json::from_str(&self.get("requests").await).expect("json");
        let requests = told["requests"].as_array().expect("a list");
        requests.iter().map(|request| request["body"].clone()).collect()
    }

    /// The schema of a request of OpenAI's Python library.
    pub(crate) fn published_schema(&self) -> Value {
        let output = Command::new(&self.python).args(["-c", SCHEMA]).output().expect("runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("json")
    }
}
