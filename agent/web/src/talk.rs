//! The chat: `POST /api/chat/message`, the same as a stream of steps, and what answers ([`Talk`]).
//!
//! The agent implements [`Talk`]. A request carries the conversation before it, so nothing of it is
//! kept here. Events of the stream: `{"type":"step","data":{…}}` for each step, then
//! `{"type":"answer","data":{…}}`. A client that goes away ends the work on its answer.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use axum::extract::rejection::JsonRejection;
use axum::extract::{DefaultBodyLimit, Extension, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use futures_util::stream;
use pdm_shared::id::BearingKey;
use pdm_shared::text::Language;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::access::Viewer;
use crate::problem::Problem;
use crate::{Shared, language};

/// Most bytes of a request: a hundred messages of the longest kind in Korean have 1.2 MB; of the
/// usual kind 100 KB.
const MAX_BYTES: usize = 1 << 20;
/// Most characters of a question.
pub(crate) const MAX_QUESTION: usize = 2000;
/// Most messages of the conversation before it.
const MAX_HISTORY: usize = 100;
/// Most characters of one of these messages.
const MAX_SAID: usize = 6000;
/// Steps that wait for a slow reader: more than an answer has.
const STEPS: usize = 64;

/// A message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TalkMessage {
    /// `user` or `assistant`.
    pub role: TalkRole,
    /// The text.
    #[schemars(length(max = MAX_SAID))]
    pub content: String,
}

/// Who said a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TalkRole {
    /// The person.
    User,
    /// The program.
    Assistant,
}

/// A question.
#[derive(Debug, Clone, PartialEq)]
pub struct TalkQuestion {
    /// The question.
    pub message: String,
    /// The conversation before it, oldest first.
    pub history: Vec<TalkMessage>,
    /// The bearing that it is about.
    pub about: Option<BearingKey>,
    /// Language of the answer.
    pub language: Language,
    /// Who asks: a user's name, else an address.
    pub asker: String,
}

/// A step of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TalkStep {
    /// Its number, from 1.
    pub step_number: u32,
    /// A program that the model has written.
    pub code: Option<String>,
    /// What was observed.
    pub observations: Option<String>,
    /// The calls of tools: `name`, `arguments`.
    pub tool_calls: Vec<Value>,
    /// Why the step failed.
    pub error: Option<String>,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TalkAnswer {
    /// The text.
    pub answer: String,
    /// Where it comes from: `model`, `extraction`, `observation`, `apology`.
    pub by: String,
    /// The bearing that it is about.
    pub about: Option<BearingKey>,
    /// Tokens of the questions to the model.
    pub prompt_tokens: u64,
    /// Tokens of its answers.
    pub completion_tokens: u64,
    /// Cost, US dollars, by the configured prices.
    pub cost_usd: f64,
}

/// Too many questions are being answered. The caller answers 429.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many questions of yours, or of all together, are being answered at the moment")]
pub struct Busy;

/// Answers questions about the plant.
#[async_trait]
pub trait Talk: Send + Sync + std::fmt::Debug {
    /// Whether a language model is configured.
    fn has_model(&self) -> bool;

    /// Returns the fault of the model as it was last asked: a word of the pages' texts after
    /// `chat_trouble_`.
    fn trouble(&self) -> Option<&'static str> {
        None
    }

    /// Whether the model is part of judgements, so that its trouble is theirs too.
    fn judges(&self) -> bool {
        false
    }

    /// Answers a question; every step is sent as it is made.
    ///
    /// # Errors
    /// [`Busy`].
    async fn ask(
        &self,
        question: TalkQuestion,
        steps: mpsc::Sender<TalkStep>,
    ) -> Result<TalkAnswer, Busy>;
}

/// An answer with the steps that led to it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TalkReply {
    #[serde(flatten)]
    answer: TalkAnswer,
    steps: Vec<TalkStep>,
}

/// The body of a request.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TalkBody")]
pub(crate) struct Body {
    #[schemars(length(min = 1, max = MAX_QUESTION))]
    message: String,
    #[serde(default)]
    #[schemars(length(max = MAX_HISTORY))]
    history: Vec<TalkMessage>,
    #[serde(default)]
    about: Option<About>,
    #[serde(default)]
    language: Option<Language>,
    /// The key of the page's form, which a browser's session sends back.
    #[serde(default)]
    form_key: String,
}

/// The bearing of a request.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TalkAbout")]
struct About {
    site: String,
    equipment: String,
    bearing: String,
}

pub(crate) fn router() -> Router<Arc<Shared>> {
    Router::new()
        .route("/api/chat/message", post(message))
        .route("/api/chat/message/stream", post(message_stream))
        // beside the other routes of the API, where its document describes them
        .route("/api/v1/chat/message", post(message))
        .route("/api/v1/chat/message/stream", post(message_stream))
        .layer(DefaultBodyLimit::max(MAX_BYTES))
}

type TalkRequest = Result<Json<Body>, JsonRejection>;

async fn message(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    headers: HeaderMap,
    body: TalkRequest,
) -> Result<Response, Problem> {
    let question = read(&viewer, &headers, body)?;
    let (answer, steps) = answer_question(&shared, question).await?;
    Ok(Json(TalkReply { answer, steps }).into_response())
}

/// The answer to a question, with its steps.
pub(crate) async fn answer_question(
    shared: &Shared,
    question: TalkQuestion,
) -> Result<(TalkAnswer, Vec<TalkStep>), Problem> {
    let talk = talk_of(shared)?;
    let (sender, mut receiver) = mpsc::channel(STEPS);
    let answer = talk
        .ask(question, sender)
        .await
        .map_err(|busy| Problem::new(StatusCode::TOO_MANY_REQUESTS, busy.to_string()))?;
    let mut steps = Vec::new();
    while let Ok(step) = receiver.try_recv() {
        steps.push(step);
    }
    Ok((answer, steps))
}

fn talk_of(shared: &Shared) -> Result<Arc<dyn Talk>, Problem> {
    let talk = shared.site.talk.clone();
    talk.ok_or_else(|| Problem::new(StatusCode::NOT_FOUND, "this program has no chat"))
}

/// The state of a stream.
struct Streaming {
    answer: Pin<Box<dyn Future<Output = Result<TalkAnswer, Busy>> + Send>>,
    steps: mpsc::Receiver<TalkStep>,
    ended: Option<Value>,
    is_over: bool,
}

async fn message_stream(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    headers: HeaderMap,
    body: TalkRequest,
) -> Result<Response, Problem> {
    let question = read(&viewer, &headers, body)?;
    let talk = talk_of(&shared)?;
    let (sender, steps) = mpsc::channel(STEPS);
    let answer = Box::pin(async move { talk.ask(question, sender).await });
    let state = Streaming { answer, steps, ended: None, is_over: false };
    let stop = shared.site.stop.clone();
    let events = stream::unfold((state, stop), |(mut state, stop)| async move {
        let told = tokio::select! {
            told = next(&mut state) => told?,
            () = stop.cancelled() => return None,
        };
        let event = Event::default().data(told.to_string());
        Some((Ok::<_, Infallible>(event), (state, stop)))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::default()).into_response())
}

/// The next event of a stream: the steps in their order, then the answer.
async fn next(state: &mut Streaming) -> Option<Value> {
    if state.is_over {
        return None;
    }
    if state.ended.is_none() {
        tokio::select! {
            biased;
            Some(step) = state.steps.recv() => return Some(json!({ "type": "step", "data": step })),
            ended = &mut state.answer => state.ended = Some(match ended {
                Ok(answer) => json!({ "type": "answer", "data": answer }),
                Err(busy) => json!({ "type": "error", "data": { "error": busy.to_string() } }),
            }),
        }
    }
    if let Ok(step) = state.steps.try_recv() {
        return Some(json!({ "type": "step", "data": step }));
    }
    state.is_over = true;
    state.ended.take()
}

fn read(viewer: &Viewer, headers: &HeaderMap, body: TalkRequest) -> Result<TalkQuestion, Problem> {
    let Json(body) = body.map_err(|refused| Problem::new(refused.status(), refused.body_text()))?;
    if !viewer.may_send(&body.form_key) {
        let told = "form_key is not of this login: open the page again";
        return Err(Problem::new(StatusCode::FORBIDDEN, told));
    }
    let about = body.about.map(|about| {
        BearingKey::parse(&about.site, &about.equipment, &about.bearing)
            .map_err(|error| Problem::new(StatusCode::BAD_REQUEST, error.to_string()))
    });
    let language = body.language.unwrap_or_else(|| language::language_of(headers));
    checked(TalkQuestion {
        message: body.message,
        history: body.history,
        about: about.transpose()?,
        language,
        asker: viewer.asker(),
    })
}

/// A question within its bounds.
pub(crate) fn checked(question: TalkQuestion) -> Result<TalkQuestion, Problem> {
    let unfit = |told: String| Err(Problem::unfit(told));
    let length = question.message.chars().count();
    if question.message.trim().is_empty() || length > MAX_QUESTION {
        return unfit(format!("message has {length} characters, allowed is 1 to {MAX_QUESTION}"));
    }
    let messages = question.history.len();
    if messages > MAX_HISTORY {
        return unfit(format!("history has {messages} messages, allowed is 0 to {MAX_HISTORY}"));
    }
    let longest = question.history.iter().map(|said| said.content.chars().count()).max();
    if longest.is_some_and(|longest| longest > MAX_SAID) {
        return unfit(format!("a message of history is longer than {MAX_SAID} characters"));
    }
    Ok(question)
}
