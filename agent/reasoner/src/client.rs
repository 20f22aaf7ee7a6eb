//! The client of an OpenAI-compatible server: one request, its attempts, one answer.
//!
//! The answer is bounded in bytes and in time, whether it comes in one piece or as a stream.
//! Redirects are not followed, because a request holds the plant's data and the key. No error holds
//! the key.

use std::time::Duration;

use async_trait::async_trait;
use pdm_service::bounded::{ERROR_BYTES, Head};
use pdm_service::clock::{Clock as _, SystemClock};
use pdm_service::error_chain::error_chain;
use pdm_service::secret::{LiveSecret, Secret};
use reqwest::header::{CONTENT_TYPE, RETRY_AFTER};
use tokio::time::Instant;

use crate::budget::Exhausted;
use crate::retry;
use crate::settings::ReasonerSettings;
use crate::wire::stream::Assembly;
use crate::wire::{self, AnswerError, ChatRequest, Completion, FinishReason, MAX_ANSWER_BYTES};

/// The model gave no answer. The caller uses what the expert says.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The server cannot be reached, or fails again and again. Trying later may help.
    #[error("the model's server does not answer: {0}")]
    Unavailable(String),
    /// The server refuses the request: key, name of the model, or form.
    #[error("the model's server refuses the request with {status}: {reason}")]
    Refused {
        /// The status.
        status: u16,
        /// The server's words.
        reason: String,
    },
    /// The answer is not usable.
    #[error(transparent)]
    Answer(#[from] AnswerError),
    /// The answer is longer than is read.
    #[error("the answer is longer than {MAX_ANSWER_BYTES} bytes")]
    TooLong,
    /// The answer did not come in time.
    #[error("no answer within {0:.0} s")]
    Late(f64),
    /// The answer reached the limit of tokens.
    #[error("the answer was cut at the limit of tokens")]
    Cut,
    /// The server's filter withheld the answer.
    #[error("the server's content filter withheld the answer")]
    Withheld,
    /// The answer is in another language than the question.
    #[error("the model answers in another language")]
    OtherLanguage,
    /// The answer is a bare number: of what, and in which unit, it does not say.
    #[error("the model answers with a bare number")]
    BareNumber,
    /// The budget is used up.
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
    /// The spending of today cannot be read or written.
    #[error("the budget of the day cannot be kept: {0}")]
    Ledger(String),
}

impl ModelError {
    /// A word for metrics and spans.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Unavailable(_) => "unavailable",
            Self::Refused { .. } => "refused",
            Self::Answer(_) => "answer",
            Self::TooLong => "too_long",
            Self::Late(_) => "late",
            Self::Cut => "cut",
            Self::Withheld => "withheld",
            Self::OtherLanguage => "other_language",
            Self::BareNumber => "bare_number",
            Self::Exhausted(_) => "budget",
            Self::Ledger(_) => "ledger",
        }
    }
}

/// The outcome of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempted {
    /// The answer, or why there is none.
    pub result: Result<Completion, ModelError>,
    /// Requests that were sent.
    pub calls: u64,
    /// The time from the first request to the end.
    pub took: Duration,
}

/// A language model.
#[async_trait]
pub trait Model: Send + Sync + std::fmt::Debug {
    /// The model's name.
    fn name(&self) -> &str;

    /// Asks the model; ends within the time, whatever the server does.
    async fn complete(&self, request: &ChatRequest, within: Duration) -> Attempted;
}

/// A server's endpoint and its model.
#[derive(Debug)]
pub struct Client {
    http: reqwest::Client,
    url: String,
    model: String,
    /// Read again for each request.
    key: Option<LiveSecret>,
    timeout: Duration,
    stream: bool,
}

/// One attempt failed.
struct Failure {
    error: ModelError,
    is_passing: bool,
    retry_after: Option<Duration>,
}

impl Failure {
    fn of(error: ModelError) -> Self {
        let is_passing = matches!(
            error,
            ModelError::Unavailable(_)
                | ModelError::Answer(
                    AnswerError::Unfinished | AnswerError::Garbled(_) | AnswerError::Reported(_)
                )
        );
        Self { error, is_passing, retry_after: None }
    }

    fn unavailable(error: &reqwest::Error) -> Self {
        Self::of(ModelError::Unavailable(error_chain(error)))
    }
}

impl Client {
    /// A client of the configured endpoint.
    ///
    /// # Errors
    /// [`ModelError::Unavailable`] if no HTTP client can be made (TLS roots cannot be read).
    pub fn new(settings: &ReasonerSettings, key: Option<Secret>) -> Result<Self, ModelError> {
        let http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(Duration::from_secs(10))
            .build()
            .map_err(|error| ModelError::Unavailable(error_chain(&error)))?;
        Ok(Self {
            http,
            url: settings.chat_url(),
            model: settings.model.clone(),
            key: key.map(|key| LiveSecret::with(settings.key.clone(), key)),
            timeout: settings.timeout(),
            stream: settings.stream,
        })
    }

    /// The raw status, kind of content and head of the answer to a request: for the probe.
    ///
    /// # Errors
    /// [`ModelError::Unavailable`].
    pub(crate) async fn raw(
        &self,
        request: &ChatRequest,
    ) -> Result<(u16, String, Vec<u8>), ModelError> {
        let sending = async {
            let mut answer = self.post(request).await?;
            let (status, kind) = (answer.status().as_u16(), content_type(&answer));
            let mut head = Head::of(MAX_ANSWER_BYTES);
            while let Some(chunk) = answer.chunk().await? {
                if !head.take(&chunk) {
                    break;
                }
            }
            Ok::<_, reqwest::Error>((status, kind, head))
        };
        match tokio::time::timeout(self.timeout, sending).await {
            Ok(Ok((status, kind, head))) => {
                Ok((status, kind, head.whole().ok_or(ModelError::TooLong)?))
            }
            Ok(Err(error)) => Err(ModelError::Unavailable(error_chain(&error))),
            Err(_elapsed) => Err(ModelError::Late(self.timeout.as_secs_f64())),
        }
    }

    /// Whether requests carry a key.
    pub const fn has_key(&self) -> bool {
        self.key.is_some()
    }

    async fn post(&self, request: &ChatRequest) -> Result<reqwest::Response, reqwest::Error> {
        let mut call = self.http.post(&self.url).json(request);
        if let Some(key) = &self.key {
            call = call.bearer_auth(key.current().expose());
        }
        call.send().await
    }

    async fn attempt(&self, request: &ChatRequest) -> Result<Completion, Failure> {
        let answer = self.post(request).await.map_err(|error| Failure::unavailable(&error))?;
        let status = answer.status();
        if !status.is_success() {
            return Err(refusal(answer).await);
        }
        let completion = if content_type(&answer).starts_with("text/event-stream") {
            streamed(answer).await?
        } else {
            whole(answer).await?
        };
        match completion.finish {
            FinishReason::Length => Err(Failure::of(ModelError::Cut)),
            FinishReason::ContentFilter => Err(Failure::of(ModelError::Withheld)),
            FinishReason::Stop | FinishReason::ToolCalls | FinishReason::Other => Ok(completion),
        }
    }
}

#[async_trait]
impl Model for Client {
    fn name(&self) -> &str {
        &self.model
    }

    async fn complete(&self, request: &ChatRequest, within: Duration) -> Attempted {
        let request = request.clone().streamed(self.stream);
        let (begun, mut calls) = (Instant::now(), 0);
        let until = begun + within;
        let result = loop {
            let left = until.saturating_duration_since(Instant::now()).min(self.timeout);
            calls += 1;
            let failure = match tokio::time::timeout(left, self.attempt(&request)).await {
                Ok(Ok(completion)) => break Ok(completion),
                Ok(Err(failure)) => failure,
                // a server that hangs once is not waited for a second time
                Err(_elapsed) => break Err(ModelError::Late(left.as_secs_f64())),
            };
            let left = until.saturating_duration_since(Instant::now());
            let pause = usize::try_from(calls)
                .ok()
                .and_then(|failures| retry::pause(failures, failure.retry_after, left));
            match pause.filter(|_| failure.is_passing) {
                Some(pause) => tokio::time::sleep(pause).await,
                None => break Err(failure.error),
            }
        };
        Attempted { result, calls, took: begun.elapsed() }
    }
}

fn content_type(answer: &reqwest::Response) -> String {
    let header = answer.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    header.unwrap_or_default().to_ascii_lowercase()
}

/// A refusal with the head of the server's words.
async fn refusal(mut answer: reqwest::Response) -> Failure {
    let status = answer.status().as_u16();
    let header = answer.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    let now = SystemClock.now().date_time();
    let retry_after = header.and_then(|header| retry::retry_after(header, now));
    let mut head = Head::of(ERROR_BYTES);
    while let Ok(Some(chunk)) = answer.chunk().await {
        if !head.take(&chunk) {
            break;
        }
    }
    let reason = words(&head);
    let is_passing = retry::is_passing(status);
    let error = if is_passing {
        ModelError::Unavailable(format!("{status}: {reason}"))
    } else {
        ModelError::Refused { status, reason }
    };
    Failure { error, is_passing, retry_after }
}

/// The message of an error's JSON, or the head of its text, in one line.
fn words(head: &Head) -> String {
    let text = head.told(4000);
    let value: Option<serde_json::Value> = serde_json::from_str(&text).ok();
    let error = value.as_ref().and_then(|value| value.get("error"));
    error.map_or_else(|| pdm_shared::bounds::in_one_line(&text, 300).into_owned(), wire::reported)
}

async fn whole(mut answer: reqwest::Response) -> Result<Completion, Failure> {
    let mut head = Head::of(MAX_ANSWER_BYTES);
    while let Some(chunk) = answer.chunk().await.map_err(|error| Failure::unavailable(&error))? {
        if !head.take(&chunk) {
            break;
        }
    }
    let body = head.whole().ok_or_else(|| Failure::of(ModelError::TooLong))?;
    wire::read_completion(&body).map_err(|error| Failure::of(error.into()))
}

async fn streamed(mut answer: reqwest::Response) -> Result<Completion, Failure> {
    let (mut assembly, mut bytes) = (Assembly::default(), 0);
    while !assembly.is_done() {
        let chunk = answer.chunk().await.map_err(|error| Failure::unavailable(&error))?;
        let Some(chunk) = chunk else { break };
        bytes += chunk.len();
        if bytes > MAX_ANSWER_BYTES {
            return Err(Failure::of(ModelError::TooLong));
        }
        assembly.take(&chunk).map_err(|error| Failure::of(error.into()))?;
    }
    assembly.end().map_err(|error| Failure::of(error.into()))
}
