//! R-TOOL-8: the tools over MCP, in process, over standard input and output, over streamable HTTP;
//! seen by this project's client and by an independent one (the `mcp` package of Python).

mod independent;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pdm_service::http::guard::Access;
use pdm_service::secret::Secret;
use pdm_tools::client::{ClientError, ToolClient};
use pdm_tools::exec::mcp::{Endpoint, Servers};
use pdm_tools::mcp::http::router;
use pdm_tools::{Call, Catalogue, ExecutorResources, Registry, Runtime, ToolError, mcp};
use rmcp::model::{ClientConfig, Tool};
use rmcp::service::NotificationContext;
use rmcp::{ClientHandler, RoleClient, ServiceExt};
use serde_json::{Map, Value, json};
use sqlx::Connection;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// A tool that answers from a real database.
const LIST_ASSETS: &str = "\
name: list_assets
version: \"1.2.0\"
layer: collection
domain: data
description: assets of a kind
executor: sql
input_schema:
  type: object
  properties:
    kind: {type: string, description: kind of asset}
  required: [kind]
  additionalProperties: false
output_schema:
  type: object
  properties:
    rows:
      type: array
      items: {type: object, properties: {name: {type: string}}, required: [name]}
    row_count: {type: integer}
    truncated: {type: boolean}
  required: [rows, row_count, truncated]
config: {database: assets, query: 'SELECT name FROM asset WHERE kind = :kind ORDER BY name'}
";

/// The shipped tools that answer with a list.
const LISTS: [&str; 6] = [
    "compare_equipment",
    "find_similar_equipment",
    "get_equipment_changes",
    "list_tags",
    "search_equipment",
    "search_part",
];

/// A folder with the shipped tools, `list_assets`, its database and an `agent.toml`.
async fn plant() -> TempDir {
    let folder = TempDir::new().expect("a folder");
    let tools = folder.path().join("tools");
    std::fs::create_dir(&tools).expect("created");
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../config/tools");
    for entry in std::fs::read_dir(shipped).expect("the shipped tools") {
        let entry = entry.expect("entry");
        std::fs::copy(entry.path(), tools.join(entry.file_name())).expect("copied");
    }
    std::fs::write(tools.join("list_assets.yaml"), LIST_ASSETS).expect("written");
    let options = sqlx::sqlite::SqliteConnectOptions::new()
        .filename(folder.path().join("assets.db"))
        .create_if_missing(true);
    let mut database = sqlx::SqliteConnection::connect_with(&options).await.expect("open");
    let filled = "CREATE TABLE asset (name TEXT, kind TEXT);
        INSERT INTO asset VALUES ('DE 베어링', 'bearing'), ('NDE bearing', 'bearing'), ('P-1', \
        'pump')";
    sqlx::raw_sql(filled).execute(&mut database).await.expect("filled");
    database.close().await.expect("closed");
    let settings = "[store]\nsqlite = \"agent.db\"\n[tools]\nfolder = \"tools\"\n\
                    [tools.databases]\nassets = \"assets.db\"\n";
    std::fs::write(folder.path().join("agent.toml"), settings).expect("written");
    folder
}

/// The tools of the plant in this process.
fn runtime(plant: &TempDir) -> Arc<Runtime> {
    let path = plant.path().join("agent.toml");
    let settings = pdm_agent::settings::AgentSettings::read(&path).expect("settings").tools;
    let (catalogue, problems) = Catalogue::open(settings.folder.as_deref().expect("a folder"));
    assert!(problems.is_empty(), "{problems:?}");
    Arc::new(Runtime::new(catalogue, settings.means().expect("means")))
}

/// A server over HTTP on loopback, as the agent mounts it; its address.
async fn serve(runtime: Arc<Runtime>, token: Option<&str>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("address");
    let token = token.map(|token| Secret::new(token.to_owned()));
    let access = Access::new(address, token).expect("loopback");
    let app = axum::Router::new().nest("/mcp", router(runtime, access, CancellationToken::new()));
    tokio::spawn(async move { axum::serve(listener, app).await });
    format!("http://{address}/mcp")
}

fn arguments(value: &Value) -> Map<String, Value> {
    value.as_object().expect("an object").clone()
}

/// Asserts the behaviour that every client must see, over every transport.
async fn claims(client: &ToolClient) {
    let tools = client.list().await.expect("a list");
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    let expected = [
        "compare_equipment",
        "find_document_title",
        "find_similar_equipment",
        "get_bearing_trend",
        "get_equipment_changes",
        "get_equipment_info",
        "get_equipment_trend",
        "graph_query",
        "list_assets",
        "list_tags",
        "look_up_life_factor",
        "look_up_mounting_value",
        "look_up_vibration_zone",
        "read_document_section",
        "search_analysis_history",
        "search_equipment",
        "search_equipment_manual",
        "search_maintenance_history",
        "search_part",
        "abnormal_decision",
        "notify_maintenance_staff",
    ];
    assert_eq!(names, expected);
    for tool in &tools {
        assert!(jsonschema::meta::is_valid(&tool.input_schema), "{}", tool.name);
        // the protocol knows forms of objects alone; a tool that answers with a list has none
        let output = tool.output_schema.as_ref();
        assert!(
            output.is_some_and(jsonschema::meta::is_valid) || LISTS.contains(&tool.name.as_str())
        );
    }

    let asked = arguments(&json!({"kind": "bearing"}));
    let answer = client.call("c1", "list_assets", asked).await.expect("an answer");
    let rows = json!({"row_count": 2, "truncated": false,
        "rows": [{"name": "DE 베어링"}, {"name": "NDE bearing"}]});
    assert_eq!((answer.is_error, answer.structured), (false, Some(rows)));
    assert!(answer.text.starts_with("<tool_output tool=\"list_assets\" trust=\"untrusted\">"));

    for (tool, wrong, expected) in [
        ("list_assets", json!({"kind": 3}), "kind: 3 is not of type \"string\""),
        ("list_assets", json!({}), "kind: is required and missing"),
        ("search_equipment_manual", json!({"query": "x", "top_k": 99}), "top_k: 99 is greater"),
        ("nothing", json!({}), "there is no tool nothing"),
    ] {
        let answer = client.call("c2", tool, arguments(&wrong)).await.expect("a tool error");
        assert!(answer.is_error && answer.text.contains(expected), "{expected}: {}", answer.text);
    }
}

#[tokio::test]
async fn the_tools_are_listed_and_called_in_process() {
    let plant = plant().await;
    claims(&mcp::in_process(runtime(&plant)).await.expect("connected")).await;
}

#[tokio::test]
async fn the_tools_are_listed_and_called_over_http() {
    let plant = plant().await;
    let url = serve(runtime(&plant), None).await;
    claims(&ToolClient::http(&url, None).await.expect("connected")).await;
}

#[tokio::test]
async fn the_tools_are_listed_and_called_over_standard_input_of_the_program() {
    let plant = plant().await;
    let config = plant.path().join("agent.toml").display().to_string();
    let arguments = ["mcp", "--config", &config].map(str::to_owned);
    let program = env!("CARGO_BIN_EXE_pdm-agent");
    let client = ToolClient::child(program, &arguments, &BTreeMap::new()).await;
    claims(&client.expect("connected")).await;
}

#[tokio::test]
async fn with_a_token_nothing_is_answered_without_it() {
    let plant = plant().await;
    let url = serve(runtime(&plant), Some("s3cret of sixteen")).await;
    let wrong = Secret::new("guess".to_owned());
    for token in [None, Some(&wrong)] {
        let refused = ToolClient::http(&url, token).await.expect_err("refused");
        assert!(matches!(refused, ClientError::Unreachable(_)), "{refused}");
    }
    let right = Secret::new("s3cret of sixteen".to_owned());
    claims(&ToolClient::http(&url, Some(&right)).await.expect("connected")).await;
}

#[tokio::test]
async fn a_page_in_a_browser_and_a_foreign_host_name_are_refused() {
    let plant = plant().await;
    let url = serve(runtime(&plant), None).await;
    let _installed = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::new();
    for (name, value) in [("origin", "https://evil.example"), ("host", "evil.example")] {
        let request =
            client.post(&url).header(name, value).header("content-type", "application/json");
        let request = request.header("accept", "application/json, text/event-stream").body("{}");
        let status = request.send().await.expect("an answer").status();
        assert_eq!(status, 403, "{name}");
    }
}

/// Tells when the server says that the tools have changed.
#[derive(Clone)]
struct Hears(Arc<tokio::sync::Notify>);

impl ClientHandler for Hears {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::default()
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.0.notify_one();
    }
}

/// R-TOOL-4
#[tokio::test(flavor = "multi_thread")]
async fn a_client_hears_of_a_saved_tool_in_under_a_second() {
    let plant = plant().await;
    let runtime = runtime(&plant);
    tokio::spawn(runtime.catalogue().watch().expect("watching"));
    let (near, far) = tokio::io::duplex(64 * 1024);
    let server = pdm_tools::mcp::server::ToolServer::new(runtime).serve(far);
    let heard = Arc::new(tokio::sync::Notify::new());
    let (server, client) = tokio::join!(server, Hears(Arc::clone(&heard)).serve(near));
    let (_server, client) = (server.expect("server"), client.expect("client"));
    // a round trip: the server has seen `initialized` by then
    client.list_all_tools().await.expect("a list");
    let saved = LIST_ASSETS.replace("list_assets", "list_more");
    std::fs::write(plant.path().join("tools/list_more.yaml"), saved).expect("written");
    let told = tokio::time::timeout(Duration::from_secs(1), heard.notified()).await;
    assert!(told.is_ok(), "told within a second");
    let tools: Vec<Tool> = client.list_all_tools().await.expect("a list");
    assert!(tools.iter().any(|tool| tool.name == "list_more"));
}

/// R-TOOL-6: the executor `mcp`.
#[tokio::test]
async fn a_tool_of_another_server_is_called_as_an_own_one() {
    let far = plant().await;
    let url = serve(runtime(&far), None).await;
    let near = TempDir::new().expect("a folder");
    let own =
        LIST_ASSETS.replace("list_assets", "far_assets").replace("executor: sql", "executor: mcp");
    let config = own.find("config:").expect("config");
    let own = format!("{}config: {{server: far, tool: list_assets, retries: 0}}\n", &own[..config]);
    std::fs::write(near.path().join("far.yaml"), own).expect("written");
    let loaded = Registry::read(near.path());
    assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
    let (catalogue, _) = Catalogue::open(near.path());
    let endpoint = Endpoint::Http { url, token: None };
    let servers = Arc::new(Servers::new(BTreeMap::from([("far".to_owned(), endpoint)])));
    let runtime =
        Runtime::new(catalogue, ExecutorResources { servers, ..ExecutorResources::default() });
    let call = |kind: &str| Call {
        id: "c".to_owned(),
        tool: "far_assets".to_owned(),
        arguments: json!({ "kind": kind }),
    };
    let answer = runtime.call(&call("pump")).await.expect("an answer");
    assert_eq!(answer.value["rows"], json!([{"name": "P-1"}]));
    assert!(runtime.call(&call("nothing")).await.expect("an answer").is_empty);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_start_is_told_after_the_retries() {
    let near = TempDir::new().expect("a folder");
    let own = LIST_ASSETS.replace("executor: sql", "executor: mcp");
    let config = own.find("config:").expect("config");
    let own = format!("{}config: {{server: far}}\n", &own[..config]);
    std::fs::write(near.path().join("far.yaml"), own).expect("written");
    let (catalogue, _) = Catalogue::open(near.path());
    let endpoint = Endpoint::Child {
        program: "/no/such/program".to_owned(),
        arguments: Vec::new(),
        environment: BTreeMap::new(),
    };
    let servers = Arc::new(Servers::new(BTreeMap::from([("far".to_owned(), endpoint)])));
    let runtime =
        Runtime::new(catalogue, ExecutorResources { servers, ..ExecutorResources::default() });
    let call = Call { id: "c".into(), tool: "list_assets".into(), arguments: json!({"kind": "x"}) };
    let error = runtime.call(&call).await.expect_err("away");
    assert!(matches!(&error, ToolError::Unavailable { attempts: 4, .. }), "{error}");
    assert!(error.to_string().contains("/no/such/program"), "{error}");
}
