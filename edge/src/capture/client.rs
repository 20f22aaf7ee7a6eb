//! The requests of an upload: HTTP/1.1 over TCP or TLS, one connection a request.
//!
//! A small client in place of one with everything: a gateway sends one kind of request to one
//! address. The server's certificate is always verified, by the authorities of the configuration.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode, Uri, header};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use pdm_service::broker::{TlsError, TlsFiles};
use pdm_service::secret::{SecretError, SecretSource};
use rustls::pki_types::ServerName;
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// Longest time until a connection stands, TLS included.
const CONNECT: Duration = Duration::from_secs(20);
/// Longest time of a request: above the 64 s in which the agent takes the body of one.
const ANSWER: Duration = Duration::from_secs(90);
/// Most bytes of an answer that are read.
const MOST_ANSWER: usize = 16 * 1024;

/// `[capture.upload]`: where captures are sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UploadSettings {
    /// The agent's address: `https://host:port`, with a path where a proxy has one.
    pub url: Uri,
    /// The gateway's token.
    pub token: SecretSource,
    /// The authorities of the agent's certificate; `None` without TLS.
    pub tls: Option<TlsFiles>,
}

/// A request that got no answer. The caller tries again later.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UploadError {
    /// The token cannot be read.
    #[error("capture.upload.token")]
    Token(#[source] SecretError),
    /// The certificates cannot be used.
    #[error("capture.upload.tls")]
    Tls(#[source] TlsError),
    /// The address cannot be reached.
    #[error("{address} cannot be reached: {reason}")]
    Unreachable {
        /// Host and port.
        address: String,
        /// The reason.
        reason: String,
    },
    /// The connection broke, or no answer came in time.
    #[error("{address} gave no answer: {reason}")]
    NoAnswer {
        /// Host and port.
        address: String,
        /// The reason.
        reason: String,
    },
}

/// The agent's answer to an upload.
#[derive(Debug, Clone)]
pub(super) struct UploadAnswer {
    pub(super) status: StatusCode,
    pub(super) said: Said,
}

/// The body of an answer, as far as it is one of the agent's.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Said {
    pub(super) have: Option<u64>,
    pub(super) complete: bool,
    pub(super) cause: Option<String>,
    pub(super) error: Option<String>,
}

/// The body of a request to the agent.
#[derive(Debug)]
pub(super) enum Sent {
    /// The document of a capture.
    Document(Vec<u8>),
    /// A part of its file: the bytes, the place of the first one, and the length of the file.
    Part { bytes: Vec<u8>, first: u64, total: u64 },
}

impl UploadSettings {
    /// Asks the agent whether it takes the token.
    ///
    /// # Errors
    /// [`UploadError`], or the agent's refusal as text.
    pub async fn try_out(&self) -> Result<(), UploadRefused> {
        let nobody = "00000000-0000-0000-0000-000000000000";
        let answer = self.put(nobody, Sent::Document(Vec::new())).await?;
        if answer.status.is_success() {
            return Ok(());
        }
        Err(UploadRefused::Agent(answer.status.as_u16(), answer.said.error.unwrap_or_default()))
    }

    /// Sends a document or a part of the capture `id`.
    pub(super) async fn put(&self, id: &str, sent: Sent) -> Result<UploadAnswer, UploadError> {
        let host = self.url.host().unwrap_or_default();
        let is_tls = self.tls.is_some();
        let port = self.url.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
        let address = format!("{host}:{port}");
        let request = self.request(id, sent, &address)?;
        let unreachable =
            |reason: String| UploadError::Unreachable { address: address.clone(), reason };
        let connected =
            timeout(CONNECT, TcpStream::connect((host.trim_matches(['[', ']']), port))).await;
        let stream = connected.map_err(|_late| unreachable("no connection in time".to_owned()))?;
        let stream = stream.map_err(|error| unreachable(error.to_string()))?;
        let Some(files) = &self.tls else { return exchange(stream, request, &address).await };
        let config = Arc::new(files.client_config().map_err(UploadError::Tls)?);
        let name = ServerName::try_from(host.trim_matches(['[', ']']).to_owned());
        let name = name.map_err(|error| unreachable(error.to_string()))?;
        let secured = timeout(CONNECT, TlsConnector::from(config).connect(name, stream)).await;
        let secured = secured.map_err(|_late| unreachable("no TLS in time".to_owned()))?;
        exchange(secured.map_err(|error| unreachable(error.to_string()))?, request, &address).await
    }

    fn request(&self, id: &str, sent: Sent, address: &str) -> Result<Request<Body>, UploadError> {
        let token = self.token.fetch().map_err(UploadError::Token)?;
        let path = format!("{}/api/v1/captures/{id}", self.url.path().trim_end_matches('/'));
        let builder = Request::put(path)
            .header(header::HOST, address)
            .header(header::AUTHORIZATION, format!("Bearer {}", token.expose()));
        let built = match sent {
            Sent::Document(text) => {
                builder.header(header::CONTENT_TYPE, "application/json").body(Body::from(text))
            }
            Sent::Part { bytes, first, total } => {
                let last = (first + bytes.len() as u64).saturating_sub(1);
                builder
                    .header(header::CONTENT_TYPE, "audio/wav")
                    .header(header::CONTENT_RANGE, format!("bytes {first}-{last}/{total}"))
                    .body(Body::from(bytes))
            }
        };
        // a token with characters that no header takes
        built.map_err(|error| no_answer(address, error.to_string()))
    }
}

/// The agent does not take captures of this gateway.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UploadRefused {
    /// No answer.
    #[error(transparent)]
    NoAnswer(#[from] UploadError),
    /// An answer.
    #[error("the agent answers {0}: {1}")]
    Agent(u16, String),
}

fn no_answer(address: &str, reason: String) -> UploadError {
    UploadError::NoAnswer { address: address.to_owned(), reason }
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    request: Request<Body>,
    address: &str,
) -> Result<UploadAnswer, UploadError> {
    let failed = |error: hyper::Error| no_answer(address, error.to_string());
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(failed)?;
    let driving = tokio::spawn(connection);
    let answered = timeout(ANSWER, async {
        let answer = sender.send_request(request).await.map_err(failed)?;
        let status = answer.status();
        let body = to_bytes(Body::new(answer.into_body()), MOST_ANSWER).await;
        // an answer of a proxy is no JSON: its status says what there is to say
        let said = body.ok().and_then(|body| serde_json::from_slice(&body).ok());
        Ok(UploadAnswer { status, said: said.unwrap_or_default() })
    })
    .await;
    driving.abort();
    answered.unwrap_or_else(|_late| Err(no_answer(address, "not in time".to_owned())))
}
