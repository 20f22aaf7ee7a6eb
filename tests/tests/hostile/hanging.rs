//! Servers that hang: an alarm leaves by another channel within 5 s, and an answer without an end is read
//! up to a bound. The servers here are stand-ins that accept connections and never answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pdm_agent::service::Agent;
use pdm_agent::settings::{AgentSettings, EmailSecurity, EmailSettings, Languages};
use pdm_harness::{Mosquitto, Persistence};
use pdm_knowledge::settings::{QdrantChoice, StoreChoice};
use pdm_shared::risk::RiskLevel;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::open_plant::{Client, FromBegin, event, hanging, hook, receiver, settings, until};

/// The longest delay of an alarm that leaves by a channel that works.
const LONGEST: Duration = Duration::from_secs(5);

/// Starts an agent, sends a fault of a bearing, and tells how long the web hook waited for it.
async fn delay(settings: AgentSettings, broker: &Mosquitto) -> Duration {
    let (url, posts) = receiver().await;
    let mut settings = settings;
    settings.notify.webhook.push(hook("good", url));
    let agent = Agent::start(settings, FromBegin::new()).await.expect("starts");
    let client = Client::connect(broker.port()).await;
    let progress = agent.progress();
    until("the subscription", 30, || progress.borrow().subscribed.then_some(())).await;
    let sent = Instant::now();
    client.send(&event(1, 0.0)).await;
    let at = until("the alarm", 120, || posts.lock().expect("whole").first().map(|(at, _)| *at));
    let delay = at.await - sent;
    let _in_time = tokio::time::timeout(Duration::from_secs(20), agent.stop()).await;
    delay
}

/// Its look-ups, and those of the report, once came before the notification: 50 to 90 s.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_knowledge_store_that_hangs_delays_no_alarm() {
    let name = "a_knowledge_store_that_hangs_delays_no_alarm";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let mut settings = settings(broker.port(), folder.path());
    let url = format!("http://127.0.0.1:{}", hanging().await);
    settings.knowledge.store =
        StoreChoice::Qdrant(QdrantChoice { url, key: None, prefix: String::new() });
    settings.reports.folder = Some(folder.path().join("reports"));
    let delay = delay(settings, &broker).await;
    assert!(delay <= LONGEST, "{delay:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_web_hook_and_a_mail_server_that_hang_delay_no_other_channel() {
    let name = "a_web_hook_and_a_mail_server_that_hang_delay_no_other_channel";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let mut settings = settings(broker.port(), folder.path());
    let bad = format!("http://127.0.0.1:{}/hook", hanging().await);
    settings.notify.webhook.push(hook("bad", bad));
    settings.notify.email = Some(EmailSettings {
        host: "127.0.0.1".to_owned(),
        port: Some(hanging().await),
        security: EmailSecurity::None,
        user: None,
        password: None,
        from_address: "PdM <pdm@plant.example>".to_owned(),
        to: vec!["lead@plant.example".to_owned()],
        language: Languages::En,
        from: RiskLevel::Watch,
    });
    let delay = delay(settings, &broker).await;
    assert!(delay <= LONGEST, "{delay:?}");
}

/// An error page without an end once took 7 GiB of memory.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endless_error_page_is_read_up_to_a_bound() {
    let name = "an_endless_error_page_is_read_up_to_a_bound";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let url = format!("http://{}/hook", listener.local_addr().expect("address"));
    let (written, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (bytes, ends) = (Arc::clone(&written), Arc::clone(&ended));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _head = stream.read(&mut [0; 4096]).await;
            let _sent = stream.write_all(b"HTTP/1.1 500 Oops\r\n\r\n").await;
            let page = [b'x'; 8192];
            while bytes.load(Ordering::SeqCst) < 1 << 30 && stream.write_all(&page).await.is_ok() {
                bytes.fetch_add(page.len(), Ordering::SeqCst);
            }
            ends.fetch_add(1, Ordering::SeqCst);
        }
    });
    let mut settings = settings(broker.port(), folder.path());
    settings.notify.webhook.push(hook("endless", url));
    let agent = Agent::start(settings, FromBegin::new()).await.expect("starts");
    let client = Client::connect(broker.port()).await;
    client.send(&event(1, 0.0)).await;
    until("the end of the answer", 60, || (ended.load(Ordering::SeqCst) > 0).then_some(())).await;
    let written = written.load(Ordering::SeqCst);
    // what the agent read and what the kernel's buffers took
    assert!(written < 32 << 20, "{written} bytes");
    agent.stop().await.expect("no part failed");
}
