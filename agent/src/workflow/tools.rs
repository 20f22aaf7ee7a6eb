//! `tool_executor`: the calls that the reasoner wants, side by side, over MCP.
//!
//! Invariants: a call that was made in this run with the same arguments is refused, whatever their
//! order and spelling as JSON; no more than [`MAX_TOOL_CALLS`] calls are made; a call has the same
//! id when it is made again after a crash, so that a tool that acts can act once. An answer is
//! data: its documents are read and quoted, and no instruction in it is followed. A tool that did
//! not answer is not called for a while, so that judging does not wait for it at every event.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::join_all;
use pdm_expert::research::{Document, LookupOutcome, Question};
use pdm_service::resting::Resting;
use pdm_tools::client::{CallAnswer, ClientError, ToolClient};
use serde::Deserialize as _;
use serde_json::{Map, Value};
use tokio::time::Instant;
use tracing::Instrument as _;

use super::node::MAX_TOOL_CALLS;
use super::state::{Message, State};
use super::{log, spans};

/// How long all calls of a run may take together, retries within the tools included, because staff
/// is told after them. Chosen: a search takes some tenths of a second with an embedding and a store
/// on servers; an alarm may be 5 s late where servers hang, and its documents need a second.
const BUDGET: Duration = Duration::from_secs(3);

/// Calls tools.
#[async_trait]
pub trait Tools: Send + Sync + std::fmt::Debug {
    /// Calls a tool; `call_id` is the same when the same call is made again.
    ///
    /// # Errors
    /// [`ClientError`].
    async fn call(
        &self,
        call_id: &str,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<CallAnswer, ClientError>;
}

#[async_trait]
impl Tools for ToolClient {
    async fn call(
        &self,
        call_id: &str,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<CallAnswer, ClientError> {
        Self::call(self, call_id, tool, arguments).await
    }
}

/// Makes the calls of runs and remembers which tools did not answer.
#[derive(Debug)]
pub(super) struct Caller {
    tools: Arc<dyn Tools>,
    resting: Resting<String>,
}

fn failed(reason: impl Into<String>) -> LookupOutcome {
    LookupOutcome { failure: Some(reason.into()), ..LookupOutcome::default() }
}

/// A call that was not made.
fn not_made(reason: impl Into<String>) -> LookupOutcome {
    LookupOutcome { not_made: true, ..failed(reason) }
}

impl Caller {
    pub(super) fn new(tools: Arc<dyn Tools>) -> Self {
        Self { tools, resting: Resting::default() }
    }

    /// Makes the pending calls and notes their answers.
    pub(super) async fn execute(&self, state: &mut State) {
        let pending = std::mem::take(&mut state.pending);
        let mut made: BTreeSet<String> =
            state.inquiry.answered.iter().map(|answered| canonical(&answered.question)).collect();
        let first = state.inquiry.answered.len();
        let begun = Instant::now();
        let deadline = begun + BUDGET.saturating_sub(Duration::from_millis(state.looked_up_ms));
        let event = state.event_payload.event_id;
        let calls = pending.iter().enumerate().map(|(at, question)| {
            let number = first + at;
            let refusal = if !made.insert(canonical(question)) {
                Some("refused: the same call was made before in this run")
            } else if number >= MAX_TOOL_CALLS as usize {
                Some("refused: no more calls are left in this run")
            } else {
                None
            };
            let id = format!("{event}/{}", number + 1);
            async move {
                match refusal {
                    Some(reason) => not_made(reason),
                    None => self.call(&id, question, deadline).await,
                }
            }
        });
        let outcomes = join_all(calls).await;
        let took_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        state.looked_up_ms = state.looked_up_ms.saturating_add(took_ms);
        for (question, outcome) in pending.into_iter().zip(outcomes) {
            note(state, question, outcome);
        }
    }

    async fn call(&self, id: &str, question: &Question, deadline: Instant) -> LookupOutcome {
        let tool = question.tool.as_str();
        if deadline <= Instant::now() {
            return not_made("not asked: the look-ups of this judgement have taken all their time");
        }
        if self.resting.rests(&question.tool) {
            return not_made("not asked: the tool was away a moment ago");
        }
        let span = spans::of_call(tool, id);
        let call = self.tools.call(id, tool, question.arguments.clone()).instrument(span.clone());
        let told = |kind: &str, reason: String| {
            spans::fail(&span, kind, &reason);
            failed(reason)
        };
        match tokio::time::timeout_at(deadline, call).await {
            Ok(Ok(answer)) if answer.is_error => {
                let kind = answer.failure.as_deref().unwrap_or("tool_error");
                if kind == "unavailable" {
                    self.rest(tool, kind);
                }
                told(kind, answer.text)
            }
            Ok(Ok(answer)) => read(&answer),
            Ok(Err(error)) => {
                self.rest(tool, "unavailable");
                told("unavailable", error.to_string())
            }
            Err(_elapsed) => {
                self.rest(tool, "timeout");
                told("timeout", format!("no answer within {} s", BUDGET.as_secs()))
            }
        }
    }

    fn rest(&self, tool: &str, reason: &str) {
        log::tool_away(tool);
        self.resting.begin(tool.to_owned(), reason);
    }
}

/// Answers the pending calls of a program without tools: each failed.
pub(super) fn without_tools(state: &mut State) {
    for question in std::mem::take(&mut state.pending) {
        note(state, question, not_made("this program was started without tools"));
    }
}

fn note(state: &mut State, question: Question, outcome: LookupOutcome) {
    let names = outcome.documents.iter().map(|document| document.id.as_str());
    let found = || names.chain(outcome.note.as_deref()).collect::<Vec<_>>().join(", ");
    let text = outcome.failure.clone().unwrap_or_else(found);
    let (round, tool) = (state.rounds, question.tool.clone());
    state.messages.push(Message::Observation { round, tool, text });
    state.inquiry.note(question, outcome);
}

/// One text for equal calls: the name, and the arguments with sorted keys.
fn canonical(question: &Question) -> String {
    let sorted: BTreeMap<&String, &Value> = question.arguments.iter().collect();
    let arguments = serde_json::to_string(&sorted).unwrap_or_default();
    format!("{} {arguments}", question.tool)
}

/// Reads the answer of a search. An answer of another form has no documents.
fn read(answer: &CallAnswer) -> LookupOutcome {
    let Some(data) = answer.structured.as_ref() else { return LookupOutcome::default() };
    let list = data.get("documents").and_then(Value::as_array);
    let list: Vec<&Value> = list.into_iter().flatten().collect();
    // what a filter leaves without answering the question grounds nothing in a judgement
    let (close, others): (Vec<&Value>, Vec<&Value>) =
        list.into_iter().partition(|one| one.get("close") != Some(&Value::Bool(false)));
    if close.is_empty() && !others.is_empty() {
        return LookupOutcome::default();
    }
    let documents = close.into_iter().filter_map(|value| Document::deserialize(value).ok());
    let note = data.get("note").and_then(Value::as_str).map(str::to_owned);
    LookupOutcome { documents: documents.collect(), note, ..LookupOutcome::default() }
}
