//! Receivers of web hooks that ask to wait, or that send elsewhere: the one is left alone for that
//! time, within a bound, and the remark of the way says what either asked for. R-AGENT-10.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use axum::http::header::{LOCATION, RETRY_AFTER};
use axum::routing::post;

use crate::open_plant::{begin, hook, until};
use crate::suppression::Field;

/// A server of hooks: one that asks to wait, three that send elsewhere. Its address, and how often
/// the first one was asked.
async fn receivers() -> (String, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let busy = move || {
        counted.fetch_add(1, Ordering::Relaxed);
        async { (StatusCode::TOO_MANY_REQUESTS, [(RETRY_AFTER, "100000")]) }
    };
    let to = |location: &'static str| {
        post(move || async move { (StatusCode::FOUND, [(LOCATION, location)]) })
    };
    let routes = Router::new()
        .route("/busy", post(busy))
        .route("/nowhere", post(async || StatusCode::FOUND))
        .route("/other", to("http://login.example/?to=s3cret"))
        .route("/moved", to("/v2/s3cret"));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let address = listener.local_addr().expect("bound");
    tokio::spawn(async move { axum::serve(listener, routes).await });
    (format!("http://{address}"), asked)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receiver_that_asks_to_wait_or_sends_elsewhere_is_obeyed_within_a_bound_and_named() {
    let test = "a_receiver_that_asks_to_wait_or_sends_elsewhere_is_obeyed_within_a_bound_and_named";
    let Some(mut field) = Field::new(test).await else { return };
    let (base, asked) = receivers().await;
    for name in ["busy", "nowhere", "other", "moved"] {
        field.settings.notify.webhook.push(hook(name, format!("{base}/{name}")));
    }
    let agent = field.start().await;
    field.warning("gw-01", "P-1", "DE").await;
    field.until_told("[Warning] P-1 DE").await;
    until("the first try", 60, || (asked.load(Ordering::Relaxed) > 0).then_some(())).await;
    field.warning("gw-01", "P-2", "DE").await;
    field.until_told("[Warning] P-2 DE").await;

    let store = pdm_store::open(&field.settings.store).await.expect("opens");
    let mut remarks = Vec::new();
    for _ in 0..60 {
        let rows = store.outbox().channels(begin().plus_seconds(3600.0)).await.expect("read");
        let failing = rows.into_iter().filter(|row| row.failing_since.is_some());
        remarks = failing.map(|row| (row.lane, row.last_error.unwrap_or_default())).collect();
        if remarks.len() >= 4 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    let remark = |name: &str| {
        let lane = format!("webhook:{name}");
        let found = remarks.iter().find(|(one, _)| *one == lane);
        found.map(|(_, error)| error.clone()).expect(name)
    };
    let busy = remark("busy");
    assert!(busy.contains("429") && busy.contains("asks to wait 100000 s"), "{busy}");
    assert!(busy.contains("tried again after 600 s"), "{busy}");
    assert!(remark("nowhere").contains("without saying where"), "{remarks:?}");
    assert!(remark("other").contains("another host, http://login.example"), "{remarks:?}");
    assert!(remark("moved").contains("another address at http://127.0.0.1"), "{remarks:?}");
    assert!(remarks.iter().all(|(_, error)| !error.contains("s3cret")), "{remarks:?}");
    // long enough for the second alarm's first try, and for the first one's second by the agent's
    // own rule
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(asked.load(Ordering::Relaxed), 1, "nothing is sent to it meanwhile");
    agent.stop().await.expect("no part failed");
}

/// A receiver that takes the first message and asks to wait from then on; how often it was asked.
async fn tiring_receiver() -> (String, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let answer = move || {
        let is_first = counted.fetch_add(1, Ordering::Relaxed) == 0;
        async move {
            let status = if is_first { StatusCode::OK } else { StatusCode::TOO_MANY_REQUESTS };
            (status, [(RETRY_AFTER, "300")])
        }
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let address = listener.local_addr().expect("bound");
    let routes = Router::new().route("/", post(answer));
    tokio::spawn(async move { axum::serve(listener, routes).await });
    (format!("http://{address}/"), asked)
}

/// R-AGENT-10: what is above the ceiling leaves in one summary, for which the same wait holds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_hours_summary_waits_as_its_receiver_asks() {
    let test = "the_hours_summary_waits_as_its_receiver_asks";
    let Some(mut field) = Field::new(test).await else { return };
    let (url, asked) = tiring_receiver().await;
    field.settings.notify.per_recipient_per_hour = 1;
    field.settings.notify.webhook.push(hook("tiring", url));
    let agent = field.start().await;
    field.warning("gw-01", "P-1", "DE").await;
    until("the first message", 60, || (asked.load(Ordering::Relaxed) == 1).then_some(())).await;
    field.warning("gw-01", "P-2", "DE").await;
    until("the summary", 60, || (asked.load(Ordering::Relaxed) == 2).then_some(())).await;
    // by the agent's own rule it would be tried after 2, 4 and 8 s
    tokio::time::sleep(Duration::from_secs(9)).await;
    assert_eq!(asked.load(Ordering::Relaxed), 2, "nothing is sent to it meanwhile");
    agent.stop().await.expect("no part failed");
}
