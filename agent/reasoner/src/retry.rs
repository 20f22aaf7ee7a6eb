//! Decides after a failed attempt: how long to wait before the next one, or that there is none.
//!
//! A server's `Retry-After` comes first, then pauses of 1, 2 and 4 s. Requests that the server
//! refuses because of their content (400, 401, 403, 404, 422) are not repeated.

use std::time::Duration;

use chrono::{DateTime, Utc};
use pdm_service::backoff::REQUEST_PAUSES;

/// Whether a status may pass by itself.
pub const fn is_passing(status: u16) -> bool {
    matches!(status, 408 | 409 | 425 | 429 | 500..=599)
}

/// The pause before the attempt after `failures` failed ones; `None` if there is none, because the
/// attempts are used up or the server wants a longer pause than there is time `left`.
pub fn pause(failures: usize, retry_after: Option<Duration>, left: Duration) -> Option<Duration> {
    let usual = REQUEST_PAUSES.get(failures.checked_sub(1)?)?;
    let pause = retry_after.unwrap_or(*usual);
    (pause < left).then_some(pause)
}

/// The time that a header `Retry-After` names: seconds, or a date.
pub fn retry_after(header: &str, now: DateTime<Utc>) -> Option<Duration> {
    let header = header.trim();
    if let Ok(seconds) = header.parse::<u32>() {
        return Some(Duration::from_secs(u64::from(seconds)));
    }
    let at = DateTime::parse_from_rfc2822(header).ok()?.with_timezone(&Utc);
    Some((at - now).to_std().unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_pauses_and_then_no_more() {
        let long = Duration::from_secs(1000);
        let pauses: Vec<_> = (1..=4).map(|failures| pause(failures, None, long)).collect();
        let seconds = |s| Some(Duration::from_secs(s));
        assert_eq!(pauses, [seconds(1), seconds(2), seconds(4), None]);
    }

    #[test]
    fn the_servers_own_pause_comes_first_unless_there_is_no_time_for_it() {
        let (asked, left) = (Some(Duration::from_secs(7)), Duration::from_secs(10));
        assert_eq!(pause(1, asked, left), asked);
        assert_eq!(pause(1, Some(Duration::from_hours(24)), left), None);
    }

    #[test]
    fn retry_after_is_seconds_or_a_date_and_nothing_else() {
        let now = DateTime::parse_from_rfc3339("2026-11-23T12:00:00Z").expect("a time");
        let now = now.with_timezone(&Utc);
        let read = |text| retry_after(text, now).map(|pause| pause.as_secs());
        assert_eq!(read("3"), Some(3));
        assert_eq!(read("Mon, 23 Nov 2026 12:00:09 GMT"), Some(9));
        assert_eq!(read("Mon, 23 Nov 2026 11:00:00 GMT"), Some(0), "a date that is over");
        for odd in ["", "soon", "-1", "1e9", "99999999999999"] {
            assert_eq!(read(odd), None, "{odd}");
        }
    }

    #[test]
    fn what_the_server_refuses_is_not_sent_again() {
        for status in [400, 401, 403, 404, 422] {
            assert!(!is_passing(status), "{status}");
        }
        for status in [408, 429, 500, 502, 503, 529] {
            assert!(is_passing(status), "{status}");
        }
    }
}
