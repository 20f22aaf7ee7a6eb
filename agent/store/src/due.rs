//! Decides when a row is due, although the clock that wrote its time may have been wrong.
//!
//! A time to come is written by one clock and judged by another: that of a replica, or the same
//! clock after it was corrected. So a row is due when its time has come, and also when its time
//! lies so far ahead that the clock that wrote it must have been ahead.

use pdm_shared::time::Timestamp;

/// Clocks that differ by at most this are both taken as right where staff would be told again, s. A
/// clock without time synchronisation drifts by about 1 s a day (10 ppm), so an hour is years of
/// drift, and a wrong clock delays a repetition by less than a shift of 8 h.
const ALARM_APART_S: f64 = 3600.0;

/// The longest difference for a row of the outbox, which only leaves early, s. Replicas with time
/// synchronisation differ by milliseconds, those without by a minute after two months.
const ROW_APART_S: f64 = 60.0;

/// The longest that a step of a route or the end of quiet hours is waited for, s: steps come within
/// a week, and quiet hours end within eight days.
pub const LONGEST_STEP_S: f64 = 8.0 * 86_400.0;

/// The longest that a row of the outbox waits after a failure, s: the longest pause of the lanes,
/// 600 s, and a fifth for its jitter.
pub const LONGEST_RETRY_S: f64 = 720.0;

/// The bounds between which the repetition of an alarm is not due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueAlarm {
    /// A time up to here has come.
    pub now: Timestamp,
    /// A time beyond was written by a clock that was ahead.
    pub latest: Timestamp,
    /// An alarm that was told beyond was told by a clock that was ahead: its times lie too far away
    /// by as much.
    pub told: Timestamp,
}

impl DueAlarm {
    /// The bounds at `now` of alarms that are repeated every `every_s` seconds.
    pub fn at(now: Timestamp, every_s: f64) -> Self {
        Self {
            now,
            latest: now.plus_seconds(every_s + ALARM_APART_S),
            told: now.plus_seconds(ROW_APART_S),
        }
    }

    /// Whether an instant of the past lies so far ahead that a wrong clock wrote it.
    pub fn is_ahead(at: Timestamp, now: Timestamp) -> bool {
        at.seconds_since(now) > ROW_APART_S
    }
}

/// The bounds of a due row of the outbox, for the parameters of [`DueRow::SQL`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueRow {
    /// A time up to here has come.
    pub now: Timestamp,
    /// A row created beyond was written by a clock that was ahead.
    pub created: Timestamp,
    /// A retry that waits beyond was put off by a clock that was ahead.
    pub retry: Timestamp,
}

impl DueRow {
    /// The condition in SQL. Parameters: `$3` now, `$6` created, `$7` retry.
    pub const SQL: &str = "(due_at_ms <= $3 OR (attempts = 0 AND created_at_ms > $6)
              OR (attempts > 0 AND due_at_ms > $7))";

    /// The bounds at `now`.
    pub fn at(now: Timestamp) -> Self {
        Self {
            now,
            created: now.plus_seconds(ROW_APART_S),
            retry: now.plus_seconds(LONGEST_RETRY_S + ROW_APART_S),
        }
    }
}

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
