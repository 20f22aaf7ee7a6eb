//! Notifications on their way out: a real mail server, a web hook's receiver, acknowledgements.

mod support;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use pdm_agent::service::Agent;
use pdm_agent::settings::{
    EmailSecurity, EmailSettings, Languages, WebhookFormat, WebhookSettings,
};
use pdm_harness::{Mosquitto, Persistence, Smtp, header, whole_request};
use pdm_service::clock::{Clock as _, SystemClock};
use pdm_shared::delivery::{Notification, NotificationReason};
use pdm_shared::risk::RiskLevel;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use support::{Client, event, settings, subscribed, until};

/// One request: its head and its body.
type Requests = Arc<Mutex<Vec<(String, String)>>>;

/// A receiver of web hooks that answers with these status lines, the last one for ever.
async fn receiver(answers: &'static [&'static str]) -> (String, Requests) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let url = format!("http://{}/hook", listener.local_addr().expect("address"));
    let requests = Requests::default();
    let seen = Arc::clone(&requests);
    tokio::spawn(async move {
        let mut count = 0;
        loop {
            let (mut stream, _) = listener.accept().await.expect("accept");
            let mut bytes = Vec::new();
            let (head, body) = loop {
                let mut part = [0; 4096];
                let read = stream.read(&mut part).await.expect("read");
                bytes.extend_from_slice(&part[..read]);
                if let Some(whole) = whole_request(&bytes) {
                    break whole;
                }
            };
            seen.lock().expect("lock").push((head, body));
            let answer = answers[count.min(answers.len() - 1)];
            count += 1;
            let text =
                format!("HTTP/1.1 {answer}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            stream.write_all(text.as_bytes()).await.expect("answer");
        }
    });
    (url, requests)
}

fn hook(url: String, format: WebhookFormat) -> WebhookSettings {
    WebhookSettings {
        name: "ops".to_owned(),
        url: Some(url),
        url_secret: None,
        tls: None,
        format,
        language: Languages::Ko,
        from: RiskLevel::Watch,
        ..WebhookSettings::default()
    }
}

fn key_of(head: &str) -> String {
    header(head, "idempotency-key").expect("the header")
}

/// R-AGENT-10: a mail in both languages as text and as a page, with its report, through a real
/// server.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_alarm_reaches_a_mailbox_in_korean_and_english() {
    let name = "an_alarm_reaches_a_mailbox_in_korean_and_english";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let Some(mail) = Smtp::start(name) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let mut settings = settings(broker.port(), folder.path());
    settings.reports.folder = Some(folder.path().join("reports"));
    settings.http.listen = Some(std::net::SocketAddr::from(([127, 0, 0, 1], 0)));
    settings.http.public_url = Some("http://pdm.example".to_owned());
    settings.notify.email = Some(EmailSettings {
        host: "127.0.0.1".to_owned(),
        port: Some(mail.port()),
        security: EmailSecurity::None,
        user: None,
        password: None,
        from_address: "PdM <pdm@plant.example>".to_owned(),
        to: vec!["정비팀 <maintenance@plant.example>".to_owned(), "lead@plant.example".to_owned()],
        language: Languages::Both,
        from: RiskLevel::Watch,
    });
    let agent = Agent::start(settings, Arc::new(SystemClock)).await.expect("starts");
    let progress = subscribed(&agent).await;
    let mut client = Client::connect(broker.port(), "test", &[]).await;
    client.send(&[event(1), event(2)]).await;
    until("the mail", 30, || {
        let now = *progress.borrow();
        (now.judged, now.unsent) == (2, 0)
    })
    .await;
    let mails = mail.mails();
    agent.stop().await.expect("no part failed");
    assert_eq!(mails.len(), 1, "one mail to two people");
    let raw = &mails[0];
    assert!(raw.to_lowercase().contains("message-id: <"), "{raw}");
    assert!(raw.contains("charset=utf-8"), "{raw}");
    let [text, page, korean, english] = &parts(raw)[..] else { panic!("four parts: {raw}") };
    assert_eq!((text.0.as_str(), page.0.as_str()), ("text/plain", "text/html"));
    for body in [&text.2, &page.2] {
        assert!(body.contains("[경고] P-101 DE 베어링 외륜 결함"), "{body}");
        assert!(body.contains("[Warning] P-101 DE: outer race fault"), "{body}");
        assert!(body.contains("http://pdm.example/ack/"), "{body}");
    }
    assert!(page.2.contains("<a href=\"http://pdm.example/ack/"), "{}", page.2);
    assert!(!page.2.contains("<img") && !page.2.contains("src="), "nothing is loaded: {}", page.2);
    for (report, language) in [(korean, "ko"), (english, "en")] {
        assert_eq!(report.0, "application/pdf");
        assert!(report.1.ends_with(&format!("-report.{language}.pdf")), "{}", report.1);
        assert!(report.2.starts_with("%PDF-"), "a whole file");
    }
}

/// The parts of a mail as Python's parser reads them: type, file name, content.
fn parts(raw: &str) -> Vec<(String, String, String)> {
    let script = "import sys,email,json;m=email.message_from_bytes(sys.stdin.buffer.read());\
                  print(json.dumps([(p.get_content_type(),p.get_filename() or '',\
                  p.get_payload(decode=True).decode('utf-8','replace'))\
                  for p in m.walk() if not p.is_multipart()]))";
    let mut child = std::process::Command::new("/usr/bin/python3")
        .args(["-c", script])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("python");
    std::io::Write::write_all(&mut child.stdin.take().expect("stdin"), raw.as_bytes())
        .expect("write");
    let told = child.wait_with_output().expect("output").stdout;
    serde_json::from_slice(&told).expect("parts")
}

/// R-AGENT-10: patience with a receiver that is busy, under one idempotency key.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_busy_receiver_gets_the_same_message_again_under_the_same_key() {
    let name = "a_busy_receiver_gets_the_same_message_again_under_the_same_key";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let (url, requests) = receiver(&["503 Busy", "200 OK"]).await;
    let mut settings = settings(broker.port(), folder.path());
    settings.notify.webhook = vec![hook(url, WebhookFormat::Generic)];
    let agent = Agent::start(settings, Arc::new(SystemClock)).await.expect("starts");
    let progress = subscribed(&agent).await;
    let mut client = Client::connect(broker.port(), "test", &[]).await;
    client.send(&[event(1)]).await;
    until("two requests", 30, || {
        requests.lock().expect("lock").len() == 2 && progress.borrow().unsent == 0
    })
    .await;
    agent.stop().await.expect("no part failed");
    let requests = requests.lock().expect("lock").clone();
    assert_eq!(requests[0].1, requests[1].1);
    assert_eq!(key_of(&requests[0].0), key_of(&requests[1].0));
    let told: Notification = serde_json::from_str(&requests[0].1).expect("a notification");
    assert_eq!((told.risk_level, told.reason), (RiskLevel::Warning, NotificationReason::Raised));
}

/// R-AGENT-10: a receiver that is not there for a while gets the alarm when it is back, although it
/// is the only one and its answer is no promise to come back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receiver_that_was_not_found_gets_the_alarm_when_it_is_back() {
    let name = "a_receiver_that_was_not_found_gets_the_alarm_when_it_is_back";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let (url, requests) = receiver(&["404 Not Found", "200 OK"]).await;
    let mut settings = settings(broker.port(), folder.path());
    settings.notify.webhook = vec![hook(url, WebhookFormat::Slack)];
    let agent = Agent::start(settings, Arc::new(SystemClock)).await.expect("starts");
    let progress = subscribed(&agent).await;
    let mut client = Client::connect(broker.port(), "test", &[]).await;
    client.send(&[event(1)]).await;
    until("the refusal", 30, || progress.borrow().untold == 1).await;
    until("the delivery", 60, || progress.borrow().unsent == 0 && progress.borrow().untold == 0)
        .await;
    agent.stop().await.expect("no part failed");
    assert_eq!(requests.lock().expect("lock").len(), 2);
}

/// R-AGENT-10: what one hook refuses for good is told by the other, names the one that refused, is
/// kept, and holds up nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_receiver_refuses_for_good_is_told_elsewhere_and_stays_visible() {
    let name = "what_a_receiver_refuses_for_good_is_told_elsewhere_and_stays_visible";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let (refuses, refused) = receiver(&["422 No"]).await;
    let (takes, taken) = receiver(&["200 OK"]).await;
    let mut settings = settings(broker.port(), folder.path());
    let quiet = WebhookSettings {
        name: "quiet".to_owned(),
        from: RiskLevel::Critical,
        ..hook(takes, WebhookFormat::Generic)
    };
    settings.notify.webhook = vec![hook(refuses, WebhookFormat::Generic), quiet];
    let store = settings.store.clone();
    let agent = Agent::start(settings, Arc::new(SystemClock)).await.expect("starts");
    let progress = subscribed(&agent).await;
    let mut client = Client::connect(broker.port(), "test", &[]).await;
    client.send(&[event(1)]).await;
    until("the other channel", 30, || {
        !taken.lock().expect("lock").is_empty() && progress.borrow().unsent == 0
    })
    .await;
    agent.stop().await.expect("no part failed");
    assert_eq!(refused.lock().expect("lock").len(), 1);
    let taken = taken.lock().expect("lock").clone();
    let told: Notification = serde_json::from_str(&taken[0].1).expect("a notification");
    assert_eq!(told.risk_level, RiskLevel::Warning, "below what the channel asks for, and told");
    assert!(told.body.en.contains("Not delivered: ops did not take"), "{}", told.body.en);
    let store = pdm_agent::service::open_store(&store).await.expect("opens");
    assert_eq!(store.backlog().await.expect("counted").given_up, 1);
}

/// R-AGENT-10: repeated until acknowledged.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_alarm_is_repeated_until_somebody_acknowledges_it() {
    let name = "an_alarm_is_repeated_until_somebody_acknowledges_it";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let mut settings = settings(broker.port(), folder.path());
    settings.notify.repeat_after_h = 0.1 / 3600.0;
    settings.notify.repeat_limit = 1000;
    let agent = Agent::start(settings, Arc::new(SystemClock)).await.expect("starts");
    subscribed(&agent).await;
    let mut client = Client::connect(broker.port(), "test", &["pdm/v1/+/+/+/notification"]).await;
    client.send(&[event(1)]).await;
    until("a repetition", 30, || client.heard_on("/notification").len() >= 2).await;
    let heard = client.heard_on("/notification");
    let again: Notification = serde_json::from_str(&heard[1]).expect("a notification");
    assert_eq!(again.reason, NotificationReason::Repeated);
    assert!(again.title.ko.starts_with("[재알림 1회] [경고]"), "{}", again.title.ko);
    let ack = serde_json::json!({
        "schema": "pdm.ack/1", "by": "kim", "at": SystemClock.now(),
    });
    client.publish([("pdm/v1/ulsan-1/P-101/DE/ack".to_owned(), ack.to_string())]).await;
    // a look happens every two seconds: after two of them without a word it has stopped
    let mut last = (client.heard_on("/notification").len(), tokio::time::Instant::now());
    until("the repetitions to stop", 30, || {
        let count = client.heard_on("/notification").len();
        if count != last.0 {
            last = (count, tokio::time::Instant::now());
        }
        last.1.elapsed() > Duration::from_secs(5)
    })
    .await;
    agent.stop().await.expect("no part failed");
}
