//! A receiver of notifications: an HTTP server that recognises a repeated post by its
//! `Idempotency-Key`, as the contract requires of receivers, and that fails on demand.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;

/// The behaviour of the receiver.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Manners {
    /// The receiver accepts posts and answers 200.
    #[default]
    Good,
    /// The receiver refuses posts and answers an error.
    Refuses,
    /// The receiver accepts posts and answers an error.
    Lies,
}

/// The received posts.
#[derive(Debug, Clone, Default)]
pub struct Posted {
    /// The first body of each key; later ones are repetitions for a receiver.
    pub taken: BTreeMap<String, String>,
    /// Number of posts with a key that was accepted before.
    pub repeated: u64,
    /// Keys that were posted again with another body, whose news would be lost.
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
    /// Starts the receiver on a free port.
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

    /// The address for notifications.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook", self.port)
    }

    /// Sets the behaviour from now on.
    pub fn behave(&self, manners: Manners) {
        *self.desk.manners.lock().unwrap_or_else(PoisonError::into_inner) = manners;
    }

    /// The posts so far.
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
