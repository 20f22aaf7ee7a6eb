//! Messages are protected on their way, and no secret shows anywhere: mail after STARTTLS and a web
//! hook over HTTPS against real servers, logs, metrics, dead letters and error output searched.

mod support;

use std::path::Path;
use std::process::{Command, Output};

use pdm_harness::{Authority, Child, Https, Mosquitto, Persistence, Smtp, free_port, until};

use support::{Client, event};

const SECRETS: [&str; 4] =
    ["mqtt-hunter2", "smtp-hunter3", "hook-hunter4", "http-hunter5-of-sixteen"];

fn agent(config: &Path, command: &str) -> Command {
    let mut agent = Command::new(env!("CARGO_BIN_EXE_pdm-agent"));
    agent.args([command, "--config"]).arg(config).env("PDM_LOG", "trace");
    agent
}

fn secret(folder: &Path, value: &str) -> String {
    let file = folder.join(value.split('-').next().unwrap_or_default());
    std::fs::write(&file, format!("{value}\n")).expect("written");
    format!("{{ file = {:?} }}", file.display().to_string())
}

/// R-AGENT-10
#[tokio::test(flavor = "multi_thread")]
async fn mail_goes_by_starttls_and_the_hook_by_https_and_a_foreign_certificate_is_refused() {
    let name = "mail_goes_by_starttls_and_the_hook_by_https";
    let Some(authority) = Authority::found(name) else { return };
    authority.issue("server");
    let (certificate, key) = (authority.path("server.pem"), authority.path("server.key"));
    let Some(smtp) = Smtp::start_tls(name, &certificate, &key) else { return };
    let Some(https) = Https::start(name, &certificate, &key) else { return };
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let config = folder.path().join("agent.toml");
    let text = format!(
        "[store]\nsqlite = \"agent.db\"\n[broker]\naddresses = [\"127.0.0.1:{}\"]\n\
         [notify]\ngroup_wait_s = 0.0\n\
         [notify.email]\nhost = \"localhost\"\nport = {}\nsecurity = \"starttls\"\n\
         from_address = \"pdm@plant.example\"\nto = [\"kim@plant.example\"]\n\
         [[notify.webhook]]\nname = \"ops\"\nurl = \"https://localhost:{}/hook\"\n",
        broker.port(),
        smtp.port(),
        https.port()
    );
    std::fs::write(&config, text).expect("written");
    // the test's authority is not one of the machine's
    let refused = agent(&config, "check").output().expect("runs");
    let told = shown(&refused);
    assert_eq!(refused.status.code(), Some(69), "{told}");
    assert!(told.contains("FAIL  mail server localhost"), "{told}");
    assert!(told.contains("FAIL  web hook ops"), "{told}");
    assert!(smtp.mails().is_empty() && https.posts().is_empty());

    let _agent = Child::start(
        agent(&config, "run").env("SSL_CERT_FILE", authority.path("ca.pem")).env("PDM_LOG", "info"),
    );
    let mut gateway = Client::connect(broker.port(), "gateway", &["pdm/v1/+/+/+/diagnosis"]).await;
    let judged = tokio::time::timeout(std::time::Duration::from_secs(30), async {
        while gateway.heard_on("/diagnosis").is_empty() {
            gateway.send(&[event(1)]).await;
            tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        }
    });
    judged.await.expect("judged in time");
    let mail = until("the mail", 30, || smtp.mails().into_iter().next());
    assert!(mail.contains("pdm@plant.example"), "{mail}");
    let post = until("the post", 30, || https.posts().into_iter().next());
    assert!(post.starts_with("/hook\n") && post.contains("pdm.notification/1"), "{post}");
}

fn shown(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}{}", text(&output.stdout), text(&output.stderr))
}

async fn metrics(address: &str) -> String {
    let get = reqwest::Client::new().get(format!("http://{address}/metrics"));
    get.bearer_auth(SECRETS[3]).send().await.expect("an answer").text().await.expect("text")
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::too_many_lines, reason = "one course of events, told from start to end")]
async fn no_secret_shows_in_logs_errors_metrics_or_dead_letters() {
    let name = "no_secret_shows_in_logs_errors_metrics_or_dead_letters";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let config = folder.path().join("agent.toml");
    let [mqtt, smtp, hook, http] = SECRETS.map(|value| match value.split_once('-') {
        // the address itself is the secret
        Some(("hook", _)) => {
            let file = folder.path().join("hook");
            let url = format!("http://127.0.0.1:{}/services/{value}\n", free_port());
            std::fs::write(&file, url).expect("written");
            format!("{{ file = {:?} }}", file.display().to_string())
        }
        _ => secret(folder.path(), value),
    });
    let address = format!("127.0.0.1:{}", free_port());
    let text = format!(
        "shutdown_grace_s = 1.0\n[store]\nsqlite = \"agent.db\"\n\
         [broker]\naddresses = [\"127.0.0.1:{}\"]\nuser = \"agent\"\npassword = {mqtt}\n\
         [notify]\ngroup_wait_s = 0.0\n\
         [notify.email]\nhost = \"127.0.0.1\"\nport = {}\nsecurity = \"none\"\nuser = \"pdm\"\n\
         password = {smtp}\nfrom_address = \"pdm@plant.example\"\nto = [\"kim@plant.example\"]\n\
         [[notify.webhook]]\nname = \"ops\"\nurl_secret = {hook}\n\
         [http]\nlisten = \"{address}\"\ntoken = {http}\n",
        broker.port(),
        free_port(),
    );
    std::fs::write(&config, &text).expect("written");
    let log = folder.path().join("log");
    let mut running =
        Child::start(agent(&config, "run").stderr(std::fs::File::create(&log).expect("a log")));
    until("the service", 40, || std::net::TcpStream::connect(&address).ok());
    let mut gateway = Client::connect(broker.port(), "gateway", &["pdm/v1/dead-letter"]).await;
    let wants = |log: &str| log.contains("not delivered") && log.contains("webhook:ops");
    let told = tokio::time::timeout(std::time::Duration::from_secs(40), async {
        // sent again until the agent has subscribed: the same event twice is one
        while !wants(&std::fs::read_to_string(&log).unwrap_or_default()) {
            gateway.send(&[event(1)]).await;
            gateway.publish([("pdm/v1/s/e/b/event".to_owned(), "no event".to_owned())]).await;
            tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        }
    });
    told.await.expect("a notification that cannot leave");
    pdm_agent::service::install_cryptography();
    let client = reqwest::Client::new();
    for token in ["http-hunter5-of-sixteen", "wrong"] {
        let asked = client.post(format!("http://{address}/knowledge?name=a.md"));
        let asked = asked.bearer_auth(token).body("# a\nb\n").send().await;
        asked.expect("an answer");
    }
    let mut seen = vec![("metrics", metrics(&address).await)];
    running.terminate();
    seen.push(("log", std::fs::read_to_string(&log).expect("a log")));
    seen.push(("check", shown(&agent(&config, "check").output().expect("runs"))));
    std::fs::write(&config, text.replace("[http]", "[httpd]")).expect("written");
    seen.push(("bad configuration", shown(&agent(&config, "run").output().expect("runs"))));
    seen.push(("dead letters", gateway.heard_on("dead-letter").join("\n")));
    assert!(seen[1].1.contains("DEBUG") || seen[1].1.contains("TRACE"), "the log is thorough");
    for (place, text) in seen {
        assert!(!text.is_empty(), "{place} is empty");
        for secret in SECRETS {
            let line = text.lines().find(|line| line.contains(secret));
            assert!(line.is_none(), "{secret} shows in {place}: {line:?}");
        }
    }
    let stored = std::fs::read(folder.path().join("agent.db")).expect("the store");
    for secret in SECRETS {
        let bytes = secret.as_bytes();
        assert!(!stored.windows(bytes.len()).any(|part| part == bytes), "{secret} is stored");
    }
}
