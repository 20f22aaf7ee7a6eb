//! What is due, although the clock that wrote it may have been wrong.
//!
//! A time to come is written by one clock and judged by another: that of a replica, or the same one
//! after it was put right. So what waits is due when its time has come, and also when that lies
//! further away than anything of its kind waits: it was written while the clock was ahead.

use pdm_shared::clock::Timestamp;

/// Clocks that differ by no more than this are both taken as right. Chosen: far above what
/// replicas without time synchronisation drift apart in a month, far below a shift.
const APART_S: f64 = 3600.0;

/// The longest that a row of the outbox waits: for the others of its machine, or after a failure.
pub(crate) const LONGEST_PAUSE_S: f64 = 86_400.0;

/// The bounds of what is due, for the condition that [`is_due`] writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Due {
    /// Up to here its time has come, ms since 1970.
    pub(crate) now_ms: i64,
    /// Beyond here a clock was wrong, ms since 1970.
    pub(crate) latest_ms: i64,
}

impl Due {
    /// What is due at `now` of what waits `longest_s` seconds at most.
    pub(crate) fn at(now: Timestamp, longest_s: f64) -> Self {
        let latest = now.plus_seconds(longest_s + APART_S);
        Self { now_ms: now.unix_ms(), latest_ms: latest.unix_ms() }
    }
}

/// The condition in SQL: a column with the parameters of [`Due`]'s two fields, as literals.
macro_rules! is_due {
    ($at:literal, $now:literal, $latest:literal) => {
        concat!("(", $at, " <= ", $now, " OR ", $at, " > ", $latest, ")")
    };
}
pub(crate) use is_due;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_an_hour_apart_are_both_right() {
        let now = Timestamp::from_unix_ms(1_800_000_000_000).expect("in range");
        let due = Due::at(now, 8.0 * 3600.0);
        assert_eq!(due.now_ms, now.unix_ms());
        assert_eq!(due.latest_ms - due.now_ms, 9 * 3_600_000);
        assert_eq!(is_due!("due_at_ms", "$1", "$2"), "(due_at_ms <= $1 OR due_at_ms > $2)");
    }
}
