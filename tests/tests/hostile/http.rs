//! Callers that say half of what they want, guess tokens, or come from elsewhere.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pdm_harness::{Child, until};

use crate::programs::{Plant, TOKEN, get, get_as, half_connections, post, shown, with_few_files};

const SIMULATOR: &str = "[[source]]\nname = \"sim\"\nkind = \"simulator\"\npace = 1.0\n\
    rate_hz = 6400.0\nperiod_s = 60.0\n[source.simulator]\nfault = \"outer_race\"\nsnapshots = \
    100\n\
    snapshot_s = 0.6\n[[source.channel]]\nchannel = 0\nequipment = \"P-1\"\nbearing = \"DE\"\n\
    bearing_type = \"6205\"\nrpm = 1797.0\n";

/// With the 1,024 files of a usual shell: 1,100 half requests took every one of them.
#[test]
fn half_requests_leave_health_answering() {
    let plant = Plant::new("", SIMULATOR);
    for (program, port) in [("pdm-agent", plant.agent), ("pdm-edge", plant.edge)] {
        let command = with_few_files(&plant.command(program, "run"));
        let mut running = plant.start(command, port);
        for begun in [&b"GET /healthz HT"[..], b"POST /knowledge?name=a.md HTTP/1.1\r\nHost: a\r\n"]
        {
            let half = half_connections(port, 1100, begun);
            for _ in 0..3 {
                let health = get(port, "/healthz");
                let health = health.unwrap_or_else(|| panic!("{program} is deaf: {}", plant.log()));
                assert!(health.starts_with("HTTP/1.1 200"), "{program}: {health}");
            }
            drop(half);
        }
        assert_eq!(running.terminate().code(), Some(0), "{program}");
    }
}

/// Issue 34, M1: 262 bodies that never end, of one caller who may enter, took every place and
/// health with it.
#[test]
fn slow_bodies_of_one_caller_leave_health_answering() {
    let plant = Plant::new("", "");
    let _agent = plant.start(plant.command("pdm-agent", "run"), plant.agent);
    let begun = b"POST /api/v1/chat/message HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: \
        application/json\r\nContent-Length: 5000\r\n\r\n{";
    let mut slow = Vec::new();
    for _ in 0..4 {
        slow.extend(half_connections(plant.agent, 80, begun));
        // more at once would meet the limit of requests a second, which is another claim
        std::thread::sleep(Duration::from_secs(1));
    }
    for path in ["/healthz", "/livez", "/healthz"] {
        let health = get(plant.agent, path);
        let health = health.unwrap_or_else(|| panic!("the agent is deaf: {}", plant.log()));
        assert!(health.starts_with("HTTP/1.1 200"), "{path}: {health}");
    }
    // a body that is awaited holds no place: pages and API are answered too, to this caller as to
    // others
    for path in ["/metrics", "/", "/api/v1/bearings"] {
        let answer = get(plant.agent, path).expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
    }
    drop(slow);
}

/// R-UI-1: 125 slow bodies of each of two viewers closed pages and API for an administrator.
#[test]
fn slow_bodies_of_two_viewers_leave_pages_to_the_administrator() {
    let plant = Plant::new("", "");
    plant.write("password", b"a password of some length\n");
    let user = |arguments: &[&str]| {
        let mut command = plant.command("pdm-agent", "user");
        let output = command.args(arguments).stdin(Stdio::null()).output().expect("runs");
        assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
        shown(&output)
    };
    let token = |name: &str, role: &str| {
        user(&["add", name, "--role", role, "--password-file", "password"]);
        user(&["token", name, "--label", "test", "--days", "1"]).trim().to_owned()
    };
    let (admin, one, two) = (token("admin", "admin"), token("v1", "viewer"), token("v2", "viewer"));
    let _agent = plant.start(plant.command("pdm-agent", "run"), plant.agent);
    let mut slow = Vec::new();
    for viewer in [&one, &two, &one, &two] {
        let begun = format!(
            "POST /api/v1/chat/message HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \
             {viewer}\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n{{"
        );
        slow.extend(half_connections(plant.agent, 64, begun.as_bytes()));
        // more at once would meet the limit of requests a second, which is another claim
        std::thread::sleep(Duration::from_secs(1));
    }
    for path in ["/api/v1/bearings", "/", "/metrics"] {
        let answer = get_as(plant.agent, path, &admin).expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
    }
    drop(slow);
}

/// Health is for everybody, since orchestrators ask it; metrics beyond loopback need the token.
#[test]
fn metrics_need_the_token_beyond_loopback() {
    let plant = Plant::new("", SIMULATOR);
    let text = std::fs::read_to_string(plant.path("agent.toml")).expect("there");
    let open = format!("listen = \"0.0.0.0:{}\"\n{}", plant.agent, plant.token());
    let own = format!("listen = \"127.0.0.1:{}\"\n", plant.agent);
    plant.write("agent.toml", text.replace(&own, &open).as_bytes());
    let _agent = plant.start(plant.command("pdm-agent", "run"), plant.agent);
    let metrics = get(plant.agent, "/metrics").expect("an answer");
    assert!(metrics.starts_with("HTTP/1.1 401"), "{metrics}");
}

/// Both programs: a token of one character is no token.
#[test]
fn a_short_token_is_a_configuration_error() {
    let plant = Plant::new("", "");
    plant.write("token", b"x");
    plant.configure_agent(&plant.token());
    let edge = std::fs::read_to_string(plant.path("edge.toml")).expect("there");
    plant.write("edge.toml", format!("{edge}\n{}", plant.token()).as_bytes());
    for program in ["pdm-agent", "pdm-edge"] {
        let mut command = plant.command(program, "run");
        let mut child = Child::start(command.stdout(Stdio::null()).stderr(Stdio::piped()));
        let status = until("the end", 30, || child.ended());
        assert_eq!(status.code(), Some(78), "{program}");
    }
}

/// The right token is admitted while wrong ones are counted, told with their address, and slowed.
#[test]
fn wrong_tokens_are_told_and_slowed_and_the_right_one_is_not() {
    let plant = Plant::new("", "");
    plant.configure_agent(&plant.token());
    let _agent = plant.start(plant.command("pdm-agent", "run"), plant.agent);
    let guess = "guess of an attacker";
    for _ in 0..4 {
        let answer = post(plant.agent, "/knowledge?name=a.md", Some(guess), b"# a\nb\n");
        assert!(answer.expect("an answer").starts_with("HTTP/1.1 401"));
    }
    let log = plant.log();
    assert!(log.contains("wrong token") && log.contains("peer=127.0.0.1:"), "{log}");
    assert!(log.contains("failures=4"), "{log}");
    assert!(!log.contains(guess) && !log.contains(TOKEN), "{log}");
    let answer = post(plant.agent, "/knowledge?name=a.md", Some(TOKEN), b"# a\nb\n");
    assert!(answer.expect("an answer").starts_with("HTTP/1.1 200"));
    for _ in 0..5 {
        let port = plant.agent;
        std::thread::spawn(move || post(port, "/knowledge?name=a.md", Some(guess), b""));
    }
    until("the slowed guesses to be counted", 10, || {
        plant.log().contains("failures=8").then_some(())
    });
    // the ninth guess waits for five seconds
    let begun = Instant::now();
    let late = post(plant.agent, "/knowledge?name=a.md", Some(guess), b"# a\nb\n");
    assert!(late.expect("an answer").starts_with("HTTP/1.1 401"));
    assert!(begun.elapsed() >= Duration::from_secs(4), "{:?}", begun.elapsed());
}

/// R-EDGE-6: a page in a browser erases no baseline, and no metric of the flood is missing.
#[test]
fn a_web_page_cannot_relearn_and_refusals_are_counted() {
    let plant = Plant::new("", SIMULATOR);
    let _edge = plant.start(plant.command("pdm-edge", "run"), plant.edge);
    let page = Command::new("curl")
        .args(["-s", "-o", "/dev/null", "-w", "%{http_code}", "-X", "POST"])
        .args(["-H", "Origin: https://evil.example", "-H", "Host: evil.example"])
        .arg(format!("http://127.0.0.1:{}/relearn/P-1/DE", plant.edge))
        .output()
        .expect("curl runs");
    assert_eq!(shown(&page), "403");
    let metrics = get(plant.edge, "/metrics").expect("an answer");
    assert!(metrics.contains("pdm_http_refused_total{reason=\"origin\"} 1"), "{metrics}");
}

/// One address that asks without a pause is told to wait; health still answers.
#[test]
fn a_flood_of_requests_is_limited_and_health_answers() {
    let plant = Plant::new("", SIMULATOR);
    let _edge = plant.start(plant.command("pdm-edge", "run"), plant.edge);
    let refused = (0..1500)
        .filter_map(|_| get(plant.edge, "/metrics"))
        .filter(|answer| answer.starts_with("HTTP/1.1 429"))
        .count();
    assert!(refused > 0, "1,500 requests without a pause were answered");
    assert!(get(plant.edge, "/healthz").expect("an answer").starts_with("HTTP/1.1 200"));
}
