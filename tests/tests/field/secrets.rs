//! Secrets that are rotated while the agent runs: no restart, and what failed with the old one
//! leaves as soon as the new one is there. Issue 33, point 5.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use pdm_service::secret::SecretSource;

use crate::open_plant::{hook, until};
use crate::suppression::Field;

/// A web hook that takes one path alone, and keeps which paths were asked for.
#[derive(Clone, Default)]
struct Rotating {
    right: Arc<Mutex<String>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Rotating {
    async fn serve(&self) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("bind");
        let address = listener.local_addr().expect("bound");
        let routes = Router::new().route("/{secret}", post(answer)).with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        format!("http://{address}")
    }

    fn now(&self, secret: &str) {
        secret.clone_into(&mut self.right.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn count(&self, secret: &str) -> usize {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.iter().filter(|one| *one == secret).count()
    }
}

async fn answer(
    State(hook): State<Rotating>,
    axum::extract::Path(secret): axum::extract::Path<String>,
) -> StatusCode {
    let is_right = *hook.right.lock().unwrap_or_else(PoisonError::into_inner) == secret;
    hook.asked.lock().unwrap_or_else(PoisonError::into_inner).push(secret);
    if is_right { StatusCode::OK } else { StatusCode::UNAUTHORIZED }
}

fn write(file: &Path, text: &str) {
    std::fs::write(file, text).expect("written");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_failed_with_the_old_secret_leaves_with_the_new_one_and_an_empty_file_is_none() {
    let test = "what_failed_with_the_old_secret_leaves_with_the_new_one_and_an_empty_file_is_none";
    let Some(mut field) = Field::new(test).await else { return };
    let receiver = Rotating::default();
    let base = receiver.serve().await;
    let file = field.folder.path().join("hook");
    write(&file, &format!("{base}/one\n"));
    let mut rotated = hook("rotated", String::new());
    (rotated.url, rotated.url_secret) = (None, Some(SecretSource::File(file.clone())));
    field.settings.notify.webhook = vec![rotated];
    receiver.now("one");
    let agent = field.start().await;
    field.warning("gw-01", "P-1", "DE").await;
    until("the first alarm", 60, || (receiver.count("one") > 0).then_some(())).await;

    receiver.now("two");
    let before = receiver.count("one");
    field.warning("gw-01", "P-2", "DE").await;
    until("the refusal", 60, || (receiver.count("one") > before).then_some(())).await;
    // as while the file is replaced: the old address stays in use
    write(&file, "");
    field.warning("gw-01", "P-3", "DE").await;
    until("the refusal", 60, || (receiver.count("one") > before + 1).then_some(())).await;
    write(&file, &format!("{base}/two"));
    until("both alarms", 60, || (receiver.count("two") >= 2).then_some(())).await;
    agent.stop().await.expect("no part failed");
}
