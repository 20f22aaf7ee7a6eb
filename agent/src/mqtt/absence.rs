//! Observes how long a broker is away, and whether a connection that stands brings anything.

use std::time::Duration;

use tokio::time::Instant;

/// How long the broker may be away before staff is told. Chosen: a broker's host is restarted
/// within it.
const AWAY: Duration = Duration::from_mins(5);

/// How long attempts at a connection have failed.
#[derive(Debug, Default)]
pub(super) struct Away {
    since: Option<Instant>,
    is_told: bool,
}

impl Away {
    /// An attempt has failed, or a connection has ended that `stood`; whether it is to be told now.
    pub(super) fn is_due(&mut self, stood: bool) -> bool {
        if stood {
            *self = Self::default();
        }
        let lasted = self.since.get_or_insert_with(Instant::now).elapsed();
        let is_due = lasted >= AWAY && !self.is_told;
        self.is_told |= is_due;
        is_due
    }
}

/// After how long without any message a connection is taken for one that brings none. Chosen: what
/// is retained comes within a second, and gateways that lost the same broker are back within 30 s.
const DEAF: Duration = Duration::from_mins(2);

/// Whether anything has come since the subscriptions were taken. A broker whose access rules refuse
/// the reader may take them all the same, as Mosquitto does.
#[derive(Debug, Default)]
pub(super) struct Listening {
    since: Option<Instant>,
    has_heard_nothing: bool,
}

impl Listening {
    pub(super) fn begun() -> Self {
        Self { since: Some(Instant::now()), has_heard_nothing: true }
    }

    /// Notes that something has come; returns whether it is the first.
    pub(super) fn hears(&mut self) -> bool {
        self.since = None;
        std::mem::take(&mut self.has_heard_nothing)
    }

    /// Ends when nothing has come for long; never a second time, and never after something came.
    pub(super) async fn is_deaf(&mut self) {
        let Some(since) = self.since else { return std::future::pending().await };
        tokio::time::sleep_until(since + DEAF).await;
        self.since = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Issue 33: Mosquitto takes subscriptions whose messages its access rules keep from the
    /// reader.
    #[tokio::test(start_paused = true)]
    async fn a_connection_that_brings_nothing_is_noticed_once_and_one_that_brings_something_never()
    {
        let wait = async |listening: &mut Listening| {
            tokio::time::timeout(DEAF + Duration::from_secs(1), listening.is_deaf()).await.is_ok()
        };
        let mut silent = Listening::begun();
        assert!(wait(&mut silent).await && !wait(&mut silent).await);
        assert!(silent.hears() && !silent.hears(), "what comes at last ends it");
        let mut heard = Listening::begun();
        assert!(heard.hears() && !heard.hears());
        assert!(!wait(&mut heard).await);
        assert!(!wait(&mut Listening::default()).await, "not before the subscriptions are taken");
    }
}
