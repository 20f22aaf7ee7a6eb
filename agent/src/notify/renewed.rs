//! A channel that reads its secrets again before it sends, so that a password or address that was
//! changed is used without a restart.
//!
//! Invariant: a secret that cannot be read leaves the channel as it is; what it was made with may
//! still be right, and the send itself tells if it is not.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use async_trait::async_trait;
use pdm_service::secret::{Secret, SecretSource};
use pdm_shared::delivery::Notification;
use uuid::Uuid;

use super::lanes::{Channel, SendError};
use super::log;

/// Makes the channel anew out of what its secrets hold now.
pub(crate) type Make = dyn Fn() -> Option<Arc<dyn Channel>> + Send + Sync;

/// A channel with secrets.
pub(crate) struct Renewed {
    lane: String,
    sources: Vec<SecretSource>,
    make: Box<Make>,
    current: RwLock<Current>,
    /// The content of the sources at the last look, and how often it has changed.
    noticed: Mutex<(Vec<Option<Secret>>, u64)>,
}

/// The content of the sources, and the channel that was made with it.
type Current = (Vec<Option<Secret>>, Arc<dyn Channel>);

impl std::fmt::Debug for Renewed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Renewed").field("lane", &self.lane).finish_non_exhaustive()
    }
}

impl Renewed {
    /// A channel that was made with what `sources` hold now.
    pub(crate) fn new(
        channel: Arc<dyn Channel>,
        sources: Vec<SecretSource>,
        make: Box<Make>,
    ) -> Self {
        let lane = channel.lane().to_owned();
        let held = texts(&sources);
        let (noticed, current) = (Mutex::new((held.clone(), 0)), RwLock::new((held, channel)));
        Self { lane, sources, make, current, noticed }
    }

    /// The channel, made anew if a secret has changed.
    fn channel(&self) -> Arc<dyn Channel> {
        let now = texts(&self.sources);
        let is_known = {
            let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
            current.0 == now || now.iter().any(Option::is_none)
        };
        if !is_known && let Some(made) = (self.make)() {
            log::secrets_renewed(&self.lane);
            let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
            *current = (now, made);
        }
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&current.1)
    }
}

fn texts(sources: &[SecretSource]) -> Vec<Option<Secret>> {
    sources.iter().map(|source| source.fetch().ok()).collect()
}

#[async_trait]
impl Channel for Renewed {
    fn lane(&self) -> &str {
        &self.lane
    }

    fn most(&self) -> u32 {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        current.1.most()
    }

    fn renewals(&self) -> u64 {
        let now = texts(&self.sources);
        let mut noticed = self.noticed.lock().unwrap_or_else(PoisonError::into_inner);
        let (held, renewals) = &mut *noticed;
        if now.iter().all(Option::is_some) && *held != now {
            *held = now;
            *renewals += 1;
        }
        *renewals
    }

    async fn try_out(&self, key: Uuid, trial: &Notification) -> Result<String, SendError> {
        self.channel().try_out(key, trial).await
    }

    async fn send(&self, key: Uuid, notifications: &[Notification]) -> Result<(), SendError> {
        self.channel().send(key, notifications).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A channel that refuses with the secret that it was made with.
    #[derive(Debug)]
    struct Telling(String);

    #[async_trait]
    impl Channel for Telling {
        fn lane(&self) -> &'static str {
            "told"
        }

        async fn send(&self, _key: Uuid, _notifications: &[Notification]) -> Result<(), SendError> {
            Err(SendError::Later(self.0.clone()))
        }
    }

    /// Issue 33, point 5.
    #[tokio::test]
    async fn a_changed_secret_is_used_by_the_next_message_and_a_missing_one_changes_nothing() {
        let folder = tempfile::tempdir().expect("folder");
        let file = folder.path().join("password");
        std::fs::write(&file, "one").expect("written");
        let source = SecretSource::File(file.clone());
        let made = source.clone();
        let make = move || -> Option<Arc<dyn Channel>> {
            Some(Arc::new(Telling(made.fetch().ok()?.expose().to_owned())))
        };
        let channel = Renewed::new(make().expect("made"), vec![source], Box::new(make));
        let said = async || match channel.send(Uuid::nil(), &[]).await {
            Err(SendError::Later(said)) => said,
            _ => String::new(),
        };
        assert_eq!(said().await, "one");
        assert_eq!(channel.renewals(), 0);
        for torn in ["", "\n"] {
            std::fs::write(&file, torn).expect("written");
            assert_eq!(said().await, "one");
            assert_eq!(channel.renewals(), 0);
        }
        std::fs::write(&file, "two").expect("written");
        assert_eq!((channel.renewals(), channel.renewals()), (1, 1), "however often it is asked");
        assert_eq!(said().await, "two");
        std::fs::remove_file(&file).expect("removed");
        assert_eq!(said().await, "two");
        assert_eq!(channel.renewals(), 1);
    }
}
