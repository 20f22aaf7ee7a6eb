//! Requests to the provider: bounded in time and length, without redirects.

use std::time::Duration;

use pdm_service::bounded::Head;
use pdm_service::broker::TlsFiles;
use pdm_service::error_chain::error_chain;
use serde_json::Value;

/// Longest time of one request.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Longest answer, bytes: the keys of a large provider have some 20 kB.
const MOST_BYTES: usize = 512 << 10;

/// The client; with authorities of its own it is made anew each time, so that renewed files are
/// used.
#[derive(Debug)]
pub(crate) struct Client {
    plain: reqwest::Client,
    tls: Option<TlsFiles>,
}

impl Client {
    /// # Errors
    /// Text that says why there is no client.
    pub(crate) fn new(tls: Option<TlsFiles>) -> Result<Self, String> {
        if let Some(files) = &tls {
            // read now, so that a wrong file ends the start
            files.client_config().map_err(|error| error_chain(&error))?;
        }
        let plain = builder().build().map_err(|error| error_chain(&error))?;
        Ok(Self { plain, tls })
    }

    pub(crate) fn http(&self) -> Result<reqwest::Client, String> {
        let Some(files) = &self.tls else { return Ok(self.plain.clone()) };
        let config = files.client_config().map_err(|error| error_chain(&error))?;
        builder().tls_backend_preconfigured(config).build().map_err(|error| error_chain(&error))
    }
}

fn builder() -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .timeout(TIMEOUT)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("pdm-agent/", env!("CARGO_PKG_VERSION")))
}

/// The JSON that a request is answered with, and whether the status is one of success.
///
/// # Errors
/// Text that says what the provider did.
pub(crate) async fn json(request: reqwest::RequestBuilder) -> Result<(bool, Value), String> {
    let request = request.header(reqwest::header::ACCEPT, "application/json");
    // an address may carry a code
    let mut answer = request.send().await.map_err(|error| error_chain(&error.without_url()))?;
    let status = answer.status();
    let mut head = Head::of(MOST_BYTES);
    while let Some(chunk) =
        answer.chunk().await.map_err(|error| error_chain(&error.without_url()))?
    {
        if !head.take(&chunk) {
            return Err(format!("its answer is longer than {MOST_BYTES} bytes"));
        }
    }
    let bytes = head.whole().unwrap_or_default();
    let value = serde_json::from_slice(&bytes)
        .map_err(|_other| format!("it answers {status} without JSON"))?;
    Ok((status.is_success(), value))
}
