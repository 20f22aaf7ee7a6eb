//! The ways to staff that people have: a mailbox that is gone, a hook that is deployed anew or
//! answers 200 to what it did not deliver. An alarm reaches a person, and the page says what did
//! not work.

use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pdm_harness::{Child, Mosquitto, Persistence, Smtp, binary, free_port, until, whole_request};
use pdm_shared::event::Event;
use pdm_shared::id::EventId;
use pdm_shared::time::Timestamp;
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::{AsyncClient, MqttOptions};
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// Longest wait for what has to happen, s.
const PATIENCE: u64 = 60;
const FAULT: &str = include_str!("../../../config/examples/event.json");

/// A broker and an agent with ways to staff.
struct Plant {
    folder: TempDir,
    broker: Mosquitto,
    http: u16,
    agent: Child,
}

impl Plant {
    fn start(test: &str, notify: &str) -> Option<Self> {
        Self::start_with(test, "off = true", notify)
    }

    fn start_with(test: &str, reports: &str, notify: &str) -> Option<Self> {
        let broker = Mosquitto::start(test, Persistence::Memory)?;
        let folder = tempfile::tempdir().expect("folder");
        let http = free_port();
        let text = format!(
            "[store]\nsqlite = \"agent.db\"\n[broker]\naddresses = [\"127.0.0.1:{}\"]\n\
             [http]\nlisten = \"127.0.0.1:{http}\"\n[reports]\n{reports}\n\
             [notify]\ngroup_wait_s = 0.1\n{notify}",
            broker.port()
        );
        let config = folder.path().join("agent.toml");
        std::fs::write(&config, text).expect("agent.toml");
        let log = std::fs::File::create(folder.path().join("agent.log")).expect("log");
        let mut command = Command::new(binary("pdm-agent"));
        command.args(["run", "--config"]).arg(&config).env("PDM_LOG", "info");
        let agent = Child::start(command.stdout(Stdio::null()).stderr(log));
        Some(Self { folder, broker, http, agent })
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("agent.log")).unwrap_or_default()
    }

    /// Publishes the example's Warning; the broker keeps it for an agent that has subscribed once.
    async fn alarm(&self) {
        until("the agent's subscription", PATIENCE, || {
            self.log().contains("connected for intake").then_some(())
        });
        let mut event: Event = serde_json::from_str(FAULT).expect("the contract's example");
        event.measured_at = Timestamp::parse("2026-11-21T05:10:21.000Z").expect("a time");
        event.event_id = EventId::at(event.measured_at.unix_ms());
        let options = MqttOptions::new("test-gateway", "127.0.0.1", self.broker.port());
        let (client, mut events) = AsyncClient::new(options, 16);
        let polling = tokio::spawn(async move { while events.poll().await.is_ok() {} });
        let topic = format!("pdm/v1/{}/event", event.key());
        let payload = serde_json::to_vec(&event).expect("json");
        // the subscription follows its log line: what comes twice is stored once
        for _ in 0..PATIENCE {
            let (topic, payload) = (topic.clone(), payload.clone());
            client.publish(topic, QoS::AtLeastOnce, false, payload).await.expect("room");
            tokio::time::sleep(Duration::from_secs(1)).await;
            if self.is_told() {
                break;
            }
        }
        polling.abort();
    }

    fn is_told(&self) -> bool {
        self.api("notifications")
            .is_some_and(|told| told["items"].as_array().is_some_and(|all| !all.is_empty()))
    }

    fn get(&self, path: &str) -> Option<String> {
        let url = format!("http://127.0.0.1:{}{path}", self.http);
        let asked = Command::new("curl").args(["-s", "-m", "5", &url]).output().ok()?;
        Some(String::from_utf8_lossy(&asked.stdout).into_owned())
    }

    fn api(&self, what: &str) -> Option<Value> {
        serde_json::from_str(&self.get(&format!("/api/v1/{what}"))?).ok()
    }

    fn metric(&self, name: &str) -> Option<String> {
        let text = self.get("/metrics")?;
        text.lines().find(|line| line.starts_with(name)).map(str::to_owned)
    }

    /// The page's row of a lane.
    fn channel(&self, lane: &str) -> Option<Value> {
        let told = self.api("channels")?;
        told["items"].as_array()?.iter().find(|row| row["lane"] == lane).cloned()
    }
}

/// Mail through this server to these addresses.
fn mail(server: &Smtp, to: &str) -> String {
    format!(
        "[notify.email]\nhost = \"127.0.0.1\"\nport = {}\nsecurity = \"none\"\n\
         from_address = \"pdm@plant.example\"\n{to}\n",
        server.port()
    )
}

/// R-AGENT-10: one address of two is gone. The other gets the mail, and page and metric say who
/// refuses.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_that_is_gone_takes_the_mail_from_nobody_else() {
    let name = "an_address_that_is_gone_takes_the_mail_from_nobody_else";
    let answers = [("gone@plant.example", "550 5.1.1 no such user")];
    let Some(server) = Smtp::start_refusing(name, &answers) else { return };
    let to = "to = [\"gone@plant.example\", \"maintenance@plant.example\"]";
    let Some(plant) = Plant::start(name, &mail(&server, to)) else { return };
    plant.alarm().await;
    let mails = until("the mail", PATIENCE, || {
        let mails = server.mails();
        (!mails.is_empty()).then_some(mails)
    });
    assert_eq!(mails.len(), 1, "one mail");
    assert!(mails[0].contains("X-RcptTo: maintenance@plant.example"), "{}", mails[0]);
    let row = until("the page's row", PATIENCE, || {
        plant.channel("email").filter(|row| row["given_up"] == 1)
    });
    let error = row["last_error"].as_str().expect("why").to_owned();
    assert!(error.contains("gone@plant.example") && error.contains("550"), "{row}");
    assert_eq!(row["is_failing"], true, "{row}");
    assert!(plant.metric("pdm_agent_notify_refused_total").is_some(), "{}", plant.log());
    assert_eq!(server.mails().len(), 1, "nobody gets it twice");
}

/// R-AGENT-10: the server takes no mail with a report, by its size or its rules. The alarm is in
/// the text.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mail_whose_report_the_server_refuses_leaves_without_it() {
    let name = "a_mail_whose_report_the_server_refuses_leaves_without_it";
    let Some(server) = Smtp::start_narrow(name, 20_000) else { return };
    let to = "to = [\"maintenance@plant.example\", \"lee@plant.example\"]";
    let notify = mail(&server, to);
    let Some(plant) = Plant::start_with(name, "folder = \"reports\"", &notify) else { return };
    plant.alarm().await;
    let mails = until("a mail for each address", PATIENCE, || {
        let mails = server.mails();
        (mails.len() == 2).then_some(mails)
    });
    assert!(mails.iter().all(|mail| mail.len() < 20_000), "without the report");
    assert!(plant.log().contains("a mail left without its report"), "{}", plant.log());
    assert!(plant.get("/healthz").is_some_and(|said| said.starts_with("ok")), "{}", plant.log());
}

/// R-AGENT-10: the person on duty has no mailbox any more. The next step of the route hears at
/// once, in whose message it says so, and not after its half hour.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_whom_no_mail_reaches_passes_the_alarm_to_the_next_step_at_once() {
    let name = "a_person_whom_no_mail_reaches_passes_the_alarm_to_the_next_step_at_once";
    let answers = [("lee@plant.example", "550 5.1.1 mailbox unavailable")];
    let Some(server) = Smtp::start_refusing(name, &answers) else { return };
    let people = "[[notify.recipient]]\nname = \"lee\"\nemail = \"lee@plant.example\"\n\
                  [[notify.recipient]]\nname = \"park\"\nemail = \"park@plant.example\"\n\
                  [[notify.route]]\nname = \"all\"\nfrom = \"Watch\"\n\
                  [[notify.route.step]]\nto = [\"lee\"]\n\
                  [[notify.route.step]]\nafter_minutes = 30\nto = [\"park\"]\n";
    let notify = format!("{}{people}", mail(&server, "language = \"en\""));
    let Some(plant) = Plant::start(name, &notify) else { return };
    plant.alarm().await;
    let mails = until("the mail", PATIENCE, || {
        let mails = server.mails();
        (!mails.is_empty()).then_some(mails)
    });
    assert!(mails[0].contains("X-RcptTo: park@plant.example"), "{}", mails[0]);
    until("the given up row", PATIENCE, || {
        plant.channel("to:lee:email").filter(|row| row["given_up"] == 1)
    });
    assert!(plant.log().contains("others are told instead"), "{}", plant.log());
}

/// R-AGENT-10: the only way to staff refuses. Health, log and metric say that an alarm has reached
/// nobody, and it is tried until the way takes it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_alarm_that_no_way_takes_turns_the_health_until_one_does() {
    let name = "an_alarm_that_no_way_takes_turns_the_health_until_one_does";
    let (url, asked) = hook(&[(403, "Forbidden"), (200, "ok")]).await;
    let notify = format!("[[notify.webhook]]\nname = \"ops\"\nurl = \"{url}\"\nfrom = \"Watch\"\n");
    let Some(plant) = Plant::start(name, &notify) else { return };
    plant.alarm().await;
    until("the health", PATIENCE, || {
        plant.get("/healthz").filter(|text| text.contains("reached nobody"))
    });
    assert!(plant.log().contains("an alarm reaches nobody"), "{}", plant.log());
    assert_eq!(
        plant.metric("pdm_agent_notify_untold ").as_deref(),
        Some("pdm_agent_notify_untold 1")
    );
    until("the health again", PATIENCE, || plant.get("/healthz").filter(|text| text == "ok\n"));
    assert_eq!(count(&asked), 2, "refused once, then taken");
}

/// Issue 33: nobody listens at the only way to staff. Health said "ok" for a minute.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_health_says_at_once_that_the_only_way_fails() {
    let name = "the_health_says_at_once_that_the_only_way_fails";
    let url = format!("http://127.0.0.1:{}/hook", free_port());
    let notify = format!("[[notify.webhook]]\nname = \"ops\"\nurl = \"{url}\"\nfrom = \"Watch\"\n");
    let Some(plant) = Plant::start(name, &notify) else { return };
    plant.alarm().await;
    let told = std::time::Instant::now();
    let said = until("the health", PATIENCE, || {
        plant.get("/healthz").filter(|text| text.contains("no other way is left"))
    });
    assert!(told.elapsed() < Duration::from_secs(15), "{:?}", told.elapsed());
    assert!(said.contains("on webhook:ops, and no other way"), "{said}");
}

/// Serves a hook with these answers, the last one for ever; returns its address and the bodies that
/// it gets.
async fn hook(answers: &'static [(u16, &'static str)]) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let url = format!("http://{}/hook", listener.local_addr().expect("address"));
    let bodies = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&bodies);
    tokio::spawn(async move {
        let mut count = 0;
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut bytes = Vec::new();
            let mut part = [0; 4096];
            let body = loop {
                let read = stream.read(&mut part).await.unwrap_or(0);
                bytes.extend_from_slice(&part[..read]);
                match whole_request(&bytes) {
                    Some((_head, body)) => break Some(body),
                    None if read == 0 => break None,
                    None => {}
                }
            };
            let Some(body) = body else { continue };
            seen.lock().unwrap_or_else(PoisonError::into_inner).push(body);
            let (status, text) = answers[count.min(answers.len() - 1)];
            count += 1;
            let answer = format!(
                "HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
                text.len()
            );
            let _gone = stream.write_all(answer.as_bytes()).await;
        }
    });
    (url, bodies)
}

fn count(bodies: &Mutex<Vec<String>>) -> usize {
    bodies.lock().unwrap_or_else(PoisonError::into_inner).len()
}

/// R-AGENT-10: Teams answers 200 to what it did not deliver. The alarm is tried again, and
/// meanwhile a way that asks for Critical alone hears of the Warning.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_200_of_teams_that_says_failed_is_no_delivery_and_others_hear_meanwhile() {
    let name = "a_200_of_teams_that_says_failed_is_no_delivery_and_others_hear_meanwhile";
    let failed = "Webhook message delivery failed with error: Microsoft Teams endpoint returned \
                  HTTP error 400 with ContextId tcid=0";
    let (teams, asked) = hook(Vec::leak(vec![(200, failed), (200, "1")])).await;
    let (relay, taken) = hook(&[(200, "ok")]).await;
    let notify = format!(
        "[[notify.webhook]]\nname = \"teams\"\nformat = \"teams\"\nurl = \"{teams}\"\n\
         from = \"Watch\"\n[[notify.webhook]]\nname = \"relay\"\nurl = \"{relay}\"\n\
         from = \"Critical\"\n"
    );
    let Some(plant) = Plant::start(name, &notify) else { return };
    plant.alarm().await;
    until("the other way", PATIENCE, || (count(&taken) == 1).then_some(()));
    let told = taken.lock().unwrap_or_else(PoisonError::into_inner)[0].clone();
    assert!(told.contains("Not delivered: teams did not take"), "{told}");
    for _ in 0..PATIENCE * 10 {
        if count(&asked) >= 2 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(count(&asked), 2, "tried again until it is taken: {}", plant.log());
    assert_eq!(count(&taken), 1, "and told elsewhere once");
}

/// R-AGENT-10: the way that failed is replaced by another one in the configuration. What waited on
/// it reaches people by the new one; it waited for ever, and health said ok.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_on_a_way_that_has_left_the_configuration_is_told_by_the_new_one() {
    let name = "what_waits_on_a_way_that_has_left_the_configuration_is_told_by_the_new_one";
    let (broken, asked) = hook(&[(500, "down")]).await;
    let (new, taken) = hook(&[(200, "ok")]).await;
    let way = |name: &str, url: &str| {
        format!("[[notify.webhook]]\nname = \"{name}\"\nurl = \"{url}\"\nfrom = \"Watch\"\n")
    };
    let Some(plant) = Plant::start(name, &way("old", &broken)) else { return };
    plant.alarm().await;
    until("a try in vain", PATIENCE, || (count(&asked) > 0).then_some(()));
    let config = plant.folder.path().join("agent.toml");
    let text = std::fs::read_to_string(&config).expect("there");
    let text = text.replace(&way("old", &broken), &way("new", &new));
    std::fs::write(&config, text).expect("written");
    plant.agent.hang_up();
    until("the new way", PATIENCE, || (count(&taken) > 0).then_some(()));
    let told = taken.lock().unwrap_or_else(PoisonError::into_inner)[0].clone();
    assert!(told.contains("P-101"), "{told}");
    assert!(plant.log().contains("has left the configuration"), "{}", plant.log());
    until("nothing waits there", PATIENCE, || {
        plant.channel("webhook:old").is_none_or(|row| row["waiting"] == 0).then_some(())
    });
    assert_eq!(count(&taken), 1, "and it is told once");
}
