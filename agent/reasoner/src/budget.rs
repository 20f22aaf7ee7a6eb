//! Budgets: calls, tokens, seconds and money, for one event and for one day.
//!
//! A limit is checked before a call by what the call may cost at most, so that a budget is not
//! passed by the call that would pass it. A server that tells no usage is charged one token for
//! each character, which no tokenizer in use exceeds for Korean or English by more than a few
//! percent.

use std::path::Path;

use pdm_service::config::ConfigError;
use serde::{Deserialize, Deserializer, Serialize};

/// Limits as they are typed: what is left out has its default.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TypedLimits {
    calls: Option<u64>,
    tokens: Option<u64>,
    seconds: Option<f64>,
    usd: Option<f64>,
}

fn typed<'de, D: Deserializer<'de>>(typed: D, default: Limits) -> Result<Limits, D::Error> {
    let typed = TypedLimits::deserialize(typed)?;
    Ok(Limits {
        calls: typed.calls.unwrap_or(default.calls),
        tokens: typed.tokens.unwrap_or(default.tokens),
        seconds: typed.seconds.unwrap_or(default.seconds),
        usd: typed.usd.unwrap_or(default.usd),
    })
}

/// Reads the limits of an event; what is left out has the default of an event.
pub(crate) fn per_event<'de, D: Deserializer<'de>>(limits: D) -> Result<Limits, D::Error> {
    typed(limits, Limits::of_event())
}

/// Reads the limits of a day; what is left out has the default of a day.
pub(crate) fn per_day<'de, D: Deserializer<'de>>(limits: D) -> Result<Limits, D::Error> {
    typed(limits, Limits::of_day())
}

/// The most that may be spent: requests, tokens, time and money.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Most requests to the model, repeated ones included.
    pub calls: u64,
    /// Most tokens, of questions and answers together.
    pub tokens: u64,
    /// Longest time, s.
    pub seconds: f64,
    /// Most money, US dollars.
    pub usd: f64,
}

impl Limits {
    /// Default of one event. Chosen: ten calls of tools take eleven turns; a prompt of 4,000 tokens
    /// that grows by 1,000 a turn sums up to 100,000.
    pub const fn of_event() -> Self {
        Self { calls: 16, tokens: 120_000, seconds: 300.0, usd: 0.5 }
    }

    /// Default of a day. Chosen: two hundred opinions of typical length.
    pub const fn of_day() -> Self {
        Self { calls: 3000, tokens: 10_000_000, seconds: 86_400.0, usd: 20.0 }
    }

    pub(crate) fn check(&self, path: &Path, section: &str) -> Result<(), ConfigError> {
        for (key, value) in [("seconds", self.seconds), ("usd", self.usd)] {
            if !(value.is_finite() && value >= 0.0) {
                let key = format!("{section}.{key}");
                return Err(ConfigError::value(path, key, value, "a finite number from 0"));
            }
        }
        Ok(())
    }
}

/// Prices of a model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Prices {
    /// US dollars for a million tokens of questions.
    pub input_usd_per_million: f64,
    /// US dollars for a million tokens of answers.
    pub output_usd_per_million: f64,
}

impl Default for Prices {
    /// OpenAI's list price of gpt-4o.
    fn default() -> Self {
        Self { input_usd_per_million: 2.5, output_usd_per_million: 10.0 }
    }
}

impl Prices {
    /// Returns the cost of these tokens, US dollars.
    pub fn of(&self, prompt_tokens: u64, completion_tokens: u64) -> f64 {
        (prompt_tokens as f64 * self.input_usd_per_million
            + completion_tokens as f64 * self.output_usd_per_million)
            / 1e6
    }

    pub(crate) fn check(&self, path: &Path) -> Result<(), ConfigError> {
        for (key, value) in [
            ("input_usd_per_million", self.input_usd_per_million),
            ("output_usd_per_million", self.output_usd_per_million),
        ] {
            if !(value.is_finite() && value >= 0.0) {
                let key = format!("reasoner.price.{key}");
                return Err(ConfigError::value(path, key, value, "a finite number from 0"));
            }
        }
        Ok(())
    }
}

/// The requests, tokens, time and money that were spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// Requests to the model.
    pub calls: u64,
    /// Tokens of questions.
    pub prompt_tokens: u64,
    /// Tokens of answers.
    pub completion_tokens: u64,
    /// Time that was waited for the model, s.
    pub seconds: f64,
    /// Money, US dollars.
    pub usd: f64,
}

impl Spent {
    /// The sum of both.
    #[must_use]
    pub fn plus(&self, more: &Self) -> Self {
        Self {
            calls: self.calls.saturating_add(more.calls),
            prompt_tokens: self.prompt_tokens.saturating_add(more.prompt_tokens),
            completion_tokens: self.completion_tokens.saturating_add(more.completion_tokens),
            seconds: self.seconds + more.seconds,
            usd: self.usd + more.usd,
        }
    }

    /// Tokens of questions and answers.
    pub const fn tokens(&self) -> u64 {
        self.prompt_tokens.saturating_add(self.completion_tokens)
    }
}

/// A budget is used up. The caller makes no further call and says so.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("the budget {scope} is used up: {what}")]
pub struct Exhausted {
    /// The scope of the limit: of the event, or of the day.
    pub scope: &'static str,
    /// The limit, with what was spent.
    pub what: String,
}

/// Whether a call that may cost `next` fits beside what was spent.
///
/// # Errors
/// [`Exhausted`] with the limit that it would pass.
pub fn fits(
    scope: &'static str,
    limits: &Limits,
    spent: &Spent,
    next: &Spent,
) -> Result<(), Exhausted> {
    let after = spent.plus(next);
    let out = |what: String| Err(Exhausted { scope, what });
    if after.calls > limits.calls {
        return out(format!("{} of {} calls", spent.calls, limits.calls));
    }
    if after.tokens() > limits.tokens {
        return out(format!(
            "{} of {} tokens, the next call may take {}",
            spent.tokens(),
            limits.tokens,
            next.tokens()
        ));
    }
    if spent.seconds >= limits.seconds {
        return out(format!("{:.0} of {:.0} seconds", spent.seconds, limits.seconds));
    }
    if after.usd > limits.usd {
        return out(format!("{:.4} of {:.4} US dollars", spent.usd, limits.usd));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn spent(calls: u64, tokens: u64, seconds: f64, usd: f64) -> Spent {
        Spent { calls, prompt_tokens: tokens, completion_tokens: 0, seconds, usd }
    }

    #[test]
    fn the_call_that_would_pass_a_limit_is_not_made_and_the_limit_is_named() {
        let limits = Limits { calls: 2, tokens: 100, seconds: 10.0, usd: 0.01 };
        let next = spent(1, 10, 0.0, 0.001);
        assert_eq!(fits("of the event", &limits, &Spent::default(), &next), Ok(()));
        for (before, told) in [
            (spent(2, 0, 0.0, 0.0), "2 of 2 calls"),
            (spent(0, 95, 0.0, 0.0), "95 of 100 tokens"),
            (spent(0, 0, 10.0, 0.0), "10 of 10 seconds"),
            (spent(0, 0, 0.0, 0.0095), "US dollars"),
        ] {
            let error = fits("of the event", &limits, &before, &next).expect_err(told).to_string();
            assert!(error.contains(told) && error.contains("of the event"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn calls_that_fit_one_after_the_other_never_pass_the_budget(
            costs in proptest::collection::vec((0_u64..40, 0.0_f64..0.01), 0..60)
        ) {
            let limits = Limits { calls: 20, tokens: 500, seconds: 1e9, usd: 0.05 };
            let mut total = Spent::default();
            for (tokens, usd) in costs {
                let next = spent(1, tokens, 0.0, usd);
                if fits("of the day", &limits, &total, &next).is_ok() {
                    total = total.plus(&next);
                }
            }
            prop_assert!(total.calls <= 20 && total.tokens() <= 500 && total.usd <= 0.05 + 1e-12);
        }
    }
}
