//! Reads the outcome of a request as its receiver states it: by status, or by a value in the
//! answer. Some receivers answer 200 and write the failure into the body; some refuse a key that
//! they know already.

use serde::Deserialize;
use serde_json::Value;

use crate::failure::{json_of, says_failure};

/// What an answer means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The receiver has the message.
    Delivered,
    /// The receiver had the message already.
    Duplicate,
    /// Trying again can help.
    Later,
    /// The receiver does not let us in, or is not there: people may repair that.
    Refused,
    /// Trying again cannot help.
    Never,
}

/// A value at a place of the answer.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sign {
    /// A JSON pointer (RFC 6901).
    pointer: String,
    /// The value, or several of which one stands there.
    value: Values,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
enum Values {
    Many(Vec<Value>),
    One(Value),
}

impl Values {
    fn has(&self, found: &Value) -> bool {
        match self {
            Self::One(one) => is_same(one, found),
            Self::Many(many) => many.iter().any(|one| is_same(one, found)),
        }
    }
}

impl Sign {
    fn is_in(&self, answer: Option<&Value>) -> bool {
        let Some(found) = answer.and_then(|answer| answer.pointer(&self.pointer)) else {
            return false;
        };
        self.value.has(found)
    }

    /// Whether another value stands there.
    fn is_contradicted(&self, answer: Option<&Value>) -> bool {
        let found = answer.and_then(|answer| answer.pointer(&self.pointer));
        found.is_some_and(|found| !self.value.has(found))
    }
}

/// Whether two values are the same, where a receiver writes 1 as well as "1".
fn is_same(a: &Value, b: &Value) -> bool {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    text(a) == text(b)
}

/// Whether an answer is a page for people, as proxies and portals send in place of the receiver.
pub fn is_page(body: &[u8]) -> bool {
    let body = body.trim_ascii_start();
    let begins =
        |sign: &[u8]| body.get(..sign.len()).is_some_and(|start| start.eq_ignore_ascii_case(sign));
    begins(b"<!doctype") || begins(b"<html")
}

/// The form of a successful answer.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Success {
    /// The statuses; without them 200 to 299.
    #[serde(default)]
    status: Vec<u16>,
    /// Where the answer says it.
    #[serde(default)]
    pointer: Option<String>,
    /// The value at that place.
    #[serde(default)]
    value: Option<Value>,
    /// Further values that have to stand in the answer, wherever they are present: a receiver may
    /// take a request and refuse its only recipient.
    #[serde(default)]
    also: Vec<Sign>,
}

/// How the answers of a receiver are read.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Answers {
    pub(crate) success: Success,
    pub(crate) duplicate: Option<Sign>,
    pub(crate) refused: Option<Sign>,
}

impl Success {
    /// Returns why it cannot be used.
    pub(crate) fn wrong(&self) -> Option<&'static str> {
        let is_half = self.pointer.is_some() != self.value.is_some();
        is_half.then_some("pointer and value go together")
    }

    fn sign(&self) -> Option<Sign> {
        let value = self.value.clone()?;
        let many = value.as_array().cloned().map(Values::Many);
        let value = many.unwrap_or(Values::One(value));
        Some(Sign { pointer: self.pointer.clone()?, value })
    }
}

impl Answers {
    /// What an answer means.
    pub(crate) fn verdict(&self, status: u16, body: &str) -> Verdict {
        let answer = json_of(body);
        let says =
            |sign: &Option<Sign>| sign.as_ref().is_some_and(|one| one.is_in(answer.as_ref()));
        if says(&self.duplicate) {
            return Verdict::Duplicate;
        }
        let is_status = match self.success.status.as_slice() {
            [] => (200..300).contains(&status),
            some => some.contains(&status),
        };
        let sign = self.success.sign();
        let is_contradicted =
            self.success.also.iter().any(|one| one.is_contradicted(answer.as_ref()));
        if is_status && !is_contradicted && (sign.is_none() || says(&sign)) {
            // a portal that asks people to log in answers 200 in place of the receiver, and some
            // receivers say no in it
            let is_no = is_page(body.as_bytes()) || (sign.is_none() && says_failure(body));
            return if is_no { Verdict::Refused } else { Verdict::Delivered };
        }
        if says(&self.refused) {
            return Verdict::Never;
        }
        match status {
            // 408, 425 and 429 ask to try later
            408 | 425 | 429 | 500.. => Verdict::Later,
            // access and addresses are repaired by people; a proxy sends elsewhere to log in
            300..=399 | 401 | 402 | 403 | 404 | 405 | 407 | 410 => Verdict::Refused,
            _ if is_status || (200..300).contains(&status) => Verdict::Refused,
            _ => Verdict::Never,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aligo() -> Answers {
        let success = r#"{"pointer": "/result_code", "value": [1, "1"]}"#;
        let refused = r#"{"pointer": "/result_code", "value": [-105]}"#;
        Answers {
            success: serde_json::from_str(success).expect("success"),
            duplicate: None,
            refused: Some(serde_json::from_str(refused).expect("sign")),
        }
    }

    #[test]
    fn a_failure_in_an_answer_of_200_is_no_delivery() {
        let says = |body: &str| aligo().verdict(200, body);
        assert_eq!(says(r#"{"result_code":"1","message":"success"}"#), Verdict::Delivered);
        assert_eq!(says(r#"{"result_code":1}"#), Verdict::Delivered);
        assert_eq!(says(r#"{"result_code":-101,"message":"인증오류"}"#), Verdict::Refused);
        assert_eq!(says(r#"{"result_code":"-105"}"#), Verdict::Never);
        assert_eq!(says("<html>"), Verdict::Refused);
    }

    /// R-AGENT-10
    #[test]
    fn a_page_that_asks_people_to_log_in_is_no_delivery_where_the_status_alone_decides() {
        let by_status = Answers::default();
        assert_eq!(by_status.verdict(200, "ok"), Verdict::Delivered);
        assert_eq!(by_status.verdict(200, "\n<!DOCTYPE html><title>Sign in"), Verdict::Refused);
        assert_eq!(by_status.verdict(200, "<HTML>"), Verdict::Refused);
        assert_eq!(by_status.verdict(200, r#"[{"success":false}]"#), Verdict::Refused);
    }

    #[test]
    fn a_repeated_key_that_is_refused_was_delivered() {
        let nhn = Answers {
            success: serde_json::from_str(r#"{"pointer": "/header/isSuccessful", "value": true}"#)
                .expect("success"),
            duplicate: serde_json::from_str(r#"{"pointer": "/header/resultCode", "value": -1005}"#)
                .expect("sign"),
            refused: None,
        };
        let answer = r#"{"header":{"isSuccessful":false,"resultCode":-1005}}"#;
        assert_eq!(nhn.verdict(200, answer), Verdict::Duplicate);
        assert_eq!(nhn.verdict(400, answer), Verdict::Duplicate);
        assert_eq!(nhn.verdict(200, r#"{"header":{"isSuccessful":true}}"#), Verdict::Delivered);
        assert_eq!(nhn.verdict(500, ""), Verdict::Later);
        assert_eq!(nhn.verdict(404, ""), Verdict::Refused);
        assert_eq!(nhn.verdict(400, ""), Verdict::Never);
    }

    /// R-AGENT-10: the request is taken and its only recipient is not.
    #[test]
    fn a_request_that_is_taken_without_its_recipient_is_no_delivery() {
        let success = r#"{"pointer": "/header/isSuccessful", "value": true,
            "also": [{"pointer": "/message/sendResults/0/resultCode", "value": 0}]}"#;
        let success = serde_json::from_str(success).expect("success");
        let nhn = Answers { success, duplicate: None, refused: None };
        let says = |body: &str| nhn.verdict(200, body);
        let taken =
            r#"{"header":{"isSuccessful":true},"message":{"sendResults":[{"resultCode":0}]}}"#;
        assert_eq!(says(taken), Verdict::Delivered);
        assert_eq!(says(&taken.replace(":0}", ":-3016}")), Verdict::Refused);
        assert_eq!(says(r#"{"header":{"isSuccessful":true}}"#), Verdict::Delivered);
    }
}
