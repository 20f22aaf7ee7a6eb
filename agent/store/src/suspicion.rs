//! Whether a session of the server may be another's: a pooler that was set to transaction mode
//! while the agent runs lends a session for a question, and its answer may be that of another
//! statement.
//!
//! Whoever sees a sign raises the suspicion. The next write of the pulse asks for the pooler's mode
//! before anything else, and until then no session is used again.

use std::sync::atomic::{AtomicBool, Ordering};

static IS_RAISED: AtomicBool = AtomicBool::new(false);

/// A session has given the answer of another one.
pub(crate) fn raise() {
    IS_RAISED.store(true, Ordering::Relaxed);
}

/// Whether a session may be another's.
pub(crate) fn is_raised() -> bool {
    IS_RAISED.load(Ordering::Relaxed)
}

/// Each connection has a session of its own: the server was asked.
pub(crate) fn end() {
    IS_RAISED.store(false, Ordering::Relaxed);
}

/// Whether an error of the server says that a statement which was prepared in this session is not,
/// or is another one.
pub(crate) fn is_sign(code: &str, text: &str) -> bool {
    matches!(code, "42P05" | "26000") || (code == "08P01" && text.contains("prepared statement"))
}
