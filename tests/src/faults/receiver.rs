//! Who takes notifications: an HTTP server that knows a repeated post by its `Idempotency-Key`, as
//! the contract asks of receivers, and that fails on demand.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;

/// How the receiver behaves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Manners {
    /// Takes and says so.
    #[default]
    Good,
    /// Takes nothing and says so.
    Refuses,
    /// Takes and says that it failed.
    Lies,
}

/// Everything that was posted.
#[derive(Debug, Clone, Default)]
pub struct Posted {
    /// The first body under each key: later ones are repetitions to a receiver.
    pub taken: BTreeMap<String, String>,
    /// Posts under a key that was taken before.
    pub repeated: u64,
    /// Keys that came again with another body: its news would be lost.
    pub reused: Vec<String>,
}

#[derive(Debug, Default)]
struct Desk {
    manners: Mutex<Manners>,
    posted: Mutex<Posted>,
}

/// A running receiver.
#[derive(Debug)]
pub struct Receiver {
    desk: Arc<Desk>,
    port: u16,
}

impl Receiver {
    /// Starts it on a free port.
    ///
    /// # Errors
    /// The machine has no free port.
    pub async fn start() -> std::io::Result<Self> {
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let desk = Arc::new(Desk::default());
        let router = Router::new().route("/hook", post(take)).with_state(Arc::clone(&desk));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(Self { desk, port })
    }

    /// Where notifications are posted.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook", self.port)
    }

    /// From now on it behaves so.
    pub fn behave(&self, manners: Manners) {
        *self.desk.manners.lock().unwrap_or_else(PoisonError::into_inner) = manners;
    }

    /// What it has.
    pub fn posted(&self) -> Posted {
        self.desk.posted.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn take(State(desk): State<Arc<Desk>>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let manners = *desk.manners.lock().unwrap_or_else(PoisonError::into_inner);
    if manners == Manners::Refuses {
        return StatusCode::SERVICE_UNAVAILABLE;
    }
    let Some(key) = headers.get("Idempotency-Key").and_then(|key| key.to_str().ok()) else {
        return StatusCode::BAD_REQUEST;
    };
    let body = String::from_utf8_lossy(&body).into_owned();
    let mut posted = desk.posted.lock().unwrap_or_else(PoisonError::into_inner);
    match posted.taken.get(key) {
        None => {
            posted.taken.insert(key.to_owned(), body);
        }
        Some(before) => {
            let differs = *before != body;
            posted.repeated += 1;
            if differs {
                posted.reused.push(key.to_owned());
            }
        }
    }
    match manners {
        Manners::Lies => StatusCode::BAD_GATEWAY,
        Manners::Good | Manners::Refuses => StatusCode::NO_CONTENT,
    }
}
