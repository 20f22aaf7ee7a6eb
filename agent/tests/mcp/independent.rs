//! The `mcp` package of Python as a client: what it lists, calls and hears, over both transports.
//! It is installed into a virtual environment under `target/`, once.

use std::path::{Path, PathBuf};
use std::process::Command;

use pdm_harness::{Child, PythonPackage, free_port, until};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{LISTS, plant};

/// The versions whose programming interface the script uses.
const PACKAGE: PythonPackage<'_> = PythonPackage {
    requirement: "mcp>=2.3,<3",
    probe: "import mcp.client.streamable_http as s; s.streamable_http_client",
};

/// Python with the package; `None` (noted as not run) if it cannot be had.
fn python(test: &str) -> Option<PathBuf> {
    PACKAGE.interpreter(test, env!("CARGO_TARGET_TMPDIR"), "mcp-venv")
}

/// Returns what the script saw, as JSON.
fn seen(python: &Path, arguments: &[&str]) -> Value {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp/client.py");
    let output = Command::new(python).arg(script).args(arguments).output().expect("python runs");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{told}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {told}"))
}

fn claims(seen: &Value) {
    let tools = seen["tools"].as_array().expect("tools");
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    for name in [
        "search_maintenance_history",
        "search_equipment_manual",
        "search_analysis_history",
        "notify_maintenance_staff",
        "list_assets",
    ] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    for tool in tools {
        assert!(jsonschema::meta::is_valid(&tool["inputSchema"]), "{tool}");
        if LISTS.iter().any(|name| tool["name"] == *name) {
            assert!(tool["outputSchema"].is_null(), "{tool}");
            continue;
        }
        assert!(jsonschema::meta::is_valid(&tool["outputSchema"]), "{tool}");
        let mark = &tool["outputSchema"]["properties"]["_trust"]["const"];
        assert_eq!(mark, "untrusted", "{tool}");
    }
    // a client that gives the data alone to a model gives the mark with it
    let rows = json!({"row_count": 2, "truncated": false, "_trust": "untrusted",
        "rows": [{"name": "DE 베어링"}, {"name": "NDE bearing"}]});
    assert_eq!(seen["good"]["structured"], rows);
    assert_eq!(seen["good"]["isError"], false);
    let text = |key: &str| seen[key]["text"].as_str().unwrap_or_default().to_owned();
    assert_eq!(seen["wrong"]["isError"], true);
    assert!(text("wrong").contains("kind: 3 is not of type \"string\""), "{}", text("wrong"));
    assert_eq!(seen["missing"]["isError"], true);
    assert!(text("missing").contains("query: is required and missing"), "{}", text("missing"));
    assert_eq!(seen["changed"], true, "tools/list_changed was heard");
    let after = seen["after"].as_array().expect("names");
    assert!(after.contains(&json!("newcomer")), "{after:?}");
}

fn paths(plant: &TempDir) -> (String, String) {
    let path = |name: &str| plant.path().join(name).display().to_string();
    (path("tools"), path("agent.toml"))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_independent_client_lists_calls_and_hears_over_stdio() {
    let Some(python) = python("an_independent_client_lists_calls_and_hears_over_stdio") else {
        return;
    };
    let plant = plant().await;
    let (tools, config) = paths(&plant);
    let program = env!("CARGO_BIN_EXE_pdm-agent");
    claims(&seen(&python, &["stdio", &tools, program, "mcp", "--config", &config]));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_independent_client_lists_calls_and_hears_over_http() {
    let Some(python) = python("an_independent_client_lists_calls_and_hears_over_http") else {
        return;
    };
    let plant = plant().await;
    let (tools, config) = paths(&plant);
    let address = format!("127.0.0.1:{}", free_port());
    let _server = Child::start(
        Command::new(env!("CARGO_BIN_EXE_pdm-agent"))
            .args(["mcp", "--config", &config, "--http", &address]),
    );
    let open = || std::net::TcpStream::connect(&address).ok();
    until("the MCP server", 20, open);
    claims(&seen(&python, &["http", &tools, &format!("http://{address}/mcp")]));
}

/// R-TOOL-4, R-TOOL-8: the service itself; a broken tool changes nothing but a log line.
#[tokio::test(flavor = "multi_thread")]
async fn the_running_service_is_used_by_an_independent_client_and_logs_a_broken_tool() {
    let name = "the_running_service_is_used_by_an_independent_client_and_logs_a_broken_tool";
    let Some(python) = python(name) else { return };
    let plant = plant().await;
    let (tools, config) = paths(&plant);
    let address = format!("127.0.0.1:{}", free_port());
    let mut text = std::fs::read_to_string(&config).expect("settings");
    text =
        format!("{text}[http]\nlisten = \"{address}\"\n[broker]\naddresses = [\"127.0.0.1:1\"]\n");
    std::fs::write(&config, text).expect("settings");
    let log = plant.path().join("log");
    let _service = Child::start(
        Command::new(env!("CARGO_BIN_EXE_pdm-agent"))
            .args(["run", "--config", &config])
            .stderr(std::fs::File::create(&log).expect("a log")),
    );
    until("the service", 20, || std::net::TcpStream::connect(&address).ok());
    let broken = Path::new(&tools).join("broken.yaml");
    std::fs::write(&broken, "name: broken\nversion: \"1\"\nlayer: nowhere\n").expect("written");
    let told = until("the log line", 20, || {
        let log = std::fs::read_to_string(&log).unwrap_or_default();
        log.lines().find(|line| line.contains("Tool refused")).map(str::to_owned)
    });
    assert!(told.contains("broken.yaml:"), "{told}");
    let seen = seen(&python, &["http", &tools, &format!("http://{address}/mcp")]);
    claims(&seen);
    let after = seen["after"].as_array().expect("names");
    assert!(!after.contains(&json!("broken")), "{after:?}");
}
