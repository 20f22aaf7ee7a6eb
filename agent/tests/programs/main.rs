//! R-CODE-1: programs of a language model in the running agent. The model is a stand-in that
//! answers as scripted; the agent, its child processes and its tools are the real ones.

mod check;
mod dialogue;
mod hostile;

use std::process::{Command, Stdio};
use std::time::Duration;

use pdm_harness::{Child, ModelReply, ModelStandIn, free_port};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A program as a model writes it.
fn writes(program: &str) -> ModelReply {
    ModelReply::Says(format!("Thought: look.\n```python\n{program}\n```"))
}

/// A running agent with the pack of funds and a model that writes programs.
struct Agent {
    process: Child,
    url: String,
    _folder: TempDir,
}

impl Agent {
    async fn start(model: &ModelStandIn) -> Self {
        pdm_agent::service::install_cryptography();
        let folder = TempDir::new().expect("a folder");
        let config = folder.path().join("agent.toml");
        let port = free_port();
        let text = format!(
            "[broker]\naddresses = [\"127.0.0.1:{}\"]\n[store]\nsqlite = \"agent.db\"\n\
             [http]\nlisten = \"127.0.0.1:{port}\"\n[tools]\npacks = [\"etf-atlas\"]\n\
             [reasoner]\nbase_url = {:?}\nmodel = \"stand-in\"\ndialect = \"native\"\n\
             [reasoner.chat]\nactions = \"programs\"\n",
            free_port(),
            model.base_url()
        );
        std::fs::write(&config, text).expect("written");
        let mut command = Command::new(env!("CARGO_BIN_EXE_pdm-agent"));
        command.args(["run", "--config"]).arg(&config).stdout(Stdio::null()).stderr(Stdio::null());
        let agent = Self {
            process: Child::start(&mut command),
            url: format!("http://127.0.0.1:{port}"),
            _folder: folder,
        };
        for _ in 0..600 {
            if agent.is_healthy().await {
                return agent;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("the agent does not start within a minute")
    }

    async fn is_healthy(&self) -> bool {
        // a broker that is away makes it unready, not unhealthy: any answer shows that it lives
        reqwest::get(format!("{}/healthz", self.url)).await.is_ok()
    }

    /// A page in Korean.
    async fn page(&self, path: &str) -> String {
        let client = reqwest::Client::new();
        let asked = client.get(format!("{}{path}", self.url)).header("accept-language", "ko");
        asked.send().await.expect("an answer").text().await.expect("text")
    }

    /// The steps and the answer of a question.
    async fn ask(&self, message: &str) -> (Vec<Value>, Value) {
        let client = reqwest::Client::new();
        let asked = client.post(format!("{}/api/chat/message/stream", self.url));
        let answer = asked.json(&json!({ "message": message })).send().await.expect("an answer");
        assert!(answer.status().is_success(), "{}", answer.status());
        let text = answer.text().await.expect("text");
        let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
        let mut events: Vec<Value> =
            data.map(|data| serde_json::from_str(data).expect("json")).collect();
        let last = events.pop().expect("an answer");
        assert_eq!(last["type"], "answer", "{last}");
        (events.into_iter().map(|mut event| event["data"].take()).collect(), last["data"].clone())
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
