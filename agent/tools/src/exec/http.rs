//! Executor `http`: one request to a host that the operator allowed.
//!
//! Invariants: requests go to hosts of the list only; a redirect is followed to the same host only
//! and never from https to http; duration and size of an answer are limited, whatever its headers
//! claim.

use std::collections::BTreeSet;
use std::time::Duration;

use pdm_service::error_chain::error_chain;
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};

use super::{Failure, Invocation};
use crate::spec::executor::HttpConfig;

/// Most redirects on one host.
const MAX_REDIRECTS: usize = 3;

/// The HTTP client and the hosts that it may reach.
#[derive(Debug, Clone)]
pub struct Web {
    allowed: BTreeSet<String>,
    client: Option<reqwest::Client>,
}

impl Web {
    /// Allows only these hosts: `cmms.plant` (any port) or `cmms.plant:8443`.
    pub fn allowing(hosts: impl IntoIterator<Item = String>) -> Self {
        // a provider that the program has installed before serves as well
        let _installed = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .redirect(Policy::custom(same_host_only))
            .connect_timeout(Duration::from_secs(5))
            .user_agent(concat!("pdm-agent/", env!("CARGO_PKG_VERSION")))
            .build();
        let allowed = hosts.into_iter().map(|host| host.to_ascii_lowercase()).collect();
        match client {
            Ok(client) => Self { allowed, client: Some(client) },
            Err(error) => {
                tracing::error!(%error, "No HTTP client: tools that ask the web will fail.");
                Self { allowed, client: None }
            }
        }
    }

    pub(crate) async fn run(
        &self,
        config: &HttpConfig,
        timeout: Duration,
        invocation: Invocation<'_>,
    ) -> Result<Value, Failure> {
        let (host, with_port) = config.address.host();
        if !self.allowed.contains(&host) && !self.allowed.contains(&with_port) {
            let known = self.allowed.iter().cloned().collect::<Vec<_>>().join(", ");
            let message = format!("the host {with_port} is not allowed; allowed are: {known}");
            return Err(Failure::Permanent(message));
        }
        let Some(client) = &self.client else {
            return Err(Failure::Permanent("no HTTP client could be started".to_owned()));
        };
        let url = config.address.fill(invocation.arguments).map_err(Failure::Permanent)?;
        let request =
            if config.post { client.post(url).json(invocation.arguments) } else { client.get(url) };
        let response = request
            .header("idempotency-key", invocation.call_id)
            .timeout(timeout)
            .send()
            .await
            .map_err(|error| not_sent(&error))?;
        answer(response, config.max_bytes).await
    }
}

fn same_host_only(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let Some(first) = attempt.previous().first() else { return attempt.follow() };
    let (from, to) = (first.clone(), attempt.url().clone());
    let same = from.host_str() == to.host_str()
        && from.port_or_known_default() == to.port_or_known_default()
        && from.scheme() == to.scheme();
    if !same {
        return attempt.error(format!("redirected to another host, {to}: refused"));
    }
    if attempt.previous().len() > MAX_REDIRECTS {
        return attempt.error("redirected too often");
    }
    attempt.follow()
}

fn not_sent(error: &reqwest::Error) -> Failure {
    if error.is_redirect() || error.is_builder() {
        Failure::Permanent(error_chain(error))
    } else {
        Failure::Transient(error_chain(error))
    }
}

async fn answer(mut response: Response, max_bytes: usize) -> Result<Value, Failure> {
    let status = response.status();
    let kind = response.headers().get(reqwest::header::CONTENT_TYPE);
    let is_json = kind.and_then(|kind| kind.to_str().ok()).is_some_and(|k| k.contains("json"));
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| not_sent(&error))? {
        if body.len() + chunk.len() > max_bytes {
            let message = format!("the answer is larger than {max_bytes} bytes: refused");
            return Err(Failure::Permanent(message));
        }
        body.extend_from_slice(&chunk);
    }
    if !status.is_success() {
        let head: String = String::from_utf8_lossy(&body).chars().take(200).collect();
        let message = format!("answered {status}: {head}");
        return Err(if is_worth_another_try(status) {
            Failure::Transient(message)
        } else {
            Failure::Permanent(message)
        });
    }
    match serde_json::from_slice::<Value>(&body) {
        Ok(object @ Value::Object(_)) => Ok(object),
        Ok(other) => Ok(json!({ "result": other })),
        Err(error) if is_json => {
            Err(Failure::Malformed(format!("the answer is not the JSON it claims to be: {error}")))
        }
        Err(_not_json) => Ok(json!({ "text": String::from_utf8_lossy(&body) })),
    }
}

fn is_worth_another_try(status: StatusCode) -> bool {
    status.is_server_error()
        || status == StatusCode::TOO_MANY_REQUESTS
        || status == StatusCode::REQUEST_TIMEOUT
}
