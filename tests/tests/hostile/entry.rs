//! Tests who gets in beyond this machine: nobody without a token or a user; over TLS; the first
//! user.

use std::process::{Command, Stdio};

use pdm_harness::{Authority, Child, until};

use crate::programs::{Plant, get, shown};

/// An agent that other machines reach.
fn open(plant: &Plant, more: &str) {
    let text = format!(
        "[store]\nsqlite = \"agent.db\"\n[broker]\naddresses = [\"127.0.0.1:{}\"]\n\
         [http]\nlisten = \"0.0.0.0:{}\"\n{more}\n",
        plant.broker, plant.agent
    );
    plant.write("agent.toml", text.as_bytes());
}

fn user(plant: &Plant, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = plant.command("pdm-agent", "user");
    let output = command.args(arguments).stdin(Stdio::null()).output().expect("runs");
    (output.status.code(), shown(&output))
}

fn curl(arguments: &[&str]) -> String {
    let output = Command::new("curl").args(["-sS", "--max-time", "20"]).args(arguments).output();
    shown(&output.expect("curl runs"))
}

/// R-AGENT-10: nothing is served beyond this machine to somebody who could not say who they are.
#[test]
fn beyond_loopback_the_agent_starts_with_a_token_or_a_user_alone() {
    let name = "beyond_loopback_the_agent_starts_with_a_token_or_a_user_alone";
    let Some(authority) = Authority::found(name) else { return };
    authority.issue("page");
    let plant = Plant::new("", "");
    let ends = |what: &str| {
        let mut command = plant.command("pdm-agent", "run");
        let log = std::fs::File::create(plant.path("log")).expect("a log");
        let mut child = Child::start(command.stdout(Stdio::null()).stderr(log));
        let status = until("the end", 60, || child.ended());
        assert_eq!(status.code(), Some(78), "{what}: {}", plant.log());
        plant.log()
    };
    open(&plant, "");
    assert!(ends("without anything").contains("http.token"));
    let file = |name: &str| authority.path(name).display().to_string();
    let tls = format!(
        "[http.tls]\ncertificate = \"{}\"\nkey = \"{}\"\n",
        file("page.pem"),
        file("page.key")
    );
    open(&plant, &tls);
    assert!(ends("without a user").contains("pdm-agent user add"));
    plant.write("password", b"a password of some length\n");
    let add = ["add", "kim", "--role", "admin", "--password-file", "password"];
    assert_eq!(user(&plant, &add).0, Some(0));
    assert_eq!(user(&plant, &add).0, Some(64), "a name is taken once");
    assert_eq!(user(&plant, &["add", "lee", "--role", "admin"]).0, Some(64), "no terminal");
    assert_eq!(user(&plant, &["role", "nobody", "viewer"]).0, Some(66));
    let (code, token) = user(&plant, &["token", "kim", "--label", "test", "--days", "1"]);
    assert_eq!((code, token.trim().len()), (Some(0), 64), "{token}");
    let (_, listed) = user(&plant, &["list"]);
    assert!(listed.contains("kim  admin  password") && listed.contains("token test"), "{listed}");
    assert!(!listed.contains(token.trim()) && !listed.contains("argon2"), "{listed}");

    let log = std::fs::File::create(plant.path("log")).expect("a log");
    let mut command = plant.command("pdm-agent", "run");
    let mut agent = Child::start(command.stdout(Stdio::null()).stderr(log));
    let (ca, url) = (file("ca.pem"), format!("https://127.0.0.1:{}", plant.agent));
    let health = format!("{url}/healthz");
    until("the agent to answer over TLS", 60, || {
        assert!(agent.is_running(), "{}", plant.log());
        curl(&["--cacert", &ca, &health]).contains("ok").then_some(())
    });
    assert!(get(plant.agent, "/healthz").is_none_or(|answer| !answer.contains("200")), "no TLS");
    let status = ["-o", "/dev/null", "-w", "%{http_code}", "--cacert", &ca];
    let (bearings, bearer) =
        (format!("{url}/api/v1/bearings"), format!("Authorization: Bearer {}", token.trim()));
    assert_eq!(curl(&[&status[..], &[&bearings]].concat()), "401");
    assert_eq!(curl(&[&status[..], &["-H", &bearer, &bearings]].concat()), "200");
    let login = format!("{url}/login");
    let form = ["-d", "name=kim", "-d", "password=a password of some length", "-D", "-"];
    let cookie = curl(&[&["--cacert", &ca, "-o", "/dev/null"], &form[..], &[&login]].concat());
    assert!(cookie.contains("; Secure") && cookie.contains("HttpOnly"), "{cookie}");

    renewed(&authority, &ca, &health);
    assert_eq!(agent.terminate().code(), Some(0));
}

/// The certificate is renewed, with another key: the agent goes on with the new one.
fn renewed(authority: &Authority, ca: &str, health: &str) {
    let serial = || curl(&["-v", "-o", "/dev/null", "--cacert", ca, health]);
    assert!(serial().contains("CN=page"));
    authority.issue("renewed");
    for kind in ["key", "pem"] {
        let from = authority.path(&format!("renewed.{kind}"));
        std::fs::copy(from, authority.path(&format!("page.{kind}"))).expect("copied");
    }
    until("the renewed certificate", 60, || serial().contains("CN=renewed").then_some(()));
}

/// R-AGENT-10: the first user is made once, by whoever reads the log.
#[test]
fn the_one_time_token_of_the_log_makes_one_administrator() {
    let plant = Plant::new("first_admin = \"log\"\n", "");
    let _agent = plant.start(plant.command("pdm-agent", "run"), plant.agent);
    let log = plant.log();
    let token = log.split("one-time token ").nth(1).and_then(|rest| rest.get(..64));
    let token = token.unwrap_or_else(|| panic!("no token in the log: {log}"));
    let url = format!("http://127.0.0.1:{}", plant.agent);
    let setup = |token: &str, name: &str| {
        let (token, name) = (format!("token={token}"), format!("name={name}"));
        let form = ["-d", &token, "-d", &name, "-d", "password=a password of some length"];
        let status = ["-o", "/dev/null", "-w", "%{http_code}"];
        curl(&[&status[..], &form[..], &[&format!("{url}/setup")]].concat())
    };
    assert_eq!(setup("guess", "mallory"), "403");
    assert_eq!(setup(token, "kim"), "303");
    assert_eq!(setup(token, "mallory"), "403", "the token is used");
    let page = format!("{url}/");
    let open = curl(&["-o", "/dev/null", "-w", "%{http_code} %{redirect_url}", &page]);
    assert!(open.starts_with("303") && open.contains("/login"), "users are asked for now: {open}");
    let (_, listed) = user(&plant, &["list"]);
    assert!(listed.contains("kim  admin") && !listed.contains("mallory"), "{listed}");
}
