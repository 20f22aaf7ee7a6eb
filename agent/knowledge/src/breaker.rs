//! A breaker before something that may be away: an embedding endpoint, a store on a server.
//!
//! A server that hangs is waited for once and not asked again until a pause has passed; meanwhile
//! every request fails at once with the reason. So the look-ups of a judgement take one short wait
//! in all, and those of the judgements after it none. [`crate::embed::guarded`] and
//! [`crate::store::guarded`] apply it.

use std::time::Duration;

use pdm_service::resting::{REST, Resting};

/// Longest wait of a question for its answer. No data chose it: an endpoint or store usually
/// answers within some tenths of a second, and the notification of staff waits for the judgement
/// and its sources.
pub(crate) const ANSWER: Duration = Duration::from_secs(2);

/// Whether a server is asked, or rests after a failure.
#[derive(Debug)]
pub(crate) struct Breaker {
    /// The server in metrics: `embedding`, `store`.
    what: &'static str,
    resting: Resting<()>,
}

impl Breaker {
    pub(crate) fn new(what: &'static str) -> Self {
        Self { what, resting: Resting::default() }
    }

    /// The reason of the pause, while it lasts.
    pub(crate) fn rests(&self) -> Option<String> {
        let reason = self.resting.reason(&())?;
        Some(format!("not asked again yet: {reason}"))
    }

    /// The server answered: the pause is over.
    pub(crate) fn is_there(&self) {
        self.resting.end(&());
    }

    /// The server did not answer: the pause begins.
    pub(crate) fn is_away(&self, reason: &str) {
        tracing::warn!(server = self.what, reason, rest = ?REST, "not asked for a while");
        metrics::counter!("pdm_agent_knowledge_rests_total", "server" => self.what).increment(1);
        self.resting.begin((), reason);
    }

    /// Asks unless the server rests, and waits for the answer at most `wait`. `away` makes the
    /// error of a server that is away; `was_away` recognises one.
    ///
    /// # Errors
    /// The error of the request, or that of `away`.
    pub(crate) async fn ask<T, E: std::fmt::Display>(
        &self,
        wait: Duration,
        request: impl Future<Output = Result<T, E>>,
        away: impl Fn(String) -> E,
        was_away: impl Fn(&E) -> bool,
    ) -> Result<T, E> {
        if let Some(reason) = self.rests() {
            return Err(away(reason));
        }
        let answer = tokio::time::timeout(wait, request)
            .await
            .unwrap_or_else(|_elapsed| Err(away(format!("no answer within {} s", wait.as_secs()))));
        match &answer {
            Ok(_) => self.is_there(),
            Err(error) if was_away(error) => self.is_away(&error.to_string()),
            // the server is there but the request or the settings are wrong: waiting does not help
            Err(_) => {}
        }
        answer
    }
}
