//! Mutual TLS of the agent's own process against a real Mosquitto: what is wrong is told, nothing
//! storms, nothing is lost. The edge's half stands in its own tests.

mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use pdm_harness::{Authority, Child, Mosquitto, Persistence, free_port};
use sqlx::Row as _;

use support::{Client, event, healthy, until};

/// An agent with its folder.
struct Running {
    _child: Child,
    folder: tempfile::TempDir,
}

impl Running {
    fn start(authority: &Authority, port: u16, ca: &str, client: Option<&str>) -> Self {
        let folder = tempfile::tempdir().expect("folder");
        let config = configure(folder.path(), authority, port, ca, client);
        let log = std::fs::File::create(folder.path().join("log")).expect("log");
        let mut command = Command::new(env!("CARGO_BIN_EXE_pdm-agent"));
        command.args(["run", "--config"]).arg(config).env("NO_COLOR", "1").stderr(log);
        Self { _child: Child::start(&mut command), folder }
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Events stored and rows that have to leave.
    async fn level(&self) -> Option<(i64, i64)> {
        let url = format!("sqlite://{}", self.folder.path().join("agent.db").display());
        let pool = sqlx::SqlitePool::connect(&url).await.ok()?;
        let row = sqlx::query(
            "SELECT (SELECT count(*) FROM events WHERE judged = 1),
                    (SELECT count(*) FROM outbox WHERE state = 'waiting')",
        )
        .fetch_one(&pool)
        .await
        .ok();
        pool.close().await;
        row.map(|row| (row.get(0), row.get(1)))
    }

    async fn reaches(&self, wanted: impl Fn(i64, i64) -> bool) {
        let deadline = tokio::time::Instant::now() + Duration::from_mins(2);
        loop {
            let level = self.level().await;
            if level.is_some_and(|(judged, unsent)| wanted(judged, unsent)) {
                return;
            }
            assert!(tokio::time::Instant::now() < deadline, "{level:?}\n{}", self.log());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

fn configure(
    folder: &Path,
    authority: &Authority,
    port: u16,
    ca: &str,
    client: Option<&str>,
) -> PathBuf {
    let pair = client.map_or_else(String::new, |name| {
        format!(
            "certificate = \"{}\"\nkey = \"{}\"\n",
            authority.path(&format!("{name}.pem")).display(),
            authority.path(&format!("{name}.key")).display()
        )
    });
    let text = format!(
        "[store]\nsqlite = \"agent.db\"\n[broker]\naddresses = \
         [\"127.0.0.1:{port}\"]\n[broker.tls]\nca = \"{}\"\n\
         {pair}[intake]\nreceipt_after_s = 0.05\n",
        authority.path(ca).display()
    );
    let config = folder.join("agent.toml");
    std::fs::write(&config, text).expect("writes");
    config
}

fn authority(name: &str) -> Option<Authority> {
    let authority = Authority::found(name)?;
    for who in ["broker", "agent"] {
        authority.issue(who);
    }
    authority.issue_expired("expired");
    Some(authority)
}

/// The lines that make a listener speak mutual TLS and know its clients by their certificates.
fn listener(authority: &Authority, certificate: &str) -> String {
    let place = |name: &str| authority.path(name).display().to_string();
    format!(
        "cafile {}\ncertfile {}\nkeyfile {}\nrequire_certificate true\n\
         use_identity_as_username true\n",
        place("ca.pem"),
        place(&format!("{certificate}.pem")),
        place(&format!("{certificate}.key")),
    )
}

fn tls_broker(name: &str, authority: &Authority, certificate: &str) -> Option<Mosquitto> {
    let lines = format!("allow_anonymous true\n{}", listener(authority, certificate));
    Mosquitto::start_with(name, Persistence::Memory, &lines)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_tls_refuses_is_told_and_the_broker_sees_no_storm() {
    let name = "what_tls_refuses_is_told_and_the_broker_sees_no_storm";
    let Some(authority) = authority(name) else { return };
    let Some(broker) = tls_broker(name, &authority, "broker") else { return };
    let Some(expired) = tls_broker(name, &authority, "expired") else { return };
    for (broker, ca, client, told) in [
        (&broker, "other-ca.pem", Some("agent"), "UnknownIssuer"),
        (&broker, "ca.pem", None, "alert"),
        (&expired, "ca.pem", Some("agent"), "xpired"),
    ] {
        let before = broker.log().matches("New connection").count();
        let agent = Running::start(&authority, broker.port(), ca, client);
        until("the reason in the log", 20, || agent.log().contains(told)).await;
        tokio::time::sleep(Duration::from_secs(2)).await;
        let attempts = broker.log().matches("New connection").count() - before;
        // two connections, each after 0, 1/4, 3/4, 7/4 s and so on
        assert!(attempts <= 10, "{attempts} attempts in two seconds\n{}", agent.log());
        assert_eq!(agent.level().await, Some((0, 0)));
        let check = Command::new(env!("CARGO_BIN_EXE_pdm-agent"))
            .args(["check", "--config"])
            .arg(agent.folder.path().join("agent.toml"))
            .stderr(Stdio::null())
            .output()
            .expect("runs");
        let said = String::from_utf8_lossy(&check.stdout).into_owned();
        assert!(said.contains(told), "{told}: {said}");
        assert_eq!(check.status.code(), Some(69), "{said}");
    }
}

/// A broker with one plain listener for the test and one with mutual TLS for the agent.
fn two_listeners(
    name: &str,
    authority: &Authority,
    acl: Option<&Path>,
) -> Option<(Mosquitto, u16)> {
    let port = free_port();
    let acl = acl.map_or_else(String::new, |acl| format!("acl_file {}\n", acl.display()));
    let lines = format!(
        "allow_anonymous true\n{acl}listener {port} 127.0.0.1\n{}",
        listener(authority, "broker")
    );
    Mosquitto::start_with(name, Persistence::Memory, &lines).map(|broker| (broker, port))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renewed_certificate_is_used_without_a_restart_and_nothing_is_lost() {
    let name = "a_renewed_certificate_is_used_without_a_restart_and_nothing_is_lost";
    let Some(authority) = authority(name) else { return };
    let Some((broker, port)) = two_listeners(name, &authority, None) else { return };
    std::fs::copy(authority.path("other-ca.pem"), authority.path("used-ca.pem")).expect("copies");
    let agent = Running::start(&authority, port, "used-ca.pem", Some("agent"));
    until("a refusal", 20, || agent.log().contains("UnknownIssuer")).await;
    std::fs::copy(authority.path("ca.pem"), authority.path("used-ca.pem")).expect("copies");
    until("a connection", 20, || agent.log().contains("connected for intake")).await;
    let mut client = Client::connect(
        broker.port(),
        "test",
        &["pdm/v1/+/+/+/diagnosis", "pdm/v1/+/+/+/notification"],
    )
    .await;
    client.send(&[healthy(1), event(2)]).await;
    agent.reaches(|judged, unsent| (judged, unsent) == (2, 0)).await;
    until("two diagnoses", 10, || client.heard_on("/diagnosis").len() == 2).await;
}

/// The agent's right to publish is revoked: what has to leave waits, and leaves when it is back.
#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_right_is_told_stormed_by_nobody_and_costs_nothing() {
    let name = "a_revoked_right_is_told_stormed_by_nobody_and_costs_nothing";
    let Some(authority) = authority(name) else { return };
    let acl = authority.path("acl");
    let rights = |agent: &str| {
        let text = format!("topic readwrite #\nuser agent\ntopic {agent} pdm/v1/#\n");
        std::fs::write(&acl, text).expect("writes");
    };
    rights("readwrite");
    let Some((broker, port)) = two_listeners(name, &authority, Some(&acl)) else { return };
    let agent = Running::start(&authority, port, "ca.pem", Some("agent"));
    let mut client = Client::connect(
        broker.port(),
        "test",
        &["pdm/v1/+/+/+/diagnosis", "pdm/v1/+/+/+/notification"],
    )
    .await;
    until("a connection", 20, || agent.log().contains("connected for intake")).await;
    client.send(&[healthy(1)]).await;
    agent.reaches(|judged, unsent| (judged, unsent) == (1, 0)).await;

    let process = broker.process().expect("runs");
    rights("read");
    process.hang_up();
    tokio::time::sleep(Duration::from_millis(300)).await;
    let before = broker.log().matches("New connection").count();
    client.send(&[event(2), event(3)]).await;
    agent.reaches(|judged, unsent| judged == 3 && unsent > 0).await;
    tokio::time::sleep(Duration::from_secs(4)).await;
    let attempts = broker.log().matches("New connection").count() - before;
    assert!(attempts <= 10, "{attempts} attempts in four seconds: a storm\n{}", agent.log());
    assert_eq!(client.heard_on("/diagnosis").len(), 1, "the right is revoked");

    rights("readwrite");
    process.hang_up();
    agent.reaches(|judged, unsent| (judged, unsent) == (3, 0)).await;
    until("every diagnosis", 10, || client.heard_on("/diagnosis").len() >= 3).await;
    assert!(
        agent.log().contains("not confirmed") || agent.log().contains("refuse"),
        "{}",
        agent.log()
    );
}
