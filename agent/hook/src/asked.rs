//! Reads a receiver's requests besides its status: to wait (`Retry-After`), or to go elsewhere
//! (`Location`).
//!
//! A wait is given in seconds or as a date (RFC 9110, section 10.2.3). A redirect is never
//! followed, and its address is told by its host alone: the rest may hold the secret of the address
//! that was asked.

use std::time::Duration;

use chrono::DateTime;
use pdm_shared::bounds::in_one_line;
use reqwest::Url;
use reqwest::header::{DATE, HeaderMap, HeaderName, LOCATION, RETRY_AFTER};

/// Characters of a host that are told.
const HOST_CHARS: usize = 120;

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

/// Returns how long a receiver asks to wait before the next try. A date counts from the receiver's
/// own clock where it tells that, else from `now_ms`; one that is past asks for no wait.
pub fn asked_wait(headers: &HeaderMap, now_ms: i64) -> Option<Duration> {
    let asked = text(headers, RETRY_AFTER)?;
    if let Ok(seconds) = asked.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let date = |text: &str| DateTime::parse_from_rfc2822(text).ok().map(|at| at.timestamp_millis());
    let now_ms = text(headers, DATE).and_then(date).unwrap_or(now_ms);
    let wait_ms = date(asked)?.saturating_sub(now_ms).max(0);
    Some(Duration::from_millis(wait_ms.unsigned_abs()))
}

/// Returns where a redirect leads, in words; `None` for an answer that is no redirect.
pub fn redirect_in_words(status: u16, asked: &Url, headers: &HeaderMap) -> Option<String> {
    if !(300..400).contains(&status) {
        return None;
    }
    let not_followed = "it is not followed";
    let Some(location) = text(headers, LOCATION).filter(|location| !location.is_empty()) else {
        return Some(format!(
            "the receiver redirects without saying where (no Location): {not_followed}; ask its \
             keeper for the address to use"
        ));
    };
    let Some(to) = asked.join(location).ok() else {
        return Some(format!(
            "the receiver redirects to what is no address: {not_followed}; ask its keeper for the \
             address to use"
        ));
    };
    let place = |url: &Url| {
        let host = in_one_line(url.host_str().unwrap_or_default(), HOST_CHARS).into_owned();
        let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
        format!("{}://{host}{port}", url.scheme())
    };
    let there = place(&to);
    Some(if asked.scheme() == "https" && to.scheme() == "http" {
        format!(
            "the receiver redirects to {there}, without encryption: {not_followed}; ask its keeper \
             for an https address"
        )
    } else if asked.host_str() != to.host_str() {
        format!(
            "the receiver redirects to another host, {there}: {not_followed}; a proxy may ask to \
             log in, or the receiver has moved: put the new address into the configuration"
        )
    } else {
        format!(
            "the receiver redirects to another address at {there}: {not_followed}; put the new \
             address into the configuration"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(all: &[(HeaderName, &str)]) -> HeaderMap {
        all.iter().map(|(name, value)| (name.clone(), value.parse().expect("a value"))).collect()
    }

    /// R-AGENT-10
    #[test]
    fn a_wait_is_read_in_seconds_and_as_a_date_by_the_receivers_clock() {
        let now_ms = 784_111_777_000; // Sun, 06 Nov 1994 08:49:37 GMT
        let wait = |all: &[(HeaderName, &str)]| asked_wait(&headers(all), now_ms);
        assert_eq!(wait(&[(RETRY_AFTER, " 120 ")]), Some(Duration::from_mins(2)));
        let date = "Sun, 06 Nov 1994 08:51:37 GMT";
        assert_eq!(wait(&[(RETRY_AFTER, date)]), Some(Duration::from_mins(2)));
        let own = "Sun, 06 Nov 1994 08:51:07 GMT";
        assert_eq!(wait(&[(RETRY_AFTER, date), (DATE, own)]), Some(Duration::from_secs(30)));
        assert_eq!(wait(&[(RETRY_AFTER, "Sun, 06 Nov 1994 08:00:00 GMT")]), Some(Duration::ZERO));
        for none in ["-5", "soon", "1.5", ""] {
            assert_eq!(wait(&[(RETRY_AFTER, none)]), None, "{none}");
        }
        assert_eq!(wait(&[]), None);
    }

    /// R-AGENT-10
    #[test]
    fn a_redirect_is_named_by_its_kind_and_its_host_and_no_secret_is_told() {
        let asked = Url::parse("https://hooks.example/T0/s3cret").expect("an address");
        let told = |location: Option<&str>| {
            let location = location.map(|to| (LOCATION, to));
            let told = redirect_in_words(302, &asked, &headers(location.as_slice()));
            let told = told.expect("a redirect");
            assert!(!told.contains("s3cret") && told.contains("not followed"), "{told}");
            told
        };
        assert!(told(None).contains("without saying where"));
        assert!(told(Some("")).contains("without saying where"));
        let login = told(Some("https://login.example/?to=/T0/s3cret"));
        assert!(login.contains("another host, https://login.example"), "{login}");
        let plain = told(Some("http://hooks.example/T0/s3cret"));
        assert!(plain.contains("without encryption"), "{plain}");
        let moved = told(Some("/v2/s3cret"));
        assert!(moved.contains("another address at https://hooks.example"), "{moved}");
        assert!(told(Some("https://[")).contains("no address"));
        assert_eq!(redirect_in_words(200, &asked, &HeaderMap::new()), None);
    }
}
