//! Sessions of browsers that have logged in with the token.
//!
//! A session is a random value in a cookie; its SHA-256 is kept in memory, so a dump of the memory or
//! a log holds nothing to enter with. A restart ends all sessions.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};

/// How long a session lasts: one shift of twelve hours.
pub(crate) const LASTS: Duration = Duration::from_hours(12);
/// Most sessions; the oldest is ended for a new one. Chosen: far above the people of one plant.
const MOST: usize = 256;

/// The open sessions.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    open: Mutex<BTreeMap<[u8; 32], Instant>>,
}

impl Sessions {
    /// Opens a session; tells the value of its cookie.
    pub(crate) fn open(&self) -> String {
        let value = hex(&rand::random::<[u8; 32]>());
        let now = Instant::now();
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|_, since| now.duration_since(*since) < LASTS);
        if open.len() >= MOST {
            let oldest = open.iter().min_by_key(|(_, since)| **since).map(|(key, _)| *key);
            oldest.and_then(|key| open.remove(&key));
        }
        open.insert(digest("session", &value), now);
        value
    }

    /// Whether the value belongs to an open session.
    pub(crate) fn is_open(&self, value: &str) -> bool {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.get(&digest("session", value)).is_some_and(|since| since.elapsed() < LASTS)
    }

    /// Ends a session.
    pub(crate) fn end(&self, value: &str) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.remove(&digest("session", value));
    }
}

/// The value that a form of this session has to send back, so that a page of another origin cannot
/// send the form.
pub(crate) fn form_key(session: &str) -> String {
    hex(&digest("form", session))
}

fn digest(what: &str, value: &str) -> [u8; 32] {
    Sha256::new().chain_update(what).chain_update([0]).chain_update(value).finalize().into()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _written = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_open_until_it_is_ended() {
        let sessions = Sessions::default();
        let value = sessions.open();
        assert!(sessions.is_open(&value));
        assert!(!sessions.is_open(&value[1..]) && !sessions.is_open(""));
        sessions.end(&value);
        assert!(!sessions.is_open(&value));
    }

    #[test]
    fn a_new_session_ends_the_oldest_of_too_many() {
        let sessions = Sessions::default();
        let first = sessions.open();
        let all: Vec<String> = (0..MOST).map(|_| sessions.open()).collect();
        assert!(!sessions.is_open(&first));
        assert!(all.iter().all(|value| sessions.is_open(value)));
    }

    #[test]
    fn a_forms_key_tells_nothing_of_its_session() {
        assert_ne!(form_key("a"), form_key("b"));
        assert_ne!(form_key("a"), hex(&digest("session", "a")));
    }
}
