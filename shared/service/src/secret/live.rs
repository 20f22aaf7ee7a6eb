//! A secret that is read again each time it is used.
//!
//! Invariant: what cannot be read now changes nothing. A file that is missing or empty for a
//! moment, as while it is replaced, leaves the secret of before in use; the log tells it once, and
//! again when it is over.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Secret, SecretError, SecretSource};

/// A secret with its source. Clones share what was read last.
#[derive(Clone)]
pub struct LiveSecret(Arc<Inner>);

struct Inner {
    source: Option<SecretSource>,
    last: Mutex<Secret>,
    is_unread: AtomicBool,
}

impl fmt::Debug for LiveSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveSecret").field("source", &self.0.source).finish_non_exhaustive()
    }
}

impl From<Secret> for LiveSecret {
    /// A secret without a source, which stays as it is.
    fn from(secret: Secret) -> Self {
        Self::with(None, secret)
    }
}

impl LiveSecret {
    /// Reads the secret of `source` for the first time.
    ///
    /// # Errors
    /// [`SecretError`] if the file or the variable cannot be read.
    pub fn open(source: SecretSource) -> Result<Self, SecretError> {
        let secret = source.fetch()?;
        Ok(Self::with(Some(source), secret))
    }

    /// A secret that was read before; without a source it stays as it is.
    pub fn with(source: Option<SecretSource>, secret: Secret) -> Self {
        let (last, is_unread) = (Mutex::new(secret), AtomicBool::new(false));
        Self(Arc::new(Inner { source, last, is_unread }))
    }

    /// The secret as its source holds it now; the last one that could be read if it holds none.
    pub fn current(&self) -> Secret {
        self.current_if(|_any| true)
    }

    /// Does the same as [`LiveSecret::current`]; a new secret that `is_allowed` refuses counts as
    /// none.
    pub fn current_if(&self, is_allowed: impl FnOnce(&Secret) -> bool) -> Secret {
        let mut last = self.0.last.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(source) = &self.0.source else { return last.clone() };
        let why = match source.fetch() {
            Ok(now) if now == *last => None,
            Ok(now) if is_allowed(&now) => {
                tracing::info!(%source, "a secret has changed, the new one is used from now on");
                *last = now;
                None
            }
            Ok(_refused) => Some("the new secret is not allowed".to_owned()),
            Err(error) => Some(crate::error_chain::error_chain(&error)),
        };
        let was_unread = self.0.is_unread.swap(why.is_some(), Ordering::Relaxed);
        match why {
            Some(reason) if !was_unread => {
                tracing::warn!(%source, reason, "a secret cannot be read again, the one of before \
                    stays in use");
            }
            None if was_unread => tracing::info!(%source, "a secret can be read again"),
            Some(_) | None => {}
        }
        last.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Issue 33, point 5.
    #[test]
    fn a_secret_is_read_at_each_use_and_an_empty_or_missing_file_is_no_new_one() {
        let folder = tempfile::tempdir().expect("folder");
        let file = folder.path().join("password");
        let write = |text: &str| std::fs::write(&file, text).expect("written");
        write("one\n");
        let live = LiveSecret::open(SecretSource::File(file.clone())).expect("there");
        let said = || live.current().expose().to_owned();
        assert_eq!(said(), "one");
        write("two");
        assert_eq!(said(), "two");
        for torn in ["", "\n", "two\nlines"] {
            write(torn);
            assert_eq!(said(), "two", "{torn:?}");
        }
        std::fs::remove_file(&file).expect("removed");
        assert_eq!(said(), "two");
        write("three");
        assert_eq!(said(), "three");
        assert!(!format!("{live:?}").contains("three"));
    }

    #[test]
    fn a_new_secret_that_is_not_allowed_is_not_used() {
        let file = tempfile::NamedTempFile::new().expect("file");
        std::fs::write(file.path(), "long enough").expect("written");
        let live = LiveSecret::open(SecretSource::File(file.path().into())).expect("there");
        std::fs::write(file.path(), "short").expect("written");
        let long = |secret: &Secret| secret.expose().len() > 8;
        assert_eq!(live.current_if(long).expose(), "long enough");
        let fixed = LiveSecret::from(Secret::new("fixed".to_owned()));
        assert_eq!(fixed.current().expose(), "fixed");
    }
}
