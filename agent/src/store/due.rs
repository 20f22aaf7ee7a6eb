//! What is due, although the clock that wrote it may have been wrong.
//!
//! A time to come is written by one clock and judged by another: that of a replica, or the same one
//! after it was put right. So what waits is due when its time has come, and also when it must have
//! been written in the future: by a clock that was ahead.

use pdm_shared::time::Timestamp;

/// Clocks that differ by no more than this are both taken as right where staff would hear of it.
/// Chosen: far above what replicas without time synchronisation drift apart in a month, far below a
/// shift.
const ALARM_APART_S: f64 = 3600.0;

/// The same for a row of the outbox, which only leaves early. Chosen: above what replicas with time
/// synchronisation differ by.
const ROW_APART_S: f64 = 60.0;

/// The longest that a row of the outbox waits after a failure.
pub(crate) const LONGEST_RETRY_S: f64 = 720.0;

/// The bounds of a due repetition of an alarm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DueAlarm {
    /// Up to here its time has come.
    pub(crate) now: Timestamp,
    /// What waits beyond was written in the future.
    pub(crate) latest: Timestamp,
}

impl DueAlarm {
    /// What is due at `now` of what is repeated every `every_s` seconds.
    pub(crate) fn at(now: Timestamp, every_s: f64) -> Self {
        Self { now, latest: now.plus_seconds(every_s + ALARM_APART_S) }
    }
}

/// The bounds of a due row of the outbox: the parameters of `due_row!`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DueRow {
    /// Up to here its time has come.
    pub(crate) now: Timestamp,
    /// What was created beyond is of the future.
    pub(crate) created: Timestamp,
    /// A retry that waits beyond was put off in the future.
    pub(crate) retry: Timestamp,
}

impl DueRow {
    /// What is due at `now`.
    pub(crate) fn at(now: Timestamp) -> Self {
        Self {
            now,
            created: now.plus_seconds(ROW_APART_S),
            retry: now.plus_seconds(LONGEST_RETRY_S + ROW_APART_S),
        }
    }
}

/// [`DueRow`] in SQL. Parameters: `$3` now, `$6` created, `$7` retry.
macro_rules! due_row {
    () => {
        "(due_at_ms <= $3 OR (attempts = 0 AND created_at_ms > $6)
              OR (attempts > 0 AND due_at_ms > $7))"
    };
}
pub(crate) use due_row;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_an_hour_apart_are_both_right_for_an_alarm_and_a_minute_for_a_row() {
        let now = Timestamp::from_unix_ms(1_800_000_000_000).expect("in range");
        assert_eq!(DueAlarm::at(now, 8.0 * 3600.0).latest, now.plus_seconds(9.0 * 3600.0));
        let row = DueRow::at(now);
        assert_eq!((row.now, row.created), (now, now.plus_seconds(60.0)));
        assert_eq!(row.retry, now.plus_seconds(780.0));
    }
}
