//! Reads the answers of web hooks as their makers document them.
//!
//! Slack answers `ok`, or a word for its error (`no_service`, `channel_is_archived`); some proxies
//! and receivers of Slack's form answer 200 and write the error into the body. Teams' connectors
//! answer 200 to what failed and write why; "the response can be considered successful only if it
//! returns a number" (MicrosoftDocs/msteams-docs#9064); its workflows answer 202. A receiver of the
//! generic form is read by its status, and by a body that says that it failed or is a page for
//! people: a proxy that asks to log in answers 200 with its page, and gateways of messengers answer
//! 200 with `{"ok": false}` or an error code.

use pdm_hook::{is_page, says_failure};
use pdm_shared::bounds::in_one_line;

use super::lanes::SendError;
use crate::settings::WebhookFormat;

/// Characters of an answer that are kept for the log.
pub(super) const ANSWER_CHARS: usize = 200;

/// Words of Slack for a message that it never takes.
const SLACK_CONTENT: [&str; 4] =
    ["invalid_payload", "no_text", "too_many_attachments", "invalid_blocks"];

/// Returns the meaning of an answer: delivered, or the error.
pub(super) fn read_answer(format: WebhookFormat, status: u16, body: &str) -> Result<(), SendError> {
    let body = body.trim();
    let said = || format!("the receiver answers {status}: {}", in_one_line(body, ANSWER_CHARS));
    if !(200..300).contains(&status) {
        return Err(match status {
            // 408, 425 and 429 ask to try later
            408 | 425 | 429 | 500.. => SendError::Later(said()),
            // people repair access and addresses; a proxy sends elsewhere to log in
            300..=399 | 401 | 402 | 403 | 404 | 405 | 407 | 410 => SendError::Refused(said()),
            _ => SendError::Never(said()),
        });
    }
    match format {
        WebhookFormat::Generic => generic(body).map_err(|error| error(said())),
        WebhookFormat::Slack => slack(body).map_err(|error| error(said())),
        WebhookFormat::Teams => teams(status, body).map_err(|error| error(said())),
    }
}

type Failure = fn(String) -> SendError;

fn generic(body: &str) -> Result<(), Failure> {
    let starts_with_error = ["error", "failed", "failure"]
        .iter()
        .any(|word| body.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word)));
    if starts_with_error || is_page(body.as_bytes()) || says_failure(body) {
        Err(SendError::Refused)
    } else {
        Ok(())
    }
}

fn slack(body: &str) -> Result<(), Failure> {
    let word = body.to_ascii_lowercase();
    if SLACK_CONTENT.contains(&word.as_str()) {
        return Err(SendError::Never);
    }
    // Slack's own answer to what it takes is `ok`; receivers of its form answer nothing, or JSON
    let is_known = word.is_empty() || word == "ok" || word.starts_with('{');
    if !is_known || is_page(body.as_bytes()) || says_failure(body) {
        return Err(SendError::Refused);
    }
    Ok(())
}

fn teams(status: u16, body: &str) -> Result<(), Failure> {
    let is_number = body.parse::<u64>().is_ok();
    let is_silent = body.is_empty() || body == "null";
    if is_number || is_silent {
        return Ok(());
    }
    let lower = body.to_ascii_lowercase();
    let failed = ["failed", "error", "bad payload", "invalid", "unauthorized", "not found"];
    if is_page(body.as_bytes())
        || says_failure(body)
        || failed.iter().any(|word| lower.contains(word))
    {
        // "HTTP error 413": the message is larger than Teams takes, now and later
        let is_content = lower.contains("http error 413") || lower.contains("bad payload");
        return Err(if is_content {
            SendError::Never
        } else if lower.contains("http error 429") || lower.contains("http error 5") {
            SendError::Later
        } else {
            SendError::Refused
        });
    }
    // a workflow may answer with what its maker wrote; a connector answers with a number
    if status == 202 || lower.starts_with('{') { Ok(()) } else { Err(SendError::Refused) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(format: WebhookFormat, status: u16, body: &str) -> &'static str {
        match read_answer(format, status, body) {
            Ok(()) => "taken",
            Err(SendError::Later(_) | SendError::After(..)) => "later",
            Err(SendError::Refused(_)) => "refused",
            Err(SendError::Never(_)) => "never",
            Err(SendError::Rest(_) | SendError::Partly(_)) => "partly",
        }
    }

    /// R-AGENT-10
    #[test]
    fn answers_of_slack_are_read_as_slack_documents_them() {
        let says = |status, body: &str| word(WebhookFormat::Slack, status, body);
        for taken in ["ok", "ok\n", "", r#"{"success":true}"#, r#"{"ok":true}"#] {
            assert_eq!(says(200, taken), "taken", "{taken}");
        }
        for refused in [
            "no_service",
            "channel_is_archived",
            "error",
            "some_later_word_of_slack",
            "<!DOCTYPE html><title>Sign in</title>",
            r#"{"ok":false,"error":"invalid_auth"}"#,
            r#"{"success":false}"#,
            r#"{"result":"error","msg":"Invalid API key"}"#,
        ] {
            assert_eq!(says(200, refused), "refused", "{refused}");
        }
        assert_eq!(says(404, "no_service"), "refused");
        assert_eq!(says(410, "channel_is_archived"), "refused");
        assert_eq!(says(302, ""), "refused");
        assert_eq!(says(400, "invalid_payload"), "never");
        assert_eq!(says(200, "invalid_payload"), "never");
        assert_eq!(says(500, "rollup_error"), "later");
        assert_eq!(says(429, ""), "later");
    }

    /// R-AGENT-10: MicrosoftDocs/msteams-docs#400, #1810, #7425, #9064.
    #[test]
    fn teams_has_a_message_only_where_it_answers_a_number_or_202() {
        let says = |status, body: &str| word(WebhookFormat::Teams, status, body);
        for (status, body) in [(200, "1"), (202, ""), (200, ""), (202, "null"), (202, "Accepted")] {
            assert_eq!(says(status, body), "taken", "{status} {body}");
        }
        let failed = |error: &str| {
            format!(
                "Webhook message delivery failed with error: Microsoft Teams endpoint returned \
                 HTTP error {error} with ContextId tcid=0,server=x,cv=y.."
            )
        };
        assert_eq!(says(200, &failed("429")), "later");
        assert_eq!(says(200, &failed("412")), "refused");
        assert_eq!(says(200, &failed("400")), "refused");
        assert_eq!(says(200, &failed("413")), "never");
        assert_eq!(says(200, "Error contacting Microsoft Teams endpoint"), "refused");
        assert_eq!(says(200, "<html>portal</html>"), "refused");
        assert_eq!(says(200, "welcome"), "refused");
        assert_eq!(says(400, "Bad payload received by generic incoming webhook."), "never");
        assert_eq!(says(410, ""), "refused");
    }

    /// R-AGENT-10
    #[test]
    fn what_people_can_repair_is_tried_again_whatever_the_form() {
        for status in [301, 401, 403, 404, 407, 410] {
            assert_eq!(word(WebhookFormat::Generic, status, "x"), "refused", "{status}");
        }
        for status in [408, 425, 429, 500, 503] {
            assert_eq!(word(WebhookFormat::Generic, status, "x"), "later", "{status}");
        }
        assert_eq!(word(WebhookFormat::Generic, 422, "x"), "never");
    }

    /// R-AGENT-10
    #[test]
    fn a_receiver_of_the_generic_form_that_says_that_it_failed_has_no_message() {
        let says = |body: &str| word(WebhookFormat::Generic, 200, body);
        for refused in [
            "ERROR: no such channel",
            r#"{"header":{"isSuccessful":false,"resultCode":-2021,"resultMessage":"x"}}"#,
            r#"{"errors":["x"]}"#,
            r#"{"success":"false"}"#,
            r#"{"statusCode":403}"#,
            r#"{"status":"invalid event"}"#,
            r#"{"accepted":0,"rejected":1}"#,
            "<!DOCTYPE html><html><title>Sign in</title></html>",
            "  <HTML>captive portal</HTML>",
            r#"{"ok":false,"error":"not_in_channel"}"#,
            r#"{"success":false}"#,
            r#"{"status":"error","message":"no such flow"}"#,
            r#"{"errcode":310000,"errmsg":"keywords not in content"}"#,
            r#"{"code":19024,"msg":"Key Words Not Found"}"#,
            r#"[{"success":false}]"#,
            r#"callback({"success":false});"#,
        ] {
            assert_eq!(says(refused), "refused", "{refused}");
        }
        for taken in [
            "ok",
            "",
            r#"{"message":"Workflow was started"}"#,
            r#"{"status":"success","id":"018f"}"#,
            r#"{"errcode":0,"errmsg":"ok"}"#,
            r#"{"code":0,"msg":"success"}"#,
            r#"{"code":200,"msg":"queued"}"#,
            r#"{"code":"E1042","name":"order"}"#,
            r#"{"error":null,"result":"accepted"}"#,
        ] {
            assert_eq!(says(taken), "taken", "{taken}");
        }
    }

    /// R-AGENT-10
    #[test]
    fn a_generic_receiver_without_words_has_the_message() {
        assert_eq!(word(WebhookFormat::Generic, 204, ""), "taken");
    }
}
