//! The ways to staff on the page of notifications: which one fails, since when, why in plain words,
//! and what waits.

use minijinja::context;
use minijinja::value::Value;
use pdm_shared::bounds::in_one_line;

use super::show;
use crate::plant::{ChannelRow, person_way, shared_hooks_failing};

/// Characters of an error that a page shows.
const ERROR: usize = 300;

/// The meaning of an error for a person, by the words that errors of mail servers, HTTP and TLS
/// contain. The first that fits is shown, with the error itself beside it.
const MEANINGS: [(&str, &[&str]); 7] = [
    (
        "channel_login",
        &["535", "534", "authentication", "credential", "401", "403", "unauthorized"],
    ),
    ("channel_certificate", &["certificate", "tls", "handshake"]),
    ("channel_address", &["550", "553", "404", "410", "recipient", "unknown user", "no such"]),
    ("channel_busy", &["429", "too many", "rate"]),
    ("channel_silent", &["timed out", "timeout", "time-out", "in time"]),
    (
        "channel_away",
        &[
            "connect",
            "dns",
            "refused",
            "network",
            "resolve",
            "broken pipe",
            "reset",
            "no connection",
        ],
    ),
    ("channel_broken", &["answers 5", "500", "502", "503", "504"]),
];

/// The key of the words for an error. A status is a number of its own, not a part of one such as a
/// port.
fn meaning(error: &str) -> &'static str {
    let error = error.to_lowercase();
    let has = |mark: &str| {
        if mark.bytes().all(|byte| byte.is_ascii_digit()) {
            error.split(|c: char| !c.is_ascii_digit()).any(|number| number == mark)
        } else {
            error.contains(mark)
        }
    };
    let fits = |(_, marks): &&(&str, &[&str])| marks.iter().any(|mark| has(mark));
    MEANINGS.iter().find(fits).map_or("channel_other", |(key, _)| key)
}

/// A way to staff as people call it: `to:kim:sms` is `kim (sms)`, `webhook:ops` is `ops`. The two
/// that have words of their own are named by their key.
fn name(lane: &str) -> Value {
    let person = person_way(lane);
    let word = match lane {
        "mqtt" => "lane_mqtt",
        "email" => "lane_email",
        _ => "",
    };
    let told = match person {
        Some((person, channel)) => format!("{person} ({channel})"),
        None => lane.strip_prefix("webhook:").unwrap_or(lane).to_owned(),
    };
    context! { word, told }
}

/// The hooks that fail for several people, as the page names them.
pub(super) fn shared_failing(channels: &[ChannelRow]) -> Vec<Value> {
    let shared = shared_hooks_failing(channels).into_iter();
    shared.map(|(hook, people)| context! { hook, people }).collect()
}

/// A channel as the template shows it.
pub(super) fn row(channel: &ChannelRow) -> Value {
    let error = channel.last_error.as_deref();
    context! {
        name => name(&channel.lane),
        meaning => error.map(meaning),
        error => error.map(|error| in_one_line(error, ERROR).into_owned()),
        since => show::value(channel.failing_since.or(channel.given_up_at)),
        ..show::value(channel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Issue 33
    #[test]
    fn a_hook_that_fails_for_several_people_is_named_once() {
        let failing =
            |lane: &str| ChannelRow { is_failing: true, ..ChannelRow::sound(lane.to_owned()) };
        let ways = [
            failing("to:kim:sms"),
            failing("to:lee:sms"),
            failing("to:lee:email"),
            failing("webhook:ops"),
            ChannelRow::sound("to:park:sms".to_owned()),
        ];
        assert_eq!(shared_hooks_failing(&ways), [("sms".to_owned(), 2)]);
    }

    /// R-AGENT-10: the errors that the channels give, as they stand in the outbox.
    #[test]
    fn an_error_of_a_channel_is_told_in_plain_words() {
        for (error, told) in [
            ("permanent error (535): 5.7.8 authentication failed", "channel_login"),
            ("the receiver answers 404 Not Found: ", "channel_address"),
            ("the receiver answers 503 Service Unavailable: x", "channel_broken"),
            (
                "error sending request: client error (Connect): tcp connect error: Connection \
                 refused",
                "channel_away",
            ),
            ("error sending request: operation timed out", "channel_silent"),
            ("invalid peer certificate: UnknownIssuer", "channel_certificate"),
            ("the receiver answers 429 Too Many Requests: ", "channel_busy"),
            ("connection to 10.0.0.7:5350 refused", "channel_away"),
            ("something else", "channel_other"),
        ] {
            assert_eq!(meaning(error), told, "{error}");
        }
    }
}
