//! Doors that one caller cannot hold shut for the others: MCP sessions and streams, uploads,
//! messages of programs. Each is counted on the running server, with requests by hand.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::programs::{Plant, TOKEN, get, half_connections, post, shown};

/// Sessions that one caller may have.
const OF_ONE: usize = 32;
/// Streams that one caller may have.
const STREAMS_OF_ONE: usize = 16;

/// Adds a user and hands out a token.
fn token(plant: &Plant, name: &str, role: &str) -> String {
    plant.write("password", b"a password of some length\n");
    let user = |arguments: &[&str]| {
        let mut command = plant.command("pdm-agent", "user");
        let output = command.args(arguments).stdin(Stdio::null()).output().expect("runs");
        assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
        shown(&output)
    };
    user(&["add", name, "--role", role, "--password-file", "password"]);
    user(&["token", name, "--label", "test", "--days", "1"]).trim().to_owned()
}

/// The status and the rest of an answer to one MCP message; `more` are further lines of the head.
fn mcp(port: u16, more: &str, message: &Value) -> (u16, String) {
    send(port, "/mcp", more, message)
}

/// The status and the rest of an answer to a message in JSON, for which this waits 20 s.
fn send(port: u16, path: &str, more: &str, message: &Value) -> (u16, String) {
    let body = message.to_string();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nConnection: close\r\n{more}\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("connected");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a limit");
    stream.write_all(head.as_bytes()).expect("asked");
    stream.write_all(body.as_bytes()).expect("asked");
    let mut answer = Vec::new();
    let _ended = stream.read_to_end(&mut answer);
    let text = String::from_utf8_lossy(&answer).into_owned();
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.unwrap_or(0), text)
}

fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}}})
}

/// Issue 34, H5: 3,458 sessions in half a minute took 1 GiB. A caller is who it is by its name: the
/// blanks before a token, or a second token, make no other of it.
#[test]
fn mcp_sessions_of_one_caller_are_bounded_and_leave_another_its_own() {
    let plant = Plant::new("", "");
    let (one, two) = (token(&plant, "t1", "technician"), token(&plant, "t2", "technician"));
    let _agent = plant.start(plant.command("pdm-agent", "run"), plant.agent);
    let mut statuses = Vec::new();
    for number in 0..60 {
        let blanks = " ".repeat(1 + number % 5);
        let more = format!("Authorization: Bearer{blanks}{one}\r\n");
        statuses.push(mcp(plant.agent, &more, &initialize()).0);
    }
    let of = |status: u16| statuses.iter().filter(|one| **one == status).count();
    assert_eq!((of(200), of(429)), (OF_ONE, 60 - OF_ONE), "{statuses:?}");
    let more = format!("Authorization: Bearer {two}\r\n");
    assert_eq!(mcp(plant.agent, &more, &initialize()).0, 200, "another caller");
    let health = get(plant.agent, "/healthz").expect("health answers");
    assert!(health.starts_with("HTTP/1.1 200"), "{health}");
}

/// Issue 34, M2: 270 open `GET /mcp` took every connection, and health with them.
#[test]
fn mcp_streams_of_one_caller_are_bounded_and_leave_health_answering() {
    let plant = Plant::new("", "");
    let _agent = plant.start(plant.command("pdm-agent", "run"), plant.agent);
    let (status, answer) = mcp(plant.agent, "", &initialize());
    assert_eq!(status, 200, "{answer}");
    let session = session_of(&answer);
    let ask = format!(
        "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\
         Mcp-Session-Id: {session}\r\n\r\n"
    );
    let mut open = Vec::new();
    for _ in 0..3 {
        open.extend(half_connections(plant.agent, 90, ask.as_bytes()));
        // more at once would meet the limit of requests a second, which is another claim
        std::thread::sleep(Duration::from_secs(1));
    }
    let mut refused = 0;
    for stream in &mut open {
        stream.set_read_timeout(Some(Duration::from_millis(500))).expect("a limit");
        let mut head = [0; 64];
        let read = stream.read(&mut head).unwrap_or(0);
        refused += usize::from(String::from_utf8_lossy(&head[..read]).contains(" 429 "));
    }
    assert!(refused >= open.len() - STREAMS_OF_ONE, "{refused} of {}", open.len());
    for path in ["/healthz", "/livez", "/api/v1/bearings"] {
        let answer = get(plant.agent, path).expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
    }
}

fn session_of(answer: &str) -> String {
    let line = answer.lines().find(|line| line.to_ascii_lowercase().starts_with("mcp-session-id"));
    line.and_then(|line| line.split(": ").nth(1)).expect("a session").trim().to_owned()
}

/// Issue 34, M6: two uploads that never ended held up everybody's.
#[test]
fn slow_uploads_of_one_user_leave_anothers_to_be_taken() {
    let plant = Plant::new("", "");
    plant.configure_agent(&plant.token());
    let slow = token(&plant, "t1", "technician");
    let _agent = plant.start(plant.command("pdm-agent", "run"), plant.agent);
    let begun = format!(
        "POST /knowledge?name=slow.md HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \
         {slow}\r\n\
         Content-Length: 1000000\r\n\r\n# a"
    );
    let held = half_connections(plant.agent, 8, begun.as_bytes());
    std::thread::sleep(Duration::from_secs(1));
    let asked = Instant::now();
    let answer = post(plant.agent, "/knowledge?name=b.md", Some(TOKEN), b"# a\nb\n");
    let answer = answer.expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(asked.elapsed() < Duration::from_secs(20), "{:?}", asked.elapsed());
    drop(held);
}

/// Issue 34, M7: three questions to a model that hangs closed the chat for everybody.
#[test]
fn questions_of_one_viewer_to_a_model_that_hangs_leave_the_administrators_to_be_answered() {
    // the system takes connections up for it, and nobody answers them
    let model = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a model that hangs");
    let address = model.local_addr().expect("an address");
    let plant = Plant::new("", "");
    plant.configure_agent(&format!(
        "{}[reasoner]\nbase_url = \"http://{address}/v1\"\nmodel = \"hangs\"\ndialect \
         = \"native\"\n\
         timeout_s = 4.0\n",
        plant.token()
    ));
    let viewer = format!("Authorization: Bearer {}\r\n", token(&plant, "v1", "viewer"));
    let agent = plant.agent;
    let _agent = plant.start(plant.command("pdm-agent", "run"), agent);
    let question = json!({"message": "which machine is worst?"});
    let ask = |bearer: &str| send(agent, "/api/v1/chat/message", bearer, &question);
    std::thread::scope(|scope| {
        let waiting: Vec<_> = (0..6).map(|_| scope.spawn(|| ask(&viewer))).collect();
        std::thread::sleep(Duration::from_secs(1));
        let (status, answer) = ask(&format!("Authorization: Bearer {TOKEN}\r\n"));
        assert_eq!(status, 200, "the administrator's: {answer}");
        let answers: Vec<_> = waiting.into_iter().map(|one| one.join().expect("asked")).collect();
        let of = |status: u16| answers.iter().filter(|one| one.0 == status).count();
        assert_eq!((of(200), of(429)), (2, 4), "the viewer's: {answers:?}");
    });
    drop(model);
}

/// Issue 34, M8: 120 texts with links in 20 s reached staff over MCP.
#[tokio::test(flavor = "multi_thread")]
async fn a_program_tells_staff_no_links_and_twenty_messages_an_hour() {
    let test = "a_program_tells_staff_no_links_and_twenty_messages_an_hour";
    let port = pdm_harness::free_port();
    let lines = format!("[http]\nlisten = \"127.0.0.1:{port}\"\n");
    let Some(plant) = crate::plant::Plant::open(test, &lines) else { return };
    let own = crate::plant::Gateway { site: "ulsan-1", name: "gw-01", bearing: "DE", epoch: None };
    let mut peer = plant.anybody("gw-01", &[]).await;
    assert!(peer.send(&own.event(1, true), None).await, "the machine is known by its event");
    plant.until_figure("judged", "SELECT count(*) FROM pdm_agent_memory", 1).await;
    let (status, answer) = mcp(port, "", &initialize());
    assert_eq!(status, 200, "{answer}");
    let more = format!("Mcp-Session-Id: {}\r\n", session_of(&answer));
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(mcp(port, &more, &ready).0, 202);
    let tell = |number: usize, message: String| {
        let call = json!({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {
            "name": "notify_maintenance_staff", "arguments": {
                "equipment_id": "P-101", "risk_level": "Watch", "message": message}}});
        mcp(port, &more, &call).1
    };
    let linked = tell(1, "sign in at http://evil.example/1 or evil.example".to_owned());
    let mut last = String::new();
    for number in 10..40 {
        last = tell(number, format!("please look at the coupling, number {number}"));
    }
    assert!(last.contains("20 messages an hour"), "the last is refused: {last}");
    let told = plant.figures("SELECT count(*) FROM notifications WHERE reason = 'message'").await;
    assert_eq!(told, [20], "the first answer: {linked}");
    let links = "SELECT count(*) FROM notifications WHERE notification LIKE '%evil.example%'";
    assert_eq!(plant.figures(links).await, [0]);
}

/// Issue 34, L9: metrics want a token, and the annotation asked for them without.
#[test]
fn no_scrape_without_the_token_is_suggested_by_the_shipped_manifest() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/k8s/agent.yaml");
    let text = std::fs::read_to_string(file).expect("agent.yaml");
    let set = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    assert!(!set.into_iter().any(|line| line.contains("prometheus.io/scrape")));
}
