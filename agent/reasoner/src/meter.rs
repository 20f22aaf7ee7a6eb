//! Asks the model within the budgets: of the event or question, and of the day.
//!
//! The cost of a day is kept in a [`Ledger`] that outlives the program. It is written after every
//! request, so a program that is killed loses at most the cost of the request that was on its way.

use std::time::Duration;

use async_trait::async_trait;
use tracing::Instrument as _;

use crate::budget::{Limits, Prices, Spent, fits};
use crate::client::{Model, ModelError};
use crate::spans;
use crate::wire::{ChatRequest, Completion, FinishReason};

/// The spending of each day.
#[async_trait]
pub trait Ledger: Send + Sync + std::fmt::Debug {
    /// Returns what was spent today (UTC).
    ///
    /// # Errors
    /// The reason in words, if it cannot be read.
    async fn today(&self) -> Result<Spent, String>;

    /// Adds to what was spent today, by the part of the program that spent it.
    ///
    /// # Errors
    /// The reason in words, if it cannot be written.
    async fn add(&self, purpose: &'static str, spent: &Spent) -> Result<(), String>;
}

/// A model with its budgets.
#[derive(Debug, Clone, Copy)]
pub struct Meter<'a> {
    /// The model.
    pub model: &'a dyn Model,
    /// The spending of today.
    pub ledger: &'a dyn Ledger,
    /// Prices of the model.
    pub prices: Prices,
    /// Limits of the event or question.
    pub per_event: Limits,
    /// Limits of the day.
    pub per_day: Limits,
    /// Who asks: `opinion` or `chat`.
    pub purpose: &'static str,
}

impl Meter<'_> {
    /// Whether the event's budget holds this question and `more` further ones. Each of those is
    /// taken to cost what a question has cost so far on the average; before the first, half of what
    /// that may cost at most, since a token of JSON or English has more than two characters.
    pub fn has_room(&self, request: &ChatRequest, spent: &Spent, more: u32) -> bool {
        let next = self.at_most(request);
        let asked = spent.calls.max(1);
        let tokens = match spent.tokens() {
            0 => next.tokens() / 2,
            spent => next.tokens().min(spent / asked),
        };
        let usd = if spent.usd > 0.0 { spent.usd / asked as f64 } else { 0.5 * next.usd };
        let others = Spent {
            calls: more.into(),
            prompt_tokens: tokens.saturating_mul(more.into()),
            completion_tokens: 0,
            seconds: f64::from(more) * spent.seconds / asked as f64,
            usd: f64::from(more) * usd,
        };
        fits("of the event", &self.per_event, &spent.plus(&others), &next).is_ok()
    }

    /// Returns the highest possible cost of a request.
    fn at_most(&self, request: &ChatRequest) -> Spent {
        let (most_in, most_out) = (request.characters(), u64::from(request.max_tokens));
        Spent {
            calls: 1,
            prompt_tokens: most_in,
            completion_tokens: most_out,
            seconds: 0.0,
            usd: self.prices.of(most_in, most_out),
        }
    }

    /// Asks the model, and adds the cost to `spent` and to the day.
    ///
    /// # Errors
    /// [`ModelError`]; nothing is asked if the answer might pass a budget.
    pub async fn ask(
        &self,
        request: &ChatRequest,
        spent: &mut Spent,
    ) -> Result<Completion, ModelError> {
        let next = self.at_most(request);
        let most_in = next.prompt_tokens;
        fits("of the event", &self.per_event, spent, &next)?;
        let today = self.ledger.today().await.map_err(ModelError::Ledger)?;
        fits("of the day", &self.per_day, &today, &next)?;
        let left = (self.per_event.seconds - spent.seconds).clamp(0.0, 86_400.0);
        let span = spans::of_chat(self.model.name(), request);
        let asked = self.model.complete(request, Duration::from_secs_f64(left));
        let attempted = asked.instrument(span.clone()).await;
        let usage = attempted.result.as_ref().ok().and_then(|answer| answer.usage);
        let written = attempted.result.as_ref().map_or(0, characters);
        let (prompt_tokens, completion_tokens) = usage
            .map_or((most_in, written), |usage| (usage.prompt_tokens, usage.completion_tokens));
        let cost = Spent {
            calls: attempted.calls,
            prompt_tokens,
            completion_tokens,
            seconds: attempted.took.as_secs_f64(),
            usd: self.prices.of(prompt_tokens, completion_tokens),
        };
        *spent = spent.plus(&cost);
        note(&span, self.purpose, &cost, &attempted.result);
        self.ledger.add(self.purpose, &cost).await.map_err(ModelError::Ledger)?;
        attempted.result
    }
}

fn characters(answer: &Completion) -> u64 {
    let calls = answer.calls.iter().map(|call| call.function.arguments.chars().count());
    (answer.content.chars().count() + calls.sum::<usize>()) as u64
}

fn note(
    span: &tracing::Span,
    purpose: &'static str,
    cost: &Spent,
    result: &Result<Completion, ModelError>,
) {
    span.record("gen_ai.usage.input_tokens", cost.prompt_tokens);
    span.record("gen_ai.usage.output_tokens", cost.completion_tokens);
    let outcome = match result {
        Ok(answer) => {
            let finish = match answer.finish {
                FinishReason::ToolCalls => "tool_calls",
                FinishReason::Stop
                | FinishReason::Length
                | FinishReason::ContentFilter
                | FinishReason::Other => "stop",
            };
            span.record("gen_ai.response.finish_reasons", finish);
            "ok"
        }
        Err(error) => {
            span.record("error.type", error.kind());
            span.record("otel.status_code", "ERROR");
            error.kind()
        }
    };
    let labels = [("purpose", purpose), ("outcome", outcome)];
    metrics::counter!("pdm_agent_model_requests_total", &labels).increment(cost.calls);
    metrics::histogram!("pdm_agent_model_seconds", &labels).record(cost.seconds);
    let tokens = |kind| [("purpose", purpose), ("kind", kind)];
    metrics::counter!("pdm_agent_model_tokens_total", &tokens("input"))
        .increment(cost.prompt_tokens);
    metrics::counter!("pdm_agent_model_tokens_total", &tokens("output"))
        .increment(cost.completion_tokens);
    // a counter holds whole numbers: millionths of a dollar
    let micro_usd = (cost.usd * 1e6).round().max(0.0) as u64;
    metrics::counter!("pdm_agent_model_cost_micro_usd_total", "purpose" => purpose)
        .increment(micro_usd);
}
